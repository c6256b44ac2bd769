"""Data sets: exact noise, truth that depends on the seed alone, concepts of a user's own, refusals."""

import tracemalloc
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tparafac2.synthetic import (
    Concept,
    Constant,
    Gradual,
    Increasing,
    Incremental,
    Periodic,
    PlacedConcept,
    Sudden,
    generate,
)
from tparafac2.synthetic.dataset import make

CONCEPTS = (Concept(Sudden(3), Constant()), Concept(Incremental(2, duration=3), Increasing(start=4)))
SIZES = {"n_times": 8, "n_rows": 12, "n_columns": 20}


def small(concepts=CONCEPTS, seed=0, **options):
    return generate(concepts, seed, **{**SIZES, **options})


def cross_product_gap(B):
    gram = np.einsum("kjr,kjs->krs", B, B)
    return np.abs(gram - gram[0]).max() / np.abs(gram[0]).max()


def same_truth(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one.factors, other.factors))


@dataclass(frozen=True)
class Told:
    """A drift that answers what it was told to."""

    answer: object

    def activity(self, initial, final, n_times, rng):
        return self.answer(initial, final, n_times)


@dataclass(frozen=True)
class Listed:
    """A strength that answers what it was told to."""

    answer: object

    def values(self, n_times, rng):
        return self.answer


def test_shapes_and_blocks_follow_the_concepts():
    data = small(noise=0)
    assert (data.X.shape, data.A.shape, data.B.shape, data.C.shape) == (
        (8, 12, 20),
        (12, 2),
        (8, 20, 2),
        (8, 2),
    )
    for r, concept in enumerate(data.concepts):
        assert isinstance(concept, PlacedConcept)
        assert (concept.drift, concept.strength) == (CONCEPTS[r].drift, CONCEPTS[r].strength)
        outside = np.setdiff1d(np.arange(12), concept.authors)
        assert not data.A[outside, r].any()
        assert set(np.flatnonzero(data.B[0, :, r])) == set(concept.initial_words)
        assert set(np.flatnonzero(data.B[-1, :, r])) == set(concept.final_words)
    assert (data.A >= 0).all()
    assert (data.C > 0).all()


def test_signal_is_the_model_and_data_without_noise_are_the_signal():
    data = small(noise=0)
    model = np.einsum("ir,kr,kjr->kij", data.A, data.C, data.B)
    np.testing.assert_allclose(data.signal(), model, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(data.signal_slice(3), data.signal()[3])
    np.testing.assert_array_equal(data.X, data.signal())


@settings(max_examples=30)
@given(st.integers(0, 2**40), st.floats(1e-3, 1e3))
def test_noise_level_is_exact(seed, noise):
    data = small(seed=seed, noise=noise)
    signal = data.signal()
    measured = np.linalg.norm(data.X - signal) / np.linalg.norm(signal)
    assert measured == pytest.approx(noise, rel=1e-12)


def test_noise_is_standard_normal_up_to_its_size():
    data = small(n_times=10, n_rows=60, n_columns=80)
    theta = data.X - data.signal()
    theta = theta / theta.std()
    assert abs(theta.mean()) < 0.02
    assert abs((theta**4).mean() - 3) < 0.15
    assert abs((theta[0] * theta[1]).mean()) < 0.06


def test_making_data_takes_little_more_memory_than_the_data():
    tracemalloc.start()
    data = small(n_times=60, n_rows=100, n_columns=200)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.3 * data.X.nbytes


def test_noise_level_changes_neither_truth_nor_noise_direction():
    quiet, loud = small(noise=0.25), small(noise=1.0)
    assert same_truth(quiet, loud)
    np.testing.assert_allclose(4 * (quiet.X - quiet.signal()), loud.X - loud.signal(), atol=1e-9)


def test_same_seed_same_bytes_other_seed_other_data():
    one = small(seed=5)
    np.random.seed(1)  # noqa: NPY002  (the global state must not matter)
    between = small(seed=6)
    again = small(seed=5)
    assert one.X.tobytes() == again.X.tobytes()
    assert same_truth(one, again)
    assert not np.array_equal(one.A, between.A)
    assert not np.array_equal(one.X, between.X)


def test_a_recipe_remakes_the_data():
    data = small(seed=9)
    assert make(data.recipe).X.tobytes() == data.X.tobytes()
    assert (data.seed, data.noise, data.case) == (9, 0.5, "custom")
    assert same_truth(make(replace(data.recipe, noise=3.0)), data)


def test_another_strength_leaves_the_other_concepts_alone():
    changed = small((CONCEPTS[0], Concept(CONCEPTS[1].drift, Periodic(half_period=2))))
    assert np.array_equal(changed.B[:, :, 0], small().B[:, :, 0])
    assert np.array_equal(changed.C[:, 0], small().C[:, 0])


def test_single_precision_is_a_choice_for_the_data_only():
    single, double = small(dtype=np.float32), small()
    assert single.X.dtype == np.float32
    assert same_truth(single, double)
    signal = double.signal()
    assert np.linalg.norm(single.X - signal) / np.linalg.norm(signal) == pytest.approx(0.5, rel=1e-6)


def test_importances_are_fresh_or_held():
    concepts = [Concept(Sudden(4), Constant())]
    fresh = small(concepts, enforce_parafac2=False).B[:4, :, 0]
    held = small(concepts, enforce_parafac2=False, fresh_importances=False).B[:4, :, 0]
    words = fresh[0] > 0
    assert (np.diff(fresh, axis=0)[:, words] != 0).all()
    assert (held == held[0]).all()
    assert (held[0] > 0).any()


def test_importances_and_loadings_come_from_the_published_distributions():
    sizes = {"n_times": 10, "n_rows": 4_000, "n_columns": 800}
    data = generate([Concept(Sudden(5), Constant())], 0, noise=0, enforce_parafac2=False, **sizes)
    words = data.B[data.B > 0]
    # N(.5, .5) cut at zero has mean .5 + .5 phi(1) / Phi(1)
    assert abs(words.mean() - 0.6438) < 0.02
    assert abs((data.A == 0).mean() - 0.1587) < 0.02
    assert abs(np.median(data.A) - 0.5) < 0.03


@pytest.mark.parametrize("fresh", [True, False])
def test_parafac2_constraint_holds_only_where_enforced(fresh):
    assert cross_product_gap(small(fresh_importances=fresh).B) < 1e-12
    assert cross_product_gap(small(fresh_importances=fresh, enforce_parafac2=False).B) > 1e-2


def test_overlap_is_shared_at_the_start_and_gone_at_the_end():
    active = small(overlap=0.25, enforce_parafac2=False, n_columns=60).B > 0
    assert active[0].all(axis=1).sum() / active[0].sum(axis=0) == pytest.approx(0.25)
    assert not active[-1].all(axis=1).any()


def test_a_users_own_drift_and_strength_work():
    def half(initial, final, n_times):
        return np.tile(initial + 0.5 * final, (n_times, 1))

    data = small(
        [Concept(Told(half), Listed(np.arange(1, 9)))], enforce_parafac2=False, fresh_importances=False
    )
    assert np.array_equal(data.C[:, 0], np.arange(1.0, 9.0))
    assert not np.diff(data.B, axis=0).any()
    assert (data.B[0] > 0).all()


def test_a_concept_survives_with_a_single_author():
    for seed in range(30):
        assert small(seed=seed, n_rows=2, n_columns=12).A.any(axis=0).all()


def test_repr_is_short():
    assert repr(small()) == (
        "SyntheticData(case='custom', seed=0, noise=0.5, 12 rows x 20 columns x 8 times, 2 concepts)"
    )


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            lambda i, f, k: np.ones((k, 3)),
            r"must give an array of shape \(8, 20\) \(times, words\), got \(8, 3\)",
        ),
        (lambda i, f, k: np.tile(2.0 * i, (k, 1)), "values from 0 to 1"),
        (lambda i, f, k: np.tile(np.where(i, np.nan, 0), (k, 1)), "values from 0 to 1"),
        (lambda i, f, k: np.tile(~i & ~f, (k, 1)), "may only use the initial and final words"),
        (lambda i, f, k: np.outer(np.arange(k) != 5, i), "got none in slice 5"),
    ],
)
def test_drifts_that_break_the_rules_are_named(answer, message):
    with pytest.raises(ValueError, match=message) as caught:
        small([Concept(Told(answer), Constant()), CONCEPTS[0]])
    assert "Told(" in str(caught.value)


