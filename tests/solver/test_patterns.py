"""The compiled pattern update is plain ADMM: solve, sweep, dual."""

from dataclasses import replace

import numpy as np
import pytest

from tparafac2.data import DenseData
from tparafac2.penalties import (
    NonNegative,
    Parafac2,
    Ridge,
    SoftParafac2,
    Static,
    TemporalSmoothness,
    proximal,
)
from tparafac2.solver import Settings, build_problem
from tparafac2.solver.patterns import (
    FusedPatterns,
    Given,
    SplitPatterns,
    StaticPatterns,
    pattern_block,
    slice_traces,
    slice_weights,
)

INNER = 3
PRECISIONS = pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-9), ("float32", 1e-4)])
# Odd ranks and widths, because loops are unrolled; 700 columns, because they are cut into blocks.
SHAPES = [(1, 1, 1), (1, 4, 3), (2, 3, 5), (3, 5, 40), (4, 2, 9), (5, 3, 33), (6, 4, 700), (7, 6, 700)]
# Polar factors of many components are found in another way.
MANY = [(9, 3, 40), (12, 5, 33)]


def problem_for(terms, R, K, J, dtype="float64"):
    """A problem whose units are the user's; of the data only shape and type matter here."""
    return build_problem(DenseData(np.ones((2, K, J), dtype), 1.0), R, ([], terms, []))


def draw(rng, n, R, K, J, dtype="float64"):
    """Patterns, and what an update is given: G, N = A'A and C."""
    A = rng.standard_normal((n, R + 3, R))
    B, G = (rng.standard_normal((n, R, K, J)).astype(dtype) for _ in range(2))
    return B, G, A.transpose(0, 2, 1) @ A, rng.uniform(0.3, 2.0, (n, R, K))


def assert_close(actual, expected, rtol):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=rtol * max(np.abs(expected).max(), 1e-300))


class Plain:
    """One start: auxiliary and dual for the PARAFAC2 term, bands solved at once; all arrays (R, K, J)."""

    def __init__(self, B, problem):
        self.B, self.problem = B.astype(np.float64), problem
        self.aux, self.dual = self.B.copy(), np.zeros(B.shape)
        self.delta = proximal.mean_cross_product_root(self.B.transpose(1, 2, 0), np.ones(B.shape[1]))

    def solve(self, right, N, C, rho):
        R, K, J = right.shape
        own, links = self.problem.quadratics.own, self.problem.quadratics.links[0].T
        system = np.zeros((K, R, K, R))
        for k in range(K):
            system[k, :, k] = np.outer(C[:, k], C[:, k]) * N + (rho[k] / 2 + own[k]) * np.eye(R)
        for k in range(K - 1):
            for one, other in ((k, k + 1), (k + 1, k)):
                system[one, :, one] += np.diag(links[k])
                system[one, :, other] -= np.diag(links[k])
        solution = np.linalg.solve(system.reshape(K * R, -1), right.transpose(1, 0, 2).reshape(K * R, J))
        return solution.reshape(K, R, J).transpose(1, 0, 2)

    def update(self, G, N, C, rho):
        for _ in range(INNER):
            right = G * C[:, :, None] + rho[:, None] / 2 * (self.aux - self.dual)
            self.B = self.solve(right, N, C, rho)
            slices = (self.B + self.dual).transpose(1, 2, 0)
            slices, self.delta = proximal.parafac2_sweep(slices, rho, self.delta)
            self.aux = slices.transpose(2, 0, 1)
            self.dual = self.dual + self.B - self.aux


def compare(block, plain, i, rtol):
    """After a carry the block's auxiliary is in Y and auxiliary plus dual in S."""
    assert_close(block.B[i], plain.B, rtol)
    assert_close(block.arrays.Y[i], plain.aux, rtol)
    assert_close(block.arrays.S[i], plain.aux + plain.dual, rtol)


def stay(p, R):
    """Carry on as things are: no rescaling, no momentum."""
    return np.ones((p, R)), np.zeros(p)


