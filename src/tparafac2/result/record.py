"""The factors a fit found, how they were reached, and how far to trust them."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tparafac2 import metrics
from tparafac2.data import Labels, printable
from tparafac2.penalties import asks_for, softens
from tparafac2.result import observation
from tparafac2.result.intervals import Intervals
from tparafac2.result.naming import read_names
from tparafac2.result.terms import Method, Terms
from tparafac2.result.trust import Trust
from tparafac2.words import PYTHON, Words

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from tparafac2.result.distinctive import By
    from tparafac2.result.evaluation import Evaluation
    from tparafac2.result.kinds import Finding

FloatArray: TypeAlias = NDArray[np.floating[Any]]
Column: TypeAlias = NDArray[Any]

CONVENTION = (
    "Loadings have length 1, patterns have length 1 at every time, and all size is in the strengths, in the "
    "units of the data that were fitted."
)


class NormalisedFactors(NamedTuple):
    """Factors for eyes: every loading and pattern has length 1, all size is in the strengths.

    Attributes
    ----------
    A : ndarray (I, R)
        Loadings; every column has length 1, or is zero.
    B : ndarray (K, J, R) or list of K ndarrays (J_k, R)
        Patterns; every column of every slice has length 1, or is zero.
    C : ndarray (K, R)
        Strengths: zero where the component's loadings or pattern are zero.

    Examples
    --------
    >>> import numpy as np
    >>> NormalisedFactors(np.eye(2), np.ones((3, 1, 2)), np.ones((3, 2))).C.shape
    (3, 2)
    """

    A: NDArray[np.float64]
    B: NDArray[np.float64] | list[NDArray[np.float64]]
    C: NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Result:
    """What a fit gives back.

    Attributes
    ----------
    model : str
        Name of the estimator class.
    A : ndarray (I, R)
        Loadings of the rows.
    B : ndarray (K, J, R) or list of K ndarrays (J_k, R)
        Patterns of the columns at every time; a list where the slices have unequal widths.
    C : ndarray (K, R)
        Strengths at every time.
    objective, explained_variance : float
        What was minimised, and 1 - SSE / ||X||^2, both of these factors.
    status : str
        How the fit ended: "converged", "max_iter", "infeasible" (at max_iter with a constraint not met),
        "interrupted", "not_finite" or "vanished" (all components did).
    converged : bool
    n_iter : int
    parameters : mapping
        What the estimator was constructed with.
    labels : Labels
        What the user calls rows, columns and times.
    feasibility_gaps : dict
        For "A", "B" and "C": how far the iterate was from its constraints when the iterations ended, relative
        to its size. The factors given back are made feasible after that: see `constraint_violations`.
    trace, starts : dict of str to 1-D ndarray
        Columns of two tables: one row per iteration of the chosen start, one row per start.
    times : ndarray (K,), optional
        When each slice was taken, in the user's units; for dates the days since 1970-01-01, and
        ``labels.time`` has the dates themselves. None: evenly spaced, 0, 1, 2, ...
    period : float, optional
        Time goes round with this period.
    preparation : mapping, optional
        How the data were prepared before the fit, as `tparafac2.preparing.Prepared.as_dict` says it.
    observed_share : float
        Share of the entries that were observed.
    coverage : ndarray (K, J), optional
        Share of the rows that was observed for every time and column; 0 also where there is no such column
        at that time. None: everything.
    undetermined : ndarray of bool (K, R), optional
        Patterns on which the data say nothing at that time: nothing was observed, or there is no strength.
    present : ndarray of bool (K, J), optional
        Which columns there were at every time, where columns come and go. None: all.
    terms : Terms
        What was minimised beside the squared error: every term with all its parameters, and the norm of the
        data.
    method : Method
        How it was computed.
    version : str, optional
        Version of tparafac2 that made the fit.
    negative_share : float, optional
        Share of the sum of squares of the data that is of negative entries, 0 to 1. None: not known.
    row_weights : ndarray (I,), optional
        How much each row counted, or the entries of it in the mean, where observed entries count 1 in the
        mean. Objective, squared error, explained variance and the norm ||X|| are sums by weight. None: all
        counted the same.
    weighting : mapping, optional
        How the weights were given: `by` is "rows" or "entries", and `mean` what they were divided by.
    trust : Trust, optional
        What was measured of every component beyond the fit: whether halves of the rows agree on it, and
        whether it depends on the setting. None: not measured.
    choice : mapping, optional
        How rank, smoothness and rigidity were chosen, and all that was tried: `tparafac2.Choice` reads it.
        None: they were given.
    intervals : Intervals, optional
        Bands around loadings, patterns and strengths. None: not asked for.
    appended : mapping, optional
        Of slices that were appended after the fit, which are the last ones: `squares` and `errors`, the sum
        of squares of each and what the model leaves of it; `bands_left_out` where the fit had intervals,
        which what was appended has none of. None: there are none.
    component_names : tuple of R str
        What the user calls the components, "" where they have no name; empty if none has one.

    Examples
    --------
    >>> import numpy as np
    >>> result = Result(model="CP", A=np.ones((4, 1)), B=np.ones((2, 3, 1)), C=np.ones((2, 1)),
    ...                 objective=0.5, explained_variance=0.9, status="converged", converged=True, n_iter=7)
    >>> result
    Result(CP, 4 rows x 3 columns x 2 times, 1 component, explained variance 0.9000, converged)
    >>> result.normalised().C.round(3).tolist()
    [[3.464], [3.464]]
    """

    model: str
    A: FloatArray
    B: FloatArray | list[FloatArray]
    C: FloatArray
    objective: float
    explained_variance: float
    status: str
    converged: bool
    n_iter: int
    parameters: Mapping[str, Any] = field(default_factory=dict)
    labels: Labels = field(default_factory=Labels)
    feasibility_gaps: dict[str, float] = field(default_factory=dict)
    trace: dict[str, Column] = field(default_factory=dict)
    starts: dict[str, Column] = field(default_factory=dict)
    times: NDArray[np.float64] | None = None
    period: float | None = None
    preparation: Mapping[str, Any] | None = None
    observed_share: float = 1.0
    coverage: NDArray[np.float64] | None = None
    undetermined: NDArray[np.bool_] | None = None
    present: NDArray[np.bool_] | None = None
    terms: Terms = field(default_factory=Terms)
    method: Method = field(default_factory=Method)
    version: str | None = None
    negative_share: float | None = None
    row_weights: NDArray[np.float64] | None = None
    weighting: Mapping[str, Any] | None = None
    trust: Trust | None = None
    choice: Mapping[str, Any] | None = None
    intervals: Intervals | None = None
    appended: Mapping[str, Any] | None = None
    component_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        ragged = isinstance(self.B, list | tuple)
        settled = {
            "A": np.asarray(self.A),
            "B": [np.asarray(piece) for piece in self.B] if ragged else np.asarray(self.B),
            "C": np.asarray(self.C),
            "objective": float(self.objective),
            "explained_variance": float(self.explained_variance),
            "converged": bool(self.converged),
            "n_iter": int(self.n_iter),
            "parameters": dict(self.parameters),
            "feasibility_gaps": {mode: float(gap) for mode, gap in self.feasibility_gaps.items()},
            "trace": _as_table("trace", self.trace),
            "starts": _as_table("starts", self.starts),
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)
        _require_matching_shapes(self)
        self.labels.check(self.shape)
        for name, value in observation.settled(vars(self), self.shape, self.rank).items():
            object.__setattr__(self, name, value)
        if self.trust is not None and self.trust.rank not in (None, self.rank):
            raise ValueError(f"trust must be of {self.rank} components; got that of {self.trust.rank}.")
        if self.intervals is not None and self.intervals.patterns.centre.shape != np.shape(self.B):
            raise ValueError(
                f"intervals must be of patterns of shape {np.shape(self.B)}; got those of "
                f"{self.intervals.patterns.centre.shape}."
            )
        if self.appended is not None:
            lengths = {len(self.appended[name]) for name in ("squares", "errors")}
            if len(lengths) > 1 or not 0 < max(lengths) < len(self.C):
                raise ValueError(f"appended must be of fewer than {len(self.C)} slices; got {lengths}.")
        names = [name or None for name in self.component_names]
        object.__setattr__(self, "component_names", read_names(names or None, self.rank))

    def rename(self, names: Mapping[int, str | None] | Sequence[str | None] | None) -> Result:
        """Give the same result with names of its components, which all that is shown of it then has.

        Parameters
        ----------
        names : mapping of numbers (from 1) to names, or sequence of R names, or None
            Those of a mapping are added to the names that there are; None takes all away.

        Examples
        --------
        >>> import numpy as np
        >>> result = Result(model="CP", A=np.ones((4, 2)), B=np.ones((2, 3, 2)), C=np.ones((2, 2)),
        ...                 objective=0.5, explained_variance=0.9, status="converged", converged=True,
        ...                 n_iter=7)
        >>> result.rename({2: "Africa"}).component_names
        ('', 'Africa')
        """
        return replace(self, component_names=read_names(names, self.rank, self.component_names))

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of times, rows and (in the widest slice) columns: (K, I, J)."""
        return len(self.C), len(self.A), max(self.widths)

    @property
    def widths(self) -> tuple[int, ...]:
        """Number of columns of every slice."""
        return tuple(len(piece) for piece in self.B)

    @property
    def rank(self) -> int:
        """Number of components R."""
        return int(self.A.shape[1])

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """Part of every component in the sum of all components' strengths, (R,); 0 for what is not finite."""
        C = self.normalised().C
        finite = np.where(np.isfinite(C), C, 0.0)
        # The peak first, so that no square leaves the range.
        strengths = np.linalg.norm(finite / (np.abs(finite).max(initial=0.0) or 1.0), axis=0)
        return np.asarray(strengths / (strengths.sum() or 1.0))

    @property
    def ragged(self) -> bool:
        """Whether the patterns are a list, so that their widths may differ."""
        return isinstance(self.B, list)

    @property
    def undetermined_patterns(self) -> NDArray[np.bool_]:
        """Patterns on which the data say nothing, (K, R): as the fit said, else those with little strength.

        Little is less than 1/1000 of the component's greatest strength.
        """
        if self.undetermined is not None:
            return self.undetermined
        return observation.weak(observation.strengths(self.B, self.C))

    @property
    def constant(self) -> bool:
        """Whether the model keeps all patterns constant in time."""
        return asks_for(self.terms.B, "static")

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What there is to know about the fit, as data: how it ended, how far to trust which part of it.

        Examples
        --------
        >>> import numpy as np
        >>> import tparafac2 as tp
        >>> X = np.random.default_rng(0).random((4, 6, 5))
        >>> result = tp.CP(rank=1, n_starts=1, random_state=0).fit(X).result_
        >>> [str(finding.kind) for finding in result.findings]
        ['explained', 'converged', 'one_start', 'constant', 'complete', 'trust']
        """
        from tparafac2.result.findings import find

        return find(self)

    @property
    def notes(self) -> tuple[str, ...]:
        """The findings that the user should read, as sentences."""
        from tparafac2.result.wording import notes

        return notes(self.findings)

    @property
    def clock(self) -> observation.Clock:
        """When the slices were taken, in which order they were fitted, and the gaps between them."""
        return observation.read_clock(self.times, self.coverage, len(self.C), self.period)

    @property
    def smoothness(self) -> float | None:
        """The one knob that the penalties amount to, without dimension; None without smoothness in time.

        It is told from the penalties, also where the lambdas were given.
        """
        return self.terms.smoothness

    @cached_property
    def Delta(self) -> NDArray[np.float64] | None:
        """What patterns that only turn share, (R, R): B_k is P_k Delta with orthonormal P_k, or near to it.

        None where nothing asks for it. Delta and all P_k may be rotated together.
        """
        from tparafac2.result.evaluation import nearest_turning

        return None if (nearest := nearest_turning(self)) is None else nearest.delta

    @cached_property
    def departure(self) -> float | None:
        """Where patterns may change their sizes and angles: by how much they do, relative to their size.

        The distance from the nearest patterns that only turn, P_k Delta. None where they must, or are free.
        """
        from tparafac2.result.evaluation import nearest_turning

        if not any(map(softens, self.terms.B)):
            return None
        return None if (nearest := nearest_turning(self)) is None else nearest.departure

    @property
    def constraint_violations(self) -> dict[str, dict[str, float]]:
        """How far the factors given back are from each constraint on them, relative to their size.

        For "A", "B" and "C" by the name of the constraint: the spread of the cross products ``B_k' B_k`` over
        time ("Parafac2"), the most negative entry ("NonNegative"), the spread of the patterns over time
        ("Static"), or the distance to the nearest point of a set of your own. Slices of which nothing was
        observed count as well.
        """
        from tparafac2.result.evaluation import violations_of

        return violations_of(self)

    def evaluate(
        self,
        X: Any,
        *,
        mask: Any = None,
        dims: Mapping[str, Hashable] | None = None,
        weights: Any = None,
    ) -> Evaluation:
        """Compute what the fit reports once more, from the factors and the data alone.

        A check of the solver, of a file, or of factors on other data of the same shape.

        Parameters
        ----------
        X, mask, dims, weights
            As in `fit`; a `tparafac2.preparing.Prepared` where that was fitted. Without weights, those that
            the fit had for the rows.

        Returns
        -------
        Evaluation
            Objective, explained variance, squared error and violations of the constraints.

        Raises
        ------
        ValueError, TypeError
            If X cannot be fitted at all, is of another shape or preparation, or has other labels of the rows
            or columns.

        Examples
        --------
        >>> import numpy as np
        >>> result = Result(model="CP", A=np.ones((4, 1)), B=np.ones((2, 3, 1)), C=np.ones((2, 1)),
        ...                 objective=0.5, explained_variance=0.9, status="converged", converged=True,
        ...                 n_iter=7)
        >>> result.evaluate(np.full((2, 4, 3), 2.0)).squared_error
        24.0
        """
        from tparafac2.result.evaluation import evaluate

        return evaluate(self, X, mask=mask, dims=dims, weights=weights)

    def patterns_at(self, t: object) -> xr.DataArray:
        """Give the patterns at any time, also between the slices, with length 1 as in tables and pictures.

        The optimised patterns are linear from each slice to the next: that is what a penalty on squared
        changes, divided by the gaps in time, implies.

        Parameters
        ----------
        t : number or date, or a sequence of them
            In the units of `times`; without these of numeric or date labels of the time, and without any the
            slices are at 0, 1, 2, ... Where the times are dates: a date of Python, NumPy or pandas, a text
            such as "2020-03-01", or a number of days since 1970-01-01.

        Returns
        -------
        xarray.DataArray (columns, component), or (time, columns, component) for a sequence
            Under the names and with the labels of `to_dataset`; every component has length 1 at every time,
            or is zero. At the time of a slice these are its patterns in `normalised`.

        Raises
        ------
        ValueError
            Before the first and after the last slice (unless there is a period: then from the last to the
            first), for what is not a time, and where the patterns are a list.

        Examples
        --------
        >>> import numpy as np
        >>> result = Result(model="CP", A=np.ones((4, 1)), B=np.array([[[1.0], [0.0]], [[0.0], [1.0]]]),
        ...                 C=np.ones((2, 1)), objective=0.5, explained_variance=0.9, status="converged",
        ...                 converged=True, n_iter=7, times=np.array([0.0, 6.0]), period=24.0)
        >>> result.patterns_at(3).sel(component=1).values.round(4).tolist()
        [0.7071, 0.7071]
        """
        from tparafac2.result.dataset import patterns_at

        return patterns_at(self, t)

    @property
    def row_attributes(self) -> pd.DataFrame:
        """What else is known of the rows (region, treatment, age), by their labels; empty if nothing is."""
        import pandas as pd

        rows = pd.Index(self.labels.coordinate("rows", len(self.A)), name=self.labels.names["rows"])
        return pd.DataFrame(dict(self.labels.attributes), index=rows)

    def with_row_attributes(self, frame: Any) -> Result:
        """Give the same result with what else is known of its rows, instead of what was.

        Parameters
        ----------
        frame : DataFrame
            The labels of the rows are in the column that is called as they are, in its index, or in its first
            column. Rows without a line have missing attributes.
        """
        return replace(self, labels=self.labels.with_attributes(frame, len(self.A)))

    def distinctive(
        self,
        component: Any = None,
        time: Any = None,
        n: int = 10,
        *,
        of: Literal["columns", "rows"] = "columns",
    ) -> pd.DataFrame:
        """Give the columns that set a component apart from the others at a time, or its rows.

        Distinctive is what weighs much in this component and little in the others: its weight in the
        normalised pattern, times the share of its squared weights that this component has. Negative weights
        are not distinctive, nor is what the data do not determine.

        Parameters
        ----------
        component : int or str, optional
            Its number, from 1, or its name; all of them, unless given.
        time : label, number or date, optional
            Of a slice; all of them, unless given.
        n : int
            How many at most, of each component and time.
        of : "columns" or "rows"

        Returns
        -------
        DataFrame
            One line for each: component, time, rank (from 1), column, weight and distinctiveness (0 to 1);
            of rows component, rank, row, loading and distinctiveness. Columns, rows and times are called as
            the user calls them.

        Examples
        --------
        >>> import numpy as np
        >>> B = np.array([[[3.0, 0.0], [4.0, 5.0]]])
        >>> result = Result(model="CP", A=np.ones((4, 2)), B=B, C=np.ones((1, 2)), objective=0.5,
        ...                 explained_variance=0.9, status="converged", converged=True, n_iter=7)
        >>> result.distinctive(1, n=1)[["columns", "weight", "distinctiveness"]].values.tolist()
        [[0.0, 0.6, 0.6]]
        """
        from tparafac2.result.distinctive import table

        return table(self, component, time, n, of=of)

    def reconstruct(self) -> NDArray[np.float64] | list[NDArray[np.float64]]:
        """Compute the data that the components describe, (K, I, J) or a list of (I, J_k)."""
        return metrics.reconstruct(self.A, self.B, self.C)

    def fitted_values(self) -> NDArray[np.float64] | list[NDArray[np.float64]]:
        """Compute the data that the components describe, in the units in which they were before preparation.

        Without a preparation these are the values of `reconstruct`; after "share" and "clr" they are shares
        of the columns within each row and time, since the totals were not fitted.

        Examples
        --------
        >>> import numpy as np
        >>> import tparafac2 as tp
        >>> X = np.random.default_rng(0).random((4, 6, 5))
        >>> model = tp.CP(rank=1, n_starts=1, random_state=0).fit(tp.Preparation("sqrt").apply(X))
        >>> np.allclose(model.fitted_values(), np.maximum(model.reconstruct(), 0) ** 2)
        True
        """
        from tparafac2.preparing import undo

        fitted = self.reconstruct()
        if self.preparation is None or isinstance(fitted, list):  # tables and arrays have equal widths
            return fitted
        return np.asarray(undo(self.preparation, fitted), dtype=np.float64)

    def normalised(self) -> NormalisedFactors:
        """Give the factors with unit loadings and patterns, and all size in the strengths.

        Returns
        -------
        NormalisedFactors
            They describe the same data; what is zero stays zero.
        """
        # A fit that went wrong may hold infinities: they become NaN, without noise.
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            A, a_lengths = unit_columns(self.A)
            B, b_lengths = zip(*[unit_columns(piece) for piece in self.B])
            C = self.C * a_lengths * np.stack(b_lengths)
        return NormalisedFactors(A, list(B) if self.ragged else np.stack(B), C)

    def trace_table(self) -> pd.DataFrame:
        """Give the trace of the chosen start as a table: one row per recorded iteration."""
        import pandas as pd

        return pd.DataFrame(self.trace)

    def starts_table(self) -> pd.DataFrame:
        """Give the account of all starts as a table: one row per start."""
        import pandas as pd

        return pd.DataFrame(self.starts)

    def to_dataset(self) -> xr.Dataset:
        """Give everything as one labelled data set, with the factors of `normalised`.

        Loadings have length 1, patterns have length 1 at every time, and all size is in the strengths, as in
        tables, pictures and the page; `A`, `B` and `C` are the factors as they were optimised.

        Returns
        -------
        xarray.Dataset
            Variables ``loadings``, ``patterns`` and ``strengths`` under the user's dimension names (with "_"
            appended to a name that is taken), the trace as ``trace_...`` over ``trace_row`` and the starts as
            ``start_...`` over ``start``. Patterns of unequal width are padded with NaN, and ``width`` has
            their true widths; ``share`` is the part of every component in all strengths. The coordinates
            ``time_value`` and ``row_weight``, ``coverage`` and ``undetermined`` are there where the fit has
            them, ``replicability``, ``replicability_alone``, ``stability`` and ``verdict`` of every component
            where they were measured (see `Trust`).
        """
        from tparafac2.result.dataset import to_dataset

        return to_dataset(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file that `load_result` reads back exactly.

        The file appears complete or not at all: a failed write leaves an older file as it was.

        Parameters
        ----------
        path : path
            In an existing folder, ending in ".npz". An older file is replaced.
        """
        from tparafac2.result.files import save_result

        save_result(self, path)

    def summary(self, words: Words = PYTHON, *, by: By = "weight") -> str:
        """Describe the fit and every component in a few lines for the terminal.

        Parameters
        ----------
        words : Words
            What arguments are called; the command line has words of its own.
        by : "weight" or "distinctive"
            Which columns are named: those with the largest weights, or those that set a component apart.
        """
        from tparafac2.result.summary import summary

        return summary(self, words, by=by)

    def _repr_html_(self) -> str:
        from tparafac2.result.summary import to_html

        return to_html(self)

    def __repr__(self) -> str:
        from tparafac2.result.summary import size_text

        fit = f"explained variance {self.explained_variance:.4f}"
        ended = "converged" if self.converged else "not converged"
        return f"Result({printable(self.model)}, {size_text(self)}, {fit}, {ended})"


