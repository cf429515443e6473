/* User objects: what belongs to the program and lives as long as graphs that refer to it.
 *
 * Whoever drops the last reference, the driver calls the destructor from a thread of its own and
 * without its lock, as NVIDIA's does: it may take whatever its owner holds while he calls CUDA. */
#include "runtime/cuda/user_object.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/graph.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/lock.h"

struct CUuserObject_st {
    struct pt_cu_object object;
    CUhostFn destroy;
    void *ud;
    uint64_t refs;
    CUuserObject next; /* to be destroyed */
};

/* ---- destroying them ------------------------------------------------------------------------- */

static CUuserObject first, *end = &first; /* those without references; under the lock */
static bool is_destroying;

static void *destroy_all(void *ud)
{
    (void)ud;
    pt_cu_lock_take();
    while (first) {
        CUuserObject o = first;
        CUhostFn destroy = o->destroy;
        void *theirs = o->ud;
        first = o->next;
        if (!first)
            end = &first;
        pt_cu_handle_delete(o);
        pt_cu_lock_release();
        destroy(theirs);
        pt_cu_lock_take();
    }
    is_destroying = false;
    pt_cu_lock_release();
    return NULL;
}

/* Where no thread can be had they wait for the next ones. */
static void start_destroying(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    if (is_destroying || pthread_attr_init(&attributes))
        return;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    is_destroying = !pthread_create(&thread, &attributes, destroy_all, NULL);
    pthread_attr_destroy(&attributes);
}

static void drop(CUuserObject o, uint64_t n)
{
    o->refs -= n;
    if (o->refs)
        return;
    *end = o;
    end = &o->next;
    start_destroying();
}

/* ---- references of graphs -------------------------------------------------------------------- */

static struct pt_cu_user_ref *find(const struct pt_cu_user_refs *refs, CUuserObject o)
{
    for (size_t i = 0; i < refs->n; i++)
        if (refs->of[i].object == o)
            return &refs->of[i];
    return NULL;
}

/* The graph's references to the object, none yet perhaps; NULL: no memory. */
static struct pt_cu_user_ref *find_or_add(struct pt_cu_user_refs *refs, CUuserObject o)
{
    struct pt_cu_user_ref *ref = find(refs, o);
    if (ref)
        return ref;
    void *more = realloc(refs->of, (refs->n + 1) * sizeof *refs->of);
    if (!more)
        return NULL;
    refs->of = more;
    refs->of[refs->n] = (struct pt_cu_user_ref){.object = o};
    return &refs->of[refs->n++];
}

bool pt_cu_user_object_clone_refs(struct pt_cu_user_refs *refs, const struct pt_cu_user_refs *from)
{
    if (!from->n)
        return true;
    refs->of = malloc(from->n * sizeof *refs->of);
    for (; refs->of && refs->n < from->n; refs->n++) {
        refs->of[refs->n] = from->of[refs->n];
        refs->of[refs->n].object->refs += refs->of[refs->n].n;
    }
    return refs->of;
}

void pt_cu_user_object_drop_refs(struct pt_cu_user_refs *refs)
{
    for (size_t i = 0; i < refs->n; i++)
        drop(refs->of[i].object, refs->of[i].n);
    free(refs->of);
    *refs = (struct pt_cu_user_refs){0};
}

bool pt_cu_user_object_is_in(const struct CUgraph_st *graph)
{
    bool is_in = graph->user.n;
    for (size_t i = 0; !is_in && i < graph->n_nodes; i++)
        for (unsigned k = 0; !is_in && k < graph->nodes[i]->n_inner; k++)
            is_in = pt_cu_user_object_is_in(graph->nodes[i]->inner[k]);
    return is_in;
}

/* ---- entries --------------------------------------------------------------------------------- */

static CUresult create(CUuserObject *out, void *ptr, CUhostFn destroy, unsigned n, unsigned flags)
{
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS &&
        (!out || !destroy || !n || n > INT_MAX || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    CUuserObject o = pt_cu_handle_new(PT_CU_USER_OBJECT, sizeof *o);
    if (!o)
        return CUDA_ERROR_OUT_OF_MEMORY;
    o->destroy = destroy;
    o->ud = ptr;
    o->refs = n;
    *out = o;
    pt_cu_handle_give(o);
    return CUDA_SUCCESS;
}

CUresult cuUserObjectCreate(CUuserObject *object, void *ptr, CUhostFn destroy, unsigned n,
                            unsigned flags)
{
    return API(create(object, ptr, destroy, n, flags));
}

/* One of which so many references may be spoken. */
static CUresult check(CUuserObject o, unsigned n)
{
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS &&
        (!pt_cu_handle_is(o, PT_CU_USER_OBJECT) || !o->refs || !n || n > INT_MAX))
        r = CUDA_ERROR_INVALID_VALUE;
    return r;
}

static CUresult retain(CUuserObject o, unsigned n)
{
    CUresult r = check(o, n);
    if (r == CUDA_SUCCESS)
        o->refs += n;
    return r;
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned n)
{
    return API(retain(object, n));
}

static CUresult release(CUuserObject o, unsigned n)
{
    CUresult r = check(o, n);
    if (r == CUDA_SUCCESS && o->refs < n)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        drop(o, n);
    return r;
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned n)
{
    return API(release(object, n));
}

static CUresult retain_by_graph(CUgraph graph, CUuserObject o, unsigned n, unsigned flags)
{
    CUresult r = check(o, n);
    if (r == CUDA_SUCCESS &&
        (!pt_cu_handle_is(graph, PT_CU_GRAPH) || flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE))
        r = CUDA_ERROR_INVALID_VALUE;
    struct pt_cu_user_ref *ref = r == CUDA_SUCCESS ? find_or_add(&graph->user, o) : NULL;
    if (!ref)
        return r == CUDA_SUCCESS ? CUDA_ERROR_OUT_OF_MEMORY : r;
    ref->n += n;
    if (!(flags & CU_GRAPH_USER_OBJECT_MOVE)) /* else they were the caller's */
        o->refs += n;
    return CUDA_SUCCESS;
}

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned n, unsigned flags)
{
    return API(retain_by_graph(graph, object, n, flags));
}

static CUresult release_by_graph(CUgraph graph, CUuserObject o, unsigned n)
{
    CUresult r = check(o, n);
    if (r == CUDA_SUCCESS && !pt_cu_handle_is(graph, PT_CU_GRAPH))
        r = CUDA_ERROR_INVALID_VALUE;
    struct pt_cu_user_ref *ref = r == CUDA_SUCCESS ? find(&graph->user, o) : NULL;
    if (r == CUDA_SUCCESS && (!ref || ref->n < n))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    ref->n -= n;
    if (!ref->n)
        *ref = graph->user.of[--graph->user.n];
    drop(o, n);
    return CUDA_SUCCESS;
}

CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned n)
{
    return API(release_by_graph(graph, object, n));
}
