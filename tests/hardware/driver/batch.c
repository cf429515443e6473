/* Copies in batches. */
#include "tests/hardware/driver/say.h"

enum { COPIES = 3, BYTES = 64 };

static CUdeviceptr to[COPIES], from[COPIES];
static size_t sizes[COPIES] = {BYTES, BYTES, BYTES};
static CUstream stream;

static void begin(void)
{
    say_begin();
    SAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < COPIES; i++) {
        SAY(cuMemAlloc(&to[i], BYTES));
        SAY(cuMemAlloc(&from[i], BYTES));
    }
}

/* Sources are set to 1, 2, 3, targets to nothing. */
static void prepare(void)
{
    for (int i = 0; i < COPIES; i++) {
        cuMemsetD8(from[i], (unsigned char)(i + 1), BYTES);
        cuMemsetD8(to[i], 0, BYTES);
    }
    cuCtxSynchronize();
}

static void arrived(void)
{
    unsigned char byte = 0;
    SAY(cuStreamSynchronize(stream));
    for (int i = 0; i < COPIES; i++) {
        cuMemcpyDtoH(&byte, to[i] + BYTES - 1, 1);
        printf("%d ", byte);
    }
    printf("\n");
}

static void orders(void)
{
    size_t first = 0;
    CUmemcpyAttributes a;
    memset(&a, 0, sizeof a);
    for (int order = 0; order < 5; order++) {
        printf("order %d\n", order);
        a.srcAccessOrder = (CUmemcpySrcAccessOrder)order;
        prepare();
        SAY(cuMemcpyBatchAsync(to, from, sizes, COPIES, &a, &first, 1, stream));
        arrived();
    }
    a.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    for (unsigned flags = 0; flags < 4; flags++) {
        printf("flags %u\n", flags);
        a.flags = flags;
        prepare();
        SAY(cuMemcpyBatchAsync(to, from, sizes, COPIES, &a, &first, 1, stream));
        arrived();
    }
    a.flags = 0;
    for (int type = 0; type < 7; type++) {
        printf("place %d\n", type);
        a.srcLocHint.type = (CUmemLocationType)type;
        a.srcLocHint.id = 0;
        SAY(cuMemcpyBatchAsync(to, from, sizes, COPIES, &a, &first, 1, stream));
        a.srcLocHint.id = 99;
        SAY(cuMemcpyBatchAsync(to, from, sizes, COPIES, &a, &first, 1, stream));
    }
}

static void attributes(void)
{
    CUmemcpyAttributes a[4];
    size_t at[4] = {0, 1, 2, 3};
    memset(a, 0, sizeof a);
    for (int i = 0; i < 4; i++)
        a[i].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    SAY(cuMemcpyBatchAsync(to, from, sizes, COPIES, a, at, 3, stream));
    SAY(cuMemcpyBatchAsync(to, from, sizes, COPIES, a, at, 2, stream));
    SAY(cuMemcpyBatchAsync(to, from, sizes, COPIES, a, at, 4, stream));
    SAY(cuMemcpyBatchAsync(to, from, sizes, COPIES, a, at, 0, stream));
    at[0] = 1;
    SAY(cuMemcpyBatchAsync(to, from, sizes, COPIES, a, at, 1, stream));
    at[0] = 0;
    at[1] = 0;
    SAY(cuMemcpyBatchAsync(to, from, sizes, COPIES, a, at, 2, stream));
    at[1] = 2;
    at[2] = 1;
    SAY(cuMemcpyBatchAsync(to, from, sizes, COPIES, a, at, 3, stream));
    at[1] = 3;
    SAY(cuMemcpyBatchAsync(to, from, sizes, COPIES, a, at, 2, stream));
    SAY(cuMemcpyBatchAsync(to, from, sizes, COPIES, NULL, at, 1, stream));
    SAY(cuMemcpyBatchAsync(to, from, sizes, COPIES, a, NULL, 1, stream));
    SAY(cuMemcpyBatchAsync(NULL, from, sizes, COPIES, a, at, 1, stream));
    SAY(cuMemcpyBatchAsync(to, NULL, sizes, COPIES, a, at, 1, stream));
    SAY(cuMemcpyBatchAsync(to, from, NULL, COPIES, a, at, 1, stream));
    SAY(cuMemcpyBatchAsync(to, from, sizes, 0, a, at, 1, stream));
    SAY(cuMemcpyBatchAsync(to, from, sizes, 0, NULL, NULL, 0, stream));
    SAY(cuMemcpyBatchAsync(to, from, sizes, COPIES, a, at, 1, NULL));
    SAY(cuMemcpyBatchAsync(to, from, sizes, COPIES, a, at, 1, CU_STREAM_LEGACY));
    SAY(cuMemcpyBatchAsync(to, from, sizes, COPIES, a, at, 1, CU_STREAM_PER_THREAD));
}

