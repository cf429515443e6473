"""Engines that several threads use: each its own failure; closing beside launches."""

import ctypes
import gc
import os
import pathlib
import subprocess
import sys
import threading
import time
import unittest

import common
import ptera
from common import HEAD

ENDLESS = (
    HEAD
    + """
.visible .entry endless(.param .u64 p)
{
    .reg .b64 %p; .reg .b32 %r; .reg .pred %c;
    ld.param.u64 %p, [p]; st.volatile.u32 [%p], 1;
LOOP:
    ld.volatile.u32 %r, [%p]; setp.ne.u32 %c, %r, 0; @%c bra LOOP;
    ret;
}
"""
)

#: Found when it is compiled.
UNSUPPORTED = (
    HEAD
    + """
.global .texref image;
.visible .entry k()
{
    .reg .b32 %r<5>;
    mov.b32 %r0, 0;
    tex.2dms.v4.s32.s32 {%r1, %r2, %r3, %r4}, [image, {%r0, %r0, %r0, %r0}], {%r0, %r0};
    ret;
}
"""
)


def wait_until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def run_python(code):
    """Its status and what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(pathlib.Path(ptera.__file__).parent.parent)},
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stdout


class Failures(unittest.TestCase):
    def test_each_thread_has_its_own(self):
        saxpy = ptera.Module(common.SAMPLES / "saxpy" / "saxpy.ptx").saxpy
        wrong = []

        def fail(address):
            for _ in range(200):
                try:
                    saxpy[1, 32](32, 2.0, address, address)
                except ptera.IllegalAddress as error:
                    if error.address != address:
                        wrong.append((address, str(error)))
                try:
                    saxpy[1, 1024 + address](32, 2.0, address, address)
                except ptera.InvalidLaunch as error:
                    if f"block {1024 + address}x" not in str(error):
                        wrong.append((address, str(error)))

        threads = [threading.Thread(target=fail, args=(0x100 * i,)) for i in range(1, 5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_kernel_that_cannot_be_compiled_tells_why(self):
        engine = ptera.Engine(threads=1)
        saxpy = ptera.Module(common.SAMPLES / "saxpy" / "saxpy.ptx", engine=engine).saxpy
        with self.assertRaises(ptera.InvalidLaunch):
            saxpy[1, 5000](32, 2.0, None, None)
        module = ptera.Module(UNSUPPORTED, engine=engine)
        for call in (module.k.properties, module.k[1, 1]):
            with self.assertRaises(ptera.UnsupportedPTX) as caught:
                call()
            self.assertIn("tex.2dms", str(caught.exception))


class Closing(unittest.TestCase):
    def close_beside(self, launch):
        """What the launch raises while the engine is closed."""
        raised = []
        engine = ptera.Engine(threads=2)
        place = ctypes.c_uint32()
        kernel = ptera.Module(ENDLESS, engine=engine).endless

        def run():
            try:
                launch(engine, kernel, place)
            except Exception as error:
                raised.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        wait_until(lambda: place.value)
        engine.close(seconds=0.1)
        thread.join(60)
        self.assertFalse(thread.is_alive())
        with self.assertRaisesRegex(ValueError, "closed"):
            kernel[1, 32](place)
        return raised

    def test_launch_is_cancelled(self):
        for engine in ("interp", "auto", "jit"):
            launch = lambda _, kernel, place, name=engine: (  # noqa: E731
                kernel.options(engine=name)[1, 32](place)
            )
            (error,) = self.close_beside(launch)
            self.assertIsInstance(error, ptera.Cancelled)
            self.assertEqual((error.kernel, error.what), ("endless", "cancelled"))

    def test_checked_launch_is_cancelled(self):
        (error,) = self.close_beside(lambda _, k, place: k.options(checks="sync")[1, 32](place))
        self.assertIsInstance(error, ptera.Cancelled)

    def test_stream_is_cancelled(self):
        def launch(engine, kernel, place):
            for _ in range(3):
                kernel[1, 32, 0, engine.stream](place)
            engine.synchronize()

        (error,) = self.close_beside(launch)
        self.assertIsInstance(error, ptera.Cancelled)

    def test_cancelled_launch_leaves_the_engine_open(self):
        place = ctypes.c_uint32()
        engine = ptera.Engine(threads=2)
        kernel = ptera.Module(ENDLESS, engine=engine).endless
        kernel[1, 32, 0, engine.stream](place)
        wait_until(lambda: place.value)
        engine.cancel()
        with self.assertRaises(ptera.Cancelled):
            engine.synchronize()
        place.value = 0
        saxpy = ptera.Module(common.SAMPLES / "saxpy" / "saxpy.ptx", engine=engine).saxpy
        saxpy[1, 32](0, 2.0, None, None)
        engine.close()

    def test_interrupt_while_a_stream_is_waited_for(self):
        code = f"""
import ctypes, os, signal, threading, ptera
place = ctypes.c_uint32()
engine = ptera.Engine(threads=2)
kernel = ptera.Module({ENDLESS!r}, engine=engine).endless
kernel[1, 32, 0, engine.stream](place)
while not place.value: pass
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    engine.synchronize()
except KeyboardInterrupt:
    engine.cancel()
    try:
        engine.synchronize()
    except ptera.Cancelled:
        print("cancelled")
"""
        self.assertEqual(run_python(code), (0, "cancelled\n"))

    def test_launch_may_end(self):
        place = ctypes.c_uint32()
        engine = ptera.Engine(threads=1)
        kernel = ptera.Module(ENDLESS, engine=engine).endless
        thread = threading.Thread(target=kernel[1, 32], args=(place,))
        thread.start()
        wait_until(lambda: place.value)
        threading.Timer(0.1, lambda: setattr(place, "value", 0)).start()
        engine.close()
        thread.join()

    def test_under_load(self):
        """Threads that launch, load, allocate and ask while the engine is closed under them."""
        for _ in range(10):
            engine = ptera.Engine(threads=2)
            begun = []

            def use(engine=engine, begun=begun):
                path = common.SAMPLES / "saxpy" / "saxpy.ptx"
                while True:
                    try:
                        saxpy = ptera.Module(path, engine=engine).saxpy
                        memory = engine.alloc(128)
                        saxpy[1, 32](32, 2.0, memory, memory)
                        saxpy.properties()
                        begun.append(engine.info())
                    except (ValueError, ptera.Cancelled):
                        break

            threads = [threading.Thread(target=use) for _ in range(4)]
            for thread in threads:
                thread.start()
            wait_until(lambda begun=begun: len(begun) > 20)
            engine.close()
            for thread in threads:
                thread.join(60)
                self.assertFalse(thread.is_alive())
        gc.collect()

    def test_end_of_python_beside_a_daemon(self):
        code = f"""
import ctypes, threading, ptera
place = ctypes.c_uint32()
kernel = ptera.Module({ENDLESS!r}).endless
threading.Thread(target=kernel[1, 32], args=(place,), daemon=True).start()
while not place.value: pass
print("end", flush=True)
"""
        self.assertEqual(run_python(code), (0, "end\n"))


if __name__ == "__main__":
    unittest.main()
