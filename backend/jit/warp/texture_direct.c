/* Samples that take so little that a call would be most of them: one texel of a word, at a place
 * that is clamped or whole (enum pt_texture_direct). Coordinates and results stay in registers, and
 * of the channels those that nobody reads are not made. What else a handle may lead to, and what is
 * none, is left to texture.c. */
#include "backend/jit/warp/texture_direct.h"

#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/check.h"
#include "backend/jit/memory/access.h"
#include "backend/jit/memory/gather.h"
#include "backend/jit/value/registers.h"
#include "backend/semantics/texture.h"

enum { ALIGN = 16, SIZE_MOST = 1 << 24 /* in texels, by numbers: no texture is so large */ };

struct direct {
    const struct jit *j;
    unsigned first; /* chunk of the group with which the warp begins */
    bool is_whole;
    uint32_t n_axes;
    const struct pt_operand *handle, *coordinate, *result;
    uint32_t n_results;
    /* of the texture: its address, and what lies there */
    LLVMValueRef texture, texels, pitch, size[2], is_bytes;
};

static LLVMValueRef field(const struct direct *d, unsigned bits, size_t offset)
{
    return jit_field(d->j, LLVMIntTypeInContext(d->j->code->context, bits), d->texture, offset);
}

/* ---- the texture ----------------------------------------------------------------------------- */

static LLVMValueRef has_address(const struct direct *d, LLVMValueRef handle)
{
    LLVMBuilderRef b = d->j->code->b;
    LLVMValueRef zero = jit_i64(d->j, 0);
    LLVMValueRef low = LLVMBuildAnd(b, handle, jit_i64(d->j, ALIGN - 1), "");
    return LLVMBuildAnd(b, LLVMBuildICmp(b, LLVMIntEQ, low, zero, ""),
                        LLVMBuildICmp(b, LLVMIntNE, handle, zero, ""), "");
}

static LLVMValueRef has_key(const struct direct *d, LLVMValueRef handle)
{
    LLVMBuilderRef b = d->j->code->b;
    LLVMValueRef key =
        LLVMBuildMul(b, LLVMBuildNot(b, handle, ""), jit_i64(d->j, PT_TEXTURE_KEY_FACTOR), "");
    return LLVMBuildICmp(b, LLVMIntEQ, field(d, 64, offsetof(struct pt_texture, key)), key, "");
}

/* It has these axes, and may be sampled so. */
static LLVMValueRef is_direct(struct direct *d)
{
    const struct jit *j = d->j;
    LLVMBuilderRef b = j->code->b;
    LLVMTypeRef i8 = LLVMInt8TypeInContext(j->code->context);
    uint8_t way = d->is_whole ? PT_TEXTURE_DIRECT_WHOLE : PT_TEXTURE_DIRECT_POINT;
    LLVMValueRef direct = field(d, 8, offsetof(struct pt_texture, direct)),
                 axes = field(d, 8, offsetof(struct pt_texture, axes));
    LLVMValueRef zero = jit_const(i8, 0), bytes = jit_const(i8, PT_TEXTURE_DIRECT_BYTES);
    d->is_bytes = LLVMBuildICmp(b, LLVMIntNE, LLVMBuildAnd(b, direct, bytes, ""), zero, "");
    LLVMValueRef ways = LLVMBuildAnd(b, direct, jit_const(i8, way), "");
    return LLVMBuildAnd(b, LLVMBuildICmp(b, LLVMIntNE, ways, zero, ""),
                        LLVMBuildICmp(b, LLVMIntEQ, axes, jit_const(i8, d->n_axes), ""), "");
}

