#!/usr/bin/env python3
"""Makes lines of table.tsv: table.py H100.csv PTERA.csv

H100.csv is what `ncu --csv --page raw --print-units base --metrics ...` wrote of
`launch kernels.ptx cases.txt`, or of copies, on the GPU, PTERA.csv what
`ptera profile --csv --metrics all` wrote.
"""

import csv
import re
import sys

# Why they differ, as the machine code of kernels.ptx (ptxas 13.0 -O3) shows.
MERGED = "the assembler loads four words at once (LDS.128) where the PTX loads one by one"
AGGREGATED = "one lane adds for all that have the same address (VOTE, ATOMG)"
GUARDED = "warps without a thread that stores come to a predicated STS, too"
SUNK = "the assembler does the last addition for the thread alone that stores the sum"
PARTLY = "only a part of the threads loads constants (LDC), which are taken off as of all"
AS_CONSTANT = "the assembler makes constants by HFMA2"
WAITS = "cp.async is counted, too: smsp__sass_inst_executed_op_shared_ld says 512"
NO_SASS = "ncu's count by instructions has 0; L1 counts the same 4,096 sectors"
HALF = "not explained: L1 counts half of the sectors that it has read"
ALIGNED = "what aligns dynamic memory is static memory to ptxas"
BEYOND = "what a box has beyond the tensor's rows is read as well"
UNKNOWN = "not explained: lanes whose addresses differ at random and sometimes meet"
THREADS = "smsp__sass_thread_inst_executed_op_memory_pred_on.sum"
TILES = "l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum"
REASONS = {
    ("matmul", "smsp__inst_executed_op_shared_ld.sum"): MERGED,
    ("matmul", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"): MERGED,
    ("atomic_same", "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum"): AGGREGATED,
    ("reduce_random", "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"): UNKNOWN,
    ("block_sum", "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"): SUNK,
    ("histogram", "smsp__inst_executed_op_shared_st.sum"): GUARDED,
    ("copy_16_stride_2", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"): HALF,
    ("matmul", THREADS): MERGED,
    ("atomic_same", THREADS): AGGREGATED,
    ("atomic_shared_same", THREADS): AGGREGATED,
}
REASONS.update(
    ((kernel, THREADS), PARTLY)
    for kernel in ("store_half", "early_exit", "block_sum", "fetch_half")
)
REASONS.update(
    (("copy_16_half", f"smsp__sass_l1tex_{name}_op_ldgsts.sum"), NO_SASS)
    for name in ("t_sectors_pipe_lsu_mem_global", "data_pipe_lsu_wavefronts_mem_shared")
)
REASONS.update(((kernel, TILES), BEYOND) for kernel in ("tile_offset", "tile_outside"))
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
    "smsp__sass_l1tex",
    "l1tex__m_",
)
ASYNC = r"copy_\d|bulk_|tile_"
LAUNCHED = ("launch__thread_count", "smsp__warps_launched.sum")
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


def explain(kernel, metric):
    if metric.endswith("op_hfma_pred_on.sum"):
        return AS_CONSTANT
    if re.match(ASYNC, kernel) and metric == "smsp__inst_executed_op_shared_ld.sum":
        return WAITS
    if metric == "launch__shared_mem_per_block_static":
        return ALIGNED
    return REASONS.get((kernel, metric), "?")


def without_constants(values):
    """Threads' accesses but for LDC, which PTX has none of (loads of parameters) or few."""
    threads = values["launch__thread_count"] / values["smsp__warps_launched.sum"]
    return values[THREADS] - values["smsp__inst_executed_op_ldc.sum"] * threads


def main():
    h100, ptera = read(sys.argv[1]), read(sys.argv[2])
    for kernel, values in ptera.items():
        for metric, ours in values.items():
            theirs = h100[kernel].get(metric)
            if metric == THREADS and theirs is not None:
                h100[kernel].update((k, values[k]) for k in LAUNCHED)
                theirs = without_constants(h100[kernel])
            if metric == THREADS and re.match(ASYNC, kernel):
                continue  # fences, commits and mbarriers are among them
            if theirs is None or (theirs == 0 and ours == 0):
                continue
            same = abs(theirs - ours) < 0.005
            why = "" if same else explain(kernel, metric)
            print(f"{kernel}\t{metric}\t{theirs:.10g}\t{ours:.10g}\t{why}".rstrip())


if __name__ == "__main__":
    main()
