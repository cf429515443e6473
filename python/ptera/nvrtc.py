"""CUDA C++ as modules: compiled by NVIDIA's NVRTC, where that is installed."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import pathlib
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ptera.engine import Engine, default_engine
from ptera.errors import CompileError
from ptera.module import Module

__all__ = ["compile_cuda"]

#: Newest first.
_SONAMES = ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2")
_COMPILATION_FAILED = 6
_ARCHITECTURE = re.compile(r"--?(gpu-architecture|arch)\b")


def compile_cuda(
    source: str | os.PathLike[str],
    *,
    options: Sequence[str] = (),
    names: Sequence[str] = (),
    headers: Mapping[str, str] | None = None,
    engine: Engine | None = None,
    name: str | None = None,
) -> Module:
    """Compiles CUDA C++ by NVRTC and loads it; kernels are attributes by their plain names.

        m = ptera.compile_cuda('''
            __global__ void saxpy(int n, float a, const float *x, float *y) { ... }
            template<class T> __global__ void fill(T *x, T value) { ... }
        ''', names=["fill<double>"])
        m.saxpy[grid, block](n, 2.0, x, y)
        m["fill<double>"][grid, block](x, 1.0)

    Args:
        source: the text, or a path (os.PathLike, or a line of str that ends in .cu).
        options: NVRTC's, as "-std=c++20", "--maxrregcount=64"; the architecture is the engine's
            where they name none.
        names: kernels that are templates, with their arguments, as C++ writes them.
        headers: texts of headers by the names that they are included by.
        engine: whose the module is; None: the default engine.
        name: what messages call the source; default: the path, or "source.cu".

    NVRTC is that of the package nvidia-cuda-nvrtc (or nvidia-cuda-nvrtc-cu12), else CUDA_PATH's,
    CUDA_HOME's or /usr/local/cuda's, beside which CUDA's headers are found, too; else what the
    dynamic linker finds. PTERA_NVRTC names another library.

    Raises:
        CompileError: with what the compiler says.
        ImportError: there is no NVRTC.
    """
    engine = engine or default_engine()
    text, path = _source_of(source)
    name = name or (os.fspath(path) if path else "source.cu")
    nvrtc = _NVRTC()
    arguments = [*options, *nvrtc.defaults(options, engine.compute_capability)]
    if path:
        arguments.append(f"-I{path.parent}")
    with _Program(nvrtc, text, name, headers or {}) as program:
        for expression in names:
            program.call("AddNameExpression", expression.encode())
        log = program.compile(arguments)
        if log:
            warnings.warn(log, stacklevel=2)
        lowered = {expression: program.lowered(expression) for expression in names}
        module = Module(
            program.ptx(), engine=engine, name=str(pathlib.Path(name).with_suffix(".ptx"))
        )
    module.add_names(lowered)
    return module


def _source_of(source: str | os.PathLike[str]) -> tuple[str, pathlib.Path | None]:
    if isinstance(source, str) and not ("\n" not in source and source.endswith(".cu")):
        return source, None
    path = pathlib.Path(source)
    return path.read_text(), path


class _NVRTC:
    """The library; `call("CreateProgram", ...)` is nvrtcCreateProgram."""

    def __init__(self) -> None:
        for file in _files():
            try:
                self._library = ctypes.CDLL(file)
            except OSError:
                continue
            self._library.nvrtcGetErrorString.restype = ctypes.c_char_p
            self._folder = pathlib.Path(file).resolve().parent
            return
        raise ImportError(
            "NVRTC is not installed: `pip install nvidia-cuda-nvrtc nvidia-cuda-runtime` brings it "
            "and CUDA's headers; PTERA_NVRTC names its library",
            name="nvidia.cuda_nvrtc",
        )

    def try_call(self, function: str, *arguments: Any) -> int:
        result: int = getattr(self._library, "nvrtc" + function)(*arguments)
        return result

    def call(self, function: str, *arguments: Any) -> None:
        result = self.try_call(function, *arguments)
        if result:
            said = self._library.nvrtcGetErrorString(result).decode()
            raise CompileError(f"nvrtc{function}: {said}")

    def defaults(self, options: Sequence[str], capability: tuple[int, int]) -> list[str]:
        """What the user's options leave open."""
        found = [f"-I{folder}" for folder in self._includes()]
        if not any(_ARCHITECTURE.match(option) for option in options):
            wanted = 10 * capability[0] + capability[1]
            known = [a for a in self._architectures() if a <= wanted]
            found.append(f"--gpu-architecture=compute_{max(known, default=wanted)}")
        # Faults name lines of the source; the code is the same.
        return [*found, "--generate-line-info"]

    def _architectures(self) -> list[int]:
        n = ctypes.c_int()
        self.call("GetNumSupportedArchs", ctypes.byref(n))
        found = (ctypes.c_int * n.value)()
        self.call("GetSupportedArchs", found)
        return list(found)

    def _includes(self) -> Iterator[pathlib.Path]:
        """Of the toolkit or the package that it is of; CUDA 12's packages have a folder each."""
        for root in (self._folder.parent, self._folder.parent.parent / "cuda_runtime"):
            include = root / "include"
            if (include / "cuda_runtime.h").exists():
                yield include
                if (include / "cccl").exists():
                    yield include / "cccl"