@PRECISIONS
@pytest.mark.parametrize("strength", [0.0, 2.0])
@pytest.mark.parametrize(("R", "K", "J"), SHAPES + MANY)
def test_fused_update_is_plain_admm(R, K, J, strength, dtype, rtol):
    terms = [Parafac2(), TemporalSmoothness(strength)]
    problem = problem_for(terms, R, K, J, dtype)
    B, G, N, C = draw(np.random.default_rng(R + K + J), 3, R, K, J, dtype)
    plains = [Plain(B[i], problem) for i in range(3)]
    block = pattern_block(B, problem, replace(Settings(), inner=INNER))
    active, weight = np.arange(3), np.array([1.0, 2.0, 8.0])
    for _ in range(2):
        rho = slice_weights(slice_traces(N, C), N.shape[1], weight, 0.01)
        block.update(Given(active, G, N, C, weight))
        gaps = block.carry(active, *stay(3, R))
        for i, plain in enumerate(plains):
            plain.update(G[i], N[i], C[i], rho[i])
            compare(block, plain, i, rtol)
            assert gaps[i] == pytest.approx(np.linalg.norm(plain.B - plain.aux), rel=1e-3, abs=1e-4)
        G = G[::-1].copy()


@PRECISIONS
@pytest.mark.parametrize("more", [[], [Parafac2()]], ids=["alone", "with PARAFAC2"])
@pytest.mark.parametrize(("R", "K", "J"), SHAPES)
def test_patterns_that_are_not_negative_take_the_steps_of_the_plain_path(R, K, J, more, dtype, rtol):
    problem = problem_for([*more, NonNegative(), TemporalSmoothness(2.0)], R, K, J, dtype)
    B, G, N, C = draw(np.random.default_rng(R + K + J), 3, R, K, J, dtype)
    settings = replace(Settings(), inner=INNER)
    fused, plain = (kind(np.abs(B), problem, settings) for kind in (FusedPatterns, SplitPatterns))
    if more:
        plain.states[0] = list(fused.arrays.Delta.copy())
    given = Given(np.arange(3), G, N, C, np.array([1.0, 2.0, 8.0]))
    scale, momentum = np.random.default_rng(0).uniform(0.5, 2.0, (3, R)), np.array([0.0, 0.3, 0.7])
    for _ in range(2):
        gaps = []
        for block in (fused, plain):
            block.update(given)
            gaps.append(block.carry(given.active, scale, momentum))
        assert_close(fused.B, plain.B, 20 * rtol)
        assert_close(*gaps, 20 * rtol)
        fused.stiffen(1, 2.0)
        plain.stiffen(1, 2.0)
        momentum = np.zeros(3)  # extrapolated, aux + dual no longer tells one from the other as two arrays do
        plain.aux[-1], plain.dual[-1] = np.maximum(fused.arrays.Z, 0), np.minimum(fused.arrays.Z, 0)


@PRECISIONS
@pytest.mark.parametrize(("R", "K", "J"), SHAPES)
def test_a_constraint_that_gives_way_is_solved_in_turns(R, K, J, dtype, rtol):
    weights = tuple(np.linspace(0.5, 2.0, K))
    problem = problem_for([SoftParafac2(3.0, weights), TemporalSmoothness(2.0)], R, K, J, dtype)
    B, G, N, C = draw(np.random.default_rng(R + K + J), 2, R, K, J, dtype)
    block = pattern_block(B.copy(), problem, replace(Settings(), inner=INNER))
    given, pull = Given(np.arange(2), G, N, C, np.ones(2)), 3.0 * np.array(weights)
    block.update(given)
    costs = block.departures(given.active)
    for i in range(2):
        plain = Plain(B[i], problem)
        for _ in range(INNER):
            right = G[i] * C[i][:, :, None] + pull[:, None] * plain.aux
            plain.B = plain.solve(right, N[i], C[i], 2.0 * pull)
            slices, plain.delta = proximal.parafac2_sweep(plain.B.transpose(1, 2, 0), pull, plain.delta)
            plain.aux = slices.transpose(2, 0, 1)
        assert_close(block.B[i], plain.B, rtol)
        assert_close(block.arrays.Y[i], plain.aux, rtol)
        expected = np.einsum("k,rkj->r", pull, (plain.B - plain.aux) ** 2)
        np.testing.assert_allclose(
            costs[i], expected, rtol=0, atol=10 * rtol * (pull.max() * (plain.B**2).sum())
        )
    scale = np.full((2, R), 2.0)
    assert block.carry(given.active, scale, np.zeros(2)).tolist() == [0.0, 0.0]
    np.testing.assert_allclose(block.departures(given.active), 4.0 * costs, rtol=1e-4, atol=1e-12)


