/* Instructions that only compute, drawn from the instruction table: a new row is covered if its
 * operands are registers and constants of common widths. */
#include "tools/fuzz/build.h"

#include <string.h>

#include "ir/chapter.h"
#include "ir/row.h"

/* ---- registers ------------------------------------------------------------------------------- */

static const char letter[GEN_CLASSES] = {'p', 'h', 'r', 'd'};

unsigned gen_temp(struct gen *g)
{
    return g->n_temps++;
}

const char *gen_dest(struct gen *g, enum gen_class class)
{
    return gen_format(g, "%%%c%u", letter[class], gen_below(g, GEN_POOL));
}

const char *gen_uniform_source(struct gen *g, const struct gen_place *place, enum gen_class class)
{
    unsigned i = gen_below(g, GEN_UNIFORM_POOL + 1);
    if (class == GEN_R && i == GEN_UNIFORM_POOL && place->n_counters &&
        place->counter_is_uniform[place->n_counters - 1])
        return gen_format(g, "%%t%u", place->counter[place->n_counters - 1]);
    return gen_format(g, "%%u%c%u", letter[class], i % GEN_UNIFORM_POOL);
}

const char *gen_value(struct gen *g, const struct gen_values *values, enum gen_class class,
                      bool takes_float)
{
    unsigned first = values->n ? gen_below(g, values->n) : 0;
    for (unsigned i = 0; i < values->n; i++) {
        const struct gen_value *v = &values->v[(first + i) % values->n];
        if (v->class == class && (takes_float || !v->is_float))
            return v->name;
    }
    return NULL;
}

struct gen_value gen_new_value(struct gen *g, enum gen_class class, bool is_float)
{
    static const char *const names[] = {"q", NULL, "t", "x"};
    const char *name = !is_float ? names[class] : class == GEN_R ? "f" : "fd";
    return (struct gen_value){class, is_float, gen_format(g, "%%%s%u", name, gen_temp(g))};
}

char *gen_zero_text(struct gen *g, const struct gen_value *value)
{
    if (value->is_float)
        return gen_format(g,
                          value->class == GEN_R ? "mov.f32 %s, 0f00000000;"
                                                : "mov.f64 %s, 0d0000000000000000;",
                          value->name);
    return gen_format(g,
                      value->class == GEN_P   ? "setp.ne.u32 %s, 0, 0;"
                      : value->class == GEN_R ? "mov.b32 %s, 0;"
                                              : "mov.b64 %s, 0;",
                      value->name);
}

void gen_add_value(struct gen_values *values, const struct gen_value *value)
{
    if (values->n < GEN_VALUES)
        values->v[values->n++] = *value;
}

/* One of the preferred values, mostly; NULL: another source is to be drawn. */
static const char *preferred(struct gen *g, const struct gen_place *place, enum gen_class class,
                             bool takes_float)
{
    return place->values && gen_chance(g, 70) ? gen_value(g, place->values, class, takes_float)
                                              : NULL;
}

const char *gen_source(struct gen *g, const struct gen_place *place, enum gen_class class)
{
    const char *value = preferred(g, place, class, false);
    if (value)
        return value;
    if (g->is_entry && gen_chance(g, 12))
        return gen_uniform_source(g, place, class);
    if (g->is_entry && class == GEN_R && gen_chance(g, 4))
        return gen_chance(g, 50) ? "%ltid" : "%gid";
    if (class == GEN_R && place->n_counters && gen_chance(g, 20))
        return gen_format(g, "%%t%u", place->counter[gen_below(g, place->n_counters)]);
    return gen_dest(g, class);
}

const char *gen_guard(struct gen *g)
{
    if (!gen_chance(g, 18))
        return "";
    const char *not = gen_chance(g, 40) ? "!" : "";
    return gen_format(g, "@%s%%p%u ", not, gen_below(g, GEN_POOL));
}

/* ---- lines of the table that can be drawn ---------------------------------------------------- */

enum { VERSION = 87, TARGET = 90, LINES = 2048, GROUPS = 4 };

