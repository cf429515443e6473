/* The list of corners, and what class a value is of. */
#include "tools/fuzz/corner.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS_MOST = 1 << 14, SOURCES_MOST = 1 << 14, HASH_SIZE = 1 << 15 };

static struct corner_group *groups;
static struct corner_source *sources;
static unsigned n_groups, n_sources;
static uint16_t *hashed; /* number + 1 */

/* ---- classes of values ----------------------------------------------------------------------- */

struct format {
    unsigned fraction, exponent; /* bits */
};

/* False: it has no fraction. */
static bool format_of(enum pt_type type, struct format *f)
{
    switch (type) {
    case PT_f16:
    case PT_f16x2:
        *f = (struct format){10, 5};
        return true;
    case PT_bf16:
    case PT_bf16x2:
        *f = (struct format){7, 8};
        return true;
    case PT_f32:
    case PT_tf32:
        *f = (struct format){23, 8};
        return true;
    case PT_f64:
        *f = (struct format){52, 11};
        return true;
    default:
        return false;
    }
}

/* Bits of one of the parts that are worked on each by itself. */
static unsigned part_bits(enum pt_type type)
{
    unsigned bits = pt_type_bits(type);
    switch (type) {
    case PT_f16x2:
    case PT_bf16x2:
    case PT_u16x2:
    case PT_s16x2:
        return bits / 2;
    case PT_u8x4:
    case PT_s8x4:
        return bits / 4;
    default:
        return bits;
    }
}

static bool is_signed(enum pt_type type)
{
    return pt_type_class(type) == PT_CLASS_S || type == PT_s16x2 || type == PT_s8x4;
}

