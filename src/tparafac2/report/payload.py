"""The numbers that the page needs, compact, and as text that cannot leave its place."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from zlib import compress

import numpy as np
from numpy.typing import NDArray

from tparafac2 import __version__
from tparafac2.data import label_text
from tparafac2.inference import associations
from tparafac2.report.choice import choice_account
from tparafac2.report.display import LONGEST_LABEL, Display, account, component_accounts, look
from tparafac2.report.entries import entries_of
from tparafac2.report.opening import opening
from tparafac2.result import Mark, Result, portraits, require_fitted, size_text
from tparafac2.words import PYTHON, Words

STEPS = 800
"""A weight is a whole number of steps; this many of them make the largest weight of its column's course."""

BAND_STEPS = 160
"""Ends of bands are drawn pale and wide: fewer steps do."""

NOTHING = -(2**15)
"""What stands for a weight that is not there."""

MOST_WEIGHTS = 12_000_000
MOST_ROWS = 50_000
"""Beyond these (some 20 MB) the page has the columns and rows with the largest weights only."""

_MOST_ITERATIONS = 600
_MOST_STARTS = 100
_SMALLEST = 1e-16

_START_COLUMNS = {
    "start": ("start", "d"),
    "objective": ("objective", ".8g"),
    "explained_variance": ("explained variance", ".4f"),
    "fms_to_chosen": ("match with the chosen", ".3f"),
    "n_iter": ("iterations", "d"),
    "seconds": ("seconds", ".2f"),
    "status": ("ended", "s"),
    "degenerate": ("degenerate", "yes"),
    "vanished": ("vanished components", "d"),
    "chosen": ("chosen", "yes"),
}


class Steps(NamedTuple):
    """Courses (..., K) as whole steps, `NOTHING` where not finite, and the size of a step of each (...)."""

    counts: NDArray[np.int16]
    sizes: NDArray[np.float32]


def payload(
    result: Result, *, title: str, about: Mapping[str, Any], words: Words = PYTHON, data: Any = None
) -> dict[str, Any]:
    """Collect all that the page shows, as JSON knows it; `about` has further facts by name: what was done.

    Examples
    --------
    >>> result = Result(model="CP", A=np.ones((4, 1)), B=np.ones((2, 3, 1)), C=np.ones((2, 1)), objective=0.5,
    ...                 explained_variance=0.9, status="converged", converged=True, n_iter=7)
    >>> page = payload(result, title="Mine", about={"source": "table.csv"})
    >>> page["times"]["labels"], page["about"][0]
    (['0', '1'], ['source', 'table.csv'])
    """
    view = look(result)
    rows, columns = _most_important(view)
    patterns = quantise(np.transpose(view.B[:, columns], (2, 1, 0)))
    unseen = view.unseen[:, columns].T
    return {
        "title": title,
        "subtitle": f"{result.model}: {size_text(result)}",
        "facts": [fact._asdict() for fact in account(result, words)],
        "about": as_texts(about),
        "components": _components(result),
        "names": dict(result.labels.names),
        "times": {"labels": view.times, "moments": view.moments.tolist(), "period": result.period},
        "opening": _opening(result, view, columns),
        "rows": {
            "labels": [view.rows[i] for i in rows],
            "of": len(view.rows),
            "attributes": {name: _values(given[rows]) for name, given in result.labels.attributes.items()},
        },
        "columns": {"labels": [view.columns[j] for j in columns], "of": len(view.columns)},
        "strengths": [_numbers(course) for course in view.C.T],
        "known": view.known.T.tolist(),
        "loadings": in_base64(view.A[rows].T.astype("<f4")),
        "patterns": {"counts": packed(patterns.counts), "sizes": in_base64(patterns.sizes)},
        "unseen": in_base64(np.packbits(unseen, bitorder="little")) if unseen.any() else "",
        "bands": _bands(result, view.order, rows, columns),
        "entries": None if data is None else _entries(result, data, view.order, rows, columns),
        "trace": _trace(result),
        "gaps": {mode: _number(gap) for mode, gap in result.feasibility_gaps.items()},
        "starts": _starts(result),
        "associations": _associations(result),
        "choice": None if result.choice is None else choice_account(result.choice),
        "steps": STEPS,
        "version": __version__,
    }


def _components(result: Result) -> list[dict[str, Any]]:
    """What is said of each component: its account, its name, if it has one, and what sets it apart."""
    accounts = component_accounts(result)
    return [
        one._asdict()
        | {
            "name": portrait.name,
            "rows": marks(portrait.rows),
            "stations": [{"time": at.time, "columns": marks(at.columns)} for at in portrait.stations],
            "strong": portrait.strong,
            "sudden": portrait.sudden,
            "sure": list(portrait.sure),
        }
        for one, portrait in zip(accounts, portraits(result))
    ]


