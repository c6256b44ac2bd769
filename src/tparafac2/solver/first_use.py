"""What a first fit compiles, by two processes side by side: the update of the patterns takes as long to
compile as all else together.
"""

import threading
from functools import cache
from typing import Any

import numpy as np

from tparafac2.compiling import Call, helped, tell_of_compilation
from tparafac2.data.missing_kernels import observed_sse
from tparafac2.solver import kernels
from tparafac2.solver.row_kernels import Asked, solve_block

_ONE_AT_A_TIME = threading.Lock()


def compile_missing(dtype: str, observed: bool) -> None:
    """Compile what patterns of this precision need, if it was never done; from what was observed, or all.

    What is compiled here would be compiled when it is called first. Only the order and the time differ.
    """
    with _ONE_AT_A_TIME:
        _compile_missing(dtype, observed)


@cache
def _compile_missing(dtype: str, observed: bool) -> None:
    update, others = update_call(dtype, observed), other_calls(dtype, observed)
    if not update.is_missing():
        return
    tell_of_compilation()
    if any(other.is_missing() for other in others):
        with helped(f"from {__name__} import compile_others; compile_others({dtype!r}, {observed!r})"):
            update.compile()


def compile_others(dtype: str, observed: bool) -> None:
    """Compile all but the update of the patterns, those that take longest first."""
    for call in other_calls(dtype, observed):
        call.compile()


def update_call(dtype: str, observed: bool) -> Call:
    """Give the update of the patterns, with arguments of the types that the solver calls it with."""
    patterns, matrices, rows = np.ones((1, 1, 1, 1), dtype), np.ones((1, 1, 1)), np.ones((1, 1))
    weights = kernels.Weights(rows, matrices)
    rounds = kernels.Rounds(1, np.zeros(1, np.int64), kernels.Drawn(True, True, True, True), 1.0)
    rest = (matrices, weights, _quadratics(), rounds)
    begin = (_evolving(patterns), np.zeros(1, np.intp), patterns)
    if observed:
        seen = kernels.Observed(patterns, rows)
        return Call(kernels.update_observed_batch, (*begin, seen, *rest))
    return Call(kernels.update_batch, (*begin, np.ones((1, 1, 1, 1)), *rest))


def other_calls(dtype: str, observed: bool) -> list[Call]:
    """Give what else is called in a fit, with such arguments, too."""
    patterns, active, quad = np.ones((1, 1, 1, 1), dtype), np.zeros(1, np.intp), _quadratics()
    grams, matrices, rows, numbers = (np.ones((1,) * dimensions) for dimensions in (4, 3, 2, 1))
    before, drawn = kernels.Before(patterns, patterns, patterns), kernels.Drawn(True, True, True, True)
    summary = kernels.Summary(grams, matrices, rows, matrices)
    pace = kernels.Pace(numbers, 1.0, numbers)
    calls = [
        Call(kernels.carry_batch, (_evolving(patterns), before, active, rows, numbers, drawn, rows, numbers)),
        Call(solve_block, (grams, matrices, matrices, Asked(0.0, 0.0, 0.0, False))),
        Call(kernels.summarise_batch, (patterns, active, patterns, summary)),
        Call(kernels.price_batch, (quad, active, matrices, grams, pace, rows)),
    ]
    if observed:
        seen, entries = kernels.Observed(patterns, rows), patterns[0, 0].copy()
        entries.setflags(write=False)
        factors = patterns[0].copy()
        calls.append(Call(kernels.summarise_observed_batch, (patterns, active, seen, grams, matrices)))
        calls.append(Call(observed_sse, (entries, factors, factors, numbers)))
    return calls


def _evolving(patterns: Any) -> kernels.Evolving:
    explicit = np.ones((1, 1), np.uint8)
    T, Delta = np.ones((1, 1, 1, 1)), np.ones((1, 1, 1))
    return kernels.Evolving(patterns, patterns, patterns, patterns, T, explicit, Delta)


def _quadratics() -> kernels.Quadratics:
    return kernels.Quadratics(np.ones(1), np.ones((1, 1, 1)))
