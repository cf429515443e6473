"""Kernels of the device "cuda" for PyTorch's operations: those of the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ptera.torch.alias import call_on_cpu
from ptera.torch.random import default_generator

__all__ = ["register", "replace"]

#: These only make or describe memory: CUDA's own do.
_OWN = {
    "aten::_local_scalar_dense",
    "aten::_pin_memory",
    "aten::_reshape_alias",
    "aten::as_strided",
    "aten::empty.memory_format",
    "aten::empty_strided",
    "aten::is_pinned",
    "aten::is_set_to",
    "aten::record_stream",
    "aten::resize_",
    "aten::set_",
    "aten::set_.source_Storage",
    "aten::set_.source_Storage_storage_offset",
    "aten::set_.source_Tensor",
    "aten::unfold",
    "aten::view",
    "aten::view_as_complex",
    "aten::view_as_real",
}
#: These have no kernel for CUDA by that name, but ask for others by the device.
_MORE = {
    "aten::convolution",
    "aten::convolution_backward",
    "aten::copy_",
}
_library = torch.library.Library("aten", "IMPL")


def _operation(name: str) -> Any:
    namespace, _, rest = name.partition("::")
    base, _, overload = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), base), overload or "default")


def replace(name: str, kernel: Callable[..., Any]) -> None:
    """Gives an operation ("aten::mm") a kernel for the device; the last one counts."""
    _library.impl(name, kernel, "CUDA", allow_override=True)


def _on_cpu(operation: Any) -> Callable[..., Any]:
    schema = operation._schema.arguments
    draws = any(str(a.type) == "Optional[Generator]" for a in schema)
    tensors = [str(a.type) == "Tensor" for a in schema]

    def kernel(*args: Any, **kwargs: Any) -> Any:
        if draws and kwargs.get("generator") is None:
            kwargs["generator"] = default_generator(torch.cuda.current_device())
        # A number that took a tensor's place comes back as one.
        given = [
            torch.tensor(a) if is_tensor and isinstance(a, (int, float, complex)) else a
            for a, is_tensor in zip(args, tensors)
        ]
        return call_on_cpu(operation, *given, **kwargs)

    return kernel


def _refuse(name: str) -> Callable[..., Any]:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"ptera.torch: {name} has no kernel for the CPU, and for CUDA machine code only"
        )

    return kernel


def _to_copy(
    tensor: torch.Tensor,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    non_blocking: bool = False,
    memory_format: Any = None,
) -> torch.Tensor:
    """To another type on the device, or to the CPU; from there copy_ has it."""
    made = torch.empty_like(
        tensor,
        dtype=dtype,
        layout=layout,
        device=device,
        pin_memory=pin_memory,
        memory_format=memory_format or torch.preserve_format,
    )
    return made.copy_(tensor)


def register() -> None:
    find = torch._C._dispatch_get_registrations_for_dispatch_key
    cpu = set(find("CPU"))
    composite = {name for key in ("CompositeExplicitAutograd", "CompositeImplicitAutograd")
                 for name in find(key)}  # fmt: skip
    for name in sorted({*find("CUDA"), *_MORE}):
        if not name.startswith("aten::") or name in _OWN:
            continue
        if name in cpu or name in composite or name in _MORE:
            replace(name, _on_cpu(_operation(name)))
        else:
            replace(name, _refuse(name))
    replace("aten::_to_copy", _to_copy)
    for library in ("cudnn", "miopen"):
        for overload in ("", ".Tensor"):
            replace(f"aten::_use_{library}_ctc_loss{overload}", lambda *args, **kwargs: False)
    torch._C._set_cudnn_enabled(False)  # also where flags are frozen
