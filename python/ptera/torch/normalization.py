"""Layer normalisation of small floats: in float32, as CUDA has it; the CPU sums in the type."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ptera.torch.alias import call_on_cpu
from ptera.torch.kernels import replace

__all__ = ["register"]

_SMALL = (torch.float16, torch.bfloat16)
_forward = torch.ops.aten.native_layer_norm.default
_backward = torch.ops.aten.native_layer_norm_backward.default


def _wide(tensor: Tensor | None) -> Tensor | None:
    return tensor.float() if tensor is not None else None


def _layer_norm(
    input: Tensor, shape: Any, weight: Tensor | None, bias: Tensor | None, eps: float
) -> Any:
    if input.dtype not in _SMALL:
        return call_on_cpu(_forward, input, shape, weight, bias, eps)
    out, mean, rstd = call_on_cpu(_forward, _wide(input), shape, _wide(weight), _wide(bias), eps)
    return out.to(input.dtype), mean, rstd


def _layer_norm_backward(
    grad: Tensor,
    input: Tensor,
    shape: Any,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mask: Any,
) -> Any:
    if input.dtype not in _SMALL:
        return call_on_cpu(_backward, grad, input, shape, mean, rstd, weight, bias, mask)
    wide = [_wide(t) for t in (grad, input)], [_wide(t) for t in (mean, rstd, weight, bias)]
    found = call_on_cpu(_backward, *wide[0], shape, *wide[1], mask)
    return tuple(t.to(input.dtype) if t is not None else None for t in found)


def register() -> None:
    replace("aten::native_layer_norm", _layer_norm)
    replace("aten::native_layer_norm_backward", _layer_norm_backward)
