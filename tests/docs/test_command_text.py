"""The reference of the command line has every command and option, because it is made from them."""

import importlib.util
from enum import IntEnum
from pathlib import Path
from typing import Annotated, Literal

import pytest
import typer

from tparafac2.cli.app import app
from tparafac2.cli.errors import MEANINGS

SOURCE = Path(__file__).parents[2] / "docs" / "_extensions" / "command_text.py"
SPEC = importlib.util.spec_from_file_location("command_text", SOURCE)
command_text = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(command_text)

PARTS = {part.anchor: part for part in command_text.describe_app(app, "tparafac2", MEANINGS)}
PROGRAM = typer.main.get_command(app)
CONTEXT = PROGRAM.make_context("tparafac2", [], resilient_parsing=True)
COMMANDS = {name: PROGRAM.get_command(CONTEXT, name) for name in PROGRAM.list_commands(CONTEXT)}


def rows(text):
    """Give the cells of all tables, by their first cell."""
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    return {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in lines}


def test_there_are_commands():
    assert {"fit", "compare", "info", "report", "demo"} <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_its_part(name):
    part = PARTS[f"command-{name}"]
    assert part.title == f"tparafac2 {name}"
    assert COMMANDS[name].help.split("\n")[0].split("(")[0] in part.text
    assert f"tparafac2 {name} [OPTIONS]" in part.text
    assert f"[{name}](#command-{name})" in PARTS["commands"].text


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_in_a_table(name):
    table = rows(PARTS[f"command-{name}"].text)
    for one in COMMANDS[name].get_params(CONTEXT):
        names = [one.metavar] if one.param_type_name == "argument" else sorted(one.opts, key=len)[::-1]
        assert ", ".join(f"`{spelling}`" for spelling in names) in table


@pytest.mark.parametrize("name", COMMANDS)
def test_every_example_is_there(name):
    examples = [line.strip() for line in COMMANDS[name].epilog.splitlines() if line.startswith("  ")]
    assert examples
    for example in examples:
        assert f"\n{example}\n" in PARTS[f"command-{name}"].text


def test_the_options_of_the_program_itself():
    assert {"`--version`", "`--traceback`", "`--help`, `-h`"} <= set(rows(PARTS["program-options"].text))


def test_every_exit_code():
    assert {f"`{int(code)}`" for code in MEANINGS} <= set(rows(PARTS["exit-codes"].text))
    assert all(meaning in PARTS["exit-codes"].text for meaning in MEANINGS.values())


# --- what a table says --------------------------------------------------------------------------------------


class Code(IntEnum):
    FINE = 0


def greet(
    who: Annotated[str, typer.Argument(help="Whom | to *greet*.")],
    times: Annotated[int, typer.Option(help="How often.", rich_help_panel="Manners")] = 2,
    tone: Annotated[Literal["warm", "cool"], typer.Option(help="Voice.")] = "warm",
    word: Annotated[list[str] | None, typer.Option(help="A word.", show_default="hello")] = None,
    sign: Annotated[str, typer.Option(metavar="NAME", help="Signed.")] = ...,
    loud: Annotated[bool, typer.Option("--loud", help="Loudly.")] = False,
    secret: Annotated[bool, typer.Option("--secret", hidden=True)] = False,
) -> None:
    """Say hello."""


@pytest.fixture(scope="module")
def greeting():
    toy = typer.Typer(add_completion=False)
    toy.command("greet", epilog="Example:\n  toy greet Ann\n\nThen, in Python:\n  greet()\n")(greet)
    toy.command("other", help="Nothing.")(lambda: None)
    parts = command_text.describe_app(toy, "toy", {Code.FINE: "fine"})
    return next(part.text for part in parts if part.anchor == "command-greet")


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ("`--times`", ["How often.", "whole number", "`2`"]),
        ("`--tone`", ["Voice.", "`warm`, `cool`", "`warm`"]),
        ("`--word`", ["A word.", "text, repeatable", "`hello`"]),
        ("`--sign`", ["Signed.", "`NAME`", "required"]),
        ("`--loud`", ["Loudly."]),
    ],
)
def test_a_row_says_what_an_option_takes(greeting, row, cells):
    assert [cell for cell in rows(greeting)[row] if cell] == cells


def test_options_stand_under_their_panel(greeting):
    assert greeting.index("**Options**") < greeting.index("`--tone`") < greeting.index("**Manners**")
    assert greeting.index("**Manners**") < greeting.index("`--times`")


def test_what_is_hidden_stays_hidden(greeting):
    assert "--secret" not in greeting


def test_text_is_no_markup(greeting):
    assert r"Whom \| to \*greet\*." in greeting


def test_examples_are_code_of_their_language(greeting):
    assert "Example:\n\n```shell\ntoy greet Ann\n```" in greeting
    assert "Then, in Python:\n\n```python\ngreet()\n```" in greeting
