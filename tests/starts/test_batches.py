"""Batches of starts: all of them, in order, and the same bytes however many threads there are."""

import signal
import threading
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tparafac2.data import DenseData
from tparafac2.penalties import NonNegative, Parafac2, Ridge, TemporalSmoothness
from tparafac2.solver import Settings, Status, build_problem
from tparafac2.starts import Progress, batch_size, child_seeds, fit_size, run_starts, uniform_start
from tparafac2.starts.batches import batches

K, I, J, R = 3, 7, 6, 5
N_STARTS = 24  # two batches at this rank


@pytest.fixture(scope="module")
def problem():
    X = np.random.default_rng(0).random((K, I, J))
    terms = [Ridge(0.1)], [Parafac2(), TemporalSmoothness(0.1)], [Ridge(0.1), NonNegative()]
    return build_problem(DenseData.from_slices(X), R, terms)


def starts_for(n):
    drawn = (uniform_start(seed, (K, I, J), R) for seed in child_seeds(0, n))
    return [fit_size(start, fixed_strengths=False) for start in drawn]


def run(problem, n=N_STARTS, n_jobs=1, progress=None, **changes):
    settings = Settings(max_iter=30, **changes)
    return run_starts(problem, starts_for(n), settings, n_jobs, progress or Progress(False))


def assert_same_bytes(ours, theirs):
    for mine, other in zip(ours, theirs, strict=True):
        for name in ("A", "B", "C"):
            assert getattr(mine, name).tobytes() == getattr(other, name).tobytes()
        assert (mine.objective, mine.status, mine.n_iter) == (other.objective, other.status, other.n_iter)


@given(n=st.integers(1, 300), size=st.integers(1, 40))
def test_batches_cover_all_starts_once_and_evenly(n, size):
    parts = batches(n, size)
    assert [i for part in parts for i in range(n)[part]] == list(range(n))
    lengths = [part.stop - part.start for part in parts]
    assert max(lengths) <= size
    assert max(lengths) - min(lengths) <= 1
    assert len(parts) == -(-n // size)


@given(
    rank=st.integers(1, 60),
    shape=st.tuples(st.integers(1, 200), st.integers(1, 10**4), st.integers(1, 10**6)),
)
def test_a_batch_is_of_moderate_size(rank, shape):
    K, _, J = shape
    size = batch_size(shape, rank)
    assert 1 <= size <= 100
    assert size == 1 or size * rank * K * J * 8 <= 10**9, "patterns alone would not fit in memory"


def test_batch_size_does_not_depend_on_the_machine(monkeypatch):
    sizes = [batch_size((K, I, J), rank) for rank in (1, 5, 100)]
    monkeypatch.setattr("os.cpu_count", lambda: 1000)
    monkeypatch.setattr("tparafac2.data.physical_memory", lambda: 1)
    assert [batch_size((K, I, J), rank) for rank in (1, 5, 100)] == sizes


def test_there_are_two_batches_in_these_tests(problem):
    assert len(batches(N_STARTS, batch_size(problem.data.shape, R))) == 2


def test_runs_come_back_in_the_order_of_the_starts(problem):
    together = run(problem)
    assert len(together) == N_STARTS
    for i in (0, N_STARTS // 2, N_STARTS - 1):
        (alone,) = run_starts(problem, [starts_for(N_STARTS)[i]], Settings(max_iter=30), 1, Progress(False))
        assert alone.objective == pytest.approx(together[i].objective, rel=1e-9)
    assert len({result.objective for result in together}) == N_STARTS


def test_the_same_seed_gives_the_same_bytes(problem):
    assert_same_bytes(run(problem), run(problem))


def test_two_threads_give_the_bytes_of_one(problem):
    assert_same_bytes(run(problem, n_jobs=2), run(problem, n_jobs=1))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_hears_of_every_batch(problem, n_jobs):
    heard = []

    class Listening(Progress):
        def expect(self, batches):
            super().expect(batches)
            heard.append(("expect", batches))

        def batch_done(self, batch):
            heard.append(batch)

    listening = Listening(False)
    heard.clear()
    run(problem, n_jobs=n_jobs, progress=listening)
    assert heard[0] == ("expect", [12, 12])
    assert sorted(heard[1:]) == [0, 1]


def test_progress_hears_of_iterations(problem):
    heard = []

    class Listening(Progress):
        def iteration(self, batch, entry):
            heard.append((entry.iteration, entry.info.objective.min()))

    found = run(problem, n=3, progress=Listening(False))
    assert [iteration for iteration, _ in heard] == list(range(1, len(heard) + 1))
    lowest = np.min([result.trace.table()["objective"][:5] for result in found], axis=0)
    np.testing.assert_allclose([objective for _, objective in heard[:5]], lowest, rtol=1e-12)


def test_an_interruption_ends_the_batch_and_skips_the_rest(problem):
    class Impatient(Progress):
        def iteration(self, batch, entry):
            if entry.iteration == 4:
                signal.raise_signal(signal.SIGINT)

    found = run(problem, progress=Impatient(False))
    first = batches(N_STARTS, batch_size(problem.data.shape, R))[0]
    assert len(found) == first.stop, "the second batch had not begun"
    assert {(result.status, result.n_iter) for result in found} == {(Status.INTERRUPTED, 4)}
    for result in found:
        assert np.isfinite(result.objective)
        assert all(np.isfinite(factor).all() for factor in (result.A, result.B, result.C))


def test_whoever_is_interrupted_for_good_leaves_no_threads_at_work(problem):
    iterations = []

    class Impatient(Progress):
        def iteration(self, batch, entry):
            iterations.append(batch)
            if batch == 0 and entry.iteration == 2:
                raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        run(problem, n_jobs=2, progress=Impatient(False), tol=0.0)
    assert threading.active_count() == before
    assert iterations.count(1) < 30, "the other thread was told to stop"


def test_starts_are_drawn_when_their_turn_comes(problem):
    """However many there are, there is no room for all of them at once."""
    drawn = []

    class Drawn(Sequence):
        def __len__(self):
            return N_STARTS

        def __getitem__(self, part):
            drawn.append((part.start, part.stop))
            return starts_for(N_STARTS)[part]

    class Listening(Progress):
        def batch_done(self, batch):
            drawn.append("done")

    run_starts(problem, Drawn(), Settings(max_iter=3), 1, Listening(False))
    assert drawn == [(0, 12), "done", (12, 24), "done"]
