"""Exact updates from what was observed, against dense solves of every column by itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tparafac2.data import DenseData, ObservedData, couplings, take_in
from tparafac2.penalties import NonNegative, Parafac2, Ridge, SoftParafac2, Static, TemporalSmoothness
from tparafac2.solver import Settings, Start, build_problem, solve
from tparafac2.solver.kernels import Quadratics, solve_quadratic, solve_quadratic_observed
from tparafac2.solver.run import evaluate
from tparafac2.solver.views import Patterns, view_of

pytestmark = pytest.mark.slow


class ColumnByColumn(ObservedData):
    """The same data without a word of what their columns share."""

    seen_by_slice = False


def pack(H):
    """(K, J, R, R) to (R (R + 1) / 2, K, J)."""
    first, second = np.triu_indices(H.shape[-1])
    return np.ascontiguousarray(H[..., first, second].transpose(2, 0, 1))


def quadratics(rng, R, K, closing):
    """Links of each component's own; those of the last slice to the first are `closing` times as strong."""
    links = rng.uniform(0.1, 2.0, (1, R, K))
    links[..., -1] *= closing
    return Quadratics(rng.uniform(0.1, 1.0, K), links)


def dense_column(F, H, C, half_rho, quad, joined):
    """The system of one column, all slices at once; F is (R, K), H (K, R, R), joined (K,)."""
    R, K = F.shape
    system = np.zeros((K, R, K, R))
    for k in range(K):
        system[k, :, k] = np.outer(C[:, k], C[:, k]) * H[k] + half_rho[k] * np.eye(R)
        system[k, :, k] += quad.own[k] * np.eye(R)
    for k, other in [*((k, k + 1) for k in range(K - 1)), (K - 1, 0)]:
        weight = np.diag(quad.links[0, :, k] * joined[k])
        for one, two in ((k, other), (other, k)):
            system[one, :, one] += weight
            system[one, :, two] -= weight
    return np.linalg.solve(system.reshape(K * R, K * R), F.T.reshape(-1)).reshape(K, R).T


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    R=st.integers(1, 5),
    K=st.integers(1, 6),
    J=st.sampled_from([1, 2, 7, 33]),
    closing=st.sampled_from([0.0, 0.5, 50.0]),
    holes=st.booleans(),
)
def test_every_column_has_its_own_system(seed, R, K, J, closing, holes):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((6, R))
    mask = rng.random((K, J, 6)) < 0.6
    H = np.einsum("kji,ir,is->kjrs", mask, A, A)
    F, C = rng.standard_normal((R, K, J)), rng.uniform(0.0, 2.0, (R, K))
    half_rho, quad = rng.uniform(0.0, 1.0, K), quadratics(rng, R, K, closing)
    present = rng.random((K, J)) < 0.8 if holes else None
    joined = couplings(present, rng.random((K, J)) < 0.5, 100.0)
    B = np.full((R, K, J), 7.0)
    solve_quadratic_observed(B, F, pack(H), C, half_rho, quad, joined)
    for j in range(J):
        expected = dense_column(F[:, :, j], H[:, j], C, half_rho, quad, joined[:, j])
        np.testing.assert_allclose(B[:, :, j], expected, rtol=0, atol=1e-8 * max(1, np.abs(expected).max()))


def test_nothing_missing_is_the_common_solve():
    rng = np.random.default_rng(0)
    R, K, J = 3, 5, 20
    A = rng.standard_normal((6, R))
    F, C = rng.standard_normal((R, K, J)), rng.uniform(0.0, 2.0, (R, K))
    half_rho, quad = rng.uniform(0.0, 1.0, K), quadratics(rng, R, K, 0.3)
    H = np.broadcast_to(A.T @ A, (K, J, R, R))
    ours, common = np.zeros((R, K, J)), np.zeros((R, K, J))
    solve_quadratic_observed(ours, F, pack(H), C, half_rho, quad, np.ones((K, J)))
    solve_quadratic(common, F, (A.T @ A)[None], C, half_rho, quad)
    np.testing.assert_allclose(ours, common, atol=1e-12)


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), R=st.integers(1, 5), closing=st.sampled_from([0.0, 0.5]))
def test_columns_that_miss_the_same_rows_share_the_system_of_their_slice(seed, R, closing):
    rng = np.random.default_rng(seed)
    K, J = rng.integers(1, 7), rng.integers(1, 40)
    A, seen = rng.standard_normal((6, R)), rng.random((K, 6)) < 0.7
    N = np.einsum("ki,ir,is->krs", seen, A, A)
    F, C = rng.standard_normal((R, K, J)), rng.uniform(0.0, 2.0, (R, K))
    half_rho, quad = rng.uniform(0.0, 1.0, K), quadratics(rng, R, K, closing)
    H = pack(np.broadcast_to(N[:, None], (K, J, R, R)))
    own, shared = np.zeros((R, K, J)), np.zeros((R, K, J))
    solve_quadratic_observed(own, F, H, C, half_rho, quad, np.ones((K, J)))
    solve_quadratic(shared, F, N, C, half_rho, quad)
    np.testing.assert_allclose(shared, own, rtol=0, atol=1e-9 * max(1, np.abs(own).max()))


