"""What each Python under `python -m ptera` does before its program: see ptera.program.

A sitecustomize of the user's own, which this one hides, runs as well.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys

import ptera_clients


def _run_hidden() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    others = [p for p in sys.path if os.path.abspath(p) != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


ptera_clients.install()
_run_hidden()
