/* Where values lie in native code: registers, constants, special registers, masks. */
#ifndef PTERA_BACKEND_JIT_VALUE_H
#define PTERA_BACKEND_JIT_VALUE_H

#include "backend/jit/jit.h"

enum jit_shape {
    JIT_SCALAR, /* one value a group, or a chunk: the same in all lanes */
    JIT_AFFINE, /* the value of lane 0 of each chunk; lane i holds i strides more */
    JIT_VECTOR
};

/* i1: a predicate holds in all lanes of the group, or in none. */
struct jit_told {
    LLVMValueRef all, none;
};

/* A register. Storage is in allocas, which LLVM turns into SSA values. */
struct jit_reg {
    LLVMTypeRef type;  /* iN, float, double; i1 for predicates */
    uint8_t shape;     /* enum jit_shape */
    bool is_per_copy;  /* a value for each chunk of the group; affine: not if it goes on from chunk to chunk */
    bool is_raw;       /* its NaNs may not be canonical */
    bool is_finite;    /* f32: neither NaN nor infinite */
    bool is_range;     /* a predicate of which scalars tell: predicate_bounds.c */
    bool is_late;      /* likewise, and its lanes are computed where lanes part: predicate_bounds.c */
    bool is_count;     /* likewise, of a counter: loop_counter.c */
    bool crosses;      /* live from one region into another */
    bool is_in_frame;  /* crosses, in the interpreter's frame of the group's warp: see jit_frame_slot */
    bool is_remade;    /* crosses, and is computed anew in each region: cheap, from what is always at hand */
    uint32_t only;     /* its only definition; UINT32_MAX: it has several */
    uint32_t def;      /* the same, where it may be repeated; else UINT32_MAX */
    uint32_t defs, n_defs; /* all of them, ascending: in jit.defs */
    LLVMValueRef slot[JIT_COPIES]; /* scalar: the value; affine: of lane 0; vector: the lanes (masks in slot form) */
    /* affine forms that may not hold: the lanes of each copy, and whether it holds */
    LLVMValueRef wide[JIT_COPIES], fits[JIT_COPIES];
    uint32_t count_set, count_change, count_loop; /* of a counter: instructions, loop + 1 (0: it is none) */
    LLVMValueRef count;   /* likewise, alloca: its value in the lanes that are in the loop */
    struct jit_told told; /* allocas of what scalars tell of the predicate; NULL: nothing */
    LLVMValueRef origin[JIT_COPIES], offsets[JIT_COPIES]; /* vectors that are kept so as well: see jit_offsets */
    LLVMValueRef known[JIT_COPIES]; /* the offsets, if they are constant */
    /* crosses: level CTA: what the regions agree on, and what this region makes of it; others: offset in the scratch
     * memory, of a group's part of the register, or in the frame */
    LLVMValueRef kept, next;
    uint32_t scratch, scratch_bytes;
};

/* Types, places and storage of all registers of the function. */
void jit_value_init(struct jit *j);

/* ---- nan.c ---- */

/* Finds jit_reg.is_raw and is_finite. */
void jit_find_nans(struct jit *j);
/* The operands, from the second on, one of which is the result of the instruction in each lane; 0: it is no such one. */
unsigned jit_choices(const struct pt_form *form);

/* ---- remat.c: values computed once more ---- */

/* Makes j->regs, with jit_reg.only, def and defs. */
void jit_find_defs(struct jit *j);
/* A pure instruction, or the load of a parameter, that alone writes its results: they are the same whenever it runs. */
bool jit_may_repeat(const struct jit *j, const struct pt_insn *insn);
/* True if the register can be computed in a region of its own from parameters, special registers and variables that the CTA
 * agrees on. */
bool jit_can_remake(const struct jit *j, uint32_t reg);
/* Computes it in all lanes, and what it is made of; `done` holds registers that have their value. */
bool jit_remake(struct jit *j, uint32_t reg, uint64_t *done);
/* The block of an instruction. */
uint32_t jit_block_of(const struct jit *j, uint32_t insn);
/* The instruction, in no loop, has run wherever the block that is being generated runs. */
bool jit_is_behind(const struct jit *j, uint32_t insn);
/* The lanes of an affine register whose form may not hold, from what it was made of; NULL if that may have changed. */
LLVMValueRef jit_remake_wide(struct jit *j, uint32_t reg, unsigned copy);

/* The operand (register, constant, special register, address) in all lanes (lanes == width) or as one value (lanes == 1: its
 * place must be scalar; of an affine register this is lane 0), as the PTX type asks. `number`: the reader does not tell
 * NaNs apart. */
