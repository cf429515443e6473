/* libnvidia-ml.so.1, NVIDIA's management library, for programs that ask it which GPUs there are
 * before they ask CUDA: it answers from the description of the boards that Ptera's driver library
 * has, whose cuInit it does not call (a process may fork between the two). What only a board of
 * metal has (temperature, power, fans, links) is not supported. nvml.def has the entries. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ptera.h"
#include "runtime/cuda/vendor.h"
#include "runtime/nvml/abi.h"

enum { N_BOARDS_MAX = 32 };

struct pt_nvml_device {
    unsigned index;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned n_inits;  /* that were not shut down */
static unsigned n_boards; /* as the first init found them */
static struct pt_nvml_device devices[N_BOARDS_MAX];

/* ---- initialising ---------------------------------------------------------------------------- */

static bool describe(unsigned index, struct pt_cu_board *board)
{
    const CUuuid id = {PT_CU_BOARDS_ID};
    const struct pt_cu_boards *boards;
    return cuGetExportTable((const void **)&boards, &id) == CUDA_SUCCESS &&
           boards->describe((int)index, board) == CUDA_SUCCESS;
}

static nvmlReturn_t initialise(void)
{
    struct pt_cu_board board;
    pthread_mutex_lock(&lock);
    nvmlReturn_t r = n_inits || describe(0, &board) ? NVML_SUCCESS : NVML_ERROR_DRIVER_NOT_LOADED;
    if (r == NVML_SUCCESS && !n_inits++)
        n_boards = (unsigned)board.n_boards;
    for (unsigned i = 0; i < n_boards; i++)
        devices[i].index = i;
    pthread_mutex_unlock(&lock);
    return r;
}

static nvmlReturn_t initialise_with(unsigned flags)
{
    (void)flags; /* that no GPU need be there, or need not be attached */
    return initialise();
}

static nvmlReturn_t shut_down(void)
{
    pthread_mutex_lock(&lock);
    nvmlReturn_t r = n_inits ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
    n_inits -= r == NVML_SUCCESS;
    pthread_mutex_unlock(&lock);
    return r;
}

static nvmlReturn_t check_initialised(void)
{
    pthread_mutex_lock(&lock);
    nvmlReturn_t r = n_inits ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
    pthread_mutex_unlock(&lock);
    return r;
}

/* What every call about a device begins with. */
static nvmlReturn_t look_up(nvmlDevice_t device, const void *out, struct pt_cu_board *board)
{
    nvmlReturn_t r = check_initialised();
    if (r != NVML_SUCCESS)
        return r;
    if (!out || device < devices || device >= devices + n_boards)
        return NVML_ERROR_INVALID_ARGUMENT;
    return describe(device->index, board) ? NVML_SUCCESS : NVML_ERROR_UNKNOWN;
}

static const char *error_string(nvmlReturn_t r)
{
    switch (r) {
    case NVML_SUCCESS:
        return "Success";
    case NVML_ERROR_UNINITIALIZED:
        return "Uninitialized";
    case NVML_ERROR_INVALID_ARGUMENT:
        return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED:
        return "Not Supported";
    case NVML_ERROR_NOT_FOUND:
        return "Not Found";
    case NVML_ERROR_INSUFFICIENT_SIZE:
        return "Insufficient Size";
    case NVML_ERROR_DRIVER_NOT_LOADED:
        return "Driver Not Loaded";
    case NVML_ERROR_ARGUMENT_VERSION_MISMATCH:
        return "Argument Version Mismatch";
    default:
        return "Unknown Error";
    }
}

/* ---- texts ----------------------------------------------------------------------------------- */

static nvmlReturn_t give_text(const char *text, char *out, unsigned bytes)
{
    size_t n = strlen(text) + 1;
    if (n > bytes)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    memcpy(out, text, n);
    return NVML_SUCCESS;
}

/* In the form of NVIDIA's, newer than any of them. */
static nvmlReturn_t get_driver_version(char *out, unsigned bytes)
{
    char text[32];
    nvmlReturn_t r = check_initialised();
    if (r == NVML_SUCCESS && !out)
        r = NVML_ERROR_INVALID_ARGUMENT;
    snprintf(text, sizeof text, "%d.%d.%d", 1000 + PTERA_VERSION_MAJOR, PTERA_VERSION_MINOR,
             PTERA_VERSION_PATCH);
    return r == NVML_SUCCESS ? give_text(text, out, bytes) : r;
}

static nvmlReturn_t get_cuda_version(int *version)
{
    if (!version)
        return NVML_ERROR_INVALID_ARGUMENT;
    return cuDriverGetVersion(version) == CUDA_SUCCESS ? NVML_SUCCESS : NVML_ERROR_UNKNOWN;
}

static nvmlReturn_t get_nvml_version(char *out, unsigned bytes)
{
    char text[64], driver[32];
    int cuda;
    nvmlReturn_t r = out ? get_driver_version(driver, sizeof driver) : NVML_ERROR_INVALID_ARGUMENT;
    if (r == NVML_SUCCESS)
        r = get_cuda_version(&cuda);
    if (r != NVML_SUCCESS)
        return r;
    snprintf(text, sizeof text, "%d.%s", cuda / 1000, driver);
    return give_text(text, out, bytes);
}

