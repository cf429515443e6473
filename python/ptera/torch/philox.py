"""Random numbers as CUDA's: uniform_, normal_, random_ between bounds, and bernoulli_ of a number.

PyTorch's kernels have their numbers by Philox 4x32-10 (Salmon et al., 2011), a sequence a thread,
and deal them out in a certain order: four numbers of a thread go to places as far apart as the grid
is wide, and the grid is as wide as the GPU at most. Normal distributions are by Box and Muller.
Kernels that NVRTC compiles, which CUDA builds of PyTorch bring, do the same here, with the same
instructions. Dropout draws from the same sequences, but in this order, which is not its own.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import torch

import ptera
from ptera.torch.alias import to_cpu

__all__ = ["OPERATIONS"]

_BLOCK = 256
_WORDS = 4  # of a call of the generator

_SOURCE = r"""
typedef unsigned long long u64;

__device__ uint4 draw(u64 seed, u64 thread, u64 n)
{
    uint4 c = {(unsigned)n, (unsigned)(n >> 32), (unsigned)thread, (unsigned)(thread >> 32)};
    unsigned k0 = (unsigned)seed, k1 = (unsigned)(seed >> 32);
    for (int round = 0; round < 10; round++, k0 += 0x9E3779B9, k1 += 0xBB67AE85) {
        u64 p = (u64)0xD2511F53 * c.x, q = (u64)0xCD9E8D57 * c.z;
        c = {(unsigned)(q >> 32) ^ c.y ^ k0, (unsigned)q, (unsigned)(p >> 32) ^ c.w ^ k1,
             (unsigned)p};
    }
    return c;
}

/* Numbers of one call of a thread, as many as `made` has, to their places. */
template<class T, int N> struct Numbers { T made[N]; };
template<class T, int N, class F>
__device__ void deal(T *out, u64 n, u64 threads, u64 seed, u64 offset, F make)
{
    u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x, thread = i % threads, call = i / threads;
    u64 at = call * N * threads + thread;
    if (at >= n)
        return;
    Numbers<T, N> numbers = make(draw(seed, thread, offset / 4 + call));
    for (int k = 0; k < N; k++, at += threads)
        if (at < n)
            out[at] = numbers.made[k];
}

__device__ float uniform(unsigned x) { return x * 0x1p-32f + 0x1p-33f; }
__device__ double uniform(unsigned x, unsigned y)
{
    return ((u64)x ^ (u64)y << 21) * 0x1p-53 + 0x1p-54;
}
__device__ float2 normal(unsigned x, unsigned y)
{
    float u = x * 0x1p-32f + 0x1p-33f, v = y * (0x1p-32f * 6.2831855f) + 0x1p-33f * 6.2831855f;
    float length = sqrtf(-2.0f * logf(u)), sine, cosine;
    __sincosf(v, &sine, &cosine);
    return {sine * length, cosine * length};
}

#define KERNEL(name, T, N, ...)                                                               \
    extern "C" __global__ void name(T *out, u64 n, u64 threads, u64 seed, u64 offset, T scale, \
                                    T shift)                                                  \
    {                                                                                         \
        deal<T, N>(out, n, threads, seed, offset,                                             \
                   [=](uint4 r) -> Numbers<T, N> { __VA_ARGS__ });                            \
    }
KERNEL(uniform_f32, float, 4,
       return {uniform(r.x) * scale + shift, uniform(r.y) * scale + shift,
               uniform(r.z) * scale + shift, uniform(r.w) * scale + shift};)
KERNEL(uniform_f64, double, 2,
       return {uniform(r.x, r.y) * scale + shift, uniform(r.z, r.w) * scale + shift};)
KERNEL(normal_f32, float, 4,
       float2 a = normal(r.x, r.y), b = normal(r.z, r.w);
       return {a.x * scale + shift, a.y * scale + shift, b.x * scale + shift,
               b.y * scale + shift};)
KERNEL(normal_f64, double, 2,
       double length = sqrt(-2.0 * log(uniform(r.x, r.y))), sine, cosine;
       sincospi(uniform(r.z, r.w) * 2, &sine, &cosine);
       return {sine * length * scale + shift, cosine * length * scale + shift};)
KERNEL(words, u64, 4, return {r.x % scale + shift, r.y % scale + shift, r.z % scale + shift,
                              r.w % scale + shift};)
KERNEL(pairs, u64, 2, return {((u64)r.x << 32 | r.y) % scale + shift,
                              ((u64)r.z << 32 | r.w) % scale + shift};)
