"""The user's sparse matrices in the form that is worked on; their own are never changed."""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Entries(NamedTuple):
    """Where the stored numbers of a table are, and what they are."""

    rows: NDArray[Any]
    columns: NDArray[Any]
    values: NDArray[Any]


def tidy(piece: Any, form: Literal["csr", "csc"]) -> Any:
    """Give a sparse table in one form, sorted, with every position at most once and no stored zeros.

    Parameters
    ----------
    piece : scipy sparse matrix or array (I, J)
        Any format. Numbers stored twice at one place are added up, as SciPy does.
    form : "csr" or "csc"

    Returns
    -------
    csr_array or csc_array
        It shares whatever arrays of `piece` are as they should be.

    Examples
    --------
    >>> from scipy.sparse import coo_array
    >>> twice = coo_array(([1.0, 2.0, 0.0], ([0, 0, 1], [1, 1, 1])), shape=(2, 3))
    >>> tidy(twice, "csr").data
    array([3.])
    """
    import scipy.sparse

    kind = scipy.sparse.csr_array if form == "csr" else scipy.sparse.csc_array
    found = piece.asformat(form)
    # Another object on the same arrays: even looking for duplicates leaves marks on the user's own.
    table = kind((found.data, found.indices, found.indptr), shape=found.shape)
    if not table.has_canonical_format:
        table = table.copy()
        table.sum_duplicates()
    if not table.data.all():
        table = table.copy()
        table.eliminate_zeros()
    return table


def entries(table: Any) -> Entries:
    """Rows, columns and values of all stored numbers; only one index array is made.

    Examples
    --------
    >>> from scipy.sparse import csc_array
    >>> entries(csc_array([[0, 5], [6, 0]])).rows
    array([1, 0], dtype=int32)
    """
    outer = np.repeat(
        np.arange(len(table.indptr) - 1, dtype=table.indices.dtype), np.diff(table.indptr).astype(np.intp)
    )
    if table.format == "csr":
        return Entries(outer, table.indices, table.data)
    return Entries(table.indices, outer, table.data)
