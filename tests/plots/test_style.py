"""Sizes, colours and settings of figures."""

import matplotlib
import pytest
from matplotlib.colors import to_rgb

from tparafac2.plots.style import COLUMN_WIDTH, FONT_SIZE, LOOKS, new_figure, print_style, shade


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


def test_families_differ_in_colour_and_where_shades_meet_in_hatch():
    assert len({look.colour for look in LOOKS.values()}) == len(LOOKS)
    many_shades = [look.hatch for model, look in LOOKS.items() if model != "PARAFAC2"]
    assert len(set(many_shades)) == len(many_shades)


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_shades_go_from_white_to_the_colour(look):
    assert shade(look.colour, 0) == pytest.approx((1, 1, 1))
    assert shade(look.colour, 1) == pytest.approx(to_rgb(look.colour))
    assert sum(shade(look.colour, 0.3)) > sum(shade(look.colour, 0.6))
