/* Loops over local variables, written out. The loop is run here, with what is known of integers:
 * constants, and what the block before it computes from them. It stays where a branch inside
 * depends on something else, or where it does not end soon.
 */
#include "ir/unroll.h"

#include <string.h>

#include "ir/affine.h"
#include "ir/insn.h"

enum { MOST_INSNS = 512 }; /* of a loop written out */

struct pt_unroll {
    const struct pt_module *m;
    const struct pt_func *f;
    struct pt_arena *arena;
    uint32_t *only; /* by register: the instruction that alone writes it, + 1; 0: there are more */
    bool *is_known; /* by register: it holds `value` where the run stands */
    uint64_t *value;
};

/* ---- integers -------------------------------------------------------------------------------- */

static bool is_int(enum pt_type type)
{
    return pt_type_is_int(type) && pt_type_bits(type) <= 64;
}

/* A mov of a constant is all that ever writes the register. */
static bool is_constant(const struct pt_unroll *u, uint32_t reg, uint64_t *value)
{
    for (unsigned depth = 0; u->only[reg] && depth < 4; depth++) {
        const struct pt_insn *insn = &u->f->insns.v[u->only[reg] - 1];
        const struct pt_form *form = pt_insn_form(u->m, insn);
        const struct pt_operand *o = &u->f->operands.v[insn->operands];
        if (form->op != PT_OP_mov || insn->guard || !is_int((enum pt_type)form->type[0]))
            return false;
        if (o[1].kind == PT_OPND_IMM) {
            *value = (uint64_t)o[1].imm;
            return true;
        }
        if (o[1].kind != PT_OPND_REG)
            return false;
        reg = o[1].index;
    }
    return false;
}

static bool read(const struct pt_unroll *u, const struct pt_operand *o, unsigned bits,
                 struct pt_affine *a)
{
    uint64_t value;
    if (o->kind == PT_OPND_IMM && o->type != PT_f32 && o->type != PT_f64)
        value = (uint64_t)o->imm;
    else if (o->kind == PT_OPND_REG && u->is_known[o->index])
        value = u->value[o->index];
    else if (o->kind != PT_OPND_REG || !is_constant(u, o->index, &value))
        return false;
    *a = pt_affine_const(value, bits);
    return true;
}

static struct pt_width width(unsigned bits)
{
    static const uint32_t lanes[PT_SPANS] = {1, 1};
    return (struct pt_width){lanes, bits};
}

static bool compared(const struct pt_form *form, const struct pt_affine *a,
                     const struct pt_affine *b, uint64_t *value)
{
    enum pt_type type = (enum pt_type)form->type[0];
    uint64_t sign = pt_type_class(type) == PT_CLASS_S ? UINT64_C(1) << (pt_type_bits(type) - 1) : 0;
    uint64_t x = a->value ^ sign, y = b->value ^ sign;
    if (form->n_mods != 1)
        return false;
    switch (form->mod[0]) {
    case PT_M_eq:
        return *value = x == y, true;
    case PT_M_ne:
        return *value = x != y, true;
    case PT_M_lt:
    case PT_M_lo:
        return *value = x < y, true;
    case PT_M_le:
    case PT_M_ls:
        return *value = x <= y, true;
    case PT_M_gt:
    case PT_M_hi:
        return *value = x > y, true;
    case PT_M_ge:
    case PT_M_hs:
        return *value = x >= y, true;
    default:
        return false;
    }
}

static bool combined(const struct pt_form *form, enum pt_affine_op op, const struct pt_affine *a,
                     const struct pt_affine *b, uint64_t *value)
{
    struct pt_width w = width(pt_type_bits((enum pt_type)form->type[0]));
    struct pt_affine d = pt_affine_op(op, a, b, w);
    *value = d.value;
    return d.is_const && !pt_form_has(form, PT_M_sat);
}

/* Of two sources. */
static bool of_two(const struct pt_form *form, const struct pt_affine *a, const struct pt_affine *b,
                   uint64_t *value)
{
    switch (form->op) {
    case PT_OP_add_int:
        return combined(form, PT_AFFINE_ADD, a, b, value);
    case PT_OP_sub_int:
        return combined(form, PT_AFFINE_SUB, a, b, value);
    case PT_OP_mul_lo:
        return combined(form, PT_AFFINE_MUL, a, b, value);
    case PT_OP_and_b:
        return combined(form, PT_AFFINE_AND, a, b, value);
    case PT_OP_or_b:
        return combined(form, PT_AFFINE_OR, a, b, value);
    case PT_OP_shl:
        return combined(form, PT_AFFINE_SHL, a, b, value);
    case PT_OP_setp_int:
        return compared(form, a, b, value);
    default:
        return false;
    }
}

