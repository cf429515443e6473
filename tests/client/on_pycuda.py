"""PyCUDA: modules that nvcc compiles to cubins, and kernels that it makes of expressions."""
import shutil
import sys

if not shutil.which("nvcc"):
    print("skipped client_pycuda: no nvcc\nclient_pycuda: 0 passed, 0 failed, 1 skipped")
    sys.exit(0)

import numpy as np
import pycuda.autoinit  # noqa: F401: makes the context
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel

x = np.arange(1000, dtype=np.float32)
out = np.zeros_like(x)
module = SourceModule(
    "__global__ void twice(float *out, const float *x)"
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; out[i] = 2 * x[i]; }"
)
module.get_function("twice")(drv.Out(out), drv.In(x), block=(250, 1, 1), grid=(4, 1))

a = gpuarray.to_gpu(x)
b = gpuarray.empty_like(a)
ElementwiseKernel("float *b, float *a, float c", "b[i] = a[i] * a[i] + c", "square")(b, a, 1.5)
dot = ReductionKernel(
    np.float32, "0", "a+b", map_expr="x[i]*y[i]", arguments="float *x, float *y"
)  # fmt: skip
results = [
    np.array_equal(out, 2 * x),
    np.array_equal((a * 3 - 1).get(), 3 * x - 1),
    np.array_equal(b.get(), x * x + np.float32(1.5)),
    abs(dot(a, a).get() - np.dot(x, x)) <= 1e-6 * np.dot(x, x),
    gpuarray.max(a).get() == 999,
]
print(f"client_pycuda: {results.count(True)} passed, {results.count(False)} failed, 0 skipped")
sys.exit(not all(results))
