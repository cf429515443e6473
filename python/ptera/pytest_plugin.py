"""pytest --ptera: the tests run where there is a GPU, Ptera's.

pytest is started anew by `ptera exec`, so that Ptera's libraries are in place before conftest.py
and the tests import anything. With --ptera-check=race,mem kernels are checked, those of programs
that use the driver and those of ptera.Engine: a finding fails the test that made it. With
--ptera-profile kernels are timed (pytest_profile.py).
"""

from __future__ import annotations

import ctypes
import os
import shutil
import tempfile
from collections.abc import Generator
from typing import Any

import pytest

from ptera.engine import _listeners, _living_engines
from ptera.errors import Finding, findings_in
from ptera.program import execute_python

#: Set for the pytest that `ptera exec` starts.
_INSIDE = "PTERA_PYTEST"

#: What `all` means, as in `ptera check all`; the others are asked for by name.
_ALL = ("init", "mem", "race", "sync")
_CHECKERS = (*_ALL, "init-load", "order")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ptera", "Ptera, a GPU without a GPU")
    group.addoption("--ptera", action="store_true", help="run CUDA by Ptera, on the CPU")
    group.addoption("--ptera-device", metavar="ID", help="the GPU that it stands for, as h100")
    group.addoption(
        "--ptera-engine", choices=("auto", "interp", "jit"), help="who runs kernels; default: auto"
    )
    group.addoption(
        "--ptera-check",
        metavar="TOOL[,TOOL]",
        help="checkers of kernels (implies --ptera): a finding fails the test that made it; "
        "of " + ", ".join(_CHECKERS) + ", all",
    )
    group.addoption(
        "--ptera-profile",
        action="store_true",
        help="times of kernels at the end (implies --ptera)",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "ptera: runs only under --ptera")
    if config.getoption("--ptera-check") and os.environ.get(_INSIDE):
        config.pluginmanager.register(_Checkers(os.environ["PTERA_CHECK_FILE"]))
    if config.getoption("--ptera-profile"):
        from ptera.pytest_profile import Profile

        config.pluginmanager.register(Profile())


def _tools_of(option: str) -> str:
    tools: list[str] = []
    for name in option.split(","):
        if name != "all" and name not in _CHECKERS:
            known = ", ".join((*_CHECKERS, "all"))
            raise pytest.UsageError(f"--ptera-check: there is no checker '{name}', but {known}")
        tools.extend(_ALL if name == "all" else [name])
    return ",".join(dict.fromkeys(tools))


def _set_checkers(option: str) -> None:
    os.environ["PTERA_CHECK"] = os.environ["PTERA_OBSERVE"] = _tools_of(option)
    os.environ["PTERA_CHECK_FILE"] = os.path.join(tempfile.mkdtemp(prefix="ptera-findings-"), "0")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: Any) -> None:
    options = early_config.known_args_namespace
    if not _is_on(options) or os.environ.get(_INSIDE):
        return
    if options.ptera_check:
        _set_checkers(options.ptera_check)
    os.environ[_INSIDE] = "1"
    if options.ptera_device:
        os.environ["PTERA_DEVICE"] = options.ptera_device
    if options.ptera_engine:
        os.environ["PTERA_ENGINE"] = options.ptera_engine
    capture = early_config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.stop_global_capturing()
    execute_python(
        ["-m", "pytest", *early_config.invocation_params.args],
        ["--summary"] if options.ptera_profile else [],
    )


def _is_on(options: Any) -> bool:
    return bool(options.ptera or options.ptera_check or options.ptera_profile)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if _is_on(config.option):
        return
    skip = pytest.mark.skip(reason="needs --ptera")
    for item in items:
        if item.get_closest_marker("ptera"):
            item.add_marker(skip)


def pytest_report_header(config: pytest.Config) -> list[str]:
    if not _is_on(config.option):
        return []
    import ptera

    with ptera.Engine() as engine:
        info = engine.info()
    header = f"ptera: {info['version']}, {info['device']}, CPU level {info['cpu_level']}"
    checkers = config.getoption("--ptera-check")
    return [header + (f", checked by {_tools_of(checkers)}" if checkers else "")]


class _Checkers:
    """Fails the tests in which more than notes is found: item.ptera_findings has all as objects.

    The driver gets a file for each test, which has what is seen then, found before or not. Engines
    of the package tell; what they know already they have counted.
    """

    def __init__(self, path: str) -> None:
        self._folder = os.path.dirname(path)
        self._files = 0
        self._heard: list[Finding] = []  # for the first time
        self._listener = self._heard.append
        self._counts: dict[int, list[int]] = {}  # by engine
        _listeners.append(self._listener)

    def _written(self) -> list[Finding]:
        path = os.environ["PTERA_CHECK_FILE"]
        self._files += 1
        os.environ["PTERA_CHECK_FILE"] = os.path.join(self._folder, str(self._files))
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                found = list(findings_in(file.read()).values())
        except FileNotFoundError:
            return []
        os.unlink(path)
        return found

    def _counted(self) -> list[Finding]:
        found = []
        for engine in _living_engines():
            now = engine.findings()
            before = self._counts.get(id(engine), [])
            found += [f for f, count in zip(now, before) if f.count > count]
            self._counts[id(engine)] = [f.count for f in now]
        return found

    def _take(self) -> list[Finding]:
        """What was seen since the last call."""
        heard = self._heard[:]
        del self._heard[: len(heard)]
        return heard + self._counted() + self._written()

    def _judge(self, item: pytest.Item, outcome: Any) -> None:
        _synchronize()
        findings = self._take()
        if not findings:
            return
        before = getattr(item, "ptera_findings", [])
        item.ptera_findings = [*before, *findings]  # type: ignore[attr-defined]
        texts = "\n".join(f"{f.text}  ptera check --explain {f.kind}" for f in findings)
        if outcome.excinfo is None and not all(f.is_note for f in findings):
            failure = pytest.fail.Exception(f"ptera found {len(findings)}:\n{texts}", pytrace=False)
            # pluggy has it from 1.1 on; before, a wrapper may raise.
            if not hasattr(outcome, "force_exception"):
                raise failure
            outcome.force_exception(failure)
        else:
            item.add_report_section("call", "ptera", texts)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, None]:
        self._judge(item, (yield))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, Any, None]:
        self._judge(item, (yield))

    def pytest_unconfigure(self) -> None:
        _listeners.remove(self._listener)
        del os.environ["PTERA_CHECK"]  # contexts that end with the program tell nobody
        shutil.rmtree(self._folder, ignore_errors=True)


def _synchronize() -> None:
    """Kernels that the test started run to their end, where the driver is in use at all."""
    try:
        driver = ctypes.CDLL("libcuda.so.1", mode=os.RTLD_NOLOAD)
    except OSError:
        return
    driver.cuCtxSynchronize()
