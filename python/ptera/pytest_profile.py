"""pytest --ptera-profile: which kernels the tests launched, and how long they took.

Those of programs that use the driver are in the table of `ptera exec --summary`, which follows
pytest's own report; those of ptera.Engine, as of Triton on CPU tensors, in a section of it.
"""

from __future__ import annotations

import collections
import dataclasses
import time
from collections.abc import Generator
from typing import Any

import pytest

from ptera.kernel import Launcher


@dataclasses.dataclass
class _Times:
    """Of a kernel in a test, in seconds."""

    launches: int = 0
    total: float = 0
    most: float = 0

    def add(self, launches: int, total: float, most: float) -> None:
        self.launches += launches
        self.total += total
        self.most = max(self.most, most)


class Profile:
    """While it is registered, each launch of ptera.Kernel is timed, its arguments' checks too."""

    def __init__(self) -> None:
        self._tests: collections.defaultdict[tuple[str, str], _Times]
        self._tests = collections.defaultdict(_Times)
        self._test = ""
        self._launch = launch = Launcher.__call__

        def launch_timed(launcher: Launcher, *arguments: Any) -> None:
            begun = time.perf_counter()
            try:
                launch(launcher, *arguments)
            finally:
                took = time.perf_counter() - begun
                self._tests[launcher.kernel.name, self._test].add(1, took, took)

        Launcher.__call__ = launch_timed  # type: ignore[method-assign]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, None]:
        self._test = item.nodeid
        yield
        self._test = ""

    def pytest_unconfigure(self) -> None:
        Launcher.__call__ = self._launch  # type: ignore[method-assign]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        kernels: collections.defaultdict[str, _Times] = collections.defaultdict(_Times)
        longest: dict[str, tuple[float, str]] = {}
        for (kernel, test), t in self._tests.items():
            kernels[kernel].add(t.launches, t.total, t.most)
            longest[kernel] = max(longest.get(kernel, (0.0, "")), (t.total, test))
        if not kernels:
            return
        terminalreporter.section("kernels by ptera.Engine")
        terminalreporter.line(f"{'launches':>9} {'total ms':>12} {'average ms':>12} {'most ms':>12}"
                              "  kernel, test that it took longest in")  # fmt: skip
        for kernel, t in sorted(kernels.items(), key=lambda row: -row[1].total):
            ms = [1e3 * s for s in (t.total, t.total / t.launches, t.most)]
            terminalreporter.line(
                f"{t.launches:9} {ms[0]:12.3f} {ms[1]:12.3f} {ms[2]:12.3f}"
                f"  {kernel}, {longest[kernel][1] or 'no test'}"
            )