/* What one wrong copy of three leaves of the others. */
static void wrong(void)
{
    CUmemcpyAttributes a;
    size_t first = 0;
    CUdeviceptr kept = to[1];
    memset(&a, 0, sizeof a);
    a.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    prepare();
    to[1] = 0;
    SAY(cuMemcpyBatchAsync(to, from, sizes, COPIES, &a, &first, 1, stream));
    to[1] = kept;
    arrived();
    prepare();
    sizes[1] = 0;
    SAY(cuMemcpyBatchAsync(to, from, sizes, COPIES, &a, &first, 1, stream));
    arrived();
    prepare();
    sizes[1] = (size_t)1 << 40;
    SAY(cuMemcpyBatchAsync(to, from, sizes, COPIES, &a, &first, 1, stream));
    sizes[1] = BYTES;
    arrived();
    static unsigned char here[BYTES] = {5};
    here[BYTES - 1] = 6;
    kept = from[2];
    from[2] = (CUdeviceptr)(uintptr_t)here;
    for (int order = 1; order < 4; order++) {
        a.srcAccessOrder = (CUmemcpySrcAccessOrder)order;
        prepare();
        SAY(cuMemcpyBatchAsync(to, from, sizes, COPIES, &a, &first, 1, stream));
        arrived();
    }
    from[2] = kept;
}

