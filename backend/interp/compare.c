/* Comparison and selection: handlers and selectors (PTX ISA 9.7.6, 9.7.7). */
#include "backend/interp/pick.h"
#include "backend/interp/vectors.h"
#include "backend/semantics/half.h"

/* After selection: operand 0 is p (or d), 1 and 2 are a and b, 3 is the predicate c, 4 is q. */
#define TEST2(name, T, ...) PT_VECTORS_TEST2(test_##name, 1, T, 2, T, __VA_ARGS__)
#define PT_COMPARE_UPPER
#include "backend/semantics/compare.def"
#undef PT_COMPARE_UPPER

/* How the test combines with c; q gets the inverse test. Bits of aux. */
enum { BOOL_AND = 1, BOOL_OR = 2, BOOL_XOR = 3, BOOL = 3, HAS_Q = 4 };

static inline uint32_t combine(uint32_t test, uint32_t c, unsigned bool_op)
{
    return bool_op == BOOL_AND   ? test & c
           : bool_op == BOOL_OR  ? test | c
           : bool_op == BOOL_XOR ? test ^ c
                                 : test;
}

static inline const struct pt_code *setp_general(const struct pt_code *c, struct pt_frame *f,
                                                 uint32_t p, uint32_t q)
{
    unsigned op = c->aux & BOOL;
    uint32_t with = op ? PT_PRED(3) : 0;
    PT_SET_PRED(0, combine(p, with, op));
    if (c->aux & HAS_Q)
        PT_SET_PRED(4, combine(q, with, op));
    return c + 1;
}

/* d is `yes` where the test holds, else 0; imm holds yes. */
static inline const struct pt_code *set_general(const struct pt_code *c, struct pt_frame *f,
                                                uint32_t test)
{
    uint32_t *d_ = PT_SLOT(0, u32);
    unsigned op = c->aux & BOOL;
    uint32_t holds = combine(test, op ? PT_PRED(3) : 0, op), yes = (uint32_t)c->imm;
    PT_STORE_LANES(u32, d_, const uint32_t value = -(holds >> i & 1) & yes;);
    return c + 1;
}

/* The packed forms: imm holds what the lower half gets, and above it the upper. */
static inline const struct pt_code *set_pair(const struct pt_code *c, struct pt_frame *f,
                                             uint32_t low, uint32_t high)
{
    uint32_t *d_ = PT_SLOT(0, u32);
    unsigned op = c->aux & BOOL;
    uint32_t with = op ? PT_PRED(3) : 0, yes = (uint32_t)c->imm & 0xffff;
    low = combine(low, with, op);
    high = combine(high, with, op);
    PT_STORE_LANES(
        u32, d_, const uint32_t value = (-(low >> i & 1) & yes) | (-(high >> i & 1) & yes) << 16;);
    return c + 1;
}

