"""New rows are matched with a fit by labels and times, or refused with a sentence that names what differs."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import tparafac2 as tp

RAW = tp.synthetic.easy(seed=0, n_times=4, n_rows=20, n_columns=20).X[:, :16, 4:12]
YEARS, WORDS = [2000, 2001, 2003, 2004], list("abcdefgh")
QUICK = {"n_starts": 1, "random_state": 0}


def labelled(rows=slice(None), years=YEARS, words=WORDS):
    array = xr.DataArray(
        RAW,
        {"year": YEARS, "author": [f"r{i}" for i in range(16)], "word": WORDS},
        ["year", "author", "word"],
    )
    return array.sel(year=years, word=words)[:, rows]


def frames(words=WORDS, years=YEARS):
    return {year: labelled(years=[year], words=words)[0].to_pandas() for year in years}


def long(array):
    return array.to_dataframe("n").reset_index()


def table(array, **more):
    return tp.Table(long(array), rows="author", columns="word", time="year", values="n", **more)


@pytest.fixture(scope="module")
def model():
    return tp.TParafac2(2, **QUICK).fit(labelled())


BACKWARDS = {"years": YEARS[::-1], "words": WORDS[3:] + WORDS[:3]}


@pytest.mark.parametrize(
    "data",
    [
        labelled(**BACKWARDS),
        labelled(**BACKWARDS).transpose("word", "author", "year"),
        frames(**BACKWARDS),
        table(labelled(**BACKWARDS)),
        long(labelled(**BACKWARDS)),
        RAW,
        list(RAW),
    ],
    ids=["array", "turned", "frames", "table", "long", "stack", "list"],
)
def test_columns_and_times_in_any_order(model, data):
    found = model.transform(data)
    rows = (
        np.argsort([f"r{i}" for i in range(16)]) if isinstance(data, tp.Table | pd.DataFrame) else slice(None)
    )
    assert np.allclose(found, model.A_[rows], atol=2e-3 * np.abs(model.A_).max())


def test_masks_and_weights_go_with_their_entries(model):
    mask = np.random.default_rng(0).random(RAW.shape) < 0.8
    backwards = labelled(**BACKWARDS)
    moved = labelled().copy(data=mask).sel(year=BACKWARDS["years"], word=BACKWARDS["words"])
    expected = model.transform(np.where(mask, RAW, np.nan))
    assert np.allclose(model.transform(backwards, mask=moved), expected)
    assert np.allclose(model.transform(backwards, weights=moved.astype(float)), expected)


def test_times_are_matched_by_what_they_mean(model):
    dated = labelled().assign_coords(year=pd.to_datetime([f"{year}-01-01" for year in YEARS]))
    by_date = tp.TParafac2(2, **QUICK).fit(dated)
    found = by_date.transform({f"{year}-01-01": RAW[k] for k, year in reversed([*enumerate(YEARS)])})
    assert np.allclose(found, by_date.A_, atol=2e-3 * np.abs(by_date.A_).max())


def test_a_long_table_lacks_what_is_absent(model):
    some = long(labelled(rows=slice(0, 3)))
    some = some[(some.word != "c") & (some.year != 2003)]
    named = {"rows": "author", "columns": "word", "time": "year", "values": "n"}
    zeros, holes = RAW[:, :3].copy(), RAW[:, :3].copy()
    for filled, value in ((zeros, 0.0), (holes, np.nan)):
        filled[:, :, 2] = filled[2] = value
    assert np.allclose(model.transform(tp.Table(some, **named)), model.transform(zeros))
    assert np.allclose(model.transform(tp.Table(some, absent="missing", **named)), model.transform(holes))


def test_columns_that_are_lacking_or_unknown_are_named(model):
    renamed = labelled().assign_coords(word=[*WORDS[:6], "x", "y"])
    with pytest.raises(
        ValueError,
        match=r"X lacks 2 of the 8 columns of the model: 'g', 'h', and has others: 'x', 'y'\. Give",
    ):
        model.transform(renamed)
    more = xr.concat([labelled(), labelled(words=["a"]).assign_coords(word=["z"])], "word")
    with pytest.raises(ValueError, match=r"X has 1 column that the model does not know: 'z'.*unknown='drop'"):
        model.transform(more)
    assert np.allclose(model.transform(more, unknown="drop"), model.transform(RAW))
    with pytest.raises(ValueError, match=r"no columns in common: X has 'A', .*, the model 'a', 'b'"):
        model.transform(labelled().assign_coords(word=[word.upper() for word in WORDS]))
    with pytest.raises(ValueError, match=r"X has 'a' more than once among its labels of columns"):
        model.transform(labelled().assign_coords(word=["a", "a", *WORDS[2:]]))


def test_other_times_are_named(model):
    with pytest.raises(ValueError, match=r"X lacks 1 of the 4 times of the model: 2003\."):
        model.transform(labelled(years=[2000, 2001, 2004]))
    with pytest.raises(ValueError, match=r"lacks 1 of the 4 times of the model: 2003, and has others: 2002"):
        model.transform(labelled().assign_coords(year=[2000, 2001, 2002, 2004]))
    with pytest.raises(ValueError, match="X has 3 times, but the model has 4"):
        model.transform(RAW[:3])
    with pytest.raises(ValueError, match="X has 7 columns, but the model has 8"):
        model.transform(RAW[:, :, :7])


def test_another_preparation_is_refused():
    done = tp.Preparation("sqrt", center="columns")
    model = tp.TParafac2(2, **QUICK).fit(done.apply(np.abs(RAW)))
    with pytest.raises(ValueError, match=r"prepared otherwise \(log\(1 \+ x\) of .*\) than .* \(square root"):
        model.transform(tp.Preparation("log1p").apply(np.abs(RAW)))
    with pytest.raises(ValueError, match="prepared by means of its own, and not by those of the fit"):
        model.transform(done.apply(np.abs(RAW[:, :5])))
    with pytest.raises(ValueError, match="X was prepared, and entries are filled in in the units before"):
        model.complete(done.apply(np.abs(RAW)))
    plain = tp.TParafac2(2, **QUICK).fit(RAW)
    with pytest.raises(
        ValueError, match=r"X was prepared \(square root of every value\), but the data of the fit"
    ):
        plain.transform(tp.Preparation("sqrt").apply(np.abs(RAW)))
    assert plain.transform(tp.Preparation().apply(RAW)).shape == (16, 2)


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"unknown": "ignore"}, "unknown must be 'refuse' or 'drop'; got 'ignore'"),
        ({"weights": "rows"}, "weights of new rows must be numbers"),
    ],
)
def test_what_else_may_be_said(model, more, sentence):
    with pytest.raises(ValueError, match=sentence):
        model.transform(RAW, **more)


def test_infinite_values(model):
    with pytest.raises(ValueError, match="infinite values"):
        model.transform(np.where(RAW.mean() < RAW, np.inf, RAW))


def test_nothing_that_was_given_is_changed(model):
    given = np.where(np.quantile(RAW, 0.9) < RAW, np.nan, RAW)
    kept = given.copy()
    model.transform(given)
    model.score(given)
    model.complete(given, level=0.9)
    assert np.array_equal(given, kept, equal_nan=True)
