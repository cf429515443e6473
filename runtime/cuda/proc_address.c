/* Looking entries up by name: the table of all of them, which nothing else has. */
#include <string.h>

#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"

#define CU(symbol, name, version, stream, types)
#define NOT_SUPPORTED(symbol, name, version, stream) PTERA_CUDA_API CUresult symbol(void);
#include "runtime/cuda/cuda.def"
#undef NOT_SUPPORTED
#undef CU

enum stream_kind { LEGACY, PER_THREAD };

static const struct entry {
    const char *name;
    int version; /* of CUDA that brought it */
    enum stream_kind stream;
    void (*address)(void);
} entries[] = {
#define CU(symbol, name, version, stream, types) {#name, version, stream, (void (*)(void))symbol},
#define NOT_SUPPORTED(symbol, name, version, stream) \
    {#name, version, stream, (void (*)(void))symbol},
#include "runtime/cuda/cuda.def"
#undef NOT_SUPPORTED
#undef CU
};

/* The newest entry of that name up to `version`; for programs with a default stream a thread its
 * twin, if there is one. */
static const struct entry *find_entry(const char *name, int version, bool per_thread,
                                      bool *is_known)
{
    const struct entry *best = NULL;
    *is_known = false;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        const struct entry *e = &entries[i];
        if (strcmp(e->name, name) != 0 || (e->stream == PER_THREAD && !per_thread))
            continue;
        *is_known = true;
        bool better = !best || e->stream > best->stream ||
                      (e->stream == best->stream && e->version > best->version);
        if (e->version <= version && better)
            best = e;
    }
    return best;
}

static CUresult get_proc_address(const char *name, void **address, int version, cuuint64_t flags,
                                 CUdriverProcAddressQueryResult *status)
{
    if (!name || !address ||
        flags >
            (CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) ||
        version > PT_CU_DRIVER_VERSION)
        return CUDA_ERROR_INVALID_VALUE;
    bool is_known;
    const struct entry *e = find_entry(
        name, version, flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &is_known);
    *address = NULL;
    if (e)
        memcpy(address, &e->address, sizeof *address);
    if (status)
        *status = e          ? CU_GET_PROC_ADDRESS_SUCCESS
                  : is_known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                             : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_SUCCESS;
}

CUresult cuGetProcAddress_v2(const char *name, void **address, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status)
{
    return API(get_proc_address(name, address, version, flags, status));
}

/* Without a status a name that is not there is an error. */
CUresult cuGetProcAddress(const char *name, void **address, int version, cuuint64_t flags)
{
    CUresult r = get_proc_address(name, address, version, flags, NULL);
    return API(r == CUDA_SUCCESS && !*address ? CUDA_ERROR_NOT_FOUND : r);
}
