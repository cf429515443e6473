/* Steps of a launch, told by their places in the text, and the operands there. */
#include "tools/fuzz/observe.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/parse.h"
#include "ir/print.h"
#include "ptera_trace.h"
#include "tools/fuzz/corner.h"

enum { OPERANDS_MOST = 40, NAME = 32, LANES = 32, LANE_STEP = 5 };

/* An operand of an instruction: what it is in any case, and whose values are looked at. */
struct operand {
    unsigned group;
    enum pt_type of; /* elements that share a letter may have types of their own */
    uint32_t classes;
    char reg[NAME]; /* "": none */
};

struct place {
    const struct pt_func *func;
    const struct pt_insn *insn;
    struct operand *operands; /* once it has been reached */
    unsigned n;
};

struct observation {
    struct pt_module module;
    struct place *places; /* by line */
    size_t n_places;
    uint32_t *corners;
};

static void hit(struct observation *o, unsigned group, uint32_t classes)
{
    classes &= group == UINT_MAX ? 0 : corner_group_at(group)->classes;
    for (unsigned c = 0; c < CORNER_CLASSES; c++) {
        uint32_t *count = &o->corners[group * CORNER_CLASSES + c];
        if (classes >> c & 1 && *count < UINT32_MAX)
            ++*count;
    }
}

/* ---- operands -------------------------------------------------------------------------------- */

/* The instruction whose operands are looked at. */
struct look {
    const struct pt_func *func;
    const struct pt_form *form;
    struct place *place;
};

static struct operand *add(struct look *l, char letter)
{
    struct operand *x = &l->place->operands[l->place->n];
    if (l->place->n == OPERANDS_MOST)
        return NULL;
    *x = (struct operand){.group = corner_find(l->form, letter)};
    if (x->group == UINT_MAX)
        return NULL;
    l->place->n++;
    return x;
}

static void look_at_value(struct look *l, const struct pt_slot *slot,
                          const struct pt_operand *operand, uint32_t classes)
{
    struct operand *x = add(l, slot->name);
    if (!x)
        return;
    enum pt_type type = pt_slot_type(slot, l->form);
    x->of = type;
    x->classes = classes;
    if (operand->flags & (PT_OPND_NEG | PT_OPND_MINUS))
        x->classes |= 1u << CORNER_NEGATED;
    if (operand->select)
        x->classes |= 1u << CORNER_SELECTED;
    if (operand->kind == PT_OPND_SINK)
        x->classes |= 1u << CORNER_SINK;
    else if (operand->kind == PT_OPND_IMM)
        x->classes |= 1u << CORNER_CONSTANT | corner_classes_of(type, (uint64_t)operand->imm);
    else
        x->classes |= 1u << CORNER_REGISTER;
    bool is_read = !pt_slot_is_dest(slot) || slot->flags & PT_SLOT_INOUT;
    if (operand->kind == PT_OPND_REG && is_read)
        pt_print_reg(l->func, operand->index, x->reg, sizeof x->reg);
}

static void look_at(struct look *l, const struct pt_slot *slot, const struct pt_operand *operand,
                    uint32_t classes)
{
    const struct pt_operand *parts = &l->func->operands.v[operand->index];
    struct operand *x;
    switch (slot->kind) {
    case PT_SLOT_MEM:
        x = operand->kind == PT_OPND_MEM ? add(l, pt_slot_sub(slot, 0)->name) : NULL;
        if (x)
            x->classes = 1u << CORNER_REGISTER | (parts[0].imm ? 1u << CORNER_OFFSET : 0);
        for (unsigned i = 1; operand->kind == PT_OPND_MEM && i < slot->n_sub && i < operand->imm;
             i++)
            look_at(l, pt_slot_sub(slot, i), &parts[i], 0);
        break;
    case PT_SLOT_PAIR:
        for (unsigned i = 0; i < 2; i++)
            look_at(l, pt_slot_sub(slot, i), operand->kind == PT_OPND_PAIR ? &parts[i] : operand,
                    0);
        break;
    case PT_SLOT_VEC:
        if (operand->kind != PT_OPND_VEC)
            look_at(l, pt_slot_sub(slot, 0), operand, 0);
        for (unsigned i = 0; operand->kind == PT_OPND_VEC && i < operand->imm; i++)
            look_at(l, pt_slot_sub(slot, i), &parts[i], 1u << CORNER_ELEMENT);
        break;
    case PT_SLOT_LIST:
    case PT_SLOT_SINK_ONLY:
        break;
    default:
        look_at_value(l, slot, operand, classes);
    }
}

