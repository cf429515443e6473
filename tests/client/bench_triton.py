"""Triton's kernels by Ptera, against TRITON_INTERPRET=1 and PyTorch on the CPU: bench_triton.py.

Same inputs, one process for Ptera and PyTorch, another for Triton's interpreter, which is called
once. Prints milliseconds (the least of several calls), and ratios.
"""
import json
import math
import os
import subprocess
import sys
import time

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * n + at, mask=at < n, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * n + at, powers / tl.sum(powers, axis=0), mask=at < n)


@triton.jit
def layernorm_kernel(x, weight, bias, out, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < n
    values = tl.load(x + row * n + at, mask=inside, other=0.0)
    mean = tl.sum(values, axis=0) / n
    centred = tl.where(inside, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / n + eps)
    w, b = tl.load(weight + at, mask=inside), tl.load(bias + at, mask=inside)
    tl.store(out + row * n + at, centred * scale * w + b, mask=inside)


@triton.jit
def matmul_kernel(a, b, c, n, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    depth = tl.arange(0, DEPTH)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(0, n, DEPTH):
        left = tl.load(a + rows[:, None] * n + (k + depth)[None, :])
        right = tl.load(b + (k + depth)[:, None] * n + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.float16))


@triton.jit
def attention_kernel(q, k, v, out, n, scale, BLOCK: tl.constexpr, WIDTH: tl.constexpr):
    """One head: rows of queries, keys and values in blocks, with a running softmax."""
    head = tl.program_id(1) * n * WIDTH
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    width = tl.arange(0, WIDTH)
    queries = tl.load(q + head + rows[:, None] * WIDTH + width[None, :])
    top = tl.full((BLOCK,), -float("inf"), tl.float32)
    sums = tl.zeros((BLOCK,), tl.float32)
    total = tl.zeros((BLOCK, WIDTH), tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        keys = tl.load(k + head + at[None, :] * WIDTH + width[:, None])
        values = tl.load(v + head + at[:, None] * WIDTH + width[None, :])
        scores = tl.dot(queries, keys) * scale
        higher = tl.maximum(top, tl.max(scores, 1))
        powers = tl.exp(scores - higher[:, None])
        shrunk = tl.exp(top - higher)
        sums = sums * shrunk + tl.sum(powers, 1)
        total = tl.dot(powers.to(tl.float16), values, total * shrunk[:, None])
        top = higher
    result = (total / sums[:, None]).to(tl.float16)
    tl.store(out + head + rows[:, None] * WIDTH + width[None, :], result)


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    sums = tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside)
    tl.store(out + at, sums, mask=inside)


def cases():
    """name, launch (returns its output), PyTorch's call."""
    torch.manual_seed(1)
    x = torch.randn(512, 781)
    out = torch.empty_like(x)

    def softmax():
        softmax_kernel[(512,)](x, out, 781, BLOCK=1024)
        return out

    yield "softmax 512x781", softmax, lambda: torch.softmax(x, 1)
    w, b, y = torch.rand(781), torch.rand(781), torch.empty_like(x)

    def layernorm():
        layernorm_kernel[(512,)](x, w, b, y, 781, 1e-5, BLOCK=1024)
        return y

    yield "layernorm 512x781", layernorm, lambda: torch.layer_norm(x, (781,), w, b, 1e-5)
    left, right = (torch.randn(512, 512, dtype=torch.float16) for _ in range(2))
    product = torch.empty_like(left)

    def matmul():
        matmul_kernel[(8, 8)](left, right, product, 512, BLOCK=64, DEPTH=32)
        return product

    yield "matmul 512^3 f16", matmul, lambda: left @ right
    q, k, v = (torch.randn(1, 4, 256, 64, dtype=torch.float16) for _ in range(3))
    o = torch.empty_like(q)

    def attention():
        attention_kernel[(4, 4)](q, k, v, o, 256, 0.125, BLOCK=64, WIDTH=64)
        return o

    sdpa = torch.nn.functional.scaled_dot_product_attention
    yield "attention 4x256x64 f16", attention, lambda: sdpa(q, k, v)
    p, r = torch.rand(98432), torch.rand(98432)
    s = torch.empty_like(p)

    def add():
        add_kernel[(97,)](p, r, s, 98432, BLOCK=1024)
        return s

    yield "add 98432", add, lambda: p + r


def measure(call, seconds):
    """Milliseconds: the least of calls for that long."""
    best, end = math.inf, time.perf_counter() + seconds
    while best == math.inf or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best * 1000


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def main():
    if os.environ.get("TRITON_INTERPRET") == "1":
        print(json.dumps([measure(launch, 0) for _, launch, _ in cases()]))
        return
    ours, torchs = [], []
    for name, launch, call in cases():
        torch.testing.assert_close(launch(), call(), rtol=2e-2, atol=2e-2)
        time.sleep(2)  # until native code is there
        ours.append(measure(launch, 2))
        torchs.append(measure(call, 1))
    child = subprocess.run(
        [sys.executable, __file__],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        check=True,
        text=True,
    )
    interpreted = json.loads(child.stdout.splitlines()[-1])
    print(f"{'':24} {'Ptera ms':>9} {'interpreter':>12} {'ratio':>8} {'PyTorch':>9} {'ratio':>6}")
    for (name, _, _), a, b, c in zip(cases(), ours, interpreted, torchs):
        print(f"{name:24} {a:9.3f} {b:12.1f} {b / a:8.0f} {c:9.3f} {a / c:6.1f}")
    faster = mean([b / a for a, b in zip(ours, interpreted)])
    print(f"interpreter / Ptera: geometric mean {faster:.0f}")
    print(f"Ptera / PyTorch: geometric mean {mean([a / c for a, c in zip(ours, torchs)]):.2f}")


if __name__ == "__main__":
    main()
