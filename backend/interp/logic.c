/* Logic and shifts: handlers and selectors (PTX ISA 9.7.8). */
#include "backend/interp/pick.h"
#include "backend/semantics/logic.h"

#define LANE1 LANE1_FN
#define LANE2 LANE2_FN
#define LANE3 LANE3_FN
#include "backend/semantics/logic.def"
PT_LANES_TABLE(logic) = {
#define LANE1 LANE1_ROW
#define LANE2 LANE2_ROW
#define LANE3 LANE3_ROW
#include "backend/semantics/logic.def"
    PT_LANES_END};

static pt_handler by_bits(struct pt_select *s, pt_handler b16, pt_handler b32, pt_handler b64)
{
    unsigned bits = PT_BITS(s, 0);
    return bits == 64 ? b64 : bits == 16 ? b16 : b32;
}

#define LOGIC(op)                                                           \
    PT_HANDLER(op##_pred)                                                   \
    {                                                                       \
        PT_SET_PRED(0, PT_PRED(1) op##_sign PT_PRED(2));                    \
        return c + 1;                                                       \
    }                                                                       \
    pt_handler PT_DO(op##_pred)(struct pt_select * s)                       \
    {                                                                       \
        return pt_pick(s, op##_pred, "ppp");                                \
    }                                                                       \
    pt_handler PT_DO(op##_b)(struct pt_select * s)                          \
    {                                                                       \
        return pt_pick(s, by_bits(s, op##_b16, op##_b32, op##_b64), "000"); \
    }
#define and_sign &
#define or_sign |
#define xor_sign ^
LOGIC(and)
LOGIC(or)
LOGIC(xor)
#undef LOGIC

PT_HANDLER(not_pred)
{
    PT_SET_PRED(0, ~PT_PRED(1));
    return c + 1;
}

pt_handler PT_DO(not_pred)(struct pt_select *s)
{
    return pt_pick(s, not_pred, "pp");
}

pt_handler PT_DO(not_b)(struct pt_select *s)
{
    return pt_pick(s, by_bits(s, not_b16, not_b32, not_b64), "00");
}

pt_handler PT_DO(cnot)(struct pt_select *s)
{
    return pt_pick(s, by_bits(s, cnot_b16, cnot_b32, cnot_b64), "00");
}

pt_handler PT_DO(shl)(struct pt_select *s)
{
    return pt_pick(s, by_bits(s, shl_b16, shl_b32, shl_b64), "00w");
}

pt_handler PT_DO(shr)(struct pt_select *s)
{
    bool is_signed = pt_type_class(s->form->type[0]) == PT_CLASS_S;
    return pt_pick(s,
                   is_signed ? by_bits(s, shr_s16, shr_s32, shr_s64)
                             : by_bits(s, shr_u16, shr_u32, shr_u64),
                   "00w");
}

pt_handler PT_DO(shf)(struct pt_select *s)
{
    static const pt_handler fn[2][2] = {{shf_l_clamp, shf_l_wrap}, {shf_r_clamp, shf_r_wrap}};
    return pt_pick(s, fn[PT_HAS(s, r)][PT_HAS(s, wrap)], "wwww");
}

/* ---- lop3 ------------------------------------------------------------------------------------ */

/* The truth table is in imm. Operand 0 is d, 1 to 3 the sources. */
#define LOP3_FN(name, expr)                                                                  \
    PT_HANDLER(name)                                                                         \
    {                                                                                        \
        uint32_t *d_ = PT_SLOT(0, u32);                                                      \
        const uint32_t *a_ = PT_SLOT(1, u32), *b_ = PT_SLOT(2, u32), *c__ = PT_SLOT(3, u32); \
        const uint32_t table = (uint32_t)c->imm;                                             \
        (void)table;                                                                         \
        PT_STORE_LANES(u32, d_, const uint32_t a = a_[i]; const uint32_t b = b_[i];          \
                       const uint32_t c_ = c__[i]; const uint32_t value = (expr););          \
        return c + 1;                                                                        \
    }
LOP3_FN(lop3_any, pt_logic_lop3(a, b, c_, table))
LOP3_FN(lop3_96, a ^ b ^ c_)
LOP3_FN(lop3_e8, (a & b) | (c_ & (a | b)))
LOP3_FN(lop3_80, a &b &c_)
LOP3_FN(lop3_fe, a | b | c_)
LOP3_FN(lop3_ca, (a & b) | (~a & c_))
LOP3_FN(lop3_f8, a | (b & c_))
LOP3_FN(lop3_78, a ^ (b & c_))
LOP3_FN(lop3_ea, (a & b) | c_)
LOP3_FN(lop3_6a, (a & b) ^ c_)

/* lop3.BoolOp d|p, a, b, c, table, q: after selection p is operand 4 and q operand 5; aux holds the
 * table and, above it, whether BoolOp is or. */
PT_HANDLER(lop3_bool)
{
    uint32_t flags[PT_WARP_SIZE] __attribute__((aligned(64)));
    uint32_t *d_ = PT_SLOT(0, u32);
    const uint32_t *a_ = PT_SLOT(1, u32), *b_ = PT_SLOT(2, u32), *c__ = PT_SLOT(3, u32);
    const uint32_t table = c->aux & 0xff, q = PT_PRED(5);
    PT_LANES
    {
        uint32_t v = pt_logic_lop3(a_[i], b_[i], c__[i], table);
        d_[i] = f->lanes[i] ? v : d_[i];
        flags[i] = v ? UINT32_MAX : 0;
    }
    uint32_t nonzero = pt_mask_of(flags);
    PT_SET_PRED(4, c->aux >> 8 ? nonzero | q : nonzero & q);
    return c + 1;
}

pt_handler PT_DO(lop3_bool)(struct pt_select *s)
{
    if (!pt_bind(s, "wpwwwip"))
        return NULL;
    struct pt_code *c = s->code;
    const uint32_t *o = c->ops;
    uint32_t p = o[1], q = o[6];
    c->o[1] = o[2];
    c->o[2] = o[3];
    c->o[3] = o[4];
    c->o[4] = p;
    c->o[5] = q;
    c->neg = (uint8_t)((c->neg >> 6 & 1) << 5);
    c->aux = (uint16_t)((pt_flat(s, 5)->imm & 0xff) | (PT_HAS(s, or) ? 0x100 : 0));
    c->ops = NULL;
    return lop3_bool;
}

pt_handler PT_DO(lop3)(struct pt_select *s)
{
    if (!pt_bind(s, "wwwwi"))
        return NULL;
    switch (s->code->imm & 0xff) {
    case 0x96:
        return lop3_96;
    case 0xe8:
        return lop3_e8;
    case 0x80:
        return lop3_80;
    case 0xfe:
        return lop3_fe;
    case 0xca:
        return lop3_ca;
    case 0xf8:
        return lop3_f8;
    case 0x78:
        return lop3_78;
    case 0xea:
        return lop3_ea;
    case 0x6a:
        return lop3_6a;
    default:
        return lop3_any;
    }
}
