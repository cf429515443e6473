/* wgmma: products of a warpgroup, whose warps have 16 rows each (PTX ISA 9.7.15).
 *
 * The hardware runs them asynchronously; here they are done when the instruction is, the earliest
 * that is legal, or, in launches that put operations off, at the wait for their group.
 */
#include "backend/interp/wgmma.h"
#include "backend/interp/async.h"
#include "backend/interp/observe.h"
#include "backend/interp/operands.h"
#include "backend/semantics/fragment.h"
#include "backend/semantics/mma_fast.h"

enum {
    D_REGS = 128,
    A_REGS = 4,
    ROW_BITS = 256, /* of a row of A, as stored */
    CHUNK = 16,     /* bytes that lie together */
    CHUNKS = 32     /* of the largest matrix that is read at once */
};

struct wgmma {
    uint32_t d[D_REGS], a[A_REGS]; /* slots */
    uint32_t descriptor_a, descriptor_b, metadata, scale_d;
    uint8_t n_d;
    uint8_t type_d, type_a, type_b; /* enum pt_type */
    uint8_t bits_a, bits_d;         /* of an element; b1: of a word */
    uint8_t k;                      /* elements of a row of A as stored; b1: words */
    uint8_t selector;               /* of the metadata */
    bool is_sparse, has_registers;  /* A is in registers */
    bool is_flipped, scale_d_neg;   /* the products' signs; !p */
    bool transposes_a, transposes_b;
    bool saturates, is_xor;
    pt_handler multiply;
};

/* ---- matrices in shared memory --------------------------------------------------------------- */

/* A matrix descriptor (PTX ISA 9.7.15.5.1.2.2): offsets and strides in bytes. */
struct descriptor {
    uint32_t start, leading, stride;
    uint32_t base;  /* of the pattern, in 128 bytes */
    uint32_t width; /* of a row of the swizzle, as a power of two: 16 bytes without one */
};

static struct descriptor descriptor_of(uint64_t v)
{
    static const uint8_t widths[] = {4, 7, 6, 5};
    return (struct descriptor){.start = (uint32_t)(v & 0x3fff) << 4,
                               .leading = (uint32_t)(v >> 16 & 0x3fff) << 4,
                               .stride = (uint32_t)(v >> 32 & 0x3fff) << 4,
                               .base = v >> 49 & 7,
                               .width = widths[v >> 62]};
}

/* Offsets of chunks, of eight rows. */
typedef uint32_t places __attribute__((vector_size(32), may_alias));

/* Where the 16 bytes lie that begin at byte `byte` of the eight rows from row 8 * line on. A row is
 * one of A or a column of B; of a matrix that is transposed (`is_across`), one of its depth. */
static void place_chunks(const struct descriptor *x, bool is_across, uint32_t line, uint32_t byte,
                         places *place)
{
    const places row = {0, 1, 2, 3, 4, 5, 6, 7};
    uint32_t w = 1u << x->width, part = byte >> x->width, first = x->start + (byte & (w - 1));
    first += is_across && w == 16 ? line * x->leading + part * x->stride
                                  : line * x->stride + part * x->leading;
    places at = first + (row << x->width);
    *place = at ^ (((at >> 7) - x->base) << 4 & (w - 16));
}

static uint32_t largest(const places *place, uint32_t n)
{
    places most = {0};
    uint32_t v = 0;
    for (uint32_t i = 0; i < n; i++) {
        places is_more = (places)(place[i] > most);
        most = (place[i] & is_more) | (most & ~is_more);
    }
    for (uint32_t i = 0; i < 8; i++)
        v = most[i] > v ? most[i] : v;
    return v;
}

/* Copies chunks from the CTA's shared memory. */
PT_ACCESS static __attribute__((noinline)) void
copy_chunks(const uint8_t *window, const uint32_t *place, uint32_t n, uint8_t *to)
{
    for (uint32_t i = 0; i < n; i++)
        pt_copy16(to + CHUNK * i, window + place[i]);
}

/* Copies `lines` rows or columns from number `first` on, of `depth` elements: the first chunks of
 * all lines (where transposed, of all rows of the depth), then the second ones. Returns false after
 * reporting. */
