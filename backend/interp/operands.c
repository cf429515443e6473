/* Operands of an instruction as slots of the frame: what pt_selectors ask of the decoder. */
#include "backend/interp/operands.h"
#include "backend/interp/blocks.h"
#include "backend/interp/decoder.h"
#include "backend/interp/materialize.h"
#include "backend/interp/slots.h"
#include "ir/call_graph.h"
#include "ir/layout.h"

uint32_t pt_operands_slot(struct pt_select *s, uint32_t bytes)
{
    return pt_slots_take(s->decoder, pt_slots_bytes(bytes));
}

void *pt_operands_array(struct pt_select *s, size_t bytes)
{
    return pt_arena_alloc(&s->decoder->program->arena, bytes);
}

struct pt_interp_program *pt_operands_program(const struct pt_select *s)
{
    return s->decoder->program;
}

pt_handler pt_refuse(struct pt_select *s, const char *what)
{
    if (!s->decoder)
        return NULL;
    struct pt_diags *diags = &s->module->diags;
    uint32_t n = diags->list.n;
    pt_diag_error(diags, s->insn->line, s->insn->col, (uint32_t)strlen(s->form->spelling),
                  "'%s'%s%s is known but not supported yet", s->form->spelling,
                  what ? " with " : "", what ? what : "");
    if (diags->list.n > n)
        diags->list.v[n].unsupported = true;
    return NULL;
}

static bool is_kernel_param(const struct pt_select *s, uint32_t symbol)
{
    if (!s->func->is_entry)
        return false;
    for (uint32_t i = 0; i < s->func->params.n; i++)
        if (s->func->params.v[i] == symbol)
            return true;
    return false;
}

uint64_t pt_operands_symbol(const struct pt_select *s, uint32_t symbol, enum pt_space *space)
{
    const struct pt_symbol *sym = &s->module->symbols.v[symbol];
    *space = (enum pt_space)sym->space;
    if (sym->space == PT_SPACE_PARAM && !is_kernel_param(s, symbol))
        *space = PT_SPACE_LOCAL;
    if (sym->space == PT_SPACE_PARAM || sym->space == PT_SPACE_LOCAL)
        return sym->offset;
    return s->decoder->image->symbols[symbol];
}

uint64_t pt_operands_constants(const struct pt_select *s)
{
    uint32_t first = pt_layout_first_constant(s->module);
    return first == PT_NONE || !s->decoder
               ? 0
               : s->decoder->image->symbols[first] - s->module->symbols.v[first].offset;
}

bool pt_operands_is_of_kernel(const struct pt_select *s)
{
    return s->func->is_entry ? !PT_HAS(s, param_func) : PT_HAS(s, param_entry);
}

struct pt_code *pt_operands_before(struct pt_select *s, pt_handler fn)
{
    struct pt_code *c = pt_vec_push(s->decoder->scratch, &s->decoder->before);
    c->fn = fn;
    c->insn = s->code->insn;
    return c;
}

struct pt_code *pt_operands_behind(struct pt_select *s, pt_handler fn)
{
    struct pt_code *c = pt_vec_push(s->decoder->scratch, &s->decoder->behind);
    c->fn = fn;
    c->insn = s->code->insn;
    return c;
}

void pt_operands_access_behind(struct pt_select *s, const struct pt_code *access)
{
    *pt_operands_behind(s, NULL) = *access;
    s->decoder->access_behind = s->decoder->behind.n;
}

/* The bits of a constant for a slot of `width` bytes. */
static uint64_t constant_bits(const struct pt_operand *o, uint32_t width)
{
    uint64_t bits = (uint64_t)o->imm;
    if (width == 0)
        return bits ? UINT32_MAX : 0;
    if (o->type == PT_f64 && width == 4) {
        double value;
        memcpy(&value, &bits, sizeof value);
        float narrow = (float)value;
        bits = 0;
        memcpy(&bits, &narrow, sizeof narrow);
    }
    if (o->type == PT_f32 && width == 8) {
        float value;
        memcpy(&value, &bits, sizeof value);
        double wide = value;
        memcpy(&bits, &wide, sizeof wide);
    }
    return width == 4 ? (uint32_t)bits : bits;
}

static uint32_t address_source(struct pt_select *s, const struct pt_operand *o, uint32_t width)
{
    enum pt_space space;
    uint64_t address = pt_operands_symbol(s, o->index, &space) + (uint64_t)o->imm;
    if (space == PT_SPACE_CONST && !(o->flags & PT_OPND_GENERIC))
        address -= pt_operands_constants(s);
    if (space == PT_SPACE_GLOBAL || space == PT_SPACE_CONST)
        return pt_slots_constant(s->decoder, width, width == 4 ? (uint32_t)address : address, 0);
    pt_handler fn = pt_materialize_address(space, o->flags & PT_OPND_GENERIC, width);
    if (!fn) {
        pt_refuse(s, "the address of a variable in this state space");
        return PT_NO_SLOT;
    }
    struct pt_code *c = pt_operands_before(s, fn);
    c->imm = address;
    return c->o[0] = pt_operands_slot(s, width);
}

