"""Data beside the fit, and where the model misses most."""

import numpy as np
import pytest
from hand_made import hand_made

import tparafac2 as tp
from tparafac2.data import Labels
from tparafac2.report import entries as room
from tparafac2.report import write_page
from tparafac2.report.entries import entries_of


def make(**changes):
    rng = np.random.default_rng(0)
    factors = {"A": rng.normal(size=(4, 2)), "B": rng.normal(size=(3, 5, 2)), "C": rng.random((3, 2)) + 0.5}
    return hand_made(**(factors | changes))


def test_the_largest_residuals_are_named_and_data_come_in_the_order_of_time():
    result = make(labels=Labels(time=[2003, 2001, 2002]))
    X = np.asarray(result.reconstruct())
    X[0, 2, 3] += 4.0
    X[1, 1, 0] -= 2.0
    X[2, 3, 4] = np.nan
    found = entries_of(result, X, np.array([1, 2, 0]))
    assert [(i, j) for i, j, _ in found.misses[:2]] == [(2, 3), (1, 0)]
    np.testing.assert_allclose([share for *_, share in found.misses[:2]], [0.8, 0.2], rtol=1e-6)
    np.testing.assert_allclose(found.courses, X[[1, 2, 0]].transpose(1, 2, 0))


def test_of_large_data_those_are_kept_that_are_missed_most(monkeypatch):
    monkeypatch.setattr(room, "MOST_ENTRIES", 3 * 6)
    result = make()
    X = np.asarray(result.reconstruct())
    X[:, 2, 3] += 1.0
    found = entries_of(result, X, np.arange(3))
    assert 2 in found.rows
    assert 3 in found.columns
    assert found.courses.size <= 18


def test_data_of_another_shape_are_refused_before_anything_is_written(tmp_path):
    with pytest.raises(ValueError, match="but the model was fitted to 3 of shape"):
        write_page(make(), tmp_path / "page.html", data=np.ones((3, 4, 6)))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "other",
    [lambda X: X[::-1], lambda X: X[:, ::-1], lambda X: 2 * X, lambda X: X * np.nan, lambda X: X + 1e-2],
    ids=["times turned", "rows turned", "twice", "nothing", "nearly"],
)
def test_other_data_of_the_same_shape_are_refused(other, tmp_path):
    X = np.random.default_rng(0).random((5, 7, 6))
    model = tp.CP(2, n_starts=2, random_state=0).fit(X)
    tp.report.write_page(model, tmp_path / "page.html", data=X)
    with pytest.raises(ValueError, match="X is not what was fitted"):
        tp.report.write_page(model, tmp_path / "other.html", data=other(X))
    assert not (tmp_path / "other.html").exists()
