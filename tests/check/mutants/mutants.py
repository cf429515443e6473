#!/usr/bin/env python3
"""Mutants of correct kernels under all checkers.

    mutants.py PTERA ROOT [--seed N] [--every N] [--first N] [--table]

Makes mutants of kernels in which there is nothing to find (labelled twins, samples, Triton's
kernels): drops a barrier, fence, wait or initialisation, narrows a scope, weakens a release or an
acquire, shifts an index, shortens an allocation. Each must be found (twins of `order`
are shown to that, too), or be one of these:

    unreached     the launch does not come to the changed place
    one CTA       a scope of .cta holds all threads of the launch
    same          nothing that may differ changes what it writes, other orders of threads, late
                  asynchronous operations and other contents of unwritten memory, and no access is
                  outside (what the checkers do not share code with). Not for fences, scopes,
                  releases, acquires and barriers of clusters, whose lack that does not show
    a line of survivors.tsv: FILE, KERNEL, MUTATION, the line, and the reason, which begins with
    "missed:" where it is a lack of the checkers

Ends with 1 if another is left, or a line of survivors.tsv names none. `--tell` names all
verdicts."""
import argparse
import collections
import hashlib
import os
import re
import subprocess
import sys
import tempfile

MORE = ["--schedules", "3000", "--depth", "4"]  # of `order`, where it finds nothing by itself
SECONDS = 20  # for a launch, of a machine that does nothing else
ORDERS = [["--order", "lanes"], ["--order", "reverse"], ["--order", "turns"],
          ["--async", "late"], ["--unwritten", "90"], ["--unwritten", "255"]]
WEAK = {"fence", "scope", "release"}  # what only the memory model sees; of others:
WEAK_TOO = re.compile(r"barrier\.cluster|wgmma\.fence")


class Case:
    """A correct kernel: a file, options, arguments."""

    def __init__(self, path, name, tools, options, arguments):
        self.path, self.name, self.tools = path, name, tools
        self.options, self.arguments = options, arguments
        with open(path) as text:
            self.lines = text.read().split("\n")
        self.first, self.last = self.find_kernel()

    def kernel(self):
        return self.options[self.options.index("-k") + 1] if "-k" in self.options else ""

    def find_kernel(self):
        """Its lines; all if the file has one kernel."""
        starts = [i for i, line in enumerate(self.lines) if ".entry" in line and line[:2] != "//"]
        for n, start in enumerate(starts):
            if re.search(r"\.entry\s+" + re.escape(self.kernel()) + r"\b", self.lines[start]):
                return start, starts[n + 1] if n + 1 < len(starts) else len(self.lines)
        return (starts[0] if starts else 0), len(self.lines)

    def has_one_cta(self):
        if "-g" not in self.options:
            return True
        grid = self.options[self.options.index("-g") + 1]
        return all(n == "1" for n in grid.split(","))


class Mutant:
    def __init__(self, case, kind, at, lines=None, arguments=None):
        self.case, self.kind, self.at = case, kind, at
        self.lines, self.arguments = lines or case.lines, arguments or case.arguments

    def text(self):
        changed = self.case.lines[self.at] if self.at is not None else "its arguments"
        return " ".join(re.sub(r"//.*", "", changed).split())


# ---- where kernels are -----------------------------------------------------------------------


def labelled(root):
    for base, _, names in sorted(os.walk(root + "/tests/check")):
        for name in sorted(n for n in names if n.endswith(".ptx")):
            path, commands = os.path.join(base, name), []
            with open(path) as text:
                for line in text:
                    if line.startswith("// CHECK: "):
                        commands.append([line[10:].split(), True])
                    elif line.startswith("// FINDS: "):
                        commands[-1][1] = False
            for words, is_clean in commands:
                if is_clean and not words[1].startswith("--init"):
                    yield path, words[0], words[1:]


