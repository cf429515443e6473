"""What launches did, counted: as objects, with Nsight Compute's and nvprof's metrics."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from ptera.program import program

__all__ = ["Access", "Instruction", "KernelCounts", "read_counts"]

_SPACES = ("global", "local", "shared", "const", "texture")
_SIZES = ("grid", "block", "cluster")


@dataclasses.dataclass(frozen=True)
class Access:
    """What an instruction accessed of one space, over all launches."""

    requests: int  #: of warps
    lanes: int
    bytes: int
    parts: int  #: sectors of global and local memory and textures, wavefronts of shared memory
    conflicts: int  #: wavefronts of shared memory that other words would not have taken

    def __add__(self, other: Access) -> Access:
        pairs = zip(dataclasses.astuple(self), dataclasses.astuple(other), strict=True)
        return Access(*(a + b for a, b in pairs))


@dataclasses.dataclass(frozen=True)
class Instruction:
    """An instruction of a kernel, or of a function that it calls, over all launches."""

    line: int  #: of the PTX
    column: int
    warps: int  #: that came to it
    lanes: int  #: of them, that came along
    on: int  #: lanes for which its guard held
    split: int  #: warps of whose lanes the guard held for some only
    accesses: dict[str, Access]  #: by space: global, local, shared, const, texture
    has_guard: bool
    kind: str  #: what it does: ptera_engine_counts_save
    row: str  #: its row in the instruction table: "add_f32"
    spelling: str  #: "ld.global.f32"
    function: str
    file: str | None  #: of the source, as .loc says; None: it does not
    file_line: int


@dataclasses.dataclass(frozen=True)
class KernelCounts:
    """The launches of a kernel in one shape."""

    name: str
    module: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    cluster: tuple[int, ...]
    launches: int
    seconds: float  #: that they took here, counted
    facts: dict[str, str]  #: what else is known: registers, shared_static, sms, ...
    instructions: tuple[Instruction, ...]
    lines: tuple[str, ...] = dataclasses.field(repr=False)  #: as in the file

    def access(self, space: str, *kinds: str) -> Access:
        """Of all instructions of such kinds ("load", "store", ...; none: of all)."""
        total = Access(0, 0, 0, 0, 0)
        for x in self.instructions:
            if space in x.accesses and (not kinds or x.kind in kinds):
                total += x.accesses[space]
        return total

    @functools.cached_property
    def metrics(self) -> dict[str, float | None]:
        """By the names that `ptera profile --query-metrics` lists; averages of a launch.

        Those that a model of the GPU's time gives are None where the engine does not run it.
        """
        import csv  # these here: the package is imported in less time without
        import io
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "counts")
            path.write_text("\n".join((*self.lines, "")))
            rows = list(csv.reader(io.StringIO(_report(path, "--csv", "--metrics", "all"))))
        names, _, values = rows
        first = names.index("Launches") + 1
        found = zip(names[first:], values[first:], strict=True)
        return {name: float(value) if value else None for name, value in found}


def _report(path: Path, *options: str) -> str:
    """Of `ptera profile`, from a file of counts."""
    import subprocess

    report = path.with_name("report")
    command = [program(), "profile", "--read", str(path), "--log-file", str(report), *options]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("LD_")}
    subprocess.run(command, check=True, env=environment)
    return report.read_text()


def read_counts(path: str | os.PathLike[str]) -> list[KernelCounts]:
    """From a file of `ptera profile --save` or PTERA_PROFILE."""
    return [_kernel(lines) for lines in _kernels(Path(path).read_text().splitlines())]


def _kernels(lines: Sequence[str]) -> Iterator[tuple[str, ...]]:
    starts = [i for i, line in enumerate(lines) if line.startswith("kernel ")]
    for begin, end in itertools.pairwise([*starts, len(lines)]):
        yield tuple(lines[begin:end])


def _kernel(lines: tuple[str, ...]) -> KernelCounts:
    facts: dict[str, str] = {}
    instructions = []
    for line in lines:
        name, _, value = line.partition(" ")
        if name == "insn":
            instructions.append(_instruction(value))
        elif name not in {"worst", "waits", "run"}:
            facts[name] = value
    sizes = [tuple(map(int, facts.pop(size).split())) for size in _SIZES]
    return KernelCounts(
        facts.pop("kernel"),
        facts.pop("module"),
        *sizes,
        launches=int(facts.pop("launches")),
        seconds=1e-9 * int(facts.pop("ns")),
        facts=facts,
        instructions=tuple(instructions),
        lines=lines,
    )


def _instruction(text: str) -> Instruction:
    n_numbers = 6 + 5 * len(_SPACES) + 1
    words = text.split(" ", n_numbers + 5)
    numbers = [int(word) for word in words[:n_numbers]]
    kind, row, spelling, function, file_line, file = words[n_numbers:]
    accesses = {space: Access(*numbers[6 + 5 * i : 11 + 5 * i]) for i, space in enumerate(_SPACES)}
    return Instruction(
        *numbers[:6],
        accesses={space: access for space, access in accesses.items() if access.requests},
        has_guard=bool(numbers[-1]),
        kind=kind,
        row=row,
        spelling=spelling,
        function=function,
        file=file if int(file_line) else None,
        file_line=int(file_line),
    )
