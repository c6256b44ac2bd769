"""A long table of any length, written in pieces, and what it costs to make slices of it, a fit and a page.

    python benchmarks/long_table.py words.parquet --lines 1e6
    python benchmarks/long_table.py words.parquet --measure --memory 8GB --top 5000

The lines are counts of words of authors in twenty years, drawn from components whose words change with time.
An author may have several lines for a word and a year: they are to be added up.
"""

import argparse
import json
import resource
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

K, J, RANK = 20, 50_000, 10
LINES_OF_ROW = 1000
PIECE = 1_000_000
SEED = 0


def write(path, lines, words=J):
    """Write about so many lines to a Parquet file, some at once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(SEED)
    authors = max(100, int(lines / LINES_OF_ROW))
    sizes = {"a": authors, "w": words}
    names = [pa.array([f"{kind}{n:06}" for n in range(size)]) for kind, size in sizes.items()]
    row_shares = np.cumsum(rng.pareto(2.0, (RANK, authors)), axis=1)
    first, second = (rng.pareto(1.5, (RANK, words)) for _ in range(2))
    pieces = max(1, round(lines / K / PIECE))
    text = pa.dictionary(pa.int32(), pa.string())
    kinds = {"author": text, "word": text, "year": pa.int16(), "count": pa.int16()}
    with pq.ParquetWriter(path, pa.schema(kinds.items())) as writer:
        for year, turn in enumerate(np.linspace(0.0, 1.0, K), start=2000):
            shares = 1.0 + 0.5 * np.sin(6.0 * turn + np.arange(RANK))
            columns = np.cumsum((1.0 - turn) * first + turn * second, axis=1)
            for _ in range(pieces):
                counts = rng.multinomial(int(lines / K / pieces), shares / shares.sum())
                i = np.concatenate([_drawn(rng, row_shares[r], n) for r, n in enumerate(counts)])
                j = np.concatenate([_drawn(rng, columns[r], n) for r, n in enumerate(counts)])
                order = rng.permutation(len(i))
                drawn = zip((i, j), names)
                found = [pa.DictionaryArray.from_arrays(pa.array(x[order]), one) for x, one in drawn]
                found += [np.full(len(i), year, np.int16), rng.integers(1, 4, len(i), dtype=np.int16)]
                writer.write_table(pa.table(dict(zip(kinds, found)), schema=pa.schema(kinds.items())))


def _drawn(rng, cumulated, count):
    places = np.searchsorted(cumulated, cumulated[-1] * np.sort(rng.random(count)))
    return rng.permutation(places.astype(np.int32))


def peak():
    """Largest resident memory so far, in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measure(path, asked):
    """Print one line for each stage."""
    import tparafac2 as tp

    warnings.simplefilter("ignore")
    tp.TParafac2(2, max_iter=20, n_starts=2).fit(np.random.default_rng(0).random((4, 30, 20)))  # compiles
    names = {"rows": "author", "columns": "word", "time": "year", "values": "count"}
    options = {"duplicates": "sum", "top_columns": asked.top, "memory": asked.memory}
    before, began, worked = peak(), time.perf_counter(), time.process_time()
    table = tp.io.read(path, **names, **options)
    seconds, worked, held = time.perf_counter() - began, time.process_time() - worked, table.nbytes
    tell(
        {
            "file MB": path.stat().st_size / 1e6,
            "shape": table.shape,
            "cells": round(table.density * np.prod(table.shape)),
            "read s": seconds,
            "read processor s": worked,
            "MB/s": path.stat().st_size / 1e6 / seconds,
            "before MB": before / 1e6,
            "held MB": held / 1e6,
            "peak MB": peak() / 1e6,
        }
    )
    began = time.perf_counter()
    prepared = tp.Preparation("log1p").apply(table)
    tell({"prepare s": time.perf_counter() - began, "peak MB": peak() / 1e6})
    began, worked = time.perf_counter(), time.process_time()
    model = tp.TParafac2(asked.rank, smoothness=1e-3, n_starts=asked.starts, random_state=SEED).fit(prepared)
    seconds, worked = time.perf_counter() - began, time.process_time() - worked
    tell(
        {
            "fit s": seconds,
            "fit processor s": worked,
            "iterations": int(model.n_iter_),
            "peak MB": peak() / 1e6,
        }
    )
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        tp.report.write_page(model, Path(folder) / "report.html")
        size = (Path(folder) / "report.html").stat().st_size
    tell({"page s": time.perf_counter() - began, "page MB": size / 1e6, "peak MB": peak() / 1e6})


def tell(line):
    """One line, for people and programs."""
    short = {name: round(x, 2) if isinstance(x, float) else x for name, x in line.items()}
    print(json.dumps(short), flush=True)


def main():
    """Write a table, or measure what it costs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--lines", type=float, default=1e6, help="lines to write, about")
    parser.add_argument("--words", type=int, default=J)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--memory", default=None)
    parser.add_argument("--top", type=int, default=None)
    parser.add_argument("--rank", type=int, default=5)
    parser.add_argument("--starts", type=int, default=3)
    asked = parser.parse_args()
    if asked.measure:
        measure(asked.path, asked)
    else:
        write(asked.path, asked.lines, asked.words)


if __name__ == "__main__":
    main()
