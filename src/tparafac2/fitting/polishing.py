"""Starts run on a sketch of the data; what they find is judged, and the best of it polished, on the data."""

from collections.abc import Sequence
from dataclasses import replace

from tparafac2.data import Sketch, Sweepable
from tparafac2.result import ALIKE
from tparafac2.solver import Problem, Run, Settings, Start, Status, Trace, extend
from tparafac2.starts import Progress, likeness, ranked, run_starts

_ROUGHLY = 1e-6  # tolerance on the sketch: enough to know which minimum a start has come to
_CLOSE = 1e-3  # by how much of its objective a run may be changed by what the sketch left out
_MOST_POLISHED = 2


def on_sketch(settings: Settings) -> Settings:
    """How the starts are run on the sketch."""
    return replace(settings, tol=max(settings.tol, _ROUGHLY))


def on_data(runs: Sequence[Run], sketch: Sketch, problem: Problem, settings: Settings) -> list[Run]:
    """The same runs as fits to the data: their error is what it was, and what the sketch left out.

    Of a sample of rows it is not known what it left out: the others are fitted to what was found on it.
    """
    left_out = sketch.left_out
    if left_out is None:
        return [run._replace(sketched=True) for run in extend(problem, runs, settings)]
    return [
        run._replace(
            A=sketch.compressed.expand_loadings(run.A),
            trace=run.trace.raised(left_out),
            objective=run.objective + left_out,
            sketched=True,
            sse=run.sse + left_out,
        )
        for run in runs
    ]


def polish(
    problem: Problem, runs: Sequence[Run], settings: Settings, n_jobs: int, progress: Progress
) -> list[Run]:
    """Go on from the best run on all of the data, and from others that might still become better than it.

    Parameters
    ----------
    problem : Problem
        Of the data themselves.
    runs : sequence of Run
        Where the starts ended on the sketch, as fits to the data.
    settings : Settings
    n_jobs : int
        Number of threads.
    progress : Progress

    Returns
    -------
    list of Run
        All runs, some of them polished.
    """
    chosen = promising(runs, settings, fixed_strengths=problem.fixed_strengths)
    if any(run.status is Status.INTERRUPTED for run in runs):  # the best so far is asked for
        return list(runs)
    starts = [Start(runs[i].A, runs[i].B, runs[i].C) for i in chosen]
    # Where every pass over the data is dear, one is made for all.
    size = len(chosen) if isinstance(problem.data, Sweepable) else 1
    ends = run_starts(problem, starts, settings, n_jobs, progress, size=size)
    polished = dict(zip(chosen, ends))
    return [_joined(run, polished[i]) if i in polished else run for i, run in enumerate(runs)]


def promising(runs: Sequence[Run], settings: Settings, *, fixed_strengths: bool) -> list[int]:
    """The best run, and others close to it in their objective but not alike."""
    best, *others = ranked(runs, settings, fixed_strengths=fixed_strengths)
    bound = (1 + _CLOSE) * runs[best].objective
    close = [i for i in others if runs[i].status.converged and runs[i].objective <= bound]
    alike = likeness(runs[best], [runs[i] for i in close], fixed_strengths=fixed_strengths)
    return [best, *(i for i, like in zip(close, alike) if not like >= ALIKE)][:_MOST_POLISHED]


def _joined(rough: Run, end: Run) -> Run:
    return end._replace(trace=Trace.joined(rough.trace, end.trace), rough=rough)
