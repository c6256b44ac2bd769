"""The models: TParafac2, Parafac2, TemporalCMF and CP, and from a saved file back to one of them."""

import math
import os
from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar, Literal, TypeAlias

from tparafac2.data import Intake
from tparafac2.errors import InvalidValue
from tparafac2.fitting import Size, read_sparsity, require_even_widths
from tparafac2.models.base import Decomposition
from tparafac2.penalties import (
    NonNegative,
    Penalty,
    Ridge,
    SoftParafac2,
    Static,
    SuddenChanges,
    TemporalSmoothness,
)
from tparafac2.penalties import Parafac2 as Parafac2Constraint
from tparafac2.result import GIVEN_FACTORS, Terms, load_result
from tparafac2.words import Argument

Changes: TypeAlias = Literal["smooth", "sudden"]

_RIGIDITIES = (math.inf, 100.0, 10.0, 1.0, 0.1, 0.01)


@dataclass(eq=False, repr=False)
class TParafac2(Decomposition):
    """Patterns that change smoothly in time, uniquely: temporal PARAFAC2.

    Each slice is X_k ~ A diag(c_k) B_k' with c_k >= 0, B_k' B_k the same for all k, and penalties
    lambda_a ||A||^2 + lambda_b (sum_k ||B_k - B_(k-1)||^2 + epsilon ||B||^2) + lambda_d ||C||^2.

    Parameters
    ----------
    rank : int
        Number of components R.
    smoothness : float, optional
        The one knob, without dimension: (lambda_a lambda_b lambda_d)^(1/3) / ||X||^(4/3). Useful values lie
        between 1e-5 and 3e-2. 3e-3 if nothing is given.
    lambda_a, lambda_b, lambda_d : float, optional
        The paper's penalties instead, all three of them. Only their product matters.
    rigidity : float
        How firmly patterns keep their sizes and angles. Infinite is the paper's model: B_k' B_k is the same
        for all k. A number lets them give way at a price, lambda_b rigidity sum_k ||B_k - P_k Delta||^2
        with orthonormal P_k, and 0 lets them go: they are held by smoothness alone. About 1 is a good number
        where sizes and angles do change. Such a fit begins with the infinite one and follows it down.
    changes : {"smooth", "sudden"}
        How patterns change: in many small steps, so that sum_k ||b_k - b_(k-1)||^2 is small for each
        component, or in few large ones, so that the path (sum_k ||b_k - b_(k-1)||)^2 / (K - 1) is short,
        however suddenly it is gone. The unit of `smoothness` is the same.
    epsilon : float
        Weight of the pattern's norm beside its changes: without it a pattern that does not change has no
        best scale. 0 is the paper's model.
    period : float, optional
        Time goes round with this period, in the units of `times` (24 for hours of a day): the last slice is
        followed by the first.
    n_starts : int
        Number of starts; the best is kept.
    init : {"uniform", "svd"}, tuple (A, B, C), or list of such tuples
        Where to begin: drawn from U(0, 1); the first start from the data's singular vectors and the others
        drawn; or exactly the given factors (`n_starts` is then not used), which are only brought to the size
        of the data where they are a million times larger or smaller.
    max_iter, tol, feasibility_tol
        Stop when the objective's relative change over ten iterations is below `tol` and all constraints hold
        to `feasibility_tol`, or at `max_iter`.
    algorithm : {"fast", "paper"}
        "paper" runs Algorithms 1 and 2 of the paper as they stand (with epsilon = 0): slower, and less likely
        to reach the minimum.
    nonnegative : {"patterns", "rows", "both"}, optional
        What else must not be negative; strengths never are. Counts, spectra, topics and microbes have
        patterns that cannot be, and components that are easier to find again.
    sparsity : float or mapping of str to float, optional
        How much it costs for entries to be other than zero (L1), without dimension: of "patterns", "rows" or
        "strengths", as in ``{"patterns": 1e-4, "rows": 1e-4}``; a number alone is that of the patterns.
        Useful values lie between 1e-5 and 1e-3; with more, weak components vanish. The strength of the term
        is sparsity * ||X||^(5/3). As it is of degree one, each lambda counts by itself: `smoothness` still
        sets them, but is no longer all that matters. Where patterns keep their sizes and angles (an infinite
        rigidity), entries become small rather than zero.
    smooth_strengths : float
        Weight of sum_k (c_k - c_(k-1))^2 beside the squares of the strengths, relative to lambda_d: 10 to
        1000 make strengths smooth in time. 0 leaves them free.
    penalties_a, penalties_b, penalties_c : sequences of penalties
        Further terms on loadings, patterns and strengths, see `tparafac2.penalties`.
    bridge : bool
        Whether smoothness bridges times at which a column was not observed at all. False where such a column
        did not exist then (words and species that enter and leave): its pattern is then zero.
    compress : {"auto", True, False}
        Fit in an exact smaller basis where one side of the data is much longer than the rest, and run the
        starts on a sketch, in which rows are replaced by `rank` + 10 directions; the best is then polished on
        all of the data, and so are others that might become better. Not possible with missing entries, and
        sketches not with terms on single rows; sparse data have to have few rows. False: all starts are run
        on the data as they are.
    dtype : {"float64", "float32"}
        Precision in which data and patterns are held during the fit; in float32 `tol` is at least 1e-5.
        Results are float64.
    random_state : int, SeedSequence, Generator or None
        Seed of the starts.
    n_jobs : int
        Number of threads that share the starts; -1 for all cores. The answer does not depend on it, to the
        last byte.
    progress : bool, optional
        Show a line of progress; by default only on a terminal.

    Attributes
    ----------
    A_ : ndarray (I, R)
        Loadings of the rows.
    B_ : ndarray (K, J, R)
        Patterns of the columns at each time.
    C_ : ndarray (K, R)
        Strengths at each time, not negative.
    objective_, explained_variance_, converged_, n_iter_, status_, starts_, trace_
        How the fit went.
    findings_, notes_
        What there is to know about the fit, as data, and what of it to read, as sentences.
    feasibility_gaps_ : dict
        How far the last iterate was from its constraints, before the factors were made feasible.
    constraint_violations_ : dict
        How far the factors themselves are from each constraint: rounding, as a rule.
    observed_share_ : float
        Share of the entries that were observed.
    coverage_ : ndarray (K, J) or None
        Share of the rows that was observed for every time and column; None if nothing is missing.
    undetermined_ : ndarray of bool (K, R)
        Patterns on which the data say nothing at that time.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> data = tp.synthetic.easy(seed=0, noise=0.1, n_times=8, n_rows=30, n_columns=24)
    >>> model = tp.TParafac2(rank=3, smoothness=1e-4, n_starts=4, random_state=0).fit(data.X)
    >>> model.B_.shape, model.converged_
    ((8, 24, 3), True)
    >>> bool(tp.metrics.factor_match_score(model, data) > 0.9)
    True
    """

    _smooth: ClassVar[bool] = True

    smoothness: float | None = None
    _: KW_ONLY
    lambda_a: float | None = None
    lambda_b: float | None = None
    lambda_d: float | None = None
    rigidity: float = math.inf
    changes: Changes = "smooth"
    epsilon: float = 1e-6
    period: float | None = None
    smooth_strengths: float = 0.0

    def _asked(self) -> float | tuple[float, ...] | None:
        asked = super()._asked()
        _require_known_changes(self)
        if self.rigidity < math.inf and self.algorithm == "paper":
            raise InvalidValue(
                Argument("rigidity"),
                f" is {self.rigidity:g}, which the paper's algorithm does not know: use algorithm='fast', or "
                "leave it infinite.",
                received=self.rigidity,
            )
        if self.rigidity < math.inf and asked is None:
            raise InvalidValue(
                Argument("rigidity"),
                f" is {self.rigidity:g}, but its unit is the smoothness, and all lambdas are 0: give a ",
                Argument("smoothness"),
                ", or leave it infinite.",
                received=self.rigidity,
            )
        return asked

    def _path(self, asked: float | tuple[float, ...] | None, intake: Intake) -> list[Terms]:
        # Random starts are unreliable where the constraint gives way: begin where it does not.
        way = [step for step in _RIGIDITIES if step > self.rigidity]
        return [replace(self, rigidity=step)._resolved(asked, intake) for step in (*way, self.rigidity)]

    def _own_terms(self, lambdas: tuple[float, ...], n_times: int) -> tuple[list[Penalty], ...]:
        a, b, d = lambdas
        shape: list[Penalty] = [Parafac2Constraint()]
        if self.rigidity < math.inf:
            shape = [SoftParafac2(b * self.rigidity)] if self.rigidity else []
        return _ridge(a), [*shape, *_smoothness(self, b)], [*_on_strengths(self, d), NonNegative()]


