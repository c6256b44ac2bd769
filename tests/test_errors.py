"""Errors know their argument, what was received, and the lines of a table that they are about."""

import copy

import pandas as pd
import pytest

import tparafac2 as tp
from tparafac2.errors import InTheWay, InvalidType, InvalidValue, NoFile, Told, TooLarge, WorkerLost
from tparafac2.words import Argument, Lines, Setting, Words


class Shouting(Words):
    def name(self, argument):
        return argument.upper()


@pytest.mark.parametrize(
    ("error", "usual"),
    [
        (InvalidValue, ValueError),
        (InvalidType, TypeError),
        (TooLarge, MemoryError),
        (InTheWay, FileExistsError),
        (NoFile, OSError),
        (WorkerLost, ChildProcessError),
    ],
)
def test_an_error_is_of_the_usual_kind_and_can_be_told_in_other_words(error, usual):
    one = error("say ", Argument("rank"), ": {braces} stay.", received=0)
    for same in (one, copy.copy(one)):  # copied as on the way to another process
        assert isinstance(same, usual)
        assert str(same) == "say rank: {braces} stay."
        assert same.told(Shouting()) == "say RANK: {braces} stay."
        assert (same.argument, same.received) == ("rank", 0)
    assert getattr(one, "errno", None) is None


def test_a_bad_parameter_is_named():
    with pytest.raises(ValueError, match="n_starts must be at least 1; got 0") as caught:
        tp.CP(2, n_starts=0).check_settings()
    assert (caught.value.argument, caught.value.received) == ("n_starts", 0)


def test_lines_of_a_table_are_counted_as_its_place_does():
    error = InvalidValue(Lines((5, 1)), ": both the same; say ", Setting("rows"), ".")
    assert str(error) == "line 7 repeats line 3: both the same; say rows=."
    there = error.within("'x.csv'", " (with ;)", lambda position: f"row {position + 1}")
    assert str(there) == "'x.csv', row 6 repeats row 2: both the same; say rows=."
    assert there.told(Shouting()) == str(there)
    elsewhere = InvalidValue("no.").within("'x.csv'", " (with ;)", str)
    assert str(elsewhere) == "'x.csv' (with ;): no."


def test_a_line_of_a_table_is_data_of_the_error():
    frame = pd.DataFrame({"r": ["a", None], "c": ["x", "y"], "t": [1, 2]})
    with pytest.raises(Told) as caught:
        tp.Table(frame, rows="r", columns="c", time="t")
    assert caught.value.lines == (1,)
