"""Launches on arrays: arguments of all kinds, what is refused, what fails in kernels."""

import array
import ctypes
import struct
import unittest

import common
import ptera
from common import HEAD, KINDS, numpy


class Point(ctypes.Structure):
    _fields_ = [("x", ctypes.c_int), ("y", ctypes.c_int), ("z", ctypes.c_int)]


class Saxpy(unittest.TestCase):
    def setUp(self):
        self.saxpy = ptera.Module(common.SAMPLES / "saxpy" / "saxpy.ptx").saxpy
        self.x = array.array("f", range(100))
        self.y = array.array("f", [1] * 100)

    def test_works_on_the_memory_of_arrays(self):
        self.saxpy[4, 32](100, 2.0, self.x, self.y)
        self.assertEqual(self.y.tolist(), [1 + 2 * i for i in range(100)])

    def test_both_engines(self):
        for engine in ("interp", "jit", "auto"):
            y = array.array("f", self.y)
            self.saxpy.options(engine=engine)[4, 32](100, 2.0, self.x, y)
            self.assertEqual(y[99], 199)

    def test_grid_of_three_numbers(self):
        self.saxpy[(4, 1, 1), [32, 1]](100, 2.0, self.x, self.y)
        self.assertEqual(self.y[99], 199)

    def test_stream_is_waited_for(self):
        engine = ptera.default_engine()
        for _ in range(3):
            self.saxpy[4, 32, 0, engine.stream](100, 1.0, self.x, self.y)
        engine.synchronize()
        self.assertEqual(self.y[99], 1 + 3 * 99)

    def test_stream_tells_errors_when_it_is_waited_for(self):
        engine = ptera.default_engine()
        self.saxpy[1, 32, 0, engine.stream](32, 1.0, None, self.y)
        with self.assertRaises(ptera.IllegalAddress):
            engine.synchronize()
        engine.synchronize()

    def test_illegal_address_has_its_place(self):
        with self.assertRaises(ptera.IllegalAddress) as caught:
            self.saxpy[4, 32](100, 2.0, 0, self.y)
        error = caught.exception
        self.assertEqual((error.kernel, error.address, error.cta), ("saxpy", 0, (0, 0, 0)))
        self.assertTrue(error.file.endswith("saxpy.ptx"))
        self.assertIn("ld.global", str(error))
        self.assertGreater(error.line, 1)

    def test_isolated_launch_stops_at_the_end_of_an_array(self):
        isolated = self.saxpy.options(isolate=True)
        isolated[4, 32](100, 2.0, self.x, self.y)
        short = memoryview(bytearray(400))[:396]
        with self.assertRaises(ptera.IllegalAddress) as caught:
            isolated[4, 32](100, 2.0, self.x, short)
        self.assertEqual(caught.exception.thread, (3, 0, 0))

    def test_wrong_arguments_are_named(self):
        for arguments, kind, text in (
            ((100, 2.0, self.x), TypeError, "takes 4 arguments, not 3"),
            ((-1, 2.0, self.x, self.y), OverflowError, "argument 0 .*u32.*-1 is out of range"),
            ((2**32, 2.0, self.x, self.y), OverflowError, "out of range"),
            ((1.5, 2.0, self.x, self.y), TypeError, "argument 0"),
            (("1", 2.0, self.x, self.y), TypeError, "argument 0"),
            ((100, "2", self.x, self.y), TypeError, "argument 1 .*str is no number"),
            ((100, 1e300, self.x, self.y), OverflowError, r"argument 1 .*1e\+300 is out of range"),
            ((100, 2**2000, self.x, self.y), OverflowError, "argument 1 .*out of range"),
            ((100, 2.0, b"bytes", self.y), ValueError, "argument 2 .*read-only.*ptera.In"),
            ((100, 2.0, 1.0, self.y), TypeError, "argument 2"),
            ((100, 2.0, self.x, object()), TypeError, "argument 3 .*object is no array"),
            ((100, 2.0, memoryview(self.x)[::2], self.y), ValueError, "not contiguous"),
        ):
            with self.subTest(arguments), self.assertRaisesRegex(kind, text):
                self.saxpy[4, 32](*arguments)

    def test_read_only_memory_that_is_only_read(self):
        self.saxpy[4, 32](100, 2.0, ptera.In(self.x.tobytes()), self.y)
        self.assertEqual(self.y[99], 199)

    def test_wrong_shapes(self):
        with self.assertRaisesRegex(ptera.InvalidLaunch, "block 2000x1x1"):
            self.saxpy[1, 2000](100, 2.0, self.x, self.y)
        for configuration in (4, (4,), (4, 32, 0, None, 1), ((1, 2, 3, 4), 32)):
            with self.subTest(configuration), self.assertRaises(TypeError):
                self.saxpy[configuration](100, 2.0, self.x, self.y)
        for grid in (100 / 32, "4", None):
            with self.subTest(grid), self.assertRaisesRegex(TypeError, "grid: .* is no integer"):
                self.saxpy[grid, 32](100, 2.0, self.x, self.y)
        for grid in (-1, 2**32, 2**70):
            with self.subTest(grid), self.assertRaisesRegex(ValueError, "grid: .* out of range"):
                self.saxpy[grid, 32](100, 2.0, self.x, self.y)
        with self.assertRaisesRegex(TypeError, "shared memory: 1.5 is no integer"):
            self.saxpy[4, 32, 1.5](100, 2.0, self.x, self.y)

    def test_streams_of_others(self):
        with ptera.Engine(threads=1) as other:
            for stream in (7, other.stream):
                with self.subTest(stream), self.assertRaisesRegex(TypeError, "is not the stream"):
                    self.saxpy[4, 32, 0, stream](100, 2.0, self.x, self.y)

    def test_wrong_options(self):
        with self.assertRaisesRegex(ValueError, "engine is one of"):
            self.saxpy.options(engine="gpu")[1, 1]
        for timeout in (-1, float("nan"), float("inf")):
            with self.subTest(timeout), self.assertRaisesRegex(ValueError, "timeout is a number"):
                self.saxpy.options(timeout=timeout)[4, 32](100, 2.0, self.x, self.y)
        with self.assertRaisesRegex(ValueError, "unwritten is 0 to 255"):
            self.saxpy.options(unwritten=256)[4, 32](100, 2.0, self.x, self.y)
        self.saxpy.options(checks="init,mem")[4, 32](100, 2.0, self.x, self.y)

    def test_tells_of_itself(self):
        self.assertEqual([p.type for p in self.saxpy.parameters], ["u32", "f32", "u64", "u64"])
        self.assertEqual(self.saxpy.properties()["max_threads"], 1024)
        self.saxpy.options(engine="interp")[4, 32](100, 2.0, self.x, self.y)
        self.assertGreaterEqual(self.saxpy.status()["interpreted_launches"], 1)
        self.assertIn("saxpy", repr(self.saxpy))

    def test_arrays_that_are_none(self):
        class Interface:
            def __init__(self, **interface):
                self.__array_interface__ = interface

        address = self.x.buffer_info()[0]
        for given, text in (
            (Interface(shape=(3,), typestr="<f4"), "argument 2 .*Interface has no data"),
            (Interface(data=None, shape=(3,), typestr="<f4"), "has no data, typestr and shape"),
            (Interface(data=(address, False), shape=(3,), typestr=">f4"), "order of bytes"),
        ):
            with self.subTest(text), self.assertRaisesRegex(TypeError, text):
                self.saxpy[1, 1](1, 2.0, given, self.y)

    @unittest.skipUnless(numpy, "there is no numpy")
    def test_numpy(self):
        x = numpy.arange(100, dtype="f4")
        y = numpy.ones(100, "f4")
        self.saxpy[4, 32](numpy.uint32(100), numpy.float32(2), x, y)
        self.assertTrue((y == 1 + 2 * x).all())
        with self.assertRaisesRegex(ValueError, "not contiguous"):
            self.saxpy[4, 32](50, 2.0, x[::2], y)
        frozen = x.copy()
        frozen.setflags(write=False)
        with self.assertRaisesRegex(ValueError, "read-only"):
            self.saxpy[4, 32](100, 2.0, frozen, y)
        self.saxpy[4, 32](100, 2.0, ptera.In(frozen), y)
        with self.assertRaisesRegex(TypeError, "order of bytes"):
            self.saxpy[4, 32](100, 2.0, x.astype(">f4"), y)

    @unittest.skipUnless(numpy, "there is no numpy")
    def test_numpy_elements_of_other_kinds(self):
        pairs = numpy.ones(50, [("x", "f4"), ("y", "f4")])
        square = numpy.ones((10, 10), "f4").T
        x = numpy.arange(100, dtype="f4")
        for y in (pairs, square, numpy.ones(50, "c8")):
            with self.subTest(y.dtype):
                self.saxpy[4, 32](100, 2.0, x, y)
        self.assertEqual(pairs[49]["y"], 199)
        self.assertEqual(square.T[9, 9], 199)
        for time in (numpy.zeros(50, "m8[ns]"), numpy.zeros((10, 5), "M8[s]").T):
            with self.subTest(time.dtype):
                self.saxpy[1, 32](32, 0.0, time, x)
        self.saxpy.options(isolate=True)[4, 32](100, 0.0, x, numpy.zeros((5, 20), "U1").T)
        with self.assertRaisesRegex(TypeError, "argument 2 .*Python's objects"):
            self.saxpy[4, 32](100, 2.0, numpy.array([None] * 100), x)

    @unittest.skipUnless(numpy, "there is no numpy")
    def test_numbers_of_numpy(self):
        x = numpy.arange(100, dtype="f4")
        for n, expected in (
            (numpy.array(100), 199),
            (numpy.bool_(True), 1),
            (numpy.int8(100), 199),
        ):
            y = numpy.ones(100, "f4")
            self.saxpy[numpy.int64(4), (numpy.uint8(32), 1)](n, numpy.array(2.0), x, y)
            self.assertEqual(y[99], expected)
        with self.assertRaisesRegex(TypeError, "argument 0 .*float32 is no integer"):
            self.saxpy[4, 32](numpy.float32(100), 2.0, x, y)

    @unittest.skipUnless(numpy, "there is no numpy")
    def test_array_interfaces(self):
        x = numpy.arange(100, dtype="f4")
        y = numpy.ones(100, "f4")

        class Wrapped:
            __cuda_array_interface__ = x.__array_interface__

        class Exported:
            def __dlpack__(self, **how):
                return y.__dlpack__(**how)

            def __dlpack_device__(self):
                return y.__dlpack_device__()

        self.saxpy[4, 32](100, 2.0, Wrapped(), Exported())
        self.assertEqual(y[99], 199)


