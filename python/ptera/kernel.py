"""Kernels: their parameters, and launches of them on arrays."""

from __future__ import annotations

import ctypes
import dataclasses
import math
import numbers
import operator
import reprlib
import struct
import warnings
from collections.abc import Callable, Sequence
from threading import get_ident
from typing import TYPE_CHECKING, Any

from ptera._library import ffi, lib, sized, text, values_of
from ptera.arrays import extent
from ptera.engine import Stream
from ptera.errors import Finding, FindingsError, check, error_of

if TYPE_CHECKING:
    from ptera.module import Module

__all__ = ["Kernel", "Parameter"]

#: Launchers that a kernel keeps.
_LAUNCHERS = 64
#: Threads that a launcher keeps something of.
_CALLS = 64
#: Of struct's formats, that of each PTX type.
_FORMATS = {
    "u8": "B", "s8": "b", "b8": "B", "u16": "H", "s16": "h", "b16": "H",
    "u32": "I", "s32": "i", "b32": "I", "u64": "Q", "s64": "q", "b64": "Q",
    "f16": "e", "f32": "f", "f64": "d",
}  # fmt: skip
#: What integers are; numpy's are numbers.Integral by registration, which takes longer to find out.
_INTEGERS = (int, numbers.Integral)
#: Results of which the engine says nothing: its last error is another's.
_UNTOLD = (lib.PTERA_ERROR_INVALID_ARGUMENT, lib.PTERA_ERROR_NOT_INITIALIZED)
#: Of the text of a failure, at most.
_ERROR_BYTES = 8192
#: Looked up once: launches are short.
_new, _LAUNCH = ffi.new, ffi.typeof("ptera_launch *")
_ENGINES = {
    None: "PTERA_BACKEND_DEFAULT",
    "auto": "PTERA_BACKEND_AUTO",
    "interp": "PTERA_BACKEND_INTERP",
    "jit": "PTERA_BACKEND_JIT",
}


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel: its place in the parameter block, in bytes."""

    name: str
    type: str  #: PTX type of it or its element, "u64"
    offset: int
    bytes: int
    is_array: bool  #: a struct or array by value


@dataclasses.dataclass(frozen=True)
class Options:
    """How a kernel is launched: see Kernel.options."""

    engine: str | None = None
    timeout: float = 0
    cluster: int | Sequence[int] | None = None
    cooperative: bool = False
    isolate: bool = False
    math: str = "exact"
    checks: str | Sequence[str] = ()
    order: str = "lockstep"
    async_late: bool = False
    unwritten: int = 0


class Kernel:
    """A kernel of a module: `kernel[grid, block](arguments)` launches it.

    grid and block are a number or up to three; then follow, if need be, bytes of dynamic shared
    memory and a stream (`engine.stream`), which does not wait: kernel[grid, block, 1024, stream].

    Arguments are checked against the parameters:
        numbers: Python's and NumPy's, of the parameter's range;
        addresses: arrays and tensors (zero-copy; see ptera.arrays.extent), None, or an int;
        structs by value: ctypes.Structure, a record of NumPy, bytes; of the parameter's size.
    """

    def __init__(self, module: Module, handle: Any, options: Options | None = None) -> None:
        self._module = module  # which lives as long
        self._engine = module.engine
        self._handle = handle
        self._options = options or Options()
        self.name = text(lib.ptera_kernel_name(handle))
        self.parameters = _parameters_of(handle)
        block = struct.Struct(_format_of(self.parameters))
        self._pack_into, self._block_bytes = block.pack_into, block.size
        self._converters = [_converter_of(p) for p in self.parameters]
        self._launchers: dict[Any, Launcher] = {}

    def __repr__(self) -> str:
        parameters = ", ".join(f"{p.name}: {p.type}" for p in self.parameters)
        return f"<ptera kernel {self.name}({parameters})>"

    def options(self, **changes: Any) -> Kernel:
        """The same kernel with other options of launches.

        Args:
            engine: "auto", "interp" or "jit"; both give the same bits.
            timeout: seconds; 0: none.
            cluster: CTAs of a cluster, a number or three.
            cooperative: all CTAs resident at once.
            isolate: test every access: what is not the kernel's memory is an IllegalAddress.
            math: "exact" or "fast".
            checks: of "init", "mem", "order", "race" and "sync", or a text, "init,race"; what they
                find is a FindingsError.
            order: "lockstep", "lanes", "reverse" or "turns": of threads.
            async_late: asynchronous operations take place as late as PTX allows.
            unwritten: 1 to 255: what shared and local memory hold where a CTA begins.
        """
        return Kernel(self._module, self._handle, dataclasses.replace(self._options, **changes))

    def __getitem__(self, configuration: Any) -> Launcher:
        try:
            return self._launchers[configuration]
        except KeyError:
            launcher = Launcher(self, configuration)
            if len(self._launchers) >= _LAUNCHERS:
                self._launchers.clear()
            self._launchers[configuration] = launcher
            return launcher
        except TypeError:  # a list in it
            return Launcher(self, configuration)

    def properties(self) -> dict[str, Any]:
        """What it demands of a launch: shared_bytes, max_threads, registers, ..."""
        return self._read("ptera_kernel_properties", lib.ptera_kernel_properties_get)

    def status(self) -> dict[str, Any]:
        """How it has been run: native_launches, interpreted_launches, why, ..."""
        return self._read("ptera_kernel_status", lib.ptera_kernel_info)

    def emit(self, what: str = "asm", block: Any = 0, *, math: str = "exact") -> bytes:
        """What the compiler makes of it for blocks of a shape: "llvm", "asm" or "obj"."""
        data = ffi.new("const void **")
        n = ffi.new("size_t *")
        form = getattr(lib, "PTERA_EMIT_" + what.upper())
        shape = (0, 0, 0) if block == 0 else _three(block, "block")
        is_fast = _choice("math", math, {"exact": False, "fast": True})
        with self._engine._using():
            self._check(lib.ptera_kernel_emit(self.handle, shape, is_fast, form, data, n))
        return bytes(ffi.buffer(data[0], n[0]))

    @property
    def handle(self) -> Any:
        """The C API's ptera_kernel."""
        if self._engine.closed:
            raise ValueError("the engine is closed")
        return self._handle

    def _check(self, result: int) -> None:
        if result in _UNTOLD:
            raise error_of(result)
        if result != lib.PTERA_OK:
            raise error_of(result, self._engine.error())

    def _read(self, name: str, get: Any) -> dict[str, Any]:
        out = sized(name)
        with self._engine._using():
            self._check(get(self.handle, out))
        return values_of(out)

    def _put_block(self, arguments: Sequence[Any], block: Any, keep: list[Any]) -> None:
        """The parameters; what must live until the launch has ended goes into `keep`."""
        if len(arguments) != len(self.parameters):
            raise TypeError(
                f"{self.name} takes {len(self.parameters)} arguments, not {len(arguments)}"
            )
        values: list[Any] = []
        try:
            for argument, convert in zip(arguments, self._converters):
                kind = type(argument)
                is_plain = kind is int or kind is float
                values.append(argument if is_plain else convert(argument, keep))
            self._pack_into(block, 0, *values)
        except (struct.error, OverflowError):
            raise self._misfit(values) from None
        except (TypeError, ValueError, BufferError) as error:
            raise type(error)(f"{self.name}: {self._place(len(values))}: {error}") from None

    def _place(self, i: int) -> str:
        p = self.parameters[i]
        return f"argument {i} ({p.name}: {p.type}{f'[{p.bytes} bytes]' if p.is_array else ''})"

    def _misfit(self, values: list[Any]) -> Exception:
        """Says which value does not fit its parameter."""
        for i, (p, value) in enumerate(zip(self.parameters, values)):
            try:
                struct.pack(_element_format(p), value)
            except (struct.error, OverflowError) as error:
                numbers_of_it = (int, float) if p.type[0] == "f" else int
                is_range = isinstance(value, numbers_of_it) and not p.is_array
                kind = OverflowError if is_range else TypeError
                why = f"{reprlib.repr(value)} is out of range" if is_range else str(error)
                return kind(f"{self.name}: {self._place(i)}: {why}")
        raise AssertionError("each value fits its parameter")


