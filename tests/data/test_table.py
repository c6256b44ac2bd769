import datetime
import time as clock
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from tparafac2.data import memory, take_in
from tparafac2.data.table import Table

LINES = {
    "author": ["Ann", "Bo", "Ann", "Bo"],
    "word": ["ice", "sun", "sun", "ice"],
    "year": [2021, 2020, 2021, 2020],
    "n": [1.0, 2.0, 3.0, 4.0],
}


def _table(frame=LINES, **options):
    return Table(frame, **{"rows": "author", "columns": "word", "time": "year", **options})


def _with(**columns):
    return LINES | columns


def _stack(table):
    return np.stack([s.toarray() if scipy.sparse.issparse(s) else s for s in table.slices()])


# --- a cube, taken apart into lines in any order, comes back ------------------------------------------------

NAMES = st.text(min_size=0, max_size=6) | st.sampled_from(
    ['"', "'a'", "a,b", "ä", "a\u0308", " a", "a\0", "\n"]
)


@st.composite
def cubes(draw):
    """Draw a (K, I, J) cube and which of its places have lines, with labels; no label is without a line."""
    shape = draw(st.tuples(st.integers(2, 5), st.integers(1, 8), st.integers(1, 8)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    has_line = rng.random(shape) < draw(st.sampled_from([0.02, 0.3, 1.0]))
    for axis, size in enumerate(shape):
        for position in range(size):
            np.moveaxis(has_line, axis, 0)[position].flat[rng.integers(has_line.size // size)] = True
    rows = draw(st.lists(NAMES, min_size=shape[1], max_size=shape[1], unique=True))
    columns = draw(st.lists(st.integers(-(10**9), 10**9), min_size=shape[2], max_size=shape[2], unique=True))
    return np.where(has_line, rng.normal(size=shape), 0.0), has_line, sorted(rows), sorted(columns), rng


def _lines(cube, has_line, rows, columns, rng):
    k, i, j = np.nonzero(has_line)
    shuffled = rng.permutation(len(k))
    frame = pd.DataFrame(
        {
            "v": cube[k, i, j],
            "t": 10.5 * k - 3,
            "r": np.array(rows, dtype=object)[i],
            "c": np.array(columns)[j],
        }
    )
    return frame.iloc[shuffled]


@given(drawn=cubes(), absent=st.sampled_from(["zero", "missing", "columns", "rows"]))
@settings(max_examples=150)
def test_cube_comes_back(drawn, absent):
    cube, has_line, rows, columns, _ = drawn
    frame = _lines(*drawn)
    before = frame.copy(deep=True)
    table = Table(frame, rows="r", columns="c", time="t", values="v", absent=absent)
    expected = cube.copy()
    present = has_line.any(axis=1)
    if absent == "missing":
        expected[~has_line] = np.nan
    if absent == "rows":
        expected[~has_line.any(axis=2)] = np.nan
    if absent == "columns":
        expected[np.broadcast_to(~present[:, None, :], cube.shape)] = np.nan
        np.testing.assert_array_equal(table.present, present)
    else:
        assert table.present is None
    np.testing.assert_array_equal(_stack(table), expected)
    assert table.shape == cube.shape
    assert table.n_absent == np.count_nonzero(~has_line)
    assert table.density == has_line.mean()
    assert list(table.labels.rows) == rows
    assert list(table.labels.columns) == columns
    assert list(table.labels.time) == [10.5 * k - 3 for k in range(len(cube))]
    pd.testing.assert_frame_equal(frame, before)


@given(drawn=cubes(), how=st.sampled_from(["sum", "mean"]), parts=st.integers(2, 4))
@settings(max_examples=50)
def test_duplicates_are_added_up_or_averaged(drawn, how, parts):
    cube, *_, rng = drawn
    whole = _lines(*drawn)
    shares = [part * (1 if how == "sum" else parts) for part in rng.dirichlet(np.ones(parts))]
    frame = pd.concat([whole.assign(v=whole["v"] * share) for share in shares]).sample(frac=1, random_state=0)
    table = Table(frame, rows="r", columns="c", time="t", values="v", duplicates=how)
    np.testing.assert_allclose(_stack(table), cube, rtol=1e-13, atol=1e-13)
    n_repeats = (parts - 1) * len(whole)
    assert f"({n_repeats:,}) were {'added up' if how == 'sum' else 'averaged'}" in table.describe()


@given(drawn=cubes(), count=st.integers(1, 8), absent=st.sampled_from(["zero", "missing", "columns", "rows"]))
@settings(max_examples=50)
def test_top_columns_are_those_of_the_whole_table(drawn, count, absent):
    frame = _lines(*drawn)
    options = {"rows": "r", "columns": "c", "time": "t", "values": "v", "absent": absent}
    whole, top = Table(frame, **options), Table(frame, **options, top_columns=count)
    sizes = np.abs(drawn[0]).sum(axis=(0, 1))
    kept = np.sort(np.argsort(-sizes)[:count])
    np.testing.assert_array_equal(_stack(top), _stack(whole)[:, :, kept])
    np.testing.assert_array_equal(top.labels.columns, whole.labels.columns[kept])
    if absent == "columns":
        np.testing.assert_array_equal(top.present, whole.present[:, kept])


def test_equal_top_columns_are_chosen_by_appearance_and_kept_in_label_order():
    frame = {"r": [0] * 6, "c": list("dbaacd"), "t": [0, 0, 0, 1, 1, 1], "v": [1, -2, 1, 1, 2, 1]}
    table = Table(frame, rows="r", columns="c", time="t", values="v", top_columns=2)
    assert table.labels.columns.tolist() == ["b", "d"]
    assert "2 columns ('c', the largest of 4)" in table.describe()


def test_top_columns_are_ranked_by_merged_values():
    frame = {"r": [0] * 4, "c": ["x", "x", "y", "y"], "t": [0, 0, 0, 1], "v": [5, -5, 1, 1]}
    table = Table(frame, rows="r", columns="c", time="t", values="v", duplicates="sum", top_columns=1)
    assert table.labels.columns.tolist() == ["y"]


# --- what is given back -------------------------------------------------------------------------------------


def _thin(n=40):
    return pd.DataFrame({"author": range(n), "word": range(n), "year": np.arange(n) % 2, "n": np.ones(n)})


def test_thin_table_gives_tidy_sparse_slices():
    table = _table(_thin(), values="n")
    for piece in table.slices():
        assert isinstance(piece, scipy.sparse.csr_array)
        assert piece.shape == (40, 40)
        assert piece.has_canonical_format
    assert sum(piece.nnz for piece in table.slices()) == 40


@pytest.mark.parametrize("absent", ["missing", "columns"])
def test_thin_table_with_missing_entries_is_dense(absent):
    assert isinstance(_table(_thin(), values="n", absent=absent).slices()[0], np.ndarray)


def test_missing_value_makes_slices_dense_and_stays_missing():
    table = _table(_thin().assign(n=lambda f: f["n"].where(f["author"] != 6)), values="n")
    stack = _stack(table)
    assert isinstance(table.slices()[0], np.ndarray)
    assert np.isnan(stack[0, 6, 6])
    assert np.isnan(stack).sum() == 1
    assert table.describe().endswith("missing values in the table: 1.")


def test_slices_belong_to_the_user():
    for table in (_table(values="n"), _table(_thin(), values="n")):
        before = _stack(table)
        for piece in table.slices():
            piece *= 0
        np.testing.assert_array_equal(_stack(table), before)


def test_lines_are_counted_without_values():
    frame = pd.DataFrame(LINES)
    table = _table(pd.concat([frame, frame[:1], frame[:1]]))
    np.testing.assert_array_equal(_stack(table), [[[0, 0], [1, 1]], [[3, 1], [0, 0]]])
    assert "repeat" not in table.describe()


def test_dimensions_are_called_as_the_columns():
    assert _table(values="n").labels.names == {"rows": "author", "columns": "word", "time": "year"}


def test_table_cannot_be_changed_and_hides_its_inside():
    table = _table(values="n", absent="columns")
    with pytest.raises(AttributeError):
        table.rows = "word"
    with pytest.raises(ValueError, match="read-only"):
        table.present[0, 0] = False
    assert repr(table) == (
        "Table(rows='author', columns='word', time='year', values='n', absent='columns', "
        "duplicates='error', top_columns=None, top_by='total', weights=None)"
    )


@pytest.mark.parametrize(
    ("absent", "sentence"),
    [
        ("zero", "2 of 8 combinations are not in the table and were taken as zero."),
        ("missing", "2 of 8 combinations are not in the table and were taken as missing."),
        (
            "columns",
            "2 of 8 combinations are not in the table and were taken as zero, but columns do not exist "
            "at times when they have no line at all (1 of 4 pairs of a column and a time).",
        ),
        (
            "rows",
            "2 of 8 combinations are not in the table and were taken as zero, but rows were not observed "
            "at times when they have no line at all (0 of 4 pairs of a row and a time).",
        ),
    ],
)
def test_description_says_what_was_assumed(absent, sentence):
    frame = {"r": list("ababab"), "c": list("xxyyxx"), "t": [0, 0, 0, 0, 1, 1]}
    described = Table(frame, rows="r", columns="c", time="t", absent=absent).describe()
    assert described == "6 lines were counted for 2 times ('t') x 2 rows ('r') x 2 columns ('c'); " + sentence


def test_full_table_is_described_as_such():
    frame = {"r": [0, 0], "c": [0, 0], "t": [0, 1]}
    assert (
        Table(frame, rows="r", columns="c", time="t")
        .describe()
        .endswith("every combination is in the table.")
    )


@pytest.mark.parametrize(
    ("how", "values", "expected"),
    [
        ("sum", [1.0, np.nan, 2.0], [np.nan, 2.0]),
        ("mean", [1.0, np.nan, 2.0], [1.0, 2.0]),
        ("mean", [np.nan, np.nan, 2.0], [np.nan, 2.0]),
    ],
)
def test_missing_values_among_duplicates(how, values, expected):
    frame = {"r": [0, 0, 0], "c": [0, 0, 0], "t": [0, 0, 1], "v": values}
    table = Table(frame, rows="r", columns="c", time="t", values="v", duplicates=how)
    np.testing.assert_array_equal(_stack(table).ravel(), expected)


# --- labels and times of every kind -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["b", "a", "b", "c"], ["a", "b", "c"]),
        ([10, 9, 10, 9], [9, 10]),
        ([1, "1", 1, "a"], [1, "1", "a"]),
        ([("a", 1), ("a", 0), ("a", 1), ("a", 0)], [("a", 0), ("a", 1)]),
        (
            pd.Categorical(["hi", "lo", "hi", "lo"], categories=["lo", "mid", "hi"], ordered=True),
            ["lo", "hi"],
        ),
        (pd.Categorical(["hi", "lo", "hi", "lo"], categories=["lo", "mid", "hi"]), ["hi", "lo"]),
        (pd.array([2, 1, 2, 1], dtype="Int64"), [1, 2]),
        (["a", "a\0", "", "a"], ["", "a", "a\0"]),
    ],
)
def test_labels_of_any_type(labels, expected):
    table = _table(_with(author=labels))
    assert list(table.labels.rows) == expected
    for row in expected:
        lines = [place for place, label in enumerate(labels) if label == row]
        assert _stack(table)[:, expected.index(row)].sum() == len(lines)


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([3, 1, 2, 1], np.array([1, 2, 3])),
        ([0.5, -1, 2, 0.5], np.array([-1, 0.5, 2])),
        (["10", "9", "10", "9"], np.array([9, 10])),
        (["1", "1.0", "2", "2"], np.array([1.0, 2.0])),
        ([True, False, True, False], np.array([0, 1])),
        (np.array([100, -100, 0, 0], dtype=np.int8), np.array([-100, 0, 100])),
        ([Decimal("1.5"), 1, 2, 2], np.array([1, 1.5, 2])),
        (pd.array([2, 1, 2, 1], dtype="Int64"), np.array([1, 2])),
        (pd.Categorical([2, 10, 2, 10]), np.array([2, 10])),
    ],
)
def test_times_that_are_numbers(times, expected):
    found = _table(_with(year=times)).labels.time
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype


