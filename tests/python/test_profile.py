"""Counts of launches as objects, and timelines."""

import json
import os
import pathlib
import tempfile
import unittest
from unittest import mock

import common
import ptera


class Profile(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_saxpy(self, engine: ptera.Engine, launches: int = 1) -> None:
        module = ptera.Module(common.SAMPLES / "saxpy" / "saxpy.ptx", engine=engine)
        for _ in range(launches):
            module.saxpy[4, 256](1000, 2.0, engine.alloc(4000), engine.alloc(4000))

    def test_counts(self) -> None:
        with ptera.Engine(observe="count") as engine:
            self.assertEqual(engine.counts(), [])
            self.run_saxpy(engine, 3)
            (kernel,) = engine.counts()
        self.assertEqual((kernel.name, kernel.launches), ("saxpy", 3))
        self.assertEqual((kernel.grid, kernel.block), ((4, 1, 1), (256, 1, 1)))
        self.assertGreater(kernel.seconds, 0)
        loads = [x for x in kernel.instructions if x.kind == "load" and "global" in x.accesses]
        self.assertEqual([x.accesses["global"].lanes for x in loads], [3000, 3000])
        self.assertTrue(all(x.spelling.startswith("ld.global") for x in loads))
        stored = kernel.access("global", "store")
        self.assertEqual((stored.requests, stored.parts, stored.bytes), (96, 375, 12000))
        (branch,) = [x for x in kernel.instructions if x.kind == "branch"]
        self.assertEqual((branch.lanes, branch.on, branch.split), (3 * 1024, 3 * 24, 3))

    def test_metrics(self) -> None:
        with ptera.Engine(observe="count") as engine:
            self.run_saxpy(engine)
            (kernel,) = engine.counts()
        build = pathlib.Path(ptera.__file__).parents[2]
        path = f"{build}{os.pathsep}{os.environ['PATH']}"
        with mock.patch.dict(os.environ, {"PATH": path}):
            self.assertEqual(kernel.metrics["gld_efficiency"], 100)
            self.assertEqual(kernel.metrics["smsp__warps_launched.sum"], 32)
            self.assertIsNone(kernel.metrics["gpu__time_duration.sum"])

    def test_trace(self) -> None:
        path = self.folder / "trace.json"
        for _ in range(2):
            with ptera.Engine(trace=path) as engine:
                self.run_saxpy(engine)
        events = json.loads(path.read_text())["traceEvents"]
        kernels = [e for e in events if e.get("cat") == "kernel"]
        self.assertEqual([e["name"] for e in kernels], ["saxpy", "saxpy"])
        self.assertEqual(kernels[0]["args"]["grid"], [4, 1, 1])
        with self.assertRaises(ptera.Error):
            ptera.Engine(trace=self.folder / "nowhere" / "trace.json")


if __name__ == "__main__":
    unittest.main()