/* Chapters, and how often each is drawn. */
static const struct {
    const char *name;
    unsigned percent;
} chapters[] = {{"integer", 30}, {"float", 20}, {"compare", 14},
                {"logic", 16},   {"move", 6},   {"convert", 14}};
enum { CHAPTERS = sizeof chapters / sizeof *chapters };

static bool is_drawn(struct gen *g, const struct pt_line *line)
{
    enum pt_op op = line->op;
    if (g->for_gpu && (op == PT_OP_createpolicy || op == PT_OP_mapa || op == PT_OP_getctarank))
        return false;
    struct pt_when need = {UINT64_C(1) << pt_target_find(TARGET, 0), VERSION, VERSION};
    return pt_op_is_supported(op) && (pt_op_effects(op) & ~(uint32_t)PT_FX_FP) == PT_FX_PURE &&
           (g->has_selectors || !pt_chapter_has("video", op)) &&
           (line->when.targets & need.targets) && line->when.ptx_lo <= VERSION &&
           VERSION <= line->when.ptx_hi;
}

/* From the chapter, or (NULL) from any. */
static const struct pt_line *draw_line(struct gen *g, const char *chapter)
{
    unsigned roll = gen_below(g, 100), c = 0;
    chapter = !chapter && g->has_selectors && roll < 10 ? "video" : chapter;
    while (c + 1 < CHAPTERS && roll >= chapters[c].percent)
        roll -= chapters[c++].percent;
    chapter = chapter ? chapter : chapters[c].name;
    const struct pt_line *candidate[LINES];
    unsigned n = 0;
    for (unsigned i = 0; i < pt_line_total() && n < LINES; i++)
        if (pt_chapter_has(chapter, pt_line_at(i)->op) && is_drawn(g, pt_line_at(i)))
            candidate[n++] = pt_line_at(i);
    return candidate[gen_below(g, n)];
}

/* ---- spelling -------------------------------------------------------------------------------- */

struct drawn {
    struct pt_form form;
    char spelling[256], operands[512];
    const char *before; /* lines that the operands need */
    bool uniform, has_constant;
    const char *written[GEN_POOL]; /* destinations: all different */
    enum pt_type type[GEN_POOL];   /* of them */
    unsigned n_written;
    /* of the place, if results may be such; NULL: they go to variables */
    struct gen_values *values;
    struct gen_value made[GEN_POOL];
    unsigned n_made;
};

static bool is_state_space(unsigned token)
{
    switch (token) {
    case PT_M_global:
    case PT_M_shared:
    case PT_M_shared_cta:
    case PT_M_shared_cluster:
    case PT_M_local:
    case PT_M_const:
    case PT_M_param:
    case PT_M_param_entry:
    case PT_M_param_func:
        return true;
    default:
        return false;
    }
}

/* Values of addresses are no business of ours. */
static bool add_token(struct drawn *d, unsigned token)
{
    char name[64];
    pt_token_name((uint16_t)token, name);
    strcat(d->spelling, name);
    if (token & PT_TOKEN_VEC)
        d->form.vec = token & 0xff;
    else if (token & PT_TOKEN_TYPE)
        d->form.type[d->form.n_types++] = token & 0xff;
    else
        d->form.mod[d->form.n_mods++] = (uint16_t)token;
    return !is_state_space(token);
}

static bool draw_spelling(struct gen *g, struct drawn *d, const struct pt_line *line)
{
    unsigned target = pt_target_find(TARGET, 0);
    snprintf(d->spelling, sizeof d->spelling, "%.*s", (int)strcspn(line->syntax, ".{ "),
             line->syntax);
    for (unsigned i = 0; i < line->n_elems; i++) {
        const struct pt_elem *e = pt_line_elem(line, i);
        const struct pt_alt *alt = pt_elem_alt(e, gen_below(g, e->n));
        if (e->is_optional && gen_chance(g, 60))
            continue;
        if (!pt_when_holds(&alt->when, target, VERSION))
            return false;
        for (unsigned t = 0; t < alt->n; t++)
            if (!add_token(d, alt->token[t]))
                return false;
    }
    return true;
}

/* ---- operands -------------------------------------------------------------------------------- */