@pytest.mark.parametrize(
    "times",
    [
        ["2021-05-01", "2020-12-31"],
        [" 2021-05-01", "2020-12-31T00:00:00"],
        ["2021/05/01", "2020-12-31 00:00"],
        ["2021-05-01T02:00+02:00", "2020-12-31T00:00Z"],
        [datetime.date(2021, 5, 1), datetime.date(2020, 12, 31)],
        [datetime.datetime(2021, 5, 1), "2020-12-31"],
        pd.to_datetime(["2021-05-01", "2020-12-31"]),
        pd.Categorical(pd.to_datetime(["2021-05-01", "2020-12-31"])),
        pd.DatetimeIndex(["2021-05-01T02:00+02:00", "2020-12-31T02:00+02:00"]).tz_convert("Asia/Tokyo"),
        pd.PeriodIndex(["2021-05-01", "2020-12-31"], freq="D"),
    ],
)
def test_times_that_are_dates(times):
    found = _table(_with(year=pd.Series(times).repeat(2).to_list())).labels.time
    as_given = Table(
        pd.DataFrame({"r": [0, 0], "c": [0, 0], "t": times}), rows="r", columns="c", time="t"
    ).labels.time
    for labels in (found, as_given):
        assert labels.dtype.kind == "M"
        np.testing.assert_array_equal(labels, np.array(["2020-12-31", "2021-05-01"], dtype="datetime64[s]"))


