/* Which registers of a function may come to hold no value, whatever runs: those that are loaded, or
 * never written, and what is made of them. All others need no test. */
#include "backend/interp/undefined_reach.h"
#include "backend/interp/async.h"
#include "ir/insn.h"

bool pt_undefined_reach_is_zero(const struct pt_func *func, const struct pt_insn *insn)
{
    return insn->line == func->line && insn->col == 1 && insn->n_operands == 2 &&
           func->operands.v[insn->operands].kind == PT_OPND_REG && insn->loc == PT_NONE;
}

bool pt_undefined_reach_is_plain(const struct pt_form *form, bool is_write)
{
    switch (form->op) {
    case PT_OP_ld:
    case PT_OP_ld_volatile:
    case PT_OP_ld_acquire:
    case PT_OP_ld_nc:
    case PT_OP_ldu:
        return !is_write && pt_form_space(form) != PT_SPACE_PARAM;
    case PT_OP_st:
    case PT_OP_st_volatile:
    case PT_OP_st_release:
        return is_write;
    default:
        return false;
    }
}

/* What it makes is followed from memory. */
static bool is_loaded(const struct pt_form *form)
{
    return pt_undefined_reach_is_plain(form, false) || form->op == PT_OP_ldmatrix ||
           pt_is_wgmma(form);
}

/* While it is looked for. */
struct search {
    struct pt_undefined_reach *reach;
    bool is_used, is_new;
};

static void see_use(void *ud, uint32_t reg, bool is_def)
{
    struct search *s = ud;
    s->is_used |= !is_def && s->reach->may[reg];
}

static void see_def(void *ud, uint32_t reg, bool is_def)
{
    struct search *s = ud;
    if (!is_def || s->reach->may[reg])
        return;
    s->reach->may[reg] = s->is_new = true;
}

const void *pt_undefined_reach_find(const struct pt_module *m, const struct pt_func *func,
                                    struct pt_arena *arena)
{
    struct search s = {pt_arena_alloc(arena, sizeof *s.reach), false, true};
    s.reach->module = m;
    s.reach->may = pt_arena_alloc(arena, func->regs.n * sizeof(bool));
    while (s.is_new) {
        s.is_new = false;
        for (uint32_t i = 0; i < func->insns.n; i++) {
            const struct pt_insn *insn = &func->insns.v[i];
            s.is_used = pt_undefined_reach_is_zero(func, insn) || is_loaded(pt_insn_form(m, insn));
            if (!s.is_used)
                pt_insn_regs(m, func, insn, see_use, &s);
            if (s.is_used)
                pt_insn_regs(m, func, insn, see_def, &s);
        }
    }
    return s.reach;
}

static void see_any(void *ud, uint32_t reg, bool is_def)
{
    struct search *s = ud;
    (void)is_def;
    s->is_used |= s->reach->may[reg];
}

bool pt_undefined_reach_has(const struct pt_undefined_reach *reach, const struct pt_func *func,
                            const struct pt_insn *insn)
{
    struct search s = {(struct pt_undefined_reach *)reach, false, false};
    pt_insn_regs(reach->module, func, insn, see_any, &s);
    return s.is_used;
}