class _Call:
    """What a thread launches with, again and again: C copies it at once."""

    __slots__ = ("_memory", "block", "error", "launch")

    def __init__(self, template: Any, block_bytes: int) -> None:
        self.launch = launch = _new(_LAUNCH, template[0])
        launch.parameter_block = self._memory = ffi.new("char[]", block_bytes or 1)
        launch.parameter_block_bytes = block_bytes
        launch.error = self.error = ffi.new("char[]", _ERROR_BYTES)
        launch.error_bytes = _ERROR_BYTES
        self.block = ffi.buffer(self._memory)


class Launcher:
    """A kernel with a grid and a block; called with the arguments it launches."""

    __slots__ = ("_calls", "_is_checked", "_launch", "_stream", "kernel")

    def __init__(self, kernel: Kernel, configuration: Any) -> None:
        if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 4:
            raise TypeError(
                "a launch is kernel[grid, block] or kernel[grid, block, shared, stream]"
            )
        grid, block = configuration[0], configuration[1]
        shared = configuration[2] if len(configuration) > 2 else 0
        self.kernel = kernel
        self._stream = _stream_of(kernel, configuration[3] if len(configuration) > 3 else None)
        self._launch = launch = _new(_LAUNCH)
        lib.ptera_launch_init_sized(launch, ffi.sizeof("ptera_launch"))
        launch.grid = _three(grid, "grid")
        launch.block = _three(block, "block")
        launch.shared_bytes = _integer(shared, "shared memory")
        _apply(kernel._options, launch)
        self._is_checked = bool(launch.checks or launch.isolate)
        self._calls: dict[int, _Call] = {}  # by thread

    def _new_call(self) -> _Call:
        if len(self._calls) >= _CALLS:  # of threads that are gone
            self._calls = {}
        call = self._calls[get_ident()] = _Call(self._launch, self.kernel._block_bytes)
        return call

    def __call__(self, *arguments: Any) -> None:
        kernel = self.kernel
        keep: list[Any] = []
        call = self._calls.get(get_ident()) or self._new_call()
        kernel._put_block(arguments, call.block, keep)
        engine = kernel._engine
        is_observed = engine.is_observed
        if self._stream is not None and not is_observed:
            self._start(call.launch, keep)
            return
        if self._is_checked or is_observed:
            if self._stream is not None:  # what is observed is waited for
                self._stream.synchronize()
            self._launch_checked(_new(_LAUNCH, call.launch[0]), keep)
            return
        uses = engine._uses
        uses.append(None)
        try:
            result = lib.ptera_kernel_launch(kernel.handle, call.launch)
        finally:
            uses.pop()
        if result:
            raise error_of(result, text(call.error))

    def _start(self, launch: Any, keep: list[Any]) -> None:
        kernel = self.kernel
        if self._is_checked:
            raise ValueError("checked and isolated launches are waited for: they take no stream")
        assert self._stream is not None
        with kernel._engine._using():
            result = self._stream.launch(kernel.handle, launch, (keep, kernel), error_of)
        check(result, text(launch.error))

    def _launch_checked(self, launch: Any, keep: list[Any]) -> None:
        """With the memory of the arguments registered, and findings heard."""
        kernel = self.kernel
        findings: list[Finding] = []

        def hear(_: Any, chars: Any) -> None:
            findings.append(Finding.parse(text(chars)))

        launch.finding = heard = ffi.callback("void(void *, const char *)", hear)
        registered = []
        with kernel._engine._using() as engine:
            try:
                for address, n in {(address, n) for address, n, _ in keep if n}:
                    result = lib.ptera_memory_register(engine, ffi.cast("void *", address), n)
                    if result == lib.PTERA_OK:  # a buffer of the engine's is known already
                        registered.append(address)
                result = lib.ptera_kernel_launch(kernel.handle, launch)
            finally:
                del heard  # lived until here
                for address in registered:
                    check(lib.ptera_memory_unregister(engine, ffi.cast("void *", address)))
        if findings and result == lib.PTERA_ERROR_FINDINGS:
            raise FindingsError(result, findings)
        for finding in findings:
            if finding.is_note:
                warnings.warn(finding.text, stacklevel=4)
        check(result, text(launch.error))


