/* Accesses whose addresses thread indexes alone tell apart, though how they lie shows only at run time. They are consecutive
 * more often than not (a row of a tile, an exchange at a long distance). Where lanes exchange at a distance below the
 * vector's length they lie in a stretch of at most two vectors, in one of a few orders, and take their places in registers.
 */
#include <string.h>

#include "backend/jit/access.h"

enum { LANES_MOST = 64, ORDERS_MOST = 2 * LANES_MOST };

/* ---- orders ---------------------------------------------------------------------------------- */

/* Where lanes lie: at elements of a stretch that begins with the lowest. */
struct order {
    int place[LANES_MOST];
    int last; /* the highest of them */
};

static struct order consecutive(unsigned width)
{
    struct order o = {.last = (int)width - 1};
    for (unsigned i = 0; i < width; i++)
        o.place[i] = (int)i;
    return o;
}

/* The lower ones of pairs at a distance d, d a power of two: 2 * i - i % d. The upper ones lie likewise. */
static struct order lower_of_pairs(unsigned width, unsigned d)
{
    struct order o;
    for (unsigned i = 0; i < width; i++)
        o.place[i] = (int)(2 * i - i % d);
    o.last = (int)(2 * width - 1 - d);
    return o;
}

/* Each lane at its partner's. */
static struct order swapped(unsigned width, unsigned d)
{
    struct order o = {.last = (int)width - 1};
    for (unsigned i = 0; i < width; i++)
        o.place[i] = (int)(i ^ d);
    return o;
}

/* Those that the address may have. */
static unsigned find_orders(const struct jit *j, const struct pt_operand *address,
                            struct order *orders)
{
    struct jit_mixing mixing = jit_find_mixing(j, address);
    unsigned n = 0;
    for (unsigned d = 1; d < j->width; d++)
        if (mixing.pairs >> d & 1)
            orders[n++] = lower_of_pairs(j->width, d);
    for (unsigned d = 1; d < j->width; d++)
        if (mixing.swaps >> d & 1)
            orders[n++] = swapped(j->width, d);
    return n;
}

/* ---- accesses in an order -------------------------------------------------------------------- */

/* A vector of the stretch: elements `at` … at + width - 1, of which those from `from` on are taken there. */
struct part {
    int at, from;
    int lanes[LANES_MOST]; /* whose element it is; width: nobody's */
    bool is_full;
};

/* The parts' ends are elements of lanes, and so is no page between them that no lane touches. */
static unsigned find_parts(const struct jit *j, const struct order *o, struct part *parts)
{
    int width = (int)j->width;
    unsigned n = o->last < width ? 1 : 2;
    parts[0].at = parts[0].from = 0;
    parts[1].at = o->last + 1 - width;
    parts[1].from = width;
    for (unsigned k = 0; k < n; k++) {
        parts[k].is_full = true;
        for (int e = 0; e < width; e++)
            parts[k].lanes[e] = width;
        for (int i = 0; i < width; i++)
            if (o->place[i] >= parts[k].from && o->place[i] < parts[k].at + width)
                parts[k].lanes[o->place[i] - parts[k].at] = i;
        for (int e = 0; e < width; e++)
            parts[k].is_full &= parts[k].lanes[e] < width;
    }
    return n;
}

/* The lanes of a mask (NULL: all) at their elements. NULL: all elements. */
static LLVMValueRef part_mask(struct jit *j, const struct part *part, LLVMValueRef mask)
{
    if (!mask && part->is_full)
        return NULL;
    LLVMValueRef flow = jit_flow_of(j, mask ? mask : jit_mask_all(j));
    return jit_flow_mask(
        j, jit_shuffle(j, flow, LLVMConstNull(LLVMTypeOf(flow)), part->lanes, j->width));
}

static LLVMValueRef load_in_order(struct jit *j, const struct jit_access *a, const struct order *o,
                                  LLVMValueRef pointer, LLVMValueRef mask)
{
    struct part parts[2];
    LLVMValueRef vectors[2] = {0};
    unsigned n = find_parts(j, o, parts);
    int lanes[LANES_MOST], width = (int)j->width;
    for (unsigned k = 0; k < n; k++) {
        LLVMValueRef at = jit_element(j, a, pointer, (unsigned)parts[k].at);
        jit_load_run(j, a, at, mask ? part_mask(j, &parts[k], mask) : NULL, &vectors[k]);
    }
    for (int i = 0; i < width; i++)
        lanes[i] = o->place[i] < width ? o->place[i] : o->place[i] - parts[1].at + width;
    return jit_shuffle(j, vectors[0], vectors[1], lanes, j->width);
}

/* The stretch has elements that are not to change, and they may be written. */
static bool rewrites(const struct jit *j, const struct jit_access *a, const struct order *o,
                     LLVMValueRef mask)
{
    bool has_others = mask || o->last >= (int)j->width;
    return has_others && !a->is_load && jit_may_rewrite(j, a);
}

