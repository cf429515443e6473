/* Instructions that only compute, drawn from the instruction table: a new row is covered if its
 * operands are registers and constants of common widths. */
#include "tools/fuzz/draw.h"
#include "tools/fuzz/corner.h"

#include <string.h>

#include "ir/chapter.h"

/* ---- lines of the table that can be drawn ---------------------------------------------------- */

enum { LINES = 2048 };

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
    struct pt_when need = {UINT64_C(1) << pt_target_find(CORNER_TARGET, 0), CORNER_VERSION,
                           CORNER_VERSION};
    return pt_op_is_supported(op) && (pt_op_effects(op) & ~(uint32_t)PT_FX_FP) == PT_FX_PURE &&
           (g->has_selectors || !pt_chapter_has("video", op)) &&
           (line->when.targets & need.targets) && line->when.ptx_lo <= CORNER_VERSION &&
           CORNER_VERSION <= line->when.ptx_hi;
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
bool draw_token(struct drawn *d, unsigned token)
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
    unsigned target = pt_target_find(CORNER_TARGET, 0);
    snprintf(d->spelling, sizeof d->spelling, "%.*s", (int)strcspn(line->syntax, ".{ "),
             line->syntax);
    for (unsigned i = 0; i < line->n_elems; i++) {
        const struct pt_elem *e = pt_line_elem(line, i);
        const struct pt_alt *alt = pt_elem_alt(e, gen_below(g, e->n));
        if (e->is_optional && gen_chance(g, 60))
            continue;
        if (!pt_when_holds(&alt->when, target, CORNER_VERSION))
            return false;
        for (unsigned t = 0; t < alt->n; t++)
            if (!draw_token(d, alt->token[t]))
                return false;
    }
    return true;
}

static bool draw_form(struct gen *g, struct drawn *d, const char *chapter)
{
    const struct pt_line *line = draw_line(g, chapter);
    d->form = (struct pt_form){.op = line->op, .vec = 1};
    d->form.variant = (uint16_t)(line->variant + gen_below(g, line->n_variants));
    d->spelling[0] = 0;
    return draw_spelling(g, d, line);
}

static bool is_set(const struct drawn *d)
{
    return !strncmp(d->spelling, "set.", 4) || !strncmp(d->spelling, "testp.", 6);
}

bool draw_is_for_gpu(const struct drawn *d)
{
    bool is_shift = !strncmp(d->spelling, "shl.", 4) || !strncmp(d->spelling, "shr.", 4);
    if (is_shift && pt_type_bits(d->form.type[0]) == 64)
        return false;
    return !is_set(d) || pt_type_bits(d->form.type[0]) != 16 ||
           pt_type_class(d->form.type[0]) != PT_CLASS_F;
}

static void put_drawn(struct gen *g, const struct drawn *d, const char *guard)
{
    const char *settled = draw_settled(g, d);
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
    while (!draw_form(g, d, chapter) || (g->for_gpu && !draw_is_for_gpu(d)) ||
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
