import itertools

import pytest

from tparafac2.data.dimensions import resolve_dims


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
