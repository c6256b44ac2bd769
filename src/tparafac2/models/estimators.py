"""The models: TParafac2, Parafac2, TemporalCMF and CP."""

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from tparafac2.data import FloatArray, Intake, take_in
from tparafac2.models import fitting, lambdas
from tparafac2.models.checks import (
    Size,
    Sized,
    check_common,
    check_rank,
    require_even_widths,
    require_slices,
)
from tparafac2.models.conventions import Estimator
from tparafac2.models.model import Model
from tparafac2.penalties import NonNegative, Penalty, Ridge, Static, TemporalSmoothness
from tparafac2.penalties import Parafac2 as Parafac2Constraint
from tparafac2.preparing import Prepared, as_prepared
from tparafac2.result import Evaluation, Finding, NormalisedFactors, Result
from tparafac2.words import PYTHON, Words

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


# Up to this rank exact updates cost little more per iteration than EM, and they need fewer.
_MOST_EXACT = 10


@dataclass(eq=False, repr=False)
class Decomposition(Estimator):
    """What all models share: the fit, and ways to look at its result."""

    rank: int
    _: KW_ONLY
    n_starts: int = 10
    init: Any = "uniform"
    max_iter: int = 2000
    tol: float = 1e-8
    feasibility_tol: float = 1e-5
    algorithm: str = "fast"
    penalties_a: Sequence[Penalty] = ()
    penalties_b: Sequence[Penalty] = ()
    penalties_c: Sequence[Penalty] = ()
    missing: str = "auto"
    bridge: bool = True
    compress: bool | str = "auto"
    dtype: str = "float64"
    random_state: Any = None
    n_jobs: int = 1
    progress: bool | None = None

    _flexible_rank: ClassVar[bool] = False

    def fit(
        self,
        X: Any,
        y: None = None,
        *,
        dims: Mapping[str, Hashable] | None = None,
        mask: Any = None,
        times: Any = None,
    ) -> Self:
        """Fit the model to data.

        Parameters
        ----------
        X : ndarray (K, I, J), list of K arrays, DataFrames or scipy sparse matrices (I, J), dict of these \
by time, xarray.DataArray, Table, or Prepared
            One slice of rows and columns for each time. NaN is missing. DataFrames are matched by their
            labels, in any order. Sparse slices are never made dense. One long DataFrame is taken as a Table
            if the names of its columns tell which are rows, columns and time.
            How data were prepared is kept with the model, for `fitted_values`.
        y : None
            Ignored; there for scikit-learn.
        dims : mapping, optional
            For a DataArray: which dimension is which, for example
            ``{"rows": "author", "columns": "word", "time": "year"}``, where the names do not tell.
        mask : array of bool (K, I, J), optional
            True where an entry was observed, False where it is missing (as NaN in X is).
        times : sequence of numbers or dates, or "even", optional
            When each slice was taken: smoothness weighs changes by the inverse of the gap in time. The labels
            of X if these are numbers or dates; "even" takes no notice of them. Any order will do.

        Returns
        -------
        self
        """
        check_common(self)
        asked = self._asked()
        preparation = None
        X = as_prepared(X)
        if isinstance(X, Prepared):
            X, preparation = X.data, X.as_dict()
        intake = take_in(
            X,
            dims=dims,
            dtype=self.dtype,
            mask=mask,
            times=times,
            exact=self._exact(),
            bridge=bool(self.bridge),
        )
        self._check_size(intake.data)
        plan = fitting.FitPlan(
            rank=self.rank,
            settings=fitting.read_settings(
                self.algorithm,
                self.max_iter,
                self.tol,
                self.feasibility_tol,
                single=intake.data.dtype == np.float32,
            ),
            n_starts=self.n_starts,
            init=self.init,
            random_state=self.random_state,
            n_jobs=fitting.count_jobs(self.n_jobs),
            compress=self.compress,
            progress=self.progress,
            period=self._period(),
        )
        about = {
            "model": type(self).__name__,
            "parameters": self.get_params(),
            "preparation": preparation,
        }
        model = self._model(asked, intake).on_clock(intake, self._period())
        self._take(fitting.fit(intake, model, plan, about))
        return self

    def check_settings(self, shape: tuple[int, int, int] | None = None) -> None:
        """Refuse settings that cannot be fitted, before any work; `fit` does so itself.

        Parameters
        ----------
        shape : tuple (K, I, J), optional
            Numbers of slices, rows and columns, where they are known, for what depends on them.

        Examples
        --------
        >>> import tparafac2 as tp
        >>> tp.CP(rank=0).check_settings()
        Traceback (most recent call last):
        tparafac2.errors.InvalidValue: rank must be at least 1; got 0.
        """
        check_common(self)
        self._asked()
        if shape is not None:
            self._check_size(Size(shape))

    def _check_size(self, data: Sized) -> None:
        check_rank(self.rank, data, flexible=self._flexible_rank)
        self._check_data(data)

    def _exact(self) -> bool:
        """Whether missing entries are left out of every sum, instead of being filled in."""
        return self.missing == "exact" or (
            self.missing == "auto" and (self.rank <= _MOST_EXACT or not self.bridge)
        )

    def _period(self) -> float | None:
        return None

    def _smoothness(self, strength: float, epsilon: float) -> list[Penalty]:
        """The term on changes in time; none without strength."""
        epsilon = 0.0 if self.algorithm == "paper" else epsilon
        return [TemporalSmoothness(strength, epsilon)] if strength else []

    def _asked(self) -> Any:
        raise TypeError(f"{type(self).__name__} says nothing of its terms: use one of the models.")

    def _model(self, asked: Any, intake: Intake) -> Model:
        raise TypeError(f"{type(self).__name__} says nothing of its terms: use one of the models.")

    def _check_data(self, data: Sized) -> None:
        """Refuse data that this model cannot take."""

    def _take(self, result: Result) -> None:
        self.result_ = result
        self.A_ = result.A
        self.B_ = result.B
        self.C_ = result.C
        self.objective_ = result.objective
        self.explained_variance_ = result.explained_variance
        self.feasibility_gaps_ = result.feasibility_gaps
        self.constraint_violations_ = result.constraint_violations
        self.converged_ = result.converged
        self.n_iter_ = result.n_iter
        self.status_ = result.status
        self.observed_share_ = result.observed_share
        self.coverage_ = result.coverage
        self.undetermined_ = result.undetermined_patterns

    @property
    def findings_(self) -> tuple[Finding, ...]:
        """What there is to know about the fit, as data."""
        return self.result_.findings

    @property
    def notes_(self) -> tuple[str, ...]:
        """What of it to read, as sentences."""
        return self.result_.notes

    @property
    def starts_(self) -> "pd.DataFrame":
        """One row for each start: objective, iterations, status, agreement with the chosen one."""
        return self.result_.starts_table()

    @property
    def trace_(self) -> "pd.DataFrame":
        """One row for each iteration of the chosen start: seconds, objective, feasibility gaps."""
        return self.result_.trace_table()

    def reconstruct(self) -> FloatArray | list[FloatArray]:
        """What the model says the data are, (K, I, J) or a list of (I, J_k)."""
        return self.result_.reconstruct()  # type: ignore[return-value]

    def fitted_values(self) -> FloatArray | list[FloatArray]:
        """What the model says the data were before they were prepared; else the same as `reconstruct`.

        After "share" and "clr" these are shares within each row and time: totals were not fitted.
        """
        return self.result_.fitted_values()  # type: ignore[return-value]

    def evaluate(self, X: Any, *, mask: Any = None, dims: Mapping[str, Hashable] | None = None) -> Evaluation:
        """Objective, explained variance and violations once more, from the factors and the data alone.

        Parameters
        ----------
        X, mask, dims
            As in `fit`: the data of the fit, to check it, or others of the same shape.

        Returns
        -------
        Evaluation
        """
        return self.result_.evaluate(X, mask=mask, dims=dims)

    def patterns_at(self, t: Any) -> "xr.DataArray":
        """The patterns at any time between the slices, as the model implies: with labels, and of length 1."""
        return self.result_.patterns_at(t)

    def normalised(self) -> NormalisedFactors:
        """Factors for eyes: unit loadings and patterns, all size in the strengths."""
        return self.result_.normalised()

    def to_dataset(self) -> "xr.Dataset":
        """Everything as one labelled xarray.Dataset, with the factors of `normalised`."""
        return self.result_.to_dataset()

    def summary(self, words: Words = PYTHON) -> str:
        """Tell in a few lines what was found and how far to trust it."""
        return self.result_.summary(words)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a netCDF file, for `tparafac2.load`."""
        self.result_.save(path)

    def _repr_html_(self) -> str:
        if not self.__sklearn_is_fitted__():
            from html import escape

            return f"<pre>{escape(repr(self))}</pre>"
        return self.result_._repr_html_()


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
        between 1e-5 and 3e-2. 1e-3 if nothing is given.
    lambda_a, lambda_b, lambda_d : float, optional
        The paper's penalties instead, all three of them. Only their product matters.
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
    penalties_a, penalties_b, penalties_c : sequences of penalties
        Further terms on loadings, patterns and strengths, see `tparafac2.penalties`.
    missing : {"auto", "exact", "em"}
        What becomes of missing entries: left out of every sum, so that each row and column has a system of
        its own ("exact"), or filled in by the current model of each start ("em"). Both minimise the
        same objective; "auto" takes exact up to rank 10.
    bridge : bool
        Whether smoothness bridges times at which a column was not observed at all. False where such a column
        did not exist then (words and species that enter and leave): its pattern is then zero.
    compress : {"auto", True, False}
        Fit in an exact smaller basis where one side of the data is much longer than the rest. Not possible
        with missing entries; sparse data have to have few rows.
    dtype : {"float64", "float32"}
        Precision in which data and patterns are held during the fit; in float32 `tol` is at least 1e-5.
        Results are float64.
    random_state : int, SeedSequence, Generator or None
        Seed of the starts.
    n_jobs : int
        Number of processes; -1 for all cores. The answer does not depend on it. Starts are worked on in
        batches of about 100 / rank, so that only more starts than that can use several processes.
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

    smoothness: float | None = None
    _: KW_ONLY
    lambda_a: float | None = None
    lambda_b: float | None = None
    lambda_d: float | None = None
    epsilon: float = 1e-6
    period: float | None = None

    def _period(self) -> float | None:
        return None if self.period is None else float(self.period)

    def _asked(self) -> Any:
        lambdas.require_weight("epsilon", self.epsilon)
        given = {"lambda_a": self.lambda_a, "lambda_b": self.lambda_b, "lambda_d": self.lambda_d}
        return lambdas.resolve(self.smoothness, given, lambdas.DEFAULT_SMOOTHNESS)

    def _check_data(self, data: Sized) -> None:
        require_slices(data, "TParafac2")
        require_even_widths(data, "TParafac2")

    def _model(self, asked: Any, intake: Intake) -> Model:
        a, b, d = lambdas.weights(asked, intake.data.scale, 3)
        smooth = self._smoothness(b, self.epsilon)
        return Model(
            (
                [*_ridge(a), *self.penalties_a],
                [Parafac2Constraint(), *smooth, *self.penalties_b],
                [*_ridge(d), NonNegative(), *self.penalties_c],
            )
        )


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
    n_starts, init, max_iter, tol, feasibility_tol, algorithm, penalties_a, penalties_b, penalties_c, \
missing, bridge, compress, dtype, random_state, n_jobs, progress
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

    def _asked(self) -> Any:
        given = {"lambda_a": self.lambda_a, "lambda_b": self.lambda_b, "lambda_d": self.lambda_d}
        return lambdas.resolve(None, given, None)

    def _check_data(self, data: Sized) -> None:
        if self.penalties_b:
            require_even_widths(data, "A further term on the patterns")

    def _model(self, asked: Any, intake: Intake) -> Model:
        a, b, d = lambdas.weights(asked, intake.data.scale, 3)
        return Model(
            (
                [*_ridge(a), *self.penalties_a],
                [Parafac2Constraint(), *_ridge(b), *self.penalties_b],
                [*_ridge(d), NonNegative(), *self.penalties_c],
            )
        )


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
        The one knob, without dimension: sqrt(lambda_a lambda_b) / ||X||. 1e-3 if nothing is given.
    lambda_a, lambda_b : float, optional
        The paper's penalties instead, both of them. Only their product matters.
    nonnegative_rows : bool
        Constrain the loadings to be non-negative (NNtCMF).
    epsilon, n_starts, init, max_iter, tol, feasibility_tol, algorithm, penalties_a, penalties_b, \
penalties_c, missing, bridge, compress, dtype, random_state, n_jobs, progress
        As in `TParafac2`. Strengths are fixed to one, so that `penalties_c` must be empty.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> data = tp.synthetic.overlapping(seed=0, noise=0.1, n_times=8, n_rows=30, n_columns=24)
    >>> model = tp.TemporalCMF(rank=3, nonnegative_rows=True, n_starts=4, random_state=0).fit(data.X)
    >>> bool((model.A_ >= 0).all()), bool((model.C_ == 1).all())
    (True, True)
    """

    smoothness: float | None = None
    _: KW_ONLY
    lambda_a: float | None = None
    lambda_b: float | None = None
    nonnegative_rows: bool = False
    epsilon: float = 1e-6
    period: float | None = None

    def _period(self) -> float | None:
        return None if self.period is None else float(self.period)

    def _asked(self) -> Any:
        lambdas.require_weight("epsilon", self.epsilon)
        if len(self.penalties_c):
            raise ValueError("TemporalCMF has no strengths to penalise: leave penalties_c empty.")
        given = {"lambda_a": self.lambda_a, "lambda_b": self.lambda_b}
        return lambdas.resolve(self.smoothness, given, lambdas.DEFAULT_SMOOTHNESS)

    def _check_data(self, data: Sized) -> None:
        require_slices(data, "TemporalCMF")
        require_even_widths(data, "TemporalCMF")

    def _model(self, asked: Any, intake: Intake) -> Model:
        a, b = lambdas.weights(asked, intake.data.scale, 2)
        sign = [NonNegative()] if self.nonnegative_rows else []
        smooth = self._smoothness(b, self.epsilon)
        return Model(
            ([*_ridge(a), *sign, *self.penalties_a], [*smooth, *self.penalties_b], []), fixed_strengths=True
        )


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
    n_starts, init, max_iter, tol, feasibility_tol, algorithm, penalties_a, penalties_b, penalties_c, \
