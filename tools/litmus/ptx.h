/* The kernel of a litmus test. */
#ifndef PTERA_TOOLS_LITMUS_PTX_H
#define PTERA_TOOLS_LITMUS_PTX_H

#include "tools/litmus/test.h"

/* What a group, which runs the test once in every lane and round, consists of. */
struct litmus_layout {
    unsigned clusters, ctas, warps; /* of a group, of a cluster, of a CTA */
};
struct litmus_layout litmus_ptx_layout(const struct litmus_test *test);

/* .entry litmus(.param .u64 mem, .param .u64 out, .param .u64 pace, .param .u32 rounds, .param .u32
 * plane, .param .u32 patience). Thread t of the test is a warp, each lane of which runs it for
 * another instance: 32 * (rounds * group + round) + lane. Place p of instance i is at mem + plane *
 * p + 4 * i, its register r goes to out + plane * r + 4 * i. Before each round the group's warps
 * meet at the word pace + 128 * group, each looking `patience` times at most.
 *
 * If it judges, .param .u64 allowed, .param .u32 n follow, and mem has a place more: who ends a
 * round last looks whether the outcome is among the n of `allowed`, and traps if not.
 *
 * NULL: there are instructions that cannot be run, or no memory; the caller frees. */
char *litmus_ptx(const struct litmus_test *test, bool judges);

#endif
