"""The program `ptera`, which the wheel brings."""

import os
import sys
from typing import NoReturn

from ptera._library import PACKAGE

__all__ = ["execute", "execute_python", "main"]

_PTXAS = str(PACKAGE / "stand_ins" / "ptxas")
#: What frameworks must be told, where the user has not told them.
_ENVIRONMENT = {
    "TRITON_PTXAS_PATH": _PTXAS,
    "TRITON_PTXAS_BLACKWELL_PATH": _PTXAS,
}


def execute(arguments: list[str]) -> NoReturn:
    """Becomes the program; does not return."""
    own = PACKAGE / "bin" / "ptera"
    sys.stdout.flush()
    sys.stderr.flush()
    if own.exists():
        os.execv(own, [str(own), *arguments])
    os.execvp("ptera", ["ptera", *arguments])


def execute_python(arguments: list[str]) -> NoReturn:
    """Becomes Python anew, with Ptera's libraries in the place of NVIDIA's."""
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    execute(["exec", sys.executable, *arguments])


def main() -> NoReturn:
    execute(sys.argv[1:])