# --- whole solves -------------------------------------------------------------------------------------------

K, I, J, R = 6, 14, 11, 2
MODELS = {
    "tPARAFAC2": (([Ridge(0.1)], [TemporalSmoothness(5.0), Parafac2()], [Ridge(0.1), NonNegative()]), False),
    "cyclic": (
        ([Ridge(0.1)], [TemporalSmoothness(5.0, closing=1.0), Parafac2()], [Ridge(0.1), NonNegative()]),
        False,
    ),
    "PARAFAC2": (([], [Parafac2()], [NonNegative()]), False),
    "tCMF": (([Ridge(0.1)], [TemporalSmoothness(5.0)], []), True),
    "NNtCMF": (([Ridge(0.1), NonNegative()], [TemporalSmoothness(5.0)], []), True),
    "CP": (([Ridge(0.1)], [Static(), Ridge(0.1)], [Ridge(0.1)]), False),
    "split": (
        ([Ridge(0.1)], [TemporalSmoothness(5.0), Parafac2(), NonNegative()], [Ridge(0.1), NonNegative()]),
        False,
    ),
}


@pytest.fixture(scope="module")
def dense():
    rng = np.random.default_rng(5)
    A, C = rng.random((I, R)), 1.0 + rng.random((K, R))
    B = np.linalg.qr(rng.standard_normal((K, J, R)))[0] + 0.3
    X = np.einsum("ir,kr,kjr->kij", A, C, B)
    return take_in(X + 0.1 * rng.standard_normal(X.shape)).data


def with_holes(dense, share, kind, seed=0):
    values = np.array(dense.values)
    values[np.random.default_rng(seed).random(values.shape) < share] = np.nan
    norm = np.sqrt(np.nansum(values**2))
    return kind(values / norm, dense.scale * norm)


def starts(n=4, fixed=False):
    rng = np.random.default_rng(1)
    return [
        Start(rng.random((I, R)), rng.random((K, J, R)), np.ones((K, R)) if fixed else rng.random((K, R)))
        for _ in range(n)
    ]


def fit(data, name, settings=None):
    penalties, fixed = MODELS[name]
    problem = build_problem(data, R, penalties, fixed_strengths=fixed)
    runs = solve(problem, starts(fixed=fixed), settings or Settings())
    return problem, runs


def filled_in(data, run, terms, settings, fixed=False):
    """Go on from where a run ended, to data whose missing entries are as it says."""
    model = np.einsum("ir,kr,kjr->ikj", run.A, run.C, run.B)
    whole = DenseData(np.where(np.isnan(data.values), model, data.values), data.scale)
    problem = build_problem(whole, R, terms, fixed_strengths=fixed)
    return solve(problem, [Start(run.A, run.B, run.C)], settings)[0]


@pytest.mark.parametrize("kind", [ObservedData, ColumnByColumn])
@pytest.mark.parametrize("name", MODELS)
def test_nothing_missing_is_the_complete_path(dense, name, kind):
    _, complete = fit(dense, name)
    _, ours = fit(kind(np.array(dense.values), dense.scale), name)
    best, best_complete = (min(run.objective for run in runs) for runs in (ours, complete))
    assert best == pytest.approx(best_complete, rel=1e-7)


@pytest.mark.parametrize("name", MODELS)
def test_what_the_model_fills_in_changes_nothing(dense, name):
    settings, data = Settings(max_iter=6000, tol=1e-10), with_holes(dense, 0.25, ObservedData)
    _, runs = fit(data, name, settings)
    run = min((run for run in runs if run.status.converged), key=lambda run: run.objective)
    again = filled_in(data, run, MODELS[name][0], settings, fixed=MODELS[name][1])
    assert again.objective == pytest.approx(run.objective, rel=1e-6)


