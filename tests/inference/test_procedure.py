"""Intervals from the front: what comes out, what is kept, what is refused."""

import os
import signal

import numpy as np
import pytest
import turning
from scipy.sparse import csr_array

import tparafac2 as tp
from tparafac2.errors import InvalidType, InvalidValue
from tparafac2.inference import procedure, refits
from tparafac2.result import Kind

FEW = {"n_resamples": 20, "n_jobs": 1}
X0 = turning.data()


def model_of(X, kind=tp.TParafac2, **settings):
    smooth = {"smoothness": 1e-3} if kind in (tp.TParafac2, tp.TemporalCMF) else {}
    return kind(2, **smooth, n_starts=3, random_state=0, n_jobs=1, **settings)


@pytest.fixture
def fitted():
    return model_of(X0).fit(X0)


def test_bands_are_around_the_estimates(fitted):
    before = fitted.result_
    bands = fitted.intervals(X0, **FEW)
    assert fitted.intervals_ is bands
    assert before.intervals is None
    A, B, C = fitted.normalised()
    for band, estimate in ((bands.patterns, B), (bands.strengths, C), (bands.loadings, A)):
        assert band.lower.shape == estimate.shape
        assert (band.lower <= band.centre).all()
        assert (band.centre <= band.upper).all()
        # How far the model is from the centre is in the width: it is never outside by much.
        assert np.mean((band.lower <= estimate) & (estimate <= band.upper)) > 0.99
    assert bands.unmatched.tolist() == [0.0, 0.0]
    assert bands.undersmoothing == 4.0


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_whatever_the_threads(fitted):
    one = fitted.intervals(X0, n_resamples=40, n_jobs=1)
    two = fitted.intervals(X0, n_resamples=40, n_jobs=2)
    other = fitted.intervals(X0, n_resamples=40, random_state=1)
    assert one.patterns.lower.tobytes() == two.patterns.lower.tobytes()
    assert one.loadings.upper.tobytes() == two.loadings.upper.tobytes()
    assert one.patterns.lower.tobytes() != other.patterns.lower.tobytes()


def test_many_in_a_batch_are_the_same_as_one_by_one(fitted, monkeypatch):
    together = fitted.intervals(X0, **FEW)
    monkeypatch.setattr(refits, "_MOST", 1)
    alone = fitted.intervals(X0, **FEW)
    np.testing.assert_allclose(alone.patterns.width, together.patterns.width, rtol=1e-6)
    np.testing.assert_allclose(alone.loadings.width, together.loadings.width, rtol=1e-6)


def test_more_noise_and_a_higher_level_make_wider_bands(fitted):
    X = turning.data(noise=0.9)
    loud = model_of(X).fit(X).intervals(X, **FEW)
    quiet = fitted.intervals(X0, **FEW)
    sure = fitted.intervals(X0, level=0.5, **FEW)
    assert loud.patterns.width.mean() > 2 * quiet.patterns.width.mean()
    assert sure.patterns.width.mean() < 0.5 * quiet.patterns.width.mean()


def holed():
    X = X0.copy()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    return X


