"""From terms and data to a result, for every model and whoever else fits."""

from tparafac2.fitting.agreement import free_factors
from tparafac2.fitting.checks import (
    Size,
    check_common,
    check_jobs,
    check_rank,
    check_weights,
    count_jobs,
    read_sparsity,
    require_choice,
    require_even_widths,
    require_flag,
    require_integer,
    require_number,
    require_seed,
    require_slices,
    told,
)
from tparafac2.fitting.groups import read_groups
from tparafac2.fitting.one_fit import ConvergenceWarning, FitPlan, fit, tied, warn_if_unsound
from tparafac2.fitting.terms import (
    DEFAULT_SMOOTHNESS,
    on_their_clock,
    require_weight,
    resolve,
    sparse_terms,
    sparsity_unit,
    weights,
)
