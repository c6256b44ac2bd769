"""One component's pattern beside the true one."""

import numpy as np
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure

import tparafac2 as tp
from tparafac2.plots import truth
from tparafac2.result import Result


def estimate(A, B, C, **changes):
    facts = {"objective": 0.0, "explained_variance": 1.0, "status": "", "converged": True, "n_iter": 1}
    return Result(model="M", A=A, B=B, C=C, **facts, **changes)


@pytest.fixture(scope="module")
def data():
    return tp.synthetic.easy(seed=0, n_times=8, n_rows=20, n_columns=24, n_concepts=2)


def maps(ax):
    return [np.asarray(item.get_array()) for item in ax.collections if isinstance(item, QuadMesh)][:2]


def test_order_sign_and_size_of_the_estimate_do_not_matter(data):
    A, B, C = data.factors
    ax = truth(estimate(-A[:, ::-1], -7 * B[:, :, ::-1], C[:, ::-1]), data, 1)
    true, found = maps(ax)
    np.testing.assert_allclose(found, true)
    assert true.max() > 0
    assert ax.get_title("left") == "True component 2"
    assert ax.texts[0].get_text() == "Component 1 (cosine 1.00)"


def test_columns_are_those_of_the_truth_and_the_same_below(data):
    ax = truth(estimate(*data.factors), data, 1, n_columns=6)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert len(names) == 12
    assert names[:6] == names[6:]
    weights = tp.plots.subject.as_result(estimate(*data.factors)).normalised().B[:, :, 0]
    np.testing.assert_allclose(maps(ax)[0], weights[:, [int(name) for name in names[:6]]].T)


def test_both_have_one_scale(data):
    meshes = [item for item in truth(estimate(*data.factors), data).collections if isinstance(item, QuadMesh)]
    assert meshes[0].get_clim() == meshes[1].get_clim()


def test_slices_are_in_the_order_of_time(data):
    K = len(data.C)
    backwards = estimate(*data.factors, times=np.arange(K)[::-1])
    np.testing.assert_allclose(maps(truth(backwards, data, n_columns=24))[0].shape, (24, K))
    forwards = np.sort(maps(truth(estimate(*data.factors), data, n_columns=24))[0], axis=0)
    np.testing.assert_allclose(
        np.sort(maps(truth(backwards, data, n_columns=24))[0], axis=0), forwards[:, ::-1]
    )


def test_strengths_need_not_be_known(data):
    A, B, C = data.factors
    assert truth(estimate(A, B, C), (A, B, None)).get_title("left") == "True component 1"
    assert truth(estimate(A, B, np.ones_like(C)), data).get_title("left") == "True component 1"


def test_what_is_not_determined_is_hatched_on_its_side(data):
    A, B, C = data.factors
    weak = C.copy()
    weak[3, 0] = 1e-9
    ax = truth(estimate(A, B, weak), data, 1)
    (hatch,) = [item for item in ax.collections if item.get_hatch()]
    (path,) = hatch.get_paths()
    assert path.get_extents().extents[[0, 2]].tolist() == [2.5, 3.5]
    assert path.get_extents().y0 == len(maps(ax)[0]) + 1.8
    assert "not determined" in ax.get_xlabel()


def test_a_component_too_many_has_no_partner(data):
    A, B, C = data.factors
    three = estimate(*(np.concatenate([x, x[..., :1] ** 3], axis=-1) for x in (A, B, C)))
    with pytest.raises(ValueError, match=r"no true component is left for component 3: .* all 2 of them"):
        truth(three, data, 3)


def test_truth_of_another_size_is_refused(data):
    A, B, C = data.factors
    with pytest.raises(ValueError, match="cannot be compared in mode B"):
        truth(estimate(A, B, C), (A, B[:, :5], C))
    with pytest.raises(TypeError, match="truth must be a tuple"):
        truth(estimate(A, B, C), "data")


def test_given_axes_are_used(data):
    ax = Figure().add_subplot()
    assert truth(estimate(*data.factors), data, ax=ax) is ax
    assert len(ax.figure.axes) == 1