/* Of one source. */
static bool of_one(const struct pt_form *form, const struct pt_affine *a, uint64_t *value)
{
    struct pt_affine d = *a;
    switch (form->op) {
    case PT_OP_mov:
        break;
    case PT_OP_not_pred:
        d.value = !d.value;
        break;
    case PT_OP_cvt_int:
        if (pt_form_has(form, PT_M_sat))
            return false;
        d = pt_affine_cvt(a, pt_type_bits((enum pt_type)form->type[1]),
                          pt_type_class((enum pt_type)form->type[1]) == PT_CLASS_S,
                          width(pt_type_bits((enum pt_type)form->type[0])));
        break;
    default:
        return false;
    }
    *value = d.value;
    return d.is_const;
}

static unsigned source_bits(const struct pt_form *form)
{
    if (form->op == PT_OP_not_pred)
        return 1;
    enum pt_type type = (enum pt_type)form->type[form->op == PT_OP_cvt_int];
    return form->n_types && is_int(type) ? pt_type_bits(type) : 0;
}

/* The instruction writes an integer or a predicate that is known. */
static bool computes(const struct pt_unroll *u, const struct pt_insn *insn, uint64_t *value)
{
    const struct pt_form *form = pt_insn_form(u->m, insn);
    const struct pt_operand *o = &u->f->operands.v[insn->operands];
    unsigned bits = source_bits(form);
    struct pt_affine a, b;
    if (insn->guard || !bits || insn->n_operands < 2 || o->kind != PT_OPND_REG ||
        !read(u, &o[1], bits, &a))
        return false;
    if (insn->n_operands == 2)
        return of_one(form, &a, value);
    return insn->n_operands == 3 && read(u, &o[2], form->op == PT_OP_shl ? 32 : bits, &b) &&
           of_two(form, &a, &b, value);
}

/* ---- the run --------------------------------------------------------------------------------- */

static void forget(void *ud, uint32_t reg, bool is_def)
{
    struct pt_unroll *u = ud;
    if (is_def)
        u->is_known[reg] = false;
}

/* Runs an instruction that does not branch. True: its register, of an integer, is known. */
static bool run(struct pt_unroll *u, const struct pt_insn *insn, uint64_t *value)
{
    bool is_known = computes(u, insn, value);
    pt_insn_regs(u->m, u->f, insn, forget, u);
    if (!is_known)
        return false;
    uint32_t reg = u->f->operands.v[insn->operands].index;
    u->is_known[reg] = true;
    u->value[reg] = *value;
    return u->f->regs.v[reg].type != PT_pred;
}

static bool is_inside(const struct pt_loop *l, uint32_t block)
{
    return block >= l->header && block < l->end;
}

/* Where the run goes on behind the block's last instruction; false: that is not known. *is_left: a
 * branch out of the loop that some threads may take. */
static bool follow(const struct pt_unroll *u, const struct pt_loop *l, uint32_t block,
                   uint32_t *next, bool *is_left)
{
    const struct pt_block *b = &u->f->blocks.v[block];
    const struct pt_insn *last = &u->f->insns.v[b->first + b->count - 1];
    const struct pt_form *form = pt_insn_form(u->m, last);
    *next = b->next;
    *is_left = false;
    if (!(form->effects & (PT_FX_BRANCH | PT_FX_END)))
        return true;
    const struct pt_operand *to = &u->f->operands.v[last->operands];
    if (form->op != PT_OP_bra || to->kind != PT_OPND_LABEL)
        return false;
    if (!last->guard || u->is_known[last->guard]) {
        if (!last->guard || u->value[last->guard] != last->guard_neg)
            *next = to->index;
        return true;
    }
    *is_left = true;
    return !is_inside(l, to->index) && is_inside(l, b->next);
}

static bool is_plain(const struct pt_form *form)
{
    const uint32_t others = PT_FX_WARP | PT_FX_CTA | PT_FX_CLUSTER | PT_FX_CALL | PT_FX_ATOMIC |
                            PT_FX_CARRY_IN | PT_FX_CARRY_OUT;
    return !(form->effects & others);
}

/* The access may be of a local variable. */
static bool is_access(const struct pt_form *form)
{
    enum pt_space space = pt_form_space(form);
    return (form->op == PT_OP_ld || form->op == PT_OP_st) &&
           (space == PT_SPACE_LOCAL || space == PT_SPACE_GENERIC);
}

static void add(struct pt_unroll *u, struct pt_unrolled *loop, uint32_t insn, bool is_const,
                uint64_t value)
{
    *pt_vec_push(u->arena, &loop->insns) = (struct pt_unrolled_insn){insn, is_const, value};
}