def _parameters_of(handle: Any) -> list[Parameter]:
    found: list[Parameter] = []
    p = sized("ptera_parameter")
    while lib.ptera_kernel_parameter(handle, len(found), p) == lib.PTERA_OK:
        found.append(Parameter(text(p.name), text(p.type), p.offset, p.bytes, bool(p.is_array)))
    return found


def _element_format(p: Parameter) -> str:
    return f"<{p.bytes}s" if p.is_array else "<" + _FORMATS[p.type]


def _format_of(parameters: list[Parameter]) -> str:
    """Of the whole block, without alignment of struct's own."""
    parts = ["<"]
    end = 0
    for p in parameters:
        parts.append(f"{p.offset - end}x{_element_format(p)[1:]}")
        end = p.offset + p.bytes
    return "".join(parts)


def _converter_of(p: Parameter) -> Callable[[Any, list[Any]], Any]:
    """Makes of an argument what struct packs; memory that must live goes into a list."""
    if p.is_array:
        return lambda argument, keep: _bytes_of(argument, p.bytes)
    if p.type[0] == "f":
        return _float_of
    return _address_of if p.bytes == 8 else _integer_of


def _address_of(argument: Any, keep: list[Any]) -> int:
    if argument is None:
        return 0
    if isinstance(argument, _INTEGERS):
        return int(argument)
    found = extent(argument)
    keep.append(found)
    return found[0]


