"""The paper's claims on a few small data sets of fixed seeds: not their significance, but their direction."""

from functools import cache

import pandas as pd
import pytest
from measure import measure
from plan import Method, Plan, Setting, Task
from records import row

pytestmark = pytest.mark.slow
PLAN = Plan(starts=2, n_times=12, n_rows=60, n_columns=45, max_iter=600)
DATASETS = range(5)
PLAIN, TIMED = Method("PARAFAC2"), Method("tPARAFAC2", 1000.0)
COUPLED, SIGNED = Method("tCMF", 1000.0), Method("NNtCMF", 1000.0)


@cache
def median(setting, method):
    rows = [row(measure(Task(setting, i, method), PLAN.protocol)) for i in DATASETS]
    return pd.DataFrame(rows).median(numeric_only=True)


def medians(setting, *methods):
    return pd.DataFrame({method.label: median(setting, method) for method in methods}).T


@pytest.fixture(scope="module")
def easy():
    return {noise: medians(Setting("easy", noise), PLAIN, TIMED)["fms"] for noise in (0.25, 1.0)}


@pytest.fixture(scope="module")
def overlapping():
    everybody = {0.1: (PLAIN, TIMED), 0.4: (PLAIN, TIMED, COUPLED, SIGNED)}
    return {share: medians(Setting("overlapping", share), *everybody[share]) for share in everybody}


@pytest.mark.parametrize("noise", [0.25, 1.0])
def test_tparafac2_recovers_more_than_parafac2(easy, noise):
    assert easy[noise][TIMED.label] > easy[noise][PLAIN.label] + 0.01


@pytest.mark.parametrize("method", [PLAIN, TIMED])
def test_recovery_falls_as_noise_grows(easy, method):
    assert easy[1.0][method.label] < easy[0.25][method.label] - 0.1


def test_the_advantage_grows_with_noise(easy):
    gain = {noise: scores[TIMED.label] - scores[PLAIN.label] for noise, scores in easy.items()}
    assert gain[1.0] > gain[0.25] + 0.05


@pytest.mark.parametrize("n_weak", [1, 2])
def test_tparafac2_is_better_where_concepts_almost_vanish(n_weak):
    found = medians(Setting("almost_zero", n_weak), PLAIN, TIMED)
    assert found["fms"][TIMED.label] > found["fms"][PLAIN.label] + 0.02
    assert found["weak_patterns"][PLAIN.label] < 0.3


def test_weak_patterns_are_repaired_by_enough_smoothness():
    smoother = Method("tPARAFAC2", 1e6)
    weak = medians(Setting("almost_zero", 1), TIMED, smoother)["weak_patterns"]
    assert weak[smoother.label] > weak[TIMED.label] + 0.1


def test_tparafac2_is_better_where_concepts_overlap(overlapping):
    for found in overlapping.values():
        assert found["fms"][TIMED.label] > found["fms"][PLAIN.label] + 0.03
        assert found["fms_a"][TIMED.label] > found["fms_a"][PLAIN.label] + 0.01


@pytest.mark.parametrize("method", [PLAIN, TIMED])
def test_recovery_falls_as_overlap_grows(overlapping, method):
    assert overlapping[0.4]["fms"][method.label] < overlapping[0.1]["fms"][method.label] - 0.03


def test_tcmf_is_not_unique_and_nonnegativity_repairs_it(overlapping):
    found = overlapping[0.4]
    assert found["fms"][COUPLED.label] < found["fms"][TIMED.label] - 0.05
    assert found["fms"][SIGNED.label] > found["fms"][COUPLED.label] + 0.1
    assert found["objective_spread"][COUPLED.label] < 1e-8
    assert found["agreement"][COUPLED.label] < 0.9
    assert found["agreement"][[SIGNED.label, TIMED.label]].min() > 0.999