def _associations(result: Result) -> dict[str, Any] | None:
    """What components have to do with what else is known of the rows, and what that does not prove."""
    if not result.labels.attributes:
        return None
    found = associations(result)
    lines = [
        {str(name): _number(one) if isinstance(one, float) else one for name, one in line.items()}
        for line in found.to_dict("records")
    ]
    return {"lines": lines, "level": found.attrs["level"], "note": found.attrs["note"]}


def marks(given: Sequence[Mark]) -> list[dict[str, Any]]:
    """What sets a component apart, as JSON knows it."""
    return [
        {"label": one.label, "weight": _number(one.weight), "distinctiveness": _number(one.distinctiveness)}
        for one in given
    ]


def _opening(result: Result, view: Display, columns: NDArray[np.intp]) -> dict[str, int] | None:
    """Where the page opens, by the place that the column has on it."""
    found = opening(result, view)
    place = np.flatnonzero(columns == found.column) if found else np.array([], dtype=np.intp)
    return {"component": found.component, "column": int(place[0])} if found and len(place) else None


def _bands(
    result: Result, order: NDArray[np.intp], rows: NDArray[np.intp], columns: NDArray[np.intp]
) -> dict[str, Any] | None:
    """Both ends of every band: of patterns in steps, of strengths as numbers, of the others as bytes."""
    found = result.intervals
    if found is None:
        return None
    told: dict[str, Any] = {"level": found.level, "unstable": found.unstable.tolist()}
    for end in ("lower", "upper"):
        ends = {name: getattr(band, end) for name, band in found.bands()}
        steps = quantise(np.transpose(ends["patterns"][order][:, columns], (2, 1, 0)), BAND_STEPS)
        told[end] = {
            "patterns": {"counts": packed(steps.counts), "sizes": in_base64(steps.sizes)},
            "strengths": [_numbers(course) for course in ends["strengths"][order].T],
            **{name: in_base64(ends[name][columns].T.astype("<f4")) for name in ("rises", "falls")},
        }
        if "loadings" in ends:
            told[end]["loadings"] = in_base64(ends["loadings"][rows].T.astype("<f4"))
    return told


def _entries(
    result: Result, data: Any, order: NDArray[np.intp], rows: NDArray[np.intp], columns: NDArray[np.intp]
) -> dict[str, Any]:
    """Data beside the fit, by places that rows and columns have on the page."""
    found = entries_of(result, data, order)
    if result.weighting is None:  # of others it is not known to the digit
        require_fitted(result, found.explained)
    here = [
        np.flatnonzero(np.isin(own, shown)) for own, shown in ((found.rows, rows), (found.columns, columns))
    ]
    steps = quantise(found.courses[np.ix_(*here)])
    row_places, column_places = ({int(one): n for n, one in enumerate(shown)} for shown in (rows, columns))
    return {
        "rows": [row_places[int(one)] for one in found.rows[here[0]]],
        "columns": [column_places[int(one)] for one in found.columns[here[1]]],
        "counts": packed(steps.counts),
        "sizes": in_base64(steps.sizes),
        "misses": [
            {"row": row_places[i], "column": column_places[j], "share": _number(share)}
            for i, j, share in found.misses
            if i in row_places and j in column_places
        ],
    }


def quantise(courses: NDArray[np.float64], steps: int = STEPS) -> Steps:
    """Round every course to whole steps, so that its largest value has so many of them.

    Examples
    --------
    >>> quantise(np.array([[0.5, -1.0, np.nan]])).counts.tolist()
    [[400, -800, -32768]]
    """
    finite = np.isfinite(courses)
    peaks = np.abs(np.where(finite, courses, 0.0)).max(axis=-1, initial=0.0)
    sizes = (peaks / steps).astype("<f4")
    divisor = np.where(sizes > 0, sizes, 1.0).astype(np.float64)[..., np.newaxis]
    counts = np.clip(np.rint(np.where(finite, courses, 0.0) / divisor), -steps, steps)
    return Steps(np.where(finite, counts, NOTHING).astype("<i2"), sizes)


def packed(counts: NDArray[np.int16]) -> str:
    """Write courses as text in little room: changes from time to time, low bytes before high ones, deflated.

    Changes wrap around, as they do when they are added up again. Their sign is the lowest bit (0, -1, 1, -2
    are 0, 1, 2, 3), so that small changes of either sign have high bytes of zero.

    Examples
    --------
    >>> len(packed(np.arange(10_000, dtype="<i2").reshape(10, 1000))) < 200  # of 20,000 bytes
    True
    """
    changes = counts.astype("<i2")
    changes[..., 1:] -= counts[..., :-1]
    unsigned = (changes << 1) ^ (changes >> 15)
    pairs = unsigned.reshape(-1, 1).view(np.uint8)
    return b64encode(compress(np.ascontiguousarray(pairs.T).tobytes())).decode("ascii")


