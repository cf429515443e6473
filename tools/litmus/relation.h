/* Relations between the events of an execution, as matrices of bits. */
#ifndef PTERA_TOOLS_LITMUS_RELATION_H
#define PTERA_TOOLS_LITMUS_RELATION_H

#include <stdbool.h>
#include <stdint.h>

enum { LITMUS_EVENTS = 64 };

/* Bit b of row[a]: a comes before b. */
struct litmus_relation {
    uint64_t row[LITMUS_EVENTS];
};

static inline void litmus_relation_put(struct litmus_relation *r, unsigned a, unsigned b)
{
    r->row[a] |= UINT64_C(1) << b;
}
static inline bool litmus_relation_has(const struct litmus_relation *r, unsigned a, unsigned b)
{
    return r->row[a] >> b & 1;
}

/* Of n events. The result may not be one of the operands, but for the closure. */
void litmus_relation_compose(struct litmus_relation *to, const struct litmus_relation *a,
                             const struct litmus_relation *b, unsigned n);
void litmus_relation_invert(struct litmus_relation *to, const struct litmus_relation *a,
                            unsigned n);
void litmus_relation_close(struct litmus_relation *r, unsigned n); /* transitively */
bool litmus_relation_is_irreflexive(const struct litmus_relation *r, unsigned n);
bool litmus_relation_is_empty(const struct litmus_relation *r, unsigned n);

#endif
