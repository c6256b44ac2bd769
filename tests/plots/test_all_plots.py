"""What all pictures have in common."""

import subprocess
import sys
import warnings

import matplotlib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import tparafac2 as tp
from tparafac2 import plots
from tparafac2.data import Labels
from tparafac2.plots.figures import off_screen
from tparafac2.result import Result

pytestmark = pytest.mark.slow

OF_COMPONENTS = ("pattern", "snapshots", "movers", "loadings")
OF_MODELS = ("strengths", "convergence", "agreement", *OF_COMPONENTS)


@pytest.fixture(scope="module")
def fitted(small_data):
    return tp.TParafac2(rank=2, n_starts=2, random_state=0).fit(small_data.X)


def draw(name, model, data, **arguments):
    more = {"residuals": [data.X]}.get(name, [])
    return getattr(plots, name)(model, *more, **arguments)


@pytest.mark.parametrize("name", [*OF_MODELS, "residuals"])
def test_axes_in_axes_out_and_settings_of_the_user_reach_only_these(fitted, small_data, name):
    with matplotlib.rc_context({"axes.labelsize": 33.0}):
        before = dict(matplotlib.rcParams)
        own = Figure().add_subplot()
        assert draw(name, fitted.result_, small_data, ax=own) is own
        new = draw(name, fitted, small_data)
        assert dict(matplotlib.rcParams) == before
    assert isinstance(new, Axes)
    assert isinstance(new.figure, Figure)
    assert own.xaxis.label.get_size() == 33
    assert new.xaxis.label.get_size() == plots.style.FONT_SIZE
    for ax in (own, new):
        ax.figure.draw_without_rendering()


@pytest.mark.parametrize("name", [*OF_MODELS, "residuals"])
def test_what_is_not_axes_is_refused(fitted, small_data, name):
    with pytest.raises(TypeError, match="ax must be a matplotlib Axes, or None for a new figure; got Figure"):
        draw(name, fitted, small_data, ax=Figure())


@pytest.mark.parametrize("name", [*OF_MODELS, "residuals", "overview", "choice"])
def test_a_model_has_to_be_fitted(small_data, name):
    with pytest.raises(ValueError, match="not fitted yet"):
        draw(name, tp.CP(rank=2), small_data)


@pytest.mark.parametrize("name", OF_COMPONENTS)
def test_components_are_numbered_from_one_to_the_rank(fitted, name):
    assert getattr(plots, name)(fitted, 2).get_title("left") == "Component 2"
    with pytest.raises(ValueError, match="component must be from 1 to 2"):
        getattr(plots, name)(fitted, 3)


def test_all_plots_are_exported():
    others = {"residuals", "overview", "choice", "save", "pattern_heatmap"}
    assert set(plots.__all__) >= {*OF_MODELS, *others}
    assert all(callable(getattr(plots, name)) for name in plots.__all__)


def test_pictures_do_not_load_pyplot():
    code = (
        "import sys, numpy as np, tparafac2.plots as plots\n"
        "from tparafac2.result import Result\n"
        "light = 'matplotlib' not in sys.modules and 'numba' not in sys.modules\n"
        "r = Result(model='M', A=np.ones((2, 1)), B=np.ones((3, 4, 1)), C=np.ones((3, 1)), objective=0.0,\n"
        "           explained_variance=1.0, status='', converged=True, n_iter=1)\n"
        "plots.overview(r).draw_without_rendering()\n"
        "plots.strengths(r).figure.draw_without_rendering()\n"
        "plots.pattern_heatmap([[1.0, 2.0]]).figure.draw_without_rendering()\n"
        "print(light, 'matplotlib.pyplot' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["True", "False"]


def odd_result(K, J, time, columns, values):
    rng = np.random.default_rng(0)
    B = rng.standard_normal((K, J, 2))
    B[..., 1] *= values
    return Result(
        model="M", A=rng.standard_normal((3, 2)), B=B, C=rng.random((K, 2)), objective=0.0,
        explained_variance=1.0, status="", converged=True, n_iter=1,
        coverage=(rng.random((K, J)) < 0.7).astype(float), labels=Labels(columns=columns, time=time),
    )  # fmt: skip


@settings(max_examples=8)
@given(st.data())
def test_any_labels_and_sizes_can_be_drawn(data):
    K, J = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 5))
    texts = st.text(max_size=40)
    kinds = [texts, st.integers(-(10**12), 10**12), st.floats(-1e300, 1e300), st.dates().map(np.datetime64)]
    time = data.draw(st.none() | st.one_of(*(st.lists(k, min_size=K, max_size=K) for k in kinds)))
    columns = data.draw(st.none() | st.lists(texts, min_size=J, max_size=J))
    values = data.draw(st.sampled_from([0.0, 1.0, 1e-300, 1e300, np.nan, np.inf]))
    result = odd_result(K, J, time, columns, values)
    with off_screen(), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.filterwarnings("ignore", "Glyph")
        for name in ("strengths", *OF_COMPONENTS):
            arguments = {} if name == "strengths" else {"component": 2}
            getattr(plots, name)(result, **arguments).figure.draw_without_rendering()
