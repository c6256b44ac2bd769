"""Synthetic data on disk: read back as they were, fitted as they are, complete or not at all."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import tparafac2 as tp
from tparafac2.data import take_in
from tparafac2.synthetic import (
    Concept,
    Constant,
    Incremental,
    Periodic,
    Sudden,
    Weakened,
    almost_zero,
    easy,
    generate,
    overlapping,
)
from tparafac2.synthetic.files import check_target

pytestmark = pytest.mark.slow
SMALL = {"n_times": 8, "n_rows": 12, "n_columns": 40, "n_concepts": 2}
CUSTOM = [
    Concept(Sudden(3), Weakened(Constant(), start=1, duration=2)),
    Concept(Incremental(2, duration=3), Periodic(level=7.5)),
]

DATA = {
    "easy": lambda: easy(3, 0.1, **SMALL),
    "held": lambda: easy(3, 0.1, fresh_importances=False, **SMALL),
    "single precision": lambda: easy(3, dtype=np.float32, **SMALL),
    "almost zero": lambda: almost_zero(4, 2, 0.25, **SMALL),
    "overlapping": lambda: overlapping(5, 0.3, 1 / 3, **SMALL),
    "custom": lambda: generate(
        CUSTOM, 6, overlap=0.1, enforce_parafac2=False, n_times=8, n_rows=12, n_columns=60
    ),
    "numbers of NumPy": lambda: easy(
        np.int64(3), np.float64(0.1), n_times=8, n_rows=np.int32(12), n_columns=np.int64(40), n_concepts=2
    ),
}
EVERY_KIND = pytest.mark.parametrize("data", [pytest.param(make(), id=kind) for kind, make in DATA.items()])


def same_bits(one: object, other: object) -> bool:
    one, other = np.asarray(one), np.asarray(other)
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


@EVERY_KIND
def test_netcdf_comes_back(data, tmp_path: Path) -> None:
    data.save(tmp_path / "data.nc")
    back = xr.load_dataset(tmp_path / "data.nc")
    assert all(same_bits(back[name], getattr(data, name)) for name in "XABC")
    assert back.identical(data.to_dataset())
    assert back.component.values.tolist() == list(range(1, len(data.concepts) + 1))
    assert os.listdir(tmp_path) == ["data.nc"]


@EVERY_KIND
def test_npz_comes_back(data, tmp_path: Path) -> None:
    data.save(str(tmp_path / "data.npz"))
    with np.load(tmp_path / "data.npz", allow_pickle=False) as back:
        assert sorted(back) == ["A", "B", "C", "X"]
        assert all(same_bits(back[name], getattr(data, name)) for name in "XABC")
    assert os.listdir(tmp_path) == ["data.npz"]


@EVERY_KIND
def test_the_line_of_python_makes_the_same_data(data) -> None:
    names: dict = {}
    exec(data.to_dataset().attrs["python"], names)
    again = names["data"]
    assert all(same_bits(getattr(again, name), getattr(data, name)) for name in "XABC")


def test_the_models_know_the_dimensions(tmp_path: Path, small_data) -> None:
    small_data.save(tmp_path / "data.nc")
    X = xr.load_dataset(tmp_path / "data.nc")["X"]
    assert X.dims == ("time", "rows", "columns")
    taken, labels = take_in(X.transpose("columns", "time", "rows"))[:2]
    assert taken.shape == (8, 20, 24)
    assert labels.names == {"rows": "rows", "columns": "columns", "time": "time"}
    model, reference = (tp.TParafac2(rank=2, n_starts=2, random_state=0) for _ in range(2))
    assert same_bits(model.fit(X).A_, reference.fit(small_data.X).A_)


def test_facts() -> None:
    attributes = overlapping(5, 0.3, 0.25, **SMALL).to_dataset().attrs
    python = "overlapping(seed=5, overlap=0.3, noise=0.25, n_times=8, n_rows=12, n_columns=40, n_concepts=2, "
    assert python in attributes.pop("python")
    assert attributes == {
        "case": "overlapping",
        "seed": 5,
        "noise": 0.25,
        "overlap": 0.3,
        "tparafac2_version": tp.__version__,
    }


def test_a_seed_greater_than_the_numbers_of_files(tmp_path: Path) -> None:
    seed = 2**70
    easy(seed, **SMALL).save(tmp_path / "data.nc")
    assert xr.load_dataset(tmp_path / "data.nc").attrs["seed"] == str(seed)


# --- refusals -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["data", "data.csv", "data.nc.txt", ".nc", "data.NC"])
def test_other_endings_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=rf"ending in \.nc \(netCDF\) or \.npz \(NumPy\); got .*{name}"):
        easy(0, **SMALL).save(tmp_path / name)
    assert os.listdir(tmp_path) == []


def test_places_where_no_file_can_be_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no folder .*nowhere.* to save 'data.nc' in: make it"):
        check_target(tmp_path / "nowhere" / "data.nc")
    (tmp_path / "file").touch()
    with pytest.raises(FileNotFoundError, match="no folder"):
        check_target(tmp_path / "file" / "data.nc")
    (tmp_path / "folder.nc").mkdir()
    with pytest.raises(IsADirectoryError, match=r"folder\.nc' is a folder: give the path of a file"):
        check_target(tmp_path / "folder.nc")


def test_a_folder_that_may_not_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Not by its permissions: they do not stop root, under whom containers run tests.
    monkeypatch.setattr(os, "access", lambda path, mode: not (Path(path) == tmp_path and mode == os.W_OK))
    with pytest.raises(PermissionError, match="may not be written to: choose another"):
        check_target(tmp_path / "data.nc")


def test_more_than_the_machine_holds_is_refused_at_once() -> None:
    with pytest.raises(MemoryError, match=r"data set needs 80,000,240\.0 GB of memory"):
        easy(0, n_times=10**4, n_rows=10**6, n_columns=10**6)


# --- complete or not at all ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["data.nc", "data.npz"])
def test_an_older_file_is_replaced_in_one_step(tmp_path: Path, name: str, monkeypatch) -> None:
    target = tmp_path / name
    target.write_bytes(b"the old file")
    replace, seen = os.replace, []

    def watch(source, destination):
        seen.append((Path(source).parent, Path(source).stat().st_size > 1000, target.read_bytes()))
        replace(source, destination)

    monkeypatch.setattr(os, "replace", watch)
    easy(0, **SMALL).save(target)
    assert seen == [(tmp_path, True, b"the old file")]
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device", "some.tmp"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file(tmp_path: Path, monkeypatch, failure: BaseException) -> None:
    target = tmp_path / "data.npz"
    target.write_bytes(b"the old file")

    def fail(file, **arrays):
        file.write_bytes(b"half")
        raise failure

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(type(failure)) as caught:
        easy(0, **SMALL).save(target)
    if isinstance(failure, OSError):
        assert caught.value.errno == 28
        assert caught.value.filename == str(target)
    assert target.read_bytes() == b"the old file"
    assert os.listdir(tmp_path) == ["data.npz"]


@pytest.mark.skipif(sys.platform == "win32", reason="the size of files cannot be limited")
def test_a_full_disk_is_an_error_and_not_a_crash(tmp_path: Path) -> None:
    code = """
import resource
from tparafac2.synthetic import easy
data = easy(0)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
for name in ("data.npz", "data.nc"):
    try:
        data.save(name)
    except OSError as error:
        print(error.filename)
"""
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "data.npz\ndata.nc\n", "")
    assert os.listdir(tmp_path) == []
