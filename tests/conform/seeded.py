#!/usr/bin/env python3
"""Whether defects of semantics and emitters are found by the conformance suite, or by random
kernels (seed.py makes the defects).

    seeded.py build SOURCE WORK [--count N] [--seed N] [--images]
        a copy of the sources with N defects and a fourth more (some do not compile), compiled
    seeded.py run WORK SUITE [--only N,...] [--limit SECONDS] [--engine interp|jit]
        each defect through `ptera conform` and, where its kernels find nothing, `ptera fuzz`;
        WORK/found.tsv gets a line for each
    seeded.py table WORK
        found.tsv beside what the defects are
    seeded.py build SOURCE WORK --table TABLE
    seeded.py again WORK SUITE TABLE
        the defects of such a table once more: each through the row alone that found it
    seeded.py test SOURCE SUITE TABLE
        both, in a folder of their own

A run goes on behind the defects that found.tsv has as found, or as looked for as long. What is not
found changes nothing (to be shown by hand), or shows a hole of the suite, or was not looked for
long enough: native code is compiled for each row. None of this is in what ships.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import seed

# What is only of the wrong type is no defect of interest.
FLAGS = (
    "-DCMAKE_C_FLAGS=-O1 -include %s/seeded.h -Werror=incompatible-pointer-types"
    " -Werror=int-conversion"
)
LEVELS = ["", "v2", "v3"]  # of the CPU; "": as the machine is
OTHERS = "tensor,random,triton,mufu,sync,litmus"
SETS = "edge,golden,float,atomic,chain,contract,divide,exhaust,matrix,legacy,wgmma"
# Of a file, the chapters that are about it: they are run first.
CHAPTERS = {
    "float": "edge/nan,golden/fp32/64,float,chain,contract,divide",
    "half": "golden/half,float/half,exhaust",
    "convert": "edge/subnormal,edge/tie,golden/cvt,exhaust,contract",
    "integer": "golden/integer,golden/extended-int,divide",
    "carry": "golden/extended-int",
    "logic": "golden/logic",
    "compare": "golden/compare",
    "video": "golden/video",
    "mma": "matrix,legacy",
    "mma_rows": "edge/product,matrix,legacy",
    "mma_memory": "edge/wmma,matrix",
    "fragment": "matrix",
    "wgmma": "wgmma",
    "ldmatrix": "wgmma",
    "move": "edge/move,golden/move",
    "warp": "edge/members,edge/constant,golden/warp",
    "atomic": "golden/atomics,atomic",
    "atomic_op": "edge/atomic,golden/atomics,atomic",
    "mbarrier": "edge/mbarrier",
    "cp_async": "edge/cp_async",
    "barrier": "sync",
    "load_store": "edge/vector,triton",
    "mufu": "golden/fp32/64,exhaust,mufu",
    "parts": "golden/fp32/64,chain",
    "nan_order": "golden/fp32/64,chain,atomic",
    "surface": "surface",
    "image_query": "surface",
}
FOLDERS = [
    "CMakeLists.txt",
    "CMakePresets.json",
    "backend",
    "cmake",
    "frontend",
    "include",
    "ir",
    "packaging",
    "runtime",
    "tools",
    "docs",
    "README.md",
    "LICENSE",
    "python",
    "samples",
]


def copy_sources(source, copy):
    """Those of a copy that is there already stay."""
    if os.path.exists(copy):
        return
    os.makedirs(copy)
    for name in FOLDERS:
        path = os.path.join(source, name)
        if os.path.isdir(path):
            shutil.copytree(path, os.path.join(copy, name), dirs_exist_ok=True)
        elif os.path.exists(path):
            shutil.copy2(path, copy)


def compile_copy(copy, build):
    """What does not compile: numbers of defects. None: the build is whole."""
    if not os.path.exists(os.path.join(build, "build.ninja")):
        subprocess.run(
            [
                "cmake",
                "-S",
                copy,
                "-B",
                build,
                "-G",
                "Ninja",
                "-DCMAKE_BUILD_TYPE=None",
                "-DBUILD_TESTING=OFF",
                FLAGS % copy,
                "-DPTERA_LEVELS=v2;v3;v4",
                "-DPTERA_LLVM_SHARED=ON",
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    targets = ["ptera_tool", "ptera_jit", "ptera_compiler"]
    done = subprocess.run(
        ["ninja", "-C", build, "-j", "2", "-k", "0"] + targets, text=True, capture_output=True
    )
    if done.returncode == 0:
        return None
    bad = set()
    for path, line in re.findall(
        r"^(\S+?):(\d+):\d+: (?:error|note: in expansion of)", done.stdout, re.M
    ):
        path = os.path.normpath(os.path.join(build, path))
        if path.startswith(copy) and os.path.exists(path):
            text = open(path).read().split("\n")[int(line) - 1]
            bad |= {int(n) for n in re.findall(r"/\*<(\d+)>\*/", text)}
    if not bad:
        sys.exit(done.stdout[-3000:] + done.stderr[-1000:])
    return bad


def read_table(path):
    return [line.rstrip("\n").split("\t") for line in open(path) if line[0] != "#"]


def build(a):
    copy = os.path.join(os.path.abspath(a.work), "source")
    copy_sources(a.source, copy)
    if a.table:
        chosen = seed.recorded(a.source, read_table(a.table))
    else:  # more than are wanted, since some do not compile
        sources = seed.IMAGES if a.images else seed.SOURCES
        chosen = seed.choose(a.source, a.count * 5 // 4, a.seed, sources)
    kept = os.path.join(a.work, "dropped")
    dropped = set(map(int, open(kept).read().split())) if os.path.exists(kept) else set()
    while True:
        seed.write(a.source, copy, chosen, dropped)
        bad = compile_copy(copy, os.path.join(a.work, "build"))
        if bad is None:
            break
        dropped |= bad
        with open(kept, "w") as f:
            f.write(" ".join(map(str, sorted(dropped))))
        print("%d do not compile" % len(dropped), flush=True)
    print("%d defects" % (len(chosen) - len(dropped)))


def defects(work):
    return read_table(os.path.join(work, "source", "seeded.tsv"))


class Looker:
    def __init__(self, work, suite, limit):
        self.ptera = os.path.join(work, "build", "ptera")
        self.suite, self.work, self.limit = suite, work, limit

    def environment(self, number, cpu=""):
        # A compiler in a process of its own that crashes leaves the kernel interpreted.
        return dict(
            os.environ,
            PT_SEEDED=str(number),
            PTERA_CACHE="none",
            PTERA_COMPILER="inside",
            **({"PTERA_CPU": cpu} if cpu else {}),
        )

    def conform(self, number, engine, level, chapters, seconds, cpu="", row=""):
        """(row, verdict) of the first that does not pass, or None; row: that one, at any level."""
        out = os.path.join(self.work, "report.%d.json" % os.getpid())
        args = [
            self.ptera,
            "conform",
            "--suite",
            self.suite,
            "--engine",
            engine,
            "--level",
            level,
            "--first",
            "--timeout",
            "60",
            "--format",
            "json",
            "--output",
            out,
        ]
        args += ["--chapter", chapters] if chapters else []
        args += ["--row", row] if row else []
        process = subprocess.Popen(
            args,
            env=self.environment(number, cpu),
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.terminate()
            process.wait()
            status = 0
        if status == 0:
            return None
        if status == 2:
            sys.exit("ptera conform: wrong usage: " + " ".join(args))
        for line in open(out):
            m = re.match(
                r'\{"row": "([^"]*)".*"verdict": "(different|failed|refused|crashed|hung)"'
                r'.*"known": ""',
                line,
            )
            if m:
                return m.groups()
        return ("no row", "status %d" % status)

    def fuzz(self, number, engine, seconds):
        """The first kernel that fails ends it."""
        args = [self.ptera, "fuzz", "--count", "100000000", "--whole", "--out", self.work]
        args += ["--engine", engine, "--check"] if engine == "interp" else []
        environment = dict(self.environment(number), PTERA_COMPILER="process")
        process = subprocess.Popen(
            args, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        timer = threading.Timer(seconds, process.terminate)
        timer.start()
        found = None
        for line in process.stdout:
            m = re.match(r"seed \d+: (failed|different|crashed|invalid)", line)
            if m:
                found = ("fuzz", m.group(1))
                break
        timer.cancel()
        process.terminate()
        process.wait()
        return found

    def look(self, number, engine, file):
        """Who finds it, after how many seconds of looking."""
        begun = time.monotonic()
        name = os.path.basename(file).split(".")[0]
        near = "texture" if name.startswith("texture") else CHAPTERS.get(name)
        # Native code is slow to make: what is near goes first. What a CPU has as instructions is
        # computed otherwise at lower levels.
        if near in ("texture", "surface"):
            steps = [("quick", "", near)] + [("full", cpu, near) for cpu in LEVELS]
        elif engine == "jit":
            steps = [(how, cpu, near) for how in ("quick", "full") for cpu in LEVELS]
            steps += [("quick", "", SETS), ("full", "", SETS)]
        else:
            steps = [("quick", "", SETS)] + [("full", cpu, near) for cpu in LEVELS]
            steps += [("full", cpu, SETS) for cpu in LEVELS]
        steps += [("fuzz", "", None), ("quick", "", OTHERS), ("full", "", OTHERS)]
        for how, cpu, chapters in steps:
            left = self.limit - (time.monotonic() - begun)
            if left <= 0 or (how != "fuzz" and not chapters):
                continue
            found = (
                self.fuzz(number, engine, min(left, 60))
                if how == "fuzz"
                else self.conform(number, engine, how, chapters, left, cpu)
            )
            if found:
                return found, (how + " " + cpu).strip(), time.monotonic() - begun
        return None, "none", time.monotonic() - begun


def run(a):
    path = os.path.join(a.work, "found.tsv")
    known = {}
    if os.path.exists(path):
        known = {line.split("\t")[0]: line.rstrip("\n").split("\t") for line in open(path)}
    done = {n for n, f in known.items() if f[5] != "none" or float(f[8]) >= a.limit}
    looker = Looker(os.path.abspath(a.work), os.path.abspath(a.suite), a.limit)
    only = set(a.only.split(",")) if a.only else None
    rows = defects(a.work)
    if not known:
        clean = looker.conform(0, "interp", "quick", SETS, 600)
        if clean:
            sys.exit("without a defect %s is %s" % clean)
    for number, name, file, line, engine, *_ in rows:
        if (
            (number in done and not only)
            or (only and number not in only)
            or (a.engine and engine != a.engine)
        ):
            continue
        found, how, seconds = looker.look(int(number), engine, file)
        text = "\t".join(
            [number, name, file, line, engine, how, *(found or ("", "")), "%.1f" % seconds]
        )
        with open(path, "a") as f:
            f.write(text + "\n")
        print(text, flush=True)


def again(a):
    """Each defect that a row has found is found by that row again."""
    looker = Looker(os.path.abspath(a.work), os.path.abspath(a.suite), 600)
    rows = {}
    for r in read_table(a.table):
        rows.setdefault((r[2], r[5], r[6]), []).append(r)
    passed, failed, skipped = 0, 0, sum(map(len, rows.values()))
    runs = {}  # whether a row passes without a defect, by engine and level: CPUs lack some
    for number, name, file, line, engine, old, new in defects(a.work):
        alike = rows[file, old, new]
        row = seed.nearest(alike, int(line), lambda r: int(r[3]))
        alike.remove(row)
        cpu, row = row[7].partition(" ")[2], row[8]
        if not row or row in ("fuzz", "no row"):
            continue
        if (engine, cpu) not in runs:
            runs[engine, cpu] = not looker.conform("0", engine, "full", row, 600, cpu, row)
        if not runs[engine, cpu]:
            continue
        found = looker.conform(number, engine, "full", row, 600, cpu, row)
        is_found = found is not None and found[0] != "no row"
        passed += is_found
        failed += not is_found
        skipped -= 1
        if not is_found:
            print("FAILED %s:%s: %s: %s does not find it" % (file, line, new, row))
    print("conform_seeded: %d passed, %d failed, %d skipped" % (passed, failed, skipped))
    sys.exit(failed > 0 or passed == 0)


def test(a):
    with tempfile.TemporaryDirectory() as a.work:
        build(a)
        again(a)


def table(a):
    found = {}
    for line in open(os.path.join(a.work, "found.tsv")):
        field = line.rstrip("\n").split("\t")
        found[field[0]] = field
    classes = {}
    print(
        "# number, class, file, line, engine, expression, what it became, level, row, verdict,"
        " seconds"
    )
    for number, name, file, line, engine, old, new in defects(a.work):
        f = found.get(number)
        if not f:
            continue
        print("\t".join([number, name, file, line, engine, old, new, *f[5:]]))
        count = classes.setdefault(name, [0, 0])
        count[f[5] != "none"] += 1
    for name, (missed, hit) in sorted(classes.items()):
        print("# %s: %d found, %d not" % (name, hit, missed))


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    sub = p.add_subparsers(required=True)

    def command(name, function, *arguments):
        c = sub.add_parser(name)
        for argument in arguments:
            c.add_argument(argument)
        c.set_defaults(run=function)
        return c

    b = command("build", build, "source", "work")
    b.add_argument("--count", type=int, default=200)
    b.add_argument("--seed", type=int, default=1)
    b.add_argument("--images", action="store_true", help="of textures and surfaces alone")
    b.add_argument("--table", help="the defects of a table, that the sources still have")
    r = command("run", run, "work", "suite")
    r.add_argument("--only", default="", help="numbers, between commas")
    r.add_argument("--limit", type=float, default=600, help="seconds for each (600)")
    r.add_argument("--engine", default="", help="defects of that engine's files alone")
    command("table", table, "work")
    command("again", again, "work", "suite", "table")
    command("test", test, "source", "suite", "table")
    a = p.parse_args()
    a.run(a)


if __name__ == "__main__":
    main()
