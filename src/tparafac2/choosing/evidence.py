"""Everything that was measured on the way to a choice, and as tables."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tparafac2.choosing.candidates import Candidate
from tparafac2.choosing.likeness import Likeness
from tparafac2.choosing.rules import Errors, RankEvidence, Settled, paired_z, verdicts
from tparafac2.result import Result, share_alike


class Measured(NamedTuple):
    """Errors of settings at one pair of sets of hidden entries, and the squares of what was hidden."""

    errors: Mapping[Candidate, Errors]
    size: float


@dataclass
class Evidence:
    """What was measured so far; every part may be missing, since the user may interrupt.

    Attributes
    ----------
    threshold : float
        Likeness from which a component is replicable.
    n_masks : int
        How often entries are hidden.
    errors : dict of Candidate to Errors
        Of all masks together.
    sizes : dict of Candidate to float
        Sum of squares of what was hidden.
    settled : dict of int to Settled
        By rank.
    whole : dict of Candidate to Result
        Fits to all data.
    likeness : dict of Candidate to Likeness
    paid : dict of int to float
        By rank: how much more error was paid for components that starts agree on.
    """

    threshold: float
    n_masks: int = 1
    errors: dict[Candidate, Errors] = field(default_factory=dict)
    sizes: dict[Candidate, float] = field(default_factory=dict)
    settled: dict[int, Settled] = field(default_factory=dict)
    whole: dict[Candidate, Result] = field(default_factory=dict)
    likeness: dict[Candidate, Likeness] = field(default_factory=dict)
    paid: dict[int, float] = field(default_factory=dict)

    def add(self, masks: Sequence[Measured]) -> dict[Candidate, Errors]:
        """Take in the errors of settings that were tried at all masks, and give these."""
        common = [one for one in masks[0].errors if all(one in mask.errors for mask in masks)]
        for one in common:
            found = [mask.errors[one] for mask in masks]
            self.errors[one] = Errors(*(np.concatenate(part) for part in zip(*found)))
            self.sizes[one] = sum(mask.size for mask in masks)
        return {one: self.errors[one] for one in common}

    def error(self, one: Candidate) -> float:
        """Squared error at all hidden entries, relative to their own squares."""
        found = self.errors[one]
        return float((found.choosing.sum() + found.testing.sum()) / self.sizes[one])

    def z(self, better: Candidate, worse: Candidate) -> float:
        """Paired z of what one setting gains over another at all hidden entries."""
        gains = np.sum(self.errors[worse], axis=0) - np.sum(self.errors[better], axis=0)
        return paired_z(gains, self.n_masks)

    def agreement(self, one: Candidate) -> float | None:
        """Share of the other starts on all data that found the components of the best; None: not known."""
        return share_alike(self.whole[one].starts) if one in self.whole else None

    def verdicts(self, one: Candidate) -> tuple[str, ...] | None:
        """Of the components of a setting."""
        return verdicts(self.likeness[one], self.threshold) if one in self.likeness else None

    def by_rank(self) -> list[RankEvidence]:
        """What is known of each rank at the setting that was chosen for it."""
        found: list[RankEvidence] = []
        fewer = None
        for rank, settled in sorted(self.settled.items()):
            one = settled.chosen
            z = math.inf if fewer is None else self.z(one, self.settled[fewer.rank].chosen)
            known = self.agreement(one), self.verdicts(one)
            found.append(RankEvidence(rank, self.error(one), z, *known, fewer))
            fewer = found[-1] if found[-1].improves else fewer
        return found

    def table(self, chosen: Candidate) -> dict[str, list[Any]]:
        """One line for each setting that was tried, as columns."""
        bands = {one for settled in self.settled.values() for one in settled.band}
        settled = {one.chosen for one in self.settled.values()}
        lines = [
            {
                "model": one.label,
                "rank": one.rank,
                "smoothness": one.smoothness,
                "rigidity": one.rigidity,
                "nonnegative": one.nonnegative,
                "changes": one.changes,
                "hidden_error": self.error(one),
                "choosing_error": 2 * float(self.errors[one].choosing.sum()) / self.sizes[one],
                "z_behind_chosen": 0.0 if one == chosen else self.z(chosen, one),
                "tied": one in bands,
                "best_of_rank": one in settled,
                "chosen": one == chosen,
                "agreement": self.agreement(one),
                "replicability": None if one not in self.likeness else float(self.likeness[one].own.min()),
                "components_there": _count(self.verdicts(one), "there", "replicable"),
                "components_replicable": _count(self.verdicts(one), "replicable"),
                "explained_variance": None if one not in self.whole else self.whole[one].explained_variance,
            }
            for one in self.errors
        ]
        return _columns(lines)

    def components(self) -> dict[str, list[Any]]:
        """One line for each component of every setting whose components were looked for in halves."""
        return _columns(list(self._component_lines()))

    def _component_lines(self) -> Iterator[dict[str, Any]]:
        for one, found in self.likeness.items():
            for number, verdict in enumerate(self.verdicts(one) or ()):
                yield {
                    "model": one.label,
                    "rank": one.rank,
                    "component": number + 1,
                    "replicability": float(found.own[number]),
                    "chance": float(found.chance[number]),
                    "verdict": verdict,
                }


def _count(found: tuple[str, ...] | None, *kinds: str) -> int | None:
    return None if found is None else sum(one in kinds for one in found)


def _columns(lines: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    return {name: [line[name] for line in lines] for name in lines[0]} if lines else {}
