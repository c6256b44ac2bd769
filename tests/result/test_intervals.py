from dataclasses import replace

import numpy as np
import pytest
from banded import banded, intervals_for

from tparafac2.data import Labels
from tparafac2.result import Kind, load_result, sentence


def same(one, other):
    for (name, band), (other_name, another) in zip(one.bands(), other.bands(), strict=True):
        assert name == other_name
        for here, there in zip(band, another):
            np.testing.assert_array_equal(here, there)


def test_files_keep_all_of_it(tmp_path):
    result = banded()
    result.save(tmp_path / "model.npz")
    again = load_result(tmp_path / "model.npz").intervals
    same(result.intervals, again)
    assert again.to_record() == result.intervals.to_record()
    np.testing.assert_array_equal(again.rise_times, result.intervals.rise_times)
    assert again.unmatched.tolist() == [0.0, 0.0]


def test_files_keep_intervals_without_loadings_and_contrasts(tmp_path):
    result = banded()
    less = replace(
        result.intervals, loadings=None, contrasts=type(result.intervals.contrasts)(*np.zeros((3, 0)))
    )
    replace(result, intervals=replace(less, asked=())).save(tmp_path / "model.npz")
    again = load_result(tmp_path / "model.npz").intervals
    assert again.loadings is None
    assert again.contrasts.centre.size == 0
    same(less, again)


def test_the_data_set_has_both_ends_under_the_users_names():
    result = banded(labels=Labels(names={"rows": "author", "columns": "patterns_lower", "time": "year"}))
    found = result.to_dataset()
    assert found["patterns_lower"].dims == ("year", "patterns_lower_", "component")
    np.testing.assert_array_equal(found["loadings_upper"], result.intervals.loadings.upper)
    np.testing.assert_array_equal(found["rises"], result.intervals.rises.centre)


def test_a_line_in_the_summary_says_how_they_came_about():
    assert "Bands of 90 % from 50 refits to rows drawn anew" in banded().summary()
    assert "around a fit 4 times less smooth" in banded().summary()
    result = banded()
    other = replace(result.intervals, over="residuals", undersmoothing=1.0, interrupted=True)
    text = replace(result, intervals=other).summary()
    assert "the same rows, residuals with random signs (interrupted by the user)" in text
    grouped = replace(result, intervals=replace(result.intervals, groups=7))
    assert "7 groups of rows drawn anew" in grouped.summary()


def test_components_that_were_not_found_again_are_told():
    result = banded()
    bands = intervals_for(result, unmatched=np.array([0.05, 0.4]))
    found = [one for one in replace(result, intervals=bands).findings if one.kind is Kind.UNSTABLE]
    assert [one.component for one in found] == [2]
    assert "not found again in 40 % of the data drawn anew" in sentence(found[0])
    assert bands.unstable.tolist() == [False, True]


def test_contrasts_as_a_table():
    result = banded()
    table = result.intervals.contrast_table(np.array(list("abcd")), np.array([1990, 1991, 1992]))
    line = table.iloc[0]
    assert (line["component"], line["column"], line["from"], line["to"]) == (1, "c", 1990, 1991)
    assert line["lower"] == pytest.approx(-0.1)
    assert line["upper"] == pytest.approx(0.3)
