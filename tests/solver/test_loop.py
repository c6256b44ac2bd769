"""The one loop: what it reports is true, what it gives back is feasible, and it ends for a stated reason."""

import numpy as np
import pytest

from tparafac2 import synthetic
from tparafac2.data import DenseData
from tparafac2.penalties import NonNegative, Parafac2, Ridge, Static, TemporalSmoothness, proximal
from tparafac2.solver import Settings, Start, Status, build_problem, solve
from tparafac2.solver.loop import Batch, Info

K, I, J, R = 6, 12, 9, 2
A_WEIGHT, B_WEIGHT, D_WEIGHT, EPSILON = 0.2, 5.0, 0.3, 1e-6
SMOOTH = TemporalSmoothness(B_WEIGHT, EPSILON)
# Terms on loadings, patterns and strengths, and whether strengths are fixed.
MODELS = {
    "CP": ([Ridge(A_WEIGHT)], [Static(), Ridge(B_WEIGHT)], [Ridge(D_WEIGHT)], False),
    "PARAFAC2": ([], [Parafac2()], [NonNegative()], False),
    "tPARAFAC2": ([Ridge(A_WEIGHT)], [Parafac2(), SMOOTH], [Ridge(D_WEIGHT), NonNegative()], False),
    "tCMF": ([Ridge(A_WEIGHT)], [SMOOTH], [], True),
    "NNtCMF": ([Ridge(A_WEIGHT), NonNegative()], [SMOOTH], [], True),
}
each_model = pytest.mark.parametrize("model", MODELS)


def draw_data(seed=0, noise=0.3):
    """Smoothly changing patterns, one strength that fades to nothing, and noise."""
    rng = np.random.default_rng(seed)
    A, C = rng.standard_normal((I, R)), 1.0 + rng.random((K, R))
    B = rng.standard_normal((J, R)) + 0.3 * np.cumsum(rng.standard_normal((K, J, R)), axis=0)
    C[:2, 0] = 0.0
    X = np.einsum("ir,kjr,kr->kij", A, B, C)
    return 10.0 * (X + noise * X.std() * rng.standard_normal(X.shape))


def draw_parafac2():
    """Data that obey the PARAFAC2 model exactly."""
    rng = np.random.default_rng(5)
    B = np.linalg.qr(rng.standard_normal((K, J, R)))[0] @ (np.eye(R) + 0.3)
    strengths = np.stack([np.linspace(1.0, 5.0, K), np.linspace(4.0, 2.0, K) ** 2], axis=1)
    return np.einsum("ir,kjr,kr->kij", rng.standard_normal((I, R)), B, strengths)


def problem_for(model, X=None, *, absorb=True, dtype="float64", rank=R):
    a, b, c, fixed = MODELS[model]
    data = DenseData.from_slices(draw_data() if X is None else X, dtype=dtype)
    return build_problem(data, rank, (a, b, c), fixed_strengths=fixed, absorb=absorb)


def draw_starts(problem, n, seed=1):
    rng = np.random.default_rng(seed)
    size = problem.rank ** (-1 / 3) * 0.2
    starts = []
    for _ in range(n):
        A, B, C = (
            size * rng.random(shape) for shape in ((I, problem.rank), (K, J, problem.rank), (K, problem.rank))
        )
        starts.append(Start(A, B, np.ones_like(C) if problem.fixed_strengths else C))
    return starts


def objective_of(model, X, A, B, C):
    """The model's objective in the user's units, from nothing but the factors."""
    sse = np.sum((X - np.einsum("ir,kjr,kr->kij", A, B, C)) ** 2)
    changes = np.sum(np.diff(B, axis=0) ** 2) + EPSILON * np.sum(B**2)
    a, b, c = A_WEIGHT * np.sum(A**2), B_WEIGHT * changes, D_WEIGHT * np.sum(C**2)
    return {
        "CP": sse + a + B_WEIGHT * np.sum(B**2) + c,
        "PARAFAC2": sse,
        "tPARAFAC2": sse + a + b + c,
        "tCMF": sse + a + b,
        "NNtCMF": sse + a + b,
    }[model]


