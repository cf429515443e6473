/* Counters of divergent loops, kept as scalars. Lanes that leave a loop at different times hold
 * different values of what counts its rounds: it is a vector. But where no lane ever waits inside
 * the loop, those that are left have gone in together and gone round as often: they hold one value,
 * which is kept as a scalar as well. A comparison of it with what lanes share tells for all of them
 * whether they go on.
 *
 * The register is set in the block before the loop, from one value, and changed by one instruction
 * inside, by another one.
 */
#include "backend/jit/value/loop_counter.h"

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/bitset.h"
#include "backend/jit/emit/emit.h"
#include "backend/jit/emit/table.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/value/registers.h"
#include "ir/insn.h"

struct writes {
    uint32_t reg, n;
};

static void see_write(void *ud, uint32_t reg, bool is_def)
{
    struct writes *w = ud;
    w->n += is_def && reg == w->reg;
}

static bool is_written(const struct jit *j, uint32_t insn, uint32_t reg)
{
    struct writes w = {.reg = reg};
    pt_insn_regs(j->unit->m, j->unit->f, &j->unit->f->insns.v[insn], see_write, &w);
    return w.n;
}

/* All lanes of the group hold one value, whenever they read it together. */
static bool is_one(const struct jit *j, const struct pt_operand *o)
{
    int64_t stride;
    return (o->kind == PT_OPND_REG || o->kind == PT_OPND_IMM) && !o->select &&
           !(o->flags & PT_OPND_MINUS) && jit_def_use_shape(j->facts, o, &stride) == JIT_SCALAR &&
           !jit_def_use_is_per_copy(j->facts, o);
}

static bool has_whole_type(const struct jit *j, const struct pt_insn *insn, uint32_t reg)
{
    enum pt_type type = (enum pt_type)pt_insn_form(j->unit->m, insn)->type[0];
    return pt_type_is_int(type) && j->facts->regs[reg].type == jit_type(j, type, 1);
}

/* reg = one value */
static bool sets(const struct jit *j, uint32_t i, uint32_t reg)
{
    const struct pt_insn *insn = &j->unit->f->insns.v[i];
    const struct pt_operand *o = &j->unit->f->operands.v[insn->operands];
    return pt_insn_form(j->unit->m, insn)->op == PT_OP_mov && !insn->guard &&
           has_whole_type(j, insn, reg) && is_one(j, &o[1]);
}

/* reg = reg + one value, or less one */
static bool changes(const struct jit *j, uint32_t i, uint32_t reg)
{
    const struct pt_insn *insn = &j->unit->f->insns.v[i];
    const struct pt_operand *o = &j->unit->f->operands.v[insn->operands];
    enum pt_op op = (enum pt_op)pt_insn_form(j->unit->m, insn)->op;
    if ((op != PT_OP_add_int && op != PT_OP_sub_int) || insn->guard || insn->n_operands != 3 ||
        pt_form_has(pt_insn_form(j->unit->m, insn), PT_M_sat) || !has_whole_type(j, insn, reg))
        return false;
    return o[1].kind == PT_OPND_REG && o[1].index == reg && is_one(j, &o[2]);
}

/* The only block from which lanes go into the loop; or UINT32_MAX. */
static uint32_t block_before(const struct jit *j, const struct pt_loop *loop)
{
    const struct pt_block *header = &j->unit->f->blocks.v[loop->header];
    uint32_t before = UINT32_MAX;
    for (uint32_t e = 0; e < header->n_pred; e++) {
        uint32_t from = j->unit->f->edges.v[header->pred + e];
        if (from >= loop->header && from < loop->end)
            continue;
        if (before != UINT32_MAX)
            return UINT32_MAX;
        before = from;
    }
    return before;
}

