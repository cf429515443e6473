"""Results of the C API as exceptions, diagnostics and findings as objects."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from ptera._library import ffi, lib, sized, text, values_of

__all__ = [
    "Cancelled",
    "CompileError",
    "Diagnostic",
    "Error",
    "Finding",
    "FindingsError",
    "IllegalAddress",
    "InvalidLaunch",
    "InvalidPTX",
    "KernelError",
    "Party",
    "UnsupportedPTX",
]

_SEVERITIES = {0: "note", 1: "warning", 2: "error"}


class Error(RuntimeError):
    """Something that the library refused, or that failed.

    Attributes:
        result: the C API's number (ptera_result).
        name: its name, "PTERA_ERROR_TRAP".
    """

    def __init__(self, result: int, message: str = "") -> None:
        super().__init__(message or text(lib.ptera_result_text(result)))
        self.result = result
        self.name: str = ffi.typeof("ptera_result").elements.get(result, str(result))

    def __reduce__(self) -> Any:
        """For pickle, by which processes tell each other of errors: `args` are not __init__'s."""
        return _unpickled, (type(self), self.args, self.__dict__)


def _unpickled(kind: type[Error], args: tuple[Any, ...], state: dict[str, Any]) -> Error:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """What the parser says of a place in PTX. `line` and `column` count from 1; 0: no place."""

    severity: str
    message: str
    file: str
    line: int
    column: int
    is_unsupported: bool
    text: str  #: FILE:LINE:COL: severity: message, the line and a caret

    def __str__(self) -> str:
        return self.text


class InvalidPTX(Error):
    """A text that is no valid module; `diagnostics` has all that was found."""

    def __init__(self, result: int, diagnostics: list[Diagnostic]) -> None:
        super().__init__(result, "\n".join(d.text for d in diagnostics))
        self.diagnostics = diagnostics


class CompileError(Error):
    """CUDA C++ that NVRTC does not take: what it says."""

    def __init__(self, said: str) -> None:
        super().__init__(lib.PTERA_ERROR_INVALID_ARGUMENT, said)


class UnsupportedPTX(Error):
    """The kernel uses what Ptera does not implement."""


class InvalidLaunch(Error):
    """Grid, block, cluster, shared memory or parameters do not fit the kernel."""


_FAILURE = re.compile(
    r"(?P<what>[a-z ]+?)(?: (?P<address>0x[0-9a-f]+))? in kernel '(?P<kernel>[^']*)' at "
    r"(?P<file>.*?):(?P<line>\d+)(?: \((?P<source>.*?):(?P<source_line>\d+)\))?, "
    r"CTA \((?P<cta>[\d,]+)\)(?:, thread \((?P<thread>[\d,]+)\))?"
)


def _triple(value: str | None) -> tuple[int, ...] | None:
    return tuple(map(int, value.split(","))) if value else None


class KernelError(Error):
    """A kernel failed while it ran. What is not known is None.

    Attributes:
        what: "illegal address", "trap", "deadlock", ...
        address: the address that was touched.
        kernel, file, line: the kernel and the line of PTX.
        source, source_line: the line of the source, where the PTX has .loc.
        cta, thread: three coordinates each.
    """

    def __init__(self, result: int, message: str = "") -> None:
        super().__init__(result, message)
        found = _FAILURE.match(message)
        get: Any = found.group if found else lambda _: None
        self.what: str | None = get("what")
        self.address = int(get("address"), 16) if get("address") else None
        self.kernel: str | None = get("kernel")
        self.file: str | None = get("file")
        self.line = int(get("line")) if get("line") else None
        self.source: str | None = get("source")
        self.source_line = int(get("source_line")) if get("source_line") else None
        self.cta = _triple(get("cta"))
        self.thread = _triple(get("thread"))


class Cancelled(KernelError):
    """The engine was closed while the kernel ran, or before it began."""


class IllegalAddress(KernelError):
    """A kernel touched memory that is not mapped, or (isolated) not its own."""


@dataclasses.dataclass(frozen=True)
class Party:
    """One of those that a finding is about: a thread (or the host), and what it does where."""

    is_thread: bool = False
    cta: tuple[int, ...] = (0, 0, 0)
    thread: tuple[int, ...] = (0, 0, 0)
    function: str = ""
    file: str = ""  #: of PTX; of the host: what it does
    line: int = 0
    column: int = 0
    source: str = ""  #: where the PTX has .loc
    source_line: int = 0
    instruction: str = ""
    action: str = ""  #: "reads", "writes", "updates"
    what: str = ""  #: "shared address 0x400"
    address: int = 0
    bytes: int = 0
    value: int | None = None
    allocation: str = ""  #: what lies at the address