def users_factors(problem, run):
    """Factors of a run in the user's units."""
    return (
        run.A * problem.unit,
        run.B * problem.unit,
        run.C * (1 if problem.fixed_strengths else problem.unit),
    )


@pytest.fixture(scope="module")
def runs():
    """Four starts of every model, run once for all tests."""
    found = {}
    for model in MODELS:
        problem = problem_for(model)
        found[model] = problem, solve(problem, draw_starts(problem, 4), Settings())
    return found


class TestWhatIsReported:
    @each_model
    def test_the_objective_is_that_of_the_factors_given_back(self, model, runs):
        problem, found = runs[model]
        X = draw_data()
        for run in found:
            factors = users_factors(problem, run)
            expected = objective_of(model, X, *factors)
            assert run.objective * problem.data.scale**2 == pytest.approx(expected, rel=1e-9)
            residual = X - np.einsum("ir,kjr,kr->kij", *factors)
            assert run.sse * problem.data.scale**2 == pytest.approx(np.sum(residual**2), rel=1e-9)

    @each_model
    def test_the_trace_ends_at_that_objective(self, model, runs):
        _, found = runs[model]
        for run in found:
            trace = run.trace.table()
            # Between the two lies only the projection onto the constraint, by the gap.
            assert trace["objective"][-1] == pytest.approx(run.objective, rel=1e-4)
            assert run.gaps == tuple(trace[name][-1] for name in ("gap_a", "gap_b", "gap_c"))

    @each_model
    def test_no_feasible_point_on_the_way_was_better(self, model, runs):
        _, found = runs[model]
        for run in found:
            trace = run.trace.table()
            gaps = np.max([trace[name] for name in ("gap_a", "gap_b", "gap_c")], axis=0)
            feasible = trace["objective"][gaps < 1e-5]
            assert feasible.size > 1
            assert trace["objective"][-1] <= feasible.min() * (1 + 1e-5)

    @each_model
    def test_the_trace_counts_iterations_and_seconds(self, model, runs):
        _, found = runs[model]
        for run in found:
            trace = run.trace.table()
            np.testing.assert_array_equal(trace["iteration"], np.arange(1, run.n_iter + 1))
            assert (np.diff(trace["seconds"]) >= 0).all()

    def test_blocks_that_are_solved_exactly_never_raise_the_objective(self):
        """Without split terms and momentum this is plain block descent."""
        for model in ("CP", "tCMF", "NNtCMF"):
            problem = problem_for(model)
            for run in solve(problem, draw_starts(problem, 2), Settings(momentum=False, max_iter=60)):
                objective = run.trace.table()["objective"]
                assert (np.diff(objective) <= 1e-12 * objective[:-1]).all()

    def test_an_exact_fit_is_seen_as_one(self):
        """The sum of squares is then a difference of large numbers, and has to be computed otherwise."""
        problem = problem_for("PARAFAC2", draw_parafac2())
        runs = solve(problem, draw_starts(problem, 4), Settings(tol=1e-10, feasibility_tol=1e-10))
        best = min(runs, key=lambda run: run.objective)
        assert 0.0 <= best.objective < 1e-13
        objective = best.trace.table()["objective"]
        assert (objective >= 0).all()
        assert objective[-1] == pytest.approx(best.objective, rel=0.1)


