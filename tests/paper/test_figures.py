"""The paper's figures: their artists, their texts, their files."""

import subprocess
import sys
from itertools import combinations
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from figures import (
    almost_zero_figure,
    drifts_figure,
    easy_figure,
    example_figure,
    overlapping_figure,
    save_figure,
    score_figures,
    strengths_figure,
)
from figures.scores import UNIT_FORM, line_up, score_range
from matplotlib.patches import PathPatch
from matplotlib.text import Text
from plan import CHOSEN

from tparafac2.metrics import match_components
from tparafac2.plots.style import FONT_SIZE
from tparafac2.synthetic import almost_zero, easy

pytestmark = pytest.mark.slow

LEVELS = {"easy": (0.25, 0.5, 0.75, 1.0), "almost_zero": (1.0, 2.0), "overlapping": (0.1, 0.2, 0.4)}
LAMBDAS = (1.0, 10.0, 100.0, 1000.0)
SHOWN = {"easy": 5, "almost_zero": 5, "overlapping": 13}


def full_table(n_datasets=20, chosen=False):
    """Make a table like that of a full run, with made-up scores between .3 and 1."""
    methods = [("PARAFAC2", np.nan), *((m, v) for m in ("tPARAFAC2", "tCMF", "NNtCMF") for v in LAMBDAS)]
    methods += [(method.model, np.nan) for method in CHOSEN if chosen]
    rows = [
        {"case": case, "level": level, "dataset": dataset, "model": model, "lambda_b": lambda_b}
        for case, levels in LEVELS.items()
        for level in levels
        for dataset in range(n_datasets)
        for model, lambda_b in methods
    ]
    fms, unit = np.random.default_rng(0).uniform(0.3, 1, (2, len(rows)))
    return pd.DataFrame(rows).assign(fms=fms, fms_unit=unit)


@pytest.fixture(scope="module")
def table():
    return full_table()


@pytest.fixture(scope="module")
def drawn(table):
    """Give the figures of all cases, for tests that only look at them."""
    return score_figures(table)


@pytest.fixture(scope="module")
def with_chosen():
    """Give the figures of a run in which data chose, too."""
    table = full_table(n_datasets=6, chosen=True)
    return table, score_figures(table)


@pytest.fixture(scope="module")
def weak_data():
    return almost_zero(seed=0, n_weak=2, n_times=12, n_rows=18, n_columns=24)


def muddled(data):
    """Give the true components in another order, of other signs and sizes, with a little noise."""
    order = [2, 0, 1]
    noise = 0.05 * np.random.default_rng(0).normal(size=data.B.shape)
    return -data.A[:, order], -7 * (data.B + noise)[:, :, order], data.C[:, order]


def boxes(ax):
    return [patch for patch in ax.patches if isinstance(patch, PathPatch)]


def data_points(ax):
    return [line for line in ax.lines if line.get_marker() == "o"]


def out_of_view(figure):
    """Give the tick labels that exist but are not drawn."""
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            yield from (tick.label1 for tick in axis.get_major_ticks() if not low <= tick.get_loc() <= high)


def visible_texts(figure):
    figure.draw_without_rendering()
    hidden = set(out_of_view(figure))
    found = figure.findobj(lambda a: isinstance(a, Text) and a.get_visible() and a.get_text().strip())
    return [(text, text.get_window_extent()) for text in found if text not in hidden]


def check_legible(figure):
    texts = visible_texts(figure)
    assert texts
    for text, extent in texts:
        assert text.get_fontsize() >= FONT_SIZE, text
        assert figure.bbox.containsx(extent.x0), text
        assert figure.bbox.containsx(extent.x1), text
        assert figure.bbox.containsy(extent.y0), text
        assert figure.bbox.containsy(extent.y1), text
        for ax in figure.axes:
            assert not extent.padded(-0.5).overlaps(ax.get_window_extent()), text
    for (one, first), (other, second) in combinations(texts, 2):
        assert not first.padded(-0.5).overlaps(second.padded(-0.5)), (one, other)


