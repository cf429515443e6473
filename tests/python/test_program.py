"""python -m ptera, and the program."""

import importlib.metadata
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import ptera

try:
    import pytest
except ImportError:
    pytest = None

COUNT = """
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
n = ctypes.c_int()
assert cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(n)) == 0
print(n.value, sys.argv[1:])
"""


ACTIVATED = """
import ctypes, os, subprocess, sys, tempfile, ptera
if len(sys.argv) > 1:
    ctypes.CDLL(sys.argv[1])
ptera.activate()
ptera.activate()
""" + COUNT + """
ctypes.CDLL("libnvidia-ml.so.1").nvmlInit_v2
child = "import ctypes; print(ctypes.CDLL('libcuda.so.1').cuInit(0))"
print(subprocess.run([sys.executable, "-c", child], capture_output=True, text=True).stdout)
"""


TESTS = """
import ctypes, os, pytest

@pytest.mark.ptera
def test_gpu():
    cuda = ctypes.CDLL("libcuda.so.1")
    name = ctypes.create_string_buffer(100)
    assert cuda.cuInit(0) == 0 and cuda.cuDeviceGetName(name, 100, 0) == 0
    assert b"H100" in name.value

def test_other():
    pass
"""


CHECKED = """
import array, ctypes, ptera

PTX = '''
.version 8.0
.target sm_90
.address_size 64
.visible .entry store(.param .u64 out, .param .u32 times)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    ld.param.u32 %r2, [times];
    mul.lo.u32 %r2, %r1, %r2;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd1, %rd1, %rd2;
    st.global.u32 [%rd1], %r1;
    ret;
}
'''

def store(times):
    out = array.array("I", bytes(256))
    ptera.Module(PTX, name="store.ptx").store[1, 64](out, times)

def store_by_driver(times):
    cuda = ctypes.CDLL("libcuda.so.1")
    context, module, kernel, out = (ctypes.c_void_p() for _ in range(4))
    at = ctypes.byref
    assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(at(context), 0) == 0
    assert cuda.cuCtxSetCurrent(context) == 0
    assert cuda.cuModuleLoadData(at(module), PTX.encode()) == 0
    assert cuda.cuModuleGetFunction(at(kernel), module, b"store") == 0
    assert cuda.cuMemAlloc_v2(at(out), ctypes.c_size_t(256)) == 0
    number = ctypes.c_uint(times)
    parameters = (ctypes.c_void_p * 2)(ctypes.addressof(out), ctypes.addressof(number))
    assert cuda.cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, None, parameters, None) == 0

def test_clean():
    store(1)
    store_by_driver(1)

def test_engine():
    store(0)

def test_engine_again():
    store(0)

def test_driver():
    store_by_driver(0)

def test_driver_again():
    store_by_driver(0)

def test_clean_again():
    store(1)
    store_by_driver(1)
"""


def run(*arguments, path=""):
    own = str(pathlib.Path(ptera.__file__).parent.parent)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [own, path]))}
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


def python_m_ptera(*arguments, path=""):
    return run("ptera", *arguments, path=path)


class PythonM(unittest.TestCase):
    def test_metadata(self):
        """Installing it brings cffi, and Triton finds what is its own."""
        self.assertTrue(any(r.startswith("cffi") for r in importlib.metadata.requires("ptera")))
        (entry,) = importlib.metadata.entry_points(group="triton.backends", name="ptera")
        self.assertEqual(entry.value, "ptera_triton")

    def test_script_finds_a_gpu(self):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "count.py"
            script.write_text(COUNT)
            done = python_m_ptera(str(script), "a", "--b")
        self.assertEqual((done.stdout, done.returncode), ("1 ['a', '--b']\n", 0), done.stderr)

    def test_code_and_exit_status(self):
        done = python_m_ptera("-c", COUNT + "sys.exit(7)")
        self.assertEqual((done.stdout, done.returncode), ("1 []\n", 7), done.stderr)

    def test_torch_and_sitecustomize(self):
        """PyTorch for the CPU is left as it is, and the user's own sitecustomize runs."""
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "sitecustomize.py").write_text("print('hidden')")
            (pathlib.Path(folder) / "torch.py").write_text("class version: cuda = None")
            code = "import sys, torch; print(torch.version.cuda, 'ptera.torch' in sys.modules)"
            done = python_m_ptera("-c", code, path=folder)
        # Once for the Python that starts the other.
        self.assertEqual(done.stdout, 2 * "hidden\n" + "None False\n", done.stderr)

    def test_says_how_it_is_used(self):
        done = python_m_ptera()
        self.assertEqual(done.returncode, 2)
        self.assertIn("python -m ptera", done.stdout)


class Activate(unittest.TestCase):
    def activated(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "activated.py"
            script.write_text(ACTIVATED)
            own = str(pathlib.Path(ptera.__file__).parent.parent)
            return subprocess.run(
                [sys.executable, str(script), *arguments],
                env={**os.environ, "PYTHONPATH": own},
                capture_output=True,
                text=True,
                timeout=60,
            )

    def test_here_and_in_children(self):
        done = self.activated()
        self.assertEqual((done.stdout, done.stderr), ("1 []\n0\n\n", ""))

    def test_too_late(self):
        """Some other library is the driver already."""
        with tempfile.TemporaryDirectory() as folder:
            other = pathlib.Path(folder) / "libcuda.so.1"
            shutil.copy(ptera.program.PACKAGE / "lib" / "libptera.so.0", other)
            done = self.activated(str(other))
        self.assertIn("libcuda.so.1 is loaded already", done.stderr)


@unittest.skipUnless(pytest, "there is no pytest")
class Pytest(unittest.TestCase):
    def pytest(self, *options, source=TESTS):
        with tempfile.TemporaryDirectory() as folder:
            tests = pathlib.Path(folder) / "test_gpu.py"
            tests.write_text(source)
            return run("pytest", "-p", "no:cacheprovider", str(tests), *options)

    def test_with_a_gpu(self):
        done = self.pytest("--ptera", "--ptera-device", "h100")
        self.assertIn("2 passed", done.stdout, done.stderr)
        self.assertIn("ptera: " + ptera.__version__ + ", h100", done.stdout)

    def test_findings_fail_their_tests(self):
        """Found before or not, by the driver or by the package."""
        done = self.pytest("--ptera-check=race,mem", "-rA", source=CHECKED)
        for name in ("clean", "clean_again"):
            self.assertRegex(done.stdout, rf"PASSED \S*test_gpu.py::test_{name}\n")
        for name in ("engine", "engine_again", "driver", "driver_again"):
            self.assertRegex(done.stdout, rf"FAILED \S*test_gpu.py::test_{name}\s")
        self.assertIn("explain race", done.stdout)

    def test_profile(self):
        """Kernels of the package and of the driver, and the test that launched most of the time."""
        done = self.pytest("--ptera-profile", "-k", "clean", source=CHECKED)
        self.assertIn("2 passed", done.stdout, done.stderr)
        self.assertRegex(done.stdout, r"\n +2( +\d+\.\d{3}){3}  store, \S*test_gpu.py::test_clean")
        self.assertRegex(done.stderr, r"\n +2( +\d+\.\d{3}){5}  store: 2 interpreted")

    def test_refuses_unknown_checkers(self):
        done = self.pytest("--ptera-check=rase")
        self.assertIn("there is no checker 'rase', but init, mem, race, sync", done.stderr)
        self.assertEqual(done.returncode, 4)

    def test_without(self):
        self.assertIn("1 passed, 1 skipped", self.pytest().stdout)


if __name__ == "__main__":
    unittest.main()