def samples(root):
    for base, _, names in sorted(os.walk(root + "/samples")):
        for name in sorted(n for n in names if n.endswith(".ptx")):
            with open(os.path.join(base, name)) as text:
                for line in text:
                    if line.startswith("// RUN: ") and "assert" not in name:
                        yield os.path.join(base, name), "all", line.split()[4:]


def tritons(root):
    folder = root + "/tests/hardware/real"
    for name in sorted(os.listdir(folder)):
        if not os.path.exists(f"{folder}/{name}/case"):
            continue
        options, arguments = [], []
        with open(f"{folder}/{name}/case") as text:
            for line in text:
                w = line.split()
                if not w or w[0][0] == "#":
                    continue
                if w[0] in ("entry", "grid", "block", "shared"):
                    flag = {"entry": "-k", "grid": "-g", "block": "-b", "shared": "--shared"}[w[0]]
                    options += [flag, ",".join(w[1:])]
                elif w[0] == "buffer":
                    arguments.append(f"in:{folder}/{name}/{w[1]}")
                else:
                    arguments.append(f"{w[0].replace('i', 's')}:{w[1]}")
        yield f"{folder}/{name}/kernel.ptx", "all", options + arguments + ["zero:65536"] * 2


def cases(root):
    found = []
    for source in (labelled, samples, tritons):
        for path, tools, words in source(root):
            options = []
            while words and words[0].startswith("-"):
                options += words[:2] if words[0] != "--schedules" else []
                words = words[2:]
            words = [re.sub(r"@.*", "", w) for w in words]
            found.append(Case(path, os.path.relpath(path, root), tools, options, words))
    return found


# ---- mutations -------------------------------------------------------------------------------


def dropped(pattern):
    def change(line):
        return [re.sub(r"(@!?%\w+\s+)?(" + pattern + r")[^;]*;", "", line)]
    return re.compile(r"(?<![\w.])" + pattern), change


def replaced(pattern, to):
    expression = re.compile(pattern)

    def change(line):
        return [line[:m.start()] + m.expand(to) + line[m.end():] for m in expression.finditer(line)]
    return expression, change


def tested(line):
    """A wait for an mbarrier that does not wait."""
    return [re.sub(r"mbarrier\.(?:try|test)_wait\S*\s+(%?\w+),[^;]*;",
                   r"setp.eq.u32 \1, 0, 0;", line)]


def shifted(line):
    """The address of an access is one element further."""
    size = re.search(r"\.[usbf](8|16|32|64)\b", line)
    m = re.search(r"\[\s*([^\]+]+?)\s*(?:\+\s*(\d+))?\s*\]", line)
    if not size or not m:
        return []
    by = int(m[2] or 0) + int(size[1]) // 8 * (4 if ".v4" in line else 2 if ".v2" in line else 1)
    return [line[:m.start()] + f"[{m[1]}+{by}]" + line[m.end():]]


MUTATIONS = {
    "barrier": [dropped(r"(?:bar\.sync|barrier\.sync|barrier\.cta\.sync|bar\.warp\.sync)"),
                dropped(r"barrier\.cluster\.(?:arrive|wait)")],
    "fence": [dropped(r"(?:fence|membar)\.")],
    "scope": [replaced(r"\.(?:gpu|sys)\b(?=[^;]*;)", ".cta")],
    "release": [replaced(r"\.(?:release|acquire|acq_rel)\b(?=\.(?:cta|gpu|sys|cluster)?[^;]*\[)",
                         ".relaxed")],
    "index": [(re.compile(r"(?<![\w.])(?:ld|st)\.(?:volatile\.)?(?:global|shared)[^;]*\["),
               shifted)],
    "allocation": [],
    "initialisation": [dropped(r"st\.shared"), dropped(r"mbarrier\.init"),
                       dropped(r"mov\.[usbf]\d+\s+%\w+, ?(?:0|1|0f0+)\b")],
    "wait": [dropped(r"cp\.async\.(?:bulk\.)?wait\w*"), dropped(r"wgmma\.wait_group"),
             dropped(r"wgmma\.fence"),
             (re.compile(r"mbarrier\.(?:try|test)_wait"), tested)],
}