ALL_FIGURES = {
    "drifts": lambda table, data: drifts_figure(),
    "strengths": lambda table, data: strengths_figure(),
    "easy": lambda table, data: easy_figure(table),
    "almost_zero": lambda table, data: almost_zero_figure(table),
    "overlapping": lambda table, data: overlapping_figure(table),
    "one_data_set": lambda table, data: easy_figure(table[table["dataset"] == 3]),
    "example": lambda table, data: example_figure(data, {"PARAFAC2": muddled(data)}, title="An example"),
}


@pytest.mark.parametrize("make", ALL_FIGURES.values(), ids=ALL_FIGURES)
def test_every_text_is_legible_and_free_and_settings_and_table_are_left_alone(make, table, weak_data):
    settings, rows = dict(matplotlib.rcParams), table.copy()
    check_legible(make(table, weak_data))
    assert dict(matplotlib.rcParams) == settings
    pd.testing.assert_frame_equal(table, rows)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda figure: figure.suptitle("small print", fontsize=FONT_SIZE - 1),
        lambda figure: figure.text(0.99, 0.5, "too long for the page"),
        lambda figure: figure.axes[0].text(10, 10, "over the data"),
        lambda figure: figure.axes[0].set_title("a title that is far too long for its panel"),
    ],
    ids=["small", "outside", "over data", "over text"],
)
def test_bad_text_would_be_noticed(spoil):
    figure = strengths_figure()
    spoil(figure)
    with pytest.raises(AssertionError):
        check_legible(figure)


def test_neither_import_nor_figure_needs_pyplot():
    code = (
        "import sys, figures as figures\n"
        "light = not {'matplotlib', 'pandas'} & set(sys.modules)\n"
        "figures.strengths_figure().draw_without_rendering()\n"
        "print(light, 'matplotlib.pyplot' in sys.modules)"
    )
    folder = Path(__file__).parents[2] / "paper"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder)
    assert run.stdout.split() == ["True", "False"]


# --- what the generator makes -------------------------------------------------------------------------------


def test_drifts_share_one_colour_scale_and_show_change():
    figure = drifts_figure()
    images = [ax.images[0] for ax in figure.axes]
    assert len(images) == 4
    assert len({image.get_clim() for image in images}) == 1
    for image in images:
        activity = image.get_array() > 0
        assert activity.shape == (24, 20)
        assert (activity[:, 0] != activity[:, -1]).any() or (activity[:, 0] != activity[:, 7]).any()


def test_drifts_are_of_the_kind_they_are_called():
    active = {ax.get_title(): np.asarray(ax.images[0].get_array()).T > 0 for ax in drifts_figure().axes}
    changes = {kind: (np.diff(a.astype(int), axis=0) != 0).any(axis=1).sum() for kind, a in active.items()}
    assert changes["Sudden"] == 1
    assert changes["Gradual"] >= 3
    assert changes["Reoccurring"] == 3
    assert changes["Incremental"] >= 5


def test_strengths_share_one_axis_from_zero():
    axes = strengths_figure().axes
    assert len({ax.get_ylim() for ax in axes}) == 1
    low, high = axes[0].get_ylim()
    assert low == 0
    for ax in axes:
        values = ax.lines[0].get_ydata()
        assert len(values) == 20
        assert values.min() > 0
        assert values.max() < high


def test_strengths_are_of_the_kind_they_are_called():
    values = {ax.get_title(): ax.lines[0].get_ydata() for ax in strengths_figure().axes}
    assert np.ptp(values["Constant"]) < 3
    assert (np.diff(values["Increasing"]) >= 0).all()
    assert (np.diff(values["Decreasing"]) <= 0).all()
    assert (np.diff(np.sign(np.diff(values["Periodic"]))) != 0).sum() == 3


@pytest.mark.parametrize("make", [drifts_figure, strengths_figure])
def test_the_seed_decides(make):
    def content(seed):
        axes = make(seed).axes
        return [np.asarray(ax.images[0].get_array() if ax.images else ax.lines[0].get_ydata()) for ax in axes]

    np.testing.assert_array_equal(content(1), content(1))
    assert any((one != other).any() for one, other in zip(content(1), content(2)))


