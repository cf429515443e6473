"""What Triton asks of a driver: modules, launches on CPU tensors, times."""

from __future__ import annotations

import contextvars
import os
import struct
import time
from collections.abc import Callable, Sequence
from typing import Any

import triton.backends.nvidia.driver as nvidia
from triton.backends.driver import DriverBase, expand_signature, wrap_handle_tensordesc_impl
from triton.runtime import _allocation

import ptera
from ptera.triton import autotuning, compiler, occupancy, profiling, tensor_map
from ptera.triton.device import WARP, properties
from ptera.triton.interface import Interface
from ptera_triton import gpu


class Utilities:
    """The part of a driver that Triton calls utils."""

    def __init__(self) -> None:
        self._kernels: dict[int, Any] = {}
        self._texts: dict[int, bytes] = {}

    def load_binary(
        self, name: str, kernel: bytes, shared: int, device: int
    ) -> tuple[int, int, int, int, int]:
        """Module, function, registers, spilled bytes, threads of a block at most."""
        loaded = ptera.Module(kernel, name=f"{name}.ptx")[name]
        found = loaded.properties()
        handle = id(loaded)
        self._kernels[handle] = loaded
        self._texts[handle] = kernel
        return handle, handle, found["registers"], 0, found["max_threads"]

    def unload_module(self, module: int) -> None:
        self._kernels.pop(module, None)
        self._texts.pop(module, None)

    def kernel(self, function: int) -> Any:
        kernel = self._kernels[function]
        return kernel.options(engine="interp") if _is_first.get() else kernel

    def get_device_properties(self, device: int) -> dict[str, int]:
        return properties()

    def cuOccupancyMaxActiveClusters(self, function: int, shared: int, ctas: int) -> int:
        """How many clusters the GPU runs at once; RuntimeError where it takes none of the size."""
        name = self._kernels[function].name
        return occupancy.active_clusters(self._texts[function], name, shared, ctas)

    def set_printf_fifo_size(self, size: int) -> None:
        """Nothing is lost here, whatever the size."""


class Launcher:
    """Launches one compiled kernel."""

    def __init__(self, src: Any, metadata: Any) -> None:
        tensordesc_meta = getattr(metadata, "tensordesc_meta", None)
        signature = expand_signature(src.signature.values(), tensordesc_meta, "nvTmaDesc")
        self._signature = tuple(signature)
        self._metadata = metadata
        self._plain: Any = None
        self._optioned: Any = None
        self._launch = wrap_handle_tensordesc_impl(
            self._launch_flat, dict(src.signature), tensordesc_meta, tensor_map.arguments_of
        )

    def __call__(
        self,
        grid_x: int,
        grid_y: int,
        grid_z: int,
        stream: int,
        function: int,
        kernel_metadata: Any,
        launch_metadata: Any,
        launch_enter_hook: Any,
        launch_exit_hook: Any,
        *args: Any,
    ) -> None:
        if grid_x * grid_y * grid_z == 0:
            return
        if launch_enter_hook is not None:
            launch_enter_hook(launch_metadata)
        self._launch((grid_x, grid_y, grid_z), function, args)
        if launch_exit_hook is not None:
            launch_exit_hook(launch_metadata)

    def _launch_flat(self, grid: tuple[int, int, int], function: int, args: Sequence[Any]) -> None:
        metadata = self._metadata
        values: list[Any] = []
        _flatten(self._signature, args, values)
        ctas = metadata.num_ctas
        n = grid[0] * grid[1] * grid[2] * ctas
        scratch = [
            _scratch(n * metadata.global_scratch_size, metadata.global_scratch_align, False),
            _scratch(n * metadata.profile_scratch_size, metadata.profile_scratch_align, True),
        ]
        kernel = _utilities.kernel(function)
        if metadata.launch_cooperative_grid or ctas > 1:
            kernel = self._with_options(kernel)
        block = WARP * metadata.num_warps
        shape = (grid[0] * ctas, grid[1], grid[2])
        launch = kernel[shape, block, metadata.shared]
        with profiling.told(kernel.name, shape, block, metadata.shared):
            launch(*values, *scratch[: len(kernel.parameters) - len(values)])

    def _with_options(self, kernel: Any) -> Any:
        """The kernel with the options of its metadata, made once."""
        if self._plain is not kernel:
            metadata = self._metadata
            cluster = (metadata.num_ctas, 1, 1) if metadata.num_ctas > 1 else None
            self._optioned = kernel.options(
                cooperative=metadata.launch_cooperative_grid, cluster=cluster
            )
            self._plain = kernel
        return self._optioned


