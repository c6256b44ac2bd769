"""Further slices after those of a fit: the loadings stay, patterns go on from the last one."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import FloatArray, padded
from tparafac2.errors import InvalidValue
from tparafac2.newdata.continuing import Continued, Seen, go_on
from tparafac2.newdata.courses import Further, course_of, terms_for
from tparafac2.newdata.moments import Moments, further_moments
from tparafac2.newdata.seeing import see
from tparafac2.newdata.slices import Matched, Piece, match, read_slices
from tparafac2.penalties import asks_for
from tparafac2.preparing import Prepared, by_entry, describe_record, is_plain, prepare_further
from tparafac2.result import Result, Terms, Unobserved, strengths, weak
from tparafac2.result.evaluation import penalty_of
from tparafac2.words import Argument


def append(
    result: Result, X: Any, *, times: Any = None, dims: Mapping[str, Hashable] | None = None
) -> Result:
    """The same fit with further slices: loadings and all that came before stay as they are.

    Parameters
    ----------
    result : Result
        Of any fit; it is not changed.
    X : one slice (I, J) or several, as `fit` takes them
        In the units that the data of the fit had before they were prepared.
    times : number, date or label, or a sequence of them, optional
        When the slices were taken, where X does not say it.
    dims : mapping, optional
        For a DataArray, as in `fit`.

    Returns
    -------
    Result
        With the slices of X after the others, in the order of time.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> X = tp.synthetic.easy(seed=0, noise=0.1, n_times=9, n_rows=30, n_columns=24).X
    >>> result = tp.TParafac2(3, smoothness=1e-4, n_starts=2, random_state=0).fit(X[:8]).result_
    >>> longer = append(result, X[8])
    >>> longer.shape, bool((longer.B[:8] == result.B).all())
    ((9, 30, 24), True)
    """
    require_continuable(result)
    X, prepared = _unprepared(result, X)
    given = read_slices(X, dims, result.labels.names)
    when = further_moments(result, times, given.times, len(given.pieces))
    order = np.argsort(when.values, kind="stable")
    when = Moments(when.values[order], None if when.labels is None else when.labels[order])
    pieces = [given.pieces[k] for k in order]
    if result.ragged:
        return _append_ragged(result, pieces, when)
    return _append(result, pieces, when, prepared=prepared)


def require_continuable(result: Result) -> None:
    """Refuse a fit of which not all is known that further slices need."""
    if result.terms.lost:
        raise InvalidValue(
            f"the model was read from a file, which has of the penalty {result.terms.lost[0]} only the name: "
            "fit it again, and go on with that."
        )
    if not all(np.isfinite(piece).all() for piece in (result.A, *result.B, result.C)):
        raise InvalidValue("the fit broke down, and its factors are not finite: fit again before going on.")


def _unprepared(result: Result, X: Any) -> tuple[Any, bool]:
    """The data themselves, and whether they were prepared already, as those of the fit were."""
    if not isinstance(X, Prepared):
        return X, False
    record, own = X.as_dict(), result.preparation
    if is_plain(record):
        return X.data, False
    same = own is not None and all(
        record[name] == own[name] for name in ("transform", "pseudocount", "center", "scale")
    )
    for step, numbers in (("center", "centers"), ("scale", "scales")):
        if same and own is not None and own[step] in ("rows", "columns"):
            same = len(record[numbers]) == len(own[numbers]) and np.allclose(record[numbers], own[numbers])
    if not same or (own is not None and "time" in (own["center"], own["scale"])):
        told = [describe_record(one).rstrip(".") if one else "nothing" for one in (own or {}, record)]
        raise InvalidValue(
            Argument("X"),
            f" was prepared ({told[1]}) in another way than the data of the model ({told[0]}), or with means "
            "of its own: give the data as they were before any preparation, which the model does itself.",
        )
    return X.data, True


def _append(result: Result, pieces: list[Piece], when: Moments, *, prepared: bool) -> Result:
    record = None if prepared else result.preparation
    static = asks_for(result.terms.B, "static")
    found = match(pieces, result, may_enter=not static, sparse=by_entry(record))
    preparation = result.preparation
    if found.stack is not None and not prepared:
        stack, preparation = prepare_further(record, found.stack)
        found = replace(found, stack=stack)
    seen = see(result, found, record)
    new = Further(when.values, seen.coverage, _there(result, found, seen.coverage), found.n_new)
    known = _widened(result, found)
    terms = terms_for(known, new)
    here = new.observed
    last = known.C[known.clock.order[-1]]
    begin = np.repeat(last[None], int(here.sum()), axis=0)
    course = course_of(known, new, terms)
    continued = go_on(Seen(*(part[here] for part in seen.stats)), course, begin)
    parts = _Parts(known, new, continued, seen.stats.squares, seen.negative, result.intervals is not None)
    return _recorded(parts, when, terms, preparation)


def _there(result: Result, found: Matched, coverage: NDArray[np.float64]) -> NDArray[np.bool_] | None:
    """Which columns there are at the further times; None: all."""
    if not result.parameters.get("bridge", True):
        return np.asarray(coverage > 0)
    if found.there is not None:
        return found.there
    if not found.n_new:
        return None
    there = np.ones(coverage.shape, dtype=bool)
    # A column that has just come was not there before it was first seen.
    first = np.maximum.accumulate(coverage > 0, axis=0)
    there[:, -found.n_new :] = first[:, -found.n_new :]
    return there


def _widened(result: Result, found: Matched) -> Result:
    """The fit with columns that it did not have: they were not there, and their patterns are zero."""
    K, _, J = result.shape
    if not found.n_new:
        return result
    more = ((0, 0), (0, found.n_new))
    coverage = np.ones((K, J)) if result.coverage is None else result.coverage
    present = np.ones((K, J), dtype=bool) if result.present is None else result.present
    return replace(
        result,
        B=np.pad(np.asarray(result.B), (*more, (0, 0))),
        labels=replace(result.labels, columns=found.columns),
        coverage=np.pad(coverage, more),
        present=np.pad(present, more),
        intervals=None,
    )


class _Parts(NamedTuple):
    known: Result
    new: Further
    continued: Continued
    squares: FloatArray
    negative: float | None
    had_bands: bool


def _recorded(parts: _Parts, when: Moments, terms: Terms, preparation: Mapping[str, Any] | None) -> Result:
    """The longer result, whole: as if all of it came from a fit, apart from what that fit alone did."""
    result, new, continued = parts.known, parts.new, parts.continued
    here, m = new.observed, len(new.times)
    B, C = _courses(result, new, continued)
    errors = np.zeros(m)
    errors[here] = continued.errors
    old = result.terms.scale**2
    square = old + float(parts.squares.sum())
    left = (1.0 - result.explained_variance) * old + float(errors.sum())
    changing = not asks_for(terms.B, "static")
    flags = weak(strengths(B, C))[-m:] & changing
    flags[~here] = changing
    before = (
        np.zeros((len(result.C), C.shape[1]), bool) if result.undetermined is None else result.undetermined
    )
    coverage, present = new.after(result)
    kept = result.appended or {"squares": [], "errors": []}
    longer = replace(
        result,
        B=B,
        C=C,
        labels=replace(result.labels, time=_joined(result.labels.time, when.labels)),
        times=None if result.times is None and here.all() else np.append(result.clock.times, new.times),
        terms=replace(terms, scale=float(np.sqrt(square))),
        coverage=None if coverage is None or (coverage == 1).all() else coverage,
        present=present,
        observed_share=1.0 if coverage is None else float(coverage.mean()),
        undetermined=np.concatenate([before, flags]),
        explained_variance=1.0 - left / square,
        preparation=preparation,
        negative_share=_negative(result, parts, square),
        appended={
            "squares": [*kept["squares"], *parts.squares.tolist()],
            "errors": [*kept["errors"], *errors.tolist()],
            **({"bands_left_out": True} if parts.had_bands or "bands_left_out" in kept else {}),
        },
        converged=result.converged and continued.converged,
        status=result.status if continued.converged or not result.converged else "max_iter",
        objective=np.nan,
        intervals=None,  # they were of the fit alone
    )
    penalty = penalty_of(longer)
    return replace(longer, objective=np.nan if penalty is None else left + penalty)


def _courses(result: Result, new: Further, continued: Continued) -> tuple[FloatArray, FloatArray]:
    """Patterns and strengths at all times; as smooth as may be where nothing was observed."""
    clock, K = result.clock, len(result.C)
    times = np.append(clock.times, new.times)
    fitted = [*clock.order, *(K + np.flatnonzero(new.observed))]
    end = clock.times[clock.order[-1]]
    open_ = np.setdiff1d(np.flatnonzero(times > end), fitted)
    gaps = Unobserved(times, fitted, open_.tolist(), result.period)

    def longer(old: FloatArray, added: FloatArray) -> FloatArray:
        values = np.concatenate([old, np.zeros((len(new.times), *old.shape[1:]))])
        values[K + np.flatnonzero(new.observed)] = added
        return values

    B = gaps.patterns(longer(np.asarray(padded(result.B, fill=0.0)), continued.B), result.terms.B)
    return B, gaps.on_lines(longer(result.C, continued.C))


def _negative(result: Result, parts: _Parts, square: float) -> float | None:
    if result.negative_share is None or parts.negative is None:
        return None
    return float((result.negative_share * result.terms.scale**2 + parts.negative) / square)


def _joined(own: NDArray[Any] | None, more: NDArray[Any] | None) -> NDArray[Any] | None:
    return None if own is None or more is None else np.concatenate([own, more])


def _append_ragged(result: Result, pieces: list[Piece], when: Moments) -> Result:
    """Slices each with columns of its own: one after the other, since nothing ties them."""
    for k, piece in enumerate(pieces):
        width, wide = piece.values.shape[1], max(result.shape[2], piece.values.shape[1])
        if width < result.rank:
            raise InvalidValue(
                f"slice {k} has {width} columns, fewer than the {result.rank} components: it cannot have a "
                "pattern for each."
            )
        square = replace(
            result,
            B=np.asarray(padded([*result.B, np.zeros((wide, result.rank))], fill=0.0)[:-1]),
            labels=replace(result.labels, columns=None),
            coverage=None,
            present=None,
        )
        values = np.asarray(piece.values if not piece.is_sparse else piece.values.toarray(), dtype=np.float64)
        whole = np.pad(values, ((0, 0), (0, wide - width)))
        one = Moments(when.values[k : k + 1], None if when.labels is None else when.labels[k : k + 1])
        longer = _append(square, [piece._replace(values=whole, columns=None)], one, prepared=False)
        widths = (*result.widths, width)
        result = replace(longer, B=[piece[:width] for piece, width in zip(longer.B, widths)])
    return result
