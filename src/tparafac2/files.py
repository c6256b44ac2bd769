"""Files that are complete or not there at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(target: Path) -> Iterator[Path]:
    """Give a path to write to, which becomes `target` only if all went well.

    Parameters
    ----------
    target : Path
        Replaced at one stroke if it exists.

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
        os.replace(unfinished, target)
    except OSError as error:
        if error.errno is None:
            raise
        # The user knows nothing of the unfinished file.
        raise OSError(error.errno, os.strerror(error.errno), str(target)) from error
    finally:
        unfinished.unlink(missing_ok=True)


UNFINISHED = ".unfinished"
"""Part of the name of files that a killed process may leave behind."""