def in_base64(array: NDArray[Any]) -> str:
    """Write the bytes of an array as text.

    Examples
    --------
    >>> in_base64(np.array([1, 2], dtype="<i2"))
    'AQACAA=='
    """
    return b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")


def as_script_text(content: Any) -> str:
    r"""Write JSON that holds no character with a meaning in HTML, so that no label can end its element.

    Examples
    --------
    >>> as_script_text(["</script>", "\u2028"])
    '["\\u003c/script\\u003e","\\u2028"]'
    """
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


def _most_important(view: Display) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Places of the rows and columns that have a place on the page, in their own order."""
    K, _, R = view.B.shape
    reach = np.nan_to_num(np.abs(np.where(view.shown, view.B, 0.0)).max(axis=0, initial=0.0))
    columns = _largest(reach, max(1, MOST_WEIGHTS // (K * R)))
    return _largest(np.nan_to_num(np.abs(view.A)), MOST_ROWS), columns


def _largest(sizes: NDArray[np.float64], most: int) -> NDArray[np.intp]:
    """Places (in their order) that are large in any component, each measured by its own largest."""
    if len(sizes) <= most:
        return np.arange(len(sizes))
    peaks = sizes.max(axis=0, initial=0.0)
    relative = (sizes / np.where(peaks > 0, peaks, 1.0)).max(axis=1)
    return np.sort(np.argsort(-relative, kind="stable")[:most])


def _trace(result: Result) -> dict[str, list[float | None]]:
    """Objective (above its lowest, relatively) and gaps by iteration, thinned where there are very many."""
    trace = {name: np.asarray(column, dtype=np.float64) for name, column in result.trace.items()}
    if "iteration" not in trace or not len(trace["iteration"]):
        return {}
    count = len(trace["iteration"])
    kept = np.arange(count)
    if count > _MOST_ITERATIONS:  # most happens early
        kept = np.unique(np.geomspace(1, count, _MOST_ITERATIONS).astype(int) - 1)
    thin = {"iteration": _numbers(trace["iteration"][kept])}
    if "objective" in trace:
        objective = trace["objective"]
        lowest = np.fmin.reduce(objective)
        with np.errstate(invalid="ignore", divide="ignore"):
            above = (objective - lowest) / abs(lowest)
        thin["objective"] = _numbers(np.where(above > _SMALLEST, above, np.nan)[kept])
    for mode in "ABC":
        gap = trace.get(f"gap_{mode.lower()}")
        if gap is not None and np.any(gap > 0):
            thin[mode] = _numbers(np.where(gap > 0, gap, np.nan)[kept])
    return thin


def _starts(result: Result) -> dict[str, Any]:
    """The account of the starts as texts, the lowest objective first."""
    columns = {name: result.starts[name] for name in _START_COLUMNS if name in result.starts}
    if not columns:
        return {}
    count = len(next(iter(columns.values())))
    order = np.arange(count)
    if "objective" in columns:
        order = np.argsort(columns["objective"], kind="stable")
    lines = [
        [_cell(column[i], _START_COLUMNS[name][1]) for name, column in columns.items()]
        for i in order[:_MOST_STARTS]
    ]
    return {"head": [_START_COLUMNS[name][0] for name in columns], "lines": lines, "of": count}


def _cell(value: Any, style: str) -> str:
    if style == "yes":
        return "yes" if value else ""
    if style == "s":
        return str(value).replace("_", " ")
    return format(int(value) if style == "d" else float(value), style)


def as_texts(about: Mapping[str, Any]) -> list[list[str]]:
    """Facts by name as pairs of texts.

    Examples
    --------
    >>> as_texts({"ranks": [2, 3]})
    [['ranks', '2, 3']]
    """
    return [[str(name), _plain_text(value)] for name, value in about.items()]


def _plain_text(value: Any) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_plain_text(one)}" for name, one in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return ", ".join(_plain_text(one) for one in value)
    return str(value)


def _values(attribute: NDArray[Any]) -> list[Any]:
    """Numbers, or texts, of rows; null where they are missing."""
    if attribute.dtype.kind == "f":
        return _numbers(attribute)
    return [None if one is None else label_text(one, LONGEST_LABEL) for one in attribute]


def finite(value: Any) -> Any:
    """A value as JSON knows it: seven digits of a number, which is null where it is not finite.

    Examples
    --------
    >>> finite(float("nan")), finite(np.float64(0.123456789)), finite("text")
    (None, 0.1234568, 'text')
    """
    value = value.item() if isinstance(value, np.generic) else value
    return _number(value) if isinstance(value, float) else value


def _number(value: float) -> float | None:
    # Seven digits are more than any screen shows.
    return float(f"{value:.7g}") if np.isfinite(value) else None


def _numbers(values: NDArray[np.float64]) -> list[float | None]:
    return [_number(value) for value in values.tolist()]