# --- box plots ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", LEVELS)
def test_one_box_per_level_and_method(drawn, case):
    ax = drawn[case].axes[0]
    assert len(boxes(ax)) == SHOWN[case] * len(LEVELS[case])
    assert sum(len(points.get_ydata()) for points in data_points(ax)) == 20 * len(boxes(ax))
    assert ax.get_ylabel() == "Factor match score"
    assert "20 data sets each" in ax.get_xlabel()


@pytest.mark.parametrize(
    ("case", "labels"),
    [
        ("easy", ["0.25", "0.5", "0.75", "1"]),
        ("almost_zero", ["1 weak concept", "2 weak concepts"]),
        ("overlapping", ["10%", "20%", "40%"]),
    ],
)
def test_levels_stand_below_the_middle_of_their_boxes(drawn, case, labels):
    ax = drawn[case].axes[0]
    assert [label.get_text() for label in ax.get_xticklabels()] == labels
    places = np.array([box.get_path().get_extents().x0 for box in boxes(ax)]) + 0.4
    nearest = np.abs(places[:, None] - ax.get_xticks()).argmin(axis=1)
    for i, tick in enumerate(ax.get_xticks()):
        group = places[nearest == i]
        assert len(group) == len(places) / len(labels)
        assert (group.min() + group.max()) / 2 == pytest.approx(tick)


@pytest.mark.parametrize(
    ("name", "shown"),
    [("easy", 4 * 7), ("almost_zero", 2 * 7), ("overlapping", 3 * 14), (UNIT_FORM, 3 * 15)],
)
def test_what_the_data_chose_has_boxes_beside_and_a_line_in_the_legend(with_chosen, name, shown):
    figure = with_chosen[1][name]
    assert len(boxes(figure.axes[0])) == shown
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels[-1] == ("tPARAFAC2, chosen" if name == "overlapping" else "flexible tPARAFAC2, chosen")
    assert sum("lambda" in label for label in labels) == 1
    assert not any("chosen" in label and "lambda" in label for label in labels)
    check_legible(figure)


def test_the_flexible_model_is_only_beside_others_of_its_form(with_chosen):
    table, figures = with_chosen
    rows = table[(table["case"] == "overlapping") & (table["level"] == 0.4)]
    medians = set(rows.groupby("model")["fms_unit"].median().round(12)[["PARAFAC2", CHOSEN[1].model]])
    lines = figures[UNIT_FORM].axes[0].lines
    assert medians <= {round(float(line.get_ydata()[0]), 12) for line in lines if line.get_linewidth() == 1.2}
    assert "unit form" in figures[UNIT_FORM].axes[0].get_ylabel()
    assert UNIT_FORM not in score_figures(table[table["case"] != "overlapping"])


def test_a_box_shows_the_scores_of_its_method(table, drawn):
    ax = drawn["overlapping"].axes[0]
    rows = table[(table["case"] == "overlapping") & (table["model"] == "tCMF") & (table["lambda_b"] == 100)]
    medians = rows.groupby("level")["fms"].median()
    shown = {round(float(line.get_ydata()[0]), 12) for line in ax.lines if line.get_linewidth() == 1.2}
    assert {round(value, 12) for value in medians} <= shown


def test_a_data_set_has_the_same_place_in_every_box(table):
    shuffled = table.sample(frac=1, random_state=0)
    points = data_points(easy_figure(shuffled).axes[0])
    scores = shuffled[(shuffled["case"] == "easy") & (shuffled["dataset"] == 0)]["fms"].tolist()
    leftmost = [float(p.get_ydata()[np.argmin(p.get_xdata())]) for p in points]
    assert set(leftmost) <= set(scores)
    assert len(leftmost) == 20


def test_families_differ_in_hue_and_methods_in_shade(table):
    lined_up = line_up(table)
    assert [box.model for box in lined_up] == ["PARAFAC2"] + ["tPARAFAC2"] * 4 + ["tCMF"] * 4 + ["NNtCMF"] * 4
    faces = [box.patch["facecolor"] for box in lined_up]
    assert len(set(faces)) == 13
    brightness = [sum(face) for face in faces[1:5]]
    assert brightness == sorted(brightness, reverse=True)
    gaps = np.diff([box.place for box in lined_up])
    assert sorted(set(gaps.round(6))) == [1.0, 1.4]


