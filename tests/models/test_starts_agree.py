"""What is said of the agreement of starts: everywhere the same, and never with the chosen one counted."""

import numpy as np
import pytest

import tparafac2 as tp

pytestmark = pytest.mark.filterwarnings("ignore::tparafac2.ConvergenceWarning")


@pytest.fixture(scope="module")
def noise():
    """Nothing but noise, in which every start finds components of its own."""
    return np.random.default_rng(0).normal(size=(6, 15, 12))


def test_two_starts_that_differ_do_not_agree_by_half(noise):
    model = tp.Parafac2(4, n_starts=2, max_iter=200, random_state=0)
    [line] = tp.compare_models({"noise": model}, noise).to_dict("records")
    assert model.starts_["fms_to_chosen"].min() < 0.7
    assert line["agreement"] == 0.0
    assert "0 of 1 other starts" in model.summary()
    assert "0 of 1 other starts" in tp.plots.agreement(model).get_title("left")


def test_the_share_is_of_the_other_starts():
    X = tp.synthetic.overlapping(seed=0, overlap=0.4, n_times=6, n_rows=20, n_columns=18).X
    models = {"many": tp.TParafac2(3, 1e-3, n_starts=6, max_iter=300, random_state=0)}
    models["one"] = tp.TParafac2(3, 1e-3, n_starts=1, max_iter=300, random_state=0)
    table = tp.compare_models(models, X).set_index("model")
    starts = models["many"].starts_
    others = starts.loc[~starts["chosen"]]
    assert table.loc["many", "agreement"] == (others["fms_to_chosen"] >= 0.99).mean()
    assert table.loc["many", "starts"] == 6
    assert table.loc["many", "same_objective"] <= 5
    assert np.isnan(table.loc["one", "agreement"])


def test_a_choice_counts_them_as_the_model_does(noise):
    choice = tp.choose(
        noise, ranks=[3], smoothness=1e-4, rigidity=np.inf, n_starts=2, compare=False, random_state=0
    )
    others = 5  # of the starts that choose
    assert choice.table["agreement"].mul(others).round(9).isin(range(others + 1)).all()
    starts = choice.model.starts_
    alike = (starts.loc[~starts["chosen"], "fms_to_chosen"] >= 0.99).sum()
    assert f"{alike} of 1 other starts" in choice.model.summary()
