"""Fits of one setting after the other to several parts of the rows, each from where the one before ended."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tparafac2.choosing.candidates import Candidate
from tparafac2.data import (
    Compressed,
    DenseData,
    FloatArray,
    Intake,
    SliceData,
    StackedData,
    compress,
    is_complete,
    row_weights,
    sketch,
)
from tparafac2.fitting import on_their_clock, tied
from tparafac2.penalties import can_rotate
from tparafac2.result import Terms
from tparafac2.solver import Problem, Run, Settings, Start, build_problem, solve
from tparafac2.starts import Interrupt, child_seeds, fit_size, prepare, uniform_start

ROUGHLY = Settings(max_iter=100, tol=1e-4, feasibility_tol=1e-2)
"""As far as errors of held-out rows change by more than a fifth of a tie."""

CLOSELY = Settings(max_iter=500, tol=1e-6, feasibility_tol=1e-4)
"""As far as components and the agreement of starts need it."""

_STACK_NUMBERS = 6_000_000  # numbers in the patterns of a batch


@dataclass(frozen=True)
class Frame:
    """What all fits of a choice share.

    Attributes
    ----------
    whole : Intake
        All of the data: its clock is that of every part.
    largest : int
        The largest rank; sketches are made for it.
    options : mapping
        Parameters of every estimator, such as `sparsity`.
    seed : int
        Of the starts.
    settings : Settings
        How far every fit goes.
    """

    whole: Intake
    largest: int
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    settings: Settings = ROUGHLY

    def terms(self, setting: Candidate, scale: float) -> Terms:
        """The terms of the objective, for data of this norm."""
        model = setting.estimator(**self.options)
        found = model.terms(scale, self.whole.data.shape[0])
        return on_their_clock(found, self.whole, self.options.get("period"))

    def problem(self, setting: Candidate, data: SliceData, norm: float) -> Problem:
        """What is minimised, where the data of a fit have the norm `norm` in units of `data.scale`."""
        terms = tied(self.terms(setting, data.scale * norm), data, self.settings)
        return build_problem(
            data,
            setting.rank,
            (terms.A, terms.B, terms.C),
            fixed_strengths=terms.fixed_strengths,
            tie=terms.tie,
        )


class Small(NamedTuple):
    """Data to fit, in few rows and columns, and the way back to all columns."""

    data: SliceData
    shape: tuple[int, int, int]  # before
    bases: tuple[Compressed, ...] = ()

    def patterns(self, B: FloatArray) -> FloatArray:
        """Patterns of all columns."""
        for basis in reversed(self.bases):
            B = basis.expand_patterns(B)
        return B


class Fits(NamedTuple):
    """Fits of one setting to all parts: a run for each, in the coordinates of its small data."""

    setting: Candidate
    runs: list[Run]
    parts: "Parts"

    def factors(self, part: int) -> tuple[FloatArray, FloatArray]:
        """Patterns (K, J, R) and strengths (K, R) of one part, in the solver's units."""
        run = self.runs[part]
        return self.parts.small[part].patterns(run.B), run.C


