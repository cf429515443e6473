/* LLVM's builder made small: types, constants, blocks, memory, vectors and masks of lanes. */
#ifndef PTERA_BACKEND_JIT_LLVM_BUILD_H
#define PTERA_BACKEND_JIT_LLVM_BUILD_H

#include "backend/jit/jit.h"

/* ---- types and constants --------------------------------------------------------------------- */

/* Types of scalars (lanes == 1) or vectors. */
LLVMTypeRef jit_int_type(const struct jit *j, unsigned bits, unsigned lanes);
LLVMTypeRef jit_float_type(const struct jit *j, unsigned bits,
                           unsigned lanes); /* 16 (half), 32, 64 */

/* The LLVM type of a value of a PTX type, as sources of emitters have it. */
LLVMTypeRef jit_type(const struct jit *j, enum pt_type type, unsigned lanes);

/* A constant of all lanes of an integer type, or of a floating-point type by its value. */
LLVMValueRef jit_const(LLVMTypeRef type, uint64_t value);
LLVMValueRef jit_const_real(LLVMTypeRef type, double value);

/* An integer constant that is the same in all lanes. */
bool jit_is_const(LLVMValueRef value, uint64_t *constant);

/* The same of a floating-point number, or of a vector of equal ones. */
bool jit_is_const_real(LLVMValueRef value, double *constant);

LLVMValueRef jit_i32(const struct jit *j, uint32_t value);
LLVMValueRef jit_i64(const struct jit *j, uint64_t value);
LLVMTypeRef jit_i32_of(const struct jit *j);

/* A number of 32 bits in all lanes of a chunk. */
LLVMValueRef jit_each(const struct jit *j, uint32_t value);

/* ---- blocks ---------------------------------------------------------------------------------- */

/* LLVM's instructions in a basic block. */
uint32_t jit_count_in(LLVMBasicBlockRef block);

/* The basic block being generated is left for another one. */
void jit_count_block(const struct jit *j);

/* An empty basic block. */
LLVMBasicBlockRef jit_new_block(const struct jit *j, const char *name);

/* Building goes on there. */
void jit_continue_in(const struct jit *j, LLVMBasicBlockRef block);

/* A branch that goes to `rare` hardly ever. */
void jit_branch_mostly(const struct jit *j, LLVMValueRef condition, LLVMBasicBlockRef usual,
                       LLVMBasicBlockRef rare);

/* ---- memory ---------------------------------------------------------------------------------- */

/* An alloca in the function's entry. */
LLVMValueRef jit_alloca(const struct jit *j, LLVMTypeRef type, const char *name);

/* pointer + bytes */
LLVMValueRef jit_at(const struct jit *j, LLVMValueRef pointer, LLVMValueRef bytes);

/* A field of a struct of the runtime, by offset. */
LLVMValueRef jit_field(const struct jit *j, LLVMTypeRef type, LLVMValueRef pointer, size_t offset);

/* The memory does not change while native code runs. */
void jit_set_invariant(const struct jit *j, LLVMValueRef load);

/* Memory that nobody reads. */
LLVMValueRef jit_nowhere(const struct jit *j);

/* ---- calls ----------------------------------------------------------------------------------- */

/* A call of an overloaded intrinsic ("llvm.fma"), overloaded on `type`. */
LLVMValueRef jit_intrinsic(const struct jit *j, const char *name, LLVMTypeRef type,
                           LLVMValueRef *args, unsigned n);

/* A function, by its name in object.h, that reads and writes what its arguments point to and
 * nothing else. */
LLVMValueRef jit_declare(const struct jit *j, const char *prefix, const char *name,
                         LLVMTypeRef type);

/* A call of a function of support.h. */
LLVMValueRef jit_help(const struct jit *j, const char *name, LLVMTypeRef type, LLVMValueRef *args);

/* The call gives the same for the same arguments while native code runs a CTA, and does nothing
 * else. */
void jit_set_pure(const struct jit *j, LLVMValueRef call);

/* ---- f32 ------------------------------------------------------------------------------------- */

/* An f32 value whose NaNs are canonical; others as they are. */
LLVMValueRef jit_canonical(const struct jit *j, LLVMValueRef value);

/* An f32 value whose subnormals are zeros of their sign. */
LLVMValueRef jit_flush(const struct jit *j, LLVMValueRef value);

/* ---- vectors --------------------------------------------------------------------------------- */

LLVMValueRef jit_splat(const struct jit *j, LLVMValueRef scalar);

/* The same for several lanes; for one the scalar itself. */
LLVMValueRef jit_spread(const struct jit *j, LLVMValueRef scalar, unsigned lanes);

/* 0, stride, 2 stride … of an integer type. */
LLVMValueRef jit_steps(const struct jit *j, LLVMTypeRef element, int64_t stride);

/* One lane; lanes of 32 bits leave a vector in pairs, which is one move for two. */
LLVMValueRef jit_lane(const struct jit *j, LLVMValueRef vector, unsigned lane);

/* Lanes of x and y (NULL: x alone), n of them. */
LLVMValueRef jit_shuffle(const struct jit *j, LLVMValueRef x, LLVMValueRef y, const int *lanes,
                         unsigned n);

/* The lanes of n vectors, a power of two, as one vector. */
LLVMValueRef jit_concat(const struct jit *j, LLVMValueRef *parts, unsigned n);

/* ---- masks ----------------------------------------------------------------------------------- */

/* Vectors of i1 that live across blocks compile badly where masks have no registers of their own:
 * there a flow is lanes of all ones or zeros, tested by their sign. */
LLVMTypeRef jit_flow_type(const struct jit *j);
LLVMValueRef jit_flow_of(const struct jit *j, LLVMValueRef mask);
LLVMValueRef jit_flow_mask(const struct jit *j, LLVMValueRef flow);

/* Lanes that are in both flows. */
LLVMValueRef jit_flow_and(const struct jit *j, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef jit_flow_load(const struct jit *j, LLVMValueRef slot);

/* A mask of a chunk in memory. */
LLVMValueRef jit_mask_load(const struct jit *j, LLVMValueRef slot);
void jit_mask_store(const struct jit *j, LLVMValueRef slot, LLVMValueRef mask);

/* All lanes of a chunk. */
LLVMValueRef jit_mask_all(const struct jit *j);

/* i1: some, or every lane is on. */
LLVMValueRef jit_any(const struct jit *j, LLVMValueRef mask);
LLVMValueRef jit_all(const struct jit *j, LLVMValueRef mask);

/* A mask of one chunk from the lowest bits of an i32, and back. */
LLVMValueRef jit_mask_from_bits(const struct jit *j, LLVMValueRef bits);
LLVMValueRef jit_mask_to_bits(const struct jit *j, LLVMValueRef mask);

/* Lanes of the chunks of a warp (NULL: all) as bits. */
LLVMValueRef jit_warp_bits(const struct jit *j, const LLVMValueRef *lanes);

/* ---- CTAs ------------------------------------------------------------------------------------ */

/* i1: the CTA interleaves with others. */
LLVMValueRef jit_interleaves(const struct jit *j);

#endif
