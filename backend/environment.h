/* What a launch is part of, as its instructions ask for it. */
#ifndef PTERA_BACKEND_ENVIRONMENT_H
#define PTERA_BACKEND_ENVIRONMENT_H

#include "backend/exec.h"

struct pt_environment {
    uint64_t graph; /* %current_graph_exec */
    /* griddepcontrol in a thread of the CTA: grids that depend on this one may begin, as far as it
     * goes; and it waits until those are done that this one depends on */
    void (*launch_dependents)(struct pt_cta *cta);
    void (*wait)(struct pt_cta *cta);
};

/* It lies behind each launch that engines are given. */
struct pt_placed_launch {
    struct pt_launch launch;
    struct pt_environment environment;
};

static inline const struct pt_environment *pt_environment_of(const struct pt_launch *launch)
{
    return &((const struct pt_placed_launch *)(const void *)launch)->environment;
}

#endif
