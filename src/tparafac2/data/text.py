"""Labels and lists as text: short, harmless, and written as their owner writes them."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

EMPTY = "(empty)"
"""What stands for a label without any letter, which nobody could see or click."""

_HARMLESS = "\u00a0\u00ad\u200c\u200d\u202f\u3000"
"""Spaces and joints within words, which Python does not call printable: many languages need them."""

_COARSE = (np.dtype("M8[Y]"), np.dtype("M8[M]"))
"""Dates that NumPy would write with a day that nobody gave."""


def label_text(label: object, longest: int = 30) -> str:
    """Write a label: dates without empty hours, whole numbers without a point, nothing too long.

    Examples
    --------
    >>> label_text(np.datetime64("2020-03-01T00:00:00.000")), label_text(2000.0), label_text("ice")
    ('2020-03-01', '2000', 'ice')
    >>> label_text(np.datetime64("2020-03-01T08:30:00")), label_text("")
    ('2020-03-01 08:30', '(empty)')
    >>> label_text("Bacteria; Firmicutes; Clostridia; Blautia")
    'Bacteria; Firmi…ridia; Blautia'
    """
    text = printable(_plain(label))
    return shortened(text, longest) if text.strip() else EMPTY


def label_texts(labels: NDArray[Any], longest: int = 30) -> list[str]:
    """Write the labels of one dimension, each as `label_text`; months without their first day.

    Examples
    --------
    >>> label_texts(np.array(["2013-01-01", "2013-02-01"], dtype="M8[ns]"))
    ['2013-01', '2013-02']
    >>> label_texts(np.array(["2013-01-01", "2013-01-08"], dtype="M8[ns]"))
    ['2013-01-01', '2013-01-08']
    """
    if labels.dtype.kind == "M" and len(labels) > 1 and not np.isnat(labels).any():
        months = labels.astype("M8[M]")
        labels = months if (months == labels).all() and labels.dtype not in _COARSE else labels
    return [label_text(label, longest) for label in labels]


def shown(label: object, longest: int = 60) -> str:
    """Give a label as it stands in a sentence: as `label_text`, and text in quotes.

    Examples
    --------
    >>> print(shown("Ann"), shown(np.int64(3)))
    'Ann' 3
    """
    return shortened(repr(str(label)), longest) if isinstance(label, str) else label_text(label, longest)


def listed(items: Iterable[object], most: int = 5) -> str:
    """List what there is, in a sentence, but never a hundred of it.

    Examples
    --------
    >>> listed(["ice", "sun"]), listed(range(1946, 2020), 3)
    ('ice, sun', '1946, 1947, 1948 and 71 more')
    """
    every = [str(item) for item in items]
    more = f" and {len(every) - most:,} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def printable(text: object) -> str:
    """Keep control characters, which could rewrite the user's terminal, out of what is shown.

    Examples
    --------
    >>> printable("red: " + chr(27) + "[31m")
    'red: ?[31m'
    """
    return "".join(one if one.isprintable() or one in _HARMLESS else "?" for one in str(text))


def shortened(text: str, longest: int) -> str:
    """Leave out the middle of a long text: names often differ at their ends only.

    Examples
    --------
    >>> shortened("Clostridiales_A", 9), shortened("Ann", 9)
    ('Clos…es_A', 'Ann')
    """
    if len(text) <= longest:
        return text
    front = longest // 2
    return f"{text[:front]}…{text[len(text) - (longest - front - 1) :]}"


def _plain(label: object) -> str:
    if isinstance(label, np.datetime64) and not np.isnat(label) and label.dtype not in _COARSE:
        return str(np.datetime_as_string(label, unit="auto")).replace("T", " ")
    if isinstance(label, float | np.floating):
        return f"{float(str(label)):.15g}"  # by way of its text: 0.1 in single precision is 0.1
    return str(label)