def test_the_objective_counts_what_was_observed_only(dense):
    data = with_holes(dense, 0.4, ObservedData)
    problem, runs = fit(data, "tPARAFAC2")
    run = runs[0]
    model = np.einsum("ir,kr,kjr->ikj", run.A, run.C, run.B)
    assert run.sse == pytest.approx(float(np.nansum((data.values - model) ** 2)), rel=1e-10)
    assert run.trace.rows[-1, 2] == pytest.approx(evaluate(problem, run.A, run.B, run.C)[0], rel=1e-6)


def test_what_is_hidden_does_not_matter(dense):
    plain = with_holes(dense, 0.3, ObservedData)
    kept = ~np.isnan(plain.values)
    assert 0.6 < plain.observed_share < 0.8
    _, runs = fit(plain, "tPARAFAC2")
    loud = np.where(kept, plain.values, np.nan)
    _, again = fit(ObservedData(loud, plain.scale), "tPARAFAC2")
    assert [run.objective for run in runs] == [run.objective for run in again]


def test_a_slice_of_columns_nobody_saw_is_bridged(dense):
    values = np.array(dense.values)
    values[:, 2, 3] = np.nan
    _, runs = fit(ObservedData(values, dense.scale), "tCMF", Settings(max_iter=5000, tol=1e-12))
    B = min(runs, key=lambda run: run.objective).B
    # Without data there the smoothest patterns are half way (epsilon pulls by a millionth).
    np.testing.assert_allclose(B[2, 3], (B[1, 3] + B[3, 3]) / 2, rtol=1e-4, atol=1e-6)


def test_columns_that_are_not_there_stay_zero_and_pull_at_nobody(dense):
    values = np.array(dense.values)
    present = np.ones((K, J), dtype=bool)
    present[3:, 4] = present[:2, 5] = present[2, 6] = False
    values[:, ~present] = np.nan
    data = ObservedData(values, dense.scale, present)
    problem = build_problem(data, R, MODELS["tPARAFAC2"][0])
    begin = [start._replace(B=start.B * present[:, :, None]) for start in starts()]
    run = min(solve(problem, begin, Settings()), key=lambda run: run.objective)
    assert np.all(run.B[~present] == 0)
    assert np.all(run.B[present] != 0)
    crosses = np.einsum("kjr,kjs->krs", run.B, run.B)
    np.testing.assert_allclose(crosses, np.broadcast_to(crosses[0], crosses.shape), atol=1e-10)
    steps = np.diff(run.B, axis=0) ** 2 * (present[1:] & present[:-1])[:, :, None]
    smooth = MODELS["tPARAFAC2"][0][1][0]
    by_hand = (
        smooth.strength * (steps.sum() + smooth.epsilon * np.sum(run.B**2)) * (problem.unit / data.scale) ** 2
    )
    others = sum(term.value(run.A) for term in problem.a.everything)
    others += problem.c.everything[0].value(run.C)
    assert run.objective == pytest.approx(run.sse + by_hand + others, rel=1e-9)
    assert run.trace.rows[-1, 2] == pytest.approx(run.objective, rel=1e-5)


@pytest.fixture(scope="module")
def late(dense):
    """Columns 0 to 3 are seen from the fourth slice on."""
    values = np.array(dense.values)
    values[:, :3, :4] = np.nan
    return values


SOFT = ([Ridge(0.1)], [TemporalSmoothness(5.0), SoftParafac2(50.0)], [Ridge(0.1), NonNegative()])


@pytest.mark.parametrize("terms", [MODELS["tPARAFAC2"][0], SOFT], ids=["hard", "soft"])
def test_unseen_columns_obey_the_constraint(dense, late, terms):
    """The objective is that of the loop at its end, and the constraint is over all columns."""
    problem = build_problem(ObservedData(late, dense.scale), R, terms, tie=100.0)
    runs = solve(problem, starts(), Settings(max_iter=6000, tol=1e-11))
    run = min((run for run in runs if run.status.converged), key=lambda run: run.objective)
    assert run.trace.rows[-1, 2] == pytest.approx(run.objective, rel=1e-6)
    if problem.b.asks_for("parafac2"):
        assert Parafac2().violation(run.B) < 1e-10


