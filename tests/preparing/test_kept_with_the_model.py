"""How data were prepared goes with the model, also through files: fitted values are in the users units."""

import numpy as np
import pandas as pd
import pytest

import tparafac2 as tp

PREPARATIONS = [
    tp.Preparation("log1p", center="columns", scale="rows"),
    tp.Preparation(("share", "sqrt")),
    tp.Preparation("clr", 0.5, center="time"),
]


def fitted(data):
    return tp.CP(rank=2, n_starts=1, max_iter=20, tol=0.1, random_state=0).fit(data)


@pytest.mark.parametrize("preparation", PREPARATIONS)
def test_fitted_values_come_back_in_the_users_units_also_from_a_file(preparation, tmp_path):
    X = np.random.default_rng(0).random((4, 6, 5)) + 0.1
    prepared = preparation.apply(X)
    model = fitted(prepared)
    expected = prepared.undo(model.reconstruct())
    np.testing.assert_array_equal(model.fitted_values(), expected)
    model.save(tmp_path / "model.npz")
    again = tp.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.fitted_values(), expected)
    assert preparation.describe() in again.summary()


def test_without_a_preparation_nothing_is_undone_and_nothing_said():
    X = np.random.default_rng(0).random((4, 6, 5))
    for data in (X, tp.Preparation().apply(X)):
        model = fitted(data)
        np.testing.assert_array_equal(model.fitted_values(), model.reconstruct())
        assert "preparation" not in model.summary()


def test_prepared_data_are_fitted_as_their_data_are():
    frame = pd.DataFrame({"who": list("aabb") * 3, "what": list("xy") * 6, "when": np.repeat([1, 2, 4], 4)})
    prepared = tp.Preparation("log1p").apply(tp.Table(frame, rows="who", columns="what", time="when"))
    one, other = (tp.CP(rank=1, n_starts=1, random_state=0).fit(data) for data in (prepared, prepared.data))
    np.testing.assert_array_equal(one.B_, other.B_)
    assert one.result_.labels.time.tolist() == [1, 2, 4]
