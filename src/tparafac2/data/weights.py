"""How much every row or entry counts, as the user says it: read, checked, and brought to a mean of one."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.labels import Labels
from tparafac2.data.text import listed, shown
from tparafac2.errors import InvalidType, InvalidValue
from tparafac2.words import Argument

_LEAST = 1e-12  # of the mean: below it products with what counts fully would lose all digits
_NAME = Argument("weights")
_HOW = "give one number for each row, or one for each entry of X"


class Weights(NamedTuple):
    """What was given, checked but not normalised: one of the two.

    Attributes
    ----------
    rows : ndarray (I,), optional
        Positive.
    entries : list of K ndarrays (I, J_k), optional
        Positive, or zero where an entry is missing.
    """

    rows: NDArray[np.float64] | None = None
    entries: list[NDArray[np.float64]] | None = None


class Weighting(NamedTuple):
    """The weights of a fit, for the record.

    Attributes
    ----------
    rows : ndarray (I,)
        Weight of each row, or the mean weight of its observed entries; all observed entries have mean one.
    mean : float
        What they were divided by for that: the mean of what was given.
    by : "rows" or "entries"
        What was given.
    """

    rows: NDArray[np.float64]
    mean: float
    by: str


def read_weights(given: Any, shapes: Sequence[tuple[int, ...]], labels: Labels) -> Weights:
    """Read what the user says of weights.

    Parameters
    ----------
    given : sequence of I numbers, mapping or Series by row label, array (K, I, J), or list of K arrays
        Entries in the order of X.
    shapes : sequence of K tuples (I, J_k)
    labels : Labels

    Raises
    ------
    ValueError, TypeError
        If there are too many, too few, or some that are no weights.

    Examples
    --------
    >>> read_weights({"Bo": 2, "Ann": 1}, [(2, 3)], Labels(rows=["Ann", "Bo"])).rows
    array([1., 2.])
    >>> read_weights([1, -1], [(2, 3)], Labels())
    Traceback (most recent call last):
    tparafac2.errors.InvalidValue: weights: that of row 1 is -1; weights must be positive ...
    """
    if isinstance(given, str):
        raise InvalidValue(_NAME, f" must be numbers; got {_told(given)}: {_HOW}.", received=given)
    I = shapes[0][0]
    rows = labels.coordinate("rows", I)
    if getattr(given, "ndim", None) == 1 and hasattr(given, "to_series"):
        given = given.to_series()
    if isinstance(given, Mapping) or (hasattr(given, "items") and getattr(given, "ndim", 1) == 1):
        return Weights(_positive(_by_label(dict(given.items()), rows), rows))
    values = given if isinstance(given, list | tuple) else np.asarray(given)
    if isinstance(values, np.ndarray) and values.ndim == 0:
        raise InvalidType(_NAME, f" cannot be {_told(given)}: {_HOW}.", received=given)
    pieces = [_numbers(piece) for piece in values]
    found = [piece.shape for piece in pieces]
    if found == [()] * I:
        return Weights(_positive(np.array(pieces), rows))
    if found == list(shapes):
        return Weights(entries=_weights_of_entries(pieces))
    expected = f"{I} rows, and {len(shapes)} slices of shape {_brief(shapes)}"
    if all(shape == () for shape in found):
        raise InvalidValue(_NAME, f" holds {len(found)} numbers, but X has {expected}: {_HOW}.")
    raise InvalidValue(
        _NAME, f" has {len(found)} slices of shape {_brief(found)}, but X has {expected}: {_HOW}."
    )


def require_some_size(least: float, mean: float) -> None:
    """Refuse weights that are so much smaller than others that nothing would be left of them.

    Examples
    --------
    >>> require_some_size(0.5, 1.0)
    """
    if least < _LEAST * mean:
        raise InvalidValue(
            _NAME,
            f": the least of them, {least:.3g}, is nothing beside their mean, {mean:.3g}: give larger ones, "
            "0 for entries that are to play no part, and leave out rows that are to play none.",
        )


def _by_label(given: Mapping[Any, Any], rows: NDArray[Any]) -> NDArray[np.float64]:
    """Weights in the order of the rows; labels that were read from files may be text, or numbers."""
    texts = {str(label): weight for label, weight in given.items()}
    lacking = [label for label in rows.tolist() if str(label) not in texts]
    if lacking:
        raise InvalidValue(
            _NAME,
            f" has no weight for {len(lacking)} of {len(rows)} rows: {listed(map(shown, lacking))}. "
            "Give one for every row of X.",
        )
    found = [_numbers(texts[str(label)]) for label in rows.tolist()]
    if any(weight.ndim for weight in found):
        raise InvalidType(_NAME, " by row label must be numbers, one for each row; got something else.")
    return np.array(found)


def _numbers(piece: Any) -> NDArray[np.float64]:
    try:
        array = np.asarray(piece)
    except ValueError:
        array = np.array("a ragged table")
    if array.dtype.kind == "O":  # numbers that pandas holds as objects, or none
        with suppress(TypeError, ValueError):
            array = array.astype(np.float64)
    if array.dtype.kind not in "biuf":
        raise InvalidType(_NAME, f" must be numbers; got {_told(piece)}: {_HOW}.", received=piece)
    return array.astype(np.float64)


def _positive(weights: NDArray[np.float64], rows: NDArray[Any]) -> NDArray[np.float64]:
    bad = np.flatnonzero(~((weights > 0) & np.isfinite(weights)))
    if len(bad) == len(weights) and not weights.any():
        raise InvalidValue(_NAME, f" are all zero: {_HOW}, of which some count.")
    if len(bad):
        raise InvalidValue(
            _NAME,
            f": that of row {shown(rows[bad[0]])} is {weights[bad[0]]:g}; weights must be positive and "
            "finite. Leave out of X the rows that are to play no part.",
        )
    require_some_size(float(weights.min()), float(weights.mean()))
    return weights


def _weights_of_entries(pieces: list[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
    for k, piece in enumerate(pieces):
        bad = np.argwhere(~((piece >= 0) & np.isfinite(piece)))
        if len(bad):
            row, column = bad[0]
            raise InvalidValue(
                _NAME,
                f": that of slice {k}, row {row}, column {column} (counted from 0) is "
                f"{piece[row, column]:g}; weights must be finite and not negative, 0 where an entry is to "
                "play no part.",
            )
    if not any(piece.any() for piece in pieces):
        raise InvalidValue(_NAME, f" are all zero: {_HOW}, of which some count.")
    return pieces


def _brief(shapes: Sequence[tuple[int, ...]]) -> str:
    return ", ".join(dict.fromkeys(map(str, shapes[:3]))) or "()"


def _told(value: Any) -> str:
    return " ".join(repr(value).split())[:80]