class Tensor:
    """As PyTorch's are, as far as ptera.arrays asks."""

    def __init__(self, array, **is_view):
        self.array, self.is_view = array, is_view
        self.device = type("Device", (), {"type": "cpu"})

    def is_contiguous(self):
        return True

    def is_conj(self):
        return self.is_view.get("conj", False)

    def is_neg(self):
        return self.is_view.get("neg", False)

    def data_ptr(self):
        return self.array.buffer_info()[0]

    def numel(self):
        return len(self.array)

    def element_size(self):
        return self.array.itemsize


class Tensors(unittest.TestCase):
    def test_memory_is_the_value_or_refused(self):
        saxpy = ptera.Module(common.SAMPLES / "saxpy" / "saxpy.ptx").saxpy
        x, y = array.array("f", range(100)), array.array("f", [1] * 100)
        saxpy[4, 32](100, 2.0, Tensor(x), Tensor(y))
        self.assertEqual(y[99], 199)
        for view in ("conj", "neg"):
            with self.subTest(view), self.assertRaisesRegex(ValueError, f"resolve_{view}"):
                saxpy[4, 32](100, 2.0, Tensor(x, **{view: True}), y)


class Kinds(unittest.TestCase):
    def setUp(self):
        self.kinds = ptera.Module(KINDS).kinds
        self.out = bytearray(32)

    def launch(self, point):
        self.kinds[1, 1](200, -3, 0xDEADBEEF, -(2**60), 1.5, 2.25, point, self.out)
        return struct.unpack("<BxhIqfId", self.out)

    def test_each_kind_of_parameter(self):
        expected = (200, -3, 0xDEADBEEF, -(2**60), 1.5, 9, 2.25)
        for point in (Point(7, 8, 9), struct.pack("<3i", 7, 8, 9), array.array("i", [7, 8, 9])):
            with self.subTest(point):
                self.assertEqual(self.launch(point), expected)

    def test_struct_of_another_size(self):
        with self.assertRaisesRegex(ValueError, "the struct has 4 bytes, the parameter 12"):
            self.launch(b"1234")
        with self.assertRaisesRegex(TypeError, "float is no struct|argument 6"):
            self.launch(1.0)


