"""The program `ptera`, which the wheel brings."""

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from ptera._library import PACKAGE

__all__ = ["execute", "execute_python", "main"]


def execute(arguments: list[str]) -> NoReturn:
    """Becomes the program; does not return."""
    own = PACKAGE / "bin" / "ptera"
    sys.stdout.flush()
    sys.stderr.flush()
    if own.exists():
        os.execv(own, [str(own), *arguments])
    os.execvp("ptera", ["ptera", *arguments])


def execute_python(arguments: list[str], options: Sequence[str] = ()) -> NoReturn:
    """Becomes Python anew, with Ptera's libraries in the place of NVIDIA's; options: of exec.

    It and the Pythons that it starts run start/sitecustomize.py first.
    """
    others = os.environ.get("PYTHONPATH")
    own = [str(PACKAGE / "start")]
    os.environ["PYTHONPATH"] = os.pathsep.join(own + [others] if others else own)
    execute(["exec", *options, sys.executable, *arguments])


def main() -> NoReturn:
    execute(sys.argv[1:])
