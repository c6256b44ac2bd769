"""The parts of heat maps: columns in their order, colours, and hatching."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib.figure import Figure

from tparafac2.plots.heat_maps import by_time, colour_range, hatch_cells, largest_columns
from tparafac2.plots.time_axis import Stretches

PATTERNS = arrays(float, st.tuples(st.integers(1, 6), st.integers(1, 8)), elements=st.floats(-1, 1))


@given(PATTERNS, st.integers(1, 10))
def test_none_that_is_left_out_is_larger(known, n):
    chosen = largest_columns(known, n, most=3)
    assert len(chosen) == min(n, known.shape[1])
    size = np.linalg.norm(known, axis=0)
    assert (np.delete(size, chosen) <= size[chosen].min() + 1e-12).all()


def test_by_default_columns_that_matter():
    known = np.array([[1.0, 0.01, 0.5, 0.06]])
    assert largest_columns(known, None, most=10).tolist() == [0, 2, 3]
    assert largest_columns(known, None, most=2).tolist() == [0, 2]
    assert largest_columns(known, 4, most=2).tolist() == [0, 2, 3, 1]


def test_what_is_not_known_does_not_count():
    known = np.array([[np.nan, 0.1], [np.nan, 0.1]])
    assert largest_columns(known, 1, most=9).tolist() == [1]
    assert largest_columns(np.full((2, 3), np.nan), None, most=9).tolist() == [0, 1, 2]


def test_columns_are_in_the_order_in_which_they_matter():
    times = np.arange(20)[:, np.newaxis]
    peaks = np.array([12, 3, 17, 8])
    known = np.exp(-((times - peaks) ** 2) / 8) * np.array([1, -1, 1, -1])
    assert by_time(known, np.arange(4)).tolist() == [1, 3, 0, 2]


@given(PATTERNS)
def test_nothing_is_lost(known):
    columns = np.arange(known.shape[1])
    assert sorted(by_time(known, columns)) == columns.tolist()


def test_columns_alike_stay_as_they_were():
    known = np.tile([0.3, 0.1, 0.7], (7, 1))
    assert by_time(known, np.array([2, 0, 1])).tolist() == [2, 0, 1]


def test_the_range_of_colours_tells_what_is_beyond():
    many = np.concatenate([np.full(500, 0.1), [-9.0]])
    assert colour_range(many) == (0.1, "min")
    assert colour_range(-many) == (0.1, "max")
    assert colour_range(np.zeros(3)) == (1.0, "neither")
    assert colour_range(np.array([-2.0, 2.0, np.nan]), limit=1.0) == (1.0, "both")


CELLS = Stretches(np.arange(5.0), np.arange(4))


def boxes(vague):
    ax = Figure().add_subplot()
    hatch_cells(ax, CELLS, vague)
    assert len(ax.collections) <= 1
    return [path.get_extents().extents.tolist() for hatch in ax.collections for path in hatch.get_paths()]


def test_nothing_to_hatch():
    assert boxes(np.zeros((4, 2), bool)) == []


def test_a_whole_time_is_one_box():
    vague = np.zeros((4, 3), bool)
    vague[1:3] = True
    assert boxes(vague) == [[1, 0, 3, 3]]


def test_cells_are_hatched_in_their_rows():
    vague = np.zeros((4, 3), bool)
    vague[2:, 1] = True
    assert boxes(vague) == [[2, 1, 4, 2]]


def test_hatching_is_hatched_and_faint():
    ax = Figure().add_subplot()
    hatch_cells(ax, CELLS, np.ones((4, 1), bool))
    assert ax.collections[0].get_hatch()
    assert 0 < ax.collections[0].get_facecolor()[0, 3] < 1


def test_thousands_of_cells_are_faded_at_once():
    K = 150
    vague = np.indices((K, K)).sum(axis=0) % 2 == 0
    ax = Figure().add_subplot()
    hatch_cells(ax, Stretches(np.arange(K + 1.0), np.arange(K)), vague)
    (mesh,) = ax.collections
    np.testing.assert_array_equal(~np.ma.getmaskarray(mesh.get_array()), vague.T)
