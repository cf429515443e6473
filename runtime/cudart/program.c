/* What programs register before main: images, kernels and variables by the addresses of their
 * host sides. */
#include "runtime/cudart/program.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* A registered fatbinary; the handle that the program has. */
struct image {
    const void *wrapper;
    CUlibrary library; /* NULL: not loaded yet */
    struct image *next;
};

/* A kernel or variable. */
struct entity {
    const void *host;
    const char *name;
    struct image *image;
    CUkernel kernel; /* NULL: not looked up yet, or a variable */
    void **managed;  /* where the address of a managed variable goes */
    bool is_variable;
};

/* One lock guards all of it; addresses are found in a hash table. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct image *images;
static struct entity *entities;
static size_t n_entities, n_slots;
static atomic_bool has_waiting; /* images or managed variables that are not loaded */
static atomic_bool is_ending;   /* the exit handlers run */

/* A thread that a fork leaves behind may hold it. */
static void renew_lock(void)
{
    pthread_mutex_init(&lock, NULL);
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, renew_lock);
}

static struct entity *find_slot(struct entity *slots, size_t n, const void *host)
{
    for (size_t i = (uintptr_t)host * 0x9e3779b97f4a7c15u >> 20;; i++) {
        struct entity *e = &slots[i & (n - 1)];
        if (!e->host || e->host == host)
            return e;
    }
}

static bool grow(void)
{
    size_t n = n_slots ? 2 * n_slots : 64;
    struct entity *slots = calloc(n, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < n_slots; i++)
        if (entities[i].host)
            *find_slot(slots, n, entities[i].host) = entities[i];
    free(entities);
    entities = slots;
    n_slots = n;
    return true;
}

/* Without memory the program finds the name missing when it uses it. */
static void add(const struct entity *e)
{
    pthread_mutex_lock(&lock);
    if (2 * n_entities < n_slots || grow()) {
        struct entity *slot = find_slot(entities, n_slots, e->host);
        n_entities += !slot->host;
        *slot = *e;
    }
    pthread_mutex_unlock(&lock);
}

static struct entity *find(const void *host)
{
    struct entity *e = host && n_slots ? find_slot(entities, n_slots, host) : NULL;
    return e && e->host && e->image ? e : NULL;
}

/* ---- registration ---------------------------------------------------------------------------- */

void **__cudaRegisterFatBinary(void *wrapper)
{
    struct image *image = calloc(1, sizeof *image);
    if (!image)
        return NULL;
    image->wrapper = wrapper;
    pthread_mutex_lock(&lock);
    image->next = images;
    images = image;
    pthread_mutex_unlock(&lock);
    atomic_store(&has_waiting, true);
    return (void **)image;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int limit, void *tid, void *bid, void *block, void *grid, int *warp)
{
    (void)device, (void)limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    add(&(struct entity){.host = host, .name = name, .image = (struct image *)handle});
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int is_extern,
                       size_t bytes, int is_constant, int is_global)
{
    (void)device, (void)is_extern, (void)bytes, (void)is_constant, (void)is_global;
    add(&(struct entity){
        .host = host, .name = name, .image = (struct image *)handle, .is_variable = true});
}

void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                              int is_extern, size_t bytes, int is_constant, int is_global)
{
    struct image *image = (struct image *)handle;
    (void)device, (void)is_extern, (void)bytes, (void)is_constant, (void)is_global;
    add(&(struct entity){
        .host = host, .name = name, .image = image, .managed = host, .is_variable = true});
    atomic_store(&has_waiting, true);
}

/* Code of CUDA before 12 may have textures and surfaces of file scope; none of their kernels can
 * be loaded. */
void __cudaRegisterTexture(void **handle, const void *host, const void **device, const char *name,
                           int dim, int norm, int is_extern)
{
    (void)handle, (void)host, (void)device, (void)name, (void)dim, (void)norm, (void)is_extern;
}

void __cudaRegisterSurface(void **handle, const void *host, const void **device, const char *name,
                           int dim, int is_extern)
{
    (void)handle, (void)host, (void)device, (void)name, (void)dim, (void)is_extern;
}

void pt_rt_program_end(void)
{
    atomic_store(&is_ending, true);
}

/* Runs from the program's exit handlers, or when a library of it is closed. A process that ends
 * does not wait for kernels that run: they end with it. */
