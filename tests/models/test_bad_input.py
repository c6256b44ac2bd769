"""Bad input is refused with a sentence, before any work."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import xarray as xr

import tparafac2 as tp
from tparafac2.data import memory
from tparafac2.errors import Told
from tparafac2.fitting import one_fit
from tparafac2.penalties import NonNegative, Ridge

RNG = np.random.default_rng(0)
GOOD = RNG.random((4, 6, 5))  # K, I, J
RAGGED = [GOOD[0], GOOD[1][:, :4], GOOD[2]]
MODELS = {"TParafac2": tp.TParafac2, "Parafac2": tp.Parafac2, "TemporalCMF": tp.TemporalCMF, "CP": tp.CP}
SMOOTH = [tp.TParafac2, tp.TemporalCMF]
THREE = [tp.TParafac2, tp.Parafac2, tp.CP]

each_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
two_models = pytest.mark.parametrize("model", [tp.TParafac2, tp.CP])  # where all share the check


@pytest.fixture(autouse=True)
def no_work(monkeypatch):
    """Fail if anything that takes time is begun."""

    def working(*args, **kwargs):
        raise AssertionError("the solver was asked to work on bad input")

    for name in ("run_starts", "compress", "uniform_start", "svd_start"):
        monkeypatch.setattr(one_fit, name, working)


def refused(kind, sentence, model, X=GOOD, **fit):
    """Check that a fit is refused with a sentence, which is the whole of the message and ends as one."""
    with pytest.raises(kind, match=sentence) as error:
        model.fit(X, **fit)
    assert type(error.value) is kind or isinstance(error.value, Told)  # and not one of a library below
    assert str(error.value).strip().endswith((".", "}", "?"))
    assert "\n" not in str(error.value)
    with pytest.raises(tp.NotFittedError):
        model.A_  # noqa: B018


def test_good_input_gets_as_far_as_the_work():
    for model in MODELS.values():
        with pytest.raises(AssertionError, match="was asked to work"):
            model(2, random_state=0).fit(GOOD)


# --- data ---------------------------------------------------------------------------------------------------


def spoilt(value):
    X = GOOD.copy()
    X[1, 2, 3] = value
    return X


BAD_DATA = {
    "one dimension": (GOOD[0, 0], ValueError, r"1 dimension \(shape \(5,\)\), but three are needed"),
    "two dimensions": (GOOD[0], ValueError, r"2 dimensions .* three are needed.* np\.stack"),
    "four dimensions": (GOOD[None], ValueError, "4 dimensions .* three are needed"),
    "a number": (3.0, TypeError, "X is a float; give"),
    "nothing": (None, TypeError, "X is a NoneType; give"),
    "a text": ("data.csv", TypeError, "X is a str; give"),
    "a generator": (iter(GOOD), TypeError, "give a .* list of K arrays"),
    "unequal heights": ([GOOD[0], GOOD[1][:4]], ValueError, "slice 1 has 4 rows, but slice 0 has 6"),
    "a slice of one dimension": ([GOOD[0], GOOD[1][0]], ValueError, "slice 1 has 1 dimension"),
    "infinity": (spoilt(np.inf), ValueError, "1 infinite values.* slice 1, row 2, column 3"),
    "minus infinity": (spoilt(-np.inf), ValueError, "1 infinite values"),
    "all NaN": (np.full_like(GOOD, np.nan), ValueError, "every entry of X is missing"),
    "all masked": (np.ma.masked_array(GOOD, GOOD == GOOD), ValueError, "every entry of X is missing"),
    "complex": (GOOD * 1j, TypeError, "complex numbers"),
    "texts": (GOOD.astype(str), TypeError, "numbers are needed: convert"),
    "objects": (GOOD.astype(object), TypeError, "type object; numbers are needed"),
    "dates": (GOOD.astype("datetime64[s]"), TypeError, "numbers are needed"),
    "an empty list": ([], ValueError, "empty list"),
    "no times": (GOOD[:0], ValueError, r"shape \(0, 6, 5\).* at least one of each"),
    "no rows": (GOOD[:, :0], ValueError, r"shape \(4, 0, 5\)"),
    "no columns": (GOOD[:, :, :0], ValueError, r"shape \(4, 6, 0\)"),
    "an empty slice": ([GOOD[0], GOOD[1][:, :0]], ValueError, "slice 1 is empty"),
    "all zero": (GOOD * 0, ValueError, "every entry of X is zero"),
    "too large": (GOOD * 1e308, ValueError, "too large"),
    "too large to be squared": (GOOD + 1e155, ValueError, "too large"),
}


@each_model
@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data(model, case):
    X, kind, sentence = BAD_DATA[case]
    refused(kind, sentence, model(2, random_state=0), X)


@each_model
def test_bad_sparse_data(model):
    slices = [scipy.sparse.csr_array(piece) for piece in GOOD]
    refused(TypeError, "X is one sparse matrix", model(2), slices[0])
    refused(TypeError, "slice 0 is a sparse matrix, but not all slices are", model(2), [slices[0], *GOOD[1:]])
    refused(ValueError, "slice 1 has 5 rows, but slice 0 has 6", model(2), [slices[0], slices[1][:5]])
    refused(ValueError, r"missing values \(NaN\).* dense input", model(2), [*slices[1:], slices[0] * np.nan])
    refused(ValueError, "every entry of X is zero", model(2), [0 * piece for piece in slices])


@pytest.mark.parametrize("model", SMOOTH)
def test_one_slice_has_no_change_in_time(model):
    refused(ValueError, f"{model.__name__} needs at least 2 slices.* got 1", model(2), GOOD[:1])


@pytest.mark.parametrize("model", [tp.TParafac2, tp.TemporalCMF, tp.CP])
def test_ragged_slices_are_refused_where_patterns_are_compared(model):
    sentence = (
        f"{model.__name__} compares the patterns .* column by column.* between 4 and 5 columns.*Parafac2"
    )
    refused(ValueError, sentence, model(2), RAGGED)


def test_ragged_slices_with_further_terms_on_the_patterns():
    refused(ValueError, "further terms on the patterns", tp.Parafac2(2, penalties_b=[NonNegative()]), RAGGED)


# --- labels -------------------------------------------------------------------------------------------------


def array(**names):
    return xr.DataArray(GOOD, dims=("time", "rows", "columns")).rename(names)


@each_model
def test_dimensions_that_cannot_be_told_apart(model):
    X = array(time="x", rows="y", columns="z")
    refused(ValueError, "say which are rows, columns and time by dims=", model(2), X)


@each_model
@pytest.mark.parametrize(
    ("dims", "sentence"),
    [
        ({"time": "when"}, "dims says time is 'when', which X does not have"),
        ({"slices": "time"}, "got 'slices'"),
        ({"time": "time", "rows": "time"}, "one dimension twice"),
    ],
)
def test_dims_that_do_not_match(model, dims, sentence):
    refused(ValueError, sentence, model(2), array(), dims=dims)


@each_model
def test_dims_without_labels(model):
    refused(
        ValueError, "dims names the dimensions of an xarray.DataArray, but X is a ndarray", model(2), dims={}
    )


def test_a_data_set_is_not_an_array():
    refused(TypeError, r"choose one of its arrays, X\['name'\]", tp.CP(2), array().to_dataset(name="x"))


@each_model
def test_data_frames_whose_labels_do_not_match(model):
    frames = [pd.DataFrame(piece, columns=[f"a{k}", *"bcde"]) for k, piece in enumerate(GOOD)]
    sentence = r"4 of 8 column labels are not in every slice: 'a0' \(not in slice 1\)"
    refused(ValueError, sentence, model(2), frames)


# --- rank ---------------------------------------------------------------------------------------------------


@each_model
@pytest.mark.parametrize(
    ("rank", "kind", "sentence"),
    [
        (0, ValueError, "rank must be at least 1; got 0"),
        (-1, ValueError, "rank must be at least 1; got -1"),
        (2.5, TypeError, "rank must be a whole number; got 2.5"),
        (2.0, TypeError, "rank must be a whole number; got 2.0"),
        (True, TypeError, "rank must be a whole number; got True"),
        ("3", TypeError, "rank must be a whole number; got '3'"),
        (None, TypeError, "rank must be a whole number; got None"),
    ],
)
def test_rank(model, rank, kind, sentence):
    refused(kind, sentence, model(rank))


@pytest.mark.parametrize("model", [tp.TParafac2, tp.Parafac2, tp.TemporalCMF])
def test_rank_larger_than_the_slices_allow(model):
    refused(ValueError, r"rank 6 .* \(6 rows x 5 columns\): use a rank of at most 5", model(6))
    refused(ValueError, "use a rank of at most 3", model(4), GOOD[:, :3])


def test_rank_larger_than_the_narrowest_slice():
    refused(ValueError, "6 rows x 4 columns.* at most 4", tp.Parafac2(5), RAGGED)


def test_rank_of_cp_may_be_larger_than_a_slice_but_not_than_the_table():
    refused(ValueError, "6 rows x 5 columns x 4 times.* at most 20", tp.CP(21))
    with pytest.raises(AssertionError, match="was asked to work"):
        tp.CP(20).fit(GOOD)


def test_numpy_integers_are_whole_numbers():
    with pytest.raises(AssertionError, match="was asked to work"):
        tp.CP(np.int64(2), n_starts=np.int32(2), max_iter=np.uint8(3)).fit(GOOD)


# --- smoothness and lambdas ---------------------------------------------------------------------------------


@pytest.mark.parametrize("model", SMOOTH)
@pytest.mark.parametrize(
    ("smoothness", "kind", "sentence"),
    [
        (0, ValueError, "smoothness must be positive.* use Parafac2"),
        (-1e-3, ValueError, "smoothness must be finite and not negative; got -0.001"),
        (np.nan, ValueError, "smoothness must be finite"),
        (np.inf, ValueError, "smoothness must be finite"),
        ("high", TypeError, "smoothness must be a number; got 'high'"),
        (True, TypeError, "smoothness must be a number; got True"),
        ([1e-3], TypeError, "smoothness must be a number"),
    ],
)
def test_smoothness(model, smoothness, kind, sentence):
    refused(kind, sentence, model(2, smoothness))


@each_model
@pytest.mark.parametrize("name", ["lambda_a", "lambda_b"])
@pytest.mark.parametrize(
    ("value", "kind", "sentence"),
    [
        (-0.1, ValueError, "must be finite and not negative; got -0.1"),
        (np.nan, ValueError, "must be finite and not negative; got nan"),
        (np.inf, ValueError, "must be finite"),
        ("a lot", TypeError, "must be a number; got 'a lot'"),
    ],
)
def test_each_lambda(model, name, value, kind, sentence):
    names = [lam for lam in ("lambda_a", "lambda_b", "lambda_d") if lam in model(2).get_params()]
    refused(kind, f"{name} {sentence}", model(2, **(dict.fromkeys(names, 1.0) | {name: value})))


@pytest.mark.parametrize("model", THREE)
@pytest.mark.parametrize("zero", ["lambda_a", "lambda_b", "lambda_d"])
def test_a_penalty_on_some_modes_only_has_no_minimum(model, zero):
    lambdas = {"lambda_a": 0.1, "lambda_b": 0.1, "lambda_d": 0.1}
    sentence = f"{zero} is zero while others are not: scale would flee .* no minimum"
    refused(ValueError, sentence, model(2, **(lambdas | {zero: 0.0})))
    others = ", ".join(name for name in lambdas if name != zero)
    sentence = f"{others} given without {zero}: scale would flee .* Give all of lambda_a, lambda_b, lambda_d"
    refused(ValueError, sentence, model(2, **(lambdas | {zero: None})))


def test_a_penalty_on_one_of_two_modes():
    refused(ValueError, "lambda_b given without lambda_a", tp.TemporalCMF(2, lambda_b=1.0))
    refused(ValueError, "lambda_a is zero while others are not", tp.TemporalCMF(2, lambda_a=0, lambda_b=1.0))


@pytest.mark.parametrize("model", SMOOTH)
def test_smoothness_beside_lambdas(model):
    refused(
        ValueError,
        "smoothness and lambda_a were both given.* Give either smoothness or lambda_a",
        model(2, 1e-3, lambda_a=0.1),
    )


@pytest.mark.parametrize("model", SMOOTH)
@pytest.mark.parametrize("value", [-1e-6, np.nan, "small"])
def test_epsilon(model, value):
    refused(TypeError if value == "small" else ValueError, "epsilon must be", model(2, epsilon=value))


# --- settings -----------------------------------------------------------------------------------------------


@two_models
@pytest.mark.parametrize(
    ("given", "kind", "sentence"),
    [
        ({"algorithm": "slow"}, ValueError, "algorithm must be 'fast' or 'paper'; got 'slow'"),
        ({"algorithm": None}, ValueError, "algorithm must be 'fast' or 'paper'; got None"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be a positive whole number, or -1"),
        ({"n_jobs": 1.5}, ValueError, "n_jobs must be"),
        ({"n_jobs": True}, ValueError, "n_jobs must be"),
        ({"n_jobs": None}, ValueError, "n_jobs must be"),
        ({"n_starts": 0}, ValueError, "n_starts must be at least 1; got 0"),
        ({"n_starts": 2.0}, TypeError, "n_starts must be a whole number"),
        ({"max_iter": 0}, ValueError, "max_iter must be at least 1; got 0"),
        ({"max_iter": "many"}, TypeError, "max_iter must be a whole number"),
        ({"tol": -1e-9}, ValueError, "tol must be finite and at least 0"),
        ({"tol": np.nan}, ValueError, "tol must be finite"),
        ({"tol": None}, TypeError, "tol must be a number"),
        ({"feasibility_tol": -1}, ValueError, "feasibility_tol must be finite and at least 0"),
        ({"feasibility_tol": "low"}, TypeError, "feasibility_tol must be a number"),
        ({"dtype": "float16"}, ValueError, "dtype must be 'float64' or 'float32'; got 'float16'"),
        ({"dtype": "nonsense"}, ValueError, "dtype must be 'float64' or 'float32'; got 'nonsense'"),
        ({"dtype": int}, ValueError, "dtype must be"),
        ({"random_state": "seed"}, TypeError, "random_state must be"),
        ({"random_state": -1}, ValueError, "random_state must be"),
        ({"random_state": 1.5}, TypeError, "random_state must be"),
        ({"compress": "no"}, TypeError, "compress must be True or False; got 'no'"),
    ],
)
def test_settings(model, given, kind, sentence):
    refused(kind, sentence, model(2, **given))


def test_signs_are_yes_or_no():
    sentence = "must be True or False; got 'no'"
    refused(TypeError, f"nonnegative_strengths {sentence}", tp.CP(2, nonnegative_strengths="no"))


# --- penalties ----------------------------------------------------------------------------------------------


class WithoutProx:
    degree = 2
    exact = True

    def value(self, x):
        return 0.0


@each_model
@pytest.mark.parametrize("mode", ["penalties_a", "penalties_b", "penalties_c"])
@pytest.mark.parametrize(
    ("terms", "sentence"),
    [
        ([WithoutProx()], "is not a penalty: it lacks prox"),
        ([Ridge(1.0), "smooth"], "'smooth' is not a penalty: it lacks degree, exact, value, prox"),
        ([NonNegative], "is a class; make an instance of it"),
        (
            NonNegative(),
            r"must be a list of penalties; got NonNegative\(\). For one penalty write \[penalty\]",
        ),
        (None, "must be a list of penalties; got None"),
        ("NonNegative", "must be a list of penalties"),
    ],
)
def test_penalties(model, mode, terms, sentence):
    refused(TypeError, f"{mode}.*{sentence}", model(2, **{mode: terms}))


def test_strengths_that_are_fixed_cannot_be_penalised():
    refused(
        ValueError,
        "no strengths to penalise: leave penalties_c empty",
        tp.TemporalCMF(2, penalties_c=[Ridge(1.0)]),
    )


# --- given starts -------------------------------------------------------------------------------------------

A, B, C = RNG.random((6, 2)), RNG.random((4, 5, 2)), RNG.random((4, 2))


def with_nan(array):
    array = array.copy()
    array.flat[0] = np.nan
    return array


@two_models
@pytest.mark.parametrize(
    ("init", "sentence"),
    [
        ("random", "init must be 'uniform', 'svd', a tuple .* got 'random'"),
        (None, "init must be .* got None"),
        (3, "init must be .* got 3"),
        ([], "init is an empty list"),
        ((A, B), "init must be"),
        ([A, B, C], "init must be"),
        ((A[:, :1], B, C), r"init: A must have shape \(6, 2\), got \(6, 1\)"),
        ((A, B[:3], C), r"init: B must have shape \(4, 5, 2\), got \(3, 5, 2\)"),
        ((A, B, C.T), r"init: C must have shape \(4, 2\), got \(2, 4\)"),
        ((A, list(B[:, :, :1]), C), r"init: slice 0 of B must have shape \(J_0, 2\), got \(5, 1\)"),
        ((A, 0 * B, C), "init: B is zero everywhere, and nothing could grow from it"),
        ((with_nan(A), B, C), "init: A holds NaN or infinity"),
        ((A, with_nan(B), C), "init: B holds NaN or infinity"),
        ((A, B, with_nan(C)), "init: C holds NaN or infinity"),
        ([(A, B, C), (A, B, C[:2])], r"init: C must have shape \(4, 2\), got \(2, 2\)"),
    ],
)
def test_init(model, init, sentence):
    refused(ValueError, sentence, model(2, init=init))


@pytest.mark.parametrize("init", [("A", "B", "C"), (A * 1j, B, C), (A, B, [["x", "y"]] * 4)])
def test_init_of_other_things_than_numbers(init):
    refused(TypeError, "init: [ABC] .*numbers", tp.CP(2, init=init))


# --- memory -------------------------------------------------------------------------------------------------


@each_model
def test_data_too_large_for_the_machine(model, monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: 500)
    sentence = r"The working copy of X needs .* MB of memory, but this machine has .* Keep fewer"
    refused(MemoryError, sentence, model(2))


@each_model
def test_a_fit_too_large_for_the_machine(model, monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: 2000)
    refused(MemoryError, r"Fitting 10 starts of rank 2 .* needs .* but this machine has", model(2))


def test_what_to_change_when_memory_is_short(monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: 2000)
    refused(MemoryError, "n_starts|n_jobs", tp.CP(2, n_starts=1000))


@pytest.mark.slow
def test_the_need_is_told_in_numbers(monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: 4_000_000_000)
    X = np.broadcast_to(1.0, (50, 5000, 5000))
    refused(MemoryError, r"needs 10\.0 GB of memory, but this machine has 4\.0 GB", tp.CP(2), X)
    sentence = r"Fitting 10 starts of rank 50 .* needs \d+\.\d GB of memory, but this machine has 4\.0 GB"
    refused(MemoryError, sentence, tp.CP(50), np.ones((50, 1, 100_000)))


# --- sizes --------------------------------------------------------------------------------------------------


@each_model
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("size", "sentence"), [(1e-165, "too small"), (1e155, "too large")])
def test_numbers_that_cannot_be_squared(model, dtype, size, sentence):
    sentence = f"the entries of X are {sentence} to be squared .norm .*: divide X by "
    refused(ValueError, sentence, model(2, dtype=dtype), GOOD * size)
    slices = [scipy.sparse.csr_array(piece * size) for piece in GOOD]
    refused(ValueError, sentence, model(2, dtype=dtype), slices)
    refused(ValueError, sentence, model(2), tp.data.SparseData.from_slices(slices))
    refused(ValueError, sentence, model(2, dtype=dtype), spoilt(np.nan) * size)


@pytest.mark.parametrize("algorithm", ["fast", "paper"])
def test_penalties_beside_which_data_are_nothing(algorithm):
    lambdas = {"lambda_a": 1.0, "lambda_b": 1.0, "lambda_d": 1.0}
    sentence = r"a penalty on the loadings weighs \d+e\+\d+ beside data of norm .* lower smoothness, or the"
    model = tp.TParafac2(2, **lambdas, algorithm=algorithm, compress=False)
    refused(ValueError, sentence, model, GOOD * 1e-100)
    refused(ValueError, sentence, tp.TParafac2(2, 1e200, algorithm=algorithm, compress=False))


# --- other things -------------------------------------------------------------------------------------------

ODD = [np.array([1, 2]), np.array(["fast", "auto"]), np.array(1), [[]], {}, b"fast", pd.NA, 1j, object()]
HUGE = 10**400


def refused_setting(model, name, odd):
    with pytest.raises((TypeError, ValueError, MemoryError)) as error:
        model(**({"rank": 2} | {name: odd})).fit(GOOD)
    said = str(error.value)
    assert name in said
    assert said.endswith(".")
    assert "\n" not in said


@each_model
@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
def test_every_setting_refuses_what_makes_no_sense_to_it(model, odd):
    for name in model._parameter_names():
        refused_setting(model, name, odd)


@each_model
def test_every_setting_refuses_what_is_beyond_all_numbers(model, monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: 10**9)
    for name in set(model._parameter_names()) - {"max_iter", "random_state", "n_jobs"}:
        refused_setting(model, name, HUGE)


@pytest.mark.parametrize("dims", ["abc", ["time"], 3, np.array([1, 2])])
def test_dims_that_are_no_mapping(dims):
    refused(TypeError, "dims must be a mapping; got .* for example dims=", tp.CP(2), array(), dims=dims)


@pytest.mark.parametrize("mask", [True, 1, "yes", np.True_, np.array(True), object(), dict])
def test_masks_that_are_no_array(mask):
    refused(TypeError, "mask must have True or False for every entry of X", tp.CP(2), mask=mask)


@pytest.mark.parametrize("mask", [GOOD.astype(str), GOOD.astype(object), GOOD * 1j, GOOD + 3])
def test_masks_of_other_things(mask):
    refused(ValueError, "mask must hold True .observed. and False .missing. only", tp.CP(2), mask=mask)


@each_model
def test_a_frame_that_may_be_a_long_table(model):
    long = pd.DataFrame({"who": ["a"], "what": ["b"], "when": [1], "how_much": [2.0], "note": [3]})
    call = r"tp\.Table\(X, rows='who', columns='what', time='when', values='how_much'\)"
    sentence = f"X is one DataFrame, with the columns 'who', .*{call}.*list of such frames"
    refused(ValueError, sentence, model(2), long)
    named = long.rename(columns={"what": "year", "when": "word"})
    call = r"tp\.Table\(X, rows='who', columns='word', time='year', values='how_much'\)"
    refused(ValueError, call, model(2), named)


class Annotated:
    """Stands in for AnnData, which is not needed here otherwise."""

    def __init__(self):
        n = len(GOOD) * 6
        self.X = GOOD.reshape(n, 5)
        names = [f"s{i}" for i in range(n)]
        self.obs = pd.DataFrame(
            {"batch": 0, "patient": list("abcdef") * 4, "week": np.repeat(range(4), 6)}, index=names
        )
        self.var = pd.DataFrame(index=list("vwxyz"))

    def to_df(self):
        return pd.DataFrame(self.X, self.obs.index, self.var.index)


def test_annotated_tables_and_that_the_advice_works():
    X = Annotated()
    with pytest.raises(TypeError, match="X is a Annotated, one table of what was observed") as error:
        tp.CP(2).fit(X)
    advice = str(error.value)
    code = advice[advice.index("tp.Table") : advice.index(", with the columns of X.obs")]
    table = eval(code, {"tp": tp, "X": X})
    np.testing.assert_array_equal(np.stack(table.slices()), GOOD)


@pytest.mark.parametrize("rigidity", [-1.0, np.nan, -np.inf, 1e10, "soft", None, True])
def test_a_rigidity_that_is_none(rigidity):
    refused((TypeError, ValueError), "rigidity must be", tp.TParafac2(2, rigidity=rigidity))


def test_a_rigidity_that_nothing_can_have():
    refused(ValueError, "rigidity is 1, which the paper's", tp.TParafac2(2, rigidity=1.0, algorithm="paper"))
    none = {"lambda_a": 0.0, "lambda_b": 0.0, "lambda_d": 0.0}
    refused(ValueError, "rigidity is 1, but its unit is the smoothness", tp.TParafac2(2, rigidity=1, **none))


@each_model
@pytest.mark.parametrize("nonnegative", ["columns", True, 1, ["rows"], ""])
def test_what_cannot_be_kept_from_being_negative(model, nonnegative):
    refused(ValueError, "nonnegative must be 'patterns', 'rows'", model(2, nonnegative=nonnegative))
