"""How a fit was computed, apart from what it minimised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Method:
    """How a fit was computed.

    Attributes
    ----------
    algorithm : str
        "fast" or "paper".
    settings : mapping
        Settings of the solver as they were used, by name.
    missing : str
        "complete" if nothing was missing; else "exact" (left out of every sum) or "em" (filled in).
    compressed_rows, compressed_columns : int or None
        To how many rows and columns the data were compressed; None where they were not.
    dtype : str
        Precision in which data and patterns were held.
    n_starts : int
        How many starts were run.
    init : str
        "uniform", "svd" or "given factors".
    seed : int or None
        Seed of the starts, where it was a number.

    Examples
    --------
    >>> Method(n_starts=20).to_record()["missing"]
    'complete'
    """

    algorithm: str = "fast"
    settings: Mapping[str, Any] = field(default_factory=dict)
    missing: str = "complete"
    compressed_rows: int | None = None
    compressed_columns: int | None = None
    dtype: str = "float64"
    n_starts: int = 1
    init: str = "uniform"
    seed: int | None = None

    def to_record(self) -> dict[str, Any]:
        """Everything in plain values, for a file."""
        return asdict(self)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Method:
        """Read what `to_record` gave; what later versions may add is left aside."""
        return cls(**{name: record[name] for name in cls.__dataclass_fields__ if name in record})
