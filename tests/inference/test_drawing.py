import numpy as np
import pytest
from scipy.sparse import csr_array

from tparafac2.data import take_in
from tparafac2.errors import InvalidValue
from tparafac2.inference import drawing
from tparafac2.inference.drawing import ResidualDraws, RowDraws, held_values
from tparafac2.preparing import Preparation
from tparafac2.solver import Start

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 8, 5)) + 2.0
CENTRE = Start(RNG.normal(size=(8, 2)), RNG.normal(size=(3, 5, 2)), RNG.random((3, 2)))


def test_groups_are_drawn_together():
    members = [np.array([0, 3]), np.array([1, 2, 4]), np.array([5, 6, 7])]
    draws = RowDraws(take_in(X).data, CENTRE.A, members)
    for seed in range(20):
        drawn = draws.draw(np.random.default_rng(seed))
        rows = [int(np.flatnonzero((a == CENTRE.A).all(axis=1))[0]) for a in drawn.A]
        for group in members:
            assert len({rows.count(row) for row in group}) == 1
        np.testing.assert_array_equal(drawn.data.values, take_in(X).data.values[rows])


@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 2, 8)])
@pytest.mark.parametrize("scale", [None, "columns"])
def test_rows_are_centred_and_scaled_anew(weights, scale):
    prepared = Preparation(center="columns", scale=scale).apply(X)
    data = take_in(prepared.data, weights=weights).data
    draws = RowDraws(data, CENTRE.A, list(np.arange(8)[:, None]), prepared.as_dict())
    drawn = draws.draw(np.random.default_rng(1))
    rows = [int(np.flatnonzero((a == CENTRE.A).all(axis=1))[0]) for a in drawn.A]
    wanted = np.asarray(Preparation(center="columns", scale=scale).apply(X[:, rows]).data) / data.scale
    roots = np.ones(8) if weights is None else np.sqrt(drawn.data.row_weights)
    np.testing.assert_allclose(
        held_values(drawn.data) / roots[:, None, None], wanted.swapaxes(0, 1), atol=1e-12
    )


@pytest.mark.parametrize("kind", ["dense", "holed", "weighted", "sparse"])
def test_residuals_change_their_signs_only(kind):
    holed = np.where(RNG.random(X.shape) < 0.2, np.nan, X) if kind == "holed" else X
    given = [csr_array(x) for x in X] if kind == "sparse" else holed
    data = take_in(given, weights=np.linspace(1, 2, 8) if kind == "weighted" else None).data
    draws = ResidualDraws.around(data, CENTRE)
    drawn = draws.draw(np.random.default_rng(0))
    values, before = held_values(drawn.data), held_values(drawing.with_every_entry(data))
    np.testing.assert_array_equal(np.isnan(values), np.isnan(before))
    size = np.sqrt(8 / 6)  # two of eight numbers for every column and time were fitted
    np.testing.assert_allclose(
        np.abs(values - draws.fitted), size * np.abs(before - draws.fitted), atol=1e-12
    )
    signs = np.sign((values - draws.fitted) / (before - draws.fitted))
    assert 0.3 < np.nanmean(signs > 0) < 0.7
    assert drawn.data.scale == data.scale


def test_large_sparse_data_are_not_filled(monkeypatch):
    data = take_in([csr_array(x) for x in X]).data
    drawing.require_residuals(data)
    monkeypatch.setattr(drawing, "_MOST_BYTES", 100)
    with pytest.raises(InvalidValue, match="loadings=False"):
        drawing.require_residuals(data)
