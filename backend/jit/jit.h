/* The inside of the compiler: what generating one kernel knows. README.md has the floors; by
 * folder, from the lowest up:
 *
 *   object/    machine code as data; knows no LLVM. A kernel as bytes (snapshot), objects to memory
 *              (loader), on disk (cache), what they call (support, frontier: where lanes of a warp
 *              stand), gdb and perf (debugger)
 *   llvm/      LLVM's API made small: what is known of CPUs (cpu), target machine and passes,
 *              allocas to values (ssa), line tables (debug_info), where launches end early (fault),
 *              how large a kernel may be (code_size), what is promised to LLVM, in builds for tests
 *              (check)
 *   emit/      what pure instructions compute: a few LLVM instructions each, over scalars or
 *              vectors alike; operations without an emitter call the interpreter's functions over
 *              lanes (lane_call)
 *   analysis/  what is decided before code is made: regions (plan), the width of a group
 *              (group_size), registers that its values take (register_pressure), the order of a
 *              block (block_order), NaNs (nan)
 *   value/     registers: where each lies (scalar, affine, vector), reads, writes; special
 *              registers, addresses of variables (symbol), cvta; pure instructions (pure_insn,
 *              evaluate); vectors that chunks share (lane_offsets), what scalars tell of predicates
 *              (predicate_bounds), counters (loop_counter), windows of local memory (local_window)
 *   memory/    loads and stores by access class (access_path), atomics, cp.async, alloca,
 *              prefetches
 *   warp/      instructions of a warp, ldmatrix and its kin, products of matrices (mma), one
 *              instruction by the interpreter (interp_step), calls of device functions
 *   control/   a kernel, from its IR to LLVM's (kernel): regions as loops over groups, blocks under
 *              masks, branches, loops
 *   process/   LLVM's part, from a snapshot to an object (compile), in this process or in another
 *              one (client, server)
 *   engine.c   the entry of the shared object
 *
 * Everything works on chunks of `width` lanes, `copies` of them at a time (ir/uniformity.h). A
 * predicate of a chunk is an i1 (uniform) or a vector of i1; registers of up to 16, 32, 64, 128
 * bits are i16, i32, i64, i128, those declared .f32 and .f64 float and double.
 */
#ifndef PTERA_BACKEND_JIT_JIT_H
#define PTERA_BACKEND_JIT_JIT_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "backend/exec.h"
#include "backend/jit/object/object.h"
#include "backend/jit/object/snapshot.h"
#include "backend/native.h"
#include "backend/observer.h"
#include "ir/inline.h"
#include "ir/origin.h"
#include "ir/row.h"
#include "ir/uniformity.h"

enum { JIT_COPIES = 16, JIT_SOURCES = 6, JIT_DESTS = 4, JIT_LOADED = 8, JIT_CHECKED_EXTENTS = 24 };

/* What is constant for a kernel. */
struct jit_unit {
    const struct jit_cpu *cpu;
    const struct jit_machine *machine;
    unsigned width; /* the CPU's: lanes of a chunk */
    struct jit_snapshot *snapshot;
    const struct pt_native_options *options; /* the snapshot's */
    struct pt_module *m;
    struct pt_func *f;
    const struct pt_inlined *inlined; /* what m and f are where calls were expanded, or NULL */
    struct pt_arena *arena;
    const char **why; /* what is set where generating gives up: to static text */
};

/* What analyses have found, before code is made. */
struct jit_facts {
    const struct jit_unit *unit;
    struct pt_uniformity *uniformity;
    struct pt_uniformity *row; /* likewise of groups that are a row of threads; NULL: not several */
    unsigned copies;
    struct jit_reg *regs;
    /* instructions that define registers, by register (def_use.c); room for a list of registers */
    uint32_t *defs, *roots;
    uint64_t *live_in;   /* pt_liveness_in */
    uint64_t *read;      /* registers that some instruction reads */
    uint64_t *streaming; /* stores that may go past the caches: nontemporal.c */
    uint64_t *partial;   /* blocks that not all live lanes of a group run together */
    /* warps run one by one and are suspended where they wait: resumable_warp.c */
    bool is_resumable;
    bool starts_full;         /* every group begins with all its lanes on */
    bool is_one_region;       /* the kernel is one region: no value goes through memory */
    bool has_steps;           /* the interpreter runs some instructions */
    uint32_t interleave_loop; /* the loop, + 1, in which CTAs interleave; 0: they do not */
    unsigned row_groups;      /* jit_cta_rows_find's */
    /* See struct pt_native; front_bytes of a warp lie at the start of scratch memory. */
    uint32_t scratch_bytes, front_bytes;
    uint32_t stack;               /* in scratch memory: where threads' stacks end (alloca.c) */
    struct jit_local {            /* local_memory.c */
        uint64_t *was_generic;    /* instructions: local accesses that had generic addresses */
        uint32_t rows, row_bytes; /* of a group's own, for its lanes' variables; 0: none */
    } local;
};