LLVMValueRef jit_read(struct jit *j, const struct pt_operand *o, unsigned copy, enum pt_type type,
                      unsigned lanes, bool number);
/* An address that is no register, as where its access goes: jit_read gives that of a constant in its window. */
LLVMValueRef jit_read_place(struct jit *j, const struct pt_operand *o, enum pt_type type, unsigned lanes);
/* The generic address at which the window of the kernel's parameters (PARAM) or of constants (CONST) begins. */
LLVMValueRef jit_window(struct jit *j, enum pt_space space);
/* How the operand lies over a chunk, and its stride where affine. */
enum jit_shape jit_shape_of(const struct jit *j, const struct pt_operand *o, int64_t *stride);
/* Chunks over which an affine register goes on as it does from lane to lane: those of the group, or of a row of threads, or one. */
unsigned jit_copies_on(const struct jit *j, uint32_t reg);
/* The first of the chunks over which it goes on to this one. */
unsigned jit_first_of_row(const struct jit *j, uint32_t reg, unsigned copy);
/* True if the operand is an integer that the text states, be it by way of a register. */
bool jit_constant(const struct jit *j, const struct pt_operand *o, uint64_t *value);
/* True if each chunk has its own value. */
bool jit_is_per_copy(const struct jit *j, const struct pt_operand *o);
/* Affine operand: whether the affine form holds (i1), or NULL: it does. */
LLVMValueRef jit_fits(struct jit *j, const struct pt_operand *o, unsigned copy);

/* True if the register may hold another value before j->insn writes it: of another definition, or of this one the last time round
 * a loop. */
bool jit_has_old(const struct jit *j, uint32_t reg);

/* True if lanes that do not run j->insn may need what the register held: the value of another definition, or of the last time
 * round, where they have left the loop or wait. */
bool jit_keeps_old(const struct jit *j, uint32_t reg);

/* Writes a destination in the lanes of j->mask, keeping old values where they may be needed. `value` has the PTX type, in
 * `lanes` lanes (1: the same for all). `extends_sign`: in a wider register. */
void jit_write(struct jit *j, const struct pt_operand *o, unsigned copy, enum pt_type type,
               LLVMValueRef value, unsigned lanes, bool extends_sign);

/* The register may be read, where the block begins or behind, before it is written. */
bool jit_is_live_into(const struct jit *j, uint32_t block, uint32_t reg);

/* Adds the registers that the value of `reg` was made of: they are read again where it is remade. Those of the registers in the
 * set are in it. */
void jit_add_roots(const struct jit *j, uint32_t reg, uint64_t *set);

/* ---- predicate_bounds.c: what scalars tell of predicates ---- */

/* Finds jit_reg.is_range and is_late. */
void jit_find_ranges(struct jit *j);
/* j->insn has written its result: notes what scalars tell of it. */
void jit_note_range(struct jit *j);
/* j->insn's result is late: nothing but what scalars tell of it is computed where the instruction stands. */
bool jit_is_late(const struct jit *j);
/* The predicate comes from comparisons with values that only the launch knows, as those for the end of data do, not with places in
 * the CTA: most groups pass it. */
bool jit_asks_for_end(const struct jit *j, uint32_t reg);
/* What is told when the register is written counts in the block. */
bool jit_is_told_in(struct jit *j, uint32_t reg, uint32_t block);
/* What they tell of the predicate, negated or not, where the block reads it; lanes that do not run the block may be left out of
 * account. False if nothing. */
bool jit_tell(struct jit *j, const struct pt_operand *o, struct jit_told *told);

/* ---- loop_counter.c: counters of loops that lanes leave at different times ---- */

/* All lanes that run the block, of a loop, hold one value in the register, which is to be kept as a scalar as well. */
bool jit_find_count(struct jit *j, const struct pt_operand *o, uint32_t block);
/* The value of such a register. */
LLVMValueRef jit_read_count(struct jit *j, uint32_t reg);
/* j->insn has written its result: the scalar follows. */
void jit_note_count(struct jit *j);

/* ---- lane_offsets.c ---- */

/* An operand whose lanes hold `origin` (a scalar) + `offsets` (a vector that is the same for many chunks). False if it is not
 * kept so. */
bool jit_offsets(struct jit *j, const struct pt_operand *o, unsigned copy, LLVMValueRef *origin,
                 LLVMValueRef *offsets);
