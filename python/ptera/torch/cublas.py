"""Triton's own handle of cuBLAS, to which tutorials compare their products.

cuBLAS is machine code; the products are PyTorch's for the CPU.
"""

from __future__ import annotations

import torch

__all__ = ["CublasLt"]


class CublasLt:
    """In the place of triton._C.libtriton.nvidia.cublas.CublasLt: matrices of device "cuda"."""

    def __init__(self, workspace: torch.Tensor) -> None:
        """The workspace is not used."""

    def matmul(self, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
        """c (M x N) = a (M x K) times b (N x K) transposed, summed in float32."""
        self.gemm(a, b, c, c, 1.0, 0.0)

    def gemm(
        self,
        a: torch.Tensor,
        b: torch.Tensor,
        c: torch.Tensor,
        d: torch.Tensor,
        alpha: float,
        beta: float,
    ) -> None:
        """d = alpha times the product + beta c, which is not read where beta is 0."""
        if a.dim() != 2 or b.dim() != 2 or a.shape[1] != b.shape[1]:
            raise RuntimeError(f"matrices {tuple(a.shape)}, {tuple(b.shape)} have no common K")
        product = a.float() @ b.float().T * alpha
        d.copy_(product + c.float() * beta if beta else product)

    def block_scaled_matmul_mxfp8(self, *_: object) -> None:
        raise NotImplementedError("cuBLAS's block-scaled products are not supported")

    block_scaled_matmul_nvfp4 = block_scaled_matmul_mxfp8
