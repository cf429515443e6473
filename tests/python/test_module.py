"""Modules and engines: what loads, what is said of what does not, variables, closing."""

import pathlib
import tempfile
import threading
import unittest

import ptera
from common import HEAD, KINDS, numpy

TABLE = (
    HEAD
    + """
.global .align 4 .u32 table[4] = {1, 2, 3, 4};
.visible .entry add_one()
{
    .reg .b32 %r<2>;
    ld.global.u32 %r1, [table+4];
    add.u32 %r1, %r1, 1;
    st.global.u32 [table+4], %r1;
    ret;
}
"""
)

PRINTS = (
    HEAD
    + """
.extern .func (.param .b32 status) vprintf(.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 text[4] = {104, 105, 10, 0};
.visible .entry hi()
{
    .reg .b64 %rd<2>;
    .reg .b32 %r<2>;
    cvta.global.u64 %rd1, text;
    {
    .param .b64 a;
    .param .b64 b;
    .param .b32 r;
    st.param.b64 [a], %rd1;
    st.param.b64 [b], 0;
    call.uni (r), vprintf, (a, b);
    ld.param.b32 %r1, [r];
    }
    ret;
}
"""
)


class Modules(unittest.TestCase):
    def test_from_text_bytes_and_paths(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "kinds.ptx"
            path.write_text(KINDS)
            for source in (KINDS, KINDS.encode(), path, str(path)):
                self.assertEqual(list(ptera.Module(source).kernels), ["kinds"])
        with self.assertRaises(FileNotFoundError):
            ptera.Module("there-is-none.ptx")

    def test_diagnostics_of_what_is_no_ptx(self):
        with self.assertRaises(ptera.InvalidPTX) as caught:
            ptera.Module(HEAD + ".visible .entry k() { bad.u32 %r1; ret; }", name="bad.ptx")
        first = caught.exception.diagnostics[0]
        self.assertEqual((first.file, first.line, first.severity), ("bad.ptx", 4, "error"))
        self.assertIn("^", first.text)

    def test_unknown_names(self):
        module = ptera.Module(KINDS)
        with self.assertRaisesRegex(AttributeError, "no kernel 'nope'.*has: kinds"):
            module.nope  # noqa: B018
        with self.assertRaisesRegex(KeyError, "no kernel 'nope'"):
            module["nope"]
        with self.assertRaises(KeyError):
            module.variable("nope")

    def test_variables_are_memory(self):
        module = ptera.Module(TABLE)
        table = memoryview(module.variable("table")).cast("B").cast("I")
        self.assertEqual(table.tolist(), [1, 2, 3, 4])
        module.add_one[1, 1]()
        self.assertEqual(table[1], 3)
        table[1] = 40
        module.add_one[1, 1]()
        self.assertEqual(table[1], 41)

    @unittest.skipUnless(numpy, "there is no numpy")
    def test_variable_keeps_its_module(self):
        table = numpy.frombuffer(ptera.Module(TABLE).variable("table"), "u4")
        self.assertEqual(table.tolist(), [1, 2, 3, 4])

    def test_emits(self):
        module = ptera.Module(TABLE)
        self.assertIn("add_one", module.emit("ir"))
        module.verify()


class Engines(unittest.TestCase):
    def test_printf(self):
        texts = []
        with ptera.Engine(print=texts.append, threads=1) as engine:
            ptera.Module(PRINTS, engine=engine).hi[2, 2]()
        self.assertEqual("".join(texts), "hi\n" * 4)

    def test_closed(self):
        engine = ptera.Engine(threads=1)
        module = ptera.Module(TABLE, engine=engine)
        engine.close()
        engine.close()
        with self.assertRaisesRegex(ValueError, "the engine is closed"):
            module.add_one[1, 1]()
        with self.assertRaisesRegex(ValueError, "the engine is closed"):
            ptera.Module(TABLE, engine=engine)

    def test_devices(self):
        ids = [device.id for device in ptera.devices()]
        self.assertIn("h100", ids)
        with ptera.Engine(device="h100") as engine:
            self.assertEqual(engine.info()["device"], "h100")
        with self.assertRaisesRegex(ptera.Error, "nvidia-9000"):
            ptera.Engine(device="nvidia-9000", log=lambda severity, text: None)

    def test_from_several_threads(self):
        module = ptera.Module(KINDS)
        outs = [bytearray(32) for _ in range(8)]

        def work(out, i):
            for _ in range(50):
                module.kinds[1, 1](i, 0, 0, 0, 0, 0, bytes(12), out)

        threads = [threading.Thread(target=work, args=(o, i)) for i, o in enumerate(outs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([out[0] for out in outs], list(range(8)))


if __name__ == "__main__":
    unittest.main()
