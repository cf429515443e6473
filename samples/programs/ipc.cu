// Memory and events of several processes: by handles of the runtime library, and by file descriptors of memory that each maps where it likes. nvcc ipc.cu -lcuda
#include "check.h"
#include <cuda.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1 << 16 };

// What the parent tells the child.
struct handles {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t filled, added;
    size_t bytes; // of what is mapped
};

__global__ void fill(int *p, int v)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] = v + blockIdx.x;
}

__global__ void add(int *p, int v)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] += v;
}

static int n_wrong(const int *device, int v)
{
    static int have[N];
    int wrong = 0;
    CUDA(cudaMemcpy(have, device, sizeof have, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        wrong += have[i] != v + i / 256;
    return wrong;
}

static CUmemAllocationProp properties()
{
    CUmemAllocationProp p = {};
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return p;
}

static int *map(CUmemGenericAllocationHandle memory, size_t bytes)
{
    CUdeviceptr address;
    CUmemAccessDesc access = {};
    access.location = properties().location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    EXPECT(cuMemAddressReserve(&address, bytes, 0, 0, 0) == CUDA_SUCCESS);
    EXPECT(cuMemMap(address, bytes, 0, memory, 0) == CUDA_SUCCESS);
    EXPECT(cuMemSetAccess(address, bytes, &access, 1) == CUDA_SUCCESS);
    EXPECT(cuMemRelease(memory) == CUDA_SUCCESS); // it stays as long as it is mapped
    return (int *)address;
}

static void unmap(int *p, size_t bytes)
{
    EXPECT(cuMemUnmap((CUdeviceptr)p, bytes) == CUDA_SUCCESS);
    EXPECT(cuMemAddressFree((CUdeviceptr)p, bytes) == CUDA_SUCCESS);
}

// A message, and a descriptor with it unless that is -1.
static void tell(int socket, const void *data, size_t bytes, int descriptor)
{
    iovec part = {const_cast<void *>(data), bytes};
    alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (descriptor >= 0) {
        message.msg_control = room;
        message.msg_controllen = sizeof room;
        cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        *(int *)CMSG_DATA(c) = descriptor;
    }
    EXPECT(sendmsg(socket, &message, 0) == (ssize_t)bytes);
}

static int hear(int socket, void *data, size_t bytes)
{
    iovec part = {data, bytes};
    alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = room;
    message.msg_controllen = sizeof room;
    EXPECT(recvmsg(socket, &message, MSG_WAITALL) == (ssize_t)bytes);
    cmsghdr *c = CMSG_FIRSTHDR(&message);
    return c ? *(int *)CMSG_DATA(c) : -1;
}

static int child(int socket)
{
    handles h;
    void *p;
    cudaEvent_t filled, added;
    CUmemGenericAllocationHandle memory;
    int descriptor = hear(socket, &h, sizeof h);
    CUDA(cudaIpcOpenMemHandle(&p, h.memory, cudaIpcMemLazyEnablePeerAccess));
    CUDA(cudaIpcOpenEventHandle(&filled, h.filled));
    CUDA(cudaIpcOpenEventHandle(&added, h.added));
    CUDA(cudaStreamWaitEvent(0, filled, 0));
    add<<<N / 256, 256>>>((int *)p, 10);
    EXPECT(cuMemImportFromShareableHandle(&memory, (void *)(size_t)descriptor,
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) ==
           CUDA_SUCCESS);
    close(descriptor);
    int *mapped = map(memory, h.bytes);
    add<<<N / 256, 256>>>(mapped, 20);
    CUDA(cudaEventRecord(added));
    tell(socket, "done", 4, -1); // recorded, perhaps not reached yet
    CUDA(cudaDeviceSynchronize());
    unmap(mapped, h.bytes);
    CUDA(cudaIpcCloseMemHandle(p));
    CUDA(cudaEventDestroy(filled));
    CUDA(cudaEventDestroy(added));
    return 0;
}

int main()
{
    int sockets[2], status;
    EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
    pid_t other = fork(); // before the driver is there
    if (other == 0)
        return child(sockets[1]);
    handles h = {};
    int *p, descriptor;
    char answer[4];
    cudaEvent_t filled, added;
    CUmemGenericAllocationHandle memory;
    CUDA(cudaMalloc(&p, N * sizeof *p));
    CUDA(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming | cudaEventInterprocess));
    CUDA(cudaEventCreateWithFlags(&added, cudaEventDisableTiming | cudaEventInterprocess));
    CUmemAllocationProp properties_ = properties();
    EXPECT(cuMemGetAllocationGranularity(&h.bytes, &properties_,
                                         CU_MEM_ALLOC_GRANULARITY_MINIMUM) == CUDA_SUCCESS);
    h.bytes = (N * sizeof *p + h.bytes - 1) / h.bytes * h.bytes;
    EXPECT(cuMemCreate(&memory, h.bytes, &properties_, 0) == CUDA_SUCCESS);
    EXPECT(cuMemExportToShareableHandle(
               &descriptor, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0) == CUDA_SUCCESS);
    int *mapped = map(memory, h.bytes);
    fill<<<N / 256, 256>>>(p, 1);
    fill<<<N / 256, 256>>>(mapped, 2);
    CUDA(cudaEventRecord(filled));
    CUDA(cudaIpcGetMemHandle(&h.memory, p));
    CUDA(cudaIpcGetEventHandle(&h.filled, filled));
    CUDA(cudaIpcGetEventHandle(&h.added, added));
    tell(sockets[0], &h, sizeof h, descriptor);
    close(descriptor);
    hear(sockets[0], answer, sizeof answer);
    CUDA(cudaStreamWaitEvent(0, added, 0));
    EXPECT(n_wrong(p, 11) == 0);
    EXPECT(n_wrong(mapped, 22) == 0);
    EXPECT(waitpid(other, &status, 0) == other && status == 0);
    unmap(mapped, h.bytes);
    CUDA(cudaEventDestroy(filled));
    CUDA(cudaEventDestroy(added));
    CUDA(cudaFree(p));
    return passed();
}
