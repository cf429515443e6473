/* Which bits of registers hold no value, and what instructions make of them. Moves, bitwise
 * operations, shifts, selections and exchanges between lanes are followed to the bit; of sums and
 * products the bits from the lowest such bit on are lost; of products of matrices in registers the
 * elements whose row, column or summand has one; of all else the whole result. Products of f64 and
 * those by quads are taken to hold values. What reads matrices in shared memory is followed by
 * init_matrix.c. */
#include "backend/interp/async.h"
#include "backend/interp/mma_step.h"
#include "backend/interp/undefined.h"

#include "ir/chapter.h"
#include "ir/insn.h"

/* ---- registers ------------------------------------------------------------------------------- */

static void reset(struct pt_undefined *u, const struct pt_body *body)
{
    u->n_undefined = 0;
    memset(u->lanes, 0, body->func->regs.n * sizeof *u->lanes);
}

/* What was made for the frame before, or new memory. */
static struct pt_undefined *make(struct pt_frame *f)
{
    const struct pt_allocator *a = f->state->program->arena.allocator;
    uint32_t n = f->body->func->regs.n;
    for (void *p = *f->cta->kept; p; p = *(void **)p) {
        struct pt_undefined *u = p;
        if (u->frame == f && u->body == f->body) {
            reset(u, f->body);
            return f->undefined = u;
        }
    }
    size_t lanes = pt_round_up(n * sizeof(uint32_t), 16);
    size_t bytes = pt_round_up(sizeof(struct pt_undefined), 16) + lanes +
                   n * (sizeof(struct pt_origin) + sizeof(uint64_t[PT_WARP_SIZE]));
    struct pt_undefined *u = a->resize(a->ud, NULL, bytes);
    if (!u)
        return NULL;
    *u = (struct pt_undefined){.next = *f->cta->kept, .frame = f, .body = f->body};
    u->lanes = (uint32_t *)((char *)u + pt_round_up(sizeof *u, 16));
    u->origin = (struct pt_origin *)(void *)((char *)u->lanes + lanes);
    u->bits = (uint64_t(*)[PT_WARP_SIZE])(void *)(u->origin + n);
    *f->cta->kept = u;
    reset(u, f->body);
    return f->undefined = u;
}

void pt_undefined_clear(struct pt_frame *f, uint32_t reg, uint32_t lanes)
{
    struct pt_undefined *u = f->undefined;
    if (!u || !(u->lanes[reg] & lanes))
        return;
    u->lanes[reg] &= ~lanes;
    u->n_undefined -= !u->lanes[reg];
}

void pt_undefined_set(struct pt_frame *f, uint32_t reg, uint32_t lane, uint64_t bits,
                      const struct pt_origin *origin)
{
    struct pt_undefined *u = f->undefined;
    bits &= pt_undefined_width(f->body->func->regs.v[reg].type);
    if (!bits) {
        pt_undefined_clear(f, reg, 1u << lane);
        return;
    }
    if (!u && !(u = make(f)))
        return;
    u->n_undefined += !u->lanes[reg];
    u->lanes[reg] |= 1u << lane;
    u->bits[reg][lane] = bits;
    u->origin[reg] = *origin;
}

/* ---- what an instruction reads --------------------------------------------------------------- */

enum { SOURCES = 64, RESULTS = 64 };

struct step {
    struct pt_frame *f;
    const struct pt_func *func;
    const struct pt_insn *insn;
    const struct pt_form *form;
    const struct pt_operand *o; /* as written */
    uint32_t uses[SOURCES], defs[RESULTS], n_uses, n_defs;
    uint32_t undefined; /* lanes in which something that is read is */
    const struct pt_origin *origin;
};

static void see(void *ud, uint32_t reg, bool is_def)
{
    struct step *s = ud;
    if (is_def && s->n_defs < RESULTS)
        s->defs[s->n_defs++] = reg;
    uint32_t lanes = is_def ? 0 : pt_undefined_lanes(s->f, reg);
    if (!lanes)
        return;
    s->undefined |= lanes;
    s->origin = &s->f->undefined->origin[reg];
    if (s->n_uses < SOURCES)
        s->uses[s->n_uses++] = reg;
}

static uint64_t bits_of(const struct step *s, const struct pt_operand *o, uint32_t lane)
{
    return o->kind == PT_OPND_REG ? pt_undefined_bits(s->f, o->index, lane) : 0;
}

