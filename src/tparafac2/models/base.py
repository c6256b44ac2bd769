"""What all models share: the fit, and ways to look at its result."""

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

from tparafac2.data import FloatArray, Intake, Labels, Table, take_in
from tparafac2.errors import InvalidValue
from tparafac2.fitting import (
    DEFAULT_SMOOTHNESS,
    FitPlan,
    Size,
    check_common,
    check_rank,
    check_weights,
    fit,
    free_factors,
    on_their_clock,
    read_sparsity,
    require_even_widths,
    require_slices,
    require_weight,
    resolve,
    sparse_terms,
    sparsity_unit,
    warn_if_unsound,
    weights,
)
from tparafac2.large import Stored, stored_if_large, take_stored
from tparafac2.models.conventions import Estimator
from tparafac2.models.inference import ForInference
from tparafac2.models.new_data import ForNewData
from tparafac2.models.readers import ForReaders
from tparafac2.newdata import fitted_scale, prepare_all, warm_start
from tparafac2.penalties import NonNegative, Penalty, asks_for
from tparafac2.preparing import Prepared, as_prepared
from tparafac2.result import By, Evaluation, Finding, NormalisedFactors, Result, Terms
from tparafac2.starts import Progress
from tparafac2.words import PYTHON, Advice, Argument, Words

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def _about_rows(labels: Labels, row_attributes: Any, n_rows: int) -> Labels:
    return labels if row_attributes is None else labels.with_attributes(row_attributes, n_rows)


def _bounded(terms: tuple[Penalty, ...], nonnegative: bool) -> tuple[Penalty, ...]:
    return (*terms, NonNegative()) if nonnegative and not asks_for(terms, "nonnegative") else terms


