/* Memory of graphs: a node allocates it, another one frees it. The block is there as long as a
 * graph, or an executable of one, has a node of it, so that its address stays; the nodes only say
 * from where to where it may be used. */
#define _GNU_SOURCE
#include "runtime/cuda/graph_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ir/bits.h"

#include "runtime/cuda/block.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/graph.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/range.h"

struct pt_cu_graph_block {
    struct pt_cu_graph_block *next; /* of all */
    unsigned refs;                  /* nodes */
    CUdeviceptr address;
    size_t bytes;
    CUcontext ctx;
    CUdevice device; /* its context's, which may be gone */
    bool is_held;    /* a launch has allocated it, and nothing has freed it */
    bool has_exec;   /* an executable was made of its graph */
    bool is_there;   /* a graph of it was uploaded or launched, and it was not trimmed since */
};

static struct pt_cu_graph_block *blocks;

/* ---- blocks ---------------------------------------------------------------------------------- */

struct pt_cu_graph_block *pt_cu_graph_memory_block_ref(struct pt_cu_graph_block *block)
{
    if (block)
        block->refs++;
    return block;
}

static struct pt_cu_range *range_of(const struct pt_cu_graph_block *block)
{
    struct pt_cu_range *range = pt_cu_range_find(block->address);
    return range && range->owner == block ? range : NULL; /* its context may be gone */
}

/* ---- amounts --------------------------------------------------------------------------------- */

/* A GPU gives graphs memory in such pieces. */
enum { PIECE_BYTES = 32 << 20 };

static uint64_t amount_now(CUdevice device)
{
    return pt_round_up(pt_cu_driver.devices[device].graph_bytes, PIECE_BYTES);
}

static void set_there(struct pt_cu_graph_block *block, bool is_there)
{
    struct pt_cu_device *d = &pt_cu_driver.devices[block->device];
    if (block->is_there == is_there)
        return;
    block->is_there = is_there;
    d->graph_bytes = is_there ? d->graph_bytes + block->bytes : d->graph_bytes - block->bytes;
    uint64_t now = amount_now(block->device);
    for (int i = 0; i < 2; i++)
        if (d->graph_high[i] < now)
            d->graph_high[i] = now;
}