@PRECISIONS
@pytest.mark.parametrize(("R", "K", "J"), SHAPES)
def test_without_a_split_term_one_exact_solve(R, K, J, dtype, rtol):
    problem = problem_for([TemporalSmoothness(2.0), Ridge(0.1)], R, K, J, dtype)
    B, G, N, C = draw(np.random.default_rng(R + K + J), 2, R, K, J, dtype)
    block = pattern_block(B.copy(), problem, Settings())
    block.update(Given(np.arange(2), G, N, C, np.ones(2)))
    for i in range(2):
        right = (G[i] * C[i][:, :, None]).astype(np.float64)
        assert_close(block.B[i], Plain(B[i], problem).solve(right, N[i], C[i], np.zeros(K)), rtol)
    assert block.carry(np.arange(2), *stay(2, R)).tolist() == [0.0, 0.0]


def test_only_active_starts_are_touched_and_company_changes_nothing():
    problem = problem_for([Parafac2(), TemporalSmoothness(1.0)], 3, 4, 8)
    B, G, N, C = draw(np.random.default_rng(0), 3, 3, 4, 8)
    block, alone = (pattern_block(start.copy(), problem, Settings()) for start in (B, B[2:]))
    chosen = np.array([0, 2])
    block.update(Given(chosen, G[chosen], N[chosen], C[chosen], np.ones(2)))
    block.carry(chosen, *stay(2, 3))
    alone.update(Given(np.array([0]), G[2:], N[2:], C[2:], np.ones(1)))
    alone.carry(np.array([0]), *stay(1, 3))
    for name in ("B", "S", "Y"):
        ours, theirs = getattr(block.arrays, name), getattr(alone.arrays, name)
        np.testing.assert_array_equal(ours[1], B[1])
        np.testing.assert_array_equal(ours[2], theirs[0])


@PRECISIONS
@pytest.mark.parametrize("J", [5, 1200])
def test_carry_rescales_and_extrapolates(J, dtype, rtol):
    R, K = 4, 3
    problem = problem_for([Parafac2()], R, K, J, dtype)
    B, G, N, C = draw(np.random.default_rng(J), 2, R, K, J, dtype)
    plain, twin = (Plain(B[0], problem) for _ in range(2))
    block = pattern_block(B.copy(), problem, replace(Settings(), inner=INNER))
    first, active = np.array([0]), np.arange(2)
    scale = np.array([[0.5, 2.0, 0.0, 3.0]])  # the third component has just vanished
    rho = slice_weights(slice_traces(N, C), N.shape[1], np.ones(2), 0.01)
    block.update(Given(active, G, N, C, np.ones(2)))
    block.carry(active, *stay(2, R))
    block.update(Given(active, G, N, C, np.ones(2)))
    block.carry(first, scale, np.array([0.7]))
    plain.update(G[0], N[0], C[0], rho[0])
    for _ in range(2):
        twin.update(G[0], N[0], C[0], rho[0])
    factor = scale[0][:, None, None]
    aux, total = factor * twin.aux, factor * (twin.aux + twin.dual)
    assert_close(block.B[0], factor * twin.B, rtol)
    assert_close(block.arrays.Y[0], aux + 0.7 * (aux - plain.aux), rtol)
    assert_close(block.arrays.S[0], total + 0.7 * (total - plain.aux - plain.dual), rtol)


