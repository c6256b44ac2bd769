"""Where components of a comparison are drawn, what candidates are called, and what is said of them."""

import json
from itertools import pairwise

import numpy as np
import pytest
from hand_made import hand_made
from hypothesis import given
from hypothesis import strategies as st

from tparafac2.report.side_by_side import laid_out, short_labels, side_by_side
from tparafac2.result import Trust, kinship


def result(*parts, **changes):
    """Components that are sums of unit rows: ``result([0, 1], [2])`` has two."""
    A = np.array([[float(i in part) for part in parts] for i in range(6)])
    R = len(parts)
    return hand_made(**({"A": A, "B": np.ones((3, 4, R)), "C": np.ones((3, R))} | changes))


def collected(results, measured=None):
    return side_by_side(results, measured or {}, title="Mine", about={})


@pytest.mark.parametrize(
    ("labels", "short"),
    [
        (["tparafac2 rank 2", "tparafac2 rank 3"], ["rank 2", "rank 3"]),
        (["tcmf rank 2 smoothness 0.1", "cp rank 2"], ["tcmf rank 2 smoothness 0.1", "cp rank 2"]),
        (["a rank 2 smoothness 1", "a rank 2 smoothness 10"], ["smoothness 1", "smoothness 10"]),
        (["a rank 2", "a rank 2 smoothness 1"], ["a rank 2", "a rank 2 smoothness 1"]),
        (["tparafac2 rank 2 x 1", "cp rank 2 x 1"], ["tparafac2", "cp"]),
        (["rank 2 soft 1", "rank 2 hard 1"], ["soft 1", "hard 1"]),
        (["only"], ["only"]),
        (["", "a"], ["", "a"]),
    ],
)
def test_labels_without_what_they_have_in_common(labels, short):
    assert short_labels(labels) == short


LABELS = st.lists(st.text("ab1 ", max_size=8), min_size=1, max_size=4, unique_by=lambda one: (*one.split(),))


@given(LABELS)
def test_short_labels_tell_candidates_apart(labels):
    short = short_labels(labels)
    assert len(set(short)) == len(labels)
    assert all(one in " ".join(label.split()) or one == label for one, label in zip(short, labels))


def test_lines_follow_matches_and_new_components_begin_new_ones():
    one, two, three = result([0], [1]), result([2], [1], [0]), result([1], [0])
    layout = laid_out([2, 3, 2], [kinship(one, two), kinship(two, three)])
    assert layout.lines == [[0, 1], [2, 1, 0], [1, 0]]
    assert layout.places == [[0, 1], [2, 1, 0], [1, 0]]  # beside their relatives; what has none comes last


@given(st.lists(st.integers(1, 5), min_size=1, max_size=5), st.integers(0, 10**6))
def test_every_component_has_one_place_and_one_line(ranks, seed):
    rng = np.random.default_rng(seed)
    results = [
        hand_made(A=rng.random((4, R)), B=rng.normal(size=(3, 4, R)), C=rng.random((3, R))) for R in ranks
    ]
    between = [kinship(one, other) for one, other in pairwise(results)]
    layout = laid_out(ranks, between)
    assert [sorted(order) for order in layout.places] == [list(range(R)) for R in ranks]
    assert all(len(set(lines)) == len(lines) for lines in layout.lines)


def test_what_becomes_of_components_is_told():
    found = collected({"rank 2": result([0, 1], [2]), "rank 4": result([2], [0], [1], [5])})
    assert found["sentences"] == ["From rank 2 to rank 4: 1 falls into parts, 1 stays, 1 is new."]
    [between] = found["between"]
    assert between["fates"] == ["parts", "same"]
    assert between["origins"].count("none") == 1
    assert sum(not link["matched"] for link in between["links"]) == 1


def test_what_was_measured_is_told_as_far_as_it_was():
    trust = Trust(replicability=[0.97, 0.3], chance=[0.2, 0.3], verdict=["replicable", "not there"])
    results = {"rank 1": result([0]), "rank 2": result([0], [1], trust=trust)}
    measured = {
        "rank 1": {"hidden_error": 0.5, "components_there": 1, "components_replicable": 0, "agreement": 1.0},
        "rank 2": {"hidden_error": 0.4, "components_there": 1, "components_replicable": 1, "agreement": 0.4},
    }
    found = collected(results, measured)
    assert found["sentences"][:-1] == [
        "Hidden entries are best predicted by rank 2 (error 0.4).",
        "All components are found again in other rows: rank 1.",
        "Of no model all components are replicable in other rows.",
        "Starts end at different components: rank 2.",
    ]
    assert [one["verdict"] for one in found["candidates"][1]["components"]] == ["replicable", "not there"]
    measured["rank 1"]["hidden_error"] = float("nan")
    unknown = collected(results, measured)
    assert "Hidden" not in unknown["sentences"][0]
    json.dumps(unknown, allow_nan=False)


def test_what_all_labels_share_is_said_once():
    found = collected({"cp rank 1 x 2": result([0]), "cp rank 2 x 2": result([0], [1])})
    assert found["subtitle"] == "2 models of 6 rows x 4 columns x 3 times; all cp x 2"
    assert [one["short"] for one in found["candidates"]] == ["rank 1", "rank 2"]
