"""Commands whose options are the fields of a dataclass."""

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from tparafac2.cli.options import takes

RUNNER = CliRunner(env={"COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1"})


@dataclass(frozen=True)
class Order:
    """Nine options, more than a function may have."""

    dish: str
    guests: Annotated[int, typer.Option("--for", help="How many eat.")] = 2
    plates: Annotated[int, typer.Option(help="How many plates.")] = 4
    a: bool = False
    b: bool = False
    c: bool = False
    d: bool = False
    e: bool = False
    f: float | None = None


@takes(Order)
def cook(order: Order) -> None:
    """Cook what was ordered."""
    typer.echo(repr(order))


APP = typer.Typer(add_completion=False)
APP.command()(cook)


def test_a_command_takes_the_fields_of_a_dataclass() -> None:
    run = RUNNER.invoke(APP, ["soup", "--for", "3", "--plates", "6", "--f", "0.5", "--c"])
    assert run.exit_code == 0, run.output
    assert run.stdout.strip() == repr(Order("soup", 3, 6, c=True, f=0.5))


def test_defaults_are_those_of_the_dataclass() -> None:
    assert RUNNER.invoke(APP, ["soup"]).stdout.strip() == repr(Order("soup"))


def test_the_command_keeps_its_name_and_help() -> None:
    assert cook.__name__ == "cook"
    shown = RUNNER.invoke(APP, ["--help"]).stdout
    assert "Cook what was ordered." in shown
    assert "How many eat." in shown
    assert "How many plates." in shown
