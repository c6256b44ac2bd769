"""From options to data that are ready for a fit, and to a model that is ready for them."""

from __future__ import annotations

import csv
import os
import shlex
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from tparafac2.cli.options import ABLE, SMOOTH, Choosing, Fitting, Lines, NewData, Part, Saved, Source
from tparafac2.cli.wording import FLAGS

if TYPE_CHECKING:
    from tparafac2.choosing import Choice
    from tparafac2.io import Preparation, Prepared, Selection
    from tparafac2.models import Decomposition

_NAMES = ("rows", "columns", "time", "values", "axes")


class Loaded(NamedTuple):
    """Data ready for a fit, and what there is to say of them."""

    prepared: Prepared
    about: dict[str, Any]
    weights: Any = None  # for `fit`; those of a column are with the data
    row_attributes: Any = None


def check_source(source: Source) -> None:
    """Refuse preparations that there are not, and a file that cannot be one with data, before it is read."""
    from tparafac2.data.table import require_top
    from tparafac2.io.endings import require_file

    _preparation(source)
    selection(source)
    require_top(source.top_columns, source.top_by)
    require_file(source.file)


def load(source: Source, *, silently: bool, client: Any = None) -> Loaded:
    """Read and prepare the data of a command, and say before the fit what was kept and what was assumed.

    With the client of a Dask cluster its workers read them.
    """
    from tparafac2.data.table import TABLE_DEFAULTS
    from tparafac2.io import read

    preparation = _preparation(source)
    options = {name: getattr(source, name) for name in TABLE_DEFAULTS if name != "weights"}
    weights, options["weights"], told = read_weights(source.weights, source.rows)
    large: dict[str, Any] = {
        name: one for name, one in (("memory", source.memory), ("client", client)) if one is not None
    }
    data = read(source.file, select=selection(source), **names(source), **options, **large)
    loaded = prepare(data, preparation, str(source.file))
    for name in ("selection", "table"):
        if name in loaded.about and not silently:
            typer.echo(loaded.about[name], err=True)
    more = {"weights": told, "groups": getattr(source, "groups", None)}
    about = loaded.about | {name: one for name, one in more.items() if one}
    return loaded._replace(about=about, weights=weights, row_attributes=_row_attributes(source, data))


def _row_attributes(source: Source, data: Any) -> Any:
    """What else is known of the rows; refused before the fit if it is of none of them."""
    from tparafac2.data.labels import dated_dims, labels_of, resolve_dims
    from tparafac2.io.endings import require_file
    from tparafac2.io.longtables import read_row_attributes

    path: Path | None = getattr(source, "row_attributes", None)
    if path is None:
        return None
    require_file(path)
    frame = read_row_attributes(path, source.rows)
    if hasattr(data, "labels"):
        labels, n_rows = data.labels, data.shape[1]
    else:
        dims = resolve_dims(data.dims, None, dated_dims(data))
        labels, n_rows = labels_of(data, dims), data.sizes[dims["rows"]]
    labels.with_attributes(frame, n_rows)
    return frame


def told_of_rows(model: Decomposition, loaded: Loaded) -> Decomposition:
    """The model with what else is known of its rows; what is left out was said when that was read."""
    if loaded.row_attributes is None:
        return model
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.with_row_attributes(loaded.row_attributes)


def component_names(text: str) -> list[str]:
    """Names with commas between them; one that holds a comma in quotation marks.

    Examples
    --------
    >>> component_names('Africa, "War, cold"')
    ['Africa', 'War, cold']
    """
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def read_weights(asked: str | None, rows: str | None) -> tuple[Any, str | None, str]:
    """Weights as `fit` takes them, or the column of the table that has them, and how to say it.

    Examples
    --------
    >>> read_weights("people", None)
    (None, 'people', "weighted by the column 'people'")
    """
    if asked is None:
        return None, None, ""
    if not Path(asked).is_file():
        return None, asked, f"weighted by the column {asked!r}"
    from tparafac2.io.longtables import read_row_weights

    return read_row_weights(Path(asked), rows), None, f"weighted by row, from {asked}"