@dataclass(eq=False, repr=False)
class Parafac2(Decomposition):
    """Patterns that change freely in time, with constant sizes and angles: PARAFAC2.

    Each slice is X_k ~ A diag(c_k) B_k' with c_k >= 0 and B_k' B_k the same for all k. Slices may have
    different numbers of columns.

    Parameters
    ----------
    rank : int
        Number of components R.
    lambda_a, lambda_b, lambda_d : float, optional
        Norm penalties lambda_a ||A||^2 + lambda_b sum_k ||B_k||^2 + lambda_d ||C||^2: all three or none.
    n_starts, init, max_iter, tol, feasibility_tol, algorithm, nonnegative, sparsity, \
smooth_strengths, penalties_a, penalties_b, penalties_c, bridge, compress, dtype, random_state, \
n_jobs, progress
        As in `TParafac2`.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> data = tp.synthetic.easy(seed=0, noise=0.0, n_times=8, n_rows=30, n_columns=24)
    >>> model = tp.Parafac2(rank=3, n_starts=4, random_state=0).fit(data.X)
    >>> bool(tp.metrics.factor_match_score(model, data) > 0.999)
    True
    """

    _: KW_ONLY
    lambda_a: float | None = None
    lambda_b: float | None = None
    lambda_d: float | None = None
    smooth_strengths: float = 0.0

    def _check_data(self, data: Size) -> None:
        if self.penalties_b or "patterns" in read_sparsity(self.sparsity):
            require_even_widths(data, "A further term on the patterns")

    def _own_terms(self, lambdas: tuple[float, ...], n_times: int) -> tuple[list[Penalty], ...]:
        a, b, d = lambdas
        return _ridge(a), [Parafac2Constraint(), *_ridge(b)], [*_on_strengths(self, d), NonNegative()]


