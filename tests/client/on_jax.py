"""JAX's CUDA plug-in: XLA's kernels, those that Triton makes for it, and what cannot be had
without NVIDIA's libraries."""
import unittest

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

X = np.random.default_rng(1).standard_normal((24, 40), dtype=np.float32)


class Jax(unittest.TestCase):
    def check(self, function, *arrays, tolerance=1e-5):
        """The GPU's result is the CPU's."""
        found = jax.jit(function)(*arrays)
        with jax.default_device(jax.devices("cpu")[0]):
            expected = function(*arrays)
        for f, e in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
            self.assertEqual(f.device.platform, "gpu")
            np.testing.assert_allclose(f, e, rtol=tolerance, atol=tolerance)

    def test_device(self):
        self.assertEqual([d.platform for d in jax.devices()], ["gpu"])

    def test_elementwise(self):
        self.check(lambda x: jnp.tanh(jnp.sin(x) * 2 + jnp.exp(-x * x)), X)

    def test_reductions(self):
        self.check(lambda x: (x.sum(), x.max(axis=0), jnp.cumsum(x, axis=1), x.argmin()), X)

    def test_softmax(self):
        self.check(lambda x: jax.nn.softmax(x, axis=-1), X)

    def test_matmul(self):
        self.check(lambda x: jnp.matmul(x, x.T, precision="highest"), X, tolerance=1e-4)

    def test_products_that_are_cublas_on_a_gpu(self):
        for dtype in (jnp.float16, jnp.bfloat16):
            self.check(lambda x: (x[:3].astype(dtype) @ x[3:7].astype(dtype).T).astype("f4"), X,
                       tolerance=1e-2)
            self.check(lambda x: jnp.einsum("bij,bjk->bik", x[:, :5], x[:, :, :3]).astype("f4"),
                       X.reshape(5, 6, 32)[:, :, :6].astype(dtype), tolerance=1e-2)

    def test_gradient(self):
        self.check(jax.grad(lambda x: jnp.log1p(jnp.square(x)).sum()), X)

    def test_random(self):
        self.check(lambda key: jax.random.normal(key, (100,)), jax.random.key(7))

    def test_sort(self):
        self.check(lambda x: (jnp.sort(x, axis=1), lax.top_k(x, 3)), X)

    def test_scan(self):
        self.check(lambda x: lax.scan(lambda c, row: (c * 0.5 + row, c.sum()), x[0], x), X)

    def test_scatter(self):
        at = np.arange(24) % 5
        self.check(lambda x: jnp.zeros((5, 40)).at[at].add(x), X)

    def test_vmap(self):
        self.check(jax.vmap(lambda row: jnp.outer(row, row)), X[:4])

    def test_half_precision(self):
        self.check(lambda x: (x.astype(jnp.bfloat16) * 2).astype(jnp.float32), X)


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    failed = len(result.failures) + len(result.errors)
    print(f"client_jax: {result.testsRun - failed} passed, {failed} failed, 0 skipped")
    raise SystemExit(failed > 0)
