/* Conversions: handlers and selectors (PTX ISA 9.7.9.21). The frequent ones have handlers of their
 * own; any other goes through one that reads what to do from imm. */
#include "backend/interp/pick.h"
#include "backend/semantics/convert.h"

#define LANE1 LANE1_FN
#define LANE2 LANE2_FN
#define LANE3 LANE3_FN
#include "backend/semantics/convert.def"

/* ---- any conversion -------------------------------------------------------------------------- */

#define KIND_FIELDS(X)                                                               \
    X(from, 0, 7)                                                                    \
    X(to, 3, 7)                                                                      \
    X(from_bits, 6, 127)                                                             \
    X(to_bits, 13, 127) X(rnd, 20, 7) X(integral, 23, 1) X(ftz, 24, 1) X(sat, 25, 1) \
        X(relu, 26, 1) X(satfinite, 27, 1)

static uint64_t kind_to_imm(const struct pt_cvt *k)
{
    uint64_t imm = 0;
#define X(field, at, mask) imm |= (uint64_t)(k->field & (mask)) << (at);
    KIND_FIELDS(X)
#undef X
    return imm;
}

static struct pt_cvt kind_of_imm(uint64_t imm)
{
    struct pt_cvt k;
#define X(field, at, mask) k.field = imm >> (at) & (mask);
    KIND_FIELDS(X)
#undef X
    return k;
}

