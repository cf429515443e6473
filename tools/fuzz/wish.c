/* Statements for corners: an instruction of the row and types, with the operand that is wished. */
#include "tools/fuzz/wish.h"

#include <stdlib.h>
#include <string.h>

#include "tools/fuzz/draw.h"
#include "tools/fuzz/image.h"

enum { TRIES = 100 };

/* ---- what is not made ------------------------------------------------------------------------ */

struct reason {
    const char *row;
    char letter;
    uint32_t classes;
    const char *why;
};

static const struct reason reasons[] = {
#define REASON(row, letter, classes, why) {row, letter, classes, why},
#include "tools/fuzz/reasons.def"
};

static const struct reason own[] = {
#define OWN(row, letter, classes) {row, letter, classes, ""},
#include "tools/fuzz/reasons.def"
};

/* The first of n that fits; NULL: none. */
static const struct reason *find(const struct reason *r, size_t n, const struct corner_group *g,
                                 enum corner_class class)
{
    const char *row = pt_op_id(g->op);
    for (; n > 0; n--, r++)
        if (!strncmp(row, r->row, strlen(r->row)) && (!r->letter || r->letter == g->letter) &&
            (!r->classes || r->classes >> class & 1))
            return r;
    return NULL;
}

/* Registers of the generator's are of 16 to 64 bits, and of predicates. */
static bool has_register(const struct corner_group *g)
{
    unsigned bits = pt_type_bits(g->of);
    return g->of == PT_TYPE_NONE || bits <= 64;
}

const char *wish_why_not(const struct corner_group *g, enum corner_class class)
{
    const struct reason *r = find(reasons, sizeof reasons / sizeof *reasons, g, class);
    return r ? r->why : has_register(g) ? NULL : "needs registers of 128 bits";
}

bool wish_is_own(const struct corner_group *g, enum corner_class class)
{
    return find(own, sizeof own / sizeof *own, g, class);
}

bool wish_needs_images(const struct gen_wishes *wishes)
{
    for (unsigned i = 0; wishes && i < wishes->n; i++)
        if (image_is_used(wishes->v[i].group->op))
            return true;
    return false;
}

bool wish_needs_warp(const struct gen_wish *wish)
{
    return pt_op_effects(wish->group->op) & (PT_FX_WARP | PT_FX_CTA);
}

/* ---- the spelling ---------------------------------------------------------------------------- */

static bool draw_element(struct gen *g, struct drawn *d, const struct pt_elem *e, int alt)
{
    unsigned target = pt_target_find(CORNER_TARGET, 0);
    if (alt == CORNER_ABSENT || (alt == CORNER_FREE && e->is_optional && gen_chance(g, 60)))
        return true;
    const struct pt_alt *a = pt_elem_alt(e, alt < 0 ? gen_below(g, e->n) : (unsigned)alt);
    if (!pt_when_holds(&a->when, target, CORNER_VERSION))
        return false;
    for (unsigned t = 0; t < a->n; t++)
        draw_token(d, a->token[t]); /* state spaces are welcome */
    return true;
}

static bool draw_spelling(struct gen *g, struct drawn *d)
{
    const struct corner_source *from = corner_source_of(d->wish->group, d->wish->class);
    const struct pt_line *line = from->line;
    d->form = (struct pt_form){.op = line->op, .vec = 1};
    d->form.variant = gen_chance(g, 50)
                          ? from->variant
                          : (uint16_t)(line->variant + gen_below(g, line->n_variants));
    snprintf(d->spelling, sizeof d->spelling, "%.*s", (int)strcspn(line->syntax, ".{ "),
             line->syntax);
    for (unsigned i = 0; i < line->n_elems; i++)
        if (!draw_element(g, d, pt_line_elem(line, i), from->alt[i]))
            return false;
    return true;
}

/* Whose guard NVIDIA's assembler forgets, in part or wholly. */
static bool forgets_guard(const struct drawn *d)
{
    static const char *const names[] = {"set.", "testp.", "vadd4.", "vsub4."};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(d->spelling, names[i], strlen(names[i])))
            return true;
    return false;
}

/* Memory may hold NaNs, whose bits GPUs choose; NVIDIA's assembler converts what narrow stores take
 * from wider registers, dies of narrow vectors of eight, knows no addresses of 32 bits, and some
 * matrices need all of their results. */