/* The function of LLVM's that is being made. */
struct jit_code {
    const struct jit_unit *unit;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    LLVMValueRef function;
    LLVMBuilderRef allocas; /* at the function's entry */

    /* Values of the whole function */
    LLVMBasicBlockRef start;      /* where each CTA of a row begins */
    LLVMBasicBlockRef *regions;   /* where each region begins */
    LLVMValueRef interleave_exit; /* in scratch memory: number of the exit taken */
    /* cta_interleave.c: where a turn begins that is not the first */
    LLVMBasicBlockRef interleave_resume;
    struct jit_cta_rows { /* cta_rows.c, allocas: the first group that runs, the row's first CTA */
        LLVMValueRef group, first;
    } rows;
    LLVMValueRef cta, launch, fault, scratch, params, shared;
    LLVMValueRef id[3];        /* i32: %ctaid */
    LLVMValueRef shared_bytes; /* i32: of the CTA's window */
    /* i32: where the interpreter runs some instructions, its registers of the group's warp */
    LLVMValueRef frame;
    LLVMValueRef warp, front; /* of a kernel whose warps are resumable; NULL in others */
    LLVMValueRef standing;    /* likewise, alloca: lanes of the warp that run the region */
    LLVMValueRef yielded; /* likewise: some have yielded at the back edge of a loop that waits */
    LLVMBasicBlockRef choose; /* likewise: where the next region is chosen */
    LLVMValueRef budget;      /* alloca: back edges until the next look at launch->stop */
    /* bar.red, allocas: lanes with a true predicate and lanes that have come so far */
    LLVMValueRef arrived[2];
    LLVMValueRef reduced[2];        /* likewise: of the barrier at which the region begins */
    LLVMValueRef streams;           /* i1: stores go past the caches */
    LLVMValueRef nowhere;           /* alloca: memory that nobody reads, or NULL */
    LLVMValueRef lanes[4];          /* allocas of lane_call.c */
    LLVMValueRef sampled;           /* alloca of texture.c */
    uint32_t n_lanes_used;          /* how often their memory has been asked for */
    LLVMValueRef byte_masks[4];     /* of mufu.c */
    LLVMValueRef blamed[2];         /* allocas of fault.c */
    LLVMValueRef offsets;           /* alloca of atomic.c */
    LLVMValueRef local[JIT_COPIES]; /* allocas of local_rows.c */
    struct jit_loaded { /* lane_address.c: vectors that instructions have loaded, lately */
        uint32_t insn;
        LLVMValueRef vector[JIT_COPIES];
    } loaded[JIT_LOADED];

    struct jit_checked {            /* mem_check.c: */
        struct jit_checked_extent { /* memory that accesses through a pointer lay in */
            const struct pt_operand *pointer;
            uint32_t origin; /* ir/origin.h */
            bool is_write, is_global;
            LLVMValueRef first, bytes; /* allocas, i64 */
        } extents[JIT_CHECKED_EXTENTS];
        uint32_t n;
        uint8_t *of; /* by instruction: its extent's index */
        const struct pt_origins *origins;
        LLVMValueRef releases;         /* alloca: what was freed when they were found */
        LLVMValueRef found, addresses; /* allocas: of jit_help_check */
    } checked;
    /* coverage.c: which counters there are, and where; NULL: none is counted */
    const struct pt_coverage *coverage;
    LLVMValueRef covered;
    uint32_t n_generated; /* LLVM's instructions, in all basic blocks but the one being generated */
    struct jit_part {     /* code_size.c: of it, as far as it has been looked at */
        LLVMBasicBlockRef block;
        LLVMValueRef last;
        uint32_t n;
    } part;
    uint32_t scratch_bytes; /* what code uses of scratch memory, if more than is planned */
    uint32_t n_in_parts;    /* in basic blocks that became several */
    bool is_light;          /* made by few passes in linear time, for its size */
    struct jit_debug *debug;
    PT_VEC(struct jit_proof {
        LLVMValueRef value;
        const char *what;
    })
    proofs; /* of jit_check_proven */
};

/* Where generating stands: a cursor, which is passed. Who wants it elsewhere passes a copy, so that
 * nothing has to be put back; only what goes from instruction to instruction (jit_visit_insn,
 * jit_guard_apply) moves the cursor of its caller. */
