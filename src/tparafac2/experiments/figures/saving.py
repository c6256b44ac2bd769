"""Figures on disk: complete or not at all, and the same bytes every time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tparafac2.files import written_whole
from tparafac2.plots.style import print_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# A date would make the bytes of every run differ. Heat maps are pixels in a PDF too: make them fine.
_FORMATS: dict[str, dict[str, Any]] = {
    "png": {"dpi": 200},
    "pdf": {"dpi": 600, "metadata": {"CreationDate": None}},
}


def save_figure(figure: Figure, folder: str | os.PathLike[str], name: str) -> tuple[Path, ...]:
    """Write a figure as ``name.png`` (200 dpi) and ``name.pdf``.

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
    >>> from tparafac2.experiments.figures import strengths_figure
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in save_figure(strengths_figure(), folder, "strengths")]
    ['strengths.png', 'strengths.pdf']
    """
    target = Path(folder)
    if not target.is_dir():
        raise ValueError(f"there is no folder {str(target)!r} to save {name!r} in: make it first.")
    if not name or Path(name).name != name:
        raise ValueError(f"name must be the name of a file without folder or ending, got {name!r}.")
    return tuple(_write(figure, target / f"{name}.{ending}") for ending in _FORMATS)


def _write(figure: Figure, target: Path) -> Path:
    ending = target.suffix[1:]
    with written_whole(target) as unfinished, print_style():
        figure.savefig(unfinished, format=ending, **_FORMATS[ending])
    return target
