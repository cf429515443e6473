/* Operands for wishes: in registers of their own, with values of which no compiler knows. */
#include "tools/fuzz/draw.h"

#include <string.h>

#include "ir/bits.h"
#include "tools/fuzz/corner.h"

enum {
    METADATA = 0x44444444, /* of sparse matrices: the first two of four */
    ALL_LANES = 0xffffffff,
    STEP = 16 /* between places in memory, which are aligned to it */
};

static bool is_op(const struct drawn *d, const char *prefix)
{
    return !strncmp(pt_op_id(d->form.op), prefix, strlen(prefix));
}

static bool is_wished(const struct drawn *d, const struct pt_slot *slot, enum corner_class class)
{
    return slot->name == d->wish->group->letter && d->wish->class == class;
}

static void add_line(struct gen *g, struct drawn *d, const char *line)
{
    d->before = gen_format(g, "%s%s\n", d->before, line);
}

/* A register with a value of which no compiler knows. */
static const char *hide_value(struct gen *g, struct drawn *d, enum gen_class class, uint64_t value)
{
    static const char *const names[] = {"q", "s", "t", "x"};
    unsigned bits = 8u << class;
    const char *name = gen_format(g, "%%%s%u", names[class], gen_temp(g));
    if (class == GEN_P)
        add_line(g, d, gen_format(g, "setp.ne.u32 %s, %%nought32, %u;", name, (unsigned)value));
    else
        add_line(g, d,
                 gen_format(g, "xor.b%u %s, %%nought%u, 0x%llx;", bits, name, bits,
                            (unsigned long long)value));
    return name;
}

/* What the operand has to be, or may be. */
static const char *source(struct gen *g, struct drawn *d, const struct pt_slot *slot,
                          enum gen_class class, const struct gen_place *place)
{
    enum pt_type type = pt_slot_type(slot, &d->form);
    bool is_it = slot->name == d->wish->group->letter;
    enum corner_class want = is_it ? (enum corner_class)d->wish->class : CORNER_REGISTER;
    bool is_value = want >= CORNER_FALSE;
    if (is_value)
        return hide_value(g, d, class, corner_value(type, want, gen_random(g)));
    bool may_know = !g->for_gpu || !draw_is_folded_wrong(d);
    if (may_know && gen_chance(g, 40))
        return gen_source(g, place, class);
    return hide_value(g, d, class, gen_special(g, class == GEN_P ? 1 : 8u << class));
}

/* A policy that createpolicy makes, for all lines: L2::evict_normal. */
#define POLICY UINT64_C(0x1000000000000000)

/* What is right for any instruction of the row, of counts and strides; NULL: all is. */
static const char *bound_number(const struct drawn *d, const struct pt_slot *slot)
{
    bool is_value = slot->name == d->wish->group->letter &&
                    (d->wish->class == CORNER_ZERO || d->wish->class == CORNER_GREATEST);
    if (is_value || slot->kind > PT_SLOT_REG)
        return NULL;
    if (is_op(d, "mbarrier_") && pt_type_bits(pt_slot_type(slot, &d->form)) == 32)
        return "1"; /* arrival, byte, parity, nanosecond */
    if (is_op(d, "nanosleep"))
        return "5";
    if ((is_op(d, "wmma_load") && slot->name == 'b') ||
        (is_op(d, "wmma_store") && slot->name == 'c'))
        return strstr(d->spelling, ".b1 ") || strstr(d->spelling, "k128") ? "128"
               : strstr(d->spelling, "k32")                               ? "32"
                                                                          : "16";
    return NULL;
}

static const char *number_source(struct gen *g, struct drawn *d, const char *number)
{
    const char *name = gen_format(g, "%%t%u", gen_temp(g));
    add_line(g, d, gen_format(g, "add.u32 %s, %%nought32, %s;", name, number));
    return name;
}

/* Numbers that only some values are right for; NULL: any is. */
static const char *bound_source(struct gen *g, struct drawn *d, const struct pt_slot *slot)
{
    char text[64];
    enum pt_type type = pt_slot_type(slot, &d->form);
    bool is_mask = pt_form_has(&d->form, PT_M_sync) && !(pt_op_effects(d->form.op) & PT_FX_CTA) &&
                   slot->name == pt_form_slot(&d->form, pt_form_operands(&d->form) - 1)->name;
    uint32_t coordinate;
    const char *number = bound_number(d, slot);
    if (number)
        return number_source(g, d, number);
    if (corner_is_policy(&d->form, slot))
        return hide_value(g, d, GEN_D, POLICY);
    if (d->is_place && draw_coordinate(g, d, slot, &coordinate))
        return hide_value(g, d, GEN_R, coordinate);
    if (is_op(d, "mma_sp") && slot->name == 'e')
        return hide_value(g, d, GEN_R, METADATA);
    if (is_mask && !strcmp(pt_op_chapter(d->form.op), "warp"))
        return hide_value(g, d, GEN_R, ALL_LANES);
    if (!slot->n_values)
        return NULL;
    if (slot->name == 'b' && (pt_op_effects(d->form.op) & PT_FX_CTA))
        return hide_value(g, d, GEN_R, pt_round_up(g->cta_threads, 32));
    if (!draw_constant(g, slot, type, text, sizeof text))
        return NULL;
    const char *name = gen_format(g, "%%t%u", gen_temp(g));
    add_line(g, d, gen_format(g, "add.u32 %s, %%nought32, %s;", name, text));
    return name;
}

