"""Sentences about what to beware of."""

import numpy as np
import pytest

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
    }
    return Choice(0, table, reasons or {})


@pytest.mark.parametrize("matches", [[1.0], [1.0, 0.2], [1.0, 0.995, 0.3, 0.4], [0.8, 0.799, np.nan, 0.1]])
def test_half_of_the_starts_are_enough(matches):
    assert notes_on_starts(UNIQUE, choice(matches)) == []


@pytest.mark.parametrize("model", [UNIQUE, FIXED_BUT_NON_NEGATIVE])
def test_fewer_are_spoken_of(model):
    (note,) = notes_on_starts(model, choice([1.0, 0.98, np.nan, 0.3, 0.995]))
    assert note.startswith("Only 2 of 5 starts ended with these components")


def test_where_agreement_is_not_to_be_expected_nothing_is_said_of_it():
    assert notes_on_starts(ROTATABLE, choice([1.0, 0.2, 0.3])) == []
    assert notes_on_starts(UNIQUE, choice([1.0, 0.2, 0.3], reasons={"did not converge": 3})) == []


def test_lower_starts_that_were_cut_off():
    (note,) = notes_on_starts(UNIQUE, choice([1.0, 1.0], objectives=[1.0, 0.9], converged=False))
    assert note.startswith("1 of 2 starts had a lower objective")
