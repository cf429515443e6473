/* Calls replaced by the bodies they call. The blocks of a lowered body are written out again as a
 * stretch of code with a label for each block, calls as moves and bodies between them, loops that
 * ir/unroll.h finds as their rounds; then the blocks of it all are built as lowering does. */
#include "ir/inline.h"

#include <stdio.h>
#include <string.h>

#include "ir/bits.h"
#include "ir/call_graph.h"
#include "ir/cfg.h"
#include "ir/escape.h"
#include "ir/loop_counter.h"
#include "ir/row.h"
#include "ir/spin_loop.h"
#include "ir/unroll.h"
#include "ir/web.h"

enum {
    MOST_INSNS = 1 << 16,       /* of a copy */
    MOST_PARAMETER_BYTES = 512, /* copied by one call */
    MOST_DEPTH = 64
};

struct variable {
    uint32_t symbol, copy;
};

/* One body being written out. */
struct body {
    const struct pt_func *f;
    const struct body *caller;
    uint32_t func, depth;
    uint32_t reg;      /* register r is reg + r */
    uint32_t label;    /* of block b: label + b */
    uint32_t table;    /* table t is table + t */
    uint32_t end;      /* label behind the body; PT_NONE: of the kernel, which ends */
    uint64_t frame;    /* where its variables begin in the window */
    uint64_t variadic; /* bytes behind them: what is passed for an unsized parameter */
    uint32_t block;    /* being written; UINT32_MAX: rounds of a loop */
    const struct pt_loop_counter *counters;
    uint32_t n_counters, counter; /* counter k's copy is register counter + k */
    PT_VEC(struct variable) variables;
};

struct inliner {
    const struct pt_module *from;
    struct pt_module *m;
    struct pt_func *f;
    struct pt_arena *scratch;
    PT_VEC(struct pt_place) places;
    struct pt_place place; /* of what is being written */
    bool keeps_blocks;
    uint32_t line, loc;
    bool is_too_much;
    uint32_t begin;     /* operand: where stacks begin; 0: nothing uses them */
    const char *stays;  /* why the first call does that stays; NULL: none does */
    uint8_t *addressed; /* pt_call_graph_addressed, or NULL: no indirect call so far */
};

/* ---- forms ----------------------------------------------------------------------------------- */

static uint16_t find_variant(const char *mnemonic, enum pt_op op, unsigned operands)
{
    unsigned n, first = pt_lines_find(mnemonic, (uint32_t)strlen(mnemonic), &n);
    for (unsigned i = first; i < first + n; i++) {
        const struct pt_line *line = pt_line_at(i);
        for (unsigned v = line->variant; line->op == op && v < line->variant + line->n_variants;
             v++)
            if (pt_variant_operands(v) == operands)
                return (uint16_t)v;
    }
    return 0;
}

static bool is_same(const struct pt_form *a, const struct pt_form *b)
{
    return a->op == b->op && a->vec == b->vec && a->n_mods == b->n_mods &&
           a->n_types == b->n_types && a->mod[0] == b->mod[0] && a->type[0] == b->type[0];
}

/* The form of a plain instruction; `mod` and `type` may be none, `vec` is 1, 2 or 4. */
static uint32_t find_form(struct pt_module *m, const char *mnemonic, enum pt_op op,
                          unsigned operands, enum pt_mod mod, enum pt_type type, unsigned vec)
{
    struct pt_form form = {.op = (uint16_t)op,
                           .vec = (uint8_t)vec,
                           .n_mods = mod != PT_M_NONE,
                           .n_types = type != PT_TYPE_NONE,
                           .mod = {(uint16_t)mod},
                           .type = {(uint8_t)type},
                           .effects = pt_op_effects(op)};
    for (uint32_t i = 1; i < m->forms.n; i++)
        if (is_same(&m->forms.v[i], &form))
            return i;
    char text[64], part[16] = "";
    if (vec > 1)
        snprintf(part, sizeof part, ".v%u", vec);
    snprintf(text, sizeof text, "%s%s%s%s%s%s", mnemonic, mod ? "." : "",
             mod ? pt_mod_spelling(mod) : "", part, type ? "." : "",
             type ? pt_type_name(type) : "");
    form.variant = find_variant(mnemonic, op, operands);
    form.spelling = pt_arena_text(&m->arena, text, strlen(text));
    if (!m->forms.n)
        (void)pt_vec_push(&m->arena, &m->forms);
    *pt_vec_push(&m->arena, &m->forms) = form;
    return m->forms.n - 1;
}

static uint32_t move_form(struct pt_module *m, enum pt_type type, unsigned n)
{
    return find_form(m, "mov", n > 1 ? PT_OP_mov_vec : PT_OP_mov, 2, PT_M_NONE, type, n);
}

/* ---- writing instructions -------------------------------------------------------------------- */

