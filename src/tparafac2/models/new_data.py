"""What every fitted model says of data that it has not seen."""

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tparafac2.result import Result

if TYPE_CHECKING:
    from tparafac2.newdata import Forecast


class ForNewData:
    """New rows and times, forecasts, and missing entries filled in: a thin front on the room `newdata`."""

    result_: Result

    def transform(
        self,
        X: Any,
        *,
        dims: Mapping[str, Hashable] | None = None,
        mask: Any = None,
        times: Any = None,
        weights: Any = None,
        unknown: str = "refuse",
    ) -> NDArray[np.float64]:
        """Loadings of rows that were not in the fit, with patterns and strengths as they are.

        They minimise what the fit minimised: the squared error of what was observed, by weight, plus all
        terms on the loadings, under the same constraints. Loadings of the rows of the fit are therefore `A_`,
        as far as the fit has converged.

        Parameters
        ----------
        X : as in `fit`
            New rows, with the columns and times of the fit. Where both have labels they are matched by name,
            in any order, else by position. What a `Table` lacks is what its `absent` says. Values are
            prepared as those of the fit: by the means and deviations of columns and times that were found
            then, and by those of each new row itself where rows were centred or scaled. A `Prepared` must
            have been prepared so. What is read in blocks of rows is read twice.
        dims, mask, times : as in `fit`
        weights : as in `fit`, optional
            They are divided by the mean that those of the fit were divided by; without any, rows count as
            the mean row of the fit did.
        unknown : "refuse" or "drop"
            What becomes of columns and times that the model does not know.

        Returns
        -------
        ndarray (I_new, R)
            In the order of the rows of X: of the first of several DataFrames, of ``table.labels.rows``.

        Raises
        ------
        ValueError
            If columns or times are others than those of the fit, which are named, or if a row was not
            observed at all.

        Examples
        --------
        >>> import tparafac2 as tp
        >>> X = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=24).X
        >>> model = tp.TParafac2(rank=2, n_starts=2, random_state=0).fit(X[:, :15])
        >>> model.transform(X[:, 15:]).shape
        (5, 2)
        """
        from tparafac2.newdata.matching import Given
        from tparafac2.newdata.rows import transform

        return transform(self.result_, X, Given(dims, mask, times, weights, unknown))

    def inverse_transform(
        self, A: Any, *, prepared: bool = False
    ) -> NDArray[np.float64] | list[NDArray[np.float64]]:
        """What the model says of rows with given loadings.

        Parameters
        ----------
        A : ndarray (I_new, R)
            As `transform` gives them.
        prepared : bool
            Whether values are as they were fitted, as `reconstruct` gives them; else they are in the units
            of the data before these were prepared, as `fitted_values` gives them.

        Returns
        -------
        ndarray (K, I_new, J), or list of K ndarrays (I_new, J_k)

        Examples
        --------
        >>> import numpy as np
        >>> import tparafac2 as tp
        >>> X = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=24).X
        >>> model = tp.CP(rank=2, n_starts=2, random_state=0).fit(X)
        >>> np.allclose(model.inverse_transform(model.A_), model.fitted_values())
        True
        """
        from tparafac2.newdata.rows import inverse_transform

        return inverse_transform(self.result_, A, prepared=prepared)

    def score(
        self,
        X: Any,
        y: None = None,
        *,
        dims: Mapping[str, Hashable] | None = None,
        mask: Any = None,
        times: Any = None,
        weights: Any = None,
        folds: int = 5,
        random_state: Any = 0,
    ) -> float:
        """Explained variance of rows, at entries that their loadings have not seen.

        The observed entries of every row are dealt into `folds` parts. Each part is hidden in turn, the
        loadings are found from the others, and the hidden entries are predicted. More components do therefore
        not win by themselves, if the rows are others than those of the fit: of these, patterns and strengths
        have seen all entries.

        Splitters of scikit-learn cut the first axis, which is time here: to choose a rank, use
        `tparafac2.choose`.

        Parameters
        ----------
        X, dims, mask, times, weights : as in `transform`
        y : None
            Ignored; there for scikit-learn.
        folds : int
            Into how many parts the entries of each row are dealt.
        random_state : int or Generator
            Of the deal: the same number gives the same score.

        Returns
        -------
        float
            1 - (squared errors of hidden entries) / (their squares), as the data were fitted: after the
            preparation, of which totals and means of a row know all its entries. At most 1; below 0 if zeros
            would predict better.

        Examples
        --------
        >>> import tparafac2 as tp
        >>> X = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=24).X
        >>> model = tp.TParafac2(rank=2, n_starts=2, random_state=0).fit(X[:, :15])
        >>> 0.5 < model.score(X[:, 15:]) < 1.0
        True
        """
        from tparafac2.newdata.matching import Given
        from tparafac2.newdata.rows import score

        given = Given(dims, mask, times, weights)
        return score(self.result_, X, given, folds=folds, random_state=random_state)

    def complete(
        self,
        X: Any,
        *,
        dims: Mapping[str, Hashable] | None = None,
        mask: Any = None,
        times: Any = None,
        weights: Any = None,
        unknown: str = "refuse",
    ) -> Any:
        """The data with missing entries filled in by the model, in the units they came in.

        The loadings of the rows are those of `transform`, so that the rows may be those of the fit, or
        others. What was observed is never changed.

        Parameters
        ----------
        X, dims, mask, times, weights, unknown : as in `transform`
            As it was before any preparation, in memory.

        Returns
        -------
        of the type of X
            An array, a list of arrays or DataFrames, a dict of these or an xarray.DataArray, as X is; of a
            Table and a long DataFrame an xarray.DataArray.

        Notes
        -----
        After "share" the total of a row at a time is that of which the observed entries have the shares that
        the model gives them; after "clr" the observed entries tell the mean logarithm likewise. Where nothing
        was observed of a row at a time neither is known, and entries stay missing, with a warning; so do
        entries of columns that are not there at a time (``bridge=False``).

        Examples
        --------
        >>> import numpy as np
        >>> import tparafac2 as tp
        >>> X = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=24).X
        >>> holed = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
        >>> model = tp.TParafac2(rank=2, n_starts=2, random_state=0).fit(holed)
        >>> filled = model.complete(holed)
        >>> bool(np.isnan(filled).any()), bool((filled == X)[~np.isnan(holed)].all())
        (False, True)
        """
        from tparafac2.newdata.completing import complete
        from tparafac2.newdata.matching import Given

        return complete(self.result_, X, Given(dims, mask, times, weights, unknown))

    def append(
        self,
        X: Any,
        times: Any = None,
        *,
        refit: bool = False,
        dims: Mapping[str, Hashable] | None = None,
    ) -> Self:
        """Give a model that goes on with further times; this one is not changed.

        Loadings, and patterns and strengths of all earlier times, stay. The further patterns go on from the
        last one under the terms of the model, with the lambdas of the fit.

        Parameters
        ----------
        X : one slice (I, J), or several as in `fit`
            Further slices, before any preparation: the model does its own. Rows and columns are matched by
            their labels, and by position where there are none. Rows and columns that are not in X are missing
            (columns are zero where X is a Table whose absent combinations are zero, and do not exist with
            ``bridge=False``). Columns that the model does not have enter: they were not there before. Rows
            that it does not have are refused.
            With `refit`, all data instead, those of the fit and the further ones, as the model does not keep
            them.
        times : number, date or label, or a sequence of them, optional
            When the slices were taken, where X does not say so: after the last of the model. With `refit` as
            in `fit`.
        refit : bool
            Fit everything again, from where this model ended: loadings and earlier patterns may change, the
            lambdas do not (they take the place of `smoothness` among the parameters, since ||X|| is another).
        dims : mapping, optional
            For a DataArray, as in `fit`.

        Returns
        -------
        model
            Of the same class, fitted.

        Examples
        --------
        >>> import tparafac2 as tp
        >>> X = tp.synthetic.easy(seed=0, noise=0.1, n_times=9, n_rows=30, n_columns=24).X
        >>> model = tp.TParafac2(rank=3, smoothness=1e-4, n_starts=4, random_state=0).fit(X[:8])
        >>> model.append(X[8]).B_.shape, model.B_.shape
        ((9, 24, 3), (8, 24, 3))
        """
        from tparafac2.newdata import append

        if refit:
            return self._refit(X, times, dims)
        return self._with(append(self.result_, X, times=times, dims=dims))

    def _with(self, result: Result) -> Self:
        """A model with the same parameters and another result."""
        raise NotImplementedError

    def _refit(self, X: Any, times: Any, dims: Mapping[str, Hashable] | None) -> Self:
        """A model that is fitted to all data, from where this one ended."""
        raise NotImplementedError

    def forecast(
        self,
        h: int | None = None,
        *,
        times: Any = None,
        level: float = 0.95,
        season: int | None = None,
        X: Any = None,
        random_state: Any = 0,
    ) -> "Forecast":
        """Say what comes after the last time: patterns, strengths and fitted values, with intervals.

        Patterns stay as they were last, which is what smoothness in time implies, and the error of saying so
        is measured from earlier times. Strengths go on by exponential smoothing (statsmodels is needed: the
        extra "forecast"). With a period, both are those at the same phase.

        Parameters
        ----------
        h : int, optional
            How many steps ahead, where the times of the model are even; or `times`.
        times : sequence of numbers, dates or labels, optional
            The times that are asked for, after the last of the model.
        level : float
            Share of the intervals that are to hold what comes.
        season : int, optional
            Steps after which strengths repeat (12 for months of a year), at least two seasons being known.
        X : optional
            The data of the fit, as `fit` had them before or after preparation. With them errors are those of
            patterns that were known from earlier times only, and the noise is that of each row and column.
            Without, patterns are looked at with hindsight, and the noise is the same for all entries.
        random_state : int, Generator or None
            Of the draws from which the intervals are taken.

        Returns
        -------
        Forecast

        Examples
        --------
        >>> import tparafac2 as tp
        >>> data = tp.synthetic.easy(seed=0, noise=0.1, n_times=12, n_rows=30, n_columns=24)
        >>> model = tp.TParafac2(rank=3, smoothness=1e-4, n_starts=4, random_state=0).fit(data.X)
        >>> ahead = model.forecast(2)
        >>> ahead, ahead.fitted.value.shape
        (Forecast(2 times, 3 components, 30 rows x 24 columns, level 0.95), (2, 30, 24))
        """
        from tparafac2.newdata import Asked, forecast

        asked = Asked(level, season, random_state)
        return forecast(self.result_, h, times=times, X=X, asked=asked)
