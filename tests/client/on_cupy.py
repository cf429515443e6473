"""CuPy: kernels that it has NVRTC compile, and those of the libraries in its wheel, which hold
machine code for this GPU and PTX for later ones."""

import cupy
import numpy as np

x = np.arange(1000, dtype=np.float32)
a = cupy.asarray(x)
raw = cupy.RawKernel(
    r'extern "C" __global__ void square(const float *a, float *b) { b[threadIdx.x] = a[threadIdx.x]'
    r' * a[threadIdx.x]; }',
    "square",
)
b = cupy.zeros(1000, cupy.float32)
raw((1,), (1000,), (a, b))
results = [
    np.array_equal(b.get(), x * x),
    np.array_equal((a * 2 + 1).get(), x * 2 + 1),
    float(a.sum()) == x.sum(),
    np.array_equal(cupy.sort(a[::-1].copy()).get(), x),
]
print(f"client_cupy: {results.count(True)} passed, {results.count(False)} failed, 0 skipped")
raise SystemExit(not all(results))
