"""What can be asked for by name: sparsity, smooth strengths, sudden changes, and what is refused."""

import numpy as np
import pytest

import tparafac2 as tp
from tparafac2.fitting.checks import read_sparsity
from tparafac2.penalties import L1, Ridge, TemporalSmoothness
from tparafac2.result import Kind

QUICK = {"n_starts": 1, "random_state": 0, "max_iter": 60}
LAMBDAS = {"lambda_a": 1.0, "lambda_b": 1.0, "lambda_d": 1.0}


@pytest.fixture(scope="module")
def X():
    return tp.synthetic.easy(seed=1, noise=0.3, n_times=8, n_rows=20, n_columns=16, n_concepts=2).X


@pytest.fixture(scope="module")
def both(X):
    given = {"sparsity": {"patterns": 1e-3, "rows": 2e-3}, "smooth_strengths": 30.0, "rigidity": 1.0}
    return tp.TParafac2(2, smoothness=1e-3, **given, n_starts=2, random_state=0).fit(X)


def only(model, kind):
    return [one for one in model.findings_ if one.kind is kind]


def test_words_are_terms(X, both):
    norm, terms = np.linalg.norm(X), both.result_.terms
    found = [[term.strength for term in those if isinstance(term, L1)] for those in (terms.A, terms.B)]
    assert found == pytest.approx(np.array([[2e-3], [1e-3]]) * norm ** (5 / 3))
    ridge = next(term for term in terms.C if isinstance(term, Ridge))
    assert [(term.strength, term.epsilon) for term in terms.C if isinstance(term, TemporalSmoothness)] == [
        (30.0 * ridge.strength, 0.0)
    ]
    assert terms.smoothness == pytest.approx(1e-3)


def test_words_and_lists_add_up(X):
    model = tp.TParafac2(2, sparsity=1e-3, penalties_b=[L1(2.0)], **QUICK).fit(X)
    assert sum(isinstance(term, L1) for term in model.result_.terms.B) == 2
    unit = np.linalg.norm(X) ** (5 / 3)
    assert only(model, Kind.SPARSE)[0].numbers["strength"] == pytest.approx(1e-3 * unit + 2.0)


def test_the_unit_of_the_data_does_not_matter(X):
    given = {"sparsity": 1e-3, "smooth_strengths": 10.0, "rigidity": 1.0, **QUICK}
    for kind in (tp.TParafac2, tp.TemporalCMF):
        own = {name: one for name, one in given.items() if name in kind._parameter_names()}
        models = [kind(2, **own).fit(scale * X) for scale in (1.0, 1000.0)]
        assert models[0].explained_variance_ == pytest.approx(models[1].explained_variance_, rel=1e-6)


def test_the_one_pattern_of_cp_counts_once(X):
    fitted = [tp.CP(1, sparsity=1e-3, **LAMBDAS, **QUICK).fit(data) for data in (X, np.concatenate([X, X]))]
    units = [np.linalg.norm(data) ** (5 / 3) for data in (X, np.concatenate([X, X]))]
    strengths = [next(t.strength for t in one.result_.terms.B if isinstance(t, L1)) for one in fitted]
    assert strengths == pytest.approx([1e-3 * units[0] / 8, 1e-3 * units[1] / 16])


def test_strengths_are_smooth_by_the_clock(X):
    times = [0, 1, 2, 3, 4, 5, 6, 10]
    model = tp.TParafac2(2, smooth_strengths=10.0, **QUICK).fit(X, times=times)
    weights = next(t.weights for t in model.result_.terms.C if isinstance(t, TemporalSmoothness))
    assert weights[0] == pytest.approx(4 * weights[-1])


def test_what_was_asked_for_is_told_and_kept(both, tmp_path):
    sparse = {one.numbers["factor"]: one.numbers for one in only(both, Kind.SPARSE)}
    assert sparse["loadings"]["share"] == pytest.approx(np.mean(both.A_ == 0))
    assert sparse["patterns"]["share"] == pytest.approx(np.mean(both.B_ == 0))
    assert sparse["patterns"]["nearly"] >= sparse["patterns"]["share"] > 0
    assert only(both, Kind.SMOOTH_STRENGTHS)[0].numbers["weight"] == pytest.approx(30.0)
    assert not only(both, Kind.FURTHER_TERM)
    assert "Sparse patterns:" in both.summary()
    assert "Strengths are smooth in time (their changes cost 30 times" in both.summary()
    both.save(tmp_path / "model.npz")
    again = tp.load(tmp_path / "model.npz")
    assert again.get_params()["sparsity"] == {"patterns": 1e-3, "rows": 2e-3}
    assert again.smooth_strengths == 30.0
    assert again.summary() == both.summary()


