"""Long tables in Parquet, read in pieces, are those of the whole frame."""

import os
import subprocess
import sys
import textwrap
from datetime import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tparafac2.data import MODES, Table
from tparafac2.io import Selection, read

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ASKED = {"rows": "r", "columns": "c", "time": "t", "values": "v"}
LABELS = {
    "text": st.sampled_from(["b", "a", "", "Ä", "aa"]),
    "numbers": st.integers(-2, 2),
    "dates": st.sampled_from([datetime(2020 + n, 1, 1) for n in range(4)]),
    "truths": st.booleans(),
}
TYPES = {"text": pa.string(), "numbers": pa.int64(), "dates": pa.timestamp("us"), "truths": pa.bool_()}
TIMES = {
    "numbers": st.integers(2000, 2003),
    "text": st.sampled_from(["2020-02", "2020-01", "2021-07"]),
    "dates": LABELS["dates"],
}
FORMS = st.sampled_from(["plain", "dictionary", "ordered"])
SELECTIONS = (
    {},
    {"where": "n>=1"},
    {"where": "n!=2"},
    {"where": "w=x"},
    {"where": ["w!=x", "n<3"]},
    {"without_columns": ["a"]},
)


@st.composite
def tables(draw):
    """An arrow table, and how to read it."""
    n = draw(st.integers(1, 25))
    of = {"r": LABELS, "c": LABELS, "t": TIMES}
    kinds = {name: draw(st.sampled_from(list(labels))) for name, labels in of.items()}
    columns = {
        **{name: draw(st.lists(of[name][kinds[name]], min_size=n, max_size=n)) for name in of},
        "v": draw(st.lists(st.sampled_from([0.0, 1.0, 2.5, -1.0, None]), min_size=n, max_size=n)),
        "n": draw(st.lists(st.sampled_from([0, 1, 2, 3, None]), min_size=n, max_size=n)),
        "w": draw(st.lists(st.sampled_from(["x", "y", None]), min_size=n, max_size=n)),
    }
    if draw(st.booleans()):
        columns["v"] = [abs(value or 1.0) for value in columns["v"]]
    if draw(st.integers(0, 5)) == 0:
        columns[draw(st.sampled_from("rct"))][draw(st.integers(0, n - 1))] = None
    types = {name: TYPES[kind] for name, kind in kinds.items()}
    types |= {"v": pa.float64(), "n": pa.int64(), "w": pa.string()}
    made = {name: pa.array(column, types[name]) for name, column in columns.items()}
    for name in "rct":
        form = draw(FORMS)
        if form != "plain":
            coded = made[name].dictionary_encode()
            made[name] = pa.DictionaryArray.from_arrays(
                coded.indices, coded.dictionary, ordered=form == "ordered"
            )
    options = {
        "absent": draw(st.sampled_from(["zero", "missing", "rows", "columns"])),
        "duplicates": draw(st.sampled_from(["error", "sum", "mean"])),
        "top_columns": draw(st.sampled_from([None, 1, 2])),
    }
    if options["top_columns"]:
        options["top_by"] = draw(st.sampled_from(["total", "time"]))
    return pa.table(made), options, draw(st.sampled_from(SELECTIONS)), draw(st.booleans())


def _whole(frame, asked, options, selection):
    """The table of the frame, as it is without pieces, or what is wrong."""
    account = ""
    select = Selection(**selection)
    try:
        if select:
            kept = select.lines(frame, asked)
            before, frame = frame, frame[kept].reset_index(drop=True)
            sizes = {"lines": (len(frame), len(before))}
            sizes |= {mode: (frame[asked[mode]].nunique(), before[asked[mode]].nunique()) for mode in MODES}
            account = select.account(sizes)
        return Table(frame, **asked, **options).with_selection(account)
    except (ValueError, TypeError) as error:
        return error


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=tables(), size=st.integers(1, 7), cut=st.integers(1, 30))
def test_pieces_give_the_table_of_the_whole_frame(drawn, size, cut, tmp_path):
    table, options, selection, counted = drawn
    asked = {role: name for role, name in ASKED.items() if not (counted and role == "values")}
    if counted and options["duplicates"] == "mean":
        options = options | {"duplicates": "sum"}
    folder = tmp_path / "t.parquet"
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    pq.write_table(table[:cut], folder / "part-0.parquet", row_group_size=max(1, size - 1))
    pq.write_table(table[cut:], folder / "part-1.parquet")
    frame = pa.concat_tables(pq.read_table(part) for part in sorted(folder.iterdir())).to_pandas()
    expected = _whole(frame, asked, options, selection)
    with pytest.MonkeyPatch.context() as patch:
        for module in ("io.parquet", "data.cells", "data.lines"):
            patch.setattr(f"tparafac2.{module}.PIECE", size)
        if isinstance(expected, Exception):
            with pytest.raises(type(expected)):
                read(folder, **asked, **options, one_time=True, select=Selection(**selection))
            return
        found = read(folder, **asked, **options, one_time=True, select=Selection(**selection))
    for mode in MODES:
        theirs, ours = getattr(expected.labels, mode), getattr(found.labels, mode)
        assert theirs.tolist() == ours.tolist()
    assert found.selection == expected.selection
    assert found.describe() == expected.describe()
    np.testing.assert_array_equal(found.present, expected.present)
    for one, other in zip(found.slices(), expected.slices(), strict=True):
        if hasattr(one, "toarray"):
            one, other = one.toarray(), other.toarray()
        np.testing.assert_allclose(one, other, rtol=1e-15)


