import itertools

import numpy as np
import pytest

from tparafac2.data import Labels
from tparafac2.data.labels import resolve_dims


def test_labels_come_back_or_count_up() -> None:
    labels = Labels(columns=np.array(["a", "b"]), names={"columns": "word"})
    assert list(labels.coordinate("columns", 2)) == ["a", "b"]
    assert list(labels.coordinate("rows", 3)) == [0, 1, 2]
    assert labels.names == {"rows": "rows", "columns": "word", "time": "time"}


@pytest.mark.parametrize("mode", ["rows", "columns", "time"])
def test_wrong_number_of_labels_is_refused(mode: str) -> None:
    labels = Labels(**{mode: np.arange(5)})
    with pytest.raises(ValueError, match=f"{mode} has 5 labels, but the data need 4"):
        labels.coordinate(mode, 4)
    with pytest.raises(ValueError, match=f"{mode} has 5 labels"):
        labels.check((4, 4, 4))
    labels.check((5, 5, 5))


def test_each_mode_is_checked_against_its_own_size() -> None:
    Labels(rows=range(3), columns=range(4), time=range(2)).check((2, 3, 4))


def test_labels_are_a_copy_of_their_own() -> None:
    given = np.array([1.0, 2.0])
    labels = Labels(time=given)
    given[0] = 9.0
    assert labels.time is not None
    assert labels.time[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        labels.time[0] = 3.0


def test_two_dimensional_labels_are_refused() -> None:
    with pytest.raises(ValueError, match="one-dimensional"):
        Labels(rows=np.ones((2, 2)))


def test_unknown_modes_and_equal_names_are_refused() -> None:
    with pytest.raises(ValueError, match="rows, columns, time; got 'depth'"):
        Labels(names={"depth": "z"})
    with pytest.raises(ValueError, match="three different names"):
        Labels(names={"rows": "time"})
    with pytest.raises(ValueError, match="got 'depth'"):
        Labels().coordinate("depth", 2)


@pytest.mark.parametrize(
    ("rows", "columns", "time"),
    [
        ("rows", "columns", "time"),
        ("author", "word", "year"),
        ("Subjects", "metabolites", "hour"),
        ("stations", "anything", "week"),
        ("sample", "Feature", "anything"),
        ("anything", "features", "time point"),
    ],
)
def test_names_tell_in_any_order(rows: str, columns: str, time: str) -> None:
    for order in itertools.permutations((rows, columns, time)):
        assert resolve_dims(order) == {"rows": rows, "columns": columns, "time": time}


def test_what_the_user_says_comes_first() -> None:
    told = {"rows": "word", "columns": "author"}
    assert resolve_dims(("word", "author", "year"), told) == {**told, "time": "year"}


def test_dates_come_before_names() -> None:
    assert resolve_dims(("station", "hour", "when"), dated=["when"])["time"] == "when"
    assert resolve_dims(("station", "hour", "when"), dated=["when"])["columns"] == "hour"


def test_user_overrules_dates() -> None:
    found = resolve_dims(("station", "hour", "when"), {"time": "hour"}, dated=["when"])
    assert found == {"rows": "station", "columns": "when", "time": "hour"}


@pytest.mark.parametrize("dims", [("x", "y", "z"), ("x", "y", "time"), ("station", "day", "hour")])
def test_doubt_is_asked_about(dims: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="say which are rows, columns and time by dims=") as caught:
        resolve_dims(dims)
    assert all(f"'{dim}'" in str(caught.value) for dim in dims)
    assert "dims={'rows': " in str(caught.value)


def test_suggestion_keeps_what_is_known() -> None:
    with pytest.raises(ValueError, match="'rows': 'x', 'columns': 'y', 'time': 'year'"):
        resolve_dims(("year", "x", "y"))


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"depth": "x"}, "got 'depth'"),
        ({"rows": "q"}, "which X does not have"),
        ({"rows": "x", "time": "x"}, "twice"),
    ],
)
def test_wrong_answers_are_refused(told: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        resolve_dims(("x", "y", "z"), told)


@pytest.mark.parametrize("dims", [(), ("author", "word"), ("author", "word", "year", "run")])
def test_other_than_three_dimensions_are_refused(dims: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="three are needed"):
        resolve_dims(dims)
