"""Rules: numbers in, verdicts out."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tparafac2.choosing.candidates import Candidate
from tparafac2.choosing.likeness import Likeness
from tparafac2.choosing.rules import (
    TIE_BAND,
    Errors,
    RankEvidence,
    choose_rank,
    paired_z,
    settle,
    verdicts,
)

HARD = {s: Candidate(3, s) for s in (1e-3, 3e-3, 1e-2)}
SOFT = {s: Candidate(3, s, 1.0) for s in (1e-3, 3e-3, 1e-2)}


def errors(choosing, testing=None):
    """Errors that are `choosing` in the mean where they choose, and vary little between rows."""
    wiggle = np.linspace(-1e-3, 1e-3, 50)
    return Errors(choosing + wiggle, (choosing if testing is None else testing) * (1.0 + wiggle))


def test_the_smoothest_setting_within_the_tie_band_is_chosen():
    tie = 1.0 + 0.9 * TIE_BAND
    found = settle({HARD[1e-3]: errors(1.0), HARD[3e-3]: errors(tie), HARD[1e-2]: errors(1.02)})
    assert found.chosen == HARD[3e-3]
    assert set(found.band) == {HARD[1e-3], HARD[3e-3]}
    assert (found.z, found.gain, found.flexible) == (None, None, None)


def test_where_changes_are_sudden_the_least_error_decides():
    tie = 1 + 0.9 * TIE_BAND
    sudden = {s: HARD[s]._replace(changes="sudden") for s in (1e-3, 3e-3)}
    found = settle({sudden[1e-3]: errors(1.0), sudden[3e-3]: errors(tie)})
    assert found.chosen == sudden[1e-3]
    assert set(found.band) == set(sudden.values())  # how far components move between them counts all the same


def test_a_band_has_no_settings_that_predict_plainly_better():
    """Where giving way is not proven, it may still have a third of the error: that is no tie."""
    unproven = Errors(np.full(50, 0.3), np.r_[np.full(49, 1.0), 0.0])
    found = settle({HARD[1e-3]: errors(1.0), HARD[3e-3]: errors(1.001), SOFT[1e-3]: unproven})
    assert found.chosen == HARD[3e-3]
    assert set(found.band) == {HARD[1e-3], HARD[3e-3]}
    assert found.gain > 0


def test_the_constraint_gives_way_where_that_helps_at_entries_that_did_not_choose():
    found = settle({HARD[1e-3]: errors(1.0), SOFT[1e-3]: errors(0.9)})
    assert found.chosen == SOFT[1e-3]
    assert found.hard == HARD[1e-3]
    assert found.z > 5
    assert found.gain == pytest.approx(0.1, abs=1e-3)


def test_the_constraint_stays_where_only_the_choosing_entries_speak_against_it():
    found = settle({HARD[1e-3]: errors(1.0), SOFT[1e-3]: errors(0.9, testing=1.1)})
    assert found.chosen == HARD[1e-3]
    assert found.z < 0


def test_settings_that_are_barred_do_not_count_unless_there_is_no_other():
    both = {HARD[1e-3]: errors(1.0), HARD[3e-3]: errors(1.2)}
    assert settle(both, barred=[HARD[1e-3]]).chosen == HARD[3e-3]
    assert settle(both, barred=list(both)).chosen == HARD[1e-3]


def test_flexible_settings_alone_can_be_settled():
    found = settle({SOFT[1e-3]: errors(1.0), SOFT[1e-2]: errors(1.0)})
    assert (found.chosen, found.hard, found.z) == (SOFT[1e-2], None, None)


def test_hiding_the_same_again_is_no_further_evidence():
    gains = np.random.default_rng(0).normal(0.3, 1.0, 60)
    assert paired_z(np.tile(gains, 2), 2) == pytest.approx(2**0.5 * paired_z(gains), rel=0.02)
    assert paired_z(np.tile(gains, 32), 32) == pytest.approx(paired_z(np.tile(gains, 2), 2), rel=0.02)


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=30), st.floats(0.1, 10))
def test_z_has_no_units_and_turns_with_the_sign(gains, unit):
    gains = np.array(gains)
    z = paired_z(gains)
    assert math.isfinite(z)
    assert paired_z(-gains) == pytest.approx(-z)
    if np.ptp(gains) > 1e-6:
        assert paired_z(unit * gains) == pytest.approx(z, rel=1e-6)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=6), st.floats(0.5, 1))
def test_a_more_alike_component_never_has_a_worse_verdict(pairs, threshold):
    own, chance = map(np.array, zip(*pairs))
    order = ["not there", "there", "replicable"]
    before = verdicts(Likeness(own, chance), threshold)
    after = verdicts(Likeness(np.minimum(own + 0.1, 1.0), chance), threshold)
    assert all(order.index(b) >= order.index(a) for a, b in zip(before, after))


def test_likeness_proves_nothing_where_other_components_are_as_alike():
    assert verdicts(Likeness(np.array([0.95]), np.array([0.94]))) == ("not there",)
    assert verdicts(Likeness(np.array([0.95]), np.array([0.5]))) == ("replicable",)


def ranks(*rows):
    known = []
    fewer = None
    for rank, (z, agreement, found) in enumerate(rows, 1):
        known.append(RankEvidence(rank, 1.0, math.inf if rank == 1 else z, agreement, found, fewer))
        fewer = known[-1] if known[-1].improves else fewer
    return known


GOOD, WEAK, BAD = "replicable", "there", "not there"


def test_the_largest_rank_that_helps_and_whose_components_are_there_is_chosen():
    found = choose_rank(
        ranks((0, 1, [GOOD]), (9, 1, [GOOD] * 2), (8, 1, [GOOD, GOOD, WEAK]), (-5, 0.3, [GOOD] * 3 + [BAD]))
    )
    assert (found.rank, found.by_error, found.by_components, found.replicable) == (3, 3, 3, 2)
    assert found.sure


def test_components_that_are_not_found_again_end_the_rank_though_the_error_falls():
    found = choose_rank(ranks((0, 1, [GOOD]), (9, 1, [GOOD] * 2), (8, 1, [GOOD, GOOD, BAD])))
    assert (found.rank, found.by_error) == (2, 3)
    assert found.doubts == ("error",)


def test_components_that_are_found_again_do_not_help_where_the_error_does_not_fall():
    for z, more, doubts in ((0.5, 3, ("components",)), (-5.0, 2, ())):
        found = choose_rank(ranks((0, 1, [GOOD]), (9, 1, [GOOD] * 2), (z, 1, [GOOD] * 3)))
        assert (found.rank, found.by_components) == (2, more)
        assert found.doubts == doubts


def test_what_nobody_looked_for_was_not_found_again():
    found = choose_rank(ranks((0, 1, None), (9, 1, None), (0.5, 1, None)))
    assert found.rank == 2
    assert found.doubts == ("halves",)


def test_an_interrupted_choice_is_never_sure():
    assert choose_rank(ranks((0, 1, [GOOD])), interrupted=True).doubts == ("interrupted",)


def test_a_component_that_helps_a_few_rows_only_counts_if_it_is_replicable():
    for verdict, rank in ((GOOD, 2), (WEAK, 1)):
        first = RankEvidence(1, 1.0, math.inf, 1.0, (GOOD,))
        assert choose_rank([first, RankEvidence(2, 0.8, 1.5, 1.0, (GOOD, verdict), first)]).rank == rank


def test_noise_has_no_components_and_that_is_said():
    found = choose_rank(ranks((0, 1, [BAD]), (-9, 0.2, [BAD] * 2)))
    assert found.rank == 1
    assert "nothing" in found.doubts


def test_the_largest_rank_that_was_tried_is_never_sure():
    assert "edge" in choose_rank(ranks((0, 1, [GOOD]), (9, 1, [GOOD] * 2))).doubts


def test_starts_that_disagree_are_a_doubt():
    found = choose_rank(ranks((0, 1, [GOOD]), (9, 0.2, [GOOD] * 2), (-9, 1, [GOOD, GOOD, BAD])))
    assert found.rank == 2
    assert found.doubts == ("starts",)


def test_what_was_not_measured_is_no_evidence_against_a_rank():
    found = choose_rank(ranks((0, None, None), (9, None, None), (0, None, None)))
    assert found.rank == 2
    assert found.replicable == 0
