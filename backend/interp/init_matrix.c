/* The checker of values that nobody made: matrices in shared memory, which ldmatrix and wgmma read,
 * and what asynchronous copies bring. */
#include "backend/interp/init_matrix.h"

#include "backend/interp/wgmma.h"
#include "backend/semantics/fragment.h"
#include "ir/row.h"

enum { SHADOW_MOST = 64 /* bytes, of pt_shadow_get */ };

/* False: all of the row has values. */
static bool get_row(struct pt_shadow *shadow, uint64_t address, uint8_t row[PT_MATRIX_ROW])
{
    uint8_t values[SHADOW_MOST];
    if (!pt_shadow_any(shadow, address, PT_MATRIX_ROW) ||
        !pt_shadow_get(shadow, address, PT_MATRIX_ROW, values))
        return false;
    memcpy(row, values, PT_MATRIX_ROW);
    return true;
}

static const struct pt_operand *register_of(const struct pt_func *func, const struct pt_operand *d,
                                            uint32_t k)
{
    return d->kind == PT_OPND_VEC ? &func->operands.v[d->index + k] : d;
}

/* The bytes that a lane has of matrix `k` are of one row, or, transposed, of a column. */
static uint64_t loaded_bits(const uint8_t rows[][PT_MATRIX_ROW], uint32_t k, uint32_t lane,
                            bool is_transposed)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint8_t value = is_transposed ? rows[8 * k + 2 * (lane % 4) + i / 2][lane / 4 * 2 + i % 2]
                                      : rows[8 * k + lane / 4][lane % 4 * 4 + i];
        bits |= value ? UINT64_C(0xff) << 8 * i : 0;
    }
    return bits;
}

void pt_init_matrix_load(const struct pt_event *e, const struct pt_access *a,
                         struct pt_shadow *shadow)
{
    uint8_t rows[PT_WARP_SIZE][PT_MATRIX_ROW] = {{0}};
    struct pt_frame *f = e->frame;
    const struct pt_func *func = f->body->func;
    const struct pt_insn *insn = &func->insns.v[e->insn];
    const struct pt_form *form = pt_insn_form(f->state->program->base.image->module, insn);
    const struct pt_operand *d = &func->operands.v[insn->operands];
    uint32_t lost = 0, n = pt_form_number(form, 'x');
    for (uint32_t left = e->lanes; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        if (get_row(shadow, a->address[i], rows[i]))
            lost |= 1u << i;
    }
    for (uint32_t k = 0; lost && k < n; k++) {
        const struct pt_operand *o = register_of(func, d, k);
        uint32_t of_matrix = lost & 0xffu << 8 * k;
        if (!of_matrix || o->kind != PT_OPND_REG)
            continue;
        struct pt_origin origin = {e->func, e->insn, a->address[__builtin_ctz(of_matrix)],
                                   PT_MATRIX_ROW};
        for (uint32_t lane = 0; lane < PT_WARP_SIZE; lane++)
            pt_undefined_set(f, o->index, lane,
                             loaded_bits(rows, k, lane, pt_form_has(form, PT_M_trans)), &origin);
    }
}

/* ---- wgmma ----------------------------------------------------------------------------------- */

struct search {
    struct pt_shadow *shadow;
    uint64_t first; /* an address that has no value; 0: none was found */
};

static uint16_t undefined(void *ud, uint64_t address)
{
    struct search *s = ud;
    uint8_t values[PT_MATRIX_ROW];
    uint16_t bytes = 0;
    if (!get_row(s->shadow, address, values))
        return 0;
    for (uint32_t i = 0; i < PT_MATRIX_ROW; i++)
        bytes |= (uint16_t)((values[i] != 0) << i);
    s->first = s->first ? s->first : address + (uint32_t)__builtin_ctz(bytes);
    return bytes;
}

/* Rows of A in registers: each has a row of the upper or the lower eight, by turns. */
static uint64_t lost_rows(const struct pt_frame *f, const struct pt_operand *a,
                          const struct pt_origin **origin)
{
    const struct pt_func *func = f->body->func;
    uint64_t rows = 0;
    for (uint32_t k = 0; a->kind == PT_OPND_VEC && k < a->imm; k++) {
        const struct pt_operand *o = &func->operands.v[a->index + k];
        uint32_t lanes = o->kind == PT_OPND_REG ? pt_undefined_lanes(f, o->index) : 0;
        for (uint32_t left = lanes; left; left &= left - 1)
            rows |= UINT64_C(1) << ((uint32_t)__builtin_ctz(left) / 4 + k % 2 * 8);
        if (lanes)
            *origin = &f->undefined->origin[o->index];
    }
    return rows;
}

static bool has_column(const struct pt_wgmma_lost *lost, uint32_t column)
{
    return lost->columns[column / 64] >> column % 64 & 1;
}

/* Of register `k` of D. */
static uint64_t product_bits(const struct pt_wgmma_lost *lost, uint32_t k, uint32_t lane)
{
    uint32_t per = lost->is_packed ? 2 : 4, in_tile = k % per;
    uint32_t row = lane / 4 + (lost->is_packed ? in_tile : in_tile / 2) * 8;
    uint32_t column = k / per * PT_MMA_N + lane % 4 * 2;
    if (lost->rows >> row & 1)
        return UINT32_MAX;
    if (!lost->is_packed)
        return has_column(lost, column + in_tile % 2) ? UINT32_MAX : 0;
    return (has_column(lost, column) ? 0xffffu : 0) |
           (has_column(lost, column + 1) ? 0xffff0000u : 0);
}

void pt_init_matrix_multiply(const struct pt_event *e, const struct pt_async_op *op,
                             struct pt_shadow *shadow)
{
    struct pt_frame *f = e->frame;
    const struct pt_func *func = f->body->func;
    const struct pt_operand *o = &func->operands.v[func->insns.v[e->insn].operands];
    struct search s = {shadow, 0};
    struct pt_wgmma_lost lost;
    pt_wgmma_lose(op, undefined, &s, &lost);
    struct pt_origin here = {e->func, e->insn, s.first, 1}, copy;
    const struct pt_origin *origin = s.first ? &here : NULL;
    lost.rows |= lost_rows(f, &o[1], &origin);
    if (origin)
        copy = *origin;
    for (uint32_t k = 0; (origin || pt_undefined_any(f)) && k < o->imm; k++) {
        const struct pt_operand *d = &func->operands.v[o->index + k];
        for (uint32_t lane = 0; d->kind == PT_OPND_REG && lane < PT_WARP_SIZE; lane++) {
            uint64_t bits = origin ? product_bits(&lost, k, lane) : 0;
            bool is_kept = !bits && lost.adds && pt_undefined_bits(f, d->index, lane);
            if (!is_kept)
                pt_undefined_set(f, d->index, lane, bits, origin ? &copy : &here);
        }
    }
}

/* ---- copies ---------------------------------------------------------------------------------- */

void pt_init_matrix_copy(const struct pt_async_op *op, struct pt_shadow *shadow)
{
    uint8_t values[SHADOW_MOST];
    uint32_t bytes = op->to && op->from && !op->join && !op->tile ? op->read : 0;
    for (uint32_t n, at = 0; at < bytes; at += n) {
        n = bytes - at < SHADOW_MOST ? bytes - at : SHADOW_MOST;
        if (!pt_shadow_any(shadow, op->from + at, n) ||
            !pt_shadow_get(shadow, op->from + at, n, values))
            continue;
        for (uint32_t i = 0; i < n; i++)
            if (values[i])
                pt_shadow_set(shadow, op->to + at + i, 1, PT_SHADOW_STORED);
    }
}