def model_file(path: Path) -> Path:
    """The file of a saved model, which may be in the folder of a fit; refused if there is none."""
    model = path / "model.npz" if path.is_dir() else path
    if path.is_dir() and not model.exists():
        raise FileNotFoundError(
            f"{str(path)!r} is a folder without a model.npz: give a saved model, or the folder of a fit."
        )
    if not model.exists():
        raise FileNotFoundError(f"there is no file {str(model)!r}: check the path.")
    return model


class Asked(NamedTuple):
    """A saved model, and data that it has not seen."""

    model: Decomposition
    data: Any
    options: dict[str, Any]  # of `transform` and its like


def load_new(request: NewData, *, silently: bool) -> Asked:
    """Read a model and new data for it, and say what was kept of them and what was assumed."""
    from tparafac2.io import read
    from tparafac2.io.endings import require_file
    from tparafac2.models import load as load_model

    file, select = model_file(request.model), selection(request)
    require_file(request.file)
    model = load_model(file)
    weights, column, _ = read_weights(request.weights, request.rows)
    lines: dict[str, Any] = {"absent": request.absent, "duplicates": request.duplicates, "weights": column}
    data = read(request.file, select=select, one_time=True, **names(request), **lines)
    _tell(data, silently=silently)
    unknown = "drop" if request.drop_unknown else "refuse"
    return Asked(model, data, {"weights": weights, "unknown": unknown})


def inputs(request: Any) -> list[Path]:
    """Every file and folder that a command reads, none of which it may replace.

    Examples
    --------
    >>> inputs(Choosing(Path("no such file.csv"), weights="people"))
    []
    """
    names = ("file", "weights", "groups", "row_attributes", "without_columns")
    given = [str(one) for name in names if (one := getattr(request, name, None))]
    given += [one.rpartition(":")[0] for one in given]  # FILE:COLUMN
    given += [str(model_file(request.model))] if isinstance(request, Saved) else []
    return [Path(one) for one in given if one and os.path.exists(one)]


def check_out(path: Path, endings: tuple[str, ...], request: Any) -> Path:
    """Refuse a file that cannot be written, or must not be replaced, before any work."""
    from tparafac2.io.folders import require_apart

    if path.suffix not in endings:
        raise ValueError(f"--out must end in {' or '.join(endings)}; got {str(path)!r}.")
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder: give the path of a file.")
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"there is no folder {str(path.parent)!r} to write {path.name!r} to: make it first."
        )
    require_apart(path, inputs(request))
    if path.exists() and not request.overwrite:
        raise FileExistsError(f"{str(path)!r} exists: choose another name, or replace it with --overwrite.")
    return path


@contextmanager
def cluster(address: str | None) -> Iterator[Any]:
    """A client of the Dask cluster that was asked for; None if none was."""
    if address is None:
        yield None
        return
    from tparafac2.clusters import connected
    from tparafac2.starts import shielded_children

    with ExitStack() as stack:
        # Or Ctrl-C would end the workers, too, and nobody would have the best so far.
        with shielded_children():
            client = stack.enter_context(connected(address))
        yield client


def prepare(data: Any, preparation: Preparation, source: str) -> Loaded:
    """Prepare data, and collect what page and log say of them."""
    from tparafac2.data import Table

    prepared = preparation.apply(data)
    told = {
        "data": source,
        "table": data.describe(FLAGS) if isinstance(data, Table) else "",
        "selection": prepared.selection,
        "preparation": prepared.describe(),
    }
    return Loaded(prepared, {name: one for name, one in told.items() if one})


def read_like(model: Decomposition, source: Lines, *, silently: bool) -> Any:
    """Data in a file, read with the names that the model has for its dimensions where none are given.

    What was kept of them, and what was assumed, is said as for a fit.
    """
    from tparafac2.io import read

    own: dict[str, Any] = {mode: name for mode, name in model.result_.labels.names.items() if mode != name}
    said = {name: one for name, one in names(source).items() if one is not None}
    options: dict[str, Any] = {"absent": source.absent, "duplicates": source.duplicates, "one_time": True}
    data = read(source.file, select=selection(source), **(own | said), **options)
    _tell(data, silently=silently)
    return data


