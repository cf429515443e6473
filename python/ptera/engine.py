"""Engines: worker threads and memory, in which modules are loaded."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

from ptera._library import ffi, lib, sized, text, values_of
from ptera.errors import Finding, check, finding_at
from ptera.profile import KernelCounts, read_counts

__all__ = ["Engine", "default_engine"]

_LOG_NAMES = {0: "note", 1: "warning", 2: "error"}
#: Until calls that were cancelled have returned; kernels that are being compiled take up to 60.
_CANCEL_SECONDS, _EXIT_SECONDS, _PAUSE = 90.0, 1.0, 0.001


#: Told of what checkers find in any engine, from any thread; see ptera.pytest_plugin.
_listeners: list[Callable[[Finding], object]] = []
_engines: weakref.WeakSet[Engine] = weakref.WeakSet()


def _living_engines() -> list[Engine]:
    return [engine for engine in _engines if not engine.closed]


def _write(output: str) -> None:
    sys.stdout.write(output)


class Engine:
    """Worker threads, memory, and what runs on them.

    Args:
        threads: how many; 0: one for each core.
        device: the GPU that it stands for by its id ("h100"; `devices()` lists them).
        cpu: "v2", "v3", "v4": a CPU level; None: the best.
        observe: observers that watch all launches, "race,isolate"; None: those of PTERA_OBSERVE.
            "count" counts what they do, for `counts()`.
        trace: a file to which a timeline is appended, in Chrome's trace format.
        fmad: contract mul and add into fma, as NVIDIA's assembler does.
        memory_bytes: a limit of buffers, variables, device heap and local memory; 0: none.
        stack_bytes: local memory of a thread whose need is not known statically.
        heap_bytes: limit of device malloc.
        compile_inside: compile in this process and start no other.
        print: gets the text of device printf, and must not use the engine; default: standard
            output.
        log: gets (severity, text) of what the library decided, from any thread.

    An engine ends with `close()`, or as a context manager, or when nothing refers to it. It may be
    used, and closed, by several threads.
    """

    def __init__(
        self,
        *,
        threads: int = 0,
        device: str | None = None,
        cpu: str | None = None,
        observe: str | None = None,
        trace: str | os.PathLike[str] | None = None,
        fmad: bool = True,
        memory_bytes: int = 0,
        stack_bytes: int | None = None,
        heap_bytes: int | None = None,
        compile_inside: bool = False,
        print: Callable[[str], object] = _write,
        log: Callable[[str, str], object] | None = None,
    ) -> None:
        options = ffi.new("ptera_options *")
        lib.ptera_options_init_sized(options, ffi.sizeof("ptera_options"))
        options.threads = threads
        options.fmad = fmad
        options.memory_bytes = memory_bytes
        options.compile_inside = compile_inside
        if stack_bytes is not None:
            options.stack_bytes = stack_bytes
        if heap_bytes is not None:
            options.heap_bytes = heap_bytes
        strings = []
        path = None if trace is None else os.fspath(trace)
        given = {"device": device, "cpu": cpu, "observe": observe, "trace": path}
        for name, value in given.items():
            if value is not None:
                strings.append(ffi.new("char[]", os.fsencode(value)))
                setattr(options, name, strings[-1])
        problems: list[str] = []
        handle = ffi.new("ptera_engine **")
        self._callbacks = (*_callbacks_of(print, log, problems), _tell_listeners_of(handle))
        options.print, options.log, options.finding = self._callbacks
        check(lib.ptera_engine_create(options, handle), "; ".join(problems))
        self._handle = handle[0]
        self.closed = False
        #: Launches are watched: the memory of their arguments must be known.
        self.is_observed = bool(os.environ.get("PTERA_OBSERVE") if observe is None else observe)
        self._uses: list[None] = []  # one for each call of the C API under way that may take long
        self._finalizer = weakref.finalize(
            self, _destroy, self._handle, self._callbacks, self._uses
        )
        self.stream = Stream(self)
        _engines.add(self)

    def close(self, seconds: float = 10) -> None:
        """Ends the engine, its modules and its memory; more than once does nothing.

        Launches of other threads, and of `stream`, may go on for so many seconds; then they are
        cancelled, which is ptera.Cancelled where they are waited for.

        Raises:
            RuntimeError: one does not end, as when it waits for what this call is made from.
        """
        self.closed = True
        if not self._is_idle_within(seconds) and self._finalizer.alive:
            check(lib.ptera_engine_cancel(self._handle))
            if not self._is_idle_within(_CANCEL_SECONDS):
                raise RuntimeError("the engine is in use by a call that does not end")
        self._finalizer()

    def _is_idle_within(self, seconds: float) -> bool:
        return _is_true_within(seconds, lambda: not self._uses and not self.stream._running)

    @contextlib.contextmanager
    def _using(self) -> Iterator[Any]:
        """The handle, for a call that close() is to wait for."""
        self._uses.append(None)
        try:
            yield self.handle
        finally:
            self._uses.pop()

    def is_alive(self) -> bool:
        """False once it has been destroyed, also where the interpreter ends."""
        return self._finalizer.alive

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def handle(self) -> Any:
        """The C API's ptera_engine."""
        if self.closed:
            raise ValueError("the engine is closed")
        return self._handle

    def error(self) -> str:
        """What the last launch that failed reported."""
        with self._using() as handle:
            return text(lib.ptera_engine_error(handle))

    def info(self) -> dict[str, Any]:
        """What the engine runs on: version, CPU level, threads, device, compiler, cache."""
        info = sized("ptera_info")
        with self._using() as handle:
            check(lib.ptera_engine_info(handle, info))
            return values_of(info)

    def findings(self) -> list[Finding]:
        """What checkers found so far, in all launches: of `observe`, and of their `checks`."""
        found: list[Finding] = []
        with self._using() as handle:
            while (finding := finding_at(handle, len(found))) is not None:
                found.append(finding)
        return found

    def counts(self) -> list[KernelCounts]:
        """What launches did so far, of each kernel in each shape, where `observe` has "count"."""
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "counts")
            with self._using() as handle:
                check(lib.ptera_engine_counts_save(handle, os.fsencode(path)))
            return read_counts(path)

    @property
    def compute_capability(self) -> tuple[int, int]:
        """Of the GPU that it stands for: (9, 0)."""
        info = self.info()
        return info["compute_capability_major"], info["compute_capability_minor"]

    def alloc(self, nbytes: int) -> Any:
        """Zeroed device memory between guard pages, as a buffer of bytes (cffi's).

        An access of a kernel that leaves it by up to a page is an IllegalAddress. It is freed when
        nothing refers to it.
        """
        address = ffi.new("void **")
        with self._using() as handle:
            check(lib.ptera_buffer_alloc(handle, nbytes, address))
        memory = ffi.gc(
            ffi.cast("char *", address[0]), lambda p, engine=self: engine._free(p), nbytes
        )
        return ffi.buffer(memory, nbytes)

    def _free(self, address: Any) -> None:
        self._if_open(lambda handle: lib.ptera_buffer_free(handle, address))

    def _if_open(self, call: Callable[[Any], object]) -> None:
        """For what an engine that ends does by itself."""
        if self.is_alive():
            with contextlib.suppress(ValueError), self._using() as handle:
                call(handle)

    def synchronize(self) -> None:
        """Waits for the launches of `stream`; raises the first error of theirs.

        Ctrl-C ends the waiting, not the launches: `cancel()` does.
        """
        self.stream.synchronize()

    def cancel(self) -> None:
        """Ends launches that run, in whatever thread, or wait: they are ptera.Cancelled."""
        with self._using() as handle:
            check(lib.ptera_engine_cancel(handle))


