"""Single entries of the data, by where they are."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray


class Places(NamedTuple):
    """Where entries are: slice, row and column of each, in the user's order.

    Examples
    --------
    >>> places = Places.join([Places.of([5], (2, 2, 3)), Places.of([0], (2, 2, 3))])
    >>> places.size, places.time.tolist(), places.columns.tolist()
    (2, [0, 0], [2, 0])
    """

    time: NDArray[np.intp]
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]

    @classmethod
    def of(cls, flat: Any, shape: tuple[int, int, int]) -> Self:
        """Positions in the flat array (K, I, J)."""
        return cls(*np.unravel_index(np.asarray(flat, dtype=np.intp), shape))

    @classmethod
    def join(cls, several: Sequence["Places"]) -> Self:
        """All of them, one after the other."""
        return cls(*(np.concatenate(one) for one in zip(*several)))

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.time)
