/* Loads and stores: what an instruction accesses, and what accesses are made of. */
#ifndef PTERA_BACKEND_JIT_MEMORY_ACCESS_H
#define PTERA_BACKEND_JIT_MEMORY_ACCESS_H

#include "backend/jit/jit.h"
#include "backend/order.h"

struct jit_access {
    bool is_load;
    enum pt_type type;
    unsigned bytes, n;   /* of an element, elements */
    LLVMTypeRef element; /* iN */
    const struct pt_operand *base;
    enum pt_space space;
    /* CONST, PARAM: `base` is a register with an offset in that window; else GENERIC */
    enum pt_space window;
    struct pt_operand values[8]; /* registers or constants */
    bool extends_sign;
    bool is_constant; /* memory that no kernel changes */
    bool was_generic; /* local: no window bounds it (jit_local_memory_was_generic) */
    /* a store of what may have been loaded from there: LLVM takes it for nothing, where it may
     * fail */
    bool gives_back;
    enum pt_order order;
};

/* An access that goes one of several ways: the blocks in which they end go on together. */
struct jit_ways {
    LLVMBasicBlockRef after;
    LLVMValueRef loaded[8]; /* phis */
    unsigned n;
};

/* Accesses that run together: by address; where the first stands, and the last, which runs them. */
struct jit_interleaved {
    const struct jit_interleaved *next;
    uint32_t insns[8], n, first, last;
    bool has_guards; /* each may have its own */
};

/* What j->insn accesses; false with unit->why set if it is no load or store that can be native. */
bool jit_access_describe(const struct jit *j, struct jit_access *a);

/* Likewise of an instruction that is looked at for another's sake: refuses nothing. */
bool jit_access_try_describe(const struct jit *j, struct jit_access *a);

/* The base of what another instruction accesses, a load or store that can be native. */
const struct pt_operand *jit_access_base_of(const struct jit *j, uint32_t insn);

/* The address is that of a variable of the space, which instructions without a state space may
 * name, too. */
bool jit_access_names(const struct jit *j, const struct pt_operand *base, enum pt_space space);

/* A place of `bytes` in `space` that other instructions access: base, bytes, space. False with
 * unit->why set if it cannot be native. */
bool jit_access_describe_place(const struct jit *j, const struct pt_operand *mem,
                               enum pt_space space, unsigned bytes, struct jit_access *a);

/* An address, or addresses, in a->window (GENERIC: as they are) as generic ones. */
LLVMValueRef jit_access_from_window(const struct jit *j, const struct jit_access *a,
                                    LLVMValueRef address);

/* Address of one lane, or of all, as integers with the constant part added; generic but for shared
 * and local accesses. */
LLVMValueRef jit_access_address(const struct jit *j, const struct jit_access *a, unsigned copy,
                                unsigned lanes);

/* The integer address (or addresses) as pointers. */
LLVMValueRef jit_access_pointer(const struct jit *j, const struct jit_access *a,
                                LLVMValueRef address);

/* base + index * scale for indexes of 32 bits. Gathers take signed ones: for unsigned ones all are
 * moved by half the range. */
LLVMValueRef jit_access_indexed(const struct jit *j, LLVMValueRef base, LLVMValueRef index,
                                uint64_t scale, bool is_signed);

/* A kernel's parameter. */
LLVMValueRef jit_access_parameter(const struct jit *j, const struct jit_access *a);

/* Local accesses: from offsets to addresses, and none beyond the window. */
LLVMValueRef jit_access_in_window(const struct jit *j, const struct jit_access *a, unsigned copy,
                                  LLVMValueRef offsets);

LLVMValueRef jit_access_misaligned(const struct jit *j, const struct jit_access *a,
                                   LLVMValueRef address);

/* j->insn's accesses have been tested: see jit_access_path_test. */
bool jit_access_is_trusted(const struct jit *j);

/* They have been tested, and some failed: this is code that hardly ever runs. */
bool jit_access_is_distrusted(const struct jit *j);

/* Misaligned addresses fail: one of all lanes of a copy and those behind that share it, or of those
 * in the mask (NULL: all). The report leaves them out: held until then, they would take registers
 * where nothing fails. */
void jit_access_check_one(const struct jit *j, const struct jit_access *a, unsigned copy,
                          LLVMValueRef address);
void jit_access_check_all(const struct jit *j, const struct jit_access *a, unsigned copy,
                          LLVMValueRef addresses, LLVMValueRef mask);

/* Element i of a vector access. */
LLVMValueRef jit_access_element(const struct jit *j, const struct jit_access *a,
                                LLVMValueRef pointer, unsigned i);
LLVMValueRef jit_access_load(const struct jit *j, const struct jit_access *a, LLVMTypeRef type,
                             LLVMValueRef pointer, unsigned align);
void jit_access_store(const struct jit *j, const struct jit_access *a, LLVMValueRef value,
                      LLVMValueRef pointer);

/* A call of llvm.masked.*, of which argument `pointer` is the pointer or the pointers, aligned to
 * `align`. */
LLVMValueRef jit_access_masked(const struct jit *j, const char *name, LLVMTypeRef types[2],
                               LLVMValueRef args[3], unsigned pointer, unsigned align);

void jit_access_begin_ways(const struct jit *j, const struct jit_access *a, struct jit_ways *ways);

/* A way ends here, having loaded v. */
void jit_access_end_way(const struct jit *j, struct jit_ways *ways, LLVMValueRef *v);

/* The same, but where `condition` holds, which is hardly ever, it goes to `rare`. */
void jit_access_end_way_mostly(const struct jit *j, struct jit_ways *ways, LLVMValueRef condition,
                               LLVMBasicBlockRef rare, LLVMValueRef *v);

/* Goes on behind all of them with what was loaded. */
void jit_access_join_ways(const struct jit *j, const struct jit_ways *ways, LLVMValueRef *v);

/* That of j->insn, or NULL. */
const struct jit_interleaved *jit_access_interleaved(const struct jit *j);

/* Where the lanes of a chunk go one by one; those that are off touch memory that nobody reads. */
void jit_access_lane_pointers(const struct jit *j, const struct jit_access *a, unsigned copy,
                              LLVMValueRef addresses, LLVMValueRef *pointers);

#endif
