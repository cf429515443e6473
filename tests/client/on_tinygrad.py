"""tinygrad: a small set after its own smallest tests, with its own renderer of PTX (the argument
CUDA:PTX, or none) or by NVRTC (CUDA)."""

import os
import sys

os.environ["DEV"] = sys.argv.pop() if len(sys.argv) > 1 else "CUDA:PTX"

import math
import random
import unittest

from tinygrad import Device, Tensor, TinyJit, dtypes


class Tiny(unittest.TestCase):
    def test_device(self):
        self.assertEqual(Device.DEFAULT.split(":")[0], "CUDA")

    def test_plus(self):
        self.assertEqual((Tensor([1.0, 2, 3]) + Tensor([4.0, 5, 6])).tolist(), [5.0, 7.0, 9.0])

    def test_plus_int(self):
        out = Tensor([1, 2, 3], dtype=dtypes.int) + Tensor([4, 5, 6], dtype=dtypes.int)
        self.assertEqual(out.tolist(), [5, 7, 9])

    def test_sum(self):
        self.assertEqual(Tensor.ones(300, 300).contiguous().sum().item(), 90000)

    def test_reduce_axis(self):
        out = Tensor.arange(60).reshape(3, 4, 5).max(axis=1)
        self.assertEqual(out.tolist(), [[20 * i + 15 + j for j in range(5)] for i in range(3)])

    def test_matmul(self):
        n = 48
        r = random.Random(1)
        a = [[r.randrange(9) for _ in range(n)] for _ in range(n)]
        b = [[r.randrange(9) for _ in range(n)] for _ in range(n)]
        want = [
            [float(sum(a[i][k] * b[k][j] for k in range(n))) for j in range(n)] for i in range(n)
        ]
        self.assertEqual(
            (Tensor(a, dtype=dtypes.float) @ Tensor(b, dtype=dtypes.float)).tolist(), want
        )

    def test_half(self):
        out = Tensor([1.5, 2.5, -3.0], dtype=dtypes.half) * Tensor(
            [2.0, 4.0, 0.5], dtype=dtypes.half
        )
        self.assertEqual(out.tolist(), [3.0, 10.0, -1.5])

    def test_functions(self):
        x = [0.1, 1.0, 2.0, 5.0]
        for name, f in [
            ("exp", math.exp),
            ("log", math.log),
            ("sin", math.sin),
            ("sqrt", math.sqrt),
        ]:
            for have, want in zip(getattr(Tensor(x), name)().tolist(), map(f, x)):
                self.assertAlmostEqual(have, want, delta=1e-5 * max(1, abs(want)))

    def test_softmax(self):
        out = Tensor([[1.0, 2, 3], [0, 0, 0]]).softmax().tolist()
        self.assertAlmostEqual(sum(out[0]), 1, places=5)
        self.assertAlmostEqual(out[1][0], 1 / 3, places=5)

    def test_gradient(self):
        x = Tensor([1.0, 2, 3])
        self.assertEqual((x * x).sum().gradient(x)[0].tolist(), [2.0, 4.0, 6.0])

    def test_convolution(self):
        out = Tensor.ones(1, 1, 6, 6).contiguous().conv2d(Tensor.ones(1, 1, 3, 3).contiguous())
        self.assertEqual(out.tolist(), [[[[9.0] * 4] * 4]])

    def test_jit(self):
        @TinyJit
        def step(x):
            return ((x + 1) * 2).realize()

        for i in range(5):
            self.assertEqual(
                step(Tensor([float(i), 10.0]).realize()).tolist(), [2.0 * (i + 1), 22.0]
            )

    def test_random(self):
        Tensor.manual_seed(7)
        out = Tensor.rand(1000).tolist()
        self.assertTrue(all(0 <= v < 1 for v in out) and 0.4 < sum(out) / 1000 < 0.6)


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    failed = len(result.failures) + len(result.errors)
    print(f"client_tinygrad: {result.testsRun - failed} passed, {failed} failed, 0 skipped")
    raise SystemExit(failed > 0)
