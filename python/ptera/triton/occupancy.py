"""Occupancy, as the driver library tells it."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator

from ptera.triton.tensor_map import driver

_THREADS = 128  # of a block that Triton asks about
#: Of cuda.h.
_CLUSTER_DIMENSION = 4  # CUlaunchAttributeID
_MAX_DYNAMIC_SHARED = 8  # CUfunction_attribute
_NON_PORTABLE_CLUSTER = 14


class _Attribute(ctypes.Structure):
    """CUlaunchAttribute: a cluster's dimension."""

    _fields_ = [
        ("id", ctypes.c_int),
        ("padding", ctypes.c_uint),
        ("cluster", ctypes.c_uint * 3),
        ("rest", ctypes.c_uint * 13),
    ]


class _Config(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = [
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared_bytes", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(_Attribute)),
        ("n_attributes", ctypes.c_uint),
    ]


def active_clusters(ptx: bytes, name: str, shared: int, ctas: int) -> int:
    """How many clusters of so many CTAs of a kernel, each with so many bytes of dynamic shared
    memory, the device runs at once."""
    attribute = _Attribute(_CLUSTER_DIMENSION, 0, (ctas, 1, 1))
    config = _Config((ctas, 1, 1), (_THREADS, 1, 1), shared, None, ctypes.pointer(attribute), 1)
    n = ctypes.c_int()
    with _function(ptx, name) as function:
        _call("cuFuncSetAttribute", function, _MAX_DYNAMIC_SHARED, shared)
        _call("cuFuncSetAttribute", function, _NON_PORTABLE_CLUSTER, 1)
        _call("cuOccupancyMaxActiveClusters", ctypes.byref(n), function, ctypes.byref(config))
    return n.value


@contextlib.contextmanager
def _function(ptx: bytes, name: str) -> Iterator[ctypes.c_void_p]:
    """The kernel in the device's primary context, which is current meanwhile."""
    context, module, function = (ctypes.c_void_p() for _ in range(3))
    _call("cuInit", 0)
    _call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    try:
        _call("cuCtxPushCurrent_v2", context)
        try:
            _call("cuModuleLoadData", ctypes.byref(module), ptx)
            try:
                _call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
                yield function
            finally:
                _call("cuModuleUnload", module)
        finally:
            _call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))
    finally:
        _call("cuDevicePrimaryCtxRelease_v2", 0)


def _call(entry: str, *arguments: object) -> None:
    result = getattr(driver(), entry)(*arguments)
    if result:
        raise RuntimeError(f"{entry}: error {result}")
