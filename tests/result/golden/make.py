"""Write the model files of this version, to be read by all later ones: python tests/result/golden/make.py.

Run it once when a version is released, keep the files it writes, and state in test_golden.py what they hold.
Files of versions that were released are never written again.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

import tparafac2 as tp

HERE = Path(__file__).parent
ROWS = ["ann", "bob", "cyd", "dee", "eva"]
COLUMNS = ["blue", "green", "red", "white"]


def evolving() -> xr.DataArray:
    """Give two concepts at four uneven dates, with labels, missing entries and a whole slice missing."""
    rng = np.random.default_rng(7)
    A, B, C = rng.random((5, 2)), rng.random((4, 2)) + np.arange(4)[:, None, None] / 9, rng.random((4, 2)) + 1
    X = np.einsum("ir,kjr,kr->kij", A, B, C) ** 2
    X[0, 1, 2] = X[3, 0, 0] = np.nan
    X[2] = np.nan
    dates = pd.to_datetime(["2020-01-01", "2020-01-05", "2020-01-06", "2020-02-01"])
    return xr.DataArray(X, coords={"year": dates, "author": ROWS, "word": COLUMNS})


def ragged() -> list[np.ndarray]:
    """Give slices of four, five and four columns."""
    rng = np.random.default_rng(8)
    A = rng.random((6, 2))
    return [A * (1 + rng.random(2)) @ rng.random((2, width)) for width in (4, 5, 4)]


def main() -> None:
    """Fit two small models and keep them."""
    common = {"rank": 2, "n_starts": 2, "max_iter": 6, "tol": 0.0, "random_state": 3, "progress": False}
    dims = {"time": "year", "rows": "author", "columns": "word"}
    prepared = tp.Preparation("sqrt").apply(evolving(), dims=dims)
    smooth = tp.TParafac2(smoothness=1e-2, period=366.0, penalties_b=[tp.penalties.Ridge(1e-4)], **common)
    smooth.fit(prepared, dims=dims).save(HERE / f"tparafac2-{tp.__version__}.npz")
    tp.Parafac2(lambda_a=0.1, lambda_b=0.2, lambda_d=0.3, **common).fit(ragged()).save(
        HERE / f"parafac2-{tp.__version__}.npz"
    )


if __name__ == "__main__":
    main()