static struct pt_insn *add_insn(struct inliner *in, uint32_t form, const struct pt_operand *o,
                                unsigned n)
{
    struct pt_arena *arena = &in->m->arena;
    uint32_t at = in->f->operands.n;
    struct pt_operand *to = pt_vec_extend(arena, &in->f->operands, n ? n : 1);
    if (n)
        memcpy(to, o, n * sizeof *o);
    while (in->places.n < at)
        (void)pt_vec_push(in->scratch, &in->places);
    *pt_vec_push(in->scratch, &in->places) = in->place;
    in->place.begins = false;
    struct pt_insn *insn = pt_vec_push(arena, &in->f->insns);
    *insn = (struct pt_insn){.form = form,
                             .operands = at,
                             .n_operands = (uint8_t)n,
                             .col = 1,
                             .line = in->line,
                             .loc = in->loc};
    in->is_too_much |= in->f->insns.n > MOST_INSNS;
    return insn;
}

static uint32_t add_label(struct inliner *in, uint32_t n)
{
    struct pt_label *labels = pt_vec_extend(&in->m->arena, &in->f->labels, n);
    for (uint32_t i = 0; i < n; i++)
        labels[i].line = in->line ? in->line : 1;
    return in->f->labels.n - n;
}

static struct pt_insn *add_branch(struct inliner *in, uint32_t label)
{
    struct pt_operand to = {.kind = PT_OPND_LABEL, .index = label};
    return add_insn(in, find_form(in->m, "bra", PT_OP_bra, 1, PT_M_NONE, PT_TYPE_NONE, 1), &to, 1);
}

static struct pt_operand reg_operand(const struct inliner *in, uint32_t reg)
{
    return (struct pt_operand){.kind = PT_OPND_REG, .index = reg, .type = in->f->regs.v[reg].type};
}

static uint32_t add_reg(struct inliner *in, const char *what, enum pt_type type)
{
    uint32_t reg = in->f->regs.n;
    char name[24];
    int n = snprintf(name, sizeof name, "%%%s%u", what, reg);
    char *text = pt_arena_text(&in->m->arena, name, (size_t)n);
    struct pt_reg *r = pt_vec_push(&in->m->arena, &in->f->regs);
    *r = (struct pt_reg){.name = text, .base = reg, .type = (uint8_t)type};
    return reg;
}

/* ---- operands of a body ---------------------------------------------------------------------- */

static bool is_own(const struct inliner *in, const struct body *b, uint32_t symbol)
{
    const struct pt_symbol *s = &in->from->symbols.v[symbol];
    if (s->space != PT_SPACE_PARAM)
        return s->space == PT_SPACE_LOCAL;
    for (uint32_t i = 0; b->f->is_entry && i < b->f->params.n; i++)
        if (b->f->params.v[i] == symbol)
            return false;
    return true;
}

/* The variable of this activation. */
static uint32_t copy_variable(struct inliner *in, struct body *b, uint32_t symbol)
{
    if (!is_own(in, b, symbol))
        return symbol;
    for (uint32_t i = 0; i < b->variables.n; i++)
        if (b->variables.v[i].symbol == symbol)
            return b->variables.v[i].copy;
    struct pt_symbol *s = pt_vec_push(&in->m->arena, &in->m->symbols);
    *s = in->from->symbols.v[symbol];
    s->space = PT_SPACE_LOCAL;
    s->offset += b->frame;
    s->func = (uint32_t)(in->f - in->m->funcs.v);
    *pt_vec_push(in->scratch, &b->variables) = (struct variable){symbol, in->m->symbols.n - 1};
    *pt_vec_push(&in->m->arena, &in->f->locals) = in->m->symbols.n - 1;
    return in->m->symbols.n - 1;
}

static uint32_t count_parts(const struct pt_operand *o)
{
    switch (o->kind) {
    case PT_OPND_PAIR:
        return 2;
    case PT_OPND_VEC:
    case PT_OPND_MEM:
    case PT_OPND_LIST:
        return (uint32_t)o->imm;
    default:
        return 0;
    }
}

/* Within its loop a counter is read from its copy. */
static uint32_t copy_of_reg(const struct body *b, uint32_t reg)
{
    for (uint32_t k = 0; k < b->n_counters; k++) {
        const struct pt_loop_counter *c = &b->counters[k];
        if (c->reg == reg && b->block >= c->first && b->block < c->end)
            return b->counter + k;
    }
    return reg + b->reg;
}

static struct pt_operand copy_operand(struct inliner *in, struct body *b, struct pt_operand o)
{
    uint32_t n = count_parts(&o);
    if (n) {
        uint32_t at = in->f->operands.n;
        (void)pt_vec_extend(&in->m->arena, &in->f->operands, n);
        for (uint32_t i = 0; i < n; i++) {
            struct pt_operand part = copy_operand(in, b, b->f->operands.v[o.index + i]);
            in->f->operands.v[at + i] = part;
        }
        o.index = at;
    } else if (o.kind == PT_OPND_REG) {
        o.index = copy_of_reg(b, o.index);
    } else if (o.kind == PT_OPND_SYM) {
        o.index = copy_variable(in, b, o.index);
    } else if (o.kind == PT_OPND_LABEL) {
        o.index += b->label;
    } else if (o.kind == PT_OPND_TABLE) {
        o.index += b->table;
    }
    return o;
}

/* Of ld.param and st.param in a function whose address is in a register: parameters of activations
 * are local memory. */
