"""What arguments are called in the place where something is said of them."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

_OPEN = object()


class Argument(NamedTuple):
    """The name of an argument."""

    argument: str


class Setting(NamedTuple):
    """An argument with a value, or (without one) that is to be given some value."""

    argument: str
    value: Any = _OPEN

    @property
    def is_given(self) -> bool:
        """Whether there is a value."""
        return self.value is not _OPEN


class Advice(NamedTuple):
    """Advice that may be another, or none, elsewhere: a key for it, and what Python's users are told."""

    key: str
    usual: str


class Lines(NamedTuple):
    """Lines of a table by their places, from 0; the second is the one that the first repeats."""

    positions: tuple[int, ...]

    def __str__(self) -> str:
        # As in a file with a header, where the first line is the second.
        return " repeats ".join(f"line {position + 2}" for position in self.positions)


Part: TypeAlias = str | Argument | Setting | Advice | Lines
"""What sentences are put together of."""


class Words:
    """The words of Python, in which the library speaks; the command line has others.

    Examples
    --------
    >>> Words().name("max_iter"), Words().setting(Setting("rows", "author"))
    ('max_iter', "rows='author'")
    """

    def name(self, argument: str) -> str:
        """Give the name of an argument."""
        return argument

    def setting(self, setting: Setting) -> str:
        """Write an argument with its value, as the user would."""
        return f"{setting.argument}={setting.value!r}" if setting.is_given else f"{setting.argument}="

    def advice(self, advice: Advice) -> str:
        """Give the advice that helps here."""
        return advice.usual


PYTHON = Words()


def said(parts: Iterable[Part], words: Words = PYTHON) -> str:
    """Put a sentence together.

    Examples
    --------
    >>> said(["say ", Setting("rows"), " or ", Setting("rows", "author"), "."])
    "say rows= or rows='author'."
    """
    return "".join(str(_spoken(part, words)) for part in parts)


def tell(template: str, values: Mapping[str, Any], words: Words = PYTHON) -> str:
    """Put values into a template; its fields that are none of the values are names of arguments.

    Examples
    --------
    >>> tell("{max_iter} is {n}: raise {max_iter}, or say {other}.", {"n": 3, "other": Setting("tol", 0.1)})
    'max_iter is 3: raise max_iter, or say tol=0.1.'
    """
    return template.format_map(_Spoken(values, words))


class _Spoken(dict[str, Any]):
    def __init__(self, values: Mapping[str, Any], words: Words) -> None:
        super().__init__({name: _spoken(value, words) for name, value in values.items()})
        self.words = words

    def __missing__(self, argument: str) -> str:
        return self.words.name(argument)


def _spoken(value: Any, words: Words) -> Any:
    match value:
        case Argument():
            return words.name(value.argument)
        case Setting():
            return words.setting(value)
        case Advice():
            return words.advice(value)
        case _:
            return value
