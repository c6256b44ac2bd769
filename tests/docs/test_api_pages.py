"""Every public name is on a page of the Python reference, and explained there."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

import tparafac2

PAGES = Path(__file__).parents[2] / "docs" / "api"
BLOCK = re.compile(r"^```\{names\} (\S+)\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
ROOMS = [f"tparafac2.{name}" for name in tparafac2.__all__ if name in tparafac2._MODULES]


def names_on(page):
    """Give the dotted names that a page describes."""
    for module, body in BLOCK.findall(page):
        for line in body.splitlines():
            if line.strip() and not line.startswith(":"):
                yield f"{module}.{line.partition(':')[0].strip()}"


def named(dotted):
    module, _, name = dotted.rpartition(".")
    return getattr(import_module(module), name)


def missing(module, described):
    """Find public names of a module that are described neither under its own name nor under another."""
    objects = [named(dotted) for dotted in described]
    return [
        name
        for name in import_module(module).__all__
        if f"{module}.{name}" not in described
        and not any(named(f"{module}.{name}") is one for one in objects)
    ]


DESCRIBED = [name for page in sorted(PAGES.glob("*.md")) for name in names_on(page.read_text())]


@pytest.mark.parametrize("module", [*ROOMS, "tparafac2.models", "tparafac2.newdata", "tparafac2.result"])
def test_every_public_name_is_described(module):
    assert missing(module, DESCRIBED) == []


def test_every_name_of_the_front_door_is_described():
    modules = {room.rpartition(".")[2] for room in ROOMS}
    assert modules == {page.stem for page in PAGES.glob("*.md")} - {"index", "models", "choosing"}
    assert set(missing("tparafac2", DESCRIBED)) == modules | {"__version__"}


NEEDS_NO_EXAMPLE = {
    "Decomposition",
    "MatchScore",
    "Prepared",
    "Kind",
    "Severity",
    "Band",
    "ConvergenceWarning",
}
"""Base classes, what other functions return, and words: the examples stand where these are used."""


def unexplained(objects):
    """Find functions and classes without a docstring or an example, and methods without a docstring."""
    for name, one in objects.items():
        if not (inspect.isclass(one) or inspect.isfunction(one)):
            continue
        if ">>>" not in (inspect.getdoc(one) or "") and name not in NEEDS_NO_EXAMPLE:
            yield name
        for method, member in vars(one).items() if inspect.isclass(one) else ():
            function = getattr(member, "fget", None) or getattr(member, "__func__", member)
            if not method.startswith("_") and inspect.isfunction(function) and not function.__doc__:
                yield f"{name}.{method}"


def test_every_public_name_is_explained():
    objects = {name.rpartition(".")[2]: named(name) for name in DESCRIBED}
    assert list(unexplained(objects)) == []


def test_what_is_not_explained_is_noticed():
    class Bare:
        """Without an example."""

        @property
        def size(self):
            return 1

    assert list(unexplained({"Bare": Bare, "number": 1})) == ["Bare", "Bare.size"]


def test_nothing_is_described_twice():
    assert sorted(set(DESCRIBED)) == sorted(DESCRIBED)


def test_a_missing_name_is_noticed():
    page = "```{names} tparafac2.report\nPageView\nexplore: A view.\n```\n"
    unnamed = ["write_page"]
    assert missing("tparafac2.report", list(names_on(page))) == unnamed


def test_a_name_from_elsewhere_counts():
    assert "Table" not in missing("tparafac2", ["tparafac2.data.Table"])
