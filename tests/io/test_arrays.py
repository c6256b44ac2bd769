"""Arrays from netCDF and NumPy files, and what is refused."""

import io
import warnings
import zipfile

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import tparafac2 as tp
from tparafac2.data import take_in
from tparafac2.io import read

X = np.arange(24.0).reshape(2, 3, 4)  # time, rows, columns


def _refused(path, **asked):
    with pytest.raises(ValueError) as caught:
        read(path, **asked)
    return str(caught.value)


def _dataset(**more):
    dims = ("author", "word", "year")
    coords = {"author": ["Ann", "Bo", "Cy"], "word": list("wxyz"), "year": [2020, 2022], "note": 5}
    return xr.Dataset({"counts": (dims, X.transpose(1, 2, 0)), **more}, coords)


# --- netCDF -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("engine", "form"), [("h5netcdf", "NETCDF4"), ("scipy", "NETCDF3_64BIT")])
def test_netcdf(tmp_path, engine, form):
    extra = {"other": ("year", [1, 2]), "flat": (("author", "word"), np.ones((3, 4)))}
    _dataset(**extra).to_netcdf(tmp_path / "x.nc", engine=engine, format=form)
    array = read(tmp_path / "x.nc")
    assert array.dims == ("year", "author", "word")
    assert array.name == "counts"
    np.testing.assert_array_equal(array, X)
    labels = take_in(array).labels
    assert (labels.rows.tolist(), labels.time.tolist()) == (["Ann", "Bo", "Cy"], [2020, 2022])


def test_netcdf_names_that_do_not_tell(tmp_path):
    _dataset().rename(author="x", word="y", year="z").to_netcdf(tmp_path / "x.nc", engine="h5netcdf")
    message = _refused(tmp_path / "x.nc")
    assert "rows='x', columns='y', time='z'" in message
    array = read(tmp_path / "x.nc", rows="x", columns="y", time="z")
    assert array.dims == ("time", "rows", "columns")
    np.testing.assert_array_equal(take_in(array).data.shape, X.shape)
    assert "did you mean" not in _refused(tmp_path / "x.nc", rows="author")
    assert "say which are rows" in _refused(tmp_path / "x.nc", rows="x", columns="x")


def test_netcdf_misspelt_dimension(tmp_path):
    _dataset().to_netcdf(tmp_path / "x.nc", engine="h5netcdf")
    assert "did you mean 'author'?" in _refused(tmp_path / "x.nc", rows="autor")
    assert "netCDF files name their dimensions" in _refused(tmp_path / "x.nc", axes="rows,columns,time")


def test_netcdf_variable_is_chosen(tmp_path):
    dataset = _dataset(twice=(("author", "word", "year"), 2 * X.transpose(1, 2, 0)))
    dataset.to_netcdf(tmp_path / "x.nc", engine="h5netcdf")
    np.testing.assert_array_equal(read(tmp_path / "x.nc", values="twice"), 2 * X)
    message = _refused(tmp_path / "x.nc")
    assert "2 arrays" in message
    assert "values='counts'" in message
    assert "did you mean 'twice'?" in _refused(tmp_path / "x.nc", values="twise")


def test_netcdf_without_a_usable_variable(tmp_path):
    xr.Dataset({"flat": (("a", "b"), np.ones((2, 2)))}).to_netcdf(tmp_path / "x.nc", engine="h5netcdf")
    assert "no array" in _refused(tmp_path / "x.nc")
    assert "three dimensions" in _refused(tmp_path / "x.nc", values="flat")


@pytest.mark.parametrize(("engine", "form"), [("h5netcdf", "NETCDF4"), ("scipy", "NETCDF3_64BIT")])
@pytest.mark.parametrize("share", [0.02, 0.5, 0.9])
def test_truncated_netcdf(tmp_path, engine, form, share):
    big = xr.Dataset({"x": (("author", "word", "year"), np.random.default_rng(0).normal(size=(20, 20, 20)))})
    big.to_netcdf(tmp_path / "x.nc", engine=engine, format=form)
    whole = (tmp_path / "x.nc").read_bytes()
    (tmp_path / "x.nc").write_bytes(whole[: int(share * len(whole))])
    assert "damaged" in _refused(tmp_path / "x.nc")


def test_foreign_hdf5(tmp_path):
    import h5py

    with h5py.File(tmp_path / "x.nc", "w") as file:
        file["x"] = X
    assert "say which are rows, columns and time" in _refused(tmp_path / "x.nc")


def test_saved_model_is_no_data(tmp_path):
    tp.CP(rank=1, n_starts=1, random_state=0).fit(X + 1).save(tmp_path / "model.npz")
    assert "a fitted model" in _refused(tmp_path / "model.npz")


def test_generated_data_can_be_read(tmp_path):
    data = tp.synthetic.easy(seed=0, n_times=5, n_rows=20, n_columns=18)
    for name, more in (("d.nc", {}), ("d.npz", {"axes": "time,rows,columns"})):
        data.save(tmp_path / name)
        np.testing.assert_array_equal(read(tmp_path / name, values="X", **more), data.X)


