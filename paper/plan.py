"""What is to be done: cases with their levels, methods with their penalties, and the tasks of a run."""

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

from tparafac2 import __version__, synthetic
from tparafac2.synthetic.factors import possible_splits
from tparafac2.synthetic.recipe import Size, check_sizes

if TYPE_CHECKING:
    from tparafac2.models import Decomposition

_MOST_DATASETS = 10_000
_LEAST_TIMES = 3
_STARTS_APART = 10**9  # starts and data must not be drawn from the same stream

NOISE = 0.5
RIDGE = 0.1
"""The paper's lambda_A and lambda_D."""

LAMBDAS = (1.0, 10.0, 100.0, 1000.0)
"""The values of lambda_B."""

HEADLINE = 1000.0
"""The lambda_B that the verdicts stand on, fixed before any result was seen."""

RANK = 3

COARSE: dict[str, Any] = {"smoothness": (1e-3, 3e-3, 1e-2), "rigidity": (math.inf, 1.0), "n_masks": 1}
"""What a coarse choice tries, and how often it hides entries; a full one has the defaults of `choose`."""

LEVELS: dict[str, tuple[float, ...]] = {
    "easy": (0.25, 0.5, 0.75, 1.0),
    "almost_zero": (1, 2),
    "overlapping": (0.1, 0.2, 0.4),
}
"""The cases, and what is varied in each: noise, number of weak concepts, share of common words."""


class Setting(NamedTuple):
    """One group of data sets: a case at one level.

    Examples
    --------
    >>> Setting("overlapping", 0.2).label
    'overlap 20 %'
    >>> Setting("overlapping", 0.2).make(0, synthetic.recipe.Size(8, 30, 24)).X.shape
    (8, 30, 24)
    """

    case: str
    level: float

    @property
    def label(self) -> str:
        """The level in words."""
        if self.case == "easy":
            return f"noise {self.level:g}"
        if self.case == "almost_zero":
            return f"{self.level:g} weak concept{'s' if self.level > 1 else ''}"
        return f"overlap {self.level:.0%}".replace("%", " %")

    @property
    def name(self) -> str:
        """The level as part of a path."""
        return f"{self.case}-{self.level:g}"

    def make(self, seed: int, size: Size) -> synthetic.SyntheticData:
        """Make the data set of a seed."""
        if self.case == "easy":
            return synthetic.easy(seed, noise=self.level, **size._asdict())
        if self.case == "almost_zero":
            return synthetic.almost_zero(seed, n_weak=int(self.level), noise=NOISE, **size._asdict())
        return synthetic.overlapping(seed, overlap=self.level, noise=NOISE, **size._asdict())


@dataclass(frozen=True)
class Method:
    """One model with its penalties.

    Examples
    --------
    >>> Method("tPARAFAC2", 1000.0).label
    'tPARAFAC2 1000'
    >>> Method("NNtCMF", 10.0).estimator()
    TemporalCMF(rank=3, nonnegative='rows', lambda_a=0.1, lambda_b=10.0)
    >>> HARD.search(coarse=True)
    {'smoothness': (0.001, 0.003, 0.01), 'rigidity': inf, 'n_masks': 1}
    """

    model: str
    lambda_b: float | None = None

    @property
    def label(self) -> str:
        """The name people read: the model, and lambda_B where it has one."""
        return self.model if self.lambda_b is None else f"{self.model} {self.lambda_b:g}"

    @property
    def name(self) -> str:
        """The method as part of a path."""
        return self.label.replace(",", "").replace(" ", "-")

    @property
    def modes(self) -> str:
        """The factors to score: models with fixed strengths have none to compare."""
        return "AB" if self.model in ("tCMF", "NNtCMF") else "ABC"

    @property
    def is_chosen(self) -> bool:
        """Whether the data choose its penalties."""
        return self in CHOSEN

    @property
    def keeps_sizes(self) -> bool:
        """Whether patterns keep their sizes in time, so that factors can be scored as they are."""
        return self != FLEXIBLE

    def search(self, coarse: bool) -> dict[str, Any]:
        """What the data choose from, as arguments of `choose`."""
        tried = dict(COARSE) if coarse else {}
        return tried | ({"rigidity": math.inf} if self == HARD else {})

    def estimator(self, **settled: Any) -> "Decomposition":
        """The model, not fitted; one whose penalties the data choose needs to be told what they chose."""
        from tparafac2.models import Parafac2, TemporalCMF, TParafac2

        if self.is_chosen:
            return TParafac2(rank=RANK, **settled)
        if self.model == "PARAFAC2":
            return Parafac2(rank=RANK)
        if self.model == "tPARAFAC2":
            return TParafac2(rank=RANK, lambda_a=RIDGE, lambda_b=self.lambda_b, lambda_d=RIDGE)
        return TemporalCMF(
            rank=RANK,
            lambda_a=RIDGE,
            lambda_b=self.lambda_b,
            nonnegative="rows" if self.model == "NNtCMF" else None,
        )


METHODS = (
    Method("PARAFAC2"),
    *(Method(model, lambda_b) for model in ("tPARAFAC2", "tCMF", "NNtCMF") for lambda_b in LAMBDAS),
)
"""The paper's methods: one without penalties, three with four values of lambda_B."""

HARD, FLEXIBLE = CHOSEN = (Method("tPARAFAC2, chosen"), Method("flexible tPARAFAC2, chosen"))
"""Methods whose smoothness, and rigidity where sizes and angles may give way, each data set chooses.

Hidden entries decide, see `tparafac2.choose`; the rank is given, as for all methods; the truth is not seen.
"""

ALL_METHODS = (*METHODS, *CHOSEN)


