"""Labels and numbers as text in a picture: short, without control characters, and never read as formulas."""

from __future__ import annotations

from itertools import takewhile

from tparafac2.data import Mode, label_text, label_texts, shortened
from tparafac2.result import By, Result

LONGEST = 26
"""Letters of a label that are shown; longer ones lose their middle."""

_WHOLE = 10_000
"""Letters of a label of which the beginning that all have in common is looked for."""

_DIMENSIONS: dict[Mode, str] = {"rows": "Row", "columns": "Column", "time": "Time"}


def picture_text(label: object, longest: int = LONGEST) -> str:
    """Write a label for a picture."""
    return literal(label_text(label, longest))


def literal(text: str) -> str:
    """Mark text so that matplotlib shows it as it stands: dollars are no formula, "_" hides no legend.

    Examples
    --------
    >>> print(literal("$5 to $10"))
    \\$5 to \\$10
    """
    escaped = text.replace("$", r"\$")
    return f" {escaped}" if escaped.startswith("_") else escaped


def labels_of(result: Result, mode: Mode, size: int, longest: int = LONGEST) -> list[str]:
    """Write the labels of rows or columns; without any they are counted from 0, as in the arrays."""
    texts = label_texts(result.labels.coordinate(mode, size), _WHOLE)
    return [literal(shortened(text, longest)) for text in without_common_ends(texts, longest)]


def without_common_ends(texts: list[str], longest: int) -> list[str]:
    """Leave out the words with which all texts end, and begin, where some text is too long.

    Examples
    --------
    >>> without_common_ends(["Bacteria; Firmicutes; Blautia", "Bacteria; Firmicutes; Dorea"], 20)
    ['…Blautia', '…Dorea']
    >>> without_common_ends(["room 1 (second floor)", "room 2 (second floor)"], 20)
    ['room 1…', 'room 2…']
    """
    if len(texts) > 1 and _longest(texts) > longest:
        end = _last_word_break(_common_beginning([text[::-1] for text in texts]))
        texts = [f"{text[:-end]}…" if end > 1 else text for text in texts]
    if len(texts) > 1 and _longest(texts) > longest:
        begin = _last_word_break(_common_beginning(texts))
        texts = [f"…{text[begin:]}" if begin > 1 else text for text in texts]
    return texts


def dimension_name(result: Result, mode: Mode) -> str:
    """Name a dimension as the user does."""
    name = result.labels.names[mode]
    return _DIMENSIONS[mode] if name == mode else picture_text(name)


def few_of(name: str, shown: int, there: int, by: By = "weight") -> str:
    """Name what is shown, and say how many are left out."""
    which = "largest" if by == "weight" else "most distinctive"
    return f"{name} (the {shown:,} {which} of {there:,})" if shown < there else name


def _longest(texts: list[str]) -> int:
    return max(map(len, texts))


def _common_beginning(texts: list[str]) -> str:
    first, last = min(texts), max(texts)  # what these two share, all between them share, too
    same = (a == b for a, b in zip(first, last))
    return "".join(letter for letter, _ in zip(first, takewhile(bool, same)))


def _last_word_break(text: str) -> int:
    """Tell how many letters there are up to and with the last one that belongs to no word."""
    return max((place + 1 for place, letter in enumerate(text) if not letter.isalnum()), default=0)
