"""Write what a version finds for every case to `reference.npz`.

The references are those of version 0.2 and stay. For a case that is added, in the root of the repository and
with the sources of version 0.2 at hand:

    PYTHONPATH=<sources of version 0.2>:tests python -m contract.make_reference

Cases whose references are there already are left alone.
"""

import numpy as np
from contract.cases import MAKERS, REFERENCE, case, new_rows, plain

import tparafac2 as tp


def measured(name):
    """All that is kept of one fit, by name."""
    one = case(name)
    model = one.run()
    found = {
        "objective": model.objective_,
        "explained_variance": model.explained_variance_,
        "A": model.A_,
        "B": np.concatenate(list(model.B_)),
        "C": model.C_,
    }
    if (rows := new_rows(name)) is not None:
        found["transform"] = model.transform(rows)
    return {f"{name}/{what}": plain(value) for what, value in found.items()}


def main():
    """Add what is missing."""
    kept = dict(np.load(REFERENCE)) if REFERENCE.exists() else {"version": np.array(tp.__version__)}
    for name in MAKERS:
        if f"{name}/objective" not in kept:
            kept |= measured(name)
    np.savez_compressed(REFERENCE, **kept)


if __name__ == "__main__":
    main()
