"""Which dimension of a labelled array is rows, which is columns and which is time."""

from collections.abc import Collection, Hashable, Mapping, Sequence

from tparafac2.data.labels import MODES, Mode

_KNOWN_NAMES: dict[Mode, str] = {
    "rows": """
        row subject sample author station patient participant individual person people user student animal
        mouse mice site location place city cities country countries region customer document
    """,
    "columns": """
        column col feature word variable term token metabolite gene protein taxon taxa species microbe
        channel voxel roi product item indicator
    """,
    "time": """
        time t timepoint time_point timestamp datetime date year quarter month week day hour minute second
        period visit wave slice
    """,
}


def resolve_dims(
    received: Sequence[Hashable],
    given: Mapping[str, Hashable] | None = None,
    dated: Collection[Hashable] = (),
) -> dict[Mode, Hashable]:
    """Find the dimension of each mode from what the user says, from dates, and from names, in that order.

    Parameters
    ----------
    received : sequence of three names
        Dimensions of the labelled array.
    given : mapping, optional
        Modes the user named, for example ``{"time": "year"}``.
    dated : collection of names
        Dimensions whose labels are dates.

    Returns
    -------
    dict
        Name of the dimension of "rows", "columns" and "time".

    Examples
    --------
    >>> resolve_dims(("year", "author", "thing"))
    {'rows': 'author', 'columns': 'thing', 'time': 'year'}
    """
    if len(received) != len(MODES):
        raise ValueError(
            f"X has the dimensions {_quoted(received)}, but three are needed: rows, columns and time. "
            "If these are tables, stack slices with xarray.concat(tables, dim='time')."
        )
    found = _as_told(received, {} if given is None else given)
    if "time" not in found:
        _assign("time", [dim for dim in _unclaimed(received, found) if dim in dated], found)
    by_name: dict[Mode, list[Hashable]] = {
        mode: [dim for dim in _unclaimed(received, found) if is_called(dim, mode)]
        for mode in MODES
        if mode not in found
    }
    for mode, candidates in by_name.items():
        _assign(mode, candidates, found)
    missing = [mode for mode in MODES if mode not in found]
    if len(missing) == 1:
        _assign(missing[0], _unclaimed(received, found), found)
    elif missing:
        raise ValueError(_question(received, found))
    return {mode: found[mode] for mode in MODES}


def _as_told(received: Sequence[Hashable], given: Mapping[str, Hashable]) -> dict[Mode, Hashable]:
    if not isinstance(given, Mapping):
        raise TypeError(f"dims must be a mapping; got {given!r:.60}. {_question(received, {})}")
    for mode, dim in given.items():
        if mode not in MODES:
            raise ValueError(
                f"dims may have the keys {', '.join(MODES)}; got {mode!r}. {_question(received, {})}"
            )
        if dim not in received:
            raise ValueError(f"dims says {mode} is {dim!r}, which X does not have. {_question(received, {})}")
    if len(set(given.values())) < len(given):
        raise ValueError(f"dims uses one dimension twice: {dict(given)}. {_question(received, {})}")
    return {mode: given[mode] for mode in MODES if mode in given}


def _assign(mode: Mode, candidates: Sequence[Hashable], found: dict[Mode, Hashable]) -> None:
    # Two candidates are as good as none: the user is asked rather than guessed for.
    if len(candidates) == 1:
        found[mode] = candidates[0]


def _unclaimed(received: Sequence[Hashable], found: Mapping[Mode, Hashable]) -> list[Hashable]:
    return [dim for dim in received if dim not in found.values()]


def is_called(dim: Hashable, mode: Mode) -> bool:
    """Whether this is a usual name for rows, columns or time.

    Examples
    --------
    >>> is_called("Years", "time"), is_called("year", "rows")
    (True, False)
    """
    name = str(dim).strip().lower().replace("-", "_").replace(" ", "_")
    return not {name, name.removesuffix("s")}.isdisjoint(_KNOWN_NAMES[mode].split())


def _question(received: Sequence[Hashable], found: Mapping[Mode, Hashable]) -> str:
    left = iter(_unclaimed(received, found))
    example = {mode: found[mode] if mode in found else next(left) for mode in MODES}
    return (
        f"X has the dimensions {_quoted(received)}; say which are rows, columns and time by dims=, "
        f"for example dims={example}."
    )


def _quoted(received: Sequence[Hashable]) -> str:
    return ", ".join(map(repr, received)) or "(none)"
