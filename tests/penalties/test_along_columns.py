import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear
from scipy.sparse import csr_array, random_array

from tparafac2.penalties import GeneralisedRidge, TotalVariation, check_penalty, laplacian
from tparafac2.penalties.columns import column_weights, columns_of

SETTINGS = settings(max_examples=40)
seeds = st.integers(0, 2**32 - 1)
shapes = st.one_of(
    st.tuples(st.integers(1, 8), st.integers(1, 3)),
    st.tuples(st.integers(1, 3), st.integers(1, 8), st.integers(1, 3)),
)


def draw(seed, shape):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape), rng.uniform(0.1, 10, shape[0])


def psd(n, seed=0, rank=None):
    root = np.random.default_rng(seed).standard_normal((n, rank or n))
    return root @ root.T


@pytest.mark.parametrize("shape", [(4, 6, 3), (6, 2), (1, 1), (3, 1, 2)])
@pytest.mark.parametrize("strength", [0.0, 0.4, 100.0])
def test_terms_along_columns_keep_the_laws(shape, strength):
    check_penalty(TotalVariation(strength), shape)
    n = shape[-2]
    check_penalty(GeneralisedRidge(psd(n), strength), shape)
    check_penalty(GeneralisedRidge(psd(n, rank=max(1, n - 2)), strength), shape)
    check_penalty(GeneralisedRidge(csr_array(psd(n)), strength), shape)


@SETTINGS
@given(seeds, shapes, st.floats(0, 5))
def test_least_variation_equals_the_dual_problem(seed, shape, strength):
    """The dual of total variation is least squares with bounds."""
    v, rho = draw(seed, shape)
    x, _ = TotalVariation(strength).prox(v, rho)
    for found, column, w in zip(columns_of(x), columns_of(v), column_weights(rho, v)):
        expected = column
        if len(column) > 1 and strength > 1e-9:
            steps = np.diff(np.eye(len(column)), axis=0)
            root = np.sqrt(w)
            dual = lsq_linear(
                steps.T / root[:, None], root * column, (-strength, strength), method="bvls", tol=1e-14
            )
            expected = column - steps.T @ dual.x / w
        np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("as_given", [np.asarray, csr_array])
def test_weights_that_are_nothing_beside_a_matrix_leave_a_solution(as_given):
    """The matrix alone is singular: it leaves columns free that are the same everywhere."""
    chain = GeneralisedRidge(as_given(laplacian([(0, 1), (1, 2)], 3).toarray()), 1.0)
    x, _ = chain.prox(np.array([[1.0], [2.0], [6.0]]), np.array([1e-30, 2e-30, 1e-30]))
    assert np.isfinite(x).all()
    assert chain.value(x) <= 1e-12


def test_long_columns_of_few_steps_become_flat():
    rng = np.random.default_rng(0)
    truth = np.repeat([0.0, 5.0, -2.0, 1.0], 250)
    v = (truth + 0.3 * rng.standard_normal(1000))[None, :, None]
    x, _ = TotalVariation(5.0).prox(v, np.ones(1))
    assert np.count_nonzero(np.abs(np.diff(x[0, :, 0])) > 1e-9) < 15
    assert np.abs(x[0, :, 0] - truth).mean() < 0.1
    assert x.sum() == pytest.approx(v.sum())  # what is taken from one entry is given to another