class TestWhatIsGivenBack:
    @each_model
    def test_starts_agree(self, model, runs):
        """The easy problem has one minimum: a solver that stops short of it is found out here."""
        _, found = runs[model]
        objectives = [run.objective for run in found]
        assert all(run.status is Status.CONVERGED for run in found)
        assert max(objectives) == pytest.approx(min(objectives), rel=1e-4)

    @each_model
    @pytest.mark.parametrize("algorithm", ["fast", "paper"])
    def test_constraints_hold_exactly(self, model, algorithm):
        settings = Settings(max_iter=60) if algorithm == "fast" else Settings.paper(max_iter=60)
        problem = problem_for(model, absorb=settings.absorb)
        for run in solve(problem, draw_starts(problem, 2), settings):
            if "PARAFAC2" in model:
                assert (run.C >= 0).all()
                assert proximal.cross_product_spread(run.B) < 1e-12
            if model == "NNtCMF":
                assert (run.A >= 0).all()
            if model == "CP":
                np.testing.assert_array_equal(run.B, np.broadcast_to(run.B[0], run.B.shape))
            if problem.fixed_strengths:
                np.testing.assert_array_equal(run.C, 1.0)

    @each_model
    def test_absorbed_or_split_the_minimum_is_the_same(self, model, runs):
        problem = problem_for(model, absorb=False)
        split = solve(problem, draw_starts(problem, 2), Settings(absorb=False))
        best = min(run.objective for run in runs[model][1])
        assert min(run.objective for run in split) == pytest.approx(best, rel=1e-6)

    @each_model
    @pytest.mark.slow
    def test_single_precision_gives_the_same_objective(self, model, runs):
        problem = problem_for(model, dtype="float32")
        found = solve(problem, draw_starts(problem, 4), Settings(tol=1e-6, feasibility_tol=1e-4))
        best = min(run.objective for run in runs[model][1])
        assert min(run.objective for run in found) == pytest.approx(best, rel=1e-4)

    @each_model
    @pytest.mark.parametrize("size", [1e-150, 1e150])
    def test_the_size_of_the_data_does_not_matter(self, model, size):
        """Without penalties: with them, lambdas would have to change as well."""
        a, b, c, fixed = MODELS[model]
        constraints = [[term for term in terms if term.degree == 0] for terms in (a, b, c)]
        objectives = []
        for X in (draw_data(), draw_data() * size):
            problem = build_problem(DenseData.from_slices(X), R, tuple(constraints), fixed_strengths=fixed)
            (run,) = solve(problem, draw_starts(problem, 1), Settings(max_iter=40))
            objectives.append(run.objective)
        assert objectives[1] == pytest.approx(objectives[0], rel=1e-9)

    def test_a_start_does_not_depend_on_its_company(self):
        problem = problem_for("tPARAFAC2")
        starts = draw_starts(problem, 3)
        settings = Settings(max_iter=50)
        together = solve(problem, starts, settings)
        for start, run in zip(starts, together, strict=True):
            (alone,) = solve(problem, [start], settings)
            assert alone.objective == pytest.approx(run.objective, rel=1e-9)
            assert alone.n_iter == run.n_iter

    def test_the_starts_are_not_written_to(self):
        problem = problem_for("tPARAFAC2")
        starts = draw_starts(problem, 2)
        copies = [[factor.copy() for factor in start] for start in starts]
        solve(problem, starts, Settings(max_iter=3))
        for start, copy in zip(starts, copies, strict=True):
            for factor, before in zip(start, copy, strict=True):
                np.testing.assert_array_equal(factor, before)


