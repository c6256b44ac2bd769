"""Results on disk: complete or not at all, and safe to open.

Names are fixed and types plain; the user's own names and types are kept as text.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tparafac2 import __version__
from tparafac2.data import MODES, Labels, padded
from tparafac2.errors import InvalidValue, NoFile
from tparafac2.files import written_whole
from tparafac2.hdf5 import open_hdf5, write_sealed
from tparafac2.result import parameters
from tparafac2.result.intervals import Intervals
from tparafac2.result.record import Result
from tparafac2.result.terms import Method, Terms
from tparafac2.result.trust import Trust
from tparafac2.words import Advice

if TYPE_CHECKING:
    import xarray as xr

CONTENT = "tparafac2 result"
FORMAT_VERSION = 1

_SIMPLE_FIELDS = (
    "model",
    "status",
    "objective",
    "explained_variance",
    "converged",
    "n_iter",
    "feasibility_gaps",
)
# Files from before these have the defaults.
_LATER_FIELDS = (
    "period",
    "observed_share",
    "preparation",
    "version",
    "negative_share",
    "weighting",
    "choice",
    "appended",
    "component_names",
)
_LATER_ARRAYS = {
    "times": ("time",),
    "coverage": ("time", "columns"),
    "undetermined": ("time", "component"),
    "present": ("time", "columns"),
    "row_weights": ("rows",),
}
_RECORDS: dict[str, type[Terms | Method | Trust]] = {"terms": Terms, "method": Method, "trust": Trust}

_INTERVALS = "interval_"

_ENDINGS_OF_0_1 = {
    "Converged: the objective no longer changes and all constraints hold.": "converged",
    "Stopped at max_iter while the objective was still changing: raise max_iter or loosen tol.": "max_iter",
    "Stopped at max_iter with a constraint not yet met to feasibility_tol: raise max_iter, or choose a "
    "lower rank; the data may violate the PARAFAC2 constraint strongly.": "infeasible",
    "Interrupted by the user: the factors are the best found so far, not a minimum.": "interrupted",
    "Broke down: numbers became infinite. Check the data for extreme outliers, or lower the rank.": (
        "not_finite"
    ),
    "All components vanished: the penalties outweigh the data. Lower smoothness (or the lambdas) by a "
    "factor of ten or more.": "vanished",
}
"""What files of version 0.1 have as status: a sentence for each."""

_OURS = Advice("our_file", "a file that Result.save wrote")


def save_result(result: Result, path: str | os.PathLike[str]) -> None:
    """Write a result to a netCDF file; see `Result.save`.

    Examples
    --------
    >>> import numpy as np
    >>> result = Result(model="CP", A=np.ones((2, 1)), B=np.ones((3, 4, 1)), C=np.ones((3, 1)),
    ...                 objective=0.0, explained_variance=1.0, status="converged", converged=True, n_iter=1)
    >>> save_result(result, "result.txt")
    Traceback (most recent call last):
    ValueError: results are saved as netCDF, in a file ending in .nc; got 'result.txt'.
    """
    target = Path(path)
    _require_target(target)
    for mode in MODES:
        labels = getattr(result.labels, mode)
        if labels is not None and not keeps_type(labels):
            warnings.warn(
                f"The labels of {mode} are saved as text: files do not have their type ({labels.dtype}).",
                UserWarning,
                stacklevel=3,
            )
    _write(to_layout(result), target)


def load_result(path: str | os.PathLike[str]) -> Result:
    """Read a result that `Result.save` wrote. Nothing in the file is run.

    Parameters
    ----------
    path : path

    Returns
    -------
    Result
        As it was saved. Parameters that a file cannot hold (a random generator, a penalty of your own) are
        None, and a warning names them.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is not a result, is damaged, or comes from a newer version.

    Examples
    --------
    >>> load_result("no such folder/result.nc")
    Traceback (most recent call last):
    FileNotFoundError: there is no file 'no such folder/result.nc': check the path.
    """
    source = Path(path)
    if not source.exists():
        raise FileNotFoundError(f"there is no file {str(source)!r}: check the path.")
    if source.is_dir():
        raise InvalidValue(f"{str(source)!r} is a folder: give the path of ", _OURS, ".")
    if not source.is_file():
        raise NoFile(f"{str(source)!r} is a pipe or a device: give the path of ", _OURS, ".")
    dataset = _read(source)
    _require_result(dataset.attrs, source)
    try:
        result, lost = from_layout(dataset)
    except MemoryError:
        raise
    except Exception as error:
        raise _damaged(source, error) from None
    for name, text in lost.items():
        warnings.warn(
            f"The parameter {name} could not be kept in {source.name} and is None; it was {text}.",
            UserWarning,
            stacklevel=2,
        )
    return result


def _require_target(target: Path) -> None:
    if target.suffix != ".nc":
        raise ValueError(f"results are saved as netCDF, in a file ending in .nc; got {str(target)!r}.")
    if not target.parent.is_dir():
        raise ValueError(
            f"there is no folder {str(target.parent)!r} to save {target.name!r} in: make it first."
        )
    if target.is_dir():
        raise ValueError(f"{str(target)!r} is a folder: give the path of a file.")


def _write(dataset: xr.Dataset, target: Path) -> None:
    # Without a fill value NaN is a number like any other.
    floats = [name for name, variable in dataset.variables.items() if variable.dtype.kind == "f"]
    encoding = {name: {"_FillValue": None} for name in floats}
    with written_whole(target) as unfinished:
        write_sealed(dataset, unfinished, encoding)


def _read(source: Path) -> xr.Dataset:
    try:
        with open_hdf5(source, alone=True, decode_cf=False) as dataset:
            return dataset.load()
    except (ImportError, MemoryError, PermissionError):
        raise  # the file is not to blame
    except Exception as error:  # the layers below have many names for a bad file
        raise _damaged(source, error) from None


def _require_result(attributes: Mapping[Any, Any], source: Path) -> None:
    version = attributes.get("format_version")
    if attributes.get("content") != CONTENT or not isinstance(version, int | np.integer):
        raise InvalidValue(
            f"{str(source)!r} is a netCDF file, but not a result of tparafac2: give ", _OURS, "."
        )
    if version > FORMAT_VERSION:
        writer = attributes.get("tparafac2_version", "of an unknown version")
        raise ValueError(
            f"{str(source)!r} was written by tparafac2 {writer} in format {version}, and this version reads "
            f"up to format {FORMAT_VERSION}: update tparafac2."
        )


def _damaged(source: Path, error: Exception) -> InvalidValue:
    reason = (str(error) or type(error).__name__).splitlines()[0]
    return InvalidValue(
        f"{str(source)!r} cannot be read as a result: it is damaged, incomplete or of another kind "
        f"({reason}). Give ",
        _OURS,
        Advice("save_again", ", or save the result again"),
        ".",
    )


def to_layout(result: Result) -> xr.Dataset:
    """Lay out a result for a file.

    Examples
    --------
    >>> import numpy as np
    >>> result = Result(model="CP", A=np.ones((2, 1)), B=np.ones((3, 4, 1)), C=np.ones((3, 1)),
    ...                 objective=0.0, explained_variance=1.0, status="converged", converged=True, n_iter=1)
    >>> sorted(to_layout(result).variables)
    ['A', 'B', 'C']
    """
    import xarray as xr

    variables: dict[str, Any] = {
        "A": (("rows", "component"), result.A),
        "B": (("time", "columns", "component"), padded(result.B)),
        "C": (("time", "component"), result.C),
    }
    if result.ragged:
        variables["width"] = ("time", np.array(result.widths, dtype=np.int64))
    for mode in MODES:
        if (labels := getattr(result.labels, mode)) is not None:
            variables[f"{mode}_labels"] = (mode, *encode_array(labels))
    for place, (name, values) in enumerate(result.labels.attributes.items()):
        variables[f"row_attribute_{place}"] = ("rows", *_encode_attribute(name, values))
    for name, dimensions in _LATER_ARRAYS.items():
        if (array := getattr(result, name)) is not None:
            variables[name] = (dimensions, *encode_array(array))
    if result.intervals is not None:
        for name, (dimensions, array) in result.intervals.to_arrays().items():
            variables[_INTERVALS + name] = (dimensions, *encode_array(array))
    for name, column in result.trace.items():
        variables[f"trace_{name}"] = ("trace_row", *encode_array(column))
    for name, column in result.starts.items():
        variables[f"start_{name}"] = ("start", *encode_array(column))
    facts = {name: getattr(result, name) for name in (*_SIMPLE_FIELDS, *_LATER_FIELDS)}
    facts["notes"] = result.notes  # for those who look into the file; they are made from the rest
    for name in _RECORDS:
        if (record := getattr(result, name)) is not None:
            facts[name] = record.to_record()
    if result.intervals is not None:
        facts["intervals"] = result.intervals.to_record()
    facts |= {"names": result.labels.names, "trace": list(result.trace), "starts": list(result.starts)}
    attributes = {
        "content": CONTENT,
        "format_version": FORMAT_VERSION,
        "tparafac2_version": __version__,
        "parameters": parameters.to_text(result.parameters),
        # As JSON all facts are ASCII text: no file limit on empty or odd texts, and numbers stay exact.
        **{name: json.dumps(fact) for name, fact in facts.items()},
    }
    return xr.Dataset(variables, attrs=attributes)


def from_layout(dataset: xr.Dataset) -> tuple[Result, dict[str, str]]:
    """Read what `to_layout` laid out, and which parameters were lost.

    Examples
    --------
    >>> import numpy as np
    >>> result = Result(model="CP", A=np.ones((2, 1)), B=np.ones((3, 4, 1)), C=np.ones((3, 1)),
    ...                 objective=0.0, explained_variance=1.0, status="converged", converged=True, n_iter=1)
    >>> from_layout(to_layout(result))[0]
    Result(CP, 2 rows x 4 columns x 3 times, 1 component, explained variance 1.0000, converged)
    """
    facts = {name: json.loads(dataset.attrs[name]) for name in (*_SIMPLE_FIELDS, "names", "trace", "starts")}
    facts["status"] = _ENDINGS_OF_0_1.get(facts["status"], facts["status"])
    B: Any = dataset["B"].values
    if "width" in dataset.variables:
        B = [piece[:width] for piece, width in zip(B, dataset["width"].values)]
    labels = {
        mode: decode_array(dataset[f"{mode}_labels"])
        for mode in MODES
        if f"{mode}_labels" in dataset.variables
    }
    later = {name: json.loads(dataset.attrs[name]) for name in _LATER_FIELDS if name in dataset.attrs}
    later.setdefault("version", dataset.attrs["tparafac2_version"])  # before 0.2 who made it also wrote it
    later |= {
        name: kind.from_record(json.loads(dataset.attrs[name]))
        for name, kind in _RECORDS.items()
        if name in dataset.attrs
    }
    later |= {name: decode_array(dataset[name]) for name in _LATER_ARRAYS if name in dataset.variables}
    if "intervals" in dataset.attrs:
        arrays = {
            str(name).removeprefix(_INTERVALS): decode_array(dataset[name])
            for name in dataset.variables
            if str(name).startswith(_INTERVALS)
        }
        later["intervals"] = Intervals.from_parts(json.loads(dataset.attrs["intervals"]), arrays)
    given, lost = parameters.from_text(dataset.attrs["parameters"])
    result = Result(
        A=dataset["A"].values,
        B=B,
        C=dataset["C"].values,
        labels=Labels(**labels, names=facts["names"], attributes=_decode_attributes(dataset)),
        parameters=given,
        trace={name: decode_array(dataset[f"trace_{name}"]) for name in facts["trace"]},
        starts={name: decode_array(dataset[f"start_{name}"]) for name in facts["starts"]},
        **{name: facts[name] for name in _SIMPLE_FIELDS},
        **later,
    )
    return result, lost


def keeps_type(values: NDArray[Any]) -> bool:
    """Tell whether an array comes back from a file as it is, and not as the text of its entries.

    Examples
    --------
    >>> import numpy as np
    >>> keeps_type(np.array(["a", "b"], dtype=object)), keeps_type(np.array([1, "b"], dtype=object))
    (True, False)
    """
    if values.dtype.kind == "O":
        return all(isinstance(value, str) for value in values)
    return values.dtype.kind in "biuUTmM" or (values.dtype.kind == "f" and values.dtype.itemsize <= 8)


def encode_array(values: NDArray[Any]) -> tuple[NDArray[Any], dict[str, str]]:
    """Give an array of a type that files have, and attributes that say what it was.

    Examples
    --------
    >>> import numpy as np
    >>> encode_array(np.array([True, False]))
    (array([1, 0], dtype=int8), {'stored': 'bool'})
    """
    kind = values.dtype.kind
    if kind == "b":
        return values.astype(np.int8), {"stored": "bool"}
    if kind in "mM":
        return values.astype(np.int64), {"stored": values.dtype.name}
    if kind in "iuf" and keeps_type(values):
        return values, {}
    texts = [str(value) for value in values]
    if all(_is_storable(text) for text in texts):
        return np.array(texts, dtype=str), {}
    return np.array([json.dumps(text) for text in texts], dtype=str), {"stored": "json"}


def decode_array(variable: xr.DataArray) -> NDArray[Any]:
    """Give the array that `encode_array` was given; objects come back as text.

    Examples
    --------
    >>> import numpy as np
    >>> import xarray as xr
    >>> decode_array(xr.DataArray(*encode_array(np.array([True, False]))[:1], attrs={"stored": "bool"}))
    array([ True, False])
    """
    values = np.asarray(variable.values)
    stored = variable.attrs.get("stored")
    if stored is None:
        return values if values.dtype.kind in "iuf" else np.array([str(text) for text in values], dtype=str)
    if stored == "json":
        return np.array([str(json.loads(text)) for text in values], dtype=str)
    dtype = np.dtype(stored)
    if dtype.kind not in "bmM":
        raise ValueError(f"labels of type {stored} are not known")
    return values.astype(dtype)


def _encode_attribute(name: str, values: NDArray[Any]) -> tuple[NDArray[Any], dict[str, str]]:
    """What is known of the rows, under its name; texts as JSON, which knows what is missing."""
    kept = values if values.dtype.kind == "f" else np.array([json.dumps(one) for one in values], dtype=str)
    return kept, {"attribute": json.dumps(name)}


def _decode_attributes(dataset: xr.Dataset) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {}
    while (name := f"row_attribute_{len(found)}") in dataset.variables:
        variable = dataset[name]
        values = np.asarray(variable.values)
        if values.dtype.kind != "f":
            values = np.array([json.loads(str(text)) for text in values] + [None], dtype=object)[:-1]
        found[str(json.loads(variable.attrs["attribute"]))] = values
    return found


def _is_storable(text: str) -> bool:
    # Texts in HDF5 end at the first NUL, and are UTF-8, which has no lone surrogates.
    return not any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in text)
