"""Labels and lists as text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tparafac2.data import label_text, label_texts, listed, printable, shortened, shown
from tparafac2.data.text import EMPTY


@pytest.mark.parametrize(
    ("label", "text"),
    [
        (3, "3"),
        (np.int64(-1), "-1"),
        (np.float64(0.1 + 0.2), "0.3"),
        (np.float32(0.1), "0.1"),
        (2000.0, "2000"),
        (np.nan, "nan"),
        (np.datetime64("2020-03-01"), "2020-03-01"),
        (np.datetime64("2020-03-01T00:00:00.000000000"), "2020-03-01"),
        (np.datetime64("2020-03-01T08:30"), "2020-03-01 08:30"),
        (np.datetime64("2020-03"), "2020-03"),
        (np.datetime64("2020"), "2020"),
        (np.datetime64("NaT"), "NaT"),
        ("two\nlines", "two?lines"),
        ("", EMPTY),
        ("  ", EMPTY),
        ("a b", "a b"),
        ("é ß 日本", "é ß 日本"),
        ("\N{NO-BREAK SPACE}m\N{ZERO WIDTH JOINER}n", "\N{NO-BREAK SPACE}m\N{ZERO WIDTH JOINER}n"),
        ("\N{RIGHT-TO-LEFT OVERRIDE}x\ud800", "?x?"),
        (("a", 1), "('a', 1)"),
        (None, "None"),
    ],
)
def test_labels_are_written_as_their_owner_does(label, text):
    assert label_text(label) == text


@given(st.text(max_size=60), st.integers(8, 40))
def test_every_label_can_be_seen_and_none_is_long(text, longest):
    written = label_text(text, longest)
    assert 0 < len(written) <= longest
    assert written.strip()
    assert printable(written) == written


@given(st.text(max_size=60), st.integers(3, 30))
def test_shortening_keeps_both_ends(text, longest):
    short = shortened(text, longest)
    assert len(short) <= longest
    if len(text) > longest:
        front, back = short.split("…", 1) if "…" not in text else (short[: longest // 2], "")
        assert text.startswith(front)
        assert text.endswith(back)
    else:
        assert short == text


def test_text_in_a_sentence_is_in_quotes():
    assert shown("it's") == '"it\'s"'
    assert shown(np.str_("a\x1bb")) == r"'a\x1bb'"
    assert shown(np.float64(3)) == "3"
    assert shown("x" * 100, 9) == "'xxx…xxx'"


def test_lists_are_short():
    assert listed(range(2000), 3) == "0, 1, 2 and 1,997 more"
    assert listed("ab") == "a, b"
    assert listed([]) == ""


def test_whole_numbers_have_no_point_and_texts_stay_as_they_are():
    assert label_texts(np.array([7.0, 8.5])) == ["7", "8.5"]
    assert label_texts(np.array(["7.0", "8"])) == ["7.0", "8"]


def test_years_and_missing_dates_stay_as_they_are():
    assert label_texts(np.array(["2013", "2014"], dtype="M8[Y]")) == ["2013", "2014"]
    assert label_texts(np.array(["2013-01-01", "NaT"], dtype="M8[D]")) == ["2013-01-01", "NaT"]
