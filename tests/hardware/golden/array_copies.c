/* What the runtime library's copies to, from and between arrays return and leave: a line for each
 * call, with its error and a hash of all texels and of the memory behind it. The same program runs
 * on a GPU (with NVIDIA's headers: cc -DON_GPU array_copies.c -lcudart) and here; array_copies.txt
 * is what an H100 made of it. */
#ifdef ON_GPU
#include <cuda_runtime_api.h>
#else
#include "tests/cudart/support.h"
cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *channels, size_t width,
                            size_t height, unsigned flags);
cudaError_t cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *channels,
                              cudaExtent extent, unsigned flags);
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *p);
cudaError_t cudaMemcpyToArray(cudaArray_t array, size_t x, size_t y, const void *from, size_t bytes,
                              cudaMemcpyKind kind);
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t array, size_t x, size_t y, const void *from,
                                   size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpyFromArray(void *to, cudaArray_t array, size_t x, size_t y, size_t bytes,
                                cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_t array, size_t x, size_t y, size_t bytes,
                                     cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_t from,
                                   size_t from_x, size_t from_y, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DToArray(cudaArray_t array, size_t x, size_t y, const void *from,
                                size_t pitch, size_t width, size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_t array, size_t x, size_t y,
                                  size_t width, size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_t from,
                                     size_t from_x, size_t from_y, size_t width, size_t height,
                                     cudaMemcpyKind kind);
cudaError_t cudaDeviceSynchronize(void);
#define cudaArrayLayered CUDA_ARRAY3D_LAYERED
typedef cudaChannelFormatDesc channels;
typedef cudaMemcpy3DParms box;
typedef cudaExtent extent;
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef ON_GPU
typedef struct cudaChannelFormatDesc channels;
typedef struct cudaMemcpy3DParms box;
typedef struct cudaExtent extent;
typedef enum cudaMemcpyKind cudaMemcpyKind;
#include <setjmp.h>
#include <signal.h>

/* NVIDIA's library divides by zero in some calls; such a line ends with "ended". */
static sigjmp_buf before;
static void end_call(int signal)
{
    (void)signal;
    siglongjmp(before, 1);
}
#define TELL(call) (sigsetjmp(before, 1) ? (void)puts(": ended") : tell(call))
#else
#define TELL(call) tell(call)
#endif

enum { BYTES = 1024, N_ARRAYS = 5, N_PLACES = 3 };

/* An array, and its rows, in bytes. The last one stands for none. */
static struct {
    const char *name;
    size_t row, rows, slices;
    cudaArray_t array;
} arrays[N_ARRAYS] = {{"flat", 48, 5, 1, NULL},
                      {"line", 160, 1, 1, NULL},
                      {"layers", 24, 4, 3, NULL},
                      {"volume", 24, 4, 3, NULL},
                      {"none", 48, 5, 1, NULL}};
/* Memory: of the host, of the device, none. */
static uint8_t host[BYTES], *device;
static struct {
    const char *name;
    uint8_t *address;
} places[N_PLACES] = {{
                          "host",
                          host,
                      },
                      {"device", NULL},
                      {"null", NULL}};

static int fails(const char *what, int error)
{
    if (error)
        printf("%s fails: %d\n", what, error);
    return error;
}

static void copy_whole(int i, uint8_t *bytes, int is_back)
{
    box p;
    memset(&p, 0, sizeof p);
    p.extent = (extent){arrays[i].row, arrays[i].rows, arrays[i].slices};
    p.extent.width /= 4;
    p.kind = is_back ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
    if (is_back) {
        p.srcArray = arrays[i].array;
        p.dstPtr.ptr = bytes;
        p.dstPtr.pitch = arrays[i].row;
        p.dstPtr.ysize = arrays[i].rows;
    } else {
        p.dstArray = arrays[i].array;
        p.srcPtr.ptr = bytes;
        p.srcPtr.pitch = arrays[i].row;
        p.srcPtr.ysize = arrays[i].rows;
    }
    fails("a whole copy", cudaMemcpy3D(&p));
}

static size_t bytes_of(int i)
{
    return arrays[i].row * arrays[i].rows * arrays[i].slices;
}

/* All arrays and all memory hold bytes that tell where they are. */
static void fill(void)
{
    uint8_t bytes[BYTES];
    for (int i = 0; i < N_ARRAYS - 1; i++) {
        for (size_t j = 0; j < bytes_of(i); j++)
            bytes[j] = (uint8_t)(j * 7 + (j >> 8) + i * 50 + 1);
        copy_whole(i, bytes, 0);
    }
    for (size_t j = 0; j < BYTES; j++)
        host[j] = (uint8_t)(j * 11 + (j >> 8) + 3);
    for (size_t j = 0; j < BYTES; j++)
        bytes[j] = (uint8_t)(j * 13 + (j >> 8) + 5);
    fails("a copy", cudaMemcpy(device, bytes, BYTES, cudaMemcpyHostToDevice));
}

static uint64_t hash(uint64_t sum, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ bytes[i]) * 0x100000001b3u;
    return sum;
}

