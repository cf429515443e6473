"""A Warp kernel: its own compiler and the CUDA runtime library inside, both NVIDIA's. Its cache is
emptied first."""
import numpy as np
import warp as wp


@wp.kernel
def square(a: wp.array(dtype=float), b: wp.array(dtype=float)):
    i = wp.tid()
    b[i] = a[i] * a[i] + 1.0


wp.init()
wp.clear_kernel_cache()
x = np.arange(1000, dtype=np.float32)
a = wp.array(x, device="cuda:0")
b = wp.zeros(1000, dtype=float, device="cuda:0")
wp.launch(square, dim=1000, inputs=[a, b], device="cuda:0")
results = [np.array_equal(b.numpy(), x * x + 1), wp.utils.array_sum(a) == x.sum()]
print(f"client_warp: {results.count(True)} passed, {results.count(False)} failed, 0 skipped")
raise SystemExit(not all(results))
