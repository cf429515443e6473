/* Approximate functions: handlers and selectors (PTX ISA 9.7.3.13 ..., 9.7.4). */
#include "backend/interp/pick.h"
#include "backend/semantics/mufu.h"

#define LANE1 LANE1_FN
#define LANE2 LANE2_FN
#include "backend/semantics/mufu.def"
PT_LANES_TABLE(mufu) = {
#define LANE1 LANE1_ROW
#define LANE2 LANE2_ROW
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
