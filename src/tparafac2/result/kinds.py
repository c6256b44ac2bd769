"""What can be found about a fit, and one such finding as data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np


class Severity(StrEnum):
    """How much a finding asks of the reader."""

    INFO = "info"
    NOTE = "note"
    WARNING = "warning"


class Kind(StrEnum):
    """What can be found."""

    EXPLAINED = "explained"
    EXPLAINS_NOTHING = "explains_nothing"
    CONVERGED = "converged"
    NOT_CONVERGED = "not_converged"
    MAX_ITER = "max_iter"
    INFEASIBLE = "infeasible"
    INTERRUPTED = "interrupted"
    NOT_FINITE = "not_finite"
    ALL_VANISHED = "all_vanished"
    NO_SOUND_START = "no_sound_start"
    INTERRUPTED_STARTS = "interrupted_starts"
    ONE_START = "one_start"
    STARTS = "starts"
    FEW_STARTS_AGREE = "few_starts_agree"
    LOWER_PASSED_OVER = "lower_passed_over"
    SMOOTHNESS = "smoothness"
    NOT_UNIQUE = "not_unique"
    DEGENERATE = "degenerate"
    PROPORTIONAL = "proportional_strengths"
    SAME_ROWS = "same_rows"
    VANISHED = "vanished"
    CONSTANT = "constant"
    STATIC = "static"
    MAY_JUMP = "sudden_changes"
    SUDDEN = "sudden"
    GIVES_WAY = "gives_way"
    NONNEGATIVE = "nonnegative"
    SPARSE = "sparse"
    SMOOTH_STRENGTHS = "smooth_strengths"
    FURTHER_TERM = "further_term"
    COULD_BE_NONNEGATIVE = "could_be_nonnegative"
    NEGATIVE_DATA = "negative_data"
    UNDETERMINED = "undetermined"
    COMPLETE = "complete"
    MISSING = "missing"
    UNOBSERVED_TIMES = "unobserved_times"
    FEW_ROWS = "few_rows"
    BRIDGED = "bridged"
    WEIGHTED = "weighted"
    UNEVEN_WEIGHTS = "uneven_weights"
    UNEVEN_TIMES = "uneven_times"
    PERIODIC = "periodic"
    RAGGED = "ragged"
    APPENDED = "appended"
    ONLY_THERE = "only_there"
    NOT_THERE = "not_there"
    DEPENDS_ON_SETTING = "depends_on_setting"
    CONSTRAINT_CONTRADICTED = "constraint_contradicted"
    RANK_UNSURE = "rank_unsure"
    INTERVALS = "intervals"
    UNSTABLE = "unstable"
    TRUST = "trust"


ENDINGS = {
    "converged": Kind.CONVERGED,
    "max_iter": Kind.MAX_ITER,
    "infeasible": Kind.INFEASIBLE,
    "interrupted": Kind.INTERRUPTED,
    "not_finite": Kind.NOT_FINITE,
    "vanished": Kind.ALL_VANISHED,
    "": Kind.NOT_CONVERGED,
}
"""How a fit can have ended, by its status; one that is not known is none."""


@dataclass(frozen=True)
class Finding:
    """One thing to know about a fit.

    Attributes
    ----------
    kind : Kind
    severity : Severity
        Of "info", "note" (worth reading) and "warning" (to beware of).
    component : int, optional
        The component that it is about, counted from 1.
    times : tuple
        Labels of the times that it is about.
    numbers : mapping of str to numbers
        How much, how many; tuples have one number for each time.
    names : tuple of str
        What the user calls the components of the fit, "" where they have no name; empty if none has one.

    Examples
    --------
    >>> Finding(Kind.STATIC, Severity.NOTE, component=2).as_dict()
    {'kind': 'static', 'severity': 'note', 'component': 2, 'times': [], 'numbers': {}}
    """

    kind: Kind
    severity: Severity = Severity.INFO
    component: int | None = None
    times: tuple[Any, ...] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What the user calls the component that it is about; empty if it has no name."""
        return self.names[self.component - 1] if self.names and self.component is not None else ""

    def as_dict(self) -> dict[str, Any]:
        """Give everything in types that JSON has: dates as text, and None for numbers that are not finite."""
        return {
            "kind": self.kind.value,
            "severity": self.severity.value,
            "component": self.component,
            **({"name": self.name} if self.name else {}),
            "times": [_plain(label) for label in self.times],
            "numbers": {name: _plain(number) for name, number in self.numbers.items()},
        }


def _plain(value: Any) -> Any:
    """A label or number as JSON has it."""
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, np.datetime64):
        return str(np.datetime_as_string(value, unit="auto"))
    native = value.item() if isinstance(value, np.generic) else value
    if isinstance(native, float):
        return native if math.isfinite(native) else None
    return native if isinstance(native, bool | int) else str(native)