static uint32_t local_form(struct pt_module *m, uint32_t of)
{
    struct pt_form form = m->forms.v[of];
    unsigned i = 0;
    while (i < form.n_mods && form.mod[i] != PT_M_param && form.mod[i] != PT_M_param_func)
        i++;
    if (i == form.n_mods)
        return of;
    form.mod[i] = PT_M_local;
    for (uint32_t k = 1; k < m->forms.n; k++)
        if (!memcmp(&m->forms.v[k], &form, sizeof form)) /* one made before has the spelling of what
                                                            it was */
            return k;
    *pt_vec_push(&m->arena, &m->forms) = form;
    return m->forms.n - 1;
}

static uint32_t copy_form(struct inliner *in, const struct body *b, const struct pt_insn *insn)
{
    enum pt_op op = (enum pt_op)in->from->forms.v[insn->form].op;
    if (!b->caller || (op != PT_OP_ld && op != PT_OP_st))
        return insn->form;
    const struct pt_operand *mem = &b->f->operands.v[insn->operands + (op == PT_OP_ld)];
    bool has_register = b->f->operands.v[mem->index].kind == PT_OPND_REG;
    return has_register ? local_form(in->m, insn->form) : insn->form;
}

static void copy_insn(struct inliner *in, struct body *b, const struct pt_insn *insn)
{
    struct pt_operand o[UINT8_MAX];
    for (uint32_t k = 0; k < insn->n_operands; k++)
        o[k] = copy_operand(in, b, b->f->operands.v[insn->operands + k]);
    struct pt_insn *to = add_insn(in, copy_form(in, b, insn), o, insn->n_operands);
    to->guard = insn->guard ? insn->guard + b->reg : PT_NONE;
    to->guard_neg = insn->guard_neg;
    to->col = insn->col;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* A value that a call passes: a register, a constant, or a variable. */
static bool is_variable(const struct pt_operand *o)
{
    return o->kind == PT_OPND_SYM;
}

static struct pt_operand formal(struct inliner *in, struct body *callee, uint32_t symbol)
{
    const struct pt_symbol *s = &in->from->symbols.v[symbol];
    if (s->space == PT_SPACE_REG)
        return reg_operand(in, s->reg + callee->reg);
    return (struct pt_operand){.kind = PT_OPND_SYM, .index = copy_variable(in, callee, symbol)};
}

static void add_access(struct inliner *in, bool is_load, enum pt_type type, uint32_t symbol,
                       uint64_t offset, struct pt_operand value)
{
    uint32_t at = in->f->operands.n;
    *pt_vec_push(&in->m->arena, &in->f->operands) =
        (struct pt_operand){.kind = PT_OPND_SYM, .index = symbol, .imm = (int64_t)offset};
    struct pt_operand mem = {.kind = PT_OPND_MEM, .index = at, .imm = 1};
    struct pt_operand o[2] = {is_load ? value : mem, is_load ? mem : value};
    uint32_t form = find_form(in->m, is_load ? "ld" : "st", is_load ? PT_OP_ld : PT_OP_st, 2,
                              PT_M_local, type, 1);
    add_insn(in, form, o, 2);
}

static enum pt_type bits_of(uint64_t bytes)
{
    return bytes == 1 ? PT_b8 : bytes == 2 ? PT_b16 : bytes == 4 ? PT_b32 : PT_b64;
}

/* From variable to variable, in the largest elements that lie whole in both. */
static void copy_bytes(struct inliner *in, uint32_t to, uint32_t from)
{
    const struct pt_symbol *a = &in->m->symbols.v[from], *b = &in->m->symbols.v[to];
    uint64_t bytes = a->size < b->size ? a->size : b->size;
    uint64_t unit = pt_type_bytes((enum pt_type)b->type);
    unit = unit == 2 || unit == 4 || unit == 8 ? unit : b->align >= 8 ? 8 : b->align >= 4 ? 4 : 1;
    for (uint64_t at = 0; at < bytes; at += unit) {
        while (unit > bytes - at || (a->offset + at) % unit || (b->offset + at) % unit)
            unit /= 2;
        struct pt_operand pass =
            reg_operand(in, add_reg(in, "pass", unit == 1 ? PT_b16 : bits_of(unit)));
        add_access(in, true, bits_of(unit), from, at, pass);
        add_access(in, false, bits_of(unit), to, at, pass);
        a = &in->m->symbols.v[from];
        b = &in->m->symbols.v[to];
    }
}

/* The type of a mov between registers of this type. */
static enum pt_type moved_as(uint8_t type)
{
    if (type == PT_pred || type == PT_f32 || type == PT_f64)
        return (enum pt_type)type;
    unsigned bits = pt_type_bits((enum pt_type)type);
    return bits == 128 ? PT_b128 : bits_of(bits / 8);
}

static void pass_value(struct inliner *in, struct pt_operand to, struct pt_operand from)
{
    if (is_variable(&to) && is_variable(&from) && to.index == from.index)
        return;
    if (is_variable(&to) && is_variable(&from)) {
        copy_bytes(in, to.index, from.index);
        return;
    }
    enum pt_type type = is_variable(&to)     ? bits_of(in->m->symbols.v[to.index].size)
                        : is_variable(&from) ? bits_of(pt_type_bits(to.type) / 8)
                                             : moved_as(to.type);
    if (is_variable(&to))
        add_access(in, false, type, to.index, 0, from);
    else if (is_variable(&from))
        add_access(in, true, type, from.index, (uint64_t)from.imm, to);
    else
        add_insn(in, move_form(in->m, type, 1), (struct pt_operand[]){to, from}, 2);
}

/* The arguments (or results) are what the function declares, one for one, of the same sizes. */
static bool agrees(const struct inliner *in, const struct body *b, const struct pt_operand *list,
                   const uint32_t *symbols, uint32_t n)
{
    if ((list ? (uint64_t)list->imm : 0) != n)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const struct pt_operand *o = &b->f->operands.v[list->index + i];
        const struct pt_symbol *s = &in->from->symbols.v[symbols[i]];
        bool is_reg = s->space == PT_SPACE_REG;
        unsigned bits = is_reg ? pt_type_bits((enum pt_type)s->type) : (unsigned)s->size * 8;
        if (s->is_unsized && !is_reg && o->kind == PT_OPND_SYM && is_own(in, b, o->index) &&
            !o->imm && in->from->symbols.v[o->index].size <= MOST_PARAMETER_BYTES)
            continue;
        if (s->is_unsized || (is_reg && bits == 8) || (!is_reg && s->size > MOST_PARAMETER_BYTES))
            return false;
        if (o->kind == PT_OPND_REG) {
            if (pt_type_bits((enum pt_type)b->f->regs.v[o->index].type) != bits ||
                (bits > 64 && !is_reg))
                return false;
        } else if (o->kind == PT_OPND_SYM) {
            if (!is_own(in, b, o->index) || (is_reg && (bits == 1 || bits > 64)) ||
                in->from->symbols.v[o->index].size * 8 < bits || o->imm)
                return false;
        } else if (o->kind != PT_OPND_IMM || !(bits == 16 || bits == 32 || bits == 64)) {
            return false;
        }
    }
    return true;
}

