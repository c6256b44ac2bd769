import numpy as np
import pytest

from tparafac2.data import Labels


def test_labels_come_back_or_count_up() -> None:
    labels = Labels(columns=np.array(["a", "b"]), names={"columns": "word"})
    assert list(labels.coordinate("columns", 2)) == ["a", "b"]
    assert list(labels.coordinate("rows", 3)) == [0, 1, 2]
    assert labels.names == {"rows": "rows", "columns": "word", "time": "time"}


@pytest.mark.parametrize("mode", ["rows", "columns", "time"])
def test_wrong_number_of_labels_is_refused(mode: str) -> None:
    labels = Labels(**{mode: np.arange(5)})
    with pytest.raises(ValueError, match=f"{mode} has 5 labels, but the data need 4"):
        labels.coordinate(mode, 4)
    with pytest.raises(ValueError, match=f"{mode} has 5 labels"):
        labels.check((4, 4, 4))
    labels.check((5, 5, 5))


def test_each_mode_is_checked_against_its_own_size() -> None:
    Labels(rows=range(3), columns=range(4), time=range(2)).check((2, 3, 4))


def test_labels_are_a_copy_of_their_own() -> None:
    given = np.array([1.0, 2.0])
    labels = Labels(time=given)
    given[0] = 9.0
    assert labels.time is not None
    assert labels.time[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        labels.time[0] = 3.0


def test_two_dimensional_labels_are_refused() -> None:
    with pytest.raises(ValueError, match="one-dimensional"):
        Labels(rows=np.ones((2, 2)))


def test_unknown_modes_and_equal_names_are_refused() -> None:
    with pytest.raises(ValueError, match="rows, columns, time; got 'depth'"):
        Labels(names={"depth": "z"})
    with pytest.raises(ValueError, match="three different names"):
        Labels(names={"rows": "time"})
    with pytest.raises(ValueError, match="got 'depth'"):
        Labels().coordinate("depth", 2)
