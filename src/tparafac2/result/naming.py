"""What people call components: names that are kept with a result, and how components are then told."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tparafac2.data import label_text, listed, shown
from tparafac2.errors import InvalidType, InvalidValue
from tparafac2.words import Argument

if TYPE_CHECKING:
    from tparafac2.result.record import Result

LONGEST_NAME = 60
"""Letters of a name: it stands in titles, legends and sentences."""

_NAMES = Argument("names")
_NUMBERED = re.compile(r"(component\s*)?\d+", re.IGNORECASE)


def read_names(given: Any, rank: int, before: Sequence[str] = ()) -> tuple[str, ...]:
    """Names of all components, "" for those that have none.

    Parameters
    ----------
    given : sequence of R names, or mapping of the number of a component (from 1) to its name
        None and "" in a mapping, and None in a sequence, leave a component without a name.
    rank : int
        How many components there are, R.
    before : sequence of str
        The names that they had, which those of a mapping replace.

    Examples
    --------
    >>> read_names({2: " Africa "}, 3), read_names(["Asia", None], 2)
    (('', 'Africa', ''), ('Asia', ''))
    >>> read_names(["Asia"], 2)
    Traceback (most recent call last):
    tparafac2.errors.InvalidValue: names must be 2, one for each component; got 1: 'Asia'.
    """
    if given is None:
        return ()
    if isinstance(given, Mapping):
        names = list(before) or [""] * rank
        for number, name in given.items():
            names[_place(number, rank)] = "" if name in (None, "") else _name(name)
    elif isinstance(given, str) or not hasattr(given, "__iter__"):
        raise InvalidType(
            _NAMES, f" must be a sequence of texts, or a mapping such as {{1: 'Africa'}}; got {given!r:.60}."
        )
    else:
        every = list(given)
        if len(every) != rank:
            told = listed(map(shown, every)) or "none"
            raise InvalidValue(
                _NAMES, f" must be {rank}, one for each component; got {len(every)}: {told}.", received=given
            )
        names = ["" if name is None else _name(name) for name in every]
    _require_different(names)
    return tuple(names) if any(names) else ()


def _place(number: Any, rank: int) -> int:
    try:
        place = operator.index(number)
    except TypeError:
        place = 0
    if isinstance(number, bool) or not 1 <= place <= rank:
        raise InvalidValue(
            _NAMES, f" has {number!r:.60} among its keys: components are counted from 1 to {rank}."
        )
    return place - 1


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise InvalidType(_NAMES, f" must be texts; got {name!r:.60}, a {type(name).__name__}.")
    if not name.strip():
        raise InvalidValue(_NAMES, " has an empty one: give every name at least a letter.")
    if len(name.strip()) > LONGEST_NAME:
        raise InvalidValue(
            _NAMES, f" may have {LONGEST_NAME} letters; {shown(name, 30)} has {len(name.strip())}."
        )
    return name.strip()


def _require_different(names: Sequence[str]) -> None:
    given = [name for name in names if name]
    again = [name for name in given if given.count(name) > 1]
    if again:
        raise InvalidValue(_NAMES, f" has {shown(again[0])} more than once: give every component its own.")
    numbers = [name for name in given if _NUMBERED.fullmatch(name)]  # those without a name are told so
    if numbers:
        raise InvalidValue(
            _NAMES, f" has {shown(numbers[0])}, which could be taken for the number of a component."
        )


def place_of(component: Any, result: Result) -> int:
    """Turn the number of a component, counted from 1, or its name into its place in the arrays."""
    R = result.rank
    if isinstance(component, str) and component in result.component_names and component:
        return result.component_names.index(component)
    try:
        number = operator.index(component)
    except TypeError:
        number = 0
    if isinstance(component, bool) or not 1 <= number <= R:
        allowed, how_many = ("1", "there is one") if R == 1 else (f"from 1 to {R}", f"there are {R}")
        called = [shown(name) for name in result.component_names if name]
        raise InvalidValue(
            Argument("component"),
            f" must be {allowed}, as components are counted from 1 and {how_many}"
            f"{f', or one of {listed(called)}' if called else ''}; got {component!r}.",
            received=component,
        )
    return number - 1


def called(names: Sequence[str], r: int) -> str:
    """Number and name of component r (from 0), for a sentence.

    Examples
    --------
    >>> called((), 0), called(("Africa", ""), 0), called(("Africa", ""), 1)
    ('1', '1 (Africa)', '2')
    """
    name = names[r] if names else ""
    return f"{r + 1} ({label_text(name, LONGEST_NAME)})" if name else str(r + 1)


def heading(names: Sequence[str], r: int) -> str:
    """Number and name of component r (from 0), above what is shown of it.

    Examples
    --------
    >>> heading((), 0), heading(("Africa", ""), 0)
    ('Component 1', 'Component 1: Africa')
    """
    name = names[r] if names else ""
    return f"Component {r + 1}" + (f": {label_text(name, LONGEST_NAME)}" if name else "")
