import gc
import json
import os
import warnings
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis.extra.numpy import array_shapes, arrays

from tparafac2.data import Labels
from tparafac2.penalties import Ridge
from tparafac2.result import ENDINGS, Result, load_result
from tparafac2.result.files import _ENDINGS_OF_0_1, FORMAT_VERSION, from_layout, to_layout

pytestmark = pytest.mark.slow

FLOATS = st.sampled_from([np.float64, np.float32])


def make(**changes: Any) -> Result:
    rng = np.random.default_rng(0)
    plain: dict[str, Any] = {
        "model": "TParafac2",
        "parameters": {"rank": 2, "penalties_a": [Ridge(0.1)], "nonnegative": None},
        "A": rng.standard_normal((5, 2)),
        "B": rng.standard_normal((3, 4, 2)),
        "C": rng.random((3, 2)),
        "labels": Labels(rows=list("abcde"), names={"rows": "author"}),
        "objective": 1.5,
        "explained_variance": 0.75,
        "status": "Converged.",
        "converged": True,
        "n_iter": 12,
        "feasibility_gaps": {"A": 0.0, "B": 1e-300, "C": np.inf},
        "trace": {"iteration": np.arange(3), "seconds": np.array([0.1, np.nan, -0.0])},
        "starts": {
            "start": np.arange(2),
            "status": np.array(["Converged.", "Not finite: ∞."]),
            "chosen": np.array([True, False]),
        },
    }
    return Result(**(plain | changes))


def assert_same_bits(ours: Any, theirs: Any) -> None:
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.dtype == theirs.dtype
    assert ours.shape == theirs.shape
    assert ours.tobytes() == theirs.tobytes()


