/* User objects: what belongs to the program and lives as long as graphs that refer to it. */
#ifndef PTERA_CUDA_USER_OBJECT_H
#define PTERA_CUDA_USER_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/cuda/abi.h"

struct CUgraph_st;

/* The references that a graph has. */
struct pt_cu_user_refs {
    struct pt_cu_user_ref {
        CUuserObject object;
        uint64_t n;
    } *of;
    size_t n;
};

/* A clone's, which has none yet, are as many; false: no memory. */
bool pt_cu_user_object_clone_refs(struct pt_cu_user_refs *refs, const struct pt_cu_user_refs *from);
/* The graph goes. */
void pt_cu_user_object_drop_refs(struct pt_cu_user_refs *refs);
/* The graph, or one inside, has some. */
bool pt_cu_user_object_is_in(const struct CUgraph_st *graph);

#endif
