"""Where the starts begin."""

import numpy as np
import pytest

from tparafac2.data import Compressed, DenseData, compress
from tparafac2.solver import Start
from tparafac2.starts import child_seeds, fit_size, in_units, prepare, read_factors, svd_start, uniform_start

SHAPE = K, I, J = 4, 6, 5
R = 3


def draw(seed=0, rank=R):
    return uniform_start(np.random.SeedSequence(seed), SHAPE, rank)


def model(start):
    return np.einsum("ir,kjr,kr->kij", start.A, start.B, start.C)


def first_numbers(seeds):
    return [np.random.default_rng(seed).random(4).tolist() for seed in seeds]


class TestChildSeeds:
    @pytest.mark.parametrize("make", [lambda: 7, lambda: np.random.SeedSequence(7)])
    def test_a_start_does_not_depend_on_how_many_there_are(self, make):
        few, many = (first_numbers(child_seeds(make(), n)) for n in (3, 20))
        assert many[:3] == few

    def test_starts_differ(self):
        assert len({tuple(numbers) for numbers in first_numbers(child_seeds(0, 50))}) == 50

    def test_states_differ(self):
        assert first_numbers(child_seeds(1, 3)) != first_numbers(child_seeds(2, 3))

    def test_a_seed_sequence_is_not_used_up(self):
        """The second fit with the same seed must be the first."""
        root = np.random.SeedSequence(5, spawn_key=(2,))
        assert first_numbers(child_seeds(root, 3)) == first_numbers(child_seeds(root, 3))
        assert root.n_children_spawned == 0
        assert first_numbers(child_seeds(root, 3)) != first_numbers(child_seeds(5, 3))

    def test_a_generator_moves_on(self):
        rng = np.random.default_rng(0)
        assert first_numbers(child_seeds(rng, 2)) != first_numbers(child_seeds(rng, 2))
        again = np.random.default_rng(0)
        assert (
            first_numbers(child_seeds(again, 2))
            == first_numbers(child_seeds(np.random.default_rng(0), 9))[:2]
        )

    def test_without_a_state_every_time_is_another(self):
        assert first_numbers(child_seeds(None, 2)) != first_numbers(child_seeds(None, 2))


class TestUniformStart:
    def test_shapes_and_range(self):
        A, B, C = draw()
        assert (A.shape, B.shape, C.shape) == ((I, R), (K, J, R), (K, R))
        for factor in (A, B, C):
            assert ((factor >= 0) & (factor < 1)).all()
            assert factor.std() > 0.2

    def test_the_same_seed_gives_the_same_start(self):
        for ours, theirs in zip(draw(3), draw(3), strict=True):
            np.testing.assert_array_equal(ours, theirs)


class TestSvdStart:
    def test_loadings_span_the_leading_directions(self):
        rng = np.random.default_rng(0)
        X = np.einsum("ir,kjr->kij", rng.standard_normal((I, 2)), rng.standard_normal((K, J, 2)))
        start = svd_start(DenseData.from_slices(X), 2)
        np.testing.assert_allclose(start.A.T @ start.A, np.eye(2), atol=1e-12)
        np.testing.assert_allclose(model(start), X / np.linalg.norm(X), atol=1e-12)
        np.testing.assert_array_equal(start.C, 1.0)

    def test_the_best_subspace_of_noisy_data(self):
        X = np.random.default_rng(1).standard_normal((K, I, J))
        start = svd_start(DenseData.from_slices(X), R)
        strengths = np.linalg.svd(np.hstack(list(X)), compute_uv=False) / np.linalg.norm(X)
        residual = np.linalg.norm(X / np.linalg.norm(X) - model(start)) ** 2
        assert residual == pytest.approx(np.sum(strengths[R:] ** 2), rel=1e-10)

    def test_more_components_than_rows(self):
        start = svd_start(DenseData.from_slices(np.random.default_rng(2).standard_normal((K, 2, J))), R)
        assert start.A.shape == (2, R)
        assert np.linalg.norm(start.A, axis=0).min() > 0
        assert all(np.isfinite(factor).all() for factor in start)


class TestFitSize:
    def test_the_model_gets_norm_one_in_equal_parts(self):
        start = draw()
        sized = fit_size(start, fixed_strengths=False)
        assert np.linalg.norm(model(sized)) == pytest.approx(1.0, rel=1e-12)
        ratios = [np.unique((new / old).round(12)) for new, old in zip(sized, start, strict=True)]
        assert len({float(ratio) for (ratio,) in ratios}) == 1

    def test_fixed_strengths_stay(self):
        start = draw()._replace(C=np.ones((K, R)))
        sized = fit_size(start, fixed_strengths=True)
        assert np.linalg.norm(model(sized)) == pytest.approx(1.0, rel=1e-12)
        np.testing.assert_array_equal(sized.C, 1.0)

    def test_nothing_stays_nothing(self):
        nothing = Start(np.zeros((I, R)), np.zeros((K, J, R)), np.ones((K, R)))
        for new, old in zip(fit_size(nothing, fixed_strengths=False), nothing, strict=True):
            np.testing.assert_array_equal(new, old)


