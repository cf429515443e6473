/* mov, prmt, addresses and their windows. PTX ISA 9.7.9.2, 9.7.9.16-22. */
#include "backend/interp/materialize.h"
#include "backend/interp/operands.h"
#include "backend/interp/pick.h"
#include "backend/semantics/move.h"
#include "ir/layout.h"

#define LANE3 LANE3_FN
#include "backend/semantics/move.def"
PT_LANES_TABLE(move) = {
#define LANE3 LANE3_ROW
#include "backend/semantics/move.def"
    PT_LANES_END};

/* ---- mov ------------------------------------------------------------------------------------- */

PT_FN1(mov_16, u16, u16, a)
PT_FN1(mov_32, u32, u32, a)
PT_FN1(mov_64, u64, u64, a)

PT_HANDLER(mov_128)
{
    unsigned __int128 *d = (void *)((char *)f + c->o[0]);
    const unsigned __int128 *a = (const void *)((char *)f + c->o[1]);
    for (int i = 0; i < PT_WARP_SIZE; i++)
        if (f->lanes[i])
            d[i] = a[i];
    return c + 1;
}

PT_HANDLER(mov_pred)
{
    PT_SET_PRED(0, PT_PRED(1));
    return c + 1;
}

static pt_handler select_mov(struct pt_select *s)
{
    switch (PT_BITS(s, 0)) {
    case 1:
        return pt_bind(s, "pp") ? mov_pred : NULL;
    case 16:
        return pt_bind(s, "ww") ? mov_16 : NULL;
    case 32:
        return pt_bind(s, "ww") ? mov_32 : NULL;
    case 64:
        return pt_bind(s, "ll") ? mov_64 : NULL;
    case 128:
        return pt_bind(s, "qq") ? mov_128 : NULL;
    default:
        return NULL;
    }
}

pt_handler PT_DO(mov)(struct pt_select *s)
{
    return select_mov(s);
}

pt_handler PT_DO(mov_sreg)(struct pt_select *s)
{
    uint32_t bits = PT_BITS(s, 0);
    if (bits == 16 || s->flat[0]->kind != PT_OPND_REG)
        return select_mov(s);
    s->code->o[0] = pt_operands_dest(s, s->flat[0]);
    s->code->aux = (uint16_t)s->flat[1]->index;
    return pt_materialize_sreg((enum pt_sreg)s->flat[1]->index, bits == 1 ? 0 : bits / 8);
}

pt_handler PT_DO(mov_addr)(struct pt_select *s)
{
    return select_mov(s);
}

pt_handler PT_DO(mov_func)(struct pt_select *s)
{
    return select_mov(s);
}

/* ---- packing --------------------------------------------------------------------------------- */

PT_FN2(pack_2x8, u16, u8, u8, a | b << 8)
PT_FN2(pack_2x16, u32, u16, u16, a | (uint32_t)b << 16)
PT_FN2(pack_2x32, u64, u32, u32, a | (uint64_t)b << 32)
PT_FN4(pack_4x8, u32, u8, u8, u8, u8, a | b << 8 | c_ << 16 | (uint32_t)e << 24)
PT_FN4(pack_4x16, u64, u16, u16, u16, u16,
       a | (uint64_t)b << 16 | (uint64_t)c_ << 32 | (uint64_t)e << 48)

PT_HANDLER(pack_2x64)
{
    uint64_t *d = (uint64_t *)((char *)f + c->o[0]);
    const uint64_t *a = PT_SLOT(1, u64), *b = PT_SLOT(2, u64);
    for (int i = 0; i < PT_WARP_SIZE; i++) {
        if (f->lanes[i]) {
            d[2 * i] = a[i];
            d[2 * i + 1] = b[i];
        }
    }
    return c + 1;
}

PT_HANDLER(pack_4x32)
{
    uint32_t *d = (uint32_t *)((char *)f + c->o[0]);
    for (int i = 0; i < PT_WARP_SIZE; i++)
        for (int k = 0; k < 4 && f->lanes[i]; k++)
            d[4 * i + k] = PT_SLOT(k + 1, u32)[i];
    return c + 1;
}

pt_handler PT_DO(mov_pack)(struct pt_select *s)
{
    bool is_four = s->n == 5;
    switch (PT_BITS(s, 0)) {
    case 16:
        return pt_bind(s, "www") ? pack_2x8 : NULL;
    case 32:
        return pt_bind(s, "wwwww") ? is_four ? pack_4x8 : pack_2x16 : NULL;
    case 64:
        return pt_bind(s, "lwwww") ? is_four ? pack_4x16 : pack_2x32 : NULL;
    default:
        return pt_bind(s, is_four ? "qwwww" : "qll") ? is_four ? pack_4x32 : pack_2x64 : NULL;
    }
}

