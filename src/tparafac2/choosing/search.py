"""What is searched, and with how much effort."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Self, TypedDict

import numpy as np

from tparafac2.choosing.candidates import LEAST_FLEXIBLE, RIGIDITY, SMOOTHNESS, Candidate
from tparafac2.choosing.rules import REPLICABLE
from tparafac2.errors import InvalidType, InvalidValue
from tparafac2.fitting import require_choice, require_flag, require_integer, require_number, told
from tparafac2.models import Decomposition
from tparafac2.words import Advice, Argument

USUAL_RANKS = range(1, 9)
_LEAST_TIMES = 3
_LEAST_ROWS = 2
_WIDE = 3  # at so many smoothnesses from the best one on the constraint is tried to give way


class Asked(TypedDict, total=False):
    """Arguments of `choose` that say what is searched."""

    ranks: int | Iterable[int] | None
    smoothness: float | Iterable[float] | None
    rigidity: float | Iterable[float] | None
    nonnegative: str | None
    changes: str
    sparsity: float | Mapping[str, float] | None
    smooth_strengths: float
    compare: bool
    n_masks: int
    n_splits: int
    threshold: float
    n_starts: int
    max_iter: int
    period: float | None
    bridge: bool
    dtype: str
    random_state: Any
    n_jobs: int
    progress: bool | None
    keep: bool


@dataclass(frozen=True, kw_only=True)
class Search:
    """What is searched: the arguments of `choose`, which explains them, checked before any work."""

    ranks: Any = None
    smoothness: Any = None
    rigidity: Any = None
    nonnegative: str | None = "auto"
    changes: str = "smooth"
    sparsity: float | Mapping[str, float] | None = None
    smooth_strengths: float = 0.0
    compare: bool = True
    n_masks: int = 2
    n_splits: int = 5
    threshold: float = REPLICABLE
    n_starts: int = 10
    max_iter: int = 2000
    period: float | None = None
    bridge: bool = True
    dtype: str = "float64"
    random_state: Any = None
    n_jobs: int = 1
    progress: bool | None = None
    keep: bool = False

    def __post_init__(self) -> None:
        ranks = list(USUAL_RANKS) if self.ranks is None else _several("ranks", self.ranks)
        for rank in ranks:
            require_integer("ranks", rank, 1)
        settled = {
            "ranks": tuple(sorted({int(rank) for rank in ranks})),
            "smoothness": _grid("smoothness", self.smoothness, SMOOTHNESS),
            "rigidity": _grid("rigidity", self.rigidity, RIGIDITY)[::-1],
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)
        if self.nonnegative is not None:
            allowed = ("auto", "patterns", "rows", "both")
            listed = "'auto', 'patterns', 'rows', 'both' or None"
            require_choice("nonnegative", self.nonnegative, listed, allowed)
        listed = "'smooth', 'sudden' or 'auto'"
        require_choice("changes", self.changes, listed, ("smooth", "sudden", "auto"))
        for name in ("compare", "keep"):
            require_flag(name, getattr(self, name))
        for name, least in (("n_masks", 1), ("n_splits", 0)):
            require_integer(name, getattr(self, name), least)
        if not 0.0 < require_number("threshold", self.threshold) <= 1.0:
            raise InvalidValue(
                Argument("threshold"),
                f" is a likeness, above 0 and at most 1; got {told(self.threshold)}.",
                received=self.threshold,
            )
        for smoothness in self.smoothness:
            for rigidity in self.rigidity:  # what else can be wrong with them, a model says
                self.model(Candidate(self.ranks[0], smoothness, rigidity)).check_settings()

    def model(self, candidate: Candidate, **options: Any) -> Decomposition:
        """The model that asks a question, with the starts of a fit proper unless others are asked for."""
        shared = {
            "sparsity": self.sparsity,
            "smooth_strengths": self.smooth_strengths,
            "period": self.period,
            "bridge": self.bridge,
            "dtype": self.dtype,
            "n_starts": self.n_starts,
            "max_iter": self.max_iter,
            "random_state": self.random_state,
            "n_jobs": self.n_jobs,
            "progress": self.progress,
        }
        return candidate.estimator(**(shared | options))

    def hard(self, one: Candidate) -> list[Candidate]:
        """All smoothnesses for the rank and bounds of a candidate, from little to much."""
        return [one._replace(smoothness=s, rigidity=math.inf) for s in self.smoothness]

    def flexible(self, best: Candidate) -> list[list[Candidate]]:
        """Ways along which the constraint gives way, each at one smoothness, from the best hard one on."""
        rigidities = [r for r in self.rigidity if r < math.inf]
        enough = [s for s in self.smoothness if s >= LEAST_FLEXIBLE] or list(self.smoothness[-1:])
        first = sum(s < (best.smoothness or 0.0) for s in enough)
        # Without hard ones to compare, all hidden sets have to have tried the same.
        near = enough[min(first, len(enough) - 1) :][:_WIDE] if math.inf in self.rigidity else enough
        if not rigidities:
            return []
        return [[best._replace(smoothness=s, rigidity=r) for r in rigidities] for s in near]

    def way_to(self, candidate: Candidate) -> list[Candidate]:
        """Where starts are drawn, and what is passed from there: random starts are unreliable below."""
        above = [step for step in RIGIDITY if step > candidate.rigidity]
        return [candidate._replace(rigidity=step) for step in (*above, candidate.rigidity)]

    def cut_to(self, shape: tuple[int, int, int]) -> Self:
        """The same without ranks that halves of the rows cannot tell."""
        most = max(1, _most_components(shape, self.n_splits > 0))
        return replace(self, ranks=[rank for rank in self.ranks if rank <= most])

    def check_size(self, shape: tuple[int, int, int]) -> None:
        """Refuse data that are too small for this."""
        least = {"times": (_LEAST_TIMES, shape[0]), "rows": (_LEAST_ROWS, shape[1])}
        for what, (needed, got) in least.items():
            if got < needed:
                raise InvalidValue(
                    f"the data can choose from {needed} {what} on; got {got}. ",
                    Advice("set_yourself", "Give a rank and a smoothness to TParafac2, or use CP."),
                )
        if not self.n_splits:  # a model says how many components there can be
            self.model(Candidate(self.ranks[-1], self.smoothness[0])).check_settings(shape)
            return
        told, most = beyond_halves(shape, self.ranks[-1]), _most_components(shape)
        if told and len(self.ranks) == 1:
            raise InvalidValue(
                f"{told}: ask for fewer, give more rows, or a smoothness, too, so that nothing is chosen.",
                received=self.ranks,
            )
        if told:
            raise InvalidValue(
                Argument("ranks"),
                f" go up to {self.ranks[-1]}, but {told}: leave out what is above {most}"
                + (", or give more rows." if most == shape[1] // 2 else "."),
                received=self.ranks,
            )


def beyond_halves(shape: tuple[int, int, int], rank: int) -> str:
    """Say why halves of the rows cannot tell so many components; nothing if they can.

    Examples
    --------
    >>> beyond_halves((9, 10, 30), 6)
    'halves of 10 rows with 30 columns can tell at most 5 components from each other, not 6'
    """
    most = _most_components(shape)
    told = f"halves of {shape[1]} rows with {shape[2]} columns can tell at most {most} components"
    return "" if rank <= most else f"{told} from each other, not {rank}"


def _most_components(shape: tuple[int, int, int], halved: bool = True) -> int:
    _, I, J = shape
    return min(I // 2 if halved else I, J)


def _several(name: str, given: Any) -> list[Any]:
    """One value or several, as a list; refuse none."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable | Real):
        raise InvalidType(
            Argument(name), f" must be a number, or several; got {told(given)}.", received=given
        )
    values = given.tolist() if isinstance(given, np.ndarray) else given
    several = list(values) if isinstance(values, Iterable) else [values]
    if not several:
        raise InvalidValue(Argument(name), " has no value to try: give at least one.", received=given)
    return several


def _grid(name: str, given: Any, usual: Sequence[float]) -> tuple[float, ...]:
    """Values in ascending order; the usual ones if none are given."""
    values = list(usual) if given is None else _several(name, given)
    for value in values:
        if isinstance(value, bool) or not isinstance(value, Real) or math.isnan(float(value)):
            raise InvalidType(
                Argument(name), f" must be a number, or several; got {told(given)}.", received=given
            )
    return tuple(sorted({float(value) for value in values}))
