"""Sentences about what to beware of."""

import numpy as np
import pytest
import xarray as xr

import tparafac2 as tp
from tparafac2.models.model import Model
from tparafac2.models.notes import notes_on_starts
from tparafac2.penalties import NonNegative
from tparafac2.starts import Choice

UNIQUE = Model(((), (), ()))
ROTATABLE = Model(((), (), ()), fixed_strengths=True)
FIXED_BUT_NON_NEGATIVE = Model(((NonNegative(),), (), ()), fixed_strengths=True)


def choice(matches, objectives=None, converged=True, reasons=None):
    count = len(matches)
    table = {
        "objective": np.ones(count) if objectives is None else np.array(objectives),
        "fms_to_chosen": np.array(matches),
        "converged": np.full(count, converged),
        "chosen": np.arange(count) == 0,
    }
    return Choice(0, table, reasons or {})


@pytest.mark.parametrize("matches", [[1.0], [1.0, 0.995, 0.3], [0.8, 0.799, 0.8, np.nan, 0.1]])
def test_more_than_half_of_the_starts_are_enough(matches):
    assert notes_on_starts(UNIQUE, choice(matches)) == []


@pytest.mark.parametrize("model", [UNIQUE, FIXED_BUT_NON_NEGATIVE])
def test_fewer_are_spoken_of(model):
    (note,) = notes_on_starts(model, choice([1.0, 0.98, np.nan, 0.3, 0.995]))
    assert note.startswith("Only 2 of 5 starts ended with these components")
    (note,) = notes_on_starts(model, choice([1.0, 0.2]))
    assert note.startswith("Only 1 of 2 starts")


def test_where_agreement_is_not_to_be_expected_nothing_is_said_of_it():
    assert notes_on_starts(ROTATABLE, choice([1.0, 0.2, 0.3])) == []
    assert notes_on_starts(UNIQUE, choice([1.0, 0.2, 0.3], reasons={"did not converge": 3})) == []


def test_lower_starts_that_were_cut_off():
    (note,) = notes_on_starts(UNIQUE, choice([1.0, 1.0], objectives=[1.0, 0.9], converged=False))
    assert note.startswith("1 of 2 starts had a lower objective")


def test_times_with_few_rows_are_named():
    X = np.random.default_rng(0).random((5, 9, 4))
    X[1, 1:], X[3, 3:] = np.nan, np.nan
    times = [2000, 2001, 2002, 2004, 2005]
    X = xr.DataArray(X, dims=("year", "author", "word"), coords={"year": times})
    model = tp.CP(rank=2, n_starts=2, random_state=0).fit(X)
    assert any(
        "At 2 of 5 times only few of the 9 rows were observed (1 at 2001, 3 at 2004)" in note
        for note in model.notes_
    )
    assert not any("only few" in note for note in tp.CP(1, n_starts=2, random_state=0).fit(X[::4]).notes_)
