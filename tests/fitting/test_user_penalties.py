"""Further terms on the factors: the package's own, and penalties that users write."""

import functools
from dataclasses import dataclass

import numpy as np
import pytest

import tparafac2 as tp
from tparafac2.penalties import NonNegative, Ridge, TemporalSmoothness, check_penalty

pytestmark = pytest.mark.slow

LAMBDAS = {"lambda_a": 0.5, "lambda_b": 20.0, "lambda_d": 0.5}
TWO_LAMBDAS = {"lambda_a": 1.0, "lambda_b": 5.0}


@dataclass(frozen=True)
class L1:
    """The sum of absolute values, as a user would write it."""

    weight: float

    degree = None
    exact = True

    def value(self, x):
        return self.weight * float(np.abs(x).sum())

    def prox(self, v, rho, state=None):
        threshold = (self.weight / rho).reshape(-1, *[1] * (v.ndim - 1))
        return (np.sign(v) * np.maximum(np.abs(v) - threshold, 0)).astype(v.dtype), None


@dataclass(frozen=True)
class AtMost:
    """Allow no entry above a limit."""

    limit: float

    degree = None
    exact = True

    def value(self, x):
        return 0.0 if (x <= self.limit * (1 + 1e-6)).all() else np.inf

    def prox(self, v, rho, state=None):
        return np.minimum(v, np.array(self.limit, v.dtype)), None


@pytest.fixture(scope="module")
def data():
    return tp.synthetic.easy(seed=0, noise=0.1, n_times=8, n_rows=20, n_columns=24, n_concepts=2)


@pytest.fixture(scope="module")
def fit(data):
    """Fit from the truth, so that one start is enough; each model is fitted once."""

    @functools.cache
    def run(kind, **given):
        return kind(2, init=(data.A, data.B, data.C), tol=1e-9, **given).fit(data.X)

    return run


def objective(model, X, A, B, C):
    """Write the whole objective out."""
    kind = type(model).__name__
    total = np.sum((X - tp.metrics.reconstruct(A, B, C)) ** 2) + model.lambda_a * np.sum(A**2)
    if kind in ("TParafac2", "TemporalCMF"):
        total += TemporalSmoothness(model.lambda_b).value(B)
    else:
        total += model.lambda_b * np.sum(B[0] ** 2 if kind == "CP" else B**2)
    if kind != "TemporalCMF":
        total += model.lambda_d * np.sum(C**2)
    for terms, factor in ((model.penalties_a, A), (model.penalties_b, B), (model.penalties_c, C)):
        total += sum(term.value(factor) for term in terms)
    return total


def neighbours(model, size, rng):
    """Give a feasible point nearby: patterns turn slice by slice, and their shapes change together."""
    A, B, C = model.A_, model.B_, model.C_
    kind = type(model).__name__
    A = A + size * np.abs(A).max() * rng.standard_normal(A.shape) * (rng.random(A.shape) < 0.3)
    if model.nonnegative:
        A = np.maximum(A, 0)
    if kind != "TemporalCMF":
        C = C + size * np.abs(C).max() * rng.standard_normal(C.shape) * (rng.random(C.shape) < 0.3)
        C = np.maximum(C, 0) if kind != "CP" or model.nonnegative_strengths else C
    K, J, R = B.shape
    if kind in ("TParafac2", "Parafac2"):
        skew = size * rng.standard_normal((K, J, J))
        turn = np.linalg.qr(np.eye(J) + skew - skew.transpose(0, 2, 1))[0]
        turn = turn * np.sign(np.diagonal(turn, axis1=1, axis2=2))[:, None, :]
        B = turn @ B @ (np.eye(R) + size * rng.standard_normal((R, R)))
    else:
        change = rng.standard_normal((J, R) if kind == "CP" else B.shape)
        B = B + size * np.abs(B).max() * change
    return A, B, C