struct jit {
    const struct jit_unit *unit;
    const struct jit_facts *facts;
    struct jit_code *code;
    LLVMValueRef group; /* i32: of the region's loop */
    /* Copies for which code is generated: all, but where a block runs in parts (chain_split.c). */
    unsigned first_copy, end_copy;
    uint32_t block;
    const struct pt_insn *insn;
    const struct pt_form *form;
    /* Lanes that run `insn`, by copy: vectors of i1; NULL: all of the chunk (or, where shapes are
     * scalar, it runs at all). */
    LLVMValueRef mask[JIT_COPIES];
    LLVMValueRef guard; /* uniform guard of `insn` (i1, of this copy), or NULL */
    /* The block does nothing in inactive lanes but write what is there, and runs in any case. */
    bool only_rewrites;
    LLVMValueRef alone; /* i32: the lane of the chunk that runs (per_lane_loop.c); NULL: all do */
    /* The rest of `block` is generated in versions, and goes on behind all of them at one place. */
    bool is_version;
    /* Instructions whose accesses have been tested (jit_access_path_test), and those of which not
     * all tests hold; NULL: none. */
    uint64_t *trusted, *distrusted;
    struct jit_stream *stream; /* of the store's chunks together (nontemporal.h); NULL: of each */
    const struct jit_interleaved *interleaved; /* accesses that become one; NULL: none */
    struct jit_overlap *overlaps;              /* loads that share elements; NULL: none */
    const struct jit_structure *structures;    /* accesses that run as one; NULL: none */
    const struct jit_kept_load *kept; /* what groups load that others of the CTA use; NULL: none */
    /* region_versions.c: a register on whose lowest bits versions of the region rest, or 0; these
     * bits in this version, NULL: others than in those that know them. */
    uint32_t mixer;
    const uint32_t *low;
};

enum jit_shape {
    JIT_SCALAR, /* one value a group, or a chunk: the same in all lanes */
    JIT_AFFINE, /* the value of lane 0 of each chunk; lane i holds i strides more */
    JIT_VECTOR
};

/* What bounds say of a predicate (i1): it holds in all lanes of the group, or in none. */
struct jit_bounds {
    LLVMValueRef all, none;
};

/* A register: what analyses know of it, and where LLVM has it. Storage is in allocas, which LLVM
 * turns into SSA values. */
struct jit_reg {
    uint8_t shape; /* enum jit_shape */
    /* A value for each chunk of the group; affine: not if it goes on from chunk to chunk. */
    bool is_per_copy;
    bool may_wrap;        /* affine: the form may not hold (wide, fits) */
    bool is_noncanonical; /* its NaNs may not be canonical */
    bool is_finite;       /* f32: neither NaN nor infinite */
    bool is_quiet;        /* 32 bits: as f32 no signalling NaN */
    bool is_bounded;      /* a predicate, known by bounds: predicate_bounds.c */
    bool is_sunk;         /* likewise, and its lanes are computed only where lanes diverge */
    bool is_counter;      /* likewise, of a counter: loop_counter.c */
    /* Live from one region into another, and then one of these, or spilled to scratch memory: */
    bool crosses;
    bool is_in_frame;    /* in the interpreter's frame of the warp: jit_scratch_layout_frame_slot */
    bool is_cta_uniform; /* the same in the whole CTA: in the variables cta_value and cta_next */
    bool is_remat;       /* rematerialised in each region: cheap, from what is always at hand */
    uint32_t only;       /* its only definition; UINT32_MAX: it has several */
    uint32_t def;        /* the same, where it may be repeated; else UINT32_MAX */
    uint32_t defs, n_defs; /* all of them, ascending: in jit_facts.defs */
    /* Of a counter: instructions that set and change it, its loop + 1 (0: it is none). */
    uint32_t counter_init, counter_step, counter_loop;
    /* Crosses: offset in scratch memory, of a group's part of the register, or in the frame;
     * is_cta_uniform, where CTAs interleave: of cta_value and cta_next. */
    uint32_t scratch, scratch_next, scratch_bytes;

    LLVMTypeRef type; /* iN, float, double; i1 for predicates */
    /* Scalar: the value; affine: of lane 0; vector: the lanes (masks in the form of slots).
     * is_in_memory: where it is spilled. */
    bool is_in_memory;
    LLVMValueRef slot[JIT_COPIES];
    /* may_wrap: the lanes of each copy, and whether the affine form holds */
    LLVMValueRef wide[JIT_COPIES], fits[JIT_COPIES];
    /* of a counter, alloca: its value in the lanes that are in the loop */
    LLVMValueRef counter;
    struct jit_bounds bounds; /* of a predicate, allocas; NULL: nothing is known */
    /* Vectors that are kept so as well (jit_lane_offsets_find); the offsets if they are
     * constant. */
    LLVMValueRef origin[JIT_COPIES], offsets[JIT_COPIES], known[JIT_COPIES];
    /* is_cta_uniform: what the regions agree on, and what this region makes of it */
    LLVMValueRef cta_value, cta_next;
};

/* Generating gives up, for a reason that is static text. */
static inline bool jit_refuse(const struct jit_unit *u, const char *why)
{
    *u->why = why;
    return false;
}

/* Each access is checked. */
static inline bool jit_is_checked(const struct jit_unit *u)
{
    return u->snapshot->tests & PT_TEST_mem;
}

/* Chunks of a warp. */
static inline unsigned jit_warp_chunks(const struct jit *j)
{
    return PT_WARP_SIZE / j->unit->width;
}

#endif
