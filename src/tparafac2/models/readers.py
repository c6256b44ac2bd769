"""What a fitted model tells its readers: what sets components apart, what they are called, and the page."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

from tparafac2.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from tparafac2.report import PageView


class ForReaders:
    """Components in words, their names, and the page: a thin front on the rooms `result` and `report`."""

    result_: Result

    def _with(self, result: Result) -> Self:
        """The same model with another result."""
        raise NotImplementedError

    def distinctive(
        self,
        component: Any = None,
        time: Any = None,
        n: int = 10,
        *,
        of: Literal["columns", "rows"] = "columns",
    ) -> "pd.DataFrame":
        """Columns that set a component apart from the others at a time, or rows: see `Result.distinctive`."""
        return self.result_.distinctive(component, time, n, of=of)

    def explore(self, *, title: str | None = None, height: int = 800, data: Any = None) -> "PageView":
        """Show the page of the fit inside a notebook, without a file and without a server.

        Parameters
        ----------
        title : str, optional
        height : int
            Of the frame, in pixels; at least 200.
        data : optional
            The data of the fit, to be shown beside it; see `tparafac2.report.write_page`.

        Returns
        -------
        PageView
            A notebook shows it where it is the last value of a cell.

        Examples
        --------
        >>> import tparafac2 as tp
        >>> X = tp.synthetic.easy(seed=0, n_times=5, n_rows=12, n_columns=18).X
        >>> tp.CP(rank=2, n_starts=2, random_state=0).fit(X).explore(title="Mine", data=X)
        PageView(height=800)
        """
        from tparafac2.report import explore

        return explore(self, title=title, height=height, data=data)

    def rename(self, names: Mapping[int, str | None] | Sequence[str | None] | None) -> Self:
        """The same fitted model with names of its components, which all that is shown of it then has.

        They are kept in files, and may be given wherever the number of a component is asked for.

        Parameters
        ----------
        names : mapping of numbers (from 1) to names, or sequence of R names, or None
            Those of a mapping are added to the names that there are; None takes all away.

        Returns
        -------
        fitted model
            Another one; this one stays as it is.

        Examples
        --------
        >>> import numpy as np
        >>> import tparafac2 as tp
        >>> model = tp.CP(rank=2, n_starts=1, random_state=0).fit(np.random.default_rng(0).random((4, 6, 5)))
        >>> model.rename({2: "Africa"}).result_.component_names
        ('', 'Africa')
        """
        return self._with(self.result_.rename(names))

    def with_row_attributes(self, frame: Any) -> Self:
        """The same fitted model with what else is known of its rows, instead of what was: see `fit`."""
        return self._with(self.result_.with_row_attributes(frame))

    @property
    def row_attributes_(self) -> "pd.DataFrame":
        """What else is known of the rows, by their labels."""
        return self.result_.row_attributes
