import numpy as np
import pytest

from tparafac2.data.norms import frobenius_norm, power_of_two


@pytest.mark.parametrize("size", [0.0, 1e-300, 0.7, 1.0, 3.0, 1e300])
def test_powers_of_two_are_near_and_exact(size: float) -> None:
    unit = power_of_two(size)
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
