"""The directive ``{names}``: public names of a module, listed with a line each and then described in full."""

import inspect
from collections.abc import Sequence
from importlib import import_module
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def describe(module: str, lines: Sequence[str], *, inherited: bool = False) -> str:
    """Say in reStructuredText what is to be documented: an overview of several names, then each of them.

    A line is a name, which tells of itself, or ``name: sentence`` for what has no docstring.
    """
    told = {name: sentence.strip() for name, _, sentence in (line.partition(":") for line in lines)}
    telling = [name for name, sentence in told.items() if not sentence]
    text = [f".. currentmodule:: {module}", ""]
    if len(telling) > 1:
        text += [".. autosummary::", "   :nosignatures:", "", *(f"   {name}" for name in telling), ""]
    for name, sentence in told.items():
        kind = _kind(getattr(import_module(module), name))
        if sentence:
            text += [f".. py:data:: {name}", "", f"   {sentence}", ""]
        else:
            members = ["   :members:"] * (kind == "class") + ["   :inherited-members:"] * inherited
            text += [f".. auto{kind}:: {name}", *members, ""]
    return "\n".join(text)


def _kind(named: object) -> str:
    if inspect.isclass(named):
        return "exception" if issubclass(named, BaseException) else "class"
    return "function" if callable(named) else "data"


class Names(SphinxDirective):
    """Takes the module, and in its body one name a line; ``:inherited:`` shows inherited members, too."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {"inherited": directives.flag}

    def run(self) -> list[nodes.Node]:
        """Describe the names where the directive stands."""
        lines = [line for line in self.content if line.strip()]
        try:
            text = describe(self.arguments[0], lines, inherited="inherited" in self.options)
        except (ImportError, AttributeError) as error:
            raise self.error(f"{error}: correct the list of names.") from error
        # Pages are Markdown, docstrings are not.
        return self.parse_text_to_nodes(f"````{{eval-rst}}\n{text}\n````", allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the directive."""
    app.add_directive("names", Names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