@dataclass(eq=False, repr=False)
class TemporalCMF(Decomposition):
    """Patterns that change smoothly in time, without the PARAFAC2 constraint: temporal coupled factorisation.

    Each slice is X_k ~ A B_k' with penalties lambda_a ||A||^2 and
    lambda_b (sum_k ||B_k - B_(k-1)||^2 + epsilon ||B||^2). Without further constraints the components are
    not unique: only the space they span can be interpreted. Non-negative rows often make them so.

    Parameters
    ----------
    rank : int
        Number of components R.
    smoothness : float, optional
        The one knob, without dimension: sqrt(lambda_a lambda_b) / ||X||. 3e-3 if nothing is given.
    lambda_a, lambda_b : float, optional
        The paper's penalties instead, both of them. Only their product matters.
    changes, epsilon, nonnegative, sparsity, n_starts, init, max_iter, tol, feasibility_tol, algorithm, \
penalties_a, penalties_b, penalties_c, bridge, compress, dtype, random_state, n_jobs, progress
        As in `TParafac2`. Strengths are fixed to one, so that `penalties_c` must be empty and there is no
        sparsity of "strengths"; that of the others is in the unit of ||X||^(3/2). With
        ``nonnegative="rows"`` it is the paper's NNtCMF.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> data = tp.synthetic.overlapping(seed=0, noise=0.1, n_times=8, n_rows=30, n_columns=24)
    >>> model = tp.TemporalCMF(rank=3, nonnegative="rows", n_starts=4, random_state=0).fit(data.X)
    >>> bool((model.A_ >= 0).all()), bool((model.C_ == 1).all())
    (True, True)
    """

    _lambdas: ClassVar[tuple[str, ...]] = ("lambda_a", "lambda_b")
    _smooth: ClassVar[bool] = True
    _fixed_strengths: ClassVar[bool] = True

    smoothness: float | None = None
    _: KW_ONLY
    lambda_a: float | None = None
    lambda_b: float | None = None
    changes: Changes = "smooth"
    epsilon: float = 1e-6
    period: float | None = None

    def _asked(self) -> float | tuple[float, ...] | None:
        asked = super()._asked()
        _require_known_changes(self)
        if len(self.penalties_c):
            raise ValueError("TemporalCMF has no strengths to penalise: leave penalties_c empty.")
        if "strengths" in read_sparsity(self.sparsity):
            raise InvalidValue(
                Argument("sparsity"),
                " of strengths is not for TemporalCMF, which has none: give that of patterns or rows.",
                received=self.sparsity,
            )
        return asked

    def _own_terms(self, lambdas: tuple[float, ...], n_times: int) -> tuple[list[Penalty], ...]:
        a, b = lambdas
        return _ridge(a), _smoothness(self, b), []


