"""The account of a fit in plain words: what it explains, how it ended, and how far to trust it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.result import Result
from tparafac2.result.agreement import ALIKE, chosen_start, count_alike, count_same_objective, likeness
from tparafac2.result.moments import gaps, timeline

Tone = Literal["good", "plain", "warning"]

STATIC = 1e-6
"""A pattern whose squared changes are this small a part of its square does not change."""

_EVEN = 1e-6
_TOLD = re.compile(
    r"Component \d+ (vanished|is static|has almost no strength)\b|Only \d+ of \d+ starts ended with these"
)


class Fact(NamedTuple):
    """One thing to know about a fit.

    Attributes
    ----------
    tone : "good", "plain" or "warning"
        Whether it is to reassure, to inform or to be taken care of.
    figure : str
        The fact in a word or a number.
    text : str
        What the figure says, as the rest of its sentence or as sentences of its own.

    Examples
    --------
    >>> Fact("good", "95 %", "of the variation is explained.").figure
    '95 %'
    """

    tone: Tone
    figure: str
    text: str


def account(result: Result) -> list[Fact]:
    """Say what everybody should know about a fit before looking at its patterns.

    Parameters
    ----------
    result : Result

    Returns
    -------
    list of Fact
        The most important first.

    Examples
    --------
    >>> result = Result(model="CP", A=np.ones((4, 1)), B=np.ones((2, 3, 1)), C=np.ones((2, 1)),
    ...                 objective=0.5, explained_variance=0.9, status="Converged.", converged=True, n_iter=7)
    >>> for fact in account(result)[:2]:
    ...     print(fact.figure, "|", fact.text)
    90.0 % | of the variation in the data (its sum of squares) is explained by 1 component.
    converged | after 7 iterations.
    """
    parts = (
        _explained,
        _ending,
        _starts,
        _cancelling,
        _vanished,
        _static,
        _missing,
        _undetermined,
        _time,
        _ragged,
    )
    return [fact for part in parts for fact in part(result)]


def further_notes(result: Result) -> list[str]:
    """Give the notes of the fit that the account and the components do not tell already.

    Examples
    --------
    >>> result = Result(model="CP", A=np.ones((4, 1)), B=np.ones((2, 3, 1)), C=np.ones((2, 1)), objective=0.5,
    ...                 explained_variance=0.9, status="Converged.", converged=True, n_iter=7,
    ...                 notes=("Component 1 is static: it does not change.", "Beware."))
    >>> further_notes(result)
    ['Beware.']
    """
    return [note for note in result.notes if not _TOLD.match(note)]


def vanished(result: Result) -> NDArray[np.bool_]:
    """Tell which components are zero in some factor, (R,).

    Examples
    --------
    >>> result = Result(model="CP", A=np.array([[1.0, 0.0]]), B=np.ones((2, 3, 2)), C=np.ones((2, 2)),
    ...                 objective=0.5, explained_variance=0.9, status="Converged.", converged=True, n_iter=7)
    >>> vanished(result).tolist()
    [False, True]
    """
    alive = [np.any(factor, axis=0) for factor in (result.A, result.C)]
    alive.append(np.any([np.any(piece, axis=0) for piece in result.B], axis=0))
    return np.asarray(~np.all(alive, axis=0))


def static(result: Result) -> NDArray[np.bool_]:
    """Tell which components have a pattern that does not change, (R,).

    Examples
    --------
    >>> B = np.array([[[1.0, 1.0]], [[1.0, 2.0]]])
    >>> result = Result(model="CP", A=np.ones((4, 2)), B=B, C=np.ones((2, 2)),
    ...                 objective=0.5, explained_variance=0.9, status="Converged.", converged=True, n_iter=7)
    >>> static(result).tolist()
    [True, False]
    """
    if isinstance(result.B, list):
        return np.zeros(result.rank, dtype=bool)
    with np.errstate(invalid="ignore", over="ignore"):  # a fit that went wrong may hold infinities
        squares = np.sum(np.square(result.B), axis=(0, 1))
        changes = np.sum(np.square(np.diff(result.B, axis=0)), axis=(0, 1))
        return np.asarray((changes <= STATIC * squares) & ~vanished(result))


def counted(number: int, word: str) -> str:
    """Count things.

    Examples
    --------
    >>> counted(1, "component"), counted(12000, "component")
    ('1 component', '12,000 components')
    """
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def numbered(flags: NDArray[np.bool_]) -> str:
    """Name components, counted from 1.

    Examples
    --------
    >>> numbered(np.array([True, False, True, True]))
    'components 1, 3 and 4'
    """
    numbers = [str(r + 1) for r in np.flatnonzero(flags)]
    if len(numbers) == 1:
        return f"component {numbers[0]}"
    return f"components {', '.join(numbers[:-1])} and {numbers[-1]}"


def _explained(result: Result) -> Iterator[Fact]:
    share = result.explained_variance
    components = counted(result.rank, "component")
    if not np.isfinite(share):
        yield Fact("warning", "unknown", "is how much of the data is explained: the fit broke down.")
        return
    of_what = "the data" if result.observed_share == 1 else "the observed data"
    text = f"of the variation in {of_what} (its sum of squares) is explained by {components}."
    if share <= 0:
        text += " That is no better than saying nothing."
    yield Fact("plain" if share > 0 else "warning", f"{100 * share:.1f} %", text)


def _ending(result: Result) -> Iterator[Fact]:
    after = f"after {counted(result.n_iter, 'iteration')}"
    if result.converged:
        yield Fact("good", "converged", f"{after}.")
    else:
        yield Fact("warning", "not converged", f"{after}. {result.status}")


def _starts(result: Result) -> Iterator[Fact]:
    if not {"fms_to_chosen", "objective"} <= set(result.starts) or not len(result.starts["objective"]):
        return
    count = len(result.starts["objective"])
    if count == 1:
        yield Fact(
            "plain",
            "1 start",
            "only, so nothing tells whether another would have found the same: use several.",
        )
        return
    relative, alike = likeness(result.starts), count_alike(result.starts)
    same = count_same_objective(result.starts)
    text = f"starts ended with these components (match of {ALIKE} or better), and {same} with this objective."
    if alike == count:
        yield Fact("good", f"{alike} of {count}", text)
        return
    if np.isfinite(relative).any():
        text += f" The least alike matches by {np.nanmin(relative):.2f}, where 1 is the same."
    if 2 * alike <= count:
        text += " Do not build on details before more starts agree."
    yield Fact("plain" if 2 * alike > count else "warning", f"{alike} of {count}", text)


def _cancelling(result: Result) -> Iterator[Fact]:
    degenerate = result.starts.get("degenerate", np.zeros(0))
    if "objective" in result.starts and len(degenerate) and degenerate[chosen_start(result.starts)]:
        yield Fact(
            "warning",
            "degenerate",
            "Two components are alike and nearly cancel each other: do not interpret them. Lower the rank.",
        )


def _vanished(result: Result) -> Iterator[Fact]:
    gone = vanished(result)
    if gone.any():
        yield Fact(
            "warning",
            f"{np.count_nonzero(gone)} vanished",
            f"Nothing is left of {numbered(gone)}: the smoothness is too strong or the rank too high.",
        )


def _static(result: Result) -> Iterator[Fact]:
    still = static(result)
    if not still.any():
        return
    if result.model == "CP":
        yield Fact("plain", "constant", "The model (CP) keeps all patterns constant; only strengths change.")
    else:
        verb = "has a pattern that does" if np.count_nonzero(still) == 1 else "have patterns that do"
        text = f"{numbered(still).capitalize()} {verb} not change in time."
        yield Fact("plain", f"{np.count_nonzero(still)} static", text)


def _missing(result: Result) -> Iterator[Fact]:
    empty = 0 if result.coverage is None else int(np.count_nonzero(result.coverage == 0))
    if result.observed_share == 1 and not empty:
        yield Fact("plain", "complete", "No entry of the data was missing.")
        return
    text = "of the entries were missing and played no part."
    if result.coverage is not None and empty:
        text += (
            f" Of the {result.coverage.size:,} pairs of time and column {empty:,} were not observed in any "
            "row: they are hatched here, and left out of the rankings."
        )
    yield Fact("plain", f"{100 * (1 - result.observed_share):.3g} %", text)


def _undetermined(result: Result) -> Iterator[Fact]:
    flags = result.undetermined_patterns[:, ~vanished(result)]
    count = int(np.count_nonzero(flags))
    if count:
        yield Fact(
            "warning",
            f"{count} of {flags.size}",
            "pairs of time and component have a pattern that the data do not determine, because there is "
            "almost no strength or nothing was observed. They are hatched on this page.",
        )


def _time(result: Result) -> Iterator[Fact]:
    when = timeline(result)
    unit = " days" if when.dated else ""
    between = gaps(when.values, result.period)
    if len(between) and np.ptp(between) > _EVEN * between.max():
        text = f"Neighbours are {between.min():.4g} to {between.max():.4g}{unit} apart."
        yield Fact("plain", "uneven times", text)
    if result.period is not None:
        text = f"Time goes round with period {result.period:.6g}{unit}: the last is followed by the first."
        yield Fact("plain", "cyclic", text)


def _ragged(result: Result) -> Iterator[Fact]:
    if result.ragged and len(set(result.widths)) > 1:
        yield Fact(
            "plain",
            "ragged",
            f"The times have {min(result.widths)} to {max(result.widths)} columns, each its own: a column "
            "need not be the same thing at another time.",
        )
