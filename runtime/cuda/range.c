/* The ranges of addresses that the driver knows, in a tree by address. */
#define _GNU_SOURCE
#include "runtime/cuda/range.h"

#include <search.h>
#include <stdlib.h>

#include "runtime/cuda/context_list.h"
#include "runtime/cuda/handle.h"
#include "runtime/engine.h"

static void *tree;
/* Of the tree: kernels read it while others hold the driver's lock. */
static pthread_rwlock_t kernels = PTHREAD_RWLOCK_INITIALIZER;

/* Ranges that overlap compare equal, so that any address in one finds it. */
static int compare(const void *a, const void *b)
{
    const struct pt_cu_range *x = a, *y = b;
    if (x->first + x->bytes <= y->first)
        return -1;
    return x->first >= y->first + y->bytes;
}

static struct pt_cu_range *find(uint64_t address, uint64_t bytes)
{
    struct pt_cu_range key = {.first = address, .bytes = bytes};
    struct pt_cu_range **found = tfind(&key, &tree, compare);
    return found ? *found : NULL;
}

struct pt_cu_range *pt_cu_range_find(uint64_t address)
{
    return address < UINT64_MAX ? find(address, 1) : NULL;
}

/* Mapped memory has the access that cuMemSetAccess gave it. */
static bool is_denied(const struct pt_cu_range *range, bool writes)
{
    return range->memory == PT_CU_MAPPED &&
           (range->flags == CU_MEM_ACCESS_FLAGS_PROT_NONE ||
            (writes && range->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
}

bool pt_cu_range_is_reached(const struct pt_cu_range *range, CUdevice device, uint64_t peers,
                            bool writes)
{
    unsigned granted;
    switch (range->memory) {
    case PT_CU_DEVICE:
        return device == range->device || (peers >> range->device & 1) != 0;
    case PT_CU_POOLED: /* no list of access: it is being made */
        return device == range->device ||
               (range->access && range->access[device] == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    case PT_CU_MAPPED:
        granted = (unsigned)(range->granted >> 2 * device) & 3;
        return writes ? granted == CU_MEM_ACCESS_FLAGS_PROT_READWRITE : granted != 0;
    default:
        return true;
    }
}

/* What is mapped into reserved address space can go on in the range behind. */
static bool is_open(uint64_t address, size_t bytes, bool writes)
{
    if (bytes > UINT64_MAX - address)
        return false;
    while (bytes) {
        const struct pt_cu_range *range = pt_cu_range_find(address);
        if (!range || range->memory == PT_CU_MULTICAST || is_denied(range, writes))
            return false;
        uint64_t rest = range->first + range->bytes - address;
        if (rest >= bytes)
            return true;
        if (range->memory != PT_CU_MAPPED)
            return false;
        address += rest;
        bytes -= rest;
    }
    return true;
}

bool pt_cu_range_is_usable(uint64_t address, size_t bytes)
{
    return is_open(address, bytes, false);
}

bool pt_cu_range_is_writable(uint64_t address, size_t bytes)
{
    return is_open(address, bytes, true);
}

struct pt_cu_range *pt_cu_range_add(uint64_t first, uint64_t bytes, enum pt_cu_memory memory,
                                    CUcontext ctx)
{
    struct pt_cu_range *range = calloc(1, sizeof *range);
    if (!range)
        return NULL;
    range->first = first;
    range->bytes = bytes;
    range->memory = memory;
    range->ctx = ctx;
    range->device = ctx ? ctx->device : 0;
    range->fd = -1;
    if (!pt_cu_range_enter(range)) {
        free(range);
        return NULL;
    }
    return range;
}

bool pt_cu_range_enter(struct pt_cu_range *range)
{
    pthread_rwlock_wrlock(&kernels);
    struct pt_cu_range **place = tsearch(range, &tree, compare);
    pthread_rwlock_unlock(&kernels);
    if (!place || *place != range)
        return false;
    range->id = pt_cu_handle_new_id();
    return true;
}

bool pt_cu_range_is_device(const void *address)
{
    const struct pt_cu_range *range = pt_cu_range_find((uintptr_t)address);
    return range && range->memory != PT_CU_HOST && range->memory != PT_CU_REGISTERED;
}

void pt_cu_range_leave(struct pt_cu_range *range)
{
    pthread_rwlock_wrlock(&kernels);
    tdelete(range, &tree, compare);
    pthread_rwlock_unlock(&kernels);
    for (CUcontext ctx = NULL; (ctx = pt_cu_context_list_next(ctx));)
        if (ctx->engine)
            atomic_fetch_add(&ctx->engine->mem.releases, 1);
}

bool pt_cu_range_find_foreign(uint64_t address, uint64_t *first, uint64_t *bytes)
{
    pthread_rwlock_rdlock(&kernels);
    const struct pt_cu_range *range = pt_cu_range_find(address);
    bool is_handle = range && (range->memory == PT_CU_TEXELS || range->memory == PT_CU_TEXTURE ||
                               range->memory == PT_CU_SURFACE);
    bool is_found = range && !is_handle;
    if (is_found) {
        *first = range->first;
        *bytes = range->bytes;
    }
    pthread_rwlock_unlock(&kernels);
    return is_found;
}

void pt_cu_range_remove(struct pt_cu_range *range)
{
    pt_cu_range_leave(range);
    free(range);
}

struct list {
    struct pt_cu_range **v;
    size_t n, cap;
};

static void add_to_list(const void *node, VISIT order, void *ud)
{
    struct list *list = ud;
    if (order == preorder || order == endorder)
        return;
    if (list->n == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 64;
        void *more = realloc(list->v, cap * sizeof *list->v);
        if (!more)
            return;
        list->v = more;
        list->cap = cap;
    }
    list->v[list->n++] = *(struct pt_cu_range *const *)node;
}

void pt_cu_range_each(void (*visit)(struct pt_cu_range *range, void *ud), void *ud)
{
    struct list list = {0};
    twalk_r(tree, add_to_list, &list);
    for (size_t i = 0; i < list.n; i++)
        visit(list.v[i], ud);
    free(list.v);
}
