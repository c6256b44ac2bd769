from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tparafac2.data import exact_sums
from tparafac2.data.exact_sums import frobenius_norm

NUMBERS = st.floats(-1e50, 1e50).filter(lambda x: x == 0 or abs(x) > 1e-50)
VECTORS = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=0, max_size=40)


def _exact(x: np.ndarray, y: np.ndarray) -> Fraction:
    return sum((Fraction(a) * Fraction(b) for a, b in zip(x.tolist(), y.tolist())), Fraction(0))


@given(pairs=VECTORS)
@settings(max_examples=60)
def test_dot_has_twice_the_digits(pairs: list[tuple[float, float]]) -> None:
    x, y = (np.array([pair[side] for pair in pairs]) for side in (0, 1))
    assert abs(exact_sums.dot(x, y) - _exact(x, y)) <= 1e-29 * _exact(np.abs(x), np.abs(y))


@given(a=NUMBERS, b=NUMBERS)
@settings(max_examples=60)
def test_nothing_is_lost_of_two_numbers(a: float, b: float) -> None:
    x, y = np.array([a]), np.array([b])
    for exact, parts in (
        (Fraction(a) + Fraction(b), exact_sums.two_sum(x, y)),
        (Fraction(a) * Fraction(b), exact_sums.two_product(x, y)),
    ):
        assert sum(Fraction(float(part[0])) for part in parts) == exact


def test_dot_over_many_chunks_survives_cancellation() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 100_001))
    x, y = np.append(x, x * (1 + 1e-12)), np.append(y, -y)
    exact = float(_exact(x, y))
    assert abs(float(x @ y) / exact - 1) > 1e-9
    assert float(exact_sums.dot(x, y)) == pytest.approx(exact, rel=1e-15)


def test_gram_product_is_the_norm_of_the_model() -> None:
    rng = np.random.default_rng(1)
    left, right = rng.normal(size=(3, 7)), rng.normal(size=(3, 9))
    expected = np.sum((left.T @ right) ** 2)
    assert float(exact_sums.gram_product(left, right)) == pytest.approx(expected, rel=1e-14)
    assert exact_sums.gram_product(left[:0], right[:0]) == 0


def test_paired_products_keep_what_rounding_loses() -> None:
    rng = np.random.default_rng(2)
    left, right = rng.normal(size=(2, 4, 50)).astype(np.float32)
    total, lost = exact_sums.paired_products(left, right)
    for n in range(50):
        exact = _exact(left[:, n].astype(float), right[:, n].astype(float))
        assert abs(Fraction(total[n]) + Fraction(lost[n]) - exact) <= 1e-29 * max(1, abs(exact))
    assert np.any(lost)


@pytest.mark.parametrize("size", [0.0, 1e-300, 0.7, 1.0, 3.0, 1e300])
def test_powers_of_two_are_near_and_exact(size: float) -> None:
    unit = exact_sums.power_of_two(size)
    assert np.frexp(unit)[0] == 0.5
    assert size == 0.0 or 1.0 <= size / unit < 2.0


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-150, 1.0, 1e150, 1e306])
def test_any_size_is_measured_without_overflow(size: float) -> None:
    assert frobenius_norm([np.full((2, 2), size)]) == pytest.approx(2 * size, rel=1e-15)


def test_small_entries_beside_a_large_one_do_not_disturb() -> None:
    assert frobenius_norm([np.array([[1e200, 1e-200]])]) == pytest.approx(1e200, rel=1e-15)


def test_blocks_cover_every_row_of_every_slice() -> None:
    slices = [np.ones((700, 1000)), 2 * np.ones((3, 5))]
    assert frobenius_norm(slices) == pytest.approx(np.sqrt(700_000 + 60), rel=1e-14)


def test_float32_is_summed_in_float64() -> None:
    values = np.random.default_rng(0).normal(size=(1000, 300)).astype(np.float32)
    exact = np.sqrt(np.sum(values.astype(np.float64) ** 2))
    assert frobenius_norm([values]) == pytest.approx(exact, rel=1e-14)


def test_most_negative_integer_has_a_magnitude() -> None:
    assert frobenius_norm([np.array([[np.iinfo(np.int64).min, 0]])]) == 2.0**63


def test_special_values_show() -> None:
    assert np.isnan(frobenius_norm([np.ones((1, 2)), np.array([[np.nan, np.inf]])]))
    assert frobenius_norm([np.array([[1.0, -np.inf]])]) == np.inf
    assert frobenius_norm([np.zeros((2, 2))]) == 0.0
