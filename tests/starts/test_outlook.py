"""How long a batch will still take, foretold of batches whose end is known."""

import numpy as np
import pytest

from tparafac2.solver import Entry, Info, Settings
from tparafac2.solver.rules import StopRule
from tparafac2.starts.outlook import Outlook


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
