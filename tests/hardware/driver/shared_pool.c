/* Pools of one process in another, which the part begins before it calls CUDA. */
#include "tests/hardware/driver/say.h"
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 1 << 20 };

/* What goes over with the file. */
struct gift {
    CUmemPoolPtrExportData whole, inside;
};

static void give(int socket, int fd, const struct gift *gift)
{
    struct iovec data = {(void *)gift, sizeof *gift};
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    memset(&control, 0, sizeof control);
    struct msghdr m;
    memset(&m, 0, sizeof m);
    m.msg_iov = &data;
    m.msg_iovlen = 1;
    m.msg_control = &control;
    m.msg_controllen = sizeof control;
    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
    fflush(stdout); /* before the other process prints */
    if (sendmsg(socket, &m, 0) < 0)
        close(socket);
}

static int take(int socket, struct gift *gift)
{
    struct iovec data = {gift, sizeof *gift};
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    int fd = -1;
    struct msghdr m;
    memset(&m, 0, sizeof m);
    m.msg_iov = &data;
    m.msg_iovlen = 1;
    m.msg_control = &control;
    m.msg_controllen = sizeof control;
    if (recvmsg(socket, &m, 0) == (ssize_t)sizeof *gift && CMSG_FIRSTHDR(&m))
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
    printf("taken %d\n", fd >= 0);
    return fd;
}

static void *as_handle(int fd)
{
    return (void *)(uintptr_t)fd;
}

/* What an imported pool may be asked. */
static void ask(CUmemoryPool pool)
{
    unsigned long long v;
    int on = 1;
    CUdeviceptr p;
    CUmemAccess_flags flags;
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemAccessDesc access;
    int fd = -1;
    memset(&access, 0, sizeof access);
    access.location = here;
    for (int id = 1; id < 9; id++) {
        v = 0;
        printf("%d\n", id);
        SAY(cuMemPoolGetAttribute(pool, (CUmemPool_attribute)id, &v));
        v = 0;
        SAY(cuMemPoolSetAttribute(pool, (CUmemPool_attribute)id, &v));
    }
    SAY(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &on));
    GET(flags, cuMemPoolGetAccess(&flags, pool, &here));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    SAY(cuMemPoolSetAccess(pool, &access, 1));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    SAY(cuMemPoolSetAccess(pool, &access, 1));
    SAY(cuMemPoolTrimTo(pool, 0));
    MAKE(p, cuMemAllocFromPoolAsync(&p, BYTES, pool, NULL));
    SAY(cuDeviceSetMemPool(0, pool));
    SAY(cuMemPoolExportToShareableHandle(&fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    SAY(cuStreamSynchronize(NULL));
}

static void use(CUmemoryPool pool, struct gift *gift)
{
    CUdeviceptr p, again, q;
    CUmemPoolPtrExportData data;
    unsigned char byte = 0;
    CUmemoryPool of = NULL;
    MAKE(p, cuMemPoolImportPointer(&p, pool, &gift->whole));
    if (!p)
        return;
    SAY(cuMemcpyDtoH(&byte, p + BYTES - 1, 1));
    printf("%d\n", byte);
    SAY(cuMemsetD8(p, 44, BYTES));
    SAY(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p));
    printf("its pool %d\n", of == pool);
    SAY(cuMemPoolExportPointer(&data, p));
    SAY(cuMemFree(p + 256));
    MAKE(again, cuMemPoolImportPointer(&again, pool, &gift->whole));
    printf("again the same %d\n", again == p);
    MAKE(q, cuMemPoolImportPointer(&q, pool, &gift->inside));
    printf("inside %lld\n", q ? (long long)(q - p) : 0);
    memset(&data, 0, sizeof data);
    MAKE(q, cuMemPoolImportPointer(&q, pool, &data));
    MAKE(q, cuMemPoolImportPointer(&q, NULL, &gift->whole));
    MAKE(q, cuMemPoolImportPointer(&q, pool, NULL));
    SAY(cuMemPoolImportPointer(NULL, pool, &gift->whole));
    SAY(cuMemFreeAsync(p, NULL));
    SAY(cuStreamSynchronize(NULL));
    MAKE(q, cuMemPoolImportPointer(&q, pool, &gift->whole));
    if (q)
        SAY(cuMemFree(q));
}