class TestPrepare:
    def data(self, shape=SHAPE):
        return DenseData.from_slices(np.random.default_rng(0).standard_normal(shape))

    def signed_start(self):
        rng = np.random.default_rng(1)
        return Start(*(rng.standard_normal(shape) for shape in ((I, R), (K, J, R), (K, R))))

    @pytest.mark.parametrize("signed", [(True, True), (True, False), (False, True)])
    def test_signs_that_are_not_allowed_are_dropped(self, signed):
        start = self.signed_start()
        A, B, C = prepare(start, self.data(), [Compressed(self.data())], signed=signed)
        np.testing.assert_array_equal(A, start.A if signed[0] else np.abs(start.A))
        np.testing.assert_array_equal(B, start.B)
        np.testing.assert_array_equal(C, start.C if signed[1] else np.abs(start.C))

    def test_padding_starts_at_zero(self):
        start = self.signed_start()
        before = start.B.copy()
        ragged = DenseData(self.data().values, widths=(5, 3, 5, 4))
        B = prepare(start, ragged, [Compressed(ragged)], signed=(True, True)).B
        assert not B[1, 3:].any()
        assert not B[3, 4:].any()
        np.testing.assert_array_equal(B[[0, 2]], start.B[[0, 2]])
        np.testing.assert_array_equal(start.B, before)

    def test_compressed_starts_have_the_same_model_where_the_data_are(self):
        X = np.random.default_rng(2).standard_normal((2, 40, 3))
        compressed = compress(DenseData.from_slices(X), 2, columns=True, rows=True)
        assert compressed.row_basis is not None
        start = uniform_start(np.random.SeedSequence(0), (2, 40, 3), 2)
        small = prepare(start, DenseData.from_slices(X), [compressed], signed=(True, True))
        projected = np.einsum("im,kmj->kij", compressed.row_basis, model(small))
        expected = np.einsum("im,hm,khj->kij", compressed.row_basis, compressed.row_basis, model(start))
        np.testing.assert_allclose(projected, expected, atol=1e-12)


class TestReadFactors:
    def test_takes_what_fits(self):
        given = draw()
        found = read_factors(tuple(given), SHAPE, R)
        for ours, theirs in zip(found, given, strict=True):
            np.testing.assert_array_equal(ours, theirs)
            assert ours is not theirs

    def test_no_strengths_means_one(self):
        A, B, _ = draw()
        np.testing.assert_array_equal(read_factors((A, B, None), SHAPE, R).C, 1.0)

    def test_ragged_patterns_are_padded_with_zeros(self):
        A, B, C = draw()
        widths = [5, 3, 5, 4]
        pieces = [piece[:width] for piece, width in zip(B, widths, strict=True)]
        found = read_factors((A, pieces, C), SHAPE, R)
        for k, width in enumerate(widths):
            np.testing.assert_array_equal(found.B[k, :width], B[k, :width])
            assert not found.B[k, width:].any()

    @pytest.mark.parametrize(
        ("which", "wrong", "sentence"),
        [
            (0, np.ones((I, R + 1)), r"A must have shape \(6, 3\), got \(6, 4\)"),
            (1, np.ones((K, J + 1, R)), r"B must have shape \(4, 5, 3\)"),
            (1, [np.ones((J, R))] * (K - 1), r"B must have shape \(4, 5, 3\), got \(3, 5, 3\)"),
            (1, [np.ones((J + 1, R))] * K, r"slice 0 of B must have shape \(J_0, 3\)"),
            (2, np.ones(K), r"C must have shape \(4, 3\)"),
            (2, np.full((K, R), np.nan), "C holds NaN"),
            (0, np.full((I, R), np.inf), "A holds NaN or infinity"),
        ],
    )
    def test_refuses_with_a_sentence(self, which, wrong, sentence):
        given = list(draw())
        given[which] = wrong
        with pytest.raises(ValueError, match=sentence):
            read_factors(tuple(given), SHAPE, R)

    @pytest.mark.parametrize("given", [3, "random", (1, 2), None])
    def test_refuses_what_is_not_three_factors(self, given):
        with pytest.raises(ValueError, match="init must be"):
            read_factors(given, SHAPE, R)


def test_a_given_start_near_the_data_is_left_as_it_is():
    start = uniform_start(np.random.SeedSequence(0), (4, 5, 6), 2)
    for new, old in zip(in_units(start, 2.0, fixed_strengths=False), start, strict=True):
        np.testing.assert_array_equal(new, old / 2.0)
    fixed = in_units(start, 2.0, fixed_strengths=True)
    np.testing.assert_array_equal(fixed.A, start.A / 2.0)
    np.testing.assert_array_equal(fixed.C, 1.0)


@pytest.mark.parametrize("fixed", [False, True])
def test_a_given_start_far_from_the_data_is_given_their_size(fixed):
    start = uniform_start(np.random.SeedSequence(0), (4, 5, 6), 2)
    expected = fit_size(start._replace(C=np.ones((4, 2))) if fixed else start, fixed_strengths=fixed)
    for sizes in ((1e8, 1e8, 1e8), (1e-250, 1e-100, 1e-3), (1e308, 1e-308, 1.0)):
        far = type(start)(*(size * factor for size, factor in zip(sizes, start, strict=True)))
        found = in_units(far, 1e-50, fixed_strengths=fixed)
        for one, other in zip(found, expected, strict=True):
            shape, of = one / np.abs(one).max(), other / np.abs(other).max()
            np.testing.assert_allclose(shape, of, rtol=1e-6)
        model = np.einsum("ir,kjr,kr->kij", *found)
        assert np.linalg.norm(model) == pytest.approx(1.0)
