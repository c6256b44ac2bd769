"""What is kept of tables and arrays: said, recorded with the model, and refused where nothing is left."""

import datetime

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import tparafac2 as tp
from tparafac2.io import Selection, describe, read
from tparafac2.io.selecting import read_condition

NAMES = {"rows": "land", "columns": "topic", "time": "year", "values": "n"}


@pytest.fixture(scope="module")
def frame():
    k, i, j = (grid.ravel() for grid in np.indices((5, 4, 3)))
    lands = np.array(["Chad", "Mali", "Korea, South", "Japan"])
    return pd.DataFrame(
        {
            "year": 2000 + k,
            "land": lands[i],
            "region": np.array(["Africa", "Africa", "Asia", "Asia"])[i],
            "topic": np.array(["war", "peace", "trade"])[j],
            "n": 1.0 + k + 10 * i + j,
        }
    )


@pytest.fixture(params=["csv", "parquet"])
def file(request, frame, tmp_path):
    path = tmp_path / f"x.{request.param}"
    if request.param == "csv":
        frame.to_csv(path, index=False)
    else:
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    return path


@pytest.fixture(params=["nc", "npz"])
def array_file(request, frame, tmp_path):
    table = tp.Table(frame, **NAMES)
    stack, path = np.stack(table.slices()), tmp_path / f"x.{request.param}"
    labels = table.labels
    coords = {"time": labels.time, "rows": labels.rows.astype(str), "columns": labels.columns.astype(str)}
    if request.param == "nc":
        xr.DataArray(stack, coords, ("time", "rows", "columns"), name="n").to_netcdf(path, engine="h5netcdf")
        return path, {}
    np.savez(path, n=stack, **coords)
    return path, {"axes": "time,rows,columns"}


def lines_kept(frame, path, select):
    """The lines of the frame that a reading with this selection must have."""
    table = read(path, **NAMES, select=select)
    return table.shape, float(np.nansum(table.slices())), table.selection


@pytest.mark.parametrize(
    ("select", "kept"),
    [
        (Selection(since=2001, until="2003"), "2001 <= year <= 2003"),
        (Selection(until=2001), "year <= 2001"),
        (Selection(where="region=Africa"), "region == 'Africa'"),
        (Selection(where='land="Korea, South",Mali'), "land in ['Korea, South', 'Mali']"),
        (Selection(where="region != Asia"), "region != 'Asia'"),
        (Selection(where=["n>=12", "n<33"]), "12 <= n < 33"),
        (Selection(where="year>2002"), "year > 2002"),
        (Selection(where=["region=Asia", "topic!=war,trade"]), "region == 'Asia' and topic == 'peace'"),
        (Selection(without_columns=["war"]), "topic != 'war'"),
    ],
)
def test_lines_of_tables(frame, file, select, kept):
    expected = frame.query(kept)
    shape, total, said = lines_kept(frame, file, select)
    assert shape == (expected["year"].nunique(), expected["land"].nunique(), expected["topic"].nunique())
    assert total == expected["n"].sum()
    assert said.startswith(f"kept {len(expected)} of 60 lines")


def test_what_was_kept_is_said(file):
    select = Selection(since=2001, where="region=Asia", without_columns=["war"])
    assert read(file, **NAMES, select=select).selection == (
        "kept 16 of 60 lines, 2 of 4 rows, 2 of 3 columns, 4 of 5 times "
        "(since 2001, where region=Asia, without 1 column)"
    )


@pytest.mark.parametrize(
    ("select", "shape"),
    [
        (Selection(since=2001, until=2003), (3, 4, 3)),
        (Selection(where="rows=Chad,Japan"), (5, 2, 3)),
        (Selection(where=["columns!=war", "time>=2003"]), (2, 4, 2)),
        (Selection(without_columns=["war", "peace"]), (5, 4, 1)),
    ],
)
def test_labels_of_arrays(array_file, select, shape):
    path, axes = array_file
    array = read(path, select=select, **axes)
    assert array.shape == shape
    whole = read(path, **axes)
    xr.testing.assert_equal(array.drop_attrs(), whole.sel({dim: array[dim] for dim in array.dims}))


