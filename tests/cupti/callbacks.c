/* Callbacks: of calls, resources and waits, for one subscriber. */
#include "tests/cupti/support.h"

static struct {
    unsigned domain, id, site;
    uint32_t correlation;
    int result;
    uint64_t data;
    const char *name, *symbol;
    CUgraph graph, original;
    CUgraphExec exec, launched;
    CUstream stream;
    uint32_t graph_id; /* asked for in the callback */
    uint64_t node_id;
} seen[512];
static unsigned n_seen;
static CUgraphExec exec_of_launch;

static void note_call(const CUpti_CallbackData *d)
{
    seen[n_seen].site = d->site;
    seen[n_seen].correlation = d->correlation;
    seen[n_seen].name = d->name;
    seen[n_seen].symbol = d->symbol;
    seen[n_seen].result = d->site == CUPTI_API_EXIT ? *(const int *)d->result : -1;
    seen[n_seen].data = *d->data;
    *d->data = 99;
    if (!strcmp(d->name, "cuGraphLaunch")) /* the executable is the first argument */
        memcpy(&exec_of_launch, d->parameters, sizeof exec_of_launch);
}

static void note_graph(const CUpti_GraphData *g)
{
    seen[n_seen].graph = g->graph;
    seen[n_seen].original = g->original;
    seen[n_seen].exec = g->exec;
    if (g->graph)
        CUPTI_OK(cuptiGetGraphId(g->graph, &seen[n_seen].graph_id));
    if (g->node)
        CUPTI_OK(cuptiGetGraphNodeId(g->node, &seen[n_seen].node_id));
}

static void call_back(void *ud, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
    int version;
    CHECK(ud == &n_seen);
    if (n_seen == sizeof seen / sizeof *seen)
        return;
    seen[n_seen].domain = domain;
    seen[n_seen].id = id;
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
        note_call(data);
    } else if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
        /* NVIDIA's tells that the driver is there (5) without data (CUPTI 13.0). */
        const CUpti_ResourceData *r = data;
        seen[n_seen].stream = r ? r->stream : NULL;
        if (r && id >= 9)
            note_graph(r->descriptor);
    } else if (domain == CUPTI_CB_DOMAIN_SYNCHRONIZE) {
        seen[n_seen].stream = ((const CUpti_SynchronizeData *)data)->stream;
    }
    n_seen++;
    OK(cuDriverGetVersion(&version)); /* which nobody is told of */
}

/* The `index`th one, or -1. */
static int find_seen(unsigned domain, unsigned id, unsigned index)
{
    for (unsigned i = 0; i < n_seen; i++)
        if (seen[i].domain == domain && seen[i].id == id && index-- == 0)
            return (int)i;
    return -1;
}

static unsigned count_seen(unsigned domain, unsigned id)
{
    unsigned n = 0;
    while (find_seen(domain, id, n) >= 0)
        n++;
    return n;
}

enum { LAUNCH_KERNEL = 307, GRAPH_LAUNCH = 514 };
enum { MADE_CONTEXT = 1, ENDS_CONTEXT, MADE_STREAM, ENDS_STREAM, INITIALISED, MADE_MODULE };
enum { MADE_GRAPH = 9, ENDS_GRAPH, CLONED_GRAPH, MADE_NODE = 13, ENDS_NODE };
enum { MADE_EXEC = 18, ENDS_EXEC, CLONED_NODE };

static void check_calls(CUmodule module, CUdeviceptr p)
{
    unsigned n = 1, value = 1;
    CUfunction add = function_of(module, "add");
    n_seen = 0;
    OK(LAUNCH(add, 1, NULL, &p, &n, &value));
    OK(cuCtxSynchronize());
    int enter = find_seen(CUPTI_CB_DOMAIN_DRIVER_API, LAUNCH_KERNEL, 0),
        leave = find_seen(CUPTI_CB_DOMAIN_DRIVER_API, LAUNCH_KERNEL, 1);
    CHECK(enter == 0 && leave == 1);
    if (enter != 0 || leave != 1)
        return;
    CHECK_INT(seen[0].site, CUPTI_API_ENTER);
    CHECK_INT(seen[1].site, CUPTI_API_EXIT);
    CHECK_INT(seen[0].correlation, seen[1].correlation);
    CHECK_INT(seen[0].data, 0);
    CHECK_INT(seen[1].data, 99);
    CHECK_INT(seen[1].result, CUDA_SUCCESS);
    CHECK_TEXT(seen[0].name, "cuLaunchKernel");
    CHECK_TEXT(seen[0].symbol, "add");
    CHECK_INT(count_seen(CUPTI_CB_DOMAIN_SYNCHRONIZE, 2), 1);
}

static void check_stream(void)
{
    CUstream stream;
    n_seen = 0;
    OK(cuStreamCreate(&stream, 0));
    int made = find_seen(CUPTI_CB_DOMAIN_RESOURCE, MADE_STREAM, 0);
    CHECK(made >= 0 && seen[made].stream == stream);
    OK(cuStreamSynchronize(stream));
    int waited = find_seen(CUPTI_CB_DOMAIN_SYNCHRONIZE, 1, 0);
    CHECK(waited >= 0 && seen[waited].stream == stream);
    OK(cuStreamDestroy_v2(stream));
    int ends = find_seen(CUPTI_CB_DOMAIN_RESOURCE, ENDS_STREAM, 0);
    CHECK(ends >= 0 && seen[ends].stream == stream);
}

