"""Files that are complete or not there at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(target: Path, *, keep: bool = False) -> Iterator[Path]:
    """Give a path to write to, which becomes `target` only if all went well.

    Parameters
    ----------
    target : Path
        Replaced at one stroke if it exists.
    keep : bool
        Refuse to replace it: the first to write a file has written it for good.

    Raises
    ------
    FileExistsError
        If `keep` and there is a file already, even one that came while this one was written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_whole(Path(folder) / "note.txt") as unfinished:
    ...         _ = unfinished.write_text("done")
    ...     [path.name for path in Path(folder).iterdir()]
    ['note.txt']
    """
    # The ending stays: some writers choose the format by it.
    unfinished = target.with_name(f".{secrets.token_hex(8)}{UNFINISHED}{target.suffix}")
    try:
        yield unfinished
        with open(unfinished, "rb") as written:
            os.fsync(written.fileno())  # or a power cut could leave the name without the content
        if keep:
            _move_if_free(unfinished, target)
        else:
            os.replace(unfinished, target)
    except OSError as error:
        if error.errno is None:
            raise
        # The user knows nothing of the unfinished file.
        raise OSError(error.errno, os.strerror(error.errno), str(target)) from error
    finally:
        unfinished.unlink(missing_ok=True)


def _move_if_free(source: Path, target: Path) -> None:
    try:
        os.link(source, target)  # the one way to give a name that fails if the name is taken
    except FileExistsError:
        raise
    except OSError:  # a file system without links: look first, and hope that nobody comes in between
        if target.exists():
            raise FileExistsError(f"{target} exists already.") from None
        os.replace(source, target)


UNFINISHED = ".unfinished"
"""Part of the name of files that a killed process may leave behind."""
