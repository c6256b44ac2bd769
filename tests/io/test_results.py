import json
import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from banded import banded
from chosen import a_choice, interrupted
from hand_made import hand_made

import tparafac2 as tp
from tparafac2.io import check_folder, tidy_tables, write_results
from tparafac2.result import Trust

pytestmark = pytest.mark.slow

FILES = [
    "distinctive.csv",
    "loadings.csv",
    "log.json",
    "model.npz",
    "patterns.csv",
    "report.html",
    "starts.csv",
    "strengths.csv",
]


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


@pytest.fixture(scope="module")
def whole(model, tmp_path_factory):
    """A folder with figures, which take a while."""
    place = tmp_path_factory.mktemp("whole")
    return write_results(model, place / "out", about={"data": "made up"}, figures=("png", "svg"))


def test_the_folder_has_everything(model, whole):
    folder = whole
    assert names(folder) == sorted([*FILES, "figures"])
    assert names(folder.parent) == ["out"]
    again = tp.load(folder / "model.npz")
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
    with pytest.raises(FileExistsError, match=r"holds 'thesis.tex'"):
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


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("error", [OSError(5, os.strerror(5)), KeyboardInterrupt()])
def test_old_results_come_back_if_new_ones_cannot_take_their_place(model, tmp_path, monkeypatch, error):
    folder = write_results(model, tmp_path / "out", figures=())
    before = contents(folder)
    rename = os.rename

    def fail(source, target):
        if os.path.basename(source) == "new":
            raise error
        rename(source, target)

    monkeypatch.setattr(os, "rename", fail)
    with pytest.raises(type(error)):
        write_results(model, folder, figures=(), about={"second": True}, overwrite=True)
    assert contents(folder) == before
    assert names(tmp_path) == ["out"]


def test_a_link_stands_for_its_folder(model, tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "disk")
    assert write_results(model, tmp_path / "out", figures=()) == tmp_path / "out"
    assert (tmp_path / "out").is_symlink()
    assert names(tmp_path / "disk") == FILES


def test_a_disk_of_its_own_is_refused_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr(os.path, "ismount", lambda path: True)
    with pytest.raises(FileExistsError, match=r"give a folder in it, for example '.*/results'"):
        check_folder(tmp_path, overwrite=True)


def test_trouble_is_told_of_the_users_own_folder(model, tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise OSError(28, os.strerror(28), "/somewhere/.unfinished-x/new/report.html")

    monkeypatch.setattr("tparafac2.report.write_page", fail)
    with pytest.raises(OSError, match="No space") as caught:
        write_results(model, tmp_path / "out", figures=())
    assert caught.value.filename == str(tmp_path / "out")


def test_labels_named_as_our_columns_are_kept():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        [
            {"component": f"r{i}", "weight": f"c{j}", "strength": k, "v": rng.random()}
            for i in range(4)
            for j in range(3)
            for k in range(3)
        ]
    )
    table = tp.Table(frame, rows="component", columns="weight", time="strength", values="v")
    tables = tidy_tables(tp.CP(1, n_starts=1, random_state=0).fit(table).result_)
    assert list(tables["loadings"].columns) == ["component_", "component", "loading"]
    assert tables["loadings"]["component_"].tolist() == ["r0", "r1", "r2", "r3"]
    assert list(tables["patterns"].columns) == ["strength_", "weight_", "component", "weight"]
    assert tables["strengths"]["strength_"].tolist() == [0, 1, 2]


def test_what_is_no_fitted_model_is_refused(tmp_path):
    with pytest.raises(TypeError, match="must be a fitted model, such as TParafac2; got str"):
        write_results("model.npz", tmp_path / "out")
    with pytest.raises(ValueError, match="not fitted"):
        write_results(tp.CP(1), tmp_path / "out")
    assert names(tmp_path) == []


def test_one_kind_of_figure_needs_no_list(model, tmp_path, monkeypatch):
    monkeypatch.setattr("tparafac2.plots.save", lambda axes, path: path.touch())
    folder = write_results(model, tmp_path / "out", figures="svg")
    assert {path.suffix for path in (folder / "figures").iterdir()} == {".svg"}


CHOICE = ("choice.csv", "choice_settings.csv", "choice_components.csv")


@pytest.fixture(scope="module")
def chosen(model):
    """The same model as if its settings had been chosen."""
    trust = Trust(replicability=[0.97, 0.5], alone=[0.9, 0.6], verdict=["replicable", "there"])
    other = tp.TParafac2(2)
    other._take(replace(model.result_, trust=trust, choice=a_choice()))
    return other


def test_what_the_data_chose_is_in_tables_and_a_figure(chosen, tmp_path):
    folder = write_results(chosen, tmp_path / "out", figures="svg")
    assert set(names(folder)) == {*FILES, "figures", "components.csv", *CHOICE}
    assert "choice.svg" in names(folder / "figures")
    assert pd.read_csv(folder / "choice.csv")["error"].tolist() == a_choice()["ranks"]["error"]
    tried = pd.read_csv(folder / "choice_settings.csv")
    assert tried["rigidity"].tolist() == a_choice()["tried"]["rigidity"]
    assert pd.read_csv(folder / "choice_components.csv").shape == (6, 8)
    components = pd.read_csv(folder / "components.csv")
    assert list(components.columns) == ["component", "share", "replicability", "alone", "verdict"]
    assert components["verdict"].tolist() == ["replicable", "there"]
    assert check_folder(folder, overwrite=True) == folder  # all of it is known to be ours


def test_what_an_interrupted_choice_did_not_measure_has_no_table(chosen):
    result = replace(chosen.result_, trust=Trust(z=1.0), choice=interrupted())
    assert not {"components", "choice_components"} & set(tidy_tables(result))
    assert len(tidy_tables(result)["choice"]) == 3


def test_tables_have_the_ends_of_bands():
    result = banded()
    tables = tidy_tables(result)
    strengths = tables["strengths"]
    np.testing.assert_allclose(strengths["upper"] - strengths["strength"], 0.05)
    np.testing.assert_allclose(tables["patterns"]["weight"] - tables["patterns"]["lower"], 0.05)
    np.testing.assert_allclose(tables["loadings"]["upper"] - tables["loadings"]["lower"], 0.1)
    moves = tables["moves"]
    assert set(moves["move"]) == {"rise", "fall"}
    assert len(moves) == 2 * 4 * 2
    assert ((moves["lower"] <= 0) & (moves["upper"] >= 0)).tolist() == moves["includes_zero"].tolist()
    assert tables["contrasts"]["change"].tolist() == [0.1]
    plain = tidy_tables(hand_made())
    assert "moves" not in plain
    assert "lower" not in plain["patterns"]
