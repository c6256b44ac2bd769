"""How loops are compiled, and where the result is kept."""

import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any


def kernel(function: Any, options: Mapping[str, Any]) -> Any:
    """Compile a function that Python calls; kept on disk between runs where there is a place for it."""
    from numba import njit

    compiler: Any = njit
    compiled: Any = compiler(no_cfunc_wrapper=True, **options)(function)
    try:
        compiled.enable_caching()
    except RuntimeError as nowhere:
        if "no locator available" not in str(nowhere):
            raise
        _tell_that_nothing_is_kept()
    return compiled


def part(function: Any, options: Mapping[str, Any]) -> Any:
    """Compile a function that only kernels call: it has no way in from Python, and no machine code."""
    from numba import njit

    compiler: Any = njit
    unfinished = _part_compiler()
    pipeline = {} if unfinished is None else {"pipeline_class": unfinished}
    return compiler(no_cpython_wrapper=True, no_cfunc_wrapper=True, **pipeline, **options)(function)


@cache
def _part_compiler() -> Any:
    """Give the compiler of parts, which are optimised where they are called, or None where Numba is another.

    Numba optimises a function, and makes machine code of it, with all that it calls: what is called at the
    fourth level, four times, and the first three for nothing.
    """
    from numba.core import codegen, compiler

    library: Any = codegen.JITCodeLibrary
    usual: Any = compiler.Compiler
    hooks = ("_optimize_final_module", "_finalize_final_module")
    if not (hasattr(codegen, "ll") and all(hasattr(library, name) for name in hooks)):
        return None

    class PartLibrary(library):  # type: ignore[misc]
        """Code to link with that of the callers, and no more."""

        def _optimize_final_module(self) -> None:
            pass

        def _finalize_final_module(self) -> None:
            # Numba writes to these names when a function is compiled, so they have to be somewhere.
            found = (variable.name for variable in self._final_module.global_variables)
            names = (name for name in found if name.startswith("_ZN08NumbaEnv"))
            declared = "\n".join(f'@"{name}" = common global ptr null' for name in names)
            module: Any = codegen.ll.parse_assembly(declared)
            module.triple, module.data_layout = self._final_module.triple, self._final_module.data_layout
            self._codegen._add_module(module)
            self._finalized = True

    class PartCompiler(usual):  # type: ignore[misc]
        """Numba's own way, into such a library."""

        def compile_extra(self, function: Any) -> Any:
            self.state.library = PartLibrary(self.state.targetctx.codegen(), function.__qualname__)
            return super().compile_extra(function)

    return PartCompiler


@cache
def _tell_that_nothing_is_kept() -> None:
    warnings.warn(
        "there is no folder to keep compiled code in, so that it is compiled anew in every run, for a "
        "quarter of a minute each: set NUMBA_CACHE_DIR to a folder that can be written to.",
        RuntimeWarning,
        stacklevel=2,
    )
