"""What commands share: options gathered in a dataclass, and options of a kind of their own."""

import inspect
import os
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, get_type_hints

import typer

Options = TypeVar("Options")


def takes(options: Callable[..., Options]) -> Callable[[Callable[[Options], None]], Callable[..., None]]:
    """Turn a function of one dataclass into a command with an option for each of its fields.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from typing import Annotated
    >>> @dataclass
    ... class Greeting:
    ...     name: str
    ...     times: Annotated[int, typer.Option(help="How often.")] = 1
    >>> @takes(Greeting)
    ... def greet(greeting: Greeting) -> None:
    ...     typer.echo(f"Hello {greeting.name}! " * greeting.times)
    >>> list(inspect.signature(greet).parameters)
    ['name', 'times']
    >>> greet(name="Ann", times=2)
    Hello Ann! Hello Ann!
    """

    def decorate(command: Callable[[Options], None]) -> Callable[..., None]:
        @wraps(command)
        def run(**given: object) -> None:
            command(options(**given))

        # typer reads the options of a command from its signature. Each class resolves its own names.
        hints = get_type_hints(options, include_extras=True)
        signature = inspect.signature(options)
        parameters = [one.replace(annotation=hints[name]) for name, one in signature.parameters.items()]
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return run

    return decorate


def require_jobs(jobs: int) -> None:
    """Refuse a negative number of processes, which counts from the cores, if it comes to none.

    Examples
    --------
    >>> require_jobs(-1)
    """
    cores = os.cpu_count() or 1
    if jobs < -cores:
        raise ValueError(
            f"--jobs {jobs} leaves no process on this machine, which has {cores} cores: give a number of "
            "processes, or -1 for one per core."
        )


class Several(tuple[Any, ...]):
    """Values of one option, with commas between them."""


def several(kind: Callable[[str], Any]) -> Callable[[str | Several], Several]:
    """Make a parser of values with commas between them; the option may be repeated besides.

    Examples
    --------
    >>> several(int)("2, 3,4")
    (2, 3, 4)
    """

    def parse(text: str | Several) -> Several:
        try:
            return Several(kind(part.strip()) for part in str(text).split(","))
        except ValueError:
            what = {int: "whole numbers", float: "numbers"}.get(kind, "names")  # type: ignore[call-overload]
            raise typer.BadParameter(
                f"{str(text)!r} cannot be read: write {what} with commas between them, such as "
                f"{'2,3,4' if kind is int else '1e-3,1e-2'}."
            ) from None

    return parse
