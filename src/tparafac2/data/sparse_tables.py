"""The user's sparse matrices in the form that is worked on; their own are never changed."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.interface import FloatArray


class Entries(NamedTuple):
    """Where the stored numbers of a table are, and what they are."""

    rows: NDArray[Any]
    columns: NDArray[Any]
    values: NDArray[Any]


def require_sound(slices: Sequence[Any]) -> None:
    """Refuse sparse tables with indices beyond their shapes, which compiled code would follow anywhere.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> table = csr_array([[0, 5], [6, 0]])
    >>> table.indices[0] = 7
    >>> require_sound([table])
    Traceback (most recent call last):
    ValueError: slice 0 is a damaged sparse matrix (...): make it anew ...
    """
    for k, piece in enumerate(slices):
        # Another object on the same arrays, as a look at the user's own may change it. Formats without
        # pointers are checked when they are made; those of lists and keys cannot be damaged like this.
        try:
            if piece.format == "coo" and piece.ndim == 2:
                type(piece)((piece.data, (piece.row, piece.col)), shape=piece.shape)
            elif piece.format in ("csr", "csc", "bsr"):
                alike = type(piece)((piece.data, piece.indices, piece.indptr), shape=piece.shape)
                alike.check_format(full_check=True)
        except ValueError as error:
            raise ValueError(
                f"slice {k} is a damaged sparse matrix ({error}): make it anew from its rows, columns and "
                "values, with scipy.sparse.coo_array."
            ) from error


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
        It shares whatever arrays of `piece` are as they should be; indices have 32 bits where they fit.

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
    short = np.int32 if max(*found.shape, found.nnz) <= np.iinfo(np.int32).max else np.int64
    indices, begin = (array.astype(short, copy=False) for array in (found.indices, found.indptr))
    table = kind((found.data, indices, begin), shape=found.shape)
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


def add_product(table: Any, right: FloatArray, out: FloatArray, rows: slice | None = None) -> None:
    """Add table @ right to `out`, or some rows of it, which a csr table alone can give.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> out = np.ones((2, 1))
    >>> add_product(csr_array([[0.0, 5.0], [6.0, 0.0]]), np.array([[1.0], [2.0]]), out)
    >>> out.ravel()
    array([11.,  7.])
    """
    from tparafac2.data import sparse_kernels

    if table.format == "csc":
        sparse_kernels.scatter(table.indptr, table.indices, table.data, right, out)
        return
    first, last, _ = (rows or slice(None)).indices(table.shape[0])
    begin = table.indptr[first : last + 1]
    sparse_kernels.gather(begin, table.indices, table.data, right, out[first:last])