/* Elements of nobody, and of lanes that are off, are written as they are: where the parts overlap, as the first leaves them. */
static void rewrite_in_order(struct jit *j, const struct jit_access *a, const struct part *parts,
                             unsigned n, LLVMValueRef pointer, LLVMValueRef mask,
                             LLVMValueRef value)
{
    LLVMValueRef at[2], old[2];
    int lanes[LANES_MOST], width = (int)j->width;
    for (unsigned k = 0; k < n; k++) {
        at[k] = jit_element(j, a, pointer, (unsigned)parts[k].at);
        jit_load_run(j, a, at[k], NULL, &old[k]);
    }
    for (unsigned k = 0; k < n; k++) {
        LLVMValueRef moved = jit_shuffle(j, value, NULL, parts[k].lanes, j->width);
        LLVMValueRef theirs = part_mask(j, &parts[k], mask);
        moved = theirs ? LLVMBuildSelect(j->b, theirs, moved, old[k], "") : moved;
        jit_store_run(j, a, at[k], NULL, &moved);
        for (int e = 0; k + 1 < n && e < width; e++)
            lanes[e] = parts[1].at + e < width ? parts[1].at + e : width + e;
        if (k + 1 < n)
            old[1] = jit_shuffle(j, moved, old[1], lanes, j->width);
    }
}

static void store_in_order(struct jit *j, const struct jit_access *a, const struct order *o,
                           LLVMValueRef pointer, LLVMValueRef mask, LLVMValueRef value)
{
    struct part parts[2];
    unsigned n = find_parts(j, o, parts);
    if (rewrites(j, a, o, mask)) {
        rewrite_in_order(j, a, parts, n, pointer, mask, value);
        return;
    }
    for (unsigned k = 0; k < n; k++) {
        LLVMValueRef at = jit_element(j, a, pointer, (unsigned)parts[k].at);
        LLVMValueRef moved = jit_shuffle(j, value, NULL, parts[k].lanes, j->width);
        jit_store_run(j, a, at, part_mask(j, &parts[k], mask), &moved);
    }
}

/* ---- which order it is ----------------------------------------------------------------------- */

/* What tells the lanes' addresses apart: indexes, or the addresses. */
struct indexes {
    LLVMValueRef first, from_first; /* that of lane 0; how far each lane is from it */
    LLVMTypeRef type;
    int64_t stride; /* from an element to the next */
    bool is_split;
    struct jit_split split;
};

/* Lanes that are off may hold nothing: frozen. */
static void read_indexes(struct jit *j, const struct jit_access *a, unsigned copy,
                         struct indexes *x)
{
    const struct pt_operand *o = x->is_split ? x->split.index : a->base;
    LLVMValueRef origin, lanes;
    if (jit_offsets(j, o, copy, &origin, &lanes)) {
        lanes = LLVMBuildFreeze(j->b, lanes, "");
        origin = LLVMBuildFreeze(j->b, origin, "");
        if (!x->is_split)
            origin =
                LLVMBuildAdd(j->b, origin, jit_const(LLVMTypeOf(origin), (uint64_t)o->imm), "");
    } else {
        lanes = x->is_split ? jit_read(j, o, copy, PT_u32, j->width, false)
                            : jit_address(j, a, copy, j->width);
        lanes = LLVMBuildFreeze(j->b, lanes, "");
        origin = NULL;
    }
    LLVMValueRef first = LLVMBuildExtractElement(j->b, lanes, jit_i32(j, 0), "");
    x->first = origin ? LLVMBuildAdd(j->b, origin, first, "") : first;
    x->from_first = LLVMBuildSub(j->b, lanes, jit_splat(j, first), "");
    x->type = LLVMTypeOf(first);
}

static bool find_indexes(struct jit *j, const struct jit_access *a, unsigned copy,
                         struct indexes *x)
{
    x->split = (struct jit_split){.scale = 1};
    x->is_split = a->space != PT_SPACE_SHARED && jit_split_address(j, a->base, &x->split);
    if (a->space == PT_SPACE_LOCAL || !jit_is_computed(j, a->base) ||
        a->bytes * a->n % x->split.scale)
        return false;
    x->stride = (int64_t)(a->bytes * a->n / x->split.scale);
    read_indexes(j, a, copy, x);
    return true;
}

static LLVMValueRef address_of(struct jit *j, const struct jit_access *a, unsigned copy,
                               const struct indexes *x, LLVMValueRef index)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->context);
    if (!x->is_split)
        return index;
    index = LLVMBuildIntCast2(j->b, index, i64, x->split.is_signed, "");
    index = LLVMBuildMul(j->b, index, jit_i64(j, x->split.scale), "");
    index = LLVMBuildAdd(j->b, index, jit_read(j, x->split.base, copy, PT_u64, 1, false), "");
    return LLVMBuildAdd(j->b, index, jit_i64(j, (uint64_t)a->base->imm), "");
}

static LLVMValueRef distance(const struct indexes *x, int elements)
{
    return LLVMConstInt(x->type, (uint64_t)(x->stride * elements), true);
}

