"""Bad input is refused with a sentence that says which argument is wrong; `bad_inputs.py` has the table."""

import numpy as np
import pytest
from contract.bad_inputs import ROOMS, X, refuse

import tparafac2 as tp

ROWS = {f"{room}: {row.what}": row for room, rows in ROOMS.items() for row in rows}


def test_every_row_has_a_name_of_its_own():
    assert len(ROWS) == sum(map(len, ROOMS.values()))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ROWS)
def test_bad_input(name, tmp_path):
    row = ROWS[name]
    error = refuse(row, tmp_path)
    assert isinstance(error, row.kind), repr(error)
    assert not isinstance(error, np.linalg.LinAlgError)
    if row.argument is not None:
        assert error.argument == row.argument
    sentence = str(error)
    assert sentence
    assert "\n" not in sentence


@pytest.mark.parametrize("model", [tp.TParafac2, tp.Parafac2, tp.TemporalCMF, tp.CP])
@pytest.mark.parametrize("given", [X[0], X * np.nan])
def test_nothing_is_fitted_to_bad_data(model, given):
    fresh = model(2, n_starts=1, random_state=0)
    with pytest.raises(ValueError):
        fresh.fit(given)
    with pytest.raises(tp.NotFittedError):
        fresh.A_  # noqa: B018


@pytest.mark.parametrize("model", [tp.TParafac2, tp.Parafac2, tp.TemporalCMF, tp.CP])
@pytest.mark.parametrize(
    ("name", "value"),
    [("rank", 0), ("n_starts", 0), ("tol", -1.0), ("n_jobs", 0), ("nonnegative", "columns")],
)
def test_every_model_refuses_settings(model, name, value):
    with pytest.raises(ValueError) as caught:
        model(**({"rank": 2} | {name: value})).fit(X)
    assert caught.value.argument == name


def test_a_bad_request_changes_nothing():
    model = tp.CP(1, n_starts=1, random_state=0, n_jobs=1).fit(X)
    before = model.A_.copy()
    for request in (lambda: model.fit(X[0]), lambda: model.transform(X[:3]), lambda: model.intervals(X, 2.0)):
        with pytest.raises(ValueError):
            request()
        np.testing.assert_array_equal(model.A_, before)
