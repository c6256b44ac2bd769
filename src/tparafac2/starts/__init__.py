"""Many starts: where they begin, how they run, which one is chosen."""

from tparafac2.starts.batches import batch_size, run_starts
from tparafac2.starts.begin import (
    Starts,
    child_seeds,
    fit_size,
    in_units,
    mixed_start,
    prepare,
    read_factors,
    svd_start,
    uniform_start,
)
from tparafac2.starts.choice import Choice, choose, likeness, ranked
from tparafac2.starts.processes import (
    Interrupt,
    flag_file,
    helping,
    in_processes,
    is_helper,
    no_orphans,
    shielded_children,
)
from tparafac2.starts.progress import Progress, one_of_several