def test_delta_scales_along():
    """After rescaling the next sweep must be that of the rescaled problem."""
    R, K, J = 3, 4, 8
    scale = np.array([0.5, 2.0, 3.0])
    problem = problem_for([Parafac2()], R, K, J)
    B, G, N, C = draw(np.random.default_rng(0), 1, R, K, J)
    block, plain = pattern_block(B.copy(), problem, replace(Settings(), inner=INNER)), Plain(B[0], problem)
    rho = slice_weights(slice_traces(N, C), N.shape[1], np.ones(1), 0.01)[0]
    block.update(Given(np.arange(1), G, N, C, np.ones(1)))
    block.carry(np.arange(1), scale[None], np.zeros(1))
    plain.update(G[0], N[0], C[0], rho)
    for name in ("B", "aux", "dual"):
        setattr(plain, name, scale[:, None, None] * getattr(plain, name))
    plain.delta = plain.delta * scale
    block.update(Given(np.arange(1), G, N, C, np.ones(1)))
    block.carry(np.arange(1), *stay(1, R))
    plain.update(G[0], N[0], C[0], rho)
    compare(block, plain, 0, 1e-10)


@pytest.fixture
def careful_sweeps(monkeypatch):
    """Counts the sweeps that are done by singular values."""
    calls = []
    sweep = proximal.parafac2_sweep

    def counted(*arguments):
        calls.append(arguments)
        return sweep(*arguments)

    monkeypatch.setattr(proximal, "parafac2_sweep", counted)
    return calls


def nearly_collinear(rng, difference, R=3, J=8):
    """Two starts; in the first, components 0 and 1 differ by `difference` in every slice."""
    B, G, N, C = draw(rng, 2, R, 4, J)
    for array in (B, G, C):
        array[0, 1] = array[0, 0]
    B[0, 1] += difference * rng.standard_normal((4, J))
    G[0, 1] += difference * rng.standard_normal((4, J))
    N[0] = np.ones((R, R)) + np.diag([difference, difference] + [3.0] * (R - 2))
    return B, G, N, C


@pytest.mark.parametrize("difference", [1e-5, 1e-7])
def test_nearly_collinear_patterns_are_swept_with_care(difference, careful_sweeps):
    problem = problem_for([Parafac2()], 3, 4, 8)
    B, G, N, C = nearly_collinear(np.random.default_rng(3), difference)
    block = pattern_block(B.copy(), problem, replace(Settings(), inner=INNER))
    block.update(Given(np.arange(2), G, N, C, np.ones(2)))
    assert len(careful_sweeps) == INNER  # the other start needs no care
    block.carry(np.arange(2), *stay(2, 3))
    rho = slice_weights(slice_traces(N, C), N.shape[1], np.ones(2), 0.01)
    for i in range(2):
        plain = Plain(B[i], problem)
        plain.update(G[i], N[i], C[i], rho[i])
        compare(block, plain, i, 1e-13 / difference)


def test_two_of_many_components_may_be_alike(careful_sweeps):
    """Not enough for singular values, but Halley's iteration would take too many steps."""
    R, J, difference = 10, 30, 1e-3
    problem = problem_for([Parafac2()], R, 4, J)
    B, G, N, C = nearly_collinear(np.random.default_rng(3), difference, R, J)
    block = pattern_block(B.copy(), problem, replace(Settings(), inner=INNER))
    block.update(Given(np.arange(2), G, N, C, np.ones(2)))
    assert not careful_sweeps
    block.carry(np.arange(2), *stay(2, R))
    rho = slice_weights(slice_traces(N, C), N.shape[1], np.ones(2), 0.01)
    for i in range(2):
        plain = Plain(B[i], problem)
        plain.update(G[i], N[i], C[i], rho[i])
        compare(block, plain, i, 1e-8)


def test_ordinary_patterns_need_no_care(careful_sweeps):
    problem = problem_for([Parafac2(), TemporalSmoothness(1.0)], 3, 4, 8)
    B, G, N, C = draw(np.random.default_rng(0), 2, 3, 4, 8)
    pattern_block(B, problem, Settings()).update(Given(np.arange(2), G, N, C, np.ones(2)))
    assert not careful_sweeps


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_exactly_equal_components_give_finite_patterns_on_the_set(dtype):
    problem = problem_for([Parafac2()], 3, 4, 8, dtype)
    B, G, N, C = nearly_collinear(np.random.default_rng(3), 0.0)
    B, G = B.astype(dtype), G.astype(dtype)
    block = pattern_block(B, problem, Settings())
    for _ in range(3):
        block.update(Given(np.arange(2), G, N, C, np.ones(2)))
        block.carry(np.arange(2), *stay(2, 3))
    for array in (block.B, block.arrays.S, block.arrays.Y):
        assert np.isfinite(array).all()
    for i in range(2):
        assert proximal.cross_product_spread(block.arrays.Y[i].transpose(1, 2, 0).astype(np.float64)) < 1e-5


