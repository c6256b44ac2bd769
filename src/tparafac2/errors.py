"""Errors that know which argument is wrong and what was received, to be told in the words of any place."""

from collections.abc import Callable
from typing import Any, Self

from tparafac2.words import PYTHON, Argument, Lines, Part, Setting, Words, said


class Told(Exception):
    """An error whose sentence is put together of parts, some of which are called otherwise elsewhere.

    Parameters
    ----------
    *parts : str, Argument, Setting, Advice or Lines
        Of the sentence.
    received : optional
        What was given for the argument.

    Examples
    --------
    >>> error = InvalidValue(Argument("rank"), " must be at least 1; got 0.", received=0)
    >>> str(error), error.argument, error.received
    ('rank must be at least 1; got 0.', 'rank', 0)
    """

    def __init__(self, *parts: Part, received: Any = None) -> None:
        super().__init__(said(parts, PYTHON))
        self.parts = parts
        self.received = received

    @property
    def argument(self) -> str | None:
        """The first argument that is named."""
        named = (part.argument for part in self.parts if isinstance(part, Argument | Setting))
        return next(named, None)

    @property
    def lines(self) -> tuple[int, ...]:
        """Places of lines of a table that it is about, from 0."""
        return next((part.positions for part in self.parts if isinstance(part, Lines)), ())

    def told(self, words: Words) -> str:
        """Give the sentence in other words than those of Python."""
        return said(self.parts, words)

    def within(self, file: str, more: str, line: Callable[[int], str]) -> Self:
        """Give the same error of a table in a file: `line` writes the place of a line as that file has it."""
        rest = [part for part in self.parts if not isinstance(part, Lines)]
        places = " repeats ".join(map(line, self.lines))
        where = f"{file}, {places}" if places else f"{file}{more}: "
        return type(self)(where, *rest, received=self.received)

    def __str__(self) -> str:
        return self.told(PYTHON)


class InvalidValue(Told, ValueError):
    """A value that cannot be used."""


class InvalidType(Told, TypeError):
    """A value of a type that cannot be used."""


class TooLarge(MemoryError, Told):
    """More than the machine's memory can hold."""

    # MemoryError makes its objects in a way of its own, and must be the first base for copies to be made.
    __init__ = Told.__init__
    __str__ = Told.__str__


class NoFile(Told, OSError):
    """Something that is not a file."""


class StoreLost(Told, OSError):
    """Data that could not be read from where they are kept."""


class WorkerLost(Told, ChildProcessError):
    """A process that was ended from outside."""


class ToldWarning(Told, UserWarning):
    """Something to be aware of."""


class InTheWay(Told, FileExistsError):
    """A file or folder that would have to be replaced."""