@dataclass(frozen=True)
class Parts:
    """Several parts of the rows, made small, in which all settings are fitted.

    Attributes
    ----------
    frame : Frame
    small : list of Small
    norm : float
        Root of the mean squared norm of the parts: smoothness relates to it.
    """

    frame: Frame
    small: list[Small]
    norm: float

    @classmethod
    def of(cls, frame: Frame, first: Candidate, data: Iterator[SliceData]) -> "Parts":
        """Make every part small, one after the other; what `first` allows, all settings do."""
        terms = frame.terms(first._replace(smoothness=first.smoothness or 1e-3), 1.0)
        rows, columns = can_rotate(terms.A, 0), can_rotate(terms.B, 1)
        small, norms = [], []
        for part in data:
            norms.append(part.norm_squared)
            small.append(_made_small(part, frame.largest, rows=rows, columns=columns))
        return cls(frame, _of_one_shape(small), float(np.sqrt(np.mean(norms))))

    def begin(self, setting: Candidate, n_starts: int, size: int = 1) -> list[list[Run]]:
        """The best runs of random starts on every part, the best first."""
        data = [one.data for one in self.small for _ in range(n_starts)]
        seeds = child_seeds(self.frame.seed, n_starts)
        signed = setting.nonnegative not in ("rows", "both"), setting.model == "CP"
        fixed = setting.model == "TemporalCMF"
        starts = []
        for part in self.small:
            for seed in seeds:
                drawn = fit_size(uniform_start(seed, part.shape, setting.rank), fixed_strengths=fixed)
                start = prepare(drawn, part.data, part.bases, signed=signed)
                # Rows of zeros that were added have loadings of zero.
                added = np.zeros((part.data.shape[1] - len(start.A), setting.rank))
                starts.append(start._replace(A=np.concatenate([start.A, added])))
        runs = self._solved(setting, data, starts)
        groups = [runs[first : first + n_starts] for first in range(0, len(runs), n_starts)]
        return [sorted(group, key=_rank_of)[:size] for group in groups]

    def go_on(self, setting: Candidate, runs: Sequence[Run], n_starts: int = 1) -> list[Run]:
        """The runs of another setting, from where these ended; anew where nothing was left."""
        if not all(_something_left(run) for run in runs):
            return [best[0] for best in self.begin(setting, n_starts)]
        starts = [Start(run.A, run.B, run.C) for run in runs]
        return self._solved(setting, [one.data for one in self.small], starts)

    def _solved(self, setting: Candidate, data: Sequence[SliceData], starts: Sequence[Start]) -> list[Run]:
        K, _, J = data[0].shape
        stacked = all(isinstance(one, DenseData) and one.shape == data[0].shape for one in data)
        size = max(1, _STACK_NUMBERS // (K * J * setting.rank)) if stacked else 1
        runs: list[Run] = []
        with Interrupt() as interrupt:
            for first in range(0, len(data), size):
                some = tuple(data[first : first + size])
                held = some[0] if len(some) == 1 else StackedData(some)
                problem = self.frame.problem(setting, held, self.norm)
                own = starts[first : first + size]
                runs += solve(problem, own, self.frame.settings, lambda entry: interrupt.requested)
        return runs


def fit_path(
    parts: Parts, settings: Sequence[Candidate], n_starts: int = 3, before: Fits | None = None
) -> Iterator[Fits]:
    """Fit one setting after the other to all parts.

    The first begins where the fits `before` ended, or at random; every other where the one before it ended.
    """
    runs = None if before is None else before.runs
    for setting in settings:
        if runs is None:
            runs = [best[0] for best in parts.begin(setting, n_starts)]
        else:
            runs = parts.go_on(setting, runs, n_starts)
        yield Fits(setting, runs, parts)


def _made_small(data: SliceData, rank: int, *, rows: bool, columns: bool) -> Small:
    plain = rows and is_complete(data) and row_weights(data) is None
    found = sketch(data, rank) if plain else None
    bases = [] if found is None else [found.compressed]
    further = compress(data if found is None else found.compressed.data, rank, columns=columns, rows=False)
    if further.column_basis is not None:
        bases.append(further)
    return Small(further.data, data.shape, tuple(bases))


def _of_one_shape(small: list[Small]) -> list[Small]:
    """Dense parts of nearly as many rows with rows of zeros, whose loadings are zero, so that they stack."""
    if not all(isinstance(one.data, DenseData) for one in small):
        return small
    most = max(one.data.shape[1] for one in small)
    return [one._replace(data=_with_rows(one.data, most)) for one in small]


def _with_rows(data: Any, count: int) -> SliceData:
    values = data.values
    if len(values) == count:
        return data  # type: ignore[no-any-return]
    return data.with_values(np.concatenate([values, np.zeros((count - len(values), *values.shape[1:]))]))  # type: ignore[no-any-return]


def _rank_of(run: Run) -> tuple[bool, float]:
    return not np.isfinite(run.objective), run.objective


def _something_left(run: Run) -> bool:
    return bool(run.A.any() and run.C.any() and run.B.any()) and bool(np.isfinite(run.objective))
