/* What products of matrices make of bits that hold no value: these go through the layouts of
 * registers as the values do. */
#include "backend/interp/mma_step.h"
#include "backend/semantics/fragment.h"

struct matrix {
    uint32_t v[PT_MMA_STEP_REGS][PT_WARP_SIZE];
    const uint32_t *slots[PT_MMA_STEP_REGS];
};

static void get_matrix(const struct pt_mma_step_bits *bits, const struct pt_mma_fragment *x,
                       struct matrix *m)
{
    for (uint32_t i = 0; i < x->n; i++) {
        bits->get(bits->ud, x->slot[i], m->v[i]);
        m->slots[i] = m->v[i];
    }
}

/* Sets rows that have one, and columns. */
static void lose_rows(const struct pt_mma_step *x, const struct pt_mma_step_bits *bits,
                      uint32_t rows[PT_MMA_M])
{
    uint32_t a[PT_MMA_M][PT_MMA_A] = {{0}};
    struct matrix m;
    get_matrix(bits, &x->a, &m);
    pt_fragment_a(m.slots, x->a.n, x->rows, x->a.bits, false, a);
    for (uint32_t r = 0; r < PT_MMA_M; r++)
        for (uint32_t k = 0; k < PT_MMA_A; k++)
            rows[r] |= a[r][k];
}

static void lose_columns(const struct pt_mma_step *x, const struct pt_mma_step_bits *bits,
                         uint32_t columns[PT_MMA_N])
{
    uint32_t b[PT_MMA_K][PT_MMA_N] = {{0}};
    struct matrix m;
    get_matrix(bits, &x->b, &m);
    pt_fragment_b(m.slots, x->b.n, x->b.bits, false, b);
    for (uint32_t k = 0; k < PT_MMA_K; k++)
        for (uint32_t n = 0; n < PT_MMA_N; n++)
            columns[n] |= b[k][n];
}

/* `d`: C, if it is another tile's. */
static void lose(const struct pt_mma_step *x, const struct pt_mma_step_bits *bits,
                 struct pt_mma_tile *d)
{
    uint32_t rows[PT_MMA_M] = {0}, columns[PT_MMA_N] = {0}, metadata[PT_WARP_SIZE] = {0}, any = 0;
    lose_rows(x, bits, rows);
    lose_columns(x, bits, columns);
    if (x->is_sparse)
        bits->get(bits->ud, x->metadata, metadata);
    for (uint32_t i = 0; i < PT_WARP_SIZE; i++)
        any |= metadata[i];
    if (!x->before) {
        struct matrix c;
        get_matrix(bits, &x->c, &c);
        pt_fragment_c(c.slots, x->rows, x->c.bits, d);
    }
    for (uint32_t r = 0; r < x->rows; r++)
        for (uint32_t n = 0; n < PT_MMA_N; n++)
            d->v[r][n] = any | rows[r] | columns[n] | d->v[r][n] ? UINT32_MAX : 0;
}

void pt_mma_step_lose(const struct pt_code *c, const struct pt_mma_step_bits *bits)
{
    const struct pt_mma_step *x = c->ptr;
    struct pt_mma_tile d[PT_MMA_STEPS] = {{{{0}}}};
    for (uint32_t t = 0; t < c->n; t++) {
        if (x[t].before)
            d[t] = d[x[t].before - 1];
        lose(&x[t], bits, &d[t]);
    }
    for (uint32_t t = 0; t < c->n; t++)
        for (uint32_t i = 0; i < x[t].d.n; i++) {
            uint32_t v[PT_WARP_SIZE];
            pt_fragment_d(&d[t], i, x[t].d.bits, v);
            bits->set(bits->ud, x[t].d.slot[i], v);
        }
}
