import json
import zlib
from base64 import b64decode

import numpy as np
import pytest
from banded import banded
from hand_made import hand_made
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from tparafac2.data import Labels
from tparafac2.report import payload as room
from tparafac2.report.payload import BAND_STEPS, NOTHING, STEPS, as_script_text, packed, payload, quantise


def make(**changes):
    rng = np.random.default_rng(0)
    return hand_made(**({"A": rng.normal(size=(4, 2)), "B": rng.normal(size=(3, 5, 2))} | changes))


def page_of(result, **about):
    """Give the payload as the page reads it."""
    return json.loads(as_script_text(payload(result, title="Title", about=about)))


def numbers(text, kind, shape):
    return np.frombuffer(b64decode(text), dtype=kind).reshape(shape)


def unpacked(text, shape):
    """Read courses as the page does: changes, low bytes before high ones, added up with wrap-around."""
    low, high = np.frombuffer(zlib.decompress(b64decode(text)), np.uint8).reshape(2, -1).astype(np.uint16)
    unsigned = low | high << 8
    changes = (unsigned >> 1) ^ (0 - (unsigned & 1))
    return np.cumsum(changes.reshape(shape), axis=-1, dtype=np.uint16).view(np.int16)


def weights(page, K, R):
    """Read the patterns back, (K, J, R)."""
    J = len(page["columns"]["labels"])
    counts = unpacked(page["patterns"]["counts"], (R, J, K)).astype(float)
    counts[counts == NOTHING] = np.nan
    return (counts * numbers(page["patterns"]["sizes"], "<f4", (R, J, 1))).transpose(2, 1, 0)


finite = st.floats(-1e30, 1e30, allow_nan=False).filter(lambda x: x == 0 or abs(x) > 1e-30)


@given(arrays(np.float64, array_shapes(min_dims=2, max_dims=3, max_side=6), elements=finite))
def test_rounding_is_below_a_step_of_the_largest_value_of_a_course(courses):
    counts, sizes = quantise(courses)
    again = counts * sizes.astype(np.float64)[..., np.newaxis]
    peaks = np.abs(courses).max(axis=-1, keepdims=True)
    assert (np.abs(again - courses) <= 0.51 * peaks / STEPS).all()


@given(arrays(np.float64, (2, 5), elements=st.floats(-1, 1) | st.sampled_from([np.nan, np.inf, -np.inf])))
def test_what_is_not_finite_is_nothing_and_disturbs_nothing(courses):
    counts, _ = quantise(courses)
    np.testing.assert_array_equal(counts == NOTHING, ~np.isfinite(courses))


@given(arrays("<i2", array_shapes(min_dims=2, max_dims=3, max_side=6)))
def test_packed_courses_come_back(counts):
    before = counts.copy()
    np.testing.assert_array_equal(unpacked(packed(counts), counts.shape), counts)
    np.testing.assert_array_equal(counts, before)


def test_factors_come_back_as_they_are_seen():
    result = make()
    page, seen = page_of(result), result.normalised()
    np.testing.assert_allclose(weights(page, 3, 2), seen.B, atol=0.5 / STEPS)
    np.testing.assert_allclose(numbers(page["loadings"], "<f4", (2, 4)).T, seen.A, rtol=1e-6)
    np.testing.assert_allclose(np.array(page["strengths"]).T, seen.C, rtol=1e-6)


def test_slices_of_unequal_width_have_gaps():
    B = [np.ones((width, 2)) for width in (2, 5, 4)]
    again = weights(page_of(make(B=B)), 3, 2)
    assert np.isnan(again).sum(axis=(1, 2)).tolist() == [6, 0, 2]


def test_unseen_columns_and_undetermined_patterns_are_marked():
    coverage = np.ones((3, 5))
    coverage[2, 4] = coverage[0, 1] = 0.0
    undetermined = np.zeros((3, 2), dtype=bool)
    undetermined[1, 0] = True
    page = page_of(make(coverage=coverage, undetermined=undetermined))
    bits = np.unpackbits(numbers(page["unseen"], np.uint8, -1), count=15, bitorder="little").reshape(5, 3)
    assert np.argwhere(bits).tolist() == [[1, 0], [4, 2]]
    assert page["known"] == [[0, 1, 0], [0, 0, 0]]
    assert page_of(make())["unseen"] == ""


def test_labels_and_names_are_those_of_the_user():
    time = np.array(["2020-01-01", "2020-01-08", "2020-02-01"], dtype="datetime64[D]")
    labels = Labels(rows=list("wxyz"), columns=list("abcde"), time=time, names={"columns": "letter"})
    page = page_of(make(labels=labels))
    assert page["times"]["labels"] == ["2020-01-01", "2020-01-08", "2020-02-01"]
    assert np.diff(page["times"]["moments"]).tolist() == [7, 24]
    assert page["columns"] == {"labels": list("abcde"), "of": 5}
    assert page["names"] == {"rows": "rows", "columns": "letter", "time": "time"}