CASES = {
    "TParafac2 a": (tp.TParafac2, LAMBDAS, "penalties_a"),
    "TParafac2 b": (tp.TParafac2, LAMBDAS, "penalties_b"),
    "TParafac2 c": (tp.TParafac2, LAMBDAS, "penalties_c"),
    "Parafac2 a": (tp.Parafac2, LAMBDAS, "penalties_a"),
    "Parafac2 b": (tp.Parafac2, LAMBDAS, "penalties_b"),
    "Parafac2 c": (tp.Parafac2, LAMBDAS, "penalties_c"),
    "TemporalCMF a": (tp.TemporalCMF, TWO_LAMBDAS, "penalties_a"),
    "TemporalCMF b": (tp.TemporalCMF, TWO_LAMBDAS, "penalties_b"),
    "NNtCMF a": (tp.TemporalCMF, {**TWO_LAMBDAS, "nonnegative": "rows"}, "penalties_a"),
    "NNtCMF b": (tp.TemporalCMF, {**TWO_LAMBDAS, "nonnegative": "rows"}, "penalties_b"),
    "CP a": (tp.CP, LAMBDAS, "penalties_a"),
    "CP b": (tp.CP, LAMBDAS, "penalties_b"),
    "CP c": (tp.CP, {**LAMBDAS, "nonnegative_strengths": True}, "penalties_c"),
}


def test_the_penalties_of_this_file_are_sound():
    check_penalty(L1(0.3))
    check_penalty(AtMost(0.5))


@pytest.mark.parametrize("case", CASES)
def test_a_penalty_of_the_user_reaches_its_minimum(case, fit, data):
    kind, lambdas, mode = CASES[case]
    model = fit(kind, **lambdas, **{mode: (L1(2.0),)})
    assert model.converged_
    here = objective(model, data.X, model.A_, model.B_, model.C_)
    assert model.objective_ == pytest.approx(here, rel=1e-9)
    rng = np.random.default_rng(0)
    for size in (1e-2, 1e-3, 1e-4):
        for _ in range(20):
            there = objective(model, data.X, *neighbours(model, size, rng))
            assert there > here * (1 - 1e-7)


@pytest.mark.parametrize("case", CASES)
def test_a_penalty_of_the_user_does_what_it_is_for(case, fit):
    kind, lambdas, mode = CASES[case]
    name = {"penalties_a": "A_", "penalties_b": "B_", "penalties_c": "C_"}[mode]
    free, bound = fit(kind, **lambdas), fit(kind, **lambdas, **{mode: (L1(2.0),)})
    assert np.abs(getattr(bound, name)).sum() < np.abs(getattr(free, name)).sum()
    assert free.objective_ < bound.objective_


@pytest.mark.parametrize("case", CASES)
def test_constraints_hold_beside_a_penalty_of_the_user(case, fit):
    kind, lambdas, mode = CASES[case]
    model = fit(kind, **lambdas, **{mode: (L1(2.0),)})
    if kind in (tp.TParafac2, tp.Parafac2):
        assert tp.metrics.parafac2_violation(model.B_) < 1e-8
    if kind is tp.CP:
        assert (np.ptp(model.B_, axis=0) == 0).all()
    if model.nonnegative:
        assert (model.A_ >= 0).all()
    if kind is not tp.CP or model.nonnegative_strengths:
        assert (model.C_ >= 0).all()


@pytest.mark.parametrize("mode", ["penalties_a", "penalties_b", "penalties_c"])
def test_a_constraint_of_the_user_holds(mode, fit):
    name = {"penalties_a": "A_", "penalties_b": "B_", "penalties_c": "C_"}[mode]
    limit = 0.7 * getattr(fit(tp.CP, **LAMBDAS), name).max()
    model = fit(tp.CP, **LAMBDAS, **{mode: (AtMost(limit),)})
    assert model.converged_
    assert getattr(model, name).max() == pytest.approx(limit, rel=1e-5)


def test_a_penalty_in_single_precision(data):
    model = tp.TemporalCMF(
        2, **TWO_LAMBDAS, penalties_b=[L1(2.0)], init=(data.A, data.B, None), dtype="float32"
    )
    double = tp.TemporalCMF(2, **TWO_LAMBDAS, penalties_b=[L1(2.0)], init=(data.A, data.B, None))
    assert model.fit(data.X).objective_ == pytest.approx(double.fit(data.X).objective_, rel=1e-3)


# --- the package's own --------------------------------------------------------------------------------------


def test_the_same_penalty_twice_is_one_of_double_weight(fit):
    half, whole = Ridge(0.25), {**LAMBDAS, "lambda_a": 1.0}
    ours, theirs = fit(tp.TParafac2, **LAMBDAS, penalties_a=(half, half)), fit(tp.TParafac2, **whole)
    assert ours.objective_ == pytest.approx(theirs.objective_, rel=1e-9)


@pytest.mark.parametrize("kind", [tp.TParafac2, tp.Parafac2])
def test_non_negative_patterns_with_the_parafac2_constraint(kind, fit):
    free, bound = fit(kind, **LAMBDAS), fit(kind, **LAMBDAS, penalties_b=(NonNegative(),))
    assert (free.B_ < 0).any()
    assert (bound.B_ >= 0).all()
    assert tp.metrics.parafac2_violation(bound.B_) < 1e-4
    assert bound.converged_
    assert free.objective_ < bound.objective_ < 1.1 * free.objective_


