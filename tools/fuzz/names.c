/* Names of registers, and which of them are sources and results. */
#include "tools/fuzz/build.h"

#include <string.h>

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

const char *gen_preferred(struct gen *g, const struct gen_place *place, enum gen_class class,
                          bool takes_float)
{
    return place->values && gen_chance(g, 70) ? gen_value(g, place->values, class, takes_float)
                                              : NULL;
}

const char *gen_source(struct gen *g, const struct gen_place *place, enum gen_class class)
{
    const char *value = gen_preferred(g, place, class, false);
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
