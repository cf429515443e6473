/* The library as such: its names, how they are looked up, results by name, what is not
 * supported. */
#include <dlfcn.h>

#include "tests/cuda/support.h"

/* Every name of the list, as cuGetProcAddress and dlsym find them. */
static const struct {
    const char *symbol, *name;
    int version;
    const char *stream;
} names[] = {
#define CU(symbol, name, version, stream, types) {#symbol, #name, version, #stream},
#define NOT_SUPPORTED(symbol, name, version, stream) {#symbol, #name, version, #stream},
#include "runtime/cuda/cuda.def"
#undef NOT_SUPPORTED
#undef CU
};

static void check_names(void)
{
    unsigned n = sizeof names / sizeof *names;
    CHECK_INT(n, 639);
    for (unsigned i = 0; i < n; i++) {
        void *address = NULL, *exported = dlsym(RTLD_DEFAULT, names[i].symbol);
        CUdriverProcAddressQueryResult status;
        int flags = strcmp(names[i].stream, "PER_THREAD") == 0
                        ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                        : 0;
        CHECK(exported != NULL);
        OK(cuGetProcAddress_v2(names[i].name, &address, names[i].version, (cuuint64_t)flags,
                               &status));
        if (address != exported)
            fprintf(stderr, "%s:\n", names[i].symbol);
        CHECK(address == exported);
        CHECK_INT(status, CU_GET_PROC_ADDRESS_SUCCESS);
    }
}

static void *look_up(const char *name, int version, int flags)
{
    void *address = WILD;
    OK(cuGetProcAddress_v2(name, &address, version, (cuuint64_t)flags, NULL));
    return address;
}

static void check_versions(void)
{
    CUdriverProcAddressQueryResult status;
    void *address = WILD;
    CHECK(look_up("cuCtxSynchronize", 12080, 0) == dlsym(RTLD_DEFAULT, "cuCtxSynchronize"));
    CHECK(look_up("cuCtxSynchronize", 13000, 0) == dlsym(RTLD_DEFAULT, "cuCtxSynchronize_v2"));
    CHECK(look_up("cuMemcpyHtoD", 12000, 0) == dlsym(RTLD_DEFAULT, "cuMemcpyHtoD_v2"));
    CHECK(look_up("cuMemcpyHtoD", 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) ==
          dlsym(RTLD_DEFAULT, "cuMemcpyHtoD_v2_ptds"));
    /* one without a twin */
    CHECK(look_up("cuMemAlloc", 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) ==
          dlsym(RTLD_DEFAULT, "cuMemAlloc_v2"));
    OK(cuGetProcAddress_v2("cuLibraryLoadData", &address, 11080, 0, &status));
    CHECK(!address);
    CHECK_INT(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    OK(cuGetProcAddress_v2("", &address, 0, 0, &status));
    CHECK(!address);
    CHECK_INT(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    CHECK_CU(cuGetProcAddress("cuNoSuchCall", &address, 12000, 0), CUDA_ERROR_NOT_FOUND);
    CHECK_CU(cuGetProcAddress_v2(NULL, &address, 12000, 0, &status), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGetProcAddress_v2("cuInit", NULL, 12000, 0, &status), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGetProcAddress_v2("cuInit", &address, 13060, 0, &status), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGetProcAddress_v2("cuInit", &address, 12000, 99, &status), CUDA_ERROR_INVALID_VALUE);
}

static void check_results(void)
{
    const char *text;
    OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    CHECK_TEXT(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
    OK(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    CHECK_TEXT(text, "an illegal memory access was encountered");
    OK(cuGetErrorName(CUDA_SUCCESS, &text));
    CHECK_TEXT(text, "CUDA_SUCCESS");
    CHECK_CU(cuGetErrorName((CUresult)12345, &text), CUDA_ERROR_INVALID_VALUE);
    CHECK(!text);
    CHECK_CU(cuGetErrorString((CUresult)12345, &text), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGetErrorName(CUDA_SUCCESS, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void check_refused(void)
{
    CUresult (*call)(void) = NULL;
    void *address = dlsym(RTLD_DEFAULT, "cuMemMapArrayAsync");
    const void *table = WILD;
    CUuuid id = {{1}};
    memcpy(&call, &address, sizeof call);
    CHECK_CU(call(), CUDA_ERROR_NOT_SUPPORTED);
    CHECK_CU(cuGetExportTable(&table, &id), CUDA_ERROR_INVALID_VALUE);
    CHECK(!table);
    CHECK_CU(cuGetExportTable(NULL, NULL), CUDA_ERROR_INVALID_VALUE);
}

int main(void)
{
    int version = 0, n;
    CUcontext ctx;
    CHECK_CU(cuDeviceGetCount(&n), CUDA_ERROR_NOT_INITIALIZED);
    CHECK_CU(cuCtxGetCurrent(&ctx), CUDA_ERROR_NOT_INITIALIZED);
    CHECK_CU(cuCtxSynchronize(), CUDA_ERROR_NOT_INITIALIZED);
    CHECK_CU(cuInit(1), CUDA_ERROR_INVALID_VALUE);
    OK(cuDriverGetVersion(&version));
    CHECK_INT(version, 13050);
    CHECK_CU(cuDriverGetVersion(NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuInit(0));
    OK(cuInit(0));
    check_names();
    check_versions();
    check_results();
    check_refused();
    return CHECK_DONE("cuda_entry");
}