/* The offsets, if they are constant; else NULL. */
LLVMValueRef jit_known_offsets(const struct jit *j, const struct pt_operand *o, unsigned copy);
/* j->insn, a pure instruction, has written its result: keeps it so as well if it can. */
void jit_note_offsets(struct jit *j, unsigned copy);
/* Its result may be kept so. */
bool jit_may_divide(const struct jit *j);
/* A region begins, to which nothing comes in that form. */
void jit_forget_offsets(struct jit *j);
/* The instruction mixes thread indexes, of which a chunk has W from a multiple of W on, with a value that all lanes share: how
 * lanes lie then depends on the lowest bits of that, W its width. NULL: it is no such instruction. */
const struct pt_operand *jit_mixer_of(const struct jit *j, const struct pt_insn *insn);

/* ---- what lies behind an address: remat.c ---- */

/* The register's lanes differ by arithmetic on thread indexes, not by what was loaded. */
bool jit_is_computed(const struct jit *j, const struct pt_operand *o);

/* Distances at which lanes may exchange, as sets of bits; those below the vector's width. */
struct jit_mixing {
    uint64_t pairs; /* an index comes from t % d: t is a thread's, pairs of lanes are d apart */
    uint64_t swaps; /* from t ^ d */
    uint32_t unknown; /* the register d or d - 1, where such a distance is known only at run time, or 0 */
};

/* What is known of the arithmetic behind an address: all distances where d is known only at run time. */
struct jit_mixing jit_find_mixing(const struct jit *j, const struct pt_operand *address);

/* An address as a base that all lanes share, and an index of 32 bits for each. */
struct jit_split {
    const struct pt_operand *base, *index;
    uint64_t scale; /* 1, 2, 4, 8 */
    bool is_signed;
};

/* False if the address was not made so, or not from what the registers hold now. */
bool jit_split_address(const struct jit *j, const struct pt_operand *address, struct jit_split *split);

/* ---- masks: vectors of i1; and as flows, the form in which they cross blocks ---- */

/* Vectors of i1 that live across blocks compile badly where masks have no registers of their own: there a flow is lanes of
 * all ones or zeros, tested by their sign. */
LLVMTypeRef jit_flow_type(struct jit *j);
LLVMValueRef jit_flow_of(struct jit *j, LLVMValueRef mask);
LLVMValueRef jit_flow_mask(struct jit *j, LLVMValueRef flow);
/* Lanes that are in both flows. */
LLVMValueRef jit_flow_and(struct jit *j, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef jit_flow_load(struct jit *j, LLVMValueRef slot);
/* A predicate register that the end of a block reads. */
LLVMValueRef jit_read_flow(struct jit *j, const struct pt_operand *o, unsigned copy);
LLVMValueRef jit_mask_load(struct jit *j, LLVMValueRef slot);
void jit_mask_store(struct jit *j, LLVMValueRef slot, LLVMValueRef mask);
LLVMValueRef jit_mask_all(struct jit *j);
/* i1: some, or every lane is on. */
LLVMValueRef jit_any(struct jit *j, LLVMValueRef mask);
LLVMValueRef jit_all(struct jit *j, LLVMValueRef mask);

LLVMValueRef jit_splat(struct jit *j, LLVMValueRef scalar);
/* 0, stride, 2 stride … of an integer type. */
LLVMValueRef jit_steps(struct jit *j, LLVMTypeRef element, int64_t stride);
/* One lane; lanes of 32 bits leave a vector in pairs, which is one move for two. */
LLVMValueRef jit_lane(struct jit *j, LLVMValueRef vector, unsigned lane);
/* A call of a function of support.h. */
LLVMValueRef jit_help(struct jit *j, const char *name, LLVMTypeRef type, LLVMValueRef *args);
/* The call gives the same for the same arguments while native code runs a CTA, and does nothing else. */
void jit_set_pure(struct jit *j, LLVMValueRef call);
/* Memory that nobody reads. */
LLVMValueRef jit_nowhere(struct jit *j);
/* An alloca in the function's entry. */
LLVMValueRef jit_alloca(struct jit *j, LLVMTypeRef type, const char *name);
LLVMValueRef jit_i32(struct jit *j, uint32_t value);
LLVMValueRef jit_i64(struct jit *j, uint64_t value);
/* pointer + bytes */
LLVMValueRef jit_at(struct jit *j, LLVMValueRef pointer, LLVMValueRef bytes);
/* The memory does not change while native code runs. */
void jit_set_invariant(struct jit *j, LLVMValueRef load);
/* A field of a struct of the runtime, by offset. */
LLVMValueRef jit_field(struct jit *j, LLVMTypeRef type, LLVMValueRef pointer, size_t offset);

#endif
