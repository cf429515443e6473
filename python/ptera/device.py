"""The GPUs that engines can stand for."""

from __future__ import annotations

import dataclasses

from ptera._library import lib, sized, text

__all__ = ["Device", "devices"]


@dataclasses.dataclass(frozen=True)
class Device:
    """A GPU. Sizes are in bytes, clocks in kHz; shared memory and registers are a CTA's at most."""

    id: str
    name: str
    compute_capability: tuple[int, int]
    multiprocessors: int
    shared_bytes: int
    memory_bytes: int
    block_registers: int
    clock_khz: int
    memory_clock_khz: int
    memory_bus_bits: int


def devices() -> list[Device]:
    """All of them, for `Engine(device=...)`."""
    found: list[Device] = []
    d = sized("ptera_device")
    while lib.ptera_device_get(len(found), d) == lib.PTERA_OK:
        found.append(
            Device(
                text(d.id),
                text(d.name),
                (d.compute_capability_major, d.compute_capability_minor),
                d.multiprocessors,
                d.shared_bytes,
                d.memory_bytes,
                d.block_registers,
                d.clock_khz,
                d.memory_clock_khz,
                d.memory_bus_bits,
            )
        )
    return found