static bool class_of(const struct pt_slot *slot, enum pt_type type, enum gen_class *class)
{
    unsigned bits = pt_type_bits(type);
    if (bits == 8 && (slot->flags & PT_SLOT_WIDER))
        bits = 16;
    *class = bits == 1 ? GEN_P : bits == 16 ? GEN_H : bits == 32 ? GEN_R : GEN_D;
    return bits == 16 || bits == 32 || bits == 64 || type == PT_pred;
}

static void add_dest(struct gen *g, struct drawn *d, const struct pt_slot *slot,
                     enum gen_class class)
{
    if ((slot->flags & PT_SLOT_WIDER) && class != GEN_P && gen_chance(g, 20) && class < GEN_D &&
        !g->for_gpu)
        class ++;
    const char *name = NULL;
    enum pt_type type = pt_slot_type(slot, &d->form);
    bool is_float = (type == PT_f32 && class == GEN_R) || (type == PT_f64 && class == GEN_D),
         is_value = d->values && class != GEN_H && gen_chance(g, 75);
    is_value &= !(slot->flags & PT_SLOT_INOUT); /* it is read, too */
    if (is_value) {
        d->made[d->n_made] = gen_new_value(g, class, is_float && gen_chance(g, 50));
        name = d->made[d->n_made++].name;
    }
    for (bool taken = !is_value; taken;) {
        name = gen_format(g, "%%%s%c%u", d->uniform ? "u" : "", letter[class],
                          gen_below(g, d->uniform ? GEN_UNIFORM_POOL : GEN_POOL));
        taken = false;
        for (unsigned i = 0; i < d->n_written; i++)
            taken |= !strcmp(d->written[i], name);
    }
    d->type[d->n_written] = type;
    d->written[d->n_written++] = name;
    strcat(d->operands, name);
}

static bool constant_of(struct gen *g, const struct pt_slot *slot, enum pt_type type, char *text,
                        size_t n)
{
    unsigned bits = pt_type_bits(type);
    int64_t value;
    if (slot->n_values & PT_SLOT_ONE_OF) {
        value = slot->value[gen_below(g, slot->n_values & 0xf)];
    } else if (slot->n_values) {
        unsigned steps = (unsigned)(slot->value[1] - slot->value[0]) / (unsigned)slot->value[2] + 1;
        value = slot->value[0] + (int64_t)gen_below(g, steps) * slot->value[2];
    } else if (slot->kind == PT_SLOT_IMM) {
        value = gen_below(g, 256);
    } else if (type == PT_f32 || type == PT_f64) {
        snprintf(text, n, type == PT_f32 ? "0f%08llX" : "0d%016llX",
                 (unsigned long long)gen_special(g, bits));
        return true;
    } else if (bits < 16 || pt_type_class(type) == PT_CLASS_F || pt_type_class(type) > PT_CLASS_F) {
        return false;
    } else {
        value = (int64_t)gen_special(g, bits);
        if (pt_type_class(type) == PT_CLASS_S && bits < 64 && value >> (bits - 1))
            value -= INT64_C(1) << bits;
    }
    if (pt_type_class(type) == PT_CLASS_S || slot->kind == PT_SLOT_IMM)
        snprintf(text, n, "%lld", (long long)value);
    else
        snprintf(text, n, "%llu", (unsigned long long)value);
    return true;
}

static void add_selector(struct gen *g, struct drawn *d, const struct pt_slot *slot)
{
    unsigned parts = slot->parts;
    bool is_half = parts == 2 || (parts == 1 && gen_chance(g, 50));
    unsigned choices = parts > 1 ? 2 * parts : is_half ? 2 : 4;
    if (!(slot->flags & PT_SLOT_SELECTED) &&
        !((slot->flags & PT_SLOT_SELECT) && g->has_selectors && gen_chance(g, 40)))
        return;
    strcat(d->operands, is_half ? ".h" : ".b");
    for (unsigned i = parts; i--;) {
        bool is_mask = parts > 1 && pt_slot_is_dest(slot);
        if (!is_mask || !i || gen_chance(g, 50))
            strcat(d->operands, gen_format(g, "%u", is_mask ? i : gen_below(g, choices)));
    }
}