static void check_graph(void)
{
    CUgraph graph;
    CUgraphNode first, second;
    CUgraphExec exec;
    n_seen = 0;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddEmptyNode(&first, graph, NULL, 0));
    OK(cuGraphAddEmptyNode(&second, graph, &first, 1));
    CHECK_INT(count_seen(CUPTI_CB_DOMAIN_RESOURCE, MADE_GRAPH), 1);
    CHECK_INT(count_seen(CUPTI_CB_DOMAIN_RESOURCE, MADE_NODE), 2);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK_INT(count_seen(CUPTI_CB_DOMAIN_RESOURCE, CLONED_NODE), 2);
    int made = find_seen(CUPTI_CB_DOMAIN_RESOURCE, MADE_EXEC, 0),
        cloned = find_seen(CUPTI_CB_DOMAIN_RESOURCE, CLONED_NODE, 0);
    CHECK(made >= 0 && seen[made].exec == exec);
    CHECK(cloned >= 0 && seen[cloned].original == graph && seen[cloned].node_id);
    OK(cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
    CHECK(exec_of_launch == exec);
    OK(cuGraphExecDestroy(exec));
    CHECK_INT(count_seen(CUPTI_CB_DOMAIN_RESOURCE, ENDS_EXEC), 1);
    CHECK_INT(count_seen(CUPTI_CB_DOMAIN_RESOURCE, ENDS_NODE), 2);
    OK(cuGraphDestroy(graph));
    CHECK_INT(count_seen(CUPTI_CB_DOMAIN_RESOURCE, ENDS_NODE), 4);
}

static void check_choice(CUpti_SubscriberHandle subscriber)
{
    uint32_t is_wanted = 1;
    CUPTI_OK(cuptiEnableAllDomains(0, subscriber));
    CUPTI_OK(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, GRAPH_LAUNCH));
    CUPTI_OK(
        cuptiGetCallbackState(&is_wanted, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, LAUNCH_KERNEL));
    CHECK_INT(is_wanted, 0);
    n_seen = 0;
    OK(cuCtxSynchronize());
    CHECK_INT(n_seen, 0);
    CHECK_CU(cuGraphLaunch(NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(n_seen, 2);
    CHECK_INT(seen[1].result, CUDA_ERROR_INVALID_VALUE);
}

static void check_errors(CUpti_SubscriberHandle subscriber)
{
    CUpti_SubscriberHandle other;
    const char *name = NULL;
    CHECK_INT(cuptiSubscribe(NULL, call_back, NULL), CUPTI_ERROR_INVALID_PARAMETER);
    CHECK_INT(cuptiSubscribe(&other, call_back, NULL),
              CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    CHECK_INT(cuptiEnableCallback(1, subscriber, 0, 1), CUPTI_ERROR_INVALID_PARAMETER);
    CHECK_INT(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, 100000),
              CUPTI_ERROR_INVALID_PARAMETER);
    CHECK_INT(cuptiEnableDomain(1, subscriber, 9), CUPTI_ERROR_INVALID_PARAMETER);
    CUPTI_OK(cuptiGetCallbackName(CUPTI_CB_DOMAIN_RUNTIME_API, 211, &name));
    CHECK_TEXT(name, "cudaLaunchKernel_v7000");
    CHECK_INT(cuptiGetCallbackName(CUPTI_CB_DOMAIN_RESOURCE, 1, &name),
              CUPTI_ERROR_INVALID_PARAMETER);
    CUPTI_OK(cuptiUnsubscribe(subscriber));
    CHECK_INT(cuptiUnsubscribe(subscriber), CUPTI_ERROR_INVALID_PARAMETER);
}

int main(void)
{
    CUpti_SubscriberHandle subscriber;
    CUPTI_OK(cuptiSubscribe(&subscriber, call_back, &n_seen));
    CUPTI_OK(cuptiEnableAllDomains(1, subscriber));
    CUcontext ctx = begin();
    CHECK_INT(count_seen(CUPTI_CB_DOMAIN_RESOURCE, INITIALISED), 1);
    CHECK_INT(count_seen(CUPTI_CB_DOMAIN_RESOURCE, MADE_CONTEXT), 1);
    CUmodule module = load_kernels();
    CHECK_INT(count_seen(CUPTI_CB_DOMAIN_RESOURCE, MADE_MODULE), 1);
    CUdeviceptr p = new_memory(64);
    check_calls(module, p);
    check_stream();
    check_graph();
    n_seen = 0;
    OK(cuCtxDestroy_v2(ctx));
    CHECK_INT(count_seen(CUPTI_CB_DOMAIN_RESOURCE, ENDS_CONTEXT), 1);
    ctx = begin();
    check_choice(subscriber);
    check_errors(subscriber);
    n_seen = 0;
    OK(cuCtxSynchronize());
    CHECK_INT(n_seen, 0);
    OK(cuCtxDestroy_v2(ctx));
    return CHECK_DONE("cupti_callbacks");
}
