/* cp.async.bulk.tensor, cp.reduce.async.bulk.tensor: tiles of tensors. PTX ISA 5.5, 9.7.9.27. What
 * the manual leaves open is as an H100 does it.
 *
 * A tile is rows: elements of the first dimension one behind the other, in shared memory as in the
 * tensor. Interleaved tensors count slices of 16 or 32 bytes instead of elements; their dimension
 * before the last numbers the slices of a pixel, of which a tile has one.
 */
#include "backend/interp/address.h"
#include "backend/interp/bulk.h"
#include "backend/interp/observe.h"
#include "backend/interp/mbarrier.h"
#include "backend/interp/operands.h"

/* ---- the rows of a tile ---------------------------------------------------------------------- */

struct rows {
    const struct pt_tile *tile;
    uint32_t unit;               /* bytes of an element or slice */
    uint32_t n, step;            /* elements of a row, and from one to the next */
    uint64_t count;              /* rows */
    uint32_t pitch;              /* from row to row in shared memory */
    uint32_t spatial, n_spatial; /* im2col: the dimensions that pixels are counted in */
    uint32_t part[5];            /* tiled: which of the rows, in each dimension */
    int64_t at[5];               /* coordinates of the row, im2col without its offsets */
};

static uint32_t parts_of(const struct pt_tensor *t, uint32_t dimension)
{
    if (t->interleave && dimension == t->rank - 2)
        return 1;
    return (t->box[dimension] + t->step[dimension] - 1) / t->step[dimension];
}

static struct rows rows_of(const struct pt_tile *tile)
{
    const struct pt_tensor *t = &tile->tensor;
    struct rows r = {
        .tile = tile, .unit = (uint32_t)t->stride[0], .n = t->box[0], .step = 1, .count = 1};
    for (uint32_t k = 0; k < t->rank; k++)
        r.at[k] = tile->at[k];
    if (t->is_im2col) {
        r.n = t->interleave ? 1 : r.n;
        r.count = t->pixels;
        r.spatial = t->interleave ? 0 : 1;
        r.n_spatial = t->rank - 2;
    } else {
        if (t->interleave) {
            r.n = parts_of(t, 0);
            r.step = t->step[0];
        }
        for (uint32_t k = 1; k < t->rank; k++)
            r.count *= parts_of(t, k);
    }
    r.pitch = pt_tensor_pitch(t, r.n * r.unit);
    return r;
}

static void next_row(struct rows *r)
{
    const struct pt_tensor *t = &r->tile->tensor;
    for (uint32_t k = 1; !t->is_im2col && k < t->rank; k++) {
        r->at[k] += t->step[k];
        if (++r->part[k] < parts_of(t, k))
            return;
        r->part[k] = 0;
        r->at[k] = r->tile->at[k];
    }
    if (!t->is_im2col)
        return;
    /* The pixels of the bounding box of one image, then those of the next. */
    for (uint32_t i = 0; i < r->n_spatial; i++) {
        uint32_t k = r->spatial + i;
        r->at[k] += t->step[k];
        if (r->at[k] < (int64_t)t->size[k] + t->upper[i])
            return;
        r->at[k] = t->lower[i];
    }
    r->at[t->rank - 1]++;
}

static int64_t coordinate(const struct rows *r, uint32_t dimension)
{
    bool is_spatial = dimension - r->spatial < r->n_spatial;
    return r->at[dimension] + (is_spatial ? (int64_t)r->tile->offset[dimension - r->spatial] : 0);
}

/* The row's place in global memory if its first element were element 0, and which element that is.
 * Returns false if the row lies out of bounds. */
static bool place_row(const struct rows *r, int64_t *first, uint64_t *address)
{
    const struct pt_tensor *t = &r->tile->tensor;
    bool is_inside = true;
    *address = t->address;
    *first = coordinate(r, 0);
    for (uint32_t k = 1; k < t->rank; k++) {
        int64_t at = coordinate(r, k);
        is_inside &= at >= 0 && at < (int64_t)t->size[k];
        *address += (uint64_t)at * t->stride[k];
    }
    return is_inside;
}