FRAME = pd.DataFrame(
    {"r": ["b", "a", "b"], "c": ["x", "x", "y"], "t": [2020, 2021, 2021], "v": [1.0, 2.0, 3.0]}
)


@pytest.fixture
def folder(tmp_path):
    """Two part files of two pieces each."""
    made = tmp_path / "t.parquet"
    made.mkdir()
    FRAME.to_parquet(made / "part-0.parquet", index=False)
    FRAME.assign(t=[2022, 2023, 2023]).to_parquet(made / "part-1.parquet", index=False)
    return made


def _refused(path, kind=ValueError, **more):
    with pytest.raises(kind) as caught:
        read(path, **(ASKED | more))
    return str(caught.value)


def test_a_folder_of_part_files_is_one_table(folder):
    (folder / "_SUCCESS").touch()
    table = read(folder, **ASKED)
    assert table.shape == (4, 2, 2)
    assert table.labels.rows.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"r": ["b", None, "a"]}, "row 2 of 'part-1.parquet': 'r', which names the rows, is missing"),
        ({"v": [1.0, 2.0, np.inf]}, "row 3 of 'part-1.parquet': the value in 'v' is infinite"),
        ({"t": [2020, 2021, 2024]}, "row 1 of 'part-1.parquet' repeats row 1 of 'part-0.parquet' (r 'b', "),
    ],
)
def test_what_is_wrong_names_the_row_in_its_part(folder, bad, said, monkeypatch):
    monkeypatch.setattr("tparafac2.io.parquet.PIECE", 2)
    FRAME.assign(**({"t": [2022, 2023, 2023]} | bad)).to_parquet(folder / "part-1.parquet", index=False)
    assert f"'t.parquet', {said}" in _refused(folder)


def test_rows_of_a_selection_are_counted_in_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr("tparafac2.io.parquet.PIECE", 2)
    frame = pd.concat([FRAME.assign(v=-1.0), FRAME, FRAME.iloc[2:]])
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    assert "row 7 repeats row 6" in _refused(tmp_path / "t.parquet", select=Selection(where="v>0"))


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (FRAME.drop(columns="c"), "'part-1.parquet' lacks the column 'c', which 'part-0.parquet' has"),
        (FRAME.astype({"t": str}), "'part-1.parquet' has large_string, and not int64, in the column 't'"),
    ],
)
def test_parts_of_different_kinds(folder, other, said):
    other.to_parquet(folder / "part-1.parquet", index=False)
    assert said in _refused(folder)


def test_folders_that_are_no_tables(folder):
    (folder / "year=2020").mkdir()
    assert "has the folder 'year=2020' in it" in _refused(folder)
    (folder / "year=2020").rmdir()
    for part in folder.iterdir():
        part.unlink()
    assert "without any file that ends in .parquet" in _refused(folder)


def test_a_part_that_is_cut_off_or_empty_is_named(folder):
    whole = (folder / "part-1.parquet").read_bytes()
    (folder / "part-1.parquet").write_bytes(whole[:-30])
    assert _refused(folder).startswith("'part-1.parquet' is damaged, incomplete or of another kind")
    (folder / "part-1.parquet").write_bytes(b"")
    assert "'part-1.parquet' is empty" in _refused(folder)


def test_a_page_that_is_damaged_is_told_of_the_file(tmp_path):
    path = tmp_path / "t.parquet"
    pd.concat([FRAME] * 50).to_parquet(path, index=False, compression="gzip")
    whole = bytearray(path.read_bytes())
    whole[4:200] = bytes(196)
    path.write_bytes(whole)
    assert _refused(path).startswith("'t.parquet' is damaged")


def test_a_table_without_lines(tmp_path):
    FRAME[:0].astype({"r": str, "c": str}).to_parquet(tmp_path / "t.parquet")
    assert "has no lines" in _refused(tmp_path / "t.parquet")


