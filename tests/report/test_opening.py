"""Where the page opens: at the largest change that the data determine."""

from dataclasses import replace

import numpy as np
from banded import intervals_for
from hand_made import hand_made

from tparafac2.report.display import look
from tparafac2.report.opening import opening
from tparafac2.result import Trust


def changing(*changes, C=None, **more):
    """One component of three columns for each change: its first column becomes the second, by so much."""
    R, K = len(changes), 4
    angles = np.linspace(0, 1, K)[:, np.newaxis] * np.array(changes)
    B = np.stack([np.cos(angles), np.sin(angles), np.full((K, R), 0.01)], axis=1)
    return hand_made(A=np.ones((3, R)), B=B, C=np.ones((K, R)) if C is None else C, **more)


def opened(result):
    return opening(result, look(result))


def test_the_component_that_changes_most_is_first_however_strong_another_is():
    assert opened(changing(0.1, 1.0, 0.3)) == (1, 1)
    assert opened(changing(0.1, 1.0, C=np.array([[90.0, 1.0]] * 4))) == (1, 1)


def test_changes_at_times_of_little_strength_count_little():
    fading = np.array([[1.0, 1.0], [1.0, 1e-3], [1.0, 1e-3], [1.0, 1e-3]])
    assert opened(changing(0.3, 1.0, C=fading)).component == 0


def test_a_steady_change_counts_more_than_ups_and_downs():
    B = changing(0.7, 0.0).B.copy()
    B[:, 0, 1], B[:, 1, 1] = np.cos([0, 1, 0, 1]), np.sin([0, 1, 0, 1])
    assert opened(hand_made(A=np.ones((3, 2)), B=B, C=np.ones((4, 2)))) == (0, 1)


def test_what_is_not_determined_or_not_there_is_not_shown_first():
    undetermined = np.zeros((4, 2), dtype=bool)
    undetermined[1:, 1] = True
    assert opened(changing(0.3, 1.0, undetermined=undetermined)).component == 0
    trust = Trust(replicability=[0.9, 0.1], alone=[0.2, 0.2], verdict=["there", "not there"])
    assert opened(changing(0.3, 1.0, trust=trust)).component == 0


def test_with_bands_only_a_change_whose_band_excludes_zero_counts():
    result = changing(0.3, 1.0)
    bands = intervals_for(result)
    doubtful = np.array([[0.5, 0.0]] * 3)
    sure = bands.rises._replace(centre=doubtful, lower=doubtful - 0.1, upper=doubtful + 0.1)
    assert opened(replace(result, intervals=replace(bands, rises=sure, falls=sure))).component == 0


def test_where_nothing_changes_there_is_nothing_to_open_at():
    assert opened(changing(0.0, 0.0)) is None
    assert opened(hand_made(B=np.full((3, 4, 2), np.nan))) is None
    assert opened(hand_made(C=np.zeros((3, 2)))) is None
