"""A line on a terminal, for fits that take a while, and how long they will still take."""

import io

import numpy as np
import pytest

from tparafac2.solver import Entry, Info, Settings
from tparafac2.solver.rules import StopRule
from tparafac2.starts import Progress, progress
from tparafac2.starts.progress import Outlook, one_of_several


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


def iterate(bar, clock, last, first=1, active=1, batch=0):
    for number in range(first, last + 1):
        clock.now += 1.0
        bar.iteration(batch, entry(number, active))


def test_silent_at_first_then_a_line(clock, terminal):
    bar = Progress(stream=terminal)
    bar.expect([3, 3], Settings(), 1)
    clock.now += 1.4
    bar.iteration(0, entry(1, 3))
    assert terminal.getvalue() == ""
    clock.now += 0.2
    bar.iteration(0, entry(2, 2))
    assert shown(terminal) == "fitting: 1 of 6 starts at their end, iteration 2, 2 s"


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
    bar.batch_done(0)
    assert shown(terminal) == "fitting: 1 of 4 starts at their end, 3 min, about 4 to 18 min left"
    iterate(bar, clock, 121, batch=1)
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
    bar.iteration(0, entry(24))
    longest = len(terminal.getvalue().split("\r")[-1])
    clock.now += 1.0
    bar.iteration(0, entry(1))
    assert len(terminal.getvalue().split("\r")[-1]) == longest


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


# --- what is foretold, of batches whose end is known --------------------------------------------------------


class Batch:
    """A batch that converges as it is told to, until the solver's own rule stops each start."""

    def __init__(self, objectives, gaps=0.0, pace=0.1, settings=None):
        settings = settings or Settings()
        self.settings = settings
        gaps = np.broadcast_to(gaps, objectives.shape)
        rule, active, clock = (
            StopRule(objectives.shape[1], settings, 1e-12),
            np.arange(objectives.shape[1]),
            0.0,
        )
        self.log = []
        for n in range(min(settings.max_iter, len(objectives))):
            clock += pace * len(active)
            zero = np.zeros(len(active))
            info = Info(objectives[n, active], gaps[n, active], zero, zero)
            self.log.append(Entry(n + 1, clock, active, info))
            active = active[~rule.step(active, info.objective, info.gap)]
            if not len(active):
                break
        self.seconds = clock

    def foretold(self, share):
        """What was foretold when this share of the time was over, and what came true."""
        outlook = Outlook(self.settings)
        for entry in self.log:
            outlook.step(entry)
            if entry.seconds >= share * self.seconds:
                return outlook.seconds_left(), self.seconds - entry.seconds
        raise AssertionError


n = np.arange(1, 20_001)[:, None]


def geometric(*rates):
    return 1 + np.exp(-n * np.array(rates))


FAST, SLOW = geometric(0.1), geometric(0.005)
SEVERAL = geometric(0.05, 0.08, 0.1, 0.06)
POWER = 1 + n**-3.0
PLATEAU = np.where(n < 200, 1.5 - 1e-6 * n, 1.0 + 0.5 * np.exp(-0.1 * (n - 200)))
ROUGH = 1 + np.exp(-0.03 * n) * (1 + 0.5 * np.random.default_rng(0).random((len(n), 3)))


@pytest.mark.parametrize("share", [0.5, 0.75, 0.9])
@pytest.mark.parametrize(
    ("objectives", "factor"),
    [(FAST, 1.3), (SLOW, 1.3), (SEVERAL, 1.6), (POWER, 3.0), (ROUGH, 1.6)],
    ids=["fast", "slow", "several", "power", "rough"],
)
def test_what_is_foretold_comes_true(objectives, factor, share):
    left, truth = Batch(objectives, settings=Settings(max_iter=20_000)).foretold(share)
    assert left.least <= left.most
    assert left.least / factor <= truth <= left.most * factor


@pytest.mark.parametrize("share", [0.5, 0.75, 0.9])
def test_the_gap_counts_where_it_is_last_to_come_down(share):
    left, truth = Batch(FAST, gaps=np.exp(-0.02 * n)).foretold(share)
    assert truth / 1.2 <= left.least <= left.most <= truth * 1.2


def test_nothing_is_said_before_there_is_something_to_see():
    outlook = Outlook(Settings())
    for entry in Batch(FAST).log[:34]:
        outlook.step(entry)
        assert outlook.seconds_left() is None


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_nothing_is_said_while_nothing_moves(share):
    """A bound that all iterations would take is what frightened users away."""
    batch = Batch(PLATEAU)
    assert 250 < len(batch.log) < 500
    left, _ = batch.foretold(share)
    assert left is None
    left, truth = batch.foretold(0.9)
    assert truth / 2 <= left.most <= 2 * truth


def test_objectives_that_rise_foretell_nothing():
    assert Batch(2 - 1 / n[:500].astype(float) ** 0.1).foretold(0.9)[0] is None


def test_max_iter_is_an_end():
    left, truth = Batch(SLOW, settings=Settings(max_iter=1000)).foretold(0.6)
    assert left.most == pytest.approx(truth)


def test_starts_that_have_stopped_cost_nothing_and_teach_the_others():
    late = np.where(n < 150, 1.5, 1 + np.exp(-0.1 * (n - 150)))
    batch = Batch(np.hstack([geometric(0.1, 0.1), late]))
    left, truth = batch.foretold(0.75)
    assert truth / 2 <= left.least <= left.most <= 2 * truth


def test_a_first_iteration_that_compiles_is_not_the_pace():
    batch = Batch(FAST)
    batch.log = [entry._replace(seconds=entry.seconds + 60) for entry in batch.log]
    batch.seconds += 60
    left, truth = batch.foretold(0.99)
    assert truth / 1.5 <= left.most <= 1.5 * truth


def test_tolerances_of_zero_are_never_reached():
    left, truth = Batch(FAST, settings=Settings(tol=0.0, max_iter=300)).foretold(0.5)
    assert left is None or left.most <= truth * 1.01
