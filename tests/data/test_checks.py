import numpy as np
import pandas as pd
import pytest
import xarray as xr

from tparafac2.data import take_in


def cube(*shape):
    return np.random.default_rng(0).normal(size=shape)


def holed(*places):
    X = cube(3, 4, 5)
    for place in places:
        X[place] = np.nan
    return X


HOLES = ((0, 1, 2), (2, 3, 0))


def test_nan_masks_and_masked_arrays_mean_the_same():
    X = holed(*HOLES)
    mask = ~np.isnan(X)
    kinds = {
        "NaN": take_in(X),
        "mask": take_in(np.where(mask, X, 99.0), mask=mask),
        "mask of 0 and 1": take_in(np.where(mask, X, 99.0), mask=mask.astype(int)),
        "infinite but masked": take_in(np.where(mask, X, np.inf), mask=mask),
        "masked array": take_in(np.ma.masked_invalid(X)),
        "list": take_in(list(X)),
        "list of masked arrays": take_in([np.ma.masked_invalid(piece) for piece in X]),
        "list with a list of masks": take_in(list(np.where(mask, X, 1.0)), mask=list(mask)),
        "frames": take_in([pd.DataFrame(piece) for piece in X]),
    }
    for name, intake in kinds.items():
        np.testing.assert_array_equal(intake.data.values, kinds["NaN"].data.values, err_msg=name)
        np.testing.assert_array_equal(intake.coverage, mask.mean(axis=1), err_msg=name)


def test_both_go_together_and_x_stays_as_it_was():
    X = holed(HOLES[0])
    before, mask = X.copy(), np.ones(X.shape, dtype=bool)
    mask[HOLES[1]] = False
    data = take_in(X, mask=mask).data
    np.testing.assert_array_equal(np.argwhere(np.isnan(data.values.transpose(1, 0, 2))), HOLES)
    np.testing.assert_array_equal(X, before)


def test_the_norm_is_of_what_was_observed():
    X = holed(*HOLES)
    data = take_in(X).data
    assert data.scale == pytest.approx(np.sqrt(np.nansum(X**2)))
    np.testing.assert_allclose(data.values.transpose(1, 0, 2) * data.scale, X)


def test_a_mask_that_hides_nothing_leaves_data_complete():
    intake = take_in(cube(3, 4, 5), mask=np.ones((3, 4, 5), dtype=bool))
    assert type(intake.data).__name__ == "DenseData"
    assert intake.coverage is None


def test_slices_nobody_saw_are_left_out_and_remembered():
    X = holed(1)
    intake = take_in(X)
    assert intake.data.shape == (2, 4, 5)
    assert intake.order == (0, 2)
    assert intake.times.tolist() == [0, 1, 2]
    assert intake.coverage[1].max() == 0


def test_slices_are_put_in_the_order_of_time():
    X = cube(3, 4, 5)
    for X_given in (X, holed(*HOLES)):
        intake = take_in(X_given, times=[30, 10, 20])
        assert intake.order == (1, 2, 0)
        expected = (X_given / intake.data.scale)[[1, 2, 0]]
        np.testing.assert_allclose(intake.data.values.transpose(1, 0, 2), expected)


def test_columns_that_come_and_go():
    X = holed((0, slice(None), 2), (1, 0, 3))
    assert take_in(X).data.present is None
    present = take_in(X, bridge=False).data.present
    np.testing.assert_array_equal(np.argwhere(~present), [[0, 2]])


@pytest.mark.parametrize(
    ("X", "options", "said"),
    [
        (holed((slice(None), 2)), {}, "1 of 4 rows were never observed, at any time: 2"),
        (holed((slice(None), slice(None), [1, 3])), {}, "2 of 5 columns were never observed.*1, 3"),
        (np.full((3, 4, 5), np.nan), {}, "every entry of X is missing"),
        (cube(3, 4, 5), {"mask": np.zeros((3, 4, 5), dtype=bool)}, "every entry of X is missing"),
        (cube(3, 4, 5), {"mask": np.ones((3, 5, 4), dtype=bool)}, r"mask has 3 slices of shape \(5, 4\)"),
        (cube(3, 4, 5), {"mask": np.ones((4, 5), dtype=bool)}, "mask has 4 slices"),
        (cube(3, 4, 5), {"mask": np.full((3, 4, 5), 0.5)}, "True .observed. and False"),
        (cube(3, 4, 5), {"times": [1, 2]}, "give one time for each"),
    ],
)
def test_what_cannot_be_used_is_refused(X, options, said):
    with pytest.raises(ValueError, match=said):
        take_in(X, **options)


def test_rows_never_observed_are_called_by_their_names():
    frames = [pd.DataFrame(piece, index=list("abcd")) for piece in holed((slice(None), 2))]
    with pytest.raises(ValueError, match="never observed, at any time: 'c'"):
        take_in(frames)


def test_uneven_widths_with_holes_are_refused():
    slices = [cube(4, 5), cube(4, 6)]
    slices[0][1, 1] = np.nan
    with pytest.raises(ValueError, match="same columns, NaN where a column is missing"):
        take_in(slices)


def test_a_labelled_mask_goes_by_its_labels():
    X = xr.DataArray(cube(3, 4, 4), dims=("time", "rows", "columns"), coords={"rows": list("abcd")})
    mask = xr.ones_like(X, dtype=bool)
    mask[0, 1, 2] = False
    expected = take_in(X, mask=mask).data.values
    turned = take_in(X, mask=mask.transpose("columns", "time", "rows")).data.values
    np.testing.assert_array_equal(turned, expected)
    np.testing.assert_array_equal(
        take_in(X.transpose("rows", "columns", "time"), mask=mask).data.values, expected
    )
    with pytest.raises(ValueError, match="differ in the labels of 'rows'"):
        take_in(X, mask=mask.isel(rows=slice(None, None, -1)))
    with pytest.raises(ValueError, match="mask has labels, but X has none"):
        take_in(X.values, mask=mask)
    with pytest.raises(ValueError, match="mask has the dimensions"):
        take_in(X, mask=mask.rename(rows="who"))
