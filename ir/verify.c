/* Every rule a lowered function obeys. What it finds is a bug of ours: the parser has checked the
 * input before. */
#include "ir/verify.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ir/insn.h"
#include "ir/row.h"

#define NONE UINT32_MAX

struct verify {
    struct pt_module *m;
    const struct pt_func *f;
    struct pt_arena *scratch;
    const char *error;
    uint32_t insn; /* where a walk stands */
    uint32_t *n_defs;
};

__attribute__((format(printf, 2, 3))) static bool fail(struct verify *v, const char *format, ...)
{
    char text[256];
    va_list args;
    if (v->error)
        return false;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    v->error =
        pt_arena_text(&v->m->arena, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
    return false;
}

static uint32_t effects(const struct verify *v, uint32_t insn)
{
    return pt_insn_form(v->m, &v->f->insns.v[insn])->effects;
}

/* ---- instructions and operands --------------------------------------------------------------- */

static bool check_parts(struct verify *v, const struct pt_operand *o, uint64_t n, unsigned depth);

static bool check_index(struct verify *v, const char *what, uint32_t index, uint32_t lo, uint32_t n)
{
    return (index >= lo && index < n) ||
           fail(v, "instruction %u: %s %u of %u", v->insn, what, index, n);
}

static bool check_operand(struct verify *v, const struct pt_operand *o, unsigned depth)
{
    switch ((enum pt_operand_kind)o->kind) {
    case PT_OPND_REG:
        return check_index(v, "register", o->index, 1, v->f->regs.n) &&
               (o->type == v->f->regs.v[o->index].type ||
                fail(v, "instruction %u: register %u is not of the operand's type", v->insn,
                     o->index));
    case PT_OPND_SREG:
        return check_index(v, "special register", o->index, 1, PT_SREG_COUNT);
    case PT_OPND_SYM:
        return check_index(v, "symbol", o->index, 1, v->m->symbols.n);
    case PT_OPND_FUNC:
        return check_index(v, "function", o->index, 1, v->m->funcs.n);
    case PT_OPND_LABEL:
        return check_index(v, "block", o->index, 0, v->f->blocks.n);
    case PT_OPND_TABLE:
        return check_index(v, "table", o->index, 1, v->f->tables.n);
    case PT_OPND_PAIR:
        return check_parts(v, o, 2, depth);
    case PT_OPND_VEC:
    case PT_OPND_MEM:
    case PT_OPND_LIST:
        return check_parts(v, o, (uint64_t)o->imm, depth);
    case PT_OPND_IMM:
    case PT_OPND_SINK:
        return true;
    case PT_OPND_NONE:
        break;
    }
    return fail(v, "instruction %u: operand of kind %u", v->insn, o->kind);
}

static bool check_parts(struct verify *v, const struct pt_operand *o, uint64_t n, unsigned depth)
{
    if (depth > 2 || o->index > v->f->operands.n || n > v->f->operands.n - o->index)
        return fail(v, "instruction %u: parts of an operand lie outside the function", v->insn);
    for (uint64_t i = 0; i < n; i++)
        if (!check_operand(v, &v->f->operands.v[o->index + i], depth + 1))
            return false;
    return true;
}

static void check_role(void *ud, struct pt_operand *o, unsigned role, enum pt_type type)
{
    struct verify *v = ud;
    bool is_pred = v->f->regs.v[o->index].type == PT_pred;
    if (role & PT_ROLE_DEF)
        v->n_defs[o->index]++;
    if (type != PT_TYPE_NONE && (type == PT_pred) != is_pred)
        fail(v, "instruction %u: register %u where .%s is meant", v->insn, o->index,
             pt_type_name(type));
}

static bool check_insn(struct verify *v, uint32_t i)
{
    const struct pt_func *f = v->f;
    const struct pt_insn *insn = &f->insns.v[i];
    v->insn = i;
    if (!check_index(v, "form", insn->form, 1, v->m->forms.n))
        return false;
    if (insn->n_operands != pt_form_operands(pt_insn_form(v->m, insn)))
        return fail(v, "instruction %u has %u operands", i, insn->n_operands);
    if (insn->operands > f->operands.n || insn->n_operands > f->operands.n - insn->operands)
        return fail(v, "instruction %u: operands lie outside the function", i);
    for (uint32_t k = 0; k < insn->n_operands; k++)
        if (!check_operand(v, &f->operands.v[insn->operands + k], 0))
            return false;
    if (insn->guard && (!check_index(v, "guard", insn->guard, 1, f->regs.n) ||
                        f->regs.v[insn->guard].type != PT_pred))
        return fail(v, "instruction %u: the guard is no predicate", i);
    pt_insn_operands(v->m, f, insn, check_role, v);
    return !v->error;
}

/* The parser's registers of .reg parameters count as written once more: by the caller. */
static bool check_defs(struct verify *v)
{
    const struct pt_func *f = v->f;
    for (uint32_t i = 0; i < f->params.n; i++)
        if (v->m->symbols.v[f->params.v[i]].space == PT_SPACE_REG)
            v->n_defs[v->m->symbols.v[f->params.v[i]].reg]++;
    for (uint32_t r = 1; r < f->regs.n; r++) {
        uint32_t n = v->n_defs[r] < UINT8_MAX ? v->n_defs[r] : UINT8_MAX;
        if (n != f->regs.v[r].n_defs)
            return fail(v, "register %u has %u definitions, not %u", r, v->n_defs[r],
                        f->regs.v[r].n_defs);
    }
    return true;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static bool check_places(struct verify *v, uint32_t b)
{
    const struct pt_block *block = &v->f->blocks.v[b];
    uint32_t end = block->first + block->count;
    for (uint32_t i = block->first; i < end; i++) {
        uint32_t fx = effects(v, i);
        bool is_guarded = v->f->insns.v[i].guard != PT_NONE;
        if ((fx & PT_FX_CALL) && (block->count != 1 || is_guarded))
            return fail(v, "block %u: a call is not alone, or has a guard", b);
        if ((fx & (PT_FX_WARP | PT_FX_CTA | PT_FX_CLUSTER)) && (i != block->first || is_guarded))
            return fail(v, "block %u: synchronising instruction %u is not first, or has a guard", b,
                        i);
        if ((fx & (PT_FX_BRANCH | PT_FX_END)) && i + 1 != end)
            return fail(v, "block %u: instruction %u ends the block before its end", b, i);
    }
    return true;
}

struct targets {
    uint32_t *v, n;
};

static void add_target(struct targets *t, uint32_t block)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (t->v[i] == block)
            return;
    t->v[t->n++] = block;
}

/* The successors that the last instruction and `next` give, in their order. */
static struct targets find_targets(struct verify *v, uint32_t b)
{
    const struct pt_func *f = v->f;
    const struct pt_block *block = &f->blocks.v[b];
    const struct pt_insn *last = &f->insns.v[block->first + block->count - 1];
    uint32_t max = 2;
    for (uint32_t i = 1; i < f->tables.n; i++)
        max += f->tables.v[i].targets.n;
    struct targets t = {pt_arena_alloc(v->scratch, max * sizeof *t.v), 0};
    for (uint32_t k = 0; k < last->n_operands; k++) {
        const struct pt_operand *o = &f->operands.v[last->operands + k];
        if (o->kind == PT_OPND_LABEL)
            add_target(&t, o->index);
        const struct pt_table *table = o->kind == PT_OPND_TABLE ? &f->tables.v[o->index] : NULL;
        for (uint32_t i = 0; table && table->kind == 'b' && i < table->targets.n; i++)
            add_target(&t, table->targets.v[i]);
    }
    if (block->next != NONE)
        add_target(&t, block->next);
    return t;
}

static bool check_edges(struct verify *v, uint32_t b)
{
    const struct pt_func *f = v->f;
    const struct pt_block *block = &f->blocks.v[b];
    uint32_t last = block->first + block->count - 1, n = f->edges.n;
    bool goes_on = !(effects(v, last) & (PT_FX_BRANCH | PT_FX_END)) || f->insns.v[last].guard;
    if (goes_on != (block->next != NONE))
        return fail(v, "block %u: its end and its next block disagree", b);
    if (block->succ > n || block->n_succ > n - block->succ || block->pred > n ||
        block->n_pred > n - block->pred)
        return fail(v, "block %u: edges lie outside the function", b);
    struct targets t = find_targets(v, b);
    if (t.n != block->n_succ ||
        (t.n && memcmp(t.v, f->edges.v + block->succ, t.n * sizeof *t.v) != 0))
        return fail(v, "block %u: its end and its edges disagree", b);
    for (uint32_t e = 0; e < block->n_pred; e++) {
        uint32_t from = f->edges.v[block->pred + e];
        if (from >= f->blocks.n || (e && from <= f->edges.v[block->pred + e - 1]))
            return fail(v, "block %u: predecessors are not ascending", b);
    }
    return true;
}

static bool has_pred(const struct pt_func *f, uint32_t b, uint32_t from)
{
    uint32_t lo = 0, hi = f->blocks.v[b].n_pred;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2, p = f->edges.v[f->blocks.v[b].pred + mid];
        if (p == from)
            return true;
        if (p < from)
            lo = mid + 1;
        else
            hi = mid;
    }
    return false;
}

