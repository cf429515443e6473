"""What clients need that are imported later: see ptera.program and ptera.activation.

Once the program has imported PyTorch, its device "cuda" is ptera.torch's, and so is the handle of
cuBLAS that Triton has. JAX makes products of matrices by itself, where it would call cuBLAS.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


class _After(importlib.abc.MetaPathFinder):
    """Finds a module as the others do, and does something once it has been imported."""

    def __init__(self, module: str, then: Callable[[ModuleType], object]) -> None:
        self._module, self._then = module, then

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != self._module:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_both(module: ModuleType) -> None:
                execute(module)
                self._then(module)

            spec.loader.exec_module = execute_both  # type: ignore[method-assign]
        return spec


def _after_torch(torch: ModuleType) -> None:
    if torch.version.cuda:
        import ptera.torch  # noqa: F401


def _after_triton(libtriton: ModuleType) -> None:
    def make_handle(workspace: Any) -> Any:
        from ptera.torch.cublas import CublasLt

        return CublasLt(workspace)

    if hasattr(libtriton, "nvidia"):
        libtriton.nvidia.cublas.CublasLt = make_handle


class _BeforeJAX(importlib.abc.MetaPathFinder):
    """Finds nothing, but tells XLA, before it reads its flags, from which size on cuBLAS is for."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name == "jaxlib":
            sys.meta_path.remove(self)
            flags = os.environ.get("XLA_FLAGS", "")
            if "--xla_gpu_gemm_rewrite_size_threshold" not in flags:
                os.environ["XLA_FLAGS"] = f"{flags} --xla_gpu_gemm_rewrite_size_threshold={1 << 62}"
        return None


def install() -> None:
    """From now on."""
    sys.meta_path[:0] = [
        _After("torch", _after_torch),
        _After("triton._C.libtriton", _after_triton),
        _BeforeJAX(),
    ]
