/* Entering and leaving the driver, its log, looking entries up by name, and the entries that are not supported. */
#include "runtime/cuda/driver.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/thread.h"

struct pt_cu_driver pt_cu_driver;

/* The newest release whose PTX runs here, 9.5. Programs that compile compare it with their compiler's, and give an older driver machine
 * code. CUDA_VERSION is that of our header. */
enum { DRIVER_VERSION = 13050 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- the lock ------------------------------------------------------------------------------------------ */

void pt_cu_lock(void)
{
    pthread_mutex_lock(&lock);
}

void pt_cu_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

bool pt_cu_try_lock(void)
{
    return pthread_mutex_trylock(&lock) == 0;
}

void pt_cu_wait(pthread_cond_t *change)
{
    pthread_cond_wait(change, &lock);
}

static _Thread_local bool has_logged; /* since the call began */

void pt_cu_enter(void)
{
    pt_cu_lock();
    has_logged = false;
}

/* What is not supported is said once of each entry, if the call has not said more itself. With the lock. */
static void tell_refusal(const char *entry)
{
    enum { MOST = 64 };
    static const char *told[MOST];
    static unsigned n_told;
    for (unsigned i = 0; i < n_told; i++)
        if (told[i] == entry)
            return;
    if (n_told < MOST)
        told[n_told++] = entry;
    if (!has_logged)
        pt_cu_log("%s: what it was asked for is not supported", entry);
}

CUresult pt_cu_leave(const char *entry, CUresult result)
{
    const char *name = "unknown";
    if (result == CUDA_ERROR_NOT_SUPPORTED)
        tell_refusal(entry);
    pt_cu_unlock();
    cuGetErrorName(result, &name);
    if (pt_cu_logs(PT_CU_LOG_API))
        pt_cu_log("%s: %s", entry, name);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY)
        pt_cu_logs_add("Returning %d (%s) from %s", (int)result, name, entry);
    return result;
}

/* ---- the log ------------------------------------------------------------------------------------------- */

static unsigned log_mask;

/* Reads PTERA_LOG: names in any order, between commas or blanks. */
__attribute__((constructor)) static void read_log_mask(void)
{
    static const char *const names[] = {"api", "load", "launch"};
    const char *list = getenv("PTERA_LOG");
    while (list && *list) {
        size_t n = strcspn(list, ", ");
        for (unsigned i = 0; i < 3; i++)
            if (n == strlen(names[i]) && strncmp(list, names[i], n) == 0)
                log_mask |= 1u << i;
        list += n + (list[n] != 0);
    }
}

bool pt_cu_logs(enum pt_cu_log what)
{
    return (log_mask & what) != 0;
}

void pt_cu_log(const char *format, ...)
{
    char line[1024] = "ptera: ";
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line + 7, sizeof line - 8, format, args);
    va_end(args);
    size_t end = n < 0 ? 7 : (size_t)n + 7 < sizeof line - 1 ? (size_t)n + 7 : sizeof line - 2;
    if (line[end - 1] == '\n') /* as diagnostics end */
        end--;
    line[end] = '\n';
    struct pt_quiet quiet;
    has_logged = true;
    pt_thread_quiet(&quiet);
    fwrite(line, 1, end + 1, stderr);
    pt_thread_unquiet(&quiet);
}

/* ---- initialisation ------------------------------------------------------------------------------------ */

/* Threads do not come along with a fork, and the lock may be held by one of those that are gone. */
static void mark_inherited(void)
{
    pthread_mutex_init(&lock, NULL);
    pt_cu_logs_renew();
    pt_cu_driver.is_inherited = pt_cu_driver.is_initialised;
}

CUresult pt_cu_check_init(void)
{
    if (!pt_cu_driver.is_initialised || pt_cu_driver.is_inherited)
        return CUDA_ERROR_NOT_INITIALIZED;
    const struct pt_cu_thread *thread = pt_cu_thread();
    return thread && thread->is_in_host_function ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
}

static CUresult init(unsigned flags)
{
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (pt_cu_driver.is_initialised)
        return pt_cu_check_init();
    CUresult r = pt_cu_devices_init();
    if (r == CUDA_SUCCESS) {
        pthread_atfork(NULL, NULL, mark_inherited);
        pt_cu_driver.is_initialised = true;
    }
    return r;
}

CUresult cuInit(unsigned flags)
{
    return API(init(flags));
}

CUresult cuDriverGetVersion(int *version)
{
    if (version)
        *version = DRIVER_VERSION;
    return API(version ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

/* ---- names of results ---------------------------------------------------------------------------------- */

static const struct error {
    CUresult value;
    const char *name, *text;
} errors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
#define X(name, value, text) {CUDA_ERROR_##name, "CUDA_ERROR_" #name, text},
#include "runtime/cuda/error.def"
#undef X
};

static const struct error *find_error(CUresult result)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].value == result)
            return &errors[i];
    return NULL;
}

CUresult cuGetErrorName(CUresult result, const char **name)
{
    const struct error *e = find_error(result);
    if (name)
        *name = e ? e->name : NULL;
    return e && name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult result, const char **text)
{
    const struct error *e = find_error(result);
    if (text)
        *text = e ? e->text : NULL;
    return e && text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- what is not supported ----------------------------------------------------------------------------- */

static CUresult refuse(const char *entry, atomic_flag *said)
{
    if (!atomic_flag_test_and_set(said))
        pt_cu_log("%s is not supported", entry);
    return CUDA_ERROR_NOT_SUPPORTED;
}

#define CU(symbol, name, version, stream, types)
#define NOT_SUPPORTED(symbol, name, version, stream) \
    PTERA_CUDA_API CUresult symbol(void); \
    CUresult symbol(void) \
    { \
        static atomic_flag said = ATOMIC_FLAG_INIT; \
        return refuse(#symbol, &said); \
    }
#include "runtime/cuda/cuda.def"
#undef NOT_SUPPORTED
#undef CU

/* ---- looking up entries -------------------------------------------------------------------------------- */

enum stream_kind { LEGACY, PER_THREAD };

static const struct entry {
    const char *name;
    int version; /* of CUDA that brought it */
    enum stream_kind stream;
    void (*address)(void);
} entries[] = {
#define CU(symbol, name, version, stream, types) {#name, version, stream, (void (*)(void))symbol},
#define NOT_SUPPORTED(symbol, name, version, stream) {#name, version, stream, (void (*)(void))symbol},
#include "runtime/cuda/cuda.def"
#undef NOT_SUPPORTED
#undef CU
};

/* The newest entry of that name up to `version`; for programs with a default stream a thread its twin, if there is one. */
static const struct entry *find_entry(const char *name, int version, bool per_thread, bool *is_known)
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
    if (!name || !address || flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM || version > DRIVER_VERSION)
        return CUDA_ERROR_INVALID_VALUE;
    bool is_known;
    const struct entry *e =
        find_entry(name, version, flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &is_known);
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