static bool read_chunks(const struct pt_code *c, struct pt_frame *f, uint64_t descriptor,
                        bool is_across, uint32_t first, uint32_t lines, uint32_t depth,
                        uint32_t bits, uint8_t *bytes)
{
    struct descriptor x = descriptor_of(descriptor);
    uint32_t down = is_across ? depth : lines, n = 0;
    uint32_t bytes_along = (is_across ? lines : depth) * bits / 8, start = first * bits / 8;
    places place[CHUNKS / 8];
    for (uint32_t byte = 0; byte < bytes_along; byte += CHUNK)
        for (uint32_t i = 0; i < down; i += 8)
            place_chunks(&x, is_across, (is_across ? i : first + i) / 8,
                         (is_across ? start : 0) + byte, &place[n++]);
    uint32_t most = largest(place, n);
    if (most + CHUNK > f->cta->launch->shared_bytes) {
        pt_fail(c, f, PT_FAULT_ILLEGAL_ADDRESS, f->mask,
                "the matrix leaves the CTA's shared memory");
        f->state->warp->fault.has_address = true;
        f->state->warp->fault.address = (uint64_t)(uintptr_t)f->shared + f->cta->window + most;
        return false;
    }
    f->state->code = c;
    copy_chunks(f->shared + f->cta->window, (const uint32_t *)place, 8 * n, bytes);
    return true;
}

/* Those chunks as elements: element (line, k) goes to to[line * row + k * column]. */
static bool read_matrix(const struct pt_code *c, struct pt_frame *f, uint64_t descriptor,
                        bool is_across, uint32_t first, uint32_t lines, uint32_t depth,
                        uint32_t bits, bool is_signed, uint32_t *to, uint32_t row, uint32_t column)
{
    uint32_t per = CHUNK * 8 / bits, down = is_across ? depth : lines, n = lines * depth / per;
    uint8_t bytes[CHUNKS * CHUNK] __attribute__((aligned(64)));
    if (!read_chunks(c, f, descriptor, is_across, first, lines, depth, bits, bytes))
        return false;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t e = 0; e < per; e++) {
            uint32_t line = is_across ? i / down * per + e : i % down;
            uint32_t k = is_across ? i % down : i / down * per + e, v = 0;
            memcpy(&v, bytes + CHUNK * i + e * bits / 8, bits / 8);
            to[line * row + k * column] = is_signed ? (uint32_t)(int8_t)v : v;
        }
    return true;
}

static uint64_t uniform64(const struct pt_frame *f, uint32_t slot)
{
    return ((const uint64_t *)((const char *)f + slot))[__builtin_ctz(f->mask)];
}

/* The warp's 16 rows. */
static bool read_a(const struct pt_code *c, struct pt_frame *f, uint32_t a[][PT_MMA_A])
{
    const struct wgmma *x = c->ptr;
    uint32_t first = f->state->warp->index % 4 * PT_MMA_M;
    if (x->has_registers) {
        const uint32_t *slots[A_REGS];
        for (uint32_t i = 0; i < A_REGS; i++)
            slots[i] = (const uint32_t *)((const char *)f + x->a[i]);
        pt_fragment_a(slots, A_REGS, PT_MMA_M, x->bits_a, x->type_a == PT_s8, a);
    } else if (!read_matrix(c, f, uniform64(f, x->descriptor_a), x->transposes_a, first, PT_MMA_M,
                            x->k, x->bits_a, x->type_a == PT_s8, a[0], PT_MMA_A, 1)) {
        return false;
    }
    for (uint32_t m = 0; x->is_flipped && m < PT_MMA_M; m++)
        for (uint32_t i = 0; i < x->k; i++)
            a[m][i] ^= 1u << (x->bits_a - 1);
    return true;
}

static bool read_b(const struct pt_code *c, struct pt_frame *f, uint32_t tile,
                   uint32_t b[][PT_MMA_N])
{
    const struct wgmma *x = c->ptr;
    uint32_t depth = x->is_sparse ? 2u * x->k : x->k;
    return read_matrix(c, f, uniform64(f, x->descriptor_b), x->transposes_b, tile * PT_MMA_N,
                       PT_MMA_N, depth, x->bits_a, x->type_b == PT_s8, b[0], 1, PT_MMA_N);
}

/* ---- products -------------------------------------------------------------------------------- */

/* What all tiles of eight columns share. */
struct product {
    const struct wgmma *x;
    uint32_t a[PT_MMA_M][PT_MMA_A];
    struct pt_mma_float_a floats;
    struct pt_mma_sparsity space;
    const struct pt_mma_sparsity *sparsity; /* NULL: A is dense */
    bool has_c;
};

static bool is_float(const struct wgmma *x)
{
    return x->type_d != PT_s32;
}

/* scale-d: D is a term. */
static bool adds(const struct pt_frame *f, const struct wgmma *x)
{
    const uint32_t *scale_d = (const uint32_t *)((const char *)f + x->scale_d);
    return ((*scale_d ^ -(uint32_t)x->scale_d_neg) & f->mask & -f->mask) != 0;
}

