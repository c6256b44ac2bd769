"""How sure a fitted model is of what it found."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tparafac2.inference import Request, intervals_of
from tparafac2.result import Intervals, Result

if TYPE_CHECKING:
    import pandas as pd


class ForInference:
    """Bands around the factors: a thin front on the room `inference`."""

    result_: Result

    def _take(self, result: Result) -> None:
        """Make a result that of this model."""
        raise NotImplementedError

    def intervals(
        self,
        X: Any,
        level: float = 0.95,
        n_resamples: int = 200,
        *,
        over: str = "rows",
        groups: Any = None,
        contrasts: Sequence[Any] = (),
        random_state: Any = 0,
        n_jobs: int = -1,
        **further: Any,
    ) -> Intervals:
        """Find out how sure loadings, patterns and strengths are, from refits to data drawn anew.

        They are kept with the model (``intervals_``), in files, tables, pictures and the page.

        Parameters
        ----------
        X : as in `fit`
            The data of the fit, as they were fitted: if they were prepared, the same `Prepared`, not the data
            before that: ``prepared = tp.Preparation("sqrt").apply(X)``, ``model.fit(prepared)``, then
            ``model.intervals(prepared)``.
        level : float
            How often a band is to cover the truth.
        n_resamples : int
            How many data sets are drawn, of each kind.
        over : "rows" or "residuals"
            "rows": the rows are a sample, and other rows might have been taken: rows are drawn with
            replacement for patterns and strengths, and residuals with random signs for the loadings.
            "residuals": the rows are all that there are (all states), and only noise might have been other.
        groups : sequence, mapping or Series by row label, optional
            Rows that belong together, as several samples of one subject: they are drawn together.
        contrasts : list of tuples (component, column, from, to)
            Changes of weights in a pattern to have bands for, beside each column's largest rise and fall: the
            component counted from 1, column and times by their labels, or places where there are none.
        random_state : int, SeedSequence, Generator or None
            What is drawn; the bytes are the same for the same seed, whatever `n_jobs`.
        n_jobs : int
            Number of threads; -1: all cores.
        **further
            `mask`, `dims` and `weights` of the data, as in `fit`; ``loadings=False`` leaves out the bands of
            the loadings, and half of the work; `undersmoothing` (4) is how much less smooth than the model
            the centre of the bands is, `progress` as in the constructor; `client` is a distributed.Client,
            for refits by the workers of a Dask cluster instead of threads.

        Returns
        -------
        Intervals

        Examples
        --------
        >>> import tparafac2 as tp
        >>> data = tp.synthetic.easy(seed=0, n_times=6, n_rows=30, n_columns=18, noise=0.5)
        >>> model = tp.TParafac2(2, smoothness=1e-3, n_starts=4, random_state=0).fit(data.X)
        >>> bands = model.intervals(data.X, n_resamples=20)
        >>> bands, bands.patterns.lower.shape
        (Intervals(95 %, 20 resamples over rows, 2 components), (6, 18, 2))
        """
        door = {name: further.pop(name, None) for name in ("mask", "dims", "weights")}
        request = Request(
            level=level,
            n_resamples=n_resamples,
            over=over,
            groups=groups,
            contrasts=contrasts,
            random_state=random_state,
            n_jobs=n_jobs,
            **further,
        )
        found = intervals_of(self.result_, X, request, **door)
        self._take(replace(self.result_, intervals=found))
        return found

    @property
    def intervals_(self) -> Intervals | None:
        """Bands around the factors, where `intervals` was asked for them."""
        return self.result_.intervals

    def associations(
        self,
        attributes: Sequence[str] | str | None = None,
        *,
        level: float = 0.95,
        n_permutations: int = 4999,
        n_draws: int = 999,
        random_state: Any = 0,
    ) -> "pd.DataFrame":
        """What each component has to do with what else is known of the rows: see `row_attributes_`.

        Of two groups, the difference of their mean loadings in standard deviations of the loadings; of
        several, eta squared (the share of the loadings' variance that lies between groups, less what chance
        gives it), and the two groups farthest apart; of numbers, the correlation. Groups of fewer than three
        rows are left out, as are attributes that do not tell rows apart (``table.attrs["skipped"]``).

        Parameters
        ----------
        attributes : str or several, optional
            Which; all of them, unless given.
        level : float
            Of the intervals, from rows that are drawn anew.
        n_permutations, n_draws : int
            How often rows are permuted for the p-values, and drawn for the intervals.
        random_state : int or numpy.random.Generator

        Returns
        -------
        DataFrame
            One line for each component and attribute: component, name, attribute, measure, value, lower,
            upper, high and low (the groups with the highest and lowest mean), difference (of these, in
            standard deviations), rows, p, and p_corrected for the number of lines (Holm).
            ``table.attrs["note"]`` says what associations do not prove.

        Examples
        --------
        >>> import pandas as pd
        >>> import tparafac2 as tp
        >>> data = tp.synthetic.easy(seed=0, n_times=6, n_rows=60, n_columns=30)
        >>> about = pd.DataFrame({"truth": data.A[:, 0]})
        >>> model = tp.TParafac2(rank=3, n_starts=2, random_state=0).fit(data.X, row_attributes=about)
        >>> float(model.associations()["p_corrected"].min()) < 0.01
        True
        """
        from tparafac2.inference.associations import Request as Asked
        from tparafac2.inference.associations import associations

        request = Asked(n_permutations, n_draws, level, random_state)
        return associations(self.result_, attributes, request)
