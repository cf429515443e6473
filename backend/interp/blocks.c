/* Blocks of a decoded function: their numbers, and which of them follow an instruction. */
#include "backend/interp/blocks.h"
#include "backend/interp/decoder.h"
#include "backend/observer.h"
#include "ir/bits.h"

bool pt_blocks_is_sync(const struct pt_form *form)
{
    return form->effects & (PT_FX_CTA | PT_FX_CLUSTER | PT_FX_WARP);
}

/* Memory that other warps do not see, or nobody writes. */
static bool is_private(const struct pt_form *form)
{
    enum pt_space space = pt_form_space(form);
    return space == PT_SPACE_PARAM || space == PT_SPACE_LOCAL || space == PT_SPACE_CONST;
}

/* Other warps go on behind the instruction. */
bool pt_blocks_gives_way(const struct pt_decoder *d, const struct pt_form *form)
{
    bool is_access = form->effects & (PT_FX_READ | PT_FX_WRITE) &&
                     !(form->effects & (PT_FX_BRANCH | PT_FX_CALL | PT_FX_END));
    bool tells_others = form->effects & (PT_FX_CTA | PT_FX_CLUSTER); /* as bar.arrive does */
    bool is_fence = form->effects & PT_FX_FENCE && d->program->base.tests & PT_TEST_order_weak;
    return ((is_access && !is_private(form)) || tells_others || is_fence) &&
           d->program->base.tests & PT_TEST_TURNS;
}

/* True if lanes may wait between this instruction and the next. */
bool pt_blocks_splits(const struct pt_decoder *d, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(d->m, insn);
    return pt_blocks_is_sync(form) || pt_blocks_gives_way(d, form);
}

void pt_blocks_number(struct pt_decoder *d)
{
    struct pt_func *f = d->f;
    d->first_block = pt_arena_alloc(d->scratch, (f->blocks.n + 1) * sizeof *d->first_block);
    uint32_t n = 0;
    for (uint32_t b = 0; b < f->blocks.n; b++) {
        d->first_block[b] = n++;
        const struct pt_block *block = &f->blocks.v[b];
        for (uint32_t i = 0; i + 1 < block->count; i++)
            n += pt_blocks_splits(d, &f->insns.v[block->first + i]);
        n += pt_blocks_falls_back(f, b);
    }
    d->first_block[f->blocks.n] = n;
    d->body->n_blocks = n;
    d->body->n_words = pt_bit_words(n);
}

uint32_t pt_blocks_block(const struct pt_select *s, uint32_t ir_block)
{
    return s->decoder->first_block[ir_block];
}

uint32_t pt_blocks_ir_block(const struct pt_select *s)
{
    return s->decoder->ir_block;
}

bool pt_blocks_communicates(const struct pt_select *s)
{
    return s->decoder->f->blocks.v[s->decoder->ir_block].communicates;
}

uint32_t pt_blocks_here(const struct pt_select *s)
{
    return s->decoder->block;
}

/* Does IR block b lead back to itself or before, other than by a branch? Then a block of its own,
 * the last it is decoded to, takes the back edge, so that no loop goes round without looking at the
 * clock and at other lanes. */
bool pt_blocks_falls_back(const struct pt_func *f, uint32_t b)
{
    return f->blocks.v[b].next <= b;
}

/* The number of the block that follows IR block b. */
uint32_t pt_blocks_next(const struct pt_decoder *d, uint32_t b)
{
    return pt_blocks_falls_back(d->f, b) ? d->first_block[b + 1] - 1
                                         : d->first_block[d->f->blocks.v[b].next];
}

uint32_t pt_blocks_behind(const struct pt_decoder *d)
{
    if (!d->is_last || d->f->blocks.v[d->ir_block].next == UINT32_MAX)
        return d->block + 1;
    return pt_blocks_next(d, d->ir_block);
}

uint32_t pt_blocks_after(const struct pt_select *s)
{
    return pt_blocks_behind(s->decoder);
}