/* NVIDIA's assembler computes it wrong where it knows operands or what made them. */
static bool is_folded_wrong(const struct drawn *d)
{
    bool is_convert = !strncmp(d->spelling, "cvt.", 4), is_mad = !strncmp(d->spelling, "mad.", 4);
    return pt_form_has(&d->form, PT_M_approx) || pt_form_has(&d->form, PT_M_full) ||
           !strncmp(d->spelling, "slct.", 5) || (is_convert && pt_form_has(&d->form, PT_M_sat)) ||
           (is_mad && pt_form_has(&d->form, PT_M_hi));
}

/* A register with the same value, of which nothing is known. */
static const char *hidden(struct gen *g, struct drawn *d, enum gen_class class, const char *source)
{
    static const char *const names[] = {NULL, "s", "t", "x"};
    unsigned bits = 8u << class;
    const char *name = gen_format(g, "%%%s%u", names[class], gen_temp(g));
    d->before =
        gen_format(g, "%sor.b%u %s, %s, %%nought%u;\n", d->before, bits, name, source, bits);
    return name;
}

static bool add_source(struct gen *g, struct drawn *d, const struct pt_slot *slot,
                       enum pt_type type, enum gen_class class, const struct gen_place *place)
{
    char text[64];
    bool hides = g->for_gpu && class != GEN_P && is_folded_wrong(d);
    bool is_open =
        hides ||
        (g->for_gpu && (type == PT_f32 || type == PT_f64 || pt_type_bits(d->form.type[0]) == 16));
    bool wants = slot->kind == PT_SLOT_VALUE && class != GEN_P && !d->has_constant &&
                 !(slot->flags & PT_SLOT_SELECTED) && gen_chance(g, 16) && !is_open;
    if (wants && constant_of(g, slot, type, text, sizeof text)) {
        d->has_constant = true;
        strcat(d->operands, text);
        return true;
    }
    if ((slot->flags & PT_SLOT_WIDER) && class != GEN_P && gen_chance(g, 20) && class < GEN_D)
        class ++;
    if ((slot->flags & PT_SLOT_NOT) && class == GEN_P && gen_chance(g, 25))
        strcat(d->operands, "!");
    if ((slot->flags & PT_SLOT_MINUS) && g->has_selectors && !strchr(d->operands, '-') &&
        gen_chance(g, 25))
        strcat(d->operands, "-");
    bool is_float = (type == PT_f32 && class == GEN_R) || (type == PT_f64 && class == GEN_D);
    const char *value = is_float && !d->uniform && !hides ? preferred(g, place, class, true) : NULL;
    if (!value)
        value = d->uniform ? gen_uniform_source(g, place, class) : gen_source(g, place, class);
    strcat(d->operands, hides ? hidden(g, d, class, value) : value);
    add_selector(g, d, slot);
    return true;
}

static bool add_operand(struct gen *g, struct drawn *d, const struct pt_slot *slot,
                        const struct gen_place *place);

static bool add_parts(struct gen *g, struct drawn *d, const struct pt_slot *slot, unsigned n,
                      const char *between, const struct gen_place *place)
{
    for (unsigned i = 0; i < n; i++) {
        strcat(d->operands, i ? between : "");
        if (!add_operand(g, d, pt_slot_sub(slot, i), place))
            return false;
    }
    return true;
}

static bool add_vector(struct gen *g, struct drawn *d, const struct pt_slot *slot,
                       const struct gen_place *place)
{
    unsigned lo, hi;
    pt_slot_count(slot, &d->form, &lo, &hi);
    bool has_braces = !((slot->flags & PT_SLOT_BY_VEC) && hi == 1);
    strcat(d->operands, has_braces ? "{" : "");
    bool is_good = hi >= 1 && hi <= 4 && add_parts(g, d, slot, hi, ", ", place);
    strcat(d->operands, has_braces ? "}" : "");
    return is_good;
}

