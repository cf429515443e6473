/* The CPU that code is made for, as cpu.def describes it. */
#ifndef PTERA_BACKEND_JIT_LLVM_CPU_H
#define PTERA_BACKEND_JIT_LLVM_CPU_H

#include <stdbool.h>

/* What code may assume, and what is worth its while. */
struct jit_cpu {
    const char *level;           /* "v2", "v3", "v4", "aarch64" */
    bool (*is_host)(void);       /* NULL, or whether this host can be it */
    const char *llvm_cpu;        /* whose instructions LLVM takes */
    const char *llvm_features;   /* more, or fewer */
    unsigned vector_bytes;       /* of a register; a chunk has that many lanes of 32 bits */
    unsigned vector_registers;   /* that values may take */
    unsigned shuffle_bytes;      /* of a vector within which elements go anywhere at once */
    bool has_mask_registers;     /* vectors of i1 live in registers of their own */
    bool has_masked_access;      /* loads and stores of some lanes of a vector */
    bool has_fast_masked_store;  /* such stores take little more than plain ones */
    bool has_gather;             /* gathers and scatters are faster than lanes one by one */
    bool has_slow_gather;        /* gathers are slower, but less code */
    bool multiplies_every_other; /* lanes of 32 bits of a vector, to products of 64 bits */
    bool has_fma;
    bool has_f16_conversion;
    bool has_embedded_rounding; /* f32 vectors are rounded as the instruction says */
    bool saturates_conversions; /* of floating point to integers: to their limits, NaN to 0 */
    bool has_vex;               /* instructions name a place for the result beside their sources */
    /* f64: a NaN result is the first operand that is NaN, made quiet, else 0xfff8000000000000; of
     * fused ones factors come first. */
    bool has_first_nan;
    bool has_fixup;       /* VFIXUPIMM and VRANGE on vectors of f64 */
    bool has_byte_lookup; /* bytes are looked up in vectors, and their products added */
};

/* What the host does by itself, whatever level code is made for. */
struct jit_machine {
    const char *name;      /* how LLVM's name of it begins */
    unsigned line_bytes;   /* of its caches */
    unsigned stream_bytes; /* it reads ahead where steps are shorter, and not beyond such a page */
    bool follows_parts;    /* and where CTAs, or lanes one by one, touch short parts in a row */
    bool scatters_slowly;  /* into its caches: lanes one by one are faster */
};

/* The first of the level that the host can be. NULL: there is no such level. This and the width
 * need nothing of LLVM, which ends the process where it has no memory: hosts of a compiler process
 * ask, too. */
const struct jit_cpu *jit_cpu_find(const char *level);

/* Its lanes of 32 bits in a vector; 0: there is no such level. */
unsigned jit_cpu_width(const char *level);

/* LLVM's name of the host, which code is tuned for. NULL: no memory. */
const char *jit_cpu_host(void);

/* What is known of the host of that name. */
const struct jit_machine *jit_cpu_machine(const char *host);

#endif
