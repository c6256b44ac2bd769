"""Results on disk: complete or not at all, and safe to open.

A file has the fields of `Result` under their names: arrays as members of the archive, the rest in its header.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

from tparafac2 import __version__
from tparafac2.data import MODES, Labels
from tparafac2.errors import InvalidValue, NoFile
from tparafac2.files import read_arrays, write_arrays, written_whole
from tparafac2.result import parameters
from tparafac2.result.intervals import Intervals
from tparafac2.result.record import Result
from tparafac2.result.terms import Method, Terms
from tparafac2.result.trust import Trust
from tparafac2.words import Advice

FORMAT_VERSION = 2
_HEADER = "tparafac2_model"
_FACTS = (
    *("model", "status", "objective", "explained_variance", "converged", "n_iter", "feasibility_gaps"),
    *("period", "observed_share", "preparation", "version", "negative_share", "weighting", "choice"),
    *("appended", "component_names"),
)
_ARRAYS = ("times", "coverage", "undetermined", "present", "row_weights")
_TABLES = ("labels", "attribute", "trace", "start", "interval")
_RECORDS: dict[str, type[Terms | Method | Trust]] = {"terms": Terms, "method": Method, "trust": Trust}
_OURS = Advice("our_file", "a file that Result.save wrote")


def save_result(result: Result, path: str | os.PathLike[str]) -> None:
    """Write a result to a file; see `Result.save`."""
    target = Path(path)
    _require_target(target)
    for mode in MODES:
        labels = getattr(result.labels, mode)
        if labels is not None and not _keeps_type(labels):
            warnings.warn(
                f"The labels of {mode} are saved as text: files do not have their type ({labels.dtype}).",
                UserWarning,
                stacklevel=3,
            )
    facts, arrays = _taken_apart(result)
    with written_whole(target) as unfinished:
        write_arrays(unfinished, _HEADER, facts, arrays)


def load_result(path: str | os.PathLike[str]) -> Result:
    """Read a result that `Result.save` wrote. Nothing in the file is run.

    Parameters that a file cannot hold (a random generator, a penalty of your own) are None, and a warning
    names them.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is not a result, is damaged, or comes from a newer version.

    Examples
    --------
    >>> import tempfile, tparafac2 as tp
    >>> model = tp.CP(1, n_starts=1, random_state=0).fit(np.ones((3, 4, 5)))
    >>> with tempfile.TemporaryDirectory() as place:
    ...     model.save(f"{place}/model.npz")
    ...     load_result(f"{place}/model.npz").rank
    1
    """
    source = Path(path)
    if not source.exists():
        raise FileNotFoundError(f"there is no file {str(source)!r}: check the path.")
    if source.is_dir():
        raise InvalidValue(f"{str(source)!r} is a folder: give the path of ", _OURS, ".")
    if not source.is_file():
        raise NoFile(f"{str(source)!r} is a pipe or a device: give the path of ", _OURS, ".")
    try:
        facts, arrays = read_arrays(source, _HEADER)
        newer = int(facts["format_version"]) > FORMAT_VERSION
        result, lost = (None, {}) if newer else _put_together(facts, arrays)
    except (MemoryError, PermissionError):
        raise  # the file is not to blame
    except Exception as error:  # the layers below have many names for a bad file
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise InvalidValue(
            f"{str(source)!r} cannot be read as a result: it is damaged, incomplete or of another kind "
            f"({reason}). Give ",
            _OURS,
            Advice("save_again", ", or save the result again"),
            ".",
        ) from None
    if result is None:
        raise ValueError(
            f"{str(source)!r} was written by tparafac2 {facts['written_by']} in format "
            f"{facts['format_version']}, and this version reads format {FORMAT_VERSION}: update tparafac2."
        )
    for name, text in lost.items():
        warnings.warn(
            f"The parameter {name} could not be kept in {source.name} and is None; it was {text}.",
            UserWarning,
            stacklevel=2,
        )
    return result


def holds_result(path: Path) -> bool:
    """Whether an .npz file says by the names in it that it is a result; it may be damaged."""
    try:
        with ZipFile(path) as archive:
            return f"{_HEADER}.npy" in archive.namelist()
    except (BadZipFile, NotImplementedError, OSError, ValueError):
        return False


def _require_target(target: Path) -> None:
    if target.suffix != ".npz":
        raise ValueError(f"results are saved in a file ending in .npz; got {str(target)!r}.")
    if not (folder := target.parent).is_dir():
        raise ValueError(f"there is no folder {str(folder)!r} to save {target.name!r} in: make it first.")
    if target.is_dir():
        raise ValueError(f"{str(target)!r} is a folder: give the path of a file.")


def _taken_apart(result: Result) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """All that a result has: facts in plain values, and arrays by name."""
    facts = {"format_version": FORMAT_VERSION, "written_by": __version__}
    facts |= {name: getattr(result, name) for name in _FACTS}
    facts |= {name: record.to_record() for name in _RECORDS if (record := getattr(result, name)) is not None}
    facts["parameters"] = parameters.to_text(result.parameters)
    facts["names"], facts["attributes"] = result.labels.names, list(result.labels.attributes)
    facts["widths"] = list(result.widths) if result.ragged else None
    facts["notes"] = result.notes  # for those who look into the file; they are made from the rest
    B = np.concatenate(result.B) if isinstance(result.B, list) else result.B
    arrays = {"A": result.A, "B": B, "C": result.C}
    tables: dict[str, dict[str, Any]] = {
        "labels": {mode: getattr(result.labels, mode) for mode in MODES},
        "attribute": {
            str(place): _texts(map(json.dumps, values)) if values.dtype.kind == "O" else values
            for place, values in enumerate(result.labels.attributes.values())
        },
        "trace": result.trace,
        "start": result.starts,
    }
    if result.intervals is not None:
        facts["intervals"] = result.intervals.to_record()
        tables["interval"] = result.intervals.to_arrays()
    arrays |= {name: getattr(result, name) for name in _ARRAYS}
    for table, columns in tables.items():
        arrays |= {f"{table}.{name}": values for name, values in columns.items()}
    return facts, {name: _as_plain(values) for name, values in arrays.items() if values is not None}


def _put_together(facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> tuple[Result, dict[str, str]]:
    """The result that was taken apart, and which of its parameters were lost."""
    tables: dict[str, dict[str, Any]] = {name: {} for name in _TABLES}
    for name in [name for name in arrays if "." in name]:
        table, _, column = name.partition(".")
        tables[table][column] = arrays.pop(name)
    A, B, C = (arrays.pop(name) for name in ("A", "B", "C"))
    if any(factor.dtype.kind not in "iuf" for factor in (A, B, C)) or not arrays.keys() <= {*_ARRAYS}:
        raise ValueError("it has arrays that a result does not have")
    if (widths := facts["widths"]) is not None:
        if min(widths) < 0 or sum(widths) != len(B):
            raise ValueError("the widths of its slices are not those of its patterns")
        slices = np.split(B, np.cumsum(widths)[:-1])
    attributes = [
        np.array([*map(json.loads, values), None], dtype=object)[:-1] if values.dtype.kind == "U" else values
        for values in tables["attribute"].values()
    ]
    parts: dict[str, Any] = {name: facts[name] for name in _FACTS} | arrays
    parts |= {name: kind.from_record(facts[name]) for name, kind in _RECORDS.items() if name in facts}
    if "intervals" in facts:
        parts["intervals"] = Intervals.from_parts(facts["intervals"], tables["interval"])
    kept = dict(zip(facts["attributes"], attributes, strict=True))
    parts["labels"] = Labels(**tables["labels"], names=facts["names"], attributes=kept)
    parts["parameters"], lost = parameters.from_text(facts["parameters"])
    result = Result(
        A=A, B=B if widths is None else slices, C=C, trace=tables["trace"], starts=tables["start"], **parts
    )
    return result, lost


def _keeps_type(values: NDArray[Any]) -> bool:
    """Whether an array comes back from a file as it is, and not as the text of its entries."""
    if values.dtype.kind == "O":
        return all(isinstance(value, str) for value in values)
    return values.dtype.kind in "biuUmM" or (values.dtype.kind == "f" and values.dtype.itemsize <= 8)


def _as_plain(values: NDArray[Any]) -> NDArray[Any]:
    return values if _keeps_type(values) and values.dtype.kind != "O" else _texts(map(str, values))


def _texts(values: Iterable[str]) -> NDArray[np.str_]:
    return np.array(list(values), dtype=str)