def _is_true_within(seconds: float, condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= end:
            return False
        time.sleep(_PAUSE)
    return True


def _destroy(handle: Any, callbacks: Any, uses: list[None]) -> None:
    """Where Python ends, threads that it does not wait for may still use the engine."""
    del callbacks  # lived as long as the engine
    if uses:
        lib.ptera_engine_cancel(handle)
    if _is_true_within(_EXIT_SECONDS, lambda: not uses):
        lib.ptera_engine_destroy(handle)


def _tell_listeners_of(handle: Any) -> Any:
    def hear(_: Any, index: int) -> None:
        finding = finding_at(handle[0], index) if _listeners else None
        if finding is not None:
            for listener in _listeners:
                listener(finding)

    return ffi.callback("void(void *, unsigned)", hear)


def _callbacks_of(
    printer: Callable[[str], object],
    log: Callable[[str, str], object] | None,
    problems: list[str],
) -> tuple[Any, Any]:
    def print_text(_: Any, chars: Any, n: int) -> None:
        printer(ffi.unpack(chars, n).decode(errors="replace"))

    def log_text(_: Any, severity: int, chars: Any) -> None:
        message = text(chars)
        problems[:] = [message]
        if log is not None:
            log(_LOG_NAMES[severity], message)

    return (
        ffi.callback("void(void *, const char *, size_t)", print_text),
        ffi.callback("void(void *, ptera_severity, const char *)", log_text),
    )


class Stream:
    """Launches that are not waited for; they run one after the other. An engine has one."""

    def __init__(self, engine: Engine) -> None:
        self._engine = weakref.ref(engine)
        self._running: dict[int, Any] = {}
        self._has_ended = threading.Event()  # one of them, since it was cleared
        self._errors: list[Exception] = []
        self._number = 0
        self._done = ffi.callback(
            "void(void *, ptera_result, const char *)", self._end, onerror=self._fail
        )

    def launch(self, kernel: Any, launch: Any, keep: Any, make_error: Any) -> int:
        """Starts it; `keep` lives until it has ended. Returns the C API's result."""
        self._number += 1
        number = self._number
        self._running[number] = (keep, make_error)
        result: int = lib.ptera_kernel_launch_async(
            kernel, launch, self._done, ffi.cast("void *", number)
        )
        if result != lib.PTERA_OK:
            del self._running[number]
        return result

    def _end(self, number: Any, result: int, message: Any) -> None:
        number = int(ffi.cast("uintptr_t", number))
        _, make_error = self._running[number]
        try:
            if result != lib.PTERA_OK:
                self._errors.append(make_error(result, text(message)))
        finally:
            del self._running[number]
            self._has_ended.set()

    def _fail(self, kind: Any, value: Exception, traceback: Any) -> None:
        self._errors.append(value)

    def synchronize(self) -> None:
        """Waits for all launches; raises the first error of theirs."""
        engine = self._engine()
        if engine is None:
            return
        with engine._using() as handle:
            self._has_ended.clear()
            while self._running:
                self._has_ended.wait()
                self._has_ended.clear()
            check(lib.ptera_engine_wait(handle))
        errors, self._errors = self._errors, []
        if errors:
            raise errors[0]


_default: Engine | None = None
_default_lock = threading.Lock()


def _forget_default() -> None:
    """In a process made by fork, whose engines are the parent's, and whose lock may be held."""
    global _default, _default_lock
    _default = None
    _default_lock = threading.Lock()


os.register_at_fork(after_in_child=_forget_default)


def default_engine() -> Engine:
    """The engine of those that name none: made when first asked for, in each process."""
    global _default
    with _default_lock:
        if _default is None or _default.closed:
            _default = Engine()
        return _default
