/* Local memory: whether a group may keep its lanes' variables in rows of its own, lane beside lane,
 * instead of in the threads' windows, which lie apart: where nobody else can look there. What is
 * made by cvta.local is followed through the function; if it is nothing but the base of loads and
 * stores, these are local accesses.
 */
#include "backend/jit/analysis/local_memory.h"

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/bitset.h"
#include "backend/jit/tune.h"
#include "backend/order.h"
#include "ir/bits.h"
#include "ir/inline.h"
#include "ir/insn.h"

/* ---- generic addresses of local variables ---------------------------------------------------- */

struct scan {
    const struct pt_module *m;
    const struct pt_func *f;
    uint64_t *made;         /* registers that may hold a generic address of a local variable */
    unsigned reads, writes; /* of such registers, by the instruction at hand */
};

static bool is_made(const struct scan *s, const struct pt_operand *o)
{
    return o->kind == PT_OPND_REG && jit_set_has(s->made, o->index);
}

static bool is_cvta(const struct pt_form *form, enum pt_op op)
{
    return form->op == op && pt_form_has(form, PT_M_local);
}

/* Sources that are such addresses, where the result is one, too; 0: it is none. */
static unsigned passes_on(const struct scan *s, const struct pt_form *form,
                          const struct pt_operand *o)
{
    switch (form->op) {
    case PT_OP_mov:
        return is_made(s, &o[1]);
    case PT_OP_add_int:
        return is_made(s, &o[1]) != is_made(s, &o[2]);
    case PT_OP_sub_int:
        return is_made(s, &o[1]) && !is_made(s, &o[2]);
    case PT_OP_mad_lo:
    case PT_OP_mad_wide:
        return is_made(s, &o[3]) && !is_made(s, &o[1]) && !is_made(s, &o[2]);
    case PT_OP_selp:
        return is_made(s, &o[1]) && is_made(s, &o[2]) ? 2 : 0;
    default:
        return 0;
    }
}

static const struct pt_operand *place_of(const struct scan *s, const struct pt_form *form,
                                         const struct pt_operand *o)
{
    const struct pt_operand *mem = &o[form->op == PT_OP_st ? 0 : 1];
    return &s->f->operands.v[mem->index];
}

/* A plain load or store through such an address. */
static bool is_access(const struct scan *s, const struct pt_form *form, const struct pt_operand *o)
{
    return (form->op == PT_OP_ld || form->op == PT_OP_st) && is_made(s, place_of(s, form, o)) &&
           pt_form_space(form) == PT_SPACE_GENERIC && pt_order_of(form) == PT_ORDER_PLAIN &&
           form->n_mods < PT_FORM_MODS;
}

static void note(void *ud, uint32_t reg, bool is_def)
{
    struct scan *s = ud;
    bool is_one = jit_set_has(s->made, reg);
    s->reads += is_one && !is_def;
    s->writes += is_one && is_def;
}

static void find_made(struct scan *s)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < s->f->insns.n; i++) {
            const struct pt_insn *insn = &s->f->insns.v[i];
            const struct pt_form *form = pt_insn_form(s->m, insn);
            const struct pt_operand *o = &s->f->operands.v[insn->operands];
            if (!insn->n_operands || o->kind != PT_OPND_REG || is_made(s, o) ||
                !(is_cvta(form, PT_OP_cvta) || passes_on(s, form, o)))
                continue;
            jit_set_add(s->made, o->index);
            changed = true;
        }
    }
}

/* The instruction does with such addresses nothing but what is known here. */
static bool keeps_to_itself(struct scan *s, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(s->m, insn);
    const struct pt_operand *o = &s->f->operands.v[insn->operands];
    s->reads = s->writes = 0;
    pt_insn_regs(s->m, s->f, insn, note, s);
    if (is_cvta(form, PT_OP_cvta))
        return !s->reads && form->type[0] == PT_u64;
    if (is_cvta(form, PT_OP_cvta_to))
        return s->reads == 1 && !s->writes && form->type[0] == PT_u64;
    if (is_access(s, form, o))
        return s->reads == 1 && !s->writes;
    unsigned n = passes_on(s, form, o);
    return s->reads == n && s->writes == (n != 0);
}

static uint32_t with_space(struct jit_facts *a, uint32_t of, enum pt_mod from, enum pt_mod to)
{
    struct pt_module *m = a->unit->m;
    struct pt_form form = m->forms.v[of];
    for (unsigned i = 0; i < form.n_mods; i++)
        if (form.mod[i] == from)
            form.mod[i] = (uint16_t)to;
    if (from == PT_M_NONE)
        form.mod[form.n_mods++] = (uint16_t)to;
    *pt_vec_push(a->unit->arena, &m->forms) = form;
    return m->forms.n - 1;
}