/* The value of an operand that is a register or a number. False: it is another. */
static bool value_of(const struct step *s, const struct pt_operand *o, uint32_t lane, uint64_t *v)
{
    *v = (uint64_t)o->imm;
    if (o->kind != PT_OPND_REG)
        return o->kind == PT_OPND_IMM;
    const char *slot = (const char *)s->f + s->f->body->slots[o->index];
    uint8_t type = s->func->regs.v[o->index].type;
    unsigned bits = pt_type_bits((enum pt_type)type);
    if (type == PT_pred)
        *v = (*(const uint32_t *)slot >> lane & 1) ^ (o->flags & PT_OPND_NEG ? 1 : 0);
    else
        *v = bits <= 32 ? ((const uint32_t *)slot)[lane] : ((const uint64_t *)slot)[lane];
    return bits <= 64;
}

/* ---- results, of one lane -------------------------------------------------------------------- */

/* A bit of the result is lost where one is undefined and the other does not decide it: `decides` is
 * the value that does (all zeros for and, all ones for or). */
static uint64_t bitwise(const struct step *s, uint32_t lane, uint64_t decides)
{
    uint64_t a = bits_of(s, &s->o[1], lane), b = bits_of(s, &s->o[2], lane), va, vb;
    bool knows_a = value_of(s, &s->o[1], lane, &va), knows_b = value_of(s, &s->o[2], lane, &vb);
    uint64_t open_a = knows_a ? va ^ decides : UINT64_MAX;
    uint64_t open_b = knows_b ? vb ^ decides : UINT64_MAX;
    return (a & b) | (a & open_b) | (b & open_a);
}

static uint64_t shifted(const struct step *s, uint32_t lane, bool is_left)
{
    uint64_t a = bits_of(s, &s->o[1], lane), by;
    unsigned width = pt_type_bits((enum pt_type)s->form->type[0]);
    if (bits_of(s, &s->o[2], lane) || !value_of(s, &s->o[2], lane, &by))
        return UINT64_MAX;
    by &= UINT32_MAX;
    if (is_left)
        return by < width ? a << by : 0;
    bool is_signed = s->form->type[0] >= PT_s8 && s->form->type[0] <= PT_s64;
    uint64_t sign = is_signed && a >> (width - 1) & 1 ? UINT64_MAX << (width - 1) : 0;
    a |= sign;
    if (by >= width)
        return sign ? UINT64_MAX : 0;
    return sign ? (uint64_t)((int64_t)a >> by) : a >> by;
}

static uint64_t selected(const struct step *s, uint32_t lane)
{
    uint64_t p;
    if (bits_of(s, &s->o[3], lane) || !value_of(s, &s->o[3], lane, &p))
        return UINT64_MAX;
    return bits_of(s, &s->o[p ? 1 : 2], lane);
}

/* From the lowest undefined bit on. */
static uint64_t carried(const struct step *s, uint32_t lane)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < s->n_uses; i++)
        any |= pt_undefined_bits(s->f, s->uses[i], lane);
    return any | -(any & -any);
}

static uint64_t converted(const struct step *s, uint32_t lane)
{
    uint64_t a = bits_of(s, &s->o[1], lane);
    unsigned width = pt_type_bits((enum pt_type)s->form->type[1]);
    bool is_signed = s->form->type[1] >= PT_s8 && s->form->type[1] <= PT_s64;
    a &= width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
    return is_signed && width < 64 && a >> (width - 1) & 1 ? a | UINT64_MAX << width : a;
}

/* Bytes of {b, a} that a selector names; false: it is not known. */
static bool permuted(const struct step *s, uint32_t lane, uint64_t *bits)
{
    uint64_t selector, both = bits_of(s, &s->o[1], lane) | bits_of(s, &s->o[2], lane) << 32;
    *bits = 0;
    if (s->form->n_mods || bits_of(s, &s->o[3], lane) || !value_of(s, &s->o[3], lane, &selector))
        return false;
    for (unsigned i = 0; i < 4; i++) {
        uint64_t byte = both >> 8 * (selector >> 4 * i & 7) & 0xff;
        *bits |= (selector >> 4 * i & 8 && byte ? 0xff : byte) << 8 * i;
    }
    return true;
}