def test_elapsed_times_are_kept():
    found = _table(_with(year=pd.to_timedelta([2, 1, 2, 1], unit="h"))).labels.time
    np.testing.assert_array_equal(found, np.array([1, 2], dtype="timedelta64[h]"))


@pytest.mark.parametrize(
    "values",
    [
        [1, None, 3, 4],
        [Decimal(1), np.nan, 3, True + 3],
        pd.array([1, None, 3, 4], dtype="Int64"),
        pd.array([1, None, 3, 4], dtype="Float32"),
        pd.Categorical([1, None, 3, 4]),
        pd.arrays.SparseArray([1, np.nan, 3, 4]),
        np.array([1, np.nan, 3, 4], dtype=np.float16),
    ],
)
def test_values_of_any_numeric_type(values):
    stack = _stack(_table(_with(n=values), values="n"))
    np.testing.assert_array_equal(stack, [[[0, 0], [4, np.nan]], [[1, 3], [0, 0]]])


# --- what is refused ----------------------------------------------------------------------------------------


def _refused(frame, error=ValueError, **options):
    with pytest.raises(error) as caught:
        _table(frame, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"rows": "autor"}, ["rows='autor'", "did you mean 'author'?", "'author', 'word', 'year', 'n'"]),
        ({"time": "YEAR"}, ["did you mean 'year'?"]),
        ({"values": "price"}, ["values='price' is not a column", "It has 'author'"]),
        ({"rows": ["author"]}, ["rows=['author'] is not a column", "did you mean 'author'?"]),
        ({"rows": "word"}, ["must be different columns", "rows='word', columns='word'"]),
        ({"values": "year"}, ["must be different columns"]),
        ({"absent": "nan"}, ["absent must be one of 'zero', 'missing', 'columns', 'rows'; got 'nan'"]),
        ({"duplicates": "first"}, ["duplicates must be one of 'error', 'sum', 'mean'; got 'first'"]),
        ({"duplicates": "mean"}, ["needs values="]),
        ({"top_columns": 0}, ["top_columns", "got 0"]),
        ({"top_columns": 2.0}, ["top_columns", "got 2.0"]),
        ({"top_columns": True}, ["top_columns", "got True"]),
    ],
)
def test_wrong_names_and_options_are_refused(asked, words):
    message = _refused(LINES, **asked)
    assert all(word in message for word in words), message
    assert ("did you mean" in message) == any("did you mean" in word for word in words)


