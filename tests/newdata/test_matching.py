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


NAMED = {"rows": "author", "columns": "word", "time": "year", "values": "n"}


@pytest.mark.parametrize(
    ("absent", "value", "how"),
    [
        ("zero", 0.0, "zero: say absent='missing' if not observed"),
        ("rows", 0.0, "zero: say"),
        ("missing", np.nan, "missing"),
    ],
)
def test_times_that_a_long_table_lacks_are_missing_and_columns_are_as_it_says(model, absent, value, how):
    some = long(labelled(rows=slice(0, 3)))
    some = some[(some.word != "c") & (some.year != 2003)]
    expected = RAW[:, :3].copy()
    expected[:, :, 2] = value
    expected[2] = np.nan
    sentence = (
        r"X has no line of 1 of the 4 times of the model: 2003\. .* taken as missing\. X has no line of 1 of "
        rf"the 8 columns of the model: 'c'\. These are taken as {how}"
    )
    table = tp.Table(some, absent=absent, **NAMED)
    for name in ("transform", "score", "complete"):
        with pytest.warns(UserWarning, match=sentence):
            found = getattr(model, name)(table)
        assert np.allclose(found, getattr(model, name)(expected))
    with pytest.warns(UserWarning, match="2003"):
        assert np.allclose(model.transform(some[some.word != "c"]), model.transform(zeros_for(some)))


def zeros_for(some):
    array = some.set_index(["year", "author", "word"]).n.to_xarray()
    return array.reindex(word=WORDS, fill_value=0.0).reindex(year=YEARS).transpose("year", "author", "word")


def test_half_of_the_times_do_not_halve_loadings(model):
    some = long(labelled())
    some = some[some.year.isin(YEARS[:2])]
    with pytest.warns(UserWarning, match="2 of the 4 times"):
        found = model.transform(tp.Table(some, **NAMED))
    rows = np.argsort([f"r{i}" for i in range(16)])
    slope = (found * model.A_[rows]).sum(axis=0) / (model.A_**2).sum(axis=0)
    assert np.all(slope > 0.8)


def test_one_time_tells_loadings(model):
    one = long(labelled(years=[2001]))
    for data in (one, tp.Table(one, **NAMED), tp.Table(one.assign(w=2.0), weights="w", **NAMED)):
        with pytest.warns(UserWarning, match="3 of the 4 times"):
            found = model.transform(data)
        alone = np.full_like(RAW, np.nan)
        alone[1] = RAW[1]
        assert np.allclose(found, model.transform(alone)[np.argsort([f"r{i}" for i in range(16)])])
    with pytest.raises(ValueError, match="no times in common: X has 1990"):
        model.transform(tp.Table(one.assign(year=1990), **NAMED))


def test_sparse_tables_that_lack_times(model):
    some = long(labelled())
    some = some[(some.year != 2004) & (some.index % 13 == 1)]
    sparse = tp.Table(some, **NAMED)
    assert not isinstance(sparse.slices()[0], np.ndarray)
    array = zeros_for(some).fillna(0.0)
    array[3] = np.nan
    with pytest.warns(UserWarning, match="1 of the 4 times"):
        assert np.allclose(model.transform(sparse), model.transform(array))


def test_few_columns_are_refused_where_others_would_be_zero(model):
    some = long(labelled(words=["a", "b", "e"]))
    with pytest.raises(
        ValueError, match=r"no line of 5 of the 8 columns of the model: 'c', .* Too few are there"
    ):
        model.transform(tp.Table(some, **NAMED))
    with pytest.warns(UserWarning, match="5 of the 8 columns .* taken as missing"):
        model.transform(tp.Table(some, absent="missing", **NAMED))
    with pytest.warns(UserWarning, match="4 of the 8 columns .* taken as zero"):
        model.transform(tp.Table(long(labelled(words=["a", "b", "e", "f"])), **NAMED))


def test_rows_without_a_line_at_a_time_have_no_zeros_there(model):
    some = long(labelled(rows=slice(0, 3)))
    some = some[(some.word != "c") & ~((some.author == "r1") & (some.year == 2001))]
    expected = RAW[:, :3].copy()
    expected[:, :, 2] = 0.0
    expected[1, 1] = np.nan
    with pytest.warns(UserWarning, match="1 of the 8 columns"):
        found = model.transform(tp.Table(some, absent="rows", **NAMED))
    assert np.allclose(found, model.transform(expected))


@pytest.mark.parametrize(
    "steps", [{"transform": "share"}, {"transform": "clr"}, {"center": "rows"}, {"scale": "time"}]
)
def test_lacking_times_of_prepared_models(steps):
    model = tp.CP(1, **QUICK).fit(tp.Preparation(**steps).apply(abs(labelled()) + 1))
    some = long(abs(labelled()) + 1)
    holed = abs(RAW) + 1
    holed[3] = np.nan
    with pytest.warns(UserWarning, match="1 of the 4 times"):
        found = model.transform(tp.Table(some[some.year != 2004], **NAMED))
    assert np.allclose(found, model.transform(holed)[np.argsort([f"r{i}" for i in range(16)])])


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
        ({"weights": "rows"}, "weights must be numbers"),
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
    model.complete(given)
    assert np.array_equal(given, kept, equal_nan=True)