void part_copy_batch(void)
{
    CUgraph graph = NULL;
    size_t n = 0, first = 0;
    CUmemcpyAttributes a;
    begin();
    orders();
    attributes();
    wrong();
    memset(&a, 0, sizeof a);
    a.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    SAY(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SAY(cuMemcpyBatchAsync(to, from, sizes, COPIES, &a, &first, 1, stream));
    SAY(cuStreamEndCapture(stream, &graph));
    if (graph)
        GET(n, cuGraphGetNodes(graph, NULL, &n));
}

/* ---- boxes ----------------------------------------------------------------------------------- */

static CUDA_MEMCPY3D_BATCH_OP box(int i)
{
    CUDA_MEMCPY3D_BATCH_OP op;
    memset(&op, 0, sizeof op);
    op.src.type = op.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    op.src.op.ptr.ptr = from[i];
    op.dst.op.ptr.ptr = to[i];
    op.src.op.ptr.locHint.type = op.dst.op.ptr.locHint.type = CU_MEM_LOCATION_TYPE_DEVICE;
    op.extent.width = BYTES;
    op.extent.height = op.extent.depth = 1;
    op.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    return op;
}

static void boxes(void)
{
    CUDA_MEMCPY3D_BATCH_OP ops[COPIES] = {box(0), box(1), box(2)};
    prepare();
    SAY(cuMemcpy3DBatchAsync(COPIES, ops, 0, stream));
    arrived();
    prepare();
    ops[0].extent.width = BYTES / 4;
    ops[0].extent.height = 4;
    SAY(cuMemcpy3DBatchAsync(COPIES, ops, 0, stream));
    arrived();
    prepare();
    ops[0].extent.height = 2;
    ops[0].src.op.ptr.rowLength = ops[0].dst.op.ptr.rowLength = BYTES / 2;
    ops[0].dst.op.ptr.ptr += BYTES / 4;
    SAY(cuMemcpy3DBatchAsync(COPIES, ops, 0, stream));
    arrived();
    ops[0].src.op.ptr.rowLength = 8;
    SAY(cuMemcpy3DBatchAsync(COPIES, ops, 0, stream));
    ops[0].src.op.ptr.rowLength = 0;
    ops[0].src.op.ptr.layerHeight = 1;
    SAY(cuMemcpy3DBatchAsync(COPIES, ops, 0, stream));
    ops[0] = box(0);
    for (int order = 0; order < 5; order++) {
        printf("order %d\n", order);
        ops[1].srcAccessOrder = (CUmemcpySrcAccessOrder)order;
        SAY(cuMemcpy3DBatchAsync(COPIES, ops, 0, stream));
    }
    ops[1] = box(1);
    for (unsigned flags = 0; flags < 4; flags++) {
        printf("flags %u\n", flags);
        ops[1].flags = flags;
        SAY(cuMemcpy3DBatchAsync(COPIES, ops, 0, stream));
    }
    ops[1] = box(1);
    for (int type = 0; type < 4; type++) {
        printf("operand %d\n", type);
        ops[1].src.type = (CUmemcpy3DOperandType)type;
        if (type != CU_MEMCPY_OPERAND_TYPE_ARRAY)
            SAY(cuMemcpy3DBatchAsync(COPIES, ops, 0, stream));
    }
    ops[1] = box(1);
    for (int type = 0; type < 7; type++) {
        printf("place %d\n", type);
        ops[1].src.op.ptr.locHint.type = (CUmemLocationType)type;
        SAY(cuMemcpy3DBatchAsync(COPIES, ops, 0, stream));
    }
    ops[1] = box(1);
    SAY(cuMemcpy3DBatchAsync(0, ops, 0, stream));
    SAY(cuMemcpy3DBatchAsync(COPIES, NULL, 0, stream));
    SAY(cuMemcpy3DBatchAsync(COPIES, ops, 1, stream));
    SAY(cuMemcpy3DBatchAsync(COPIES, ops, 0, NULL));
    SAY(cuMemcpy3DBatchAsync(COPIES, ops, 0, CU_STREAM_PER_THREAD));
    ops[1].extent.depth = 0;
    SAY(cuMemcpy3DBatchAsync(COPIES, ops, 0, stream));
    ops[1] = box(1);
    ops[1].dst.op.ptr.ptr = 0;
    prepare();
    SAY(cuMemcpy3DBatchAsync(COPIES, ops, 0, stream));
    arrived();
}

static void in_arrays(void)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    CUDA_MEMCPY3D_BATCH_OP ops[2] = {box(0), box(1)};
    CUarray array;
    memset(&d, 0, sizeof d);
    d.Width = 4;
    d.Height = 4;
    d.Format = CU_AD_FORMAT_UNSIGNED_INT32;
    d.NumChannels = 1;
    SAY(cuArray3DCreate(&array, &d));
    prepare();
    ops[0].dst.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
    memset(&ops[0].dst.op, 0, sizeof ops[0].dst.op);
    ops[0].dst.op.array.array = array;
    ops[0].extent.width = 4;
    ops[0].extent.height = 4;
    SAY(cuMemcpy3DBatchAsync(1, ops, 0, stream));
    ops[1].src.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
    memset(&ops[1].src.op, 0, sizeof ops[1].src.op);
    ops[1].src.op.array.array = array;
    ops[1].extent.width = 4;
    ops[1].extent.height = 4;
    SAY(cuMemcpy3DBatchAsync(1, ops + 1, 0, stream));
    arrived();
    ops[1].src.op.array.offset.x = 1;
    SAY(cuMemcpy3DBatchAsync(1, ops + 1, 0, stream));
    ops[1].extent.width = 3;
    SAY(cuMemcpy3DBatchAsync(1, ops + 1, 0, stream));
}

void part_copy_batch_3d(void)
{
    CUgraph graph = NULL;
    size_t n = 0;
    CUDA_MEMCPY3D_BATCH_OP ops[2];
    begin();
    boxes();
    in_arrays();
    ops[0] = box(0);
    ops[1] = box(1);
    SAY(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SAY(cuMemcpy3DBatchAsync(2, ops, 0, stream));
    SAY(cuStreamEndCapture(stream, &graph));
    if (graph)
        GET(n, cuGraphGetNodes(graph, NULL, &n));
}
