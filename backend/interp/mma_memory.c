/* Matrices between memory and registers: ldmatrix, stmatrix, movmatrix, wmma.load, wmma.store (PTX
 * ISA 9.7.14.5).
 *
 * aux, imm and o[1] say where, as in every access; ptr has the rest. Addresses of lanes that are
 * not there are not used.
 */
#include "backend/interp/address.h"
#include "backend/interp/observe.h"
#include "backend/interp/operands.h"
#include "backend/semantics/fragment.h"
#include "ir/row.h"

/* Lanes of f->mask may access `bytes` at their addresses; else false, reported. Not every lane of
 * an instruction has an address, so observers are told here. */
static bool may_access(const struct pt_code *c, struct pt_frame *f, uint32_t lanes,
                       const uint64_t *a, uint32_t bytes, bool is_write, const void *data)
{
    return !pt_is_observed(f) ||
           pt_observe_access(c, f, lanes, a, bytes, is_write ? PT_USE_WRITE : PT_USE_READ, data);
}

/* ---- ldmatrix, stmatrix ---------------------------------------------------------------------- */

enum { MATRICES = 4, ROW = 16 /* bytes */ };

struct matrices {
    uint32_t slot[MATRICES];
    uint8_t n;
    bool is_transposed;
};

PT_ACCESS static __attribute__((noinline)) void load_rows(const uint64_t *a, uint32_t lanes,
                                                          uint16_t rows[][8])
{
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        pt_copy16(rows[i], (const void *)(uintptr_t)a[i]);
    }
}

PT_ACCESS static __attribute__((noinline)) void store_rows(const uint64_t *a, uint32_t lanes,
                                                           const uint16_t rows[][8])
{
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        pt_copy16((void *)(uintptr_t)a[i], rows[i]);
    }
}

/* The addresses of the rows and the lanes that hold them; `written`: what is written there, NULL of
 * a load. False after reporting. */
static bool row_addresses(const struct pt_code *c, struct pt_frame *f, uint64_t *a, uint32_t *lanes,
                          const void *written)
{
    const struct matrices *x = c->ptr;
    struct pt_code at = pt_address_code(c);
    uint32_t outside;
    f->state->code = c;
    uint64_t any = pt_address_all(&at, f, pt_address_kind(c), a, &outside), of_rows = 0;
    *lanes = f->mask & (uint32_t)((UINT64_C(1) << 8 * x->n) - 1);
    for (uint32_t left = any & (ROW - 1) ? *lanes : 0; left; left &= left - 1)
        of_rows |= a[__builtin_ctz(left)];
    if (of_rows & (ROW - 1)) {
        pt_address_misaligned(c, f);
        return false;
    }
    return may_access(c, f, *lanes, a, ROW, written, written);
}

typedef uint16_t eight __attribute__((vector_size(16)));

/* Row i and row i + 4 become rows 2 i and 2 i + 1, their elements in turn: three times over, that
 * exchanges rows and columns. */