void pt_cu_graph_memory_reach(CUgraph graph)
{
    for (size_t i = 0; i < graph->n_nodes; i++)
        if (graph->nodes[i]->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            set_there(graph->nodes[i]->block, true);
}

static CUresult check_device(CUdevice device)
{
    CUresult r = pt_cu_driver_check();
    return r == CUDA_SUCCESS && !pt_cu_device_is_valid(device) ? CUDA_ERROR_INVALID_DEVICE : r;
}

/* What the memory of graphs is used for is that it is there: both amounts are one. The highest can
 * be set back. */
static CUresult attribute(CUdevice device, CUgraphMem_attribute id, void *value, bool set)
{
    uint64_t given = 0;
    CUresult r = check_device(device);
    if (r == CUDA_SUCCESS && (!value || (unsigned)id > CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    bool is_high =
        id == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH || id == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
    uint64_t *high =
        &pt_cu_driver.devices[device].graph_high[id == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH];
    if (!set) {
        uint64_t now = is_high ? *high : amount_now(device);
        memcpy(value, &now, sizeof now);
        return CUDA_SUCCESS;
    }
    memcpy(&given, value, sizeof given);
    if (!is_high || given)
        return CUDA_ERROR_INVALID_VALUE;
    *high = amount_now(device);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute id, void *value)
{
    return API(attribute(device, id, value, false));
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute id, void *value)
{
    return API(attribute(device, id, value, true));
}

/* The system takes the pages of what nothing uses, not its addresses. */
static CUresult trim(CUdevice device)
{
    CUresult r = check_device(device);
    for (struct pt_cu_graph_block *b = blocks; r == CUDA_SUCCESS && b; b = b->next) {
        const struct pt_cu_range *range = range_of(b);
        if (!range || b->device != device || b->is_held || b->ctx->pending)
            continue;
        uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
        uintptr_t first = pt_round_up(range->first, page);
        uintptr_t last = (range->first + range->bytes) / page * page;
        if (range->fd < 0 && last > first)
            madvise((void *)first, last - first, MADV_DONTNEED);
        set_there(b, false);
    }
    return r;
}

CUresult cuDeviceGraphMemTrim(CUdevice device)
{
    return API(trim(device));
}

/* ---- blocks of nodes ------------------------------------------------------------------------- */

/* Work that is under way may use it still: it goes when its context has none. */
void pt_cu_graph_memory_block_put(struct pt_cu_graph_block *block)
{
    if (!block || --block->refs)
        return;
    struct pt_cu_graph_block **place = &blocks;
    while (*place != block)
        place = &(*place)->next;
    *place = block->next;
    set_there(block, false);
    struct pt_cu_range *range = range_of(block);
    if (range) {
        range->owner = NULL; /* held: from now on memory like any other */
        if (!block->is_held)
            pt_cu_block_free_later(range);
    }
    free(block);
}

static CUresult new_block(CUcontext ctx, size_t bytes, struct pt_cu_graph_block **out)
{
    struct pt_cu_range *range;
    struct pt_cu_graph_block *block = calloc(1, sizeof *block);
    CUresult r =
        block ? pt_cu_block_alloc(ctx, bytes, PT_CU_DEVICE, &range) : CUDA_ERROR_OUT_OF_MEMORY;
    if (r != CUDA_SUCCESS) {
        free(block);
        return r;
    }
    *block = (struct pt_cu_graph_block){.next = blocks,
                                        .refs = 1,
                                        .address = range->first,
                                        .bytes = bytes,
                                        .ctx = ctx,
                                        .device = ctx->device};
    blocks = block;
    range->owner = block;
    *out = block;
    return CUDA_SUCCESS;
}

struct pt_cu_graph_block *pt_cu_graph_memory_block_at(CUdeviceptr address)
{
    const struct pt_cu_range *range = pt_cu_range_find(address);
    return range && range->memory == PT_CU_DEVICE && range->first == address ? range->owner : NULL;
}

bool pt_cu_graph_memory_block_release(struct pt_cu_graph_block *block)
{
    bool was_held = block->is_held;
    block->is_held = false;
    return was_held;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static bool frees(const struct CUgraph_st *graph, const struct pt_cu_graph_block *block)
{
    for (size_t i = 0; i < graph->n_nodes; i++)
        if (graph->nodes[i]->type == CU_GRAPH_NODE_TYPE_MEM_FREE && graph->nodes[i]->block == block)
            return true;
    return false;
}

bool pt_cu_graph_memory_is_in(const struct CUgraph_st *graph)
{
    for (size_t i = 0; i < graph->n_nodes; i++)
        if (graph->nodes[i]->block)
            return true;
    return false;
}

CUresult pt_cu_graph_memory_set_alloc(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
    struct pt_cu_graph_block *block;
    if (!p->bytesize || p->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        (p->accessDescCount && !p->accessDescs) || node->block)
        return CUDA_ERROR_INVALID_VALUE;
    if (!pt_cu_device_is_valid(p->poolProps.location.id))
        return CUDA_ERROR_INVALID_DEVICE;
    CUresult r = new_block(node->ctx, p->bytesize, &block);
    if (r != CUDA_SUCCESS)
        return r;
    node->block = block;
    p->dptr = block->address;
    return CUDA_SUCCESS;
}

CUresult pt_cu_graph_memory_set_free(CUgraphNode node, CUdeviceptr address)
{
    struct pt_cu_graph_block *block = pt_cu_graph_memory_block_at(address);
    if (!block || node->block || frees(node->graph, block))
        return CUDA_ERROR_INVALID_VALUE;
    node->block = pt_cu_graph_memory_block_ref(block);
    return CUDA_SUCCESS;
}

static CUresult check(CUgraphNode node, CUgraphNodeType type)
{
    CUresult r = pt_cu_driver_check();
    bool is_one = pt_cu_handle_is(node, PT_CU_NODE) && node->type == type;
    return r == CUDA_SUCCESS && !is_one ? CUDA_ERROR_INVALID_VALUE : r;
}

static CUresult get_alloc(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
    CUresult r = check(node, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
    if (r == CUDA_SUCCESS && !p)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    *p = (CUDA_MEM_ALLOC_NODE_PARAMS){.bytesize = node->block->bytes, .dptr = node->block->address};
    p->poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    p->poolProps.location = (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, node->block->ctx->device};
    return CUDA_SUCCESS;
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
    return API(get_alloc(node, params));
}

static CUresult get_free(CUgraphNode node, CUdeviceptr *address)
{
    CUresult r = check(node, CU_GRAPH_NODE_TYPE_MEM_FREE);
    if (r == CUDA_SUCCESS && !address)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *address = node->block->address;
    return r;
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr *address)
{
    return API(get_free(node, address));
}

/* ---- executables ----------------------------------------------------------------------------- */

/* One executable at a time of a graph that has memory. */
CUresult pt_cu_graph_memory_take(CUgraph graph, bool take)
{
    for (size_t i = 0; take && i < graph->n_nodes; i++)
        if (graph->nodes[i]->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC &&
            graph->nodes[i]->block->has_exec)
            return CUDA_ERROR_NOT_SUPPORTED; /* CUDA's, too */
    for (size_t i = 0; i < graph->n_nodes; i++)
        if (graph->nodes[i]->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            graph->nodes[i]->block->has_exec = take;
    return CUDA_SUCCESS;
}

/* What is still allocated since the last launch cannot be allocated again, unless launches are to
 * free it first. */
CUresult pt_cu_graph_memory_launch(CUgraph graph, bool frees_first)
{
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct CUgraphNode_st *n = graph->nodes[i];
        if (n->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC && n->block->is_held && !frees_first)
            return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct CUgraphNode_st *n = graph->nodes[i];
        if (n->block)
            n->block->is_held = !frees(graph, n->block);
    }
    return CUDA_SUCCESS;
}