CASES = {
    "missing": (holed(), {}, {}),
    "sparse": ([csr_array(x * (x > 0.5)) for x in X0], {}, {}),
    "uneven times": (X0, {}, {"times": [0, 1, 5, 6, 2, 9]}),
    "gives way": (X0, {"rigidity": 1.0}, {}),
    "non-negative": (np.maximum(X0, 0), {"nonnegative": "both"}, {}),
    "weights of rows": (X0, {}, {"weights": np.linspace(0.5, 2.0, 24)}),
    "single precision": (X0, {"dtype": "float32"}, {}),
    "CP": (turning.data(turn=0.0), {"kind": tp.CP}, {}),
    "PARAFAC2": (X0, {"kind": tp.Parafac2}, {}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("over", ["rows", "residuals"])
def test_all_kinds_of_data_and_terms_have_bands(case, over):
    X, settings, given = CASES[case]
    model = model_of(X, **settings).fit(X, **given)
    bands = model.intervals(X, **FEW, over=over)
    for _, band in bands.bands():
        assert np.isfinite(band.width).all()
        assert (band.width >= 0).all()
    assert bands.patterns.width.mean() > 0
    if case == "non-negative":
        assert (bands.patterns.lower >= 0).all()
        assert (bands.loadings.lower >= 0).all()
        resting = bands.patterns.centre == 0
        assert resting.any()
        assert (bands.patterns.lower[resting] == 0).all()
    smooth = model.result_.smoothness is not None
    assert bands.undersmoothing == (4.0 if smooth else 1.0)


def test_weights_of_entries_are_given_once_more():
    weights = np.random.default_rng(0).uniform(0.5, 2.0, X0.shape)
    model = model_of(X0).fit(X0, weights=weights)
    with pytest.raises(ValueError, match=r"weights=\.\.\."):
        model.intervals(X0, **FEW)
    assert model.intervals(X0, weights=weights, **FEW).patterns.width.mean() > 0


def test_nothing_is_known_of_a_time_without_observations():
    X = X0.copy()
    X[2] = np.nan
    model = model_of(X).fit(X)
    bands = model.intervals(X, **FEW, contrasts=[(1, 0, 0, 2), (1, 0, 0, 3)])
    assert np.isnan(bands.patterns.lower[2]).all()
    assert np.isfinite(bands.patterns.lower[3]).all()
    assert np.isnan(bands.contrasts.lower[0])
    assert np.isfinite(bands.contrasts.lower[1])


def test_a_contrast_is_what_it_says(fitted):
    bands = fitted.intervals(X0, **FEW, contrasts=[(2, 3, 0, 5)])
    B = bands.patterns.centre
    assert bands.contrasts.centre[0] == pytest.approx(B[5, 3, 1] - B[0, 3, 1])
    begin, end = bands.rise_times[:, 3, 1]
    assert bands.rises.centre[3, 1] == pytest.approx(B[end, 3, 1] - B[begin, 3, 1])


def test_loadings_can_be_left_out(fitted):
    assert fitted.intervals(X0, **FEW, loadings=False).loadings is None


def test_groups_make_bands_wider_where_their_rows_are_alike():
    X = np.repeat(X0[:, :12], 4, axis=1)
    X = X + 0.01 * np.random.default_rng(0).normal(size=X.shape)
    model = model_of(X).fit(X)
    alone = model.intervals(X, loadings=False, **FEW)
    together = model.intervals(X, groups=np.repeat(np.arange(12), 4), loadings=False, **FEW)
    assert together.groups == 12
    assert together.patterns.width.mean() > 1.3 * alone.patterns.width.mean()


def test_a_component_that_is_not_found_again_has_no_bands():
    model = tp.TParafac2(3, smoothness=1e-4, n_starts=2, random_state=0, n_jobs=1, max_iter=200).fit(X0)
    bands = model.intervals(X0, **FEW)
    assert bands.unstable.any()
    lost = int(np.flatnonzero(bands.unstable)[0])
    assert np.isnan(bands.patterns.lower[:, :, lost]).all()
    told = [one for one in model.findings_ if one.kind is Kind.UNSTABLE]
    assert [one.component for one in told] == (np.flatnonzero(bands.unstable) + 1).tolist()
    assert "was not found again" in " ".join(model.notes_)


BAD = {
    "level": ({"level": 1.0}, "above 0 and below 1"),
    "few": ({"n_resamples": 3}, "at least 20"),
    "over": ({"over": "columns"}, "'rows' or 'residuals'"),
    "groups": ({"groups": [1, 2]}, "24 rows"),
    "few groups": ({"groups": [0, 1] * 12}, "2 groups are too few"),
    "groups of residuals": ({"groups": [0] * 24, "over": "residuals"}, "draws none"),
    "undersmoothing": ({"undersmoothing": 0.5}, "at least 1"),
    "column": ({"contrasts": [(1, "no such", 0, 1)]}, "there is no column"),
    "component": ({"contrasts": [(3, 0, 0, 1)]}, "components are 1 to 2"),
    "jobs": ({"n_jobs": 0}, "n_jobs"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_requests_are_refused_and_change_nothing(fitted, case):
    given, sentence = BAD[case]
    before = fitted.result_
    with pytest.raises(InvalidValue, match=sentence):
        fitted.intervals(X0, **given)
    assert fitted.result_ is before


def test_contrasts_of_another_form_are_refused(fitted):
    for wrong in ("1", 3, [(1, 2)], ["1234"]):
        with pytest.raises(InvalidType, match="component, column, from, to"):
            fitted.intervals(X0, contrasts=wrong)


def test_other_data_are_refused(fitted):
    with pytest.raises(ValueError, match="give the data of the fit"):
        fitted.intervals(X0[:, :10])
    with pytest.raises(InvalidValue, match="X is not what was fitted"):
        fitted.intervals(X0[:, ::-1])


def test_too_few_rows_are_no_sample():
    X = X0[:, :3]
    model = tp.CP(1, n_starts=2, random_state=0).fit(X)
    with pytest.raises(InvalidValue, match="over='residuals'"):
        model.intervals(X, **FEW)
    assert model.intervals(X, **FEW, over="residuals").loadings.width.shape == (3, 1)


def test_models_without_unique_components_are_refused():
    model = model_of(X0, tp.TemporalCMF).fit(X0)
    with pytest.raises(InvalidValue, match="not unique"):
        model.intervals(X0, **FEW)


def test_what_is_not_fitted_says_so():
    with pytest.raises(ValueError, match="not fitted"):
        tp.CP(2).intervals(X0)


@pytest.mark.parametrize(("after", "enough"), [(2, False), (15, True)])
def test_an_interruption_uses_what_is_done_if_that_is_enough(fitted, monkeypatch, after, enough):
    monkeypatch.setattr(refits, "_MOST", 2)
    begun = []
    batch = refits.Refits.batch

    def interrupting(self, *given):
        begun.append(1)
        if len(begun) == after:
            os.kill(os.getpid(), signal.SIGINT)
        return batch(self, *given)

    monkeypatch.setattr(refits.Refits, "batch", interrupting)
    before = fitted.result_
    if enough:
        bands = fitted.intervals(X0, n_resamples=60, n_jobs=1, loadings=False)
        assert bands.interrupted
        assert 20 <= bands.n_resamples < 60
        assert "interrupted by the user" in fitted.summary()
    else:
        with pytest.raises(KeyboardInterrupt, match="as it was, without intervals"):
            fitted.intervals(X0, n_resamples=60, n_jobs=1)
        assert fitted.result_ is before


@pytest.mark.slow
def test_bands_cover_the_truth_about_as_often_as_they_say():
    shape = {"K": 10, "I": 60, "J": 20}
    true = procedure.Factors.of(*turning.factors(**shape))
    shares = []
    for seed in range(4):
        X = turning.data(0.5, seed, **shape)
        model = tp.TParafac2(2, smoothness=3e-3, n_starts=3, random_state=0).fit(X)
        bands = model.intervals(X, n_resamples=60)
        centre = procedure.Factors(bands.loadings.centre, bands.patterns.centre, bands.strengths.centre)
        same, _ = procedure.matched(true, centre)
        pairs = ((bands.loadings, same.A), (bands.patterns, same.B), (bands.strengths, same.C))
        shares.append([np.mean((band.lower <= x) & (x <= band.upper)) for band, x in pairs])
    A_share, B_share, C_share = np.mean(shares, axis=0)
    assert 0.85 < A_share < 1
    assert 0.9 < B_share < 1
    assert C_share > 0.8


def test_the_centre_is_less_smooth_and_as_rigid():
    model = model_of(X0, rigidity=2.0).fit(X0)
    request = procedure.Request(undersmoothing=4.0)
    task = procedure._Task(model.result_, procedure.take_again(model.result_, X0), request)
    assert task.terms.smoothness == pytest.approx(model.result_.smoothness / 4)
    assert task.terms.rigidity == pytest.approx(2.0)


def test_a_file_can_have_intervals_later(fitted, tmp_path):
    fitted.save(tmp_path / "model.npz")
    again = tp.load(tmp_path / "model.npz")
    one, other = (model.intervals(X0, **FEW) for model in (fitted, again))
    assert one.patterns.lower.tobytes() == other.patterns.lower.tobytes()


def test_what_is_appended_to_has_no_bands_any_more():
    model = model_of(X0).fit(X0[:5])
    model.intervals(X0[:5], **FEW)
    longer = model.append(X0[5:])
    assert longer.intervals_ is None
    assert longer.intervals(X0, **FEW).patterns.lower.shape == np.shape(longer.B_)
