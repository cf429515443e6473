"""What clients need that are imported later: see ptera.program and ptera.activation.

Once the program has imported PyTorch, its device "cuda" is ptera.torch's. JAX makes products of
matrices by itself, where it would call cuBLAS.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import os
import sys
from types import ModuleType
from typing import Any


class _AfterTorch(importlib.abc.MetaPathFinder):
    """Finds torch as the others do, and has ptera.torch imported behind it."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_both(module: ModuleType) -> None:
                execute(module)
                if module.version.cuda:
                    import ptera.torch  # noqa: F401

            spec.loader.exec_module = execute_both  # type: ignore[method-assign]
        return spec


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
    sys.meta_path[:0] = [_AfterTorch(), _BeforeJAX()]
