"""Long tables from text and Parquet files, and what is refused."""

import gzip
import os
import sys
import time as clock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tparafac2.data import Table, take_in
from tparafac2.io import read

ASKED = {"rows": "author", "columns": "word", "time": "year", "values": "n"}
FRAME = pd.DataFrame(
    {
        "author": ["Ann", "Bo", "Ann"],
        "word": ["ice", "sun", "sun"],
        "year": [2021, 2020, 2020],
        "n": [1.5, 2, 3],
    }
)
HEADER = "author,word,year,n\n"


@pytest.fixture
def written(tmp_path):
    def write(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def _refused(path, error=ValueError, **asked):
    with pytest.raises(error) as caught:
        read(path, **(asked or ASKED))
    return str(caught.value)


def _stack(table):
    return np.array([getattr(piece, "toarray", lambda piece=piece: piece)() for piece in table.slices()])


# --- what comes in ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.txt", "t.CSV", "t.csv.gz", "t.tsv.gz", "t.txt.gz"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_every_ending_and_separator(written, name, separator):
    text = FRAME.to_csv(sep=separator, index=False).encode()
    table = read(written(gzip.compress(text) if name.endswith("gz") else text, name), **ASKED)
    assert isinstance(table, Table)
    np.testing.assert_array_equal(_stack(table), [[[0, 3], [0, 2]], [[1.5, 0], [0, 0]]])
    assert table.labels.time.tolist() == [2020, 2021]
    assert table.labels.names == {"rows": "author", "columns": "word", "time": "year"}


def test_options_reach_the_table(written):
    path = written(HEADER + "Ann,ice,1,2\nAnn,ice,1,4\nAnn,sun,2,1\n")
    table = read(path, **ASKED, duplicates="mean", absent="missing", top_columns=1)
    np.testing.assert_array_equal(_stack(table), [[[3]], [[np.nan]]])
    assert read(path, rows="author", columns="word", time="year").slices()[0][0, 0] == 2


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_marks_at_the_beginning_belong_to_no_name(written, encoding):
    table = read(written((HEADER + "Åsa,雪,1,2\nÅsa,雪,2,3\n").encode(encoding)), **ASKED)
    assert (table.labels.rows.tolist(), table.labels.columns.tolist()) == (["Åsa"], ["雪"])


def test_header_decides_what_separates(written):
    assert read(
        written('author;"a, b, c, d, e";year\nx;1;2\ny;1;3\n'),
        rows="author",
        columns="a, b, c, d, e",
        time="year",
    ).shape == (2, 2, 1)
    # Commas give more columns, but not those asked for.
    text = "author;word;year;n,a,b,c,d,e\nx;y;1;2\nx;y;2;2\n"
    assert read(written(text), rows="author", columns="word", time="year").shape == (2, 1, 1)


def test_spaces_around_names_and_numbers_do_not_matter(written):
    table = read(written("author , word,year, n\nAnn,ice, 2020, 2 \nAnn,ice,2021 ,3\n"), **ASKED)
    np.testing.assert_array_equal(_stack(table).ravel(), [2, 3])


@pytest.mark.parametrize("missing", ["", "NA", "NaN", "nan", "null", "None", "#N/A"])
def test_missing_values_are_missing(written, missing):
    table = read(written(HEADER + f"Ann,ice,1,{missing}\nAnn,ice,2,1\n"), **ASKED)
    np.testing.assert_array_equal(_stack(table).ravel(), [np.nan, 1])


def test_other_order_of_bytes(written):
    text = HEADER + "Åsa,雪,1,2\nÅsa,雪,2,3\n"
    for mark, encoding in ((b"\0\0\xfe\xff", "utf-32-be"), (b"\xfe\xff", "utf-16-be")):
        assert read(written(mark + text.encode(encoding)), **ASKED).labels.rows.tolist() == ["Åsa"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["True", "True"], [1, 1]),
        (["True", "3"], [1, 3]),
        (["0.5", "false"], [0.5, 0]),
        (["TRUE", ""], [1, np.nan]),
    ],
)
def test_truths_are_ones_alone_and_together(written, values, expected):
    table = read(written(HEADER + "".join(f"Ann,ice,{k},{v}\n" for k, v in enumerate(values))), **ASKED)
    np.testing.assert_array_equal(_stack(table).ravel(), expected)


