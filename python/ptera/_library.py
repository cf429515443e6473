"""The C library: where it is, and its API as cffi objects `ffi` and `lib`."""

import os
import pathlib
from typing import Any

from ptera._abi import ffi as _ffi  # made from include/ptera.h by make_abi.py

ffi: Any = _ffi

#: The folder of what the wheel brings: lib/ with the libraries, bin/ with the program.
PACKAGE = pathlib.Path(__file__).resolve().parent


def _file() -> str:
    """PTERA_LIBRARY, else the wheel's, else the system's."""
    named = os.environ.get("PTERA_LIBRARY")
    if named:
        return named
    own = PACKAGE / "lib" / "libptera.so.0"
    return str(own) if own.exists() else "libptera.so.0"


lib: Any = ffi.dlopen(_file())


def text(chars: Any) -> str:
    """A C string as Python's; "" for NULL."""
    return ffi.string(chars).decode(errors="replace") if chars != ffi.NULL else ""


def values_of(struct: Any) -> dict[str, Any]:
    """What is behind the size of a struct of the API: texts ("" as None), numbers, tuples."""
    values: dict[str, Any] = {}
    for field, kind in ffi.typeof(struct).item.fields[1:]:
        value = getattr(struct, field)
        if kind.type.kind == "pointer":
            value = text(value) or None
        elif kind.type.kind == "array":
            value = tuple(value)
        values[field] = value
    return values


def sized(struct: str) -> Any:
    """A new zeroed struct of the API whose first member is its size."""
    new = ffi.new(struct + " *")
    new.size = ffi.sizeof(struct)
    return new
