"""The backend where ptera cannot be imported."""

from __future__ import annotations

from typing import Any

import triton.backends.nvidia.compiler as compiler
import triton.backends.nvidia.driver as driver

from ptera_triton import gpu


class Backend(compiler.CUDABackend):  # type: ignore[misc]
    """Compiles for nothing."""

    @staticmethod
    def supports_target(target: Any) -> bool:
        return False


class Driver(driver.CudaDriver):  # type: ignore[misc]
    """Says what is wrong where Ptera would have been the driver."""

    why: Exception

    def __init__(self) -> None:
        raise RuntimeError(
            f"Triton has no GPU, and Ptera cannot be used: {self.why}"
            " (pip install ptera brings what it needs)"
        ) from self.why

    @classmethod
    def is_active(cls) -> bool:
        return not gpu.is_there()
