#!/usr/bin/env python3
"""Makes table.tsv: table.py H100.csv PTERA.csv > table.tsv

H100.csv is what `ncu --csv --page raw --print-units base --metrics ...` wrote of
`launch kernels.ptx cases.txt` on the GPU, PTERA.csv what `ptera profile --csv --metrics all` wrote.
"""

import csv
import sys

# Why they differ, as the machine code of kernels.ptx (ptxas 13.0 -O3) shows.
MERGED = "the assembler loads four words at once (LDS.128) where the PTX loads one by one"
AGGREGATED = "one lane adds for all that have the same address (VOTE, ATOMG)"
GUARDED = "warps without a thread that stores come to a predicated STS, too"
SUNK = "the assembler does the last addition for the thread alone that stores the sum"
UNKNOWN = "not explained: lanes whose addresses differ at random and sometimes meet"
REASONS = {
    ("matmul", "smsp__inst_executed_op_shared_ld.sum"): MERGED,
    ("matmul", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"): MERGED,
    ("atomic_same", "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum"): AGGREGATED,
    ("reduce_random", "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"): UNKNOWN,
    ("block_sum", "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"): SUNK,
    ("histogram", "smsp__inst_executed_op_shared_st.sum"): GUARDED,
}
FAMILIES = (
    "l1tex__t_requests",
    "l1tex__t_sectors",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op",
    "l1tex__data_bank_conflicts",
    "smsp__inst_executed_op",
    "smsp__sass_thread_inst_executed_op",
    "sm__ctas_launched",
    "smsp__warps_launched",
    "sm__maximum_warps",
    "launch__",
)
ESTIMATED = ("launch__registers_per_thread",)


def is_number(text):
    return text.replace(",", "").replace(".", "").isdigit()


def read(path):
    """{kernel: {metric: value}}"""
    with open(path, encoding="utf-8") as file:
        rows = list(csv.reader(line for line in file if line.startswith('"')))
    names = rows[0]
    kernels = {}
    for row in rows[2:]:
        values = dict(zip(names, row))
        kernel = values["Kernel Name"].split("(")[0]
        kernels[kernel] = {
            name: float(value.replace(",", ""))
            for name, value in values.items()
            if name.startswith(FAMILIES) and is_number(value) and name not in ESTIMATED
        }
    return kernels


def main():
    h100, ptera = read(sys.argv[1]), read(sys.argv[2])
    print("# kernel\tmetric\tH100\tPtera\twhy they differ (table.py)")
    for kernel, values in ptera.items():
        for metric, ours in values.items():
            theirs = h100[kernel].get(metric)
            if theirs is None or (theirs == 0 and ours == 0):
                continue
            same = abs(theirs - ours) < 0.005
            why = "" if same else REASONS.get((kernel, metric), "?")
            print(f"{kernel}\t{metric}\t{theirs:.10g}\t{ours:.10g}\t{why}".rstrip())


if __name__ == "__main__":
    main()
