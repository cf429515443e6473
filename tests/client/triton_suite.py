"""Plug-in of pytest for Triton's own tests on CPU tensors, by ptera.triton.

    pytest -p triton_suite --device cpu python/test/unit/language/test_core.py

The tests ask PyTorch about the GPU, which here is Ptera's; leave out some checks unless the device
is called "cuda"; and take scratch memory from the device "cuda".
"""
import contextlib

import torch
import triton


def _allocate(size, alignment, stream):
    return torch.empty(size, dtype=torch.int8)


def pytest_configure(config):
    driver = triton.runtime.driver.active
    torch.cuda.get_device_capability = lambda device=None: driver.get_device_capability()
    torch.cuda.get_device_name = lambda device=None: "NVIDIA H100"
    torch.cuda.current_device = lambda: 0
    torch.cuda.synchronize = lambda device=None: None
    torch.cuda.device = contextlib.nullcontext
    import triton._internal_testing as internal  # asks for the GPU when it is imported

    internal.default_alloc_fn = _allocate


def pytest_collection_modifyitems(config, items):
    for module in {item.module for item in items}:
        if hasattr(module, "check_cuda_or_hip"):
            module.check_cuda_or_hip = lambda device: None
