import numpy as np
import pytest
import scipy.sparse

from tparafac2.data.sparse_tables import entries, tidy

FORMATS = ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"]
TABLE = np.array([[0.0, 2.0, 0.0, 5.0], [0.0, 0.0, 0.0, 0.0], [1.0, 0.0, -3.0, 0.0]])


def _untidy(form: str) -> scipy.sparse.sparray:
    """TABLE, with a stored zero and a number that is stored in two parts, in the wrong order."""
    if form == "csc":
        return scipy.sparse.csc_array(([1.0, 0.5, 1.5, -3.0, 0.0, 5.0], [2, 0, 0, 2, 1, 0], [0, 1, 3, 5, 6]))
    return scipy.sparse.csr_array(([5.0, 1.5, 0.5, 0.0, -3.0, 1.0], [3, 1, 1, 2, 2, 0], [0, 3, 4, 6]))


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("given", FORMATS)
@pytest.mark.parametrize("family", ["array", "matrix"])
def test_every_format_becomes_the_same(given: str, form: str, family: str) -> None:
    piece = getattr(scipy.sparse, f"{given}_{family}")(TABLE)
    table = tidy(piece, form)
    assert table.format == form
    assert table.nnz == 4
    np.testing.assert_array_equal(table.toarray(), TABLE)


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("given", ["csr", "csc"])
def test_duplicates_are_added_and_zeros_dropped_in_a_copy(given: str, form: str) -> None:
    piece = _untidy(given)
    before = [array.copy() for array in (piece.data, piece.indices, piece.indptr)]
    flags = dict(vars(piece))
    table = tidy(piece, form)
    np.testing.assert_array_equal(table.toarray(), TABLE)
    assert table.nnz == 4
    assert table.has_canonical_format
    for was, now in zip(before, (piece.data, piece.indices, piece.indptr)):
        np.testing.assert_array_equal(now, was)
    assert dict(vars(piece)).keys() == flags.keys()


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_what_is_tidy_is_shared(form: str) -> None:
    piece = scipy.sparse.coo_array(TABLE).asformat(form)
    table = tidy(piece, form)
    assert table is not piece
    assert np.shares_memory(table.indices, piece.indices)
    assert np.shares_memory(table.data, piece.data)


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_zeros_alone_are_dropped_in_a_copy(form: str) -> None:
    piece = scipy.sparse.coo_array(TABLE).asformat(form)
    piece.data[0] = 0.0
    before = piece.data.copy()
    assert tidy(piece, form).nnz == 3
    np.testing.assert_array_equal(piece.data, before)


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_entries_say_where_and_what(form: str) -> None:
    rows, columns, values = entries(tidy(scipy.sparse.csr_array(TABLE), form))
    np.testing.assert_array_equal(TABLE[rows, columns], values)
    assert len(set(zip(rows.tolist(), columns.tolist()))) == np.count_nonzero(TABLE)
