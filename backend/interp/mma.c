/* mma, mma.sp and wmma.mma: handlers and selectors (PTX ISA 9.7.14).
 *
 * All lanes' registers are read, those of lanes that are not there as they are. wmma is what the
 * assembler makes of it: several mma, of which none writes a register before all have read theirs.
 */
#include "backend/interp/mma.h"
#include "backend/interp/mma_step.h"
#include "backend/interp/operands.h"
#include "backend/semantics/fragment.h"
#include "backend/semantics/mma_fast.h"
#include "ir/row.h"

/* What a tile reads. */
struct operands {
    uint32_t a[PT_MMA_M][PT_MMA_A], b[PT_MMA_K][PT_MMA_N];
    struct pt_mma_tile c;
    struct pt_mma_sparsity space;
    const struct pt_mma_sparsity *sparsity; /* NULL: A is dense */
};

/* Where the slots of the operands lie: in a frame, or in memory of their own. */
struct places {
    const void *a, *b, *c, *metadata;
};

static struct places places_in(const struct pt_frame *f)
{
    return (struct places){f, f, f, f};
}

static void slots_of(const void *place, const struct pt_mma_fragment *x, const uint32_t **slots)
{
    for (uint32_t i = 0; i < x->n; i++)
        slots[i] = (const uint32_t *)((const char *)place + x->slot[i]);
}

static void read_operands(const struct pt_mma_step *x, const struct places *in, struct operands *o)
{
    const uint32_t *slots[PT_MMA_STEP_REGS];
    slots_of(in->a, &x->a, slots);
    pt_fragment_a(slots, x->a.n, x->rows, x->a.bits, x->a.is_signed, o->a);
    slots_of(in->b, &x->b, slots);
    pt_fragment_b(slots, x->b.n, x->b.bits, x->b.is_signed, o->b);
    if (!x->before) {
        slots_of(in->c, &x->c, slots);
        pt_fragment_c(slots, x->rows, x->c.bits, &o->c);
    }
    o->sparsity = NULL;
    if (x->is_sparse) {
        pt_fragment_sparsity((enum pt_type)x->a.type, x->k * x->a.bits, x->selector,
                             (const uint32_t *)((const char *)in->metadata + x->metadata),
                             &o->space);
        o->sparsity = &o->space;
    }
}

static void write_result(const struct pt_mma_fragment *x, struct pt_frame *f,
                         const struct pt_mma_tile *r)
{
    uint32_t v[PT_WARP_SIZE] __attribute__((aligned(64)));
    for (uint32_t k = 0; k < x->n; k++) {
        uint32_t *d = (uint32_t *)((char *)f + x->slot[k]);
        pt_fragment_d(r, k, x->bits, v);
        PT_STORE_LANES(u32, d, const uint32_t value = v[i];);
    }
}

static struct pt_mma_float step_of(const struct pt_mma_step *x)
{
    return (struct pt_mma_float){
        .rows = x->rows, .k = x->k, .fraction = 25, .dropped = 29, .to_f16 = x->d.type == PT_f16};
}

static void do_float(const struct pt_mma_step *x, struct operands *o, struct pt_mma_tile *d)
{
    struct pt_mma_float_a a;
    struct pt_mma_float_b b;
    struct pt_mma_float_c c;
    struct pt_mma_float step = step_of(x);
    bool widens = x->d.type == PT_f32 && x->c.type == PT_f16;
    bool narrows = x->d.type == PT_f16 && x->c.type == PT_f32;
    for (uint32_t m = 0; widens && m < x->rows; m++)
        for (uint32_t n = 0; n < PT_MMA_N; n++)
            o->c.v[m][n] = pt_half_to_f32(o->c.v[m][n], PT_F16);
    step.to_f16 &= !narrows;
    pt_mma_float_set_a(&a, (enum pt_type)x->a.type, x->rows, x->k, o->a);
    pt_mma_float_set_b(&b, (enum pt_type)x->b.type, x->is_sparse ? 2u * x->k : x->k, o->b);
    pt_mma_float_set_c(&c, step.to_f16 ? PT_f16 : PT_f32, x->rows, &o->c);
    pt_mma_float(&step, &a, &b, &c, o->sparsity, d);
    for (uint32_t m = 0; narrows && m < x->rows; m++)
        for (uint32_t n = 0; n < PT_MMA_N; n++)
            d->v[m][n] = pt_half_from_f32(d->v[m][n], PT_F16, PT_RN);
}

