"""pytest --ptera: the tests run where there is a GPU, Ptera's.

pytest is started anew by `ptera exec`, so that Ptera's libraries are in place before conftest.py
and the tests import anything.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from ptera.program import execute_python

#: Set for the pytest that `ptera exec` starts.
_INSIDE = "PTERA_PYTEST"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ptera", "Ptera, a GPU without a GPU")
    group.addoption("--ptera", action="store_true", help="run CUDA by Ptera, on the CPU")
    group.addoption("--ptera-device", metavar="ID", help="the GPU that it stands for, as h100")
    group.addoption(
        "--ptera-engine", choices=("auto", "interp", "jit"), help="who runs kernels; default: auto"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "ptera: runs only under --ptera")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: Any) -> None:
    options = early_config.known_args_namespace
    if not options.ptera or os.environ.get(_INSIDE):
        return
    os.environ[_INSIDE] = "1"
    if options.ptera_device:
        os.environ["PTERA_DEVICE"] = options.ptera_device
    if options.ptera_engine:
        os.environ["PTERA_ENGINE"] = options.ptera_engine
    capture = early_config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.stop_global_capturing()
    execute_python(["-m", "pytest", *early_config.invocation_params.args])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--ptera"):
        return
    skip = pytest.mark.skip(reason="needs --ptera")
    for item in items:
        if item.get_closest_marker("ptera"):
            item.add_marker(skip)


def pytest_report_header(config: pytest.Config) -> list[str]:
    if not config.getoption("--ptera"):
        return []
    import ptera

    with ptera.Engine() as engine:
        info = engine.info()
    return [f"ptera: {info['version']}, {info['device']}, CPU level {info['cpu_level']}"]