struct call {
    uint32_t callee;
    const struct pt_operand *results, *args; /* lists, or NULL */
};

static bool is_active(const struct body *b, uint32_t func)
{
    for (; b; b = b->caller)
        if (b->func == func)
            return true;
    return false;
}

static bool stays(struct inliner *in, const char *why)
{
    if (!in->stays)
        in->stays = why;
    return false;
}

static bool can_expand(struct inliner *in, const struct body *b, const struct call *call)
{
    const struct pt_func *f = &in->from->funcs.v[call->callee];
    if (f->is_declared_only || !f->is_lowered || f->is_entry)
        return false;
    if (is_active(b, call->callee))
        return stays(in, "recursion");
    if (b->depth == MOST_DEPTH)
        return stays(in, "calls that nest too deep");
    return (agrees(in, b, call->results, f->results.v, f->results.n) &&
            agrees(in, b, call->args, f->params.v, f->params.n)) ||
           stays(in, "a call that passes something else than the function declares");
}

static void add_body(struct inliner *in, struct body *b);

static bool names(const struct pt_func *f, const struct pt_operand *o, uint32_t symbol)
{
    if (o->kind == PT_OPND_SYM)
        return o->index == symbol;
    for (uint32_t i = 0; i < count_parts(o); i++)
        if (names(f, &f->operands.v[o->index + i], symbol))
            return true;
    return false;
}

/* Nothing but loads name the parameter: it can be the caller's variable itself. */
static bool is_only_loaded(const struct inliner *in, const struct pt_func *f, uint32_t symbol)
{
    for (uint32_t i = 0; i < f->insns.n; i++) {
        const struct pt_insn *insn = &f->insns.v[i];
        bool is_load = in->from->forms.v[insn->form].op == PT_OP_ld;
        for (uint32_t k = 0; k < insn->n_operands && !is_load; k++)
            if (names(f, &f->operands.v[insn->operands + k], symbol))
                return false;
    }
    return true;
}

/* The callee's variable is the caller's, where nobody can tell. */
static void share_variable(struct inliner *in, struct body *callee, uint32_t symbol,
                           const struct pt_operand *actual)
{
    const struct pt_symbol *s = &in->from->symbols.v[symbol];
    const struct pt_symbol *a = &in->m->symbols.v[actual->index];
    if (s->space != PT_SPACE_REG && a->size == s->size && a->align >= s->align)
        *pt_vec_push(in->scratch, &callee->variables) = (struct variable){symbol, actual->index};
}

static bool is_argument(const struct body *b, const struct call *call, uint32_t symbol)
{
    return call->args && names(b->f, call->args, symbol);
}

static void share_variables(struct inliner *in, struct body *b, struct body *callee,
                            const struct call *call)
{
    for (uint32_t i = 0; i < callee->f->params.n; i++) {
        struct pt_operand o = b->f->operands.v[call->args->index + i];
        if (o.kind == PT_OPND_SYM && is_only_loaded(in, callee->f, callee->f->params.v[i])) {
            o = copy_operand(in, b, o);
            share_variable(in, callee, callee->f->params.v[i], &o);
        }
    }
    for (uint32_t i = 0; i < callee->f->results.n; i++) {
        struct pt_operand o = b->f->operands.v[call->results->index + i];
        if (o.kind == PT_OPND_SYM && !is_argument(b, call, o.index)) {
            o = copy_operand(in, b, o);
            share_variable(in, callee, callee->f->results.v[i], &o);
        }
    }
}

