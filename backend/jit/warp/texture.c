/* Textures: a warp's coordinates go to memory (struct pt_sampled), one call samples for all of its
 * lanes by vectors (pt_engine.sample), and results come back. What a descriptor asks for, its
 * formats, filters and modes, is found out there, once for the warp where its lanes share it.
 */
#include "backend/jit/warp/texture.h"

#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/check.h"
#include "backend/jit/llvm/fault.h"
#include "backend/jit/value/registers.h"
#include "backend/jit/warp/texture_direct.h"

struct sampling {
    const struct jit *j;
    unsigned first;     /* chunk of the group with which the warp begins */
    LLVMValueRef lanes; /* i32: that run */
    uint32_t how;       /* enum pt_sampling */
};

/* Of a chunk in an array of words, or of longer elements. */
static LLVMValueRef place(const struct sampling *s, size_t array, unsigned u, unsigned bytes)
{
    const struct jit *j = s->j;
    return jit_at(j, j->code->sampled, jit_i64(j, array + (uint64_t)u * j->unit->width * bytes));
}

static void put(const struct sampling *s, const struct pt_operand *o, enum pt_type type,
                size_t array)
{
    const struct jit *j = s->j;
    unsigned bytes = pt_type_bits(type) / 8;
    for (unsigned u = 0; u < jit_warp_chunks(j); u++) {
        LLVMValueRef value = jit_registers_read(j, o, s->first + u, type, j->unit->width, false);
        LLVMSetAlignment(LLVMBuildStore(j->code->b, value, place(s, array, u, bytes)), 16);
    }
}

static void put_handle(struct sampling *s, const struct pt_operand *o)
{
    const struct jit *j = s->j;
    const size_t at = offsetof(struct pt_sampled, handle);
    if (o->kind == PT_OPND_REG && j->facts->regs[o->index].shape != JIT_SCALAR) {
        put(s, o, PT_b64, at);
        return;
    }
    s->how |= PT_SAMPLING_SHARED;
    LLVMBuildStore(j->code->b, jit_registers_read(j, o, s->first, PT_b64, 1, false),
                   place(s, at, 0, 8));
}

/* [a,c]: without braces there is one coordinate. */
static void put_sources(struct sampling *s)
{
    const struct pt_operand *all = s->j->unit->f->operands.v,
                            *in = &all[all[s->j->insn->operands + 1].index];
    const struct pt_operand *c = in[1].kind == PT_OPND_VEC ? &all[in[1].index] : &in[1];
    put_handle(s, in);
    if (s->how & PT_SAMPLING_LAYERED)
        put(s, c++, PT_b32, offsetof(struct pt_sampled, layer));
    for (uint32_t i = 0; i < (s->how & PT_SAMPLING_AXES); i++)
        put(s, &c[i], PT_b32, offsetof(struct pt_sampled, coordinate[i]));
}

static LLVMValueRef call(const struct sampling *s)
{
    const struct jit *j = s->j;
    LLVMTypeRef pointer = LLVMPointerTypeInContext(j->code->context, 0);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context),
                i64 = LLVMInt64TypeInContext(j->code->context);
    LLVMTypeRef types[] = {pointer, pointer, i64, i32, i32, i32, pointer};
    unsigned warps = j->facts->copies / jit_warp_chunks(j);
    LLVMValueRef warp = LLVMBuildMul(j->code->b, j->group, jit_i32(j, warps), "");
    warp = LLVMBuildAdd(j->code->b, warp, jit_i32(j, s->first / jit_warp_chunks(j)), "");
    LLVMValueRef args[] = {
        j->code->cta, j->code->fault,  jit_i64(j, jit_fault_place(j)), warp, jit_i32(j, s->how),
        s->lanes,     j->code->sampled};
    LLVMValueRef ok = jit_help(j, "jit_help_sample", LLVMFunctionType(i32, types, 7, false), args);
    return LLVMBuildICmp(j->code->b, LLVMIntNE, ok, jit_i32(j, 0), "");
}

