"""Many starts: where they begin, how they run, which one is chosen."""

from tparafac2.starts.batches import ARRAYS_PER_START, batch_size, run_starts
from tparafac2.starts.begin import (
    child_seeds,
    fit_size,
    in_units,
    prepare,
    read_factors,
    svd_start,
    uniform_start,
)
from tparafac2.starts.choice import Choice, choose
from tparafac2.starts.processes import Interrupt, flag_file, helping, in_processes, no_orphans
from tparafac2.starts.progress import Progress, one_of_several

__all__ = [
    "ARRAYS_PER_START",
    "Choice",
    "Interrupt",
    "Progress",
    "batch_size",
    "child_seeds",
    "choose",
    "fit_size",
    "flag_file",
    "helping",
    "in_processes",
    "in_units",
    "no_orphans",
    "one_of_several",
    "prepare",
    "read_factors",
    "run_starts",
    "svd_start",
    "uniform_start",
]