static void do_float8(const struct pt_mma_step *x, struct operands *o, struct pt_mma_tile *d)
{
    struct pt_mma_float step = step_of(x);
    const enum pt_type types[2] = {(enum pt_type)x->a.type, (enum pt_type)x->b.type};
    pt_mma_float8(&step, types, o->a, o->b, &o->c, o->sparsity, d);
}

static void do_int(const struct pt_mma_step *x, struct operands *o, struct pt_mma_tile *d)
{
    pt_mma_int(x->rows, x->k, o->a, o->b, &o->c, o->sparsity, x->saturates, d);
}

static void do_bits(const struct pt_mma_step *x, struct operands *o, struct pt_mma_tile *d)
{
    pt_mma_bits(x->rows, x->k, o->a, o->b, &o->c, x->is_xor, d);
}

#define MMA(name, compute)                     \
    PT_HANDLER(name)                           \
    {                                          \
        const struct pt_mma_step *x = c->ptr;  \
        const struct places in = places_in(f); \
        struct operands o;                     \
        struct pt_mma_tile d[PT_MMA_STEPS];    \
        for (uint32_t t = 0; t < c->n; t++) {  \
            read_operands(&x[t], &in, &o);     \
            if (x[t].before)                   \
                o.c = d[x[t].before - 1];      \
            compute(&x[t], &o, &d[t]);         \
        }                                      \
        for (uint32_t t = 0; t < c->n; t++)    \
            write_result(&x[t].d, f, &d[t]);   \
        return c + 1;                          \
    }
MMA(mma_float, do_float)
MMA(mma_float8, do_float8)
MMA(mma_int, do_int)
MMA(mma_bits, do_bits)

/* ---- the same, lanes being rows ---- */

static bool multiply_rows(const struct pt_mma_step *x, const struct places *in, struct pt_rows_c *d)
{
    enum pt_type type = (enum pt_type)x->a.type;
    const uint32_t *a[PT_MMA_STEP_REGS], *b[PT_MMA_STEP_REGS], *c[PT_MMA_STEP_REGS];
    uint32_t words = x->a.n * 2u, v[PT_ROWS_WORDS][PT_MMA_M] __attribute__((aligned(64)));
    uint32_t of_b[2 * PT_WARP_SIZE] __attribute__((aligned(64)));
    struct pt_rows_a rows;
    struct pt_rows_b columns;
    slots_of(in->a, &x->a, a);
    slots_of(in->b, &x->b, b);
    for (uint32_t i = 0; i < x->a.n; i += 2)
        pt_rows_gather(a[i], a[i + 1], v[2 * i], PT_MMA_M);
    for (uint32_t i = 0; i < x->b.n; i++)
        memcpy(of_b + i * PT_WARP_SIZE, b[i], sizeof of_b / 2);
    if (!pt_rows_set_a(&rows, type, words, (const uint32_t(*)[PT_MMA_M])v) ||
        !pt_rows_set_b(&columns, type, words, false, of_b))
        return false;
    if (!x->before) {
        slots_of(in->c, &x->c, c);
        pt_rows_get_c(c, d);
    }
    return pt_rows_product(type, words, &rows, &columns, d);
}

static void write_registers(const struct pt_mma_fragment *x, struct pt_frame *f,
                            uint32_t v[4][PT_WARP_SIZE])
{
    for (uint32_t k = 0; k < x->n; k++) {
        uint32_t *d = (uint32_t *)((char *)f + x->slot[k]);
        PT_STORE_LANES(u32, d, const uint32_t value = v[k][i];);
    }
}