static bool suits_gpu(const struct drawn *d)
{
    uint32_t effects = pt_op_effects(d->form.op);
    bool has_float = false;
    unsigned bits = d->form.n_types ? pt_type_bits(d->form.type[0]) : 0;
    for (unsigned i = 0; i < d->form.n_types; i++)
        has_float |= pt_type_class(d->form.type[i]) >= PT_CLASS_F;
    bool is_loop = pt_form_space(&d->form) >= PT_SPACE_SHARED && bits && bits != 32,
         is_narrow = bits && bits < 32, is_matrix = !strcmp(pt_op_chapter(d->form.op), "matrix");
    return draw_is_for_gpu(d) && !(effects & PT_FX_ATOMIC && (has_float || is_loop)) &&
           !(is_narrow && (effects & PT_FX_WRITE || d->form.vec == 8)) &&
           !(is_matrix && d->wish->class == CORNER_SINK) &&
           !(d->wish->class == CORNER_GUARD && forgets_guard(d)) &&
           !(bits == 32 && (!strncmp(pt_op_id(d->form.op), "cvta", 4) ||
                            !strncmp(pt_op_id(d->form.op), "mov_addr", 8)));
}

static bool draw(struct gen *g, struct drawn *d, const struct gen_place *place)
{
    bool is_guard = d->wish->group->letter == '@';
    for (unsigned i = 0; i < TRIES; i++)
        if (draw_spelling(g, d) && (!g->for_gpu || suits_gpu(d)) && draw_operands(g, d, place) &&
            (is_guard || d->is_granted))
            return true;
    return false;
}

/* ---- the statement --------------------------------------------------------------------------- */

static bool has_effect(const struct drawn *d, uint32_t effects)
{
    return pt_op_effects(d->form.op) & effects;
}

/* The row makes of addresses what it makes. */
static bool makes_address(const struct drawn *d)
{
    static const char *const rows[] = {"cvta", "mov_addr", "mapa", "createpolicy"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strncmp(pt_op_id(d->form.op), rows[i], strlen(rows[i])))
            return true;
    return false;
}

/* What the instruction makes changes variables, where it is no address. */
static const char *folded(struct gen *g, const struct drawn *d)
{
    static const char *const suffix[] = {"pred", "b16", "b32", "b64"};
    const char *text = "";
    bool is_address = makes_address(d);
    for (unsigned i = 0; i < d->n_written && !is_address; i++) {
        char kind = d->written[i][1];
        enum gen_class class = kind == 'q'   ? GEN_P
                               : kind == 's' ? GEN_H
                               : kind == 't' ? GEN_R
                                             : GEN_D;
        const char *to = gen_dest(g, class);
        text = gen_format(g, "%s\nxor.%s %s, %s, %s;", text, suffix[class], to, to, d->written[i]);
    }
    return text;
}

/* What has to stand before and behind the instruction; %t<n>, %q<n> and L<n> are free. */
static void surround(struct gen *g, const struct drawn *d, unsigned n, const char **before,
                     const char **behind)
{
    bool is_warp_memory = has_effect(d, PT_FX_WARP) && has_effect(d, PT_FX_READ | PT_FX_WRITE),
         has_carry = has_effect(d, PT_FX_CARRY_IN | PT_FX_CARRY_OUT),
         is_target = image_is_used(d->form.op) && has_effect(d, PT_FX_WRITE);
    *before = *behind = "";
    if (is_warp_memory) {
        *before = "bar.warp.sync -1;\n";
        *behind = "\nbar.warp.sync -1;";
    }
    if (has_carry)
        *before =
            gen_format(g, "add.cc.u32 %%t%u, %s, %s;\n", n, gen_dest(g, GEN_R), gen_dest(g, GEN_R));
    if (has_effect(d, PT_FX_CARRY_OUT))
        *behind = gen_format(g, "\naddc.u32 %%t%u, 0, 0;\nxor.b32 %%r0, %%r0, %%t%u;", n, n);
    if (!strncmp(pt_op_id(d->form.op), "mbarrier_", 9) && d->place) /* its state has no meaning */
        *behind = gen_format(g, "\nst.shared.v2.b64 [%%x%u], {0, 0};", d->place);
    if (is_target) { /* one thread stores, since all may store at one place */
        *before = gen_format(g, "setp.ne.u32 %%q%u, %%gid, 0;\n@%%q%u bra L%u_on;\n", n, n, n);
        *behind = gen_format(g, "\nL%u_on:", n);
    }
}

void wish_make(struct gen *g, const struct gen_place *place, const struct gen_wish *wish)
{
    struct drawn d = {.wish = wish, .before = ""};
    bool has_guard = wish->class == CORNER_GUARD;
    const char *before, *behind;
    if (!draw(g, &d, place))
        return;
    surround(g, &d, gen_temp(g), &before, &behind);
    const char *guard = has_guard ? gen_format(g, "@%%p%u ", gen_below(g, GEN_POOL)) : "",
               *space = *d.operands ? " " : "", *settled = draw_settled(g, &d);
    gen_line(g, "%s%s%s%s%s%s;%s%s%s", d.before, before, guard, d.spelling, space, d.operands,
             behind, settled, folded(g, &d));
}
