"""python -m ptera, and the program."""

import importlib.metadata
import os
import pathlib
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


@unittest.skipUnless(pytest, "there is no pytest")
class Pytest(unittest.TestCase):
    def pytest(self, *options):
        with tempfile.TemporaryDirectory() as folder:
            tests = pathlib.Path(folder) / "test_gpu.py"
            tests.write_text(TESTS)
            return run("pytest", "-p", "no:cacheprovider", str(tests), *options)

    def test_with_a_gpu(self):
        done = self.pytest("--ptera", "--ptera-device", "h100")
        self.assertIn("2 passed", done.stdout, done.stderr)
        self.assertIn("ptera: " + ptera.__version__ + ", h100", done.stdout)

    def test_without(self):
        self.assertIn("1 passed, 1 skipped", self.pytest().stdout)


if __name__ == "__main__":
    unittest.main()
