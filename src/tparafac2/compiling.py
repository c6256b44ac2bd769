"""How loops are compiled, and where the result is kept."""

import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any


def kernel(function: Any, options: Mapping[str, Any]) -> Any:
    """Compile a function that Python calls; kept on disk between runs where there is a place for it."""
    from numba import njit

    compiler: Any = njit
    try:
        return compiler(cache=True, no_cfunc_wrapper=True, **options)(function)
    except RuntimeError as nowhere:
        if "no locator available" not in str(nowhere):
            raise
        _tell_that_nothing_is_kept()
        return compiler(no_cfunc_wrapper=True, **options)(function)


def part(function: Any, options: Mapping[str, Any]) -> Any:
    """Compile a function that only kernels call: it has no way in from Python."""
    from numba import njit

    compiler: Any = njit
    return compiler(no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)(function)


@cache
def _tell_that_nothing_is_kept() -> None:
    warnings.warn(
        "there is no folder to keep compiled code in, so that it is compiled anew in every run, for "
        "about ten seconds each: set NUMBA_CACHE_DIR to a folder that can be written to.",
        RuntimeWarning,
        stacklevel=2,
    )