def test_views_agree_where_nothing_is_missing(dense):
    rng = np.random.default_rng(3)
    n = 2
    At, B, C = rng.random((n, R, I)), rng.random((n, R, K, J)), rng.random((n, R, K))
    W = B * C[..., None]
    patterns = Patterns(B, np.arange(n))
    found = []
    incomplete = [kind(dense.values, dense.scale) for kind in (ObservedData, ColumnByColumn)]
    for data in (dense, *incomplete):
        view = view_of(data)
        G, observed = view.columns(np.arange(len(B)), At, np.empty_like(B))
        summary, systems = view.summarise(patterns, G, view.row_gram(At), observed)
        F, H = view.rows(C, W, summary.gram)
        found.append((G, summary.steps, systems, F, np.broadcast_to(H, (n, I, R, R)), view.sse(At, W, F, H)))
    for other in found[1:]:
        for ours, expected in zip(other, found[0], strict=True):
            np.testing.assert_allclose(ours, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("absorb", [True, False])
@pytest.mark.parametrize("name", MODELS)
def test_samples_not_taken_are_the_same_steps_by_slice_as_by_column(dense, name, absorb):
    values = np.array(dense.values)
    values[np.random.default_rng(0).random(values.shape[:2]) < 0.3] = np.nan
    found = []
    for kind, view in ((ObservedData, "SlicedView"), (ColumnByColumn, "ObservedView")):
        data = kind(values, dense.scale)
        assert type(view_of(data)).__name__ == view
        found.append(fit(data, name, Settings(max_iter=30, tol=0.0, absorb=absorb))[1])
    for ours, expected in zip(*found, strict=True):
        np.testing.assert_allclose(ours.trace.rows[:, 2], expected.trace.rows[:, 2], rtol=1e-8)
        np.testing.assert_allclose(ours.B, expected.B, atol=1e-6)


def test_columns_that_differ_or_are_coupled_have_systems_of_their_own(dense):
    values = np.array(dense.values)
    values[3, 2] = np.nan
    data = ObservedData(values)
    assert type(view_of(data, np.ones((K, J)))).__name__ == "ObservedView"
    values[4, 2, 1] = np.nan
    assert type(view_of(ObservedData(values))).__name__ == "ObservedView"


def test_complete_data_have_the_complete_view(dense):
    assert isinstance(dense, DenseData)
    assert type(view_of(dense)).__name__ == "View"


def test_patterns_that_nothing_holds_but_each_other_stay_finite():
    """A component without loadings, and changes without a norm beside them."""
    K, J, R = 4, 3, 2
    links = np.array([0.3, 1.0, 0.7, 0.0])
    quad = Quadratics(np.zeros(K), np.stack([[links, links]]))
    F, C = np.zeros((R, K, J)), np.ones((R, K))
    F[1] = 1.0
    N, joined = np.diag([0.0, 1.0]), np.ones((K, J))
    complete, observed = np.ones((R, K, J)), np.ones((R, K, J))
    solve_quadratic(complete, F.copy(), N[None], C, np.zeros(K), quad)
    H = pack(np.broadcast_to(N, (K, J, R, R)))
    solve_quadratic_observed(observed, F.copy(), H, C, np.zeros(K), quad, joined)
    for B in (complete, observed):
        np.testing.assert_allclose(B[0], 0.0, atol=1e-12)
        np.testing.assert_allclose(B[1], 1.0)


@pytest.mark.parametrize(
    "terms",
    [
        [Parafac2(), NonNegative()],
        [SoftParafac2(1e-3)],
        [SoftParafac2(1e-3), NonNegative()],
        [NonNegative()],
    ],
    ids=str,
)
@pytest.mark.parametrize("closing", [0.0, 1.0])
def test_whatever_draws_the_patterns_does_so_from_observations_too(terms, closing):
    """With nothing missing, systems of every column's own give the steps of the one system of all."""
    rng = np.random.default_rng(0)
    dense = DenseData.from_slices(rng.random((6, 9, 8)))
    smooth = TemporalSmoothness(1e-2, closing=closing)
    penalties = ([Ridge(1e-2)], [*terms, smooth], [Ridge(1e-2), NonNegative()])
    start = Start(rng.random((9, 3)), rng.random((6, 8, 3)), rng.random((6, 3)))
    runs = [
        solve(build_problem(data, 3, penalties), [start], Settings(max_iter=40, tol=0.0))[0]
        for data in (dense, *(kind(dense.values, dense.scale) for kind in (ObservedData, ColumnByColumn)))
    ]
    for run in runs[1:]:
        np.testing.assert_allclose(runs[0].trace.rows[:, 2], run.trace.rows[:, 2], rtol=1e-9)
        np.testing.assert_allclose(runs[0].B, run.B, atol=1e-7)
