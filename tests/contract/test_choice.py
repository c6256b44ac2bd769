"""What is expected of a choice by the data."""

import math

import numpy as np
import pytest

import tparafac2 as tp

QUICK = {"compare": False, "n_starts": 2}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [5, 21])
def test_relaxed_settings_are_compared_on_a_fine_grid_as_well(seed):
    """The two components do not obey the constraint: of hard settings alone, rank 3 predicts better."""
    X = tp.synthetic.overlapping(seed, 0.6, noise=0.3, n_concepts=2, n_times=10, n_rows=40, n_columns=24).X
    grid = {"smoothness": np.geomspace(1e-3, 1e-2, 13), "rigidity": [math.inf, 1.0]}
    choice = tp.choose(X, ranks=[2, 3], **grid, **QUICK, random_state=seed)
    tried = choice.settings
    relaxed = tried[np.isfinite(tried["rigidity"])]
    assert set(relaxed["rank"]) == {2, 3}
    assert choice.model.rank == 2
    assert choice.model.rigidity == 1.0


@pytest.mark.slow
def test_the_constraint_is_kept_where_it_holds():
    relaxed = 0
    for seed in (9, 16, 31):
        X = tp.synthetic.easy(seed, noise=1.0, n_times=10, n_rows=60, n_columns=30).X
        choice = tp.choose(X, ranks=[3], **QUICK, random_state=seed)
        relaxed += choice.model.rigidity < math.inf
    assert relaxed <= 1


@pytest.mark.slow
def test_few_rows_are_judged_by_folds_beside_halves():
    """Of 24 rows with three components, halves of 12 find two; each fold's other rows find all three."""
    X = tp.synthetic.easy(4, noise=1.0, n_times=8, n_rows=24, n_columns=30).X
    grid = {"smoothness": [1e-3, 3e-3, 1e-2], "rigidity": math.inf}
    choice = tp.choose(X, ranks=[1, 2, 3, 4], **grid, compare=False, n_starts=4, random_state=4)
    similar = choice.components.query("rank == 3")
    assert similar["folds"].min() > max(0.9, similar["halves"].min())
    assert choice.rank == 3
