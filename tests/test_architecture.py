"""The rules of the house, read from the source itself; every rule is also shown to catch an offender."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "tparafac2"
MODULES = sorted(PACKAGE.rglob("*.py"))

ROOMS = (
    "words",
    "errors",
    "files",
    "compiling",
    "clusters",
    "data",
    "large",
    "preparing",
    "penalties",
    "metrics",
    "solver",
    "result",
    "starts",
    "fitting",
    "inference",
    "newdata",
    "plots",
    "report",
    "models",
    "choosing",
    "synthetic",
    "io",
    "cli",
)
FRONT_DOORS = ("__init__", "__main__")

MAX_ARGUMENTS = 8
PICKLERS = ("pickle", "_pickle", "cloudpickle", "dill", "shelve", "joblib.load", "joblib.dump")
SEEDABLE = ("default_rng", "Generator", "SeedSequence", "BitGenerator", "PCG64", "Philox", "SFC64")
HEAVY = ("numba", "scipy", "pandas", "xarray", "sklearn", "matplotlib", "joblib")
# Put together here, so that this file does not hold them itself.
INDEX_ADDRESSES = ("index" + "-url", "index" + "_url", "/sim" + "ple/", '"resol' + 'ved"')


# --- reading source -----------------------------------------------------------------------------------------


class Imported(NamedTuple):
    """One name an import brings: ``import a.b`` asks for a.b and binds the name a to a."""

    line: int
    asked: str
    name: str
    bound: str


def imports(tree: ast.AST, module: str) -> Iterator[Imported]:
    """Give everything imported, anywhere in the tree; `module` resolves relative imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.name if alias.asname else alias.name.split(".")[0]
                yield Imported(node.lineno, alias.name, alias.asname or bound, bound)
        elif isinstance(node, ast.ImportFrom):
            origin = ".".join(module.split(".")[: -node.level]) if node.level else ""
            source = ".".join(filter(None, (origin, node.module)))
            for alias in node.names:
                full = f"{source}.{alias.name}"
                yield Imported(node.lineno, full, alias.asname or alias.name, full)


def spelled(node: ast.expr) -> str | None:
    """Give the text of a dotted name such as ``np.random.seed``; None for any other expression."""
    if isinstance(node, ast.Attribute):
        owner = spelled(node.value)
        return owner and f"{owner}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else None