# --- NumPy --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "axes", ["rows,columns,time", "time,rows,columns", " columns, time ,rows", "columns,rows,time"]
)
@pytest.mark.parametrize("name", ["x.npy", "x.npz"])
def test_axes_in_any_order(tmp_path, axes, name):
    order = [("time", "rows", "columns").index(axis.strip()) for axis in axes.split(",")]
    if name == "x.npy":
        np.save(tmp_path / name, X.transpose(order))
    else:
        np.savez_compressed(tmp_path / name, anything=X.transpose(order))
    array = read(tmp_path / name, axes=axes)
    assert array.dims == ("time", "rows", "columns")
    np.testing.assert_array_equal(array, X)


def test_labels_beside_the_array(tmp_path):
    np.savez(tmp_path / "x.npz", X=X, rows=["Ann", "Bo", "Cy"], time=[2022, 2020])
    array = read(tmp_path / "x.npz", axes="time,rows,columns")
    assert array.rows.values.tolist() == ["Ann", "Bo", "Cy"]
    assert "columns" not in array.coords
    assert take_in(array).order == (1, 0)


def test_labels_of_other_names(tmp_path):
    np.savez(
        tmp_path / "x.npz",
        X=X,
        authors=["Ann", "Bo", "Cy"],
        when=["2021-05-01", "2020-12-31"],
        w=list("wxyz"),
    )
    asked = {"axes": "time,rows,columns", "rows": "authors", "time": "when"}
    array = read(tmp_path / "x.npz", **asked)
    assert array.dims == ("when", "authors", "columns")
    assert array.when.dtype.kind == "M"
    assert take_in(array).labels.names == {"rows": "authors", "columns": "columns", "time": "when"}
    assert read(tmp_path / "x.npz", **asked, columns="w")["w"].values.tolist() == list("wxyz")
    assert "did you mean 'authors'?" in _refused(tmp_path / "x.npz", **(asked | {"rows": "author"}))
    assert "4 labels of columns are needed" in _refused(tmp_path / "x.npz", **asked, columns="authors")


def test_rows_and_columns_may_share_their_labels(tmp_path):
    np.savez(tmp_path / "x.npz", X=X[:, :, :3], who=["Ann", "Bo", b"Cy"], year=[1, 2])
    array = read(tmp_path / "x.npz", axes="time,rows,columns", rows="who", columns="who", time="year")
    assert array.dims == ("time", "rows", "columns")
    assert array.columns.values.tolist() == array.rows.values.tolist()


def test_dates_of_rows_are_not_taken_for_time(tmp_path):
    days = np.array(["2020-01-01", "2020-01-02", "2020-01-03"], dtype="datetime64[D]")
    np.savez(tmp_path / "x.npz", X=X, rows=days)
    assert take_in(read(tmp_path / "x.npz", axes="time,rows,columns")).data.shape == X.shape


def test_names_of_times_stay_names(tmp_path):
    np.savez(tmp_path / "x.npz", X=X, time=["spring", "autumn"])
    assert read(tmp_path / "x.npz", axes="time,rows,columns").time.values.tolist() == ["spring", "autumn"]


@pytest.mark.parametrize("axes", [None, "", "rows,columns", "rows,rows,time", "rows,columns,year"])
def test_axes_are_needed(tmp_path, axes):
    np.save(tmp_path / "x.npy", X)
    message = _refused(tmp_path / "x.npy", axes=axes)
    assert "shape (2, 3, 4)" in message
    assert "axes='rows,columns,time'" in message


def test_numpy_refusals(tmp_path):
    axes = {"axes": "time,rows,columns"}
    np.save(tmp_path / "flat.npy", X[0])
    assert "no array" in (message := _refused(tmp_path / "flat.npy", **axes))
    assert "numpy.stack(tables)" in message
    np.save(tmp_path / "x.npy", X)
    assert "one array without names" in _refused(tmp_path / "x.npy", **axes, rows="r")
    np.save(tmp_path / "text.npy", X.astype(str))
    assert "no array of real numbers" in _refused(tmp_path / "text.npy", **axes)
    np.save(tmp_path / "one.npy", X[:1])
    assert "one time only" in _refused(tmp_path / "one.npy", **axes)


def test_python_objects_are_never_opened(tmp_path):
    np.save(tmp_path / "o.npy", X.astype(object), allow_pickle=True)
    message = _refused(tmp_path / "o.npy", axes="time,rows,columns")
    assert "Python objects, which are not opened" in message
    assert "damaged" not in message
    np.savez(tmp_path / "o.npz", X=X, names=np.array(["Ann", 1, None], dtype=object))
    assert read(tmp_path / "o.npz", axes="time,rows,columns").shape == X.shape
    assert "labels.astype(str)" in _refused(tmp_path / "o.npz", axes="time,rows,columns", rows="names")


def test_labels_that_are_python_objects_are_not_dropped_without_a_word(tmp_path):
    np.savez(tmp_path / "x.npz", X=X, rows=np.array(["Ann", "Bo", "Cy"], dtype=object))
    message = _refused(tmp_path / "x.npz", axes="time,rows,columns")
    assert message.startswith("'rows' in 'x.npz'")
    assert "labels.astype(str)" in message
    np.savez(tmp_path / "x.npz", X=X.astype(object), flat=X[0])
    assert "'X' (Python objects" in _refused(tmp_path / "x.npz", axes="time,rows,columns")


