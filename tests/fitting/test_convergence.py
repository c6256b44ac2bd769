"""One warning, about the chosen run, that says what to do; and none where all is well."""

import warnings

import numpy as np
import pytest

import tparafac2 as tp

pytestmark = pytest.mark.slow

MODELS = {
    "TParafac2": tp.TParafac2,
    "Parafac2": tp.Parafac2,
    "TemporalCMF": tp.TemporalCMF,
    "CP": tp.CP,
}
each_model = pytest.mark.parametrize("kind", MODELS.values(), ids=MODELS.keys())


@pytest.fixture(scope="module")
def data():
    """Concepts so clear that all starts of all models converge."""
    return tp.synthetic.easy(seed=1, noise=0.1, n_times=8, n_rows=20, n_columns=24, n_concepts=2)


def caught(model, X):
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        model.fit(X)
    return [warning for warning in record if issubclass(warning.category, tp.ConvergenceWarning)], record


@each_model
def test_no_warning_when_converged(kind, data):
    model = kind(2, n_starts=4, random_state=0, tol=1e-6)
    _, everything = caught(model, data.X)
    assert everything == []
    assert model.converged_
    assert model.n_iter_ < model.max_iter


@each_model
@pytest.mark.parametrize("n_starts", [1, 5])
def test_exactly_one_warning_when_max_iter_is_too_small(kind, n_starts, data):
    model = kind(2, n_starts=n_starts, max_iter=3, random_state=0)
    ours, everything = caught(model, data.X)
    assert len(ours) == len(everything) == 1
    assert not model.converged_
    assert model.n_iter_ == 3
    text = str(ours[0].message)
    assert f"{n_starts} of {n_starts} did not converge" in text
    assert "raise max_iter" in text
    assert text.startswith(" ".join(model.notes_[:2]))
    assert model.status_ in ("max_iter", "infeasible")


@each_model
def test_the_warning_points_at_the_line_of_the_user(kind, data):
    ours, _ = caught(kind(2, n_starts=1, max_iter=3, random_state=0), data.X)
    assert ours[0].filename == __file__


def test_the_warning_can_be_silenced_and_turned_into_an_error(data):
    assert issubclass(tp.ConvergenceWarning, UserWarning)
    with warnings.catch_warnings():
        warnings.simplefilter("error", tp.ConvergenceWarning)
        with pytest.raises(tp.ConvergenceWarning):
            tp.CP(2, max_iter=2, n_starts=1).fit(data.X)


def test_starts_that_fail_are_passed_over_without_a_warning(data):
    rng = np.random.default_rng(0)
    best = tp.TParafac2(2, 1e-3, n_starts=2, random_state=0).fit(data.X)
    poor = (rng.random((20, 2)), rng.random((8, 24, 2)), rng.random((8, 2)))
    model = tp.TParafac2(2, 1e-3, init=[poor, (best.A_, best.B_, best.C_), poor], max_iter=40, tol=1e-6)
    ours, _ = caught(model, data.X)
    assert ours == []
    assert model.starts_["converged"].tolist() == [False, True, False]
    assert model.starts_["chosen"].tolist() == [False, True, False]


def test_a_sound_start_is_preferred_to_a_lower_objective_that_did_not_converge(data):
    one = tp.TParafac2(1, 1e-3, n_starts=2, random_state=0, tol=1e-10).fit(data.X)
    nothing = tuple(np.zeros_like(factor) for factor in (one.A_, one.B_, one.C_))
    settled = tuple(np.concatenate(pair, axis=-1) for pair in zip((one.A_, one.B_, one.C_), nothing))
    init = [settled, (data.A, data.B, data.C)]
    model = tp.TParafac2(2, 1e-3, init=init, max_iter=20, tol=1e-5)
    ours, _ = caught(model, data.X)
    assert ours == []
    table = model.starts_
    assert table["converged"].tolist() == table["chosen"].tolist() == [True, False]
    assert table["objective"][0] > table["objective"][1]


def test_without_a_sound_start_the_best_is_given_back(data):
    with pytest.warns(tp.ConvergenceWarning, match=r"No start was sound .* the best is given back"):
        model = tp.TParafac2(2, n_starts=5, max_iter=4, random_state=0).fit(data.X)
    assert model.objective_ == model.starts_["objective"].min()
    assert tp.metrics.parafac2_violation(model.B_) < 1e-8
    assert (model.C_ >= 0).all()


def test_infeasible_and_unfinished_are_told_apart(data):
    with pytest.warns(tp.ConvergenceWarning, match="constraint not yet met to feasibility_tol"):
        early = tp.TParafac2(2, n_starts=1, max_iter=2, random_state=0).fit(data.X)
    assert early.starts_["status"].tolist() == ["infeasible"]
    assert early.starts_["feasible"].tolist() == [False]
    with pytest.warns(tp.ConvergenceWarning, match="while the objective was still changing"):
        late = tp.TParafac2(2, n_starts=1, max_iter=100, tol=0, random_state=0).fit(data.X)
    assert late.starts_["status"].tolist() == ["max_iter"]
    assert late.starts_["feasible"].tolist() == [True]


def two_factor_degenerate():
    """Data of border rank 2: any rank-2 fit improves for ever as two components cancel each other."""
    a, b, c = np.eye(3)[:, :2], np.eye(4)[:, :2], np.eye(5)[:, :2]
    terms = [(0, 0, 1), (0, 1, 0), (1, 0, 0)]
    return sum(np.einsum("i,j,k->kij", a[:, i], b[:, j], c[:, k]) for i, j, k in terms)


def test_degenerate_fits_are_reported_with_a_way_out():
    model = tp.CP(2, n_starts=3, random_state=0, tol=1e-2)
    ours, _ = caught(model, two_factor_degenerate())
    assert model.starts_["degenerate"].all()
    assert len(ours) == 1
    text = str(ours[0].message)
    assert "3 of 3 are degenerate" in text
    # What to do has to be said of degeneracy too: the run itself may well have converged.
    assert "rank" in text or "penalt" in text


def test_a_run_that_converged_is_not_called_sound_and_unsound_in_one_breath():
    model = tp.CP(2, n_starts=3, random_state=0, tol=1e-2)
    (warning,), _ = caught(model, two_factor_degenerate())
    assert model.converged_
    assert "all constraints hold" not in str(warning.message)


def test_tighter_tolerances_take_longer_and_get_closer(data):
    fits = [tp.CP(2, n_starts=1, random_state=0, tol=tol).fit(data.X) for tol in (1e-3, 1e-6, 1e-9)]
    iterations = [model.n_iter_ for model in fits]
    objectives = [model.objective_ for model in fits]
    assert iterations == sorted(set(iterations))
    assert objectives == sorted(set(objectives), reverse=True)


def test_an_unfinished_fit_can_be_taken_up_again(data):
    with pytest.warns(tp.ConvergenceWarning):
        model = tp.TParafac2(2, n_starts=2, max_iter=10, random_state=0).fit(data.X)
    model.set_params(init=(model.A_, model.B_, model.C_), max_iter=2000)
    first = model.objective_
    assert model.fit(data.X).converged_
    assert model.objective_ < first


def test_silence_where_there_is_no_terminal(data, capfd):
    tp.CP(2, n_starts=2, random_state=0).fit(data.X)
    assert capfd.readouterr() == ("", "")
