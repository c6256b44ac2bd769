"""What the data do not determine is hatched."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib.figure import Figure

from tparafac2.plots.hatching import hatch_cells, hatch_spans, runs
from tparafac2.plots.time_axis import Stretches

CELLS = Stretches(np.arange(5.0), np.arange(4))


def boxes(vague, top=0.0):
    ax = Figure().add_subplot()
    hatch_cells(ax, CELLS, vague, top)
    assert len(ax.collections) <= 1
    return [path.get_extents().extents.tolist() for hatch in ax.collections for path in hatch.get_paths()]


@given(arrays(bool, st.integers(0, 12)))
def test_runs_cover_what_is_true(flags):
    found = np.zeros_like(flags)
    for first, last in runs(flags):
        assert first <= last
        found[first : last + 1] = True
    np.testing.assert_array_equal(found, flags)


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
    assert boxes(vague, top=10.0) == [[2, 11, 4, 12]]


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


def test_spans_are_behind():
    ax = Figure().add_subplot()
    hatch_spans(ax, CELLS, np.array([True, True, False, True]))
    assert [patch.get_extents().width > 0 for patch in ax.patches] == [True, True]
    assert all(patch.get_zorder() == 0 and patch.get_hatch() for patch in ax.patches)
