"""CPU tensors on the memory of device tensors, and back."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_map

from ptera.torch.random import cpu_generator

__all__ = ["call_on_cpu", "to_cpu", "to_device"]


def to_cpu(tensor: torch.Tensor) -> torch.Tensor:
    """A CPU tensor on the same memory: the same shape, strides, and bits of conjugation."""
    storage = tensor.untyped_storage()
    n = storage.nbytes()
    alias = torch.empty(0, dtype=tensor.dtype)
    if n:
        memory = (ctypes.c_char * n).from_address(storage.data_ptr())
        bytes_ = torch.frombuffer(memory, dtype=torch.uint8)
        alias.set_(bytes_.untyped_storage(), tensor.storage_offset(), tensor.shape, tensor.stride())
    else:
        alias = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype)
    if tensor.is_conj():
        alias = torch._conj(alias)
    if tensor.is_neg():
        alias = torch._neg_view(alias)
    return alias


def to_device(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """A copy in device memory, with the same strides."""
    tensor = tensor.resolve_conj().resolve_neg()
    made = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=device)
    if tensor.numel():
        to_cpu(made).copy_(tensor)
    return made


class _Call:
    """One call of an operation: which arguments became which, and on which device it is."""

    def __init__(self) -> None:
        self.device: torch.device | None = None
        self.pairs: list[tuple[torch.Tensor, torch.Tensor]] = []

    def down(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if value.device.type != "cuda":
                return value
            self.device = self.device or value.device
            if value.layout is not torch.strided:
                raise NotImplementedError(f"ptera.torch: {value.layout} tensors on device cuda")
            alias = to_cpu(value)
            self.pairs.append((alias, value))
            return alias
        if isinstance(value, torch.device) and value.type == "cuda":
            self.device = self.device or value
            return torch.device("cpu")
        if isinstance(value, torch.Generator) and value.device.type == "cuda":
            return cpu_generator(value)
        return value

    def up(self, value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or value.device.type != "cpu":
            return value
        for alias, original in self.pairs:
            if value is alias:
                return self._resized(alias, original)
        assert self.device is not None
        return to_device(value, self.device)

    def _resized(self, alias: torch.Tensor, original: torch.Tensor) -> torch.Tensor:
        """What the operation wrote; an `out` that it resized has memory of its own by now."""
        if alias.shape != original.shape or (
            alias.numel() and alias.data_ptr() != original.data_ptr()
        ):
            original.resize_(alias.shape)
            to_cpu(original).copy_(alias)
        return original


def call_on_cpu(operation: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls it on CPU tensors; results are in device memory, arguments that it returns themselves.

    It has the work before it done first.
    """
    call = _Call()
    args, kwargs = tree_map(call.down, (args, kwargs))
    if call.device is None:
        call.device = torch.device("cuda", torch.cuda.current_device())
    torch.cuda.current_stream(call.device).synchronize()
    return tree_map(call.up, operation(*args, **kwargs))
