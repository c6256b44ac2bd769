import os

import numpy as np
import pytest

from tparafac2.data import memory, physical_memory, reading, require_memory, take_in


def test_refusal_says_need_and_supply_and_what_to_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "physical_memory", lambda: 8_000_000_000)
    require_memory(8_000_000_000, "The table")
    with pytest.raises(MemoryError, match=r"The table needs 12\.5 GB .* has 8\.0 GB\. Keep fewer rows"):
        require_memory(12_500_000_000, "The table")


def test_unknown_memory_refuses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "physical_memory", lambda: None)
    require_memory(10**18, "The table")


def test_system_that_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> int:
        raise ValueError(name)

    monkeypatch.setattr(os, "sysconf", refuse)
    assert physical_memory() is None


def test_a_process_may_have_less_than_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    limit = resource.getrlimit(resource.RLIMIT_AS)[1]
    monkeypatch.setattr(resource, "getrlimit", lambda what: (12345, limit))
    assert physical_memory() == 12345
    monkeypatch.setattr(resource, "getrlimit", lambda what: (resource.RLIM_INFINITY, limit))
    assert physical_memory() == os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def test_door_refuses_before_copying(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "physical_memory", lambda: 2 * 3 * 4 * 8 - 1)
    X = np.ones((2, 3, 4))
    with pytest.raises(MemoryError, match="working copy of X"):
        take_in(X)
    assert take_in(X, dtype="float32").data.shape == (2, 3, 4)


def test_what_cannot_fit_is_refused_before_a_look_at_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def look(*_: object) -> None:
        pytest.fail("the entries were looked at")

    monkeypatch.setattr(reading, "missing_entries", look)
    with pytest.raises(MemoryError, match=r"The working copy of X needs 8,000\.0 GB"):
        take_in(np.broadcast_to(1.0, (10_000, 10_000, 10_000)))
