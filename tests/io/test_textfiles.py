"""What text files are found to be; what is written is no formula to a spreadsheet."""

import csv
import gzip
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tparafac2 as tp
from tparafac2.io import text_layout
from tparafac2.io.textfiles import guarded, line_of, records, unguarded, write_csv

STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
LIKE_FORMULAS = st.text(st.sampled_from("'=+-@\t\r\n1.eA"), max_size=6)


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


# --- formulas -----------------------------------------------------------------------------------------------


def is_run(cell):
    """Whether a spreadsheet would calculate this: plain numbers are only numbers."""
    try:
        return cell.startswith(STARTS) and not np.isfinite(float(cell))
    except ValueError:
        return True


@given(label=LIKE_FORMULAS | st.text())
@example(label="''=")
def test_any_label_comes_back_and_none_is_run(label):
    written = guarded(label)
    assert unguarded(written) == label
    assert not is_run(written)


@pytest.mark.parametrize("label", ["", "a=b", "'tis", "-1.5", "+3", "-2e-05", " =1", -1.5, 7, None, "−5"])
def test_what_is_no_formula_stays_as_it_is(label):
    assert guarded(label) is label
    assert not isinstance(label, str) or unguarded(label) == label


@given(labels=st.lists(LIKE_FORMULAS.filter(str.strip), min_size=2, unique=True))
@settings(max_examples=30)
def test_a_table_comes_back_with_its_labels(tmp_path, labels):
    """Text of digits is a number to the reader, with or without these marks; so one label is not."""
    labels = sorted({*labels, "=word"})
    lines = [(label, label, time, -2.0) for time in (-1.5, 2.0) for label in labels]
    frame = pd.DataFrame(lines, columns=["=who", "@word", "time", "n"])
    write_csv(frame, tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="") as file:
        header, *lines = csv.reader(file)
    assert header == ["'=who", "'@word", "time", "n"]
    assert [unguarded(line[0]) for line in lines] == labels * 2
    table = tp.io.read(tmp_path / "t.csv", rows="=who", columns="@word", time="time", values="n")
    assert sorted(table.labels.rows.tolist()) == labels
    assert table.labels.time.tolist() == [-1.5, 2.0]


def test_marked_and_unmarked_are_one_label(tmp_path):
    (tmp_path / "t.csv").write_text("who,word,year\n=a,x,1\n'=a,y,1\nb,z,2\n")
    table = tp.io.read(tmp_path / "t.csv", rows="who", columns="word", time="year")
    assert table.labels.rows.tolist() == ["=a", "b"]


def test_results_of_labels_like_formulas(tmp_path):
    labels = ["=HYPERLINK(1)", "+1+1", "-x", "@SUM(A1)"]
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        [(year, who, word, rng.random()) for year in (-2, -1, 0) for who in labels for word in labels],
        columns=["year", "who", "=word", "n"],
    )
    table = tp.Table(frame, rows="who", columns="=word", time="year", values="n")
    model = tp.CP(1, n_starts=1, random_state=0).fit(table)
    folder = tp.io.write_results(model, tmp_path / "out", figures=())
    for path in folder.glob("*.csv"):
        with path.open(newline="") as file:
            cells = [cell for line in csv.reader(file) for cell in line]
        assert [cell for cell in cells if is_run(cell)] == []
    names = {"rows": "component", "columns": "=word", "time": "year", "values": "weight"}
    again = tp.io.read(folder / "patterns.csv", **names)
    assert again.labels.columns.tolist() == model.result_.labels.columns.tolist()
    assert again.labels.time.tolist() == [-2, -1, 0]