static bool prepare(const struct pt_code *c, struct pt_frame *f, struct product *p)
{
    const struct wgmma *x = p->x = c->ptr;
    p->has_c = adds(f, x);
    if (!read_a(c, f, p->a))
        return false;
    if (is_float(x))
        pt_mma_float_set_a(&p->floats, (enum pt_type)x->type_a, PT_MMA_M, x->k,
                           (const uint32_t(*)[PT_MMA_A])p->a);
    p->sparsity = NULL;
    if (x->is_sparse) {
        pt_fragment_sparsity((enum pt_type)x->type_a, ROW_BITS, x->selector,
                             (const uint32_t *)((const char *)f + x->metadata), &p->space);
        p->sparsity = &p->space;
    }
    return true;
}

static void multiply_floats(const struct product *p, const uint32_t b[][PT_MMA_N],
                            struct pt_mma_tile *d)
{
    const struct wgmma *x = p->x;
    bool is_narrow = x->bits_a == 8;
    struct pt_mma_float step = {.rows = PT_MMA_M,
                                .k = x->k,
                                .fraction = is_narrow ? 13 : 25,
                                .dropped = is_narrow ? 39 : 29,
                                .to_f16 = x->type_d == PT_f16};
    struct pt_mma_float_b floats;
    struct pt_mma_float_c addend;
    pt_mma_float_set_b(&floats, (enum pt_type)x->type_b, p->sparsity ? 2u * x->k : x->k, b);
    pt_mma_float_set_c(&addend, (enum pt_type)x->type_d, PT_MMA_M, p->has_c ? d : NULL);
    pt_mma_float(&step, &p->floats, &floats, &addend, p->sparsity, d);
}

static void multiply(const struct product *p, const uint32_t b[][PT_MMA_N], struct pt_mma_tile *d)
{
    const struct wgmma *x = p->x;
    const uint32_t(*a)[PT_MMA_A] = (const uint32_t(*)[PT_MMA_A])p->a;
    if (is_float(x)) {
        multiply_floats(p, b, d);
        return;
    }
    if (!p->has_c)
        memset(d, 0, sizeof *d);
    if (x->type_a == PT_b1)
        pt_mma_bits(PT_MMA_M, x->k, a, b, d, x->is_xor, d);
    else
        pt_mma_int(PT_MMA_M, x->k, a, b, d, p->sparsity, x->saturates, d);
}

/* Eight columns of D. False after reporting. */
static bool multiply_tile(const struct pt_code *c, struct pt_frame *f, const struct product *p,
                          uint32_t tile)
{
    const struct wgmma *x = c->ptr;
    uint32_t b[PT_MMA_K][PT_MMA_N], v[PT_WARP_SIZE] __attribute__((aligned(64)));
    uint32_t per = x->bits_d == 16 ? 2 : 4; /* registers of a tile */
    const uint32_t *slots[4];
    struct pt_mma_tile d;
    if (!read_b(c, f, tile, b))
        return false;
    for (uint32_t i = 0; i < per; i++)
        slots[i] = (const uint32_t *)((const char *)f + x->d[tile * per + i]);
    pt_fragment_c(slots, PT_MMA_M, x->bits_d, &d);
    multiply(p, (const uint32_t(*)[PT_MMA_N])b, &d);
    for (uint32_t k = 0; k < per; k++) {
        uint32_t *to = (uint32_t *)((char *)f + x->d[tile * per + k]);
        pt_fragment_d(&d, k, x->bits_d, v);
        PT_STORE_LANES(u32, to, const uint32_t value = v[i];);
    }
    return true;
}

PT_HANDLER(wgmma)
{
    const struct wgmma *x = c->ptr;
    struct product p;
    uint32_t tiles = x->n_d / (x->bits_d == 16 ? 2u : 4u);
    if (!prepare(c, f, &p))
        return NULL;
    for (uint32_t tile = 0; tile < tiles; tile++)
        if (!multiply_tile(c, f, &p, tile))
            return NULL;
    return c + 1;
}

/* ---- products whose lanes are rows ----------------------------------------------------------- */

enum { WORDS = ROW_BITS / 32 };

/* Halves of two rows of 8 lines each, as words. */
static void pair_lines(const pt_fragment_half *upper, const pt_fragment_half *lower, uint32_t *to)
{
    for (uint32_t i = 0; i < 8; i++)
        to[i] = upper[i] | (uint32_t)lower[i] << 16;
}