def _flatten(signature: Sequence[Any], args: Sequence[Any], values: list[Any]) -> None:
    for kind, arg in zip(signature, args):
        if isinstance(kind, tuple):
            _flatten(kind, arg, values)
        elif kind != "constexpr":
            values.append(_value_of(kind, arg))


def _value_of(kind: str, arg: Any) -> Any:
    """As the kernel's parameter has it: addresses and the bits of small floats are integers."""
    if kind[0] == "*":
        return arg.data_ptr() if hasattr(arg, "data_ptr") else arg
    if kind == "bf16":
        return _bfloat16(arg)
    if kind == "fp16":
        return struct.unpack("<H", struct.pack("<e", arg))[0]
    if kind[0] == "i" and kind[1:].isdigit():
        return int(arg) & (1 << int(kind[1:])) - 1 if kind != "i1" else int(bool(arg))
    return arg


def _bfloat16(value: float) -> int:
    """The bits of the nearest, ties to even; a NaN stays one."""
    bits: int = struct.unpack("<I", struct.pack("<f", value))[0]
    if value != value:
        return bits >> 16 | 0x40
    return bits + 0x7FFF + (bits >> 16 & 1) >> 16


def _scratch(size: int, align: int, is_profile: bool) -> Any:
    """Memory that a kernel works in, or None."""
    if not size:
        return None
    if not is_profile:
        return _allocation._allocator.get()(size, align, 0)
    if _allocation.has_profile_allocator():
        return _allocation._profile_allocator.get()(size, align, 0)
    return bytearray(size)


class Driver(DriverBase):  # type: ignore[misc]
    """One device, the CPU, whose launches are waited for."""

    launcher_cls = Launcher

    def __init__(self) -> None:
        super().__init__()
        compiler.take_over()
        profiling.take_over()
        self.utils = _utilities

    @classmethod
    def is_active(cls) -> bool:
        """Where no GPU's driver is."""
        return not gpu.is_there()

    def map_python_to_cpp_type(self, ty: str) -> str:
        found: str = nvidia.ty_to_cpp(ty)
        return found

    def get_current_target(self) -> compiler.Target:
        major, minor = ptera.default_engine().compute_capability
        return compiler.Target("cuda", 10 * major + minor, WARP)

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def get_device_interface(self) -> Interface:
        return Interface()

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        if device not in (0, None):
            raise ValueError(f"there is no device {device}: the CPU is device 0")

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_device_capability(self, device: int = 0) -> tuple[int, int]:
        return ptera.default_engine().compute_capability

    def get_benchmarker(self) -> Callable[..., Any]:
        return benchmark

    def get_empty_cache_for_benchmark(self) -> Any:
        return None

    def clear_cache(self, cache: Any) -> None:
        """Nothing: kernels are timed with the caches as they are."""

    def allocate_default_profile_scratch(self, size: int, alignment: int, stream: Any) -> Any:
        return bytearray(size)


def benchmark(
    kernel_call: Callable[[], Any],
    *,
    quantiles: Sequence[float] | None = None,
    warmup: float = 25,
    rep: float = 20,
    **_: Any,
) -> Any:
    """Milliseconds of a call: quantiles of its times, or their mean.

    `warmup` and `rep` are milliseconds. The first call is interpreted, unless PTERA_ENGINE says
    otherwise, and not counted. If it takes longer than both it is the only one: native code is not
    made of what is compared, only of what is chosen.
    """
    first = _is_first.set("PTERA_ENGINE" not in os.environ)
    try:
        took = _milliseconds(kernel_call)
        is_long = _is_first.get() and took > warmup + rep
    finally:
        _is_first.reset(first)
    times = [took] if is_long else []
    end = time.perf_counter() + rep / 1000
    while not times or (not is_long and time.perf_counter() < end and len(times) < 1000):
        times.append(_milliseconds(kernel_call))
    if quantiles is None:
        return sum(times) / len(times)
    times.sort()
    found = [times[min(int(q * len(times)), len(times) - 1)] for q in quantiles]
    return found[0] if len(found) == 1 else found


def _milliseconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


#: The call that benchmark() makes first is under way.
_is_first: contextvars.ContextVar[bool] = contextvars.ContextVar("is_first", default=False)
_utilities = Utilities()
autotuning.take_over()
