"""What made a data set, in words that make it again."""

import json
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from tparafac2.synthetic.recipe import Recipe
from tparafac2.synthetic.strengths import Weakened


def recipe_json(recipe: Recipe) -> str:
    """Give all that was asked for as JSON; a drift or strength has the name of its class as its "kind".

    Examples
    --------
    >>> from tparafac2.synthetic import easy
    >>> json.loads(recipe_json(easy(seed=0).recipe))["concepts"][0]["drift"]
    {'kind': 'Reoccurring', 'half_period': 15}
    """
    return json.dumps({**_fields(recipe), "size": recipe.size._asdict()}, default=_jsonable)


def python_line(recipe: Recipe) -> str:
    """Give a line of Python that makes the data set again.

    Examples
    --------
    >>> from tparafac2.synthetic import easy
    >>> python_line(easy(seed=0, n_times=8, n_rows=30, n_columns=24).recipe)[:70]
    'from tparafac2.synthetic import *; data = easy(seed=0, noise=0.5, n_ti'
    """
    arguments: dict[str, Any] = {
        "seed": int(recipe.seed),
        **_own_argument(recipe, weak="n_weak", overlap="overlap"),
        "noise": float(recipe.noise),
        **{name: int(number) for name, number in recipe.size._asdict().items()},
    }
    if recipe.case == "custom":
        function = "generate"
        arguments = {"concepts": list(recipe.concepts), **arguments}
        arguments["enforce_parafac2"] = recipe.enforce_parafac2
    else:
        function = recipe.case
        arguments["n_concepts"] = len(recipe.concepts)
    arguments |= {"fresh_importances": recipe.fresh_importances, "dtype": recipe.dtype}
    listed = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    return f"from tparafac2.synthetic import *; data = {function}({listed})"


def command_line(recipe: Recipe) -> str | None:
    """Give the command that makes the data set again, or None where no command can.

    Examples
    --------
    >>> from tparafac2.synthetic import easy
    >>> command_line(easy(seed=0).recipe)
    'tparafac2 generate easy data.nc --seed 0 --noise 0.5 --times 20 --rows 150 --columns 100 --concepts 3'
    """
    if recipe.case == "custom" or recipe.dtype != "float64":
        return None
    options: dict[str, Any] = {
        "seed": int(recipe.seed),
        **_own_argument(recipe, weak="weak", overlap="overlap"),
        "noise": float(recipe.noise),
        **{name.removeprefix("n_"): int(number) for name, number in recipe.size._asdict().items()},
        "concepts": len(recipe.concepts),
    }
    words = ["tparafac2 generate", recipe.case.replace("_", "-"), "data.nc"]
    words += [f"--{name} {value}" for name, value in options.items()]
    return " ".join(words if recipe.fresh_importances else [*words, "--held"])


def _own_argument(recipe: Recipe, *, weak: str, overlap: str) -> dict[str, int | float]:
    """Give the argument that only this case has, under the name it goes by."""
    if recipe.case == "almost_zero":
        return {weak: sum(isinstance(concept.strength, Weakened) for concept in recipe.concepts)}
    if recipe.case in ("overlapping", "custom"):
        return {overlap: float(recipe.overlap)}
    return {}


def _fields(record: Any) -> dict[str, Any]:
    return {field.name: getattr(record, field.name) for field in fields(record)}


def _jsonable(value: object) -> object:
    if is_dataclass(value):
        return {"kind": type(value).__name__, **_fields(value)}
    if isinstance(value, np.generic):
        return value.item()
    return repr(value)  # of a user's own making