missing, bridge, compress, dtype, random_state, n_jobs, progress
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

    _flexible_rank: ClassVar[bool] = True

    _: KW_ONLY
    nonnegative_strengths: bool = False
    lambda_a: float | None = None
    lambda_b: float | None = None
    lambda_d: float | None = None

    def _asked(self) -> Any:
        given = {"lambda_a": self.lambda_a, "lambda_b": self.lambda_b, "lambda_d": self.lambda_d}
        return lambdas.resolve(None, given, None)

    def _check_data(self, data: Sized) -> None:
        require_even_widths(data, "CP")

    def _model(self, asked: Any, intake: Intake) -> Model:
        a, b, d = lambdas.weights(asked, intake.data.scale, 3)
        sign = [NonNegative()] if self.nonnegative_strengths else []
        return Model(
            (
                [*_ridge(a), *self.penalties_a],
                # All K slices are the same pattern, which is to be penalised once.
                [Static(), *_ridge(b / intake.data.shape[0]), *self.penalties_b],
                [*_ridge(d), *sign, *self.penalties_c],
            )
        )


def _ridge(weight: float) -> list[Penalty]:
    return [Ridge(weight)] if weight else []


MODELS: dict[str, type[Decomposition]] = {
    model.__name__: model for model in (TParafac2, Parafac2, TemporalCMF, CP)
}