def test_the_legend_names_families_and_lambdas_once(drawn):
    figure = drawn["overlapping"]
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["PARAFAC2", "tPARAFAC2", "tCMF", r"NNtCMF, each with $\lambda_B$ = 1, 10, 100, 1000"]
    figure.draw_without_rendering()
    assert not figure.legends[0].get_window_extent().overlaps(figure.axes[0].get_window_extent())


def test_all_scores_are_in_view(drawn):
    for figure in drawn.values():
        low, high = figure.axes[0].get_ylim()
        for points in data_points(figure.axes[0]):
            assert low < points.get_ydata().min()
            assert points.get_ydata().max() < high


@pytest.mark.parametrize(("lowest", "low"), [(0.97, 0.95), (0.95, 0.9), (0.42, 0.4), (0.3, 0.2), (0.0, 0.0)])
def test_the_range_adapts_to_the_scores(lowest, low):
    found = score_range(np.array([lowest, 0.99]))
    assert found[0] == pytest.approx(low)
    assert 1 < found[1] < 1.05


def test_cases_that_are_not_there_are_left_out(table):
    assert list(score_figures(table[table["case"] == "almost_zero"])) == ["almost_zero"]
    assert score_figures(table[:0]) == {}
    with pytest.raises(
        ValueError, match=r"no scores of PARAFAC2; tPARAFAC2; .* in the case 'easy'.*almost_zero"
    ):
        easy_figure(table[table["case"] == "almost_zero"])


def test_missing_scores_are_not_counted(table):
    lost = table.copy()
    lost.loc[(lost["case"] == "easy") & (lost["dataset"] == 4) & (lost["lambda_b"] == 10), "fms"] = np.nan
    ax = easy_figure(lost).axes[0]
    assert len(boxes(ax)) == 20
    assert "19 to 20 data sets each" in ax.get_xlabel()


def test_a_single_score_is_one_point_in_the_colour_of_its_method(table):
    one = table[(table["dataset"] == 7) & (table["level"] == 0.5) & (table["lambda_b"] == 100)]
    figure = easy_figure(one)
    (point,) = data_points(figure.axes[0])
    assert point.get_ydata().tolist() == one.loc[one["model"] == "tPARAFAC2", "fms"].tolist()
    assert point.get_color() == line_up(one[one["model"] == "tPARAFAC2"])[0].patch["facecolor"]
    assert boxes(figure.axes[0]) == []
    assert figure.axes[0].get_xlabel().endswith("(1 data set each)")


@pytest.mark.parametrize("model", ["PARAFAC2", "tPARAFAC2", "NNtCMF"])
def test_a_single_family_is_shown(table, model):
    own = table[table["model"] == model]
    assert len(boxes(overlapping_figure(own).axes[0])) == 3 * (1 if model == "PARAFAC2" else 4)


# --- examples -----------------------------------------------------------------------------------------------


def test_estimates_are_matched_turned_and_scaled(weak_data):
    figure = example_figure(weak_data, {"muddled": muddled(weak_data)})
    panels = [np.asarray(ax.images[0].get_array()).T for ax in figure.axes[:6]]
    for true, found in zip(panels[:3], panels[3:]):
        assert np.linalg.norm(true) == pytest.approx(np.sqrt(12))
        assert np.linalg.norm(found) == pytest.approx(np.sqrt(12))
        assert np.vdot(true, found) > 0.9 * 12


def test_the_cosine_is_that_of_the_pattern(weak_data):
    estimate = muddled(weak_data)
    figure = example_figure(weak_data, {"muddled": estimate})
    expected = match_components(estimate, weak_data).per_mode["B"]
    assert [ax.get_title("right") for ax in figure.axes[3:6]] == [f"cosine {value:.2f}" for value in expected]


