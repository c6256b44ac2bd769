"""How loops are compiled, and where the result is kept."""

import multiprocessing
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

_PATIENCE = 60.0
"""Seconds after which a process that helps to compile is not waited for any longer."""


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


class Call(NamedTuple):
    """A kernel, and arguments of the types that it is to be compiled for."""

    kernel: Any
    arguments: tuple[Any, ...]

    def compile(self) -> None:
        """Compile it, or fetch it from disk, without running it."""
        self.kernel.compile(self._types())

    def is_missing(self) -> bool:
        """Whether it has to be compiled, and can be kept; where Numba does not say, it has not."""
        types = self._types()
        with suppress(AttributeError):
            kept, target = self.kernel._cache, self.kernel.targetctx.codegen()
            key = kept._index_key(types, target)
            return types not in self.kernel.overloads and key not in kept._cache_file._load_index()
        return False

    def _types(self) -> tuple[Any, ...]:
        import numba

        type_of: Any = numba.typeof
        return tuple(type_of(argument) for argument in self.arguments)


@contextmanager
def helped(code: str) -> Iterator[None]:
    """While another process runs `code`, and until it has ended; that it fails or is not there is no harm."""
    helper = None
    if _may_have_help():
        with suppress(OSError):
            helper = _launch(code)
    try:
        yield
        if helper is not None:
            with suppress(subprocess.TimeoutExpired):
                helper.wait(_PATIENCE)
    finally:
        if helper is not None:
            helper.kill()
            helper.communicate()


def _launch(code: str) -> subprocess.Popen[bytes]:
    """Start a process that ends with this one, however that comes about: its input is then closed."""
    optimise = {"PYTHONOPTIMIZE": str(sys.flags.optimize)} if sys.flags.optimize else {}
    return subprocess.Popen(
        [sys.executable, "-P", "-c", f"from {__name__} import end_with_input; end_with_input(); {code}"],
        env={**os.environ, **optimise, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def end_with_input() -> None:
    """End this process as soon as nobody can write to it any longer."""

    def wait() -> None:
        os.read(0, 1)  # not through `sys.stdin`, whose lock Python would wait for when it ends
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _may_have_help() -> bool:
    """Not for one of many processes, nor for one processor, nor where Python is part of another program."""
    alone = multiprocessing.current_process().name == "MainProcess"
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    is_python = Path(sys.executable or "").name.startswith("python") and not hasattr(sys, "frozen")
    return alone and processors > 1 and is_python


@cache
def tell_of_compilation() -> None:
    """Say on a terminal why nothing seems to happen."""
    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write("tparafac2 compiles its loops for this computer: some seconds, and only once\n")


@cache
def _tell_that_nothing_is_kept() -> None:
    warnings.warn(
        "there is no folder to keep compiled code in, so that it is compiled anew in every run, for "
        "about ten seconds each: set NUMBA_CACHE_DIR to a folder that can be written to.",
        RuntimeWarning,
        stacklevel=2,
    )