def test_columns_that_are_not_there_are_not_sparse(X):
    gone = X.copy()
    gone[:4, :, :8] = np.nan
    model = tp.TParafac2(1, sparsity=1e-9, bridge=False, rigidity=1.0, **QUICK).fit(gone)
    assert np.mean(model.B_ == 0) >= 0.25
    assert only(model, Kind.SPARSE)[0].numbers["share"] == 0


def test_a_refit_keeps_the_terms(X, both):
    longer = np.concatenate([X, 2 * X[-2:]])
    model = both.append(longer, refit=True)
    assert next(t.strength for t in model.result_.terms.A if isinstance(t, L1)) == pytest.approx(
        next(t.strength for t in both.result_.terms.A if isinstance(t, L1))
    )
    with pytest.raises(ValueError, match=r"strengths are smooth in time here.*again.*refit=True"):
        both.append(X[-1])
    assert both.forecast(2).strengths.lower.shape == (2, 2)


@pytest.mark.parametrize(
    ("kind", "given", "said"),
    [
        (tp.Parafac2, {"sparsity": 0.1}, "no minimum.*give lambda_a, lambda_b and lambda_d"),
        (tp.CP, {"sparsity": {"rows": 0.1, "strengths": 0.1}}, "no minimum"),
        (tp.TParafac2, {"sparsity": 0.1} | dict.fromkeys(LAMBDAS, 0.0), "no minimum"),
        (tp.CP, {"smooth_strengths": 1.0}, "there is none: give lambda_a, lambda_b and lambda_d"),
        (tp.TemporalCMF, {"sparsity": {"strengths": 0.1}}, "has none: give that of patterns or rows"),
        (tp.TParafac2, {"sparsity": {"columns": 0.1}}, "patterns, rows or strengths, and not of 'columns'"),
        (tp.TParafac2, {"sparsity": -0.1}, "sparsity must be finite and at least 0.*got -0.1"),
        (tp.TParafac2, {"sparsity": {"rows": np.nan}}, "sparsity must be finite"),
        (tp.TParafac2, {"sparsity": 10**400}, "sparsity must be finite"),
        (tp.TParafac2, {"sparsity": "patterns"}, "a number for the patterns, or some by factor"),
        (tp.TParafac2, {"sparsity": {}}, "got none of them: give a number for the patterns"),
        (tp.TParafac2, {"sparsity": True}, "a number for the patterns"),
        (tp.TParafac2, {"smooth_strengths": -1.0}, "smooth_strengths must be finite and at least 0"),
        (tp.TParafac2, {"smooth_strengths": np.inf}, "smooth_strengths must be finite and at least 0"),
        (tp.TParafac2, {"smooth_strengths": "much"}, "smooth_strengths must be a number"),
    ],
)
def test_what_cannot_be_is_refused_before_any_work(kind, given, said):
    with pytest.raises((ValueError, TypeError), match=said):
        kind(2, **given).check_settings()


def test_slices_of_different_widths_have_no_sparse_patterns():
    ragged = [np.ones((6, width)) for width in (4, 5, 4)]
    with pytest.raises(ValueError, match="different widths"):
        tp.Parafac2(1, sparsity=1e-3, **LAMBDAS).fit(ragged)


def test_every_factor_may_be_sparse_without_other_norms(X):
    sparsity = dict.fromkeys(("patterns", "rows", "strengths"), 1e-3)
    model = tp.CP(1, sparsity=sparsity, **QUICK).fit(X)
    assert all(any(isinstance(term, L1) for term in mode) for mode in model.result_.terms.modes.values())
    assert model.explained_variance_ > 0


def test_nothing_asked_is_no_term():
    assert read_sparsity({"rows": 0}) == read_sparsity(None) == read_sparsity(0) == {}
    tp.CP(2, sparsity=0.0, smooth_strengths=0.0).check_settings()
