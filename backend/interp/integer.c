/* Integer arithmetic: handlers and selectors (PTX ISA 9.7.1, 9.7.2). */
#include "backend/interp/pick.h"
#include "backend/semantics/integer.h"

#define LANE1 LANE1_FN
#define LANE2 LANE2_FN
#define LANE3 LANE3_FN
#define LANE4 LANE4_FN
#include "backend/semantics/integer.def"
PT_LANES_TABLE(integer) = {
#define LANE1 LANE1_ROW
#define LANE2 LANE2_ROW
#define LANE3 LANE3_ROW
#define LANE4 LANE4_ROW
#include "backend/semantics/integer.def"
    PT_LANES_END};

/* Types that do not care for sign, and types that do. */
#define ANY6(op)                                                    \
    {[PT_u16] = op##_u16, [PT_u32] = op##_u32, [PT_u64] = op##_u64, \
     [PT_s16] = op##_u16, [PT_s32] = op##_u32, [PT_s64] = op##_u64}
#define SIGNED6(op)                                                 \
    {[PT_u16] = op##_u16, [PT_u32] = op##_u32, [PT_u64] = op##_u64, \
     [PT_s16] = op##_s16, [PT_s32] = op##_s32, [PT_s64] = op##_s64}
#define WIDE4(op) \
    {[PT_u16] = op##_u16, [PT_u32] = op##_u32, [PT_s16] = op##_s16, [PT_s32] = op##_s32}

/* A row that is one table by type. */
#define BY_TYPE(id, pattern, ...)                         \
    pt_handler PT_DO(id)(struct pt_select * s)            \
    {                                                     \
        PT_TABLE(fn) = __VA_ARGS__;                       \
        return pt_pick(s, fn[s->form->type[0]], pattern); \
    }
BY_TYPE(add_int, "000", ANY6(add))
BY_TYPE(add_sat, "000", {[PT_s32] = add_sat_s32})
BY_TYPE(add_x2, "000", {[PT_u16x2] = add_u16x2, [PT_s16x2] = add_u16x2})
BY_TYPE(add_x4, "000", {[PT_u8x4] = add_u8x4, [PT_s8x4] = add_u8x4})
BY_TYPE(add_sat_x, "000",
        {[PT_u32] = add_sat_u32,
         [PT_u16x2] = add_sat_u16x2,
         [PT_s16x2] = add_sat_s16x2,
         [PT_u8x4] = add_sat_u8x4,
         [PT_s8x4] = add_sat_s8x4})
BY_TYPE(neg_x4, "00", {[PT_s8x4] = neg_s8x4})
BY_TYPE(sub_int, "000", ANY6(sub))
BY_TYPE(sub_sat, "000", {[PT_s32] = sub_sat_s32})
BY_TYPE(mul_lo, "000", ANY6(mul_lo))
BY_TYPE(mul_hi, "000", SIGNED6(mul_hi))
BY_TYPE(mul_wide, "d00", WIDE4(mul_wide))
BY_TYPE(mad_lo, "0000", ANY6(mad_lo))
BY_TYPE(mad_hi, "0000", SIGNED6(mad_hi))
BY_TYPE(mad_hi_sat, "0000", {[PT_s32] = mad_hi_sat_s32})
BY_TYPE(mad_wide, "d00d", WIDE4(mad_wide))

pt_handler PT_DO(mul24)(struct pt_select *s)
{
    bool is_signed = s->form->type[0] == PT_s32;
    pt_handler lo = is_signed ? mul24_lo_s32 : mul24_lo_u32,
               hi = is_signed ? mul24_hi_s32 : mul24_hi_u32;
    return pt_pick(s, PT_HAS(s, hi) ? hi : lo, "www");
}

pt_handler PT_DO(mad24)(struct pt_select *s)
{
    bool is_signed = s->form->type[0] == PT_s32;
    pt_handler lo = is_signed ? mad24_lo_s32 : mad24_lo_u32,
               hi = is_signed ? mad24_hi_s32 : mad24_hi_u32;
    return pt_pick(s, PT_HAS(s, hi) ? hi : lo, "wwww");
}

BY_TYPE(mad24_sat, "wwww", {[PT_s32] = mad24_hi_sat_s32})
BY_TYPE(sad, "0000", SIGNED6(sad))
BY_TYPE(div_int, "000", SIGNED6(div))
BY_TYPE(rem_int, "000", SIGNED6(rem))
BY_TYPE(abs_int, "00", {[PT_s16] = abs_s16, [PT_s32] = abs_s32, [PT_s64] = abs_s64})
BY_TYPE(neg_int, "00", {[PT_s16] = neg_s16, [PT_s32] = neg_s32, [PT_s64] = neg_s64})
BY_TYPE(min_int, "000", SIGNED6(min))
BY_TYPE(max_int, "000", SIGNED6(max))
BY_TYPE(min_x2, "000", {[PT_u16x2] = min_u16x2, [PT_s16x2] = min_s16x2})
BY_TYPE(max_x2, "000", {[PT_u16x2] = max_u16x2, [PT_s16x2] = max_s16x2})
BY_TYPE(min_relu, "000", {[PT_s32] = min_relu_s32, [PT_s16x2] = min_relu_s16x2})
BY_TYPE(max_relu, "000", {[PT_s32] = max_relu_s32, [PT_s16x2] = max_relu_s16x2})

pt_handler PT_DO(sub_x4)(struct pt_select *s)
{
    PT_TABLE(plain) = {[PT_u8x4] = sub_u8x4, [PT_s8x4] = sub_u8x4};
    PT_TABLE(sat) = {[PT_u8x4] = sub_sat_u8x4, [PT_s8x4] = sub_sat_s8x4};
    return pt_pick(s, (PT_HAS(s, sat) ? sat : plain)[s->form->type[0]], "000");
}

#define PICK_X4(op)                                                                        \
    pt_handler PT_DO(op##_x4)(struct pt_select * s)                                        \
    {                                                                                      \
        PT_TABLE(fn) = {[PT_u8x4] = op##_u8x4, [PT_s8x4] = op##_s8x4};                     \
        return pt_pick(s, PT_HAS(s, relu) ? op##_relu_s8x4 : fn[s->form->type[0]], "000"); \
    }
PICK_X4(min)
PICK_X4(max)

/* lo, ls, hi, hs are lt, le, gt, ge of unsigned parts. */
pt_handler PT_DO(set_x)(struct pt_select *s)
{
#define OF(op)                      \
    {[PT_u16x2] = set_##op##_u16x2, \
     [PT_s16x2] = set_##op##_s16x2, \
     [PT_u8x4] = set_##op##_u8x4,   \
     [PT_s8x4] = set_##op##_s8x4}
    static const struct {
        uint16_t mod, other;
        pt_handler fn[PT_TYPE_COUNT];
    } by[] = {{PT_M_eq, PT_M_eq, OF(eq)}, {PT_M_ne, PT_M_ne, OF(ne)}, {PT_M_lt, PT_M_lo, OF(lt)},
              {PT_M_le, PT_M_ls, OF(le)}, {PT_M_gt, PT_M_hi, OF(gt)}, {PT_M_ge, PT_M_hs, OF(ge)}};
#undef OF
    for (unsigned i = 0; i < sizeof by / sizeof *by; i++)
        if (pt_form_has(s->form, by[i].mod) || pt_form_has(s->form, by[i].other))
            return pt_pick(s, by[i].fn[s->form->type[0]], "000");
    return pt_refuse(s, NULL);
}

pt_handler PT_DO(clmad)(struct pt_select *s)
{
    return pt_pick(s, PT_HAS(s, hi) ? clmad_hi : clmad_lo, "0000");
}

pt_handler PT_DO(dp4a)(struct pt_select *s)
{
    static const pt_handler fn[2][2] = {{dp4a_uu, dp4a_us}, {dp4a_su, dp4a_ss}};
    return pt_pick(s, fn[s->form->type[0] == PT_s32][s->form->type[1] == PT_s32], "wwww");
}

pt_handler PT_DO(dp2a)(struct pt_select *s)
{
    static const pt_handler fn[2][2][2] = {{{dp2a_lo_uu, dp2a_lo_us}, {dp2a_lo_su, dp2a_lo_ss}},
                                           {{dp2a_hi_uu, dp2a_hi_us}, {dp2a_hi_su, dp2a_hi_ss}}};
    return pt_pick(s, fn[PT_HAS(s, hi)][s->form->type[0] == PT_s32][s->form->type[1] == PT_s32],
                   "wwww");
}

/* ---- extended precision (PTX ISA 9.7.2): CC.CF is one bit a lane ----------------------------- */

enum { CARRY_IN = 1, CARRY_OUT = 2, BORROW = 4 };

/* d = x + y + carry of unsigned type T, where x and y are expressions over the sources. A
 * subtraction adds the complement and 1; CC.CF after it is the carry of that sum, the inverse of a
 * borrow, as an H200 has it. */
#define CARRY_FN(name, T, n_sources, x_expr, y_expr)                                             \
    PT_HANDLER(name)                                                                             \
    {                                                                                            \
        PT_ELT_##T *d_ = PT_SLOT(0, T);                                                          \
        const PT_ELT_##T *a_ = PT_SLOT(1, T), *b_ = PT_SLOT(2, T), *c__ = PT_SLOT(n_sources, T); \
        uint32_t in = c->aux & CARRY_IN ? f->carry : c->aux & BORROW ? UINT32_MAX : 0;           \
        uint32_t out = 0;                                                                        \
        for (int i = 0; i < PT_WARP_SIZE; i++) {                                                 \
            const PT_VAL_##T a = (PT_VAL_##T)a_[i], b = (PT_VAL_##T)b_[i],                       \
                             c_ = (PT_VAL_##T)c__[i];                                            \
            const PT_VAL_##T x = (PT_VAL_##T)(x_expr), y = (PT_VAL_##T)(y_expr);                 \
            PT_VAL_##T r;                                                                        \
            bool carry = __builtin_add_overflow(x, y, &r);                                       \
            carry |= __builtin_add_overflow(r, (PT_VAL_##T)(in >> i & 1), &r);                   \
            out |= (uint32_t)carry << i;                                                         \
            d_[i] = f->mask >> i & 1 ? PT_PUT_##T(r) : d_[i];                                    \
            (void)a, (void)b, (void)c_;                                                          \
        }                                                                                        \
        if (c->aux & CARRY_OUT)                                                                  \
            f->carry = (f->carry & ~f->mask) | (out & f->mask);                                  \
        return c + 1;                                                                            \
    }
CARRY_FN(carry_add_16, u16, 2, a, b)
CARRY_FN(carry_add_32, u32, 2, a, b)
CARRY_FN(carry_add_64, u64, 2, a, b)
CARRY_FN(carry_sub_16, u16, 2, a, ~b)
CARRY_FN(carry_sub_32, u32, 2, a, ~b)
CARRY_FN(carry_sub_64, u64, 2, a, ~b)
CARRY_FN(carry_mad_lo_16, u16, 3, (uint32_t)a *b, c_)
CARRY_FN(carry_mad_lo_32, u32, 3, a *b, c_)
CARRY_FN(carry_mad_lo_64, u64, 3, a *b, c_)
/* The 16-bit forms take the upper word of the product of the extended values: 0, or the sign. */
CARRY_FN(carry_mad_hi_u16, u16, 3, 0, c_)
CARRY_FN(carry_mad_hi_s16, u16, 3, ((int16_t)a * (int16_t)b) >> 31, c_)
CARRY_FN(carry_mad_hi_u32, u32, 3, pt_integer_mulhi_u32(a, b), c_)
CARRY_FN(carry_mad_hi_s32, u32, 3, pt_integer_mulhi_s32((int32_t)a, (int32_t)b), c_)
CARRY_FN(carry_mad_hi_u64, u64, 3, pt_integer_mulhi_u64(a, b), c_)
CARRY_FN(carry_mad_hi_s64, u64, 3, pt_integer_mulhi_s64((int64_t)a, (int64_t)b), c_)

/* A row of the group; `how` says what of CC.CF it reads and writes. */
#define CARRY_ROW(id, how, pattern, ...)                  \
    pt_handler PT_DO(id)(struct pt_select * s)            \
    {                                                     \
        PT_TABLE(fn) = __VA_ARGS__;                       \
        s->code->aux = (how);                             \
        return pt_pick(s, fn[s->form->type[0]], pattern); \
    }
#define CARRY6(op)                                               \
    {[PT_u16] = op##_16, [PT_u32] = op##_32, [PT_u64] = op##_64, \
     [PT_s16] = op##_16, [PT_s32] = op##_32, [PT_s64] = op##_64}
CARRY_ROW(add_cc, CARRY_OUT, "000", CARRY6(carry_add))
CARRY_ROW(addc, CARRY_IN, "000", CARRY6(carry_add))
CARRY_ROW(addc_cc, CARRY_IN | CARRY_OUT, "000", CARRY6(carry_add))
CARRY_ROW(sub_cc, BORROW | CARRY_OUT, "000", CARRY6(carry_sub))
CARRY_ROW(subc, BORROW | CARRY_IN, "000", CARRY6(carry_sub))
CARRY_ROW(subc_cc, BORROW | CARRY_IN | CARRY_OUT, "000", CARRY6(carry_sub))

static pt_handler pick_mad_carry(struct pt_select *s, uint16_t how)
{
    PT_TABLE(lo) = CARRY6(carry_mad_lo);
    PT_TABLE(hi) = SIGNED6(carry_mad_hi);
    s->code->aux = how;
    return pt_pick(s, PT_HAS(s, hi) ? hi[s->form->type[0]] : lo[s->form->type[0]], "0000");
}

pt_handler PT_DO(mad_cc)(struct pt_select *s)
{
    return pick_mad_carry(s, CARRY_OUT);
}

pt_handler PT_DO(madc)(struct pt_select *s)
{
    return pick_mad_carry(s, CARRY_IN);
}

pt_handler PT_DO(madc_cc)(struct pt_select *s)
{
    return pick_mad_carry(s, CARRY_IN | CARRY_OUT);
}

/* ---- bits ------------------------------------------------------------------------------------ */

#define B_WIDTHS(op)                                                        \
    pt_handler PT_DO(op)(struct pt_select * s)                              \
    {                                                                       \
        return pt_pick(s, PT_BITS(s, 0) == 64 ? op##_b64 : op##_b32, "w0"); \
    }
B_WIDTHS(popc)
B_WIDTHS(clz)
#undef B_WIDTHS

pt_handler PT_DO(brev)(struct pt_select *s)
{
    return pt_pick(s, PT_BITS(s, 0) == 64 ? brev_b64 : brev_b32, "00");
}

pt_handler PT_DO(bfind)(struct pt_select *s)
{
    PT_TABLE(fn) = {
        [PT_u32] = bfind_u32, [PT_s32] = bfind_s32, [PT_u64] = bfind_u64, [PT_s64] = bfind_s64};
    return pt_pick(s, fn[s->form->type[0]], "w0");
}

pt_handler PT_DO(bfind_shiftamt)(struct pt_select *s)
{
    PT_TABLE(fn) = {[PT_u32] = bfind_shiftamt_u32,
                    [PT_s32] = bfind_shiftamt_s32,
                    [PT_u64] = bfind_shiftamt_u64,
                    [PT_s64] = bfind_shiftamt_s64};
    return pt_pick(s, fn[s->form->type[0]], "w0");
}

pt_handler PT_DO(bfe)(struct pt_select *s)
{
    PT_TABLE(fn) = {[PT_u32] = bfe_u32, [PT_s32] = bfe_s32, [PT_u64] = bfe_u64, [PT_s64] = bfe_s64};
    return pt_pick(s, fn[s->form->type[0]], "00ww");
}

pt_handler PT_DO(bfi)(struct pt_select *s)
{
    return pt_pick(s, PT_BITS(s, 0) == 64 ? bfi_b64 : bfi_b32, "000ww");
}

pt_handler PT_DO(bmsk)(struct pt_select *s)
{
    return pt_pick(s, PT_HAS(s, wrap) ? bmsk_wrap_b32 : bmsk_clamp_b32, "www");
}

pt_handler PT_DO(szext)(struct pt_select *s)
{
    static const pt_handler fn[2][2] = {{szext_clamp_u32, szext_wrap_u32},
                                        {szext_clamp_s32, szext_wrap_s32}};
    return pt_pick(s, fn[s->form->type[0] == PT_s32][PT_HAS(s, wrap)], "www");
}

pt_handler PT_DO(fns)(struct pt_select *s)
{
    return pt_pick(s, fns_b32, "wwww");
}