/* What the call has returned, and what it left everywhere. */
static void tell(int error)
{
    uint8_t bytes[BYTES];
    uint64_t sum = 0xcbf29ce484222325u;
    cudaGetLastError();
    fails("waiting", cudaDeviceSynchronize());
    for (int i = 0; i < N_ARRAYS - 1; i++) {
        copy_whole(i, bytes, 1);
        sum = hash(sum, bytes, bytes_of(i));
    }
    sum = hash(sum, host, BYTES);
    fails("a copy", cudaMemcpy(bytes, device, BYTES, cudaMemcpyDeviceToHost));
    sum = hash(sum, bytes, BYTES);
    printf(": %d %016llx\n", error, (unsigned long long)sum);
}

/* A run of bytes from `x` bytes and `y` rows on, to an array and from it, in all directions. */
static void try_run(int a, int place, size_t x, size_t y, size_t bytes, int kind, int is_async)
{
    cudaArray_t array = arrays[a].array;
    uint8_t *p = places[place].address;
    cudaMemcpyKind k = (cudaMemcpyKind)kind;
    const char *async = is_async ? " async" : "";
    fill();
    printf("to%s %s %s %zu %zu %zu kind %d", async, arrays[a].name, places[place].name, x, y, bytes,
           kind);
    TELL(is_async ? cudaMemcpyToArrayAsync(array, x, y, p, bytes, k, NULL)
                  : cudaMemcpyToArray(array, x, y, p, bytes, k));
    fill();
    printf("from%s %s %s %zu %zu %zu kind %d", async, arrays[a].name, places[place].name, x, y,
           bytes, kind);
    TELL(is_async ? cudaMemcpyFromArrayAsync(p, array, x, y, bytes, k, NULL)
                  : cudaMemcpyFromArray(p, array, x, y, bytes, k));
}

static void try_runs(void)
{
    static const struct {
        size_t x, y, bytes;
    } runs[] = {{0, 0, 0},   {0, 0, 48},      {0, 0, 240}, {0, 0, 96},  {4, 0, 44},  {4, 0, 48},
                {4, 1, 130}, {0, 1, 100},     {8, 3, 88},  {8, 3, 89},  {0, 0, 241}, {48, 0, 4},
                {48, 0, 0},  {0, 5, 4},       {0, 5, 0},   {4, 4, 44},  {4, 4, 45},  {1, 0, 3},
                {0, 2, 1},   {47, 4, 1},      {0, 0, 160}, {40, 0, 50}, {20, 3, 4},  {20, 3, 5},
                {0, 4, 8},   {12, 1, 60},     {49, 0, 4},  {60, 1, 4},  {0, 6, 0},   {100, 0, 0},
                {0, 0, 97},  {4, 1, 1u << 31}};
    for (int a = 0; a < N_ARRAYS; a++)
        for (unsigned i = 0; i < sizeof runs / sizeof *runs; i++)
            for (int place = 0; place < 2; place++)
                try_run(a, place, runs[i].x, runs[i].y, runs[i].bytes, cudaMemcpyDefault, i % 2);
    for (int a = 0; a < N_ARRAYS; a++)
        for (int place = 0; place < N_PLACES; place++)
            for (int kind = -1; kind < 6; kind++)
                for (int is_async = 0; is_async < 2; is_async++) {
                    try_run(a, place, 4, 0, 100, kind, is_async);
                    try_run(a, place, 4, 0, 0, kind, is_async);
                }
}

/* A run from one array to another, whose rows differ. */
static void try_between(int to, size_t to_x, size_t to_y, int from, size_t from_x, size_t from_y,
                        size_t bytes, int kind)
{
    fill();
    printf("between %s %zu %zu %s %zu %zu %zu kind %d", arrays[to].name, to_x, to_y,
           arrays[from].name, from_x, from_y, bytes, kind);
    TELL(cudaMemcpyArrayToArray(arrays[to].array, to_x, to_y, arrays[from].array, from_x, from_y,
                                bytes, (cudaMemcpyKind)kind));
}

