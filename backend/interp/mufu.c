/* Approximate functions: handlers and selectors (PTX ISA 9.7.3.13 ..., 9.7.4). */
#include "backend/interp/whole.h"
#include "backend/semantics/mufu_wide.h"

/* Vectors; where one has a lane that is not plain, lane by lane. */
#ifdef PT_WIDE
#define WIDE_FN(name, all, last, wide, ...)                                           \
    PT_LANES_FN(name##_each, u32, u32, PT_LANES_SOURCE(u32, a), __VA_ARGS__)          \
    static void lanes_##name(void *lanes_d, const void *lanes_a, const void *lanes_b, \
                             const void *lanes_c_, uint32_t n)                        \
    {                                                                                 \
        uint32_t *d = lanes_d;                                                        \
        const uint32_t *a = lanes_a;                                                  \
        pt_wide r;                                                                    \
        (void)lanes_b;                                                                \
        (void)lanes_c_;                                                               \
        all(name, wide);                                                              \
        n &= ~3u;                                                                     \
        if (!n)                                                                       \
            return;                                                                   \
        uint32_t part[2][PT_WIDE];                                                    \
        pt_wide_store(part[0], pt_wide_load_part(a, n, pt_wide_all(0x3f800000)));     \
        if (last(wide))                                                               \
            pt_wide_store_part(d, r, n);                                              \
        else                                                                          \
            lanes_##name##_each(d, a, NULL, NULL, n);                                 \
    }                                                                                 \
    PT_LANES_HANDLER(name, u32, 1)

#define WIDE_ALL(name, wide)                                         \
    for (; n >= PT_WIDE; n -= PT_WIDE, a += PT_WIDE, d += PT_WIDE) { \
        if (__builtin_expect(wide(a, &r), 1))                        \
            pt_wide_store(d, r);                                     \
        else                                                         \
            lanes_##name##_each(d, a, NULL, NULL, PT_WIDE);          \
    }
#define WIDE_LAST(wide) wide(part[0], &r)
#define WIDE1(name, wide, ...) WIDE_FN(name, WIDE_ALL, WIDE_LAST, wide, __VA_ARGS__)

/* The same of two functions: the second one looks at the first one's results in memory. AVX2 makes
 * several of them ahead, not to wait for each. */
enum { AHEAD = PT_WIDE == 16 ? PT_WIDE : 8 * PT_WIDE };
#define FIXED_ALL(name, wide)                                           \
    uint32_t fixed[AHEAD];                                              \
    for (uint32_t now; n >= PT_WIDE; n -= now, a += now, d += now) {    \
        now = n < AHEAD ? n / PT_WIDE * PT_WIDE : AHEAD;                \
        for (uint32_t i = 0; i < now; i += PT_WIDE)                     \
            pt_wide_spill(fixed + i, wide##_fixed(a + i));              \
        for (uint32_t i = 0; i < now; i += PT_WIDE) {                   \
            if (__builtin_expect(wide(a + i, fixed + i, &r), 1))        \
                pt_wide_store(d + i, r);                                \
            else                                                        \
                lanes_##name##_each(d + i, a + i, NULL, NULL, PT_WIDE); \
        }                                                               \
    }
#define FIXED_LAST(wide) (pt_wide_spill(part[1], wide##_fixed(part[0])), wide(part[0], part[1], &r))
#define WIDE1_FIXED(name, wide, ...) WIDE_FN(name, FIXED_ALL, FIXED_LAST, wide, __VA_ARGS__)
#else
#define WIDE1_FIXED WIDE1
#define WIDE1(name, wide, ...) LANE1_FN(name, u32, u32, __VA_ARGS__)
#endif
#define LANE1 LANE1_FN
#define LANE2 LANE2_FN
#include "backend/semantics/mufu.def"
PT_LANES_TABLE(mufu) = {
#define LANE1 LANE1_ROW
#define LANE2 LANE2_ROW
#define WIDE1(name, wide, ...) LANE1_ROW(name, u32, u32, __VA_ARGS__)
#define WIDE1_FIXED WIDE1
#include "backend/semantics/mufu.def"
    PT_LANES_END};

#define F32_ROW(op)                                                                      \
    pt_handler PT_DO(op##_approx)(struct pt_select * s)                                  \
    {                                                                                    \
        return pt_pick(s, pt_pick_ftz(s) ? op##_approx_ftz_f32 : op##_approx_f32, "ww"); \
    }
F32_ROW(rcp)
F32_ROW(rsqrt)
F32_ROW(sqrt)
F32_ROW(ex2)
F32_ROW(lg2)
F32_ROW(sin)
F32_ROW(cos)

pt_handler PT_DO(tanh_approx)(struct pt_select *s)
{
    return pt_pick(s, tanh_approx_f32, "ww");
}

pt_handler PT_DO(div_approx)(struct pt_select *s)
{
    static const pt_handler fn[2][2] = {{div_approx_f32, div_approx_ftz_f32},
                                        {div_full_f32, div_full_ftz_f32}};
    return pt_pick(s, fn[PT_HAS(s, full)][pt_pick_ftz(s)], "www");
}

#define HALF_ROW(op, type)                                                                   \
    pt_handler PT_DO(op##_##type)(struct pt_select * s)                                      \
    {                                                                                        \
        return pt_pick(s, PT_BITS(s, 0) == 32 ? op##_approx_##type##x2 : op##_approx_##type, \
                       "ww");                                                                \
    }
HALF_ROW(ex2, f16)
HALF_ROW(ex2, bf16)
HALF_ROW(tanh, f16)
HALF_ROW(tanh, bf16)

pt_handler PT_DO(rcp_approx_f64)(struct pt_select *s)
{
    return pt_pick(s, rcp_approx_f64, "ll");
}

pt_handler PT_DO(rsqrt_approx_f64)(struct pt_select *s)
{
    return pt_pick(s, PT_HAS(s, ftz) ? rsqrt_approx_ftz_f64 : rsqrt_approx_f64, "ll");
}
