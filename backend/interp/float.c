/* Floating-point arithmetic of f32 and f64: handlers and selectors (PTX ISA 9.7.3). */
#include "backend/interp/vectors.h"
#include "backend/interp/whole.h"
#include "backend/semantics/float.h"

/* Directed roundings: over n lanes in a rounding mode of the host's, where it has one that
 * serves. */
#ifdef PT_FLOAT_HOST_ROUNDS
#define DIRECTED_FN(RND, name, n_sources, D, A, sources, ...)                                  \
    PT_LANES_FN(name##_each, D, A, sources, __VA_ARGS__)                                       \
    static void lanes_##name(void *d, const void *a, const void *b, const void *c, uint32_t n) \
    {                                                                                          \
        uint32_t mode = pt_float_host_round(RND);                                              \
        lanes_##name##_each(d, a, b, c, n);                                                    \
        pt_float_host_restore(mode);                                                           \
    }                                                                                          \
    PT_LANES_HANDLER(name, D, n_sources)
#define DIRECTED1(RND, name, D, A, ...) \
    DIRECTED_FN(RND, name, 1, D, A, PT_LANES_SOURCE(A, a), __VA_ARGS__)
#define DIRECTED2(RND, name, D, A, B, ...) \
    DIRECTED_FN(RND, name, 2, D, A, PT_LANES_SOURCE(A, a) PT_LANES_SOURCE(B, b), __VA_ARGS__)
#define DIRECTED3(RND, name, D, A, B, C, ...) \
    DIRECTED_FN(RND, name, 3, D, A,           \
                PT_LANES_SOURCE(A, a) PT_LANES_SOURCE(B, b) PT_LANES_SOURCE(C, c_), __VA_ARGS__)
#else
#define DIRECTED1(RND, name, ...) LANE1_FN(name, __VA_ARGS__)
#define DIRECTED2(RND, name, ...) LANE2_FN(name, __VA_ARGS__)
#define DIRECTED3(RND, name, ...) LANE3_FN(name, __VA_ARGS__)
#endif
#define LANE1 LANE1_FN
#define LANE2 LANE2_FN
#define LANE3 LANE3_FN
#include "backend/semantics/float.def"
PT_LANES_TABLE(float) = {
#define LANE1 LANE1_ROW
#define LANE2 LANE2_ROW
#define LANE3 LANE3_ROW
#define DIRECTED1(RND, ...) LANE1_ROW(__VA_ARGS__)
#define DIRECTED2(RND, ...) LANE2_ROW(__VA_ARGS__)
#define DIRECTED3(RND, ...) LANE3_ROW(__VA_ARGS__)
#include "backend/semantics/float.def"
    PT_LANES_END};

/* f64 to nearest over a warp of which no result is a NaN: whose payload that would be takes longer
 * to find out than the operation. */
#ifdef PT_VECTORS_F64
#define PLAIN_F64(name, ...)                                                      \
    PT_HANDLER(name##_plain)                                                      \
    {                                                                             \
        const pt_vector_f64 *a = (const pt_vector_f64 *)PT_SLOT(1, f64);          \
        const pt_vector_f64 *b = (const pt_vector_f64 *)PT_SLOT(2, f64);          \
        const pt_vector_f64 *c_ = (const pt_vector_f64 *)PT_SLOT(3, f64);         \
        pt_vector_f64 v[PT_VECTORS_OF_F64];                                       \
        (void)b, (void)c_;                                                        \
        PT_VECTORS_EACH(k, PT_VECTORS_OF_F64)                                     \
        v[k] = (__VA_ARGS__);                                                     \
        if (__builtin_expect(pt_vector_has_nan64(v), 0))                          \
            return name(c, f);                                                    \
        if (__builtin_expect(f->mask == UINT32_MAX, 1))                           \
            pt_vector_store64(PT_SLOT(0, f64), v, UINT32_MAX);                    \
        else                                                                      \
            pt_vector_store64(PT_SLOT(0, f64), v, f->mask);                       \
        return c + 1;                                                             \
    }
PLAIN_F64(add_rn_f64, a[k] + b[k])
PLAIN_F64(sub_rn_f64, a[k] - b[k])
PLAIN_F64(mul_rn_f64, a[k] * b[k])
PLAIN_F64(fma_rn_f64, pt_vector_fma64(a[k], b[k], c_[k]))
PLAIN_F64(div_rn_f64, a[k] / b[k])
PLAIN_F64(rcp_rn_f64, 1.0 / a[k])
PLAIN_F64(sqrt_rn_f64, pt_vector_sqrt64(a[k]))
#define PLAIN_OF(name) name##_plain
#else
#define PLAIN_OF(name) name
#endif

/* By the rounding. Where only the choice matters, the handler that the function over n lanes is
 * for. */
static pt_handler f64_handler(const struct pt_select *s, const pt_handler fn[4], pt_handler plain)
{
    enum pt_round rnd = pt_pick_round(s);
    return rnd == PT_RN && s->decoder ? plain : fn[rnd];
}

/* [rounding][ftz][sat] */
#define RND_ROW(op, rnd)                                   \
    {                                                      \
        {op##_##rnd##_f32, op##_##rnd##_sat_f32},          \
        {                                                  \
            op##_##rnd##_ftz_f32, op##_##rnd##_ftz_sat_f32 \
        }                                                  \
    }
#define RND_TABLE(op) {RND_ROW(op, rn), RND_ROW(op, rz), RND_ROW(op, rm), RND_ROW(op, rp)}
#define RND_F64(op) {op##_rn_f64, op##_rz_f64, op##_rm_f64, op##_rp_f64}
/* [rounding][ftz] */
#define RND_FTZ(op)                                                     \
    {                                                                   \
        {op##_rn_f32, op##_rn_ftz_f32}, {op##_rz_f32, op##_rz_ftz_f32}, \
            {op##_rm_f32, op##_rm_ftz_f32},                             \
        {                                                               \
            op##_rp_f32, op##_rp_ftz_f32                                \
        }                                                               \
    }

#define ARITH(op, row, pattern)                                                           \
    pt_handler PT_DO(row##_f32)(struct pt_select * s)                                     \
    {                                                                                     \
        static const pt_handler fn[4][2][2] = RND_TABLE(op);                              \
        return pt_pick(s, fn[pt_pick_round(s)][pt_pick_ftz(s)][PT_HAS(s, sat)], pattern); \
    }                                                                                     \
    pt_handler PT_DO(row##_f64)(struct pt_select * s)                                     \
    {                                                                                     \
        static const pt_handler fn[4] = RND_F64(op);                                      \
        return pt_pick(s, f64_handler(s, fn, PLAIN_OF(op##_rn_f64)), pattern);            \
    }
ARITH(add, add, "000")
ARITH(sub, sub, "000")
ARITH(mul, mul, "000")
ARITH(fma, fma, "0000")

/* The form of the first targets, without a rounding: today's assembler makes it an fma. */
pt_handler PT_DO(mad_f32)(struct pt_select *s)
{
    return pt_pick(s, PT_HAS(s, sat) ? fma_rn_ftz_sat_f32 : fma_rn_ftz_f32, "wwww");
}

#define ROUNDED(op, pattern)                                              \
    pt_handler PT_DO(op##_f32)(struct pt_select * s)                      \
    {                                                                     \
        static const pt_handler fn[4][2] = RND_FTZ(op);                   \
        return pt_pick(s, fn[pt_pick_round(s)][pt_pick_ftz(s)], pattern); \
    }                                                                     \
    pt_handler PT_DO(op##_f64)(struct pt_select * s)                      \
    {                                                                     \
        static const pt_handler fn[4] = RND_F64(op);                            \
        return pt_pick(s, f64_handler(s, fn, PLAIN_OF(op##_rn_f64)), pattern);  \
    }
ROUNDED(div, "000")
ROUNDED(rcp, "00")
ROUNDED(sqrt, "00")

/* [ftz][NaN] */
#define PICKS(op, suffix)                                      \
    {                                                          \
        {op##suffix##_f32, op##_nan##suffix##_f32},            \
        {                                                      \
            op##_ftz##suffix##_f32, op##_ftz_nan##suffix##_f32 \
        }                                                      \
    }
#define PICK(op)                                                                            \
    pt_handler PT_DO(op##_f32)(struct pt_select * s)                                        \
    {                                                                                       \
        static const pt_handler two[2][2] = PICKS(op, ), signs[2][2] = PICKS(op, _xorsign); \
        unsigned ftz = pt_pick_ftz(s), nan = PT_HAS(s, NaN);                                \
        return pt_pick(s, PT_HAS(s, xorsign) ? signs[ftz][nan] : two[ftz][nan], "www");     \
    }                                                                                       \
    pt_handler PT_DO(op##_f64)(struct pt_select * s)                                        \
    {                                                                                       \
        return pt_pick(s, op##_f64, "lll");                                                 \
    }
PICK(min)
PICK(max)

pt_handler PT_DO(abs_f32)(struct pt_select *s)
{
    return pt_pick(s, pt_pick_ftz(s) ? abs_ftz_f32 : abs_f32, "ww");
}

pt_handler PT_DO(abs_f64)(struct pt_select *s)
{
    return pt_pick(s, abs_f64, "ll");
}

pt_handler PT_DO(neg_f32)(struct pt_select *s)
{
    return pt_pick(s, pt_pick_ftz(s) ? neg_ftz_f32 : neg_f32, "ww");
}

pt_handler PT_DO(neg_f64)(struct pt_select *s)
{
    return pt_pick(s, neg_f64, "ll");
}

pt_handler PT_DO(copysign)(struct pt_select *s)
{
    return pt_pick(s, PT_BITS(s, 0) == 64 ? copysign_f64 : copysign_f32, "000");
}

/* ---- testp ----------------------------------------------------------------------------------- */

/* The classes by the magnitude's bits, given the bits of infinity and of the smallest normal
 * value. */
#define TESTP_FN(name, T, inf, least, expr)                       \
    PT_TEST1(test_##name, 1, T, ({                                \
                 const PT_VAL_##T m = a << 1 >> 1;                \
                 expr(m, (PT_VAL_##T)(inf), (PT_VAL_##T)(least)); \
             }))                                                  \
    PT_HANDLER(name)                                              \
    {                                                             \
        PT_SET_PRED(0, test_##name(c, f));                        \
        return c + 1;                                             \
    }
#define IS_FINITE(m, inf, least) (m < inf)
#define IS_INFINITE(m, inf, least) (m == inf)
#define IS_NUMBER(m, inf, least) (m <= inf)
#define IS_NAN(m, inf, least) (m > inf)
#define IS_NORMAL(m, inf, least) (m == 0 || (m >= least && m < inf)) /* an H200 counts zero */
#define IS_SUBNORMAL(m, inf, least) (m != 0 && m < least)
#define TESTP(name, expr)                                   \
    TESTP_FN(name##_f32, u32, 0x7f800000, 0x00800000, expr) \
    TESTP_FN(name##_f64, u64, 0x7ff0000000000000, 0x0010000000000000, expr)
TESTP(testp_finite, IS_FINITE)
TESTP(testp_infinite, IS_INFINITE)
TESTP(testp_number, IS_NUMBER)
TESTP(testp_notanumber, IS_NAN)
TESTP(testp_normal, IS_NORMAL)
TESTP(testp_subnormal, IS_SUBNORMAL)

pt_handler PT_DO(testp)(struct pt_select *s)
{
    bool wide = PT_BITS(s, 0) == 64;
#define CLASS(name)      \
    if (PT_HAS(s, name)) \
        return pt_pick(s, wide ? testp_##name##_f64 : testp_##name##_f32, "p0");
    CLASS(finite)
    CLASS(infinite)
    CLASS(number)
    CLASS(notanumber)
    CLASS(normal)
    CLASS(subnormal)
#undef CLASS
    return pt_refuse(s, s->form->spelling);
}

PT_HANDLER(testp_keeps)
{
    (void)f;
    return c + 1;
}

pt_handler PT_DO(testp_none)(struct pt_select *s)
{
    (void)s;
    return testp_keeps;
}
