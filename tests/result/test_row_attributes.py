"""Attributes of rows in files, data sets, tables and on the page."""

import json

import numpy as np
from hand_made import hand_made

import tparafac2 as tp
from tparafac2.data import Labels
from tparafac2.report.payload import payload
from tparafac2.result import load_result

LABELS = Labels(
    rows=["Ann", "Bo"],
    attributes={"sex": ["f", None], "age": [3, np.nan], "loading": ["Ünï", "b\0c"], "component": [1, 2]},
)


def test_a_file_keeps_them(tmp_path):
    hand_made(labels=LABELS).save(tmp_path / "result.npz")
    again = load_result(tmp_path / "result.npz").labels.attributes
    assert list(again) == list(LABELS.attributes)
    assert again["sex"].tolist() == ["f", None]
    assert again["loading"].tolist() == ["Ünï", "b\0c"]
    np.testing.assert_array_equal(again["age"], [3.0, np.nan])


def test_a_data_set_has_them_as_coordinates(tmp_path):
    found = hand_made(labels=LABELS).to_dataset()
    assert found.sex.dims == ("rows",)
    assert found.sex.values.tolist() == ["f", ""]
    assert found.component_.values.tolist() == [1.0, 2.0]
    assert found.component.values.tolist() == [1, 2]
    found.drop_vars("loading").to_netcdf(tmp_path / "found.nc", engine="h5netcdf")  # it has a NUL


def test_the_table_of_loadings_has_them():
    table = tp.io.tidy_tables(hand_made(labels=LABELS))["loadings"]
    assert list(table.columns) == ["rows", "component", "loading", "sex", "age", "loading_", "component_"]
    assert table["sex"].fillna("").tolist() == ["f", "f", "", ""]


def test_the_page_has_associations_with_them():
    rng = np.random.default_rng(0)
    group = np.repeat(["a", "b"], 10)
    A = rng.normal(size=(20, 2)) + 5 * (group == "b")[:, None] * [1, 0]
    A[:, 1] = 0.0
    page = payload(hand_made(I=20, A=A, labels=Labels(attributes={"g": group})), title="T", about={})
    first, second = page["associations"]["lines"]
    assert (first["component"], first["attribute"], first["high"]) == (1, "g", "b")
    assert first["p_corrected"] < 0.01
    assert second["p"] is None  # it vanished
    assert "not a cause" in page["associations"]["note"]
    assert payload(hand_made(), title="T", about={})["associations"] is None
    json.dumps(page, allow_nan=False)


def test_the_page_has_them():
    page = payload(hand_made(labels=LABELS).rename({1: "Ice"}), title="T", about={})
    assert page["rows"]["attributes"]["sex"] == ["f", None]
    assert page["rows"]["attributes"]["age"] == [3.0, None]
    assert [one["name"] for one in page["components"]] == ["Ice", ""]
    assert page["components"][0]["rows"][0]["label"] in ("Ann", "Bo")
    assert len(page["components"][0]["stations"]) == 3
