"""How the site is built, by ``sphinx-build -W --keep-going -b html docs out/docs``, without a network."""

import logging
import os
import sys
from importlib import import_module
from pathlib import Path

from numpydoc.xref import DEFAULT_LINKS

import tparafac2

_extensions = str(Path(__file__).parent / "_extensions")
sys.path.insert(0, _extensions)

# Kernels inherit these: pages load our magic for the command line and draw data as benchmarks do, and small
# fits only suffer from threads.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [_extensions, os.environ.get("PYTHONPATH")]))
os.environ["BENCHMARKS"] = str(Path(__file__).parents[1] / "benchmarks")
for _library in ("OPENBLAS", "OMP", "MKL", "NUMBA"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

logging.getLogger("traitlets").setLevel(logging.WARNING)  # or every page is announced

project = "tparafac2"
author = "The tparafac2 developers"
copyright = author
version = release = tparafac2.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "command_reference",
    "field_names",
    "mathml",
    "names",
]

# Pages are Markdown; a page with code cells is run at every build, and a cell that fails fails the build.
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True

# The prime of B_k' and the dashes of --rank are meant as they are typed.
smartquotes = False

# In docstrings, `name` links to what it names where that is documented.
default_role = "py:obj"
add_module_names = False
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"
autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_attributes_as_param_list = True

# Words in the types of parameters link to our own names, and to nothing outside.
_rooms = ("data", "io", "metrics", "penalties", "result", "synthetic")
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"
numpydoc_xref_aliases = {word: word for word in DEFAULT_LINKS} | {
    name: f"tparafac2.{room}.{name}"
    for room in _rooms
    for name in import_module(f"tparafac2.{room}").__all__
    if name[0].isupper() and name != "Parafac2"  # the model and the constraint share this name
}

html_theme = "furo"
html_title = "tparafac2"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5cad", "color-brand-content": "#0b5cad"},
    "dark_css_variables": {"color-brand-primary": "#7db8f5", "color-brand-content": "#7db8f5"},
}