def test_non_negative_patterns_from_random_starts(fit, data):
    # Some starts end with a component lost, and enough of them do not.
    model = tp.TParafac2(2, **LAMBDAS, penalties_b=(NonNegative(),), n_starts=8, max_iter=200, random_state=0)
    from_truth = fit(tp.TParafac2, **LAMBDAS, penalties_b=(NonNegative(),))
    assert model.fit(data.X).objective_ == pytest.approx(from_truth.objective_, rel=1e-5)


def test_everything_non_negative(fit):
    signs = {"penalties_a": (NonNegative(),), "penalties_b": (NonNegative(),)}
    model = fit(tp.TParafac2, **LAMBDAS, **signs)
    assert all((factor >= 0).all() for factor in (model.A_, model.B_, model.C_))
    model = fit(tp.CP, **LAMBDAS, nonnegative_strengths=True, **signs)
    assert all((factor >= 0).all() for factor in (model.A_, model.B_, model.C_))
    assert model.converged_


@pytest.mark.parametrize("kind", [tp.TParafac2, tp.Parafac2, tp.CP])
def test_smooth_strengths(kind, fit, data):
    term = TemporalSmoothness(5.0)
    free, smooth = fit(kind, **LAMBDAS), fit(kind, **LAMBDAS, penalties_c=(term,))
    assert smooth.converged_
    # The minimum with a term has less of it than the minimum without, and between the two objectives lies
    # at most what the term costs there.
    assert term.value(smooth.C_) < term.value(free.C_)
    assert free.objective_ < smooth.objective_ < free.objective_ + term.value(free.C_)
    here = objective(smooth, data.X, smooth.A_, smooth.B_, smooth.C_)
    assert smooth.objective_ == pytest.approx(here, rel=1e-9)
    assert kind is tp.CP or (smooth.C_ >= 0).all()


@pytest.mark.parametrize("mode", ["penalties_a", "penalties_b", "penalties_c"])
def test_a_penalty_without_weight_changes_nothing(mode, fit):
    plain, same = fit(tp.TParafac2, **LAMBDAS), fit(tp.TParafac2, **LAMBDAS, **{mode: (Ridge(0.0),)})
    assert same.objective_ == pytest.approx(plain.objective_, rel=1e-9)


# --- penalties on their own ---------------------------------------------------------------------------------


def test_a_broken_penalty_is_named_with_what_it_lacks(data):
    class NoProx:
        degree = 2
        exact = True

        def value(self, x):
            return 0.0

    with pytest.raises(TypeError, match=r"penalties_b: .*NoProx.* lacks prox"):
        tp.TParafac2(2, penalties_b=[NoProx()]).fit(data.X)


@pytest.mark.parametrize("mode", ["penalties_a", "penalties_b", "penalties_c"])
def test_a_norm_penalty_on_one_mode_only_is_refused_in_this_form_too(mode, data):
    with pytest.raises(ValueError, match=r"scale would flee .* no minimum"):
        tp.Parafac2(2, n_starts=1, tol=1e-3, **{mode: [Ridge(1.0)]}).fit(data.X)


@dataclass(frozen=True)
class MyNonNegative:
    """No negative entries, as a user would write it: the bare minimum."""

    degree = 0
    exact = True

    def value(self, x):
        return 0.0 if (x >= -1e-6 * np.abs(x).max()).all() else np.inf

    def prox(self, v, rho, state=None):
        return np.maximum(v, 0), None


class MyDeclaredNonNegative(MyNonNegative):
    """The same, which also says that it is."""

    constraint = "nonnegative"


@pytest.mark.parametrize("mode", ["a", "b", "c"])
@pytest.mark.parametrize("term", [MyNonNegative(), MyDeclaredNonNegative(), NonNegative()], ids=repr)
def test_anybodys_non_negativity_is_met_exactly(data, mode, term):
    check_penalty(term)
    model = tp.TParafac2(2, n_starts=1, max_iter=30, random_state=0, **{f"penalties_{mode}": [term]})
    with pytest.warns(tp.ConvergenceWarning):
        model.fit(data.X)
    assert (getattr(model, f"{mode.upper()}_") >= 0).all()


