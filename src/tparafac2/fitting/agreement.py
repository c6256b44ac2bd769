"""Do the terms of a fit go together? Those that contradict each other are refused before any work."""

from collections.abc import Sequence

from tparafac2.penalties import Penalty, asks_for, is_temporal, on_scale, size_weight, softens
from tparafac2.result import Terms

_NAMES = {"A": "loadings", "B": "patterns", "C": "strengths"}


def require_agreement(terms: Terms, shapes: dict[str, tuple[int, ...]]) -> None:
    """Refuse terms that are not for factors of these shapes, or of which one says nothing beside another.

    Parameters
    ----------
    terms : Terms
    shapes : dict of str to tuple
        Shapes of "A", "B" and "C".
    """
    for mode, those in terms.modes.items():
        if mode == "C" and terms.fixed_strengths:
            continue
        for term in those:
            if mode == "A" and is_temporal(term):
                raise ValueError(
                    f"{type(term).__name__} is about changes in time, and loadings do not change: give it in "
                    "penalties_b or penalties_c."
                )
            if hasattr(term, "require_shape"):
                term.require_shape(shapes[mode])
        _require_say(those, mode)
    _require_one_shape(terms.B)
    require_scale_fixed(terms)


def require_scale_fixed(terms: Terms) -> None:
    """Refuse norm penalties on some factors only: scale would flee to the others, and nothing be minimal."""
    if free := free_factors(terms):
        names = " and ".join(f"penalties_{mode}" for mode in free)
        raise ValueError(
            "A norm penalty on some factors only: scale would flee to the others, and there is no minimum. "
            f"Give every factor one (the lambdas of the model, or here {names} too, for example "
            "[Ridge(0.1)]), or none."
        )


def free_factors(terms: Terms) -> list[str]:
    """Factors to which scale would flee from the norm penalties on others; none, if all or none have one.

    Examples
    --------
    >>> from tparafac2.penalties import L1
    >>> free_factors(Terms(B=(L1(1.0),))), free_factors(Terms())
    (['a', 'c'], [])
    """
    modes = {"a": terms.A, "b": terms.B} | ({} if terms.fixed_strengths else {"c": terms.C})
    free = [mode for mode, those in modes.items() if on_scale(those) == "free"]
    return free if any(map(_costs, modes.values())) else []


def _costs(terms: Sequence[Penalty]) -> bool:
    return any(on_scale([term]) == "costs" for term in terms)


def _require_say(terms: Sequence[Penalty], mode: str) -> None:
    """Refuse a term that is a constant on a set that is asked for, too."""
    for term in terms:
        measured = getattr(term, "measures", None)
        for other in terms:
            if measured is not None and getattr(other, "keeps", None) == measured:
                by_name = "" if size_weight(term) is None else ", or sparsity if that asks for it"
                raise ValueError(
                    f"{term!r} on the {_NAMES[mode]} is a constant beside {other!r}, which fixes the "
                    f"{measured}: leave out one of penalties_{mode.lower()}{by_name}."
                )


def _require_one_shape(terms: Sequence[Penalty]) -> None:
    """Refuse the PARAFAC2 constraint twice, or beside one that gives way."""
    hard = [term for term in terms if asks_for([term], "parafac2")]
    if len(hard) > 1 or (hard and any(map(softens, terms))):
        raise ValueError(
            "the patterns have the PARAFAC2 constraint twice: the model has one of its own. Leave it out of "
            "penalties_b; how firmly it holds is the rigidity of TParafac2."
        )
