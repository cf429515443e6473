"""Writes the PTX of Triton kernels, of many types and sizes, to the folder named: no GPU needed.
python3 triton_kernels.py FOLDER"""

import os, sys
import triton, triton.language as tl
from triton.backends.compiler import GPUTarget


@triton.jit
def add(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.store(o + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)


@triton.jit
def gelu(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    v = tl.load(x + i, mask=m).to(tl.float32)
    g = 0.5 * v * (1 + tl.erf(v * 0.70710678)) * tl.load(y + i, mask=m).to(tl.float32)
    tl.store(o + i, g.to(o.dtype.element_ty), mask=m)


@triton.jit
def softmax(x, y, o, n, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    m = c < n
    v = tl.load(x + r * n + c, mask=m, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(o + r * n + c, (e / tl.sum(e, axis=0)).to(o.dtype.element_ty), mask=m)


@triton.jit
def layernorm(x, y, o, n, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    m = c < n
    v = tl.load(x + r * n + c, mask=m, other=0.0).to(tl.float32)
    mu = tl.sum(v, axis=0) / n
    d = tl.where(m, v - mu, 0.0)
    var = tl.sum(d * d, axis=0) / n
    out = d * tl.rsqrt(var + 1e-5) * tl.load(y + c, mask=m).to(tl.float32)
    tl.store(o + r * n + c, out.to(o.dtype.element_ty), mask=m)


@triton.jit
def rms_loop(x, y, o, n, B: tl.constexpr):
    r = tl.program_id(0)
    s = tl.zeros((B,), tl.float32)
    for k in range(0, n, B):
        c = k + tl.arange(0, B)
        v = tl.load(x + r * n + c, mask=c < n, other=0.0).to(tl.float32)
        s += v * v
    q = tl.rsqrt(tl.sum(s, axis=0) / n + 1e-6)
    for k in range(0, n, B):
        c = k + tl.arange(0, B)
        v = tl.load(x + r * n + c, mask=c < n, other=0.0).to(tl.float32) * tl.load(
            y + c, mask=c < n, other=0.0
        ).to(tl.float32)
        tl.store(o + r * n + c, (v * q).to(o.dtype.element_ty), mask=c < n)


@triton.jit
def cumsum(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.cumsum(tl.load(x + i), axis=0))


@triton.jit
def sort(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.sort(tl.load(x + i)))


@triton.jit
def dropout(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    keep = tl.rand(1234, i) > 0.3
    tl.store(o + i, tl.where(keep, tl.load(x + i, mask=m), 0.0).to(o.dtype.element_ty), mask=m)


@triton.jit
def cross_entropy(x, y, o, n, B: tl.constexpr):
    r = tl.program_id(0)
    top = -float("inf")
    s = 0.0
    for k in range(0, n, B):
        c = k + tl.arange(0, B)
        v = tl.load(x + r * n + c, mask=c < n, other=-float("inf")).to(tl.float32)
        t = tl.maximum(top, tl.max(v, axis=0))
        s = s * tl.exp(top - t) + tl.sum(tl.exp(v - t), axis=0)
        top = t
    tl.store(o + r, (tl.log(s) + top).to(o.dtype.element_ty))


@triton.jit
def transpose(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)[:, None]
    j = tl.program_id(1) * 32 + tl.arange(0, 32)[None, :]
    tl.store(o + j * n + i, tl.load(x + i * n + j) + 1)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    pa = a + i[:, None] * K + k[None, :]
    pb = b + k[:, None] * N + j[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for q in range(0, K, BK):
        va = tl.load(pa, mask=k[None, :] < K - q, other=0.0)
        vb = tl.load(pb, mask=k[:, None] < K - q, other=0.0)
        acc = tl.dot(va, vb, acc)
        pa += BK
        pb += BK * N
    tl.store(
        c + i[:, None] * N + j[None, :],
        acc.to(c.dtype.element_ty),
        mask=(i[:, None] < M) & (j[None, :] < N),
    )


@triton.jit
def matmul_even(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid // (N // BN) * BM + tl.arange(0, BM)
    j = pid % (N // BN) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for q in range(0, K, BK):
        acc = tl.dot(
            tl.load(a + i[:, None] * K + (q + k)[None, :]),
            tl.load(b + (q + k)[:, None] * N + j[None, :]),
            acc,
        )
    acc = acc * tl.sigmoid(acc)
    tl.store(c + i[:, None] * N + j[None, :], acc.to(c.dtype.element_ty))


@triton.jit
def attention(
    q, k, v, o, n, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr
):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    head = tl.program_id(1) * n * D
    vq = tl.load(q + head + i[:, None] * D + d[None, :], mask=i[:, None] < n, other=0.0)
    m = tl.full((BM,), -float("inf"), tl.float32)
    l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    end = (tl.program_id(0) + 1) * BM if CAUSAL else n
    for j0 in range(0, end, BN):
        j = j0 + tl.arange(0, BN)
        vk = tl.load(k + head + j[None, :] * D + d[:, None], mask=j[None, :] < n, other=0.0)
        s = tl.dot(vq, vk) * scale
        s = tl.where((j[None, :] < n) & (not CAUSAL or i[:, None] >= j[None, :]), s, -float("inf"))
        t = tl.maximum(m, tl.max(s, axis=1))
        p = tl.exp(s - t[:, None])
        c = tl.exp(m - t)
        l = l * c + tl.sum(p, axis=1)
        vv = tl.load(v + head + j[:, None] * D + d[None, :], mask=j[:, None] < n, other=0.0)
        acc = acc * c[:, None] + tl.dot(p.to(vv.dtype), vv)
        m = t
    tl.store(
        o + head + i[:, None] * D + d[None, :],
        (acc / l[:, None]).to(o.dtype.element_ty),
        mask=i[:, None] < n,
    )


def write(name, fn, signature, constants, **options):
    names = {fn.arg_names[i]: s for i, s in enumerate(signature)}
    names |= {c: "constexpr" for c in constants}
    aligned = {
        (i,): [["tt.divisibility", 16]]
        for i, s in enumerate(signature)
        if s[0] == "*" or s == "i32"
    }
    path = f"{sys.argv[1]}/{name}.ptx"
    if os.path.exists(path):
        return
    try:
        source = triton.compiler.ASTSource(
            fn, names, {(fn.arg_names.index(c),): v for c, v in constants.items()}, aligned
        )
        ptx = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options).asm["ptx"]
    except Exception as e:
        print(name, str(e)[:200], file=sys.stderr)
        return
    open(path, "w").write(ptx)


os.makedirs(sys.argv[1], exist_ok=True)
FLOATS = ("fp32", "fp16", "bf16")
for fn in (
    add,
    gelu,
    softmax,
    layernorm,
    rms_loop,
    cumsum,
    sort,
    dropout,
    cross_entropy,
    transpose,
):
    for t in (
        ("fp32", "i32")
        if fn in (cumsum, sort)
        else ("fp32", "fp16") if fn in (dropout, transpose) else FLOATS
    ):
        for size, warps in ((128, 4), (256, 2), (512, 4), (1024, 4), (2048, 8), (4096, 4)):
            if fn is sort and size > 1024 or fn is transpose and size > 512:
                continue
            write(
                f"{fn.__name__}_{t}_{size}_{warps}",
                fn,
                [f"*{t}"] * 3 + ["i32"],
                {"B": size},
                num_warps=warps,
            )
for fn in (matmul, matmul_even):
    for t in FLOATS + ("fp8e4nv",):
        for bm, bn, bk, warps, stages in (
            (32, 32, 32, 4, 2),
            (64, 64, 32, 4, 3),
            (64, 64, 64, 4, 3),
            (128, 64, 32, 4, 3),
            (64, 128, 32, 4, 4),
            (128, 128, 32, 8, 3),
            (128, 128, 64, 8, 3),
            (128, 256, 32, 8, 3),
            (16, 32, 64, 2, 2),
        ):
            write(
                f"{fn.__name__}_{t}_{bm}_{bn}_{bk}_{warps}",
                fn,
                [f"*{t}"] * 2 + ["*fp32" if t == "fp8e4nv" else f"*{t}"] + ["i32"] * 3,
                {"BM": bm, "BN": bn, "BK": bk},
                num_warps=warps,
                num_stages=stages,
            )
for t in FLOATS:
    for bm, bn, d, warps in (
        (32, 32, 32, 4),
        (64, 32, 64, 4),
        (64, 64, 64, 4),
        (128, 64, 64, 8),
        (128, 64, 128, 8),
        (16, 64, 64, 2),
    ):
        for causal in (False, True):
            write(
                f"attention_{t}_{bm}_{bn}_{d}_{causal}",
                attention,
                [f"*{t}"] * 4 + ["i32", "fp32"],
                {"BM": bm, "BN": bn, "D": d, "CAUSAL": causal},
                num_warps=warps,
                num_stages=2,
            )
