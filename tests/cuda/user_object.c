/* User objects: who refers to them, and when their destructors are called. */
#include <unistd.h>

#include "tests/cuda/support.h"

static _Atomic unsigned destroyed;

static void note_destroyed(void *ud)
{
    destroyed += *(const unsigned *)ud;
}

/* A thread of the driver calls destructors. */
static void check_destroyed(unsigned want)
{
    for (int i = 0; i < 5000 && destroyed != want; i++)
        usleep(1000);
    CHECK_INT(destroyed, want);
}

static void check_user_object_errors(CUgraph graph, CUuserObject object)
{
    const CUresult invalid = CUDA_ERROR_INVALID_VALUE;
    CUuserObject out;
    CHECK_CU(cuUserObjectCreate(NULL, &out, note_destroyed, 1, 1), invalid);
    CHECK_CU(cuUserObjectCreate(&out, &out, NULL, 1, 1), invalid);
    CHECK_CU(cuUserObjectCreate(&out, &out, note_destroyed, 0, 1), invalid);
    CHECK_CU(cuUserObjectCreate(&out, &out, note_destroyed, 1, 0), invalid);
    CHECK_CU(cuUserObjectRetain(WILD, 1), invalid);
    CHECK_CU(cuUserObjectRetain(object, 0), invalid);
    CHECK_CU(cuUserObjectRelease(object, 1u << 31), invalid);
    CHECK_CU(cuGraphRetainUserObject(WILD, object, 1, 0), invalid);
    CHECK_CU(cuGraphRetainUserObject(graph, object, 1, 2), invalid);
    CHECK_CU(cuGraphReleaseUserObject(graph, object, 1), invalid);
}

/* It lives as long as somebody has a reference: the program, a graph, one made of that. */
static void check_user_objects(void)
{
    static const unsigned one = 1, ten = 10;
    CUgraph graph, clone, parent;
    CUgraphExec exec;
    CUgraphNode node;
    CUuserObject object, other;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphCreate(&parent, 0));
    OK(cuUserObjectCreate(&object, (void *)&one, note_destroyed, 2,
                          CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    OK(cuUserObjectCreate(&other, (void *)&ten, note_destroyed, 1,
                          CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    check_user_object_errors(graph, object);
    OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    OK(cuGraphRetainUserObject(graph, other, 2, 0));
    OK(cuGraphReleaseUserObject(graph, other, 2));
    OK(cuUserObjectRelease(other, 1));
    check_destroyed(10);
    OK(cuUserObjectRelease(object, 1));
    OK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphAddChildGraphNode(&node, parent, NULL, 0, graph));
    OK(cuGraphDestroy(graph));
    OK(cuGraphInstantiateWithFlags(&exec, parent, 0));
    OK(cuGraphDestroy(parent));
    OK(cuGraphDestroy(clone));
    OK(cuGraphLaunch(exec, NULL));
    check_destroyed(10);
    OK(cuGraphExecDestroy(exec));
    check_destroyed(11);
    CHECK_CU(cuUserObjectRetain(object, 1), CUDA_ERROR_INVALID_VALUE);
}

int main(void)
{
    CUcontext ctx = begin();
    check_user_objects();
    OK(cuCtxDestroy_v2(ctx));
    return CHECK_DONE("cuda_user_object");
}