def test_many_columns_are_not_all_listed():
    assert "19 and 80 more" in _refused(pd.DataFrame(np.ones((3, 100))))


def test_level_of_the_index_is_recognised():
    assert "frame.reset_index()" in _refused(pd.DataFrame(LINES).set_index(["author", "word"]))


def test_column_that_is_there_twice_is_refused():
    frame = pd.DataFrame(LINES)
    assert "2 columns called 'author'" in _refused(pd.concat([frame, frame["author"]], axis=1))


@pytest.mark.parametrize("frame", [5, "table.csv", {"author": ["Ann"], "word": ["ice", "sun"]}])
def test_what_is_no_table_is_refused(frame):
    assert "a DataFrame is needed" in _refused(frame)


@pytest.mark.parametrize("frame", [{}, {name: [] for name in LINES}, pd.DataFrame(LINES)[:0]])
def test_empty_table_is_refused(frame):
    assert "no lines" in _refused(frame)


@pytest.mark.parametrize("time", [2020, "2020", "2020-01-01", pd.Timestamp("2020-01-01")])
def test_one_time_is_refused(time):
    table = Table(_with(year=[time] * 4), rows="author", columns="word", time="year")
    with pytest.raises(ValueError, match=r"the same time, 2020.*at least two times"):
        take_in(table)