class Memory(unittest.TestCase):
    def test_guarded_memory(self):
        saxpy = ptera.Module(common.SAMPLES / "saxpy" / "saxpy.ptx").saxpy
        engine = ptera.default_engine()
        x, y = engine.alloc(4096), engine.alloc(4096)
        saxpy[32, 32](1024, 2.0, x, y)
        with self.assertRaises(ptera.IllegalAddress):
            saxpy[64, 32](1025, 2.0, x, y)


class Checkers(unittest.TestCase):
    RACE = (
        HEAD
        + """
.visible .entry early(.param .u64 from, .param .u64 to)
{
    .reg .b64 %rd<3>;
    .reg .b32 %r<3>;
    .shared .align 16 .b8 tile[16];
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    mov.u32 %r1, tile;
    cp.async.ca.shared.global [%r1], [%rd1], 16;
    ld.shared.u32 %r2, [%r1];
    cp.async.wait_all;
    st.global.u32 [%rd2], %r2;
    ret;
}
"""
    )

    def test_race_is_a_finding(self):
        early = ptera.Module(self.RACE, name="early.ptx").early
        memory = bytearray(64)
        with self.assertRaises(ptera.FindingsError) as caught:
            early.options(checks=["race"])[1, 1](memory, memory)
        (finding,) = caught.exception.findings
        self.assertEqual((finding.file, finding.line), ("early.ptx", 14))
        self.assertIn("cp.async", finding.text)
        early.options(checks=["init", "mem"])[1, 1](memory, memory)
        early[1, 1](memory, memory)

    def test_note_is_a_warning(self):
        same = ptera.Module(
            HEAD
            + """
.entry same(.param .u64 to)
{
    .reg .b64 %rd1;
    ld.param.u64 %rd1, [to];
    st.global.u32 [%rd1], 1;
    ret;
}
"""
        ).same
        with self.assertWarnsRegex(UserWarning, "note: race: "):
            same.options(checks=["race"])[2, 1](bytearray(4))


if __name__ == "__main__":
    unittest.main()