static void find_texture(struct direct *d, LLVMBasicBlockRef otherwise)
{
    const struct jit *j = d->j;
    LLVMTypeRef pointer = LLVMPointerTypeInContext(j->code->context, 0);
    LLVMBasicBlockRef look = jit_new_block(j, "texture"), sample = jit_new_block(j, "direct");
    LLVMValueRef handle = jit_registers_read(j, d->handle, d->first, PT_b64, 1, false);
    jit_branch_mostly(j, has_address(d, handle), look, otherwise);
    jit_continue_in(j, look);
    d->texture = LLVMBuildIntToPtr(j->code->b, handle, pointer, "");
    LLVMValueRef is_one = LLVMBuildAnd(j->code->b, has_key(d, handle), is_direct(d), "");
    jit_branch_mostly(j, is_one, sample, otherwise);
    jit_continue_in(j, sample);
    d->texels = LLVMBuildIntToPtr(j->code->b, field(d, 64, offsetof(struct pt_texture, texels)),
                                  pointer, "");
    d->pitch = field(d, 32, offsetof(struct pt_texture, pitch)); /* below 2^31 */
    for (uint32_t i = 0; i < d->n_axes; i++)
        d->size[i] = field(d, 32, offsetof(struct pt_texture, size[i]));
}

/* ---- places ---------------------------------------------------------------------------------- */

static LLVMValueRef least_of(const struct direct *d, LLVMRealPredicate order, LLVMValueRef a,
                             LLVMValueRef b)
{
    LLVMBuilderRef builder = d->j->code->b;
    return LLVMBuildSelect(builder, LLVMBuildFCmp(builder, order, a, b, ""), a, b, "");
}

/* The texel at a number, the nearest one there is; NaN is 0. */
static LLVMValueRef clamped(const struct direct *d, uint32_t axis, LLVMValueRef x)
{
    const struct jit *j = d->j;
    LLVMBuilderRef b = j->code->b;
    LLVMValueRef limit[] = {LLVMBuildSub(b, d->size[axis], jit_i32(j, 1), ""),
                            jit_i32(j, SIZE_MOST)};
    LLVMValueRef last = jit_intrinsic(j, "llvm.umin", jit_i32_of(j), limit, 2);
    last = LLVMBuildSIToFP(b, last, LLVMFloatTypeInContext(j->code->context), "");
    x = least_of(d, LLVMRealOGT, x, LLVMConstNull(LLVMTypeOf(x)));
    x = least_of(d, LLVMRealOLT, x, jit_splat(j, last));
    /* from 0 to SIZE_MOST */
    return jit_check_proven(j->code, LLVMBuildFPToSI(b, x, jit_int_type(j, 32, j->unit->width), ""),
                            "range");
}

/* The number of a texel along an axis. Lanes for which there is none leave the mask (NULL: all). */
static LLVMValueRef find_place(const struct direct *d, uint32_t axis, unsigned copy,
                               LLVMValueRef *mask)
{
    const struct jit *j = d->j;
    const struct pt_operand *o = &d->coordinate[axis];
    if (!d->is_whole)
        return clamped(d, axis, jit_registers_read(j, o, copy, PT_f32, j->unit->width, true));
    LLVMValueRef at = jit_registers_read(j, o, copy, PT_u32, j->unit->width, false);
    LLVMValueRef size = jit_splat(j, d->size[axis]);
    LLVMValueRef is_inside = LLVMBuildICmp(j->code->b, LLVMIntULT, at, size, "");
    *mask = *mask ? LLVMBuildAnd(j->code->b, *mask, is_inside, "") : is_inside;
    return at;
}

/* The texels of a chunk, 0 where there is none. */
static LLVMValueRef read_texels(const struct direct *d, unsigned copy)
{
    const struct jit *j = d->j;
    LLVMValueRef mask = j->mask[copy];
    LLVMValueRef at = find_place(d, 0, copy, &mask);
    at = LLVMBuildMul(j->code->b, at, jit_each(j, sizeof(uint32_t)), "");
    if (d->n_axes == 2) {
        LLVMValueRef y = find_place(d, 1, copy, &mask);
        y = LLVMBuildMul(j->code->b, y, jit_splat(j, d->pitch), "");
        at = LLVMBuildAdd(j->code->b, at, y, "");
    }
    return jit_gather_words(j, d->texels, at, mask);
}

/* ---- results --------------------------------------------------------------------------------- */