@given(
    column=st.sampled_from(["author", "word", "year"]),
    bad=st.sampled_from([None, np.nan, pd.NaT, pd.NA]),
    where=st.sets(st.integers(0, 3), min_size=1),
    as_categories=st.booleans(),
)
@settings(max_examples=40)
def test_first_missing_label_is_named(column, bad, where, as_categories):
    entries = [bad if position in where else entry for position, entry in enumerate(LINES[column])]
    series = pd.Series(entries, dtype="category" if as_categories else object)
    message = _refused(_with(**{column: series}))
    assert message.startswith(f"line {min(where) + 2}: {column!r}")
    assert "missing" in message


@pytest.mark.parametrize(
    ("times", "line", "named"),
    [
        (["2020", "soon", "2021", "later"], 3, "'soon'"),
        (["2020-01-01", "2020-01-02", "2020-13-01", "x"], 4, "'2020-13-01'"),
        (["2020-01-01", "2020-01-02", "2020-01-03", "01/02/2020"], 5, "'01/02/2020'"),
        (["1", "2", "2020-01-01", "3"], 4, "'2020-01-01'"),
        (["2020-01-01", "2020-01-02", "3", "4"], 4, "'3'"),
        (["2020-01-02", "2021.5", "2022", "2023"], 3, "'2021.5'"),
        (["2020-01-02", "2020-01-03", "2022", "2023"], 4, "'2022'"),
        ([datetime.date(2020, 1, 2), 2021, 2022, 2023], 3, "2021"),
        ([2021, datetime.date(2020, 1, 2), 2022, 2023], 3, "2020-01-02"),
        (["2020Q1", "2020Q2", "2020-07-01", "2020Q4"], 4, "'2020-07-01'"),
        (["spring", "autumn", "spring", "autumn"], 2, "'spring'"),
        (["now", "today", "2020-01-01", "2020-01-02"], 2, "'now'"),
        (["2020-01-01", "today", "2020-01-01", "2020-01-02"], 3, "'today'"),
        ([1.0, 2.0, np.inf, 3.0], 4, "inf"),
        (["1", "2", "inf", "nan"], 4, "'inf'"),
        ([(1, 2), (3, 4), (1, 2), (3, 4)], 2, "(1, 2)"),
        ([1, 2, 3j, 4], 2, "(1+0j)"),
        (pd.Categorical(["early", "late", "late", "early"], ordered=True), 2, "'early'"),
    ],
)
def test_first_unreadable_time_is_named(times, line, named):
    message = _refused(_with(year=times))
    assert message.startswith(f"line {line}: the time {named} in 'year'")
    assert "2024-12-31" in message


def test_long_text_is_cut_in_messages():
    assert len(_refused(_with(year=["long " * 1000] * 4))) < 300


@pytest.mark.parametrize(
    ("values", "line", "named"),
    [
        (["1", "2", "3", "4"], 2, "'1'"),
        ([1, None, "3", "x"], 4, "'3'"),
        (pd.Categorical(["1", "2", "3", "4"]), 2, "'1'"),
        (pd.array([None, "2", "3", "4"], dtype="string"), 3, "'2'"),
        ([1, [2], 3, 4], 3, "[2]"),
        (pd.to_datetime(["2020", "2021", "2022", "2023"]), 2, "2020-01-01"),
        (np.array([1j, 2, 3, 4]), 2, "1j"),
    ],
)
def test_first_value_that_is_no_number_is_named(values, line, named):
    message = _refused(_with(n=values), TypeError, values="n")
    assert message.startswith(f"line {line}: {named}")
    assert "not a real number" in message


def test_first_infinite_value_is_named():
    message = _refused(_with(n=[1, 2, -np.inf, np.inf]), values="n")
    assert message.startswith("line 4: the value in 'n' is infinite")


def test_labels_that_cannot_be_compared_are_refused():
    assert "'author' holds what cannot be a label" in _refused(
        _with(author=[["Ann"], ["Bo"], 1, 2]), TypeError
    )


def test_names_that_read_the_same_are_refused():
    frame = pd.DataFrame(LINES).rename(columns={"author": 1, "word": "1"})
    assert "three different names" in _refused(frame, rows=1, columns="1")


@given(places=st.lists(st.integers(0, 5), min_size=2, max_size=10).filter(lambda p: len(set(p)) > 1))
@settings(max_examples=60)
def test_first_duplicate_is_named(places):
    frame = {"r": ["only"] * len(places), "c": [0] * len(places), "t": places, "v": [1.0] * len(places)}
    repeats = [line for line, place in enumerate(places) if place in places[:line]]
    if not repeats:
        assert Table(frame, rows="r", columns="c", time="t", values="v").n_absent == 0
        return
    later = repeats[0]
    earlier = places.index(places[later])
    with pytest.raises(ValueError) as caught:
        Table(frame, rows="r", columns="c", time="t", values="v")
    said = f"line {later + 2} repeats line {earlier + 2} (r 'only', c 0, t {places[later]}): "
    assert str(caught.value).startswith(said)