static void look_at_all(struct observation *o, struct place *p)
{
    struct look l = {p->func, pt_insn_form(&o->module, p->insn), p};
    unsigned n = pt_form_operands(l.form);
    p->operands = calloc(OPERANDS_MOST, sizeof *p->operands);
    if (!p->operands)
        return;
    struct operand *guard = add(&l, '@');
    if (guard)
        guard->classes = 1u << (p->insn->guard ? CORNER_GUARD : CORNER_NONE);
    for (unsigned i = 0; i < n && i < p->insn->n_operands; i++)
        look_at(&l, pt_form_slot(l.form, i), &p->func->operands.v[p->insn->operands + i], 0);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Names of registers in steps may go on: "%r1$7". */
static bool is_of(const ptera_step_value *v, const char *reg)
{
    size_t n = strlen(reg);
    return !v->is_result && !strncmp(v->name, reg, n) && (!v->name[n] || v->name[n] == '$');
}

static void take_step(void *ud, const ptera_step *step)
{
    struct observation *o = ud;
    struct place *p = step->line < o->n_places ? &o->places[step->line] : NULL;
    if (!p || !p->insn)
        return;
    if (!p->operands)
        look_at_all(o, p);
    for (unsigned i = 0; p->operands && i < p->n; i++) {
        const struct operand *x = &p->operands[i];
        uint32_t classes = x->classes;
        for (unsigned k = 0; *x->reg && k < step->n_values; k++)
            if (is_of(&step->values[k], x->reg))
                classes |= corner_classes_of(x->of, step->values[k].low);
        hit(o, x->group, classes);
    }
}

/* Of the first CTA's first warp every fifth lane. */
static int wants(void *ud, const unsigned cta[3], const unsigned thread[3])
{
    (void)ud;
    bool is_first = !cta[0] && !cta[1] && !cta[2] && !thread[1] && !thread[2];
    return is_first && thread[0] < LANES && thread[0] % LANE_STEP == 0;
}

/* The instructions by their lines; a line has one. */
static bool find_places(struct observation *o, const char *text)
{
    struct pt_module *m = &o->module;
    o->n_places = 2;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        o->n_places++;
    o->places = calloc(o->n_places, sizeof *o->places);
    if (!o->places || !pt_parse(m, "random.ptx", text, strlen(text)))
        return false;
    for (unsigned f = 0; f < m->funcs.n; f++)
        for (unsigned i = 0; i < m->funcs.v[f].insns.n; i++) {
            const struct pt_insn *insn = &m->funcs.v[f].insns.v[i];
            if (insn->line < o->n_places)
                o->places[insn->line] = (struct place){.func = &m->funcs.v[f], .insn = insn};
        }
    return true;
}

void observe_launch(ptera_kernel *kernel, const ptera_launch *launch, const char *text,
                    uint32_t *corners)
{
    struct observation *o = calloc(1, sizeof *o);
    jmp_buf oom;
    if (!o)
        return;
    o->corners = corners;
    pt_arena_init(&o->module.arena, &pt_malloc_allocator);
    o->module.arena.oom = &oom;
    if (!setjmp(oom) && find_places(o, text)) {
        const ptera_tracing tracing = {
            .size = sizeof tracing, .step = take_step, .wants = wants, .ud = o};
        ptera_kernel_trace(kernel, launch, &tracing);
    }
    for (size_t i = 0; o->places && i < o->n_places; i++)
        free(o->places[i].operands);
    free(o->places);
    pt_arena_free(&o->module.arena);
    free(o);
}