static bool run_block(struct pt_unroll *u, const struct pt_loop *l, uint32_t block,
                      struct pt_unrolled *loop, uint32_t *next)
{
    const struct pt_block *b = &u->f->blocks.v[block];
    uint64_t value = 0;
    bool is_left;
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        const struct pt_form *form = pt_insn_form(u->m, &u->f->insns.v[i]);
        if (!is_plain(form) || loop->insns.n == MOST_INSNS)
            return false;
        if (form->effects & (PT_FX_BRANCH | PT_FX_END))
            break;
        bool is_const = run(u, &u->f->insns.v[i], &value);
        add(u, loop, i, is_const, value);
    }
    if (!follow(u, l, block, next, &is_left))
        return false;
    if (is_left)
        add(u, loop, b->first + b->count - 1, false, 0);
    return true;
}

/* The one block from which the loop is entered. False: there are several, or none. */
static bool find_before(const struct pt_unroll *u, const struct pt_loop *l, uint32_t *before)
{
    const struct pt_block *b = &u->f->blocks.v[l->header];
    unsigned n = 0;
    for (uint32_t e = b->pred; e < b->pred + b->n_pred; e++) {
        if (is_inside(l, u->f->edges.v[e]))
            continue;
        *before = u->f->edges.v[e];
        n++;
    }
    return n == 1 && l->is_reducible && !l->communicates;
}

static void start(struct pt_unroll *u, uint32_t before)
{
    const struct pt_block *b = &u->f->blocks.v[before];
    uint64_t value;
    memset(u->is_known, 0, u->f->regs.n * sizeof *u->is_known);
    for (uint32_t i = b->first; i < b->first + b->count; i++)
        run(u, &u->f->insns.v[i], &value);
}

static const struct pt_loop *find_loop(const struct pt_func *f, uint32_t header)
{
    for (uint32_t i = 0; i < f->loops.n; i++)
        if (f->loops.v[i].header == header)
            return &f->loops.v[i];
    return NULL;
}

bool pt_unroll_loop(struct pt_unroll *u, uint32_t block, struct pt_unrolled *loop)
{
    const struct pt_loop *l = find_loop(u->f, block);
    uint32_t before, at = block;
    bool has_access = false;
    *loop = (struct pt_unrolled){0};
    if (!l || !find_before(u, l, &before))
        return false;
    start(u, before);
    while (is_inside(l, at))
        if (!run_block(u, l, at, loop, &at))
            return false;
    for (uint32_t i = 0; i < loop->insns.n; i++)
        has_access |= is_access(pt_insn_form(u->m, &u->f->insns.v[loop->insns.v[i].insn]));
    loop->end = l->end;
    loop->exit = at;
    return has_access && at != UINT32_MAX;
}

/* ---- functions ------------------------------------------------------------------------------- */

struct find_only {
    struct pt_unroll *u;
    uint32_t insn;
};

static void note_def(void *ud, uint32_t reg, bool is_def)
{
    struct find_only *s = ud;
    if (is_def && s->u->f->regs.v[reg].n_defs == 1)
        s->u->only[reg] = s->insn + 1;
}

static bool has_variables(const struct pt_module *m, const struct pt_func *f)
{
    for (uint32_t i = 0; i < f->locals.n; i++)
        if (m->symbols.v[f->locals.v[i]].space == PT_SPACE_LOCAL)
            return true;
    return false;
}

struct pt_unroll *pt_unroll_begin(const struct pt_module *m, const struct pt_func *f,
                                  struct pt_arena *arena)
{
    if (!f->loops.n || !has_variables(m, f))
        return NULL;
    struct pt_unroll *u = pt_arena_alloc(arena, sizeof *u);
    *u = (struct pt_unroll){.m = m, .f = f, .arena = arena};
    u->only = pt_arena_alloc(arena, f->regs.n * sizeof *u->only);
    u->is_known = pt_arena_alloc(arena, f->regs.n * sizeof *u->is_known);
    u->value = pt_arena_alloc(arena, f->regs.n * sizeof *u->value);
    for (uint32_t i = 0; i < f->insns.n; i++)
        pt_insn_regs(m, f, &f->insns.v[i], note_def, &(struct find_only){u, i});
    return u;
}

bool pt_unroll_any(const struct pt_module *m, const struct pt_func *f, struct pt_arena *arena)
{
    struct pt_unroll *u = pt_unroll_begin(m, f, arena);
    struct pt_unrolled loop;
    for (uint32_t b = 0; u && b < f->blocks.n; b++)
        if (pt_unroll_loop(u, b, &loop))
            return true;
    return false;
}
