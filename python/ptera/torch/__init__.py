"""PyTorch's device "cuda" without a GPU.

    python -m ptera script.py          # import ptera.torch in the script

PyTorch's CUDA build has machine code only for its own operations, no PTX; what Triton, Inductor,
nvcc and NVRTC make runs by Ptera. Importing this gives each operation of the device "cuda" the
kernel that PyTorch has for the CPU, on the device memory itself (it is the host's), in the order of
the current stream: the numbers are the CPU's. What PyTorch has for CUDA alone is refused by name.
"""

from ptera.torch import attention, kernels, random, recurrent

__all__ = ["activate"]

_is_active = False


def activate() -> None:
    """Once; more often does nothing. Raises RuntimeError where PyTorch sees no GPU of Ptera's."""
    global _is_active
    if _is_active:
        return
    kernels.register()
    attention.register()
    recurrent.register()
    random.register()
    _is_active = True


activate()
