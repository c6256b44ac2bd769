"""What is hidden is drawn so that something stays of everything."""

import numpy as np
import pytest

from tparafac2.choosing.hiding import draw_observed


def hidden_of(observed, unit, share, seed):
    hidden = np.zeros_like(observed)
    for one in draw_observed(np.random.default_rng(seed), observed, unit, share, 2):
        hidden[one.places] = True
    return hidden


def test_rows_with_two_entries_keep_one_however_many_are_hidden():
    observed = np.zeros((2, 2000, 3), dtype=bool)
    observed[0, :, 0] = observed[1, :, 1] = observed[:, 0, 2] = True
    hidden = hidden_of(observed, "entries", 0.25, 0)
    assert np.count_nonzero(hidden) > 1900
    assert (observed & ~hidden).any(axis=(0, 2)).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_only_fibre_with_a_column_stays(seed):
    observed = np.ones((5, 20, 4), dtype=bool)
    observed[:, :, 1:] = False
    observed[1, 3, 1] = observed[2, 4, 2] = observed[[0, 3], [6, 7], 3] = True
    hidden = hidden_of(observed, "fibres", 0.15, seed)
    assert np.count_nonzero(hidden.any(axis=2)) == 30
    assert (observed & ~hidden).any(axis=(0, 1)).all()
    # Fibres are hidden as a whole.
    assert (hidden == observed)[hidden.any(axis=2)].all()
