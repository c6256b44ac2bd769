"""Names of components: how they are read, kept and told."""

import numpy as np
import pytest
from banded import banded
from hand_made import hand_made
from hypothesis import given
from hypothesis import strategies as st

import tparafac2 as tp
from tparafac2.errors import InvalidValue
from tparafac2.result import Finding, Kind, load_result, place_of, read_names, sentence

NAMES = st.text("abcdefgh é$_<", min_size=1, max_size=20).filter(str.strip)


@given(st.lists(NAMES, min_size=1, max_size=6, unique_by=str.strip))
def test_names_are_kept_as_they_are_but_for_spaces_around(names):
    assert read_names(names, len(names)) == tuple(name.strip() for name in names)
    by_number = {r + 1: name for r, name in enumerate(names)}
    assert read_names(by_number, len(names)) == read_names(names, len(names))


def test_a_mapping_adds_to_names_and_takes_them_away():
    result = hand_made().rename({1: "Africa"}).rename({2: "Asia"})
    assert result.component_names == ("Africa", "Asia")
    assert result.rename({1: None}).component_names == ("", "Asia")
    assert result.rename({1: "", 2: None}).component_names == ()
    assert result.rename(None).component_names == ()
    assert hand_made().component_names == ()


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["Africa"], r"must be 2, one for each component; got 1: 'Africa'"),
        ([], r"must be 2, one for each component; got 0: none"),
        (["a", "a"], "has 'a' more than once"),
        (["a", " a "], "has 'a' more than once"),
        (["a", " "], "has an empty one"),
        (["a", ""], "has an empty one"),
        (["a", "2"], "has '2', which could be taken for the number"),
        (["a", "component 1"], "has 'component 1', which could be taken for the number"),
        ({1: "Component  2"}, "has 'Component  2', which could be taken for the number"),
        (["a", "b" * 61], "may have 60 letters"),
        ({3: "a"}, "has 3 among its keys: components are counted from 1 to 2"),
        ({0: "a"}, "has 0 among its keys"),
        ({True: "a"}, "has True among its keys"),
        ({"Africa": "a"}, "has 'Africa' among its keys"),
        ({1: "a", 2: "a"}, "has 'a' more than once"),
    ],
)
def test_bad_names_are_refused_in_a_sentence(names, said):
    with pytest.raises(ValueError, match=f"^names {said}"):
        hand_made().rename(names)


@pytest.mark.parametrize("names", ["Africa,Asia", 3, ["a", 5], {1: 5}, ["a", b"b"]])
def test_what_is_no_text_is_refused(names):
    with pytest.raises(TypeError, match=r"^names must be "):
        hand_made().rename(names)


def test_components_are_counted_from_one_or_called_by_name():
    result = hand_made().rename({2: "Asia"})
    assert [place_of(r, result) for r in (1, np.int64(2), "Asia")] == [0, 1, 1]


@pytest.mark.parametrize("component", [0, 3, -1, 1.0, "1", "", True, None])
def test_other_components_are_refused(component):
    with pytest.raises(ValueError, match=f"from 1 to 2, .* there are 2; got {component!r}"):
        place_of(component, hand_made())
    with pytest.raises(ValueError, match="there are 2, or one of 'Asia'; got"):
        place_of(component, hand_made().rename({2: "Asia"}))


def test_a_single_component_is_said_to_be_one():
    with pytest.raises(InvalidValue, match=r"must be 1, as .* counted from 1 and there is one; got 2"):
        place_of(2, hand_made(R=1))


def test_a_file_keeps_names(tmp_path):
    named = hand_made().rename(["Côte d'Ivoire", "a < b"])
    named.save(tmp_path / "named.npz")
    assert load_result(tmp_path / "named.npz").component_names == ("Côte d'Ivoire", "a < b")
    hand_made().save(tmp_path / "plain.npz")
    assert load_result(tmp_path / "plain.npz").component_names == ()


def test_findings_and_summary_call_components_by_name():
    result = hand_made(B=np.ones((3, 4, 2))).rename(["Africa", "Asia"])
    static = [one for one in result.findings if one.kind is Kind.STATIC]
    assert [one.name for one in static] == ["Africa", "Asia"]
    assert sentence(static[0]).startswith("Component 1 (Africa) is static")
    assert static[0].as_dict()["name"] == "Africa"
    assert "component 2 (Asia): " in result.summary()
    assert "1 (Africa)" in result._repr_html_()
    pair = Finding(Kind.SAME_ROWS, component=1, numbers={"other": 2, "cosine": 1.0}, names=("Africa", ""))
    assert sentence(pair).startswith("Components 1 (Africa) and 2 have nearly the same rows")


def test_a_data_set_and_tables_have_names():
    named = hand_made().rename({1: "Africa"})
    assert named.to_dataset().component_name.values.tolist() == ["Africa", ""]
    tables = tp.io.tidy_tables(named)
    for what in ("loadings", "patterns", "strengths"):
        assert tables[what]["name"].tolist()[:2] == ["Africa", ""]
    assert "name" not in tp.io.tidy_tables(hand_made())["loadings"]


def test_tables_of_changes_have_names():
    tables = tp.io.tidy_tables(banded().rename(["Ice", "Sun"]))
    for what in ("moves", "contrasts"):
        assert set(tables[what]["name"]) <= {"Ice", "Sun"}
    assert "name" not in tp.io.tidy_tables(banded())["moves"]


def test_a_renamed_model_is_another_one(small_data):
    model = tp.CP(rank=2, n_starts=1, random_state=0).fit(small_data.X)
    named = model.rename({1: "Africa"})
    assert named.result_.component_names == ("Africa", "")
    assert model.result_.component_names == ()
    assert np.array_equal(named.A_, model.A_)


def test_pictures_call_components_by_name():
    result = hand_made().rename({1: "a $5 idea"})
    assert tp.plots.pattern(result, "a $5 idea").get_title("left") == r"Component 1: a \$5 idea"
    legend = tp.plots.strengths(result).get_legend()
    assert [text.get_text() for text in legend.get_texts()] == [r"1: a \$5 idea", "2"]