static bool add_constant(struct gen *g, struct drawn *d, const struct pt_slot *slot)
{
    char text[64];
    enum pt_type type = pt_slot_type(slot, &d->form);
    bool is_open = g->for_gpu && slot->kind == PT_SLOT_VALUE &&
                   (draw_is_folded_wrong(d) || type == PT_f32 || type == PT_f64 ||
                    (d->form.n_types && pt_type_bits(d->form.type[0]) == 16));
    uint32_t coordinate;
    bool is_thread_count = slot->name == 'b' && (pt_op_effects(d->form.op) & PT_FX_CTA);
    if (is_open || !draw_constant(g, slot, type, text, sizeof text))
        return false;
    const char *number = bound_number(d, slot);
    if (number)
        strcat(d->operands, number);
    else if (corner_is_policy(&d->form, slot))
        strcat(d->operands, gen_format(g, "%llu", (unsigned long long)POLICY));
    else if (d->is_place && draw_coordinate(g, d, slot, &coordinate))
        strcat(d->operands, gen_format(g, "%d", (int32_t)coordinate));
    else if (is_thread_count)
        strcat(d->operands, gen_format(g, "%zu", pt_round_up(g->cta_threads, 32)));
    else if (bound_source(g, d, slot) && !slot->n_values)
        strcat(d->operands, "-1"); /* lanes */
    else
        strcat(d->operands, text);
    return true;
}

static bool add_source(struct gen *g, struct drawn *d, const struct pt_slot *slot,
                       enum gen_class class, const struct gen_place *place)
{
    bool is_negated = is_wished(d, slot, CORNER_NEGATED);
    if (slot->kind != PT_SLOT_REG && is_wished(d, slot, CORNER_CONSTANT))
        return add_constant(g, d, slot);
    const char *name = bound_source(g, d, slot);
    if (!name)
        name = source(g, d, slot, class, place);
    strcat(d->operands, !is_negated ? "" : slot->flags & PT_SLOT_NOT ? "!" : "-");
    strcat(d->operands, name);
    draw_selector(g, d, slot, is_wished(d, slot, CORNER_SELECTED));
    return true;
}

