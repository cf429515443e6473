"""Properties of the GPU that Ptera stands for, whether or not CUDA_VISIBLE_DEVICES hides it."""

from __future__ import annotations

import functools

import ptera

#: Threads of a warp.
WARP = 32


@functools.cache
def properties() -> dict[str, int]:
    """As Triton names them; clocks in kHz."""
    own = ptera.default_engine().info()["device"]
    device = next(d for d in ptera.devices() if d.id == own)
    return {
        "max_shared_mem": device.shared_bytes,
        "max_num_regs": device.block_registers,
        "multiprocessor_count": device.multiprocessors,
        "warpSize": WARP,
        "sm_clock_rate": device.clock_khz,
        "mem_clock_rate": device.memory_clock_khz,
        "mem_bus_width": device.memory_bus_bits,
    }