def _float_of(argument: Any, keep: list[Any]) -> float:
    if isinstance(argument, (str, bytes, bytearray)):  # which float() would read
        raise TypeError(f"{type(argument).__name__} is no number")
    return float(argument)


def _integer_of(argument: Any, keep: list[Any]) -> int:
    """Of what is an integer, or an array that is one; and of NumPy's bool, which is no number."""
    kind = type(argument)
    if kind.__module__ == "numpy" and kind.__name__.startswith("bool"):
        return int(argument)
    try:
        return operator.index(argument)
    except TypeError:
        raise TypeError(f"{kind.__name__} is no integer") from None


def _bytes_of(argument: Any, n: int) -> bytes:
    value = bytes(argument) if isinstance(argument, ctypes.Structure) else argument
    try:
        raw = memoryview(value).tobytes()
    except TypeError:
        raise TypeError(
            f"{type(argument).__name__} is no struct: ctypes.Structure, a record, or bytes"
        ) from None
    if len(raw) != n:
        raise ValueError(f"the struct has {len(raw)} bytes, the parameter {n}")
    return raw


def _three(value: Any, what: str) -> tuple[int, int, int]:
    numbers = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(numbers) <= 3:
        raise TypeError(f"{what} is a number, or up to three")
    x, y, z = (_integer(n, what) for n in (*numbers, 1, 1)[:3])
    return x, y, z


def _integer(value: Any, what: str) -> int:
    """Not what would lose a part of it: n / 256 is no grid."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what}: {value!r} is no integer") from None
    if not 0 <= number < 2**32:
        raise ValueError(f"{what}: {number} is out of range")
    return number


def _stream_of(kernel: Kernel, stream: Any) -> Stream | None:
    if stream is not None and stream is not kernel._engine.stream:
        raise TypeError(f"{stream!r} is not the stream of the kernel's engine")
    return stream


_CHECKERS = ("init", "mem", "order", "race", "sync")


def _choice(name: str, value: Any, choices: dict[Any, Any]) -> Any:
    if value not in choices:
        known = ", ".join(repr(c) for c in choices)
        raise ValueError(f"{name} is one of {known}, not {value!r}")
    return choices[value]


def _apply(options: Options, launch: Any) -> None:
    orders = ("lockstep", "lanes", "reverse", "turns")
    launch.backend = getattr(lib, _choice("engine", options.engine, _ENGINES))
    if not 0 <= options.timeout < math.inf:
        raise ValueError(f"timeout is a number of seconds, not {options.timeout!r}")
    launch.timeout_seconds = options.timeout
    if options.cluster is not None:
        launch.cluster = _three(options.cluster, "cluster")
    launch.cooperative = options.cooperative
    launch.isolate = options.isolate
    launch.math_fast = _choice("math", options.math, {"exact": 0, "fast": 1})
    checkers = {name: getattr(lib, "PTERA_CHECK_" + name.upper()) for name in _CHECKERS}
    checks = options.checks.split(",") if isinstance(options.checks, str) else options.checks
    for check_name in checks:
        launch.checks |= _choice("checks", check_name, checkers)
    order = _choice("order", options.order, {o: "PTERA_ORDER_" + o.upper() for o in orders})
    launch.order = getattr(lib, order)
    launch.async_late = options.async_late
    if options.unwritten not in range(256):
        raise ValueError(f"unwritten is 0 to 255, not {options.unwritten!r}")
    launch.unwritten = options.unwritten
