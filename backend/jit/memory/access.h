/* Loads and stores: what an instruction accesses, and the ways in which a chunk's lanes do it.
 *
 *   access.c              what, where, and the loads and stores that accesses are made of
 *   access_path.c         which way an access goes
 *   contiguous.c          lanes side by side: vectors
 *   lane_permute.c, store_pair.c  lanes in an order that shows only at run time, and two stores of such as one
 *   gather.c              lanes anywhere
 *   nontemporal.c         stores past the caches
 *   interleave.c          several instructions as one access
 *   overlapping_loads.c   loads that share most of their elements
 */
#ifndef PTERA_BACKEND_JIT_ACCESS_H
#define PTERA_BACKEND_JIT_ACCESS_H

#include "backend/jit/control/region.h"

struct jit_access {
    bool is_load;
    enum pt_type type;
    unsigned bytes, n;   /* of an element, elements */
    LLVMTypeRef element; /* iN */
    const struct pt_operand *base;
    enum pt_space space;
    enum pt_space window; /* CONST, PARAM: `base` is a register with an offset in that window; else GENERIC */
    struct pt_operand values[8]; /* registers or constants */
    bool extends_sign;
    bool is_constant; /* memory that no kernel changes */
    bool gives_back;  /* a store of what may have been loaded from there: LLVM takes it for nothing, where it may fail */
    enum pt_order order;
};

/* ---- access.c ---- */

/* What j->insn accesses; false with j->why set if it is no load or store that can be native. */
bool jit_describe(struct jit *j, struct jit_access *a);
/* Likewise of an instruction that is looked at for another's sake: j->why stays as it is. */
bool jit_try_describe(struct jit *j, struct jit_access *a);

/* The address is that of a variable of the space, which instructions without a state space may name, too. */
bool jit_names(const struct jit *j, const struct pt_operand *base, enum pt_space space);
/* A place of `bytes` in `space` that other instructions access: base, bytes, space. False with j->why set if it cannot be native. */
bool jit_describe_place(struct jit *j, const struct pt_operand *mem, enum pt_space space,
                        unsigned bytes, struct jit_access *a);

/* An address, or addresses, in a->window (GENERIC: as they are) as generic ones. */
LLVMValueRef jit_from_window(struct jit *j, const struct jit_access *a, LLVMValueRef address);
/* Address of one lane, or of all, as integers with the constant part added; generic but for shared and local accesses. */
LLVMValueRef jit_address(struct jit *j, const struct jit_access *a, unsigned copy, unsigned lanes);
/* The integer address (or addresses) as pointers. */
LLVMValueRef jit_pointer(struct jit *j, const struct jit_access *a, LLVMValueRef address);
/* base + index * scale for indexes of 32 bits. Gathers take signed ones: for unsigned ones all are moved by half the range. */
LLVMValueRef jit_indexed(struct jit *j, LLVMValueRef base, LLVMValueRef index, uint64_t scale,
                         bool is_signed);
/* A kernel's parameter. */
LLVMValueRef jit_parameter(struct jit *j, const struct jit_access *a);
/* Local accesses: from offsets to addresses, and none beyond the window. */
LLVMValueRef jit_in_window(struct jit *j, const struct jit_access *a, unsigned copy,
                           LLVMValueRef offsets);

LLVMValueRef jit_misaligned(struct jit *j, const struct jit_access *a, LLVMValueRef address);
/* j->insn's accesses have been tested: see jit_test_access. */
bool jit_is_trusted(const struct jit *j);
/* Misaligned addresses fail: one of all lanes of a copy and those behind that share it, or of those in the mask (NULL: all). The
 * report leaves them out: held until then, they would take registers where nothing fails. */
void jit_check_one(struct jit *j, const struct jit_access *a, unsigned copy, LLVMValueRef address);
void jit_check_all(struct jit *j, const struct jit_access *a, unsigned copy, LLVMValueRef addresses,
                   LLVMValueRef mask);

/* Element i of a vector access. */
LLVMValueRef jit_element(struct jit *j, const struct jit_access *a, LLVMValueRef pointer,
                         unsigned i);
LLVMValueRef jit_load_at(struct jit *j, const struct jit_access *a, LLVMTypeRef type,
                         LLVMValueRef pointer, unsigned align);
void jit_store_at(struct jit *j, const struct jit_access *a, LLVMValueRef value,
                  LLVMValueRef pointer);
/* Lanes of x and y (NULL: x alone), n of them. */
LLVMValueRef jit_shuffle(struct jit *j, LLVMValueRef x, LLVMValueRef y, const int *lanes,
                         unsigned n);
/* The lanes of n vectors, a power of two, as one vector. (warp.c) */
LLVMValueRef jit_join(struct jit *j, LLVMValueRef *parts, unsigned n);
/* A call of llvm.masked.*, of which argument `pointer` is the pointer or the pointers, aligned to `align`. */
LLVMValueRef jit_masked(struct jit *j, const char *name, LLVMTypeRef types[2], LLVMValueRef args[3],
                        unsigned pointer, unsigned align);

