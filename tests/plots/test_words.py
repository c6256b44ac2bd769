"""Labels as text in a picture."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.cbook import is_math_text

from tparafac2.data import Labels
from tparafac2.plots.words import (
    LONGEST,
    dimension_name,
    few_of,
    labels_of,
    literal,
    picture_text,
    without_common_ends,
)
from tparafac2.result import Result


def a_result(**labels):
    return Result(
        model="CP", A=np.ones((2, 1)), B=np.ones((2, 3, 1)), C=np.ones((2, 1)), labels=Labels(**labels),
        objective=0.0, explained_variance=1.0, status="Converged.", converged=True, n_iter=1,
    )  # fmt: skip


def test_labels_are_short_and_literal():
    assert picture_text("_hidden") == " _hidden"
    assert picture_text(np.datetime64("2020-03-01T08:30")) == "2020-03-01 08:30"
    assert len(picture_text("x" * 100)) == LONGEST


@given(st.text(max_size=60))
def test_no_label_is_a_formula_long_or_hidden_from_legends(text):
    shown = picture_text(text)
    assert not is_math_text(shown)
    assert len(shown.replace(r"\$", "$").strip()) <= LONGEST
    assert not shown.startswith("_")


def test_dollars_are_shown_as_they_are():
    from matplotlib.text import Text

    shown, is_formula = Text()._preprocess_math(literal("$x^2$ costs $5"))
    assert (shown, is_formula) == ("$x^2$ costs $5", False)


def test_what_long_labels_have_in_common_is_left_out():
    taxa = [f"k__Bacteria;p__Firmicutes;g__{name}" for name in ("Blautia", "Dorea")]
    assert without_common_ends(taxa, 20) == ["…Blautia", "…Dorea"]
    assert without_common_ends(taxa, 50) == taxa


def test_words_are_not_cut():
    names = ["a long label about Anna", "a long label about Anton"]
    assert without_common_ends(names, 10) == ["…Anna", "…Anton"]


def test_a_single_or_equal_label_stays():
    assert without_common_ends(["a very long label indeed"], 5) == ["a very long label indeed"]
    assert len(without_common_ends(["long label", "long label"], 5)) == 2


def test_without_labels_counting_is_that_of_the_arrays():
    assert labels_of(a_result(), "columns", 3) == ["0", "1", "2"]


def test_dimensions_have_the_users_names():
    named = a_result(names={"columns": "word"})
    assert (dimension_name(named, "columns"), dimension_name(named, "time")) == ("word", "Time")


def test_what_is_left_out_is_said():
    assert few_of("word", 5, 1000) == "word (the 5 largest of 1,000)"
    assert few_of("word", 5, 5) == "word"