def test_what_was_done_may_be_anything():
    page = page_of(make(), steps=["log1p", "center"], options={"rank": 3, "seed": None}, path=b"x")
    assert page["about"] == [["steps", "log1p, center"], ["options", "rank: 3; seed: None"], ["path", "b'x'"]]


@given(st.recursive(st.text() | st.sampled_from(["</script>", "<!--", "]]>", "&lt;", "\u2028"]), st.lists))
def test_no_text_has_a_meaning_in_html(content):
    text = as_script_text(content)
    assert text.isascii()
    assert not set("<>&") & set(text)
    assert json.loads(text) == content


def test_numbers_that_json_does_not_know_are_left_out():
    C = np.array([[1.0, np.inf]] * 3)
    trace = {"iteration": [1, 2, 3], "objective": [np.nan, 4.0, 2.0], "gap_b": [np.inf, 0.1, 0.0]}
    page = page_of(make(C=C, trace=trace, feasibility_gaps={"B": np.nan}))
    assert page["strengths"][1] == [None] * 3
    assert page["trace"] == {"iteration": [1, 2, 3], "objective": [None, 1.0, None], "B": [None, 0.1, None]}
    assert page["gaps"] == {"B": None}


def test_a_long_trace_is_thinned_but_keeps_its_ends():
    count = 50_000
    trace = {"iteration": np.arange(1, count + 1), "objective": np.linspace(2, 1, count)}
    kept = page_of(make(trace=trace))["trace"]
    assert kept["iteration"][:3] == [1, 2, 3]
    assert kept["iteration"][-1] == count
    assert len(kept["objective"]) == len(kept["iteration"]) < 700


def test_starts_are_listed_with_the_lowest_objective_first():
    starts = {
        "start": [0, 1, 2],
        "objective": [3.0, np.nan, 1.25],
        "status": ["max_iter", "not_finite", "converged"],
        "chosen": [False, False, True],
    }
    page = page_of(make(starts=starts))
    assert page["starts"] == {
        "head": ["start", "objective", "ended", "chosen"],
        "lines": [
            ["2", "1.25", "converged", "yes"],
            ["0", "3", "max iter", ""],
            ["1", "nan", "not finite", ""],
        ],
        "of": 3,
    }
    assert page_of(make())["starts"] == page_of(make())["trace"] == {}


def test_very_many_columns_and_rows_are_cut_to_those_that_matter(monkeypatch):
    monkeypatch.setattr(room, "MOST_WEIGHTS", 3 * 2 * 2)
    monkeypatch.setattr(room, "MOST_ROWS", 1)
    B = np.full((3, 5, 2), 0.01)
    B[1, 3, 0] = B[2, 0, 1] = 1.0
    A = np.array([[0.1, 0.2], [0.1, 0.1], [2.0, 3.0], [0.0, 0.0]])
    result = make(A=A, B=B)
    page = page_of(result)
    assert page["columns"] == {"labels": ["column 0", "column 3"], "of": 5}
    assert page["rows"] == {"labels": ["row 2"], "of": 4, "attributes": {}}
    np.testing.assert_allclose(weights(page, 3, 2), result.normalised().B[:, [0, 3]], atol=0.5 / STEPS)


@pytest.mark.slow
def test_five_thousand_columns_two_hundred_times_and_eight_components_stay_below_ten_megabytes():
    rng = np.random.default_rng(0)
    K, J, R = 200, 5000, 8
    labels = Labels(columns=[f"a label of usual length {j}" for j in range(J)])
    walks = np.cumsum(rng.standard_normal((K, J, R), dtype=np.float32), axis=0) * 0.02
    B = walks + rng.standard_normal((1, J, R), dtype=np.float32)
    result = make(A=np.ones((50, R)), B=B, C=np.ones((K, R)), labels=labels)
    assert len(as_script_text(payload(result, title="", about={}))) < 9_900_000


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_strengths_of_any_size_are_kept(scale):
    result = make(C=np.array([[scale, 2 * scale]] * 3))
    np.testing.assert_allclose(np.array(page_of(result)["strengths"]).T, result.normalised().C, rtol=1e-6)


def test_both_ends_of_every_band():
    result = banded()
    page = page_of(result)
    R, J, K = 2, 4, 3
    bands = page["bands"]
    assert bands["level"] == 0.9
    assert bands["unstable"] == [False, False]
    for end in ("lower", "upper"):
        told = bands[end]
        counts = unpacked(told["patterns"]["counts"], (R, J, K)) * numbers(
            told["patterns"]["sizes"], "<f4", (R, J, 1)
        )
        wanted = getattr(result.intervals.patterns, end)
        np.testing.assert_allclose(counts.transpose(2, 1, 0), wanted, atol=0.5 / BAND_STEPS)
        np.testing.assert_allclose(
            np.transpose(told["strengths"]), getattr(result.intervals.strengths, end), rtol=1e-6
        )
        rises = numbers(told["rises"], "<f4", (R, J)).T
        np.testing.assert_allclose(rises, getattr(result.intervals.rises, end), rtol=1e-6)
    assert page_of(make())["bands"] is None