def test_two_equal_columns_in_one_slice_only():
    """The slice's patterns are collinear at the start, those of the others are not."""
    problem = problem_for([Parafac2()], 3, 4, 8)
    B, G, N, C = draw(np.random.default_rng(5), 1, 3, 4, 8)
    B[0, 1, 2], G[0, 1, 2], C[0, 1, 2] = B[0, 0, 2], G[0, 0, 2], C[0, 0, 2]
    N[0, 1, 1] = N[0, 0, 0]
    N[0, 2, 1] = N[0, 1, 2] = N[0, 0, 2]  # components 0 and 1 are alike in slice 2, and solved alike
    block, plain = pattern_block(B.copy(), problem, replace(Settings(), inner=1)), Plain(B[0], problem)
    rho = slice_weights(slice_traces(N, C), N.shape[1], np.ones(1), 0.01)
    block.update(Given(np.arange(1), G, N, C, np.ones(1)))
    np.testing.assert_allclose(block.B[0, 1, 2], block.B[0, 0, 2], rtol=1e-12)
    block.carry(np.arange(1), *stay(1, 3))
    plain.B = plain.solve(G[0] * C[0][:, :, None] + rho[0][:, None] / 2 * plain.aux, N[0], C[0], rho[0])
    slices = plain.B.transpose(1, 2, 0)
    expected, _ = proximal.parafac2_sweep(slices, rho[0], plain.delta)
    found = block.arrays.Y[0].transpose(1, 2, 0)
    assert np.isfinite(found).all()
    assert proximal.cross_product_spread(found) < 1e-10
    # The nearest point is not unique there, but its distance is.
    distances = [np.sum(rho[0][:, None, None] * (slices - aux) ** 2) for aux in (found, expected)]
    assert distances[0] == pytest.approx(distances[1], rel=1e-9)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("R", "J"), [(3, 8), (10, 30)])
def test_a_component_that_is_zero_stays_zero(R, J, dtype, careful_sweeps):
    problem = problem_for([Parafac2(), TemporalSmoothness(1.0)], R, 4, J, dtype)
    B, G, N, C = draw(np.random.default_rng(1), 1, R, 4, J, dtype)
    for array in (B, G, C):
        array[:, 1] = 0.0
    N[0, 1, :] = N[0, :, 1] = 0.0
    block, plain = pattern_block(B.copy(), problem, replace(Settings(), inner=INNER)), Plain(B[0], problem)
    block.update(Given(np.arange(1), G, N, C, np.ones(1)))
    block.carry(np.arange(1), *stay(1, R))
    assert not careful_sweeps
    for array in (block.B, block.arrays.S, block.arrays.Y):
        assert not array[0, 1].any()
    plain.update(G[0], N[0], C[0], slice_weights(slice_traces(N, C), N.shape[1], np.ones(1), 0.01)[0])
    compare(block, plain, 0, 1e-10 if dtype == "float64" else 1e-4)


@pytest.mark.parametrize("terms", [[Parafac2()], [Parafac2(), NonNegative()]])
def test_stiffen_keeps_auxiliaries_and_divides_duals(terms):
    problem = problem_for(terms, 3, 4, 8)
    B, G, N, C = draw(np.random.default_rng(2), 2, 3, 4, 8)
    block = pattern_block(B, problem, Settings())
    block.update(Given(np.arange(2), G, N, C, np.ones(2)))
    block.carry(np.arange(2), *stay(2, 3))
    aux, dual = auxiliaries_and_duals(block)
    aux, dual = aux.copy(), dual.copy()
    assert np.abs(dual).max() > 0.1
    block.stiffen(1, 2.0)
    new_aux, new_dual = auxiliaries_and_duals(block)
    np.testing.assert_array_equal(new_aux, aux)
    np.testing.assert_allclose(new_dual[:, 0], dual[:, 0], rtol=0, atol=1e-14)
    np.testing.assert_allclose(new_dual[:, 1], dual[:, 1] / 2.0, rtol=0, atol=1e-14)


