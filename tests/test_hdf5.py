"""Files are read as they were written or not at all, and reading always comes to an end."""

import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from tparafac2 import hdf5
from tparafac2.hdf5 import open_hdf5, write_sealed

pytestmark = pytest.mark.slow

RAIN = xr.Dataset(
    {"rain": (("day", "place"), np.arange(12.0).reshape(4, 3)), "name": ("place", ["Aas", "Oslo", "Bodø"])},
    {"day": [1, 2, 3, 4]},
    {"source": "a gauge"},
)


def read(path):
    with open_hdf5(path) as dataset:
        return dataset.load()


@pytest.fixture
def no_library(monkeypatch):
    """Nothing may come so far as to be read by HDF5, here or elsewhere."""

    def reached(*arguments, **options):
        pytest.fail("the library was given damaged bytes")

    monkeypatch.setattr("h5py.File", reached)
    monkeypatch.setattr("tparafac2.hdf5._require_readable", reached)


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    path = tmp_path_factory.mktemp("sealed") / "rain.nc"
    write_sealed(RAIN, path)
    return path.read_bytes()


@pytest.fixture
def path(tmp_path, sealed):
    path = tmp_path / "rain.nc"
    path.write_bytes(sealed)
    return path


@pytest.fixture
def unsealed(tmp_path):
    """What version 0.1 wrote, or another program."""
    path = tmp_path / "plain.nc"
    RAIN.to_netcdf(path, engine="h5netcdf")
    return path


def test_it_comes_back_without_another_process(path, monkeypatch):
    monkeypatch.setattr("subprocess.run", lambda *_, **__: pytest.fail("needless"))
    assert read(path).identical(RAIN)


def test_other_programs_read_it(path):
    assert xr.load_dataset(path).identical(RAIN)
    with h5py.File(path) as file:
        assert file["rain"][1, 2] == 5.0


def test_what_another_program_changed_is_read(path):
    with h5py.File(path, "r+") as file:
        file["rain"][1, 2] = 50.0
        file.attrs["note"] = "x" * 5000
    assert read(path)["rain"].values[1, 2] == 50.0


@given(data=st.data(), length=st.integers(1, 64))
def test_any_damage_is_seen_before_the_library_sees_it(data, length, sealed, tmp_path_factory):
    begin = data.draw(st.integers(0, len(sealed) - length))
    damaged = sealed[:begin] + bytes(length) + sealed[begin + length :]
    path = tmp_path_factory.mktemp("damaged") / "rain.nc"
    path.write_bytes(damaged)
    with path.open("rb") as file:
        if damaged == sealed:
            assert hdf5._is_sealed(file, len(damaged))
            return
        with pytest.raises(ValueError, match="not those that were written"):
            hdf5._is_sealed(file, len(damaged))


@pytest.mark.parametrize("at", [0, 1642, -200, -64, -40, -1])
@pytest.mark.usefixtures("no_library")
def test_a_damaged_file_is_refused(path, sealed, at):
    changed = bytearray(sealed)
    changed[at] ^= 255
    path.write_bytes(changed)
    with pytest.raises(ValueError, match="not those that were written"):
        read(path)


@pytest.mark.parametrize("lost", [1, 20, 47])
@pytest.mark.usefixtures("no_library")
def test_a_file_without_its_last_bytes_is_refused(path, sealed, lost):
    path.write_bytes(sealed[:-lost])
    with pytest.raises(ValueError, match="not those that were written"):
        read(path)


def test_a_file_without_a_seal_is_read(unsealed):
    assert read(unsealed).identical(RAIN)


def test_a_file_without_a_seal_is_read_in_a_script_of_the_user(unsealed, tmp_path):
    """It has no guard, and a module beside it has a name that the reader needs."""
    (tmp_path / "h5netcdf.py").write_text("raise RuntimeError('not mine')")
    script = tmp_path / "scripts" / "mine.py"
    script.parent.mkdir()
    script.write_text(
        "import sys, pathlib; from tparafac2.hdf5 import open_hdf5; print('begun'); "
        "print(open_hdf5(pathlib.Path(sys.argv[1])).rain.sum().item())"
    )
    done = subprocess.run(
        [sys.executable, str(script), str(unsealed)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(hdf5.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("begun\n66.0\n", "")


@pytest.mark.parametrize(
    ("behaviour", "sentence"),
    [
        ("import signal; signal.pause()", "had not come to an end after 3 seconds"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "the HDF5 library crashed on it"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
def test_what_the_library_does_elsewhere_does_not_happen_here(
    unsealed, tmp_path, monkeypatch, behaviour, sentence
):
    reader = tmp_path / "library" / "h5netcdf.py"
    reader.parent.mkdir()
    reader.write_text(behaviour)
    monkeypatch.syspath_prepend(reader.parent)
    monkeypatch.setattr("tparafac2.hdf5._PATIENCE", 3.0)
    with pytest.raises(ValueError, match=sentence):
        read(unsealed)


def test_the_other_process_asks_for_everything(unsealed, monkeypatch):
    """Also in pieces where a variable is large."""
    read_elsewhere = []
    original = h5py.Dataset.__getitem__

    def note(self, key, **options):
        found = original(self, key, **options)
        read_elsewhere.append((self.name, np.size(found)))
        return found

    monkeypatch.setattr("h5py.Dataset.__getitem__", note)
    monkeypatch.setattr("tparafac2.hdf5._PIECE", 48)
    hdf5._read_all(str(unsealed))
    for name in RAIN.variables:
        assert sum(size for read, size in read_elsewhere if read == f"/{name}") >= RAIN[name].size
    assert ("/rain", 6) in read_elsewhere
