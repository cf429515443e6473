/* Instructions that the interpreter runs (pt_engine.step): a group is whole warps then; for each
 * warp with lanes that are on, the registers that the instruction reads go to where the interpreter
 * has them, it runs the instruction, and results come back.
 */
#include "backend/jit/warp/interp_step.h"

#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/check.h"
#include "backend/jit/llvm/debug_info.h"
#include "backend/jit/value/registers.h"
#include "ir/insn.h"

/* ---- registers of a warp --------------------------------------------------------------------- */

struct step {
    const struct jit *j;
    unsigned first;     /* chunk of the group with which the warp begins */
    LLVMValueRef lanes; /* i32: that run */
    struct pt_place at; /* the instruction as the interpreter has it */
    uint32_t *slots, n; /* of its registers, in the order of pt_insn_regs */
    LLVMValueRef frame;
    uint32_t next; /* of the registers */
    bool is_back;  /* results come back */
    bool is_known;
};

static void count_register(void *ud, uint32_t reg, bool is_def)
{
    struct step *s = ud;
    (void)reg, (void)is_def;
    s->n++;
}

static void add_slot(void *ud, uint32_t reg, bool is_def)
{
    struct step *s = ud;
    (void)is_def;
    s->slots[s->n++] = s->j->unit->snapshot->slots[s->at.func][reg];
}

static void find_slots(struct step *s)
{
    const struct pt_module *m = &s->j->unit->snapshot->m;
    const struct pt_func *f = &m->funcs.v[s->at.func];
    const struct pt_insn *insn = &f->insns.v[s->at.insn];
    pt_insn_regs(m, f, insn, count_register, s);
    s->slots = pt_arena_alloc(s->j->unit->arena, s->n * sizeof *s->slots);
    s->n = 0;
    pt_insn_regs(m, f, insn, add_slot, s);
}

/* Bytes of a register of so many bits in the frame. */
static unsigned slot_bytes(unsigned bits)
{
    return (bits <= 32 ? 4 : bits / 8) * PT_WARP_SIZE;
}

/* The next register, so many bytes behind its start. */
static LLVMValueRef place(const struct step *s, uint32_t bytes)
{
    return jit_at(s->j, s->frame, jit_i64(s->j, (uint64_t)s->slots[s->next] + bytes));
}

static void put_mask(const struct step *s, const struct pt_operand *o)
{
    LLVMValueRef bits[JIT_COPIES];
    for (unsigned u = 0; u < jit_warp_chunks(s->j); u++)
        bits[u] = jit_registers_read(s->j, o, s->first + u, PT_pred, s->j->unit->width, true);
    LLVMBuildStore(s->j->code->b, jit_warp_bits(s->j, bits), place(s, 0));
}

/* The lanes of chunk `u` as elements of the interpreter: integers of at least 32 bits. */
static LLVMTypeRef elements(const struct jit *j, unsigned bits)
{
    return jit_int_type(j, bits < 32 ? 32 : bits, j->unit->width);
}

static void put_values(const struct step *s, const struct pt_operand *o, enum pt_type type)
{
    const struct jit *j = s->j;
    unsigned bits = pt_type_bits(type), bytes = slot_bytes(bits) / jit_warp_chunks(j);
    for (unsigned u = 0; u < jit_warp_chunks(j); u++) {
        LLVMValueRef value = jit_registers_read(j, o, s->first + u, type, j->unit->width, false);
        value = LLVMBuildBitCast(j->code->b, value, jit_int_type(j, bits, j->unit->width), "");
        value = LLVMBuildZExtOrBitCast(j->code->b, value, elements(j, bits), "");
        LLVMSetAlignment(LLVMBuildStore(j->code->b, value, place(s, u * bytes)), 16);
    }
}