def test_any_set_is_met_exactly_by_patterns(data):
    limit = 0.5 * float(tp.TParafac2(2, n_starts=1, random_state=0).fit(data.X).B_.max())
    model = tp.TemporalCMF(2, n_starts=1, max_iter=30, random_state=0, penalties_b=[AtMost(limit)])
    with pytest.warns(tp.ConvergenceWarning):
        model.fit(data.X)
    assert 0.99 * limit < model.B_.max() <= limit * (1 + 1e-6)


def test_who_says_what_it_is_is_treated_as_the_built_in(data):
    """Loadings are then solved with the sign, not split: bit for bit as with the built-in."""
    ours, theirs = (
        tp.TParafac2(2, n_starts=2, random_state=0, penalties_a=[term]).fit(data.X)
        for term in (NonNegative(), MyDeclaredNonNegative())
    )
    np.testing.assert_array_equal(ours.A_, theirs.A_)
    np.testing.assert_array_equal(ours.B_, theirs.B_)


def test_terms_are_told_the_times(data):
    """Smoothness of one's own choice weighs changes as the model's own does."""
    times = np.array([0.0, 1, 2, 3, 10, 11, 12, 13])
    strength = 3.0
    extra = tp.TParafac2(
        2,
        lambda_a=1,
        lambda_b=1,
        lambda_d=1,
        n_starts=1,
        random_state=0,
        penalties_b=[TemporalSmoothness(strength - 1, epsilon=1e-6)],
    ).fit(data.X, times=times)
    whole = tp.TParafac2(2, lambda_a=1, lambda_b=strength, lambda_d=1, n_starts=1, random_state=0).fit(
        data.X, times=times
    )
    assert extra.objective_ == pytest.approx(whole.objective_, rel=1e-9)


@pytest.mark.parametrize(
    ("given", "got"),
    [
        (lambda v: v, r"an array of shape \(8, 24, 2\)"),
        (lambda v: (v, None, None), r"\(an array of shape \(8, 24, 2\), NoneType, NoneType\)"),
        (lambda v: (v[:1], None), r"\(an array of shape \(1, 24, 2\), NoneType\)"),
        (lambda v: None, "NoneType"),
    ],
)
def test_a_prox_that_gives_something_else(given, got, small_data):
    class Odd(L1):
        def prox(self, v, rho, state=None):
            return given(v)

    sentence = rf"prox of Odd must give a tuple of an array of shape .* and a state; got {got}. Try check_pen"
    with pytest.raises(TypeError, match=sentence):
        tp.Parafac2(2, penalties_b=[Odd(0.1)], n_starts=1).fit(small_data.X)


@dataclass(frozen=True)
class Jumps:
    """The sizes of the changes in time, not squared: small ones are taken away, large ones stay."""

    strength: float

    degree = None
    exact = False

    def value(self, x):
        return self.strength * float(np.abs(np.diff(x, axis=0)).sum())

    def prox(self, v, rho, state=None):
        middle = np.median(v, axis=0)
        far = (self.strength / rho).reshape(-1, *[1] * (v.ndim - 1))
        return (middle + np.sign(v - middle) * np.maximum(np.abs(v - middle) - far, 0)).astype(v.dtype), None

    def on_clock(self, times, period):
        return self


def test_another_term_on_changes_in_time_is_no_part_of_the_smoothness(data):
    model = tp.TParafac2(2, 2e-3, n_starts=1, max_iter=3, random_state=0, penalties_b=[Jumps(5.0)])
    with pytest.warns(tp.ConvergenceWarning):
        model.fit(data.X)
    assert model.result_.smoothness == pytest.approx(2e-3)


@pytest.mark.parametrize("mode", ["b", "c"])
def test_a_term_on_changes_in_time_does_not_say_how_it_goes_on(data, mode):
    model = tp.TParafac2(2, n_starts=1, max_iter=3, random_state=0, **{f"penalties_{mode}": [Jumps(5.0)]})
    with pytest.warns(tp.ConvergenceWarning):
        model.fit(data.X[:6])
    with pytest.raises(ValueError, match=r"\(Jumps\).*fit all data again"):
        model.append(data.X[6:])


def test_a_term_on_changes_in_time_does_not_fill_in_columns_that_come_and_go(data):
    X = np.array(data.X)
    X[:3, :, 5] = np.nan
    model = tp.TParafac2(2, n_starts=1, bridge=False, penalties_b=[Jumps(5.0)])
    with pytest.raises(ValueError, match=r"\(bridge=False\) are not for Jumps.* bridge=True"):
        model.fit(X)
