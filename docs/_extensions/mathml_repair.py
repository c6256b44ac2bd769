"""Where docutils and LaTeX differ: accents, primes, norms, aligned lines, forgotten braces."""

from collections.abc import Callable
from xml.etree.ElementTree import Element, SubElement, fromstring, register_namespace, tostring

from docutils.utils.math import MathError, latex2mathml

_SPACE = "http://www.w3.org/1998/Math/MathML"
_ACCENTS = {*latex2mathml.accents.values(), *(sign for sign, _ in latex2mathml.over.values())}
_TWO_PARTS = ("mfrac", "mroot", "msub", "msup", "munder", "mover")
_THREE_PARTS = ("msubsup", "munderover")
_TOKENS = ("mi", "mn", "mo", "mtext")

register_namespace("", _SPACE)


def repair(mathml: str) -> str:
    """Give MathML that looks as LaTeX would; a fraction or script without its parts is a `MathError`."""
    root = fromstring(mathml.replace("&ApplyFunction;", "\N{FUNCTION APPLICATION}"))
    for mend in _MENDS:
        _everywhere(root, mend)
    return tostring(root, encoding="unicode")


def _everywhere(element: Element, mend: Callable[[Element], None]) -> None:
    mend(element)
    for child in list(element):
        _everywhere(child, mend)


def _drop_indentation(element: Element) -> None:
    element.tail = None
    if _tag(element) not in _TOKENS:
        element.text = None


def _check_parts(element: Element) -> None:
    tag = _tag(element)
    too_few = len(element) < 2 * (tag in _TWO_PARTS) + 3 * (tag in _THREE_PARTS)
    if too_few or (tag == "mtr" and any(_tag(cell) != "mtd" for cell in element)):
        raise MathError(f"<{tag}> misses a part: put each part in braces, as in \\frac{{1}}{{2}}.")


def _part_accents(element: Element) -> None:
    """The index of an accented letter goes beside it, not below it."""
    for place, child in enumerate(element):
        if _tag(child) == "munderover" and child[2].text in _ACCENTS:
            base, index, accent = child
            beside = _make("msub")
            SubElement(beside, _name("mover"), accent="true").extend([base, accent])
            beside.append(index)
            element[place] = beside
    if _tag(element) == "msup" and _tag(element[0]) == "msub":
        base, index = element[0]
        element.tag, element[:] = _name("msubsup"), [base, index, element[1]]


def _raise_primes(element: Element) -> None:
    for place, child in reversed(list(enumerate(element))):
        if place and _tag(child) == "mo" and child.text == "'":
            child.text = "\N{PRIME}"
            before = element[place - 1]
            if _tag(before) == "msub":
                before.tag = _name("msubsup")
                before.append(child)
            else:
                element[place - 1] = _make("msup")
                element[place - 1].extend([before, child])
            del element[place]


def _tighten_bars(element: Element) -> None:
    """Bars are no relations: no space around them; and they grow only where \\left and \\right ask for it."""
    bars = [child for child in element if _tag(child) == "mo" and child.text in ("|", "‖")]
    between_bars = _tag(element) == "mrow" and len(bars) == 2 and bars == [element[0], element[-1]]
    for bar in bars:
        bar.attrib |= {"lspace": "0", "rspace": "0"} | ({} if between_bars else {"stretchy": "false"})


def _enlarge_lines(element: Element) -> None:
    if _tag(element) == "mtable" and element.get("class") == "ams-align":
        element.set("displaystyle", "true")


_MENDS = (_drop_indentation, _check_parts, _part_accents, _raise_primes, _tighten_bars, _enlarge_lines)


def _tag(element: Element) -> str:
    return element.tag.partition("}")[2]


def _name(tag: str) -> str:
    return f"{{{_SPACE}}}{tag}"


def _make(tag: str) -> Element:
    return Element(_name(tag))