/* A register that holds something before, as the instruction may read it or have a guard. */
static bool add_result(struct gen *g, struct drawn *d, const struct pt_slot *slot,
                       enum gen_class class, const struct gen_place *place)
{
    if (d->n_written == DRAWN_RESULTS)
        return false;
    if (is_wished(d, slot, CORNER_SINK) && (!d->element || d->element == 2)) { /* not all may be */
        strcat(d->operands, "_");
        return true;
    }
    const char *name = slot->flags & PT_SLOT_INOUT ? source(g, d, slot, class, place)
                                                   : hide_value(g, d, class, gen_below(g, 2));
    if (slot->flags & PT_SLOT_INOUT && name[1] != 's' && name[1] != 't' && name[1] != 'x')
        return false; /* a variable of the kernel */
    d->type[d->n_written] = pt_slot_type(slot, &d->form);
    d->written[d->n_written++] = name;
    strcat(d->operands, name);
    draw_selector(g, d, slot, is_wished(d, slot, CORNER_SELECTED));
    return true;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* A barrier of the thread's own, which is waiting for more than one arrival. */
static const char *barrier_place(struct gen *g, struct drawn *d, unsigned n)
{
    bool is_generic = pt_form_space(&d->form) == PT_SPACE_GENERIC;
    g->has_shared = true;
    d->place = gen_temp(g);
    return gen_format(g,
                      "mov.u64 %%y%u, slots;\nmad.wide.u32 %%x%u, %%ltid, %u, %%y%u;\n%s"
                      "%s.u64 %%x%u, %%x%u;",
                      n, d->place, GEN_OWN, n,
                      is_op(d, "mbarrier_init")
                          ? ""
                          : gen_format(g, "mbarrier.init.shared.b64 [%%x%u], %u;\n", d->place,
                                       2 + gen_below(g, 6)),
                      is_generic ? "cvta.shared" : "mov", n, d->place);
}

/* A matrix of the warp's: it loads from the table, and stores in what its threads have. A stride
 * is for those of 16 columns and rows, or fewer. */
static const char *matrix_place(struct gen *g, const struct drawn *d, unsigned n)
{
    enum pt_space space = pt_form_space(&d->form);
    unsigned last = pt_form_operands(&d->form) - 1;
    bool has_stride = pt_form_slot(&d->form, last)->kind == PT_SLOT_VALUE &&
                      pt_type_bits(pt_slot_type(pt_form_slot(&d->form, last), &d->form)) == 32,
         is_long = strstr(d->spelling, "m32n8") || strstr(d->spelling, "m8n32");
    if ((has_stride && is_long) || (space != PT_SPACE_GLOBAL && space != PT_SPACE_GENERIC))
        return NULL;
    if (is_op(d, "wmma_load"))
        return gen_format(g, "mov.u64 %%x%u, table;", n);
    return gen_format(g,
                      "mov.u32 %%t%u, %%laneid;\nsub.u32 %%t%u, %%gid, %%t%u;\n"
                      "mad.wide.u32 %%x%u, %%t%u, %u, %%out;\nadd.s64 %%x%u, %%x%u, %zu;",
                      n, n, n, n, n, GEN_WISH_BYTES, n, n, g->wish_at);
}

/* Where a thread may load and store STEP bytes: into %x<n>. NULL: not in this space. */
static const char *own_place(struct gen *g, struct drawn *d, unsigned n)
{
    if (is_op(d, "mbarrier_"))
        return barrier_place(g, d, n);
    if (is_op(d, "wmma_"))
        return matrix_place(g, d, n);
    unsigned at = is_op(d, "multimem_") ? 0 : gen_below(g, GEN_WISH_BYTES / STEP);
    bool is_const = pt_form_space(&d->form) == PT_SPACE_CONST;
    if (is_const || is_op(d, "ld_nc") || is_op(d, "ldu")) {
        g->has_const |= is_const;
        return gen_format(g, "mov.u64 %%x%u, %s;\nadd.s64 %%x%u, %%x%u, %u;", n,
                          is_const ? "constants" : "table", n, n,
                          STEP * gen_below(g, GEN_TABLE / 2));
    }
    switch (pt_form_space(&d->form)) {
    case PT_SPACE_GLOBAL:
    case PT_SPACE_GENERIC:
        return gen_format(g, "mad.wide.u32 %%x%u, %%gid, %u, %%out;\nadd.s64 %%x%u, %%x%u, %zu;", n,
                          GEN_WISH_BYTES, n, n, g->wish_at + STEP * at);
    case PT_SPACE_SHARED:
    case PT_SPACE_SHARED_CLUSTER:
        g->has_shared = true;
        return gen_format(g, "mov.u64 %%y%u, slots;\nmad.wide.u32 %%x%u, %%ltid, %u, %%y%u;", n, n,
                          GEN_OWN, n);
    case PT_SPACE_LOCAL:
        return gen_format(g, "mov.u64 %%x%u, mine;", n);
    default:
        return NULL;
    }
}

static bool add_memory(struct gen *g, struct drawn *d, const struct pt_slot *slot)
{
    unsigned n = gen_temp(g), effects = pt_op_effects(d->form.op);
    const char *place = own_place(g, d, n);
    bool is_own_global = place && strstr(place, "%out") && !is_op(d, "wmma_"),
         reads = effects & PT_FX_READ;
    bool has_offset = d->wish->class == CORNER_OFFSET || gen_chance(g, 30);
    if (!place || slot->n_sub > 1)
        return false;
    add_line(g, d, place);
    if (is_own_global && reads) {
        const char *value = hide_value(g, d, GEN_D, gen_special(g, 64));
        add_line(g, d, gen_format(g, "st.global.v2.b64 [%%x%u], {%s, %%d0};", n, value));
    }
    if (has_offset)
        add_line(g, d, gen_format(g, "add.s64 %%x%u, %%x%u, -%u;", n, n, STEP));
    strcat(d->operands, gen_format(g, has_offset ? "[%%x%u+%u]" : "[%%x%u]", n, STEP));
    return true;
}

/* Of CTAs of a cluster. */
static bool is_shared_address(const struct drawn *d)
{
    return is_op(d, "mapa") || is_op(d, "getctarank");
}

/* ---- all ------------------------------------------------------------------------------------- */

bool draw_wanted(struct gen *g, struct drawn *d, const struct pt_slot *slot,
                 const struct gen_place *place)
{
    enum gen_class class;
    enum pt_type type = pt_slot_type(slot, &d->form);
    char letter = slot->kind == PT_SLOT_MEM ? pt_slot_sub(slot, 0)->name : slot->name;
    bool ok = false;
    switch (slot->kind) {
    case PT_SLOT_VALUE:
    case PT_SLOT_REG:
        ok = draw_class(slot, type, &class) &&
             (pt_slot_is_dest(slot) ? add_result(g, d, slot, class, place)
                                    : add_source(g, d, slot, class, place));
        break;
    case PT_SLOT_IMM:
    case PT_SLOT_FIMM:
        ok = add_constant(g, d, slot);
        break;
    case PT_SLOT_MEM:
        ok = add_memory(g, d, slot);
        break;
    case PT_SLOT_SREG:
        ok = type == PT_u32 || type == PT_b32 || type == PT_s32;
        strcat(d->operands, "%laneid");
        break;
    case PT_SLOT_ADDR:
        ok = pt_type_bits(type) >= 32;
        g->has_shared |= is_shared_address(d);
        strcat(d->operands, is_shared_address(d) ? "slots" : "table");
        break;
    case PT_SLOT_SINK_ONLY:
        ok = true;
        strcat(d->operands, "_");
        break;
    default:
        break;
    }
    d->is_granted |= ok && letter == d->wish->group->letter;
    return ok;
}