static uint32_t sreg_source(struct pt_select *s, const struct pt_operand *o, uint32_t width)
{
    struct pt_code *c = pt_operands_before(s, pt_materialize_sreg((enum pt_sreg)o->index, width));
    c->aux = (uint16_t)o->index;
    return c->o[0] = pt_operands_slot(s, width);
}

static uint32_t reg_source(struct pt_select *s, const struct pt_operand *o, uint32_t width)
{
    uint32_t has = pt_slots_width(s->func, o->index), slot = s->decoder->slots[o->index];
    if (has == width)
        return slot;
    if (!width || !has || has == 16 || width == 16) {
        pt_refuse(s, "an operand of this width");
        return PT_NO_SLOT;
    }
    struct pt_code *c = pt_operands_before(s, width == 4 ? pt_materialize_narrow()
                                                         : pt_materialize_extend(32, 64, false));
    c->o[1] = slot;
    return c->o[0] = pt_operands_slot(s, width);
}

uint32_t pt_operands_source(struct pt_select *s, const struct pt_operand *o, uint32_t width)
{
    switch (o->kind) {
    case PT_OPND_REG:
        return reg_source(s, o, width);
    case PT_OPND_IMM:
        return pt_slots_constant(s->decoder, width, constant_bits(o, width), 0);
    case PT_OPND_SREG:
        return sreg_source(s, o, width);
    case PT_OPND_SYM:
        return address_source(s, o, width);
    case PT_OPND_FUNC:
        return pt_slots_constant(s->decoder, width,
                                 s->decoder->image->func_base + 16 * (uint64_t)o->index, 0);
    case PT_OPND_SINK:
        return pt_operands_dest(s, o);
    default:
        pt_refuse(s, "this kind of operand");
        return PT_NO_SLOT;
    }
}

uint32_t pt_operands_dest(struct pt_select *s, const struct pt_operand *o)
{
    struct pt_decoder *d = s->decoder;
    if (o->kind == PT_OPND_REG)
        return d->slots[o->index];
    if (d->sink == PT_NO_SLOT)
        d->sink = pt_slots_take(d, pt_slots_bytes(16));
    return d->sink;
}

/* A destination of the type in a register that may be wider. */
static uint32_t wide_dest(struct pt_select *s, const struct pt_operand *o, enum pt_type type)
{
    uint32_t bits = pt_type_bits(type);
    if (o->kind != PT_OPND_REG)
        return pt_operands_dest(s, o);
    uint32_t reg_bits = pt_type_bits((enum pt_type)s->func->regs.v[o->index].type);
    bool is_signed = pt_type_class(type) == PT_CLASS_S;
    uint32_t has = reg_bits <= 32 ? 4 : 8, width = bits <= 32 ? 4 : 8;
    if (reg_bits <= bits || (has == width && !is_signed))
        return pt_operands_dest(s, o);
    struct pt_code *c = pt_operands_behind(s, pt_materialize_extend(bits, reg_bits, is_signed));
    c->o[0] = pt_operands_dest(s, o);
    return c->o[1] = pt_operands_slot(s, width);
}

static uint32_t bind_one(struct pt_select *s, const struct pt_operand *o, char letter)
{
    switch (letter) {
    case 'w':
        return pt_operands_source(s, o, 4);
    case 'l':
        return pt_operands_source(s, o, 8);
    case 'q':
        return pt_operands_source(s, o, 16);
    case 'p':
        return pt_operands_source(s, o, 0);
    case 'x':
        return wide_dest(s, o, (enum pt_type)s->form->type[0]);
    case 'y':
        return wide_dest(s, o, PT_u32);
    case 'i':
        s->code->imm = (uint64_t)o->imm;
        return 0;
    default:
        return 0;
    }
}

bool pt_bind(struct pt_select *s, const char *widths)
{
    if (!s->decoder)
        return false;
    uint32_t n = 0, slots[PT_FLAT_MAX];
    for (; n < s->n && widths[n]; n++) {
        const struct pt_operand *o = s->flat[n];
        slots[n] = bind_one(s, o, widths[n]);
        if (slots[n] == PT_NO_SLOT)
            return false;
        if (n < 8 && (o->flags & PT_OPND_NEG))
            s->code->neg |= (uint8_t)(1u << n);
    }
    s->code->n = (uint8_t)n;
    memcpy(s->code->o, slots, (n < PT_OPERANDS ? n : PT_OPERANDS) * sizeof *slots);
    if (n > PT_OPERANDS) {
        uint32_t *ops = pt_operands_array(s, n * sizeof *ops);
        memcpy(ops, slots, n * sizeof *ops);
        s->code->ops = ops;
    }
    return true;
}

const uint8_t *pt_operands_callees(const struct pt_select *s)
{
    struct pt_decoder *d = s->decoder;
    uint8_t *is_callee = pt_arena_alloc(&d->program->arena, d->m->funcs.n);
    uint32_t n;
    if (!d->addressed)
        d->addressed = pt_call_graph_addressed(d->m, d->scratch);
    const uint32_t *funcs =
        pt_call_graph_callees(d->m, d->f, s->insn, d->addressed, d->scratch, &n);
    for (uint32_t i = 0; i < n; i++)
        is_callee[funcs[i]] = 1;
    return is_callee;
}

void pt_operands_link(struct pt_select *s, uint32_t block)
{
    s->decoder->link_block = block;
}