/* i1: the lanes lie in the order. */
static LLVMValueRef is_order(struct jit *j, const struct indexes *x, const struct order *o)
{
    LLVMValueRef places[LANES_MOST];
    for (unsigned i = 0; i < j->width; i++)
        places[i] = distance(x, o->place[i] - o->place[0]);
    LLVMValueRef vector = LLVMConstVector(places, j->width);
    return jit_all(j, LLVMBuildICmp(j->b, LLVMIntEQ, x->from_first, vector, ""));
}

/* i1: a stretch of elements in that order wraps nowhere, and is aligned. It begins at `address`. */
static LLVMValueRef fits(struct jit *j, const struct jit_access *a, unsigned copy,
                         const struct indexes *x, const struct order *o, LLVMValueRef *address)
{
    LLVMValueRef lowest = LLVMBuildSub(j->b, x->first, distance(x, o->place[0]), "");
    uint64_t top = UINT64_MAX >> (64 - LLVMGetIntTypeWidth(x->type)) >> x->split.is_signed;
    LLVMValueRef most = LLVMConstInt(x->type, top - (uint64_t)(x->stride * o->last), false);
    LLVMIntPredicate at_most = x->split.is_signed ? LLVMIntSLE : LLVMIntULE;
    LLVMValueRef is_low = LLVMBuildICmp(j->b, at_most, lowest, most, "");
    *address = address_of(j, a, copy, x, lowest);
    return LLVMBuildAnd(j->b, is_low, LLVMBuildNot(j->b, jit_misaligned(j, a, *address), ""), "");
}

/* ---- the access ------------------------------------------------------------------------------ */

static bool can_exchange(const struct jit *j, const struct jit_access *a)
{
    return j->target->has_masked_access && a->n == 1 && (a->bytes == 4 || a->bytes == 8) &&
           a->order == PT_ORDER_PLAIN;
}

/* The stretch in the order, if it fits; else on in `others`. */
static void access_order(struct jit *j, const struct jit_access *a, unsigned copy,
                         const struct indexes *x, const struct order *o, struct jit_ways *ways,
                         LLVMBasicBlockRef others, LLVMValueRef value)
{
    LLVMValueRef address, is_fit = fits(j, a, copy, x, o, &address);
    LLVMValueRef pointer = jit_pointer(j, a, address);
    if (rewrites(j, a, o, j->mask[copy])) {
        LLVMValueRef is_own = jit_is_own(j, a, pointer, (unsigned)o->last + 1);
        is_fit = LLVMBuildAnd(j->b, is_fit, is_own, "");
    }
    LLVMBasicBlockRef fit = jit_new_block(j, "in_order");
    LLVMBuildCondBr(j->b, is_fit, fit, others);
    jit_continue_in(j, fit);
    if (a->is_load)
        value = load_in_order(j, a, o, pointer, j->mask[copy]);
    else
        store_in_order(j, a, o, pointer, j->mask[copy], value);
    jit_end_way(j, ways, &value);
}

/* A way for each order; which it is, is found without branches, as that may not change from chunk to chunk. */
static void access_orders(struct jit *j, const struct jit_access *a, unsigned copy,
                          const struct indexes *x, struct jit_ways *ways, LLVMValueRef value)
{
    struct order orders[ORDERS_MOST];
    unsigned n = can_exchange(j, a) ? find_orders(j, a->base, orders) : 0;
    if (!n)
        return;
    LLVMBasicBlockRef others = jit_new_block(j, "any");
    LLVMValueRef which = jit_i32(j, n);
    for (unsigned i = 0; i < n; i++)
        which = LLVMBuildSelect(j->b, is_order(j, x, &orders[i]), jit_i32(j, i), which, "");
    LLVMValueRef choice = LLVMBuildSwitch(j->b, which, others, n);
    for (unsigned i = 0; i < n; i++) {
        LLVMBasicBlockRef chosen = jit_new_block(j, "order");
        LLVMAddCase(choice, jit_i32(j, i), chosen);
        jit_continue_in(j, chosen);
        access_order(j, a, copy, x, &orders[i], ways, others, value);
    }
    jit_continue_in(j, others);
}

bool jit_access_computed(struct jit *j, const struct jit_access *a, unsigned copy, LLVMValueRef *v)
{
    struct indexes x;
    struct jit_ways ways;
    LLVMValueRef address;
    if (!find_indexes(j, a, copy, &x))
        return false;
    struct order run = consecutive(j->width);
    LLVMValueRef is_run = is_order(j, &x, &run);
    is_run = LLVMBuildAnd(j->b, is_run, fits(j, a, copy, &x, &run, &address), "");
    jit_begin_ways(j, a, &ways);
    jit_run_if(j, a, copy, &ways, is_run, address, v);
    access_orders(j, a, copy, &x, &ways, v[0]);
    jit_access_any(j, a, copy, v);
    jit_end_way(j, &ways, v);
    jit_join_ways(j, &ways, v);
    return true;
}