static bool read_rows(const struct pt_code *c, struct pt_frame *f, uint32_t v[WORDS][PT_MMA_M])
{
    const struct wgmma *x = c->ptr;
    uint32_t bytes[CHUNKS][CHUNK / 4] __attribute__((aligned(64)));
    uint32_t first = f->state->warp->index % 4 * PT_MMA_M;
    const pt_fragment_half *halves = (const pt_fragment_half *)bytes;
    if (x->has_registers) {
        for (uint32_t i = 0; i < A_REGS; i += 2)
            pt_rows_gather((const uint32_t *)((const char *)f + x->a[i]),
                           (const uint32_t *)((const char *)f + x->a[i + 1]), v[2 * i], PT_MMA_M);
        return true;
    }
    if (!read_chunks(c, f, uniform64(f, x->descriptor_a), x->transposes_a, first, PT_MMA_M, x->k,
                     x->bits_a, (uint8_t *)bytes))
        return false;
    for (uint32_t i = 0; !x->transposes_a && i < 2; i++)
        pt_rows_gather(bytes[16 * i], bytes[16 * i + 8], v[4 * i], PT_MMA_M);
    for (uint32_t i = 0; x->transposes_a && i < 2 * WORDS; i++)
        pair_lines(halves + 16 * i, halves + 16 * i + 8, &v[i % WORDS][i / WORDS * 8]);
    return true;
}

static bool set_rows(const struct pt_code *c, struct pt_frame *f, struct pt_rows_a *a, bool *is_far)
{
    const struct wgmma *x = c->ptr;
    uint32_t v[WORDS][PT_MMA_M] __attribute__((aligned(64)));
    if (!read_rows(c, f, v))
        return false;
    for (uint32_t i = 0; x->is_flipped && i < WORDS; i++)
        for (uint32_t m = 0; m < PT_MMA_M; m++)
            v[i][m] ^= x->bits_a == 16 ? 0x80008000 : 0x80000000;
    *is_far = !pt_rows_set_a(a, (enum pt_type)x->type_a, WORDS, (const uint32_t(*)[PT_MMA_M])v);
    return true;
}

static bool set_columns(const struct pt_code *c, struct pt_frame *f, uint32_t tile,
                        struct pt_rows_b *b, bool *is_far)
{
    const struct wgmma *x = c->ptr;
    uint32_t bytes[2 * PT_MMA_N][CHUNK / 4] __attribute__((aligned(64)));
    uint32_t v[WORDS * PT_MMA_N] __attribute__((aligned(64)));
    const pt_fragment_half *halves = (const pt_fragment_half *)bytes;
    if (!read_chunks(c, f, uniform64(f, x->descriptor_b), x->transposes_b, tile * PT_MMA_N,
                     PT_MMA_N, x->k, x->bits_a, (uint8_t *)bytes))
        return false;
    for (uint32_t i = 0; x->transposes_b && i < WORDS; i++)
        pair_lines(halves + 16 * i, halves + 16 * i + 8, &v[8 * i]);
    *is_far = !pt_rows_set_b(b, (enum pt_type)x->type_b, WORDS, x->transposes_b,
                             x->transposes_b ? v : bytes[0]);
    return true;
}

/* Eight columns of D; *is_far: nothing is done, as some result may be wrong. False after
 * reporting. */
static bool multiply_columns(const struct pt_code *c, struct pt_frame *f, const struct pt_rows_a *a,
                             bool has_c, uint32_t tile, bool *is_far)
{
    const struct wgmma *x = c->ptr;
    uint32_t *slots[4], v[4][PT_WARP_SIZE] __attribute__((aligned(64)));
    struct pt_rows_b b;
    struct pt_rows_c d;
    if (!set_columns(c, f, tile, &b, is_far))
        return false;
    for (uint32_t i = 0; i < 4; i++)
        slots[i] = (uint32_t *)((char *)f + x->d[tile * 4 + i]);
    if (has_c)
        pt_rows_get_c((const uint32_t *const *)slots, &d);
    else
        memset(&d, 0, sizeof d);
    *is_far |= !pt_rows_product((enum pt_type)x->type_a, WORDS, a, &b, &d);
    if (*is_far)
        return true;
    if (f->mask == UINT32_MAX) {
        pt_rows_put_c(&d, slots);
        return true;
    }
    pt_rows_put_c(&d, (uint32_t *[4]){v[0], v[1], v[2], v[3]});
    for (uint32_t k = 0; k < 4; k++)
        PT_STORE_LANES(u32, slots[k], const uint32_t value = v[k][i];);
    return true;
}

/* ---- the same, where it need not be exact ---------------------------------------------------- */

/* As pt_fast_set_a has them. */
struct fast_rows {
    uint32_t v[PT_FAST_PARTS][PT_MMA_M][PT_FAST_WORDS] __attribute__((aligned(64)));
};

