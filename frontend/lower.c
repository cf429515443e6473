/* From the parsed to the lowered state: one function, when it is first needed.
 *
 * A register that a thread reads before it has written it holds zero (predicates: false), from
 * where each activation of its function begins: lowering writes it there, wherever a path leads to
 * such a read, so that both engines and all analyses see the same. */
#include "frontend/lower.h"

#include <setjmp.h>
#include <stddef.h>
#include <string.h>

#include "frontend/insn.h"
#include "ir/cfg.h"
#include "ir/contract.h"
#include "ir/layout.h"
#include "ir/liveness.h"
#include "ir/spin_loop.h"
#include "ir/web.h"

enum { SYNC = PT_FX_WARP | PT_FX_CTA | PT_FX_CLUSTER | PT_FX_CALL };

struct lower {
    struct pt_module *m;
    struct pt_func *f; /* a copy; *source is replaced when all is done */
    struct pt_arena scratch;
    uint32_t bra; /* form */
    PT_VEC(uint32_t) unwritten; /* registers that may be read before they are written */
};

/* Copies an array that lowering changes, so that running out of memory leaves the parsed function
 * intact. */
#define COPY(arena, vec)                                                             \
    do {                                                                             \
        void *from_ = (vec)->v;                                                      \
        uint32_t n_ = (vec)->n;                                                      \
        memset((vec), 0, sizeof *(vec));                                             \
        if (n_)                                                                      \
            memcpy(pt_vec_extend((arena), (vec), n_), from_, n_ * sizeof *(vec)->v); \
    } while (0)

static void copy_arrays(struct lower *l)
{
    struct pt_arena *arena = &l->m->arena;
    COPY(arena, &l->f->operands);
    COPY(arena, &l->f->regs);
    COPY(arena, &l->f->labels);
    COPY(arena, &l->f->tables);
    for (uint32_t i = 1; i < l->f->tables.n; i++)
        COPY(arena, &l->f->tables.v[i].targets);
}

static uint32_t effects(const struct lower *l, const struct pt_insn *insn)
{
    return pt_insn_form(l->m, insn)->effects;
}

/* The form of an instruction that lowering adds. */
static uint32_t find_form(struct pt_module *m, struct pt_func *f, const char *spelling,
                          struct pt_operand *operands, uint32_t n, uint32_t line)
{
    return pt_insn_match(m, f, spelling, (uint32_t)strlen(spelling), operands, n, line, 1);
}

static uint32_t add_label(struct lower *l, uint32_t line)
{
    struct pt_label *label = pt_vec_push(&l->m->arena, &l->f->labels);
    label->line = line;
    return l->f->labels.n - 1;
}

/* A guarded `insn` becomes: bra around it, if the guard is false. */
static void add_branch_around(struct lower *l, const struct pt_insn *insn, uint32_t label)
{
    struct pt_arena *arena = &l->m->arena;
    struct pt_operand *o = pt_vec_push(arena, &l->f->operands);
    o->kind = PT_OPND_LABEL;
    o->index = label;
    struct pt_insn *bra = pt_vec_push(arena, &l->f->insns);
    *bra = *insn;
    bra->form = l->bra;
    bra->operands = l->f->operands.n - 1;
    bra->n_operands = 1;
    bra->guard_neg = !insn->guard_neg;
}

/* True if control can reach the end of the body. */
static bool falls_off(const struct lower *l)
{
    const struct pt_func *f = l->f;
    if (!f->insns.n)
        return true;
    const struct pt_insn *last = &f->insns.v[f->insns.n - 1];
    if (last->guard || !(effects(l, last) & (PT_FX_BRANCH | PT_FX_END)) ||
        (effects(l, last) & PT_FX_CALL))
        return true;
    for (uint32_t i = 1; i < f->labels.n; i++)
        if (f->labels.v[i].insn >= f->insns.n)
            return true;
    return false;
}

/* ---- registers that are read before they are written ----------------------------------------- */

/* How zero comes into a register of the type: a move of those of its width, but of 8 bits there
 * is none. */
static const char *zero_form(enum pt_type type)
{
    if (type == PT_pred)
        return "mov.pred";
    switch (pt_type_bits(type)) {
    case 8:
        return "cvt.u8.u32";
    case 16:
        return "mov.b16";
    case 32:
        return "mov.b32";
    case 64:
        return "mov.b64";
    default:
        return "mov.b128";
    }
}

static struct pt_operand zero_of(struct lower *l, enum pt_type type)
{
    struct pt_operand zero = {.kind = PT_OPND_IMM, .type = PT_u64};
    if (pt_type_bits(type) < 128)
        return zero;
    struct pt_operand *halves = pt_vec_extend(&l->m->arena, &l->f->operands, 2);
    halves[0] = halves[1] = zero;
    return (struct pt_operand){.kind = PT_OPND_VEC, .index = l->f->operands.n - 2, .imm = 2};
}