void __cudaUnregisterFatBinary(void **handle)
{
    struct image *image = (struct image *)handle;
    if (!image)
        return;
    pthread_mutex_lock(&lock);
    for (struct image **link = &images; *link; link = &(*link)->next) {
        if (*link == image) {
            *link = image->next;
            break;
        }
    }
    for (size_t i = 0; i < n_slots; i++)
        if (entities[i].image == image)
            entities[i].image = NULL;
    pthread_mutex_unlock(&lock);
    if (atomic_load(&is_ending))
        return;
    if (image->library)
        cuLibraryUnload(image->library);
    free(image);
}

/* ---- look-up --------------------------------------------------------------------------------- */

static CUresult load(struct image *image)
{
    if (image->library)
        return CUDA_SUCCESS;
    return cuLibraryLoadData(&image->library, image->wrapper, NULL, NULL, 0, NULL, NULL, 0);
}

static cudaError_t find_kernel(const void *function, CUkernel *kernel)
{
    struct entity *e = find(function);
    const char *name;
    if (!e || e->is_variable) {
        *kernel = (CUkernel)function;
        return function && cuKernelGetName(&name, *kernel) == CUDA_SUCCESS
                   ? cudaSuccess
                   : cudaErrorInvalidDeviceFunction;
    }
    if (!e->kernel) {
        CUresult r = load(e->image);
        if (r != CUDA_SUCCESS)
            return (cudaError_t)r;
        if (cuLibraryGetKernel(&e->kernel, e->image->library, e->name) != CUDA_SUCCESS)
            return cudaErrorInvalidDeviceFunction;
    }
    *kernel = e->kernel;
    return cudaSuccess;
}

cudaError_t pt_rt_program_kernel(const void *function, CUkernel *kernel)
{
    pthread_mutex_lock(&lock);
    cudaError_t error = find_kernel(function, kernel);
    pthread_mutex_unlock(&lock);
    return error;
}

void *pt_rt_program_kernel_name(CUkernel kernel)
{
    const void *name = kernel;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < n_slots; i++)
        if (entities[i].host && entities[i].image && entities[i].kernel == kernel)
            name = entities[i].host;
    pthread_mutex_unlock(&lock);
    return (void *)name;
}

static cudaError_t find_variable(const void *symbol, CUdeviceptr *address, size_t *bytes)
{
    struct entity *e = find(symbol);
    if (!e || !e->is_variable)
        return cudaErrorInvalidSymbol;
    CUresult r = load(e->image);
    if (r == CUDA_SUCCESS)
        r = e->managed ? cuLibraryGetManaged(address, bytes, e->image->library, e->name)
                       : cuLibraryGetGlobal(address, bytes, e->image->library, e->name);
    return r == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidSymbol : (cudaError_t)r;
}

cudaError_t pt_rt_program_variable(const void *symbol, CUdeviceptr *address, size_t *bytes)
{
    pthread_mutex_lock(&lock);
    cudaError_t error = find_variable(symbol, address, bytes);
    pthread_mutex_unlock(&lock);
    return error;
}

/* What is wrong with one is told when something of it is used. */
static void load_eagerly(void)
{
    CUmoduleLoadingMode mode;
    if (cuModuleGetLoadingMode(&mode) != CUDA_SUCCESS || mode != CU_MODULE_EAGER_LOADING)
        return;
    for (struct image *image = images; image; image = image->next)
        load(image);
}

static cudaError_t load_managed(void)
{
    for (size_t i = 0; i < n_slots; i++) {
        struct entity *e = &entities[i];
        CUdeviceptr address;
        size_t bytes;
        if (!e->host || !e->image || !e->managed)
            continue;
        cudaError_t error = find_variable(e->host, &address, &bytes);
        if (error)
            return error;
        *e->managed = (void *)address;
    }
    return cudaSuccess;
}

cudaError_t pt_rt_program_load_managed(void)
{
    cudaError_t error = cudaSuccess;
    if (!atomic_load_explicit(&has_waiting, memory_order_relaxed))
        return cudaSuccess;
    pthread_mutex_lock(&lock);
    if (atomic_exchange(&has_waiting, false)) {
        load_eagerly();
        error = load_managed();
    }
    pthread_mutex_unlock(&lock);
    return error;
}

void pt_rt_program_forget_managed(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < n_slots; i++)
        if (entities[i].image && entities[i].managed)
            atomic_store(&has_waiting, true);
    pthread_mutex_unlock(&lock);
}