def test_more_combinations_than_can_be_counted_are_refused(monkeypatch):
    monkeypatch.setattr("tparafac2.data.tabulating._MOST_COMBINATIONS", 7)
    assert "2 times x 2 rows x 2 columns are too many combinations" in _refused(LINES)


def test_dense_slices_that_do_not_fit_are_refused(monkeypatch):
    whole, part = _table(values="n"), _table(values="n", top_columns=1)
    monkeypatch.setattr(memory, "physical_memory", lambda: 63)
    with pytest.raises(MemoryError, match="top_columns"):
        whole.slices()
    part.slices()
    with pytest.raises(MemoryError, match="A number for each of 2 times x 2 rows"):
        _table(values="n")


# --- fast ---------------------------------------------------------------------------------------------------


def test_many_lines_take_no_loop_over_them():
    n = 200_000
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "author": np.array([f"author {i}" for i in range(4000)], dtype=object)[
                rng.integers(4000, size=n)
            ],
            "word": np.array([f"word {j}" for j in range(1000)], dtype=object)[rng.integers(1000, size=n)],
            "year": np.array([f"{2000 + k}-01-01" for k in range(30)], dtype=object)[
                rng.integers(30, size=n)
            ],
        }
    )
    start = clock.perf_counter()
    slices = _table(frame).slices()
    # About 0.1 s; a loop over lines takes seconds.
    assert clock.perf_counter() - start < 2
    assert sum(piece.sum() for piece in slices) == n


# --- other numbers for the same table -----------------------------------------------------------------------


def test_other_slices_keep_labels_and_account():
    table = _table(values="n", absent="columns")
    other = table.with_slices([np.sqrt(piece) for piece in table.slices()])
    np.testing.assert_array_equal(_stack(other), np.sqrt(_stack(table)))
    assert other.labels is table.labels
    assert other.present is table.present
    assert other.describe() == table.describe()
    assert repr(other) == repr(table)


@pytest.mark.parametrize(
    "slices", [[], [np.ones((2, 2))], [np.ones((2, 2)), np.ones((2, 3))], [np.ones(2)] * 2]
)
def test_other_slices_must_be_like_those_of_the_table(slices):
    with pytest.raises(ValueError, match=r"2 slices of shape \(2, 2\) are needed"):
        _table().with_slices(slices)


def _weighed(weights, **options):
    lines = {"r": [0, 0, 1, 1], "c": [0, 1, 0, 1], "t": [0, 1, 1, 0], "v": [1.0, 2.0, 3.0, 4.0], "w": weights}
    return Table(lines, rows="r", columns="c", time="t", values="v", weights="w", **options)


def test_weights_of_lines_are_those_of_rows_or_of_entries():
    assert _weighed([3, 3, 1, 1]).counts.tolist() == [3.0, 1.0]
    by_entry = _weighed([1, 2, 3, 4], absent="missing")
    assert by_entry.counts.tolist() == [[[1.0, 0.0], [0.0, 4.0]], [[0.0, 2.0], [3.0, 0.0]]]
    kept = _weighed([1, 2, 3, 4], absent="missing", top_columns=1)
    assert kept.counts.tolist() == [[[0.0], [4.0]], [[2.0], [0.0]]]


@pytest.mark.parametrize(
    ("weights", "options", "said"),
    [
        ([1, 2, 3, 4], {}, "weights='w' differ within rows, and 4 combinations have no line"),
        ([1, -2, 3, 4], {}, "line 3: the weight in 'w' is -2"),
        ([1, np.nan, 3, 4], {}, "line 3: the weight in 'w' is nan"),
    ],
)
def test_weights_that_cannot_be_kept_to_are_refused(weights, options, said):
    with pytest.raises(ValueError, match=said):
        _weighed(weights, **options)


def test_weights_that_differ_on_lines_that_repeat_are_refused():
    lines = {"r": [0, 0, 1], "c": [0, 0, 1], "t": [0, 0, 1], "w": [1, 2, 3]}
    with pytest.raises(ValueError, match="several lines have the same row, column and time"):
        Table(lines, rows="r", columns="c", time="t", weights="w")
