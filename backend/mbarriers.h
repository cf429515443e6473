/* PT_TEST_sync: the mbarriers of a cluster, as its threads use them. */
#ifndef PTERA_BACKEND_MBARRIERS_H
#define PTERA_BACKEND_MBARRIERS_H

#include <stdbool.h>
#include <stdint.h>

#include "backend/finding.h"

/* What an instruction does with one. */
enum pt_mbarrier_use {
    PT_MBARRIER_USE_INIT,
    PT_MBARRIER_USE_INVALIDATE,
    PT_MBARRIER_USE_OTHER,
    PT_MBARRIER_USE_EXPECT, /* bytes, and it may arrive */
    PT_MBARRIER_USE_TEST    /* in vain: the phase is not over */
};

struct pt_mbarrier_seen {
    uint64_t address; /* generic */
    bool is_valid;    /* initialised, and not invalidated since */
    bool has_copy;    /* nobody has waited for a phase in which a copy was issued */
    bool is_tested;   /* in vain, since its last phase: then, what was missing of that */
    uint32_t phase, pending;
    int32_t bytes;
    struct pt_party maker, copier, expecter; /* the last of each */
};

struct pt_mbarriers {
    uint64_t start; /* of the cluster: pt_async.starts */
    uint32_t n, room;
    struct pt_mbarrier_seen v[];
};

#endif