/* cvta.global gives what it takes. */
static void name(struct jit_facts *a, const struct scan *s)
{
    for (uint32_t i = 0; i < s->f->insns.n; i++) {
        struct pt_insn *insn = &a->unit->f->insns.v[i];
        const struct pt_form *form = pt_insn_form(s->m, insn);
        if (is_cvta(form, PT_OP_cvta) || is_cvta(form, PT_OP_cvta_to)) {
            insn->form = with_space(a, insn->form, PT_M_local, PT_M_global);
        } else if (is_access(s, form, &s->f->operands.v[insn->operands])) {
            insn->form = with_space(a, insn->form, PT_M_NONE, PT_M_local);
            jit_set_add(a->local.was_generic, i);
        }
    }
}

void jit_local_memory_name_accesses(struct jit_facts *a)
{
    const struct pt_func *f = a->unit->f;
    struct scan s = {.m = a->unit->m, .f = f};
    s.made = pt_arena_alloc(a->unit->arena, pt_bit_words(f->regs.n) * sizeof *s.made);
    a->local.was_generic =
        pt_arena_alloc(a->unit->arena, pt_bit_words(f->insns.n) * sizeof *a->local.was_generic);
    find_made(&s);
    for (uint32_t i = 0; i < f->insns.n; i++)
        if (!keeps_to_itself(&s, &f->insns.v[i]))
            return;
    name(a, &s);
}

bool jit_local_memory_was_generic(const struct jit_facts *a, const struct pt_insn *insn)
{
    return jit_set_has(a->local.was_generic, (uint32_t)(insn - a->unit->f->insns.v));
}

/* ---- rows ------------------------------------------------------------------------------------ */

enum { ALIGN = 16 }; /* of windows: no access asks for more */

/* The address is one of local memory: memory/access.c. */
static bool is_local(const struct jit_facts *a, const struct pt_form *form,
                     const struct pt_operand *base)
{
    if (base->kind == PT_OPND_SYM && a->unit->m->symbols.v[base->index].space == PT_SPACE_LOCAL)
        return true;
    return pt_form_has(form, PT_M_param_func) || pt_form_space(form) == PT_SPACE_LOCAL;
}

/* Adds the size of the elements that the instruction accesses; false if others may look there, or
 * the access is too wide. */
static bool add_sizes(const struct jit_facts *a, const struct pt_insn *insn, unsigned *sizes)
{
    const struct pt_form *form = pt_insn_form(a->unit->m, insn);
    struct scan s = {.m = a->unit->m, .f = a->unit->f};
    if ((form->effects & PT_FX_CALL) || pt_is_of_stack(form) || is_cvta(form, PT_OP_cvta) ||
        is_cvta(form, PT_OP_cvta_to))
        return false;
    if (form->op != PT_OP_ld && form->op != PT_OP_st)
        return true;
    if (!is_local(a, form, place_of(&s, form, &s.f->operands.v[insn->operands])))
        return true;
    unsigned bytes = pt_type_bits((enum pt_type)form->type[0]) / 8;
    *sizes |= bytes;
    return bytes <= 8 && bytes * (form->vec ? form->vec : 1) <= ALIGN;
}

unsigned jit_local_memory_pressure(const struct jit_facts *a)
{
    uint64_t rows = a->unit->f->local_size / 4;
    return (unsigned)(rows < JIT_LOCAL_SELECT_ROWS ? rows : JIT_LOCAL_SELECT_ROWS);
}

void jit_local_memory_choose(struct jit_facts *a)
{
    unsigned sizes = 0;
    uint64_t bytes = a->unit->f->local_size;
    if (!a->is_one_region || a->is_resumable || a->has_steps || !bytes)
        return;
    for (uint32_t i = 0; i < a->unit->f->insns.n; i++)
        if (!add_sizes(a, &a->unit->f->insns.v[i], &sizes))
            return;
    unsigned row = sizes & (sizes - 1) ? 4 : sizes; /* as wide as all elements, or 4 */
    if (!row || bytes > JIT_LOCAL_ROWS * row ||
        bytes * a->unit->width * a->copies > JIT_LOCAL_BYTES)
        return;
    a->local.row_bytes = row;
    a->local.rows = (uint32_t)(pt_round_up(bytes, row) / row);
}

/* ---- offsets --------------------------------------------------------------------------------- */

static struct jit_offset offset_of(const struct jit_facts *a, const struct pt_operand *o,
                                   unsigned depth);

static struct jit_offset anything(unsigned bits)
{
    return (struct jit_offset){.max = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX,
                               .unit = 1};
}

static uint64_t lowest_bit(uint64_t n)
{
    return n & (0 - n);
}

static struct jit_offset exactly(uint64_t n)
{
    return (struct jit_offset){
        .max = n, .unit = n ? lowest_bit(n) : UINT64_C(1) << 63, .is_exact = true};
}

static struct jit_offset sum(struct jit_offset x, struct jit_offset y, unsigned bits)
{
    struct jit_offset d = anything(bits);
    if (x.is_exact && y.is_exact)
        return exactly((x.max + y.max) & d.max);
    if (x.max <= d.max && y.max <= d.max - x.max)
        d.max = x.max + y.max;
    d.unit = x.unit < y.unit ? x.unit : y.unit;
    return d;
}

