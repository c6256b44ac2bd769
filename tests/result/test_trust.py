"""What was measured of the components is kept with the result, in files and data sets."""

import json

import hypothesis.strategies as st
import numpy as np
import pytest
from hand_made import hand_made
from hypothesis import given, settings

from tparafac2.result import Trust, load_result

FULL = {
    "replicability": [0.97, 1 / 3],
    "alone": [0.4, np.nan],
    "verdict": ["replicable", "not there"],
    "stability": [1.0, 0.2],
    "threshold": 0.85,
    "by": "halves",
    "z": 6.5,
    "gain": 0.01,
    "null": 0.001,
}


@pytest.mark.parametrize("given", [FULL, {}, {"z": -0.5}], ids=["all", "nothing", "some"])
def test_it_comes_back_from_a_file_as_it_was(tmp_path, given):
    result = hand_made(trust=Trust(**given))
    result.save(tmp_path / "model.npz")
    found = load_result(tmp_path / "model.npz")
    assert json.dumps(found.trust.to_record()) == json.dumps(result.trust.to_record())
    told = [[one.as_dict() for one in each.findings] for each in (found, result)]  # in which NaN is None
    assert told[0] == told[1]
    assert found.summary() == result.summary()


def test_a_file_without_it_opens(tmp_path):
    hand_made().save(tmp_path / "model.npz")
    assert load_result(tmp_path / "model.npz").trust is None


SHARES = st.floats(0, 1) | st.just(np.nan)


@settings(max_examples=50)
@given(
    st.lists(st.tuples(SHARES, SHARES, st.sampled_from(["replicable", "there", "not there"])), min_size=1),
    st.none() | st.floats(),
)
def test_any_record_is_read_as_it_was_written(components, z):
    replicability, alone, verdict = zip(*components)
    trust = Trust(replicability=replicability, alone=alone, verdict=verdict, z=z)
    kept = json.loads(json.dumps(trust.to_record() | {"of a later version": 1}))
    again = Trust.from_record(kept)
    for name, array in trust.by_component.items():
        np.testing.assert_array_equal(again.by_component[name], array)
    assert again.rank == len(components)
    assert again.z == z or np.isnan(z)


def test_the_data_set_has_it_by_component():
    result = hand_made(trust=Trust(**FULL))
    dataset = result.to_dataset()
    for name, kept in {"replicability": "replicability", "replicability_alone": "alone"}.items():
        np.testing.assert_array_equal(dataset[name].sel(component=[1, 2]), FULL[kept])
    assert dataset["stability"].dims == dataset["verdict"].dims == ("component",)
    assert dataset["verdict"].values.tolist() == FULL["verdict"]
    assert not {"replicability", "verdict"} & set(hand_made().to_dataset())


def test_shares_of_strength_are_in_the_data_set():
    C = np.array([[3.0, 0.0], [0.0, 5.0], [4.0, 0.0]])
    result = hand_made(A=np.eye(2), B=np.ones((3, 1, 2)), C=C)
    np.testing.assert_allclose(result.to_dataset()["share"], [0.5, 0.5])
    result = hand_made(C=np.full((3, 2), np.inf))
    np.testing.assert_array_equal(result.shares, [0.0, 0.0])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"replicability": [1.0], "alone": [0.1, 0.2]}, "one number for each component"),
        ({"stability": [[1.0, 1.0]]}, "one number for each component"),
        ({"verdict": ["perhaps", "there"]}, "got 'perhaps'"),
        ({"stability": [1.0, 1.0, 1.0]}, "trust must be of 2 components; got that of 3"),
    ],
)
def test_what_does_not_fit_is_refused(given, said):
    with pytest.raises(ValueError, match=said):
        hand_made(trust=Trust(**given))