static void weave(const eight from[8], eight to[8])
{
    for (uint32_t i = 0; i < 4; i++) {
        to[2 * i] = __builtin_shufflevector(from[i], from[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
        to[2 * i + 1] = __builtin_shufflevector(from[i], from[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
    }
}

/* A register has the 16-bit elements of a matrix row by row, or, transposed, column by column:
 * copies either to the other. */
static void copy_matrix(const void *from, bool is_transposed, void *to)
{
    eight x[8], y[8];
    memcpy(x, from, sizeof x);
    if (is_transposed) {
        weave(x, y);
        weave(y, x);
        weave(x, y);
    }
    memcpy(to, is_transposed ? y : x, sizeof x);
}

PT_HANDLER(ldmatrix)
{
    const struct matrices *x = c->ptr;
    uint16_t rows[PT_WARP_SIZE][8] __attribute__((aligned(16))) = {{0}};
    uint64_t a[PT_WARP_SIZE];
    uint32_t lanes, v[PT_WARP_SIZE] __attribute__((aligned(64)));
    if (!row_addresses(c, f, a, &lanes, NULL))
        return NULL;
    load_rows(a, lanes, rows);
    for (uint32_t k = 0; k < x->n; k++) {
        uint32_t *d = (uint32_t *)((char *)f + x->slot[k]);
        copy_matrix(rows[8 * k], x->is_transposed, v);
        PT_STORE_LANES(u32, d, const uint32_t value = v[i];);
    }
    return c + 1;
}

PT_HANDLER(stmatrix)
{
    const struct matrices *x = c->ptr;
    uint16_t rows[PT_WARP_SIZE][8] __attribute__((aligned(16)));
    uint64_t a[PT_WARP_SIZE];
    uint32_t lanes;
    for (uint32_t k = 0; k < x->n; k++)
        copy_matrix((const char *)f + x->slot[k], x->is_transposed, rows[8 * k]);
    if (!row_addresses(c, f, a, &lanes, rows))
        return NULL;
    store_rows(a, lanes, (const uint16_t(*)[8])rows);
    return c + 1;
}

PT_HANDLER(movmatrix)
{
    uint32_t *d = PT_SLOT(0, u32), v[PT_WARP_SIZE] __attribute__((aligned(64)));
    copy_matrix(PT_SLOT(1, u32), true, v);
    PT_STORE_LANES(u32, d, const uint32_t value = v[i];);
    return c + 1;
}

static pt_handler select_rows(struct pt_select *s, bool is_load, pt_handler fn)
{
    if (!s->decoder)
        return fn;
    struct matrices *x = pt_operands_array(s, sizeof *x);
    const struct pt_operand *regs = &s->operands[is_load ? 0 : 1];
    x->n = (uint8_t)pt_form_number(s->form, 'x');
    x->is_transposed = PT_HAS(s, trans);
    if (regs->kind == PT_OPND_VEC)
        regs = &s->func->operands.v[regs->index];
    for (uint32_t i = 0; i < x->n; i++) {
        x->slot[i] = is_load ? pt_operands_dest(s, &regs[i]) : pt_operands_source(s, &regs[i], 4);
        if (x->slot[i] == UINT32_MAX)
            return NULL;
    }
    if (!pt_address_bind(s, &s->operands[is_load ? 1 : 0], ROW))
        return NULL;
    s->is_access = false;
    pt_address_set_vector(s, x);
    return fn;
}

pt_handler PT_DO(ldmatrix)(struct pt_select *s)
{
    return select_rows(s, true, ldmatrix);
}

pt_handler PT_DO(stmatrix)(struct pt_select *s)
{
    return select_rows(s, false, stmatrix);
}

pt_handler PT_DO(movmatrix)(struct pt_select *s)
{
    return pt_bind(s, "ww") ? movmatrix : NULL;
}

/* ---- wmma.load, wmma.store ------------------------------------------------------------------- */

enum { WMMA_REGS = 8 };

/* How a matrix is spread over registers, as the tiles of wmma.mma have it. */
enum role {
    ROLE_A, /* tiles of 16 rows */
    ROLE_B, /* tiles of 8 columns, or 8 rows of A */
    ROLE_C
};

struct wmma {
    uint32_t slot[WMMA_REGS], stride; /* slot of the stride, in elements */
    uint8_t n, distinct;              /* registers; how many before they repeat */
    uint8_t role;
    uint8_t bits, per;   /* of an element (sub-byte: of a word); elements a register */
    uint8_t bytes;       /* of an element */
    uint8_t packed;      /* elements that one counts as: of sub-byte types those of a word */
    uint8_t depth;       /* A, B: registers that 8 rows or columns have */
    bool is_low;         /* A and C of 8 rows */
    bool is_transposed;  /* C: the tile's rows are columns */
    bool is_beside;      /* C: the second tile has further columns, not rows */
    bool lines_are_rows; /* the first coordinate below is that of the stride */
};

/* Where element `e` of register `reg` of a lane lies: for A row and depth, for B column and depth,
 * for C row and column. */
static void place_of(const struct wmma *x, uint32_t reg, uint32_t lane, uint32_t e, uint32_t *line,
                     uint32_t *at)
{
    uint32_t i = reg % x->distinct, quad = lane % 4, block, deep;
    if (x->role == ROLE_C) {
        uint32_t regs = x->bits == 16 ? 2 : x->is_low ? 2 : 4, in = i % regs, tile = i / regs;
        uint32_t row = lane / 4 + (x->bits == 16 ? in : in / 2) * 8;
        uint32_t column = 2 * quad + (x->bits == 16 ? e : in % 2);
        *(x->is_beside ? &column : &row) += (x->is_beside ? 8 : 16) * tile;
        *line = x->is_transposed ? column : row;
        *at = x->is_transposed ? row : column;
        return;
    }
    if (x->role == ROLE_A) {
        block = i / (2 * x->depth) * 2 + i % 2;
        deep = i % (2 * x->depth) / 2;
    } else {
        block = i / x->depth;
        deep = i % x->depth;
    }
    *line = 8 * block + lane / 4;
    *at = (deep * 4 + quad) * x->per + e;
}

PT_ACCESS static __attribute__((noinline)) void load_elements(const uint64_t *a, uint32_t lanes,
                                                              uint32_t bytes, uint64_t *v)
{
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        v[i] = bytes == 1   ? *(const uint8_t *)(uintptr_t)a[i]
               : bytes == 2 ? *(const uint16_t *)(uintptr_t)a[i]
               : bytes == 4 ? *(const uint32_t *)(uintptr_t)a[i]
                            : *(const uint64_t *)(uintptr_t)a[i];
    }
}

PT_ACCESS static __attribute__((noinline)) void store_elements(const uint64_t *a, uint32_t lanes,
                                                               uint32_t bytes, const uint64_t *v)
{
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        if (bytes == 2)
            *(uint16_t *)(uintptr_t)a[i] = (uint16_t)v[i];
        else if (bytes == 4)
            *(uint32_t *)(uintptr_t)a[i] = (uint32_t)v[i];
        else
            *(uint64_t *)(uintptr_t)a[i] = v[i];
    }
}

/* The lanes' addresses of element e of a register. False after reporting. */
static bool element_addresses(const struct pt_code *c, struct pt_frame *f, const uint64_t *base,
                              uint32_t reg, uint32_t e, bool is_write, uint64_t *a)
{
    const struct wmma *x = c->ptr;
    const uint32_t *stride = (const uint32_t *)((const char *)f + x->stride);
    for (uint32_t i = 0; i < PT_WARP_SIZE; i++) {
        uint32_t line, at;
        place_of(x, reg, i, e, &line, &at);
        uint64_t first = x->lines_are_rows ? line : at, second = x->lines_are_rows ? at : line;
        a[i] = base[i] + (first * stride[i] / x->packed + second) * x->bytes;
    }
    return may_access(c, f, f->mask, a, x->bytes, is_write, NULL);
}

static bool base_addresses(const struct pt_code *c, struct pt_frame *f, uint64_t *base)
{
    const struct wmma *x = c->ptr;
    struct pt_code at = pt_address_code(c);
    uint32_t outside;
    f->state->code = c;
    if (pt_address_all(&at, f, pt_address_kind(c), base, &outside) & (x->bytes - 1u)) {
        pt_address_misaligned(c, f);
        return false;
    }
    return true;
}

PT_HANDLER(wmma_load)
{
    const struct wmma *x = c->ptr;
    uint64_t base[PT_WARP_SIZE], a[PT_WARP_SIZE], v[PT_WARP_SIZE], r[WMMA_REGS][PT_WARP_SIZE];
    if (!base_addresses(c, f, base))
        return NULL;
    memset(r, 0, sizeof r);
    for (uint32_t k = 0; k < x->n; k++)
        for (uint32_t e = 0; e < x->per; e++) {
            if (!element_addresses(c, f, base, k, e, false, a))
                return NULL;
            load_elements(a, f->mask, x->bytes, v);
            for (uint32_t left = f->mask; left; left &= left - 1) {
                uint32_t i = (uint32_t)__builtin_ctz(left);
                r[k][i] |= v[i] << e * x->bits;
            }
        }
    for (uint32_t k = 0; k < x->n; k++) {
        void *d = (char *)f + x->slot[k];
        if (x->bits == 64)
            PT_STORE_LANES(u64, ((uint64_t *)d), const uint64_t value = r[k][i];);
        else
            PT_STORE_LANES(u32, ((uint32_t *)d), const uint32_t value = (uint32_t)r[k][i];);
    }
    return c + 1;
}

PT_HANDLER(wmma_store)
{
    const struct wmma *x = c->ptr;
    uint64_t base[PT_WARP_SIZE], a[PT_WARP_SIZE], v[PT_WARP_SIZE];
    if (!base_addresses(c, f, base))
        return NULL;
    for (uint32_t k = 0; k < x->n; k++)
        for (uint32_t e = 0; e < x->per; e++) {
            const void *s = (const char *)f + x->slot[k];
            for (uint32_t i = 0; i < PT_WARP_SIZE; i++)
                v[i] = x->bits == 64 ? ((const uint64_t *)s)[i]
                                     : ((const uint32_t *)s)[i] >> e * x->bits;
            if (!element_addresses(c, f, base, k, e, true, a))
                return NULL;
            store_elements(a, f->mask, x->bytes, v);
        }
    return c + 1;
}

static enum role role_of(const struct pt_form *form, bool is_a, bool is_b)
{
    uint32_t m = pt_form_number(form, 'm'), n = pt_form_number(form, 'n');
    if (!is_a && !is_b)
        return ROLE_C;
    if (m == 8) /* m8n32: the transposed product; m8n8: all of 8 rows */
        return is_b && n == 32 ? ROLE_A : ROLE_B;
    return is_a ? ROLE_A : ROLE_B;
}

static void describe(const struct pt_form *form, uint32_t n_regs, struct wmma *x)
{
    bool is_a = pt_form_has(form, PT_M_a), is_b = pt_form_has(form, PT_M_b);
    bool is_row = pt_form_has(form, PT_M_row);
    uint32_t m = pt_form_number(form, 'm'), n = pt_form_number(form, 'n'),
             k = pt_form_number(form, 'k');
    uint32_t bits = pt_type_bits((enum pt_type)form->type[0]);
    uint32_t elements = is_a ? m * k : is_b ? k * n : m * n;
    x->role = (uint8_t)role_of(form, is_a, is_b);
    x->packed = (uint8_t)(bits < 8 ? 32 / bits : 1);
    x->bits = (uint8_t)(bits < 8 ? 32 : bits);
    x->bytes = x->bits / 8;
    x->per = (uint8_t)(x->bits < 32 ? 32 / x->bits : 1);
    x->n = (uint8_t)n_regs;
    x->distinct = (uint8_t)(elements / x->packed / x->per / PT_WARP_SIZE);
    x->depth = (uint8_t)(k * bits / 128);
    x->depth = x->depth ? x->depth : 1;
    if (bits == 64)
        x->depth = (uint8_t)(k / 4);
    x->is_low = n == 8 && m == 8;
    x->is_transposed = m == 8 && n == 32;
    x->is_beside = m == 16;
    /* B's lines are columns. */
    x->lines_are_rows = is_b ? !is_row : is_row;
}

static pt_handler select_wmma(struct pt_select *s, bool is_load, pt_handler fn)
{
    if (!s->decoder)
        return fn;
    const struct pt_operand *regs = &s->operands[is_load ? 0 : 1];
    struct wmma *x = pt_operands_array(s, sizeof *x);
    uint32_t n_regs = regs->kind == PT_OPND_VEC ? (uint32_t)regs->imm : 1;
    memset(x, 0, sizeof *x);
    describe(s->form, n_regs, x);
    if (regs->kind == PT_OPND_VEC)
        regs = &s->func->operands.v[regs->index];
    for (uint32_t i = 0; i < n_regs; i++) {
        x->slot[i] = is_load ? pt_operands_dest(s, &regs[i])
                             : pt_operands_source(s, &regs[i], x->bits == 64 ? 8 : 4);
        if (x->slot[i] == UINT32_MAX)
            return NULL;
    }
    /* Without a stride lines follow each other. */
    struct pt_operand tight = {.kind = PT_OPND_IMM, .type = PT_u64};
    bool is_row = PT_HAS(s, row), is_a = PT_HAS(s, a), is_b = PT_HAS(s, b);
    char along = is_row ? (is_a ? 'k' : 'n') : is_b ? 'k' : 'm';
    tight.imm = pt_form_number(s->form, along);
    x->stride = pt_operands_source(s, s->insn->n_operands > 2 ? &s->operands[2] : &tight, 4);
    if (x->stride == UINT32_MAX || !pt_address_bind(s, &s->operands[is_load ? 1 : 0], x->bytes))
        return NULL;
    s->is_access = false;
    pt_address_set_vector(s, x);
    return fn;
}

#define WMMA(id, is_load, handler)               \
    pt_handler PT_DO(id)(struct pt_select * s)   \
    {                                            \
        return select_wmma(s, is_load, handler); \
    }
WMMA(wmma_load_f16, true, wmma_load)
WMMA(wmma_load_b32, true, wmma_load)
WMMA(wmma_load_bf16, true, wmma_load)
WMMA(wmma_load_tf32, true, wmma_load)
WMMA(wmma_load_f64, true, wmma_load)
WMMA(wmma_load_s8, true, wmma_load)
WMMA(wmma_load_s4, true, wmma_load)
WMMA(wmma_load_b1, true, wmma_load)
WMMA(wmma_store_f16, false, wmma_store)
WMMA(wmma_store_b32, false, wmma_store)
WMMA(wmma_store_f64, false, wmma_store)
