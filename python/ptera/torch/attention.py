"""Attention: by its mathematics; the fused kernels are CUDA's alone."""

import torch

__all__ = ["register"]


def register() -> None:
    torch.backends.cuda.enable_flash_sdp(False)
    torch.backends.cuda.enable_mem_efficient_sdp(False)
    torch.backends.cuda.enable_cudnn_sdp(False)
    torch.backends.cuda.enable_math_sdp(True)
