/* Streams and events: their order, flags and callbacks, and what is refused. */
#include "tests/cudart/support.h"

/* Which is an answer, and not remembered as an error. */
#define NOT_READY(call) CHECK((call) == cudaErrorNotReady && cudaPeekAtLastError() == cudaSuccess)

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaMallocHost(void **p, size_t bytes);
cudaError_t cudaFreeHost(void *p);

static void check_making(void)
{
    cudaStream_t stream = NULL;
    unsigned flags = 99;
    int priority = 1, device = -1;
    unsigned long long id = 0;
    OK(cudaStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -1));
    OK(cudaStreamGetFlags(stream, &flags));
    CHECK_INT(flags, CU_STREAM_NON_BLOCKING);
    OK(cudaStreamGetPriority(stream, &priority));
    CHECK_INT(priority, -1);
    OK(cudaStreamGetId(stream, &id));
    CHECK(id != 0);
    OK(cudaStreamGetDevice(stream, &device));
    CHECK_INT(device, 0);
    BAD_VALUE(cudaStreamGetFlags(stream, NULL));
    BAD_VALUE(cudaStreamGetPriority(stream, NULL));
    BAD_VALUE(cudaStreamGetId(stream, NULL));
    OK(cudaStreamDestroy(stream));
    BAD_HANDLE(cudaStreamDestroy(stream));
    BAD_HANDLE(cudaStreamDestroy(NULL));
    BAD_HANDLE(cudaStreamDestroy(WILD));
    BAD_VALUE(cudaStreamCreate(NULL));
    BAD_VALUE(cudaStreamCreateWithFlags(&stream, 0x100));
    BAD_VALUE(cudaStreamCreateWithFlags(NULL, 0));
    BAD_HANDLE(cudaStreamGetFlags(WILD, &flags));
    BAD_HANDLE(cudaStreamGetPriority(WILD, &priority));
    BAD_HANDLE(cudaStreamQuery(WILD));
    BAD_HANDLE(cudaStreamSynchronize(WILD));
    OK(cudaStreamQuery(NULL));
    OK(cudaStreamSynchronize(CU_STREAM_PER_THREAD));
}

static void append(void *data)
{
    int *list = data;
    list[++list[0]] = 'h';
}

static void append_status(CUstream stream, CUresult status, void *data)
{
    int *list = data;
    (void)stream;
    list[++list[0]] = status == CUDA_SUCCESS ? 'c' : '?';
}

static void check_callbacks(void)
{
    cudaStream_t stream = NULL;
    int list[4] = {0};
    OK(cudaStreamCreate(&stream));
    OK(cudaLaunchHostFunc(stream, append, list));
    OK(cudaStreamAddCallback(stream, append_status, list, 0));
    OK(cudaLaunchHostFunc(stream, append, list));
    OK(cudaStreamSynchronize(stream));
    CHECK(list[0] == 3 && list[1] == 'h' && list[2] == 'c' && list[3] == 'h');
    BAD_VALUE(cudaLaunchHostFunc(stream, NULL, list));
    BAD_VALUE(cudaStreamAddCallback(stream, NULL, list, 0));
    BAD_VALUE(cudaStreamAddCallback(stream, append_status, list, 1));
    BAD_HANDLE(cudaLaunchHostFunc(WILD, append, list));
    BAD_HANDLE(cudaStreamAddCallback(WILD, append_status, list, 0));
    OK(cudaStreamDestroy(stream));
    CHECK_INT(list[0], 3);
}

/* A kernel that waits keeps its stream busy; the other stream waits for the event behind it. */
static void check_order(void)
{
    cudaLibrary_t library = load_kernels();
    cudaKernel_t wait = kernel_of(library, "wait");
    cudaStream_t a = NULL, b = NULL;
    cudaEvent_t event = NULL;
    volatile int *gate = NULL;
    int *p = NULL, *host = NULL;
    OK(cudaMallocHost((void **)&gate, sizeof *gate));
    OK(cudaMallocHost((void **)&host, sizeof *host));
    *gate = 0;
    OK(cudaMalloc((void **)&p, sizeof *p));
    OK(cudaStreamCreateWithFlags(&a, CU_STREAM_NON_BLOCKING));
    OK(cudaStreamCreateWithFlags(&b, CU_STREAM_NON_BLOCKING));
    OK(cudaEventCreateWithFlags(&event, CU_EVENT_DISABLE_TIMING));
    OK(cudaLaunchKernel(wait, DIM(1), DIM(1), (void *[]){&gate}, 0, a));
    OK(cudaMemsetAsync(p, 1, sizeof *p, a));
    OK(cudaEventRecord(event, a));
    OK(cudaStreamWaitEvent(b, event, 0));
    OK(cudaMemcpyAsync(host, p, sizeof *host, cudaMemcpyDeviceToHost, b));
    NOT_READY(cudaStreamQuery(a));
    NOT_READY(cudaStreamQuery(b));
    NOT_READY(cudaEventQuery(event));
    *gate = 1;
    OK(cudaStreamSynchronize(b));
    CHECK_INT(*host, 0x01010101);
    OK(cudaEventQuery(event));
    OK(cudaStreamQuery(a));
    OK(cudaEventDestroy(event));
    OK(cudaStreamDestroy(a));
    OK(cudaStreamDestroy(b));
    OK(cudaFree(p));
    OK(cudaFreeHost((void *)gate));
    OK(cudaFreeHost(host));
    OK(cudaLibraryUnload(library));
}

static void check_events(void)
{
    cudaEvent_t from = NULL, to = NULL, plain = NULL;
    float ms = -1;
    OK(cudaEventCreate(&from));
    OK(cudaEventCreate(&to));
    OK(cudaEventCreateWithFlags(&plain, CU_EVENT_DISABLE_TIMING));
    OK(cudaEventQuery(from));
    BAD_HANDLE(cudaEventElapsedTime(&ms, from, to));
    OK(cudaEventRecord(from, NULL));
    OK(cudaEventRecordWithFlags(to, NULL, 0));
    OK(cudaEventSynchronize(to));
    OK(cudaEventElapsedTime(&ms, from, to));
    CHECK(ms >= 0);
    BAD_HANDLE(cudaEventElapsedTime(NULL, from, to));
    OK(cudaEventRecord(plain, NULL));
    BAD_HANDLE(cudaEventElapsedTime(&ms, from, plain));
    BAD_HANDLE(cudaEventElapsedTime(&ms, from, WILD));
    OK(cudaEventDestroy(from));
    OK(cudaEventDestroy(to));
    OK(cudaEventDestroy(plain));
    BAD_VALUE(cudaEventCreate(NULL));
    BAD_VALUE(cudaEventCreateWithFlags(&from, 0x100));
    BAD_HANDLE(cudaEventDestroy(to));
    BAD_HANDLE(cudaEventDestroy(NULL));
    BAD_HANDLE(cudaEventDestroy(WILD));
    BAD_HANDLE(cudaEventQuery(WILD));
    BAD_HANDLE(cudaEventSynchronize(NULL));
    BAD_HANDLE(cudaEventRecord(NULL, NULL));
    BAD_HANDLE(cudaEventRecord(WILD, NULL));
    BAD_HANDLE(cudaStreamWaitEvent(NULL, WILD, 0));
}

int main(void)
{
    check_making();
    check_callbacks();
    check_order();
    check_events();
    return CHECK_DONE("stream");
}
