/* Where variables lie: which of a module have a place of their own, the parameters of a kernel, the
 * frame of an activation, and the static shared memory of a kernel.
 *
 * Shared memory is laid out for a kernel, not for a module: ptxas gives each kernel only what it
 * and its callees refer to, so two kernels that use one variable may see it at different offsets.
 */
#include "ir/layout.h"

#include <string.h>

#include "ir/bits.h"

/* ---- variables of the module ----------------------------------------------------------------- */

bool pt_is_placed(const struct pt_symbol *s, enum pt_space space)
{
    return s->space == space && (s->linkage != PT_LINK_EXTERN || (s->size && s->is_used));
}

uint32_t pt_first_constant(const struct pt_module *m)
{
    for (uint32_t i = 1; i < m->symbols.n; i++)
        if (pt_is_placed(&m->symbols.v[i], PT_SPACE_CONST))
            return i;
    return PT_NONE;
}

/* ---- parameters of kernels ------------------------------------------------------------------- */

bool pt_layout_parameter(struct pt_func *f, struct pt_symbol *parameter, uint64_t limit)
{
    parameter->offset = pt_round_up(f->param_size, parameter->align ? parameter->align : 1);
    if (parameter->size > limit || parameter->offset + parameter->size > limit)
        return false;
    f->param_size = (uint32_t)(parameter->offset + parameter->size);
    return true;
}

/* ---- the frame ------------------------------------------------------------------------------- */

static void place(struct pt_module *m, uint32_t symbol, uint64_t *size)
{
    struct pt_symbol *s = &m->symbols.v[symbol];
    if (s->space != PT_SPACE_LOCAL && s->space != PT_SPACE_PARAM)
        return;
    *size = pt_round_up(*size, s->align ? s->align : 1);
    s->offset = *size;
    /* Past 4 GiB the frame is refused; stop there, so that the sum cannot wrap. */
    if (*size <= UINT32_MAX)
        *size += s->size <= UINT32_MAX ? s->size : (uint64_t)UINT32_MAX + 1;
}

bool pt_frame_layout(struct pt_module *m, struct pt_func *f)
{
    uint64_t size = 0;
    uint32_t variadic = PT_NONE;
    for (uint32_t i = 0; i < f->params.n && !f->is_entry; i++) {
        if (m->symbols.v[f->params.v[i]].is_unsized)
            variadic = f->params.v[i];
        else
            place(m, f->params.v[i], &size);
    }
    for (uint32_t i = 0; i < f->results.n; i++)
        place(m, f->results.v[i], &size);
    for (uint32_t i = 0; i < f->locals.n; i++)
        place(m, f->locals.v[i], &size);
    size = pt_round_up(size, 16);
    /* As long as a call says: behind everything else. */
    if (variadic)
        m->symbols.v[variadic].offset = size;
    f->local_size = (uint32_t)size;
    return size <= UINT32_MAX;
}

/* ---- what a function refers to --------------------------------------------------------------- */

struct reach {
    const struct pt_module *m;
    struct pt_arena *arena;
    uint8_t *is_found; /* by function */
    PT_VEC(uint32_t) funcs;
    bool is_open;     /* an indirect call with unknown targets was seen */
    uint8_t *is_used; /* by symbol, or NULL if nobody asks */
};

static void reach_func(struct reach *r, uint32_t func)
{
    for (uint32_t steps = 0; r->m->funcs.v[func].alias_of && steps < r->m->funcs.n; steps++)
        func = r->m->funcs.v[func].alias_of;
    if (r->is_found[func])
        return;
    r->is_found[func] = 1;
    *pt_vec_push(r->arena, &r->funcs) = func;
}

/* A variable whose initialiser holds addresses of functions is a table of call targets. */
static void reach_symbol(struct reach *r, uint32_t symbol)
{
    const struct pt_symbol *s = &r->m->symbols.v[symbol];
    if (r->is_used)
        r->is_used[symbol] = 1;
    for (uint32_t i = 0; i < s->relocs.n; i++)
        if (s->relocs.v[i].is_func)
            reach_func(r, s->relocs.v[i].target);
}

