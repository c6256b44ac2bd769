"""What else is known of the rows: how it is read, joined by label, and carried along."""

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import tparafac2 as tp
from tparafac2.data import Labels
from tparafac2.data.attributes import join_attributes, settled
from tparafac2.data.labels import labels_of, named_array

ROWS = np.array(["Ann", "Bo", "Cy"])


def join(frame, rows=ROWS, name="who"):
    return join_attributes(frame, rows, len(rows), name)


def plain(found):
    return {name: [None if one != one else one for one in values] for name, values in found.items()}


@given(st.permutations(range(6)), st.integers(1, 6))
def test_rows_are_joined_by_label_whatever_the_order(order, n_known):
    rows = np.array([f"row {i}" for i in range(6)])
    lines = [i for i in order if i < n_known]
    frame = pd.DataFrame({"who": rows[lines], "number": np.array(lines, dtype=float)})
    expected = [float(i) if i < n_known else None for i in range(6)]
    assert plain(join(frame, rows)) == {"number": expected}


def test_labels_are_in_the_named_column_the_index_or_the_first_column():
    ages = [3.0, 5.0, 7.0]
    named = pd.DataFrame({"age": ages, "who": ROWS})
    indexed = pd.DataFrame({"age": ages}, index=ROWS)
    first = pd.DataFrame({"child": ROWS, "age": ages})
    for frame in (named, indexed, first, pd.Series(ages, ROWS, name="age"), {"who": ROWS, "age": ages}):
        assert plain(join(frame)) == {"age": ages}


def test_rows_without_labels_are_counted():
    frame = pd.DataFrame({"sex": ["f", "m", "f"]})
    assert join_attributes(frame, None, 3, "rows")["sex"].tolist() == ["f", "m", "f"]


def test_numbers_and_texts_may_name_the_same_rows():
    assert plain(join(pd.DataFrame({"a": ["7", "10"], "x": [1, 2]}), np.array([7, 10]))) == {"x": [1.0, 2.0]}


def test_values_become_numbers_or_texts():
    given = {
        "age": np.array([1, 2], dtype=np.int8),
        "rate": [0.5, np.inf],
        "fed": np.array([True, False]),
        "sex": ["f", None],
        "empty": ["", "x"],
        "born": np.array(["1970-01-01", "NaT"], dtype="M8[ns]"),
        "maybe": pd.array([3, None], dtype="Int64").astype(object),
        "kind": pd.Categorical(["a", "b"]),
    }
    assert plain(settled(given)) == {
        "age": [1.0, 2.0],
        "rate": [0.5, None],
        "fed": ["yes", "no"],
        "sex": ["f", None],
        "empty": [None, "x"],
        "born": [1970.0, None],
        "maybe": [3.0, None],
        "kind": ["a", "b"],
    }


def test_pandas_own_types_are_joined():
    frame = pd.DataFrame(
        {"who": ROWS[:2], "n": pd.array([1, None], dtype="Int64"), "k": pd.Categorical(["a", "b"])}
    )
    assert plain(join(frame)) == {"n": [1.0, None, None], "k": ["a", "b", None]}


def test_what_is_settled_stays_so():
    once = settled({"sex": ["f", None], "age": [1.0, np.nan]})
    assert plain(settled(once)) == plain(once)


def test_lines_that_repeat_a_row_must_agree():
    twice = pd.DataFrame({"who": ["Ann", "Ann", "Bo"], "sex": ["f", "f", "m"]})
    assert join(twice)["sex"].tolist() == ["f", "m", None]
    twice.loc[1, "sex"] = "m"
    with pytest.raises(ValueError, match="has the row 'Ann' twice, with different values"):
        join(twice)
    unlabelled = pd.DataFrame({"sex": ["f", "f", "m"], "age": [1, 2, 3]})
    with pytest.raises(
        ValueError, match=r"row 'f' twice, .* row labels were taken from its first column 'sex'"
    ):
        join(unlabelled)
    with pytest.raises(ValueError, match="row labels were taken from its index"):
        join(unlabelled.set_index(pd.Index(["Ann", "Ann", "Bo"])))


