"""What is not given the data choose: what is said of it, written, kept, and refused before any work."""

import json
import signal

import numpy as np
import pandas as pd
import pytest
from commands import run

import tparafac2 as tp
from tparafac2.choosing.workers import Workers

pytestmark = pytest.mark.slow

NAMES = ["--rows", "who", "--columns", "word", "--time", "year", "--values", "n"]
LITTLE = ["--starts", "2", "--jobs", "1"]
BARE = ["--figures", "none"]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    X = tp.synthetic.easy(seed=1, noise=0.2, n_times=5, n_rows=24, n_columns=16, n_concepts=2).X
    k, i, j = (grid.ravel() for grid in np.indices(X.shape))
    frame = pd.DataFrame({"year": 2000 + k, "who": i, "word": j, "n": X.ravel()})
    path = tmp_path_factory.mktemp("choose") / "words.csv"
    frame.assign(sex=np.where(i % 2, "f", "m"), season=k % 2).to_csv(path, index=False)
    babies = pd.DataFrame({"baby": range(24), "pair": np.arange(24) // 2})
    babies.to_csv(path.with_name("babies.csv"), index=False)
    babies[3:].to_csv(path.with_name("fewer.csv"), index=False)
    return path


@pytest.fixture(scope="module")
def chosen(table):
    """Everything chosen, from few settings."""
    few = ["--ranks", "1-2", "--smoothness", "1e-3", "--rigidity", "inf", "--stratify", "sex"]
    return run("fit", table, *NAMES, *LITTLE, *BARE, *few)


def test_what_was_chosen_is_said_before_the_model(chosen, table):
    assert chosen.exit_code == 0, chosen.stderr
    assert "Chosen: tPARAFAC2, rank 2, smoothness 0.001" in chosen.stdout
    assert chosen.stdout.index("Chosen:") < chosen.stdout.index("TParafac2: 24 who")
    folder = table.with_name("words-chosen")
    assert {"choice.csv", "components.csv"} <= {path.name for path in folder.iterdir()}


def test_a_rank_leaves_the_rest_to_the_data(table, tmp_path):
    asked = ["--rank", "2", "--rigidity", "inf", "--out", tmp_path / "out", "--json"]
    ended = run("fit", table, *NAMES, *LITTLE, *BARE, *asked)
    assert ended.exit_code == 0, ended.stderr
    found = json.loads(ended.stdout, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert found["choice"]["chosen"]["rank"] == 2
    assert found["choice"]["chosen"]["rigidity"] is None
    assert found["choice"]["sentences"][0].endswith("(the only rank that was tried).")
    assert len(found["trust"]["replicability"]) == 2


def test_with_rank_and_smoothness_nothing_is_chosen(table, tmp_path, monkeypatch):
    monkeypatch.setattr("tparafac2.choosing.choose", lambda *given, **more: pytest.fail("it was chosen"))
    said = ["--rank", "2", "--smoothness", "1e-3", "--rigidity", "1", "--starts", "1", "--max-iter", "20"]
    assert run("fit", table, *NAMES, *said, *BARE, "--out", tmp_path / "out").exit_code == 0
    plain = ["--rank", "2", "--model", "cp", "--starts", "1"]
    assert run("fit", table, *NAMES, *plain, *BARE, "--out", tmp_path / "cp").exit_code == 0
    assert tp.load(tmp_path / "out" / "model.npz").result_.choice is None


def test_choose_prints_the_table_of_ranks(table, tmp_path):
    few = ["--ranks", "1,2", "--smoothness", "1e-3,1e-2", "--rigidity", "inf", "--groups"]
    few += [f"{table.with_name('babies.csv')}:pair"]
    ended = run("choose", table, *NAMES, *LITTLE, *few, "--figures", "svg", "--out", tmp_path / "out")
    assert ended.exit_code == 0, ended.stderr
    assert [line[:1] for line in ended.stdout.splitlines()[:3]] == [" ", " ", "*"]
    assert (tmp_path / "out" / "figures" / "choice.svg").exists()
    assert tp.load(tmp_path / "out" / "model.npz").result_.choice["groups"] == 12


def test_the_first_ctrl_c_gives_the_best_so_far(table, tmp_path, monkeypatch):
    done = Workers.do

    def interrupted_in_the_halves(self, work, pieces):
        if work.__name__ == "compare_halves":
            signal.raise_signal(signal.SIGINT)
        return done(self, work, pieces)

    monkeypatch.setattr(Workers, "do", interrupted_in_the_halves)
    few = ["--ranks", "1-2", "--smoothness", "1e-3", "--rigidity", "inf", "--out", tmp_path / "out"]
    ended = run("fit", table, *NAMES, *LITTLE, *BARE, *few)
    assert ended.exit_code == 130, ended.output
    assert "it was interrupted" in ended.stdout
    assert "has the best that was found so far" in ended.stderr
    again = run("fit", table, *NAMES, *LITTLE, *BARE, *few, "--overwrite")
    assert "nothing was written" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--rank", "2", "--ranks", "1-3"], 3, "--rank 2 is taken as it is, and --ranks are to be tried"),
        (["--ranks", "x"], 2, "write the ranks to try as 1-6, or as 1,2,4"),
        (["--ranks", "4-2"], 2, "write the ranks to try as 1-6, or as 1,2,4"),
        (["--ranks", "1-1000000000"], 2, "too many ranks"),
        (["--ranks", "0-2"], 3, "--ranks must be at least 1"),
        (["--rank", "0"], 3, "--rank must be at least 1"),
        (["--ranks", "1-13"], 3, "--ranks go up to 13, but halves of 24 rows"),
        (["--rank", "13"], 3, "halves of 24 rows with 16 columns can tell at most 12 components"),
        (["--groups", "size"], 3, "--groups: 'size' is not a column of 'words.csv'"),
        (["--groups", "season"], 3, "line 386: the row '0' is in '1', but before in '0'"),
        (["--groups", "BABIES"], 3, "does not say which column of which table"),
        (["--groups", "FEWER:pair"], 3, "--groups has nothing for 3 of 24 rows: 0, 1, 2"),
        (["--model", "cp"], 3, "--model cp needs --rank"),
        (["--model", "cp", "--rank", "2", "--groups", "sex"], 3, "--groups is for what the data choose"),
        (["--rank", "2", "--smoothness", "1", "--compare"], 3, "--compare is for what the data choose"),
        (["--to", "2001"], 3, "from 3 times on; got 2. Give --rank and --smoothness, or use --model cp."),
        (["--where", "who<3"], 3, "all zero on; got 3"),
    ],
)
def test_what_cannot_be_chosen_from_is_refused(table, tmp_path, arguments, code, said):
    files = {"BABIES": "babies.csv", "FEWER:pair": "fewer.csv:pair"}
    arguments = [str(table.with_name(files[one])) if one in files else one for one in arguments]
    ended = run("fit", table, *NAMES, *BARE, "--jobs", "1", *arguments, "--out", tmp_path / "out")
    assert ended.exit_code == code, ended.output
    assert said in " ".join(ended.stderr.replace("│", " ").split())
    assert not (tmp_path / "out").exists()


def test_groups_from_an_array_beside_the_data(table, tmp_path):
    X = tp.synthetic.easy(seed=1, noise=0.2, n_times=4, n_rows=12, n_columns=10, n_concepts=1).X
    np.savez(tmp_path / "x.npz", X=X, diet=["milk", "rice", "rice"] * 4)
    few = ["--ranks", "1", "--smoothness", "1e-3", "--rigidity", "inf", "--axes", "time,rows,columns"]
    ended = run("choose", tmp_path / "x.npz", *LITTLE, *few, "--stratify", "diet", "--json")
    assert ended.exit_code == 0, ended.stderr
    assert json.loads(ended.stdout)["choice"]["chosen"]["rank"] == 1
    other = run("choose", tmp_path / "x.npz", *LITTLE, *few, "--groups", "sex")
    assert "--groups: 'sex' is not an array of 'x.npz' that could group rows" in other.stderr
