/* What a launch is part of, as its instructions ask for it. */
#ifndef PTERA_BACKEND_ENVIRONMENT_H
#define PTERA_BACKEND_ENVIRONMENT_H

#include "backend/exec.h"

struct pt_environment {
    uint64_t graph; /* %current_graph_exec */
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
