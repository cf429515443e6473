#include "tools/litmus/relation.h"

#include <string.h>

void litmus_relation_compose(struct litmus_relation *to, const struct litmus_relation *a,
                             const struct litmus_relation *b, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        uint64_t row = 0;
        for (uint64_t left = a->row[i]; left; left &= left - 1)
            row |= b->row[__builtin_ctzll(left)];
        to->row[i] = row;
    }
}

void litmus_relation_invert(struct litmus_relation *to, const struct litmus_relation *a, unsigned n)
{
    memset(to->row, 0, n * sizeof *to->row);
    for (unsigned i = 0; i < n; i++)
        for (uint64_t left = a->row[i]; left; left &= left - 1)
            to->row[__builtin_ctzll(left)] |= UINT64_C(1) << i;
}

void litmus_relation_close(struct litmus_relation *r, unsigned n)
{
    for (unsigned k = 0; k < n; k++)
        for (unsigned i = 0; i < n; i++)
            if (r->row[i] >> k & 1)
                r->row[i] |= r->row[k];
}

bool litmus_relation_is_irreflexive(const struct litmus_relation *r, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (r->row[i] >> i & 1)
            return false;
    return true;
}

bool litmus_relation_is_empty(const struct litmus_relation *r, unsigned n)
{
    uint64_t any = 0;
    for (unsigned i = 0; i < n; i++)
        any |= r->row[i];
    return !any;
}
