"""Triton without a GPU: the backend that ptera.triton is, on NumPy's arrays (no PyTorch)."""
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from contextlib import redirect_stdout

import numpy as np
import triton
import triton.language as tl
import triton.testing
from triton.tools.tensor_descriptor import TensorDescriptor


class Tensor:
    """What Triton wants of a tensor, on an array's memory."""

    def __init__(self, array):
        self.array = array
        self.dtype = array.dtype
        self.shape = array.shape

    def data_ptr(self):
        return self.array.ctypes.data

    def stride(self, axis=None):
        strides = tuple(s // self.array.itemsize for s in self.array.strides)
        return strides if axis is None else strides[axis]


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    sums = tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside)
    tl.store(out + at, sums, mask=inside)


@triton.jit
def softmax(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0)
    values = tl.load(x + row * n + at, mask=at < n, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * n + at, powers / tl.sum(powers, axis=0), mask=at < n)


@triton.jit
def matmul(a, b, c, n, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    depth = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(0, n, BLOCK):
        left = tl.load(a + rows[:, None] * n + (k + depth)[None, :])
        right = tl.load(b + (k + depth)[:, None] * n + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * n + columns[None, :], total)


@triton.jit
def scalars(out, i8, i64, f32, f64, flag):
    tl.store(out + 0, i8.to(tl.float64))
    tl.store(out + 1, i64.to(tl.float64))
    tl.store(out + 2, f32.to(tl.float64))
    tl.store(out + 3, f64.to(tl.float64))
    tl.store(out + 4, flag.to(tl.float64))


@triton.jit
def copy_tile(source, to, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK
    to.store([row, 0], source.load([row, 0]))


@triton.jit
def show(x):
    tl.device_print("value", tl.load(x))


@triton.jit
def nothing():
    pass


@triton.autotune([triton.Config({"BLOCK": n}, num_warps=1) for n in (32, 64, 128)], key=["n"])
@triton.jit
def triple(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, 3 * tl.load(x + at, mask=at < n), mask=at < n)


@triton.jit
def checked(out, n, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK == 128)
    tl.store(out + tl.arange(0, BLOCK), 1.0)


def run_triple():
    x, out = np.arange(128, dtype="f4"), np.zeros(128, "f4")
    triple[lambda meta: (triton.cdiv(128, meta["BLOCK"]),)](Tensor(x), Tensor(out), 128)
    np.testing.assert_array_equal(out, 3 * x)


def run_python(*arguments, **environment):
    """Its standard output and errors, and whether it ended well."""
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.stdout, done.returncode == 0


@triton.jit
def hold(x):
    tl.device_assert(tl.load(x) == 1, "x is one")


class Triton(unittest.TestCase):
    def test_is_the_active_driver(self):
        target = triton.runtime.driver.active.get_current_target()
        self.assertEqual((target.backend, target.arch), ("cuda", 90))
        found = triton.runtime.driver.active.utils.get_device_properties(0)
        self.assertEqual(found["max_shared_mem"], 232448)

    def test_add(self):
        n = 10_000
        x, y = np.arange(n, dtype="f4"), np.ones(n, "f4")
        out = np.zeros(n, "f4")
        add[(triton.cdiv(n, 256),)](Tensor(x), Tensor(y), Tensor(out), n, BLOCK=256)
        np.testing.assert_array_equal(out, x + 1)

    def test_softmax(self):
        x = np.random.default_rng(1).standard_normal((50, 300)).astype("f4")
        out = np.zeros_like(x)
        softmax[(50,)](Tensor(x), Tensor(out), 300, BLOCK=512)
        powers = np.exp(x - x.max(1, keepdims=True))
        np.testing.assert_allclose(out, powers / powers.sum(1, keepdims=True), rtol=1e-5)

    def test_matmul(self):
        rng = np.random.default_rng(2)
        a, b = (rng.integers(-4, 5, (128, 128)).astype("f2") for _ in range(2))
        c = np.zeros((128, 128), "f4")
        matmul[(2, 2)](Tensor(a), Tensor(b), Tensor(c), 128, BLOCK=64)
        np.testing.assert_array_equal(c, a.astype("f4") @ b.astype("f4"))

    def test_scalars(self):
        out = np.zeros(5)
        scalars[(1,)](Tensor(out), -5, 2**40, 1.5, 0.1, True)
        self.assertEqual(out.tolist(), [-5, 2**40, 1.5, np.float32(0.1), 1])

    def test_tensor_descriptor(self):
        x = np.arange(128 * 32, dtype="f4").reshape(128, 32)
        out = np.zeros_like(x)
        describe = TensorDescriptor.from_tensor
        copy_tile[(2,)](describe(Tensor(x), [64, 32]), describe(Tensor(out), [64, 32]), BLOCK=64)
        np.testing.assert_array_equal(out, x)

    def test_do_bench(self):
        out = np.zeros(256, "f4")
        x = Tensor(np.ones(256, "f4"))
        ms = triton.testing.do_bench(
            lambda: add[(1,)](x, x, Tensor(out), 256, BLOCK=256), warmup=1, rep=2
        )
        self.assertGreater(ms, 0)

    def test_autotuning(self):
        """Each configuration is timed, in the first process; another one knows the best."""
        here = os.path.dirname(os.path.abspath(__file__))
        run = f"import sys; sys.path.insert(0, {here!r}); import on_triton; on_triton.run_triple()"
        with tempfile.TemporaryDirectory() as folder:
            tell = {"TRITON_CACHE_DIR": folder, "TRITON_PRINT_AUTOTUNING": "1"}
            for timed, more in ((3, {}), (0, {}), (3, {"TRITON_CACHE_AUTOTUNING": "0"})):
                printed, is_done = run_python("-c", run, **tell, **more)
                self.assertTrue(is_done, printed)
                self.assertEqual(printed.count("Autotuning kernel triple"), timed, printed)

    def test_autotuning_by_one_call_of_what_is_long(self):
        calls = []

        def call():
            calls.append(0)
            time.sleep(0.05)

        benchmark = triton.runtime.driver.active.get_benchmarker()
        self.assertGreater(benchmark(call, quantiles=(0.5,)), 50)
        self.assertEqual(len(calls), 1)
        self.assertGreater(benchmark(lambda: calls.append(1)), 0)
        self.assertGreater(len(calls), 3)

    def test_autotuning_with_errors(self):
        """A configuration that cannot be compiled is none to choose; hooks come first."""
        sizes = []
        configs = [
            triton.Config({"BLOCK": n}, num_warps=1, pre_hook=lambda a: sizes.append(a["BLOCK"]))
            for n in (32, 64, 128)
        ]
        tuned = triton.autotune(configs, key=["n"])(checked)
        out = np.zeros(128, "f4")
        tuned[(1,)](Tensor(out), 128)
        self.assertEqual(sizes[:3], [32, 64, 128])
        self.assertEqual(tuned.best_config.kwargs["BLOCK"], 128)
        np.testing.assert_array_equal(out, np.ones(128, "f4"))

    def test_print(self):
        printed = io.StringIO()
        with redirect_stdout(printed):
            show[(1,)](Tensor(np.full(1, 42, "i4")), num_warps=1)
        self.assertIn("value: 42", printed.getvalue())

    def test_assert(self):
        import ptera

        with self.assertRaises(ptera.KernelError):
            hold[(1,)](Tensor(np.zeros(1, "i4")), debug=True)

    def test_clusters(self):
        """As many as have room on an H200, by the driver library; none of a size that is none."""
        utils = triton.runtime.driver.active.utils
        for ctas, shared, most in ((1, 0, 8 * 132), (2, 0, 4 * 132), (2, 100 << 10, 132),
                                   (4, 200 << 10, 33), (16, 0, 66)):
            kernel = nothing.warmup(grid=(1,), num_ctas=ctas)
            kernel._init_handles()
            found = utils.cuOccupancyMaxActiveClusters(kernel.function, shared, ctas)
            self.assertEqual(found, most)
        with self.assertRaisesRegex(RuntimeError, "cuOccupancyMaxActiveClusters: error 912"):
            utils.cuOccupancyMaxActiveClusters(kernel.function, 0, 32)

    def test_proton(self):
        """Triton's profiler, which asks CUPTI, counts launches and times them."""
        import triton.profiler as proton

        x, out = Tensor(np.ones(256, np.float32)), Tensor(np.zeros(256, np.float32))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "counted")
            proton.start(path, hook="triton")
            with proton.scope("outer"):
                for _ in range(3):
                    add[(2,)](x, x, out, 256, BLOCK=128)
            proton.finalize()
            with open(f"{path}.hatchet") as file:
                outer = json.load(file)[0]["children"][0]
        kernel = outer["children"][0]
        self.assertEqual([outer["frame"]["name"], kernel["frame"]["name"]], ["outer", "add"])
        self.assertEqual(kernel["metrics"]["count"], 3)
        self.assertGreater(kernel["metrics"]["time (ns)"], 0)

    def test_hidden_device(self):
        """CUDA_VISIBLE_DEVICES hides devices from CUDA; CPU tensors need none."""
        tests = ["Triton.test_add", "Triton.test_tensor_descriptor"]
        program = os.path.abspath(__file__)
        printed, is_done = run_python("-m", "ptera", program, *tests, CUDA_VISIBLE_DEVICES="")
        self.assertTrue(is_done, printed)
        self.assertIn("2 passed, 0 failed", printed)

    def test_driver_before_triton(self):
        printed, is_done = run_python(
            "-c",
            "import ptera.triton.driver as own, triton;"
            "assert isinstance(triton.runtime.driver.active, own.Driver)",
        )
        self.assertTrue(is_done, printed)

    def test_without_cffi(self):
        """`import triton` works; its driver says what is missing."""
        without = "import sys; sys.modules['_cffi_backend'] = None; import triton"
        printed, is_done = run_python("-c", without)
        self.assertTrue(is_done, printed)
        ask = without + "; triton.runtime.driver.active.get_current_target()"
        printed, is_done = run_python("-c", ask)
        self.assertFalse(is_done)
        self.assertRegex(printed, "RuntimeError: .*Ptera cannot be used: .*cffi")


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    failed = len(result.failures) + len(result.errors)
    print(f"client_triton: {result.testsRun - failed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)