def _files() -> Iterator[str]:
    """Where NVRTC may be, in the order of preference."""
    if named := os.environ.get("PTERA_NVRTC"):
        yield named
        return
    nvidia = importlib.util.find_spec("nvidia")
    folders = nvidia.submodule_search_locations or () if nvidia else ()
    packages = [root for folder in folders for root in sorted(pathlib.Path(folder).iterdir())]
    toolkits = [os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME"), "/usr/local/cuda"]
    for root in (*packages, *map(pathlib.Path, filter(None, toolkits))):
        for soname in _SONAMES:
            yield from (str(root / lib / soname) for lib in ("lib64", "lib"))
    yield from _SONAMES


class _Program:
    """A program of NVRTC's, while it is compiled."""

    def __init__(self, nvrtc: _NVRTC, text: str, name: str, headers: Mapping[str, str]) -> None:
        self._nvrtc = nvrtc
        self._handle = ctypes.c_void_p()
        n = len(headers)
        contents = (ctypes.c_char_p * n)(*(header.encode() for header in headers.values()))
        included = (ctypes.c_char_p * n)(*(name.encode() for name in headers))
        created = ctypes.byref(self._handle)
        nvrtc.call("CreateProgram", created, text.encode(), name.encode(), n, contents, included)

    def __enter__(self) -> _Program:
        return self

    def __exit__(self, *_: object) -> None:
        self._nvrtc.call("DestroyProgram", ctypes.byref(self._handle))

    def call(self, function: str, *arguments: Any) -> None:
        self._nvrtc.call(function, self._handle, *arguments)

    def compile(self, options: Sequence[str]) -> str:
        """What the compiler says of a source that it takes."""
        array = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        result = self._nvrtc.try_call("CompileProgram", self._handle, len(options), array)
        log = self._text("ProgramLog").decode(errors="replace").strip()
        if result:
            said = log if result == _COMPILATION_FAILED else f"nvrtcCompileProgram: {result}\n{log}"
            raise CompileError(said)
        return log

    def ptx(self) -> bytes:
        return self._text("PTX")

    def lowered(self, expression: str) -> str:
        name = ctypes.c_char_p()
        self.call("GetLoweredName", expression.encode(), ctypes.byref(name))
        assert name.value is not None
        return name.value.decode()

    def _text(self, what: str) -> bytes:
        """The log, or the PTX: texts that end with a NUL, which the size counts."""
        size = ctypes.c_size_t()
        self.call(f"Get{what}Size", ctypes.byref(size))
        text = ctypes.create_string_buffer(max(size.value, 1))
        self.call(f"Get{what}", text)
        return text.value
