#!/usr/bin/env python3
"""Makes table.tsv: table.py FOLDER CASES TABLE > NEW

FOLDER has what ncu and `launch` wrote on the GPU (ncu.csv, again.csv, order.txt), and what
`ptera profile --csv` wrote of each line of CASES (N.csv; README.md has the commands). What FOLDER
does not have of the GPU is taken from TABLE. Kernels are in the half that TABLE has them in; new
ones in turns, by name: A, to which the model's constants are fitted, or B, which gives its error.
That is printed to standard error.
"""

import csv
import os
import re
import statistics
import sys

METRICS = (
    "gpu__time_duration.sum",
    "l1tex__t_sector_hit_rate.pct",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
)


def read(path):
    with open(path, encoding="utf-8") as file:
        rows = list(csv.reader(line for line in file if line.startswith('"')))
    return [dict(zip(rows[0], row)) for row in rows[2:]]


def shape(text):
    return "x".join(re.findall(r"\d+", text))


def number(row, name):
    return float(row[name].replace(",", ""))


def key_of(case, row):
    name = row["Kernel Name"].split("(")[0]
    return case, name, shape(row["Grid Size"]), shape(row["Block Size"])


def case_of(line):
    """Threads of `profile` are in the block's shape."""
    words = line.split()
    return " ".join(words[:3] if words[0] == "profile" else words)


def read_table(path):
    """{key: [launches' values]}, {name: half}"""
    measured, halves = {}, {}
    with open(path, encoding="utf-8") as file:
        for row in csv.reader((x for x in file if x[0] != "#"), delimiter="\t"):
            values = [float(value) for value in row[6::2]]
            values[2:4] = [1e6 * value for value in values[2:4]]
            measured[tuple(row[:4])] = [values] * int(row[5])
            halves[tuple(row[0].split()[:2])] = row[4]
    return measured, halves


def read_gpu(folder):
    """{key: [launches' values]}"""
    measured = {}
    with open(f"{folder}/order.txt", encoding="utf-8") as file:
        cases = [line.split(":")[0] for line in file]
    rows, again = read(f"{folder}/ncu.csv"), read(f"{folder}/again.csv")
    for case, row, second in zip(cases, rows, again, strict=True):
        values = [number(row, name) for name in METRICS]
        values[0] = (values[0] + number(second, METRICS[0])) / 2
        measured.setdefault(key_of(case, row), []).append(values)
    return measured


def read_ptera(folder, cases):
    ours = {}
    with open(cases, encoding="utf-8") as file:
        lines = file.read().splitlines()
    for number_of_case, case in enumerate(lines, 1):
        path = f"{folder}/{number_of_case}.csv"
        for row in read(path) if os.path.exists(path) else ():
            ours[key_of(case_of(case), row)] = [number(row, name) for name in METRICS]
    return ours


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    rank = [0.0] * len(values)
    for place, i in enumerate(order):
        rank[i] = place
    return rank


def say_error(name, rows):
    errors = sorted(abs(ours / theirs - 1) for theirs, ours in rows)
    correlation = statistics.correlation(ranks([r[0] for r in rows]), ranks([r[1] for r in rows]))
    within = sum(error <= 0.5 for error in errors) / len(errors)
    print(
        f"{name}: {len(rows)} launches, median error {100 * statistics.median(errors):.1f} %, "
        f"9 of 10 within {100 * errors[int(0.9 * len(errors))]:.0f} %, within 50 %: "
        f"{100 * within:.1f} %, rank correlation {correlation:.3f}",
        file=sys.stderr,
    )


def main():
    gpu, half_of = read_table(sys.argv[3])
    gpu.update(read_gpu(sys.argv[1]))
    ptera = read_ptera(sys.argv[1], sys.argv[2])
    names = sorted({tuple(key[0].split()[:2]) for key in ptera} - set(half_of))
    half_of.update((name, "AB"[i % 2]) for i, name in enumerate(names))
    halves = {"A": [], "B": []}
    print(
        "# case\tkernel\tgrid\tblock\thalf\tlaunches\tns on an H100, and estimated"
        "\tL1 hits %\tMB read\tMB written\twarps active %: all twice, H100 and Ptera"
    )
    for key, ours in ptera.items():
        if key not in gpu:
            print("not measured:", *key, file=sys.stderr)
            continue
        theirs = [statistics.mean(column) for column in zip(*gpu[key])]
        half = half_of[tuple(key[0].split()[:2])]
        halves[half].append((theirs[0], ours[0]))
        numbers = []
        for i, (a, b) in enumerate(zip(theirs, ours)):
            scale, digits = (1e-6, 3) if i in (2, 3) else (1, 0 if i == 0 else 1)
            numbers += [f"{a * scale:.{digits}f}", f"{b * scale:.{digits}f}"]
        print("\t".join([*key, half, str(len(gpu[key])), *numbers]))
    for half, rows in halves.items():
        say_error(half, rows)
        say_error(f"{half}, of more than 6 us", [row for row in rows if row[0] > 6000])


if __name__ == "__main__":
    main()