/* An access that goes one of several ways: the blocks in which they end go on together. */
struct jit_ways {
    LLVMBasicBlockRef after;
    LLVMValueRef loaded[8]; /* phis */
    unsigned n;
};

void jit_begin_ways(struct jit *j, const struct jit_access *a, struct jit_ways *ways);
/* A way ends here, having loaded v. */
void jit_end_way(struct jit *j, struct jit_ways *ways, LLVMValueRef *v);
/* Goes on behind all of them with what was loaded. */
void jit_join_ways(struct jit *j, const struct jit_ways *ways, LLVMValueRef *v);

/* ---- interleave.c ---- */

/* Accesses that run together: by address; where the first stands, and the last, which runs them. */
struct jit_join {
    const struct jit_join *next;
    uint32_t insns[8], n, first, last;
};

/* That of j->insn, or NULL. */
const struct jit_join *jit_join_of(const struct jit *j);
/* What they access together. j->insn becomes the first. */
void jit_describe_join(struct jit *j, const struct jit_join *join, struct jit_access *a);

/* ---- overlapping_loads.c ---- */

/* Finds those of the instructions, in the order they run, whose accesses are in j->trusted and overlap: j->overlaps. */
void jit_find_overlaps(struct jit *j, const uint32_t *insns, uint32_t n);
/* j->insn as one of them; false if it loads by itself. */
bool jit_load_overlapping(struct jit *j, const struct jit_access *a, unsigned copy);

/* ---- access_path.c ---- */

/* Lanes in a run, or at a constant distance, from `address` on. */
void jit_access_run(struct jit *j, const struct jit_access *a, unsigned copy, LLVMValueRef address,
                    LLVMValueRef *v);
/* A way: a run of lanes from `address` on, if `is_run`; else on behind this. */
void jit_run_if(struct jit *j, const struct jit_access *a, unsigned copy, struct jit_ways *ways,
                LLVMValueRef is_run, LLVMValueRef address, const LLVMValueRef *v);

/* ---- contiguous.c ---- */

/* Consecutive lanes. v[i]: element i of all lanes. */
void jit_load_run(struct jit *j, const struct jit_access *a, LLVMValueRef pointer,
                  LLVMValueRef mask, LLVMValueRef *v);
void jit_store_run(struct jit *j, const struct jit_access *a, LLVMValueRef pointer,
                   LLVMValueRef mask, LLVMValueRef *v);
/* Lanes that are off may have what is in their memory written once more, which is much less work than leaving it out: it is the
 * CTA's own. jit_is_own (i1): so many elements from the pointer on are all the CTA's. */
bool jit_may_rewrite(const struct jit *j, const struct jit_access *a);
LLVMValueRef jit_is_own(struct jit *j, const struct jit_access *a, LLVMValueRef pointer,
                        unsigned elements);
/* j->insn is a store that may do so, if it is tested before that all is the CTA's own. */
bool jit_is_rewriting(const struct jit *j, const struct jit_access *a);
/* All lanes a few elements apart, or in falling order: vector accesses. `pointer` is that of lane 0. */
bool jit_is_near(const struct jit *j, const struct jit_access *a, int64_t stride);
void jit_load_near(struct jit *j, const struct jit_access *a, LLVMValueRef pointer, int64_t stride,
                   LLVMValueRef *v);
void jit_store_near(struct jit *j, const struct jit_access *a, LLVMValueRef pointer, int64_t stride,
                    LLVMValueRef *v);

/* ---- nontemporal.c ---- */

/* Finds the stores that may go past the caches. */
void jit_plan_streams(struct jit *j);
/* j->insn is one. */
bool jit_is_streaming(const struct jit *j);
/* All lanes of a run. */
void jit_store_stream(struct jit *j, const struct jit_access *a, LLVMValueRef value,
                      LLVMValueRef pointer);

/* ---- lane_permute.c ---- */

/* Where thread indexes alone tell the addresses apart. False if it is not worth asking how they lie. */
bool jit_access_computed(struct jit *j, const struct jit_access *a, unsigned copy, LLVMValueRef *v);
/* As jit_test_access, where it is known how they lie. */
bool jit_test_computed(struct jit *j, const struct jit_access *a, const uint64_t *written,
                       LLVMValueRef *test);

/* ---- gather.c ---- */

/* All lanes at a constant distance that keeps them aligned. */
void jit_access_apart(struct jit *j, const struct jit_access *a, LLVMValueRef pointer,
                      int64_t stride, LLVMValueRef *v);
/* Where the lanes of a chunk go one by one; those that are off touch memory that nobody reads. */
void jit_lane_pointers(struct jit *j, const struct jit_access *a, unsigned copy,
                       LLVMValueRef addresses, LLVMValueRef *pointers);
/* Lanes anywhere; misaligned ones fail. */
void jit_access_any(struct jit *j, const struct jit_access *a, unsigned copy, LLVMValueRef *v);

#endif