/* A byte of words as a fraction. */
static LLVMValueRef fraction(const struct jit *j, LLVMValueRef words, uint32_t byte)
{
    const struct pt_texture_ratio by = pt_texture_ratio_of(255);
    LLVMBuilderRef b = j->code->b;
    LLVMTypeRef floats = jit_float_type(j, 32, j->unit->width);
    LLVMValueRef n = LLVMBuildLShr(b, words, jit_each(j, 8 * byte), "");
    n = LLVMBuildAnd(b, n, jit_each(j, 255), "");
    n = LLVMBuildSIToFP(b, n, floats, "");
    LLVMValueRef args[] = {n, jit_const_real(floats, (double)by.first),
                           LLVMBuildFMul(b, n, jit_const_real(floats, (double)by.rest), "")};
    n = jit_intrinsic(j, "llvm.fma", floats, args, 3);
    return LLVMBuildBitCast(b, n, LLVMTypeOf(words), "");
}

static void put_results(const struct direct *d, const LLVMValueRef *texels, bool is_bytes)
{
    const struct jit *j = d->j;
    enum pt_type type = (enum pt_type)j->form->type[0];
    for (unsigned u = 0; u < jit_warp_chunks(j); u++)
        for (uint32_t k = 0; k < d->n_results; k++) {
            LLVMValueRef value = is_bytes ? fraction(j, texels[u], k)
                                 : k      ? LLVMConstNull(LLVMTypeOf(texels[u]))
                                          : texels[u];
            value = LLVMBuildBitCast(j->code->b, value, jit_type(j, type, j->unit->width), "");
            jit_registers_write(j, &d->result[k], d->first + u, value, j->unit->width, false);
        }
}

/* ---- instructions ---------------------------------------------------------------------------- */

/* Results that all lanes share are texture.c's, too: such a sample is rare. */
static bool has_shared_result(const struct direct *d)
{
    for (uint32_t k = 0; k < d->n_results; k++)
        if (d->result[k].kind == PT_OPND_REG &&
            d->j->facts->regs[d->result[k].index].shape == JIT_SCALAR)
            return true;
    return false;
}

static bool is_known(const struct direct *d, uint32_t how)
{
    const struct jit *j = d->j;
    bool is_shared =
        d->handle->kind != PT_OPND_REG || j->facts->regs[d->handle->index].shape == JIT_SCALAR;
    return is_shared && !(how & PT_SAMPLING_LAYERED) && d->n_axes <= 2 &&
           (d->is_whole || d->n_axes == 2) && !has_shared_result(d);
}

bool jit_texture_direct_emit(const struct jit *j, unsigned first, uint32_t how,
                             LLVMBasicBlockRef otherwise)
{
    const struct pt_operand *all = j->unit->f->operands.v, *to = &all[j->insn->operands],
                            *in = &all[to[1].index];
    struct direct d = {.j = j,
                       .first = first,
                       .is_whole = how & PT_SAMPLING_WHOLE,
                       .n_axes = how & PT_SAMPLING_AXES,
                       .handle = in,
                       .coordinate = in[1].kind == PT_OPND_VEC ? &all[in[1].index] : &in[1],
                       .result = &all[to->index],
                       .n_results = (uint32_t)to->imm};
    if (!is_known(&d, how))
        return false;
    LLVMValueRef texels[JIT_COPIES];
    LLVMBasicBlockRef words = jit_new_block(j, "words"), bytes = jit_new_block(j, "bytes"),
                      after = jit_new_block(j, "");
    find_texture(&d, otherwise);
    for (unsigned u = 0; u < jit_warp_chunks(j); u++)
        texels[u] = read_texels(&d, first + u);
    LLVMBuildCondBr(j->code->b, d.is_bytes, bytes, words);
    jit_continue_in(j, words);
    put_results(&d, texels, false);
    LLVMBuildBr(j->code->b, after);
    jit_continue_in(j, bytes);
    put_results(&d, texels, true);
    LLVMBuildBr(j->code->b, after);
    jit_continue_in(j, after);
    return true;
}
