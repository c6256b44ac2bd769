"""A bar on a terminal, for fits that take a while, and how long they may still take."""

import io
import re

import numpy as np
import pytest

from tparafac2.large import Reads
from tparafac2.solver import Entry, Info
from tparafac2.starts import Progress, progress
from tparafac2.starts.progress import one_of_several


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test moves."""

    class Clock:
        now = 100.0

        def __call__(self):
            return self.now

    hand = Clock()
    monkeypatch.setattr(progress.time, "monotonic", hand)
    return hand


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "160")
    return Terminal()


def plain(terminal):
    """What was written, without colours and commands."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.getvalue())


def shown(terminal):
    """What is to be seen of the last line."""
    return plain(terminal).split("\r")[-1].rstrip()


def entry(number, active=1):
    zero = np.zeros(active)
    return Entry(number, float(number), np.arange(active), Info(zero, zero, zero, zero))


def test_silent_at_first_then_a_line(clock, terminal):
    bar = Progress(stream=terminal)
    bar.expect([3, 3])
    clock.now += 1.4
    bar.iteration(0, entry(1, 3))
    assert terminal.getvalue() == ""
    clock.now += 0.2
    bar.iteration(0, entry(2, 2))
    assert shown(terminal).startswith("fitting: 1 of 6 starts at their end, iteration 2 ")


def test_what_is_left_is_told_from_the_batches_that_ended(clock, terminal):
    bar = Progress(stream=terminal)
    bar.expect([1, 1, 1, 1])
    for batch in (0, 1):
        clock.now += 60.0
        bar.batch_done(batch)
    assert shown(terminal).startswith("fitting: 2 of 4 starts at their end ")
    assert shown(terminal).endswith(" 0:02:00 left 0:02:00")


def test_nothing_is_foretold_before_a_batch_ended(clock, terminal):
    bar = Progress(stream=terminal)
    bar.expect([2, 2])
    clock.now += 60.0
    bar.iteration(0, entry(9, 2))
    assert shown(terminal).endswith(" 0:01:00 left -:--:--")


def test_batches_of_which_only_the_end_is_heard(clock, terminal):
    bar = Progress(stream=terminal)
    bar.expect([5, 5, 5])
    for done in (5, 10, 15):
        clock.now += 60
        bar.batch_done()
        assert shown(terminal).startswith(f"fitting: {done} of 15 starts at their end ")


def test_reading_is_told(clock, terminal):
    reads = Reads(passes=2, bytes=300_000_000, seconds=2.0, part=0.5)
    bar = Progress(stream=terminal)
    clock.now += 5.0
    bar.looking(reads)
    assert shown(terminal).startswith("looking at the data, 150 MB/s ")
    bar.follow(reads)
    clock.now += 5.0
    reads.watch()
    assert "0 of 1 starts at their end, pass 3 over the data, 150 MB/s" in shown(terminal)


def test_one_of_several_says_which(clock, terminal):
    with one_of_several("model 2 of 6 (rank 3)"):
        bar = Progress(stream=terminal)
    clock.now += 5
    bar.iteration(0, entry(1))
    assert shown(terminal).startswith("fitting model 2 of 6 (rank 3): 0 of 1 starts")
    assert Progress(stream=terminal).what == "fitting"


def test_is_not_redrawn_all_the_time(clock, terminal):
    bar = Progress(stream=terminal)
    clock.now += 10.0
    for number in range(1, 101):
        bar.iteration(0, entry(number))
        clock.now += 0.01
    assert 3 <= terminal.getvalue().count("\r") <= 6


def test_the_line_is_wiped_at_the_end(clock, terminal):
    bar = Progress(stream=terminal)
    clock.now += 2.0
    bar.iteration(0, entry(10))
    bar.close()
    assert terminal.getvalue().endswith("\x1b[2K")  # the command that empties a line
    assert terminal.getvalue().count("\x1b[?25l") == terminal.getvalue().count("\x1b[?25h")  # the cursor
    written = terminal.getvalue()
    bar.close()
    assert terminal.getvalue() == written


def test_nothing_to_wipe_where_nothing_was_shown(clock, terminal):
    bar = Progress(stream=terminal)
    bar.iteration(0, entry(1))
    bar.batch_done()
    bar.close()
    assert terminal.getvalue() == ""


@pytest.mark.parametrize(
    ("enabled", "stream", "speaks"),
    [
        (None, Terminal, True),
        (None, io.StringIO, False),
        (False, Terminal, False),
        (True, io.StringIO, True),
    ],
)
def test_speaks_on_a_terminal_unless_told_otherwise(enabled, stream, speaks, clock):
    out = stream()
    bar = Progress(enabled, out)
    clock.now += 5.0
    bar.iteration(5, entry(5))
    bar.batch_done()
    bar.close()
    assert bool(out.getvalue()) is speaks


def test_standard_error_is_where_it_goes(capsys, clock):
    bar = Progress(True)
    clock.now += 5.0
    bar.iteration(0, entry(1))
    bar.close()
    captured = capsys.readouterr()
    assert "fitting" in captured.err
    assert captured.out == ""