@pytest.mark.parametrize("label", ["NA", "None", "null", "nan", "inf", "007", "1e5", "1_000", "True", "-0"])
def test_labels_stay_as_they_are_written(written, label):
    table = read(written(HEADER + f"{label},ice,1,1\n7,ice,2,1\n"), **ASKED)
    assert sorted(table.labels.rows.tolist()) == sorted([label, "7"])


@pytest.mark.parametrize(
    ("texts", "expected"),
    [(["10", "9"], [9, 10]), (["-1", "2"], [-1, 2]), (["10.5", "9.0"], [9.0, 10.5]), (["9", "1" * 30], None)],
)
def test_labels_that_are_plain_numbers_are_in_their_order(written, texts, expected):
    found = read(
        written(HEADER + "".join(f"{x},ice,{k},1\n" for k, x in enumerate(texts))), **ASKED
    ).labels.rows
    assert found.tolist() == (sorted(texts) if expected is None else expected)


def test_dates_and_other_columns(written):
    text = 'note,author,word,year,n,more\n"a, b\nc",Ann,ice,2021-05-01,1,x\n,Ann,ice,2020-12-31,2,\n'
    table = read(written(text), **ASKED)
    assert table.labels.time.astype("datetime64[D]").astype(str).tolist() == ["2020-12-31", "2021-05-01"]


def test_trailing_separators_are_no_column(written):
    assert read(written(HEADER + "Ann,ice,1,2,\nAnn,ice,2,2,\n"), **ASKED).shape == (2, 1, 1)


_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8)


@given(labels=st.lists(_TEXT, min_size=2, max_size=6, unique=True), separator=st.sampled_from(",;\t|"))
@settings(max_examples=60)
def test_any_label_comes_back(tmp_path, labels, separator):
    n = len(labels)
    frame = pd.DataFrame({"author": labels, "word": labels[::-1], "year": range(n), "n": np.arange(n) + 0.1})
    path = tmp_path / "any.csv"
    frame.to_csv(path, sep=separator, index=False, quoting=1)
    table = read(path, **ASKED)
    assert sorted(map(str, table.labels.rows.tolist())) == sorted(labels)
    assert {type(label) for label in table.labels.rows.tolist()} <= {str, int, float}
    place = {str(label): i for i, label in enumerate(table.labels.rows.tolist())}
    stack = _stack(table)
    for k, label in enumerate(labels):
        assert stack[k, place[label]].sum() == k + 0.1


@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=5))
@settings(max_examples=40)
def test_any_number_comes_back(tmp_path, values):
    lines = "".join(f"a,b,{k},{value!r}\n" for k, value in enumerate(values))
    (tmp_path / "numbers.csv").write_text(HEADER + lines)
    np.testing.assert_allclose(_stack(read(tmp_path / "numbers.csv", **ASKED)).ravel(), values, rtol=1e-15)


# --- what is refused ----------------------------------------------------------------------------------------


def test_missing_file_and_folder(tmp_path):
    assert "there is no file" in _refused(tmp_path / "no.csv", FileNotFoundError)
    assert "is a folder: give the path of a file in it" in _refused(tmp_path, IsADirectoryError)
    (tmp_path / "votes").mkdir()
    (tmp_path / "votes" / "part-0.parquet").touch()
    said = _refused(tmp_path / "votes", IsADirectoryError)
    assert "rename the folder so that it ends in .parquet, such as 'votes.parquet'" in said


def test_unknown_ending(written):
    assert "does not end in .csv" in _refused(written("x", "table.xlsx"))


@pytest.mark.parametrize(
    ("name", "content"), [("a.csv", ""), ("b.csv", "\n \n"), ("c.csv.gz", gzip.compress(b"", mtime=0))]
)
def test_empty_files(written, name, content):
    assert "is empty" in _refused(written(content, name))


def test_header_alone(written):
    assert _refused(written(HEADER)).startswith(
        "'table.csv' (columns separated by ','): the table has no lines"
    )


@pytest.mark.parametrize(
    ("name", "content", "look"),
    [
        ("a.csv", gzip.compress(b"abc", mtime=0), "a gzip file"),
        ("a.csv", b"PK\x03\x04\x14\0\0\0", "Excel"),
        ("a.csv", b"\0\1\2", "no kind of file"),
        ("a.csv.gz", HEADER, "text"),
        ("a.nc", HEADER, "text"),
        ("a.npy", HEADER, "text"),
        ("a.npz", b"\x93NUMPY", "a NumPy array"),
        ("a.parquet", b"\x89HDF\r\n\x1a\n", "a netCDF-4 or HDF5 file"),
    ],
)
def test_files_that_are_not_what_their_ending_says(written, name, content, look):
    message = _refused(written(content, name))
    assert "not what its ending says" in message
    assert look in message