static bool read_fast_rows(const struct pt_code *c, struct pt_frame *f, struct fast_rows *rows)
{
    const struct wgmma *x = c->ptr;
    uint32_t v[WORDS][PT_MMA_M] __attribute__((aligned(64)));
    uint32_t first = f->state->warp->index % 4 * PT_MMA_M;
    for (uint32_t i = 0; x->has_registers && i < A_REGS; i++)
        memcpy(rows->v[i / 2][i % 2 * 8], (const char *)f + x->a[i], PT_WARP_SIZE * 4);
    if (!x->has_registers && !x->transposes_a)
        return read_chunks(c, f, uniform64(f, x->descriptor_a), false, first, PT_MMA_M, x->k,
                           x->bits_a, (uint8_t *)rows->v);
    if (x->has_registers)
        return true;
    if (!read_rows(c, f, v))
        return false;
    for (uint32_t i = 0; i < WORDS; i++)
        for (uint32_t m = 0; m < PT_MMA_M; m++)
            rows->v[i / PT_FAST_WORDS][m][i % PT_FAST_WORDS] = v[i][m];
    return true;
}

static bool set_fast_rows(const struct pt_code *c, struct pt_frame *f, struct pt_fast_a *a)
{
    const struct wgmma *x = c->ptr;
    struct fast_rows rows;
    if (!read_fast_rows(c, f, &rows))
        return false;
    for (uint32_t i = 0; x->is_flipped && i < WORDS * PT_MMA_M; i++)
        rows.v[i / 64][i / 4 % PT_MMA_M][i % 4] ^= x->bits_a == 16 ? 0x80008000 : 0x80000000;
    pt_fast_set_a((enum pt_type)x->type_a, PT_FAST_PARTS,
                  (const uint32_t(*)[PT_MMA_M][PT_FAST_WORDS])rows.v, a);
    return true;
}

static bool set_fast_columns(const struct pt_code *c, struct pt_frame *f, uint32_t tile,
                             struct pt_fast_b *b)
{
    const struct wgmma *x = c->ptr;
    uint32_t bytes[2 * PT_MMA_N][CHUNK / 4] __attribute__((aligned(64)));
    enum pt_type type = (enum pt_type)x->type_b;
    if (!read_chunks(c, f, uniform64(f, x->descriptor_b), x->transposes_b, tile * PT_MMA_N,
                     PT_MMA_N, x->k, x->bits_a, (uint8_t *)bytes))
        return false;
    if (x->transposes_b)
        pt_fast_set_across(type, (const uint32_t(*)[PT_FAST_WORDS])bytes, b);
    else
        pt_fast_set_b(type, PT_FAST_PARTS, (const uint32_t(*)[PT_MMA_N][PT_FAST_WORDS])bytes, b);
    return true;
}

/* Eight columns of D. */
static void multiply_fast(const struct wgmma *x, struct pt_frame *f, const struct pt_fast_a *a,
                          const struct pt_fast_b *b, bool has_c, uint32_t tile)
{
    uint32_t v[4][PT_WARP_SIZE] __attribute__((aligned(64)));
    float *d[4], *slots[4];
    for (uint32_t i = 0; i < 4; i++) {
        slots[i] = (float *)((char *)f + x->d[tile * 4 + i]);
        d[i] = f->mask == UINT32_MAX ? slots[i] : memcpy(v[i], slots[i], sizeof v[i]);
    }
    pt_fast_multiply((enum pt_type)x->type_a, PT_FAST_PARTS, has_c, a, b, d);
    for (uint32_t k = 0; f->mask != UINT32_MAX && k < 4; k++) {
        uint32_t *to = (uint32_t *)slots[k];
        PT_STORE_LANES(u32, to, const uint32_t value = v[k][i];);
    }
}

static const struct pt_code *wgmma_fast(const struct pt_code *c, struct pt_frame *f)
{
    const struct wgmma *x = c->ptr;
    struct pt_fast_a a;
    struct pt_fast_b b;
    bool has_c = adds(f, x);
    if (!set_fast_rows(c, f, &a))
        return NULL;
    for (uint32_t tile = 0; tile < x->n_d / 4u; tile++) {
        if (!set_fast_columns(c, f, tile, &b))
            return NULL;
        multiply_fast(x, f, &a, &b, has_c, tile);
    }
    return c + 1;
}

