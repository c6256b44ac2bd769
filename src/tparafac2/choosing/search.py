"""`choose`: let the data choose rank, smoothness and rigidity."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from tparafac2.choosing import rules
from tparafac2.choosing.candidates import RIGIDITY, SMOOTHNESS, Candidate
from tparafac2.choosing.choice import Choice
from tparafac2.choosing.path import Frame
from tparafac2.choosing.procedure import Procedure
from tparafac2.choosing.record import make_record
from tparafac2.choosing.similarity import trajectories
from tparafac2.choosing.splits import DataSplits
from tparafac2.choosing.tasks import Work
from tparafac2.choosing.workers import Workers
from tparafac2.errors import InvalidType, InvalidValue
from tparafac2.fitting import (
    read_groups,
    require_choice,
    require_flag,
    require_integer,
    require_number,
    told,
    warn_if_unsound,
)
from tparafac2.large import stored_if_large
from tparafac2.metrics import assign
from tparafac2.models import Decomposition
from tparafac2.preparing import Prepared, as_prepared
from tparafac2.result import Result, Trust
from tparafac2.words import Advice, Argument

_USUAL_RANKS = range(1, 9)
_LEAST_TIMES, _LEAST_ROWS = 3, 4
_SAMPLE = 2**26  # entries of data larger than memory that choose
_SAME = 0.95  # cosine from which a component of the last fit is the one that was looked for


def choose(
    X: Any,
    *,
    ranks: int | Iterable[int] | None = None,
    smoothness: float | Iterable[float] | None = None,
    rigidity: float | Iterable[float] | None = None,
    nonnegative: str | None = "auto",
    changes: str = "smooth",
    groups: Any = None,
    stratify: Any = None,
    compare: bool = False,
    n_folds: int = 5,
    threshold: float = rules.REPLICABLE,
    sparsity: float | Mapping[str, float] | None = None,
    smooth_strengths: float = 0.0,
    period: float | None = None,
    bridge: bool = True,
    n_starts: int = 10,
    max_iter: int = 2000,
    dtype: str = "float64",
    dims: Mapping[str, Hashable] | None = None,
    mask: Any = None,
    times: Any = None,
    weights: Any = None,
    random_state: Any = None,
    n_jobs: int = 1,
    progress: bool | None = None,
    client: Any = None,
) -> Choice:
    """Let the data choose rank, smoothness and rigidity, and say how far to trust the answer.

    The rows are split into folds. Models are fitted to all folds but one; each row of that one gets its
    loadings from one half of its entries, and predicts the other half. Smoothness and rigidity are those that
    predict best. One more component, or a relaxed constraint, has to gain more than it does on surrogate
    data, where there is nothing to gain; and components have to be found again in other rows.

    Parameters
    ----------
    X, dims, mask, times, weights
        As in `fit`; weights as numbers only. Of data larger than memory, a sample of the rows chooses.
    ranks : int or several, optional
        Ranks to try; one is taken as it is. Usually 1 to 8, as far as the rows allow; larger ones are left
        out two ranks beyond the best.
    smoothness, rigidity : float or several, optional
        Values to try; one number is taken as it is. Half decades from 1e-4 to 1e-1; and infinite, 100, 10,
        1, 0.1 and 0.
    nonnegative : {"auto", "patterns", "rows", "both"}, optional
        What must not be negative: "auto" searches with non-negative patterns where no data are negative.
    changes : {"smooth", "sudden", "auto"}
        How patterns change, see `TParafac2`. "auto" searches with smooth changes, and takes sudden ones where
        these predict better.
    groups : sequence of I values, or mapping or Series by row label, optional
        Rows that belong together (samples of one subject): they stay in one fold, and in one half.
    stratify : sequence of I values, or mapping or Series by row label, optional
        Kinds of rows (treatment, sex, region): every fold and half has its share of each.
    compare : bool
        Also set other models (CP, PARAFAC2, other bounds where no data are negative) beside the chosen one.
    n_folds : int
        Number of folds; with fewer than 12 rows, every row is one.
    threshold : float
        Similarity from which a component is replicable.
    sparsity, smooth_strengths, period, bridge, dtype
        As in `TParafac2`, and taken as they are.
    n_starts, max_iter : int
        Of the last fit, of what was chosen.
    random_state : int, optional
        The same seed gives the same choice.
    n_jobs : int
        Number of processes; -1 for one per core. The answer does not depend on it.
    progress : bool, optional
        Show a line of progress; by default only on a terminal.
    client : distributed.Client, optional
        Of a Dask cluster, whose workers do the fits that choose, instead of processes.

    Returns
    -------
    Choice
        With the fitted model. After Ctrl-C the best so far: what was not measured is then not known.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> X = tp.synthetic.easy(seed=1, noise=0.2, n_times=6, n_rows=60, n_columns=30, n_concepts=2).X
    >>> choice = tp.choose(X, ranks=[1, 2, 3], smoothness=[1e-3, 1e-2], rigidity=float("inf"), n_starts=3,
    ...                    random_state=0)
    >>> choice.model.rank
    2
    """
    options = {
        "sparsity": sparsity,
        "smooth_strengths": smooth_strengths,
        "period": period,
        "bridge": bridge,
        "dtype": dtype,
    }
    final = {"n_starts": n_starts, "max_iter": max_iter, "n_jobs": n_jobs, "progress": progress}
    tried, grid, rigid = check_search(
        ranks=ranks,
        smoothness=smoothness,
        rigidity=rigidity,
        nonnegative=nonnegative,
        changes=changes,
        compare=compare,
        n_folds=n_folds,
        threshold=threshold,
        random_state=random_state,
        **options,
        **final,
    )
    how = {"dims": dims, "mask": mask, "times": times, "weights": weights}
    chosen_from, kept = _sampled(X, how, random_state)
    splits = DataSplits.of(chosen_from, dtype=dtype, bridge=bridge, **how)
    splits = _in_groups(splits, kept, groups, stratify)
    tried = _possible(splits, tried, usual=ranks is None)
    bound = nonnegative
    if bound == "auto":
        bound = "patterns" if splits.nonnegative else None
    first = Candidate(tried[0], None, math.inf, bound, "sudden" if changes == "sudden" else "smooth")
    seed = _seed(random_state)
    frame = Frame(splits.whole, max(tried), options, seed)
    work = Work(splits, frame, grid, rigid, n_folds, seed)
    about: dict[str, Any] = {
        "threshold": float(threshold),
        "ranks_asked": list(tried),
        "n_folds": n_folds,
        "groups": 0 if groups is None else len(splits.units),
        "sampled": None if kept is None else len(kept),
        "bound_by_data": nonnegative == "auto" and bound is not None,
        "sudden": None,
        "compared": [],
    }
    with Workers(n_jobs, progress, client) as workers:
        workers.expect(6 * len(tried))
        found = Procedure(work, tried, first, workers)
        rank = found.choose_rank()
        found.relax(rank)
        if changes == "auto":
            about["sudden"] = found.jump(rank)
        if len(tried) > 1:
            found.test_nothing(rank)
        if compare:
            about["compared"] = found.compare(rank, _others(found.known.settled(rank), splits.nonnegative))
        about["interrupted"] = workers.interrupted
        stability = found.stability(rank)
    setting = found.known.settled(rank)
    model = setting.estimator(**options, **final, random_state=random_state)
    if kept is None:
        model.fit_intake(splits.whole, splits.preparation)
    else:
        model.fit(X, dims=dims, times=times)
    _take(model, found, rank, about, stability)
    warn_if_unsound(model.result_)
    return Choice(model)


def check_search(
    *,
    ranks: Any = None,
    smoothness: Any = None,
    rigidity: Any = None,
    nonnegative: Any = "auto",
    changes: Any = "smooth",
    compare: Any = False,
    n_folds: Any = 5,
    threshold: Any = rules.REPLICABLE,
    **options: Any,
) -> tuple[list[int], tuple[float, ...], tuple[float, ...]]:
    """Check arguments of `choose` before any data are read; give the ranks and settings to try."""
    tried = _ranks(ranks)
    grid = _grid("smoothness", smoothness, SMOOTHNESS)
    rigid = _grid("rigidity", rigidity, RIGIDITY)[::-1]
    if nonnegative is not None:
        allowed = ("auto", "patterns", "rows", "both")
        require_choice("nonnegative", nonnegative, "'auto', 'patterns', 'rows', 'both' or None", allowed)
    require_choice("changes", changes, "'smooth', 'sudden' or 'auto'", ("smooth", "sudden", "auto"))
    require_flag("compare", compare)
    require_integer("n_folds", n_folds, 2)
    if not 0.0 < require_number("threshold", threshold) <= 1.0:
        raise InvalidValue(
            Argument("threshold"),
            f" is a similarity, above 0 and at most 1; got {told(threshold)}.",
            received=threshold,
        )
    for one in grid:
        for other in rigid:  # what else can be wrong with them, a model says
            Candidate(tried[0], one, other).estimator(**options).check_settings()
    return tried, grid, rigid


def _take(
    model: Decomposition,
    found: Procedure,
    rank: int,
    about: Mapping[str, Any],
    stability: np.ndarray | None,
) -> None:
    """Keep with the model what was measured, in the order of its components."""
    setting, result = found.known.settled(rank), model.result_
    order = _order(found, setting, result)
    if order is not None:
        for known in (found.known.folds, found.known.halves):
            if setting in known:
                known[setting] = [rules.Similarity(*(part[order] for part in one)) for one in known[setting]]
        stability = None if stability is None else stability[order]
    else:
        for known in (found.known.folds, found.known.halves):
            known.pop(setting, None)
        stability = None
    alike = found.similarity(rank)
    hard = found.best_hard(rank)
    relaxed = found.relaxation(rank)
    trust = Trust(
        replicability=None if alike is None else alike.whole,
        alone=None if alike is None else alike.alone,
        verdict=None if alike is None else np.array(rules.verdicts(alike, about["threshold"])),
        stability=stability,
        threshold=about["threshold"],
        by="folds" if found.by_folds else "halves",
        z=None if relaxed is None else relaxed["z"],
        gain=None if relaxed is None else relaxed["gain"],
        null=None if relaxed is None else relaxed["null"],
    )
    record = make_record(found, rank, hard, relaxed, about)
    model._take(replace(result, trust=trust, choice=record))


def _order(found: Procedure, setting: Candidate, result: Result) -> np.ndarray | None:
    """Which component of the fit that was looked at is which of the last one; None if they are others."""
    whole = found.known.whole.get(setting)
    if whole is None or result.ragged:
        return None
    own = trajectories(np.asarray(result.B)[list(found.order)], result.C[list(found.order)])
    if own.shape != whole.model.shape:
        return None
    cosines = np.abs(own.T @ whole.model)
    first, second = assign(cosines)
    if cosines[first, second].min() < _SAME:
        return None
    return np.asarray(second[np.argsort(first)])


def _ranks(given: Any) -> list[int]:
    values = list(_USUAL_RANKS) if given is None else _several("ranks", given)
    for rank in values:
        require_integer("ranks", rank, 1)
    return sorted({int(rank) for rank in values})


def _several(name: str, given: Any) -> list[Any]:
    """One value or several, as a list; refuse none."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable | Real):
        raise InvalidType(
            Argument(name), f" must be a number, or several; got {told(given)}.", received=given
        )
    values = given.tolist() if isinstance(given, np.ndarray) else given
    several = list(values) if isinstance(values, Iterable) else [values]
    if not several:
        raise InvalidValue(Argument(name), " has no value to try: give at least one.", received=given)
    return several