def test_all_panels_have_one_colour_scale_and_one_bar(weak_data):
    figure = example_figure(weak_data, {name: muddled(weak_data) for name in ("one", "two")})
    *panels, bar = figure.axes
    assert len(panels) == 9
    assert len({ax.images[0].get_clim() for ax in panels}) == 1
    assert bar.get_ylabel().startswith("Importance")


def test_rows_and_columns_are_named(weak_data):
    figure = example_figure(weak_data, {"PARAFAC2": muddled(weak_data)}, title="Weak concepts")
    assert [ax.get_title("left") for ax in figure.axes[:3]] == ["Concept 1", "Concept 2", "Concept 3"]
    assert [figure.axes[i].texts[0].get_text() for i in (0, 3)] == ["Ground truth", "PARAFAC2"]
    assert figure.get_suptitle() == "Weak concepts"


def test_long_names_go_on_in_another_line(weak_data):
    names = {method.label: muddled(weak_data) for method in CHOSEN}
    check_legible(example_figure(weak_data, names))


def test_weak_times_are_marked_over_every_panel(weak_data):
    figure = example_figure(weak_data, {"PARAFAC2": muddled(weak_data)})
    for position, ax in enumerate(figure.axes[:6]):
        weak = np.flatnonzero(weak_data.C[:, position % 3] == 0.01)
        expected = [[weak[0] - 0.5, weak[-1] + 0.5]] if weak.size else []
        assert [list(line.get_xdata()) for line in ax.lines] == expected


def test_separate_weak_times_have_separate_marks(weak_data):
    A, B, C = (factor.copy() for factor in weak_data.factors)
    C[:] = 1
    C[[0, 1, 5], 0] = 0.01
    ax = example_figure((A, B, C), {}).axes[0]
    assert [list(line.get_xdata()) for line in ax.lines] == [[-0.5, 1.5], [4.5, 5.5]]


def test_strong_concepts_have_no_marks():
    data = easy(seed=0, n_times=12, n_rows=18, n_columns=24)
    figure = example_figure(data, {"same": data.factors})
    assert not any(ax.lines for ax in figure.axes[:6])


def test_a_method_without_strengths_is_matched_by_the_rest(weak_data):
    A, B, _ = muddled(weak_data)
    figure = example_figure(weak_data, {"tCMF": (A, B, None)})
    assert all(ax.get_title("right").startswith("cosine 0.9") for ax in figure.axes[3:6])


def test_a_missing_component_leaves_its_panel_empty(weak_data):
    A, B, C = weak_data.factors
    figure = example_figure(weak_data, {"two": (A[:, 1:], B[:, :, 1:], C[:, 1:])})
    titles = [ax.get_title("right") for ax in figure.axes[3:6]]
    assert titles == ["no component left", "cosine 1.00", "cosine 1.00"]
    assert np.isnan(figure.axes[3].images[0].get_array().filled(np.nan)).all()


def test_estimates_of_another_size_are_refused(weak_data):
    A, B, C = weak_data.factors
    with pytest.raises(ValueError, match="cannot be compared in mode B"):
        example_figure(weak_data, {"other": (A, B[:, :5], C)})


# --- files --------------------------------------------------------------------------------------------------


def test_files_are_complete_and_repeat(tmp_path):
    png, pdf = save_figure(drifts_figure(), tmp_path, "drifts")
    assert png.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert png.read_bytes()[-8:-4] == b"IEND"
    assert pdf.read_bytes().startswith(b"%PDF")
    assert b"CreationDate" not in pdf.read_bytes()
    first = [path.read_bytes() for path in (png, pdf)]
    again = save_figure(drifts_figure(), tmp_path, "drifts")
    assert [path.read_bytes() for path in again] == first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["drifts.pdf", "drifts.png"]


@pytest.mark.parametrize("name", ["", "a/b"])
def test_names_that_are_no_file_names_are_refused(tmp_path, name):
    with pytest.raises(ValueError, match="name must be the name of a file"):
        save_figure(strengths_figure(), tmp_path, name)


def test_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match="there is no folder"):
        save_figure(strengths_figure(), tmp_path / "nowhere", "strengths")