static bool add_operand(struct gen *g, struct drawn *d, const struct pt_slot *slot,
                        const struct gen_place *place)
{
    enum pt_type type = pt_slot_type(slot, &d->form);
    enum gen_class class;
    char text[64];
    switch (slot->kind) {
    case PT_SLOT_VALUE:
    case PT_SLOT_REG:
        if (!class_of(slot, type, &class) ||
            d->n_written == (d->uniform ? GEN_UNIFORM_POOL : GEN_POOL))
            return false;
        if (!pt_slot_is_dest(slot))
            return add_source(g, d, slot, type, class, place);
        add_dest(g, d, slot, class);
        add_selector(g, d, slot);
        return true;
    case PT_SLOT_IMM:
    case PT_SLOT_FIMM:
        if (!constant_of(g, slot, type, text, sizeof text))
            return false;
        strcat(d->operands, text);
        return true;
    case PT_SLOT_PAIR:
        return add_parts(g, d, slot, 2, "|", place);
    case PT_SLOT_VEC:
        return add_vector(g, d, slot, place);
    default:
        return false;
    }
}

static bool draw_form(struct gen *g, struct drawn *d, const char *chapter)
{
    const struct pt_line *line = draw_line(g, chapter);
    d->form = (struct pt_form){.op = line->op, .vec = 1};
    d->form.variant = (uint16_t)(line->variant + gen_below(g, line->n_variants));
    d->spelling[0] = 0;
    return draw_spelling(g, d, line);
}

/* False if what was drawn cannot be written with our registers. */
static bool draw_operands(struct gen *g, struct drawn *d, const struct gen_place *place)
{
    d->operands[0] = 0;
    d->before = "";
    d->n_written = d->n_made = 0;
    d->has_constant = false;
    for (unsigned i = 0; i < pt_form_operands(&d->form); i++) {
        strcat(d->operands, i ? ", " : "");
        if (!add_operand(g, d, pt_form_slot(&d->form, i), place))
            return false;
    }
    return d->n_written > 0;
}

static bool is_set(const struct drawn *d)
{
    return !strncmp(d->spelling, "set.", 4) || !strncmp(d->spelling, "testp.", 6);
}

static bool is_for_gpu(const struct drawn *d)
{
    bool is_shift = !strncmp(d->spelling, "shl.", 4) || !strncmp(d->spelling, "shr.", 4);
    if (is_shift && pt_type_bits(d->form.type[0]) == 64)
        return false;
    return !is_set(d) || pt_type_bits(d->form.type[0]) != 16 ||
           pt_type_class(d->form.type[0]) != PT_CLASS_F;
}

/* Makes the one NaN of all NaNs in a register of a floating-point type. */
static const char *settle_nan(struct gen *g, enum pt_type type, const char *name)
{
    unsigned n = gen_temp(g), m = gen_temp(g);
    const char *spelling = pt_type_name(type);
    switch (type) {
    case PT_f16:
    case PT_bf16:
        return gen_format(g, "\nsetp.nan.%s %%q%u, %s, %s;\nselp.b16 %s, 0x7fff, %s, %%q%u;",
                          spelling, n, name, name, name, name, n);
    case PT_f16x2:
    case PT_bf16x2:
        return gen_format(g,
                          "\nsetp.nan.%s %%q%u|%%q%u, %s, %s;\nand.b32 %%t%u, %s, "
                          "0xffff0000;\nor.b32 %%t%u, %%t%u, 0x7fff;\n"
                          "selp.b32 %s, %%t%u, %s, %%q%u;\nand.b32 %%t%u, %s, 0xffff;\nor.b32 "
                          "%%t%u, %%t%u, 0x7fff0000;\n"
                          "selp.b32 %s, %%t%u, %s, %%q%u;",
                          spelling, n, m, name, name, n, name, n, n, name, n, name, n, m, name, m,
                          m, name, m, name, m);
    case PT_f32:
        return gen_format(g, "\nsetp.nan.f32 %%q%u, %s, %s;\nselp.b32 %s, 0x7fffffff, %s, %%q%u;",
                          n, name, name, name, name, n);
    case PT_f64:
        return gen_format(
            g, "\nsetp.nan.f64 %%q%u, %s, %s;\nselp.b64 %s, 0x7fffffffffffffff, %s, %%q%u;", n,
            name, name, name, name, n);
    default:
        return "";
    }
}

