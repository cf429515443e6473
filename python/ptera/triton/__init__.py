"""A backend of Triton: kernels run on CPU tensors where there is no GPU.

Triton finds it by the entry point `triton.backends` (package ptera_triton). Its kernels are
compiled by Triton's own backend for NVIDIA's GPUs as far as PTX, which Ptera runs: the bits are
those of a GPU.
"""

# Before any module of this package: Triton imports them while it is imported itself, and they
# import it.
import triton  # noqa: F401
