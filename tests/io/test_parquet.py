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
from tparafac2.io.parquet import ParquetTable

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
                read(folder, **asked, **options, select=Selection(**selection))
            return
        found = read(folder, **asked, **options, select=Selection(**selection))
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