def test_columns_of_a_wrong_type(tmp_path):
    path = tmp_path / "t.parquet"
    FRAME.assign(v=["1", "2", "3"]).to_parquet(path)
    assert "row 1: '1' in 'v' is not a real number but of type str" in _refused(path, TypeError)
    FRAME.assign(r=[[1], [2], [3]]).to_parquet(path)
    assert "rows: 'r' holds what cannot be a label (list<element: int64>)" in _refused(path, TypeError)


def test_labels_that_would_fill_the_memory(tmp_path):
    n = 5000
    frame = pd.DataFrame({"r": np.arange(n), "c": 0, "t": np.arange(n) % 2, "v": 1.0})
    frame.to_parquet(tmp_path / "t.parquet")
    said = _refused(tmp_path / "t.parquet", MemoryError, memory="1MB")
    assert said.startswith("rows='r' has 4,096 different labels after 4,096 lines")
    assert said.endswith("Nearly every line has one of its own: is it the right column?")


def test_cells_that_would_fill_the_memory(tmp_path):
    rng, n = np.random.default_rng(0), 100_000
    frame = pd.DataFrame({name: rng.integers(size, size=n) for name, size in zip("rct", (500, 500, 20))})
    frame.to_parquet(tmp_path / "t.parquet")
    asked = {"memory": "1MB", "values": None}
    said = _refused(tmp_path / "t.parquet", MemoryError, **asked)
    assert said.startswith(
        "The table of 100,000 lines needs 2.1 MB of memory, but what may be used is 1.0 MB."
    )
    assert read(tmp_path / "t.parquet", **(ASKED | asked | {"memory": "3MB"})).density > 0.015


def test_dense_slices_that_would_fill_the_memory(tmp_path):
    n = 1000
    frame = pd.DataFrame({"r": np.arange(n) // 2, "c": np.arange(n) % 500, "t": np.arange(n) % 2, "v": 1.0})
    frame.to_parquet(tmp_path / "t.parquet")
    said = _refused(tmp_path / "t.parquet", MemoryError, absent="missing", memory="2MB")
    assert said.startswith("The table as dense slices needs 4.0 MB of memory, but what may be used is 2.0 MB")
    assert "with absent='zero' a table of which less than a tenth is there stays sparse" in said
    assert read(tmp_path / "t.parquet", **ASKED, memory="2MB").slices()[0].format == "csr"


def test_the_memory_that_is_allowed_holds_for_the_fit(tmp_path):
    import tparafac2 as tp

    rng, n = np.random.default_rng(0), 20_000
    frame = pd.DataFrame({name: rng.integers(size, size=n) for name, size in zip("rct", (500, 500, 20))})
    frame.to_parquet(tmp_path / "t.parquet")
    table = read(tmp_path / "t.parquet", rows="r", columns="c", time="t", memory="1MB")
    with pytest.raises(MemoryError, match=r"Fitting 10 starts of rank 5 .* but what may be used is 0\.8 MB"):
        tp.TParafac2(5, smoothness=1e-3).fit(table)


def test_text_that_would_fill_the_memory(tmp_path):
    path = tmp_path / "t.csv"
    pd.concat([FRAME] * 10_000).to_csv(path, index=False)
    said = _refused(path, MemoryError, memory="1MB")
    assert said.startswith("'t.csv' is text, which is read at once, and needs")
    assert "Write it as Parquet" in said


@pytest.mark.slow
def test_memory_is_that_of_the_result_and_of_a_piece(tmp_path):
    script = """
        import resource, sys
        import numpy as np, pandas, pyarrow as pa, pyarrow.parquet as pq, scipy.sparse
        import tparafac2 as tp
        from tparafac2.data import cells
        from tparafac2.io import parquet
        cells.PIECE = parquet.PIECE = 2**16
        rng = np.random.default_rng(0)
        kinds = pa.schema([("r", pa.int32()), ("c", pa.int32()), ("t", pa.int8())])
        with pq.ParquetWriter(sys.argv[1], kinds) as writer:
            for _ in range(60):
                drawn = [rng.integers(size, size=100_000) for size in (20_000, 20_000, 10)]
                writer.write_table(pa.table([pa.array(x, t) for x, t in zip(drawn, kinds.types)], kinds))
        names = dict(rows="r", columns="c", time="t")
        tp.io.read(sys.argv[1], **names, select=tp.io.Selection(where="c<200"))  # all that is imported
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        table = tp.io.read(sys.argv[1], **names)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(1024 * (after - before), table.nbytes, 6_000_000)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), str(tmp_path / "t.parquet")],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ,
    )
    grown, held, n_lines = map(int, done.stdout.split())
    assert held < 12.5 * n_lines
    # A frame of the three columns, their codes and the places alone would take 6 * 8 bytes for each line.
    assert grown < 1.5 * held
