"""Where the smoothness of a fit comes from is said by its summary."""

import numpy as np
import pytest

import tparafac2 as tp

DATA = tp.synthetic.easy(seed=0, noise=0.1, n_times=5, n_rows=12, n_columns=14, n_concepts=2).X
FAST = {"n_starts": 2, "max_iter": 30, "random_state": 0}

pytestmark = pytest.mark.filterwarnings("ignore::tparafac2.ConvergenceWarning")


def said(model):
    """The line about it, without its name; None if there is none."""
    lines = [line for line in model.summary().splitlines() if line.startswith("  smoothness ")]
    assert len(lines) <= 1
    return lines[0].removeprefix("  smoothness").strip() if lines else None


@pytest.mark.parametrize("model", [tp.TParafac2, tp.TemporalCMF])
def test_the_default_is_3e_3_and_told_as_such(model):
    plain, given = (model(2, **FAST, **more).fit(DATA) for more in ({}, {"smoothness": 3e-3}))
    assert plain.result_.smoothness == pytest.approx(3e-3, rel=1e-12)
    np.testing.assert_array_equal(plain.B_, given.B_)
    assert "0.003" in said(plain)
    assert "default" in said(plain)
    assert "default" not in said(given)
    assert "0.003 was given" in said(given)
    assert ("tp.choose(X)" in said(plain)) == (model is tp.TParafac2)


def test_lambdas_are_given():
    model = tp.TParafac2(2, lambda_a=0.1, lambda_b=10.0, lambda_d=0.1, **FAST).fit(DATA)
    assert f"{model.result_.smoothness:.3g} was given" in said(model)
    assert "lambdas" in said(model)


@pytest.mark.parametrize("model", [tp.Parafac2(2, **FAST), tp.CP(2, **FAST)], ids=["PARAFAC2", "CP"])
def test_where_nothing_is_smooth_nothing_is_said(model):
    assert said(model.fit(DATA)) is None


def test_what_the_data_chose_is_not_the_default():
    choice = tp.choose(DATA, ranks=2, smoothness=[1e-3, 1e-2], rigidity=np.inf, compare=False, random_state=0)
    assert said(choice.model) is None


def test_it_is_kept_with_the_model(tmp_path):
    model = tp.TParafac2(2, **FAST).fit(DATA)
    model.save(tmp_path / "model.npz")
    assert said(tp.load(tmp_path / "model.npz")) == said(model)
