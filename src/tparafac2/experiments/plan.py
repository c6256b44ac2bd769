"""What is to be done: all settings of a run, checked, and the tasks they lead to."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from typing import Any, NamedTuple

from tparafac2 import __version__
from tparafac2.experiments.settings import LEVELS, METHODS, RANK, Method, Setting
from tparafac2.synthetic.concepts import possible_splits
from tparafac2.synthetic.recipe import Size, check_sizes

_MOST_DATASETS = 10_000
_STARTS_APART = 10**9  # starts and data must not be drawn from the same stream


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
    version: str

    def data_seed(self, dataset: int) -> int:
        """The seed of a data set, whatever their number: with seed 0 data set 7 is `easy(7)`."""
        return self.seed * _MOST_DATASETS + dataset

    def start_seed(self, dataset: int) -> int:
        """The seed of the starts on a data set: the same for every method."""
        return _STARTS_APART + self.data_seed(dataset)

    def as_json(self) -> dict[str, Any]:
        """What a file keeps of it."""
        facts = asdict(self)
        del facts["size"]
        return facts | self.size._asdict()

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
        Limits of each fit.

    Examples
    --------
    >>> plan = Plan(cases=("easy",), datasets=2)
    >>> len(list(plan.tasks()))  # 4 levels of noise, 2 data sets, 13 methods
    104
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
        for case, level in self.settings:
            possible_splits(self.n_columns, RANK, level if case == "overlapping" else 0.0)

    @property
    def size(self) -> Size:
        """Sizes of the data sets."""
        return Size(self.n_times, self.n_rows, self.n_columns)

    @property
    def protocol(self) -> Protocol:
        """What decides each record; which and how many there are is not part of it."""
        return Protocol(self.seed, self.starts, self.size, self.max_iter, self.tol, __version__)

    @property
    def settings(self) -> list[Setting]:
        """Cases at their levels."""
        return [Setting(case, level) for case in self.cases for level in LEVELS[case]]

    def tasks(self) -> Iterator[Task]:
        """All tasks, data set by data set, so that an unfinished run has seen a bit of everything."""
        for dataset in range(self.datasets):
            for setting in self.settings:
                for method in METHODS:
                    yield Task(setting, dataset, method)


def _require_case(case: str) -> None:
    if case not in LEVELS:
        near = get_close_matches(case, LEVELS, n=1)
        hint = f": did you mean {near[0]!r}?" if near else "."
        raise ValueError(f"there is no case {case!r}{hint} The cases are {', '.join(LEVELS)}.")


def _require_whole(name: str, value: Any, least: int, most: int | None) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be a whole number; got {value!r}.")
    if value < least or (most is not None and value > most):
        span = f"at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} must be {span}; got {value}.")


QUICK = Plan(datasets=6, starts=4, n_times=12, n_rows=60, n_columns=45, max_iter=1000)
"""Everything in a minute or two: fewer, smaller data sets and fewer starts."""