@dataclass(eq=False, repr=False)
class Decomposition(ForNewData, ForInference, ForReaders, Estimator):
    """What all models share: the fit, and ways to look at its result."""

    rank: int
    _: KW_ONLY
    n_starts: int = 10
    init: Any = "uniform"
    max_iter: int = 2000
    tol: float = 1e-8
    feasibility_tol: float = 1e-5
    algorithm: str = "fast"
    nonnegative: str | None = None
    sparsity: float | Mapping[str, float] | None = None
    penalties_a: Sequence[Penalty] = ()
    penalties_b: Sequence[Penalty] = ()
    penalties_c: Sequence[Penalty] = ()
    bridge: bool = True
    compress: bool | str = "auto"
    dtype: str = "float64"
    random_state: Any = None
    n_jobs: int = -1
    progress: bool | None = None

    _lambdas: ClassVar[tuple[str, ...]] = ("lambda_a", "lambda_b", "lambda_d")
    _smooth: ClassVar[bool] = False
    _static: ClassVar[bool] = False
    _fixed_strengths: ClassVar[bool] = False

    def fit(
        self,
        X: Any,
        y: None = None,
        *,
        dims: Mapping[str, Hashable] | None = None,
        mask: Any = None,
        times: Any = None,
        weights: Any = None,
        row_attributes: Any = None,
    ) -> Self:
        """Fit the model to data.

        Parameters
        ----------
        X : ndarray (K, I, J), list of K arrays, DataFrames or scipy sparse matrices (I, J), dict of these \
by time, xarray.DataArray, Table, Prepared, or Stored
            One slice of rows and columns for each time. NaN is missing. DataFrames are matched by their
            labels, in any order. Sparse slices are never made dense. One long DataFrame is taken as a Table
            if the names of its columns tell which are rows, columns and time.
            How data were prepared is kept with the model, for `fitted_values`. A numpy.memmap, an array of
            Zarr, h5py or Dask and a DataArray that was not loaded are read in blocks of rows if they take
            more than a quarter of the memory; `Stored` says how much may be used.
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
        weights : sequence of I numbers, mapping or Series by row label, array (K, I, J) or list of K \
arrays, optional
            How much each row, or each entry, counts: what is minimised is then the sum of w (x - model)^2
            plus the terms. For exposures, sample sizes, or one over the variance of the noise. An entry of
            weight 0 is missing. Only their ratios matter: they are divided by their mean over what was
            observed. The norm ||X||, to which `smoothness` relates, and the explained variance are sums by
            weight, too; `observed_share_` and `coverage_` count entries above 0. Without any, those of a
            `Table` that has a column of them.
        row_attributes : DataFrame, optional
            What else is known of the rows (region, treatment, age), joined by row label: they play no part in
            the fit, and are kept with it for pictures, tables and `associations`. Their labels are in the
            column that is called as the rows are, in the index, or in the first column. Without it, those of
            a `Table` that has some, and the coordinates along the rows of a DataArray.

        Returns
        -------
        self
        """
        self._asked()
        preparation = None
        X = as_prepared(X)
        if isinstance(X, Prepared):
            X, preparation = X.data, X.as_dict()
        if weights is None and isinstance(X, Table):
            weights = X.counts
        if weights is not None:
            check_weights(self.get_params())

        stored = stored_if_large(X, dims)
        if stored is not None:
            labels = _about_rows(stored.labels, row_attributes, stored.shape[1])
            intake = self._take_stored(stored, mask, times, weights)._replace(labels=labels)
            self.fit_intake(intake, preparation)
            warn_if_unsound(self.result_)
            return self

        intake = take_in(
            X,
            dims=dims,
            dtype=self.dtype,
            mask=mask,
            times=times,
            bridge=bool(self.bridge),
            weights=weights,
        )
        labels = _about_rows(intake.labels, row_attributes, intake.data.shape[1])
        self.fit_intake(intake._replace(labels=labels), preparation)
        warn_if_unsound(self.result_)
        return self

    def _take_stored(self, stored: Stored, mask: Any, times: Any, weights: Any) -> Intake:
        """What is larger than memory, after one look at all of it."""
        for name, given in (("mask", mask), ("weights", weights)):
            if given is not None:
                raise InvalidValue(
                    Argument(name),
                    " is not for data that are read in blocks of rows: store NaN where an entry is missing, "
                    "or fit what fits in memory.",
                )
        self._check_size(Size(stored.shape))
        progress = Progress(self.progress)
        try:
            return take_stored(
                stored, dtype=self.dtype, times=times, bridge=bool(self.bridge), watch=progress.looking
            )
        finally:
            progress.close()

    def fit_intake(self, intake: Intake, preparation: Mapping[str, Any] | None = None) -> Self:
        """Fit the model to data that were taken in already, for those who fit many times; without warnings.

        Parameters
        ----------
        intake : Intake
            As `take_in` gives it.
        preparation : mapping, optional
            How the data were prepared, for the record: `Prepared.as_dict`.

        Returns
        -------
        self
        """
        asked, plan = self._asked(), self._plan()
        self._check_size(Size(intake.data.shape, intake.data.widths))
        path = [on_their_clock(terms, intake, plan.period) for terms in self._path(asked, intake)]
        about = {"model": type(self).__name__, "parameters": self.get_params(), "preparation": preparation}
        self._take(fit(intake, path, plan, about))
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
        self._asked()
        if shape is not None:
            self._check_size(Size(shape))

    def _check_size(self, data: Size) -> None:
        check_rank(self.rank, data, flexible=self._static)
        self._check_data(data)

    def _check_data(self, data: Size) -> None:
        """Refuse data that this model cannot take."""
        if self._smooth:
            require_slices(data, type(self).__name__)
            require_even_widths(data, type(self).__name__)

    def _plan(self) -> FitPlan:
        given = self.get_params()
        period = given.get("period")
        plan: dict[str, Any] = {field.name: given.get(field.name) for field in fields(FitPlan)}
        return FitPlan(**(plan | {"period": None if period is None else float(period)}))

    def _asked(self) -> float | tuple[float, ...] | None:
        """Check the parameters, and tell the smoothness or the lambdas."""
        given = self.get_params()
        check_common(given)
        if self._smooth:
            require_weight("epsilon", given["epsilon"])
        lambdas = {name: given[name] for name in self._lambdas}
        asked = resolve(given.get("smoothness"), lambdas, DEFAULT_SMOOTHNESS if self._smooth else None)
        if asked is None:
            self._require_hold()
        return asked

    def _require_hold(self) -> None:
        """Refuse words that need norm penalties, where there are none."""
        needed = ", ".join(self._lambdas[:-1]) + f" and {self._lambdas[-1]}"
        if getattr(self, "smooth_strengths", 0.0):
            raise InvalidValue(
                Argument("smooth_strengths"),
                " is relative to the norm penalty of the strengths, and there is none: ",
                Advice("give_lambdas", f"give {needed}, all of them"),
                ".",
            )
        if read_sparsity(self.sparsity) and free_factors(self._terms(None, 1.0, 1)):
            raise InvalidValue(
                Argument("sparsity"),
                " of some factors only has no minimum, as scale would flee to the others: ",
                Advice("give_lambdas", f"give {needed}, all of them"),
                ", or a sparsity of every factor.",
                received=self.sparsity,
            )

    def terms(self, scale: float, n_times: int) -> Terms:
        """The terms of the objective for data of a norm and a number of slices, evenly spaced in time."""
        return self._terms(self._asked(), scale, n_times)

    def _path(self, asked: float | tuple[float, ...] | None, intake: Intake) -> list[Terms]:
        """The terms that are minimised, and before them those on the way there."""
        return [self._resolved(asked, intake)]

    def _resolved(self, asked: float | tuple[float, ...] | None, intake: Intake) -> Terms:
        return self._terms(asked, intake.data.scale, intake.data.shape[0])

    def _terms(self, asked: float | tuple[float, ...] | None, scale: float, n_times: int) -> Terms:
        """All terms, for data of a norm and a number of slices: the model's own, those by words, further."""
        n = len(self._lambdas)
        A, B, C = self._own_terms(weights(asked, scale, n), n_times)
        sparsity = read_sparsity(self.sparsity)
        if self._static and "patterns" in sparsity:
            sparsity["patterns"] /= n_times  # all slices are the same pattern, which counts once
        few = sparse_terms(sparsity, scale, n)
        return Terms(
            A=_bounded((*A, *few["rows"], *self.penalties_a), self.nonnegative in ("rows", "both")),
            B=_bounded((*B, *few["patterns"], *self.penalties_b), self.nonnegative in ("patterns", "both")),
            C=(*C, *few["strengths"], *self.penalties_c),
            scale=scale,
            fixed_strengths=self._fixed_strengths,
        )

    def _own_terms(self, lambdas: tuple[float, ...], n_times: int) -> tuple[list[Penalty], ...]:
        """The terms that make this model what it is, on A, B and C."""
        raise NotImplementedError

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

    def evaluate(
        self,
        X: Any,
        *,
        mask: Any = None,
        dims: Mapping[str, Hashable] | None = None,
        weights: Any = None,
    ) -> Evaluation:
        """Objective, explained variance and violations once more, from the factors and the data alone.

        Parameters
        ----------
        X, mask, dims, weights
            As in `fit`: the data of the fit, to check it, or others of the same shape. Without weights, those
            that the fit had for the rows.

        Returns
        -------
        Evaluation
        """
        return self.result_.evaluate(X, mask=mask, dims=dims, weights=weights)

    def _with(self, result: Result) -> Self:
        other = type(self)(**self.get_params())
        other._take(result)
        return other

    def _refit(self, X: Any, times: Any, dims: Mapping[str, Hashable] | None) -> Self:
        result = self.result_
        prepared = as_prepared(prepare_all(result, X, dims))
        preparation = None
        if isinstance(prepared, Prepared):
            prepared, preparation = prepared.data, prepared.as_dict()
            dims = None if dims is not None and not isinstance(X, Prepared) else dims
        counts = result.row_weights
        intake = take_in(
            prepared,
            dims=dims,
            dtype=self.dtype,
            times=times,
            bridge=bool(self.bridge),
            weights=counts,
        )
        other = type(self)(**self.get_params())
        if (asked := self._asked()) is not None:
            kept = weights(asked, fitted_scale(result), len(self._lambdas))
            other.set_params(**dict(zip(self._lambdas, kept)))
            if self._smooth:
                other.set_params(smoothness=None)
        if sparsity := read_sparsity(self.sparsity):
            n = len(self._lambdas)
            units = sparsity_unit(fitted_scale(result), n) / sparsity_unit(intake.data.scale, n)
            other.set_params(sparsity={factor: weight * units for factor, weight in sparsity.items()})
        other.init = warm_start(result, intake)
        other.fit_intake(intake, preparation)
        other.init = self.init
        warn_if_unsound(other.result_)
        return other

    def patterns_at(self, t: Any) -> "xr.DataArray":
        """The patterns at any time between the slices, as the model implies: with labels, and of length 1."""
        return self.result_.patterns_at(t)

    def normalised(self) -> NormalisedFactors:
        """Factors for eyes: unit loadings and patterns, all size in the strengths."""
        return self.result_.normalised()

    def to_dataset(self) -> "xr.Dataset":
        """Everything as one labelled xarray.Dataset, with the factors of `normalised`."""
        return self.result_.to_dataset()

    def summary(self, words: Words = PYTHON, *, by: By = "weight") -> str:
        """Tell in a few lines what was found and how far to trust it; see `Result.summary`."""
        return self.result_.summary(words, by=by)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a netCDF file, for `tparafac2.load`."""
        self.result_.save(path)

    def _repr_html_(self) -> str:
        if not self.__sklearn_is_fitted__():
            from html import escape

            return f"<pre>{escape(repr(self))}</pre>"
        return self.result_._repr_html_()