static LLVMValueRef get_mask(const struct step *s, unsigned u)
{
    const struct jit *j = s->j;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    LLVMValueRef bits = LLVMBuildLoad2(j->code->b, i32, place(s, 0), "");
    bits = LLVMBuildLShr(j->code->b, bits, jit_i32(j, u * j->unit->width), "");
    bits = LLVMBuildTruncOrBitCast(j->code->b, bits,
                                   LLVMIntTypeInContext(j->code->context, j->unit->width), "");
    return LLVMBuildBitCast(j->code->b, bits, jit_int_type(j, 1, j->unit->width), "");
}

static LLVMValueRef get_values(const struct step *s, unsigned u, enum pt_type type)
{
    const struct jit *j = s->j;
    unsigned bits = pt_type_bits(type), bytes = slot_bytes(bits) / jit_warp_chunks(j);
    LLVMValueRef value = LLVMBuildLoad2(j->code->b, elements(j, bits), place(s, u * bytes), "");
    LLVMSetAlignment(value, 16);
    value = LLVMBuildTruncOrBitCast(j->code->b, value, jit_int_type(j, bits, j->unit->width), "");
    return LLVMBuildBitCast(j->code->b, value, jit_type(j, type, j->unit->width), "");
}

/* A register with one value for all lanes: that of the lowest lane that ran. */
static void get_one(struct step *s, const struct pt_operand *o, enum pt_type type)
{
    const struct jit *j = s->j;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    LLVMValueRef find[] = {s->lanes,
                           LLVMConstInt(LLVMInt1TypeInContext(j->code->context), 1, false)};
    /* some lane ran */
    LLVMValueRef lane =
        jit_check_proven(j->code, jit_intrinsic(j, "llvm.cttz", i32, find, 2), "nonzero");
    unsigned bits = pt_type_bits(type), bytes = slot_bytes(bits) / PT_WARP_SIZE;
    LLVMValueRef value;
    if (bits == 1) {
        value =
            LLVMBuildLShr(j->code->b, LLVMBuildLoad2(j->code->b, i32, place(s, 0), ""), lane, "");
        jit_check_proven(j->code, value, "amount"); /* below 32 */
    } else {
        LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
        LLVMValueRef offset = LLVMBuildZExt(j->code->b, lane, i64, "");
        offset = LLVMBuildMul(j->code->b, offset, jit_i64(j, bytes), "");
        value = LLVMBuildLoad2(j->code->b, LLVMIntTypeInContext(j->code->context, 8 * bytes),
                               jit_at(j, place(s, 0), offset), "");
    }
    value = LLVMBuildTruncOrBitCast(j->code->b, value, LLVMIntTypeInContext(j->code->context, bits),
                                    "");
    value = LLVMBuildBitCast(j->code->b, value, jit_type(j, type, 1), "");
    jit_registers_write(j, o, s->first, value, 1, false);
}

static void get_register(struct step *s, const struct pt_operand *o, enum pt_type type)
{
    enum jit_shape shape = s->j->facts->regs[o->index].shape;
    if (shape == JIT_SCALAR) {
        get_one(s, o, type);
        return;
    }
    s->is_known &= shape == JIT_VECTOR;
    for (unsigned u = 0; u < jit_warp_chunks(s->j); u++) {
        LLVMValueRef value = type == PT_pred ? get_mask(s, u) : get_values(s, u, type);
        jit_registers_write(s->j, o, s->first + u, value, s->j->unit->width, false);
    }
}

static void move_register(void *ud, uint32_t reg, bool is_def)
{
    struct step *s = ud;
    enum pt_type type = (enum pt_type)s->j->unit->f->regs.v[reg].type;
    struct pt_operand o = {.kind = PT_OPND_REG, .index = reg};
    if (is_def && s->is_back)
        get_register(s, &o, type);
    else if (!is_def && !s->is_back && type == PT_pred)
        put_mask(s, &o);
    else if (!is_def && !s->is_back)
        put_values(s, &o, type);
    s->next++;
}