def test_the_same_columns_of_tables_and_arrays_are_largest(tmp_path):
    X = np.ones((4, 2, 3))
    X[2, :, 1] = 30.0  # once much,
    X[:, :, 2] = 9.0  # always some
    frame = xr.DataArray(X, dims=("t", "r", "c"), name="n").to_dataframe().reset_index()
    frame.to_csv(tmp_path / "x.csv", index=False)
    np.savez(tmp_path / "x.npz", X=X, columns=np.arange(3))
    names = {"rows": "r", "columns": "c", "time": "t", "values": "n"}
    for by, column in (("time", 1), ("total", 2)):
        table = read(tmp_path / "x.csv", **names, top_columns=1, top_by=by)
        array = read(tmp_path / "x.npz", axes="time,rows,columns", top_columns=1, top_by=by)
        assert table.labels.columns.tolist() == array["columns"].values.tolist() == [column]
        np.testing.assert_array_equal(np.stack(table.slices()), array.values)
    assert "kept the 1 largest of 3 columns" in tp.CP(1, n_starts=1).fit(array).summary()


@pytest.mark.parametrize(
    ("since", "until", "kept"),
    [
        ("2020-02", "2020-03", 60),
        ("2020", "2020", 366),
        ("2020Q2", "2020-06-30", 91),
        ("2020-W02", "2020-W02", 7),
        (datetime.date(2020, 5, 1), np.datetime64("2020-05-03"), 3),
        ("2019", "2020-01-02", 33),
        ("2020-12-31T00:00", None, 32),
    ],
)
def test_dates_are_as_long_as_they_are_said(tmp_path, since, until, kept):
    days = pd.date_range("2019-12-01", "2021-01-31").strftime("%Y-%m-%d")
    pd.DataFrame({"day": days, "r": "a", "c": "b"}).to_csv(tmp_path / "x.csv", index=False)
    table = read(tmp_path / "x.csv", rows="r", columns="c", time="day", select=Selection(since, until))
    assert table.shape[0] == kept


def test_numbers_beside_missing_ones_have_an_order(tmp_path):
    text = "r,c,t,size\na,x,1,5\na,x,2,NA\nb,x,1,12\nb,x,2,7\n"
    (tmp_path / "x.csv").write_text(text)
    names = {"rows": "r", "columns": "c", "time": "t"}
    assert read(tmp_path / "x.csv", **names, select=Selection(where="size>=6")).labels.rows.tolist() == ["b"]
    assert read(tmp_path / "x.csv", **names, select=Selection(where="size!=5")).labels.rows.tolist() == ["b"]


def test_stop_words_in_a_file_need_not_all_be_there(frame, tmp_path):
    frame.to_csv(tmp_path / "x.csv", index=False)
    (tmp_path / "stop.txt").write_text("war\n\nthe\n")
    kept = read(tmp_path / "x.csv", **NAMES, select=Selection(without_columns=tmp_path / "stop.txt"))
    assert kept.labels.columns.tolist() == ["peace", "trade"]
    (tmp_path / "stop.txt").write_text("the\n")
    with pytest.raises(ValueError, match="there is no column 'the'"):
        read(tmp_path / "x.csv", **NAMES, select=Selection(without_columns=tmp_path / "stop.txt"))