def test_bytes_of_another_encoding(tmp_path):
    labels = np.char.encode(np.array(["Åsa", "Bo", "Cy"]), "latin-1")
    np.savez(tmp_path / "x.npz", X=X, rows=labels)
    assert "numpy.char.decode(labels, 'latin-1')" in _refused(tmp_path / "x.npz", axes="time,rows,columns")
    np.savez(tmp_path / "x.npz", X=X, rows=np.char.encode(np.array(["Åsa", "Bo", "Cy"]), "utf-8"))
    assert read(tmp_path / "x.npz", axes="time,rows,columns").rows.values.tolist() == ["Åsa", "Bo", "Cy"]


@pytest.mark.parametrize("saved", ["npz", "nc"])
@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({"time": ["2020", "x"]}, "label 2 of time, 'x', cannot be read as a time"),
        ({"time": ["x", "2020-01-01"]}, "label 1 of time, 'x', cannot be read as a time"),
        ({"time": ["2020-01-01", "2021"]}, "label 2 of time, '2021', cannot be read as a time"),
        ({"time": [2020.0, np.nan]}, "label 2 of time is missing"),
        ({"time": ["spring", "spring"]}, "labels 1 and 2 of time are both 'spring'"),
        ({"rows": ["Ann", "Bo", "Ann"]}, "labels 1 and 3 of rows are both 'Ann'"),
        ({"rows": ["Ann", "", "Bo"]}, "label 2 of rows is missing"),
        ({"columns": [1.0, 2.0, np.nan, 3.0]}, "label 3 of columns is missing"),
        ({"columns": [1, 2, 3, 2]}, "labels 2 and 4 of columns are both 2"),
    ],
)
def test_bad_labels_are_refused(tmp_path, saved, labels, said):
    if saved == "npz":
        np.savez(tmp_path / "x.npz", X=X, **labels)
        message = _refused(tmp_path / "x.npz", axes="time,rows,columns")
    else:
        array = xr.DataArray(X, labels, ("time", "rows", "columns"), name="X")
        array.to_netcdf(tmp_path / "x.nc", engine="h5netcdf")
        message = _refused(tmp_path / "x.nc")
    assert message.startswith(f"'x.{saved}': {said}")


def test_axes_as_a_sequence(tmp_path):
    np.save(tmp_path / "x.npy", X)
    for axes in (("time", "rows", "columns"), ["time", "rows", "columns"]):
        np.testing.assert_array_equal(read(tmp_path / "x.npy", axes=axes), X)
    assert "got axes=('time', 'rows')" in _refused(tmp_path / "x.npy", axes=("time", "rows"))


@pytest.mark.parametrize("name", ["x.npy", "x.npz"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_truncated_numpy_files(tmp_path, name, share):
    (np.save if name.endswith("npy") else np.savez)(tmp_path / name, np.ones((20, 20, 20)))
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: int(share * len(whole))])
    assert "damaged" in _refused(tmp_path / name, axes="time,rows,columns")


_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8)


@given(labels=st.lists(_TEXT, min_size=3, max_size=3, unique=True))
@settings(max_examples=15)
def test_any_label_comes_back(tmp_path, labels):
    np.savez(tmp_path / "x.npz", X=X, rows=labels)
    assert read(tmp_path / "x.npz", axes="time,rows,columns").rows.values.tolist() == labels
    _dataset().assign_coords(author=labels).to_netcdf(tmp_path / "x.nc", engine="h5netcdf")
    assert read(tmp_path / "x.nc").author.values.tolist() == labels


def test_labels_that_nobody_asked_for_are_hinted_at(tmp_path):
    arrays = {"counts": np.ones((3, 4, 2)), "who": list("abc"), "months": [1, 5], "kind": list("xxyy")}
    np.savez(tmp_path / "x.npz", **arrays)
    asked = {"axes": "rows,columns,time"}
    with pytest.warns(UserWarning, match=r"say rows='who', time='months' to use them"):
        read(tmp_path / "x.npz", **asked)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(tmp_path / "x.npz", **asked, rows="who", time="months")
        np.savez(tmp_path / "x.npz", counts=np.ones((3, 4, 4)), who=list("abcd"))
        read(tmp_path / "x.npz", **asked)


@pytest.mark.parametrize("shape", [(10**6,) * 3, (2**21,) * 3, (10**30, 1, 1), (-1, 2, 3), (9, 9, 9)])
@pytest.mark.parametrize("name", ["x.npy", "x.npz"])
def test_headers_that_promise_too_much(tmp_path, shape, name):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": shape})
    held = header.getvalue() + bytes(80)
    path = tmp_path / name
    if name.endswith(".npy"):
        path.write_bytes(held)
    else:
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("X.npy", held)
    said = _refused(path, axes="time,rows,columns")
    assert f"says it is an array of shape {shape}, of which it holds only a part" in said
    assert said.endswith("get it anew.")
