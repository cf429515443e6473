"""Writes ptera/_abi.py: the C API as cffi has it (out of line, ABI mode), from include/ptera.h.

    python make_abi.py ../include/ptera.h ptera/_abi.py

The header is the one statement of the API; the package never repeats a struct or a signature.
"""

import pathlib
import re
import sys

from cffi import FFI


def declarations(header: str) -> str:
    """What of the header cffi's parser takes: no directives, no C++, no inline functions."""
    text = re.sub(r"#ifdef __cplusplus\n.*?#endif\n", "", header, flags=re.DOTALL)
    text = re.sub(r"static inline [^{;]*\n\{\n.*?\n\}\n", "", text, flags=re.DOTALL)
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)
    return text.replace("PTERA_API ", "")


def main() -> None:
    header, output = map(pathlib.Path, sys.argv[1:])
    ffi = FFI()
    ffi.cdef(declarations(header.read_text()))
    ffi.set_source("ptera._abi", None)
    ffi.emit_python_code(str(output))


if __name__ == "__main__":
    main()
