"""Launches on CPU tensors as Proton sees them.

Triton's profiler asks CUPTI for what a GPU does. These launches go through no driver that CUPTI
could watch: Ptera's is told of them.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager

from ptera._library import PACKAGE

__all__ = ["take_over", "told"]

_FOLDER = PACKAGE / "lib" / "ptera-cupti"
_CUDA_ERROR_LAUNCH_FAILED = 719
_Size = ctypes.c_uint * 3
_nobody = contextlib.nullcontext()


def take_over() -> None:
    """Proton opens Ptera's CUPTI, unless it has been told of another."""
    if _FOLDER.exists():
        os.environ.setdefault("TRITON_CUPTI_LIB_PATH", str(_FOLDER))


def told(
    kernel: str, grid: tuple[int, int, int], threads: int, shared: int
) -> AbstractContextManager[None]:
    """While a launch runs: tells Proton of it, if that has been imported."""
    if "triton.profiler" not in sys.modules:
        return _nobody
    return _told(kernel, grid, threads, shared)


@contextlib.contextmanager
def _told(kernel: str, grid: tuple[int, int, int], threads: int, shared: int) -> Iterator[None]:
    cupti = _cupti()
    if cupti is None or not cupti.ptera_cupti_begin(kernel.encode()):
        yield
        return
    result = _CUDA_ERROR_LAUNCH_FAILED
    try:
        yield
        result = 0
    finally:
        cupti.ptera_cupti_end(_Size(*grid), _Size(threads, 1, 1), shared, 0, result)


@functools.cache
def _cupti() -> ctypes.CDLL | None:
    return ctypes.CDLL(str(_FOLDER / "libcupti.so")) if _FOLDER.exists() else None
