"""Slices may come in any order: what is said of the first and the last time is of these times."""

from dataclasses import replace

import numpy as np
import pytest

import tparafac2 as tp

ORDER = [3, 5, 0, 4, 1, 2]


@pytest.fixture(scope="module", params=[False, True], ids=["numbered", "labelled"])
def both(request):
    """A fit in the order of time, and the same with its slices in another order."""
    X = tp.synthetic.easy(seed=0, noise=0.1, n_times=6, n_rows=20, n_columns=24, n_concepts=2).X.copy()
    X[[1, 4]] = np.nan
    X[2, 3:] = X[3, 2:] = np.nan  # too few rows at two times, and not as many at both
    result = tp.TParafac2(2, 1e-3, n_starts=2, random_state=0).fit(X, times=[0, 1, 3, 4, 6, 9]).result_
    if request.param:
        result = replace(
            result, labels=replace(result.labels, time=np.array([1990, 1991, 1993, 1994, 1996, 1999]))
        )
    parts = {name: getattr(result, name)[ORDER] for name in ("B", "C", "times", "coverage", "undetermined")}
    time = None if result.labels.time is None else result.labels.time[ORDER]
    return result, replace(result, **parts, labels=replace(result.labels, time=time))


@pytest.mark.parametrize(
    "what",
    [
        lambda result: result.summary(),
        lambda result: result.summary(by="distinctive"),
        lambda result: result._repr_html_(),
        lambda result: result.notes,
    ],
    ids=["summary", "summary by distinction", "html", "notes"],
)
def test_what_is_said_does_not_depend_on_the_order_of_the_slices(both, what):
    sorted_, other = both
    assert what(sorted_) == what(other)


def test_the_first_line_of_a_component_is_of_the_first_time():
    X = tp.synthetic.easy(seed=0, noise=0.1, n_times=3, n_rows=20, n_columns=24, n_concepts=2).X
    model = tp.TParafac2(2, 1e-3, n_starts=2, random_state=0).fit(X, times=[2, 0, 1])
    strengths = model.normalised().C[:, 0]
    lines = [line for line in model.summary().splitlines() if "component 1" in line]
    assert f"{strengths[1]:.4g} -> {strengths[0]:.4g}" in lines[0]


def test_times_in_findings_are_in_the_order_of_time(both):
    labels = tuple(both[0].labels.coordinate("time", 6)[[1, 4]])
    for result in both:
        assert [one.times for one in result.findings if one.kind == "unobserved_times"] == [labels]
        [few] = [one for one in result.findings if one.kind == "few_rows"]
        assert few.numbers["seen"] == (3, 2)
