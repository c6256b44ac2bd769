"""The pages as a checker of accessibility sees them (axe-core), whole and with everything open."""

import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from explored import choose, rich

import tparafac2 as tp

pytestmark = pytest.mark.slow

LOOKS = {
    "desk": {"width": 1280},
    "desk, dark": {"width": 1280, "dark": True},
    "phone": {"width": 360, "height": 740, "touch": True},
    "phone, dark": {"width": 360, "height": 740, "touch": True, "dark": True},
}
GRAVE = """axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations
  .filter((one) => ["serious", "critical"].includes(one.impact))
  .map((one) => [one.id, ...one.nodes.map((node) => node.html)]))"""


@pytest.fixture(scope="module")
def axe():
    """The checker's script, out of a package of which nothing else is used."""
    package = find_spec("axe_playwright_python")
    if package is None:
        sentence = "there is no axe-core: make .venv/.dev installs it"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(sentence)
    return Path(package.submodule_search_locations[0], "axe.min.js").read_text(encoding="utf-8")


def grave(page, axe):
    """What is wrong for people who cannot see, hear or point."""
    page.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.run(f"{axe}; 0")
    return page.run(GRAVE)


@pytest.fixture(scope="module")
def planes():
    """The data of the demo, fitted in short."""
    X = tp.Preparation("sqrt").apply(tp.io.samples.planes())
    model = tp.TParafac2(3, smoothness=3e-3, nonnegative="both", n_starts=1, random_state=0).fit(X)
    names = model.result_.labels.rows
    airlines = {"plane": names, "airline": [one.split()[0] for one in names]}
    return model.with_row_attributes(airlines).result_


@pytest.mark.parametrize("looks", LOOKS.values(), ids=LOOKS)
def test_the_page_of_the_demo_has_no_grave_fault(show, axe, planes, looks):
    assert grave(show(planes, looks), axe) == []


@pytest.mark.parametrize("looks", LOOKS.values(), ids=LOOKS)
def test_a_page_with_everything_on_it_has_no_grave_fault(show, axe, looks):
    result = rich()
    page = show(result, looks, data=np.asarray(result.reconstruct()))
    choose(page, "part", "own")
    page.click("#row-bars button")
    page.click("#map-legend .chip")
    page.click("#cards .rename")
    assert grave(page, axe) == []


def test_a_fault_is_found(show, axe):
    page = show()
    page.run("document.getElementById('time').removeAttribute('aria-label')")
    page.run("document.getElementById('time-name').remove()")
    assert [one[0] for one in grave(page, axe)] == ["label"]