def shorter(case):
    """Allocations that are one word, or half, shorter."""
    for i, argument in enumerate(case.arguments):
        m = re.match(r"(zero:|iota:\w+:|fill:\w+:|rand:\w+:)(\d+)(.*)", argument)
        for n in {int(m[2]) - (4 if argument[0] == "z" else 1), int(m[2]) // 2} if m else ():
            if n > 0:
                other = list(case.arguments)
                other[i] = f"{m[1]}{n}{m[3]}"
                yield Mutant(case, "allocation", None, arguments=other)
    for at in range(len(case.lines)):
        m = re.search(r"(\.shared\s.*\.b8 \w+\[)(\d+)\]", case.lines[at])
        if m and int(m[2]) >= 8 and case.first <= at < case.last:
            lines = list(case.lines)
            lines[at] = lines[at].replace(m[0], f"{m[1]}{int(m[2]) // 2}]")
            yield Mutant(case, "allocation", at, lines)


def mutants_of(case):
    yield from shorter(case)
    for at in range(case.first, case.last):
        line = case.lines[at]
        if line.lstrip().startswith("//"):
            continue
        for kind, rules in MUTATIONS.items():
            for pattern, change in rules if kind != "allocation" else ():
                for to in change(line) if pattern.search(line) else ():
                    if to != line:
                        lines = list(case.lines)
                        lines[at] = to
                        yield Mutant(case, kind, at, lines)


# ---- running ---------------------------------------------------------------------------------


def shown(arguments):
    """With all buffers printed, so that what they hold leaves for the host."""
    return [a + "@b8" if re.match(r"zero|iota|fill|rand|in:", a) else a for a in arguments]


def timeout():
    """On a machine as loaded as this one."""
    return SECONDS * min(max(os.getloadavg()[0] / os.cpu_count(), 1), 20)


class Runner:
    def __init__(self, ptera, folder):
        self.ptera, self.folder = ptera, folder
        self.is_varying, self.is_clean = {}, {}

    def write(self, lines):
        path = self.folder + "/mutant.ptx"
        with open(path, "w") as out:
            out.write("\n".join(lines))
        return path

    def call(self, command, path, words):
        limit = timeout()
        try:
            done = subprocess.run([self.ptera, *command, path, "--timeout", str(limit), *words],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=2 * limit)
            return done.returncode, done.stdout
        except subprocess.TimeoutExpired:
            return 124, b""

    def check(self, case, tools, lines, arguments, more=()):
        """Exit status, kinds of findings."""
        saved = self.folder + "/saved"
        status, _ = self.call(["check", tools, *more, "--save", saved], self.write(lines),
                              case.options + shown(arguments))
        if not os.path.exists(saved):  # it was ended: nothing has been told
            return status, set()
        with open(saved) as text:
            kinds = {line.split()[1] for line in text if line.startswith("kind ")}
        os.unlink(saved)
        return status, kinds

    def tools_for(self, case):
        """All checkers if they find nothing in the kernel, else its own; None: not even so."""
        if case not in self.is_clean:
            self.is_clean[case] = None
            for tools in ("all", case.tools):
                status, kinds = self.check(case, tools, case.lines, case.arguments)
                if status == 0 and not kinds:
                    self.is_clean[case] = tools
                    break
        return self.is_clean[case]

    def run(self, case, lines, arguments, options):
        """Exit status and what the buffers hold."""
        status, output = self.call(["run"], self.write(lines), ["--engine", "interp"] + options +
                                   case.options + shown(arguments))
        return status, hashlib.md5(output).hexdigest() if status == 0 else output

    def varies(self, case, lines, arguments):
        """Which orders and contents change the result."""
        plain = self.run(case, lines, arguments, [])
        return {" ".join(o) for o in ORDERS if self.run(case, lines, arguments, o) != plain}

    def is_same(self, m):
        case = m.case
        if case not in self.is_varying:
            self.is_varying[case] = self.varies(case, case.lines, case.arguments)
        if self.varies(case, m.lines, m.arguments) - self.is_varying[case]:
            return False
        return self.run(case, m.lines, m.arguments, ["--isolate"])[0] == 0

    def is_unreached(self, m):
        if m.at is None or m.kind == "allocation":
            return False
        lines = list(m.case.lines)
        lines[m.at] = re.sub(r"(@!?%\w+\s+)?[a-z][\w.:]*\b[^;:]*;", "trap;", lines[m.at], count=1)
        return self.run(m.case, lines, m.case.arguments, [])[0] == 0

    def judge(self, m):
        status, kinds = self.check(m.case, self.tools_for(m.case), m.lines, m.arguments)
        for more in [[], MORE] if m.case.tools == "order" else []:
            if status == 0 and not kinds:
                status, kinds = self.check(m.case, "order", m.lines, m.arguments, more)
        if kinds:
            return "found"
        if status in (2, 3):
            return "invalid"
        if status:
            return "failed"
        if self.is_unreached(m):
            return "unreached"
        if m.kind == "scope" and m.case.has_one_cta():
            return "one CTA"
        is_weak = m.kind in WEAK or WEAK_TOO.search(m.text())
        if not is_weak and self.is_same(m):
            return "same"
        return "left"


# ---- all of it -------------------------------------------------------------------------------


def number_of(m, seed):
    arguments = [os.path.basename(a) for a in m.arguments]
    words = [str(seed), m.case.name, m.case.kernel(), m.kind, m.text(), *arguments]
    return int(hashlib.md5(" ".join(words).encode()).hexdigest()[:8], 16)


def choose(everything, seed, every, first):
    """Of kinds of which there are many one in so many, by their hash: what is chosen stays so when
    kernels are added elsewhere. Of these one in `every`."""
    one_in = {"index": 6, "allocation": 8, "initialisation": 4}
    return [m for m in everything for number in [number_of(m, seed)]
            if number // 100 % one_in.get(m.kind, 1) == 0 and number // 10000 % every == first]


def read_known(path):
    known = {}
    with open(path) as text:
        for line in text:
            if line.strip() and line[0] != "#":
                name, kernel, kind, changed, reason = line.rstrip("\n").split("\t")
                known[name, kernel, kind, changed] = reason
    return known


def put_table(verdicts):
    names = ["found", "failed", "unreached", "one CTA", "same", "listed", "missed", "left"]
    print("| mutation | " + " | ".join(names) + " |\n|" + "---|" * (len(names) + 1))
    for kind in MUTATIONS:
        print(f"| {kind} | " + " | ".join(str(verdicts[kind, n]) for n in names) + " |")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("ptera")
    parser.add_argument("root")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--tell", action="store_true")
    parser.add_argument("--table", action="store_true")
    o = parser.parse_args()
    known = read_known(os.path.join(os.path.dirname(os.path.abspath(__file__)), "survivors.tsv"))
    verdicts, passed, failed, skipped, unused = collections.Counter(), 0, 0, 0, set(known)
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(o.ptera, folder)
        everything = [m for case in cases(o.root) for m in mutants_of(case)]
        for m in choose(everything, o.seed, o.every, o.first):
            verdict = runner.judge(m) if runner.tools_for(m.case) else "invalid"
            key = m.case.name, m.case.kernel(), m.kind, m.text()
            if verdict == "left" and key in known:
                verdict = "missed" if known[key].startswith("missed:") else "listed"
                unused.discard(key)
            verdicts[m.kind, verdict] += 1
            passed += verdict not in ("left", "invalid")
            skipped += verdict == "invalid"
            failed += verdict == "left"
            if verdict == "left" or o.tell:
                print(verdict.upper(), *key, m.at or " ".join(m.arguments), sep="\t", flush=True)
    for key in sorted(unused) if o.every == 1 and o.seed == 1 else ():
        print("NOT LEFT", *key, sep="\t")
        failed += 1
    if o.table:
        put_table(verdicts)
    print(f"check_mutants: {passed} passed, {failed} failed, {skipped} skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
