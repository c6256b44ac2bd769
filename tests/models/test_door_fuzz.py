"""Inputs of all kinds end in an answer that can be confirmed, or in a sentence; `make fuzz` tries more."""

import importlib
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))
door = importlib.import_module("door")


@pytest.mark.parametrize("part", range(4))
def test_every_input_ends_in_an_answer_or_a_sentence(part):
    counts, failures = door.fuzz(2, range(75 * part, 75 * (part + 1)))
    assert not failures, "\n".join(failures)
    assert counts["answer"] > 10
    assert counts["ValueError"] > 15


def test_a_wrong_objective_is_noticed(monkeypatch):
    monkeypatch.setattr(door.Seen, "total", lambda *args: 1.0)
    assert door.fuzz(2, range(20))[1]


def test_what_is_no_sentence_of_ours_is_noticed(monkeypatch):
    def broken(*args, **kwargs):
        return int("one")

    monkeypatch.setattr(door.tp.TParafac2, "fit", broken)
    monkeypatch.setattr(door, "MODELS", ["TParafac2"])
    counts, failures = door.fuzz(2, range(3))
    assert counts == {"failure": 3}
    assert "--seed 2 --only 0" in failures[0]