def unit_columns(matrix: FloatArray) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Divide columns by their lengths and give both; the peak first, so that no square leaves the range."""
    # In one memory order, so that what was saved and read again has the same last digit.
    wide = np.ascontiguousarray(matrix, dtype=np.float64)
    peaks = np.abs(wide).max(axis=0, initial=0.0)
    tame = wide / np.where(peaks > 0, peaks, 1.0)
    lengths = np.sqrt(np.sum(tame**2, axis=0))
    return tame / np.where(lengths > 0, lengths, 1.0), peaks * lengths


def _as_table(name: str, columns: Mapping[str, Any]) -> dict[str, Column]:
    table = {key: np.asarray(column) for key, column in columns.items()}
    for key, column in table.items():
        if not (isinstance(key, str) and key.isidentifier()):
            raise ValueError(f"{name} has a column {key!r}; use a name of letters, digits and underscores.")
        if column.ndim != 1:
            raise ValueError(f"{name}[{key!r}] must be one-dimensional; got shape {column.shape}.")
    lengths = {len(column) for column in table.values()}
    if len(lengths) > 1:
        raise ValueError(f"The columns of {name} must have one length; got {sorted(lengths)}.")
    return table


def _require_matching_shapes(result: Result) -> None:
    shapes = [piece.shape for piece in result.B]
    received = (
        f"got A {result.A.shape}, B {shapes if result.ragged else np.shape(result.B)}, C {result.C.shape}."
    )
    if result.A.ndim != 2 or result.C.ndim != 2 or not shapes or any(len(shape) != 2 for shape in shapes):
        raise ValueError(f"A must be (I, R), B (K, J, R) or a list of (J_k, R), and C (K, R); {received}")
    ranks = {result.A.shape[1], result.C.shape[1], *(shape[1] for shape in shapes)}
    if len(ranks) > 1 or len(shapes) != len(result.C):
        raise ValueError(f"A, B and C must have the same components, and B and C the same slices; {received}")