#define ANY_FN(name, D, S, expr)                                                               \
    PT_HANDLER(name)                                                                           \
    {                                                                                          \
        PT_ELT_##D *d_ = PT_SLOT(0, D);                                                        \
        const PT_ELT_##S *a_ = PT_SLOT(1, S);                                                  \
        const struct pt_cvt k = kind_of_imm(c->imm);                                           \
        const uint64_t cut = k.to_bits < 64 ? (1ull << k.to_bits) - 1 : UINT64_MAX;            \
        for (int i = 0; i < PT_WARP_SIZE; i++)                                                 \
            if (f->mask >> i & 1)                                                              \
                d_[i] = (PT_ELT_##D)((expr) & cut);                                            \
        return c + 1;                                                                          \
    }                                                                                          \
    static void lanes_##name(void *d, const void *a, const void *b, const void *c, uint32_t n) \
    {                                                                                          \
        PT_ELT_##D *d_ = d;                                                                    \
        const PT_ELT_##S *a_ = a;                                                              \
        const struct pt_cvt k = kind_of_imm(*(const uint64_t *)c);                             \
        const uint64_t cut = k.to_bits < 64 ? (1ull << k.to_bits) - 1 : UINT64_MAX;            \
        (void)b;                                                                               \
        for (uint32_t i = 0; i < n; i++)                                                       \
            d_[i] = (PT_ELT_##D)((expr) & cut);                                                \
    }
ANY_FN(any_w_w, u32, u32, pt_convert_any(&k, a_[i]))
ANY_FN(any_w_l, u32, u64, pt_convert_any(&k, a_[i]))
ANY_FN(any_l_w, u64, u32, pt_convert_any(&k, a_[i]))
ANY_FN(any_l_l, u64, u64, pt_convert_any(&k, a_[i]))

static uint8_t kind_of_type(enum pt_type t)
{
    switch (t) {
    case PT_f16:
    case PT_f16x2:
        return PT_CONVERT_F16;
    case PT_bf16:
    case PT_bf16x2:
        return PT_CONVERT_BF16;
    case PT_f32:
        return PT_CONVERT_F32;
    case PT_f64:
        return PT_CONVERT_F64;
    default:
        return pt_type_class(t) == PT_CLASS_S ? PT_CONVERT_S : PT_CONVERT_U;
    }
}

static struct pt_cvt describe(const struct pt_select *s)
{
    enum pt_type to = (enum pt_type)s->form->type[0], from = (enum pt_type)s->form->type[1];
    return (struct pt_cvt){
        .from = kind_of_type(from),
        .to = kind_of_type(to),
        .from_bits = (uint8_t)pt_type_bits(from),
        .to_bits = (uint8_t)pt_type_bits(to),
        .rnd = (uint8_t)pt_pick_round(s),
        .integral = PT_HAS(s, rni) || PT_HAS(s, rzi) || PT_HAS(s, rmi) || PT_HAS(s, rpi),
        .ftz = PT_HAS(s, ftz),
        .sat = PT_HAS(s, sat),
        .relu = PT_HAS(s, relu),
        .satfinite = PT_HAS(s, satfinite),
    };
}

static pt_handler pick_any(struct pt_select *s)
{
    struct pt_cvt k = describe(s);
    bool from_wide = k.from_bits == 64, to_wide = k.to_bits == 64;
    s->code->imm = kind_to_imm(&k);
    pt_handler fn = to_wide ? (from_wide ? any_l_l : any_l_w) : (from_wide ? any_w_l : any_w_w);
    return pt_pick(s, fn, "x1");
}

/* Frequent ones of those. */
#define KIND_FN(name, D, S, ...)                                                            \
    PT_FN1(name, D, S, ({                                                                   \
               const struct pt_cvt k = {__VA_ARGS__};                                       \
               pt_convert_any(&k, a) & (UINT64_MAX >> (64 - k.to_bits));                    \
           }))
#define INT_OF_FLOAT(name, S, from_, bits_, round)                                           \
    KIND_FN(cvt_##name##_u32, u32, S, .from = from_, .to = PT_CONVERT_U, .from_bits = bits_, \
            .to_bits = 32, .rnd = round, .integral = true)                                   \
    KIND_FN(cvt_##name##_s32, u32, S, .from = from_, .to = PT_CONVERT_S, .from_bits = bits_, \
            .to_bits = 32, .rnd = round, .integral = true)                                   \
    KIND_FN(cvt_##name##_u64, u64, S, .from = from_, .to = PT_CONVERT_U, .from_bits = bits_, \
            .to_bits = 64, .rnd = round, .integral = true)                                   \
    KIND_FN(cvt_##name##_s64, u64, S, .from = from_, .to = PT_CONVERT_S, .from_bits = bits_, \
            .to_bits = 64, .rnd = round, .integral = true)
INT_OF_FLOAT(rzi_f64, u64, PT_CONVERT_F64, 64, PT_RZ)
INT_OF_FLOAT(rni_f64, u64, PT_CONVERT_F64, 64, PT_RN)
INT_OF_FLOAT(rzi_f32, u32, PT_CONVERT_F32, 32, PT_RZ)
PT_FN1(cvt_sat_f32_f32, u32, u32, pt_float_sat(a, true))
PT_FN1(cvt_ftz_f32_f32, u32, u32, pt_float_canon(pt_float_ftz(a, true)))
PT_FN1(cvt_ftz_sat_f32_f32, u32, u32, pt_float_sat(pt_float_ftz(a, true), true))

/* One of those for the form, which rounds toward zero or to nearest; else any. Where only the
 * choice matters it is the one that the function over n lanes is for. */
static pt_handler pick_int_of_float(struct pt_select *s)
{
#define INTS(name) {cvt_##name##_u32, cvt_##name##_s32, cvt_##name##_u64, cvt_##name##_s64}
    static const pt_handler f64[2][4] = {INTS(rzi_f64), INTS(rni_f64)}, f32[4] = INTS(rzi_f32);
#undef INTS
    const struct pt_cvt k = describe(s);
    unsigned i = (k.to_bits == 64 ? 2 : 0) + (k.to == PT_CONVERT_S);
    if (!s->decoder || k.to_bits < 32 || k.sat || k.ftz || (k.rnd != PT_RZ && k.rnd != PT_RN))
        return pick_any(s);
    if (k.from == PT_CONVERT_F64)
        return pt_pick(s, f64[k.rnd == PT_RN][i], "x1");
    return k.rnd == PT_RZ ? pt_pick(s, f32[i], "x1") : pick_any(s);
}

pt_handler PT_DO(cvt_int_f64)(struct pt_select *s)
{
    return pick_int_of_float(s);
}

#define ANY_ROW(id)                            \
    pt_handler PT_DO(id)(struct pt_select * s) \
    {                                          \
        return pick_any(s);                    \
    }
ANY_ROW(cvt_int_f16)
ANY_ROW(cvt_int_bf16)
ANY_ROW(cvt_f16_int)
ANY_ROW(cvt_bf16_int)
ANY_ROW(cvt_f64_f64)
ANY_ROW(cvt_f16_f16)
ANY_ROW(cvt_bf16_bf16)
ANY_ROW(cvt_f64_f16)
ANY_ROW(cvt_f64_bf16)
ANY_ROW(cvt_f16_f64)
ANY_ROW(cvt_f16_bf16)
ANY_ROW(cvt_bf16_f64)
ANY_ROW(cvt_bf16_f16)

/* ---- frequent ones --------------------------------------------------------------------------- */

/* The form has nothing but a rounding to nearest, or no modifier at all. */
static bool is_plain(const struct pt_select *s)
{
    return s->form->n_mods == 0 || (s->form->n_mods == 1 && s->form->mod[0] == PT_M_rn);
}

#define BY_SOURCE(prefix)                                                       \
    {[PT_u8] = prefix##_u8,   [PT_s8] = prefix##_s8,   [PT_u16] = prefix##_u16, \
     [PT_s16] = prefix##_s16, [PT_u32] = prefix##_u32, [PT_s32] = prefix##_s32, \
     [PT_u64] = prefix##_u64, [PT_s64] = prefix##_s64}

pt_handler PT_DO(cvt_int)(struct pt_select *s)
{
    static const pt_handler fn[4][PT_TYPE_COUNT] = {BY_SOURCE(cvt_u8), BY_SOURCE(cvt_u16),
                                                    BY_SOURCE(cvt_u32), BY_SOURCE(cvt_u64)};
    unsigned bits = PT_BITS(s, 0);
    return pt_pick(s,
                   fn[bits == 8    ? 0
                      : bits == 16 ? 1
                      : bits == 32 ? 2
                                   : 3][s->form->type[1]],
                   "x1");
}

pt_handler PT_DO(cvt_int_sat)(struct pt_select *s)
{
    static const pt_handler fn[PT_TYPE_COUNT][PT_TYPE_COUNT] = {
        [PT_u8] = BY_SOURCE(cvt_sat_u8),   [PT_s8] = BY_SOURCE(cvt_sat_s8),
        [PT_u16] = BY_SOURCE(cvt_sat_u16), [PT_s16] = BY_SOURCE(cvt_sat_s16),
        [PT_u32] = BY_SOURCE(cvt_sat_u32), [PT_s32] = BY_SOURCE(cvt_sat_s32),
        [PT_u64] = BY_SOURCE(cvt_sat_u64), [PT_s64] = BY_SOURCE(cvt_sat_s64)};
    return pt_pick(s, fn[s->form->type[0]][s->form->type[1]], "x1");
}

pt_handler PT_DO(cvt_f32_int)(struct pt_select *s)
{
    PT_TABLE(fn) = BY_SOURCE(cvt_rn_f32);
    return pt_pick_round(s) == PT_RN && !PT_HAS(s, sat) ? pt_pick(s, fn[s->form->type[1]], "x1")
                                                        : pick_any(s);
}

pt_handler PT_DO(cvt_f64_int)(struct pt_select *s)
{
    PT_TABLE(fn) = BY_SOURCE(cvt_rn_f64);
    return is_plain(s) ? pt_pick(s, fn[s->form->type[1]], "x1") : pick_any(s);
}

pt_handler PT_DO(cvt_int_f32)(struct pt_select *s)
{
    /* [rounding][ftz][unsigned] */
#define RND(r)                                           \
    {                                                    \
        {cvt_##r##_s32_f32, cvt_##r##_u32_f32},          \
        {                                                \
            cvt_##r##_ftz_s32_f32, cvt_##r##_ftz_u32_f32 \
        }                                                \
    }
    static const pt_handler fn[4][2][2] = {RND(rni), RND(rzi), RND(rmi), RND(rpi)};
#undef RND
    if (PT_BITS(s, 0) != 32)
        return pick_int_of_float(s);
    return pt_pick(s, fn[pt_pick_round(s)][PT_HAS(s, ftz)][s->form->type[0] == PT_u32], "x1");
}

pt_handler PT_DO(cvt_f32_f32)(struct pt_select *s)
{
    static const pt_handler fn[4] = {cvt_rni_f32_f32, cvt_rzi_f32_f32, cvt_rmi_f32_f32,
                                     cvt_rpi_f32_f32};
    static const pt_handler plain[4] = {NULL, cvt_ftz_f32_f32, cvt_sat_f32_f32,
                                        cvt_ftz_sat_f32_f32};
    const struct pt_cvt k = describe(s);
    unsigned i = (k.ftz ? 1 : 0) + (k.sat ? 2 : 0);
    if (s->form->n_mods == 1 && k.integral)
        return pt_pick(s, fn[pt_pick_round(s)], "x1");
    if (s->decoder && plain[i] && !k.integral && !k.relu && !k.satfinite)
        return pt_pick(s, plain[i], "x1");
    return pick_any(s);
}

#define FREQUENT_ROW(id, plain)                                     \
    pt_handler PT_DO(id)(struct pt_select * s)                      \
    {                                                               \
        return is_plain(s) ? pt_pick(s, plain, "x1") : pick_any(s); \
    }
FREQUENT_ROW(cvt_f64_f32, cvt_f64_f32)
FREQUENT_ROW(cvt_f32_f16, cvt_f32_f16)
FREQUENT_ROW(cvt_f32_bf16, cvt_f32_bf16)
FREQUENT_ROW(cvt_f32_f64, cvt_rn_f32_f64)
FREQUENT_ROW(cvt_f16_f32, cvt_rn_f16_f32)
FREQUENT_ROW(cvt_bf16_f32, cvt_rn_bf16_f32)

/* ---- two values into one register ------------------------------------------------------------ */

static uint32_t pair_of(const struct pt_cvt *k, uint32_t high, uint32_t low)
{
    return (uint32_t)(pt_convert_any(k, low) | pt_convert_any(k, high) << 16);
}

PT_HANDLER(pair_any)
{
    uint32_t *d_ = PT_SLOT(0, u32);
    const uint32_t *a_ = PT_SLOT(1, u32), *b_ = PT_SLOT(2, u32);
    const struct pt_cvt k = kind_of_imm(c->imm);
    for (int i = 0; i < PT_WARP_SIZE; i++)
        if (f->mask >> i & 1)
            d_[i] = pair_of(&k, a_[i], b_[i]);
    return c + 1;
}

static void lanes_pair_any(void *d, const void *a, const void *b, const void *c, uint32_t n)
{
    const struct pt_cvt k = kind_of_imm(*(const uint64_t *)c);
    for (uint32_t i = 0; i < n; i++)
        ((uint32_t *)d)[i] = pair_of(&k, ((const uint32_t *)a)[i], ((const uint32_t *)b)[i]);
}

static pt_handler pick_pair(struct pt_select *s, pt_handler plain)
{
    struct pt_cvt k = describe(s);
    s->code->imm = kind_to_imm(&k);
    return pt_pick(s, is_plain(s) ? plain : pair_any, "xww");
}

pt_handler PT_DO(cvt_f16x2_f32)(struct pt_select *s)
{
    return pick_pair(s, cvt_rn_f16x2_f32);
}

pt_handler PT_DO(cvt_bf16x2_f32)(struct pt_select *s)
{
    return pick_pair(s, cvt_rn_bf16x2_f32);
}

pt_handler PT_DO(cvt_tf32_f32)(struct pt_select *s)
{
    return pt_pick(s, PT_HAS(s, satfinite) ? cvt_rna_satfinite_tf32 : cvt_rna_tf32, "ww");
}

pt_handler PT_DO(cvt_tf32_rn)(struct pt_select *s)
{
    static const pt_handler fn[2][2] = {{cvt_rn_tf32, cvt_rn_relu_tf32},
                                        {cvt_rz_tf32, cvt_rz_relu_tf32}};
    return pt_pick(s, fn[PT_HAS(s, rz)][PT_HAS(s, relu)], "ww");
}

/* The handler for the 8-bit format, which is type `n`. */
#define FP8_ROW(id, n, at_e4m3, at_e5m2)                                              \
    pt_handler PT_DO(id)(struct pt_select * s)                                        \
    {                                                                                 \
        static const pt_handler fn[2][2] = {{cvt_##at_e4m3, cvt_relu_##at_e4m3},      \
                                            {cvt_##at_e5m2, cvt_relu_##at_e5m2}};     \
        return pt_pick(s, fn[s->form->type[n] == PT_e5m2x2][PT_HAS(s, relu)], "www"); \
    }
FP8_ROW(cvt_fp8_f32, 0, e4m3x2_f32, e5m2x2_f32)
FP8_ROW(cvt_fp8_f16x2, 0, e4m3x2_f16x2, e5m2x2_f16x2)
FP8_ROW(cvt_f16x2_fp8, 1, f16x2_e4m3x2, f16x2_e5m2x2)

pt_handler PT_DO(cvt_pack)(struct pt_select *s)
{
    PT_TABLE(fn) = {[PT_u16] = cvt_pack_u16, [PT_s16] = cvt_pack_s16, [PT_u8] = cvt_pack_u8,
                    [PT_s8] = cvt_pack_s8,   [PT_u4] = cvt_pack_u4,   [PT_s4] = cvt_pack_s4,
                    [PT_u2] = cvt_pack_u2,   [PT_s2] = cvt_pack_s2};
    return pt_pick(s, fn[s->form->type[0]], "ywww");
}

/* ---- functions over lanes -------------------------------------------------------------------- */

PT_LANES_TABLE(convert) = {
#define LANE1 LANE1_ROW
#define LANE2 LANE2_ROW
#define LANE3 LANE3_ROW
#include "backend/semantics/convert.def"
#define KIND_ROW(name_, ...) \
    {{"cvt_" #name_, lanes_##name_, {__VA_ARGS__}, .takes_kind = true}, name_},
    KIND_ROW(any_w_w, 4, 4) KIND_ROW(any_w_l, 4, 8) KIND_ROW(any_l_w, 8, 4) KIND_ROW(any_l_l, 8, 8)
        KIND_ROW(pair_any, 4, 4, 4) PT_LANES_END};