static uint64_t ones(unsigned n)
{
    return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

static enum corner_class class_of_float(const struct format *f, uint64_t bits)
{
    uint64_t fraction = bits & ones(f->fraction), most = ones(f->exponent),
             exponent = bits >> f->fraction & most;
    if (exponent == most)
        return fraction ? CORNER_NAN : CORNER_INFINITE;
    if (!exponent)
        return fraction ? CORNER_SUBNORMAL : CORNER_ZERO;
    return exponent == most - 1 && fraction == ones(f->fraction) ? CORNER_GREATEST : CORNER_OTHER;
}

static enum corner_class class_of_integer(enum pt_type type, unsigned n, uint64_t bits)
{
    if (!bits)
        return CORNER_ZERO;
    if (is_signed(type))
        return bits == UINT64_C(1) << (n - 1) ? CORNER_LEAST
               : bits == ones(n - 1)          ? CORNER_GREATEST
                                              : CORNER_OTHER;
    return bits == ones(n) ? CORNER_GREATEST : CORNER_OTHER;
}

uint32_t corner_classes_of(enum pt_type type, uint64_t bits)
{
    struct format f;
    unsigned n = part_bits(type), all = pt_type_bits(type);
    uint32_t classes = 0;
    if (type == PT_pred)
        return 1u << (bits & 1 ? CORNER_TRUE : CORNER_FALSE);
    for (unsigned at = 0; n && at + n <= all && at < 64; at += n) {
        uint64_t part = bits >> at & ones(n);
        classes |= 1u << (format_of(type, &f) ? class_of_float(&f, part)
                                              : class_of_integer(type, n, part));
    }
    return classes;
}

static uint32_t value_classes(enum pt_type type)
{
    struct format f;
    uint32_t integers = 1u << CORNER_ZERO | 1u << CORNER_GREATEST | 1u << CORNER_OTHER;
    if (type == PT_TYPE_NONE || !part_bits(type))
        return 0;
    if (type == PT_pred)
        return 1u << CORNER_TRUE | 1u << CORNER_FALSE;
    if (format_of(type, &f))
        return integers | 1u << CORNER_SUBNORMAL | 1u << CORNER_INFINITE | 1u << CORNER_NAN;
    return is_signed(type) ? integers | 1u << CORNER_LEAST : integers;
}

static uint64_t value_of_part(enum pt_type type, unsigned n, enum corner_class class,
                              uint64_t random)
{
    struct format f;
    bool is_float = format_of(type, &f);
    uint64_t sign = is_float ? (random >> 63) << (n - 1) : 0, some = random & ones(n);
    uint64_t fraction = is_float ? random & ones(f.fraction) : 0;
    uint64_t most = is_float ? ones(f.exponent) << f.fraction : 0;
    switch (class) {
    case CORNER_ZERO:
        return sign;
    case CORNER_LEAST:
        return UINT64_C(1) << (n - 1);
    case CORNER_GREATEST:
        return is_float ? sign | (most - 1) : is_signed(type) ? ones(n - 1) : ones(n);
    case CORNER_SUBNORMAL:
        return sign | (fraction ? fraction : 1);
    case CORNER_INFINITE:
        return sign | most;
    case CORNER_NAN:
        return sign | most | (fraction ? fraction : 1);
    default:
        return is_float && (some & most) == most ? some ^ (UINT64_C(1) << f.fraction) : some;
    }
}

uint64_t corner_value(enum pt_type type, enum corner_class class, uint64_t random)
{
    unsigned n = part_bits(type), all = pt_type_bits(type);
    if (type == PT_pred || !n)
        return class == CORNER_TRUE;
    uint64_t value = random & ones(all), part = value_of_part(type, n, class, random);
    unsigned at = all > n ? (unsigned)(random >> 40) % (all / n) * n : 0;
    return (value & ~(ones(n) << at)) | part << at;
}

/* ---- the list -------------------------------------------------------------------------------- */

static uint32_t hash_of(unsigned op, const uint8_t *type, unsigned n_types, unsigned vec,
                        char letter)
{
    uint32_t h = 2166136261u;
    for (unsigned i = 0; i < n_types; i++)
        h = (h ^ type[i]) * 16777619u;
    return ((h ^ op) * 16777619u ^ vec << 8 ^ (unsigned char)letter) * 16777619u;
}

static bool is_same(const struct corner_group *g, unsigned op, const uint8_t *type,
                    unsigned n_types, unsigned vec, char letter)
{
    return g->op == op && g->n_types == n_types && g->vec == vec && g->letter == letter &&
           !memcmp(g->type, type, n_types);
}

/* The place of a group in the hash: its own, or the empty one where it has to go. */
static uint16_t *place_of(unsigned op, const uint8_t *type, unsigned n_types, unsigned vec,
                          char letter)
{
    uint32_t at = hash_of(op, type, n_types, vec, letter);
    at ^= at >> 16;
    while (hashed[at % HASH_SIZE] &&
           !is_same(&groups[hashed[at % HASH_SIZE] - 1], op, type, n_types, vec, letter))
        at++;
    return &hashed[at % HASH_SIZE];
}

/* A line of the table whose types are being chosen. */
struct choice {
    const struct pt_line *line;
    struct pt_form form;
    int8_t alt[PT_LINE_ELEMS];
};

/* What is being chosen, as a source. */
static uint16_t source_of(const struct choice *c)
{
    struct corner_source *last = n_sources ? &sources[n_sources - 1] : NULL;
    bool is_last = last && last->line == c->line && last->variant == c->form.variant &&
                   !memcmp(last->alt, c->alt, sizeof last->alt);
    if (!is_last && n_sources < SOURCES_MOST) {
        last = &sources[n_sources++];
        *last = (struct corner_source){.line = c->line, .variant = c->form.variant};
        memcpy(last->alt, c->alt, sizeof last->alt);
    }
    return (uint16_t)(n_sources - 1);
}

static void add_group(const struct choice *c, char letter, enum pt_type of, uint32_t classes)
{
    const struct pt_form *f = &c->form;
    uint16_t *place = place_of(c->line->op, f->type, f->n_types, f->vec, letter);
    if (!*place && n_groups < GROUPS_MOST) {
        struct corner_group *g = &groups[n_groups++];
        *g = (struct corner_group){
            .op = c->line->op, .n_types = f->n_types, .vec = f->vec, .letter = letter, .of = of};
        memcpy(g->type, f->type, sizeof g->type);
        *place = (uint16_t)n_groups;
    }
    struct corner_group *g = *place ? &groups[*place - 1] : NULL;
    for (unsigned i = 0; g && i < CORNER_CLASSES; i++)
        if (classes >> i & 1 && !(g->classes >> i & 1))
            g->source[i] = source_of(c);
    if (g)
        g->classes |= classes;
}

static bool takes_constants(const struct pt_slot *slot, enum pt_type type)
{
    unsigned bits = pt_type_bits(type);
    return slot->kind == PT_SLOT_IMM || slot->kind == PT_SLOT_FIMM ||
           (slot->kind == PT_SLOT_VALUE && bits >= 16 && bits <= 64 &&
            pt_type_class(type) <= PT_CLASS_F && type != PT_f16 && type != PT_bf16 &&
            !(slot->flags & PT_SLOT_SELECTED));
}

/* A mask of lanes, which are all: it has no other values. */
static bool is_mask(const struct choice *c, const struct pt_slot *slot)
{
    static const char *const masks[] = {"shfl_sync e",    "vote_sync b",  "match_any b",
                                        "match_all b",    "redux_sync b", "elect_sync a",
                                        "bar_warp_sync a"};
    char name[40];
    snprintf(name, sizeof name, "%s %c", pt_op_id(c->line->op), slot->name);
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++)
        if (!strcmp(masks[i], name))
            return true;
    return false;
}

