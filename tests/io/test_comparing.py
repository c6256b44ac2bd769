"""Several models on the same data."""

import pytest

import tparafac2 as tp
from tparafac2.starts import Progress


@pytest.fixture(scope="module")
def X():
    return tp.synthetic.easy(seed=0, shape=(12, 14, 5), n_concepts=2).X


def models(*ranks, **options):
    return {f"rank {r}": tp.TParafac2(r, n_starts=2, max_iter=60, random_state=0, **options) for r in ranks}


def test_every_fit_says_which_of_how_many_it_is(X, monkeypatch):
    said = []

    class Listening(Progress):
        def __init__(self, enabled=None):
            super().__init__(enabled)
            said.append(self.what)

    monkeypatch.setattr("tparafac2.models.fitting.Progress", Listening)
    tp.io.compare_models(models(1, 2), X)
    assert said == ["fitting model 1 of 2 (rank 1)", "fitting model 2 of 2 (rank 2)"]
