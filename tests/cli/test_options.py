"""Options shared by commands: shapes, and commands whose options are the fields of a dataclass."""

import re
from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from hypothesis import example, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from tparafac2.cli.options import PAPER_SHAPE, Shape, ShapeOption, parse_shape, takes
from tparafac2.synthetic.cases import PAPER_SHAPE as SHAPE_OF_THE_GENERATOR

RUNNER = CliRunner(env={"COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1"})
SIZES = st.integers(1, 10**18 - 1)


@given(st.tuples(SIZES, SIZES, SIZES), st.sampled_from("xX×"), st.sampled_from(["", " ", "  "]))
def test_shapes_are_read(sizes, times, space) -> None:
    assert parse_shape(f"{space}{times}{space}".join(map(str, sizes))) == sizes


@given(st.tuples(SIZES, SIZES, SIZES))
def test_a_shape_is_written_as_it_is_read(sizes) -> None:
    assert parse_shape(str(Shape(*sizes))) == sizes
    assert parse_shape(Shape(*sizes)) == sizes  # as a default comes


@given(st.text() | st.text("0123456789xX× -+.,_e٣", max_size=12))
@example("150x100")
@example("150x100x20x3")
@example("150x100x0")
@example("-1x2x3")
@example("1.0x2x3")
@example("1_0x2x3")
@example("٣x٣x٣")
@example("1x2x" + "9" * 5000)
@example("1x2x3\n4")
def test_all_else_is_refused_with_an_example(text: str) -> None:
    parts = [part.strip() for part in re.split("[xX×]", text)]
    plain = all(part.isascii() and part.isdigit() and len(part) <= 18 for part in parts)
    if len(parts) == 3 and plain and 0 not in map(int, parts):
        assert parse_shape(text) == tuple(map(int, parts))
    else:
        with pytest.raises(typer.BadParameter, match=r"is not a shape: .* such as 150x100x20") as refusal:
            parse_shape(text)
        assert repr(text) in refusal.value.message


def test_the_default_is_that_of_the_generator() -> None:
    assert PAPER_SHAPE == SHAPE_OF_THE_GENERATOR


@dataclass(frozen=True)
class Order:
    """Nine options, more than a function may have."""

    dish: str
    guests: Annotated[int, typer.Option("--for", help="How many eat.")] = 2
    shape: ShapeOption = PAPER_SHAPE
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
    run = RUNNER.invoke(APP, ["soup", "--for", "3", "--shape", "4x5x6", "--f", "0.5", "--c"])
    assert run.exit_code == 0, run.output
    assert run.stdout.strip() == repr(Order("soup", 3, Shape(4, 5, 6), c=True, f=0.5))


def test_defaults_are_those_of_the_dataclass() -> None:
    assert RUNNER.invoke(APP, ["soup"]).stdout.strip() == repr(Order("soup"))


def test_the_command_keeps_its_name_and_help() -> None:
    assert cook.__name__ == "cook"
    shown = RUNNER.invoke(APP, ["--help"]).stdout
    assert "Cook what was ordered." in shown
    assert "How many eat." in shown
    assert "150x100x20" in shown


def test_a_bad_shape_is_wrong_usage() -> None:
    run = RUNNER.invoke(APP, ["soup", "--shape", "4x5"])
    assert run.exit_code == 2
    assert "'--shape'" in run.stderr
    assert "'4x5' is not a shape" in run.stderr