static struct jit_offset product(struct jit_offset x, uint64_t by, unsigned bits)
{
    struct jit_offset d = anything(bits);
    if (!by)
        return exactly(0);
    if (x.max <= d.max / by)
        d.max = x.max * by;
    else if (by & (by - 1)) /* what is cut off may be no multiple */
        return d;
    unsigned factor = (unsigned)__builtin_ctzll(by), most = 63 - (unsigned)__builtin_ctzll(x.unit);
    d.unit = x.unit << (factor < most ? factor : most);
    return d;
}

/* x & n, x >> n, x * n, x + y, as the instruction says, of unsigned numbers. */
static struct jit_offset combined(const struct jit_facts *a, const struct pt_form *form,
                                  const struct pt_operand *o, unsigned depth)
{
    unsigned bits = pt_type_bits((enum pt_type)form->type[0]);
    bool is_signed = pt_type_class((enum pt_type)form->type[0]) == PT_CLASS_S;
    struct jit_offset d = anything(bits), x = offset_of(a, &o[1], depth);
    uint64_t n;
    if (form->op == PT_OP_add_int)
        return sum(x, offset_of(a, &o[2], depth), bits);
    if (!jit_def_use_constant(a, &o[2], &n))
        return d;
    n &= d.max;
    bool is_negative = is_signed && (n >> (bits - 1) || x.max >> (bits - 1));
    switch (form->op) {
    case PT_OP_and_b:
        x.max = n < x.max ? n : x.max;
        x.unit = n && lowest_bit(n) > x.unit ? lowest_bit(n) : x.unit;
        x.is_exact = false;
        return x;
    case PT_OP_shr:
        d.max = n < bits && !(is_signed && x.max >> (bits - 1)) ? x.max >> n : d.max;
        return d;
    case PT_OP_shl:
        return n < bits ? product(x, UINT64_C(1) << n, bits) : exactly(0);
    case PT_OP_mul_lo:
        return product(x, n, bits);
    case PT_OP_mul_wide:
        return is_negative ? anything(2 * bits) : product(x, n, 2 * bits);
    default:
        return d;
    }
}

static struct jit_offset converted(const struct jit_facts *a, const struct pt_form *form,
                                   const struct pt_operand *o, unsigned depth)
{
    unsigned to = pt_type_bits((enum pt_type)form->type[0]);
    unsigned from = pt_type_bits((enum pt_type)form->type[1]);
    struct jit_offset x = offset_of(a, &o[1], depth);
    bool is_signed = pt_type_class((enum pt_type)form->type[1]) == PT_CLASS_S;
    bool is_kept = x.max <= anything(to).max && x.max <= anything(from).max &&
                   !(is_signed && x.max >> (from - 1));
    return is_kept ? x : anything(to);
}

static struct jit_offset offset_of(const struct jit_facts *a, const struct pt_operand *o,
                                   unsigned depth)
{
    if (o->kind == PT_OPND_IMM && o->type != PT_f32 && o->type != PT_f64)
        return exactly((uint64_t)o->imm);
    if (o->kind == PT_OPND_SYM && !(o->flags & PT_OPND_GENERIC) &&
        a->unit->m->symbols.v[o->index].space == PT_SPACE_LOCAL)
        return exactly(a->unit->m->symbols.v[o->index].offset + (uint64_t)o->imm);
    uint32_t only = o->kind == PT_OPND_REG ? a->regs[o->index].only : UINT32_MAX;
    unsigned bits =
        o->kind == PT_OPND_REG ? pt_type_bits((enum pt_type)a->unit->f->regs.v[o->index].type) : 64;
    if (only == UINT32_MAX || !depth || a->unit->f->insns.v[only].guard)
        return anything(bits);
    const struct pt_insn *def = &a->unit->f->insns.v[only];
    const struct pt_form *form = pt_insn_form(a->unit->m, def);
    const struct pt_operand *d = &a->unit->f->operands.v[def->operands];
    bool is_whole =
        d->kind == PT_OPND_REG && form->n_types &&
        pt_type_bits((enum pt_type)form->type[0]) * (form->op == PT_OP_mul_wide ? 2 : 1) == bits;
    switch (is_whole ? form->op : PT_OP_NONE) {
    case PT_OP_mov:
    case PT_OP_mov_addr:
    case PT_OP_cvta:
    case PT_OP_cvta_to:
        return d[1].kind == PT_OPND_VEC ? anything(bits) : offset_of(a, &d[1], depth - 1);
    case PT_OP_cvt_int:
        return pt_form_has(form, PT_M_sat) ? anything(bits) : converted(a, form, d, depth - 1);
    case PT_OP_add_int:
    case PT_OP_and_b:
    case PT_OP_shr:
    case PT_OP_shl:
    case PT_OP_mul_lo:
    case PT_OP_mul_wide:
        return combined(a, form, d, depth - 1);
    default:
        return anything(bits);
    }
}

struct jit_offset jit_local_memory_offset(const struct jit_facts *a, const struct pt_operand *base)
{
    struct jit_offset d = offset_of(a, base, JIT_CHAIN_DEPTH);
    return base->kind == PT_OPND_REG ? sum(d, exactly((uint64_t)base->imm), 64) : d;
}