@SETTINGS
@given(seeds, shapes, st.floats(0, 50), st.booleans())
def test_generalised_ridge_is_stationary(seed, shape, strength, sparse):
    v, rho = draw(seed, shape)
    matrix = psd(shape[-2], seed % 100, rank=2)
    term = GeneralisedRidge(csr_array(matrix) if sparse else matrix, strength)
    x, _ = term.prox(v, rho)
    for found, column, w in zip(columns_of(x), columns_of(v), column_weights(rho, v)):
        gradient = 2 * strength * matrix @ found + w * (found - column)
        np.testing.assert_allclose(gradient, 0, atol=1e-8 * (1 + strength))
    by_hand = sum(strength * column @ matrix @ column for column in columns_of(v))
    assert term.value(v) == pytest.approx(by_hand, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("shape", [(2, 1500, 2), (1500, 2)])
def test_long_columns_are_solved_with_a_sparse_matrix(shape):
    chain = laplacian([(j, j + 1) for j in range(1499)], 1500)
    rng = np.random.default_rng(0)
    v, rho = rng.standard_normal(shape), rng.uniform(0.5, 2.0, shape[0])
    x, _ = GeneralisedRidge(chain, 3.0).prox(v, rho)
    for found, column, w in zip(columns_of(x), columns_of(v), column_weights(rho, v)):
        np.testing.assert_allclose(6.0 * (chain @ found) + w * (found - column), 0, atol=1e-9)


@SETTINGS
@given(seeds, st.integers(1, 8))
def test_a_laplacian_sums_squared_differences_over_edges(seed, n):
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, n, (5, 2))
    weights, x = rng.uniform(0, 3, 5), rng.standard_normal(n)
    matrix = laplacian(map(tuple, edges), n, weights)
    expected = sum(w * (x[i] - x[j]) ** 2 for w, (i, j) in zip(weights, edges))
    assert x @ (matrix @ x) == pytest.approx(expected, abs=1e-12)
    assert laplacian([], n).shape == (n, n)


@pytest.mark.parametrize(
    ("given", "kind", "says"),
    [
        (np.ones((2, 3)), ValueError, r"matrix must be a square matrix, got shape \(2, 3\)"),
        (np.ones(3), ValueError, r"must be a square matrix, got shape \(3,\)"),
        ([[1.0, np.nan], [np.nan, 1.0]], ValueError, "holds NaN or infinity"),
        ([[1.0, 2.0], [0.0, 1.0]], ValueError, r"must be symmetric; .* up to 2\. .*gives the same term"),
        (-np.eye(2), ValueError, r"negative eigenvalue \(-1\).*positive semidefinite"),
        (-csr_array(np.eye(1200)), ValueError, "negative eigenvalue, so"),
        ("edges", TypeError, "must be a matrix of numbers, got str"),
    ],
)
def test_matrices_that_are_no_squared_norm_are_refused(given, kind, says):
    with pytest.raises(kind, match=f"GeneralisedRidge: {says}|GeneralisedRidge: matrix .*{says}"):
        GeneralisedRidge(given)


def test_a_large_sparse_matrix_may_be_anything_that_is_nowhere_negative():
    root = random_array((1200, 1200), density=0.002, random_state=np.random.default_rng(0))
    assert GeneralisedRidge(root @ root.T).value(np.ones((1, 1200, 1))) >= 0


def test_a_matrix_for_other_columns_is_refused():
    says = r"matrix of shape \(3, 3\), but the factor has 4 entries in a column \(shape \(2, 4, 1\)\)"
    for use in (GeneralisedRidge(np.eye(3)).value, lambda x: GeneralisedRidge(np.eye(3)).prox(x, np.ones(2))):
        with pytest.raises(ValueError, match=says):
            use(np.ones((2, 4, 1)))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (([(0, 5)], 3), "edges must be between places from 0 to 2"),
        (([(0, 1)], 3, [1.0, 2.0]), "got 1 edges and 2 weights"),
        (([(0, 1)], 3, [-1.0]), "weights must be finite and at least 0"),
    ],
)
def test_graphs_that_are_none_are_refused(given, says):
    with pytest.raises(ValueError, match=says):
        laplacian(*given)


def test_the_users_matrix_is_not_changed_and_cannot_be():
    given = np.eye(3)
    term = GeneralisedRidge(given)
    given[0, 0] = 5.0
    assert term.value(np.ones((1, 3, 1))) == 3.0
    with pytest.raises(ValueError, match="read-only"):
        term.matrix[0, 0] = 5.0


@pytest.mark.parametrize(
    "edges",
    [[(0, 1, 2.0)], np.array([[0, 1, 2], [1, 2, 3]]), [(0.5, 1)], [("a", "b")], [3]],
    ids=str,
)
def test_edges_are_pairs_of_places(edges):
    with pytest.raises(ValueError, match="an edge is a pair of places"):
        laplacian(edges, 5)


@pytest.mark.parametrize("n", [0, 2.5, True, -1, "3"])
def test_a_graph_has_a_number_of_places(n):
    with pytest.raises(ValueError, match="n must be a whole number of columns"):
        laplacian([(0, 1)], n)
