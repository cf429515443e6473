"""cuda.core and cuda.bindings: programs that NVRTC compiles to PTX and to a cubin, linked ones,
launches, events, memory."""
import ctypes
import unittest

import numpy as np
from cuda.bindings import driver
from cuda.core import (
    Device,
    EventOptions,
    LaunchConfig,
    Linker,
    LinkerOptions,
    ObjectCode,
    Program,
    ProgramOptions,
    launch,
)

SCALE = """
extern "C" __global__ void scale(float *x, float by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= by;
}
"""
CALLER = """
extern __device__ float square(float x);
extern "C" __global__ void squares(float *x) { x[threadIdx.x] = square(threadIdx.x); }
"""
CALLED = "__device__ float square(float x) { return x * x; }"


class Core(unittest.TestCase):
    def setUp(self):
        self.device = Device()
        self.device.set_current()
        self.stream = self.device.create_stream()
        self.options = ProgramOptions(arch=f"sm_{self.device.arch}", std="c++17")

    def array(self, n):
        """Device memory as floats, which the host may touch here."""
        buffer = self.device.allocate(4 * n, stream=self.stream)
        floats = (ctypes.c_float * n).from_address(int(buffer.handle))
        return buffer, np.frombuffer(floats, np.float32)

    def scale(self, code):
        buffer, x = self.array(1000)
        self.stream.sync()
        x[:] = np.arange(1000)
        config = LaunchConfig(grid=4, block=256)
        arguments = buffer, np.float32(3), np.int32(1000)
        launch(self.stream, config, code.get_kernel("scale"), *arguments)
        self.stream.sync()
        np.testing.assert_array_equal(x, np.arange(1000) * 3)

    def test_device(self):
        self.assertEqual(self.device.compute_capability, (9, 0))
        self.assertEqual(self.device.properties.warp_size, 32)

    def test_ptx(self):
        self.scale(Program(SCALE, "c++", self.options).compile("ptx"))

    def test_cubin(self):
        self.scale(Program(SCALE, "c++", self.options).compile("cubin"))

    def test_file(self):
        code = Program(SCALE, "c++", self.options).compile("cubin")
        self.scale(ObjectCode.from_cubin(bytes(code.code)))

    def link(self, target):
        options = ProgramOptions(
            arch=self.options.arch, relocatable_device_code=True,
            link_time_optimization=target == "ltoir",
        )  # fmt: skip
        parts = [Program(text, "c++", options).compile(target) for text in (CALLER, CALLED)]
        lto = target == "ltoir"
        linked = LinkerOptions(arch=self.options.arch, link_time_optimization=lto or None)
        buffer, x = self.array(32)
        code = Linker(*parts, options=linked).link("cubin")
        launch(self.stream, LaunchConfig(grid=1, block=32), code.get_kernel("squares"), buffer)
        self.stream.sync()
        np.testing.assert_array_equal(x, np.arange(32) ** 2)

    def test_link_ptx(self):
        self.link("ptx")

    def test_link_time_optimization(self):
        self.link("ltoir")

    def test_events(self):
        begin = self.stream.record(options=EventOptions(timing_enabled=True))
        end = self.stream.record(options=EventOptions(timing_enabled=True))
        end.sync()
        self.assertGreaterEqual(end - begin, 0)

    def test_bindings(self):
        error, version = driver.cuDriverGetVersion()
        self.assertEqual(error, driver.CUresult.CUDA_SUCCESS)
        self.assertGreaterEqual(version, 13000)


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    failed = len(result.failures) + len(result.errors)
    print(f"client_core: {result.testsRun - failed} passed, {failed} failed, 0 skipped")
    raise SystemExit(failed > 0)
