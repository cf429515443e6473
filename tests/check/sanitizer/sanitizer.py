#!/usr/bin/env python3
"""What compute-sanitizer says of the labelled set.

    sanitizer.py run FOLDER RESULTS.tsv [SECONDS]   on a machine with an NVIDIA GPU; needs run.c,
                                                    compiled, beside this file
    sanitizer.py table FOLDER RESULTS.tsv           the table of README.md

A line of RESULTS.tsv: file, command, and what memcheck, racecheck, initcheck and synccheck said:
how many messages and the first, "-" for none, or why the case did not run to its end."""
import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import time

TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]
HERE = os.path.dirname(os.path.abspath(__file__))


def files(folder):
    for base, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            if name.endswith(".ptx"):
                yield os.path.relpath(os.path.join(base, name), folder)


def cases(path):
    """[(command, [kinds])]"""
    found = []
    with open(path) as text:
        for line in text:
            if line.startswith("// CHECK: "):
                found.append((line[10:].strip(), []))
            elif line.startswith("// FINDS: "):
                found[-1][1].append(line.split()[2])
    return found


def kernel_of(command):
    words = command.split()
    return words[words.index("-k") + 1] if "-k" in words else ""


def messages(lines):
    """Message by message: its lines, without the bars."""
    block = []
    for line in lines:
        line = line[9:]
        is_new = line.startswith(" ") and not line.startswith("  ") and line.strip()
        if is_new and block:
            yield block
            block = []
        if line.strip():
            block.append(line.strip())
    if block:
        yield block


NOISE = re.compile(r"COMPUTE-SANITIZER|ERROR SUMMARY|RACECHECK SUMMARY|Program hit|Target app|"
                   r"LEAK|Error: process|Error: No attachable")


def is_finding(block):
    return not NOISE.match(block[0])


def read_output(output, list_of_cases, tool, results):
    """Returns the number of the last case that began, and whether it was the end."""
    last, kernels, lines = -1, [kernel_of(c) for c, _ in list_of_cases], []
    for line in output.splitlines():
        if line.startswith("CASE "):
            last = int(line[5:])
        elif line.startswith("LEFT "):
            results[max(last, 0), tool][2] = line.split(" ", 2)[2]
        if line.startswith("========="):
            lines.append((last, line))
    at = 0
    for block in messages([line for _, line in lines]):
        number = lines[min(at, len(lines) - 1)][0]
        at += len(block)
        name = re.search(r"(?:at|in|by|kernel) `?([a-z_0-9]+)(?:\(|\+0x)", "\n".join(block))
        if name:
            of_it = [i for i in range(max(number, 0), -1, -1) if kernels[i] == name[1]]
            number = of_it[0] if of_it else number
        if is_finding(block) and number >= 0:
            entry = results[number, tool]
            entry[0] += 1
            entry[1] = entry[1] or block[0]
    return last, "\nDONE" in output


def watch(folder, name, tool, first):
    """What compute-sanitizer and the program print, from a case on."""
    command = ["compute-sanitizer", "--tool", tool, "--print-limit", "50", HERE + "/run",
               os.path.join(folder, name), str(first)]
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", timeout=40).stdout
    except subprocess.TimeoutExpired as e:
        return (e.stdout or b"").decode(errors="replace")


def run_file(folder, name, tool, end):
    list_of_cases = cases(os.path.join(folder, name))
    results = collections.defaultdict(lambda: [0, "", ""])
    first = 0
    while first < len(list_of_cases):
        if time.time() > end:
            for i in range(first, len(list_of_cases)):
                results[i, tool][2] = "not run"
            break
        output = watch(folder, name, tool, first)
        last, is_over = read_output(output, list_of_cases, tool, results)
        if is_over:
            break
        if last >= first and not results[last, tool][2]:
            results[last, tool][2] = "hangs"
        if last < first:
            results[first, tool][2] = "did not start"
        first = max(last, first) + 1
    return name, results


def run(folder, path, seconds):
    end = time.time() + seconds
    jobs = [(name, tool) for tool in TOOLS for name in files(folder)]
    jobs.sort(key=lambda job: -len(cases(os.path.join(folder, job[0]))))
    said = {}
    with concurrent.futures.ThreadPoolExecutor(14) as pool:
        running = [pool.submit(run_file, folder, name, tool, end) for name, tool in jobs]
        for one in concurrent.futures.as_completed(running):
            name, results = one.result()
            for (number, tool), (n, first, left) in results.items():
                said[name, number, tool] = f"{n} {first}" if n else left
    with open(path, "w") as out:
        for name in files(folder):
            for number, (command, _) in enumerate(cases(os.path.join(folder, name))):
                cells = [said.get((name, number, tool)) or "-" for tool in TOOLS]
                print(name, command, *cells, sep="\t", file=out)


def read_results(path):
    """{(file, command): tools that said something}"""
    said = {}
    with open(path) as text:
        for line in text:
            name, command, *cells = line.rstrip("\n").split("\t")
            said[name, command] = {t for t, cell in zip(TOOLS, cells) if cell[0].isdigit()}
    return said


def table(folder, path):
    said = read_results(path)
    rows = collections.defaultdict(lambda: [0, 0, collections.Counter()])
    for name in files(folder):
        for command, kinds in cases(os.path.join(folder, name)):
            if (name, command) not in said:
                continue
            tools = said[name, command]
            for kind in {f"`{k}`" for k in kinds} or {f"nothing ({command.split()[0]})"}:
                rows[kind][0] += 1
                rows[kind][1] += bool(tools)
                rows[kind][2].update(tools)
    print("| what there is | cases | compute-sanitizer speaks | which tool |\n|---|---|---|---|")
    for kind, (n, found, tools) in sorted(rows.items()):
        by = ", ".join(f"{t} {c}" for t, c in sorted(tools.items()))
        print(f"| {kind} | {n} | {found} | {by} |")


if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[1] not in ("run", "table"):
        sys.exit(__doc__)
    if sys.argv[1] == "run":
        run(sys.argv[2], sys.argv[3], float(sys.argv[4]) if len(sys.argv) > 4 else 3600)
    else:
        table(sys.argv[2], sys.argv[3])