bool corner_is_policy(const struct pt_form *form, const struct pt_slot *slot)
{
    const struct pt_slot *last = pt_form_slot(form, pt_form_operands(form) - 1);
    return pt_form_has(form, PT_M_L2_cache_hint) && slot == last && slot->kind == PT_SLOT_VALUE &&
           pt_type_bits(pt_slot_type(slot, form)) == 64;
}

/* `is_only`: of a vector of one element, which may not be left out. */
static void add_value(const struct choice *c, const struct pt_slot *slot, uint32_t classes,
                      bool is_only)
{
    enum pt_type type = pt_slot_type(slot, &c->form);
    bool is_dest = pt_slot_is_dest(slot), is_read = !is_dest || slot->flags & PT_SLOT_INOUT;
    if (slot->kind != PT_SLOT_IMM && slot->kind != PT_SLOT_FIMM)
        classes |= 1u << CORNER_REGISTER;
    if (slot->kind <= PT_SLOT_FIMM && !is_dest && takes_constants(slot, type))
        classes |= 1u << CORNER_CONSTANT;
    if (slot->kind <= PT_SLOT_REG && is_read && !slot->n_values && !is_mask(c, slot) &&
        !corner_is_policy(&c->form, slot))
        classes |= value_classes(type);
    if (slot->flags & PT_SLOT_SINK && !is_only)
        classes |= 1u << CORNER_SINK;
    if (slot->flags & PT_SLOT_MINUS || (slot->flags & PT_SLOT_NOT && type == PT_pred))
        classes |= 1u << CORNER_NEGATED;
    if (slot->parts && slot->flags & (PT_SLOT_SELECT | PT_SLOT_SELECTED))
        classes |= 1u << CORNER_SELECTED;
    add_group(c, slot->name, type, classes);
}

/* Textures and surfaces are named, or a register has what they are. */
static bool has_offset(const struct choice *c, const struct pt_slot *slot)
{
    uint8_t type = pt_slot_sub(slot, 0)->type;
    bool is_gather = !strncmp(pt_op_id(c->line->op), "tld4", 4);
    return type != PT_texref && type != PT_surfref && !is_gather;
}

static void add_slot(const struct choice *c, const struct pt_slot *slot)
{
    unsigned lo = 0, hi = 0;
    bool has_braces;
    switch (slot->kind) {
    case PT_SLOT_MEM:
        add_group(c, pt_slot_sub(slot, 0)->name, PT_TYPE_NONE,
                  1u << CORNER_REGISTER | (has_offset(c, slot) ? 1u << CORNER_OFFSET : 0));
        for (unsigned i = 1; i < slot->n_sub; i++)
            add_slot(c, pt_slot_sub(slot, i));
        break;
    case PT_SLOT_PAIR:
        add_slot(c, pt_slot_sub(slot, 0));
        add_slot(c, pt_slot_sub(slot, 1));
        break;
    case PT_SLOT_VEC:
        pt_slot_count(slot, &c->form, &lo, &hi);
        has_braces = !(slot->flags & PT_SLOT_BY_VEC && hi == 1);
        for (unsigned i = 0; i < slot->n_sub; i++)
            add_value(c, pt_slot_sub(slot, i), has_braces ? 1u << CORNER_ELEMENT : 0, hi == 1);
        break;
    case PT_SLOT_LIST:
    case PT_SLOT_SINK_ONLY:
        break;
    default:
        add_value(c, slot, 0, false);
    }
}

static void add_variants(struct choice *c)
{
    uint32_t effects = pt_op_effects(c->line->op);
    bool may_guard = !(effects & (PT_FX_WARP | PT_FX_CTA | PT_FX_CLUSTER));
    for (unsigned v = 0; v < c->line->n_variants; v++) {
        c->form.variant = (uint16_t)(c->line->variant + v);
        add_group(c, '@', PT_TYPE_NONE, 1u << CORNER_NONE | (may_guard ? 1u << CORNER_GUARD : 0));
        for (unsigned i = 0; i < pt_form_operands(&c->form); i++)
            add_slot(c, pt_form_slot(&c->form, i));
    }
}