/* The parts of a scalar: destinations 0 to n-1, source n, each part `bits` wide. */
#define UNPACK(name, n, bits, TD, TA)                                               \
    PT_HANDLER(name)                                                                \
    {                                                                               \
        const PT_ELT_##TA *a = PT_SLOT(n, TA);                                      \
        PT_ELT_##TA source[PT_WARP_SIZE];                                           \
        memcpy(source, a, sizeof source);                                           \
        for (int k = 0; k < n; k++) {                                               \
            PT_ELT_##TD *d = PT_SLOT(k, TD);                                        \
            PT_STORE_LANES(TD, d,                                                   \
                           const PT_VAL_##TD value =                                \
                               (PT_VAL_##TD)((PT_VAL_##TA)source[i] >> k * bits);); \
        }                                                                           \
        return c + 1;                                                               \
    }
UNPACK(unpack_2x8, 2, 8, u8, u16)
UNPACK(unpack_2x16, 2, 16, u16, u32)
UNPACK(unpack_2x32, 2, 32, u32, u64)
UNPACK(unpack_4x8, 4, 8, u8, u32)
UNPACK(unpack_4x16, 4, 16, u16, u64)

PT_HANDLER(unpack_2x64)
{
    const uint64_t *a = PT_SLOT(2, u64);
    for (int i = 0; i < PT_WARP_SIZE; i++)
        for (int k = 0; k < 2 && f->lanes[i]; k++)
            PT_SLOT(k, u64)[i] = a[2 * i + k];
    return c + 1;
}

PT_HANDLER(unpack_4x32)
{
    const uint32_t *a = PT_SLOT(4, u32);
    for (int i = 0; i < PT_WARP_SIZE; i++)
        for (int k = 0; k < 4 && f->lanes[i]; k++)
            PT_SLOT(k, u32)[i] = a[4 * i + k];
    return c + 1;
}

pt_handler PT_DO(mov_unpack)(struct pt_select *s)
{
    bool is_four = s->n == 5;
    switch (PT_BITS(s, 0)) {
    case 16:
        return pt_bind(s, "www") ? unpack_2x8 : NULL;
    case 32:
        return pt_bind(s, "wwwww") ? is_four ? unpack_4x8 : unpack_2x16 : NULL;
    case 64:
        return pt_bind(s, is_four ? "wwwwl" : "wwl") ? is_four ? unpack_4x16 : unpack_2x32 : NULL;
    default:
        return pt_bind(s, is_four ? "wwwwq" : "llq") ? is_four ? unpack_4x32 : unpack_2x64 : NULL;
    }
}

/* Vectors: all sources are read before a destination is written. */
PT_HANDLER(mov_vec_32)
{
    const uint32_t *o = c->n > PT_OPERANDS ? c->ops : c->o;
    uint32_t n = c->n / 2, source[4][PT_WARP_SIZE];
    for (uint32_t k = 0; k < n; k++)
        memcpy(source[k], (char *)f + o[n + k], sizeof source[k]);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t *d = (uint32_t *)((char *)f + o[k]);
        PT_STORE_LANES(u32, d, const uint32_t value = source[k][i];);
    }
    return c + 1;
}

PT_HANDLER(mov_vec_64)
{
    uint64_t source[2][PT_WARP_SIZE];
    for (uint32_t k = 0; k < 2; k++)
        memcpy(source[k], (char *)f + c->o[2 + k], sizeof source[k]);
    for (uint32_t k = 0; k < 2; k++) {
        uint64_t *d = (uint64_t *)((char *)f + c->o[k]);
        PT_STORE_LANES(u64, d, const uint64_t value = source[k][i];);
    }
    return c + 1;
}

pt_handler PT_DO(mov_vec)(struct pt_select *s)
{
    if (PT_BITS(s, 0) == 64)
        return pt_bind(s, "llll") ? mov_vec_64 : NULL;
    return pt_bind(s, "wwwwwwww") ? mov_vec_32 : NULL;
}

#define LOCAL_WINDOW ((uint64_t)(uintptr_t)local0 + (uint64_t)i * stride)

pt_handler PT_DO(prmt)(struct pt_select *s)
{
    pt_handler fn = PT_HAS(s, f4e)    ? prmt_b32_f4e
                    : PT_HAS(s, b4e)  ? prmt_b32_b4e
                    : PT_HAS(s, rc8)  ? prmt_b32_rc8
                    : PT_HAS(s, ecl)  ? prmt_b32_ecl
                    : PT_HAS(s, ecr)  ? prmt_b32_ecr
                    : PT_HAS(s, rc16) ? prmt_b32_rc16
                                      : prmt_b32;
    return pt_pick(s, fn, "wwww");
}

/* ---- cvta, isspacep -------------------------------------------------------------------------- */

static enum pt_space window_of(const struct pt_select *s)
{
    if (PT_HAS(s, shared) || PT_HAS(s, shared_cta))
        return PT_SPACE_SHARED;
    if (PT_HAS(s, shared_cluster))
        return PT_SPACE_SHARED_CLUSTER;
    if (PT_HAS(s, local))
        return PT_SPACE_LOCAL;
    if (PT_HAS(s, const))
        return PT_SPACE_CONST;
    return PT_HAS(s, global) ? PT_SPACE_GLOBAL : PT_SPACE_PARAM;
}

#define CVTA(name, T, expr)                                                                        \
    PT_HANDLER(name)                                                                               \
    {                                                                                              \
        PT_ELT_##T *d = PT_SLOT(0, T);                                                             \
        const PT_ELT_##T *source = PT_SLOT(1, T);                                                  \
        uint64_t shared = (uint64_t)(uintptr_t)f->shared, local0 = (uint64_t)(uintptr_t)f->local0; \
        uint64_t stride = f->local_stride, params = (uint64_t)(uintptr_t)f->params;                \
        uint64_t constants = c->imm;                                                               \
        (void)shared, (void)local0, (void)stride, (void)params, (void)constants;                   \
        PT_STORE_LANES(T, d, const PT_VAL_##T a = (PT_VAL_##T)source[i];                           \
                       const PT_VAL_##T value = (PT_VAL_##T)(expr););                              \
        return c + 1;                                                                              \
    }
CVTA(cvta_shared_64, u64, shared + (uint32_t)a)
CVTA(cvta_shared_32, u32, shared + a)
CVTA(cvta_local_64, u64, LOCAL_WINDOW + a)
CVTA(cvta_local_32, u32, LOCAL_WINDOW + a)
CVTA(cvta_to_shared_64, u64, (uint32_t)a)
CVTA(cvta_to_shared_32, u32, a - (uint32_t)shared)
CVTA(cvta_to_local_64, u64, a - LOCAL_WINDOW)
CVTA(cvta_to_local_32, u32, a - LOCAL_WINDOW)

CVTA(cvta_param_64, u64, params + a)
CVTA(cvta_param_32, u32, (uint32_t)params + a)
CVTA(cvta_to_param_64, u64, a - params)
CVTA(cvta_to_param_32, u32, a - (uint32_t)params)
CVTA(cvta_const_64, u64, constants + a)
CVTA(cvta_const_32, u32, (uint32_t)constants + a)
CVTA(cvta_to_const_64, u64, a - constants)
CVTA(cvta_to_const_32, u32, a - (uint32_t)constants)

/* A generic parameter address of a function is one of its local window. */
static bool is_local_window(const struct pt_select *s, enum pt_space space)
{
    return space == PT_SPACE_LOCAL || (space == PT_SPACE_PARAM && !pt_operands_is_of_kernel(s));
}

pt_handler PT_DO(cvta)(struct pt_select *s)
{
    enum pt_space space = window_of(s);
    bool is_wide = PT_BITS(s, 0) == 64;
    if (!pt_bind(s, is_wide ? "ll" : "ww"))
        return NULL;
    if (space == PT_SPACE_SHARED || space == PT_SPACE_SHARED_CLUSTER)
        return is_wide ? cvta_shared_64 : cvta_shared_32;
    if (is_local_window(s, space))
        return is_wide ? cvta_local_64 : cvta_local_32;
    if (space == PT_SPACE_PARAM)
        return is_wide ? cvta_param_64 : cvta_param_32;
    if (space == PT_SPACE_GLOBAL)
        return is_wide ? mov_64 : mov_32;
    s->code->imm = pt_operands_constants(s);
    return is_wide ? cvta_const_64 : cvta_const_32;
}

pt_handler PT_DO(cvta_to)(struct pt_select *s)
{
    enum pt_space space = window_of(s);
    bool is_wide = PT_BITS(s, 0) == 64;
    if (!pt_bind(s, is_wide ? "ll" : "ww"))
        return NULL;
    if (space == PT_SPACE_SHARED || space == PT_SPACE_SHARED_CLUSTER)
        return is_wide ? cvta_to_shared_64 : cvta_to_shared_32;
    if (is_local_window(s, space))
        return is_wide ? cvta_to_local_64 : cvta_to_local_32;
    if (space == PT_SPACE_PARAM)
        return is_wide ? cvta_to_param_64 : cvta_to_param_32;
    if (space == PT_SPACE_GLOBAL)
        return is_wide ? mov_64 : mov_32;
    s->code->imm = pt_operands_constants(s);
    return is_wide ? cvta_to_const_64 : cvta_to_const_32;
}

/* The range of the module's constants. */
struct const_range {
    uint64_t first, end;
};

static bool is_in_space(const struct pt_frame *f, uint64_t a, uint32_t lane, enum pt_space space,
                        const struct const_range *constants)
{
    uint64_t shared = (uint64_t)(uintptr_t)f->shared;
    switch (space) {
    case PT_SPACE_SHARED:
        return a - (shared + f->cta->window) < UINT64_C(1) << PT_SHARED_RANK_SHIFT;
    case PT_SPACE_SHARED_CLUSTER:
        return a - shared <= UINT32_MAX;
    case PT_SPACE_LOCAL:
        return a - ((uint64_t)(uintptr_t)f->local0 + lane * f->local_stride) < f->local_stride;
    case PT_SPACE_CONST:
        return a >= constants->first && a < constants->end;
    case PT_SPACE_PARAM: {
        const struct pt_program *p = &f->state->program->base;
        return a - (uint64_t)(uintptr_t)f->params < p->image->module->funcs.v[p->kernel].param_size;
    }
    default:
        return !is_in_space(f, a, lane, PT_SPACE_SHARED_CLUSTER, constants) &&
               !is_in_space(f, a, lane, PT_SPACE_LOCAL, constants) &&
               !is_in_space(f, a, lane, PT_SPACE_PARAM, constants) &&
               !is_in_space(f, a, lane, PT_SPACE_CONST, constants);
    }
}

PT_HANDLER(isspacep)
{
    uint32_t result = 0;
    const uint64_t *a = PT_SLOT(1, u64);
    for (uint32_t i = 0; i < PT_WARP_SIZE; i++)
        result |= (uint32_t)is_in_space(f, a[i], i, (enum pt_space)c->aux, c->ptr) << i;
    PT_SET_PRED(0, result);
    return c + 1;
}

pt_handler PT_DO(isspacep)(struct pt_select *s)
{
    struct const_range *range = pt_operands_array(s, sizeof *range);
    range->first = UINT64_MAX;
    for (uint32_t i = 1; i < s->module->symbols.n; i++) {
        const struct pt_symbol *sym = &s->module->symbols.v[i];
        enum pt_space space;
        if (!pt_layout_is_placed(sym, PT_SPACE_CONST))
            continue;
        uint64_t first = pt_operands_symbol(s, i, &space);
        range->first = first < range->first ? first : range->first;
        range->end = first + sym->size > range->end ? first + sym->size : range->end;
    }
    s->code->ptr = range;
    s->code->aux = (uint16_t)window_of(s);
    return pt_bind(s, "pl") ? isspacep : NULL;
}

/* ---- hints ----------------------------------------------------------------------------------- */

PT_HANDLER(nothing)
{
    (void)f;
    return c + 1;
}

#define HINT(id)                               \
    pt_handler PT_DO(id)(struct pt_select * s) \
    {                                          \
        (void)s;                               \
        return nothing;                        \
    }
HINT(prefetch)
HINT(prefetchu)
HINT(applypriority)
HINT(discard)
HINT(cp_bulk_prefetch)
HINT(tma_prefetch)
HINT(tma_prefetch_im2col)

/* ---- policies: what ptxas computes for sm_90; accesses take them as hints and do nothing ----- */

enum { POLICY_RANGE = 0x80, POLICY_SHIFT_MIN = 12, POLICY_FIELD = 0x7f };

static float bits_to_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* aux: the top bits. Operand 1 is the fraction of accesses with the primary priority. */
PT_HANDLER(policy_fraction)
{
    const uint32_t *fraction = PT_SLOT(1, u32);
    uint64_t *d = PT_SLOT(0, u64);
    for (uint32_t left = f->mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        float part = bits_to_float(fraction[i]) * 15.99f;
        uint64_t sixteenths = part > 0 ? part < 15 ? (uint64_t)part : 15 : 0;
        d[i] = (c->aux | sixteenths) << 52;
    }
    return c + 1;
}

/* Operands 1 to 3: address, bytes with the primary priority, bytes in all. */
PT_HANDLER(policy_range)
{
    const uint64_t *address = PT_SLOT(1, u64);
    const uint32_t *primary = PT_SLOT(2, u32), *total = PT_SLOT(3, u32);
    uint64_t *d = PT_SLOT(0, u64);
    for (uint32_t left = f->mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        if (!total[i]) {
            d[i] = UINT64_C(0x180) << 52;
            continue;
        }
        uint32_t log = total[i] > 1 ? 32 - (uint32_t)__builtin_clz(total[i] - 1) : 0;
        uint32_t shift = log > POLICY_SHIFT_MIN + 7 ? log - 7 : POLICY_SHIFT_MIN;
        uint64_t at = address[i] + c->imm, first = at >> shift;
        uint64_t n = ((at + primary[i] - 1 + (UINT64_C(1) << shift)) >> shift) - first;
        uint64_t hi = (uint64_t)(c->aux | POLICY_RANGE | (shift - POLICY_SHIFT_MIN)) << 8;
        hi = (hi | (first & POLICY_FIELD)) << 7;
        d[i] = (hi | (n < POLICY_FIELD ? n : POLICY_FIELD)) << 5 << 32;
    }
    return c + 1;
}

pt_handler PT_DO(createpolicy)(struct pt_select *s)
{
    struct pt_code *c = s->code;
    if (PT_HAS(s, cvt))
        return pt_bind(s, "ll") ? mov_64 : NULL;
    enum pt_mod primary = PT_M_NONE, secondary = PT_M_NONE;
    for (uint32_t i = 0; i < s->form->n_mods; i++) {
        enum pt_mod mod = (enum pt_mod)s->form->mod[i];
        if (mod != PT_M_L2_evict_last && mod != PT_M_L2_evict_normal &&
            mod != PT_M_L2_evict_first && mod != PT_M_L2_evict_unchanged)
            continue;
        if (primary)
            secondary = mod;
        else
            primary = mod;
    }
    uint32_t priority = primary == PT_M_L2_evict_normal  ? 3
                        : primary == PT_M_L2_evict_last  ? 2
                        : primary == PT_M_L2_evict_first ? 1
                                                         : 0;
    c->aux = (uint16_t)(0x100 | priority << 5 | (secondary == PT_M_L2_evict_first ? 0x10 : 0));
    if (PT_HAS(s, range)) {
        uint64_t offset = s->flat[1]->kind == PT_OPND_REG ? (uint64_t)s->flat[1]->imm : 0;
        bool is_bound = pt_bind(s, "llww");
        c->imm = offset;
        return is_bound ? policy_range : NULL;
    }
    const struct pt_operand one = {.kind = PT_OPND_IMM, .type = PT_f32, .imm = 0x3f800000};
    c->o[0] = pt_operands_dest(s, s->flat[0]);
    c->o[1] = pt_operands_source(s, s->n > 1 ? s->flat[1] : &one, 4);
    return c->o[1] == UINT32_MAX ? NULL : policy_fraction;
}

/* ---- clusters: the rank is a byte of the address --------------------------------------------- */

#define RANK_BITS (UINT64_C(0xff) << PT_SHARED_RANK_SHIFT)
PT_FN2(mapa_32, u32, u32, u32, (a & ~(uint32_t)RANK_BITS) | b << PT_SHARED_RANK_SHIFT)
PT_FN2(mapa_64, u64, u64, u32, (a & ~RANK_BITS) | ((uint64_t)(b & 0xff) << PT_SHARED_RANK_SHIFT))
PT_FN1(rank_32, u32, u32, a >> PT_SHARED_RANK_SHIFT)
PT_FN1(rank_64, u32, u64, (a & RANK_BITS) >> PT_SHARED_RANK_SHIFT)

pt_handler PT_DO(mapa)(struct pt_select *s)
{
    if (PT_BITS(s, 0) == 64)
        return pt_bind(s, "llw") ? mapa_64 : NULL;
    return pt_bind(s, "www") ? mapa_32 : NULL;
}

pt_handler PT_DO(getctarank)(struct pt_select *s)
{
    if (PT_BITS(s, 0) == 64)
        return pt_bind(s, "wl") ? rank_64 : NULL;
    return pt_bind(s, "ww") ? rank_32 : NULL;
}