/* A register with one value for all lanes: that of the lowest lane that ran. */
static LLVMValueRef get_one(const struct sampling *s, size_t array)
{
    const struct jit *j = s->j;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    LLVMValueRef find[] = {s->lanes,
                           LLVMConstInt(LLVMInt1TypeInContext(j->code->context), 1, false)};
    /* some lane ran */
    LLVMValueRef lane =
        jit_check_proven(j->code, jit_intrinsic(j, "llvm.cttz", i32, find, 2), "nonzero");
    lane = LLVMBuildZExt(j->code->b, lane, LLVMInt64TypeInContext(j->code->context), "");
    LLVMValueRef at = LLVMBuildMul(j->code->b, lane, jit_i64(j, 4), "");
    return LLVMBuildLoad2(j->code->b, i32, jit_at(j, place(s, array, 0, 4), at), "");
}

static void get(const struct sampling *s, const struct pt_operand *o, size_t array)
{
    const struct jit *j = s->j;
    enum pt_type type = (enum pt_type)j->form->type[0];
    if (o->kind != PT_OPND_REG)
        return;
    if (j->facts->regs[o->index].shape == JIT_SCALAR) {
        LLVMValueRef one =
            LLVMBuildBitCast(j->code->b, get_one(s, array), jit_type(j, type, 1), "");
        jit_registers_write(j, o, s->first, one, 1, false);
        return;
    }
    for (unsigned u = 0; u < jit_warp_chunks(j); u++) {
        LLVMValueRef value = LLVMBuildLoad2(j->code->b, jit_type(j, type, j->unit->width),
                                            place(s, array, u, 4), "");
        LLVMSetAlignment(value, 16);
        jit_registers_write(j, o, s->first + u, value, j->unit->width, false);
    }
}

static void get_results(const struct sampling *s)
{
    const struct pt_operand *d = &s->j->unit->f->operands.v[s->j->insn->operands];
    for (uint32_t i = 0; i < (uint32_t)d->imm; i++)
        get(s, &s->j->unit->f->operands.v[d->index + i], offsetof(struct pt_sampled, result[i]));
}

static void sample_warp(const struct jit *j, unsigned first, uint32_t how)
{
    struct sampling s = {.j = j, .first = first, .how = how};
    LLVMBasicBlockRef body = jit_new_block(j, "sample"), fails = jit_new_block(j, "fails");
    LLVMBasicBlockRef other = jit_new_block(j, "any");
    LLVMBasicBlockRef back = jit_new_block(j, ""), after = jit_new_block(j, "");
    s.lanes = jit_warp_bits(j, &j->mask[first]);
    LLVMBuildCondBr(j->code->b, LLVMBuildICmp(j->code->b, LLVMIntNE, s.lanes, jit_i32(j, 0), ""),
                    body, after);
    jit_continue_in(j, body);
    if (jit_texture_direct_emit(j, first, how, other))
        LLVMBuildBr(j->code->b, after);
    else
        LLVMBuildBr(j->code->b, other);
    jit_continue_in(j, other);
    put_sources(&s);
    LLVMBuildCondBr(j->code->b, call(&s), back, fails);
    jit_continue_in(j, fails);
    LLVMBuildRet(j->code->b, jit_i32(j, PT_RUN_FAULT));
    jit_continue_in(j, back);
    get_results(&s);
    LLVMBuildBr(j->code->b, after);
    jit_continue_in(j, after);
}

bool jit_texture_emit(const struct jit *j)
{
    uint32_t how = 0;
    jit_insn_info_is_sampled(j->form, &how);
    if (!j->code->sampled) {
        LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
        j->code->sampled =
            jit_alloca(j, LLVMArrayType2(i64, sizeof(struct pt_sampled) / 8), "sampled");
        LLVMSetAlignment(j->code->sampled, _Alignof(struct pt_sampled));
    }
    for (unsigned first = 0; first < j->facts->copies; first += jit_warp_chunks(j))
        sample_warp(j, first, how);
    return true;
}