static void write_rows(const struct pt_mma_fragment *x, struct pt_frame *f,
                       const struct pt_rows_c *r)
{
    uint32_t v[4][PT_WARP_SIZE] __attribute__((aligned(64)));
    pt_rows_put_c(r, (uint32_t *[4]){v[0], v[1], v[2], v[3]});
    write_registers(x, f, v);
}

/* ---- the same, where it need not be exact ---- */

struct registers {
    uint32_t v[4][PT_WARP_SIZE] __attribute__((aligned(64)));
};

static void read_registers(const struct pt_frame *f, const struct pt_mma_fragment *x,
                           struct registers *r)
{
    for (uint32_t i = 0; i < x->n; i++)
        memcpy(r->v[i], (const char *)f + x->slot[i], sizeof r->v[i]);
}

static void multiply_fast(const struct pt_mma_step *x, const struct pt_frame *f,
                          struct registers *d)
{
    struct registers a, b;
    read_registers(f, &x->a, &a);
    read_registers(f, &x->b, &b);
    if (!x->before)
        read_registers(f, &x->c, d);
    pt_fast_mma((enum pt_type)x->a.type, x->a.n / 2u, d->v, a.v, b.v);
}

static const struct pt_code *mma_fast(const struct pt_code *c, struct pt_frame *f)
{
    const struct pt_mma_step *x = c->ptr;
    struct registers d[PT_MMA_STEPS];
    for (uint32_t t = 0; t < c->n; t++) {
        if (x[t].before)
            d[t] = d[x[t].before - 1];
        multiply_fast(&x[t], f, &d[t]);
    }
    for (uint32_t t = 0; t < c->n; t++)
        write_registers(&x[t].d, f, d[t].v);
    return c + 1;
}

PT_HANDLER(mma_rows)
{
    if (f->state->is_fast)
        return mma_fast(c, f);
    const struct pt_mma_step *x = c->ptr;
    const struct places in = places_in(f);
    struct pt_rows_c d[PT_MMA_STEPS];
    for (uint32_t t = 0; t < c->n; t++) {
        if (x[t].before)
            d[t] = d[x[t].before - 1];
        if (!multiply_rows(&x[t], &in, &d[t]))
            return mma_float(c, f);
    }
    for (uint32_t t = 0; t < c->n; t++)
        write_rows(&x[t].d, f, &d[t]);
    return c + 1;
}

bool pt_mma_step_is_of(const struct pt_code *c)
{
    return c->fn == mma_float || c->fn == mma_float8 || c->fn == mma_int || c->fn == mma_bits ||
           c->fn == mma_rows;
}

/* ---- for other engines ----------------------------------------------------------------------- */

#define SLOTS {0, 128, 256, 384} /* registers one behind the other */

static void multiply_exactly(const struct pt_mma_step *x, uint32_t (*d)[PT_WARP_SIZE],
                             const uint32_t (*a)[PT_WARP_SIZE], const uint32_t (*b)[PT_WARP_SIZE])
{
    const struct places in = {.a = a, .b = b, .c = d};
    struct pt_rows_c rows;
    struct operands o;
    struct pt_mma_tile sums;
    if (multiply_rows(x, &in, &rows)) {
        pt_rows_put_c(&rows, (uint32_t *[4]){d[0], d[1], d[2], d[3]});
        return;
    }
    read_operands(x, &in, &o);
    do_float(x, &o, &sums);
    for (uint32_t i = 0; i < x->d.n; i++)
        pt_fragment_d(&sums, i, x->d.bits, d[i]);
}

/* Registers of A: twice as many as of B. */
#define PRODUCTS(X) \
    X(f16, 8, 2) X(f16, 16, 4) X(bf16, 8, 2) X(bf16, 16, 4) X(tf32, 4, 2) X(tf32, 8, 4)