def test_packed_file_that_holds_no_text(written):
    assert "holds no text" in _refused(written(gzip.compress(b"PAR1\0\0"), "a.csv.gz"))


def test_truncated_gzip(written):
    rng = np.random.default_rng(0)
    lines = "".join(f"a,b,{k},{value}\n" for k, value in enumerate(rng.normal(size=5000)))
    packed = gzip.compress((HEADER + lines).encode())
    assert "damaged" in _refused(written(packed[: len(packed) // 2], "t.csv.gz"))


def test_misspelt_column(written):
    message = _refused(written("author;word;year;n\na;b;1;2\n"), rows="autor", columns="word", time="year")
    assert message.startswith("'table.csv' (columns separated by ';'): rows='autor' is not a column")
    assert "did you mean 'author'?" in message


def test_columns_that_were_not_said(written):
    message = _refused(written(HEADER), rows="author")
    assert "say by columns= and time=" in message
    assert "4 columns separated by ',': 'author', 'word', 'year', 'n'" in message


def test_no_separator(written):
    assert "nothing separates columns" in _refused(written("author word year n\n"))


def test_name_that_is_there_twice(written):
    assert "2 columns called 'author'" in _refused(written("author,author,word,year,n\na,a,b,1,2\n"))


def test_one_time(written):
    path = written(HEADER + "a,b,1,2\nb,b,1,2\n")
    assert "at least two times" in _refused(path)
    table = read(path, **ASKED, one_time=True)
    assert table.shape == (1, 2, 1)  # it may be appended to a model
    with pytest.raises(ValueError, match="at least two times"):
        take_in(table)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("Ann,ice,soon,1", "the time 'soon' in 'year'"),
        ("Ann,ice,3,many", "'many' in 'n' is not a number"),
        ("Ann,,3,1", "'word', which names the columns, is missing"),
        ("Ann,ice,3,inf", "the value in 'n' is infinite"),
        ("Ann,ice,3,1,5", "there is more on it than the 4 columns"),
        ("Ann,ice,3", "there is less on it (3) than the 4 columns"),
        ("Ann", "there is less on it (1) than the 4 columns"),
        ("Ann,ice,2020-01-02,1", "the time '2020-01-02' in 'year' cannot be read"),
        ('"Ann,ice,3,1', "a quotation mark is opened here"),
    ],
)
@pytest.mark.parametrize(
    ("before", "line"),
    [("", 3), ("\n\n", 5), ('"a\n\nlabel",ice,7,1\n', 6), ("   \n", 4), ("Bo,ice,7,1\r\n", 4)],
)
def test_lines_are_counted_as_in_an_editor(written, bad, said, before, line):
    message = _refused(written(f"{HEADER}Ann,ice,1,1\n{before}{bad}\n"))
    assert message.startswith(f"'table.csv', line {line}: {said}")


def test_short_lines_are_seen_where_the_last_column_is_not_asked_for(written):
    message = _refused(written("author,word,year,n,note\na,b,1,2,\na,b,2,2\n"))
    assert message.startswith("'table.csv', line 3: there is less on it (4) than the 5 columns")
    assert read(written("author,word,year,n,note\na,b,1,2,\na,b,2,2,\n"), **ASKED).shape == (2, 1, 1)


def test_separators_at_the_end_of_the_header_begin_no_column(written):
    assert read(written("author,word,year,n,,\na,b,1,2\na,b,2,2\n"), **ASKED).shape == (2, 1, 1)


def test_mixed_kinds_of_times(written):
    message = _refused(written(HEADER + "a,b,2020-01-02,1\na,b,2021.5,1\na,b,2022,1\n"))
    assert message.startswith("'table.csv', line 3: the time '2021.5' in 'year' cannot be read")


@pytest.mark.parametrize("name", ["p.csv", "p.nc", "p.npy", "stdin"])
def test_pipes_are_refused_and_not_waited_for(tmp_path, name):
    os.mkfifo(tmp_path / name)
    message = _refused(tmp_path / name, OSError)
    assert name in message
    assert "a pipe or a device" in message


def test_both_lines_of_a_repetition_are_counted(written):
    message = _refused(written(f'\n{HEADER}"line 9",b,1,2\n\n"line 9",b,2,2\n"line 9",b,1,2\n'))
    assert message.startswith("'table.csv', line 6 repeats line 3 (author 'line 9', word 'b', year 1)")


def test_text_of_another_encoding(written):
    message = _refused(written((HEADER + "a,b,1,2\né,b,2,2\n").encode("latin-1")))
    assert message.startswith("'table.csv', line 3: this is not UTF-8")


def test_utf16_that_ends_within_a_letter(written):
    message = _refused(written((HEADER + "a,b,1,2\na,b,2,2\n").encode("utf-16")[:-1]))
    assert message.startswith("'table.csv' is damaged")


@pytest.mark.parametrize(
    ("asked", "said"),
    [({"axes": "rows,columns,time"}, "axes="), ({"absent": "nan"}, "absent must be one of")],
)
def test_options_that_do_not_fit(written, asked, said):
    assert said in _refused(written(HEADER + "a,b,1,2\n"), **ASKED, **asked)


def test_unknown_option_and_options_of_tables_for_arrays(written, tmp_path):
    with pytest.raises(TypeError, match="no option 'absnet'"):
        read(written(HEADER), **ASKED, absnet="zero")
    np.save(tmp_path / "x.npy", np.ones((2, 3, 4)))
    with pytest.raises(ValueError, match="duplicates='sum' cannot be used here"):
        read(tmp_path / "x.npy", axes="time,rows,columns", duplicates="sum")
    assert read(tmp_path / "x.npy", axes="time,rows,columns", absent="zero").shape == (2, 3, 4)


# --- Parquet ------------------------------------------------------------------------------------------------


def test_parquet_says_what_to_install(written, monkeypatch):
    for name in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    assert "pip install pyarrow" in _refused(written(b"PAR1....PAR1", "t.parquet"), ImportError)


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    FRAME.to_parquet(tmp_path / "t.parquet")
    np.testing.assert_array_equal(
        _stack(read(tmp_path / "t.parquet", **ASKED)), [[[0, 3], [0, 2]], [[1.5, 0], [0, 0]]]
    )
    assert "did you mean 'author'?" in _refused(tmp_path / "t.parquet", **(ASKED | {"rows": "autor"}))
    message = _refused(tmp_path / "t.parquet", rows="author")
    assert "'t.parquet' has 4 columns: 'author', 'word', 'year', 'n'." in message
    whole = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "t.parquet").write_bytes(whole[:-20])
    assert "damaged" in _refused(tmp_path / "t.parquet")