static void add_zero(struct lower *l, uint32_t reg)
{
    struct pt_func *f = l->f;
    uint8_t type = f->regs.v[reg].type;
    struct pt_operand zero = zero_of(l, (enum pt_type)type);
    struct pt_operand *o = pt_vec_extend(&l->m->arena, &f->operands, 2);
    o[0] = (struct pt_operand){.kind = PT_OPND_REG, .type = type, .index = reg};
    o[1] = zero;
    *pt_vec_push(&l->m->arena, &f->insns) =
        (struct pt_insn){.form = find_form(l->m, f, zero_form((enum pt_type)type), o, 2, f->line),
                         .operands = f->operands.n - 2,
                         .n_operands = 2,
                         .line = f->line,
                         .col = 1};
}

static bool is_param(const struct lower *l, uint32_t reg)
{
    for (uint32_t i = 0; i < l->f->params.n; i++) {
        const struct pt_symbol *s = &l->m->symbols.v[l->f->params.v[i]];
        if (s->space == PT_SPACE_REG && s->reg == reg)
            return true;
    }
    return false;
}

/* Those that are live where the function begins, but for what the caller passes. */
static void find_unwritten(struct lower *l)
{
    const uint64_t *live = pt_liveness_in(l->m, l->f, &l->scratch);
    for (uint32_t r = 1; r < l->f->regs.n; r++)
        if ((live[r / 64] >> (r & 63) & 1) && !is_param(l, r))
            *pt_vec_push(&l->scratch, &l->unwritten) = r;
}

/* ---- the body -------------------------------------------------------------------------------- */

/* Instructions that other lanes or threads take part in lose their guards, and the body gets an
 * end. What is read before it is written is set to zero first. */
static void plain_syncs(struct lower *l)
{
    struct pt_func *f = l->f;
    const struct pt_insn *source = f->insns.v;
    uint32_t n = f->insns.n, n_labels = f->labels.n;
    uint32_t *moved = pt_arena_alloc(&l->scratch, (n + 1) * sizeof *moved);
    memset(&f->insns, 0, sizeof f->insns);
    for (uint32_t i = 0; i < l->unwritten.n; i++)
        add_zero(l, l->unwritten.v[i]);
    for (uint32_t i = 0; i < n; i++) {
        moved[i] = f->insns.n;
        bool is_split = source[i].guard && (effects(l, &source[i]) & SYNC);
        uint32_t label = is_split ? add_label(l, source[i].line) : PT_NONE;
        if (is_split)
            add_branch_around(l, &source[i], label);
        struct pt_insn *to = pt_vec_push(&l->m->arena, &f->insns);
        *to = source[i];
        if (is_split) {
            to->guard = PT_NONE;
            to->guard_neg = 0;
            f->labels.v[label].insn = f->insns.n;
        }
    }
    moved[n] = f->insns.n;
    for (uint32_t i = 1; i < n_labels; i++)
        f->labels.v[i].insn = moved[f->labels.v[i].insn];
    if (!falls_off(l))
        return;
    struct pt_insn *ret = pt_vec_push(&l->m->arena, &f->insns);
    *ret = (struct pt_insn){
        .form = find_form(l->m, f, "ret", NULL, 0, f->end_line), .line = f->end_line, .col = 1};
}

/* Only the body: name, parameters and directives are read by other threads meanwhile. */
static void replace_body(struct pt_func *f, const struct pt_func *lowered)
{
    const size_t body = offsetof(struct pt_func, insns);
    memcpy((char *)f + body, (const char *)lowered + body, sizeof *f - body);
    f->is_lowered = true;
}

static bool lower(struct lower *l, struct pt_func *source)
{
    struct pt_func f = *source;
    uint32_t errors = l->m->diags.errors;
    l->f = &f;
    copy_arrays(l);
    struct pt_operand to = {.kind = PT_OPND_LABEL};
    l->bra = find_form(l->m, &f, "bra", &to, 1, f.line);
    plain_syncs(l);
    if (l->m->diags.errors != errors)
        return false;
    pt_cfg_build(l->m, &f, l->bra, &l->scratch);
    bool is_first = !l->unwritten.n;
    if (is_first)
        find_unwritten(l);
    if (is_first && l->unwritten.n)
        return lower(l, source);
    pt_web_split(l->m, &f, &l->scratch);
    pt_contract(l->m, &f, &l->scratch, find_form);
    pt_spin_loop_find(l->m, &f, &l->scratch);
    f.calls = false;
    for (uint32_t i = 0; i < f.insns.n; i++)
        f.calls |= (effects(l, &f.insns.v[i]) & PT_FX_CALL) != 0;
    if (!pt_layout_frame(l->m, &f)) {
        pt_diag_error(&l->m->diags, f.line, 1, 1, "the local variables of '%s' take 4 GiB or more",
                      f.name);
        return false;
    }
    replace_body(source, &f);
    return true;
}

bool pt_lower(struct pt_module *m, uint32_t func)
{
    struct pt_func *f = &m->funcs.v[func];
    if (f->is_lowered || f->is_declared_only)
        return true;
    struct lower l = {.m = m};
    jmp_buf oom, *outer = m->arena.oom;
    pt_arena_init(&l.scratch, m->arena.allocator);
    if (setjmp(oom)) {
        pt_arena_free(&l.scratch);
        m->arena.oom = outer;
        longjmp(*outer, 1);
    }
    m->arena.oom = l.scratch.oom = &oom;
    bool ok = lower(&l, f);
    pt_arena_free(&l.scratch);
    m->arena.oom = outer;
    return ok;
}
