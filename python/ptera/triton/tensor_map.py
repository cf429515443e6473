"""Tensor maps, of descriptors that the host makes: by the driver library's encoder."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import Any

from triton.backends.driver import decompose_descriptor
from triton.backends.nvidia import driver as nvidia

from ptera._library import PACKAGE

_BYTES = 128  # of a CUtensorMap


@functools.cache
def driver() -> ctypes.CDLL:
    """Ptera's driver library. (Its encoder of tensor maps needs no device, nor cuInit.)"""
    return ctypes.CDLL(str(PACKAGE / "lib" / "libcuda.so.1"), mode=ctypes.RTLD_LOCAL)


def arguments_of(arg: Any, metadata: Any, _: Any) -> list[Any]:
    """What a kernel gets for a descriptor: its tensor map (where it has one), shape, strides."""
    if metadata is None:
        found: list[Any] = decompose_descriptor(arg)
        return found
    if metadata.get("is_im2col", False):
        raise NotImplementedError("tensor descriptors for im2col, made by the host")
    shape = list(arg.shape)
    if metadata["fp4_padded"]:
        shape[-1] *= 2
    kind = (
        nvidia.TMA_TF32
        if arg.round_f32_to_tf32
        else nvidia.TMA_DTYPE_DEVICE_TO_HOST[metadata["elem_type"]]
    )
    tensor_map = encode(
        kind,
        arg.base.data_ptr(),
        shape,
        [s * metadata["elem_size"] for s in arg.strides[:-1]],
        metadata["block_size"],
        metadata["swizzle"],
        arg.padding == "nan",
    )
    return [tensor_map, *arg.shape, *arg.strides]


def encode(
    kind: int,
    address: int,
    shape: Sequence[int],
    strides: Sequence[int],
    block: Sequence[int],
    swizzle: int,
    is_nan_padded: bool,
) -> bytes:
    """A CUtensorMap; shapes and strides (in bytes, but for the innermost) are outermost first."""
    rank = len(shape)
    memory = ctypes.create_string_buffer(2 * _BYTES)
    aligned = ctypes.addressof(memory) + _BYTES - 1 & -_BYTES
    sizes = (ctypes.c_uint64 * rank)(*reversed(shape))
    outer = (ctypes.c_uint64 * rank)(*reversed(strides))
    box = (ctypes.c_uint32 * rank)(*reversed(block))
    ones = (ctypes.c_uint32 * rank)(*[1] * rank)
    result = driver().cuTensorMapEncodeTiled(
        ctypes.c_void_p(aligned),
        kind,
        rank,
        ctypes.c_void_p(address),
        sizes,
        outer,
        box,
        ones,
        0,  # no interleave
        swizzle,
        2,  # L2 promotion to 128 bytes
        int(is_nan_padded),
    )
    if result:
        raise RuntimeError(
            f"cuTensorMapEncodeTiled: error {result} (type {kind}, shape {list(shape)}, "
            f"strides {list(strides)}, block {list(block)}, swizzle {swizzle})"
        )
    return ctypes.string_at(aligned, _BYTES)
