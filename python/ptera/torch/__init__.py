"""PyTorch's device "cuda" without a GPU.

    python -m ptera script.py          # imports ptera.torch where the script imports torch

PyTorch's CUDA build has machine code only for its own operations, no PTX; what Triton, Inductor,
nvcc and NVRTC make runs by Ptera. Importing this gives each operation of the device "cuda" the
kernel that PyTorch has for the CPU, on the device memory itself (it is the host's), in the order of
the current stream: the numbers are the CPU's. What PyTorch has for CUDA alone is refused by name.
"""

import os

import torch

from ptera.torch import attention, kernels, normalization, philox, random, recurrent

__all__ = ["activate"]

_is_active = False


def _has_device() -> bool:
    """Under `ptera exec` PyTorch isn't asked: it refuses CUDA to processes forked thereafter."""
    is_under_exec = "libptera-audit.so" in os.environ.get("LD_AUDIT", "")
    return is_under_exec and torch.version.cuda is not None or torch.cuda.is_available()


def activate() -> None:
    """Once; more often does nothing. Raises RuntimeError where PyTorch sees no GPU of Ptera's."""
    global _is_active
    if _is_active:
        return
    if not _has_device():
        raise RuntimeError(
            "PyTorch sees no GPU: start Python by `python -m ptera`, with a CUDA build of PyTorch"
        )
    kernels.register()
    attention.register()
    normalization.register()
    recurrent.register()
    random.register()
    for name, kernel in philox.OPERATIONS.items():
        kernels.replace(name, kernel)
    _is_active = True


activate()