/* ---- stacks ---------------------------------------------------------------------------------- */

bool pt_is_of_stack(const struct pt_form *form)
{
    return form->op == PT_OP_alloca || form->op == PT_OP_stacksave ||
           form->op == PT_OP_stackrestore;
}

bool pt_uses_stack(const struct pt_module *m, const struct pt_func *f)
{
    for (uint32_t i = 0; i < f->insns.n; i++)
        if (pt_is_of_stack(pt_insn_form(m, &f->insns.v[i])))
            return true;
    return false;
}

static bool any_uses_stack(const struct pt_module *m)
{
    for (uint32_t i = 0; i < m->funcs.n; i++)
        if (m->funcs.v[i].is_lowered && pt_uses_stack(m, &m->funcs.v[i]))
            return true;
    return false;
}

static void add_stack(struct inliner *in, const char *mnemonic, enum pt_op op,
                      struct pt_operand reg)
{
    add_insn(in, find_form(in->m, mnemonic, op, 1, PT_M_NONE, PT_u64, 1), &reg, 1);
}

/* How large all variables are together shows at the end. */
static void begin_stack(struct inliner *in)
{
    struct pt_operand reg = reg_operand(in, add_reg(in, "pass", PT_u64));
    struct pt_operand size = {.kind = PT_OPND_IMM, .type = PT_u64};
    in->begin =
        add_insn(in, move_form(in->m, PT_b64, 1), (struct pt_operand[]){reg, size}, 2)->operands +
        1;
    add_stack(in, "stackrestore", PT_OP_stackrestore, reg);
}

/* An unsized last parameter lies behind the other variables (ir/layout.c), and is as large as what
 * is passed. */
static void make_room(struct inliner *in, struct body *callee, struct pt_operand passed)
{
    uint32_t n = callee->f->params.n, last = n ? callee->f->params.v[n - 1] : PT_NONE;
    if (!in->from->symbols.v[last].is_unsized)
        return;
    uint64_t size = in->m->symbols.v[passed.index].size;
    struct pt_symbol *s = &in->m->symbols.v[copy_variable(in, callee, last)];
    s->size = size;
    s->is_unsized = 0;
    callee->variadic = pt_round_up(size, 16);
}

/* Where a block begins with what may become nothing: a call, or a branch to what follows. */
static void begin_block(struct inliner *in)
{
    struct pt_operand reg, none = {.kind = PT_OPND_IMM, .type = PT_u32};
    if (!in->place.begins)
        return;
    reg = reg_operand(in, add_reg(in, "pass", PT_b32));
    add_insn(in, move_form(in->m, PT_b32, 1), (struct pt_operand[]){reg, none}, 2);
}

static void expand(struct inliner *in, struct body *b, const struct call *call)
{
    const struct pt_func *f = &in->from->funcs.v[call->callee];
    struct body callee = {.f = f, .caller = b, .func = call->callee, .depth = b->depth + 1};
    struct pt_place place = in->place;
    uint32_t line = in->line, loc = in->loc;
    begin_block(in);
    place.begins = false;
    callee.frame = b->frame + pt_round_up(b->f->local_size, 16) + b->variadic;
    callee.end = add_label(in, 1);
    callee.reg = in->f->regs.n - 1;
    struct pt_reg *regs = pt_vec_extend(&in->m->arena, &in->f->regs, f->regs.n - 1);
    for (uint32_t r = 1; r < f->regs.n; r++) {
        regs[r - 1] = f->regs.v[r];
        regs[r - 1].base += callee.reg;
    }
    share_variables(in, b, &callee, call);
    for (uint32_t i = 0; i < f->params.n; i++) {
        struct pt_operand from = copy_operand(in, b, b->f->operands.v[call->args->index + i]);
        if (i + 1 == f->params.n)
            make_room(in, &callee, from);
        pass_value(in, formal(in, &callee, f->params.v[i]), from);
    }
    bool has_stack = pt_uses_stack(in->from, f);
    struct pt_operand top = {0};
    if (has_stack) {
        top = reg_operand(in, add_reg(in, "pass", PT_u64));
        add_stack(in, "stacksave", PT_OP_stacksave, top);
    }
    add_body(in, &callee);
    in->place = place;
    in->line = line;
    in->loc = loc;
    in->f->labels.v[callee.end].insn = in->f->insns.n;
    if (has_stack)
        add_stack(in, "stackrestore", PT_OP_stackrestore, top);
    for (uint32_t i = 0; i < f->results.n; i++) {
        struct pt_operand to = copy_operand(in, b, b->f->operands.v[call->results->index + i]);
        pass_value(in, to, formal(in, &callee, f->results.v[i]));
    }
}

/* ---- indirect calls -------------------------------------------------------------------------- */

