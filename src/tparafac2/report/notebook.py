"""The page inside a notebook."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any

from tparafac2.errors import InvalidValue
from tparafac2.plots.subject import as_result
from tparafac2.report.page import page_text
from tparafac2.words import Argument

_LOWEST = 200


@dataclass(frozen=True)
class PageView:
    """A page that a notebook shows in a frame of its own.

    Attributes
    ----------
    text : str
        The whole page, as `write_page` writes it.
    height : int
        Of the frame, in pixels.

    Examples
    --------
    >>> PageView("<p>page</p>", 300)._repr_html_().startswith("<iframe")
    True
    """

    text: str = field(repr=False)
    height: int = 800

    def _repr_html_(self) -> str:
        # The frame is a stranger to the notebook: its script can neither read nor change what is around it.
        return (
            f'<iframe sandbox="allow-scripts allow-downloads" title="Patterns that change in time" '
            f'style="width: 100%; height: {self.height}px; border: 1px solid #bbb" '
            f'srcdoc="{escape(self.text)}"></iframe>'
        )


def explore(fitted: object, *, title: str | None = None, height: int = 800, data: Any = None) -> PageView:
    """Show the page of a fit inside a notebook, without a file and without a server.

    Parameters
    ----------
    fitted : fitted model or Result
    title : str, optional
    height : int
        Of the frame, in pixels; at least 200.
    data : optional
        The data of the fit, to be shown beside it; see `write_page`.

    Returns
    -------
    PageView
        A notebook shows it where it is the last value of a cell.

    Raises
    ------
    TypeError
        If `fitted` is neither a model nor a Result.
    ValueError
        If the model is not fitted, or the height is too low.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> data = tp.synthetic.easy(seed=0, n_times=5, n_rows=12, n_columns=18)
    >>> explore(tp.CP(rank=2, n_starts=2, random_state=0).fit(data.X))
    PageView(height=800)
    """
    require_height(height)
    return PageView(page_text(as_result(fitted), title, data=data), height)


def require_height(height: object) -> None:
    """Refuse what is not the height of a frame.

    Examples
    --------
    >>> require_height(300)
    """
    if isinstance(height, bool) or not isinstance(height, int) or height < _LOWEST:
        raise InvalidValue(
            Argument("height"),
            f" must be a whole number of pixels, at least {_LOWEST}; got {height!r}.",
            received=height,
        )