static uint64_t result_of(const struct step *s, uint32_t lane)
{
    uint64_t bits;
    switch (s->form->op) {
    case PT_OP_mov:
    case PT_OP_cvta:
    case PT_OP_cvta_to:
    case PT_OP_not_pred:
    case PT_OP_not_b:
        return bits_of(s, &s->o[1], lane);
    case PT_OP_cvt_int:
        return converted(s, lane);
    case PT_OP_and_pred:
    case PT_OP_and_b:
        return bitwise(s, lane, 0);
    case PT_OP_or_pred:
    case PT_OP_or_b:
        return bitwise(s, lane, UINT64_MAX);
    case PT_OP_xor_pred:
    case PT_OP_xor_b:
        return bits_of(s, &s->o[1], lane) | bits_of(s, &s->o[2], lane);
    case PT_OP_shl:
    case PT_OP_shr:
        return shifted(s, lane, s->form->op == PT_OP_shl);
    case PT_OP_selp:
        return selected(s, lane);
    case PT_OP_prmt:
        return permuted(s, lane, &bits) ? bits : UINT64_MAX;
    case PT_OP_add_int:
    case PT_OP_sub_int:
    case PT_OP_mul_lo:
    case PT_OP_mad_lo:
        return carried(s, lane);
    default:
        return UINT64_MAX;
    }
}

/* ---- instructions ---------------------------------------------------------------------------- */

static void set_all(const struct step *s, uint32_t lanes)
{
    struct pt_origin origin = s->origin ? *s->origin : (struct pt_origin){0};
    for (uint32_t i = 0; i < s->n_defs; i++) {
        pt_undefined_clear(s->f, s->defs[i], lanes);
        for (uint32_t left = lanes & s->undefined; left; left &= left - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(left);
            pt_undefined_set(s->f, s->defs[i], lane, UINT64_MAX, &origin);
        }
    }
}

/* Parts of a register that is made of them, or is taken apart. */
static void move_parts(const struct step *s, uint32_t lanes)
{
    struct pt_origin origin = *s->origin;
    bool is_pack = s->form->op == PT_OP_mov_pack;
    const struct pt_operand *vector = &s->o[is_pack ? 1 : 0], *whole = &s->o[is_pack ? 0 : 1];
    const struct pt_operand *parts = &s->func->operands.v[vector->index];
    unsigned width = pt_type_bits((enum pt_type)s->form->type[0]) / (unsigned)vector->imm;
    uint64_t mask = width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        uint64_t bits = is_pack ? 0 : bits_of(s, whole, lane);
        for (unsigned i = 0; i < vector->imm; i++) {
            unsigned at = i * width % 64; /* halves of 128 bits are as one */
            if (is_pack)
                bits |= (bits_of(s, &parts[i], lane) & mask) << at;
            else if (parts[i].kind == PT_OPND_REG)
                pt_undefined_set(s->f, parts[i].index, lane, bits >> at & mask, &origin);
        }
        if (is_pack && whole->kind == PT_OPND_REG)
            pt_undefined_set(s->f, whole->index, lane, bits, &origin);
    }
}

/* The lane that a lane of shfl reads from. */
static uint32_t source_of(const struct step *s, const struct pt_operand *b,
                          const struct pt_operand *c, uint32_t lane)
{
    uint64_t by = 0, clamp = 0;
    value_of(s, b, lane, &by);
    value_of(s, c, lane, &clamp);
    uint32_t segment = clamp >> 8 & 31, n = by & 31, own = lane & segment;
    uint32_t most = own | (clamp & 31 & ~segment);
    if (pt_form_has(s->form, PT_M_up))
        return (int)(lane - n) >= (int)most ? lane - n : lane;
    uint32_t from = pt_form_has(s->form, PT_M_down)   ? lane + n
                    : pt_form_has(s->form, PT_M_bfly) ? lane ^ n
                                                      : own | (n & ~segment);
    return from <= most ? from : lane;
}

static void shuffle(const struct step *s, uint32_t lanes)
{
    struct pt_origin origin = *s->origin;
    const struct pt_operand *d = &s->o[0];
    d = d->kind == PT_OPND_PAIR ? &s->func->operands.v[d->index] : d;
    uint64_t bits[PT_WARP_SIZE] = {0};
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        bits[lane] = bits_of(s, &s->o[1], source_of(s, &s->o[2], &s->o[3], lane) & 31);
    }
    for (uint32_t i = 0; i < s->n_defs; i++)
        pt_undefined_clear(s->f, s->defs[i], lanes);
    for (uint32_t left = d->kind == PT_OPND_REG ? lanes : 0; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        pt_undefined_set(s->f, d->index, lane, bits[lane], &origin);
    }
}

