"""Files that earlier versions wrote open for ever, and hold what they held."""

from pathlib import Path
from runpy import run_path

import numpy as np
import pytest

import tparafac2 as tp
from tparafac2.penalties import NonNegative, Parafac2, Ridge

FOLDER = Path(__file__).parent / "golden"
VERSIONS = ["0.2.0.dev0"]  # golden/make.py writes the files of another
MADE = run_path(str(FOLDER / "make.py"))


@pytest.fixture(params=VERSIONS)
def version(request):
    return request.param


def test_no_file_is_forgotten():
    names = {f"{model}-{version}.npz" for version in VERSIONS for model in ("tparafac2", "parafac2")}
    assert {path.name for path in FOLDER.glob("*.npz")} == names


def test_evolving_patterns_with_labels_dates_gaps_and_a_preparation(version):
    model = tp.load(FOLDER / f"tparafac2-{version}.npz")
    result = model.result_
    assert result.version == version
    close = {"rtol": 0, "atol": 1e-10}
    np.testing.assert_allclose(result.A[0], [0.3892347267, 0.2709680957], **close)
    np.testing.assert_allclose(result.A[4], [0.2769390313, 0.2815936875], **close)
    np.testing.assert_allclose(
        result.B[:, 0],
        [
            [4.4733999216, 2.8523326235],
            [4.5285997942, 2.8788497931],
            [4.5406770105, 2.8833534588],
            [4.8530358731, 3.0004347684],
        ],
        **close,
    )
    np.testing.assert_allclose(result.C[3], [0.5040329503, 0.2036839764], **close)
    assert result.objective == pytest.approx(0.5283590799006255, rel=1e-12)
    assert result.explained_variance == pytest.approx(0.9984079019143138, rel=1e-12)
    assert result.feasibility_gaps == pytest.approx({"A": 0.0, "B": 0.0016871328, "C": 0.0}, rel=1e-6)

    assert result.labels.rows.tolist() == ["ann", "bob", "cyd", "dee", "eva"]
    assert result.labels.columns.tolist() == ["blue", "green", "red", "white"]
    assert result.labels.time[3] == np.datetime64("2020-02-01")
    assert result.labels.names == {"rows": "author", "columns": "word", "time": "year"}
    assert result.times.tolist() == [18262, 18266, 18267, 18293]
    assert result.clock.order == (0, 1, 3)
    assert result.clock.gaps.tolist() == [4, 27, 335]
    assert result.coverage[2].tolist() == [0, 0, 0, 0]
    assert result.observed_share == 0.725
    assert result.undetermined.tolist() == [[False] * 2, [False] * 2, [True] * 2, [False] * 2]
    assert result.preparation["transform"] == "sqrt"

    assert result.status == "infeasible"
    assert (result.converged, result.n_iter, len(result.starts["chosen"])) == (False, 6, 2)
    assert len(result.trace["objective"]) == 6
    assert type(model) is tp.TParafac2
    assert (model.rank, model.smoothness, model.period) == (2, 1e-2, 366.0)
    assert (model.n_starts, model.random_state, model.tol) == (2, 3, 0.0)
    assert model.penalties_b == [Ridge(1e-4)]


def test_slices_of_unequal_widths(version):
    model = tp.load(FOLDER / f"parafac2-{version}.npz")
    result = model.result_
    assert result.version == version
    assert result.widths == (4, 5, 4)
    close = {"rtol": 0, "atol": 1e-10}
    np.testing.assert_allclose(result.A[0], [1.6979262682, -0.3282120768], **close)
    np.testing.assert_allclose(result.B[1][0], [0.430238123, -0.1440485625], **close)
    np.testing.assert_allclose(result.C[2], [1.2251819847, 0.1711724469], **close)
    assert result.objective == pytest.approx(3.1006497283986567, rel=1e-12)
    assert (result.labels.rows, result.times, result.preparation) == (None, None, None)
    assert (model.lambda_a, model.lambda_b, model.lambda_d) == (0.1, 0.2, 0.3)


def test_files_know_what_was_minimised(version):
    smooth, plain = (tp.load(FOLDER / f"{name}-{version}.npz") for name in ("tparafac2", "parafac2"))
    data = tp.Preparation("sqrt").apply(
        MADE["evolving"](), dims={"time": "year", "rows": "author", "columns": "word"}
    )
    for model, X in ((smooth, data), (plain, MADE["ragged"]())):
        found = model.evaluate(X)
        assert found.explained_variance == pytest.approx(model.explained_variance_, rel=1e-9)
        assert found.objective == pytest.approx(model.objective_, rel=1e-9)
        assert model.constraint_violations_["B"]["Parafac2"] < 1e-12
    assert (Parafac2(), Ridge(0.2)) == plain.result_.terms.B
    assert (Ridge(0.3), NonNegative()) == plain.result_.terms.C
    assert smooth.result_.smoothness == pytest.approx(1e-2, rel=1e-9)