static nvmlReturn_t get_process_name(unsigned pid, char *out, unsigned bytes)
{
    char path[32], name[4096] = "";
    nvmlReturn_t r = check_initialised();
    if (r != NVML_SUCCESS || !out || !bytes)
        return r != NVML_SUCCESS ? r : NVML_ERROR_INVALID_ARGUMENT;
    snprintf(path, sizeof path, "/proc/%u/exe", pid);
    if (readlink(path, name, sizeof name - 1) < 0)
        return NVML_ERROR_NOT_FOUND;
    snprintf(out, bytes, "%s", name);
    return NVML_SUCCESS;
}

static nvmlReturn_t get_name(nvmlDevice_t device, char *out, unsigned bytes)
{
    struct pt_cu_board board;
    nvmlReturn_t r = look_up(device, out, &board);
    return r == NVML_SUCCESS ? give_text(board.name, out, bytes) : r;
}

enum { UUID_BYTES = sizeof "GPU-00000000-0000-0000-0000-000000000000" };

static void write_uuid(const CUuuid *uuid, char out[static UUID_BYTES])
{
    char *at = out + snprintf(out, UUID_BYTES, "GPU");
    for (int i = 0; i < 16; i++)
        at += snprintf(at, (size_t)(out + UUID_BYTES - at), "%s%02x",
                       i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                       (unsigned char)uuid->bytes[i]);
}

static nvmlReturn_t get_uuid(nvmlDevice_t device, char *out, unsigned bytes)
{
    struct pt_cu_board board;
    char text[UUID_BYTES];
    nvmlReturn_t r = look_up(device, out, &board);
    if (r != NVML_SUCCESS)
        return r;
    write_uuid(&board.uuid, text);
    return give_text(text, out, bytes);
}

/* ---- which devices --------------------------------------------------------------------------- */

static nvmlReturn_t get_count(unsigned *count)
{
    nvmlReturn_t r = check_initialised();
    if (r == NVML_SUCCESS && !count)
        r = NVML_ERROR_INVALID_ARGUMENT;
    if (r == NVML_SUCCESS)
        *count = n_boards;
    return r;
}

static nvmlReturn_t get_by_index(unsigned index, nvmlDevice_t *device)
{
    nvmlReturn_t r = check_initialised();
    if (r == NVML_SUCCESS && (!device || index >= n_boards))
        r = NVML_ERROR_INVALID_ARGUMENT;
    if (r == NVML_SUCCESS)
        *device = &devices[index];
    return r;
}

static nvmlReturn_t get_by_uuid(const char *uuid, nvmlDevice_t *device)
{
    char text[UUID_BYTES];
    nvmlReturn_t r = check_initialised();
    if (r != NVML_SUCCESS || !uuid || !device)
        return r != NVML_SUCCESS ? r : NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned i = 0; i < n_boards; i++)
        if (get_uuid(&devices[i], text, sizeof text) == NVML_SUCCESS && !strcmp(text, uuid)) {
            *device = &devices[i];
            return NVML_SUCCESS;
        }
    return NVML_ERROR_NOT_FOUND;
}

/* [domain:]bus:device[.function] */
static nvmlReturn_t get_by_bus_id(const char *id, nvmlDevice_t *device)
{
    unsigned domain = 0, bus, slot, function = 0;
    nvmlReturn_t r = check_initialised();
    if (r != NVML_SUCCESS || !id || !device)
        return r != NVML_SUCCESS ? r : NVML_ERROR_INVALID_ARGUMENT;
    if (sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) {
        domain = 0;
        if (sscanf(id, "%x:%x.%x", &bus, &slot, &function) < 2)
            return NVML_ERROR_INVALID_ARGUMENT;
    }
    if (domain || slot || function || bus < 1 || bus > n_boards)
        return NVML_ERROR_NOT_FOUND;
    *device = &devices[bus - 1];
    return NVML_SUCCESS;
}

static nvmlReturn_t get_pci_info(nvmlDevice_t device, nvmlPciInfo_t *info)
{
    struct pt_cu_board board;
    nvmlReturn_t r = look_up(device, info, &board);
    if (r != NVML_SUCCESS)
        return r;
    *info = (nvmlPciInfo_t){.bus = device->index + 1};
    snprintf(info->busIdLegacy, sizeof info->busIdLegacy, "0000:%02X:00.0", info->bus);
    snprintf(info->busId, sizeof info->busId, "00000000:%02X:00.0", info->bus);
    return r;
}

static nvmlReturn_t get_pci_info_v2(nvmlDevice_t device, nvmlPciInfo_v2_t *info)
{
    nvmlPciInfo_t full;
    nvmlReturn_t r = info ? get_pci_info(device, &full) : NVML_ERROR_INVALID_ARGUMENT;
    if (r != NVML_SUCCESS)
        return r;
    *info = (nvmlPciInfo_v2_t){.bus = full.bus};
    memcpy(info->busId, full.busIdLegacy, sizeof info->busId);
    return r;
}

