/* Where variables lie: which of a module have a place of their own, the parameters of a kernel, the
 * frame of an activation, and the static shared memory of a kernel.
 *
 * Shared memory is laid out for a kernel, not for a module: ptxas gives each kernel only what it
 * and its callees refer to, so two kernels that use one variable may see it at different offsets.
 */
#include "ir/layout.h"

#include <string.h>

#include "ir/bits.h"
#include "ir/call_graph.h"

/* ---- variables of the module ----------------------------------------------------------------- */

bool pt_layout_is_placed(const struct pt_symbol *s, enum pt_space space)
{
    return s->space == space && (s->linkage != PT_LINK_EXTERN || (s->size && s->is_used));
}

uint32_t pt_layout_first_constant(const struct pt_module *m)
{
    for (uint32_t i = 1; i < m->symbols.n; i++)
        if (pt_layout_is_placed(&m->symbols.v[i], PT_SPACE_CONST))
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

bool pt_layout_frame(struct pt_module *m, struct pt_func *f)
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

/* ---- shared memory --------------------------------------------------------------------------- */

void pt_layout_shared(const struct pt_module *m, uint32_t kernel, struct pt_shared *shared,
                      struct pt_arena *arena)
{
    const uint8_t *is_found, *is_used = pt_call_graph_symbols(m, kernel, arena, &is_found);
    PT_VEC(uint32_t) symbols = {0};
    PT_VEC(uint64_t) offsets = {0};
    *shared = (struct pt_shared){.align = 16, .dynamic_align = 16};
    for (uint32_t i = 1; i < m->symbols.n; i++) {
        const struct pt_symbol *s = &m->symbols.v[i];
        bool is_declared_there =
            s->func != PT_NONE &&
            is_found[s->func]; /* counts as NVIDIA's assembler counts, whether it is used or not */
        if ((!is_used[i] && !is_declared_there) || s->space != PT_SPACE_SHARED)
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
