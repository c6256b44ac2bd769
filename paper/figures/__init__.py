"""The paper's figures: from the generator, from a table of results and from fitted components."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from figures.example import example_figure
from figures.generator import drifts_figure, strengths_figure
from figures.scores import (
    almost_zero_figure,
    easy_figure,
    overlapping_figure,
    score_figures,
)
from tparafac2.plots import save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "almost_zero_figure",
    "drifts_figure",
    "easy_figure",
    "example_figure",
    "overlapping_figure",
    "save_figure",
    "score_figures",
    "strengths_figure",
]


def save_figure(figure: Figure, folder: str | os.PathLike[str], name: str) -> tuple[Path, ...]:
    """Write a figure as ``name.png`` (200 dpi) and ``name.pdf``; see `tparafac2.plots.save`.

    Parameters
    ----------
    figure : matplotlib Figure
    folder : path
        An existing folder. Files of that name in it are replaced.
    name : str
        File name without ending.

    Returns
    -------
    tuple of Path
        The two files.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in save_figure(strengths_figure(), folder, "strengths")]
    ['strengths.png', 'strengths.pdf']
    """
    if not name or Path(name).name != name:
        raise ValueError(f"name must be the name of a file without folder or ending, got {name!r}.")
    return tuple(save(figure, Path(folder) / f"{name}.{ending}") for ending in ("png", "pdf"))
