"""A line on a terminal, for fits that take a while."""

import io

import numpy as np
import pytest

from tparafac2.solver import Entry, Info, Settings
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
def terminal():
    return Terminal()


def shown(terminal):
    """What is to be seen of the last line."""
    return terminal.getvalue().split("\r")[-1].rstrip()


def entry(number, active=1):
    """An iteration, one second each, of starts that come closer to their end by a tenth."""
    zero = np.zeros(active)
    return Entry(number, float(number), np.arange(active), Info(zero + 1 + 0.9**number, zero, zero, zero))


def iterate(bar, clock, last, first=1, active=1):
    for number in range(first, last + 1):
        clock.now += 1.0
        bar.iteration(number, entry(number, active))


def test_silent_at_first_then_a_line(clock, terminal):
    bar = Progress(stream=terminal)
    bar.expect([3, 3], Settings(), 1)
    clock.now += 1.4
    bar.iteration(10, entry(1, 3))
    assert terminal.getvalue() == ""
    clock.now += 0.2
    bar.iteration(50, entry(2, 2))
    assert shown(terminal) == "fitting: 1 of 6 starts at their end, iteration 50, 2 s"


def test_what_is_left_is_a_range_told_from_convergence(clock, terminal):
    bar = Progress(stream=terminal)
    bar.expect([1], Settings(max_iter=100_000), 1)
    iterate(bar, clock, 30)
    assert "left" not in shown(terminal)
    iterate(bar, clock, 121, first=31)
    assert shown(terminal).endswith("starts at their end, iteration 121, 2 min, about 30 s to 2 min left")


def test_later_batches_are_like_those_before(clock, terminal):
    bar = Progress(stream=terminal)
    bar.expect([1, 1, 1, 1], Settings(), 1)
    iterate(bar, clock, 121)
    assert shown(terminal).endswith("about 5 to 20 min left")
    iterate(bar, clock, 180, first=122)
    bar.batch_done()
    assert shown(terminal) == "fitting: 1 of 4 starts at their end, 3 min, about 4 to 18 min left"
    iterate(bar, clock, 121)
    assert shown(terminal).endswith("about 3 to 14 min left")


def test_processes_work_on_batches_side_by_side(clock, terminal):
    bar = Progress(stream=terminal)
    bar.expect([5, 5, 5], Settings(), 2)
    clock.now += 60
    bar.batch_done()
    assert shown(terminal) == "fitting: 5 of 15 starts at their end, 60 s, about 30 s to 2 min left"
    bar.batch_done()
    assert shown(terminal) == "fitting: 10 of 15 starts at their end, 60 s, about 30 s to 2 min left"
    bar.batch_done()
    assert shown(terminal) == "fitting: 15 of 15 starts at their end, 60 s"


def test_one_of_several_says_which(clock, terminal):
    with one_of_several("model 2 of 6 (rank 3)"):
        bar = Progress(stream=terminal)
    clock.now += 5
    bar.iteration(1, entry(1))
    assert shown(terminal).startswith("fitting model 2 of 6 (rank 3): 0 of 1 starts")
    assert Progress(stream=terminal).what == "fitting"


def test_is_not_redrawn_all_the_time(clock, terminal):
    bar = Progress(stream=terminal)
    clock.now += 10.0
    for number in range(1, 101):
        bar.iteration(number, entry(number))
        clock.now += 0.01
    assert 3 <= terminal.getvalue().count("\r") <= 6


def test_the_line_is_wiped_at_the_end(clock, terminal):
    bar = Progress(stream=terminal)
    clock.now += 2.0
    bar.iteration(10, entry(10))
    longest = len(shown(terminal))
    clock.now += 1.0
    bar.batch_done()
    bar.close()
    *_, wiped, last = terminal.getvalue().split("\r")
    assert wiped.strip() == ""
    assert len(wiped) >= longest
    assert last == ""
    written = terminal.getvalue()
    bar.close()
    assert terminal.getvalue() == written


def test_a_shorter_line_covers_a_longer_one(clock, terminal):
    bar = Progress(stream=terminal)
    clock.now += 2.0
    bar.iteration(999_999, entry(1))
    longest = len(terminal.getvalue().split("\r")[-1])
    clock.now += 1.0
    bar.iteration(1, entry(1))
    assert len(terminal.getvalue().split("\r")[-1]) == longest


def test_nothing_to_wipe_where_nothing_was_shown(clock, terminal):
    bar = Progress(stream=terminal)
    bar.iteration(1, entry(1))
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
    bar.iteration(1, entry(1))
    captured = capsys.readouterr()
    assert "fitting" in captured.err
    assert captured.out == ""


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(10, "5 to 20 s"), (600, "5 to 20 min"), (36000, "5 to 20 h"), (100, "50 s to 3 min")],
)
def test_what_is_left_is_told_as_one_would_say_it(clock, terminal, seconds, said):
    bar = Progress(stream=terminal)
    bar.expect([1, 1], Settings(), 1)
    clock.now += seconds
    bar.batch_done()
    assert shown(terminal).endswith(f", about {said} left")
