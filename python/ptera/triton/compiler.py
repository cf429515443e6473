"""Triton's compiler for NVIDIA's GPUs, whose last product is PTX."""

from __future__ import annotations

import dataclasses
from typing import Any

import triton.backends.nvidia.compiler as nvidia
from triton.backends.compiler import GPUTarget

import ptera

#: Of the PTX that Triton is asked for, as ten times its version.
PTX_VERSION = 87


@dataclasses.dataclass(frozen=True)
class Target(GPUTarget):  # type: ignore[misc]
    """A GPU of NVIDIA's to programs, which is Ptera's."""


class Backend(nvidia.CUDABackend):  # type: ignore[misc]
    """To PTX as for a GPU; what a GPU's driver gets as machine code is the PTX itself."""

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return isinstance(target, Target)

    def parse_options(self, opts: dict[str, Any]) -> Any:
        if opts.get("ptx_version") is None:
            opts = {**opts, "ptx_version": PTX_VERSION}
        return super().parse_options(opts)

    def make_cubin(self, src: str, metadata: Any, opt: Any, capability: int) -> bytes:
        return src.encode()

    def hash(self) -> str:
        return f"ptera-{ptera.__version__}-{self.target.arch}"


def take_over() -> None:
    """From now on NVIDIA's compiler leaves targets of ours to ours."""
    theirs = nvidia.CUDABackend.supports_target
    nvidia.CUDABackend.supports_target = staticmethod(
        lambda target: not isinstance(target, Target) and theirs(target)
    )
