"""Patterns and rows that are not negative, in every model and with every kind of data."""

import numpy as np
import pytest
from filled_in import filled_in
from scipy.sparse import csr_array

import tparafac2 as tp
from tparafac2.penalties import NonNegative

pytestmark = pytest.mark.slow

QUICK = {"n_starts": 3, "random_state": 0}
MODELS = {
    "TParafac2": lambda **more: tp.TParafac2(3, 1e-3, **(QUICK | more)),
    "flexible": lambda **more: tp.TParafac2(3, 1e-3, rigidity=1.0, **(QUICK | more)),
    "Parafac2": lambda **more: tp.Parafac2(3, **(QUICK | more)),
    "TemporalCMF": lambda **more: tp.TemporalCMF(3, 1e-3, **(QUICK | more)),
    "CP": lambda **more: tp.CP(3, **(QUICK | more)),
}
each_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


@pytest.fixture(scope="module")
def X():
    """Shares of three topics that move, with noise: nowhere negative."""
    rng = np.random.default_rng(0)
    A = rng.gamma(0.5, size=(40, 3))
    B = np.abs(np.cumsum(rng.normal(0.0, 0.1, (8, 30, 3)), axis=0) + rng.gamma(0.3, size=(30, 3)))
    C = rng.uniform(0.5, 1.5, (8, 3))
    return rng.poisson(20 * np.einsum("ir,kjr,kr->kij", A, B, C)).astype(float)


@each_model
@pytest.mark.parametrize("what", ["patterns", "rows", "both"])
def test_what_must_not_be_negative_is_not(model, what, X):
    fit = model(nonnegative=what).fit(X)
    assert fit.converged_
    assert what == "rows" or (fit.B_ >= 0).all()
    assert what == "patterns" or (fit.A_ >= 0).all()
    for mode in fit.constraint_violations_.values():
        assert all(violation < 1e-6 for violation in mode.values())
    assert fit.evaluate(X).objective == pytest.approx(fit.objective_, rel=1e-9)


@each_model
def test_entries_may_be_missing_and_zeros_left_out(model, X):
    sparse = model(nonnegative="both").fit([csr_array(piece) for piece in X])
    dense = model(nonnegative="both").fit(X)
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=1e-5)
    holed = np.where(np.random.default_rng(1).random(X.shape) < 0.15, np.nan, X)
    fit = model(nonnegative="both", tol=1e-9).fit(holed)
    assert filled_in(fit, holed).objective_ == pytest.approx(fit.objective_, rel=1e-3)
    assert (fit.B_ >= 0).all()


def test_slices_may_have_widths_of_their_own(X):
    pieces = [piece[:, : 30 - k] for k, piece in enumerate(X)]
    fit = tp.Parafac2(3, nonnegative="patterns", **QUICK).fit(pieces)
    assert all((piece >= 0).all() for piece in fit.B_)


def test_the_argument_is_the_penalty(X):
    one = tp.TParafac2(3, 1e-3, nonnegative="patterns", **QUICK).fit(X)
    other = tp.TParafac2(3, 1e-3, penalties_b=[NonNegative()], **QUICK).fit(X)
    both = tp.TParafac2(3, 1e-3, nonnegative="patterns", penalties_b=[NonNegative()], **QUICK).fit(X)
    np.testing.assert_array_equal(one.B_, other.B_)
    np.testing.assert_array_equal(one.B_, both.B_)


def test_findings_say_when_it_is_a_good_idea_and_when_a_poor_one(X):
    free = tp.TParafac2(6, 1e-4, **QUICK).fit(X)
    assert "could_be_nonnegative" in {finding.kind for finding in free.findings_}
    bound = tp.TParafac2(3, 1e-3, nonnegative="patterns", **QUICK).fit(X)
    kinds = {finding.kind for finding in bound.findings_}
    assert not kinds & {"could_be_nonnegative", "negative_data"}
    centred = tp.TParafac2(3, 1e-3, nonnegative="patterns", **QUICK).fit(X - X.mean(axis=0))
    assert any("do not centre" in note for note in centred.notes_)
