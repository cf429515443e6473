"""Cells of LSTM and GRU, which CUDA has fused and the CPU has not."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ptera.torch.kernels import replace

__all__ = ["register"]


def _lstm_cell(
    input_gates: Tensor,
    hidden_gates: Tensor,
    cx: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    gates = input_gates + hidden_gates
    if input_bias is not None and hidden_bias is not None:
        gates = gates + input_bias + hidden_bias
    i, f, g, o = gates.chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    cy = f * cx + i * g
    return o * cy.tanh(), cy, torch.cat([i, f, g, o], 1)


def _lstm_cell_backward(
    grad_hy: Tensor | None,
    grad_cy: Tensor | None,
    cx: Tensor,
    cy: Tensor,
    workspace: Tensor,
    has_bias: bool,
) -> tuple[Tensor | None, ...]:
    if grad_hy is None and grad_cy is None:
        return None, None, None
    i, f, g, o = workspace.chunk(4, 1)
    tanh = cy.tanh()
    dcy = torch.zeros_like(cy) if grad_cy is None else grad_cy
    do = torch.zeros_like(cy)
    if grad_hy is not None:
        do = grad_hy * tanh
        dcy = dcy + grad_hy * o * (1 - tanh * tanh)
    gates = torch.cat(
        [
            dcy * g * i * (1 - i),
            dcy * cx * f * (1 - f),
            dcy * i * (1 - g * g),
            do * o * (1 - o),
        ],
        1,
    )
    return gates, dcy * f, gates.sum(0) if has_bias else None


def _gru_cell(
    input_gates: Tensor,
    hidden_gates: Tensor,
    hx: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    if input_bias is not None and hidden_bias is not None:
        input_gates = input_gates + input_bias
        hidden_gates = hidden_gates + hidden_bias
    ir, ii, inew = input_gates.chunk(3, 1)
    hr, hi, hnew = hidden_gates.chunk(3, 1)
    r, z = (ir + hr).sigmoid(), (ii + hi).sigmoid()
    n = (inew + r * hnew).tanh()
    return n + z * (hx - n), torch.cat([r, z, n, hx, hnew], 1)


def _gru_cell_backward(grad_hy: Tensor, workspace: Tensor, has_bias: bool) -> Any:
    r, z, n, hx, hnew = workspace.chunk(5, 1)
    dz = grad_hy * (hx - n) * z * (1 - z)
    dn = grad_hy * (1 - z) * (1 - n * n)
    dr = dn * hnew * r * (1 - r)
    into_input = torch.cat([dr, dz, dn], 1)
    into_hidden = torch.cat([dr, dz, dn * r], 1)
    biases = (into_input.sum(0), into_hidden.sum(0)) if has_bias else (None, None)
    return into_input, into_hidden, grad_hy * z, *biases


def register() -> None:
    replace("aten::_thnn_fused_lstm_cell", _lstm_cell)
    replace("aten::_thnn_fused_lstm_cell_backward_impl", _lstm_cell_backward)
    replace("aten::_thnn_fused_gru_cell", _gru_cell)
    replace("aten::_thnn_fused_gru_cell_backward", _gru_cell_backward)
