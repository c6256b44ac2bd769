"""A line on a terminal, for fits that take a while."""

import io

import pytest

from tparafac2.starts import Progress, progress


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


def test_silent_at_first_then_a_line(clock, terminal):
    bar = Progress(stream=terminal)
    bar.expect(2, 100)
    clock.now += 1.4
    bar.iteration(10, 1.0)
    assert terminal.getvalue() == ""
    clock.now += 0.2
    bar.iteration(50, 1.0)
    assert (
        shown(terminal)
        == "fitting [######..................] iteration 50 of at most 100, 2 s, at most 5 s left"
    )


def test_is_not_redrawn_all_the_time(clock, terminal):
    bar = Progress(stream=terminal)
    bar.expect(1, 1000)
    clock.now += 10.0
    for iteration in range(1, 101):
        bar.iteration(iteration, 1.0)
        clock.now += 0.01
    assert 3 <= terminal.getvalue().count("\r") <= 6


def test_batches_add_up(clock, terminal):
    bar = Progress(stream=terminal)
    bar.expect(4, 100)
    clock.now += 60.0
    bar.batch_done()
    assert (
        shown(terminal)
        == "fitting [######..................] 1 of 4 batches of starts, 60 s, at most 3 min left"
    )
    clock.now += 1.0
    bar.iteration(100, 1.0)
    assert "############....." in shown(terminal)
    bar.batch_done()
    bar.batch_done()
    bar.batch_done()
    assert shown(terminal).startswith(f"fitting [{24 * '#'}] 4 of 4")


def test_the_line_is_wiped_at_the_end(clock, terminal):
    bar = Progress(stream=terminal)
    bar.expect(1, 10)
    clock.now += 2.0
    bar.iteration(10, 1.0)
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
    bar.expect(1, 1_000_000)
    clock.now += 2.0
    bar.iteration(999_999, 1.0)
    longest = len(terminal.getvalue().split("\r")[-1])
    clock.now += 1.0
    bar.iteration(1, 1.0)
    assert len(terminal.getvalue().split("\r")[-1]) == longest


def test_nothing_to_wipe_where_nothing_was_shown(clock, terminal):
    bar = Progress(stream=terminal)
    bar.iteration(1, 1.0)
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
    bar.expect(1, 10)
    clock.now += 5.0
    bar.iteration(5, 1.0)
    bar.batch_done()
    bar.close()
    assert bool(out.getvalue()) is speaks


def test_standard_error_is_where_it_goes(capsys, clock):
    bar = Progress(True)
    clock.now += 5.0
    bar.iteration(1, 1.0)
    captured = capsys.readouterr()
    assert "fitting" in captured.err
    assert captured.out == ""


def test_what_is_left_is_told_as_one_would_say_it(clock, terminal):
    for seconds, said in ((10, "10 s"), (600, "10 min"), (36000, "10 h")):
        bar = Progress(stream=terminal)
        bar.expect(2, 100)
        clock.now += seconds
        bar.iteration(100, 1.0)
        assert shown(terminal).endswith(f"at most {said} left")
    bar.batch_done()
    bar.batch_done()
    assert "left" not in shown(terminal)
