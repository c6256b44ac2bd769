"""Failures as sentences: the one place where errors become what the user reads, and exit codes."""

import errno
import json
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from types import FrameType
from typing import Any, Self

import typer
from typer.core import TyperGroup

from tparafac2.cli.wording import FLAGS, Flags, flags_of
from tparafac2.errors import Told
from tparafac2.words import Words


class ExitCode(IntEnum):
    """What the exit codes mean, the same for every command."""

    meaning: str

    FINE = 0, "fine"
    UNEXPECTED = 1, "an unexpected failure"
    USAGE = 2, "wrong usage: see --help"
    SETTINGS = 3, "data or settings that cannot be used"
    FILES = 4, "trouble with a file: missing, in the way, not permitted, disk full"
    NOTHING_FOUND = 5, "all components vanished (of every model compared); results are written"
    INTERRUPTED = 130, "interrupted by Ctrl-C"
    TERMINATED = 143, "terminated by SIGTERM"

    def __new__(cls, code: int, meaning: str) -> Self:
        """Make a number that knows what it means."""
        made = int.__new__(cls, code)
        made._value_, made.meaning = code, meaning
        return made


MEANINGS = {code: code.meaning for code in ExitCode}


class Terminated(KeyboardInterrupt):
    """This process was asked to end by SIGTERM: like a Ctrl-C that means it."""


_FORESEEN = (ValueError, TypeError, OSError, MemoryError, ImportError, KeyboardInterrupt)
_USAGE: type[Exception] = typer.BadParameter.__mro__[1]  # its parent, which typer does not name
_JSON = "tparafac2.json"
_DEAF_SECONDS = 5.0

_NO_GLYPH = (
    "some letters of the labels are not in the font of the figures, which show boxes for them; the page has "
    "them all."
)


class PlainSpoken(TyperGroup):
    """Commands whose foreseeable failures end in a sentence on stderr and an exit code, without a traceback.

    All else is a mistake of ours: it keeps its traceback, and Python exits with 1. Where output was asked for
    as JSON, stdout has the failure as JSON, too.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Note whether JSON is asked for: a command that fails early has not come to read its options."""
        ctx.meta[_JSON] = "--json" in args[: args.index("--") if "--" in args else None]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            with terminable(), _plain_warnings(lambda: flags_of(self.commands.get(ctx.invoked_subcommand))):
                return super().invoke(ctx)
        except (typer.Exit, typer.Abort):
            raise
        except BrokenPipeError:
            raise  # the reader of our output has left: there is nobody to talk to
        except (Exception, KeyboardInterrupt) as error:
            if isinstance(error, KeyboardInterrupt):
                _stop_workers()
            sentence, code = explain(error, Flags(flags_of(self.commands.get(ctx.invoked_subcommand))))
            if ctx.meta[_JSON]:
                typer.echo(json.dumps({"error": sentence, "exit_code": int(code)}, indent=2))
            if ctx.params.get("traceback") or not isinstance(error, _FORESEEN):
                raise
        say(sentence)
        raise typer.Exit(code)


def explain(error: BaseException, words: Words = FLAGS) -> tuple[str, ExitCode]:
    """Give the sentence and the exit code of a failure.

    Examples
    --------
    >>> explain(FileNotFoundError(2, "No such file or directory", "data.nc"))
    ("there is no file or folder 'data.nc': check the path.", <ExitCode.FILES: 4>)
    """
    said = error.told(words) if isinstance(error, Told) else str(error)
    match error:
        case Terminated():
            return "terminated.", ExitCode.TERMINATED
        case KeyboardInterrupt():
            return said or "interrupted.", ExitCode.INTERRUPTED
        case ImportError() | ChildProcessError():
            return said, ExitCode.UNEXPECTED
        case OSError():
            return said if error.errno is None else _file_sentence(error), ExitCode.FILES
        case MemoryError():
            return said or "there is not enough memory: use smaller data.", ExitCode.SETTINGS
        case ValueError() | TypeError():
            return said or f"{type(error).__name__} without a word.", ExitCode.SETTINGS
        case _ if isinstance(error, _USAGE):
            return str(getattr(error, "format_message", error.__str__)()), ExitCode.USAGE
        case _:
            return f"{type(error).__name__}: {error}", ExitCode.UNEXPECTED


def say(sentence: str, kind: str = "Error", style: str = "bold red") -> None:
    """Print an error to stderr, in one line however long it is: it can then be searched and copied."""
    from rich.console import Console
    from rich.text import Text

    Console(stderr=True).print(Text.assemble((f"{kind}: ", style), sentence), soft_wrap=True)


def _stop_workers() -> None:
    if "joblib" in sys.modules:  # without it there are none, and nothing heavy is to be loaded for that
        from tparafac2.starts.processes import stop_workers

        stop_workers()


@contextmanager
def terminable() -> Iterator[None]:
    """While open, SIGTERM is raised as Terminated, unless somebody has decided otherwise.

    It may well come twice, as `timeout` sends it: the second must not disturb what cleans up after the first.
    """
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    ):
        yield
        return
    deaf_until = 0.0

    def end(signum: int, frame: FrameType | None) -> None:
        nonlocal deaf_until
        if time.monotonic() >= deaf_until:
            deaf_until = time.monotonic() + _DEAF_SECONDS
            raise Terminated

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def _plain_warnings(flags: Callable[[], dict[str, str]]) -> Iterator[None]:
    """Show warnings as sentences, each once, without the place in our code where they arose.

    Which command runs, and so its flags, is known only when it does.
    """
    said = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        sentence = _warning_sentence(message, flags())
        if sentence not in said:
            said.add(sentence)
            say(sentence, "Warning", "bold yellow")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _warning_sentence(message: Warning | str, flags: dict[str, str]) -> str:
    if hasattr(message, "told"):  # ours
        return str(message.told(Flags(flags)))
    return _NO_GLYPH if str(message).startswith("Glyph ") else str(message)  # matplotlib's


def _file_sentence(error: OSError) -> str:
    name = "the file" if error.filename is None else repr(str(error.filename))
    match error:
        case FileNotFoundError():
            return f"there is no file or folder {name}: check the path."
        case PermissionError():
            return f"no permission to read or write {name}: choose another place, or change its permissions."
        case OSError(errno=errno.ENOSPC | errno.EDQUOT):
            return f"there is no space left for {name}: free some, or choose another disk."
        case _:
            return f"{error.strerror}: {name}."
