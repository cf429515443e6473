"""Whether Triton has a GPU without Ptera."""

from __future__ import annotations

import sys

import triton.backends.amd.driver as amd
import triton.backends.nvidia.driver as nvidia


def is_there() -> bool:
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        return True
    return bool(nvidia.CudaDriver.is_active() or amd.HIPDriver.is_active())
