"""Constructor parameters as text, and back: JSON, so that a file from a stranger is safe to open."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2 import penalties

GIVEN_FACTORS = "given factors"
"""What `init` becomes where it was a set of factors: they can be as large as the data."""

_LARGEST_ARRAY = 1000
_LARGEST_SIDE = {True: 10**7, False: 5000}  # of sparse matrices, and of others
_LARGEST_MATRIX = 250_000
"""Numbers other than zero that the matrix of a penalty may have: about 5 MB as text."""


def to_text(parameters: Mapping[str, Any]) -> str:
    """Write parameters as JSON.

    Parameters
    ----------
    parameters : mapping
        Numbers, texts, truth values, None, lists, tuples, dicts, NumPy scalars and small arrays, and this
        package's penalties are kept; of anything else only its repr.

    Examples
    --------
    >>> to_text({"rank": 3, "init": (1.0, 2.0, 3.0)})
    '{"rank": 3, "init": "given factors"}'
    """
    return json.dumps({name: encode(_without_factors(name, value)) for name, value in parameters.items()})


def from_text(text: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Read what `to_text` wrote.

    Returns
    -------
    parameters : dict
        With None in place of what could not be kept.
    lost : dict of str to str
        Where in the parameters that is, and the repr of what was there.

    Examples
    --------
    >>> from_text(to_text({"rank": 3, "seeds": (1, object)}))
    ({'rank': 3, 'seeds': (1, None)}, {'seeds[1]': "<class 'object'>"})
    """
    lost: dict[str, str] = {}
    stored = json.loads(text)
    if not isinstance(stored, dict):
        raise ValueError("the parameters are not a mapping")
    return {name: decode(value, name, lost) for name, value in stored.items()}, lost


def _without_factors(name: str, value: Any) -> Any:
    return value if name != "init" or value is None or isinstance(value, str) else GIVEN_FACTORS


def encode(value: Any) -> Any:
    """Give a value in what JSON has, for `decode`.

    Examples
    --------
    >>> encode(penalties.Ridge(0.5))
    {'kind': 'penalty', 'class': 'Ridge', 'fields': {'strength': 0.5}}
    """
    # Exact types: a subclass may carry more than its value, and NumPy's float64 is a float.
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) is list:
        return [encode(item) for item in value]
    if type(value) is tuple:
        return {"kind": "tuple", "items": [encode(item) for item in value]}
    if isinstance(value, Mapping) and all(type(key) is str for key in value):
        return {"kind": "mapping", "items": {key: encode(item) for key, item in value.items()}}
    if isinstance(value, np.generic | np.ndarray) and _is_plain(value.dtype) and value.size <= _LARGEST_ARRAY:
        return _encode_array(np.asarray(value))
    if _penalty_class(type(value).__name__) is type(value):
        fields = {item.name: _encode_field(getattr(value, item.name)) for item in dataclasses.fields(value)}
        if any(isinstance(field, dict) and field["kind"] == "text" for field in fields.values()):
            return {"kind": "text", "text": repr(value)}
        return {"kind": "penalty", "class": type(value).__name__, "fields": fields}
    return {"kind": "text", "text": repr(value)}


def decode(stored: Any, place: str, lost: dict[str, str]) -> Any:
    """Give the value that `encode` was given, or None and its repr in `lost`, under its place.

    Examples
    --------
    >>> decode(encode((1, penalties.Static())), "here", {})
    (1, Static())
    """
    if isinstance(stored, list):
        return [decode(item, f"{place}[{i}]", lost) for i, item in enumerate(stored)]
    if not isinstance(stored, dict):
        return stored
    kind = stored["kind"]
    if kind == "tuple":
        return tuple(decode(stored["items"], place, lost))
    if kind == "mapping":
        return {key: decode(item, f"{place}[{key!r}]", lost) for key, item in stored["items"].items()}
    if kind == "array":
        return _decode_array(stored)
    if kind == "matrix":
        return _decode_matrix(stored)
    if kind == "penalty" and (penalty := _penalty_class(stored["class"])) is not None:
        return penalty(**{name: decode(item, place, lost) for name, item in stored["fields"].items()})
    lost[place] = str(stored.get("text", stored.get("class")))
    return None


def _encode_field(value: Any) -> Any:
    """As `encode`; matrices of penalties may be larger, and are kept by what is not zero in them."""
    sparse = hasattr(value, "tocoo")
    if not (sparse or (isinstance(value, np.ndarray) and value.ndim == 2)):
        return encode(value)
    filled = value.nnz if sparse else np.count_nonzero(value)
    if filled > _LARGEST_MATRIX or max(value.shape) > _LARGEST_SIDE[sparse]:
        return {"kind": "text", "text": repr(value)}
    if sparse:
        triples = value.tocoo()
        (rows, columns), numbers = triples.coords, triples.data
    else:
        rows, columns = np.nonzero(value)
        numbers = value[rows, columns]
    kept = {"rows": rows.tolist(), "columns": columns.tolist(), "values": numbers.tolist()}
    return {"kind": "matrix", "shape": list(value.shape), "sparse": sparse, **kept}


def _decode_matrix(stored: Mapping[str, Any]) -> Any:
    places = (np.array(stored["rows"], dtype=np.int64), np.array(stored["columns"], dtype=np.int64))
    numbers, shape = np.array(stored["values"], dtype=np.float64), tuple(map(int, stored["shape"]))
    # One number in a file must not claim all memory.
    if len(shape) != 2 or max(shape) > _LARGEST_SIDE[bool(stored["sparse"])]:
        raise ValueError(f"a matrix of shape {shape} is not one that files have")
    if stored["sparse"]:
        from scipy.sparse import coo_array

        return coo_array((numbers, places), shape=shape).tocsr()
    matrix = np.zeros(shape)
    matrix[places] = numbers
    return matrix


def _encode_array(array: NDArray[Any]) -> dict[str, Any]:
    values = array.astype(np.int64) if array.dtype.kind in "mM" else array
    return {
        "kind": "array",
        "dtype": array.dtype.name,
        "shape": list(array.shape),
        "values": values.ravel().tolist(),
    }


def _decode_array(stored: Mapping[str, Any]) -> Any:
    # The width in a text's dtype is left aside: one number in a file must not claim all memory.
    text = stored["dtype"].startswith("str")
    dtype = np.dtype(str) if text else np.dtype(stored["dtype"])
    if not _is_plain(dtype):
        raise ValueError(f"arrays of {dtype} are not known")
    whole = np.array(stored["values"], dtype=np.int64 if dtype.kind in "mM" else dtype)
    array = whole if text else whole.astype(dtype)
    return array.reshape(stored["shape"])[()]  # a scalar where there are no axes


def _is_plain(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "UmM" or (dtype.kind in "biuf" and dtype.itemsize <= 8)


def _penalty_class(name: str) -> Any:
    """Find a penalty of this package by name; never anything else."""
    found = getattr(penalties, name, None) if name in penalties.__all__ else None
    return found if isinstance(found, type) and dataclasses.is_dataclass(found) else None
