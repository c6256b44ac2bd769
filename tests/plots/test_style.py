"""Sizes, colours and settings of figures."""

import matplotlib
import pytest
from matplotlib.colors import to_rgb

from tparafac2.plots.style import COLUMN_WIDTH, FONT_SIZE, new_figure, print_style, shade


def test_settings_hold_inside_and_are_gone_outside():
    before = dict(matplotlib.rcParams)
    with print_style():
        assert matplotlib.rcParams["font.size"] == FONT_SIZE
    assert dict(matplotlib.rcParams) == before


def test_settings_are_gone_after_an_error():
    before = dict(matplotlib.rcParams)
    with pytest.raises(KeyError), print_style():
        raise KeyError
    assert dict(matplotlib.rcParams) == before


def test_users_settings_do_not_reach_the_print():
    with matplotlib.rc_context({"text.color": "red", "axes.titlesize": 40}), print_style():
        assert matplotlib.rcParams["text.color"] == "black"
        assert matplotlib.rcParams["axes.titlesize"] == FONT_SIZE


def test_sizes_are_in_centimetres():
    assert new_figure(COLUMN_WIDTH, 5.08).get_size_inches() == pytest.approx((8.5 / 2.54, 2))


@pytest.mark.parametrize("colour", ["#0072B2", "#767676"])
def test_shades_go_from_white_to_the_colour(colour):
    assert shade(colour, 0) == pytest.approx((1, 1, 1))
    assert shade(colour, 1) == pytest.approx(to_rgb(colour))
    assert sum(shade(colour, 0.3)) > sum(shade(colour, 0.6))