def _grid(name: str, given: Any, usual: Sequence[float]) -> tuple[float, ...]:
    """Values in ascending order; the usual ones if none are given."""
    values = list(usual) if given is None else _several(name, given)
    for value in values:
        if isinstance(value, bool) or not isinstance(value, Real) or math.isnan(float(value)):
            raise InvalidType(
                Argument(name), f" must be a number, or several; got {told(given)}.", received=given
            )
    return tuple(sorted({float(value) for value in values}))


def _sampled(X: Any, how: Mapping[str, Any], random_state: Any) -> tuple[Any, np.ndarray | None]:
    """The data that choose: all of them, or of data larger than memory a sample of the rows, and which."""
    X = as_prepared(X)
    stored = stored_if_large(X.data if isinstance(X, Prepared) else X, how["dims"])
    if stored is None:
        return X, None
    for name in ("mask", "weights"):
        if how[name] is not None:
            raise InvalidValue(Argument(name), " is not for data that are read in blocks of rows.")
    K, I, J = stored.shape
    count = max(_LEAST_ROWS, min(I, _SAMPLE // (K * J)))
    sample = stored.sample(count, random_state=_seed(random_state))
    names = [*map(str, stored.labels.coordinate("rows", I))]
    place = {name: i for i, name in enumerate(names)}
    rows = sample.coords[sample.dims[1]].values if sample.dims[1] in sample.coords else np.arange(count)
    return sample, np.array([place[str(name)] for name in rows])


def _in_groups(splits: DataSplits, kept: np.ndarray | None, groups: Any, stratify: Any) -> DataSplits:
    n_rows = splits.shape[1]
    if kept is not None:
        groups, stratify = (_of_sample(given, kept) for given in (groups, stratify))
    members = read_groups(groups, splits.whole.labels, n_rows)
    strata = read_groups(stratify, splits.whole.labels, n_rows, "stratify")
    if members is not None and len(np.unique(members)) < 2:
        raise InvalidValue(
            Argument("groups"),
            " has one group only, which cannot be split: give two or more.",
            received=groups,
        )
    return replace(splits, groups=members, strata=strata)


def _of_sample(given: Any, kept: np.ndarray) -> Any:
    """What was given by place for all rows, for those of a sample; what is given by label stays."""
    by_label = isinstance(given, Mapping) or (hasattr(given, "index") and hasattr(given, "to_dict"))
    return given if given is None or by_label else [given[place] for place in kept]


def _possible(splits: DataSplits, ranks: list[int], *, usual: bool) -> list[int]:
    """The ranks that these data can tell; refuse data that are too small, and ranks that are too large."""
    K, I, J = splits.shape
    widths = splits.whole.data.widths
    if widths is not None:
        raise InvalidValue(
            f"the slices have between {min(widths)} and {max(widths)} columns: give all slices the same "
            "columns, NaN where a column is missing."
        )
    filled = int(np.count_nonzero(splits.squares))
    for what, needed, got in (
        ("times", _LEAST_TIMES, K),
        ("rows that are not all zero", _LEAST_ROWS, filled),
    ):
        if got < needed:
            raise InvalidValue(
                f"the data can choose from {needed} {what} on; got {got}. ",
                Advice("set_yourself", "Give a rank and a smoothness to TParafac2, or use CP."),
            )
    most = max(1, min(I // 2, J))
    if usual:
        return [rank for rank in ranks if rank <= most]
    if ranks[-1] > most:
        raise InvalidValue(
            Argument("ranks"),
            f" go up to {ranks[-1]}, but halves of {I} rows with {J} columns can tell at most {most} "
            f"components from each other: leave out what is above {most}.",
            received=ranks,
        )
    return ranks


def _others(chosen: Candidate, nonnegative: bool) -> list[Candidate]:
    """Models of the same rank that the chosen one is compared with."""
    plain = Candidate(chosen.rank, nonnegative=chosen.nonnegative)
    others = [plain._replace(model="CP"), plain._replace(model="Parafac2")]
    others.append(plain._replace(changes="smooth" if chosen.changes == "sudden" else "sudden"))
    if nonnegative:
        bounds = {None, "patterns", "rows", "both"} - {chosen.nonnegative}
        others += [plain._replace(nonnegative=one, changes=chosen.changes) for one in sorted(bounds, key=str)]
    return others


def _seed(random_state: Any) -> int:
    """The number that everything that is drawn depends on."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(random_state, Integral):
        return int(random_state)
    if isinstance(random_state, np.random.SeedSequence):
        return int(random_state.generate_state(1)[0])
    return int(random_state.integers(2**31))
