"""Why these settings: every panel is there where it has something to say, in interrupted records too."""

import warnings

import pytest
from chosen import a_choice, interrupted, spread_out
from hand_made import hand_made

from tparafac2.plots import choice

TITLES = [
    "Error of held-out rows by smoothness, rank 2",
    "Error of held-out rows by rank",
    "Similarity of each component between halves of the rows",
    "Error of held-out rows by model, rank 2",
]


def drawn(record):
    """The axes by their titles; whatever matplotlib complains about is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = choice(hand_made(choice=record))
        figure.draw_without_rendering()
    return {ax.get_title("left"): ax for ax in figure.axes}


@pytest.fixture(scope="module")
def panels():
    return drawn(a_choice())


def test_there_are_four_panels_below_what_was_chosen(panels):
    assert list(panels) == TITLES
    figure = panels[TITLES[0]].get_figure(root=True)
    assert figure.get_suptitle() == "Chosen: tPARAFAC2, rank 2, smoothness 0.01"


def test_there_is_a_line_for_each_rigidity_and_a_ring_around_the_chosen_setting(panels):
    ax = panels[TITLES[0]]
    lines = {line.get_label(): line.get_ydata() for line in ax.lines if not line.get_label().startswith("_")}
    assert list(lines) == ["hard", "rigidity 1"]
    assert lines["hard"] == pytest.approx([0.0, 0.002, 0.5])
    ring = ax.collections[-1].get_offsets()[0]
    assert ring.tolist() == pytest.approx([1.0, 0.002])
    assert [text.get_text() for text in ax.get_xticklabels()] == ["0.001", "0.01", "0.1"]


def test_all_points_are_inside(panels):
    for title in TITLES[:2]:
        ax = panels[title]
        low, high = ax.get_ylim()
        assert all(low < y < high for line in ax.lines for y in line.get_ydata())


def test_ranks_are_shown_with_their_gain(panels):
    ax = panels[TITLES[1]]
    assert ax.lines[0].get_ydata().tolist() == pytest.approx([0.4, 0.2004, 0.21])
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "2\n49.9%", "3\n-4.8%"]


def test_components_are_marked_by_their_verdict_beside_what_is_not_shared(panels):
    ax = panels[TITLES[2]]
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["replicable", "there", "not there", "without what others share"]
    points = {group.get_label(): len(group.get_offsets()) for group in ax.collections}
    assert {name: points[name] for name in names} == dict(zip(names, [4, 1, 1, 6]))
    assert ax.lines[0].get_ydata() == [0.9, 0.9]


def test_models_have_bars_and_numbers(panels):
    ax = panels[TITLES[3]]
    widths = [bar.get_width() for bar in ax.patches if bar.get_height() == 0.5]
    assert widths == pytest.approx([-0.003, 0.0, 1.994])
    assert [text.get_text() for text in ax.get_yticklabels()] == ["relaxed tPARAFAC2", "tPARAFAC2", "CP"]
    assert {"-0.3%", "chosen", "+199.4%"} <= {text.get_text() for text in ax.texts}


def test_an_interrupted_choice_has_what_was_measured():
    assert list(drawn(interrupted())) == TITLES[:2]


def one_rank(record):
    for table in ("ranks", "components"):
        rank = record[table].get("rank", ())
        record[table] = {
            name: [one for one, r in zip(column, rank) if r == 2] for name, column in record[table].items()
        }
    return record


def test_panels_with_nothing_to_compare_are_left_out():
    record = one_rank(a_choice())
    found = drawn(record)
    assert list(found) == [TITLES[0], *TITLES[2:]]
    assert found[TITLES[2]].get_xlabel() == "Component, rank 2"
    record["compared"] = {name: column[:1] for name, column in record["compared"].items()}
    record["tried"] = {name: column[1:2] for name, column in record["tried"].items()}
    assert list(drawn(record)) == TITLES[2:3]


def test_a_single_setting_is_said_to_be_one():
    record = one_rank(interrupted())
    record["tried"] = {name: column[1:2] for name, column in record["tried"].items()}
    (ax,) = drawn(record).values()
    assert ax.texts[0].get_text().startswith("A single setting was tried")


def test_errors_of_many_sizes_are_on_a_logarithmic_scale():
    record = a_choice()
    record["ranks"]["error"][0] = 40.0
    record["tried"]["error"][0] = 30.0
    found = drawn(record)
    assert found[TITLES[1]].get_yscale() == "log"
    assert "10,000 %" in [text.get_text() for text in found[TITLES[0]].get_yticklabels()]


def test_many_ranks_without_any_error_can_be_drawn():
    found = drawn(spread_out())
    assert list(found) == TITLES[1:]
    assert found[TITLES[1]].get_xlabel() == "Rank"  # there is no room for twenty gains
    assert len(found[TITLES[2]].collections[1].get_offsets()) == sum(rank // 3 for rank in range(1, 21))


def test_settings_that_were_given_are_refused():
    with pytest.raises(ValueError, match="given, not chosen"):
        choice(hand_made())
