"""Files of models from strangers are not believed."""

import json

import h5py
import numpy as np
import pytest

import tparafac2 as tp


@pytest.fixture(scope="module")
def model():
    X = tp.synthetic.easy(seed=0, n_times=5, n_rows=12, n_columns=18).X
    return tp.CP(2, n_starts=1, random_state=0).fit(X)


def moved(file, name):
    """Take an array away, to put something else in its place; give it, and what the file says of it."""
    values, attributes = file[name][...], dict(file[name].attrs)
    scales = [file[name].dims[axis][0] for axis in range(values.ndim)]
    del file[name]
    return values, attributes, scales


def replaced(file, name, make):
    values, _, scales = moved(file, name)
    made = make(values)
    for axis, scale in enumerate(scales):
        made.dims[axis].attach_scale(scale)


def to_another_file(path):
    with h5py.File(path.with_name("other.nc"), "w") as other, h5py.File(path, "r+") as file:
        other["A"], _, _ = moved(file, "A")
        file["A"] = h5py.ExternalLink("other.nc", "/A")


def to_itself(path):
    with h5py.File(path, "r+") as file:
        file["secret"] = file["A"][...]
        moved(file, "A")
        file["A"] = h5py.SoftLink("/secret")


def to_raw_bytes(path):
    with h5py.File(path, "r+") as file:
        secret = path.with_name("secret")
        secret.write_bytes(file["A"][...].tobytes())

        def make(values):
            return file.create_dataset("A", values.shape, values.dtype, external=str(secret))

        replaced(file, "A", make)


def to_parts_of_another(path):
    with h5py.File(path.with_name("other.nc"), "w") as other, h5py.File(path, "r+") as file:
        other["A"] = file["A"][...]

        def make(values):
            layout = h5py.VirtualLayout(values.shape, values.dtype)
            layout[...] = h5py.VirtualSource("other.nc", "A", values.shape)
            return file.create_virtual_dataset("A", layout)

        replaced(file, "A", make)


LINKS = [to_another_file, to_itself, to_raw_bytes, to_parts_of_another]


@pytest.fixture
def saved(model, tmp_path):
    model.save(tmp_path / "model.nc")
    return tmp_path / "model.nc"


@pytest.mark.parametrize("change", LINKS)
def test_a_model_that_leads_to_other_files_is_refused(saved, change):
    change(saved)
    with pytest.raises(ValueError, match="leads to another place") as caught:
        tp.load(saved)
    assert str(saved) in str(caught.value)


@pytest.mark.parametrize("stored", [{}, {"chunks": (1000, 2)}, {"chunks": True, "compression": "gzip"}])
def test_a_model_that_claims_more_than_its_file_holds_is_refused(saved, stored):
    with h5py.File(saved, "r+") as file:
        for name in ("A", "rows"):
            del file[name]
        file.create_dataset("rows", (2_000_000,), "f4").make_scale("rows")
        A = file.create_dataset("A", (2_000_000, 2), "f8", **stored)
        A.dims[0].attach_scale(file["rows"])
        A.dims[1].attach_scale(file["component"])
    assert saved.stat().st_size < 1_000_000
    with pytest.raises(ValueError, match="claims"):
        tp.load(saved)


def test_a_model_that_claims_a_rank_that_it_does_not_have_is_refused(saved):
    with h5py.File(saved, "r+") as file:
        parameters = json.loads(file.attrs["parameters"])
        assert parameters["rank"] == 2
        file.attrs["parameters"] = json.dumps(parameters | {"rank": 10**9})
    with pytest.raises(ValueError, match="rank"):
        tp.load(saved)


def test_a_model_that_another_program_touched_is_still_read(saved, model):
    with h5py.File(saved, "r+") as file:
        file.attrs["note"] = "x" * 5000
    np.testing.assert_array_equal(tp.load(saved).A_, model.A_)