def auxiliaries_and_duals(block):
    """Of all split terms, stacked (term, start, R, K, J)."""
    if isinstance(block, FusedPatterns):
        return block.arrays.Y[None], block.arrays.S[None] - block.arrays.Y[None]
    return np.stack(block.aux), np.stack(block.dual)


def test_static_patterns_are_one_least_squares_problem():
    problem = problem_for([Static(), Ridge(0.25)], 3, 4, 8)
    B, G, N, C = draw(np.random.default_rng(4), 2, 3, 4, 8)
    block = pattern_block(B, problem, Settings())
    block.update(Given(np.arange(2), G, N, C, np.ones(2)))
    for i in range(2):
        system = sum(np.outer(C[i, :, k], C[i, :, k]) * N[i] for k in range(4)) + 4 * 0.25 * np.eye(3)
        pattern = np.linalg.solve(system, sum(C[i, :, k, None] * G[i, :, k] for k in range(4)))
        assert_close(block.B[i], np.broadcast_to(pattern[:, None], (3, 4, 8)), 1e-12)


def test_split_terms_reach_what_absorbed_ones_solve_exactly():
    """Two ways to the same minimum: a smoothness with an auxiliary, and one inside the least squares."""
    B, G, N, C = draw(np.random.default_rng(6), 1, 3, 4, 8)
    terms, settings = (
        [TemporalSmoothness(0.5, epsilon=0.1)],
        replace(Settings.paper(), inner=2000, inner_tol=1e-12),
    )
    absorbed = problem_for(terms, 3, 4, 8)
    split = build_problem(absorbed.data, 3, ([], terms, []), absorb=False)
    exact, iterated = (
        pattern_block(B.copy(), absorbed, Settings()),
        pattern_block(B.copy(), split, settings),
    )
    assert isinstance(iterated, SplitPatterns)
    for block in (exact, iterated):
        block.update(Given(np.arange(1), G, N, C, np.ones(1)))
    assert_close(iterated.B, exact.B, 1e-8)


@pytest.mark.parametrize(
    ("terms", "absorb", "kind"),
    [
        ([Parafac2(), TemporalSmoothness(1.0)], True, FusedPatterns),
        ([TemporalSmoothness(1.0)], True, FusedPatterns),
        ([Parafac2(), TemporalSmoothness(1.0)], False, SplitPatterns),
        ([Parafac2(), NonNegative()], True, FusedPatterns),
        ([SoftParafac2(1.0), NonNegative(), Ridge(1.0)], True, FusedPatterns),
        ([SoftParafac2(1.0), Parafac2()], True, SplitPatterns),
        ([SoftParafac2(1.0), SoftParafac2(2.0)], True, SplitPatterns),
        ([NonNegative(), NonNegative()], True, SplitPatterns),
        ([SoftParafac2(1.0)], False, SplitPatterns),
        ([Static(), Ridge(1.0)], True, StaticPatterns),
        ([Static(), Parafac2()], True, SplitPatterns),
    ],
)
def test_the_block_fits_the_terms(terms, absorb, kind):
    data = DenseData(np.ones((2, 4, 8)), 1.0)
    problem = build_problem(data, 2, ([], terms, []), absorb=absorb)
    settings = Settings() if absorb else Settings.paper()
    assert type(pattern_block(np.ones((1, 2, 4, 8)), problem, settings)) is kind


def test_a_slice_without_strength_keeps_some_weight():
    N = np.array([[[2.0, 0.5], [0.5, 1.0]]])
    C = np.array([[[1.0, 0.0, 3.0], [2.0, 0.0, 0.0]]])
    trace = np.array([2.0 * 1 + 1.0 * 4, 0.0, 2.0 * 9])
    expected = 5.0 * np.maximum(trace, 0.01 * trace.mean()) / 2
    np.testing.assert_allclose(
        slice_weights(slice_traces(N, C), N.shape[1], np.array([5.0]), 0.01), [expected], rtol=1e-14
    )