def assert_same(ours: Result, theirs: Result) -> None:
    assert ours.ragged == theirs.ragged
    for mine, other in zip([ours.A, *ours.B, ours.C], [theirs.A, *theirs.B, theirs.C], strict=True):
        assert_same_bits(mine, other)
    for table in ("trace", "starts"):
        assert list(getattr(ours, table)) == list(getattr(theirs, table))
        for name, column in getattr(ours, table).items():
            assert_same_bits(column, getattr(theirs, table)[name])
    assert ours.labels.names == theirs.labels.names
    for mode in ("rows", "columns", "time"):
        mine, other = getattr(ours.labels, mode), getattr(theirs.labels, mode)
        assert (mine is None) == (other is None)
        if mine is not None:
            assert_same_bits(mine, other)
    for name in ("model", "parameters", "status", "converged", "n_iter", "feasibility_gaps", "notes"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert_same_bits(ours.objective, theirs.objective)
    assert_same_bits(ours.explained_variance, theirs.explained_variance)

    assert (ours.period, ours.observed_share) == (theirs.period, theirs.observed_share)
    for name in ("times", "coverage", "undetermined"):
        mine, other = getattr(ours, name), getattr(theirs, name)
        assert (mine is None) == (other is None)
        if mine is not None:
            assert_same_bits(mine, other)


def by_layout(result: Result, folder: Path) -> Result:
    return from_layout(to_layout(result))[0]


def by_file(result: Result, folder: Path) -> Result:
    result.save(folder / "result.nc")
    return load_result(folder / "result.nc")


BOTH_WAYS = pytest.mark.parametrize("again", [by_layout, by_file])
FEW = settings(max_examples=20)


@BOTH_WAYS
@pytest.mark.parametrize("parts", [{}, {"trace": {}, "starts": {}, "labels": Labels(), "parameters": {}}])
def test_everything_comes_back(again, tmp_path: Path, parts: dict[str, Any]) -> None:
    assert_same(again(make(**parts), tmp_path), make(**parts))


OBSERVATION: dict[str, Any] = {
    "times": np.array([0.1, -3.0, 1e-310]),
    "period": 0.1 + 24,
    "observed_share": 1 / 3,
    "coverage": np.linspace(0, 1, 12).reshape(3, 4),
    "undetermined": np.array([[True, False], [False, False], [False, True]]),
}


@BOTH_WAYS
@pytest.mark.parametrize("left_out", [(), *((name,) for name in OBSERVATION)])
def test_what_was_observed_and_when_comes_back(again, tmp_path: Path, left_out: tuple[str, ...]) -> None:
    parts = {name: value for name, value in OBSERVATION.items() if name not in left_out}
    assert_same(again(make(**parts), tmp_path), make(**parts))


def test_files_from_before_these_fields_still_load(tmp_path: Path) -> None:
    layout = to_layout(make(**OBSERVATION)).drop_vars(["times", "coverage", "undetermined"])
    for name in ("period", "observed_share"):
        del layout.attrs[name]
    assert layout.attrs["format_version"] == 1
    path = write_dataset(layout, tmp_path / "old.nc")
    assert_same(load_result(path), make())


@pytest.mark.parametrize(("sentence", "status"), _ENDINGS_OF_0_1.items())
def test_files_of_version_0_1_have_a_sentence_as_status(sentence: str, status: str) -> None:
    layout = to_layout(make()).assign_attrs(status=json.dumps(sentence), notes="[]")
    assert from_layout(layout)[0].status == status
    assert status in ENDINGS


@settings(FEW, max_examples=10)
@given(
    times=arrays(np.float64, 3, elements=st.floats(allow_nan=False, allow_infinity=False)),
    coverage=arrays(np.float64, (3, 4), elements=st.floats(0, 1)),
    undetermined=arrays(bool, (3, 2)),
    share=st.floats(0, 1),
    period=st.floats(min_value=0, exclude_min=True, allow_infinity=False),
)
def test_any_observation_comes_back_exactly(
    tmp_path: Path, times, coverage, undetermined, share, period
) -> None:
    result = make(
        times=times, coverage=coverage, undetermined=undetermined, observed_share=share, period=period
    )
    assert_same(by_file(result, tmp_path), result)


@BOTH_WAYS
def test_empty_tables_keep_their_columns(again, tmp_path: Path) -> None:
    result = make(trace={"iteration": np.zeros(0, int)}, starts={"status": np.zeros(0, "<U1")})
    assert_same(again(result, tmp_path), result)


@FEW
@given(data=st.data())
def test_all_numbers_come_back_exactly(tmp_path: Path, data: st.DataObject) -> None:
    I, J, K, R = data.draw(array_shapes(min_dims=4, max_dims=4, max_side=3))
    dtype = data.draw(FLOATS)
    result = make(
        A=data.draw(arrays(dtype, (I, R))),
        B=data.draw(arrays(dtype, (K, J, R))),
        C=data.draw(arrays(dtype, (K, R))),
        labels=Labels(),
        objective=data.draw(st.floats(allow_nan=False)),
    )
    assert_same(by_file(result, tmp_path), result)


TEXTS = st.text(max_size=6) | st.sampled_from(["", "\0", "a\0b", "\ud800", "'\"\\", "<b>", "日本", "\n"])
LABELS = (
    arrays(np.int64, 5)
    | arrays(np.uint8, 5)
    | arrays(FLOATS, 5)
    | arrays(bool, 5)
    | arrays(np.dtype("datetime64[ns]"), 5)
    | arrays(np.dtype("datetime64[D]"), 5)
    | arrays(np.dtype("timedelta64[ms]"), 5)
    | st.lists(TEXTS, min_size=5, max_size=5).map(np.array)
)


@FEW
@given(labels=LABELS, names=st.lists(TEXTS, min_size=3, max_size=3, unique=True))
def test_all_labels_and_names_come_back(tmp_path: Path, labels, names) -> None:
    modes = dict(zip(("rows", "columns", "time"), names))
    result = make(labels=Labels(rows=labels, columns=labels[:4], time=labels[:3], names=modes))
    back = by_file(result, tmp_path)
    assert back.labels.names == modes
    for mode in ("rows", "columns", "time"):
        ours, theirs = getattr(back.labels, mode), getattr(result.labels, mode)
        assert ours.dtype.kind == theirs.dtype.kind
        if ours.dtype.kind == "U":  # only the room for the longest text may differ
            assert ours.tolist() == theirs.tolist()
        else:
            assert_same_bits(ours, theirs)


@BOTH_WAYS
@pytest.mark.parametrize(
    "names", [("component", "loadings", "start"), ("a/b", "", "A"), ("width", "trace_row", "rows_labels")]
)
def test_names_that_the_file_uses_itself(again, tmp_path: Path, names: tuple[str, ...]) -> None:
    labels = Labels(rows=range(5), names=dict(zip(("rows", "columns", "time"), names)))
    assert_same(again(make(labels=labels), tmp_path), make(labels=labels))


@BOTH_WAYS
@pytest.mark.parametrize("widths", [(4, 2, 3), (4, 4, 4)])
def test_ragged_patterns_come_back_as_a_list(again, tmp_path: Path, widths: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    pieces = [rng.standard_normal((width, 2)).astype(np.float32) for width in widths]
    pieces[1][0, 0] = np.nan
    assert_same(again(make(B=pieces), tmp_path), make(B=pieces))


@BOTH_WAYS
def test_texts_among_objects_come_back_as_texts(again, tmp_path: Path) -> None:
    labels = Labels(rows=np.array(["é", "", "b", "c", "d"], dtype=object))
    back = again(make(labels=labels), tmp_path).labels.rows
    assert back is not None
    assert back.dtype.kind == "U"
    assert back.tolist() == ["é", "", "b", "c", "d"]


def test_saved_as_text_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xr.Dataset, "to_netcdf", lambda self, **_: b"")
    labels = Labels(rows=np.array([1, "b", None, 2.5, "e"], dtype=object))
    with pytest.warns(UserWarning, match="labels of rows are saved as text") as caught:
        make(labels=labels).save(tmp_path / "result.nc")
    assert caught[0].filename == __file__
    assert from_layout(to_layout(make(labels=labels)))[0].labels.rows.tolist() == [
        "1",
        "b",
        "None",
        "2.5",
        "e",
    ]


class Own:
    def __repr__(self) -> str:
        return "Own()"


def test_lost_parameters_are_named(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r"penalties_b\[0\].*it was Own\(\)") as caught:
        back = by_file(make(parameters={"rank": 2, "penalties_b": [Own()]}), tmp_path)
    assert caught[0].filename == __file__
    assert back.parameters == {"rank": 2, "penalties_b": [None]}


def test_nothing_else_is_said(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        by_file(make(), tmp_path)
    assert os.listdir(tmp_path) == ["result.nc"]


def test_a_long_parameter_fits(tmp_path: Path) -> None:
    result = make(parameters={"words": ["word" * 10] * 5000})
    assert by_file(result, tmp_path).parameters == result.parameters


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "result.nc"
    target.write_bytes(b"the old file")

    def fill_the_disk(dataset: xr.Dataset, path: Path, encoding: object) -> None:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device", str(path))

    with monkeypatch.context() as patch:
        patch.setattr("tparafac2.result.files.write_sealed", fill_the_disk)
        with pytest.raises(OSError, match=r"No space left.*result\.nc"):
            make().save(target)
    assert target.read_bytes() == b"the old file"
    assert os.listdir(tmp_path) == ["result.nc"]


def test_a_write_replaces_the_old_file_in_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "result.nc"
    target.write_bytes(b"the old file")

    def write(self: xr.Dataset, **_: object) -> bytes:
        assert target.read_bytes() == b"the old file"
        return b"new"

    monkeypatch.setattr(xr.Dataset, "to_netcdf", write)
    make().save(str(target))
    assert target.read_bytes().startswith(b"new")
    assert os.listdir(tmp_path) == ["result.nc"]


def test_places_where_no_file_can_be_are_refused(tmp_path: Path) -> None:
    for name in ("result", "result.h5", "result.nc.txt", ".nc"):
        with pytest.raises(ValueError, match=r"ending in \.nc"):
            make().save(tmp_path / name)
    with pytest.raises(ValueError, match=r"no folder .*nowhere.* make it first"):
        make().save(tmp_path / "nowhere" / "result.nc")
    (tmp_path / "folder.nc").mkdir()
    with pytest.raises(ValueError, match="is a folder"):
        make().save(tmp_path / "folder.nc")


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no file .*none\.nc"):
        load_result(tmp_path / "none.nc")
    with pytest.raises(ValueError, match="is a folder"):
        load_result(tmp_path)


def refused(path: Path) -> str:
    with pytest.raises(ValueError) as caught:
        load_result(path)
    assert str(path) in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return str(caught.value)


@pytest.mark.parametrize("content", [b"", b"not a netCDF file", b"\x89HDF\r\n\x1a\n", b"CDF\x01" + bytes(28)])
def test_files_that_are_not_netcdf4(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "result.nc"
    path.write_bytes(content)
    assert "cannot be read as a result" in refused(path)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_truncated_files(tmp_path: Path, share: float) -> None:
    by_file(make(), tmp_path)
    path = tmp_path / "result.nc"
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    assert "damaged, incomplete" in refused(path)


def test_nothing_but_the_sentence_is_printed_of_a_damaged_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed: list[Any] = []
    monkeypatch.setattr("sys.unraisablehook", printed.append)
    by_file(make(), tmp_path)
    path = tmp_path / "result.nc"
    whole = path.read_bytes()
    for seed in range(20):
        rng = np.random.default_rng(seed)
        content = bytearray(whole)
        for place in rng.integers(len(content), size=20):
            content[place] ^= 0xFF
        path.write_bytes(content)
        refused(path)
    gc.collect()
    assert not printed


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "result.nc")
    with pytest.raises(OSError, match=r"result\.nc' is a pipe or a device"):
        load_result(tmp_path / "result.nc")


def write_dataset(dataset: xr.Dataset, path: Path) -> Path:
    dataset.to_netcdf(path, engine="h5netcdf")
    return path


def test_netcdf_of_something_else(tmp_path: Path) -> None:
    path = write_dataset(xr.Dataset({"rain": ("day", np.ones(3))}), tmp_path / "rain.nc")
    assert "not a result of tparafac2" in refused(path)


def test_a_newer_format(tmp_path: Path) -> None:
    newer = to_layout(make()).assign_attrs(format_version=FORMAT_VERSION + 1, tparafac2_version="9.9")
    sentence = refused(write_dataset(newer, tmp_path / "newer.nc"))
    assert "tparafac2 9.9" in sentence
    assert "update tparafac2" in sentence


ALTERATIONS = {
    "no loadings": lambda dataset: dataset.drop_vars("A"),
    "no start column": lambda dataset: dataset.drop_vars("start_status"),
    "bad JSON": lambda dataset: dataset.assign_attrs(status="["),
    "bad names": lambda dataset: dataset.assign_attrs(names=json.dumps({"rows": "time"})),
    "bad parameters": lambda dataset: dataset.assign_attrs(parameters="[]"),
    "bad type": lambda dataset: dataset.assign(
        start_chosen=dataset.start_chosen.assign_attrs(stored="object")
    ),
    "times of something else": lambda dataset: dataset.assign(times=("component", np.zeros(2))),
    "undetermined numbers": lambda dataset: dataset.assign(
        undetermined=(("time", "component"), np.zeros((3, 2)))
    ),
    "bad period": lambda dataset: dataset.assign_attrs(period="-1"),
    "too few labels": lambda dataset: dataset.assign(rows_labels=("time", np.array(["a", "b", "c"]))),
}


@pytest.mark.parametrize("alteration", ALTERATIONS)
def test_altered_files(tmp_path: Path, alteration: str) -> None:
    altered = ALTERATIONS[alteration](to_layout(make()))
    with pytest.raises((KeyError, ValueError, TypeError)):
        from_layout(altered)
    assert "cannot be read as a result" in refused(write_dataset(altered, tmp_path / "altered.nc"))
