"""The same problem in the solver's units, with its terms sorted by how they are treated."""

import numpy as np
import pytest

from tparafac2.data import DenseData
from tparafac2.penalties import NonNegative, Parafac2, Ridge, SoftParafac2, Static, TemporalSmoothness
from tparafac2.solver import Settings, build_problem
from tparafac2.solver.problem import Scaled
from tparafac2.solver.run import evaluate

K, I, J, R = 4, 6, 5, 2


@pytest.fixture
def data():
    return DenseData.from_slices(50.0 * np.random.default_rng(0).standard_normal((K, I, J)))


def test_the_unit_makes_factors_of_the_solver_times_unit_those_of_the_user(data):
    three = build_problem(data, R, ([], [], []))
    two = build_problem(data, R, ([], [], []), fixed_strengths=True)
    assert three.unit**3 == pytest.approx(data.scale, rel=1e-14)
    assert two.unit**2 == pytest.approx(data.scale, rel=1e-14)


@pytest.mark.parametrize("size", [1.0, 1e6, 1e8])
def test_the_squared_error_of_components_that_cancel_each_other(data, size):
    """Products of the factors are then as large as size^4, and what they leave together is not."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(I), rng.standard_normal((K, J))
    A, B = size * np.stack([a, a], axis=1), size * np.stack([b, -b], axis=2)
    A[:, 1] += rng.standard_normal(I)
    C = np.ones((K, R))
    error = np.square(data.values - np.einsum("ir,kjr->ikj", A, B)).sum()
    assert evaluate(build_problem(data, R, ([], [], [])), A, B, C)[0] == pytest.approx(error, rel=1e-7)


@pytest.mark.parametrize("term", [Ridge(3.0), TemporalSmoothness(2.0, 1e-3)])
def test_values_are_the_users_divided_by_the_squared_norm(term):
    x = np.random.default_rng(1).standard_normal((K, J, R))
    scaled = Scaled(term, unit=7.0, norm=40.0)
    assert scaled.value(x) == pytest.approx(term.value(7.0 * x) / 40.0**2, rel=1e-13)
    assert (scaled.degree, scaled.exact) == (term.degree, term.exact)


@pytest.mark.parametrize("term", [Ridge(3.0), TemporalSmoothness(2.0, 1e-3), Parafac2(), Static()])
def test_a_scaled_prox_minimises_the_scaled_value(term):
    """In the user's units: value(x) / norm^2 + rho/2 ||x/unit - v||^2 is the prox with rho norm^2/unit^2."""
    rng = np.random.default_rng(2)
    v, rho = rng.standard_normal((K, J, R)), rng.uniform(0.5, 2.0, K)
    found, state = Scaled(term, unit=7.0, norm=40.0).prox(v, rho)
    expected, theirs = term.prox(7.0 * v, rho * (40.0 / 7.0) ** 2)
    np.testing.assert_allclose(7.0 * found, expected, rtol=1e-12)
    np.testing.assert_equal(state, theirs)


def test_absorbed_bands_have_the_value_of_the_terms(data):
    weights = tuple(np.random.default_rng(2).uniform(0.1, 3.0, K - 1))
    terms = [TemporalSmoothness(2.0, 1e-2, weights, closing=0.7), Ridge(0.3)]
    problem = build_problem(data, R, ([], terms, []))
    x = np.random.default_rng(3).standard_normal((K, J, R))
    own, links = problem.quadratics
    bands = np.einsum("k,kjr->", own, x**2)
    bands += np.einsum("rk,kjr->", links[0], (np.roll(x, -1, axis=0) - x) ** 2)
    assert not problem.b.splits
    assert bands == pytest.approx(sum(term.value(x) for term in problem.b.everything), rel=1e-12)


def test_the_paper_absorbs_norms_but_splits_coupling(data):
    terms = [Ridge(0.3)], [Parafac2(), TemporalSmoothness(2.0)], [Ridge(0.2), NonNegative()]
    problem = build_problem(data, R, terms, absorb=False)
    kinds = [[type(term.penalty) for term in mode.splits] for mode in (problem.a, problem.b, problem.c)]
    assert kinds == [[], [Parafac2, TemporalSmoothness], [NonNegative]]
    assert not problem.b.diagonal.any()
    assert problem.c.ridge == pytest.approx(0.2 * problem.unit**2 / data.scale**2)


def test_coupling_of_loadings_is_never_absorbed(data):
    problem = build_problem(data, R, ([TemporalSmoothness(1.0)], [], []))
    assert problem.a.splits[0].penalty == TemporalSmoothness(1.0)
    assert problem.a.ridge == 0.0


def test_questions_a_problem_answers(data):
    static = build_problem(data, R, ([], [Static(), Ridge(1.0)], []))
    assert static.static
    evolving = build_problem(data, R, ([], [Parafac2(), TemporalSmoothness(1.0)], [NonNegative()]))
    assert evolving.fused
    assert not evolving.static
    assert evolving.c.only("nonnegative")
    assert not evolving.b.only(NonNegative)
    both = build_problem(data, R, ([], [Parafac2(), NonNegative()], []))
    assert both.fused


def test_a_constraint_that_gives_way_is_absorbed_and_scales_along(data):
    terms = [SoftParafac2(2.0), TemporalSmoothness(1.0)]
    soft = build_problem(data, R, ([], terms, []))
    assert soft.fused
    assert not soft.b.splits
    assert soft.b.scalable
    np.testing.assert_allclose(soft.b.soft, 2.0 * (soft.unit / data.scale) ** 2)
    paper = build_problem(data, R, ([], terms, []), absorb=False)
    assert paper.b.soft is None
    assert not paper.b.scalable
    assert build_problem(data, R, ([], [SoftParafac2(0.0)], [])).b.soft is None


def test_the_objective_of_given_factors_is_the_users(data):
    rng = np.random.default_rng(4)
    A, B, C = rng.standard_normal((I, R)), rng.standard_normal((K, J, R)), rng.random((K, R))
    smooth = TemporalSmoothness(5.0, 1e-3)
    problem = build_problem(data, R, ([Ridge(0.4)], [smooth], [Ridge(0.2), NonNegative()]))
    objective, sse = evaluate(problem, *(factor / problem.unit for factor in (A, B, C)))
    X = data.scale * data.values.transpose(1, 0, 2)
    expected = np.sum((X - np.einsum("ir,kr,kjr->kij", A, C, B)) ** 2)
    assert sse * data.scale**2 == pytest.approx(expected, rel=1e-12)
    expected += 0.4 * np.sum(A**2) + smooth.value(B) + 0.2 * np.sum(C**2)
    assert objective * data.scale**2 == pytest.approx(expected, rel=1e-12)


def test_fixed_strengths_cost_nothing(data):
    rng = np.random.default_rng(5)
    A, B = rng.standard_normal((I, R)), rng.standard_normal((K, J, R))
    problem = build_problem(data, R, ([Ridge(0.4)], [], [Ridge(9.0)]), fixed_strengths=True)
    objective, sse = evaluate(problem, A, B, np.ones((K, R)))
    assert objective - sse == pytest.approx(0.4 * np.sum((problem.unit * A) ** 2) / data.scale**2, rel=1e-9)


def test_settings_of_the_paper_add_nothing():
    paper = Settings.paper(max_iter=7, tol=1e-3, feasibility_tol=1e-2)
    assert (paper.max_iter, paper.tol, paper.feasibility_tol) == (7, 1e-3, 1e-2)
    assert paper.weight == 1.0
    assert paper.inner_tol > 0
    assert not any((paper.adapt_weight, paper.absorb, paper.balance, paper.momentum))
