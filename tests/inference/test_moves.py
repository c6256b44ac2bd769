"""Bands of the largest moves hold for all of a component together, and those of contrasts for each alone."""

import numpy as np
import pytest
import turning

import tparafac2 as tp
from tparafac2.inference.moves import Moves, extremes


def static(seed, noise=1.0, K=10, I=50, J=25):
    """Patterns that never change, under strengths that do."""
    rng = np.random.default_rng(seed)
    C = 1 + 0.6 * np.sin(2 * np.pi * (np.linspace(0, 1, K)[:, None] + [0.0, 0.4]))
    signal = np.einsum("ir,kr,jr->kij", rng.normal(size=(I, 2)), C, rng.normal(size=(J, 2)))
    return signal + noise * signal.std() * rng.normal(size=signal.shape)


def moves_of(X, **settings):
    model = tp.TParafac2(2, smoothness=3e-3, n_starts=3, random_state=0, n_jobs=1).fit(X)
    return model, model.intervals(X, n_resamples=60, loadings=False, n_jobs=1, **settings)


@pytest.mark.parametrize("over", ["rows", "residuals"])
def test_what_never_changes_has_no_sure_move(over):
    model, bands = moves_of(static(0), over=over)
    assert not bands.unstable.any()
    assert bands.rises.includes_zero.all()
    assert bands.falls.includes_zero.all()
    moves = tp.io.tidy_tables(model)["moves"]
    assert moves["includes_zero"].all()


def test_large_changes_are_sure():
    _, bands = moves_of(turning.data())
    for band, sign in ((bands.rises, 1), (bands.falls, -1)):
        sure = ~band.includes_zero
        assert sure.mean() > 0.2
        assert (sign * band.centre[sure] > 0).all()


def test_bands_of_moves_are_wider_than_those_of_contrasts():
    _, bands = moves_of(turning.data())
    begin, end = bands.rise_times[:, :, 0]
    asked = [(1, j, int(begin[j]), int(end[j])) for j in range(len(begin)) if begin[j] != end[j]]
    _, bands = moves_of(turning.data(), contrasts=asked, undersmoothing=1)
    columns = [column for _, column, *_ in asked]
    np.testing.assert_allclose(bands.rises.centre[columns, 0], bands.contrasts.centre)
    assert (bands.rises.width[columns, 0] > 1.2 * bands.contrasts.width).all()


def drawn(rng, shape, n, known=None):
    """A centre that is nothing but noise around a truth without moves, and refits around it."""
    scale = rng.uniform(0.2, 3.0, (1, shape[1], 1))  # columns differ in noise
    centre = scale * rng.normal(size=shape)
    moves = Moves(centre, centre, np.ones(shape, dtype=bool) if known is None else known)
    for _ in range(n):
        moves.add(centre + scale * rng.normal(size=shape), np.ones(shape[2], dtype=bool))
    return centre, moves


@pytest.mark.parametrize("n", [40, 150])
def test_one_in_twenty_components_has_a_false_move(n):
    rng = np.random.default_rng(n)
    false = []
    for _ in range(60):
        centre, moves = drawn(rng, (5, 8, 2), n)
        rises, falls = extremes(centre)
        bands = moves.bands({"rises": rises, "falls": falls}, 0.95)
        sure = [~band.includes_zero.all(axis=0) for band in bands.values()]
        false.extend(sure[0] | sure[1])
    assert np.mean(false) < 0.12


def test_times_at_which_nothing_is_known_do_not_count():
    shape = (5, 8, 1)
    known = np.ones(shape, dtype=bool)
    known[2] = False
    bands = []
    for size in (1.0, 1e3):
        rng = np.random.default_rng(0)
        centre = np.zeros(shape)
        moves = Moves(centre, centre, known)
        for _ in range(50):
            B = rng.normal(size=shape)
            B[2] *= size
            moves.add(B, np.ones(1, dtype=bool))
        ends = np.zeros((2, 8, 1), dtype=int)
        ends[1] = 4
        bands.append(moves.bands({"rises": ends}, 0.95)["rises"].width)
    np.testing.assert_allclose(bands[1], bands[0], rtol=1e-3)


def test_columns_that_rest_at_their_bound_have_no_spread_and_do_no_harm():
    rng = np.random.default_rng(0)
    widths = []
    for resting in (0, 30):
        shape = (5, 10 + resting, 1)
        centre = np.zeros(shape)
        moves = Moves(centre, centre, np.ones(shape, dtype=bool))
        for n in range(100):
            B = np.zeros(shape)
            B[:, :10] = rng.normal(size=(5, 10, 1))
            if resting and n < resting:
                B[2, 10 + n] = 0.3  # leaves the bound in one refit, to about as far as others move
            moves.add(B, np.ones(1, dtype=bool))
        ends = np.zeros((2, shape[1], 1), dtype=int)
        ends[1] = 4
        widths.append(moves.bands({"rises": ends}, 0.95)["rises"].width)
    assert np.isfinite(widths[1]).all()
    assert widths[1][:10].mean() < 1.3 * widths[0].mean()


def test_patterns_that_cannot_move_have_bands_without_width():
    model = tp.CP(2, n_starts=2, random_state=0, n_jobs=1).fit(static(0, noise=0.3))
    bands = model.intervals(static(0, noise=0.3), n_resamples=20, loadings=False, n_jobs=1)
    np.testing.assert_allclose(bands.rises.width, 0.0, atol=1e-9)
    assert bands.rises.includes_zero.all()


def test_refits_are_kept_as_long_as_there_is_room():
    centre = np.broadcast_to(0.0, (100, 20_000, 8))
    moves = Moves(centre, centre, np.broadcast_to(True, centre.shape))
    assert moves.most == 40
    assert Moves(centre, centre, np.broadcast_to(True, centre.shape), n_bytes=10 * 10**9).most == 156


def test_moves_of_a_component_that_is_hardly_ever_found_are_unknown():
    centre = np.zeros((4, 3, 2))
    moves = Moves(centre, centre, np.ones(centre.shape, dtype=bool))
    rng = np.random.default_rng(0)
    for _ in range(30):
        moves.add(rng.normal(size=centre.shape), np.array([True, False]))
    band = moves.bands({"rises": np.zeros((2, 3, 2), dtype=int)}, 0.95)["rises"]
    assert np.isfinite(band.width[:, 0]).all()
    assert np.isnan(band.width[:, 1]).all()