/* Sets `found` to i where the pointer is the address of the function. */
static void add_compare(struct inliner *in, struct pt_operand pointer, uint32_t func, uint32_t i,
                        struct pt_operand found)
{
    struct pt_operand address = reg_operand(in, add_reg(in, "pass", PT_u64));
    struct pt_operand is_it = reg_operand(in, add_reg(in, "pass", PT_pred));
    struct pt_operand named = {.kind = PT_OPND_FUNC, .index = func};
    struct pt_operand number = {.kind = PT_OPND_IMM, .type = PT_u64, .imm = i};
    uint32_t mov = find_form(in->m, "mov", PT_OP_mov_func, 2, PT_M_NONE, PT_u64, 1);
    uint32_t setp = find_form(in->m, "setp", PT_OP_setp_int, 3, PT_M_eq, PT_u64, 1);
    uint32_t selp = find_form(in->m, "selp", PT_OP_selp, 4, PT_M_NONE, PT_b32, 1);
    add_insn(in, mov, (struct pt_operand[]){address, named}, 2);
    add_insn(in, setp, (struct pt_operand[]){is_it, pointer, address}, 3);
    add_insn(in, selp, (struct pt_operand[]){found, number, found, is_it}, 4);
}

/* A branch to one of n labels that follow each other; none of them, and the launch fails, where the
 * index is n. Returns the first label. */
static uint32_t add_choice(struct inliner *in, struct pt_operand index, uint32_t n)
{
    uint32_t label = add_label(in, n), table = in->f->tables.n;
    struct pt_table *t = pt_vec_push(&in->m->arena, &in->f->tables);
    *t = (struct pt_table){.name = "callees", .kind = 'b'};
    for (uint32_t i = 0; i < n; i++)
        *pt_vec_push(&in->m->arena, &t->targets) = label + i;
    struct pt_operand to = {.kind = PT_OPND_TABLE, .index = table};
    uint32_t brx = find_form(in->m, "brx", PT_OP_brx_idx, 2, PT_M_idx, PT_TYPE_NONE, 1);
    add_insn(in, brx, (struct pt_operand[]){index, to}, 2);
    return label;
}

/* The call becomes a branch to one of the bodies that it may call. */
static void expand_any(struct inliner *in, struct body *b, const struct pt_insn *insn,
                       struct call *call, const uint32_t *funcs, uint32_t n)
{
    const struct pt_operand *o = &b->f->operands.v[insn->operands];
    struct pt_operand pointer = copy_operand(in, b, o[o->kind == PT_OPND_LIST]);
    struct pt_operand found = reg_operand(in, add_reg(in, "pass", PT_b32));
    struct pt_operand none = {.kind = PT_OPND_IMM, .type = PT_u64, .imm = n};
    add_insn(in, move_form(in->m, PT_b32, 1), (struct pt_operand[]){found, none}, 2);
    for (uint32_t i = 0; i < n; i++)
        add_compare(in, pointer, funcs[i], i, found);
    uint32_t first = add_choice(in, found, n), end = add_label(in, 1);
    for (uint32_t i = 0; i < n && !in->is_too_much; i++) {
        in->f->labels.v[first + i].insn = in->f->insns.n;
        call->callee = pt_call_graph_aliased(in->from, funcs[i]);
        expand(in, b, call);
        add_branch(in, end);
    }
    in->f->labels.v[end].insn = in->f->insns.n;
}

static bool expand_indirect(struct inliner *in, struct body *b, const struct pt_insn *insn,
                            struct call *call)
{
    uint32_t n;
    if (!in->addressed)
        in->addressed = pt_call_graph_addressed(in->from, in->scratch);
    const uint32_t *funcs =
        pt_call_graph_callees(in->from, b->f, insn, in->addressed, in->scratch, &n);
    for (uint32_t i = 0; i < n; i++) {
        call->callee = pt_call_graph_aliased(in->from, funcs[i]);
        if (!can_expand(in, b, call))
            return false;
    }
    expand_any(in, b, insn, call, funcs, n);
    return true;
}

/* False: the call stays. */
static bool expand_call(struct inliner *in, struct body *b, const struct pt_insn *insn)
{
    const struct pt_operand *o = &b->f->operands.v[insn->operands], *end = o + insn->n_operands;
    struct call call = {0};
    if (o->kind == PT_OPND_LIST)
        call.results = o++;
    const struct pt_operand *callee = o++;
    if (o < end && o->kind == PT_OPND_LIST)
        call.args = o;
    if (callee->kind != PT_OPND_FUNC)
        return expand_indirect(in, b, insn, &call);
    call.callee = pt_call_graph_aliased(in->from, callee->index);
    if (!can_expand(in, b, &call))
        return false;
    expand(in, b, &call);
    return true;
}

/* ---- loops ----------------------------------------------------------------------------------- */

static void find_counters(struct inliner *in, struct body *b)
{
    struct pt_loop_counter *counters;
    b->n_counters = pt_loop_counter_find(in->from, b->f, in->scratch, &counters);
    b->counters = counters;
    b->counter = in->f->regs.n;
    for (uint32_t k = 0; k < b->n_counters; k++)
        add_reg(in, "count", (enum pt_type)b->f->regs.v[counters[k].reg].type);
}

