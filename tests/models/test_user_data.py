"""Data of the user's own kind: whatever has the products that the solver asks for can be fitted."""

from dataclasses import dataclass, field

import numpy as np
import pytest

import tparafac2 as tp
from tparafac2.data import DenseData, SliceData


@dataclass
class Rowwise:
    """Slices that are held row by row, as a user would write it: the bare minimum."""

    rows: list[np.ndarray]  # I arrays (K, J), divided by the norm
    scale: float
    widths: None = None
    dtype: np.dtype = field(default_factory=lambda: np.dtype(np.float64))

    @classmethod
    def of(cls, X):
        norm = float(np.linalg.norm(X))
        return cls([row / norm for row in X.transpose(1, 0, 2)], norm)

    @property
    def shape(self):
        K, J = self.rows[0].shape
        return K, len(self.rows), J

    @property
    def nbytes(self):
        return sum(row.nbytes for row in self.rows)

    @property
    def norm_squared(self):
        return float(sum((row**2).sum() for row in self.rows))

    def project(self, At, out=None):
        G = np.zeros((*At.shape[:2], *self.rows[0].shape)) if out is None else out
        G[...] = sum(At[..., i, None, None] * row for i, row in enumerate(self.rows))
        return G

    def accumulate(self, W, out=None):
        F = np.stack([(W * row).sum(axis=(2, 3)) for row in self.rows], axis=-1)
        return F if out is None else np.copyto(out, F) or out

    def residual_sse(self, At, W):
        return np.array(
            [
                sum(((row - np.tensordot(a[:, i], w, 1)) ** 2).sum() for i, row in enumerate(self.rows))
                for a, w in zip(At, W)
            ]
        )


@pytest.fixture(scope="module")
def X():
    return tp.synthetic.easy(seed=0, noise=0.2, n_times=6, n_rows=12, n_columns=20, n_concepts=2).X


@pytest.mark.parametrize("init", ["uniform", "svd"])
@pytest.mark.parametrize("model", [tp.TParafac2, tp.Parafac2, tp.TemporalCMF, tp.CP])
def test_data_of_ones_own_are_fitted_as_arrays_are(X, model, init):
    mine = Rowwise.of(X)
    assert isinstance(mine, SliceData)
    settings = {"n_starts": 2, "random_state": 0, "init": init}
    own, plain = (model(2, **settings).fit(data) for data in (mine, X))
    assert own.objective_ == pytest.approx(plain.objective_, rel=1e-6)
    assert own.explained_variance_ == pytest.approx(plain.explained_variance_, rel=1e-6)


def test_data_in_the_solvers_form_are_taken_as_they_are(X):
    plain = tp.TParafac2(2, n_starts=2, random_state=0).fit(X)
    made = tp.TParafac2(2, n_starts=2, random_state=0).fit(DenseData.from_slices(list(X)))
    np.testing.assert_array_equal(made.B_, plain.B_)


def test_what_is_known_of_holes_is_told_of_data_in_the_solvers_form(X):
    holed = X.copy()
    holed[0, :, 3] = np.nan
    taken = tp.data.take_in(holed).data
    model = tp.TParafac2(2, n_starts=1, random_state=0).fit(taken)
    assert model.coverage_[0, 3] == 0
    assert model.coverage_[1:].min() == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"mask": np.ones((6, 12, 20), dtype=bool)}, "dims and mask are not for Rowwise"),
        ({"times": [5, 4, 3, 2, 1, 0]}, "times must be increasing for Rowwise"),
    ],
)
def test_what_only_arrays_can_take_is_refused(X, given, said):
    with pytest.raises(ValueError, match=said):
        tp.TParafac2(2).fit(Rowwise.of(X), **given)


def test_compression_that_is_not_possible_is_refused(X):
    with pytest.raises(ValueError, match="compress=True is not possible with missing entries"):
        tp.TParafac2(2, compress=True).fit(np.where(X.mean() < X, X, np.nan))
