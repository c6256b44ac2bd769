"""What a user has in a folder of results is never lost."""

import json
import shutil
from pathlib import Path

import pytest

import tparafac2 as tp


@pytest.fixture(scope="module")
def model():
    X = tp.synthetic.easy(seed=0, n_times=5, n_rows=12, n_columns=18).X
    return tp.CP(2, n_starts=1, random_state=0).fit(X)


@pytest.fixture(scope="module")
def written(model, tmp_path_factory):
    """A folder of results with a figure, as later runs find it."""
    place = tmp_path_factory.mktemp("written")
    return tp.io.write_results(model, place / "out", figures="svg", models={"other": model})


@pytest.fixture
def folder(written, tmp_path):
    return Path(shutil.copytree(written, tmp_path / "out"))


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def put(folder, name, text="precious"):
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text)


def link(folder):
    place = folder / "loadings.csv"
    shutil.move(place, folder.parent / "mine.csv")
    place.symlink_to(folder.parent / "mine.csv")


HARMED = {
    "an edited table": lambda folder: put(folder, "loadings.csv"),
    "one more line": lambda folder: put(folder, "loadings.csv", (folder / "loadings.csv").read_text() + "1"),
    "an edited log": lambda folder: put(
        folder, "log.json", (folder / "log.json").read_text().replace('"about"', '"my notes"')
    ),
    "another log": lambda folder: put(folder, "log.json", json.dumps({"files": {}})),
    "no log": lambda folder: (folder / "log.json").unlink(),
    "an edited figure": lambda folder: put(folder, "figures/strengths.svg"),
    "a model of another run": lambda folder: shutil.copy(folder / "model.npz", folder / "models/2-mine.npz"),
    "a table as other runs write": lambda folder: put(folder, "choice.csv"),
    "a figure as other runs write": lambda folder: put(folder, "figures/pattern-9.png"),
    "a folder": lambda folder: put(folder, "thesis/text.tex"),
    "an empty folder": lambda folder: (folder / "thesis").mkdir(),
    "a link": link,
}


@pytest.mark.parametrize("harm", HARMED.values(), ids=HARMED)
def test_what_a_user_did_to_a_folder_is_never_lost(model, folder, harm):
    harm(folder)
    before = contents(folder)
    with pytest.raises(FileExistsError) as caught:
        tp.io.write_results(model, folder, overwrite=True, figures=())
    assert caught.value.argument == "overwrite"
    assert contents(folder) == before


@pytest.mark.parametrize("name", ["log.json", "loadings.csv", "model.npz", "comparison.csv"])
def test_a_file_that_is_only_called_like_one_of_ours_is_never_lost(model, tmp_path, name):
    put(tmp_path / "mine", name, "file\nloadings.csv\n")
    with pytest.raises(FileExistsError) as caught:
        tp.io.write_results(model, tmp_path / "mine", overwrite=True, figures=())
    assert repr(name) in str(caught.value)
    assert (tmp_path / "mine" / name).read_text() == "file\nloadings.csv\n"


def test_what_was_written_is_replaced_again_and_again(model, folder):
    (folder / "starts.csv").unlink()
    for _ in range(2):
        tp.io.write_results(model, folder, overwrite=True, figures=())
    assert tp.load(folder / "model.npz").objective_ == model.objective_
    assert not (folder / "figures").exists()
    assert [path.name for path in folder.parent.iterdir()] == ["out"]
