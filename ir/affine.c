/* Arithmetic on what is known of integers across lanes.
 *
 * A fact is looked at over two spans, the chunk and the group, in the same way: over a span of n
 * lanes the value is first + i * stride, and uniform where the stride is 0. Bit operations and
 * shifts keep that form where the lanes differ in a field of low bits only: if first is a multiple
 * of 2^m and (n - 1) * stride < 2^m, then the value is first | i * stride, and nothing carries out
 * of the field.
 */
#include "ir/affine.h"

enum { MAX_ALIGN = 63 };

static uint64_t ones(unsigned bits)
{
    return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

static unsigned bit_length(uint64_t value)
{
    return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

static unsigned low_zeros(uint64_t value)
{
    return value ? (unsigned)__builtin_ctzll(value) : MAX_ALIGN;
}

static int64_t sign_extend(uint64_t value, unsigned bits)
{
    unsigned unused = bits >= 64 ? 0 : 64 - bits;
    return (int64_t)(value << unused) >> unused;
}

static uint8_t min_u8(uint8_t a, uint8_t b)
{
    return a < b ? a : b;
}

/* ---- simple facts ---------------------------------------------------------------------------- */

struct pt_affine pt_affine_const(uint64_t value, unsigned bits)
{
    value &= ones(bits);
    uint8_t align = (uint8_t)low_zeros(value);
    return (struct pt_affine){
        .is_known = true, .is_const = true, .align = {align, align}, .value = value, .max = value};
}

struct pt_affine pt_affine_any(enum pt_level level, unsigned bits)
{
    return (struct pt_affine){.is_known = true, .level = (uint8_t)level, .max = ones(bits)};
}

struct pt_affine pt_affine_lanes(const uint32_t *lanes, bool is_in_group, uint64_t n)
{
    uint8_t chunk = (uint8_t)low_zeros(lanes[PT_SPAN_CHUNK]);
    uint8_t group = (uint8_t)low_zeros(lanes[PT_SPAN_GROUP]);
    return (struct pt_affine){.is_known = true,
                              .is_affine = true,
                              .is_affine_in_group = is_in_group,
                              .level = PT_LEVEL_LANE,
                              .align = {chunk, is_in_group ? group : chunk},
                              .stride = 1,
                              .max = n - 1};
}

/* ---- what holds over a span ------------------------------------------------------------------ */

static bool has_form(const struct pt_affine *a, unsigned span)
{
    if (span == PT_SPAN_GROUP)
        return a->level <= PT_LEVEL_GROUP || a->is_affine_in_group;
    return a->level <= PT_LEVEL_CHUNK || a->is_affine;
}

static int64_t stride_of(const struct pt_affine *a)
{
    return a->is_affine ? a->stride : 0;
}

/* How far the last lane is from the first; UINT64_MAX if that is no number. */
static uint64_t reach(const struct pt_affine *a, uint32_t n)
{
    uint64_t distance, step = a->stride < 0 ? -(uint64_t)a->stride : (uint64_t)a->stride;
    return __builtin_mul_overflow(step, (uint64_t)n - 1, &distance) ? UINT64_MAX : distance;
}

/* The low bits in which the lanes differ, as the head of this file says; false if they carry. */
static bool find_field(const struct pt_affine *a, unsigned span, struct pt_width w, unsigned *bits)
{
    *bits = bit_length(reach(a, w.lanes[span]));
    return a->is_affine && !a->may_wrap && a->stride > 0 && *bits < w.bits &&
           *bits <= a->align[span];
}

/* No two neighbouring lanes of the span lie on the two sides of 0 (signed: of the lowest
 * number). */
static bool never_wraps(const struct pt_affine *a, unsigned span, bool is_signed, struct pt_width w)
{
    unsigned field, bits = w.bits - is_signed;
    uint64_t last;
    if (find_field(a, span, w, &field) && field <= bits)
        return true;
    return !__builtin_add_overflow(a->max, reach(a, w.lanes[span]), &last) && last <= ones(bits);
}

/* ---- operations: the stride over a span ------------------------------------------------------ */

static bool mul_stride(const struct pt_affine *a, const struct pt_affine *b, unsigned bits,
                       int64_t *stride)
{
    const struct pt_affine *by = a->is_const ? a : b;
    if (!by->is_const)
        return false;
    *stride = (int64_t)((uint64_t)stride_of(a->is_const ? b : a) *
                        (uint64_t)sign_extend(by->value, bits));
    return true;
}

/* One is affine, the other uniform over the span. */
static bool bits_stride(enum pt_affine_op op, const struct pt_affine *a, const struct pt_affine *b,
                        unsigned span, struct pt_width w, int64_t *stride)
{
    const struct pt_affine *v = a->is_affine ? a : b, *u = a->is_affine ? b : a;
    unsigned top;
    if (u->is_affine || !find_field(v, span, w, &top))
        return false;
    unsigned low = low_zeros((uint64_t)v->stride);
    uint64_t field = ones(top) & ~ones(low);
    bool is_clear =
        u->is_const ? !(u->value & field) : u->align[span] >= top || u->max <= ones(low);
    bool is_set = u->is_const && (u->value & field) == field;
    bool keeps = op == PT_AFFINE_AND ? is_set : is_clear;
    bool ends = op == PT_AFFINE_AND ? is_clear : op == PT_AFFINE_OR && is_set;
    *stride = keeps ? v->stride : 0;
    return keeps || ends;
}

static bool shl_stride(const struct pt_affine *a, const struct pt_affine *b, unsigned bits,
                       int64_t *stride)
{
    if (!b->is_const)
        return false;
    *stride = b->value >= bits ? 0 : (int64_t)((uint64_t)stride_of(a) << b->value);
    return true;
}

static bool shr_stride(const struct pt_affine *a, const struct pt_affine *b, unsigned span,
                       struct pt_width w, int64_t *stride)
{
    unsigned field;
    if (!b->is_const || !find_field(a, span, w, &field))
        return false;
    if (field <= b->value)
        *stride = 0;
    else if (low_zeros((uint64_t)a->stride) >= b->value)
        *stride = a->stride >> b->value;
    else
        return false;
    return true;
}

static bool op_stride(enum pt_affine_op op, const struct pt_affine *a, const struct pt_affine *b,
                      unsigned span, struct pt_width w, int64_t *stride)
{
    if (!has_form(a, span) || !has_form(b, span))
        return false;
    switch (op) {
    case PT_AFFINE_ADD:
        *stride = (int64_t)((uint64_t)stride_of(a) + (uint64_t)stride_of(b));
        return true;
    case PT_AFFINE_SUB:
        *stride = (int64_t)((uint64_t)stride_of(a) - (uint64_t)stride_of(b));
        return true;
    case PT_AFFINE_MUL:
        return mul_stride(a, b, w.bits, stride);
    case PT_AFFINE_SHL:
        return shl_stride(a, b, w.bits, stride);
    case PT_AFFINE_SHR:
    case PT_AFFINE_SAR:
        return shr_stride(a, b, span, w, stride);
    default:
        return bits_stride(op, a, b, span, w, stride);
    }
}

/* ---- operations: bounds and alignment -------------------------------------------------------- */

static uint64_t op_max(enum pt_affine_op op, const struct pt_affine *a, const struct pt_affine *b,
                       unsigned bits)
{
    uint64_t max = ones(bits);
    bool overflows = false;
    switch (op) {
    case PT_AFFINE_ADD:
        overflows = __builtin_add_overflow(a->max, b->max, &max);
        break;
    case PT_AFFINE_MUL:
        overflows = __builtin_mul_overflow(a->max, b->max, &max);
        break;
    case PT_AFFINE_AND:
        return a->max < b->max ? a->max : b->max;
    case PT_AFFINE_OR:
    case PT_AFFINE_XOR:
        return ones(bit_length(a->max | b->max));
    case PT_AFFINE_SHL:
        if (b->is_const && bit_length(a->max) + b->value <= bits)
            return a->max << b->value;
        break;
    case PT_AFFINE_SAR:
        if (a->max > ones(bits - 1))
            break; /* may be negative */
        /* fall through */
    case PT_AFFINE_SHR:
        return !b->is_const ? a->max : b->value >= bits ? 0 : a->max >> b->value;
    default:
        break;
    }
    return overflows || max > ones(bits) ? ones(bits) : max;
}

static uint8_t op_align(enum pt_affine_op op, const struct pt_affine *a, const struct pt_affine *b,
                        unsigned span)
{
    unsigned x = a->align[span], y = b->align[span], align = x < y ? x : y;
    bool is_by_const = b->is_const && b->value < MAX_ALIGN;
    if (op == PT_AFFINE_MUL)
        align = x + y;
    else if (op == PT_AFFINE_AND)
        align = x > y ? x : y;
    else if (op == PT_AFFINE_SHL)
        align = is_by_const ? x + (unsigned)b->value : x;
    else if (op == PT_AFFINE_SHR || op == PT_AFFINE_SAR)
        align = is_by_const && x > b->value ? x - (unsigned)b->value : 0;
    return (uint8_t)(align < MAX_ALIGN ? align : MAX_ALIGN);
}

static uint64_t fold(enum pt_affine_op op, uint64_t a, uint64_t b, unsigned bits)
{
    switch (op) {
    case PT_AFFINE_ADD:
        return a + b;
    case PT_AFFINE_SUB:
        return a - b;
    case PT_AFFINE_MUL:
        return a * b;
    case PT_AFFINE_AND:
        return a & b;
    case PT_AFFINE_OR:
        return a | b;
    case PT_AFFINE_XOR:
        return a ^ b;
    case PT_AFFINE_SHL:
        return b >= bits ? 0 : a << b;
    case PT_AFFINE_SHR:
        return b >= bits ? 0 : a >> b;
    default:
        return (uint64_t)(sign_extend(a, bits) >> (b >= bits ? bits - 1 : b));
    }
}

/* ---- operations ------------------------------------------------------------------------------ */

static struct pt_affine varying(uint64_t max)
{
    return (struct pt_affine){.is_known = true, .level = PT_LEVEL_LANE, .max = max};
}

/* The fact whose strides over the spans are these; r holds alignment, bound and may_wrap. */
static struct pt_affine with_strides(struct pt_affine r, const bool *holds, const int64_t *strides,
                                     unsigned bits)
{
    int64_t stride[PT_SPANS];
    for (unsigned s = 0; s < PT_SPANS; s++)
        stride[s] = sign_extend((uint64_t)strides[s], bits);
    bool is_uniform = (holds[PT_SPAN_GROUP] && !stride[PT_SPAN_GROUP]) ||
                      (holds[PT_SPAN_CHUNK] && !stride[PT_SPAN_CHUNK]);
    if ((!holds[PT_SPAN_CHUNK] && !holds[PT_SPAN_GROUP]) || (is_uniform && r.may_wrap))
        return varying(r.max);
    if (is_uniform) {
        r.level = holds[PT_SPAN_GROUP] && !stride[PT_SPAN_GROUP] ? PT_LEVEL_GROUP : PT_LEVEL_CHUNK;
        unsigned span = r.level == PT_LEVEL_GROUP ? PT_SPAN_GROUP : PT_SPAN_CHUNK;
        r.align[PT_SPAN_CHUNK] = r.align[PT_SPAN_GROUP] = r.align[span];
        return r;
    }
    r.level = PT_LEVEL_LANE;
    r.is_affine = true;
    r.is_affine_in_group = holds[PT_SPAN_GROUP];
    r.stride = stride[holds[PT_SPAN_GROUP] ? PT_SPAN_GROUP : PT_SPAN_CHUNK];
    return r;
}

struct pt_affine pt_affine_op(enum pt_affine_op op, const struct pt_affine *a,
                              const struct pt_affine *b, struct pt_width w)
{
    if (!a->is_known || !b->is_known)
        return (struct pt_affine){0};
    if (a->is_const && b->is_const)
        return pt_affine_const(fold(op, a->value, b->value, w.bits), w.bits);
    struct pt_affine r = {.is_known = true, .max = op_max(op, a, b, w.bits)};
    if (!has_form(a, PT_SPAN_CHUNK) || !has_form(b, PT_SPAN_CHUNK))
        return varying(r.max); /* even if it is 0: the first lane must be able to tell */
    if (!r.max)
        return pt_affine_const(0, w.bits);
    for (unsigned s = 0; s < PT_SPANS; s++)
        r.align[s] = op_align(op, a, b, s);
    if (a->level <= PT_LEVEL_CHUNK && b->level <= PT_LEVEL_CHUNK) {
        r.level = a->level > b->level ? a->level : b->level;
        return r;
    }
    r.may_wrap = (a->is_affine && a->may_wrap) || (b->is_affine && b->may_wrap);
    bool holds[PT_SPANS];
    int64_t strides[PT_SPANS] = {0};
    for (unsigned s = 0; s < PT_SPANS; s++)
        holds[s] = op_stride(op, a, b, s, w, &strides[s]);
    return with_strides(r, holds, strides, w.bits);
}

/* ---- conversions ----------------------------------------------------------------------------- */

/* The low `bits` of a. */
static struct pt_affine cut(const struct pt_affine *a, unsigned bits)
{
    struct pt_affine r = *a;
    if (a->is_const)
        return pt_affine_const(a->value, bits);
    r.max = a->max < ones(bits) ? a->max : ones(bits);
    if (!a->is_affine)
        return r;
    bool holds[PT_SPANS] = {true, a->is_affine_in_group};
    int64_t strides[PT_SPANS] = {a->stride, a->stride};
    r.is_affine = r.is_affine_in_group = false;
    r.stride = 0;
    return with_strides(r, holds, strides, bits);
}

struct pt_affine pt_affine_cvt(const struct pt_affine *a, unsigned from, bool is_signed,
                               struct pt_width w)
{
    struct pt_affine r = cut(a, from < w.bits ? from : w.bits);
    if (w.bits <= from)
        return r;
    if (r.is_const)
        return pt_affine_const(is_signed ? (uint64_t)sign_extend(r.value, from) : r.value, w.bits);
    if (r.is_affine) {
        struct pt_width narrow = {w.lanes, from};
        unsigned span = r.is_affine_in_group ? PT_SPAN_GROUP : PT_SPAN_CHUNK;
        r.may_wrap |= !never_wraps(&r, span, is_signed, narrow);
    }
    if (is_signed && r.max > ones(from - 1))
        r.max = ones(w.bits);
    return r;
}

/* No thread has more, whichever it takes. */
static uint64_t limit_max(bool is_min, bool is_signed, const struct pt_affine *a,
                          const struct pt_affine *b, unsigned bits)
{
    uint64_t low = a->max < b->max ? a->max : b->max, high = a->max < b->max ? b->max : a->max;
    if (is_signed && high > ones(bits - 1))
        return ones(bits);
    return is_min ? low : high;
}

struct pt_affine pt_affine_limit(bool is_min, bool is_signed, const struct pt_affine *a,
                                 const struct pt_affine *b, struct pt_width w)
{
    const struct pt_affine *lanes = a->is_affine ? a : b, *limit = a->is_affine ? b : a;
    if (!a->is_known || !b->is_known)
        return (struct pt_affine){0};
    uint64_t max = limit_max(is_min, is_signed, a, b, w.bits);
    if (!lanes->is_affine || limit->level > PT_LEVEL_CHUNK) {
        struct pt_affine r = varying(max);
        r.level = a->level > b->level ? a->level : b->level;
        return r;
    }
    return (struct pt_affine){.is_known = true,
                              .is_affine = true,
                              .is_affine_in_group =
                                  lanes->is_affine_in_group && limit->level <= PT_LEVEL_GROUP,
                              .may_wrap = true,
                              .level = PT_LEVEL_LANE,
                              .stride = lanes->stride,
                              .max = max};
}

/* ---- comparisons ----------------------------------------------------------------------------- */

/* `a cmp b` comes out the same everywhere, by the bounds. */
static bool is_decided(enum pt_affine_cmp cmp, bool is_signed, const struct pt_affine *a,
                       const struct pt_affine *b, unsigned bits)
{
    uint64_t top = ones(bits - is_signed);
    if (!b->is_const || b->value > top || a->max > top)
        return false;
    return cmp == PT_AFFINE_LT || cmp == PT_AFFINE_GE ? a->max < b->value : a->max <= b->value;
}

/* The lanes of the span lie on one side of the limit b: they differ in a field of low bits, and
 * those of the limit (for <= and >, of the number behind it) are 0. */
static bool is_one_sided(enum pt_affine_cmp cmp, const struct pt_affine *a,
                         const struct pt_affine *b, unsigned span, struct pt_width w)
{
    unsigned field;
    if (!has_form(a, span) || !has_form(b, span) || b->is_affine || !find_field(a, span, w, &field))
        return false;
    if (cmp == PT_AFFINE_LT || cmp == PT_AFFINE_GE)
        return b->align[span] >= field;
    /* The number behind the largest does not matter: its field is all ones, too. */
    return b->is_const && !((b->value + 1) & ones(field));
}

enum pt_level pt_affine_compare(enum pt_affine_cmp cmp, bool is_signed, const struct pt_affine *a,
                                const struct pt_affine *b, struct pt_width w)
{
    static const enum pt_affine_cmp swapped[] = {[PT_AFFINE_LT] = PT_AFFINE_GT,
                                                 [PT_AFFINE_LE] = PT_AFFINE_GE,
                                                 [PT_AFFINE_GT] = PT_AFFINE_LT,
                                                 [PT_AFFINE_GE] = PT_AFFINE_LE};
    if (a->level <= PT_LEVEL_CHUNK && b->level <= PT_LEVEL_CHUNK)
        return (enum pt_level)(a->level > b->level ? a->level : b->level);
    if (a->level <= PT_LEVEL_CHUNK)
        return pt_affine_compare(swapped[cmp], is_signed, b, a, w);
    if (a->is_affine && is_decided(cmp, is_signed, a, b, w.bits))
        return PT_LEVEL_CTA;
    if (is_one_sided(cmp, a, b, PT_SPAN_GROUP, w))
        return PT_LEVEL_GROUP;
    return is_one_sided(cmp, a, b, PT_SPAN_CHUNK, w) ? PT_LEVEL_CHUNK : PT_LEVEL_LANE;
}

/* ---- several definitions --------------------------------------------------------------------- */

static bool is_same(const struct pt_affine *a, const struct pt_affine *b)
{
    bool is_alike = a->is_known == b->is_known && a->is_const == b->is_const &&
                    a->is_affine == b->is_affine && a->may_wrap == b->may_wrap &&
                    a->is_affine_in_group == b->is_affine_in_group && a->level == b->level;
    return is_alike && a->stride == b->stride && a->value == b->value && a->max == b->max &&
           a->align[0] == b->align[0] && a->align[1] == b->align[1];
}

bool pt_affine_join(struct pt_affine *into, const struct pt_affine *other, unsigned bits)
{
    struct pt_affine r = *into;
    if (!other->is_known || is_same(into, other))
        return false;
    if (!into->is_known) {
        *into = *other;
        return true;
    }
    bool is_like = into->is_affine == other->is_affine && into->stride == other->stride;
    if (!is_like || (!into->is_affine && into->level == PT_LEVEL_LANE))
        r = varying(into->max);
    r.level = into->level > other->level ? into->level : other->level;
    r.is_const = into->is_const && other->is_const && into->value == other->value;
    r.value = r.is_const ? into->value : 0;
    r.may_wrap |= r.is_affine && other->may_wrap;
    r.is_affine_in_group &= other->is_affine_in_group;
    for (unsigned s = 0; s < PT_SPANS; s++)
        r.align[s] = min_u8(r.align[s], other->align[s]);
    r.max = other->max > into->max ? ones(bits) : into->max; /* at once, so that loops end soon */
    bool changes = !is_same(&r, into);
    *into = r;
    return changes;
}

bool pt_affine_raise(struct pt_affine *fact, enum pt_level level)
{
    if (!fact->is_affine && fact->level >= level)
        return false;
    if (fact->is_affine && level < PT_LEVEL_LANE)
        return false;
    uint64_t max = fact->is_known ? fact->max : UINT64_MAX;
    struct pt_affine r = varying(max);
    if (level < PT_LEVEL_LANE && fact->is_known) {
        r = *fact;
        r.is_const = false;
        r.value = 0;
    }
    r.level = (uint8_t)level;
    *fact = r;
    return true;
}
