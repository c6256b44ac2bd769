"""Check a built site: it loads nothing from elsewhere, and all of its links lead somewhere.

``python docs/check_site.py out/docs`` ends with 1 and a sentence for everything that is broken.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADING = {"src", "srcset", "poster", "data", "background"}
STYLE_ADDRESS = re.compile(r"""(?:url\(\s*|@import\s+)["']?([^"')\s;]+)""")


@dataclass
class Page(HTMLParser):
    """What a page is called by, links to, and loads."""

    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    in_style: bool = False

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the names and addresses of an element."""
        self.in_style = tag == "style"
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (tag == "a" and name == "name"):
                self.ids.add(value)
            elif name == "href" and tag in ("a", "area"):
                self.links.append(value)
            elif name in LOADING or name == "href":
                self.loaded.append(value)
            elif name == "style":
                self.loaded += STYLE_ADDRESS.findall(value)

    def handle_data(self, data: str) -> None:
        """Note what a style sheet inside the page loads."""
        if self.in_style:
            self.loaded += STYLE_ADDRESS.findall(data)


def read(path: Path) -> Page:
    """Read a page."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    page.close()
    return page


def complaints(site: Path) -> Iterator[str]:
    """Say what is broken, a sentence each."""
    pages = {path.resolve(): read(path) for path in sorted(site.rglob("*.html"))}
    if not pages:
        yield f"there is no page in '{site}': build the site first."
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        for address in page.loaded:
            if _is_elsewhere(address):
                yield f"{name} loads '{address}' from elsewhere."
            elif not address.startswith(("data:", "#")) and not _target(path, address).exists():
                yield f"{name} loads '{address}', which is not there."
        for address in page.links:
            yield from (f"{name} {fault}" for fault in _link_faults(path, address, pages))
    for sheet in sorted(site.rglob("*.css")):
        for address in STYLE_ADDRESS.findall(sheet.read_text(encoding="utf-8")):
            if _is_elsewhere(address):
                yield f"{sheet.relative_to(site)} loads '{address}' from elsewhere."


def _link_faults(path: Path, address: str, pages: dict[Path, Page]) -> Iterator[str]:
    if urlsplit(address).scheme or _is_elsewhere(address):
        return
    target, anchor = _target(path, address), unquote(urlsplit(address).fragment)
    if not target.exists():
        yield f"links to '{address}', which is not there."
    elif anchor and target in pages and anchor not in pages[target].ids:
        yield f"links to '{address}', but that page has no place of this name."


def _is_elsewhere(address: str) -> bool:
    return address.startswith("//") or urlsplit(address).scheme in ("http", "https", "ftp")


def _target(path: Path, address: str) -> Path:
    """The file that an address on a page means."""
    relative = unquote(urlsplit(address).path)
    return (path.parent / relative).resolve() if relative else path


def main(arguments: list[str]) -> None:
    """Check the site in a folder."""
    if len(arguments) != 1:
        sys.exit("Say which folder the site is in: python docs/check_site.py out/docs")
    found = list(complaints(Path(arguments[0])))
    if found:
        sys.exit("\n".join([*found, f"{len(found)} faults in all."]))
    sys.stdout.write("The site loads nothing from elsewhere, and all of its links lead somewhere.\n")


if __name__ == "__main__":
    main(sys.argv[1:])
