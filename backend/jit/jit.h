/* The inside of the compiler: what generating one kernel knows. README.md has the floors; by folder, from the lowest up:
 *
 *   object/    machine code as data; knows no LLVM. A kernel as bytes (snapshot), objects to memory (loader), on disk (cache), what
 *              they call (support, frontier: where lanes of a warp stand), gdb and perf (debugger)
 *   llvm/      LLVM's API made small: target machine and passes, allocas to values (ssa), line tables (debug_info), where launches
 *              end early (fault), how large a kernel may be (code_size), what is promised to LLVM, in builds for tests (check)
 *   emit/      what pure instructions compute: a few LLVM instructions each, over scalars or vectors alike; operations without an
 *              emitter call the interpreter's functions over lanes (lane_call)
 *   analysis/  what is decided before code is made: regions (plan), the width of a group (group_size), registers that its values
 *              take (register_pressure), the order of a block (block_order), NaNs (nan)
 *   value/     registers: where each lies (scalar, affine, vector), reads, writes; vectors that chunks share (lane_offsets), what
 *              scalars tell of predicates (predicate_bounds), counters (loop_counter), windows of local memory (local_window)
 *   memory/    loads and stores by access class (access_path), atomics, cp.async, alloca, prefetches
 *   warp/      instructions of a warp, ldmatrix and its kin, products of matrices (mma), one instruction by the interpreter
 *              (interp_step), calls of device functions
 *   control/   a kernel, from its IR to LLVM's (kernel): regions as loops over groups, blocks under masks, branches, loops
 *   process/   LLVM's part, from a snapshot to an object (compile), in this process or in another one (client, server)
 *   engine.c   the entry of the shared object
 *
 * Everything works on chunks of `width` lanes, `copies` of them at a time (ir/vary.h). A predicate of a chunk is an
 * i1 (uniform) or a vector of i1; registers of up to 16, 32, 64, 128 bits are i16, i32, i64, i128, those declared
 * .f32 and .f64 float and double.
 */
#ifndef PTERA_BACKEND_JIT_JIT_H
#define PTERA_BACKEND_JIT_JIT_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "backend/exec.h"
#include "backend/jit/object/object.h"
#include "backend/jit/object/snapshot.h"
#include "ir/inline.h"
#include "ir/row.h"
#include "ir/vary.h"

enum {
    JIT_COPIES = 16,
    JIT_SOURCES = 6,
    JIT_DESTS = 4,
    JIT_TOGETHER = 32,    /* CTAs that take turns */
    JIT_LANES_MOST = 256, /* of a call of a lane function */
    JIT_BUDGET = 1 << 16 /* back edges between looks at launch->stop */
};

/* ---- target.c ---------------------------------------------------------------------------------------------- */

struct jit_target {
    char cpu[64], features[2048];
    char *triple;
    unsigned width;          /* lanes of 32 bits in a vector: 4, 8, 16 */
    bool has_mask_registers; /* AVX-512: vectors of i1 live in registers of their own */
    bool has_masked_access;  /* AVX2 on: loads and stores of some lanes of a vector */
    bool has_fma;
    bool follows_parts; /* the machine reads ahead by itself where CTAs, or lanes one by one, touch short parts that follow one another */
};

struct jit;

/* The machine with no more than `level` ("v2", "v3", "v4", "aarch64") has; NULL if LLVM knows no such target. */
const struct jit_target *jit_target(const char *level);
/* Its width, without LLVM, which ends the process where it has no memory: for hosts of a compiler process. 0: there is no such level. */
unsigned jit_target_width(const char *level);
/* What code is tuned for. NULL: no memory. */
const char *jit_host_cpu(void);
LLVMTargetMachineRef jit_target_machine(const struct jit_target *target, LLVMCodeGenOptLevel level);
/* Optimises j->module; finds j->is_light. */
void jit_optimise(struct jit *j, LLVMTargetMachineRef machine);

/* ---- generating one kernel ----------------------------------------------------------------------------------- */

struct jit_reg;   /* registers.c */
struct jit_join;  /* interleave.c */
struct jit_overlap; /* overlapping_loads.c */
struct jit_debug; /* debug_info.c */

struct jit {
    const struct jit_target *target;
    struct jit_snapshot *snapshot;
    const struct pt_native_options *options; /* the snapshot's */
    struct pt_module *m;
    struct pt_func *f;
    const struct pt_inlined *inlined; /* what m and f are where calls were expanded, or NULL */
    struct pt_vary *vary;
    struct pt_vary *row; /* likewise of groups that are a row of threads, where a group has several; else NULL */
    struct pt_arena *arena;
    const char *why; /* set where generating gives up: static text */
    uint32_t scratch_bytes; /* to be set: see struct pt_native */
    uint32_t front_bytes;   /* likewise */
    uint32_t stack;         /* in scratch memory: where threads' stacks end (alloca.c) */
    uint32_t turn_loop;     /* the loop, + 1, in which CTAs take turns; PT_NONE: they do not */
    bool has_steps;         /* the interpreter runs some instructions */
    bool is_light;          /* made by few passes in linear time, for its size */

    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    LLVMValueRef function;
    unsigned width, copies;
    unsigned first_copy, end_copy; /* those for which code is generated: all, but in jit_run_strands */

