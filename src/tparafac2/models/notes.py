"""What a user should beware of in a fit, in sentences."""

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import FloatArray, IncompleteData, Intake, label_text
from tparafac2.models.model import Model
from tparafac2.penalties import TemporalSmoothness, asks_for
from tparafac2.result.agreement import count_alike
from tparafac2.starts import Choice

_ROWS_PER_COMPONENT = 2
"""Fewer rows than this at some time cannot tell the components apart with any certainty."""

_SHOWN_TIMES = 3


def notes_on_components(model: Model, A: FloatArray, B: FloatArray, C: FloatArray) -> list[str]:
    """What to beware of in the components themselves."""
    notes = []
    if A.shape[1] > 1 and not model.is_unique:
        notes.append(
            "Without further constraints the components are not unique: only their span is determined."
        )
    gone = ~(np.any(A, axis=0) & np.any(B, axis=(0, 1)) & np.any(C, axis=0))
    for r in np.flatnonzero(gone):
        notes.append(f"Component {r + 1} vanished: the smoothness is too strong or the rank too high.")
    smooth = [term for term in model.penalties[1] if isinstance(term, TemporalSmoothness)]
    if smooth:
        squares = np.maximum((B**2).sum(axis=(0, 1)), 1e-300)
        roughness = (np.diff(B, axis=0) ** 2).sum(axis=(0, 1)) / squares
        for r in np.flatnonzero((roughness <= max(smooth[0].epsilon, 1e-12)) & ~gone):
            notes.append(f"Component {r + 1} is static: its pattern does not change in time.")
    weak = without_strength(model, C)
    for r in np.flatnonzero(weak.any(axis=0) & ~gone):
        notes.append(
            f"Component {r + 1} has almost no strength at {int(weak[:, r].sum())} of {len(C)} times: "
            "its pattern there is not determined by the data."
        )
    return notes


def without_strength(model: Model, C: FloatArray) -> NDArray[np.bool_]:
    """Where a component has so little strength that the data say nothing about its pattern, (K, R)."""
    size = np.abs(C)
    weak = size < 1e-3 * np.maximum(size.max(axis=0), 1e-300)
    # A pattern that cannot change is known from other times.
    return np.zeros_like(weak) if asks_for(model.penalties[1], "static") else np.asarray(weak)


def notes_on_gaps(intake: Intake, rank: int) -> list[str]:
    """What was hardly or never observed, so that little but smoothness speaks for it."""
    notes = []
    unseen = intake.n_times - len(intake.order)
    if unseen:
        notes.append(
            f"Nothing was observed at {unseen} of {intake.n_times} times: "
            "patterns and strengths there are interpolated in time."
        )
    if intake.coverage is not None:
        notes += _few_rows(intake, rank)
        present = intake.data.present if isinstance(intake.data, IncompleteData) else None
        bridged = (intake.coverage[list(intake.order)] == 0) & (True if present is None else present)
        if bridged.any():
            columns, pairs = int(bridged.any(axis=0).sum()), int(bridged.sum())
            notes.append(
                f"{columns} columns were not observed at all at some times ({pairs} pairs of column and "
                "time): no data speak for their weights there, which can be large where the "
                "constraint on the patterns needs them. Use bridge=False if they did not exist then."
            )
    return notes


def _few_rows(intake: Intake, rank: int) -> list[str]:
    n_rows = intake.data.shape[1]
    seen = np.rint(intake.coverage.max(axis=1) * n_rows).astype(int)  # type: ignore[union-attr]
    few = np.flatnonzero((seen > 0) & (seen < _ROWS_PER_COMPONENT * rank) & (seen < n_rows))
    if not len(few):
        return []
    labels = intake.labels.coordinate("time", intake.n_times)
    told = ", ".join(f"{seen[k]} at {label_text(labels[k])}" for k in few[:_SHOWN_TIMES])
    more = ", ..." * (len(few) > _SHOWN_TIMES)
    return [
        f"At {len(few)} of {intake.n_times} times only few of the {n_rows} rows were observed ({told}{more})"
        ": do not read much into strengths and patterns there."
    ]


def notes_on_starts(model: Model, choice: Choice) -> list[str]:
    """Signs that the chosen start may not be the minimum: lower ones passed over, or few that agree."""
    objective = choice.table["objective"]
    count, notes = len(objective), []
    lower = (objective < objective[choice.chosen] * (1 - 1e-6)) & ~choice.table["converged"]
    if lower.any():
        notes.append(
            f"{int(lower.sum())} of {count} starts had a lower objective when they reached max_iter: "
            "raise max_iter to see where they end."
        )
    alike = count_alike(choice.table)
    if model.is_unique and not choice.reasons and count > 1 and 0 < 2 * alike <= count:
        notes.append(
            f"Only {alike} of {count} starts ended with these components: do not build on details before "
            "more starts agree (raise n_starts, or try a lower rank)."
        )
    return notes