/* Behind an instruction that writes a counter: its copy follows, or, where that is what the
 * instruction has counted, the counter. */
static void add_counter(struct inliner *in, struct body *b, uint32_t index)
{
    const struct pt_insn *insn = &b->f->insns.v[index];
    for (uint32_t k = 0; k < b->n_counters; k++) {
        const struct pt_loop_counter *c = &b->counters[k];
        struct pt_operand copy = reg_operand(in, b->counter + k);
        if (index == c->step && b->block != UINT32_MAX) {
            enum pt_type type = moved_as(in->f->regs.v[b->counter + k].type);
            struct pt_operand o[] = {reg_operand(in, c->reg + b->reg), copy};
            add_insn(in, move_form(in->m, type, 1), o, 2);
        } else if (insn->n_operands && b->f->operands.v[insn->operands].kind == PT_OPND_REG &&
                   b->f->operands.v[insn->operands].index == c->reg &&
                   pt_loop_counter_sets(in->from, b->f, index)) {
            struct pt_operand o[] = {copy, b->f->operands.v[insn->operands + 1]};
            add_insn(in, insn->form, o, 2);
        }
    }
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static void copy_tables(struct inliner *in, struct body *b)
{
    struct pt_arena *arena = &in->m->arena;
    uint32_t n = b->f->tables.n ? b->f->tables.n - 1 : 0;
    if (!in->f->tables.n)
        (void)pt_vec_push(arena, &in->f->tables);
    b->table = in->f->tables.n - 1;
    (void)pt_vec_extend(arena, &in->f->tables, n);
    for (uint32_t t = 1; t <= n; t++) {
        const struct pt_table *from = &b->f->tables.v[t];
        struct pt_table *to = &in->f->tables.v[b->table + t];
        *to = *from;
        memset(&to->targets, 0, sizeof to->targets);
        for (uint32_t i = 0; i < from->targets.n; i++) {
            uint32_t base = from->kind == 'b' ? b->label : 0;
            *pt_vec_push(arena, &to->targets) = from->targets.v[i] + base;
        }
    }
}

/* `begins`: the first of its block. */
static void add_one(struct inliner *in, struct body *b, uint32_t index, bool begins)
{
    const struct pt_insn *insn = &b->f->insns.v[index];
    const struct pt_form *form = &in->from->forms.v[insn->form];
    in->place = (struct pt_place){b->func, index, begins && in->keeps_blocks};
    in->line = insn->line;
    in->loc = insn->loc;
    if ((form->effects & PT_FX_CALL) && expand_call(in, b, insn))
        return;
    if (form->op == PT_OP_ret && b->end) {
        begin_block(in);
        struct pt_insn *bra = add_branch(in, b->end);
        bra->guard = insn->guard ? insn->guard + b->reg : PT_NONE;
        bra->guard_neg = insn->guard_neg;
    } else {
        copy_insn(in, b, insn);
        add_counter(in, b, index);
    }
}

/* The last instruction becomes a mov of the constant to its register. */
static void set_constant(struct inliner *in, uint64_t value)
{
    struct pt_insn *insn = &in->f->insns.v[in->f->insns.n - 1];
    struct pt_operand *o = &in->f->operands.v[insn->operands];
    enum pt_type type = moved_as(in->f->regs.v[o->index].type);
    insn->form = move_form(in->m, type, 1);
    insn->n_operands = 2;
    o[1] = (struct pt_operand){.kind = PT_OPND_IMM, .type = PT_u64, .imm = (int64_t)value};
}

/* Where control goes on behind the block's last instruction. */
static void add_next(struct inliner *in, struct body *b, uint32_t block)
{
    uint32_t next = b->f->blocks.v[block].next;
    if (next != UINT32_MAX && next != block + 1)
        add_branch(in, b->label + next);
}

/* Instead of the loop's blocks. */
static void add_unrolled(struct inliner *in, struct body *b, const struct pt_unrolled *loop)
{
    b->block = UINT32_MAX;
    for (uint32_t i = 0; i < loop->insns.n && !in->is_too_much; i++) {
        const struct pt_unrolled_insn *u = &loop->insns.v[i];
        add_one(in, b, u->insn, false);
        if (u->is_const)
            set_constant(in, u->value);
    }
    add_branch(in, b->label + loop->exit);
}

static void add_body(struct inliner *in, struct body *b)
{
    const struct pt_func *f = b->f;
    struct pt_unroll *u = in->keeps_blocks ? NULL : pt_unroll_begin(in->from, f, in->scratch);
    struct pt_unrolled loop;
    b->label = add_label(in, f->blocks.n);
    copy_tables(in, b);
    find_counters(in, b);
    for (uint32_t k = 0; k < f->blocks.n && !in->is_too_much; k++) {
        in->f->labels.v[b->label + k].insn = in->f->insns.n;
        if (u && pt_unroll_loop(u, k, &loop)) {
            add_unrolled(in, b, &loop);
            while (++k < loop.end) /* nobody goes there */
                in->f->labels.v[b->label + k].insn = in->f->insns.n;
            k--;
            continue;
        }
        b->block = k;
        for (uint32_t i = 0; i < f->blocks.v[k].count; i++)
            add_one(in, b, f->blocks.v[k].first + i, !i);
        add_next(in, b, k);
    }
}

/* ---- the copy -------------------------------------------------------------------------------- */

/* Its own forms, symbols and functions grow or change; the rest is shared. */
static void share_module(struct pt_module *m, struct pt_arena *arena)
{
    struct pt_func *funcs = pt_arena_alloc(arena, m->funcs.n * sizeof *funcs);
    memcpy(funcs, m->funcs.v, m->funcs.n * sizeof *funcs);
    m->funcs.v = funcs;
    m->funcs.cap = m->funcs.n;
    m->forms.cap = m->forms.n; /* the first that is added makes a copy */
    m->symbols.cap = m->symbols.n;
}

static void start_body(struct pt_func *f)
{
    memset(&f->locals, 0, sizeof f->locals);
    memset(&f->insns, 0, sizeof *f - offsetof(struct pt_func, insns));
}

bool pt_inline_changes_loops(const struct pt_module *m, const struct pt_func *f,
                             struct pt_arena *arena)
{
    struct pt_loop_counter *counters;
    return pt_unroll_any(m, f, arena) || pt_loop_counter_find(m, f, arena, &counters);
}

static bool any_call(const struct pt_module *m, const struct pt_func *f)
{
    for (uint32_t i = 0; i < f->insns.n; i++)
        if (pt_insn_form(m, &f->insns.v[i])->effects & PT_FX_CALL)
            return true;
    return false;
}

static void build(struct inliner *in, const struct pt_func *kernel, uint32_t func)
{
    struct pt_arena *arena = &in->m->arena;
    struct body b = {.f = kernel, .func = func};
    start_body(in->f);
    memcpy(pt_vec_extend(arena, &in->f->regs, kernel->regs.n), kernel->regs.v,
           kernel->regs.n * sizeof *kernel->regs.v);
    (void)pt_vec_push(arena, &in->f->labels);
    for (uint32_t i = 0; i < kernel->locals.n; i++) {
        uint32_t symbol = kernel->locals.v[i];
        if (!is_own(in, &b, symbol))
            *pt_vec_push(arena, &in->f->locals) = symbol;
    }
    if (any_uses_stack(in->from))
        begin_stack(in);
    add_body(in, &b);
}

static void finish(struct inliner *in)
{
    struct pt_module *m = in->m;
    struct pt_func *f = in->f;
    uint32_t first = in->from->symbols.n;
    struct pt_local_use *uses = pt_escape_find(m, f, first, in->scratch);
    pt_escape_promote(m, f, first, uses, move_form, in->scratch);
    uint32_t bra = find_form(m, "bra", PT_OP_bra, 1, PT_M_NONE, PT_TYPE_NONE, 1);
    pt_cfg_build(m, f, bra, in->scratch);
    pt_web_split(m, f, in->scratch);
    pt_spin_loop_find(m, f, in->scratch);
    f->calls = any_call(m, f);
    f->is_lowered = true;
    for (uint32_t i = first; i < m->symbols.n; i++) {
        uint64_t end = m->symbols.v[i].offset + m->symbols.v[i].size;
        if (end > f->local_size)
            f->local_size = (uint32_t)pt_round_up(end, 16);
    }
    if (in->begin)
        f->operands.v[in->begin].imm = f->local_size;
}

bool pt_inline(const struct pt_module *m, uint32_t func, bool keeps_blocks, struct pt_arena *arena,
               struct pt_inlined *inlined)
{
    struct pt_module *copy = pt_arena_alloc(arena, sizeof *copy);
    jmp_buf oom, *outer = arena->oom;
    *copy = *m;
    copy->arena = *arena; /* passes take their memory there; given back below */
    copy->arena.oom = &oom;
    if (setjmp(oom)) {
        copy->arena.oom = outer;
        *arena = copy->arena;
        longjmp(*outer, 1);
    }
    share_module(copy, &copy->arena);
    struct inliner in = {.from = m,
                         .m = copy,
                         .f = &copy->funcs.v[func],
                         .scratch = &copy->arena,
                         .keeps_blocks = keeps_blocks};
    build(&in, &m->funcs.v[func], func);
    if (!in.is_too_much)
        finish(&in);
    *inlined = (struct pt_inlined){copy, in.f, in.places.v, in.places.n, in.stays};
    copy->arena.oom = outer;
    *arena = copy->arena;
    return !in.is_too_much;
}

static bool is_copied(const struct pt_inlined *inlined, uint32_t insn)
{
    uint32_t at = inlined->f->insns.v[insn].operands;
    return at < inlined->n_places && inlined->places[at].func != PT_NONE;
}

struct pt_place pt_inlined_place(const struct pt_inlined *inlined, uint32_t insn)
{
    uint32_t from = insn;
    while (from && !is_copied(inlined, from))
        from--;
    if (!is_copied(inlined, from))
        return (struct pt_place){(uint32_t)(inlined->f - inlined->m->funcs.v), 0, false};
    struct pt_place place = inlined->places[inlined->f->insns.v[from].operands];
    place.begins &= from == insn;
    return place;
}
