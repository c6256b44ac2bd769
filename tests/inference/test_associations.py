"""What components have to do with attributes: found if planted, and not more often than by chance."""

import numpy as np
import pandas as pd
import pytest
from hand_made import hand_made
from hypothesis import given, settings
from hypothesis import strategies as st

import tparafac2 as tp
from tparafac2.data import Labels
from tparafac2.inference.associations import Request, associations
from tparafac2.inference.statistics import Groups, Numbers, bootstrapped, chance, holm

QUICK = Request(n_permutations=199, n_draws=199)


def of(A, request=QUICK, asked=None, **attributes):
    A = np.asarray(A, dtype=float)
    result = hand_made(I=len(A), R=A.shape[1], A=A, labels=Labels(attributes=attributes))
    return associations(result, asked, request)


def planted(seed=0, n=60):
    """A first component that is larger in group a, a second that grows with age, a third of neither."""
    rng = np.random.default_rng(seed)
    group, age = rng.permutation(np.repeat(["a", "b"], n // 2)), rng.random(n)
    A = rng.normal(size=(n, 3))
    A[:, 0] += 1.5 * (group == "a")
    A[:, 1] += 4 * age
    return A, group, age


def test_what_was_planted_is_found_and_nothing_else():
    A, group, age = planted()
    table = of(A, Request(n_permutations=1999, n_draws=199), group=group, age=age)
    surely = table[table["p_corrected"] < 0.05]
    assert list(zip(surely["component"], surely["attribute"])) == [(1, "group"), (2, "age")]
    first, second = surely.iloc[0], surely.iloc[1]
    assert (first["high"], first["low"], first["measure"]) == ("a", "b", "difference")
    assert 0.8 < first["lower"] < first["value"] < first["upper"] < 1.7
    assert second["measure"] == "correlation"
    assert 0.5 < second["value"] < 0.95


def test_several_groups_are_told_by_the_share_between_them():
    rng = np.random.default_rng(3)
    group = np.repeat(["low", "middle", "high"], 30)
    A = rng.normal(size=(90, 2))
    A[:, 0] += np.repeat([0.0, 1.0, 3.0], 30)
    table = of(A, group=group)
    first, second = table.iloc[0], table.iloc[1]
    assert (first["measure"], first["high"], first["low"]) == ("eta squared", "high", "low")
    between = np.var([0.0, 1.0, 3.0])
    assert first["lower"] < between / (between + 1) < first["upper"]
    assert first["p"] == 1 / 200
    assert second["value"] < 0.1
    assert second["lower"] == 0.0


def p_values(make, n=200):
    """p-values of data without any association."""
    rng = np.random.default_rng(7)
    found = []
    for _ in range(n):
        kind, z = make(rng)
        found.append(chance(kind, ((z - z.mean()) / z.std())[:, None], 99, rng)[0])
    return np.array(found)


def two_unequal(rng):
    """Equal means, but the small group has four times the spread: what a plain comparison is fooled by."""
    codes = np.repeat([0, 1], [30, 10])
    return Groups(codes, ("a", "b")), rng.normal(size=40) * np.where(codes, 4.0, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        lambda rng: (Groups(np.repeat([0, 1], [20, 12]), ("a", "b")), rng.normal(size=32)),
        lambda rng: (Groups(np.repeat([0, 1, 2], [10, 8, 14]), ("a", "b", "c")), rng.exponential(size=32)),
        lambda rng: (Numbers(rng.normal(size=30)), rng.normal(size=30)),
        two_unequal,
    ],
)
def test_without_association_small_p_values_are_as_rare_as_they_say(make):
    p = p_values(make)
    # Of 200, with room: 4 standard deviations.
    assert np.mean(p <= 0.05) < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 200)
    assert abs(np.mean(p <= 0.5) - 0.5) < 4 * np.sqrt(0.25 / 200)


@pytest.mark.slow
def test_intervals_hold_the_truth_about_as_often_as_they_say():
    rng = np.random.default_rng(5)
    codes, hits = np.repeat([0, 1], 30), 0
    for _ in range(100):
        z = rng.normal(size=60) + codes
        low, high = bootstrapped(
            Groups(codes, ("a", "b")), ((z - z.mean()) / z.std())[:, None], 199, 0.95, rng
        )
        hits += low[0] <= 1 / np.sqrt(1.25) <= high[0]
    assert hits >= 85


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.floats(0.1, 50), st.floats(-20, 20))
def test_size_and_place_of_loadings_and_numbers_do_not_matter(seed, size, place):
    A, group, age = planted(seed, 20)
    plain = of(A, group=group, age=age)
    other = of(A * size, group=group, age=age * size + place)
    for name in ("value", "lower", "upper", "p"):
        np.testing.assert_allclose(plain[name], other[name], atol=1e-6)


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_numbers_are_in_their_ranges(seed):
    A, group, age = planted(seed, 20)
    third = np.array(list("xyz" * 7))[:20]
    table = of(A, group=group, age=age, third=third)
    assert ((table["p"] > 0) & (table["p"] <= table["p_corrected"]) & (table["p_corrected"] <= 1)).all()
    assert (table["lower"] <= table["upper"]).all()
    correlations = table.loc[table["measure"] == "correlation", ["value", "lower", "upper"]]
    assert correlations.abs().to_numpy().max() <= 1 + 1e-9
    assert (table.loc[table["measure"] == "difference", "value"] >= 0).all()
    assert len(table) == 9


