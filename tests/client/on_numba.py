"""Numba's CUDA target (numba-cuda): vector add, a product of matrices in shared memory, a
reduction."""
import unittest

import numpy as np
from numba import cuda, float32, int64

TILE = 16


@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


@cuda.jit
def multiply(a, b, c):
    ta = cuda.shared.array((TILE, TILE), float32)
    tb = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.grid(2)
    total = float32(0)
    for t in range(a.shape[1] // TILE):
        ta[x, y] = a[row, t * TILE + y]
        tb[x, y] = b[t * TILE + x, col]
        cuda.syncthreads()
        for k in range(TILE):
            total += ta[x, k] * tb[k, y]
        cuda.syncthreads()
    c[row, col] = total


@cuda.jit
def total(values, out):
    parts = cuda.shared.array(256, int64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    parts[t] = values[i] if i < values.size else 0
    cuda.syncthreads()
    step = 128
    while step:
        if t < step:
            parts[t] += parts[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, parts[0])


@cuda.jit
def ripple(values):
    """Each row from the one above it, read at the other end: all blocks wait for each other."""
    grid, column = cuda.cg.this_grid(), cuda.grid(1)
    for row in range(1, values.shape[0]):
        values[row, column] = values[row - 1, values.shape[1] - column - 1] + 1
        grid.sync()


class Numba(unittest.TestCase):
    def test_add(self):
        a = np.arange(5000, dtype=np.float32)
        c = np.zeros_like(a)
        add[20, 256](a, 2 * a, c)
        np.testing.assert_array_equal(c, 3 * a)

    def test_multiply(self):
        rng = np.random.default_rng(1)
        a = rng.integers(0, 9, (48, 64)).astype(np.float32)
        b = rng.integers(0, 9, (64, 32)).astype(np.float32)
        c = cuda.device_array((48, 32), np.float32)
        multiply[(3, 2), (TILE, TILE)](cuda.to_device(a), cuda.to_device(b), c)
        np.testing.assert_array_equal(c.copy_to_host(), a @ b)

    def test_total(self):
        values = np.arange(10000, dtype=np.int64) * 7 - 20000
        out = np.zeros(1, np.int64)
        total[40, 256](values, out)
        self.assertEqual(out[0], values.sum())

    def test_grid_sync(self):
        values = np.zeros((20, 256), np.int32)
        ripple[4, 64](values)
        np.testing.assert_array_equal(values, np.arange(20)[:, None] + np.zeros(256, np.int32))

    def test_registers(self):
        signature = "void(float32[::1], float32[::1], float32[::1])"
        self.assertLessEqual(
            cuda.jit(signature, max_registers=16)(add.py_func).get_regs_per_thread(), 16
        )

    def test_reduce(self):
        values = np.arange(1234, dtype=np.float64)
        self.assertEqual(cuda.reduce(lambda a, b: a + b)(values), values.sum())


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    failed = len(result.failures) + len(result.errors)
    print(f"client_numba: {result.testsRun - failed} passed, {failed} failed, 0 skipped")
    raise SystemExit(failed > 0)
