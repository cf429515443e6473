"""The program `ptera`, which the wheel brings."""

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from ptera._library import PACKAGE

__all__ = ["execute", "execute_python", "main", "program", "start_path"]


def program() -> str:
    """Its path, or its name where the wheel does not bring it."""
    own = PACKAGE / "bin" / "ptera"
    return str(own) if own.exists() else "ptera"


def start_path() -> str:
    """PYTHONPATH with which a Python runs start/sitecustomize.py before its program."""
    own, others = str(PACKAGE / "start"), os.environ.get("PYTHONPATH", "")
    return os.pathsep.join(filter(None, [own, others]))


def execute(arguments: list[str]) -> NoReturn:
    """Becomes the program; does not return."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execvp(program(), [program(), *arguments])


def execute_python(arguments: list[str], options: Sequence[str] = ()) -> NoReturn:
    """Becomes Python anew, with Ptera's libraries in the place of NVIDIA's; options: of exec.

    It and the Pythons that it starts run start/sitecustomize.py first.
    """
    os.environ["PYTHONPATH"] = start_path()
    execute(["exec", *options, sys.executable, *arguments])


def main() -> NoReturn:
    execute(sys.argv[1:])