/* ---- products of matrices -------------------------------------------------------------------- */

struct product {
    const struct step *step;
    struct pt_origin origin;
    uint32_t lanes;
};

static void get_bits(void *ud, uint32_t slot, uint32_t bits[PT_WARP_SIZE])
{
    const struct product *p = ud;
    const struct step *s = p->step;
    memset(bits, 0, PT_WARP_SIZE * sizeof *bits);
    for (uint32_t k = 0; k < s->n_uses; k++)
        for (uint32_t i = 0; s->f->body->slots[s->uses[k]] == slot && i < PT_WARP_SIZE; i++)
            bits[i] = (uint32_t)pt_undefined_bits(s->f, s->uses[k], i);
}

static void set_bits(void *ud, uint32_t slot, const uint32_t bits[PT_WARP_SIZE])
{
    const struct product *p = ud;
    const struct step *s = p->step;
    for (uint32_t k = 0; k < s->n_defs; k++)
        for (uint32_t left = s->f->body->slots[s->defs[k]] == slot ? p->lanes : 0; left;
             left &= left - 1) {
            uint32_t i = (uint32_t)__builtin_ctz(left);
            pt_undefined_set(s->f, s->defs[k], i, bits[i], &p->origin);
        }
}

/* False: it is no product that is followed. */
static bool multiply(const struct step *s, uint32_t insn, uint32_t lanes)
{
    const struct pt_span *span = &s->f->body->spans[insn];
    for (uint32_t i = span->first; i < span->first + span->n; i++) {
        const struct pt_code *c = &s->f->body->codes.v[i];
        if (!pt_mma_step_is_of(c))
            continue;
        struct product product = {s, *s->origin, lanes};
        pt_mma_step_lose(c, &(struct pt_mma_step_bits){&product, get_bits, set_bits});
        return true;
    }
    return false;
}

void pt_undefined_transfer(struct pt_frame *f, uint32_t insn, uint32_t lanes)
{
    const struct pt_module *m = f->state->program->base.image->module;
    const struct pt_func *func = f->body->func;
    struct step s = {.f = f, .func = func, .insn = &func->insns.v[insn]};
    enum { NOT_FOLLOWED = PT_FX_READ | PT_FX_ATOMIC | PT_FX_CALL };
    s.form = pt_insn_form(m, s.insn);
    if (pt_is_wgmma(s.form)) /* it is told of when it is issued */
        return;
    s.o = s.insn->n_operands ? &func->operands.v[s.insn->operands] : NULL;
    pt_insn_regs(m, func, s.insn, see, &s);
    bool is_matrix = pt_chapter_has("matrix", (enum pt_op)s.form->op);
    if (s.undefined && is_matrix && multiply(&s, insn, lanes))
        return;
    if (s.form->effects & NOT_FOLLOWED || is_matrix || !s.origin)
        s.undefined = 0;
    if (!(s.undefined & lanes) && !(s.form->effects & PT_FX_WARP && s.undefined)) {
        for (uint32_t i = 0; i < s.n_defs; i++)
            pt_undefined_clear(f, s.defs[i], lanes);
        return;
    }
    if (s.form->op == PT_OP_mov_pack || s.form->op == PT_OP_mov_unpack) {
        move_parts(&s, lanes);
    } else if (s.form->op == PT_OP_shfl_sync || s.form->op == PT_OP_shfl) {
        shuffle(&s, lanes);
    } else if (s.form->effects & PT_FX_WARP) {
        s.undefined = s.undefined & lanes ? UINT32_MAX : 0;
        set_all(&s, lanes);
    } else if (s.n_defs == 1 && s.o[0].kind == PT_OPND_REG) {
        struct pt_origin origin = *s.origin;
        for (uint32_t left = lanes; left; left &= left - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(left);
            uint64_t bits = s.undefined >> lane & 1 ? result_of(&s, lane) : 0;
            pt_undefined_set(f, s.defs[0], lane, bits, &origin);
        }
    } else {
        set_all(&s, lanes);
    }
}