static bool decides_types(const struct pt_elem *e)
{
    for (unsigned a = 0; a < e->n; a++)
        for (unsigned t = 0; t < pt_elem_alt(e, a)->n; t++)
            if (pt_elem_alt(e, a)->token[t] & (PT_TOKEN_TYPE | PT_TOKEN_VEC))
                return true;
    return false;
}

static void take_tokens(struct pt_form *f, const struct pt_alt *alt)
{
    for (unsigned t = 0; t < alt->n; t++) {
        unsigned token = alt->token[t];
        if (token & PT_TOKEN_VEC)
            f->vec = token & 0xff;
        else if (token & PT_TOKEN_TYPE)
            f->type[f->n_types++] = token & 0xff;
        else
            f->mod[f->n_mods++] = (uint16_t)token;
    }
}

/* All choices of what decides on types, from that element on. */
static void choose(struct choice *c, unsigned elem)
{
    unsigned target = pt_target_find(CORNER_TARGET, 0);
    if (elem == c->line->n_elems) {
        add_variants(c);
        return;
    }
    const struct pt_elem *e = pt_line_elem(c->line, elem);
    struct pt_form was = c->form;
    bool decides = decides_types(e);
    for (unsigned a = 0; a < e->n; a++) {
        const struct pt_alt *alt = pt_elem_alt(e, a);
        if (!pt_when_holds(&alt->when, target, CORNER_VERSION))
            continue;
        c->alt[elem] = (int8_t)(decides ? (int)a : CORNER_FREE);
        if (!e->is_optional || decides)
            take_tokens(&c->form, alt);
        choose(c, elem + 1);
        c->form = was;
        if (!decides)
            return;
    }
    if (e->is_optional) {
        c->alt[elem] = (int8_t)(decides ? CORNER_ABSENT : CORNER_FREE);
        choose(c, elem + 1);
    }
}

static void list_once(void)
{
    enum { SHAPES = PT_FX_BRANCH | PT_FX_END | PT_FX_CALL };
    unsigned target = pt_target_find(CORNER_TARGET, 0);
    groups = calloc(GROUPS_MOST, sizeof *groups);
    sources = calloc(SOURCES_MOST, sizeof *sources);
    hashed = calloc(HASH_SIZE, sizeof *hashed);
    for (unsigned i = 0; groups && sources && hashed && i < pt_line_total(); i++) {
        const struct pt_line *line = pt_line_at(i);
        struct choice c = {.line = line, .form = {.op = line->op, .vec = 1}};
        if (pt_op_is_supported(line->op) && !(pt_op_effects(line->op) & SHAPES) &&
            pt_when_holds(&line->when, target, CORNER_VERSION))
            choose(&c, 0);
    }
}

static void list(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, list_once);
}

unsigned corner_groups(void)
{
    list();
    return n_groups;
}

const struct corner_group *corner_group_at(unsigned group)
{
    list();
    return &groups[group];
}

const struct corner_source *corner_source_of(const struct corner_group *group,
                                             enum corner_class class)
{
    return &sources[group->source[class]];
}

unsigned corner_find(const struct pt_form *form, char letter)
{
    list();
    uint16_t found = hashed ? *place_of(form->op, form->type, form->n_types, form->vec, letter) : 0;
    return found ? found - 1u : UINT_MAX;
}

/* ---- text ------------------------------------------------------------------------------------ */

const char *corner_class_text(enum corner_class class)
{
    static const char *const texts[] = {
#define CORNER(ID, text) text,
#include "tools/fuzz/corners.def"
    };
    return texts[class];
}

void corner_print_group(const struct corner_group *g, char text[96])
{
    int n = snprintf(text, 96, "%s", pt_op_id(g->op));
    if (g->vec > 1 && n < 96)
        n += snprintf(text + n, 96 - (size_t)n, " v%u", g->vec);
    for (unsigned i = 0; i < g->n_types && n < 96; i++)
        n += snprintf(text + n, 96 - (size_t)n, "%c%s", i ? '.' : ' ', pt_type_name(g->type[i]));
    if (n < 96)
        snprintf(text + n, 96 - (size_t)n, " %c", g->letter);
}
