#!/usr/bin/env python3
"""Makes lines of table.tsv, or programs.tsv: table.py [--shapes] H100.csv... PTERA.csv

H100.csv is what `ncu --csv --page raw --print-units base --metrics ...` wrote of
`launch kernels.ptx cases.txt`, of copies, or of programs.txt on the GPU, PTERA.csv what
`ptera profile --csv --metrics all` wrote. Of programs (--shapes)
kernels have their shapes behind their names.
"""

import csv
import re
import sys

# Why they differ, as the machine code (ptxas 13.0 -O3) shows.
MERGED = "the assembler loads four words at once (LDS.128) where the PTX loads one by one"
STORED = "the assembler stores four words at once (STS.128), which have no conflicts"
AGGREGATED = "one lane adds for all that have the same address (VOTE, ATOMG)"
REDUCED = "one lane adds the sum of all (REDUX, ATOMS)"
GUARDED = "warps without a thread that stores come to a predicated STS, too"
SUNK = "the assembler does the last addition for the thread alone that stores the sum"
PARTLY = "only a part of the threads loads constants (LDC), which are taken off as of all"
AS_CONSTANT = "the assembler makes constants by HFMA2, some by HFMA2.MMA"
WAITS = "cp.async is counted, too: smsp__sass_inst_executed_op_shared_ld says 512"
NO_SASS = "ncu's count by instructions has 0; L1 counts the same 4,096 sectors"
ALIGNED = "what aligns dynamic memory is static memory to ptxas"
BEYOND = "what a box has beyond the tensor's rows is read as well"
REGISTERS = "the assembler keeps the array in registers (no LDL, no STL)"
SPINS = "floats are added in shared memory by a loop (LDS, FADD, ATOMS.CAST.SPIN)"
UNROLLED = "loops are unrolled, remainder first: lanes with rows of other lengths meet elsewhere"
EARLY = "lanes that find their key load its value in the loop, before others are done"
FENCED = "without optimisation kernels end with a fence (MEMBAR.SC), which is counted, too"
RACES = "who comes first decides, and others do then what they find"
ARBITRATION = "arbitration: the counter without (smsp__sass_l1tex_...) has what is counted here"
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
# By kernel and a part of the metric's name.
KERNELS = (
    ("local_lanes|median25", "", REGISTERS),
    ("matmul_tiled|attention|sgemm16|sgemm64|dgemm", "", MERGED),
    ("merge", "shared_op_st", STORED),
    ("merge", "shared_op_ld", "the assembler loads two words at once (LDS.64)"),
    ("merge", "op_memory", "the assembler loads and stores words together (LDS.64, STS.128)"),
    ("philox_pi", "", REDUCED),
    ("kmeans_assign", "", SPINS),
    ("spmv|pagerank_get", "global_op_ld", UNROLLED),
    ("bfs", "op_atom", AGGREGATED + "; " + RACES),
    ("bfs", "", RACES),
    ("hash_insert", "", RACES),
    ("hash_find", "requests", EARLY),
    ("hash_find", "sectors", EARLY + "; " + RACES),
    ("hash_find", "", EARLY),
    ("debug", "", FENCED),
    ("reduce|stencil1d|radix_place", "shared_op_st", ARBITRATION),
    ("stencil1d", "shared_op_ld", ARBITRATION),
)
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
    "sm__inst_executed_pipe_tensor_op",
    "sm__ops_path_tensor_src",
    "sm__idc_divergent_instruction_replays",
    "l1tex__m_",
)
# Of programs: what memory is asked for.
PROGRAMS = ("l1tex__t_", "l1tex__data_", "smsp__sass_thread_inst_executed_op_memory_pred_on.sum")
ASYNC = r"copy_\d|bulk_|tile_"
LAUNCHED = ("launch__thread_count", "smsp__warps_launched.sum")
ESTIMATED = ("launch__registers_per_thread",)
# Those of the PTX and of machine code differ by nature.
INSTRUCTIONS = (
    r".*op_(bit|control|conversion|fp\d\d|integer|inter_thread_communication|misc)_pred_on.sum"
    r"|smsp__inst_executed_op_ldc.sum"
)


def is_number(text):
    return text.replace(",", "").replace(".", "").isdigit()


def shape(text):
    return re.sub("[() ]", "", text).replace(",", "x")


def read(path, has_shapes):
    """{kernel: {metric: value}}, means where a kernel has several launches"""
    with open(path, encoding="utf-8") as file:
        rows = list(csv.reader(line for line in file if line.startswith('"')))
    names = rows[0]
    launches = {}
    for row in rows[2:]:
        values = dict(zip(names, row))
        kernel = values["Kernel Name"].split("(")[0]
        if has_shapes:
            kernel += f" {shape(values['Grid Size'])} {shape(values['Block Size'])}"
        launches.setdefault(kernel, []).append(
            {
                name: float(value.replace(",", ""))
                for name, value in values.items()
                if name.startswith(FAMILIES) and is_number(value) and name not in ESTIMATED
            }
        )
    return {
        kernel: {name: sum(one[name] for one in all_) / len(all_) for name in all_[0]}
        for kernel, all_ in launches.items()
    }


def explain(kernel, metric):
    name = kernel.split()[0]
    if metric.endswith(("op_hfma_pred_on.sum", "tensor_op_hmma.sum")):
        return AS_CONSTANT
    if re.match(ASYNC, kernel) and metric == "smsp__inst_executed_op_shared_ld.sum":
        return WAITS
    if metric == "launch__shared_mem_per_block_static":
        return ALIGNED
    for kernels, part, why in KERNELS:
        if re.fullmatch(kernels, name) and part in metric:
            return why
    return REASONS.get((kernel, metric), "?")


def constants(values):
    """Threads' LDC, which PTX has few of (loads of parameters), if all threads of warps do."""
    threads = values["launch__thread_count"] / values["smsp__warps_launched.sum"]
    return values["smsp__inst_executed_op_ldc.sum"] * threads


def main():
    has_shapes = sys.argv[1] == "--shapes"
    h100, ptera = {}, read(sys.argv[-1], has_shapes)
    for path in sys.argv[1 + has_shapes : -1]:
        for kernel, values in read(path, has_shapes).items():
            h100.setdefault(kernel, {}).update(values)
    for kernel, values in ptera.items():
        for metric, ours in values.items():
            theirs = h100[kernel].get(metric)
            if has_shapes and not metric.startswith(PROGRAMS):
                continue
            if re.fullmatch(INSTRUCTIONS, metric):
                continue
            most = theirs
            if metric == THREADS and theirs is not None:
                h100[kernel].update((k, values[k]) for k in LAUNCHED)
                theirs -= constants(h100[kernel])
            if metric == THREADS and re.match(ASYNC, kernel):
                continue  # fences, commits and mbarriers are among them
            if theirs is None or (theirs == 0 and ours == 0):
                continue
            same = abs(theirs - ours) < 0.006
            why = "" if same else explain(kernel, metric)
            if why == "?" and metric == THREADS and theirs <= ours <= most:
                why = PARTLY
            print(f"{kernel}\t{metric}\t{theirs:.10g}\t{ours:.10g}\t{why}".rstrip())


if __name__ == "__main__":
    main()
