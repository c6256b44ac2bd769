"""What follows from the evidence: which setting, which rank, and how sure that is."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.choosing.candidates import Candidate
from tparafac2.choosing.likeness import Likeness
from tparafac2.result import AGREEMENT

FloatArray = NDArray[np.float64]

TIE_BAND = 0.005  # errors this much above the least are as good: entries that are hidden tell no finer
GIVES_WAY = 2.0  # z from which the constraint gives way
IMPROVES = 2.0  # z from which one more component predicts better
PERHAPS = 1.0  # z from which it does where the error falls by more than a tie, and all are replicable
THERE = 0.25  # part of the way from chance to 1 that a component has to come to be there
REPLICABLE = 0.9
_MASKS = 2  # hidden sets from which on more of them say the same again


class Errors(NamedTuple):
    """Squared errors at entries that were hidden, summed by row and time.

    Attributes
    ----------
    choosing, testing : ndarray (n,)
        At those that choose, and at those that test what was chosen.
    """

    choosing: FloatArray
    testing: FloatArray


class Settled(NamedTuple):
    """The setting for one rank.

    Attributes
    ----------
    chosen : Candidate
    hard, flexible : Candidate, optional
        What it would be if the constraint could not give way, and if it had to; None if that was not tried.
    band : tuple of Candidate
        All settings that predict as well as the best of its kind, the chosen one among them.
    z, gain : float, optional
        Paired z of what giving way gains at entries that did not choose, and the gain relative to the error;
        None where not both were tried.
    """

    chosen: Candidate
    hard: Candidate | None
    flexible: Candidate | None
    band: tuple[Candidate, ...]
    z: float | None
    gain: float | None


def paired_z(gains: FloatArray, n_masks: int = 1) -> float:
    """Mean over its standard error; 0 where nothing differs.

    Entries that are hidden a third time are no further evidence: more masks than two do not raise it.

    Examples
    --------
    >>> paired_z(np.array([1.0, 1.0, 3.0, 3.0])).__round__(3)
    3.464
    """
    largest = float(np.abs(gains).max(initial=0.0))
    if len(gains) < 2 or largest == 0:
        return 0.0
    gains = gains / largest  # squares of errors, which are squares already, might overflow
    spread = float(gains.std(ddof=1))
    if spread == 0:
        return 0.0
    independent = len(gains) * min(1.0, _MASKS / n_masks)
    return float(gains.mean() / (spread / np.sqrt(independent)))


def settle(
    errors: Mapping[Candidate, Errors], barred: Collection[Candidate] = (), n_masks: int = 1
) -> Settled:
    """Choose smoothness and rigidity: the least error, then smoother within the tie band.

    The constraint gives way only if that helps at entries that did not choose.

    Parameters
    ----------
    errors : mapping of Candidate to Errors
        All of one rank.
    barred : collection of Candidate
        Settings at which components are not determined.
    n_masks : int
        How often entries were hidden.
    """
    total = {candidate: float(one.choosing.sum()) for candidate, one in errors.items()}
    open_to = {candidate: error for candidate, error in total.items() if candidate not in barred} or total
    hards = {candidate: error for candidate, error in open_to.items() if not candidate.is_flexible}
    softs = {candidate: error for candidate, error in open_to.items() if candidate.is_flexible}
    family: Mapping[Candidate, float] = hards or softs
    z = gain = None
    if hards and softs:
        best_hard, best_soft = (min(some, key=some.__getitem__) for some in (hards, softs))
        gains = errors[best_hard].testing - errors[best_soft].testing
        z, gain = paired_z(gains, n_masks), float(gains.sum() / errors[best_hard].testing.sum())
        if z >= GIVES_WAY and softs[best_soft] < hards[best_hard]:
            family = softs
    chosen = _smoothest(family)
    least = min(family.values())
    band = tuple(candidate for candidate, error in open_to.items() if abs(error - least) <= TIE_BAND * least)
    hard, flexible = (_smoothest(some) if some else None for some in (hards, softs))
    return Settled(chosen, hard, flexible, band, z, gain)


def _smoothest(errors: Mapping[Candidate, float]) -> Candidate:
    """The smoothest setting within the tie band; of those that are as smooth, the one of the least error.

    Where changes may be sudden, the one of the least error: the whole path is shortened there, so that more
    smoothness leaves out jumps before the error says so.
    """
    least = min(errors.values())
    tied = [one for one, error in errors.items() if error <= (1.0 + _band_of(one)) * least]
    return max(tied, key=lambda one: (one.smoothness or 0.0, -errors[one]))


def _band_of(candidate: Candidate) -> float:
    return 0.0 if candidate.changes == "sudden" else TIE_BAND


def verdicts(found: Likeness, threshold: float = REPLICABLE) -> tuple[str, ...]:
    """Say of each component whether it is "replicable", "there", or "not there".

    Examples
    --------
    >>> verdicts(Likeness(np.array([0.97, 0.95, 0.6, 0.2]), np.array([0.2, 0.94, 0.3, 0.2])))
    ('replicable', 'not there', 'there', 'not there')
    """
    above = found.above_chance
    return tuple(
        "not there" if far < THERE else "replicable" if own >= threshold else "there"
        for own, far in zip(found.own, above)
    )


@dataclass(frozen=True)
class RankEvidence:
    """What is known of one rank.

    Attributes
    ----------
    rank : int
    error : float
        At entries that were hidden, relative to their own sum of squares.
    z : float
        Paired z of what it gained over `fewer`; infinite for the first rank.
    agreement : float, optional
        Share of the other starts that found the components of the best. None: not known.
    verdicts : tuple of str, optional
        Of its components. None: not known.
    fewer : RankEvidence, optional
        The largest rank below it that predicted better than one before it.
    """

    rank: int
    error: float
    z: float
    agreement: float | None = None
    verdicts: tuple[str, ...] | None = None
    fewer: "RankEvidence | None" = None

    @property
    def all_there(self) -> bool:
        """Whether no component is known not to be there."""
        return self.verdicts is None or "not there" not in self.verdicts

    @property
    def found_again(self) -> bool:
        """Whether every component is known to be there."""
        return self.verdicts is not None and self.all_there

    @property
    def all_replicable(self) -> bool:
        """Whether every component was found again in other rows."""
        return self.verdicts is not None and set(self.verdicts) == {"replicable"}

    @property
    def improves(self) -> bool:
        """Whether it predicts better than fewer components do; the first rank does."""
        if self.fewer is None:
            return True
        falls = self.error < (1.0 - TIE_BAND) * self.fewer.error
        return self.z >= IMPROVES or (falls and self.z >= PERHAPS and self.all_replicable)

    @property
    def agrees(self) -> bool:
        """Whether enough starts ended at the same components, as far as known."""
        return self.agreement is None or self.agreement >= AGREEMENT


class RankChoice(NamedTuple):
    """The rank, and how sure that is.

    Attributes
    ----------
    rank : int
    by_error, by_components : int
        The largest rank that predicts better than fewer components, and the largest at which all are there
        and that predicts no worse than the chosen one.
    replicable : int
        The largest rank at which all are replicable; 0 for none.
    sure : bool
        Whether all signs agree.
    doubts : tuple of str
        Why not: "error" (more components predict better), "components" (more are there, and predict no
        worse), "nothing" (some component is not there even so), "starts" (too few of them agree with the
        best), "perhaps" (its last component helps, but not clearly), "edge" (it is the largest rank that was
        tried), "halves" (nobody looked for components in halves of the rows), "interrupted" (not all was
        measured).
    """

    rank: int
    by_error: int
    by_components: int
    replicable: int
    sure: bool
    doubts: tuple[str, ...]


def choose_rank(ranks: Sequence[RankEvidence], interrupted: bool = False) -> RankChoice:
    """Choose the largest rank that predicts better than fewer, and at which all components are there.

    Parameters
    ----------
    ranks : sequence of RankEvidence
        In ascending order.
    interrupted : bool
        Whether some of it could not be measured.
    """
    improving = [one for one in ranks if one.improves]
    chosen = ([one for one in improving if one.all_there] or [ranks[0]])[-1]
    by_error = improving[-1].rank
    more = [one.rank for one in ranks if one.rank > chosen.rank and one.found_again and one.z > -IMPROVES]
    replicable = max((one.rank for one in ranks if one.all_replicable), default=0)
    signs = {
        "error": by_error > chosen.rank,
        "components": bool(more),
        "nothing": not chosen.all_there,
        "starts": not chosen.agrees,
        "perhaps": chosen.fewer is not None and chosen.z < IMPROVES,
        "edge": chosen.rank == ranks[-1].rank and len(ranks) > 1 and not interrupted,
        "halves": chosen.verdicts is None,
        "interrupted": interrupted,
    }
    doubts = tuple(name for name, speaks in signs.items() if speaks)
    return RankChoice(chosen.rank, by_error, max(more, default=chosen.rank), replicable, not doubts, doubts)