@pytest.mark.parametrize(
    "answer", [np.ones(7), np.zeros(8), -np.ones(8), np.full(8, np.nan), np.ones((8, 1))]
)
def test_strengths_that_break_the_rules_are_named(answer):
    with pytest.raises(ValueError, match=r"Listed\((.|\n)*must give 8 finite values above 0"):
        small([Concept(Sudden(3), Listed(answer))])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"noise": -0.1}, ValueError, "noise must be a finite number between 0 and 1e.06, got -0.1"),
        ({"noise": 1e300}, ValueError, "got 1e.300"),
        ({"noise": np.nan}, ValueError, "noise"),
        ({"seed": -1}, ValueError, "seed must be at least 0, got -1"),
        ({"seed": None}, TypeError, "seed must be a whole number, got None"),
        ({"n_rows": 1}, ValueError, r"2 concepts need at least 2 rows \(authors\), one each, got 1"),
        (
            {"n_columns": 11},
            ValueError,
            r"2 concepts need at least 12 columns \(words\), 6 each, got 11",
        ),
        ({"n_times": 1}, ValueError, "at least 2 times, got 1"),
        ({"shape": (8, 12, 20)}, TypeError, "no argument 'shape': sizes are n_times, n_rows, n_columns"),
        ({"n_columns": 20.0}, TypeError, "n_columns must be a whole number, got 20.0"),
        ({"n_columns": -20}, ValueError, "n_columns must be at least 1"),
        ({"concepts": []}, ValueError, "n_concepts must be at least 1, got 0"),
        ({"concepts": [Sudden(2)]}, TypeError, "wrap it in Concept"),
        ({"overlap": 0.2}, ValueError, "contradict each other"),
        ({"overlap": 1.0, "enforce_parafac2": False}, ValueError, "must be below 1, got 1.0"),
        (
            {"overlap": -0.1, "enforce_parafac2": False},
            ValueError,
            "overlap must be a finite number at least 0",
        ),
        (
            {"overlap": 0.2, "enforce_parafac2": False, "concepts": CONCEPTS[:1]},
            ValueError,
            "needs at least 2 concepts",
        ),
        ({"dtype": int}, ValueError, "dtype must be float64 or float32, got 'int64'"),
        ({"concepts": [Concept(Gradual(8), Constant())]}, ValueError, "start=8 lies outside a series of 8"),
    ],
)
def test_impossible_requests_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        small(**options)


@pytest.mark.parametrize("drift", [Sudden, "sudden", None])
def test_a_concept_needs_a_drift(drift):
    with pytest.raises(TypeError, match="a drift must be an object"):
        Concept(drift, Constant())


@pytest.mark.parametrize("strength", [Constant, 5.0])
def test_a_concept_needs_a_strength(strength):
    with pytest.raises(TypeError, match="a strength must be an object"):
        Concept(Sudden(2), strength)