def _tell(data: Any, *, silently: bool) -> None:
    """Say what was kept of data, and how a table was read."""
    from tparafac2.data import Table
    from tparafac2.preparing.preparation import selection_of

    for sentence in (selection_of(data), data.describe(FLAGS) if isinstance(data, Table) else ""):
        if sentence and not silently:
            typer.echo(sentence, err=True)


def read_times(text: str | None) -> list[str] | None:
    """Times with commas between them.

    Examples
    --------
    >>> read_times("2020-01, 2020-02")
    ['2020-01', '2020-02']
    """
    return None if text is None else [part.strip() for part in text.split(",")]


def command_line() -> str:
    """The command as it was typed."""
    return shlex.join(["tparafac2", *sys.argv[1:]])


def names(part: Part) -> dict[str, Any]:
    """What was said of the names of rows, columns and times, for `read` and `describe`."""
    return {name: getattr(part, name) for name in _NAMES}


def selection(part: Part) -> Selection:
    """What is to be kept; refused if that cannot be, before anything is read."""
    from tparafac2.io import Selection

    given = part.without_columns
    left_out: Path | tuple[str, ...] = ()
    if given is not None:
        labels = tuple(name.strip() for name in next(csv.reader([given], skipinitialspace=True), []))
        left_out = Path(given) if Path(given).is_file() else labels
    return Selection(part.since, part.until, tuple(part.where or ()), left_out)


def _preparation(source: Source) -> Preparation:
    from tparafac2.io import Preparation

    steps = [] if source.transform is None else source.transform.split(",")
    return Preparation(
        steps[0] if len(steps) == 1 else steps or None,  # type: ignore[arg-type]
        source.pseudocount,
        source.center,
        source.scale,
    )


def require_jobs(jobs: int) -> None:
    """Refuse a negative number of processes, which counts from the cores, if it comes to none.

    Examples
    --------
    >>> require_jobs(-1)
    """
    cores = os.cpu_count() or 1
    if jobs < -cores:
        raise ValueError(
            f"--jobs {jobs} leaves no process on this machine, which has {cores} cores: give a number of "
            "processes, or -1 for one per core."
        )


def read_nonnegative(text: str | None, *, rows: bool = False) -> str | None:
    """What must not be negative, as the models call it, from words with commas; `rows` are so anyway.

    Examples
    --------
    >>> read_nonnegative("rows,patterns"), read_nonnegative(None, rows=True)
    ('both', 'rows')
    """
    text = "patterns,rows" if text == "both" else text
    words = {word.strip() for word in text.split(",")} if text not in (None, "none") else set()
    if not words <= {"patterns", "rows"}:
        raise ValueError(f"--nonnegative must be patterns, rows, patterns,rows or none; got {text!r}.")
    words |= {"rows"} if rows else set()
    return "both" if len(words) == 2 else next(iter(words), None)


def read_sparsity(text: str | None) -> float | dict[str, float] | None:
    """What is to have few entries other than zero, as the models call it: a number, or numbers by factor.

    Examples
    --------
    >>> read_sparsity("1e-4"), read_sparsity("patterns=1e-4, rows=1e-3")
    (0.0001, {'patterns': 0.0001, 'rows': 0.001})
    """
    if text is None:
        return None
    try:
        if "=" not in text:
            return float(text)
        pairs = [part.split("=") for part in text.split(",")]
        found = {factor.strip(): float(weight) for factor, weight in pairs}
    except ValueError:
        found = {}
    if len(found) < len(text.split(",")):
        raise ValueError(
            f"--sparsity {shlex.quote(text)} cannot be read: write a number for patterns, such as 1e-4, or "
            "numbers by factor, each once: patterns=1e-4,rows=1e-4."
        )
    return found