@dataclass(eq=False, repr=False)
class CP(Decomposition):
    """Patterns that do not change, only their strengths do: CANDECOMP/PARAFAC.

    Each slice is X_k ~ A diag(c_k) B'.

    Parameters
    ----------
    rank : int
        Number of components R.
    nonnegative_strengths : bool
        Constrain the strengths to be non-negative.
    lambda_a, lambda_b, lambda_d : float, optional
        Norm penalties lambda_a ||A||^2 + lambda_b ||B||^2 + lambda_d ||C||^2: all three or none.
    n_starts, init, max_iter, tol, feasibility_tol, algorithm, nonnegative, sparsity, \
smooth_strengths, penalties_a, penalties_b, penalties_c, bridge, compress, dtype, random_state, \
n_jobs, progress
        As in `TParafac2`.

    Attributes
    ----------
    B_ : ndarray (K, J, R)
        The same pattern at each time, so that all models can be compared.

    Examples
    --------
    >>> import numpy as np
    >>> import tparafac2 as tp
    >>> rng = np.random.default_rng(0)
    >>> X = np.einsum("ir,jr,kr->kij", rng.random((9, 2)), rng.random((8, 2)), rng.random((7, 2)))
    >>> model = tp.CP(rank=2, n_starts=4, random_state=0).fit(X)
    >>> round(model.explained_variance_, 6)
    1.0
    """

    _static: ClassVar[bool] = True

    _: KW_ONLY
    nonnegative_strengths: bool = False
    lambda_a: float | None = None
    lambda_b: float | None = None
    lambda_d: float | None = None
    smooth_strengths: float = 0.0

    def _check_data(self, data: Size) -> None:
        require_even_widths(data, "CP")

    def _own_terms(self, lambdas: tuple[float, ...], n_times: int) -> tuple[list[Penalty], ...]:
        a, b, d = lambdas
        sign = [NonNegative()] if self.nonnegative_strengths else []
        # All slices are the same pattern, which is to be penalised once.
        return _ridge(a), [Static(), *_ridge(b / n_times)], [*_on_strengths(self, d), *sign]


def _ridge(weight: float) -> list[Penalty]:
    return [Ridge(weight)] if weight else []


def _on_strengths(model: TParafac2 | Parafac2 | CP, weight: float) -> list[Penalty]:
    """Norm and, where they are to be smooth, changes of the strengths: both grow with the weight."""
    changes = weight * model.smooth_strengths
    return _ridge(weight) + ([TemporalSmoothness(changes, epsilon=0.0)] if changes else [])


def _require_known_changes(model: TParafac2 | TemporalCMF) -> None:
    if model.changes == "sudden" and model.algorithm == "paper":
        raise InvalidValue(
            Argument("changes"),
            " is 'sudden', which the paper's algorithm does not know: use algorithm='fast', or 'smooth'.",
            received=model.changes,
        )


def _smoothness(model: TParafac2 | TemporalCMF, strength: float) -> list[Penalty]:
    """The term on changes in time; none without strength."""
    epsilon = 0.0 if model.algorithm == "paper" else model.epsilon
    kind = SuddenChanges if model.changes == "sudden" else TemporalSmoothness
    return [kind(strength, epsilon)] if strength else []


MODELS: dict[str, type[Decomposition]] = {
    model.__name__: model for model in (TParafac2, Parafac2, TemporalCMF, CP)
}


def load(path: str | os.PathLike[str]) -> Decomposition:
    """Read a fitted model.

    Parameters
    ----------
    path : path
        A file written by `save`.

    Returns
    -------
    estimator
        Of the class that was saved, fitted, with its parameters. Where `init` was given as factors, it is now
        the fitted ones: another fit goes on from there.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import tparafac2 as tp
    >>> data = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=20)
    >>> model = tp.CP(rank=2, n_starts=2, random_state=0).fit(data.X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(pathlib.Path(folder) / "model.npz")
    ...     again = tp.load(pathlib.Path(folder) / "model.npz")
    >>> again, bool((again.B_ == model.B_).all())
    (CP(rank=2, n_starts=2, random_state=0), True)
    """
    result = load_result(path)
    if result.model not in MODELS:
        raise ValueError(
            f"{os.fspath(path)} holds a {result.model!r}, which this version does not know: upgrade."
        )
    kind = MODELS[result.model]
    known = kind._parameter_names()
    parameters = {name: value for name, value in result.parameters.items() if name in known}
    if parameters.get("rank") != result.rank:
        raise ValueError(
            f"{os.fspath(path)!r} claims rank {parameters.get('rank')}, and has {result.rank} components: it "
            "is damaged, or not as it was saved. Save the model again."
        )
    if parameters.get("init") == GIVEN_FACTORS:  # the file has the end of that way, not its beginning
        parameters["init"] = (result.A, result.B, result.C)
    model = kind(**parameters)
    model._take(result)
    return model
