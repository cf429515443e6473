/* f16 and bf16 arithmetic, single and packed: handlers and selectors (PTX ISA 9.7.4). */
#include "backend/interp/pick.h"
#include "backend/semantics/half.h"

#define LANE1 LANE1_FN
#define LANE2 LANE2_FN
#define LANE3 LANE3_FN
#include "backend/semantics/half.def"
PT_LANES_TABLE(half) = {
#define LANE1 LANE1_ROW
#define LANE2 LANE2_ROW
#define LANE3 LANE3_ROW
#include "backend/semantics/half.def"
    PT_LANES_END};

/* The four types of a table. */
#define F16S(op) [PT_f16] = op##_f16, [PT_f16x2] = op##_f16x2
#define BF16S(op) [PT_bf16] = op##_bf16, [PT_bf16x2] = op##_bf16x2

#define BIN(op)                                                                                   \
    static pt_handler pick_##op(struct pt_select *s)                                              \
    {                                                                                             \
        static const pt_handler fn[2][2][PT_TYPE_COUNT] = {                                       \
            {{F16S(op), BF16S(op)}, {F16S(op##_sat)}}, {{F16S(op##_ftz)}, {F16S(op##_ftz_sat)}}}; \
        return pt_pick(s, fn[PT_HAS(s, ftz)][PT_HAS(s, sat)][s->form->type[0]], "www");           \
    }
BIN(add)
BIN(sub)
BIN(mul)

/* Directed rounding: see half.def. */
#define DIRECTED(op)                                                                  \
    {                                                                                 \
        [PLAIN] = {[PT_bf16] = op##_bf16, [PT_bf16x2] = fma_rn_bf16x2},               \
        [RELU] = {[PT_bf16] = op##_bf16, [PT_bf16x2] = fma_rn_relu_bf16x2},           \
        [OOB] = {[PT_bf16] = op##_bf16, [PT_bf16x2] = fma_oob_bf16x2}, [OOB_RELU] = { \
            [PT_bf16] = op##_bf16,                                                    \
            [PT_bf16x2] = fma_oob_relu_bf16x2                                         \
        }                                                                             \
    }

static pt_handler pick_fma(struct pt_select *s)
{
    enum { PLAIN, SAT, RELU, OOB, OOB_SAT, OOB_RELU };
    static const pt_handler fn[4][2][6][PT_TYPE_COUNT] = {
        [PT_RN] = {{{F16S(fma), BF16S(fma_rn)},
                    {F16S(fma_sat)},
                    {F16S(fma_relu), BF16S(fma_rn_relu)},
                    {F16S(fma_oob), BF16S(fma_oob)},
                    {F16S(fma_oob_sat)},
                    {F16S(fma_oob_relu), BF16S(fma_oob_relu)}},
                   {{F16S(fma_ftz)}, {F16S(fma_ftz_sat)}, {F16S(fma_ftz_relu)}}},
        [PT_RZ] = {DIRECTED(fma_rz)},
        [PT_RM] = {DIRECTED(fma_rm)},
        [PT_RP] = {DIRECTED(fma_rp)},
    };
    unsigned how = PT_HAS(s, sat) ? SAT : PT_HAS(s, relu) ? RELU : PLAIN;
    if (PT_HAS(s, oob))
        how += OOB;
    return pt_pick(s, fn[pt_pick_round(s)][PT_HAS(s, ftz)][how][s->form->type[0]], "wwww");
}

#define PICK(op)                                                                                 \
    static pt_handler pick_##op(struct pt_select *s)                                             \
    {                                                                                            \
        static const pt_handler fn[2][2][2][PT_TYPE_COUNT] = {                                   \
            {{{F16S(op), BF16S(op)}, {F16S(op##_xorsign), BF16S(op##_xorsign)}},                 \
             {{F16S(op##_nan), BF16S(op##_nan)},                                                 \
              {F16S(op##_nan_xorsign), BF16S(op##_nan_xorsign)}}},                               \
            {{{F16S(op##_ftz)}, {F16S(op##_ftz_xorsign)}},                                       \
             {{F16S(op##_ftz_nan)}, {F16S(op##_ftz_nan_xorsign)}}}};                             \
        return pt_pick(                                                                          \
            s, fn[PT_HAS(s, ftz)][PT_HAS(s, NaN)][PT_HAS(s, xorsign)][s->form->type[0]], "www"); \
    }
PICK(min)
PICK(max)

#define SIGN(op)                                                                                  \
    static pt_handler pick_##op(struct pt_select *s)                                              \
    {                                                                                             \
        static const pt_handler fn[2][PT_TYPE_COUNT] = {{F16S(op), BF16S(op)}, {F16S(op##_ftz)}}; \
        return pt_pick(s, fn[PT_HAS(s, ftz)][s->form->type[0]], "ww");                            \
    }
SIGN(abs)
SIGN(neg)

#define ROWS(op)                                      \
    pt_handler PT_DO(op##_f16)(struct pt_select * s)  \
    {                                                 \
        return pick_##op(s);                          \
    }                                                 \
    pt_handler PT_DO(op##_bf16)(struct pt_select * s) \
    {                                                 \
        return pick_##op(s);                          \
    }
ROWS(add)
ROWS(sub)
ROWS(mul)
ROWS(fma)
ROWS(min)
ROWS(max)
ROWS(abs)
ROWS(neg)

pt_handler PT_DO(fma_oob)(struct pt_select *s)
{
    return pick_fma(s);
}

pt_handler PT_DO(fma_oob_sat)(struct pt_select *s)
{
    return pick_fma(s);
}
