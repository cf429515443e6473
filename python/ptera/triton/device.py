"""Properties of the GPU that Ptera stands for, as its driver library tells them."""

from __future__ import annotations

import ctypes
import functools

from ptera.triton.tensor_map import driver

#: CUdevice_attribute, of cuda.h.
_ATTRIBUTES = {
    "max_shared_mem": 97,  # MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    "max_num_regs": 12,  # MAX_REGISTERS_PER_BLOCK
    "multiprocessor_count": 16,
    "warpSize": 10,
    "sm_clock_rate": 13,  # kHz
    "mem_clock_rate": 36,  # kHz
    "mem_bus_width": 37,  # bits
}


@functools.cache
def properties() -> dict[str, int]:
    cuda = driver()
    found = {}
    for name, attribute in _ATTRIBUTES.items():
        value = ctypes.c_int()
        result = cuda.cuDeviceGetAttribute(ctypes.byref(value), attribute, 0)
        if result:
            raise RuntimeError(f"cuDeviceGetAttribute({attribute}): error {result}")
        found[name] = value.value
    return found
