from contextlib import nullcontext

import numba
import numpy as np
import pytest

import tparafac2 as tp
from tparafac2 import compiling
from tparafac2.data import missing_kernels
from tparafac2.solver import first_use, kernels, rows

X = np.random.default_rng(0).random((4, 6, 5))
HOLED = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)


def types_of(arguments):
    return tuple(numba.typeof(argument) for argument in arguments)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("observed", [False, True])
def test_fits_call_kernels_with_the_types_they_were_compiled_for(monkeypatch, dtype, observed):
    foretold = [first_use.update_call(dtype, observed), *first_use.other_calls(dtype, observed)]
    called = {}

    def record(room, call):
        def recorded(*arguments):
            called.setdefault(call.kernel.py_func.__name__, set()).add(types_of(arguments))
            call.kernel(*arguments)

        monkeypatch.setattr(room, call.kernel.py_func.__name__, recorded)

    places = {"solve_block": rows, "observed_sse": missing_kernels}
    for call in foretold:
        record(places.get(call.kernel.py_func.__name__, kernels), call)
    tp.TParafac2(2, n_starts=2, max_iter=3, random_state=0, dtype=dtype).fit(HOLED if observed else X)
    assert called == {call.kernel.py_func.__name__: {types_of(call.arguments)} for call in foretold}


@pytest.fixture
def steps(monkeypatch):
    """What is compiled or launched, in order, without doing it."""
    done = []

    def helped(code):
        done.append(code)
        return nullcontext()

    monkeypatch.setattr(first_use, "helped", helped)
    monkeypatch.setattr(compiling.Call, "compile", lambda call: done.append(call.kernel.py_func.__name__))
    first_use._compile_missing.cache_clear()
    yield done
    first_use._compile_missing.cache_clear()


def test_half_is_left_to_another_process_once(monkeypatch, steps):
    monkeypatch.setattr(compiling.Call, "is_missing", lambda call: True)
    for _ in range(2):
        first_use.compile_missing("float32", True)
    code, compiled = steps
    assert "compile_others('float32', True)" in code
    assert compiled == "update_observed_batch"
    exec(code)
    assert steps[2:4] == ["carry_batch", "solve_block"]


@pytest.mark.parametrize("missing", [(), ("carry_batch",), ("update_batch",)])
def test_nobody_is_asked_for_help_where_there_are_not_two_halves(monkeypatch, steps, missing):
    monkeypatch.setattr(compiling.Call, "is_missing", lambda call: call.kernel.py_func.__name__ in missing)
    first_use.compile_missing("float64", False)
    assert steps == []
