/* Slots of the frame: where a function's registers lie, and its constants.
 *
 * A register's slot is shared with registers whose live ranges (in block order, without holes)
 * do not meet. That is safe under divergence: writes touch active lanes only, and a lane that
 * waits elsewhere keeps its own elements. Slots of different widths never overlap, so a
 * destination is a source's slot or apart from it.
 */
#include <stdlib.h>

#include "backend/interp/slots.h"

#include "ir/bits.h"
#include "ir/insn.h"
#include "ir/liveness.h"

uint32_t pt_slots_take(struct pt_decoder *d, uint32_t bytes)
{
    uint32_t offset = d->frame_bytes;
    d->frame_bytes += (uint32_t)pt_round_up(bytes, 64);
    return offset;
}

/* Live range of a register: places are twice the instruction's index for uses, one more for
 * definitions. */
struct range {
    uint32_t first, last, reg;
};

struct ranges {
    struct range *v;
    uint32_t place;
    bool is_shared; /* the instruction's definitions must not share slots with its uses */
};

static void extend(struct range *r, uint32_t place)
{
    if (place < r->first)
        r->first = place;
    if (place > r->last)
        r->last = place;
}

static void count_defs(void *ud, uint32_t reg, bool is_def)
{
    (void)reg;
    *(uint32_t *)ud += is_def;
}

static void see_reg(void *ud, uint32_t reg, bool is_def)
{
    struct ranges *r = ud;
    r->v[reg].reg = reg;
    extend(&r->v[reg], r->place + (is_def || r->is_shared));
}

static int by_start(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->reg < y->reg ? -1 : x->reg > y->reg;
}

/* Calls write parameters in registers, whether these are read or not. */
static void see_params(const struct pt_decoder *d, struct range *ranges)
{
    for (uint32_t i = 0; i < d->f->params.n; i++) {
        const struct pt_symbol *s = &d->m->symbols.v[d->f->params.v[i]];
        if (s->space != PT_SPACE_REG)
            continue;
        ranges[s->reg].reg = s->reg;
        extend(&ranges[s->reg], 0);
    }
}

static struct range *find_ranges(struct pt_decoder *d)
{
    struct pt_func *f = d->f;
    struct ranges r = {.v = pt_arena_alloc(d->scratch, f->regs.n * sizeof(struct range))};
    for (uint32_t i = 0; i < f->regs.n; i++)
        r.v[i] = (struct range){.first = UINT32_MAX};
    const uint64_t *live = pt_liveness_in(d->m, f, d->scratch);
    uint32_t words = pt_bit_words(f->regs.n);
    see_params(d, r.v);
    for (uint32_t b = 0; b < f->blocks.n; b++) {
        const struct pt_block *block = &f->blocks.v[b];
        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            uint32_t defs = 0;
            pt_insn_regs(d->m, f, &f->insns.v[i], count_defs, &defs);
            r.place = 2 * i;
            r.is_shared = defs > 1;
            pt_insn_regs(d->m, f, &f->insns.v[i], see_reg, &r);
        }
        for (uint32_t w = 0; w < words; w++) {
            for (uint64_t bits = live[(size_t)b * words + w]; bits; bits &= bits - 1) {
                struct range *range = &r.v[w * 64 + (uint32_t)__builtin_ctzll(bits)];
                extend(range, 2 * block->first);
                /* Live out of every predecessor. */
                for (uint32_t p = 0; p < block->n_pred; p++) {
                    const struct pt_block *pred = &f->blocks.v[f->edges.v[block->pred + p]];
                    extend(range, 2 * (pred->first + pred->count) - 1);
                }
            }
        }
    }
    return r.v;
}

/* A binary heap of ranges by their end. */
static void heap_push(struct range *heap, uint32_t *n, struct range r)
{
    uint32_t i = (*n)++;
    for (; i && heap[(i - 1) / 2].last > r.last; i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = r;
}

static struct range heap_pop(struct range *heap, uint32_t *n)
{
    struct range top = heap[0], r = heap[--*n];
    uint32_t i = 0;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= *n)
            break;
        if (child + 1 < *n && heap[child + 1].last < heap[child].last)
            child++;
        if (heap[child].last >= r.last)
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = r;
    return top;
}

void pt_slots_assign(struct pt_decoder *d)
{
    struct pt_func *f = d->f;
    d->slots = d->body->slots = pt_arena_alloc(&d->program->arena, f->regs.n * sizeof *d->slots);
    struct range *ranges = find_ranges(d);
    uint32_t n = 0;
    for (uint32_t i = 1; i < f->regs.n; i++) {
        if (ranges[i].first == UINT32_MAX)
            continue;
        if (d->is_in_flight && d->is_in_flight[i]) { /* its slot is its own */
            extend(&ranges[i], 0);
            extend(&ranges[i], 2 * f->insns.n);
        }
        ranges[n++] = ranges[i];
    }
    qsort(ranges, n, sizeof *ranges, by_start);
    /* One pool for each width: 0, 4, 8, 16. */
    struct range *heap = pt_arena_alloc(d->scratch, n * sizeof *heap);
    uint32_t *free_slots[4], n_free[4] = {0}, n_heap = 0;
    for (int k = 0; k < 4; k++)
        free_slots[k] = pt_arena_alloc(d->scratch, n * sizeof(uint32_t));
    uint32_t preds = 0, pred_base = 0;
    for (uint32_t i = 0; i < n; i++) {
        while (n_heap && heap[0].last < ranges[i].first) {
            uint32_t reg = heap_pop(heap, &n_heap).reg, k = pt_slots_width(f, reg) / 4;
            k = k == 4 ? 3 : k;
            free_slots[k][n_free[k]++] = d->slots[reg];
        }
        uint32_t reg = ranges[i].reg, width = pt_slots_width(f, reg),
                 k = width == 16 ? 3 : width / 4;
        if (n_free[k]) {
            d->slots[reg] = free_slots[k][--n_free[k]];
        } else if (width) {
            d->slots[reg] = pt_slots_take(d, pt_slots_bytes(width));
        } else {
            if (preds % 16 == 0)
                pred_base = pt_slots_take(d, 64);
            d->slots[reg] = pred_base + 4 * (preds++ % 16);
        }
        heap_push(heap, &n_heap, ranges[i]);
    }
}

uint32_t pt_slots_constant(struct pt_decoder *d, uint32_t width, uint64_t lo, uint64_t hi)
{
    uint32_t hash = (uint32_t)((lo * 0x9e3779b97f4a7c15u + hi + width) >> 40) % PT_CONSTANT_BUCKETS;
    struct pt_body *body = d->body;
    for (uint32_t i = d->buckets[hash]; i; i = d->chain[i - 1]) {
        const struct pt_constant *c = &body->constants.v[i - 1];
        if (c->width == width && c->lo == lo && c->hi == hi)
            return c->offset;
    }
    if (body->constants.n == d->chain_cap) {
        uint32_t cap = d->chain_cap ? 2 * d->chain_cap : 64;
        uint32_t *chain = pt_arena_alloc(d->scratch, cap * sizeof *chain);
        if (d->chain_cap)
            memcpy(chain, d->chain, d->chain_cap * sizeof *chain);
        d->chain = chain;
        d->chain_cap = cap;
    }
    struct pt_constant *c = pt_vec_push(&d->program->arena, &body->constants);
    *c = (struct pt_constant){pt_slots_take(d, pt_slots_bytes(width)), width, lo, hi};
    d->chain[body->constants.n - 1] = d->buckets[hash];
    d->buckets[hash] = body->constants.n;
    return c->offset;
}