    /* Values of the whole function */
    LLVMBuilderRef allocas;     /* at the function's entry */
    LLVMBasicBlockRef start;    /* where each CTA of a row begins */
    LLVMValueRef cta, launch, fault, scratch, params, shared;
    LLVMValueRef id[3];         /* i32: %ctaid */
    LLVMValueRef shared_bytes;  /* i32: of the CTA's window */
    LLVMValueRef group;         /* i32: of the region loop being generated */
    LLVMValueRef frame;         /* likewise, where the interpreter runs some instructions: its registers of the group's warp */
    LLVMValueRef warp, front;   /* of a kernel whose warps run apart; NULL in others */
    LLVMValueRef standing;      /* likewise, alloca: lanes of the warp that run the region */
    LLVMValueRef turned;        /* likewise: some have taken the back edge of a loop that waits */
    LLVMBasicBlockRef choose;   /* likewise: where the next region is chosen */
    LLVMValueRef budget;        /* alloca: back edges until the next look at launch->stop */
    LLVMValueRef arrived[2];    /* bar.red, allocas: lanes with a true predicate and lanes that have come so far */
    LLVMValueRef reduced[2];    /* likewise: of the barrier at which the region begins */
    LLVMValueRef nowhere;       /* alloca: memory that nobody reads, or NULL */
    LLVMValueRef lanes[4];      /* allocas of lane_call.c */
    uint32_t n_lanes_used;      /* how often their memory has been asked for */
    LLVMValueRef blamed[2];     /* allocas of fault.c */
    LLVMValueRef offsets;       /* alloca of atomic.c */
    uint64_t *live_in;          /* pt_live_in */
    uint64_t *read;             /* registers that some instruction reads */
    uint64_t *streaming;        /* stores that may go past the caches: nontemporal.c */
    LLVMValueRef streams;       /* i1: they do */
    uint64_t *partial;          /* blocks that not all live lanes of a group run together */
    bool
        only_rewrites; /* the block does nothing in lanes that are off but write what is there, and runs in any case */
    bool runs_apart;            /* warps run one by one, until they wait: resumable_warp.c */
    bool starts_full;           /* every group begins with all its lanes on */
    bool is_one_region;         /* the kernel is one region: no value goes through memory */

    uint32_t n_generated;       /* LLVM's instructions, in all basic blocks but the one being generated */
    struct jit_part {           /* code_size.c: of it, as far as it has been looked at */
        LLVMBasicBlockRef block;
        LLVMValueRef last;
        uint32_t n;
    } part;
    uint32_t n_in_parts;        /* in basic blocks that became several */

    uint32_t block;             /* being generated */
    const struct pt_insn *insn; /* likewise */
    const struct pt_form *form;
    bool is_alone;   /* one lane runs, in loops through rows of memory: per_lane_loop.c */
    bool is_version; /* the rest of `block` is generated in versions, and goes on behind all of them at one place */
    /* Lanes that run `insn`, by copy: vectors of i1; NULL: all of the chunk (or, in a scalar place, it runs at all). */
    LLVMValueRef mask[JIT_COPIES];
    uint64_t *trusted;    /* instructions whose accesses have been tested: see jit_test_access; NULL: none */
    uint64_t *distrusted; /* likewise, where not all of the tests hold */
    const struct jit_join *joins; /* accesses that run together with others; NULL: none */
    struct jit_overlap *overlaps; /* loads that share elements; NULL: none */
    LLVMValueRef guard;         /* uniform guard of `insn` (i1, of this copy), or NULL */
    uint32_t mixer;       /* a register on whose lowest bits versions of the region rest, or 0: region_versions.c */
    const uint32_t *low;  /* these bits in this version; NULL: they are others than in those that know them */
    struct jit_reg *regs;
    uint32_t *defs, *roots; /* instructions that define registers, by register (remat.c); room for a list of registers */
    struct jit_debug *debug;
    PT_VEC(struct jit_proof {
        LLVMValueRef value;
        const char *what;
    }) proofs; /* of jit_proven */
};

/* The generator: makes the function JIT_ENTRY, with the signature of pt_native.run or resume, in j->module; context, module and
 * builder are there, the arena's oom is set. False with j->why if the kernel cannot be native. */
bool jit_generate(struct jit *j);

/* The CTA is through: the next of the row begins, or native code returns. (kernel.c) */
void jit_end_cta(struct jit *j);

/* Where instruction `insn` of j->f comes from. (kernel.c) */
struct pt_place jit_place(const struct jit *j, uint32_t insn);

/* ---- ssa.c ----------------------------------------------------------------------------------------------- */

/* Allocas of the whole function j->function that are only read and written become values. False if some do not, since that would take
 * too long. */
bool jit_promote(struct jit *j);

/* ---- code_size.c -------------------------------------------------------------------------------------------------- */

