import numpy as np
import pytest

from tparafac2.penalties import (
    NonNegative,
    Parafac2,
    Penalty,
    Quadratic,
    Ridge,
    SoftParafac2,
    Static,
    TemporalSmoothness,
    missing_attributes,
)

BUILT_IN = [Ridge(1.0), TemporalSmoothness(1.0), NonNegative(), Static(), Parafac2(), SoftParafac2(1.0)]


@pytest.mark.parametrize("penalty", BUILT_IN, ids=repr)
def test_built_in_penalties_have_the_form_of_a_penalty(penalty):
    assert isinstance(penalty, Penalty)
    assert missing_attributes(penalty) == []


def test_only_the_smooth_terms_are_quadratic():
    assert [isinstance(penalty, Quadratic) for penalty in BUILT_IN] == [True] * 2 + [False] * 4


def test_every_missing_attribute_is_named_and_no_other():
    class Half:
        degree = None

        def value(self, x):
            return 0.0

    assert missing_attributes(Half()) == ["exact", "prox"]
    assert missing_attributes(None) == ["degree", "exact", "value", "prox"]


def test_a_method_that_cannot_be_called_is_missing():
    class Wrong(NonNegative):
        value = np.zeros(3)

    assert missing_attributes(Wrong()) == ["value"]