class TestHowItEnds:
    def test_converged(self, runs):
        for _, found in runs.values():
            assert {run.status for run in found} == {Status.CONVERGED}
            assert all(max(run.gaps) < 1e-5 for run in found)

    def test_at_max_iter_with_constraints_met(self):
        problem = problem_for("CP")
        found = solve(problem, draw_starts(problem, 2), Settings(max_iter=4))
        assert [(run.status, run.n_iter) for run in found] == [(Status.MAX_ITER, 4)] * 2

    def test_at_max_iter_with_a_constraint_not_met(self):
        problem = problem_for("PARAFAC2")
        found = solve(problem, draw_starts(problem, 2), Settings(max_iter=3))
        assert [(run.status, run.n_iter) for run in found] == [(Status.INFEASIBLE, 3)] * 2
        assert all(max(run.gaps) > 1e-5 for run in found)

    def test_each_start_ends_by_itself(self):
        """One start begins at the minimum and is done long before the others."""
        problem = problem_for("tPARAFAC2")
        starts = draw_starts(problem, 2)
        (best,) = solve(problem, starts[:1], Settings(tol=1e-12, feasibility_tol=1e-8))
        found = solve(problem, [Start(best.A, best.B, best.C), starts[1]], Settings())
        assert found[0].n_iter < found[1].n_iter
        assert all(run.status is Status.CONVERGED for run in found)

    @pytest.mark.parametrize("broken", [np.nan, np.inf])
    def test_not_finite(self, broken):
        problem = problem_for("tPARAFAC2")
        batch = Batch(problem, draw_starts(problem, 3), Settings(window=2))
        for _ in range(3):
            batch.stop(batch.step())
        info = batch.step()
        info.objective[1] = broken
        batch.stop(info)
        assert batch.active.tolist() == [0, 2]
        assert batch.status[1] is Status.NOT_FINITE
        batch.stop(batch.step())  # the others go on
        batch.close(interrupted=False)
        assert batch.status[1] is Status.NOT_FINITE

    def test_factors_that_are_not_finite_are_never_the_best(self):
        problem = problem_for("tPARAFAC2")
        good, bad = draw_starts(problem, 2)
        bad.A[0, 0] = np.inf
        with np.errstate(all="ignore"):
            found = solve(problem, [good, bad], Settings())
        assert found[0].status is Status.CONVERGED
        assert found[1].status is Status.NOT_FINITE
        assert found[1].objective == np.inf

    def test_interrupted(self):
        problem = problem_for("tPARAFAC2")
        seen = []

        def watch(entry):
            seen.append(entry)
            return entry.iteration == 7

        found = solve(problem, draw_starts(problem, 2), Settings(), watch)
        assert [(run.status, run.n_iter) for run in found] == [(Status.INTERRUPTED, 7)] * 2
        for run in found:
            assert all(np.isfinite(factor).all() for factor in (run.A, run.B, run.C))
            assert np.isfinite(run.objective)
        assert [entry.iteration for entry in seen] == list(range(1, 8))
        np.testing.assert_allclose(
            [entry.info.objective[1] for entry in seen], found[1].trace.table()["objective"], rtol=1e-12
        )

    def test_a_start_that_converged_before_the_interruption_keeps_its_status(self):
        problem = problem_for("tPARAFAC2")
        starts = draw_starts(problem, 2)
        (best,) = solve(problem, starts[:1], Settings(tol=1e-12, feasibility_tol=1e-8))
        begin = [Start(best.A, best.B, best.C), starts[1]]
        alone = solve(problem, begin[:1], Settings())[0].n_iter
        found = solve(problem, begin, Settings(), lambda entry: entry.iteration == alone + 2)
        assert [run.status for run in found] == [Status.CONVERGED, Status.INTERRUPTED]