PT_HANDLER(wgmma_rows)
{
    if (f->state->is_fast)
        return wgmma_fast(c, f);
    const struct wgmma *x = c->ptr;
    struct pt_rows_a a;
    struct product p;
    bool is_far, is_ready = false; /* p */
    if (!set_rows(c, f, &a, &is_far))
        return NULL;
    if (is_far)
        return wgmma(c, f);
    for (uint32_t tile = 0; tile < x->n_d / 4u; tile++) {
        if (!multiply_columns(c, f, &a, adds(f, x), tile, &is_far))
            return NULL;
        if (!is_far)
            continue;
        if ((!is_ready && !prepare(c, f, &p)) || !multiply_tile(c, f, &p, tile))
            return NULL;
        is_ready = true;
    }
    return c + 1;
}

/* ---- operations that are put off, or checked ------------------------------------------------- */

/* What an instruction takes of its operands when it is issued; its fragments and matrices may be
 * read later. */
struct given {
    uint64_t a[PT_WARP_SIZE], b[PT_WARP_SIZE]; /* descriptors */
    uint32_t metadata[PT_WARP_SIZE];
    uint32_t scale_d;
};

static void copy(struct pt_frame *f, uint32_t slot, void *given, size_t bytes, bool is_back)
{
    void *in_frame = (char *)f + slot;
    memcpy(is_back ? in_frame : given, is_back ? given : in_frame, bytes);
}

/* From the frame, or back to it. */
static void copy_operands(const struct wgmma *x, struct pt_frame *f, struct given *given,
                          bool is_back)
{
    if (!x->has_registers)
        copy(f, x->descriptor_a, given->a, sizeof given->a, is_back);
    copy(f, x->descriptor_b, given->b, sizeof given->b, is_back);
    if (x->is_sparse)
        copy(f, x->metadata, given->metadata, sizeof given->metadata, is_back);
    copy(f, x->scale_d, &given->scale_d, sizeof given->scale_d, is_back);
}

static bool is_result(const struct wgmma *x, uint32_t slot)
{
    for (uint32_t i = 0; i < x->n_d; i++)
        if (x->d[i] == slot)
            return true;
    return false;
}

/* The operands are for a moment what they were. */
static bool complete(const struct pt_code *c, struct pt_frame *f, const struct pt_async_op *op)
{
    (void)c;
    (void)f;
    const struct wgmma *x = op->code->ptr;
    struct given now = {.scale_d = 0}, then;
    memcpy(&then, op->staged, sizeof then);
    copy_operands(x, op->frame, &now, false);
    copy_operands(x, op->frame, &then, true);
    bool is_good = x->multiply(op->code, op->frame) != NULL;
    if (x->is_sparse && is_result(x, x->metadata))
        copy(op->frame, x->metadata, now.metadata, sizeof now.metadata, false);
    copy_operands(x, op->frame, &now, true);
    return is_good;
}

/* A matrix as it lies in shared memory: `lines` rows of A or columns of B from number `first` on,
 * of `depth` elements. */
struct lying {
    struct descriptor x;
    bool is_across;
    uint32_t first, lines, depth, bits;
    /* that of the chunk at hand: one line, or, where is_across, those behind it that it has */
    uint32_t line;
};

/* Visits its chunks in order, by their offsets in the CTA's memory. */
static bool visit_chunks(struct lying *m,
                         bool (*visit)(void *ud, const struct lying *m, uint32_t offset), void *ud)
{
    uint32_t per = CHUNK * 8 / m->bits;
    uint32_t down = m->is_across ? m->depth : m->lines;
    uint32_t along = (m->is_across ? m->lines : m->depth) / per;
    places place = {0};
    for (uint32_t i = 0; i < down * along; i++) {
        uint32_t row = i % down, byte = i / down * CHUNK;
        if (row % 8 == 0)
            place_chunks(&m->x, m->is_across, (m->is_across ? row : m->first + row) / 8,
                         (m->is_across ? m->first * m->bits / 8 : 0) + byte, &place);
        m->line = m->is_across ? i / down * per : row;
        if (!visit(ud, m, place[row % 8]))
            return false;
    }
    return true;
}

/* Neighbours together. */
struct runs {
    uint64_t window;
    uint32_t start, bytes;
    pt_visit *visit;
    void *ud;
};

static bool add_to_run(void *ud, const struct lying *m, uint32_t offset)
{
    struct runs *r = ud;
    (void)m;
    if (r->bytes && offset != r->start + r->bytes) {
        if (!r->visit(r->ud, r->window + r->start, r->bytes))
            return false;
        r->bytes = 0;
    }
    r->start = r->bytes ? r->start : offset;
    r->bytes += CHUNK;
    return true;
}