/* ---- what they are like ---------------------------------------------------------------------- */

static nvmlReturn_t get_compute_capability(nvmlDevice_t device, int *major, int *minor)
{
    struct pt_cu_board board;
    nvmlReturn_t r = look_up(device, minor ? major : NULL, &board);
    if (r != NVML_SUCCESS)
        return r;
    *major = board.major;
    *minor = board.minor;
    return r;
}

/* NVML_DEVICE_ARCH_... */
static unsigned architecture(const struct pt_cu_board *board)
{
    static const struct {
        int major, minor;
        unsigned architecture;
    } of[] = {{7, 0, 5}, {7, 5, 6}, {8, 0, 7}, {8, 9, 8}, {9, 0, 9}, {10, 0, 10}};
    unsigned found = ~0u;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (board->major * 10 + board->minor >= of[i].major * 10 + of[i].minor)
            found = of[i].architecture;
    return found;
}

static nvmlReturn_t get_memory(nvmlDevice_t device, nvmlMemory_t *memory)
{
    struct pt_cu_board board;
    nvmlReturn_t r = look_up(device, memory, &board);
    if (r == NVML_SUCCESS)
        *memory = (nvmlMemory_t){board.bytes, board.bytes - board.used_bytes, board.used_bytes};
    return r;
}

static nvmlReturn_t get_memory_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory)
{
    struct pt_cu_board board;
    nvmlReturn_t r = look_up(device, memory, &board);
    if (r == NVML_SUCCESS && memory->version != NVML_MEMORY_V2)
        r = NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    if (r == NVML_SUCCESS)
        *memory = (nvmlMemory_v2_t){memory->version, board.bytes, 0, board.bytes - board.used_bytes,
                                    board.used_bytes};
    return r;
}

/* Clocks do not change here. */
static nvmlReturn_t get_clock(nvmlDevice_t device, nvmlClockType_t type, unsigned *mhz)
{
    struct pt_cu_board board;
    nvmlReturn_t r = look_up(device, mhz, &board);
    if (r == NVML_SUCCESS && (unsigned)type > NVML_CLOCK_MEM)
        r = NVML_ERROR_NOT_SUPPORTED;
    if (r == NVML_SUCCESS)
        *mhz = (unsigned)(type == NVML_CLOCK_MEM ? board.memory_mhz : board.sm_mhz);
    return r;
}

/* ---- who uses them --------------------------------------------------------------------------- */

/* At most this process: a device is of its process alone. */
static nvmlReturn_t count_processes(nvmlDevice_t device, unsigned *count, const void *out,
                                    unsigned long long *used)
{
    struct pt_cu_board board;
    nvmlReturn_t r = look_up(device, count, &board);
    if (r != NVML_SUCCESS)
        return r;
    unsigned room = *count;
    *used = board.used_bytes;
    *count = *used != 0;
    if (*count > room)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    return *count && !out ? NVML_ERROR_INVALID_ARGUMENT : NVML_SUCCESS;
}

static nvmlReturn_t get_processes(nvmlDevice_t device, unsigned *count, nvmlProcessInfo_t *out)
{
    unsigned long long used;
    nvmlReturn_t r = count_processes(device, count, out, &used);
    if (r == NVML_SUCCESS && *count)
        *out = (nvmlProcessInfo_t){(unsigned)getpid(), used, ~0u, ~0u};
    return r;
}

static nvmlReturn_t get_processes_v1(nvmlDevice_t device, unsigned *count,
                                     nvmlProcessInfo_v1_t *out)
{
    unsigned long long used;
    nvmlReturn_t r = count_processes(device, count, out, &used);
    if (r == NVML_SUCCESS && *count)
        *out = (nvmlProcessInfo_v1_t){(unsigned)getpid(), used};
    return r;
}

/* ---- the entries ----------------------------------------------------------------------------- */

static nvmlReturn_t refuse(const char *entry)
{
    const char *topics = getenv("PTERA_LOG");
    if (topics && strstr(topics, "api"))
        fprintf(stderr, "ptera: %s is not supported\n", entry);
    return NVML_ERROR_NOT_SUPPORTED;
}

#define ENTRY __attribute__((visibility("default")))

#define CALL(symbol, function) \
    ENTRY extern __typeof__(function) symbol __attribute__((alias(#function)));
#define NUMBER(symbol, value)                                      \
    ENTRY nvmlReturn_t symbol(nvmlDevice_t device, unsigned *out); \
    nvmlReturn_t symbol(nvmlDevice_t device, unsigned *out)        \
    {                                                              \
        struct pt_cu_board board;                                  \
        nvmlReturn_t r = look_up(device, out, &board);             \
        if (r == NVML_SUCCESS)                                     \
            *out = (unsigned)(value);                              \
        return r;                                                  \
    }
#define NOT_SUPPORTED(symbol)        \
    ENTRY nvmlReturn_t symbol(void); \
    nvmlReturn_t symbol(void)        \
    {                                \
        return refuse(#symbol);      \
    }
#include "runtime/nvml/nvml.def"
