"""What a file is: what its ending says, and whether its first bytes agree."""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TEXT_ENDINGS = (".csv", ".tsv", ".txt")
ARRAY_ENDINGS = (".nc", ".npy", ".npz", ".zarr")
FOLDER_ENDINGS = (".parquet", ".zarr")  # of what may be a folder
ENDINGS = (*TEXT_ENDINGS, *(f"{ending}.gz" for ending in TEXT_ENDINGS), ".parquet", *ARRAY_ENDINGS)

# That of UTF-32 in small-endian order begins with one of UTF-16: it must come first.
_MARKS = {b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_GZIP = b"\x1f\x8b"
_HEAD = 4096
_BEGINNINGS = {
    b"\x89HDF\r\n\x1a\n": "a netCDF-4 or HDF5 file",
    b"CDF\x01": "a netCDF file",
    b"CDF\x02": "a netCDF file",
    b"CDF\x05": "a netCDF file",
    b"\x93NUMPY": "a NumPy array (.npy)",
    b"PK\x03\x04": "a zip archive, as .npz files and Excel workbooks are",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"PAR1": "a Parquet file",
    b"%PDF": "a PDF",
    _GZIP: "a gzip file (.gz)",
}
_EXPECTED = {
    ".nc": (b"\x89HDF", b"CDF"),
    ".npy": (b"\x93NUMPY",),
    ".npz": (b"PK",),
    ".parquet": (b"PAR1",),
    ".gz": (_GZIP,),
}


def ending_of(path: Path) -> str:
    """Give the ending that tells the kind of a file, in small letters.

    Examples
    --------
    >>> ending_of(Path("votes.1990.CSV.gz"))
    '.csv.gz'
    >>> ending_of(Path("votes.xlsx"))
    Traceback (most recent call last):
    ValueError: 'votes.xlsx' does not end in .csv, .tsv, .txt, .csv.gz, .tsv.gz, .txt.gz, .parquet, .nc, .npy,
    .npz or .zarr, so it is not known how to read it: save it as one of these, for example as CSV.
    """
    name = path.name.lower()
    found = [ending for ending in ENDINGS if name.endswith(ending)]
    if not found:
        raise ValueError(
            f"{path.name!r} does not end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}, so it is not known "
            "how to read it: save it as one of these, for example as CSV."
        )
    return found[0]


def require_file(path: Path) -> str:
    """Refuse what is not there, is no plain file, is empty, or is not what its ending says; give the ending.

    Examples
    --------
    >>> require_file(Path("no such folder/votes.csv"))
    Traceback (most recent call last):
    FileNotFoundError: there is no file 'no such folder/votes.csv': check the path.
    """
    if not path.exists():
        raise FileNotFoundError(f"there is no file {str(path)!r}: check the path.")
    if path.is_dir() and path.suffix.lower() == ".zarr":
        return _require_zarr(path)
    if path.is_dir() and path.suffix.lower() == ".parquet":
        for part in parts_of(path):
            require_file(part)
        return ".parquet"
    if path.is_dir() and any(one.suffix.lower() == ".parquet" for one in path.iterdir()):
        raise IsADirectoryError(
            f"{str(path)!r} is a folder with .parquet files: to read them as one table, rename the folder so "
            f"that it ends in .parquet, such as {path.name + '.parquet'!r}; or give the path of one of them."
        )
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder: give the path of a file in it.")
    if not path.is_file():  # reading a pipe could wait for ever, and it can be read once only
        raise OSError(
            f"{str(path)!r} is a pipe or a device, not a file: save what it gives, and give the path of that."
        )
    ending = ending_of(path)
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if not head:
        raise ValueError(f"{path.name!r} is empty: there is nothing to read.")
    expected = next((marks for last, marks in _EXPECTED.items() if ending.endswith(last)), None)
    if not (head.startswith(expected) if expected else _is_text(head)):
        raise ValueError(
            f"{path.name!r} is not what its ending says: it begins like {_look(head)}. "
            "Give it the ending that it should have, or save it anew."
        )
    return ending


def parts_of(path: Path) -> list[Path]:
    """Files of a table in Parquet: one, or all those of a folder, by name.

    Examples
    --------
    >>> [str(part) for part in parts_of(Path("votes.parquet"))]
    ['votes.parquet']
    """
    if not path.is_dir():
        return [path]
    # Those that others write beside them begin so.
    there = sorted(one for one in path.iterdir() if not one.name.startswith(("_", ".")))
    parts = [one for one in there if one.suffix.lower() == ".parquet" and one.is_file()]
    folders = [one.name for one in there if one.is_dir()]
    if folders:
        raise ValueError(
            f"{path.name!r} has the folder {folders[0]!r} in it: put all part files into one, with what the "
            "names of folders say in a column."
        )
    if not parts:
        raise ValueError(f"{path.name!r} is a folder without any file that ends in .parquet.")
    return parts


def _require_zarr(path: Path) -> str:
    if not any((path / name).is_file() for name in ("zarr.json", ".zarray", ".zgroup")):
        raise ValueError(
            f"{path.name!r} is a folder without zarr.json, .zarray or .zgroup: it is no Zarr store, or not "
            "all of it is there."
        )
    return ".zarr"


def encoding_of(path: Path) -> str:
    """Encoding of a text file, by its first bytes, unpacked where it ends in .gz; text is all they may be."""
    if path.name.lower().endswith(".gz"):
        try:
            with gzip.open(path, "rb") as packed:
                head = packed.read(_HEAD)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise BadFile(damaged(path, error)) from None
    else:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    if not _is_text(head):
        raise ValueError(f"{path.name!r} holds no text: what is packed in it begins like {_look(head)}.")
    return _marked(head) or "utf-8-sig"


def damaged(path: Path, error: BaseException) -> str:
    """Say that a file cannot be read, and what the library below says of it.

    Examples
    --------
    >>> damaged(Path("votes.nc"), OSError("truncated file"))
    "'votes.nc' is damaged, incomplete or of another kind, and cannot be read (truncated file): get it anew."
    """
    reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
    return (
        f"{path.name!r} is damaged, incomplete or of another kind, and cannot be read ({reason}): "
        "get it anew."
    )


class BadFile(ValueError):
    """A file that cannot be read at all; the sentence names it."""


@contextmanager
def blamed_on(path: Path) -> Iterator[None]:
    """Whatever the libraries below say of a bad file becomes a ValueError with a sentence."""
    try:
        yield
    except (ImportError, MemoryError, PermissionError):
        raise  # the file is not to blame
    except Exception as error:  # they have many names for it
        raise BadFile(damaged(path, error)) from None


def _is_text(head: bytes) -> bool:
    return _marked(head) is not None or not (b"\0" in head or head.startswith(_GZIP))


def _marked(head: bytes) -> str | None:
    return next((encoding for mark, encoding in _MARKS.items() if head.startswith(mark)), None)


def _look(head: bytes) -> str:
    named = [look for mark, look in _BEGINNINGS.items() if head.startswith(mark)]
    return named[0] if named else "text" if _is_text(head) else "no kind of file that is known here"
