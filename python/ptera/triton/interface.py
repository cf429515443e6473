"""What Triton asks of torch.cuda, for the CPU: launches are done when they return, so that an event
is a point in time."""

from __future__ import annotations

import time
from typing import Any

__all__ = ["Event", "Interface"]


class Event:
    """As torch.cuda.Event."""

    def __init__(self, enable_timing: bool = False, **_: Any) -> None:
        self._time: float | None = None

    def record(self, stream: Any = None) -> None:
        self._time = time.perf_counter()

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from this one to `end`."""
        if self._time is None or end._time is None:
            raise RuntimeError("both events must be recorded before their times are compared")
        return (end._time - self._time) * 1000

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        """Nothing: what came before is done."""


class Interface:
    """torch.cpu, with events that tell times."""

    Event = Event

    @staticmethod
    def synchronize(device: Any = None) -> None:
        """Nothing: launches are done when they return."""

    @staticmethod
    def current_device() -> int:
        return 0

    def __getattr__(self, name: str) -> Any:
        import torch

        return getattr(torch.cpu, name)