def names_used(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Give line and full name of all that is imported, and of all that is reached through an import."""
    found = list(imports(tree, "tparafac2.anywhere"))
    full_names = {one.name: one.bound for one in found}
    yield from ((one.line, one.asked) for one in found)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and (name := spelled(node)):
            first, _, rest = name.partition(".")
            if first in full_names:
                yield node.lineno, f"{full_names[first]}.{rest}"


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


# --- the rules: each gives the lines of a module that break it ----------------------------------------------


def wrong_way_imports(tree: ast.AST, module: str) -> list[int]:
    """Find imports of later rooms. The front door leads to all rooms, so it counts as the last one."""
    own = ROOMS.index(module.split(".")[1])
    lines = []
    for line, asked, _, _ in imports(tree, module):
        if within(asked, "tparafac2") and asked != "tparafac2.__version__":
            room = asked.removeprefix("tparafac2").strip(".").split(".")[0]
            if (ROOMS.index(room) if room in ROOMS else len(ROOMS) - 1) > own:
                lines.append(line)
    return lines


def prints(tree: ast.AST) -> list[int]:
    return [n.lineno for n in ast.walk(tree) if isinstance(n, ast.Call) and spelled(n.func) == "print"]


def asserts(tree: ast.AST) -> list[int]:
    return [n.lineno for n in ast.walk(tree) if isinstance(n, ast.Assert)]


def bare_excepts(tree: ast.AST) -> list[int]:
    return [n.lineno for n in ast.walk(tree) if isinstance(n, ast.ExceptHandler) and n.type is None]


def pickles(tree: ast.AST) -> list[int]:
    named = [line for line, name in names_used(tree) if any(within(name, p) for p in PICKLERS)]
    methods = [
        n.lineno for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr.endswith("_pickle")
    ]
    allowed = [
        n.value.lineno
        for n in ast.walk(tree)
        if isinstance(n, ast.keyword) and n.arg == "allow_pickle" and not is_false(n.value)
    ]
    return named + methods + allowed


def is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def global_randomness(tree: ast.AST) -> list[int]:
    lines = []
    for line, name in names_used(tree):
        tool = name.removeprefix("numpy.random.").split(".")[0]
        legacy = name.startswith("numpy.random.") and tool not in SEEDABLE
        if legacy or within(name, "random"):
            lines.append(line)
    return lines


def crowded_functions(tree: ast.AST) -> list[int]:
    """Find functions of many arguments; `choose` has its true signature, by keyword."""
    lines = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name != "__init__":
            a = node.args
            by_keyword = [] if node.name == "choose" else a.kwonlyargs
            names = [argument.arg for argument in (*a.posonlyargs, *a.args, *by_keyword)]
            if len(names) - (names[:1] in (["self"], ["cls"])) > MAX_ARGUMENTS:
                lines.append(node.lineno)
    return lines


def scikit_learn(tree: ast.AST) -> list[int]:
    """Find uses of scikit-learn outside the hooks that only scikit-learn itself calls."""
    hooks = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name.startswith("__sklearn_")]
    hook_lines = {line for hook in hooks for line in range(hook.lineno, (hook.end_lineno or 0) + 1)}
    return [line for line, name in names_used(tree) if within(name, "sklearn") and line not in hook_lines]


RULES = {
    "print": prints,
    "assert": asserts,
    "bare except": bare_excepts,
    "pickle": pickles,
    "global random state": global_randomness,
    f"more than {MAX_ARGUMENTS} arguments": crowded_functions,
    "scikit-learn, which takes seconds to import": scikit_learn,
}


# --- the source keeps the rules -----------------------------------------------------------------------------


def module_name(path: Path) -> str:
    """Give the dotted name; a package keeps its `__init__`, so that relative imports resolve."""
    return ".".join(("tparafac2", *path.relative_to(PACKAGE).with_suffix("").parts))


def room_of(path: Path) -> str:
    return module_name(path).split(".")[1]


def described(path: Path, lines: list[int], offence: str) -> list[str]:
    return [f"{path.relative_to(ROOT)}:{line}: {offence}" for line in lines]


def test_there_is_source_to_check():
    assert {"data", "penalties", "metrics", "solver", "synthetic"} <= {room_of(path) for path in MODULES}


def test_every_module_is_in_a_room():
    assert [str(path) for path in MODULES if room_of(path) not in ROOMS + FRONT_DOORS] == []


def test_a_room_knows_only_rooms_before_it():
    offences = []
    for path in MODULES:
        if room_of(path) in ROOMS:
            lines = wrong_way_imports(ast.parse(path.read_text()), module_name(path))
            offences += described(path, lines, f"{room_of(path)} imports a later room")
    assert not offences, "\n".join(offences)


@pytest.mark.parametrize("offence", RULES)
def test_source_is_free_of(offence):
    offences = []
    for path in MODULES:
        if not (offence == "print" and room_of(path) == "cli"):
            offences += described(path, RULES[offence](ast.parse(path.read_text())), offence)
    assert not offences, "\n".join(offences)


def test_nothing_reads_what_the_program_says():
    """Findings and errors are data: the places that tell them have no need to search in sentences."""
    tellers = [
        "cli/wording.py",
        "cli/errors.py",
        "report/display.py",
        "result/wording.py",
        "words.py",
        "errors.py",
    ]
    for path in (PACKAGE / name for name in tellers):
        assert "re" not in [one.asked for one in imports(ast.parse(path.read_text()), module_name(path))], (
            path
        )


# --- the rules catch offenders, and only them ---------------------------------------------------------------

OFFENDERS = {
    "print": ["print('done')", "def f():\n    print()"],
    "assert": ["assert x > 0", "class A:\n    def f(self): assert self"],
    "bare except": ["try: f()\nexcept: pass"],
    "pickle": [
        "import pickle",
        "from pickle import loads",
        "import cloudpickle as cp",
        "from joblib import load",
        "import joblib\njoblib.dump(x, 'f')",
        "np.load(f, allow_pickle=True)",
        "np.load(f, allow_pickle=trusted)",
        "frame.to_pickle('f')",
    ],
    "global random state": [
        "import numpy as np\nnp.random.seed(0)",
        "import numpy\nx = numpy.random.rand(3)",
        "import numpy.random\nnumpy.random.shuffle(x)",
        "import numpy.random as npr\nnpr.normal()",
        "from numpy import random\nrandom.uniform()",
        "from numpy.random import randn",
        "import numpy as np\nnp.random.RandomState(0)",
        "import random",
        "from random import choice",
    ],
    f"more than {MAX_ARGUMENTS} arguments": [
        "def f(a, b, c, d, e, f, g, h, i): ...",
        "def f(a, b, /, c, d, e, *, f, g, h, i): ...",
        "class A:\n    async def f(self, a, b, c, d, e, f, g, h, i): ...",
    ],
    "scikit-learn, which takes seconds to import": [
        "import sklearn",
        "def f():\n    from sklearn.base import BaseEstimator",
    ],
}
INNOCENTS = """
from __future__ import annotations
import joblib
import numpy as np
from numpy.random import Generator, default_rng

class Table:
    def __init__(self, a, b, c, d, e, f, g, h, i, j): self.print = a
    def draw(self, a, b, c, d, e, f, g, h): return self.random.choice(a)
    def __sklearn_tags__(self): from sklearn.utils import Tags

def load(path, rng: np.random.Generator):
    random = np.random.default_rng(np.random.SeedSequence(1))
    try:
        joblib.Parallel(2)
        return np.load(path, allow_pickle=False), random.normal(), rng.random()
    except OSError:
        "print('assert')"
"""


@pytest.mark.parametrize(("offence", "source"), [(o, s) for o in RULES for s in OFFENDERS[o]])
def test_rule_catches(offence, source):
    assert RULES[offence](ast.parse(source))


@pytest.mark.parametrize("offence", RULES)
def test_rule_spares_innocents(offence):
    assert RULES[offence](ast.parse(INNOCENTS)) == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("tparafac2.data.dense", "import tparafac2.penalties"),
        ("tparafac2.data.dense", "from tparafac2.solver.kernels import update"),
        ("tparafac2.data.dense", "from tparafac2 import solver as s"),
        ("tparafac2.data.dense", "from ..solver import kernels"),
        ("tparafac2.data.__init__", "from ..solver import kernels"),
        ("tparafac2.metrics", "from .result import Result"),
        ("tparafac2.metrics", "def f():\n    from tparafac2.models import CP"),
        ("tparafac2.models", "if TYPE_CHECKING:\n    from tparafac2.synthetic import easy"),
        ("tparafac2.solver.loop", "import tparafac2 as tp"),
        ("tparafac2.solver.loop", "from tparafac2 import TParafac2"),
        ("tparafac2.solver.loop", "from .. import TParafac2"),
    ],
)
def test_an_import_of_a_later_room_is_caught(module, source):
    assert wrong_way_imports(ast.parse(source), module)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("tparafac2.data.dense", "from tparafac2.data.labels import Labels"),
        ("tparafac2.data.dense", "from .labels import Labels\nfrom . import norm"),
        ("tparafac2.data.__init__", "from .labels import Labels"),
        ("tparafac2.solver.loop", "from tparafac2 import data, penalties\nimport tparafac2.metrics"),
        ("tparafac2.solver.loop", "from ..penalties.base import Penalty"),
        ("tparafac2.result", "from tparafac2 import __version__\nfrom . import metrics"),
        ("tparafac2.cli.fit", "import tparafac2 as tp"),
        ("tparafac2.data.dense", "import numpy as np\nimport tparafac2_extras"),
    ],
)
def test_an_import_of_an_earlier_room_is_fine(module, source):
    assert wrong_way_imports(ast.parse(source), module) == []


# --- importing is light -------------------------------------------------------------------------------------


def heavy_modules_loaded_by(statement: str) -> str:
    code = f"import sys\n{statement}\nprint(*[name for name in {HEAVY} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return run.stdout.strip()


@pytest.mark.parametrize(
    "statement",
    ["import tparafac2", "from tparafac2 import data, metrics, penalties, synthetic"],
)
def test_import_loads_nothing_heavy(statement):
    assert heavy_modules_loaded_by(statement) == ""


def test_a_heavy_import_is_noticed():
    assert heavy_modules_loaded_by("import joblib") == "joblib"


# --- installing is reproducible, from wherever the user's pip looks -----------------------------------------


def files_in_repository() -> list[Path]:
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listing = [git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def unpinned(requirements: list[str], constraints: str) -> list[str]:
    """Find the requirements that no line of the form ``name==version`` decides."""
    pins = [line.partition("==") for line in constraints.splitlines() if not line.startswith("#")]
    pinned = {canonicalize_name(name) for name, _, version in pins if re.fullmatch(r"[\w.]+", version)}
    names = {Requirement(text).name for text in requirements} - {"tparafac2"}
    return sorted(name for name in names if canonicalize_name(name) not in pinned)


def names_index(text: str) -> bool:
    return any(address in text.lower() for address in INDEX_ADDRESSES)


def test_no_file_names_a_package_index():
    files = files_in_repository()
    assert ROOT / "pyproject.toml" in files
    assert [str(f) for f in files if names_index(f.read_text(errors="ignore"))] == []


@pytest.mark.parametrize(
    "parts",
    [
        ("--extra-index", "-url x"),
        ("index", "_url = x"),
        ("https://mirror.example/sim", "ple/numpy"),
        ('{"resol', 'ved": "https://mirror.example"}'),
    ],
)
def test_a_package_index_is_noticed(parts):
    assert names_index("".join(parts))
    assert not names_index(" ".join(parts))


def test_every_dependency_is_pinned():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    asked = project["build-system"]["requires"] + project["project"]["dependencies"]
    asked += [r for extra in project["project"]["optional-dependencies"].values() for r in extra]
    constraints = (ROOT / "constraints.txt").read_text()
    assert unpinned(asked, constraints) == []
    assert unpinned([line for line in constraints.splitlines() if line[0] != "#"], constraints) == []


def test_a_missing_pin_is_noticed():
    assert unpinned(["numpy>=1", "Sci_Kit>=2", "h5py"], "# numpy==1\nsci-kit==2.0\nh5py>=3") == [
        "h5py",
        "numpy",
    ]


def test_every_install_uses_the_pins():
    lines = [line for name in ("Makefile", ".ci/run") for line in (ROOT / name).read_text().splitlines()]
    installs = [line for line in lines if re.search(r"(pip|\(PIP\)) install", line)]
    assert installs
    assert [line for line in installs if "$(PINNED)" not in line] == []
    assert "PINNED := -c constraints.txt" in lines