/* Lanes inside are always together, and nothing makes them wait for other threads. */
static bool is_in_step(const struct jit *j, const struct pt_loop *loop)
{
    if (j->facts->is_resumable || !loop->is_reducible || loop->communicates)
        return false;
    for (uint32_t b = 0; b < j->unit->f->blocks.n; b++)
        for (uint32_t x = loop->header; x < loop->end; x++)
            if (jit_set_has(jit_def_use_waits(j->facts, b), x))
                return false;
    uint32_t first = j->unit->f->blocks.v[loop->header].first,
             last = jit_insn_info_last(j->facts, loop->end - 1);
    for (uint32_t i = first; i <= last; i++)
        if (jit_insn_info_is_barrier(pt_insn_form(j->unit->m, &j->unit->f->insns.v[i])))
            return false;
    return true;
}

/* The instruction that alone writes the register inside the loop; UINT32_MAX: none does, or
 * several. */
static uint32_t change_of(const struct jit *j, const struct pt_loop *loop, uint32_t reg)
{
    uint32_t change = UINT32_MAX;
    for (uint32_t b = loop->header; b < loop->end; b++)
        for (uint32_t i = j->unit->f->blocks.v[b].first; i <= jit_insn_info_last(j->facts, b);
             i++) {
            if (!is_written(j, i, reg))
                continue;
            if (change != UINT32_MAX)
                return UINT32_MAX;
            change = i;
        }
    return change;
}

bool jit_loop_counter_find(const struct jit *j, const struct pt_operand *o, uint32_t block)
{
    uint32_t l = j->unit->f->blocks.v[block].loop;
    if (o->kind != PT_OPND_REG || j->facts->regs[o->index].shape != JIT_VECTOR || !l)
        return false;
    struct jit_reg *r = &j->facts->regs[o->index];
    const struct pt_loop *loop = &j->unit->f->loops.v[l - 1];
    uint32_t before = block_before(j, loop), change = change_of(j, loop, o->index),
             set = UINT32_MAX;
    if (r->counter_loop || before == UINT32_MAX || change == UINT32_MAX)
        return r->counter_loop == l;
    for (uint32_t i = j->unit->f->blocks.v[before].first; i <= jit_insn_info_last(j->facts, before);
         i++)
        set = is_written(j, i, o->index) ? i : set;
    if (set == UINT32_MAX || !sets(j, set, o->index) || !changes(j, change, o->index) ||
        !is_in_step(j, loop))
        return false;
    r->counter_init = set;
    r->counter_step = change;
    r->counter_loop = l;
    return true;
}

LLVMValueRef jit_loop_counter_read(const struct jit *j, uint32_t reg)
{
    const struct jit_reg *r = &j->facts->regs[reg];
    return LLVMBuildLoad2(j->code->b, r->type, r->counter, "");
}

void jit_loop_counter_note(const struct jit *j)
{
    const struct pt_operand *o = &j->unit->f->operands.v[j->insn->operands];
    uint32_t at = (uint32_t)(j->insn - j->unit->f->insns.v);
    if (o[0].kind != PT_OPND_REG || j->first_copy || !j->facts->regs[o[0].index].counter_loop)
        return;
    struct jit_reg *r = &j->facts->regs[o[0].index];
    enum pt_type type = (enum pt_type)j->form->type[0];
    if (at != r->counter_init && at != r->counter_step)
        return;
    LLVMValueRef value =
        jit_registers_read(j, &o[at == r->counter_init ? 1 : 2], 0, type, 1, false);
    if (!r->counter)
        r->counter = jit_alloca(j, r->type, "");
    if (at == r->counter_step) {
        struct jit_op op = {.j = j,
                            .b = j->code->b,
                            .lanes = 1,
                            .form = j->form,
                            .insn = j->insn,
                            .n = 2,
                            .a = {jit_loop_counter_read(j, o[0].index), value}};
        jit_table_emitter(j->unit, j->form)(&op);
        value = op.d[0];
    }
    LLVMBuildStore(j->code->b, value, r->counter);
}
