#!/usr/bin/env python3
"""Makes table.tsv: table.py FOLDER CASES > table.tsv

FOLDER has what ncu and `launch` wrote on the GPU (ncu.csv, again.csv, order.txt), and what
`ptera profile --csv` wrote of each line of CASES (N.csv; README.md has the commands). Kernels of
odd places among the names are half A, to which the model's constants are fitted; the others are
half B, which gives its error. That is printed to standard error.
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
            case = " ".join(case.split()[:3])
            ours[key_of(case, row)] = [number(row, name) for name in METRICS]
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
    gpu, ptera = read_gpu(sys.argv[1]), read_ptera(sys.argv[1], sys.argv[2])
    names = sorted({tuple(key[0].split()[:2]) for key in ptera})
    halves = {"A": [], "B": []}
    print(
        "# case\tkernel\tgrid\tblock\thalf\tlaunches\tns on an H100, and estimated"
        "\tL1 hits %\tMB read\tMB written\twarps active %: all twice, H100 and Ptera"
    )
    for key, ours in ptera.items():
        theirs = [statistics.mean(column) for column in zip(*gpu[key])]
        half = "AB"[names.index(tuple(key[0].split()[:2])) % 2]
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
