"""Modules: PTX that has been loaded."""

from __future__ import annotations

import collections
import os
import pathlib
import re
from collections.abc import Mapping
from typing import Any

from ptera._library import ffi, lib, text
from ptera.engine import Engine, default_engine
from ptera.errors import Diagnostic, InvalidPTX, check, diagnostics_of
from ptera.kernel import Kernel

__all__ = ["Module"]


class Module:
    """PTX that has been loaded; its kernels are attributes.

        m = ptera.Module("saxpy.ptx")
        m.saxpy[grid, block](n, 2.0, x, y)

    A kernel of C++ has its plain name, too, where no other has it: m.saxpy is `_Z5saxpyifPKfPf`.

    Args:
        ptx: the text (str or bytes), or a path (os.PathLike, or a line of str that ends in .ptx).
        engine: whose it is; None: the default engine.
        name: what messages call it; default: the path, or "module.ptx".

    Raises:
        InvalidPTX: with all diagnostics.
    """

    def __init__(
        self,
        ptx: str | bytes | os.PathLike[str],
        *,
        engine: Engine | None = None,
        name: str | None = None,
    ) -> None:
        self.engine = engine or default_engine()
        source, path = _text_of(ptx)
        called = os.fsencode(name or path or "module.ptx")
        handle = ffi.new("ptera_module **")
        with self.engine._using() as engine_handle:
            result = lib.ptera_module_load(engine_handle, called, source, len(source), handle)
        self._handle = ffi.gc(handle[0], self._unload) if handle[0] != ffi.NULL else None
        if result == lib.PTERA_ERROR_INVALID_PTX and self._handle is not None:
            raise InvalidPTX(result, diagnostics_of(self._handle))
        check(result)
        self._kernels: dict[str, Kernel] = {k.name: k for k in self._find_kernels()}
        self._names: dict[str, Kernel] = {}
        plain = collections.Counter(plain_name(k) for k in self._kernels)
        self.add_names({plain_name(k): k for k in self._kernels if plain[plain_name(k)] == 1})
        self.add_names({k: k for k in self._kernels})

    def add_names(self, names: Mapping[str, str]) -> None:
        """Other names of kernels: by these, too, they are `m[name]` and attributes."""
        found = {name: self._kernels[kernel] for name, kernel in names.items()}
        self._names.update(found)
        # Found without __getattr__, which takes half a microsecond of each launch.
        own = {*dir(type(self)), *self.__dict__}
        self.__dict__.update((n, k) for n, k in found.items() if n not in own)

    def _unload(self, handle: Any) -> None:
        self.engine._if_open(lambda _: lib.ptera_module_unload(handle))

    @property
    def handle(self) -> Any:
        """The C API's ptera_module."""
        if self.engine.closed:
            raise ValueError("the engine is closed")
        return self._handle

    def _find_kernels(self) -> list[Kernel]:
        kernel = ffi.new("ptera_kernel **")
        found: list[Kernel] = []
        while lib.ptera_module_kernel(self._handle, ffi.NULL, len(found), kernel) == lib.PTERA_OK:
            found.append(Kernel(self, kernel[0]))
        return found

    @property
    def kernels(self) -> dict[str, Kernel]:
        """The kernels by name, in order of the text."""
        return dict(self._kernels)

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Warnings and notes, and what the module has that is not supported."""
        return diagnostics_of(self.handle)

    def __getitem__(self, name: str) -> Kernel:
        try:
            return self._names[name]
        except KeyError:
            known = ", ".join(self._kernels) or "none"
            raise KeyError(f"no kernel {name!r}; the module has: {known}") from None

    def __getattr__(self, name: str) -> Kernel:
        known = ", ".join(self.__dict__.get("_kernels", ())) or "none"
        raise AttributeError(f"no kernel {name!r}; the module has: {known}", name=name, obj=self)

    def variable(self, name: str) -> Any:
        """A .global or .const variable as a buffer of bytes (cffi's), zero-copy.

        `numpy.frombuffer(m.variable("table"), "f4")` is an array of it, alive as long as the
        module.
        """
        address = ffi.new("void **")
        n = ffi.new("size_t *")
        result = lib.ptera_module_variable(self.handle, name.encode(), address, n)
        if result == lib.PTERA_ERROR_NOT_FOUND:
            raise KeyError(f"no variable {name!r}")
        check(result)
        return ffi.buffer(ffi.gc(ffi.cast("char *", address[0]), lambda _, module=self: None), n[0])

    def verify(self) -> None:
        """Checks every function, as `ptera verify` does."""
        with self.engine._using():
            result = lib.ptera_module_verify(self.handle)
        if result == lib.PTERA_ERROR_INVALID_PTX:
            raise InvalidPTX(result, self.diagnostics)
        check(result, "\n".join(d.text for d in self.diagnostics))

    def emit(self, what: str = "ir", kernel: str | None = None) -> str:
        """The module (or one kernel) as text: "tokens", "ast" or "ir"."""
        form = getattr(lib, "PTERA_EMIT_" + what.upper())
        out = ffi.new("const char **")
        name = kernel.encode() if kernel is not None else ffi.NULL
        with self.engine._using():
            check(lib.ptera_module_emit(self.handle, name, form, out))
            return text(out[0])


_MANGLED = re.compile(r"_ZL?(?P<nested>N)?(?:St)?(?=\d)")


def plain_name(name: str) -> str:
    """Of a function of C++ its name without namespaces, arguments and types; others as they are.

    `_Z5saxpyifPKfPf` and `_ZN3lib5saxpyIfEEvPT_` are saxpy (the Itanium C++ ABI's mangling).
    """
    mangled = _MANGLED.match(name)
    if not mangled:
        return name
    plain, at = name, mangled.end()
    while length := re.match(r"\d+", name[at:]):
        at += length.end()
        plain = name[at : at + int(length[0])]
        at += int(length[0])
        if not mangled["nested"]:
            break
    return plain


def _text_of(ptx: str | bytes | os.PathLike[str]) -> tuple[bytes, str | None]:
    if isinstance(ptx, bytes):
        return ptx, None
    if isinstance(ptx, str) and not ("\n" not in ptx and ptx.endswith(".ptx")):
        return ptx.encode(), None
    return pathlib.Path(ptx).read_bytes(), os.fspath(ptx)
