"""Smooth or sudden, by the data."""

import numpy as np
import pytest

import tparafac2 as tp
from tparafac2.synthetic import Concept, Constant, Incremental, Periodic, Sudden, generate

pytestmark = pytest.mark.slow
QUICK = {
    "ranks": 2,
    "smoothness": [1e-3, 3e-3, 1e-2],
    "rigidity": np.inf,
    "nonnegative": None,
    "n_starts": 3,
    "random_state": 0,
}
SIZES = {"n_times": 12, "n_rows": 40, "n_columns": 30, "fresh_importances": False}


def drifting(drifts, noise=0.7):
    concepts = [Concept(drift, strength) for drift, strength in zip(drifts, (Constant(), Periodic()))]
    return generate(concepts, seed=4, noise=noise, **SIZES)


def test_jumps_are_taken_where_there_are_some():
    data = drifting([Sudden(4), Sudden(8)])
    choice = tp.choose(data.X, changes="auto", **QUICK)
    assert choice.model.changes == "sudden"
    assert choice.record["sudden"]["chosen"]
    assert choice.record["sudden"]["gain"] > choice.record["sudden"]["null"]
    assert "udden changes lower the error by" in choice.summary()
    assert set(choice.settings["changes"]) == {"smooth", "sudden"}
    smooth = tp.choose(data.X, **QUICK)
    assert smooth.model.changes == "smooth"
    assert smooth.record["sudden"] is None
    scores = [tp.metrics.factor_match_score(one.model, data) for one in (choice, smooth)]
    assert scores[0] > scores[1]


def test_smooth_changes_stay_where_jumps_do_not_help():
    data = drifting([Incremental(3), Incremental(4)], noise=1.5)
    choice = tp.choose(data.X, changes="auto", **QUICK)
    found = choice.record["sudden"]
    assert found["chosen"] == (choice.model.changes == "sudden")
    assert found["chosen"] == (found["null"] is not None and found["gain"] > found["null"])
    assert "udden" in choice.summary()


@pytest.mark.parametrize("changes", ["smooth", "sudden"])
def test_the_other_kind_is_compared(changes):
    data = drifting([Sudden(4), Sudden(8)])
    choice = tp.choose(data.X, changes=changes, compare=True, **QUICK)
    assert choice.model.changes == changes
    others = {"smooth": "tPARAFAC2, sudden changes", "sudden": "tPARAFAC2"}
    assert others[changes] in choice.compared["model"].to_list()


def test_words_that_are_none_are_refused():
    with pytest.raises(ValueError, match="changes must be 'smooth', 'sudden' or 'auto'; got 'jumpy'"):
        tp.choose(np.ones((5, 6, 7)), changes="jumpy")
