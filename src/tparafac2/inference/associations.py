"""What components have to do with attributes of the rows: how much, how surely, and by chance how often."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import label_text, listed, shown
from tparafac2.errors import InvalidValue, ToldWarning
from tparafac2.inference.statistics import (
    Groups,
    Measured,
    Numbers,
    bootstrapped,
    chance,
    holm,
)
from tparafac2.result import Result
from tparafac2.words import Argument

if TYPE_CHECKING:
    import pandas as pd

NOTE = (
    "An association is not a cause. Loadings were estimated from the same data, and their own uncertainty is "
    "not in the intervals; groups that differ in noise, or in what was observed of them, can differ in "
    "loadings for that reason alone. p_corrected counts the associations of this table only, and no others "
    "that were looked at."
)
"""What associations do not prove."""

_COLUMNS = (
    *("component", "name", "attribute", "measure", "value", "lower", "upper"),
    *("high", "low", "difference", "rows", "p", "p_corrected"),
)
_LEAST_GROUP = 3
_LEAST_ROWS = 8


@dataclass(frozen=True)
class Request:
    """How carefully associations are looked for."""

    n_permutations: int = 4999
    n_draws: int = 999
    level: float = 0.95
    random_state: Any = 0

    def __post_init__(self) -> None:
        for name, least in (("n_permutations", 99), ("n_draws", 99)):
            given = getattr(self, name)
            if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < least:
                raise InvalidValue(
                    Argument(name),
                    f" must be a whole number, at least {least}; got {given!r}.",
                    received=given,
                )
        if not (isinstance(self.level, int | float) and 0 < self.level < 1):
            raise InvalidValue(
                Argument("level"),
                f" must be between 0 and 1, such as 0.95; got {self.level!r}.",
                received=self.level,
            )


class Usable(NamedTuple):
    """One attribute of the rows that have it, and their places."""

    name: str
    places: NDArray[np.intp]
    kind: Groups | Numbers


def associations(
    result: Result, attributes: Sequence[str] | str | None = None, request: Request | None = None
) -> pd.DataFrame:
    """Measure what each component has to do with each attribute; see `Decomposition.associations`.

    Examples
    --------
    >>> from tparafac2.data import Labels
    >>> rng = np.random.default_rng(0)
    >>> sex = np.repeat(["f", "m"], 20)
    >>> A = rng.normal(size=(40, 1)) + 2 * (sex == "f")[:, None]
    >>> result = Result(model="CP", A=A, B=np.ones((2, 3, 1)), C=np.ones((2, 1)), objective=0.5,
    ...                 explained_variance=0.9, status="converged", converged=True, n_iter=7,
    ...                 labels=Labels(attributes={"sex": sex}))
    >>> found = associations(result)
    >>> found.loc[0, ["attribute", "measure", "high", "low"]].tolist(), bool(found.loc[0, "p"] < 0.001)
    (['sex', 'difference', 'f', 'm'], True)
    """
    import pandas as pd

    asked = request is not None  # pages and folders have what there is, and ask for nothing
    request = request or Request()
    usable, skipped = _usable(result, attributes)
    if not usable and asked:
        why = "; ".join(f"{shown(name)}: {reason}" for name, reason in skipped.items())
        warnings.warn(ToldWarning(f"no attribute of the rows can be tested ({why})."), stacklevel=3)
    rng = np.random.default_rng(request.random_state)
    lines = [line for one in usable for line in _lines(result, one, request, rng)]
    lines.sort(key=lambda line: line["component"])
    table = pd.DataFrame(lines, columns=list(_COLUMNS[:-1]))
    table["p_corrected"] = holm(table["p"].to_numpy(dtype=np.float64))
    table.attrs |= {"note": NOTE, "level": request.level, "skipped": skipped}
    return table


def _lines(
    result: Result, one: Usable, request: Request, rng: np.random.Generator
) -> Iterator[dict[str, Any]]:
    A = result.normalised().A[one.places]
    spread = A.std(axis=0)
    alive = np.isfinite(spread) & (spread > 0)
    Z = np.where(alive, (A - A.mean(axis=0)) / np.where(alive, spread, 1.0), 0.0)
    found: Measured = one.kind.measure(Z)
    p = chance(one.kind, Z, request.n_permutations, rng)
    bounds = bootstrapped(one.kind, Z, request.n_draws, request.level, rng)
    names = result.component_names or ("",) * result.rank
    for r in range(result.rank):
        told = one.kind.told(Z[:, r]) if alive[r] else {}
        numbers = (found.value[r], *bounds[:, r]) if alive[r] else (np.nan,) * 3
        if one.kind.name == "difference" and numbers[0] < 0:  # that of the high group to the low one
            numbers = -numbers[0], -numbers[2], -numbers[1]
        yield {
            "component": r + 1,
            "name": names[r],
            "attribute": one.name,
            "measure": one.kind.name,
            "value": numbers[0],
            "lower": numbers[1],
            "upper": numbers[2],
            "rows": len(one.places),
            "p": p[r] if alive[r] else np.nan,
            "high": told.get("high", ""),
            "low": told.get("low", ""),
            "difference": told.get("difference", np.nan),
        }


def _usable(result: Result, asked: Sequence[str] | str | None) -> tuple[list[Usable], dict[str, str]]:
    """Attributes that tell rows apart, and why others do not; one that was asked for by name has to."""
    known = result.labels.attributes
    if not known:
        raise InvalidValue(
            "nothing else is known of the rows: give ",
            Argument("row_attributes"),
            ", a table with a line for each row.",
        )
    wanted: Iterable[str] = known if asked is None else [asked] if isinstance(asked, str) else list(asked)
    usable, skipped = [], {}
    for name in wanted:
        if name not in known:
            raise InvalidValue(
                Argument("attributes"),
                f" has {shown(name)}, and the rows have {listed(map(shown, known))}.",
                received=name,
            )
        kind, places, why = _read(known[name])
        if kind is not None:
            usable.append(Usable(name, places, kind))
        elif asked is not None:
            raise InvalidValue(Argument("attributes"), f" has {shown(name)}, but {why}.", received=name)
        else:
            skipped[name] = why
    return usable, skipped


def _read(values: NDArray[Any]) -> tuple[Groups | Numbers | None, NDArray[np.intp], str]:
    """What kind of attribute it is, of which rows, or why it cannot be used."""
    numeric = values.dtype.kind == "f"
    there = np.isfinite(values) if numeric else np.array([one is not None for one in values], dtype=bool)
    places = np.flatnonzero(there)
    if len(places) < _LEAST_ROWS:
        return None, places, f"only {len(places)} rows have it, and {_LEAST_ROWS} are needed"
    labels, codes, counts = np.unique(values[places], return_inverse=True, return_counts=True)
    if numeric and len(labels) > 2:
        return Numbers(values[places]), places, ""
    large = np.flatnonzero(counts >= _LEAST_GROUP)
    if len(large) < 2:
        return None, places, f"it has fewer than two groups of at least {_LEAST_GROUP} rows"
    kept = np.isin(codes, large)
    names = tuple(label_text(labels[g]) for g in large)
    return Groups(np.searchsorted(large, codes[kept]), names), places[kept], ""