@given(st.lists(st.floats(0, 1), max_size=8))
def test_corrected_p_values_keep_their_order_and_are_never_smaller(p):
    p = np.array(p)
    corrected = holm(p)
    assert (corrected >= p).all()
    assert (np.diff(corrected[np.argsort(p, kind="stable")]) >= 0).all()
    if len(p):
        assert corrected.min() == min(p.min() * len(p), 1.0)


def test_the_same_seed_gives_the_same_table():
    A, group, age = planted()
    pd.testing.assert_frame_equal(of(A, group=group, age=age), of(A, group=group, age=age))


def test_rows_that_lack_an_attribute_and_tiny_groups_are_left_out():
    A, group, _ = planted()
    group = group.astype(object)
    group[:10] = None
    group[10:12] = "tiny"
    table = of(A, group=group)
    assert table["rows"].tolist() == [48] * 3
    assert set(table["high"]) | set(table["low"]) == {"a", "b"}


def test_two_numbers_are_two_groups():
    A, group, _ = planted()
    table = of(A, treated=(group == "a").astype(float))
    assert table.loc[0, ["measure", "high", "low"]].tolist() == ["difference", "1", "0"]


def test_attributes_that_tell_nothing_are_skipped_and_said_to_be():
    A, group, _ = planted()
    table = of(
        A, group=group, same=["x"] * 60, label=[f"row {i}" for i in range(60)], few=[1.0] + [np.nan] * 59
    )
    assert set(table["attribute"]) == {"group"}
    assert set(table.attrs["skipped"]) == {"same", "label", "few"}
    assert "not a cause" in table.attrs["note"]
    with pytest.raises(ValueError, match="attributes has 'few', but only 1 rows have it"):
        of(A, asked="few", few=[1.0] + [np.nan] * 59)
    with pytest.warns(
        UserWarning, match=r"no attribute .* \('same': it has fewer than two groups .*; 'few': only 1"
    ):
        assert len(of(A, same=["x"] * 60, few=[1.0] + [np.nan] * 59)) == 0


def test_a_component_that_vanished_has_no_numbers():
    A, group, _ = planted()
    A[:, 2] = 0.0
    table = of(A, group=group)
    assert table.loc[2, ["value", "p", "p_corrected"]].isna().all()
    assert table.loc[0, "p_corrected"] == min(2 * table.loc[0, "p"], 1.0)  # of two tests


def test_loadings_that_are_all_equal_within_a_group_are_no_trouble():
    A = np.repeat([0.0, 1.0], 10)[:, None]
    table = of(A, group=np.repeat(["a", "b"], 10))
    assert table.loc[0, "value"] == pytest.approx(2.0)
    assert table.loc[0, "p"] < 0.05


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"n_permutations": 5}, "n_permutations must be a whole number, at least 99; got 5"),
        ({"n_draws": 1e3}, "n_draws must be a whole number"),
        ({"level": 95}, "level must be between 0 and 1, such as 0.95; got 95"),
    ],
)
def test_bad_requests_are_refused(asked, said):
    with pytest.raises(ValueError, match=said):
        Request(**asked)


def test_unknown_attributes_and_rows_of_which_nothing_is_known_are_refused():
    A, group, _ = planted()
    with pytest.raises(ValueError, match="attributes has 'sex', and the rows have 'group'"):
        of(A, asked=["sex"], group=group)
    with pytest.raises(ValueError, match="nothing else is known of the rows: give row_attributes"):
        of(A)


def test_a_model_has_them_with_names():
    data = tp.synthetic.easy(seed=0, n_times=6, n_rows=60, n_columns=30, n_concepts=2)
    about = pd.DataFrame({"truth": data.A[:, 0]})
    model = tp.TParafac2(2, n_starts=2, random_state=0).fit(data.X, row_attributes=about)
    model = model.rename(["One", "Two"])
    table = model.associations(n_permutations=199, n_draws=99)
    assert table["name"].tolist() == ["One", "Two"]
    assert table["value"].abs().max() > 0.5