static void move_registers(struct step *s, bool is_back)
{
    s->next = 0;
    s->is_back = is_back;
    pt_insn_regs(s->j->unit->m, s->j->unit->f, s->j->insn, move_register, s);
}

/* ---- the call -------------------------------------------------------------------------------- */

/* The warp's number in the CTA. */
static LLVMValueRef warp_of(const struct jit *j, unsigned first)
{
    unsigned warps = j->facts->copies / jit_warp_chunks(j);
    LLVMValueRef warp = LLVMBuildMul(j->code->b, j->group, jit_i32(j, warps), "");
    return LLVMBuildAdd(j->code->b, warp, jit_i32(j, first / jit_warp_chunks(j)), "");
}

static LLVMValueRef find_frame(const struct jit *j, unsigned first, uint32_t func)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(j->code->context, 0);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    LLVMTypeRef types[] = {pointer, i32, i32};
    LLVMValueRef args[] = {j->code->cta, warp_of(j, first), jit_i32(j, func)};
    return jit_help(j, "jit_help_frame", LLVMFunctionType(pointer, types, 3, false), args);
}

void jit_interp_step_find_frame(const struct jit *j)
{
    j->code->frame = NULL;
    if (!j->facts->has_steps)
        return;
    j->code->frame = find_frame(j, 0, j->unit->snapshot->kernel);
    jit_set_pure(j, j->code->frame);
}

static LLVMValueRef call(const struct step *s)
{
    const struct jit *j = s->j;
    LLVMTypeRef pointer = LLVMPointerTypeInContext(j->code->context, 0);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    LLVMTypeRef types[] = {pointer, i32, i32, i32, i32, i32};
    LLVMValueRef args[] = {j->code->cta,
                           warp_of(j, s->first),
                           jit_i32(j, s->at.func),
                           jit_i32(j, s->at.insn),
                           s->lanes,
                           jit_i32(j, j->unit->options->math_fast)};
    LLVMValueRef ok = jit_help(j, "jit_help_step", LLVMFunctionType(i32, types, 6, false), args);
    return LLVMBuildICmp(j->code->b, LLVMIntNE, ok, jit_i32(j, 0), "");
}

static bool step_warp(const struct jit *j, unsigned first)
{
    struct step s = {.j = j, .first = first, .is_known = true};
    s.at = jit_debug_info_place(j->unit, (uint32_t)(j->insn - j->unit->f->insns.v));
    find_slots(&s);
    LLVMBasicBlockRef body = jit_new_block(j, "step"), fails = jit_new_block(j, "fails");
    LLVMBasicBlockRef back = jit_new_block(j, ""), after = jit_new_block(j, "");
    s.lanes = jit_warp_bits(j, &j->mask[first]);
    LLVMBuildCondBr(j->code->b, LLVMBuildICmp(j->code->b, LLVMIntNE, s.lanes, jit_i32(j, 0), ""),
                    body, after);
    jit_continue_in(j, body);
    s.frame =
        s.at.func == j->unit->snapshot->kernel ? j->code->frame : find_frame(j, first, s.at.func);
    move_registers(&s, false);
    LLVMBuildCondBr(j->code->b, call(&s), back, fails);
    jit_continue_in(j, fails);
    LLVMBuildRet(j->code->b, jit_i32(j, PT_RUN_FAULT));
    jit_continue_in(j, back);
    move_registers(&s, true);
    LLVMBuildBr(j->code->b, after);
    jit_continue_in(j, after);
    return s.is_known;
}

bool jit_interp_step_emit(const struct jit *j)
{
    if ((j->form->effects & PT_FX_WARP) && !jit_insn_info_is_whole(j->facts, j->block))
        return jit_refuse(j->unit, JIT_INSN_INFO_PARTED);
    for (unsigned first = 0; first < j->facts->copies; first += jit_warp_chunks(j)) {
        if (!step_warp(j, first))
            return jit_refuse(j->unit, j->form->spelling);
    }
    return true;
}