static void reach_operand(struct reach *r, const struct pt_func *f, const struct pt_operand *o,
                          bool is_call)
{
    switch (o->kind) {
    case PT_OPND_FUNC:
        reach_func(r, o->index);
        break;
    case PT_OPND_SYM:
        reach_symbol(r, o->index);
        break;
    case PT_OPND_TABLE:
        r->is_open |= is_call && f->tables.v[o->index].kind == 'p';
        for (uint32_t i = 0;
             f->tables.v[o->index].kind == 'c' && i < f->tables.v[o->index].targets.n; i++)
            reach_func(r, f->tables.v[o->index].targets.v[i]);
        break;
    case PT_OPND_VEC:
    case PT_OPND_MEM:
    case PT_OPND_LIST:
        for (int64_t i = 0; i < o->imm; i++)
            reach_operand(r, f, &f->operands.v[o->index + i], false);
        break;
    default:
        break;
    }
}

static void reach_body(struct reach *r, const struct pt_func *f)
{
    for (uint32_t i = 0; i < f->insns.n; i++) {
        const struct pt_insn *insn = &f->insns.v[i];
        bool is_call = pt_insn_form(r->m, insn)->effects & PT_FX_CALL;
        for (uint32_t k = 0; k < insn->n_operands; k++)
            reach_operand(r, f, &f->operands.v[insn->operands + k], is_call);
    }
}

static void reach_all(struct reach *r, uint32_t func)
{
    r->is_found = pt_arena_alloc(r->arena, r->m->funcs.n);
    reach_func(r, func);
    bool was_open = false;
    for (uint32_t i = 0; i < r->funcs.n; i++) {
        reach_body(r, &r->m->funcs.v[r->funcs.v[i]]);
        if (!r->is_open || was_open)
            continue;
        was_open = true;
        for (uint32_t k = 1; k < r->m->funcs.n; k++)
            if (!r->m->funcs.v[k].is_entry)
                reach_func(r, k);
    }
}

uint32_t *pt_call_graph_reachable(const struct pt_module *m, uint32_t func, struct pt_arena *arena,
                                  uint32_t *n)
{
    struct reach r = {.m = m, .arena = arena};
    reach_all(&r, func);
    *n = r.funcs.n;
    return r.funcs.v;
}

/* ---- shared memory --------------------------------------------------------------------------- */

void pt_shared_layout(const struct pt_module *m, uint32_t kernel, struct pt_shared *shared,
                      struct pt_arena *arena)
{
    struct reach r = {.m = m, .arena = arena};
    r.is_used = pt_arena_alloc(arena, m->symbols.n);
    reach_all(&r, kernel);
    PT_VEC(uint32_t) symbols = {0};
    PT_VEC(uint64_t) offsets = {0};
    *shared = (struct pt_shared){.align = 16, .dynamic_align = 16};
    for (uint32_t i = 1; i < m->symbols.n; i++) {
        const struct pt_symbol *s = &m->symbols.v[i];
        bool is_declared_there = s->func != PT_NONE && r.is_found[s->func]; /* counts as NVIDIA's assembler counts, whether it is used or not */
        if ((!r.is_used[i] && !is_declared_there) || s->space != PT_SPACE_SHARED)
            continue;
        uint32_t align = s->align ? s->align : 1;
        *pt_vec_push(arena, &symbols) = i;
        if (align > shared->align)
            shared->align = align;
        if (s->is_unsized) {
            if (align > shared->dynamic_align)
                shared->dynamic_align = align;
            *pt_vec_push(arena, &offsets) = UINT64_MAX;
            continue;
        }
        shared->bytes = pt_round_up(shared->bytes, align);
        *pt_vec_push(arena, &offsets) = shared->bytes;
        shared->bytes += s->size;
    }
    for (uint32_t i = 0; i < symbols.n; i++)
        if (offsets.v[i] == UINT64_MAX)
            offsets.v[i] = pt_round_up(shared->bytes, shared->dynamic_align);
    shared->n = symbols.n;
    shared->symbols = symbols.v;
    shared->offsets = offsets.v;
}
