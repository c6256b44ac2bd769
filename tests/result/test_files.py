import json
import os
import warnings
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra.numpy import array_shapes, arrays

from tparafac2.data import Labels
from tparafac2.penalties import Ridge
from tparafac2.result import Result, load_result

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


def by_file(result: Result, folder: Path) -> Result:
    result.save(folder / "result.npz")
    return load_result(folder / "result.npz")


FEW = settings(max_examples=20)


@pytest.mark.parametrize("parts", [{}, {"trace": {}, "starts": {}, "labels": Labels(), "parameters": {}}])
def test_everything_comes_back(tmp_path: Path, parts: dict[str, Any]) -> None:
    assert_same(by_file(make(**parts), tmp_path), make(**parts))


OBSERVATION: dict[str, Any] = {
    "times": np.array([0.1, -3.0, 1e-310]),
    "period": 0.1 + 24,
    "observed_share": 1 / 3,
    "coverage": np.linspace(0, 1, 12).reshape(3, 4),
    "undetermined": np.array([[True, False], [False, False], [False, True]]),
}


@pytest.mark.parametrize("left_out", [(), *((name,) for name in OBSERVATION)])
def test_what_was_observed_and_when_comes_back(tmp_path: Path, left_out: tuple[str, ...]) -> None:
    parts = {name: value for name, value in OBSERVATION.items() if name not in left_out}
    assert_same(by_file(make(**parts), tmp_path), make(**parts))


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


def test_empty_tables_keep_their_columns(tmp_path: Path) -> None:
    result = make(trace={"iteration": np.zeros(0, int)}, starts={"status": np.zeros(0, "<U1")})
    assert_same(by_file(result, tmp_path), result)


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


@pytest.mark.parametrize(
    "names", [("component", "loadings", "start"), ("a/b", "", "A"), ("width", "trace_row", "rows_labels")]
)
def test_names_that_the_file_uses_itself(tmp_path: Path, names: tuple[str, ...]) -> None:
    labels = Labels(rows=range(5), names=dict(zip(("rows", "columns", "time"), names)))
    assert_same(by_file(make(labels=labels), tmp_path), make(labels=labels))