/* The basic block being generated is left for another one. */
void jit_count_block(struct jit *j);
/* False with j->why set where so much code has been generated that the kernel is not made. */
bool jit_is_bounded(struct jit *j);
/* Called behind each instruction of the kernel: long basic blocks become several. */
void jit_part_block(struct jit *j);
/* The code, all of which is generated, is too much for passes that take more than twice the time for twice the code. */
bool jit_is_large(const struct jit *j);
/* LLVM's instructions in it. */
uint32_t jit_count_code(const struct jit *j);

/* ---- debug_info.c ------------------------------------------------------------------------------------------------- */

/* What the builder makes from here on in its function belongs to instruction `insn` of j->f (UINT32_MAX: to none). */
void jit_debug_place(struct jit *j, uint32_t insn);
/* Once the module is whole. */
void jit_debug_finish(struct jit *j);

/* ---- emitters -------------------------------------------------------------------------------------------------- */

/* One pure operation over scalars (lanes == 1) or over vectors of `lanes`. Sources have the types of the form's slots: iN
 * (8, 16, 32, 64, 128 bits), float, double; .f16, .bf16 and packed types are iN; predicates i1; all of them vectors if
 * lanes > 1, constants included. A source in a wider register has been narrowed. */
struct jit_op {
    struct jit *j;
    LLVMBuilderRef b;
    unsigned lanes;
    const struct pt_form *form;
    const struct pt_insn *insn;
    unsigned n;                    /* sources, flattened in the order written (vectors, pairs) */
    LLVMValueRef a[JIT_SOURCES];
    bool negated[JIT_SOURCES];     /* a predicate source written !p: already applied to a[] */
    LLVMValueRef d[JIT_DESTS];     /* to be set: of the destination slots' types; d|q is two */
    bool is_number; /* to be set where d[0] is the result of f32 arithmetic: its NaNs are not canonical yet (0x7fffffff),
                       which is done where bits become visible. NaNs of f64 have payloads: emitters give all their bits */
};

/* Returns false if this form has no emitter (nothing has been built). */
typedef bool jit_emitter(struct jit_op *op);

/* The emitter of a form's row, or NULL. (helpers.c: one table) */
jit_emitter *jit_emitter_of(struct jit *j, const struct pt_form *form);

/* ---- helpers of emitters (helpers.c) ---- */
LLVMTypeRef jit_int_type(struct jit *j, unsigned bits, unsigned lanes);
LLVMTypeRef jit_float_type(struct jit *j, unsigned bits, unsigned lanes); /* 16 (half), 32, 64 */
/* The LLVM type of a value of a PTX type, as sources of emitters have it. */
LLVMTypeRef jit_type(struct jit *j, enum pt_type type, unsigned lanes);
/* A constant of all lanes of an integer type, or of a floating-point type by its value. */
LLVMValueRef jit_const(LLVMTypeRef type, uint64_t value);
LLVMValueRef jit_const_real(LLVMTypeRef type, double value);
/* A call of an overloaded intrinsic ("llvm.fma"), overloaded on `type`. */
LLVMValueRef jit_intrinsic(struct jit *j, const char *name, LLVMTypeRef type, LLVMValueRef *args,
                           unsigned n);
/* An f32 value whose NaNs are canonical; others as they are. */
LLVMValueRef jit_canonical(struct jit *j, LLVMValueRef value);
/* An f32 value whose subnormals are zeros of their sign. */
LLVMValueRef jit_flush(struct jit *j, LLVMValueRef value);

/* check.c: notes that the value, where it is an instruction, is defined in spite of what needs a proof in it ("amount", "divisor",
 * "index" …), which stands beside the call. Returns it. */
LLVMValueRef jit_proven(struct jit *j, LLVMValueRef value, const char *what);
/* check.c: false with a text where something in the module is not proven; in builds that do not look, true. */
bool jit_check(struct jit *j, char *text, size_t size);

/* lane_call.c: an operation by the interpreter's own function (backend/lanes.h): arguments go to memory, the function runs over
 * the lanes, results come back. False if the form has none. */
bool jit_call_lanes(struct jit_op *op);
/* The same for n operations of one form at once, of n * lanes <= JIT_LANES_MOST. */
bool jit_call_lanes_together(struct jit_op *ops, unsigned n);
/* Source i of the k-th of such operations goes to memory at once, and is NULL then: the next call takes it from there. */
void jit_store_lanes(struct jit_op *op, unsigned i, unsigned k);
/* True if there is such a function. */
bool jit_has_lanes(const struct jit *j, const struct pt_form *form);
/* True if such a call is how the form is compiled. */
bool jit_needs_call(struct jit *j, const struct pt_form *form);
/* Memory of JIT_LANES_MOST elements of 8 bytes, aligned to 64, for argument i < 4 of such calls. */
LLVMValueRef jit_lanes_memory(struct jit *j, unsigned i);
/* A function, by its name in object.h, that reads and writes what its arguments point to and nothing else. */
LLVMValueRef jit_declare(struct jit *j, const char *prefix, const char *name, LLVMTypeRef type);
/* The same of one lane, for an operation of two sources of 32 bits by its name. */
LLVMValueRef jit_call_one(struct jit *j, const char *name, LLVMValueRef a, LLVMValueRef b);

#endif
