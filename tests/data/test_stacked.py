import numpy as np
import pytest

from tparafac2.data import DenseData, StackedData
from tparafac2.penalties import NonNegative, Parafac2, Ridge, TemporalSmoothness
from tparafac2.solver import Settings, Start, build_problem, solve


@pytest.fixture
def parts():
    rng = np.random.default_rng(0)
    return tuple(DenseData(0.1 * rng.normal(size=(9, 4, 6)), 3.0) for _ in range(3))


@pytest.fixture
def starts():
    rng = np.random.default_rng(1)
    return [Start(rng.random((9, 2)), rng.random((4, 6, 2)), rng.random((4, 2))) for _ in range(3)]


def problem(data):
    penalties = (
        [Ridge(0.01)],
        [Parafac2(), TemporalSmoothness(0.01)],
        [Ridge(0.01), NonNegative()],
    )
    return build_problem(data, 2, penalties)


def test_each_start_has_its_own_data(parts, starts):
    settings = Settings(max_iter=300, tol=1e-7)
    together = solve(problem(StackedData(parts)), starts, settings)
    for part, start, run in zip(parts, starts, together):
        (alone,) = solve(problem(part), [start], settings)
        assert run.n_iter == alone.n_iter
        np.testing.assert_allclose(run.B, alone.B, rtol=1e-9, atol=1e-12)
        assert run.objective == pytest.approx(alone.objective, rel=1e-12)
    assert len({run.n_iter for run in together}) > 1  # or nothing was seen of starts that leave early


def test_perfect_fits_are_judged_by_their_own_data(starts):
    rng = np.random.default_rng(2)
    exact = [
        np.einsum("ir,kr,jr->ikj", rng.random((9, 2)), rng.random((4, 2)), rng.random((6, 2))) for _ in "ab"
    ]
    data = StackedData(tuple(DenseData(np.ascontiguousarray(x / np.linalg.norm(x))) for x in exact))
    At, W = rng.random((2, 2, 9)), rng.random((2, 2, 4, 6))
    found = data.residual_sse(At, W)
    wanted = [
        np.sum((part.values - np.einsum("ri,rkj->ikj", a, w)) ** 2) for part, a, w in zip(data.parts, At, W)
    ]
    np.testing.assert_allclose(found, wanted)
    free = build_problem(data, 2, ([], [Parafac2()], [NonNegative()]))
    runs = solve(free, starts[:2], Settings(max_iter=500))
    assert all(0 <= run.sse < 1e-8 for run in runs)
