"""Options that say which model is fitted, and the fit itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from tparafac2.cli.options import require_jobs

if TYPE_CHECKING:
    from tparafac2.models.estimators import Decomposition

ModelName = Literal["tparafac2", "parafac2", "tcmf", "nntcmf", "cp"]
MODEL_NAMES: tuple[str, ...] = get_args(ModelName)
SMOOTH = ("tparafac2", "tcmf", "nntcmf")
FIT = "Fit"


@dataclass(frozen=True)
class Fitting:
    """How every model of a command is fitted."""

    starts: Annotated[int, typer.Option(help="Starts; the best is kept.", rich_help_panel=FIT)] = 10
    max_iter: Annotated[int, typer.Option(help="Iterations at most.", rich_help_panel=FIT)] = 2000
    seed: Annotated[int, typer.Option(help="Seed of the starts.", rich_help_panel=FIT)] = 0
    jobs: Annotated[
        int,
        typer.Option(
            help="Processes; -1 for one per core. A process works on about 100 / rank starts at once, so "
            "that only more starts than that use a second one.",
            rich_help_panel=FIT,
        ),
    ] = 1
    missing: Annotated[
        Literal["auto", "exact", "em"],
        typer.Option(help="How missing entries are treated.", rich_help_panel=FIT),
    ] = "auto"
    no_bridge: Annotated[
        bool,
        typer.Option(
            "--no-bridge",
            help="Columns that were not observed at all at some time did not exist then.",
            rich_help_panel=FIT,
        ),
    ] = False
    nonnegative_rows: Annotated[
        bool,
        typer.Option(
            "--nonnegative-rows",
            help="Loadings of the rows are not negative (nntcmf is tcmf with this).",
            rich_help_panel=FIT,
        ),
    ] = False
    period: Annotated[
        float | None,
        typer.Option(help="Time goes round with this period (smooth models).", rich_help_panel=FIT),
    ] = None


def make_model(name: str, rank: int, smoothness: float | None, fitting: Fitting) -> Decomposition:
    """The estimator of a name, not fitted; its settings are checked as far as they can be without data.

    Examples
    --------
    >>> make_model("nntcmf", 2, 1e-3, Fitting(starts=3))
    TemporalCMF(rank=2, smoothness=0.001, n_starts=3, random_state=0, nonnegative_rows=True)
    """
    require_jobs(fitting.jobs)
    model = _make(name, rank, smoothness, fitting)
    model.check_settings()
    return model


def _make(name: str, rank: int, smoothness: float | None, fitting: Fitting) -> Decomposition:
    from tparafac2.models import CP, Parafac2, TemporalCMF, TParafac2
    from tparafac2.penalties import NonNegative

    common: dict[str, Any] = {
        "n_starts": fitting.starts,
        "max_iter": fitting.max_iter,
        "random_state": fitting.seed,
        "n_jobs": fitting.jobs,
        "missing": fitting.missing,
        "bridge": not fitting.no_bridge,
    }
    if name == "nntcmf" or (name == "tcmf" and fitting.nonnegative_rows):
        common["nonnegative_rows"] = True
    elif fitting.nonnegative_rows:
        common["penalties_a"] = (NonNegative(),)
    if name not in SMOOTH:
        if smoothness is not None or fitting.period is not None:
            raise ValueError(
                f"--smoothness and --period are for models that are smooth in time, and {name} is not: leave "
                "them out, or use --model tparafac2."
            )
        return Parafac2(rank, **common) if name == "parafac2" else CP(rank, **common)
    common["period"] = fitting.period
    if name == "tparafac2":
        return TParafac2(rank, smoothness, **common)
    return TemporalCMF(rank, smoothness, **common)
