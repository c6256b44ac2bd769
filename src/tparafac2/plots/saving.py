"""Pictures on disk: complete or not at all, and the same bytes every time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tparafac2.files import written_whole
from tparafac2.plots.style import print_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# A date would make the bytes of every run differ. Heat maps are pixels in the others, too: make them fine.
_FORMATS: dict[str, dict[str, Any]] = {
    ".png": {"dpi": 200},
    ".pdf": {"dpi": 600, "metadata": {"CreationDate": None}},
    ".svg": {"dpi": 600, "metadata": {"Date": None}},
}


def save(figure: Figure | Axes, path: str | os.PathLike[str]) -> Path:
    """Write a picture as PNG (200 dpi), PDF or SVG.

    Parameters
    ----------
    figure : matplotlib Figure or Axes
        Of Axes the whole figure is written.
    path : path
        In an existing folder; its ending says which format. A file of that name is replaced.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from tparafac2.plots import pattern_heatmap
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(pattern_heatmap([[1.0, 2.0]]), Path(folder) / "pattern.png").name
    'pattern.png'
    """
    target = Path(path)
    settings = _FORMATS.get(target.suffix.lower())
    if settings is None:
        known = ", ".join(_FORMATS)
        raise ValueError(f"the name of a picture must end in one of {known}; got {target.name!r}.")
    if not target.parent.is_dir():
        raise ValueError(
            f"there is no folder {str(target.parent)!r} to save {target.name!r} in: make it first."
        )
    whole = _figure_of(figure)
    with written_whole(target) as unfinished, print_style():
        whole.savefig(unfinished, format=target.suffix[1:].lower(), **settings)
    return target


def _figure_of(given: Any) -> Figure:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

    found = given
    while isinstance(found, Artist) and not isinstance(found, Figure):  # axes may be in a part of a figure
        found = found.figure
    if not isinstance(found, Figure):
        raise TypeError(f"a matplotlib Figure or Axes is needed to save; got {type(given).__name__}.")
    return found