"""


@functools.cache
def _module() -> ptera.Module:
    return ptera.compile_cuda(_SOURCE, name="philox.cu")


def _threads(n: int, device: torch.device) -> int:
    gpu = torch.cuda.get_device_properties(device)
    most: int = gpu.multi_processor_count * (gpu.max_threads_per_multi_processor // _BLOCK)
    return _BLOCK * min(most, -(-n // _BLOCK))


def _draw(
    kernel: str, self: torch.Tensor, generator: torch.Generator | None, scale: Any, shift: Any
) -> torch.Tensor:
    """As many numbers as `self` has elements, on the CPU, in the order of its memory."""
    n, made_by_call = self.numel(), 2 if kernel in ("uniform_f64", "normal_f64", "pairs") else 4
    dtype = {"f32": torch.float32, "f64": torch.float64}.get(kernel[-3:], torch.int64)
    made = torch.empty(n, dtype=dtype)
    if n == 0:
        return made
    index = self.device.index if self.device.index is not None else torch.cuda.current_device()
    generator = generator or torch.cuda.default_generators[index]
    threads = _threads(n, self.device)
    calls = -(-n // (threads * made_by_call))
    offset = generator.get_offset()
    generator.set_offset(offset + calls * _WORDS)
    seed = generator.initial_seed()
    launch = _module()[kernel][-(-threads * calls // _BLOCK), _BLOCK]
    launch(made.data_ptr(), n, threads, seed, offset, scale, shift)
    return made


def _put(self: torch.Tensor, made: torch.Tensor) -> torch.Tensor:
    """The numbers by the tensor's strides, the largest first, whatever its shape."""
    torch.cuda.current_stream(self.device).synchronize()
    order = sorted(range(self.dim()), key=self.stride, reverse=True)
    to = to_cpu(self).permute(order)
    to.copy_(made.view(to.shape))
    return self


def _kind(self: torch.Tensor) -> str:
    return "f64" if self.dtype == torch.float64 else "f32"


def _uniform_(
    self: torch.Tensor,
    low: float = 0.0,
    high: float = 1.0,
    *,
    generator: torch.Generator | None = None,
) -> torch.Tensor:
    if self.is_complex():
        raise NotImplementedError("ptera.torch: aten::uniform_ of complex numbers")
    if not low <= high:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, not [{low}, {high})")
    made = _draw(f"uniform_{_kind(self)}", self, generator, high - low, low).to(self.dtype)
    # Philox's numbers are above 0 and up to 1: the bounds change places.
    return _put(self, torch.where(made == high, torch.tensor(low, dtype=made.dtype), made))


def _normal_(
    self: torch.Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    *,
    generator: torch.Generator | None = None,
) -> torch.Tensor:
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    if self.is_complex():
        _normal_(torch.view_as_real(self), mean, std / math.sqrt(2), generator=generator)
        return self
    return _put(self, _draw(f"normal_{_kind(self)}", self, generator, std, mean))


def _random_between(
    self: torch.Tensor, low: int, high: int, generator: torch.Generator | None
) -> torch.Tensor:
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got {low} >= {high}")
    kernel = "words" if high - low < 1 << 28 else "pairs"
    return _put(self, _draw(kernel, self, generator, high - low, low % (1 << 64)))


def _random_from(
    self: torch.Tensor, low: int, high: int | None, *, generator: torch.Generator | None = None
) -> torch.Tensor:
    if high is None:
        high = _end_of(self.dtype)
    if high - low >= 1 << 64:
        raise NotImplementedError("ptera.torch: aten::random_ of all numbers of 64 bits")
    return _random_between(self, low, high, generator)


def _end_of(dtype: torch.dtype) -> int:
    """Behind the largest integer, or the last one that all before are exact with."""
    if not dtype.is_floating_point:
        return int(torch.iinfo(dtype).max) + 1 if dtype != torch.bool else 2
    return round(2 / float(torch.finfo(dtype).eps))


def _random_to(
    self: torch.Tensor, high: int, *, generator: torch.Generator | None = None
) -> torch.Tensor:
    return _random_between(self, 0, high, generator)


def _bernoulli_(
    self: torch.Tensor, p: float = 0.5, *, generator: torch.Generator | None = None
) -> torch.Tensor:
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    made = _draw(f"uniform_{_kind(self)}", self, generator, 1.0, 0.0)
    return _put(self, made < torch.tensor(p, dtype=made.dtype))


def _native_dropout(
    self: torch.Tensor, p: float, train: bool | None
) -> tuple[torch.Tensor, torch.Tensor]:
    mask = torch.ones_like(self, dtype=torch.bool)
    if train is False or not self.numel():
        return self.clone(), mask
    _put(mask, _draw("uniform_f32", self, None, 1.0, 0.0) < 1 - p)
    return self * mask * (1 / (1 - p) if p < 1 else 0.0), mask


#: Kernels of the device by the operations' names.
OPERATIONS = {
    "aten::uniform_": _uniform_,
    "aten::normal_": _normal_,
    "aten::random_.from": _random_from,
    "aten::random_.to": _random_to,
    "aten::bernoulli_.float": _bernoulli_,
    "aten::native_dropout": _native_dropout,
}