static void other_process(int socket)
{
    struct gift gift;
    int fd = take(socket, &gift), again = dup(fd);
    CUmemoryPool pool, twice;
    say_begin();
    MAKE(pool, cuMemPoolImportFromShareableHandle(&pool, as_handle(fd),
                                                  CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1));
    MAKE(pool,
         cuMemPoolImportFromShareableHandle(&pool, as_handle(fd), CU_MEM_HANDLE_TYPE_NONE, 0));
    MAKE(pool, cuMemPoolImportFromShareableHandle(&pool, as_handle(999),
                                                  CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    SAY(cuMemPoolImportFromShareableHandle(NULL, as_handle(fd),
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    MAKE(pool, cuMemPoolImportFromShareableHandle(&pool, as_handle(fd),
                                                  CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    printf("the file is %s\n", close(fd) ? "closed" : "open");
    if (!pool)
        return;
    MAKE(twice, cuMemPoolImportFromShareableHandle(&twice, as_handle(again),
                                                   CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    printf("the same %d\n", twice == pool);
    ask(pool);
    use(pool, &gift);
    SAY(cuMemPoolDestroy(pool));
}

static void wrong(CUmemoryPool shared, CUdeviceptr p)
{
    CUmemPoolPtrExportData data;
    CUmemoryPool plain;
    CUdeviceptr q, r;
    int fd = -1;
    SAY(cuMemPoolExportToShareableHandle(NULL, shared, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                         0));
    SAY(cuMemPoolExportToShareableHandle(&fd, NULL, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    SAY(cuMemPoolExportToShareableHandle(&fd, shared, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1));
    SAY(cuMemPoolExportToShareableHandle(&fd, shared, CU_MEM_HANDLE_TYPE_NONE, 0));
    SAY(cuMemPoolExportToShareableHandle(&fd, shared, CU_MEM_HANDLE_TYPE_WIN32, 0));
    SAY(cuMemPoolExportToShareableHandle(&fd, shared, CU_MEM_HANDLE_TYPE_FABRIC, 0));
    SAY(cuDeviceGetDefaultMemPool(&plain, 0));
    SAY(cuMemPoolExportToShareableHandle(&fd, plain, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    SAY(cuMemAllocAsync(&q, BYTES, NULL));
    SAY(cuMemPoolExportPointer(&data, q));
    SAY(cuMemFreeAsync(q, NULL));
    SAY(cuMemAlloc(&q, BYTES));
    SAY(cuMemPoolExportPointer(&data, q));
    SAY(cuMemPoolExportPointer(&data, 0));
    SAY(cuMemPoolExportPointer(&data, 4096));
    SAY(cuMemPoolExportPointer(NULL, p));
    SAY(cuMemPoolExportPointer(&data, p));
    MAKE(r, cuMemPoolImportPointer(&r, shared, &data));
    MAKE(r, cuMemPoolImportPointer(&r, plain, &data));
}

void part_pool_export(void)
{
    int pair[2], fd = -1, again = -1;
    CUmemoryPool pool, own;
    CUmemPoolProps props;
    CUdeviceptr p, q;
    struct gift gift;
    unsigned char byte = 0;
    printf("%d\n", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    fflush(stdout);
    pid_t other = fork();
    if (!other) {
        close(pair[0]);
        other_process(pair[1]);
        fflush(stdout);
        _exit(0);
    }
    say_begin();
    memset(&props, 0, sizeof props);
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    MAKE(pool, cuMemPoolCreate(&pool, &props));
    SAY(cuMemAllocFromPoolAsync(&p, BYTES, pool, NULL));
    SAY(cuMemsetD8(p, 33, BYTES));
    wrong(pool, p);
    SAY(cuMemPoolExportToShareableHandle(&fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    SAY(cuMemPoolExportToShareableHandle(&again, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                         0));
    printf("files %d %d\n", fd >= 0, fd != again);
    MAKE(own, cuMemPoolImportFromShareableHandle(&own, as_handle(again),
                                                 CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    printf("the same %d\n", own == pool);
    ask(own);
    SAY(cuMemPoolExportPointer(&gift.whole, p));
    MAKE(q, cuMemPoolImportPointer(&q, pool, &gift.whole));
    MAKE(q, cuMemPoolImportPointer(&q, own, &gift.whole));
    printf("own the same %d\n", q == p);
    if (q)
        SAY(cuMemFree(q));
    SAY(cuMemPoolExportPointer(&gift.inside, p + 512));
    SAY(cuStreamSynchronize(NULL));
    give(pair[0], fd, &gift);
    waitpid(other, NULL, 0);
    SAY(cuMemcpyDtoH(&byte, p, 1));
    printf("%d\n", byte);
    SAY(cuMemFreeAsync(p, NULL));
    MAKE(q, cuMemAllocFromPoolAsync(&q, BYTES, pool, NULL));
    SAY(cuMemFreeAsync(q, NULL));
    SAY(cuStreamSynchronize(NULL));
    SAY(cuMemPoolDestroy(pool));
}
