"""What a fit says of itself is kept with it, also in files."""

import numpy as np
import pytest

import tparafac2 as tp

pytestmark = pytest.mark.slow


def test_a_fit_that_is_not_sound_says_so_in_its_notes_and_after_loading(small_data, tmp_path):
    with pytest.warns(tp.ConvergenceWarning) as caught:
        model = tp.TParafac2(2, n_starts=2, max_iter=3, random_state=0).fit(small_data.X)
    assert " ".join(model.notes_[:2]) == str(caught[0].message)
    model.save(tmp_path / "model.npz")
    again = tp.load(tmp_path / "model.npz")
    assert again.notes_ == model.notes_
    assert "No start was sound" in again.summary()


def test_a_sound_fit_has_nothing_to_say(small_data):
    assert tp.TParafac2(2, n_starts=2, random_state=0).fit(small_data.X).notes_ == ()


@pytest.mark.parametrize(("nonnegative", "said"), [(False, True), (True, False)])
def test_components_that_are_not_unique_are_called_so(nonnegative, said, small_data):
    model = tp.TemporalCMF(2, n_starts=2, nonnegative="rows" if nonnegative else None, random_state=0).fit(
        small_data.X
    )
    assert any("not unique" in note for note in model.notes_) == said


def test_single_precision_converges(small_data):
    single, double = (
        tp.TParafac2(2, n_starts=2, dtype=dtype, random_state=0).fit(small_data.X)
        for dtype in ("float32", "float64")
    )
    assert single.converged_
    assert single.objective_ == pytest.approx(double.objective_, rel=1e-4)
    assert single.B_.dtype == np.float64


def test_a_loaded_warm_start_goes_on_from_where_it_ended(small_data, tmp_path):
    first = tp.TParafac2(2, n_starts=2, random_state=0).fit(small_data.X)
    warm = tp.TParafac2(2, init=(first.A_, first.B_, first.C_)).fit(small_data.X)
    warm.save(tmp_path / "model.npz")
    again = tp.load(tmp_path / "model.npz")
    assert again.fit(small_data.X).objective_ == pytest.approx(first.objective_, rel=1e-7)
    assert again.n_iter_ < first.n_iter_