static void put_drawn(struct gen *g, const struct drawn *d, const char *guard)
{
    const char *settled = "";
    for (unsigned i = 0; g->for_gpu && i < d->n_written; i++)
        settled = gen_format(g, "%s%s", settled, settle_nan(g, d->type[i], d->written[i]));
    struct gen_node *node =
        gen_line(g, "%s%s%s %s;%s", d->before, guard, d->spelling, d->operands, settled);
    for (unsigned i = 0; i < d->n_made; i++) {
        node->stand_in = gen_format(g, "%s%s\n", node->stand_in ? node->stand_in : "",
                                    gen_zero_text(g, &d->made[i]));
        gen_add_value(d->values, &d->made[i]);
    }
}

/* An instruction, and its operands. `d` has what they may be. */
static void draw(struct gen *g, struct drawn *d, const char *chapter, const struct gen_place *place)
{
    while (!draw_form(g, d, chapter) || (g->for_gpu && !is_for_gpu(d)) ||
           !draw_operands(g, d, place))
        continue;
}

static bool adds_values(const struct gen_place *place)
{
    return place->values && place->values->depth == place->depth;
}

void gen_compute(struct gen *g, const struct gen_place *place, bool uniform)
{
    struct drawn d = {.uniform = uniform};
    const char *guard = uniform ? "" : gen_guard(g);
    d.values = !*guard && !uniform && adds_values(place) ? place->values : NULL;
    draw(g, &d, NULL, place);
    put_drawn(g, &d, g->for_gpu && is_set(&d) ? "" : guard);
}

void gen_burst(struct gen *g, const struct gen_place *place)
{
    struct gen_values *values = adds_values(place) ? place->values : NULL;
    struct drawn d = {.values = values};
    unsigned n = 1 + gen_below(g, 5);
    draw(g, &d, gen_chance(g, 60) ? "float" : NULL, place);
    put_drawn(g, &d, "");
    for (unsigned i = 1; i < n; i++) {
        const char *guard = g->for_gpu ? "" : gen_guard(g);
        d.values = *guard ? NULL : values;
        if (draw_operands(g, &d, place))
            put_drawn(g, &d, guard);
    }
}

void gen_special_register(struct gen *g)
{
    static const char *const names[] = {"tid.x",       "tid.x",       "tid.y",       "tid.z",
                                        "ntid.x",      "ctaid.x",     "ctaid.y",     "nctaid.x",
                                        "laneid",      "laneid",      "lanemask_eq", "lanemask_le",
                                        "lanemask_lt", "lanemask_ge", "lanemask_gt", "warpid"};
    enum { NAMES = sizeof names / sizeof *names };
    const char *name = names[gen_below(g, NAMES - g->for_gpu)], *guard = gen_guard(g);
    gen_line(g, "%smov.u32 %s, %%%s;", guard, gen_dest(g, GEN_R), name);
}

/* Sums and products wider than a register: the carry goes from one instruction to the next. */
void gen_carry_chain(struct gen *g, const struct gen_place *place)
{
    static const char *const first[] = {"add.cc", "sub.cc", "mad.lo.cc"};
    static const char *const middle[] = {"addc.cc", "subc.cc", "madc.hi.cc"};
    static const char *const last[] = {"addc", "subc", "madc.hi"};
    unsigned kind = gen_below(g, 3), n = 1 + gen_below(g, 3);
    enum gen_class class = gen_chance(g, 30) ? GEN_D : GEN_R;
    char *text = gen_format(g, "%s", "");
    for (unsigned i = 0; i <= n; i++) {
        const char *name = i == 0 ? first[kind] : i < n ? middle[kind] : last[kind];
        const char *a = gen_source(g, place, class), *b = gen_source(g, place, class);
        const char *c = gen_source(g, place, class), *dest = gen_dest(g, class);
        text = gen_format(g, "%s%s.%c%u %s, %s, %s%s%s;\n", text, name,
                          gen_chance(g, 50) ? 'u' : 's', class == GEN_D ? 64 : 32, dest, a, b,
                          kind == 2 ? ", " : "", kind == 2 ? c : "");
    }
    gen_line(g, "%s", text);
}
