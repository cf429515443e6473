/* Litmus tests made at random, from cycles. */
#ifndef PTERA_TOOLS_LITMUS_GENERATE_H
#define PTERA_TOOLS_LITMUS_GENERATE_H

#include "tools/litmus/test.h"

enum { LITMUS_NAME = 128 };

/* How the tests of a campaign are told apart. */
enum litmus_kind_of {
    LITMUS_BY_FAMILY, /* the cycle */
    LITMUS_BY_SYNC,   /* what stands between a thread's accesses */
    LITMUS_BY_ACCESS, /* weak, relaxed, ... */
    LITMUS_BY_PLACE,  /* where the threads are */
    LITMUS_BY_SCOPE,
    LITMUS_KINDS
};
extern const char *const litmus_generate_kinds[LITMUS_KINDS];

struct litmus_generated {
    struct litmus_test test;
    char of[LITMUS_KINDS][LITMUS_NAME];
};

/* The test of that seed; the same everywhere. */
void litmus_generate(struct litmus_generated *g, uint64_t seed);

#endif