class Task(NamedTuple):
    """One data set and one method: the unit of work, and of what is stored."""

    setting: Setting
    dataset: int
    method: Method

    @property
    def path(self) -> str:
        """Where its record lies, below the folder of records."""
        return f"{self.setting.name}/{self.dataset:04d}/{self.method.name}.json"

    def __str__(self) -> str:
        return f"{self.setting.case}, {self.setting.label}, data set {self.dataset}, {self.method.label}"


@dataclass(frozen=True)
class Protocol:
    """Everything that decides a single record. Records of different protocols are never mixed."""

    seed: int
    starts: int
    size: Size
    max_iter: int
    tol: float
    coarse: bool
    version: str

    def data_seed(self, dataset: int) -> int:
        """The seed of a data set, whatever their number: with seed 0 data set 7 is `easy(7)`."""
        return self.seed * _MOST_DATASETS + dataset

    def start_seed(self, dataset: int) -> int:
        """The seed of the starts on a data set: the same for every method."""
        return _STARTS_APART + self.data_seed(dataset)

    def as_json(self) -> dict[str, Any]:
        """What a file keeps of it."""
        return {name: fact for name, fact in asdict(self).items() if name != "size"} | self.size._asdict()

    @property
    def fingerprint(self) -> str:
        """A short text that differs whenever anything differs."""
        text = json.dumps(self.as_json(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Plan:
    """A run of the experiments.

    Parameters
    ----------
    cases : tuple of str
        Of "easy", "almost_zero" and "overlapping".
    datasets : int
        Data sets per setting. Data set i is the same however many there are.
    starts : int
        Starts per fit, the same for every method.
    seed : int
        Seed 0 gives the data sets 0, 1, ..., seed 1 the data sets 10000, 10001, ...
    n_times, n_rows, n_columns : int
        Sizes of the data sets.
    max_iter, tol
        Limits of each fit; `choose` has its own `tol`, the same by default.
    chosen : bool
        Also do tPARAFAC2 and its flexible form with what the data choose; without, only the paper's methods.
    coarse : bool
        Let the data choose from fewer values, by entries that are hidden once.

    Examples
    --------
    >>> plan = Plan(cases=("easy",), datasets=2)
    >>> len(list(plan.tasks()))  # 4 levels of noise, 2 data sets, 15 methods
    120
    >>> Plan(cases=("esay",))
    Traceback (most recent call last):
    ValueError: there is no case 'esay': did you mean 'easy'? The cases are easy, almost_zero, overlapping.
    """

    cases: tuple[str, ...] = tuple(LEVELS)
    datasets: int = 20
    starts: int = 20
    seed: int = 0
    n_times: int = Size().n_times
    n_rows: int = Size().n_rows
    n_columns: int = Size().n_columns
    max_iter: int = 2000
    tol: float = 1e-8
    chosen: bool = True
    coarse: bool = False

    def __post_init__(self) -> None:
        # One spelling for people on a command line and one for Python; the order is the paper's.
        asked = [case.replace("-", "_") for case in self.cases]
        for case in asked:
            _require_case(case)
        object.__setattr__(self, "cases", tuple(case for case in LEVELS if case in asked))
        if not self.cases:
            raise ValueError(f"no case was asked for: name some of {', '.join(LEVELS)}.")
        for name, most in (("datasets", _MOST_DATASETS), ("starts", None), ("max_iter", None)):
            _require_whole(name, getattr(self, name), 1, most)
        _require_whole("seed", self.seed, 0, 10**12)
        check_sizes(self.size, RANK)
        if self.chosen:
            _require_enough_to_choose(self.size)
        for case, level in self.settings:
            possible_splits(self.n_columns, RANK, level if case == "overlapping" else 0.0)

    @property
    def size(self) -> Size:
        """Sizes of the data sets."""
        return Size(self.n_times, self.n_rows, self.n_columns)

    @property
    def protocol(self) -> Protocol:
        """What decides each record; which and how many there are is not part of it."""
        return Protocol(self.seed, self.starts, self.size, self.max_iter, self.tol, self.coarse, __version__)

    @property
    def settings(self) -> list[Setting]:
        """Cases at their levels."""
        return [Setting(case, level) for case in self.cases for level in LEVELS[case]]

    @property
    def methods(self) -> tuple[Method, ...]:
        """The paper's methods, then those with what the data choose."""
        return ALL_METHODS if self.chosen else METHODS

    def tasks(self) -> Iterator[Task]:
        """All tasks, data set by data set, so that an unfinished run has seen a bit of everything."""
        for dataset in range(self.datasets):
            for setting in self.settings:
                for method in self.methods:
                    yield Task(setting, dataset, method)


def _require_case(case: str) -> None:
    if case not in LEVELS:
        near = get_close_matches(case, LEVELS, n=1)
        hint = f": did you mean {near[0]!r}?" if near else "."
        raise ValueError(f"there is no case {case!r}{hint} The cases are {', '.join(LEVELS)}.")


def _require_enough_to_choose(size: Size) -> None:
    if size.n_times < _LEAST_TIMES or size.n_rows < 2 * RANK:
        raise ValueError(
            f"data choose their settings from at least {_LEAST_TIMES} times and {2 * RANK} rows; got "
            f"{size.n_times} and {size.n_rows}. Ask for more of them, or leave out what the data choose "
            "(chosen=False, --without-chosen)."
        )


def _require_whole(name: str, value: Any, least: int, most: int | None) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be a whole number; got {value!r}.")
    if value < least or (most is not None and value > most):
        span = f"at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} must be {span}; got {value}.")


QUICK = Plan(datasets=6, starts=4, n_times=12, n_rows=60, n_columns=45, max_iter=1000, coarse=True)
"""Everything in a minute or two: fewer, smaller data sets, fewer starts and a coarse choice."""
