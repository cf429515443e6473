"""Ptera: runs NVIDIA PTX on the CPU, with the bits that a Hopper GPU returns.

    import numpy, ptera

    m = ptera.Module("saxpy.ptx")
    x, y = numpy.ones(1000, "f4"), numpy.zeros(1000, "f4")
    m.saxpy[4, 256](1000, 2.0, x, y)       # works on the arrays' own memory

Shapes of grids and blocks are in CTAs and threads, sizes in bytes, times in seconds.
"""

from ptera._library import lib as _lib
from ptera._library import text as _text
from ptera.activation import activate
from ptera.arrays import In
from ptera.device import Device, devices
from ptera.engine import Engine, default_engine
from ptera.errors import (
    Cancelled,
    CompileError,
    Diagnostic,
    Error,
    Finding,
    FindingsError,
    IllegalAddress,
    InvalidLaunch,
    InvalidPTX,
    KernelError,
    Party,
    UnsupportedPTX,
)
from ptera.kernel import Kernel, Parameter
from ptera.module import Module
from ptera.nvrtc import compile_cuda
from ptera.profile import Access, Instruction, KernelCounts, read_counts

__version__: str = _text(_lib.ptera_version())

__all__ = [
    "Access",
    "Cancelled",
    "CompileError",
    "Device",
    "Diagnostic",
    "Engine",
    "Error",
    "Finding",
    "FindingsError",
    "IllegalAddress",
    "In",
    "Instruction",
    "InvalidLaunch",
    "InvalidPTX",
    "Kernel",
    "KernelCounts",
    "KernelError",
    "Module",
    "Parameter",
    "Party",
    "UnsupportedPTX",
    "activate",
    "compile_cuda",
    "default_engine",
    "devices",
    "read_counts",
]
