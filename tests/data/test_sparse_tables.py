import numpy as np
import pytest
import scipy.sparse

import tparafac2 as tp
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


def _damaged(form: str, damage: str) -> scipy.sparse.sparray:
    """A table with an index beyond its shape: SciPy lets that be, and compiled code would follow it."""
    whole = np.random.default_rng(1).poisson(1.0, (6, 5)).astype(float)
    table = getattr(scipy.sparse, f"{form}_array")(whole)
    places = table.row if form == "coo" else table.indptr if damage == "pointer" else table.indices
    places[2] = {"high": 1_000_000, "negative": -3, "pointer": 1_000_000}[damage]
    return table


@pytest.mark.parametrize(
    ("form", "damage"),
    [(form, damage) for form in ("csr", "csc", "bsr") for damage in ("high", "negative", "pointer")]
    + [("coo", "high"), ("coo", "negative")],
)
def test_a_damaged_table_is_refused_wherever_it_is_given(form: str, damage: str) -> None:
    rng = np.random.default_rng(0)
    slices = [scipy.sparse.csr_array(rng.poisson(1.0, (6, 5)).astype(float)) for _ in range(4)]
    bad = [*slices[:3], _damaged(form, damage)]
    model = tp.CP(1, n_starts=1, random_state=0, progress=False)
    for use in (
        model.fit,
        tp.data.SparseData.from_slices,
        model.fit(slices).transform,
        model.evaluate,
        lambda given: model.append(given[3:]),
    ):
        with pytest.raises(ValueError, match="damaged"):
            use(bad)
    assert bad[3].format == form


def test_damage_is_named_by_its_slice() -> None:
    with pytest.raises(ValueError, match="slice 1"):
        tp.CP(1).fit([scipy.sparse.csr_array(np.ones((6, 5))), _damaged("csr", "high")])