/* Those that leave the CTA's memory will be reported. */
static bool matrix_extents(const struct pt_frame *f, struct lying *m, pt_visit *visit, void *ud)
{
    struct runs r = {
        .window = (uint64_t)(uintptr_t)f->shared + f->cta->window, .visit = visit, .ud = ud};
    return visit_chunks(m, add_to_run, &r) && (!r.bytes || visit(ud, r.window + r.start, r.bytes));
}

static struct lying lying_a(const struct pt_async_op *op, const struct given *given)
{
    const struct wgmma *x = op->code->ptr;
    return (struct lying){.x = descriptor_of(given->a[op->lane]),
                          .is_across = x->transposes_a,
                          .first = op->warp->index % 4 * PT_MMA_M,
                          .lines = PT_MMA_M,
                          .depth = x->k,
                          .bits = x->bits_a};
}

static struct lying lying_b(const struct pt_async_op *op, const struct given *given)
{
    const struct wgmma *x = op->code->ptr;
    return (struct lying){.x = descriptor_of(given->b[op->lane]),
                          .is_across = x->transposes_b,
                          .lines = x->n_d / (x->bits_d == 16 ? 2u : 4u) * PT_MMA_N,
                          .depth = x->is_sparse ? 2u * x->k : x->k,
                          .bits = x->bits_a};
}

static bool extents(const struct pt_async_op *op, pt_visit *visit, void *ud)
{
    const struct wgmma *x = op->code->ptr;
    const struct pt_frame *f = op->frame;
    struct given given;
    memcpy(&given, op->staged, sizeof given);
    struct lying a = lying_a(op, &given), b = lying_b(op, &given);
    return (x->has_registers || matrix_extents(f, &a, visit, ud)) &&
           matrix_extents(f, &b, visit, ud);
}

/* ---- what holds no value --------------------------------------------------------------------- */

struct losses {
    uint64_t window;
    uint16_t (*undefined)(void *ud, uint64_t address);
    void *ud;
    uint64_t *lines;
};

static bool lose_lines(void *ud, const struct lying *m, uint32_t offset)
{
    const struct losses *l = ud;
    uint32_t bytes = l->undefined(l->ud, l->window + offset);
    for (uint32_t left = bytes; left; left &= left - 1) {
        uint32_t i = m->line + (m->is_across ? (uint32_t)__builtin_ctz(left) * 8 / m->bits : 0);
        l->lines[i / 64] |= UINT64_C(1) << i % 64;
    }
    return true;
}

void pt_wgmma_lose(const struct pt_async_op *op, uint16_t (*undefined)(void *ud, uint64_t address),
                   void *ud, struct pt_wgmma_lost *lost)
{
    const struct wgmma *x = op->code->ptr;
    const struct pt_frame *f = op->frame;
    struct losses l = {(uint64_t)(uintptr_t)f->shared + f->cta->window, undefined, ud, &lost->rows};
    struct given given;
    memcpy(&given, op->staged, sizeof given);
    struct lying a = lying_a(op, &given), b = lying_b(op, &given);
    *lost = (struct pt_wgmma_lost){.adds = adds(f, x), .is_packed = x->bits_d == 16};
    if (!x->has_registers)
        visit_chunks(&a, lose_lines, &l);
    l.lines = lost->columns;
    visit_chunks(&b, lose_lines, &l);
}

/* ---- issuing --------------------------------------------------------------------------------- */

/* The instruction, asynchronously, reads the register of the slot, or writes it. */
static bool uses(const struct pt_code *c, uint32_t slot, bool *is_written)
{
    const struct wgmma *x = c->ptr;
    *is_written |= is_result(x, slot);
    bool is_read = *is_written;
    for (uint32_t i = 0; x->has_registers && i < A_REGS; i++)
        is_read |= x->a[i] == slot;
    return is_read;
}

/* The first lane stands for the warp. */
static bool observe_read(void *ud, uint64_t address, uint32_t bytes)
{
    const struct pt_async_op *op = ud;
    return pt_observe_async(op->code, op->frame, op->lane, address, bytes, PT_SPACE_SHARED,
                            PT_USE_READ);
}

PT_HANDLER(issue)
{
    struct given given = {.scale_d = 0};
    copy_operands(c->ptr, f, &given, false);
    struct pt_async_op op = {.kind = PT_ASYNC_WGMMA,
                             .lane = (uint32_t)__builtin_ctz(f->mask),
                             .complete = complete,
                             .extents = extents,
                             .uses = uses,
                             .read = sizeof given,
                             .staged = &given};
    op.warp = f->state->warp;
    op.code = c;
    op.frame = f;
    if (pt_is_observed(f) && !extents(&op, observe_read, &op))
        return NULL;
    return pt_async_issue(c, f, &op) ? c + 1 : NULL;
}

