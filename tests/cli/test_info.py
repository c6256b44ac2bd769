"""What ``tparafac2 info`` prints."""

import gzip
import json
from functools import partial

import commands
import numpy as np
import pytest

import tparafac2 as tp
from tparafac2.cli.errors import ExitCode

info = partial(commands.run, "info")


def test_a_table_in_words_and_as_json(tmp_path):
    (tmp_path / "T.CSV").write_bytes("land;n\nNA;007\nDE;042\n".encode("utf-16"))
    run = info(tmp_path / "T.CSV")
    assert run.exit_code == ExitCode.FINE, run.stderr
    assert run.stdout.splitlines()[1:] == [
        "  land: text, 2 different, for example 'NA', 'DE'",
        "  n: numbers as values, text as labels, 2 different, for example '007', '042'",
    ]
    found = json.loads(info(tmp_path / "T.CSV", "--json").stdout)
    assert list(found["contents"]) == ["land", "n"]
    assert found["file"].endswith("T.CSV")


def test_no_control_characters_reach_the_terminal(tmp_path):
    (tmp_path / "t.csv").write_text("a\x1b[31m,b\u202e\nx\x1b]0;title\x07,y\x9b\n")
    np.savez(tmp_path / "x.npz", **{"X\x1b[31m": np.ones(2)})
    for name in ("t.csv", "x.npz"):
        for more in ([], ["--json"]):
            run = info(tmp_path / name, *more)
            assert run.exit_code == ExitCode.FINE, run.stderr
            assert all(letter.isprintable() or letter == "\n" for letter in run.stdout)


@pytest.mark.parametrize("name", ["model.nc", "t.csv.gz", "x.npz"])
def test_damaged_files(tmp_path, name):
    path = tmp_path / name
    X = np.random.default_rng(0).random((3, 20, 20))
    if name == "model.nc":
        tp.CP(1, n_starts=1, random_state=0).fit(X).save(path)
    elif name == "x.npz":
        np.savez(path, X=X)
    else:
        path.write_bytes(gzip.compress(("a,b\n" + "".join(f"{x},1\n" for x in X.ravel())).encode()))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    run = info(path)
    assert run.exit_code == ExitCode.SETTINGS
    assert "damaged" in run.stderr
    assert "Traceback" not in run.stderr
    assert run.stdout == ""