static void try_all_between(void)
{
    static const size_t sizes[] = {0, 8, 24, 40, 48, 96, 130, 160, 161};
    for (int to = 0; to < N_ARRAYS; to++)
        for (int from = 0; from < N_ARRAYS; from++)
            for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                try_between(to, 0, 0, from, 0, 0, sizes[i], cudaMemcpyDeviceToDevice);
                if (i % 2)
                    try_between(to, 4, 1, from, 8, 0, sizes[i], cudaMemcpyDeviceToDevice);
                else
                    try_between(to, 8, 0, from, 12, 1, sizes[i], cudaMemcpyDefault);
            }
    for (int kind = -1; kind < 6; kind++) {
        try_between(0, 4, 1, 1, 8, 0, 100, kind);
        try_between(0, 4, 1, 1, 8, 0, 0, kind);
    }
}

static void try_rectangle(int a, int place, size_t x, size_t y, size_t pitch, size_t width,
                          size_t height, int kind)
{
    cudaArray_t array = arrays[a].array;
    uint8_t *p = places[place].address;
    cudaMemcpyKind k = (cudaMemcpyKind)kind;
    fill();
    printf("to 2d %s %s %zu %zu pitch %zu %zu %zu kind %d", arrays[a].name, places[place].name, x,
           y, pitch, width, height, kind);
    TELL(cudaMemcpy2DToArray(array, x, y, p, pitch, width, height, k));
    fill();
    printf("from 2d %s %s %zu %zu pitch %zu %zu %zu kind %d", arrays[a].name, places[place].name, x,
           y, pitch, width, height, kind);
    TELL(cudaMemcpy2DFromArray(p, pitch, array, x, y, width, height, k));
    if (a == 0)
        return; /* both ends would overlap */
    fill();
    printf("between 2d flat %zu %zu %s 0 0 %zu %zu kind %d", x, y, arrays[a].name, width, height,
           kind);
    TELL(cudaMemcpy2DArrayToArray(arrays[0].array, x, y, array, 0, 0, width, height, k));
}

static void try_rectangles(void)
{
    static const size_t shapes[][5] = {{0, 0, 48, 48, 5}, {0, 0, 48, 48, 0}, {0, 0, 48, 0, 5},
                                       {4, 1, 64, 16, 3}, {4, 1, 15, 16, 3}, {4, 1, 15, 16, 1},
                                       {4, 1, 16, 16, 1}, {0, 0, 0, 8, 1},   {0, 0, 0, 8, 2},
                                       {0, 0, 64, 24, 4}, {0, 0, 64, 24, 5}, {48, 0, 8, 4, 1},
                                       {1, 0, 8, 3, 1},   {0, 5, 8, 4, 1},   {0, 5, 8, 0, 1}};
    for (int a = 0; a < N_ARRAYS; a++)
        for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            const size_t *s = shapes[i];
            for (int place = 0; place < N_PLACES; place++)
                try_rectangle(a, place, s[0], s[1], s[2], s[3], s[4], cudaMemcpyDefault);
        }
    for (int kind = -1; kind < 6; kind++)
        for (int place = 0; place < N_PLACES; place++)
            try_rectangle(0, place, 4, 1, 64, 16, 3, kind);
}

int main(void)
{
#ifdef ON_GPU
    signal(SIGFPE, end_call);
    setvbuf(stdout, NULL, _IONBF, 0);
#endif
    channels colours = {8, 8, 8, 8, 1}, words = {32, 0, 0, 0, 1};
    if (fails("memory", cudaMalloc((void **)&device, BYTES)) ||
        fails("flat", cudaMallocArray(&arrays[0].array, &colours, 12, 5, 0)) ||
        fails("line", cudaMallocArray(&arrays[1].array, &words, 40, 0, 0)) ||
        fails("layers",
              cudaMalloc3DArray(&arrays[2].array, &colours, (extent){6, 4, 3}, cudaArrayLayered)) ||
        fails("volume", cudaMalloc3DArray(&arrays[3].array, &colours, (extent){6, 4, 3}, 0)))
        return 1;
    places[1].address = device;
    try_runs();
    try_all_between();
    try_rectangles();
    return 0;
}
