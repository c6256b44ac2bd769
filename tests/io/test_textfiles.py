"""What text files are found to be."""

import gzip
from io import StringIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tparafac2.io import text_layout
from tparafac2.io.textfiles import line_of, records


def test_what_was_found_is_said(tmp_path):
    (tmp_path / "t.txt").write_text("author\tword\n")
    layout = text_layout(tmp_path / "t.txt")
    assert layout.describe() == "'t.txt' has 2 columns separated by tab: 'author', 'word'."
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(";".join(map(str, range(30))).encode()))
    layout = text_layout(tmp_path / "t.csv.gz")
    assert layout.delimiter == ";"
    assert layout.describe().endswith("'19' and 10 more.")


def test_header_that_is_never_closed(tmp_path):
    (tmp_path / "t.csv").write_text('"author,word\n' + "x" * 200_000)
    with pytest.raises(ValueError, match=r"first line of 't\.csv' cannot be read"):
        text_layout(tmp_path / "t.csv")


_FIELDS = st.lists(st.text('ab,\n"; ', max_size=4), min_size=2, max_size=3)


@given(st.lists(st.one_of(_FIELDS, st.just([])), max_size=6))
@settings(max_examples=60)
def test_lines_on_which_records_begin(rows):
    text, expected = "", []
    for row in rows:
        if row:
            expected.append(text.count("\n") + 1)
        text += ",".join('"' + field.replace('"', '""') + '"' for field in row) + "\n"
    found = list(records(StringIO(text, newline=""), ","))
    assert [line for line, _ in found] == expected
    assert [record for _, record in found] == [row for row in rows if row]


def test_line_beyond_the_end_is_still_a_number(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    assert line_of(tmp_path / "t.csv", text_layout(tmp_path / "t.csv"), 7) == 9
