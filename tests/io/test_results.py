import json
import os

import numpy as np
import pandas as pd
import pytest

import tparafac2 as tp
from tparafac2.io.results import check_folder, tidy_tables, write_results

FILES = ["loadings.csv", "log.json", "model.nc", "patterns.csv", "report.html", "starts.csv", "strengths.csv"]


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    n = 400
    frame = pd.DataFrame(
        {
            "year": rng.integers(2000, 2005, n),
            "who": rng.choice(["Ann", "Bo, \"the\" one", "Çelik"], n),
            "word": rng.choice(["x", "<img src=x>", "日本", "d", "e"], n),
        }
    )  # fmt: skip
    table = tp.Table(frame, rows="who", columns="word", time="year", duplicates="sum")
    return tp.TParafac2(2, n_starts=2, random_state=0).fit(table)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_folder_has_everything(model, tmp_path):
    folder = write_results(model, tmp_path / "out", about={"data": "made up"}, figures=("png", "svg"))
    assert names(folder) == sorted([*FILES, "figures"])
    assert names(tmp_path) == ["out"]
    again = tp.load(folder / "model.nc")
    np.testing.assert_array_equal(again.B_, model.B_)
    log = json.loads((folder / "log.json").read_text())
    assert log["about"] == {"data": "made up"}
    assert log["random_state"] == 0
    figures = names(folder / "figures")
    assert {"strengths.png", "pattern-1.png", "movers-2.svg", "loadings-2.png", "convergence.svg"} <= set(
        figures
    )


def test_tables_are_tidy_and_have_the_labels(model, tmp_path):
    folder = write_results(model, tmp_path / "out", figures=())
    view = model.normalised()
    patterns = pd.read_csv(folder / "patterns.csv")
    assert list(patterns.columns) == ["year", "word", "component", "weight"]
    labels = model.result_.labels
    one = patterns[(patterns.year == 2002) & (patterns.word == "<img src=x>") & (patterns.component == 2)]
    k, j = labels.time.tolist().index(2002), labels.columns.tolist().index("<img src=x>")
    assert one.weight.item() == pytest.approx(view.B[k, j, 1])
    loadings = pd.read_csv(folder / "loadings.csv")
    assert set(loadings["who"]) == {"Ann", 'Bo, "the" one', "Çelik"}
    strengths = pd.read_csv(folder / "strengths.csv")
    assert strengths.strength.to_numpy() == pytest.approx(np.asarray(view.C).ravel())


def test_existing_folders_are_safe(model, tmp_path):
    folder = write_results(model, tmp_path / "out", figures=())
    before = (folder / "log.json").read_bytes()
    with pytest.raises(FileExistsError, match="exists: choose another"):
        write_results(model, folder, figures=())
    assert (folder / "log.json").read_bytes() == before
    write_results(model, folder, figures=(), about={"second": True}, overwrite=True)
    assert json.loads((folder / "log.json").read_text())["about"] == {"second": True}
    other = tmp_path / "thesis"
    other.mkdir()
    (other / "thesis.tex").write_text("precious")
    with pytest.raises(FileExistsError, match="was not made by this package"):
        write_results(model, other, overwrite=True)
    assert names(other) == ["thesis.tex"]
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError, match="is a file"):
        check_folder(tmp_path / "file", overwrite=True)


def test_an_empty_folder_will_do(model, tmp_path):
    (tmp_path / "out").mkdir()
    assert names(write_results(model, tmp_path / "out", figures=())) == FILES


def test_a_failure_leaves_nothing(model, tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise OSError(28, os.strerror(28), "report.html")

    monkeypatch.setattr("tparafac2.report.write_page", fail)
    with pytest.raises(OSError, match="No space"):
        write_results(model, tmp_path / "out", figures=())
    assert names(tmp_path) == []


def test_unknown_figures_are_refused(model, tmp_path):
    with pytest.raises(ValueError, match="png, pdf, svg; got 'gif'"):
        write_results(model, tmp_path / "out", figures=("gif",))


def test_ragged_patterns_have_their_own_columns():
    rng = np.random.default_rng(0)
    model = tp.Parafac2(1, n_starts=1, random_state=0).fit([rng.random((4, 3)), rng.random((4, 5))])
    assert tidy_tables(model.result_)["patterns"].groupby("time").size().tolist() == [3, 5]