#define X(t, k_, n_)                                                                               \
    static void multiply_##t##_k##k_(uint32_t(*d)[PT_WARP_SIZE], const uint32_t(*a)[PT_WARP_SIZE], \
                                     const uint32_t(*b)[PT_WARP_SIZE])                             \
    {                                                                                              \
        static const struct pt_mma_step tile = {                                                   \
            .d = {.slot = SLOTS, .n = 4, .type = PT_f32, .bits = 32},                              \
            .a = {.slot = SLOTS, .n = n_, .type = PT_##t, .bits = PT_##t == PT_tf32 ? 32 : 16},    \
            .b = {.slot = SLOTS,                                                                   \
                  .n = n_ / 2,                                                                     \
                  .type = PT_##t,                                                                  \
                  .bits = PT_##t == PT_tf32 ? 32 : 16},                                            \
            .c = {.slot = SLOTS, .n = 4, .type = PT_f32, .bits = 32},                              \
            .rows = PT_MMA_M,                                                                      \
            .k = k_};                                                                              \
        multiply_exactly(&tile, d, a, b);                                                          \
    }                                                                                              \
    static void multiply_##t##_k##k_##_fast(uint32_t(*d)[PT_WARP_SIZE],                            \
                                            const uint32_t(*a)[PT_WARP_SIZE],                      \
                                            const uint32_t(*b)[PT_WARP_SIZE])                      \
    {                                                                                              \
        pt_fast_mma(PT_##t, n_ / 2, d, a, b);                                                      \
    }
PRODUCTS(X)
#undef X

static const struct row {
    struct pt_product product;
    uint8_t type, k;
    bool is_fast;
} products[] = {
#define X(type, k, n)                                               \
    {{#type "_k" #k, multiply_##type##_k##k}, PT_##type, k, false}, \
        {{#type "_k" #k "_fast", multiply_##type##_k##k##_fast}, PT_##type, k, true},
    PRODUCTS(X)
#undef X
};
enum { N_PRODUCTS = sizeof products / sizeof *products };

const struct pt_product *pt_product_of(const struct pt_form *form, bool is_fast)
{
    bool is_mma =
        form->op == PT_OP_mma_f16 || form->op == PT_OP_mma_bf16 || form->op == PT_OP_mma_tf32;
    if (!is_mma || form->type[0] != PT_f32 || form->type[3] != PT_f32)
        return NULL;
    for (int i = 0; i < N_PRODUCTS; i++)
        if (form->type[1] == products[i].type && products[i].is_fast == is_fast &&
            pt_form_number(form, 'k') == products[i].k)
            return &products[i].product;
    return NULL;
}

const struct pt_product *pt_product_named(const char *name)
{
    for (int i = 0; i < N_PRODUCTS; i++)
        if (strcmp(products[i].product.name, name) == 0)
            return &products[i].product;
    return NULL;
}

/* `fn`, or a faster one for the same tile. */
static pt_handler faster(pt_handler fn, const struct pt_mma_step *x)
{
    bool takes = pt_rows_takes((enum pt_type)x->a.type, (enum pt_type)x->d.type, x->rows) &&
                 x->c.type == PT_f32 && !x->is_sparse;
    return fn == mma_float && takes ? mma_rows : fn;
}

/* ---- f64 ------------------------------------------------------------------------------------- */

PT_HANDLER(mma_f64)
{
    const struct pt_mma_step *x = c->ptr;
    uint64_t a[PT_MMA_M][16], b[PT_MMA_N][16], d[4][PT_WARP_SIZE] __attribute__((aligned(64)));
    for (uint32_t i = 0; i < PT_WARP_SIZE; i++) {
        for (uint32_t r = 0; r < x->a.n; r++) {
            uint32_t high = x->rows == 16 ? r % 2 : 0, q = x->rows == 16 ? r / 2 : r;
            a[i / 4 + 8 * high][4 * q + i % 4] =
                ((const uint64_t *)((const char *)f + x->a.slot[r]))[i];
        }
        for (uint32_t r = 0; r < x->b.n; r++)
            b[i / 4][4 * r + i % 4] = ((const uint64_t *)((const char *)f + x->b.slot[r]))[i];
    }
    for (uint32_t r = 0; r < x->d.n; r++)
        for (uint32_t i = 0; i < PT_WARP_SIZE; i++)
            d[r][i] = pt_mma_f64(x->k, a[i / 4 + r / 2 * 8], b[i % 4 * 2 + r % 2],
                                 ((const uint64_t *)((const char *)f + x->c.slot[r]))[i],
                                 (enum pt_round)x->round);
    for (uint32_t r = 0; r < x->d.n; r++) {
        uint64_t *to = (uint64_t *)((char *)f + x->d.slot[r]);
        PT_STORE_LANES(u64, to, const uint64_t value = d[r][i];);
    }
    return c + 1;
}

/* ---- f16 m8n8k4: four products, one for lanes 4q to 4q + 3 and 16 + 4q to 16 + 4q + 3 each --- */

enum { A_BY_COLUMN = 1, B_BY_ROW = 2 };

/* Element i of a lane's part of C or D: its row and column. */
static void quad_place(uint32_t lane, uint32_t i, uint32_t bits, uint32_t *row, uint32_t *column)
{
    uint32_t high = lane / 16 * 4;
    *row = bits == 16 ? lane % 4 + high : (lane & 1) + (i & 2) + high;
    *column = bits == 16 ? i : (i & 4) + (lane & 2) + (i & 1);
}

static uint32_t fragment_element(const struct pt_frame *f, const struct pt_mma_fragment *x,
                                 uint32_t lane, uint32_t i)
{
    uint32_t reg = i * x->bits / 32;
    uint32_t v = ((const uint32_t *)((const char *)f + x->slot[reg]))[lane];
    return x->bits == 16 ? v >> 16 * (i % 2) & 0xffff : v;
}

static void read_quad(const struct pt_code *c, const struct pt_frame *f, uint32_t lane,
                      struct operands *o)
{
    const struct pt_mma_step *x = c->ptr;
    uint32_t own = lane % 4, high = lane / 16 * 4, row, column;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t a = fragment_element(f, &x->a, lane, i), b = fragment_element(f, &x->b, lane, i);
        if (c->aux & A_BY_COLUMN)
            o->a[i + high][own] = a;
        else
            o->a[own + high][i] = a;
        if (c->aux & B_BY_ROW)
            o->b[own][i + high] = b;
        else
            o->b[i][own + high] = b;
    }
    for (uint32_t i = 0; i < 8; i++) {
        quad_place(lane, i, x->c.bits, &row, &column);
        o->c.v[row][column] = fragment_element(f, &x->c, lane, i);
    }
}

PT_HANDLER(mma_quad)
{
    const struct pt_mma_step *x = c->ptr;
    uint32_t v[PT_MMA_STEP_REGS][PT_WARP_SIZE] __attribute__((aligned(64))) = {{0}};
    for (uint32_t q = 0; q < 4; q++) {
        struct operands o;
        struct pt_mma_tile r;
        for (uint32_t i = 0; i < 8; i++)
            read_quad(c, f, i / 4 * 16 + 4 * q + i % 4, &o);
        pt_mma_quad(x->c.bits == 16, x->d.bits == 16, o.a, o.b, &o.c, &r);
        for (uint32_t i = 0; i < 64; i++) {
            uint32_t lane = i / 32 * 16 + 4 * q + i / 8 % 4, row, column;
            quad_place(lane, i % 8, x->d.bits, &row, &column);
            if (x->d.bits == 16)
                v[i % 8 / 2][lane] |= r.v[row][column] << 16 * (i % 2);
            else
                v[i % 8][lane] = r.v[row][column];
        }
    }
    for (uint32_t k = 0; k < x->d.n; k++) {
        uint32_t *d = (uint32_t *)((char *)f + x->d.slot[k]);
        PT_STORE_LANES(u32, d, const uint32_t value = v[k][i];);
    }
    return c + 1;
}

/* ---- selectors ------------------------------------------------------------------------------- */

static bool bind_fragment(struct pt_select *s, uint32_t operand, bool is_dest, enum pt_type type,
                          struct pt_mma_fragment *x)
{
    const struct pt_operand *o = &s->operands[operand];
    uint32_t n = 1, bits = pt_type_bits(type);
    if (o->kind == PT_OPND_VEC) {
        n = (uint32_t)o->imm;
        o = &s->func->operands.v[o->index];
    }
    *x = (struct pt_mma_fragment){.n = (uint8_t)n, .type = (uint8_t)type};
    x->bits = (uint8_t)(bits < 4 ? 32 : bits);
    x->is_signed = type == PT_s8 || type == PT_s4;
    for (uint32_t i = 0; i < n; i++) {
        x->slot[i] =
            is_dest ? pt_operands_dest(s, &o[i]) : pt_operands_source(s, &o[i], bits == 64 ? 8 : 4);
        if (x->slot[i] == UINT32_MAX)
            return false;
    }
    return true;
}

/* Fills in one tile of the form's shape. */
static bool bind_tile(struct pt_select *s, const uint8_t *type, struct pt_mma_step *x)
{
    uint32_t k = pt_form_number(s->form, 'k');
    if (!bind_fragment(s, 0, true, (enum pt_type)type[0], &x->d) ||
        !bind_fragment(s, 1, false, (enum pt_type)type[1], &x->a) ||
        !bind_fragment(s, 2, false, (enum pt_type)type[2], &x->b) ||
        !bind_fragment(s, 3, false, (enum pt_type)type[3], &x->c))
        return false;
    x->rows = (uint8_t)pt_form_number(s->form, 'm');
    x->k = (uint8_t)(type[1] == PT_b1 ? k / 32 : k);
    x->saturates = PT_HAS(s, satfinite);
    x->is_xor = PT_HAS(s, xor);
    x->round = PT_HAS(s, rz) ? PT_RZ : PT_HAS(s, rm) ? PT_RM : PT_HAS(s, rp) ? PT_RP : PT_RN;
    return true;
}

static pt_handler select_mma(struct pt_select *s, pt_handler fn)
{
    if (!s->decoder)
        return fn;
    if (s->form->n_types != 4)
        return pt_refuse(s, NULL);
    struct pt_mma_step *x = pt_operands_array(s, sizeof *x);
    s->code->ptr = x;
    s->code->n = 1;
    return bind_tile(s, s->form->type, x) ? faster(fn, x) : NULL;
}

static pt_handler select_sparse(struct pt_select *s, pt_handler fn)
{
    if (!select_mma(s, fn) || !s->decoder)
        return NULL;
    struct pt_mma_step *x = (struct pt_mma_step *)s->code->ptr;
    x->is_sparse = true;
    x->k /= 2;
    x->selector = (uint8_t)s->operands[5].imm;
    x->metadata = pt_operands_source(s, &s->operands[4], 4);
    return x->metadata == UINT32_MAX ? NULL : fn;
}

/* ---- wmma.mma -------------------------------------------------------------------------------- */

static struct pt_mma_fragment part_of(const struct pt_mma_fragment *x, uint32_t first, uint32_t n)
{
    struct pt_mma_fragment part = *x;
    part.n = (uint8_t)n;
    memcpy(part.slot, x->slot + first, n * sizeof *part.slot);
    return part;
}

/* Two tiles of 16 rows, beside each other or one above the other. Registers of A and B beyond
 * theirs hold copies. */
static uint32_t split_tiles(const struct pt_mma_step *whole, bool is_beside, struct pt_mma_step *x)
{
    uint32_t n_a = whole->k * whole->a.bits / 64u, n_b = n_a / 2, n_c = whole->c.n / 2u,
             n_d = whole->d.n / 2u;
    for (uint32_t t = 0; t < 2; t++) {
        x[t] = *whole;
        x[t].rows = 16;
        x[t].a = part_of(&whole->a, is_beside ? 0 : n_a * t, n_a);
        x[t].b = part_of(&whole->b, is_beside ? n_b * t : 0, n_b);
        x[t].c = part_of(&whole->c, n_c * t, n_c);
        x[t].d = part_of(&whole->d, n_d * t, n_d);
    }
    return 2;
}

/* tf32 goes in two steps, each of half the depth. */
static uint32_t split_steps(struct pt_mma_step *x)
{
    for (uint32_t t = 0; t < 2; t++) {
        x[t].k /= 2;
        x[2 + t] = x[t];
        x[2 + t].before = (uint8_t)(t + 1);
        x[2 + t].a = part_of(&x[t].a, 2, 2);
        x[2 + t].b = part_of(&x[t].b, 1, 1);
        x[t].a.n = 2;
        x[t].b.n = 1;
        x[t].d.n = 0;
    }
    return 4;
}

static pt_handler select_wmma(struct pt_select *s, pt_handler fn)
{
    if (!s->decoder)
        return fn;
    const uint8_t *type = s->form->type, halves[] = {type[0], PT_f16, PT_f16, type[1]};
    struct pt_mma_step *x = pt_operands_array(s, PT_MMA_STEPS * sizeof *x), whole = {0};
    if (!bind_tile(s, s->form->n_types == 2 ? halves : type, &whole))
        return NULL;
    s->code->ptr = x;
    s->code->n = 1;
    x[0] = whole;
    if (pt_form_number(s->form, 'm') == 8 && pt_form_number(s->form, 'n') == 8)
        return fn;
    if (whole.rows == 8) { /* the transposed product */
        struct pt_mma_fragment a = whole.a;
        whole.a = whole.b;
        whole.b = a;
    }
    s->code->n = (uint8_t)split_tiles(&whole, whole.rows == 16, x);
    if (whole.a.type == PT_tf32)
        s->code->n = (uint8_t)split_steps(x);
    return faster(fn, x);
}

/* ---- rows ------------------------------------------------------------------------------------ */

#define SELECT(id, select, handler)            \
    pt_handler PT_DO(id)(struct pt_select * s) \
    {                                          \
        return select(s, handler);             \
    }
SELECT(mma_f16, select_mma, mma_float)
SELECT(mma_bf16, select_mma, mma_float)
SELECT(mma_tf32, select_mma, mma_float)
SELECT(mma_f64, select_mma, mma_f64)
SELECT(mma_s8, select_mma, mma_int)
SELECT(mma_s4, select_mma, mma_int)
SELECT(mma_b1, select_mma, mma_bits)
SELECT(mma_f8, select_mma, mma_float8)
SELECT(mma_sp_f16, select_sparse, mma_float)
SELECT(mma_sp_bf16, select_sparse, mma_float)
SELECT(mma_sp_tf32, select_sparse, mma_float)
SELECT(mma_sp_s8, select_sparse, mma_int)
SELECT(mma_sp_s4, select_sparse, mma_int)
SELECT(mma_sp_f8, select_sparse, mma_float8)
SELECT(wmma_mma_f16, select_wmma, mma_float)
SELECT(wmma_mma_bf16, select_wmma, mma_float)
SELECT(wmma_mma_tf32, select_wmma, mma_float)
SELECT(wmma_mma_f64, select_wmma, mma_f64)
SELECT(wmma_mma_s8, select_wmma, mma_int)
SELECT(wmma_mma_s4, select_wmma, mma_int)
SELECT(wmma_mma_b1, select_wmma, mma_bits)

/* Both layouts are spelled where A's is. */
pt_handler PT_DO(mma_f16_quad)(struct pt_select *s)
{
    const struct pt_form *form = s->form;
    uint32_t layouts = 0, n = 0;
    for (unsigned i = 0; i < form->n_mods; i++) {
        if (form->mod[i] != PT_M_row && form->mod[i] != PT_M_col)
            continue;
        bool is_row = form->mod[i] == PT_M_row;
        layouts |= n++ ? (is_row ? B_BY_ROW : 0) : is_row ? 0 : A_BY_COLUMN;
    }
    s->code->aux = (uint16_t)layouts;
    return select_mma(s, mma_quad);
}