@pytest.mark.parametrize("widths", [(4, 2, 3), (4, 4, 4)])
def test_ragged_patterns_come_back_as_a_list(tmp_path: Path, widths: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    pieces = [rng.standard_normal((width, 2)).astype(np.float32) for width in widths]
    pieces[1][0, 0] = np.nan
    assert_same(by_file(make(B=pieces), tmp_path), make(B=pieces))


def test_texts_among_objects_come_back_as_texts(tmp_path: Path) -> None:
    labels = Labels(rows=np.array(["é", "", "b", "c", "d"], dtype=object))
    back = by_file(make(labels=labels), tmp_path).labels.rows
    assert back is not None
    assert back.dtype.kind == "U"
    assert back.tolist() == ["é", "", "b", "c", "d"]


def test_saved_as_text_is_said(tmp_path: Path) -> None:
    labels = Labels(rows=np.array([1, "b", None, 2.5, "e"], dtype=object))
    with pytest.warns(UserWarning, match="labels of rows are saved as text") as caught:
        make(labels=labels).save(tmp_path / "result.npz")
    assert caught[0].filename == __file__
    assert load_result(tmp_path / "result.npz").labels.rows.tolist() == [
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
    assert os.listdir(tmp_path) == ["result.npz"]


def test_a_long_parameter_fits(tmp_path: Path) -> None:
    result = make(parameters={"words": ["word" * 10] * 5000})
    assert by_file(result, tmp_path).parameters == result.parameters


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "result.npz"
    target.write_bytes(b"the old file")

    def fill_the_disk(file: Any, **_: object) -> None:
        file.write(b"half")
        raise OSError(28, "No space left on device", file.name)

    with monkeypatch.context() as patch:
        patch.setattr(np, "savez", fill_the_disk)
        with pytest.raises(OSError, match=r"No space left.*result\.npz"):
            make().save(target)
    assert target.read_bytes() == b"the old file"
    assert os.listdir(tmp_path) == ["result.npz"]


def test_a_write_replaces_the_old_file_in_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "result.npz"
    target.write_bytes(b"the old file")

    def write(file: Any, **_: object) -> None:
        assert target.read_bytes() == b"the old file"
        file.write(b"new")

    monkeypatch.setattr(np, "savez", write)
    make().save(str(target))
    assert target.read_bytes().startswith(b"new")
    assert os.listdir(tmp_path) == ["result.npz"]


def test_places_where_no_file_can_be_are_refused(tmp_path: Path) -> None:
    for name in ("result", "result.nc", "result.npz.txt", ".npz"):
        with pytest.raises(ValueError, match=r"ending in \.npz"):
            make().save(tmp_path / name)
    with pytest.raises(ValueError, match=r"no folder .*nowhere.* make it first"):
        make().save(tmp_path / "nowhere" / "result.npz")
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(ValueError, match="is a folder"):
        make().save(tmp_path / "folder.npz")


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no file .*none\.npz"):
        load_result(tmp_path / "none.npz")
    with pytest.raises(ValueError, match="is a folder"):
        load_result(tmp_path)


def refused(path: Path) -> str:
    with pytest.raises(ValueError) as caught:
        load_result(path)
    assert str(path) in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return str(caught.value)


@pytest.mark.parametrize("content", [b"", b"not a model", b"\x89HDF\r\n\x1a\n", b"PK\5\6" + bytes(18)])
def test_files_of_other_kinds(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "result.npz"
    path.write_bytes(content)
    assert "cannot be read as a result" in refused(path)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_truncated_files(tmp_path: Path, share: float) -> None:
    by_file(make(), tmp_path)
    path = tmp_path / "result.npz"
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    assert "damaged, incomplete" in refused(path)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "result.npz")
    with pytest.raises(OSError, match=r"result\.npz' is a pipe or a device"):
        load_result(tmp_path / "result.npz")


def altered(result: Result, path: Path, change: Any) -> None:
    """Save a result, and change facts and arrays of the file."""
    result.save(path)
    with np.load(path) as found:
        arrays = dict(found)
    facts = json.loads(arrays.pop("tparafac2_model").item())
    change(facts, arrays)
    facts["arrays"] = list(arrays)
    np.savez(path, tparafac2_model=np.array(json.dumps(facts).encode()), **arrays)


def test_arrays_of_something_else(tmp_path: Path) -> None:
    np.savez(tmp_path / "rain.npz", rain=np.ones(3))
    assert "of another kind" in refused(tmp_path / "rain.npz")


def test_a_newer_format(tmp_path: Path) -> None:
    newer = {"format_version": 99, "written_by": "9.9"}
    altered(make(), tmp_path / "newer.npz", lambda facts, arrays: facts.update(newer))
    sentence = refused(tmp_path / "newer.npz")
    assert "tparafac2 9.9" in sentence
    assert "update tparafac2" in sentence


ALTERATIONS = {
    "no loadings": lambda facts, arrays: arrays.pop("A"),
    "a start column of another length": lambda facts, arrays: arrays.update({"start.start": np.arange(9)}),
    "no status": lambda facts, arrays: facts.pop("status"),
    "bad names": lambda facts, arrays: facts.update(names={"rows": "time"}),
    "bad parameters": lambda facts, arrays: facts.update(parameters="[]"),
    "times of something else": lambda facts, arrays: arrays.update(times=np.zeros(2)),
    "undetermined numbers": lambda facts, arrays: arrays.update(undetermined=np.zeros((3, 2))),
    "bad period": lambda facts, arrays: facts.update(period=-1),
    "too few labels": lambda facts, arrays: arrays.update({"labels.rows": np.array(["a", "b", "c"])}),
    "attributes without names": lambda facts, arrays: arrays.update({"attribute.0": np.ones(5)}),
    "a table of nobody": lambda facts, arrays: arrays.update({"mine.a": np.ones(5)}),
}


@pytest.mark.parametrize("alteration", ALTERATIONS)
def test_altered_files(tmp_path: Path, alteration: str) -> None:
    altered(make(), tmp_path / "altered.npz", ALTERATIONS[alteration])
    assert "cannot be read as a result" in refused(tmp_path / "altered.npz")
