"""ptera.compile_cuda, where there is NVRTC; and kernels by the names that C++ gave them."""

import array
import pathlib
import tempfile
import unittest
import warnings

import ptera
from common import HEAD

SOURCE = """
#include <cuda_fp16.h>
namespace lib {
template<class T> __global__ void fill(T *x, T value) { x[threadIdx.x] = value; }
}
__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}
"""


def needs_nvrtc(test):
    def run(self):
        try:
            test(self)
        except ImportError as error:
            self.skipTest(str(error))

    return run


class CompileCUDA(unittest.TestCase):
    @needs_nvrtc
    def test_kernels_by_plain_names_and_templates(self):
        m = ptera.compile_cuda(SOURCE, names=["lib::fill<double>", "lib::fill<float>"])
        x, y = array.array("f", [1] * 100), array.array("f", [2] * 100)
        m.saxpy[1, 128](100, 2.0, x, y)
        self.assertEqual(list(y), [4.0] * 100)
        d = array.array("d", [0] * 32)
        m["lib::fill<double>"][1, 32](d, 1.5)
        self.assertEqual(list(d), [1.5] * 32)
        self.assertFalse(hasattr(m, "fill"))  # of which there are two

    @needs_nvrtc
    def test_faults_name_lines_of_the_source(self):
        m = ptera.compile_cuda(SOURCE, name="kernels.cu")
        with self.assertRaisesRegex(
            ptera.IllegalAddress, r"kernels\.ptx:\d+ \(\S*kernels\.cu:10\)"
        ):
            m.saxpy[1, 32](32, 2.0, array.array("f", [0] * 32), None)

    @needs_nvrtc
    def test_refuses_what_does_not_compile(self):
        with self.assertRaisesRegex(ptera.CompileError, r'bad\.cu\(1\): error: .*"x"'):
            ptera.compile_cuda("__global__ void f() { x; }", name="bad.cu")
        with self.assertRaisesRegex(ptera.CompileError, "no-such-option"):
            ptera.compile_cuda(SOURCE, options=["--no-such-option"])

    @needs_nvrtc
    def test_options_headers_and_files(self):
        text = (
            '#include "value.h"\n#include "own.h"\n__global__ void f(int *x) { *x = VALUE + OWN; }'
        )
        out = array.array("i", [0])
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "f.cu"
            source.write_text(text)
            (pathlib.Path(folder) / "own.h").write_text("#define OWN 5")
            options = ["-arch=compute_80", "-DTWO=2"]
            m = ptera.compile_cuda(
                source, options=options, headers={"value.h": "#define VALUE (TWO + 10)"}
            )
            m.f[1, 1](out)
        self.assertEqual(out[0], 17)

    @needs_nvrtc
    def test_warns(self):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            ptera.compile_cuda("__global__ void f() { int unused; }")
        self.assertRegex(str(heard[0].message), '"unused"')


class NamesOfCxx(unittest.TestCase):
    def names(self, *kernels):
        text = HEAD + "".join(f".visible .entry {k}() {{ ret; }}\n" for k in kernels)
        m = ptera.Module(text)
        return {n: getattr(m, n).name for n in ("f", "saxpy") if hasattr(m, n)}

    def test_plain(self):
        nested = "_ZN3lib5inner5saxpyIfEEvPT_"
        self.assertEqual(self.names("_Z1fv", nested), {"f": "_Z1fv", "saxpy": nested})
        self.assertEqual(self.names("_ZL1fPi"), {"f": "_ZL1fPi"})
        self.assertEqual(self.names("_ZN12_GLOBAL__N_11fEv"), {"f": "_ZN12_GLOBAL__N_11fEv"})

    def test_not_where_two_have_it(self):
        self.assertEqual(self.names("_Z1fi", "_Z1ff"), {})
        self.assertEqual(self.names("_Z1fi", "f"), {"f": "f"})


if __name__ == "__main__":
    unittest.main()
