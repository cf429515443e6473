/* Which handles are live: a set of addresses, so that a wild handle is an error and not a crash. */
#ifndef PTERA_CUDA_HANDLE_H
#define PTERA_CUDA_HANDLE_H

#include <stdbool.h>

#include "runtime/cuda/abi.h"

/* What a handle may be of. Every object begins with its kind. */
enum pt_cu_kind {
    PT_CU_CONTEXT = 1,
    PT_CU_GREEN_CONTEXT,
    PT_CU_RESOURCES,
    PT_CU_EXTERNAL_MEMORY,
    PT_CU_MODULE,
    PT_CU_LIBRARY,
    PT_CU_FUNCTION,
    PT_CU_KERNEL,
    PT_CU_STREAM,
    PT_CU_EVENT,
    PT_CU_POOL,
    PT_CU_ARRAY,
    PT_CU_MIPMAP,
    PT_CU_GRAPH,
    PT_CU_NODE,
    PT_CU_EXEC,
    PT_CU_LINK,
    PT_CU_ALLOCATION,
    PT_CU_MULTICAST_OBJECT,
    PT_CU_TEXTURE_REFERENCE,
    PT_CU_SURFACE_REFERENCE,
    PT_CU_USER_OBJECT,
    PT_CU_CONDITION,
    PT_CU_DEVICE_NODE
};

struct pt_cu_object {
    enum pt_cu_kind kind;
    uint64_t id; /* never given twice */
    void *given; /* pt_cu_handle_give */
};

/* A zeroed object of `bytes` bytes that is known as a handle, or NULL. */
void *pt_cu_handle_new(enum pt_cu_kind kind, size_t bytes);
/* A call gives it to the program, which is to destroy it. What `note` says of the call, which is
 * allocated, is kept with the object; nobody has asked for it: nothing is. `object` may be NULL. */
void pt_cu_handle_give(void *object);
void pt_cu_handle_watch(void *(*note)(void));
/* The next object from *index on of which something is kept; NULL: there is none. */
const struct pt_cu_object *pt_cu_handle_next_given(size_t *index);
/* Forgets and frees it. */
void pt_cu_handle_delete(void *object);
/* Whether a handle, whatever it is, is one of an object of that kind. */
bool pt_cu_handle_is(const void *handle, enum pt_cu_kind kind);
bool pt_cu_handle_is_any(const void *handle);
uint64_t pt_cu_handle_new_id(void);

#endif
