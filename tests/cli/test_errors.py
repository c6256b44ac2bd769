"""Failures as sentences: what the user reads, the exit code, and no traceback unless asked for."""

import errno
import json
import os
import warnings
from collections.abc import Sequence
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from tparafac2.cli.errors import MEANINGS, ExitCode, PlainSpoken, Terminated, explain
from tparafac2.errors import InvalidValue
from tparafac2.words import Setting

RUNNER = CliRunner(env={"COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1"})


def os_error(number: int, filename: str | None = "data.nc") -> OSError:
    return OSError(number, os.strerror(number), filename)


def run(error: BaseException, *options: str, arguments: Sequence[str] = ()):
    app = typer.Typer(cls=PlainSpoken, add_completion=False)

    @app.callback()
    def main(traceback: bool = False) -> None: ...

    @app.command()
    def fail(as_json: Annotated[bool, typer.Option("--json")] = False, rows: str = "") -> None:
        raise error

    return RUNNER.invoke(app, [*options, "fail", *arguments])


CASES = [
    (ValueError("rank is 0."), 3, "rank is 0."),
    (ValueError(), 3, "ValueError without a word."),
    (TypeError("X is a dict."), 3, "X is a dict."),
    (MemoryError("X needs 5 TB."), 3, "X needs 5 TB."),
    (MemoryError(), 3, "there is not enough memory: use smaller data."),
    (FileExistsError("'a.nc' exists."), 4, "'a.nc' exists."),
    (os_error(errno.ENOENT), 4, "there is no file or folder 'data.nc': check the path."),
    (os_error(errno.EACCES), 4, "no permission to read or write 'data.nc': choose another place, "),
    (os_error(errno.ENOSPC), 4, "there is no space left for 'data.nc': free some, "),
    (os_error(errno.ENOSPC, None), 4, "there is no space left for the file: free some, "),
    (os_error(errno.EDQUOT), 4, "there is no space left for 'data.nc': free some, "),
    (os_error(errno.EIO), 4, f"{os.strerror(errno.EIO)}: 'data.nc'."),
    (ImportError("figures need matplotlib."), 1, "figures need matplotlib."),
    (KeyboardInterrupt(), 130, "interrupted."),
    (KeyboardInterrupt("interrupted: nothing was written."), 130, "interrupted: nothing was written."),
    (Terminated(), 143, "terminated."),
]


@pytest.mark.parametrize(("error", "code", "sentence"), CASES, ids=lambda value: repr(value)[:40])
def test_a_foreseeable_failure_is_a_sentence(error, code, sentence) -> None:
    told, expected_code = explain(error)
    assert told.startswith(sentence)
    assert expected_code == code
    ended = run(error)
    assert (ended.exit_code, ended.stdout, ended.stderr) == (code, "", f"Error: {told}\n")


@pytest.mark.parametrize(("error", "code", "sentence"), CASES, ids=lambda value: repr(value)[:40])
def test_a_failure_is_json_where_json_was_asked_for(error, code, sentence) -> None:
    ended = run(error, arguments=["--json"])
    assert json.loads(ended.stdout) == {"error": explain(error)[0], "exit_code": code}
    assert (ended.exit_code, ended.stderr) == (code, run(error).stderr)


def test_wrong_usage_and_mistakes_of_ours_are_json_too() -> None:
    ended = run(ValueError(), arguments=["--json", "--colour"])
    assert ended.exit_code == ExitCode.USAGE
    assert json.loads(ended.stdout)["exit_code"] == ExitCode.USAGE
    assert "--colour" in json.loads(ended.stdout)["error"]
    assert "--help" in ended.stderr
    mistake = RuntimeError("a mistake")
    ended = run(mistake, arguments=["--json"])
    assert ended.exception is mistake
    assert json.loads(ended.stdout) == {"error": "RuntimeError: a mistake", "exit_code": 1}


def test_a_value_is_no_question_for_json() -> None:
    assert run(ValueError("bad"), arguments=["--", "--json"]).stdout == ""


def test_sentences_speak_in_flags_of_the_command() -> None:
    error = InvalidValue(Setting("rows", "a"), " and ", Setting("cows", "b"))
    assert run(error).stderr == "Error: --rows a and cows='b'\n"
    assert run(ValueError("rows='a'")).stderr == "Error: rows='a'\n"  # nothing is read out of sentences


def test_a_sentence_is_printed_as_it_is() -> None:
    long = "[bold]not markup[/bold] :smile: " + "word " * 50 + "'/a/path/with a space.nc'."
    assert run(ValueError(long)).stderr == f"Error: {long}\n"


@pytest.mark.parametrize("error", [ValueError("bad"), os_error(errno.EACCES)])
def test_a_traceback_is_shown_if_asked_for(error) -> None:
    assert run(error, "--traceback").exception is error


@pytest.mark.parametrize("error", [RuntimeError("a mistake"), KeyError("a mistake")])
def test_a_mistake_of_ours_is_not_disguised(error) -> None:
    ended = run(error)
    assert ended.exception is error
    assert ended.exit_code == ExitCode.UNEXPECTED


def test_a_reader_that_left_is_not_told_about_it() -> None:
    ended = run(BrokenPipeError(errno.EPIPE, "Broken pipe"))
    assert (ended.exit_code, ended.stderr) == (1, "")


@pytest.mark.parametrize("code", [0, 7])
def test_an_exit_on_purpose_passes(code: int) -> None:
    assert run(typer.Exit(code)).exit_code == code


def test_wrong_usage_stays_with_typer() -> None:
    ended = run(typer.BadParameter("no good", param_hint="--rank"))
    assert ended.exit_code == ExitCode.USAGE
    assert "Invalid value for --rank: no good" in ended.stderr


def test_every_code_has_a_meaning() -> None:
    assert list(MEANINGS) == list(ExitCode)
    assert len(set(MEANINGS.values())) == len(MEANINGS)


def test_warnings_are_sentences_each_once() -> None:
    app = typer.Typer(cls=PlainSpoken, add_completion=False)

    @app.callback()
    def main() -> None: ...

    @app.command()
    def warn() -> None:
        for sentence in ("Not converged.", "Glyph 1 missing", "Glyph 2 missing", "Not converged."):
            warnings.warn(sentence, UserWarning, stacklevel=1)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        before = warnings.showwarning
        ended = RUNNER.invoke(app, ["warn"])
        assert warnings.showwarning is before
    first, second = ended.stderr.splitlines()
    assert first == "Warning: Not converged."
    assert second.startswith("Warning: some letters of the labels are not in the font")