class TestVanishing:
    @pytest.mark.parametrize("model", ["tPARAFAC2", "tCMF", "NNtCMF", "CP"])
    def test_penalties_that_outweigh_the_data_leave_nothing(self, model):
        a, b, c, fixed = MODELS[model]
        heavy = [
            [
                Ridge(1e9) if isinstance(t, Ridge) else TemporalSmoothness(1e9, 1.0) if t is SMOOTH else t
                for t in terms
            ]
            for terms in (a, b, c)
        ]
        problem = build_problem(DenseData.from_slices(draw_data()), R, tuple(heavy), fixed_strengths=fixed)
        for run in solve(problem, draw_starts(problem, 2), Settings()):
            assert run.status is Status.VANISHED
            assert run.vanished == tuple(range(R))
            assert not run.A.any()
            assert not run.B.any()
            assert run.objective == pytest.approx(1.0, rel=1e-9)  # of the data all is left

    def test_one_component_too_many_becomes_exactly_zero(self):
        """One true component, two asked for, a penalty that makes the second not worth its cost."""
        rng = np.random.default_rng(0)
        X = np.einsum("i,j,k->kij", rng.random(I), rng.random(J), 1 + rng.random(K))
        terms = [Ridge(2.0)], [Parafac2(), TemporalSmoothness(2.0, 0.1)], [Ridge(2.0), NonNegative()]
        problem = build_problem(DenseData.from_slices(X), R, terms)
        for run in solve(problem, draw_starts(problem, 3), Settings()):
            assert run.status is Status.CONVERGED
            assert len(run.vanished) == 1
            gone = run.vanished[0]
            for factor in (run.A, run.B, run.C):
                assert not factor[..., gone].any()
                assert factor[..., 1 - gone].any()
                assert np.isfinite(factor).all()
            np.testing.assert_allclose(run.trace.rows[:, 2], run.trace.rows[:, 2])  # no NaN on the way

    def test_a_start_with_a_zero_component_keeps_it(self):
        problem = problem_for("tPARAFAC2")
        start = draw_starts(problem, 1)[0]
        for factor in start:
            factor[..., 0] = 0.0
        (run,) = solve(problem, [start], Settings())
        assert run.vanished == (0,)
        assert not any(factor[..., 0].any() for factor in (run.A, run.B, run.C))
        assert run.status is Status.CONVERGED
        (smaller,) = solve(
            problem_for("tPARAFAC2", rank=1), [Start(*(f[..., 1:] for f in start))], Settings()
        )
        assert run.objective == pytest.approx(smaller.objective, rel=1e-6)

    def test_the_others_go_on_as_fast_as_without_it(self):
        """Extrapolation pauses in the iteration in which a component vanishes, not for ever after."""
        data = DenseData.from_slices(synthetic.overlapping(1, n_times=8, n_rows=30, n_columns=20).X)
        terms = [Ridge(0.1)], [Parafac2(), TemporalSmoothness(10.0)], [Ridge(0.1), NonNegative()]
        rng = np.random.default_rng(0)
        start = Start(*(0.3 * rng.random((*shape, 3)) for shape in ((30,), (8, 20), (8,))))
        padded = Start(*(np.concatenate([f, np.zeros_like(f[..., :1])], axis=-1) for f in start))
        (without,) = solve(build_problem(data, 3, terms), [start], Settings())
        (with_it,) = solve(build_problem(data, 4, terms), [padded], Settings())
        assert with_it.vanished == (3,)
        assert with_it.objective == pytest.approx(without.objective, rel=1e-6)
        assert with_it.n_iter < 2 * without.n_iter


class TestStiffening:
    def test_a_gap_that_stalls_raises_the_weight_and_restarts_momentum(self):
        problem = problem_for("PARAFAC2")
        batch = Batch(problem, draw_starts(problem, 2), Settings(weight=2.0))
        one = np.ones(2)
        for _ in range(31):
            batch.step()
            duals = batch.patterns.arrays.S - batch.patterns.arrays.Y
            batch.stop(Info(one, 0.0 * one, np.array([0.5, 0.5 * 0.8**batch.iteration]), 0.0 * one))
        after = batch.patterns.arrays.S - batch.patterns.arrays.Y
        np.testing.assert_allclose(after[0], duals[0] / 2.0, rtol=0, atol=1e-14)
        np.testing.assert_array_equal(after[1], duals[1])
        assert np.abs(duals[0]).max() > 1e-6
        assert batch.weights.weight.tolist() == [4.0, 2.0]
        assert batch.momentum.age[0] == 1.0
        assert batch.momentum.age[1] > 1.0

    def test_data_that_violate_the_constraint_end_feasible(self):
        rng = np.random.default_rng(3)
        B = np.stack([rng.standard_normal((J, R)) @ np.diag([1.0, 1.0 + k]) for k in range(K)])
        X = np.einsum("ir,kjr,kr->kij", rng.standard_normal((I, R)), B, 1 + rng.random((K, R)))
        problem = problem_for("tPARAFAC2", X)
        for run in solve(problem, draw_starts(problem, 3), Settings()):
            assert run.status is Status.CONVERGED
            assert max(run.gaps) < 1e-5