def _by_word(name: str, fitting: Fitting) -> dict[str, Any]:
    """Settings that some models have; refused for others."""
    given = {setting: getattr(fitting, setting) for setting in ABLE if getattr(fitting, setting) is not None}
    for setting in given:
        if name not in ABLE[setting]:
            others = " or ".join(ABLE[setting])
            flag = FLAGS.name(setting)
            raise ValueError(f"{flag} is for --model {others}, and not for {name}: leave it out.")
    if given.get("changes") == "auto":
        raise ValueError(
            "--changes auto is for what the data choose, and nothing is chosen here: say smooth or sudden."
        )
    if fitting.sparsity is not None:
        given["sparsity"] = read_sparsity(fitting.sparsity)
    return given


def make_model(name: str, rank: int, smoothness: float | None, fitting: Fitting) -> Decomposition:
    """The estimator of a name, not fitted; its settings are checked as far as they can be without data.

    Examples
    --------
    >>> make_model("nntcmf", 2, 1e-3, Fitting(starts=3))
    TemporalCMF(rank=2, smoothness=0.001, n_starts=3, nonnegative='rows', random_state=0)
    """
    from tparafac2.models import CP, Parafac2, TemporalCMF, TParafac2

    require_jobs(fitting.jobs)
    settings: dict[str, Any] = {
        "n_starts": fitting.starts,
        "max_iter": fitting.max_iter,
        "random_state": fitting.seed,
        "n_jobs": fitting.jobs,
        "bridge": not fitting.no_bridge,
    }
    if bounded := read_nonnegative(fitting.nonnegative, rows=name == "nntcmf"):
        settings["nonnegative"] = bounded
    settings |= _by_word(name, fitting)
    if name in SMOOTH:
        settings |= {"smoothness": smoothness, "period": fitting.period}
    elif smoothness is not None or fitting.period is not None:
        raise ValueError(
            f"--smoothness and --period are for models that are smooth in time, and {name} is not: leave "
            "them out, or use --model tparafac2."
        )
    kinds: dict[str, Any] = {"tparafac2": TParafac2, "parafac2": Parafac2, "cp": CP}
    model: Decomposition = kinds.get(name, TemporalCMF)(rank, **settings)
    model.check_settings()
    return model


def make_search(request: Choosing, **values: Any) -> dict[str, Any]:
    """Arguments of `choose`; `values` are those to try.

    Examples
    --------
    >>> make_search(Choosing(Path("x.csv"), starts=3), ranks=2, smoothness=None)["nonnegative"]
    'auto'
    """
    from tparafac2.choosing import check_search

    require_jobs(request.jobs)
    bound = request.nonnegative
    asked: dict[str, Any] = {
        **values,
        "nonnegative": "auto" if bound is None else read_nonnegative(bound),
        "changes": request.changes or "smooth",
        "sparsity": read_sparsity(request.sparsity),
        "smooth_strengths": request.smooth_strengths or 0.0,
        "compare": request.compare,
        "n_starts": request.starts,
        "max_iter": request.max_iter,
        "period": request.period,
        "bridge": not request.no_bridge,
        "random_state": request.seed,
        "n_jobs": request.jobs,
    }
    check_search(**asked)
    return asked


def make_choice(request: Choosing, asked: Mapping[str, Any], loaded: Loaded, client: Any = None) -> Choice:
    """What the data choose, by fits that the workers of a cluster do if there is a client."""
    from tparafac2.choosing import choose

    rows = {name: read_groups(request, getattr(request, name), name) for name in ("groups", "stratify")}
    return choose(loaded.prepared, weights=loaded.weights, client=client, **rows, **asked)


def read_groups(request: Choosing, given: str | None, flag: str = "groups") -> Any:
    """A value of each row, from a column of the data or of another table."""
    from tparafac2.io.arrays import read_array_groups
    from tparafac2.io.longtables import read_row_groups

    if given is None:
        return None
    file, _, column = given.rpartition(":")
    if Path(file).is_file():
        return read_row_groups(Path(file), request.rows, column)
    if request.file.suffix == ".npz":
        return read_array_groups(request.file, request.rows, given)
    if Path(given).is_file() or request.file.suffix in (".nc", ".npy"):
        raise ValueError(
            f"--{flag} {given} does not say which column of which table: write FILE:COLUMN, for "
            "example babies.csv:delivery, where the first column, or that of --rows, has the row labels."
        )
    return read_row_groups(request.file, request.rows, given)
