"""Names of components and attributes of rows, on the command line."""

import json

import numpy as np
import pandas as pd
import pytest
from commands import run

import tparafac2 as tp
from tparafac2.cli.errors import ExitCode

pytestmark = pytest.mark.slow

COMMON = ["--rows", "who", "--columns", "word", "--time", "year", "--values", "n", "--starts", "1"]
FAST = [*COMMON, "--max-iter", "50", "--rank", "2", "--smoothness", "1e-3", "--figures", "none"]


@pytest.fixture
def table(tmp_path):
    data = tp.synthetic.easy(seed=1, noise=0.1, n_times=5, n_rows=12, n_columns=14, n_concepts=2)
    k, i, j = (grid.ravel() for grid in np.meshgrid(*map(np.arange, data.X.shape), indexing="ij"))
    path = tmp_path / "words.csv"
    pd.DataFrame({"year": 2000 + k, "who": i, "word": j, "n": np.abs(data.X.ravel())}).to_csv(
        path, index=False
    )
    return path


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    lines = [f"{sex},{who},{age}" for who, (sex, age) in enumerate(zip("fm" * 6, range(30, 42)))]
    path.write_text("\n".join(["sex,who,age", *lines[1:]]) + "\n")  # the first has none
    return path


def test_names_and_attributes_are_in_the_model_its_tables_and_its_page(table, people, tmp_path):
    out = tmp_path / "out"
    more = ["--row-attributes", people, "--names", 'Ice, "War, cold"', "--out", out]
    result = run("fit", table, *FAST, *more)
    assert result.exit_code == 0, result.stderr
    assert "component 2 (War, cold): " in result.stdout
    model = tp.load(out / "model.npz")
    assert model.result_.component_names == ("Ice", "War, cold")
    assert model.row_attributes_["sex"].fillna("").tolist() == ["", *"mf" * 5, "m"]
    assert model.row_attributes_["age"].tolist()[1:] == list(range(31, 42))
    loadings = pd.read_csv(out / "loadings.csv")
    assert list(loadings.columns) == ["who", "component", "name", "loading", "sex", "age"]
    associations = pd.read_csv(out / "associations.csv")
    assert set(zip(associations["name"], associations["attribute"])) >= {("Ice", "sex"), ("War, cold", "age")}
    assert pd.read_csv(out / "distinctive.csv").columns.tolist()[:4] == ["component", "name", "year", "rank"]
    assert "War, cold" in (out / "report.html").read_text()
    again = run("fit", table, *FAST, *more, "--overwrite", "--json")
    assert again.exit_code == 0, again.stderr
    assert json.loads(again.stdout)["folder"] == str(out)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("Ice", "--names must be 2, one for each component; got 1: 'Ice'"),
        ("Ice,Ice", "--names has 'Ice' more than once"),
        ("Ice,", "--names has an empty one"),
    ],
)
def test_bad_names_are_refused_before_the_fit(table, tmp_path, names, said):
    out = tmp_path / "out"
    result = run("fit", table, *FAST, "--names", names, "--out", out)
    assert result.exit_code == ExitCode.SETTINGS
    assert said in result.stderr
    assert not out.exists()


def test_what_the_data_choose_cannot_be_named_before(table):
    result = run("fit", table, *COMMON, "--names", "a,b")
    assert result.exit_code == ExitCode.SETTINGS
    assert "--names needs --rank" in result.stderr


def test_attributes_of_other_rows_are_refused_before_the_fit(table, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("who,sex\nZoe,f\n")
    result = run("fit", table, *FAST, "--row-attributes", other, "--out", tmp_path / "out")
    assert result.exit_code == ExitCode.SETTINGS
    assert "--row-attributes has no row of the data: it has 'Zoe'" in result.stderr
    missing = run("fit", table, *FAST, "--row-attributes", tmp_path / "none.csv", "--out", tmp_path / "out")
    assert missing.exit_code == ExitCode.FILES
    assert "none.csv" in missing.stderr


def test_labels_that_are_no_rows_are_named(table, people, tmp_path):
    people.write_text(people.read_text() + "f,99,50\n")
    result = run("fit", table, *FAST, "--row-attributes", people, "--out", tmp_path / "out")
    assert result.exit_code == 0
    assert "left out: 99" in result.stderr


def test_parquet_has_attributes_too(table, people, tmp_path):
    pytest.importorskip("pyarrow")
    stored = tmp_path / "people.parquet"
    pd.read_csv(people).to_parquet(stored)
    out = tmp_path / "out"
    result = run("fit", table, *FAST, "--row-attributes", stored, "--out", out)
    assert result.exit_code == 0, result.stderr
    assert tp.load(out / "model.npz").row_attributes_["age"].tolist()[1:] == list(range(31, 42))


def test_a_page_of_a_saved_model_can_have_names(small_data, tmp_path):
    model = tp.TParafac2(rank=2, n_starts=1, max_iter=50, random_state=0).fit(small_data.X)
    model.save(tmp_path / "model.npz")
    page = tmp_path / "named.html"
    assert run("report", tmp_path / "model.npz", "--out", page, "--names", "Ice,Sun").exit_code == 0
    assert '"name":"Sun"' in page.read_text()
    bad = run("report", tmp_path / "model.npz", "--out", tmp_path / "bad.html", "--names", "Ice")
    assert bad.exit_code == ExitCode.SETTINGS
    assert "--names must be 2" in bad.stderr
    assert not (tmp_path / "bad.html").exists()