def test_labels_that_match_nothing_are_named():
    frame = pd.DataFrame({"who": ["Ann", "Zoe"], "age": [3, 5]})
    with pytest.warns(UserWarning, match=r"row_attributes has 1 of 2 labels .* left out: 'Zoe'"):
        assert plain(join(frame)) == {"age": [3.0, None, None]}


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (
            pd.DataFrame({"who": ["Zoe"], "age": [1]}),
            "has no row of the data: it has 'Zoe'; the data have 'Ann'",
        ),
        (pd.DataFrame({"who": ROWS}), "has no attributes"),
        (pd.DataFrame({"who": [], "age": []}), "has no attributes"),
        (pd.DataFrame([["Ann", 1, 2]], columns=["who", "a", "a"]), "two columns called 'a'"),
    ],
)
def test_tables_that_cannot_be_used_are_refused(frame, said):
    with pytest.raises(ValueError, match=f"^row_attributes.*{said}"):
        join(frame)


def test_what_is_no_table_is_refused():
    with pytest.raises(TypeError, match="row_attributes must be a DataFrame"):
        join(3)


def test_labels_need_a_value_for_each_row():
    with pytest.raises(ValueError, match="row attribute 'age' has 2 values for 3 rows"):
        Labels(attributes={"age": [1, 2]}).check((2, 3, 4))


def test_coordinates_along_rows_are_attributes_there_and_back():
    labels = Labels(rows=ROWS, names={"rows": "author", "time": "year"}, attributes={"year": [1, 2, 3]})
    array = named_array(np.ones((2, 3, 4)), labels)
    assert array.coords["year_"].dims == ("author",)
    again = labels_of(array, {"rows": "author", "columns": "columns", "time": "year"})
    assert plain(again.attributes) == {"year_": [1.0, 2.0, 3.0]}


def test_some_rows_keep_their_own():
    labels = Labels(rows=ROWS, attributes={"age": [1, 2, 3]}).of_rows(np.array([2, 0]))
    assert (labels.rows.tolist(), labels.attributes["age"].tolist()) == (["Cy", "Ann"], [3.0, 1.0])


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    people = [f"p{i}" for i in range(6)]
    X = xr.DataArray(rng.random((3, 6, 4)), {"person": people}, ["time", "person", "word"])
    return X, pd.DataFrame({"person": people[::-1], "age": np.arange(6.0)[::-1]})


def ways(X, frame):
    """The same attributes by every door."""
    model = tp.CP(rank=1, n_starts=1, random_state=0)
    long = X.to_dataframe("n").reset_index()
    table = tp.Table(long, rows="person", columns="word", time="time", values="n", row_attributes=frame)
    coordinate = X.assign_coords(age=("person", np.arange(6.0)))
    yield model.fit(table)
    yield tp.CP(rank=1, n_starts=1, random_state=0).fit(coordinate)
    yield tp.CP(rank=1, n_starts=1, random_state=0).fit(tp.Preparation("sqrt").apply(coordinate))
    yield tp.CP(rank=1, n_starts=1, random_state=0).fit(tp.Preparation("sqrt").apply(table))
    yield tp.CP(rank=1, n_starts=1, random_state=0).fit(X, row_attributes=frame)
    yield tp.CP(rank=1, n_starts=1, random_state=0).fit(tp.Stored(X), row_attributes=frame)
    yield tp.CP(rank=1, n_starts=1, random_state=0).fit(X).with_row_attributes(frame)


@pytest.mark.slow
def test_every_door_leads_to_the_model_and_its_file(data, tmp_path):
    for model in ways(*data):
        assert model.row_attributes_["age"].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
        assert model.row_attributes_.index.tolist() == [f"p{i}" for i in range(6)]
        model.save(tmp_path / "model.npz")
        assert tp.load(tmp_path / "model.npz").row_attributes_.equals(model.row_attributes_)


def test_a_fit_refuses_attributes_of_other_rows(data):
    X, frame = data
    for source in (X, tp.Stored(X)):
        with pytest.raises(ValueError, match="has no row of the data"):
            tp.CP(rank=1, n_starts=1).fit(source, row_attributes=frame.assign(person=range(100, 106)))


def test_attributes_do_not_change_the_fit(data):
    X, frame = data
    with_, without = (tp.CP(1, n_starts=1, random_state=0).fit(X, row_attributes=a) for a in (frame, None))
    assert np.array_equal(with_.A_, without.A_)
    assert without.row_attributes_.empty
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with_.to_dataset()