static bool check_blocks(struct verify *v)
{
    const struct pt_func *f = v->f;
    uint32_t at = 0, n_succ = 0, n_pred = 0;
    for (uint32_t b = 0; b < f->blocks.n; b++) {
        const struct pt_block *block = &f->blocks.v[b];
        if (block->first != at || !block->count || block->count > f->insns.n - at)
            return fail(v, "block %u does not begin where the one before it ends", b);
        at += block->count;
        n_succ += block->n_succ;
        n_pred += block->n_pred;
        if (!check_places(v, b) || !check_edges(v, b))
            return false;
    }
    if (!f->blocks.n || at != f->insns.n)
        return fail(v, "the blocks do not hold all instructions");
    for (uint32_t b = 0; b < f->blocks.n; b++)
        for (uint32_t e = 0; e < f->blocks.v[b].n_succ; e++)
            if (!has_pred(f, f->edges.v[f->blocks.v[b].succ + e], b))
                return fail(v, "block %u is no predecessor of its successor", b);
    return n_succ == n_pred || fail(v, "%u successors, %u predecessors", n_succ, n_pred);
}

/* ---- numbering ------------------------------------------------------------------------------- */

static bool check_loops(struct verify *v)
{
    const struct pt_func *f = v->f;
    uint32_t open = PT_NONE, n = 0;
    for (uint32_t b = 0; b < f->blocks.n; b++) {
        while (open && f->loops.v[open - 1].end <= b)
            open = f->loops.v[open - 1].parent;
        if (n < f->loops.n && f->loops.v[n].header == b) {
            uint32_t end = f->loops.v[n].end;
            if (f->loops.v[n].parent != open || end <= b ||
                end > (open ? f->loops.v[open - 1].end : f->blocks.n))
                return fail(v, "loop %u is not nested", n);
            open = ++n;
        }
        if (f->blocks.v[b].loop != open)
            return fail(v, "block %u: its innermost loop is not %u", b, open);
    }
    return n == f->loops.n || fail(v, "loop %u has no header", n);
}