@dataclasses.dataclass(frozen=True)
class Finding:
    """What a checker says of a place in PTX."""

    file: str
    line: int
    column: int
    message: str
    text: str  #: FILE:LINE:COL: error: message, the line and a caret; or note:
    is_note: bool = False  #: it does no harm by itself, and is a warning
    tool: str = ""  #: the checker, "race"
    kind: str = ""  #: "race-async": `ptera check --explain` says what it means
    kernel: str = ""
    detail: str = ""  #: what is wrong or missing: the end of the message
    count: int = 1  #: how often, so far
    launch: int = 0
    parties: tuple[Party, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Finding:
        found = re.match(r"(.*?):(\d+):(\d+): (error|note): (.*)", text)
        if not found:
            return cls("", 0, 0, text, text, text.startswith("note: "))
        is_note = found[4] == "note"
        return cls(found[1], int(found[2]), int(found[3]), found[5], text, is_note)

    def __str__(self) -> str:
        return self.text


def _finding_of(values: dict[str, Any], parties: list[dict[str, Any]]) -> Finding:
    fields = {f.name for f in dataclasses.fields(Party)}
    made = []
    for p in parties:
        if not p.get("has_value"):
            p["value"] = None
        p["is_thread"] = bool(p.get("is_thread"))
        made.append(Party(**{k: v for k, v in p.items() if k in fields and v is not None}))
    where = made[0] if made else Party()
    names = ("tool", "kind", "kernel", "detail", "message", "text")
    return Finding(
        file=where.file,
        line=where.line,
        column=where.column,
        count=int(values["count"]),
        launch=int(values["launch"]),
        is_note=bool(values["is_note"]),
        parties=tuple(made),
        **{name: values[name] or "" for name in names},
    )


def finding_at(engine: Any, index: int) -> Finding | None:
    """Finding `index` of a ptera_engine, as far as it is seen now; None: there is none."""
    finding, party = sized("ptera_finding"), sized("ptera_party")
    if lib.ptera_engine_finding(engine, index, finding) != lib.PTERA_OK:
        return None
    parties: list[dict[str, Any]] = []
    while lib.ptera_engine_finding_party(engine, index, len(parties), party) == lib.PTERA_OK:
        parties.append(values_of(party))
    return _finding_of(values_of(finding), parties)


def _value_of(name: str, text: str) -> Any:
    if name in ("cta", "thread"):
        return tuple(map(int, text.split()))
    numbers = ("count", "launch", "line", "column", "source_line", "address", "bytes", "value")
    if name in numbers or name.startswith(("is_", "has_")):
        return int(text)
    return re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], text)


def findings_in(text: str) -> dict[str, Finding]:
    """What checkers wrote to PTERA_CHECK_FILE, by id: the last that was written of each."""
    found = {}
    for block in re.split(r"^finding\n", text, flags=re.MULTILINE)[1:]:
        values: dict[str, Any] = {}
        parties: list[dict[str, Any]] = []
        for line in block.splitlines():
            name, _, value = line.partition(" ")
            number, _, member = name.partition(".")
            if member:
                while len(parties) <= int(number):
                    parties.append({})
                parties[int(number)][member] = _value_of(member, value)
            else:
                values[name] = _value_of(name, value)
        if "text" in values and "launch" in values:
            found[values["id"]] = _finding_of(values, parties)
    return found


class FindingsError(Error):
    """The kernel ran to its end, but a checker found something: `findings`."""

    def __init__(self, result: int, findings: list[Finding]) -> None:
        super().__init__(result, "\n".join(f.text for f in findings))
        self.findings = findings


def diagnostics_of(module: Any) -> list[Diagnostic]:
    """All diagnostics of a ptera_module."""
    found: list[Diagnostic] = []
    d = sized("ptera_diagnostic")
    while lib.ptera_module_diagnostic(module, len(found), d) == lib.PTERA_OK:
        found.append(
            Diagnostic(
                severity=_SEVERITIES[d.severity],
                message=text(d.message),
                file=text(d.file),
                line=d.line,
                column=d.column,
                is_unsupported=bool(d.is_unsupported),
                text=text(d.text),
            )
        )
    return found


_CLASSES: dict[int, type[Error]] = {
    lib.PTERA_ERROR_UNSUPPORTED_PTX: UnsupportedPTX,
    lib.PTERA_ERROR_INVALID_LAUNCH: InvalidLaunch,
    lib.PTERA_ERROR_ILLEGAL_ADDRESS: IllegalAddress,
    lib.PTERA_ERROR_CANCELLED: Cancelled,
}


def error_of(result: int, message: str = "") -> Error:
    """The exception for a result other than PTERA_OK."""
    is_failure = lib.PTERA_ERROR_ILLEGAL_ADDRESS <= result <= lib.PTERA_ERROR_HOST_FUNCTION
    return _CLASSES.get(result, KernelError if is_failure else Error)(result, message)


def check(result: int, message: str = "") -> None:
    """Raises unless the result is PTERA_OK."""
    if result != lib.PTERA_OK:
        raise error_of(result, message)
