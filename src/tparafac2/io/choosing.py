"""Which of the arrays in a file is meant."""

import difflib
from collections.abc import Mapping

from tparafac2.data import shown
from tparafac2.errors import InvalidValue
from tparafac2.words import Part, Setting

_DATA = "X"
"""What data are called beside other arrays, as in the files of `tparafac2 generate`."""

_STACK = (
    "put the tables of all times in one, for example with numpy.stack(tables), or save a long table as CSV. "
)


def choose_array(file: str, shapes: Mapping[str, str], usable: list[str], values: str | None) -> str:
    """Name of the array that was asked for, or of the only one that is usable, or of that called X.

    Parameters
    ----------
    file : str
    shapes : mapping
        What is in the file, by name, with its shape for people to read.
    usable : list of str
        Names of the arrays of three dimensions.
    values : str, optional
        The name asked for.

    Examples
    --------
    >>> shapes = {"counts": "(3, 4, 2)", "rows": "(3,)"}
    >>> choose_array("votes.npz", shapes, ["counts"], None)
    'counts'
    >>> choose_array("data.npz", {"X": "(2, 3, 4)", "B": "(2, 4, 3)"}, ["X", "B"], None)
    'X'
    >>> choose_array("votes.npz", shapes, ["counts"], "count")
    Traceback (most recent call last):
    ValueError: 'votes.npz' has no array 'count'; did you mean 'counts'? It has 'counts' (3, 4, 2), 'rows'
    (3,).
    """
    listed = ", ".join(f"{shown(name)} {shape}" for name, shape in shapes.items()) or "none"
    if values is not None and values not in shapes:
        raise ValueError(f"{file!r} has no array {values!r}{nearest(values, shapes)} It has {listed}.")
    if values is not None and values not in usable:
        raise ValueError(
            f"{values!r} in {file!r} cannot be used: it must hold real numbers and have three dimensions, "
            f"for rows, columns and time. The file has {listed}."
        )
    if values is None and _DATA in usable:
        return _DATA
    if values is None and len(usable) != 1:
        found = f"{len(usable)} arrays" if usable else "no array"
        example: list[Part] = [_STACK]
        if usable:
            example = ["say which is meant, for example ", Setting("values", usable[0]), ". "]
        raise InvalidValue(
            f"{file!r} has {found} of real numbers with three dimensions, for rows, columns and time: ",
            *example,
            f"It has {listed}.",
        )
    return usable[0] if values is None else values


def nearest(name: str, known: Mapping[str, object]) -> str:
    """Suggest the name that was meant, if there is one like it, and end the sentence.

    Examples
    --------
    >>> nearest("Yaer", {"year": 0}), nearest("x", {"year": 0})
    ("; did you mean 'year'?", '.')
    """
    folded = {one.casefold(): one for one in known}
    near = difflib.get_close_matches(name.casefold(), folded, n=1)
    return f"; did you mean {folded[near[0]]!r}?" if near else "."
