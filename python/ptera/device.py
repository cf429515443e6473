"""The GPUs that engines can stand for."""

from __future__ import annotations

import dataclasses

from ptera._library import lib, sized, text

__all__ = ["Device", "devices"]


@dataclasses.dataclass(frozen=True)
class Device:
    """A GPU. Sizes are in bytes; `shared_bytes` is what a CTA may have."""

    id: str
    name: str
    compute_capability: tuple[int, int]
    multiprocessors: int
    shared_bytes: int
    memory_bytes: int


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
            )
        )
    return found
