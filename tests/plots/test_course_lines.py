import numpy as np
import pytest
from banded import banded
from hand_made import hand_made

from tparafac2.data import Labels
from tparafac2.plots import courses, loadings, movers, snapshots, strengths


def test_the_largest_columns_by_default_and_those_that_were_asked_for():
    result = hand_made(B=np.random.default_rng(0).normal(size=(3, 4, 2)), labels=Labels(columns=list("abcd")))
    assert len(courses(result, 1, n=2).get_legend().get_texts()) == 2
    shown = courses(result, 2, columns=["d", "a"])
    assert [line.get_label() for line in shown.lines[:2]] == ["d", "a"]
    np.testing.assert_allclose(shown.lines[0].get_ydata(), result.normalised().B[:, 3, 1])
    for wrong, sentence in (("z", "there is no column z"), ([], "columns is empty")):
        with pytest.raises(ValueError, match=sentence):
            courses(result, 1, columns=wrong)


def test_bands_are_shaded():
    result = banded()
    (area,) = courses(result, 1, columns=2).collections[:1]
    heights = area.get_paths()[0].vertices[:, 1]
    assert heights.min() == pytest.approx(result.intervals.patterns.lower[:, 2, 0].min())
    assert heights.max() == pytest.approx(result.intervals.patterns.upper[:, 2, 0].max())
    assert len(strengths(result).collections) == 2
    assert not strengths(hand_made()).collections


def test_moves_that_may_be_none_are_pale():
    ax = movers(banded(), 1)
    bounds = [path.vertices[:, 0] for path in ax.collections[0].get_paths()]
    pale = [bar.get_hatch() is not None for bar in ax.patches]
    assert pale == [bool(ends.min() <= 0 <= ends.max()) for ends in bounds]
    assert any(pale)
    assert not all(pale)


def test_loadings_and_snapshots_have_whiskers():
    result = banded()
    assert len(loadings(result, 1).collections[0].get_paths()) == 5
    plain = hand_made(B=result.B, A=result.A)
    assert len(snapshots(result, 1).collections) == len(snapshots(plain, 1).collections) + 3