#define TEST2(name, T, ...)                          \
    PT_HANDLER(setp_##name)                          \
    {                                                \
        PT_SET_PRED(0, test_##name(c, f));           \
        return c + 1;                                \
    }                                                \
    PT_HANDLER(setp_bool_##name)                     \
    {                                                \
        uint32_t test = test_##name(c, f);           \
        return setp_general(c, f, test, ~test);      \
    }                                                \
    PT_HANDLER(set_##name)                           \
    {                                                \
        return set_general(c, f, test_##name(c, f)); \
    }
#include "backend/semantics/compare.def"

#define PAIR_TEST(cmp, type)                                                                \
    PT_HANDLER(setp_##cmp##_##type##x2)                                                     \
    {                                                                                       \
        return setp_general(c, f, test_##cmp##_##type(c, f), test_##cmp##_##type##h(c, f)); \
    }                                                                                       \
    PT_HANDLER(set_##cmp##_##type##x2)                                                      \
    {                                                                                       \
        return set_pair(c, f, test_##cmp##_##type(c, f), test_##cmp##_##type##h(c, f));     \
    }
#define FLOAT_CMPS(X, type)                                                                 \
    X(eq, type)                                                                             \
    X(ne, type)                                                                             \
    X(lt, type)                                                                             \
    X(le, type) X(gt, type) X(ge, type) X(equ, type) X(neu, type) X(ltu, type) X(leu, type) \
        X(gtu, type) X(geu, type) X(num, type) X(nan, type)
FLOAT_CMPS(PAIR_TEST, f16)
FLOAT_CMPS(PAIR_TEST, ftz_f16)
FLOAT_CMPS(PAIR_TEST, bf16)

/* ---- selection ------------------------------------------------------------------------------- */

/* Comparison operators in the order of the handler tables. */
enum {
    C_EQ,
    C_NE,
    C_LT,
    C_LE,
    C_GT,
    C_GE,
    C_EQU,
    C_NEU,
    C_LTU,
    C_LEU,
    C_GTU,
    C_GEU,
    C_NUM,
    C_NAN,
    C_COUNT
};

/* lo, ls, hi and hs are the unsigned names of lt, le, gt and ge. */
static int comparison(const struct pt_select *s)
{
    for (unsigned i = 0; i < s->form->n_mods; i++) {
        switch (s->form->mod[i]) {
        case PT_M_eq:
            return C_EQ;
        case PT_M_ne:
            return C_NE;
        case PT_M_lt:
        case PT_M_lo:
            return C_LT;
        case PT_M_le:
        case PT_M_ls:
            return C_LE;
        case PT_M_gt:
        case PT_M_hi:
            return C_GT;
        case PT_M_ge:
        case PT_M_hs:
            return C_GE;
        case PT_M_equ:
            return C_EQU;
        case PT_M_neu:
            return C_NEU;
        case PT_M_ltu:
            return C_LTU;
        case PT_M_leu:
            return C_LEU;
        case PT_M_gtu:
            return C_GTU;
        case PT_M_geu:
            return C_GEU;
        case PT_M_num:
            return C_NUM;
        case PT_M_nan:
            return C_NAN;
        default:
            break;
        }
    }
    return -1;
}

static unsigned bool_op(const struct pt_select *s)
{
    return PT_HAS(s, and) ? BOOL_AND : PT_HAS(s, or) ? BOOL_OR : PT_HAS(s, xor) ? BOOL_XOR : 0;
}

enum { KIND_SETP, KIND_SETP_BOOL, KIND_SET, KINDS };

#define INT_ROW(k, u, x) {k##_eq_##u, k##_ne_##u, k##_lt_##x, k##_le_##x, k##_gt_##x, k##_ge_##x}
#define INT_ROWS(u, x) {INT_ROW(setp, u, x), INT_ROW(setp_bool, u, x), INT_ROW(set, u, x)}
#define FLOAT_ROW(k, t)                                                                         \
    {k##_eq_##t,  k##_ne_##t,  k##_lt_##t,  k##_le_##t,  k##_gt_##t,  k##_ge_##t,  k##_equ_##t, \
     k##_neu_##t, k##_ltu_##t, k##_leu_##t, k##_gtu_##t, k##_geu_##t, k##_num_##t, k##_nan_##t}
#define FLOAT_ROWS(t) {FLOAT_ROW(setp, t), FLOAT_ROW(setp_bool, t), FLOAT_ROW(set, t)}
#define PAIR_ROWS(t) {FLOAT_ROW(setp, t), FLOAT_ROW(setp, t), FLOAT_ROW(set, t)}

static const pt_handler compare[PT_TYPE_COUNT][KINDS][C_COUNT] = {
    [PT_b16] = INT_ROWS(u16, u16), [PT_b32] = INT_ROWS(u32, u32), [PT_b64] = INT_ROWS(u64, u64),
    [PT_u16] = INT_ROWS(u16, u16), [PT_u32] = INT_ROWS(u32, u32), [PT_u64] = INT_ROWS(u64, u64),
    [PT_s16] = INT_ROWS(u16, s16), [PT_s32] = INT_ROWS(u32, s32), [PT_s64] = INT_ROWS(u64, s64),
    [PT_f32] = FLOAT_ROWS(f32),    [PT_f64] = FLOAT_ROWS(f64),    [PT_f16] = FLOAT_ROWS(f16),
    [PT_bf16] = FLOAT_ROWS(bf16),  [PT_f16x2] = PAIR_ROWS(f16x2), [PT_bf16x2] = PAIR_ROWS(bf16x2),
};
static const pt_handler compare_ftz[PT_TYPE_COUNT][KINDS][C_COUNT] = {
    [PT_f32] = FLOAT_ROWS(ftz_f32),
    [PT_f16] = FLOAT_ROWS(ftz_f16),
    [PT_f16x2] = PAIR_ROWS(ftz_f16x2),
};

static pt_handler pick_compare(struct pt_select *s, enum pt_type t, int kind)
{
    int cmp = comparison(s);
    if (cmp < 0)
        return pt_refuse(s, s->form->spelling);
    return PT_HAS(s, ftz) ? compare_ftz[t][kind][cmp] : compare[t][kind][cmp];
}

/* setp p{|q}, a, b{, c} */
static pt_handler pick_setp(struct pt_select *s)
{
    enum pt_type t = (enum pt_type)s->form->type[0];
    unsigned op = bool_op(s);
    bool has_q = s->operands[0].kind == PT_OPND_PAIR;
    pt_handler fn = pick_compare(s, t, op || has_q ? KIND_SETP_BOOL : KIND_SETP);
    if (!fn)
        return NULL;
    if (!pt_pick(s, fn, has_q ? "pp00p" : "p00p"))
        return NULL;
    struct pt_code *c = s->code;
    c->aux = (uint16_t)(op | (has_q ? HAS_Q : 0));
    if (has_q) {
        uint32_t q = c->o[1];
        c->o[1] = c->o[2];
        c->o[2] = c->o[3];
        c->o[3] = c->o[4];
        c->o[4] = q;
        c->neg = (uint8_t)(c->neg >> 4 << 3);
    }
    return fn;
}

#define SETP_ROW(id)                           \
    pt_handler PT_DO(id)(struct pt_select * s) \
    {                                          \
        return pick_setp(s);                   \
    }
SETP_ROW(setp_int)
SETP_ROW(setp_f32)
SETP_ROW(setp_f64)
SETP_ROW(setp_f16)
SETP_ROW(setp_bf16)
SETP_ROW(setp_f16x2)
SETP_ROW(setp_bf16x2)
SETP_ROW(setp_x2_one)

/* What a set writes where it holds: all ones, or 1.0 of a floating-point type. */
static uint32_t set_yes(enum pt_type d)
{
    switch (d) {
    case PT_f32:
        return 0x3f800000;
    case PT_f16:
    case PT_f16x2:
        return 0x3c00;
    case PT_bf16:
    case PT_bf16x2:
        return 0x3f80;
    case PT_u16:
    case PT_s16:
        return 0xffff;
    default:
        return UINT32_MAX;
    }
}

/* set d, a, b{, c} */
static pt_handler pick_set(struct pt_select *s)
{
    enum pt_type t = (enum pt_type)s->form->type[1];
    pt_handler fn = pick_compare(s, t, KIND_SET);
    if (!fn)
        return NULL;
    s->code->imm = set_yes((enum pt_type)s->form->type[0]);
    s->code->aux = (uint16_t)bool_op(s);
    return pt_pick(s, fn, "011p");
}

#define SET_ROW(id)                            \
    pt_handler PT_DO(id)(struct pt_select * s) \
    {                                          \
        return pick_set(s);                    \
    }
SET_ROW(set_int)
SET_ROW(set_f32)
SET_ROW(set_f64)
SET_ROW(set_f16)
SET_ROW(set_bf16)
SET_ROW(set_f16x2)
SET_ROW(set_bf16x2)

/* ---- selp, slct ------------------------------------------------------------------------------ */

#define SELP_FN(name, T)                                                                           \
    PT_HANDLER(name)                                                                               \
    {                                                                                              \
        PT_ELT_##T *d_ = PT_SLOT(0, T);                                                            \
        const PT_ELT_##T *a_ = PT_SLOT(1, T), *b_ = PT_SLOT(2, T);                                 \
        const uint32_t p = PT_PRED(3);                                                             \
        PT_STORE_LANES(T, d_, const PT_VAL_##T value = (PT_VAL_##T)(p >> i & 1 ? a_[i] : b_[i]);); \
        return c + 1;                                                                              \
    }
SELP_FN(selp_16, u16)
SELP_FN(selp_32, u32)
SELP_FN(selp_64, u64)

pt_handler PT_DO(selp)(struct pt_select *s)
{
    unsigned bits = PT_BITS(s, 0);
    return pt_pick(s, bits == 64 ? selp_64 : bits == 16 ? selp_16 : selp_32, "000p");
}

PT_FN3(slct_s32_16, u16, u16, u16, s32, c_ >= 0 ? a : b)
PT_FN3(slct_s32_32, u32, u32, u32, s32, c_ >= 0 ? a : b)
PT_FN3(slct_s32_64, u64, u64, u64, s32, c_ >= 0 ? a : b)
PT_FN3(slct_f32_16, u16, u16, u16, u32, pt_lane_f32(c_) >= 0 ? a : b)
PT_FN3(slct_f32_32, u32, u32, u32, u32, pt_lane_f32(c_) >= 0 ? a : b)
PT_FN3(slct_f32_64, u64, u64, u64, u32, pt_lane_f32(c_) >= 0 ? a : b)
PT_FN3(slct_ftz_f32_16, u16, u16, u16, u32, pt_lane_f32(pt_float_ftz(c_, true)) >= 0 ? a : b)
PT_FN3(slct_ftz_f32_32, u32, u32, u32, u32, pt_lane_f32(pt_float_ftz(c_, true)) >= 0 ? a : b)
PT_FN3(slct_ftz_f32_64, u64, u64, u64, u32, pt_lane_f32(pt_float_ftz(c_, true)) >= 0 ? a : b)

pt_handler PT_DO(slct)(struct pt_select *s)
{
    static const pt_handler fn[3][3] = {{slct_s32_16, slct_s32_32, slct_s32_64},
                                        {slct_f32_16, slct_f32_32, slct_f32_64},
                                        {slct_ftz_f32_16, slct_ftz_f32_32, slct_ftz_f32_64}};
    unsigned bits = PT_BITS(s, 0);
    unsigned how = s->form->type[1] == PT_s32 ? 0 : PT_HAS(s, ftz) ? 2 : 1;
    return pt_pick(s, fn[how][bits == 64 ? 2 : bits == 16 ? 0 : 1], "000w");
}