/* Back edges lead to the header of a loop around them, edges out of a loop behind its end or back;
 * every block but the entry has a predecessor before it; every loop an edge back from inside. */
static bool check_order(struct verify *v)
{
    const struct pt_func *f = v->f;
    uint8_t *has_back = pt_arena_alloc(v->scratch, f->loops.n + 1);
    for (uint32_t b = 0; b < f->blocks.n; b++) {
        const struct pt_block *block = &f->blocks.v[b];
        if (b && (!block->n_pred || f->edges.v[block->pred] >= b))
            return fail(v, "block %u comes before all its predecessors", b);
        if (b && (block->idom == NONE || block->idom >= b))
            return fail(v, "block %u: dominator %u", b, block->idom);
        for (uint32_t e = 0; e < block->n_succ; e++) {
            uint32_t to = f->edges.v[block->succ + e];
            uint32_t l = to <= b ? f->blocks.v[to].loop : PT_NONE;
            if (to > b)
                continue;
            if (!l || f->loops.v[l - 1].header != to || f->loops.v[l - 1].end <= b)
                return fail(v, "the edge from block %u back to %u is in no loop of that header", b,
                            to);
            has_back[l - 1] = 1;
        }
    }
    for (uint32_t l = 0; l < f->loops.n; l++)
        if (!has_back[l])
            return fail(v, "loop %u has no edge back", l);
    return true;
}

const char *pt_verify(struct pt_module *m, const struct pt_func *f)
{
    struct pt_arena scratch;
    jmp_buf oom, *outer = m->arena.oom;
    struct verify v = {.m = m, .f = f, .scratch = &scratch};
    pt_arena_init(&scratch, m->arena.allocator);
    if (setjmp(oom)) {
        pt_arena_free(&scratch);
        m->arena.oom = outer;
        longjmp(*outer, 1);
    }
    m->arena.oom = scratch.oom = &oom;
    bool ok = f->is_lowered || fail(&v, "the function is not lowered");
    v.n_defs = pt_arena_alloc(&scratch, (f->regs.n + 1) * sizeof *v.n_defs);
    for (uint32_t i = 0; ok && i < f->insns.n; i++)
        ok = check_insn(&v, i);
    if (ok)
        (void)(check_defs(&v) && check_blocks(&v) && check_loops(&v) && check_order(&v));
    pt_arena_free(&scratch);
    m->arena.oom = outer;
    return v.error;
}