/* Bytes of a run of `n` elements, of which the first has coordinate `first`, that lie in the
 * tensor: from *low up to *high. */
static void bounds_of(const struct rows *r, uint32_t n, bool is_inside, int64_t first,
                      uint32_t *low, uint32_t *high)
{
    int64_t size = (int64_t)r->tile->tensor.size[0];
    int64_t from = first < 0 ? -first : 0, to = size - first < n ? size - first : n;
    *low = *high = 0;
    if (!is_inside || from >= to)
        return;
    *low = (uint32_t)from * r->unit;
    *high = (uint32_t)to * r->unit;
}

/* Elements that lie one behind the other in the tensor too. */
static uint32_t run_of(const struct rows *r)
{
    return r->step == 1 ? r->n : 1;
}

/* ---- moving ---------------------------------------------------------------------------------- */

enum { PIECE = 16 /* bytes that a swizzle leaves together */ };

/* NaN in every type of 16 bits and more. */
static const uint64_t nan_fill = UINT64_C(0x7ff77ff77ff77ff7);

PT_ACCESS_INLINE void copy_bytes(uint64_t to, uint64_t from, uint32_t n)
{
    if (n == PIECE) {
        pt_copy16((void *)(uintptr_t)to, (const void *)(uintptr_t)from);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        *(uint8_t *)(uintptr_t)(to + i) = *(const uint8_t *)(uintptr_t)(from + i);
}

PT_ACCESS_INLINE void load_piece(const struct pt_tensor *t, uint64_t to, uint64_t from, uint32_t n)
{
    copy_bytes(to, from, n);
    for (uint32_t i = 0; t->is_tf32 && i < n; i += 4) {
        uint32_t *p = (uint32_t *)(uintptr_t)(to + i);
        *p = pt_tensor_tf32(*p);
    }
}

/* Bytes `low` to `high` of the row at `row` in shared memory from the row at `from`; without
 * `from`, the fill. */
PT_ACCESS_INLINE void load_bytes(const struct pt_tensor *t, uint64_t row, uint64_t from,
                                 bool is_fill, uint32_t low, uint32_t high)
{
    for (uint32_t at = low, n; at < high; at += n) {
        uint64_t to = pt_tensor_swizzle(t->swizzle, row + at);
        n = PIECE - at % PIECE;
        n = n < high - at ? n : high - at;
        if (!is_fill)
            load_piece(t, to, from + at, n);
        else
            for (uint32_t i = 0; i < n; i++)
                *(uint8_t *)(uintptr_t)(to + i) =
                    t->is_nan_filled ? (uint8_t)(nan_fill >> 8 * ((at + i) % 8)) : 0;
    }
}

PT_ACCESS static void load_tile(const struct pt_async_op *op)
{
    struct rows r = rows_of(op->tile);
    const struct pt_tensor *t = &op->tile->tensor;
    uint32_t run = run_of(&r), low, high;
    for (uint32_t y = 0; y < r.count; y++, next_row(&r)) {
        uint64_t row = op->to + (uint64_t)y * r.pitch, from;
        int64_t first;
        bool is_inside = place_row(&r, &first, &from);
        for (uint32_t e = 0; e < r.n; e += run, row += r.unit, first += r.step) {
            bounds_of(&r, run, is_inside, first, &low, &high);
            load_bytes(t, row, 0, true, 0, low);
            load_bytes(t, row, from + (uint64_t)first * r.unit, false, low, high);
            load_bytes(t, row, 0, true, high, run * r.unit);
        }
    }
}

/* What a store writes of a run with `high` bytes in bounds: whole pieces, also where the tensor
 * ends inside of one. */
static uint32_t stored_of(uint32_t high)
{
    return (high + PIECE - 1) / PIECE * PIECE;
}

PT_ACCESS static void store_tile(const struct pt_async_op *op)
{
    struct rows r = rows_of(op->tile);
    uint32_t run = run_of(&r), low, high, swizzle = op->tile->tensor.swizzle;
    for (uint32_t y = 0; y < r.count; y++, next_row(&r)) {
        uint64_t row = op->from + (uint64_t)y * r.pitch, to;
        int64_t first;
        bool is_inside = place_row(&r, &first, &to);
        for (uint32_t e = 0; e < r.n; e += run, row += r.unit, first += r.step) {
            bounds_of(&r, run, is_inside, first, &low, &high);
            uint64_t place = to + (uint64_t)first * r.unit;
            for (uint32_t at = 0; at < stored_of(high); at += PIECE) {
                uint64_t from = pt_async_source(op, pt_tensor_swizzle(swizzle, row + at));
                if (op->join)
                    op->join(place + at, from, PIECE);
                else
                    pt_copy16((void *)(uintptr_t)(place + at), (const void *)(uintptr_t)from);
            }
        }
    }
}

/* ---- what a tile may be ---------------------------------------------------------------------- */

/* What the instruction is, and the slots of its operands. */
struct tensor_code {
    bool is_load, is_im2col, is_reduce;
    enum pt_reduce reduce;
    uint32_t rank;
    uint32_t map, shared, mbarrier, at[5], offset[3];
    uint32_t ctas; /* of a multicast; UINT32_MAX: none */
};

static const char *objection(const struct tensor_code *k, const struct pt_tile *tile)
{
    const struct pt_tensor *t = &tile->tensor;
    if (t->rank != k->rank || t->is_im2col != k->is_im2col || t->element >= PT_ELEMENT_COUNT)
        return "the tensor map is of another rank or mode";
    if (k->is_reduce && !pt_reduce_join(k->reduce, t->element))
        return "elements of this type are not reduced so";
    if (!t->interleave && (int64_t)tile->at[0] * (int64_t)t->stride[0] % PIECE)
        return "the first coordinate is no multiple of 16 bytes";
    struct rows r = rows_of(tile);
    if (r.n * r.unit % PIECE || r.count * r.pitch > PT_TILE_BYTES_MAX)
        return "a tile has rows of multiples of 16 bytes, and room in shared memory";
    for (uint32_t i = 0; !k->is_load && i < t->rank; i++)
        if (tile->at[i] < 0)
            return "a tile is stored from a negative coordinate";
    for (uint32_t i = 0; t->is_im2col && i < t->rank - 2; i++) {
        uint32_t d = i + !t->interleave;
        if (tile->at[d] < t->lower[i] || tile->at[d] >= (int64_t)t->size[d] + t->upper[i])
            return "the pixels begin outside of their bounding box";
        if (!k->is_load && (t->lower[i] < 0 || t->upper[i] > 0))
            return "a bounding box that is stored lies in the tensor";
    }
    return NULL;
}

static bool tile_extents(const struct pt_async_op *op, pt_visit *visit, void *ud)
{
    struct rows r = rows_of(op->tile);
    bool is_load = op->to != 0;
    uint32_t run = run_of(&r), low, high;
    for (uint32_t y = 0; y < r.count; y++, next_row(&r)) {
        uint64_t base;
        int64_t first;
        bool is_inside = place_row(&r, &first, &base);
        for (uint32_t e = 0; e < r.n; e += run, first += r.step) {
            bounds_of(&r, run, is_inside, first, &low, &high);
            high = is_load ? high : stored_of(high);
            if (low < high && !visit(ud, base + (uint64_t)first * r.unit + low, high - low))
                return false;
        }
    }
    return true;
}

struct asker {
    const struct pt_code *c;
    struct pt_frame *f;
    const struct pt_async_op *op;
};

/* A run in global memory: false after pt_fail if an isolated launch forbids it. Those of operations
 * that are put off are read, so that a fault has its place here. */
static bool may_access(void *ud, uint64_t address, uint32_t bytes)
{
    const struct asker *a = ud;
    uint32_t use = a->op->to ? PT_USE_READ : pt_observe_use(a->op);
    if (!pt_observe_async(a->c, a->f, a->op->lane, address, bytes, PT_SPACE_GLOBAL, use))
        return false;
    if (a->f->cta->async)
        pt_async_touch(address, bytes);
    return true;
}

/* ---- the instructions ------------------------------------------------------------------------ */

PT_ACCESS static void read_map(uint64_t address, struct pt_tensor *t)
{
    uint64_t map[PT_TENSORMAP_BYTES / 8];
    for (uint32_t i = 0; i < PT_TENSORMAP_BYTES / 8; i++)
        map[i] = ((const uint64_t *)(uintptr_t)address)[i];
    pt_tensormap_read(map, t);
}

static uint64_t wide_of(const struct pt_frame *f, uint32_t slot, uint32_t lane)
{
    return ((const uint64_t *)((const char *)f + slot))[lane];
}

static uint32_t word_of(const struct pt_frame *f, uint32_t slot, uint32_t lane)
{
    return ((const uint32_t *)((const char *)f + slot))[lane];
}

/* Reads the lane's operands. False after pt_fail. */
static bool read_tile(const struct pt_code *c, struct pt_frame *f, uint32_t lane,
                      struct pt_tile *tile)
{
    const struct tensor_code *k = c->ptr;
    uint64_t map = wide_of(f, k->map, lane), shared = wide_of(f, k->shared, lane);
    uint64_t misaligned = map % PT_TENSORMAP_ALIGN ? map : shared % PT_TILE_ALIGN ? shared : 0;
    if (misaligned)
        return pt_fail_at(c, f, PT_FAULT_MISALIGNED, 1u << lane, misaligned, NULL);
    if (!pt_observe_async(c, f, lane, map, PT_TENSORMAP_BYTES, PT_SPACE_GENERIC, PT_USE_READ))
        return false;
    read_map(map, &tile->tensor);
    for (uint32_t i = 0; i < k->rank; i++)
        tile->at[i] = (int32_t)word_of(f, k->at[i], lane);
    for (uint32_t i = 0; k->is_load && k->is_im2col && i < k->rank - 2; i++)
        tile->offset[i] = word_of(f, k->offset[i], lane) & 0xffff;
    const char *bad = objection(k, tile);
    return !bad || pt_fail(c, f, PT_FAULT_ILLEGAL_INSTRUCTION, 1u << lane, bad);
}

static bool move_tile(const struct pt_code *c, struct pt_frame *f, uint32_t lane)
{
    const struct tensor_code *k = c->ptr;
    struct pt_tile tile = {0};
    f->state->acting = 1u << lane;
    if (!read_tile(c, f, lane, &tile))
        return false;
    struct rows r = rows_of(&tile);
    uint64_t shared = wide_of(f, k->shared, lane);
    uint32_t span = (uint32_t)(r.count - 1) * r.pitch + r.n * r.unit;
    struct pt_async_op op = {.kind = k->is_load ? PT_ASYNC_COUNTED : PT_ASYNC_BULK,
                             .lane = lane,
                             .run = k->is_load ? load_tile : store_tile,
                             .complete = k->is_load ? pt_mbarrier_count_bytes : NULL,
                             .extents = tile_extents,
                             .bytes = (uint32_t)r.count * r.n * r.unit,
                             .span = span,
                             .tile = &tile};
    if (k->is_load) {
        op.to = shared;
        op.mbarrier = wide_of(f, k->mbarrier, lane);
    } else {
        op.from = shared;
        op.read = (span + PT_TILE_ALIGN - 1) / PT_TILE_ALIGN * PT_TILE_ALIGN;
        op.join = k->is_reduce ? pt_reduce_join(k->reduce, tile.tensor.element) : NULL;
    }
    bool may_move = !k->is_load
                        ? pt_observe_async(c, f, lane, shared, span, PT_SPACE_SHARED, PT_USE_READ)
                        : k->ctas != UINT32_MAX || pt_bulk_observe_load(c, f, &op);
    if (!may_move || !tile_extents(&op, may_access, &(struct asker){c, f, &op}))
        return false;
    f->state->acting = 0;
    return k->ctas == UINT32_MAX ? pt_async_issue(c, f, &op)
                                 : pt_bulk_multicast(c, f, &op, word_of(f, k->ctas, lane) & 0xffff);
}

PT_HANDLER(move_tiles)
{
    f->state->code = c;
    for (uint32_t left = f->mask; left; left &= left - 1)
        if (!move_tile(c, f, (uint32_t)__builtin_ctz(left)))
            return NULL;
    return c + 1;
}

/* Slots of the elements of a vector, or of the one that stands without braces. Returns how many; 0
 * after reporting. */
static uint32_t bind_vector(struct pt_select *s, const struct pt_operand *o, uint32_t *slots)
{
    uint32_t n = o->kind == PT_OPND_VEC ? (uint32_t)o->imm : 1;
    for (uint32_t i = 0; i < n; i++) {
        slots[i] = pt_operands_source(
            s, o->kind == PT_OPND_VEC ? &s->func->operands.v[o->index + i] : o, 4);
        if (slots[i] == UINT32_MAX)
            return 0;
    }
    return n;
}

/* [t],[a,b],[c]{,e}{,g}{,h} */
static pt_handler select_load(struct pt_select *s, bool is_im2col)
{
    struct tensor_code *k = pt_operands_array(s, sizeof *k);
    const struct pt_operand *o = s->operands;
    k->is_load = true;
    k->is_im2col = is_im2col;
    k->shared = pt_address_generic(s, &o[0], PT_SPACE_SHARED);
    k->map = pt_address_generic(s, &o[1], PT_SPACE_GENERIC);
    k->mbarrier = pt_address_generic(s, &o[2], PT_SPACE_SHARED);
    k->rank = bind_vector(s, &s->func->operands.v[o[1].index + 1], k->at);
    k->ctas =
        pt_bulk_is_multicast(s) ? pt_operands_source(s, &o[is_im2col ? 4 : 3], 4) : UINT32_MAX;
    if (!k->rank || (is_im2col && !bind_vector(s, &o[3], k->offset)))
        return NULL;
    s->code->ptr = k;
    return k->shared == UINT32_MAX || k->map == UINT32_MAX || k->mbarrier == UINT32_MAX
               ? NULL
               : move_tiles;
}

/* [t,b],[a]{,h} */
static pt_handler select_store(struct pt_select *s, bool is_im2col, bool is_reduce)
{
    struct tensor_code *k = pt_operands_array(s, sizeof *k);
    const struct pt_operand *o = s->operands;
    k->is_im2col = is_im2col;
    k->is_reduce = is_reduce;
    k->reduce = pt_reduce_of(s->form);
    k->map = pt_address_generic(s, &o[0], PT_SPACE_GENERIC);
    k->shared = pt_address_generic(s, &o[1], PT_SPACE_SHARED);
    k->rank = bind_vector(s, &s->func->operands.v[o[0].index + 1], k->at);
    k->ctas = UINT32_MAX;
    s->code->ptr = k;
    return !k->rank || k->shared == UINT32_MAX || k->map == UINT32_MAX ? NULL : move_tiles;
}

pt_handler PT_DO(tma_load)(struct pt_select *s)
{
    return select_load(s, false);
}

pt_handler PT_DO(tma_load_im2col)(struct pt_select *s)
{
    return select_load(s, true);
}

pt_handler PT_DO(tma_store)(struct pt_select *s)
{
    return select_store(s, false, false);
}

pt_handler PT_DO(tma_store_im2col)(struct pt_select *s)
{
    return select_store(s, true, false);
}

pt_handler PT_DO(tma_reduce)(struct pt_select *s)
{
    return select_store(s, false, true);
}

pt_handler PT_DO(tma_reduce_im2col)(struct pt_select *s)
{
    return select_store(s, true, true);
}