PT_HANDLER(done)
{
    (void)f;
    return c + 1;
}

/* ---- selectors ------------------------------------------------------------------------------- */

/* The constants behind scale-d: the scales of A and B, then which of them are transposed (B alone
 * where A is in registers). */
static void bind_constants(const struct pt_select *s, uint32_t first, struct wgmma *x)
{
    const struct pt_operand *o = s->operands + first;
    uint32_t n = s->insn->n_operands - first;
    if (n >= 2)
        x->is_flipped = (o[0].imm < 0) != (o[1].imm < 0);
    if (n == 4)
        x->transposes_a = o[2].imm != 0;
    if (n > 2)
        x->transposes_b = o[n - 1].imm != 0;
}

static bool bind_a(struct pt_select *s, const struct pt_operand *o, struct wgmma *x)
{
    x->has_registers = o->kind == PT_OPND_VEC;
    if (!x->has_registers)
        return (x->descriptor_a = pt_operands_source(s, o, 8)) != UINT32_MAX;
    for (uint32_t i = 0; i < A_REGS; i++)
        if ((x->a[i] = pt_operands_source(s, &s->func->operands.v[o->index + i], 4)) == UINT32_MAX)
            return false;
    return true;
}

static pt_handler select_wgmma(struct pt_select *s)
{
    if (!s->decoder)
        return NULL;
    struct wgmma *x = pt_operands_array(s, sizeof *x);
    const uint8_t *type = s->form->type;
    const struct pt_operand *o = s->operands;
    uint32_t bits = pt_type_bits((enum pt_type)type[1]), next = 3;
    *x = (struct wgmma){.n_d = (uint8_t)o[0].imm,
                        .type_d = type[0],
                        .type_a = type[1],
                        .type_b = type[2],
                        .bits_a = (uint8_t)(bits < 8 ? 32 : bits),
                        .bits_d = type[0] == PT_f16 ? 16 : 32,
                        .is_sparse = PT_HAS(s, sp),
                        .saturates = PT_HAS(s, satfinite),
                        .is_xor = PT_HAS(s, xor)};
    x->k = (uint8_t)(ROW_BITS / x->bits_a);
    for (uint32_t i = 0; i < x->n_d; i++)
        x->d[i] = pt_operands_dest(s, &s->func->operands.v[o[0].index + i]);
    if (!bind_a(s, &o[1], x) || (x->descriptor_b = pt_operands_source(s, &o[2], 8)) == UINT32_MAX)
        return NULL;
    if (x->is_sparse) {
        x->metadata = pt_operands_source(s, &o[3], 4);
        x->selector = (uint8_t)o[4].imm;
        next = 5;
    }
    x->scale_d = pt_operands_source(s, &o[next], 0);
    x->scale_d_neg = o[next].flags & PT_OPND_NEG;
    if (x->metadata == UINT32_MAX || x->scale_d == UINT32_MAX)
        return NULL;
    bind_constants(s, next + 1, x);
    s->code->ptr = x;
    bool takes = pt_rows_takes((enum pt_type)x->type_a, (enum pt_type)x->type_d, PT_MMA_M);
    x->multiply = takes && !x->is_sparse ? wgmma_rows : wgmma;
    const uint32_t tests = pt_operands_program(s)->base.tests;
    return tests & (PT_TEST_ASYNC | PT_TEST_OBSERVERS) ? issue : x->multiply;
}

#define WGMMA(id)                              \
    pt_handler PT_DO(id)(struct pt_select * s) \
    {                                          \
        return select_wgmma(s);                \
    }
WGMMA(wgmma_f16)
WGMMA(wgmma_f16_f16)
WGMMA(wgmma_bf16)
WGMMA(wgmma_tf32)
WGMMA(wgmma_f8)
WGMMA(wgmma_f8_f16)
WGMMA(wgmma_s8)
WGMMA(wgmma_b1)
WGMMA(wgmma_sp_f16)
WGMMA(wgmma_sp_f16_f16)
WGMMA(wgmma_sp_bf16)
WGMMA(wgmma_sp_tf32)
WGMMA(wgmma_sp_f8)
WGMMA(wgmma_sp_f8_f16)
WGMMA(wgmma_sp_s8)

/* Registers are in order here. */
pt_handler PT_DO(wgmma_fence)(struct pt_select *s)
{
    (void)s;
    return done;
}

pt_handler PT_DO(wgmma_commit)(struct pt_select *s)
{
    return pt_async_commit(s, PT_ASYNC_WGMMA);
}

pt_handler PT_DO(wgmma_wait)(struct pt_select *s)
{
    return pt_async_wait(s, PT_ASYNC_WGMMA);
}