def test_lines_that_are_wrong_are_counted_as_in_the_file(frame, tmp_path):
    pd.concat([frame, frame.tail(1)]).to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(ValueError, match="line 62 repeats line 61"):
        read(tmp_path / "x.csv", **NAMES, select=Selection(where="region=Asia"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"since": 2003, "until": 2001}, "since=2003 comes after until=2001"),
        ({"since": "2003-02", "until": "2003-01"}, "comes after"),
        ({"since": 5, "until": "2003-01-01"}, "of one kind"),
        ({"since": "soon"}, "since='soon' cannot be used"),
        ({"since": float("nan")}, "cannot be used"),
        ({"where": "region"}, "is no comparison"),
        ({"where": "=Asia"}, "is no comparison"),
        ({"where": "region="}, "compares with nothing"),
        ({"where": "region=Asia,,Africa"}, "compares with nothing"),
        ({"where": "n>=5,6"}, "there can be one only"),
    ],
)
def test_what_cannot_be_is_refused_at_once(options, said):
    with pytest.raises(ValueError, match=said):
        Selection(**options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"where": "regoin=Asia"}, r"'regoin' is not a column of the table; did you mean 'region'\?"),
        ({"where": "region=Afrika"}, r"no 'Afrika' in 'region'; did you mean 'Africa'\?"),
        ({"where": "region>=Asia"}, "neither a number nor a date: only = and !="),
        ({"where": "n>=five"}, "holds numbers, and 'five' is none"),
        ({"since": "2003-02"}, "since='2003-02': 'year' holds numbers, and '2003-02' is none"),
        ({"where": ["region=Asia", "land=Chad"]}, "nothing is left where region=Asia, where land=Chad"),
        ({"since": 2050}, "nothing is left since 2050"),
        ({"without_columns": ["wars"]}, r"no column 'wars'; did you mean 'war'\?"),
        ({"until": 2000}, "at least two times are needed"),
    ],
)
def test_what_leaves_nothing_or_is_not_there(file, options, said):
    with pytest.raises(ValueError, match=said) as error:
        read(file, **NAMES, select=Selection(**options))
    assert file.name in str(error.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"where": "region=Asia"}, "'region' is not a dimension of"),
        ({"where": "row=Chad"}, r"did you mean 'rows'\?"),
        ({"where": "rows=Chat"}, r"did you mean 'Chad'\?"),
        ({"since": 2004}, "one time left"),
        ({"since": 2050}, "no times left"),
        ({"without_columns": ["war", "peace", "trade"]}, "no columns left"),
    ],
)
def test_arrays_refuse_the_same(array_file, options, said):
    path, axes = array_file
    with pytest.raises(ValueError, match=said):
        read(path, select=Selection(**options), **axes)


def test_an_array_without_labels_has_nothing_to_choose_by(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((3, 4, 5)))
    with pytest.raises(ValueError, match=r"the times of 'x\.npy' have no labels"):
        read(tmp_path / "x.npy", axes="time,rows,columns", select=Selection(since=1))


def test_columns_are_a_sequence(file):
    with pytest.raises(TypeError, match="sequence of labels"):
        Selection(without_columns="war")


@pytest.mark.parametrize("prepared", [False, True])
def test_it_is_recorded_with_the_model(file, tmp_path, prepared):
    data = read(file, **NAMES, select=Selection(where="region=Asia"))
    data = tp.Preparation("sqrt").apply(data) if prepared else data
    tp.CP(1, n_starts=1, random_state=0).fit(data).save(tmp_path / "model.npz")
    again = tp.load(tmp_path / "model.npz")
    assert "kept 30 of 60 lines, 2 of 4 rows (where region=Asia)" in " ".join(again.summary().split())
    assert again.fitted_values().shape == (5, 2, 3)


def test_models_of_before_have_nothing_on_it():
    record = {"transform": "sqrt", "pseudocount": None, "center": None, "scale": None}
    assert tp.preparing.describe_record(record) == "square root of every value."


def test_a_file_is_described_as_it_would_be_read(file):
    found = describe(file, select=Selection(since=2003, where="region=Asia"), time="year")
    assert found["selection"].startswith("kept 12 of 60 lines")
    assert found["contents"]["year"].startswith("numbers from 2003 to 2004")
    assert "1 different" in found["contents"]["region"]
    with pytest.raises(ValueError, match="time= must say which column has the times"):
        describe(file, select=Selection(since=2003))


def test_arrays_are_described_as_they_would_be_read(array_file):
    path, axes = array_file
    found = describe(path, select=Selection(since=2003), **axes)
    assert found["selection"] == "kept 2 of 5 times (since 2003)"
    assert "2 time x 4 rows x 3 columns" in found["contents"]["n"]


def words(without):
    return st.text(
        st.characters(blacklist_characters=without, blacklist_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]),
        min_size=1,
    )


NAME, VALUE = words("=<>!"), words('"=')


@given(name=NAME, sign=st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), values=st.lists(VALUE, min_size=1))
def test_what_is_written_is_what_is_read(name, sign, values):
    values = values if "=" in sign and sign not in ("<=", ">=") else values[:1]
    quoted = ",".join(f'"{value}"' for value in values)
    condition = read_condition(f" {name} {sign} {quoted}")
    assert (condition.name, condition.operator, list(condition.values)) == (name, sign, values)


@given(st.text())
def test_any_text_is_read_or_refused_in_a_sentence(text):
    try:
        values = read_condition(text).values
    except ValueError as error:
        values = [str(error)] if str(error).startswith("where=") else []
    assert values