def test_parquet_counts_rows_from_one(tmp_path):
    pytest.importorskip("pyarrow")
    FRAME.assign(year=["soon", "2020", "2021"]).to_parquet(tmp_path / "t.parquet")
    assert _refused(tmp_path / "t.parquet").startswith("'t.parquet', row 1: the time 'soon'")
    FRAME.assign(author="Ann", year=[2020, 2021, 2021]).to_parquet(tmp_path / "t.parquet")
    assert _refused(tmp_path / "t.parquet").startswith("'t.parquet', row 3 repeats row 2 (")


@pytest.mark.parametrize("index", [["author"], ["author", "word"]])
def test_parquet_with_an_index_of_pandas(tmp_path, index):
    pytest.importorskip("pyarrow")
    FRAME.set_index(index).to_parquet(tmp_path / "t.parquet")
    assert read(tmp_path / "t.parquet", **ASKED).labels.rows.tolist() == ["Ann", "Bo"]


# --- fast ---------------------------------------------------------------------------------------------------


def test_many_lines_are_read_in_no_time(tmp_path):
    n = 100_000
    rng = np.random.default_rng(0)
    parts = [rng.integers(size, size=n).astype(str) for size in (4000, 5000, 30)]
    lines = (f"author {a},word {w},{2000 + int(t)},1.25" for a, w, t in zip(*parts))
    (tmp_path / "many.csv").write_text(HEADER + "\n".join(lines))
    start = clock.perf_counter()
    table = read(tmp_path / "many.csv", **ASKED, duplicates="sum")
    # About 0.2 s; a loop over lines takes seconds.
    assert clock.perf_counter() - start < 3
    assert sum(piece.sum() for piece in table.slices()) == 1.25 * n
