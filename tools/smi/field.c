#include "tools/smi/field.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static bool timestamp(nvmlDevice_t device, char *out, size_t size)
{
    struct timespec now;
    struct tm local;
    char text[32];
    (void)device;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0 || !localtime_r(&now.tv_sec, &local) ||
        !strftime(text, sizeof text, "%Y/%m/%d %H:%M:%S", &local))
        return false;
    snprintf(out, size, "%s.%03ld", text, now.tv_nsec / 1000000);
    return true;
}

static bool driver_version(nvmlDevice_t device, char *out, size_t size)
{
    (void)device;
    return nvmlSystemGetDriverVersion(out, (unsigned)size) == NVML_SUCCESS;
}

static bool name(nvmlDevice_t device, char *out, size_t size)
{
    return nvmlDeviceGetName(device, out, (unsigned)size) == NVML_SUCCESS;
}

static bool uuid(nvmlDevice_t device, char *out, size_t size)
{
    return nvmlDeviceGetUUID(device, out, (unsigned)size) == NVML_SUCCESS;
}

static bool count(nvmlDevice_t device, char *out, size_t size)
{
    unsigned n;
    (void)device;
    if (nvmlDeviceGetCount_v2(&n) != NVML_SUCCESS)
        return false;
    snprintf(out, size, "%u", n);
    return true;
}

static bool index_of(nvmlDevice_t device, char *out, size_t size)
{
    unsigned index;
    if (nvmlDeviceGetIndex(device, &index) != NVML_SUCCESS)
        return false;
    snprintf(out, size, "%u", index);
    return true;
}

static bool bus_id(nvmlDevice_t device, char *out, size_t size)
{
    nvmlPciInfo_t info;
    if (nvmlDeviceGetPciInfo_v3(device, &info) != NVML_SUCCESS)
        return false;
    snprintf(out, size, "%s", info.busId);
    return true;
}

#define PCI(function, format, member)                                 \
    static bool function(nvmlDevice_t device, char *out, size_t size) \
    {                                                                 \
        nvmlPciInfo_t info;                                           \
        if (nvmlDeviceGetPciInfo_v3(device, &info) != NVML_SUCCESS)   \
            return false;                                             \
        snprintf(out, size, format, info.member);                     \
        return true;                                                  \
    }
PCI(pci_domain, "0x%04X", domain)
PCI(pci_bus, "0x%02X", bus)
PCI(pci_device, "0x%02X", device)

static bool compute_capability(nvmlDevice_t device, char *out, size_t size)
{
    int major, minor;
    if (nvmlDeviceGetCudaComputeCapability(device, &major, &minor) != NVML_SUCCESS)
        return false;
    snprintf(out, size, "%d.%d", major, minor);
    return true;
}

static bool compute_mode(nvmlDevice_t device, char *out, size_t size)
{
    (void)device;
    snprintf(out, size, "Default");
    return true;
}

#define MEMORY(function, member)                                      \
    static bool function(nvmlDevice_t device, char *out, size_t size) \
    {                                                                 \
        nvmlMemory_t memory;                                          \
        if (nvmlDeviceGetMemoryInfo(device, &memory) != NVML_SUCCESS) \
            return false;                                             \
        snprintf(out, size, "%llu", memory.member >> 20);             \
        return true;                                                  \
    }
MEMORY(memory_total, total)
MEMORY(memory_used, used)
MEMORY(memory_free, free)

static bool clock_of(nvmlDevice_t device, nvmlClockType_t type, char *out, size_t size)
{
    unsigned mhz;
    if (nvmlDeviceGetClockInfo(device, type, &mhz) != NVML_SUCCESS)
        return false;
    snprintf(out, size, "%u", mhz);
    return true;
}

static bool clock_sm(nvmlDevice_t device, char *out, size_t size)
{
    return clock_of(device, NVML_CLOCK_SM, out, size);
}

static bool clock_memory(nvmlDevice_t device, char *out, size_t size)
{
    return clock_of(device, NVML_CLOCK_MEM, out, size);
}

const struct smi_field smi_fields[] = {
#define FIELD(name, alias, unit, what, function) {name, alias, unit, what, function},
#define UNKNOWN(name, alias, unit, what) {name, alias, unit, what, NULL},
#include "tools/smi/field.def"
    {NULL, NULL, NULL, NULL, NULL},
};

static bool is_named(const char *name, const char *given, size_t length)
{
    return name && strlen(name) == length && !memcmp(name, given, length);
}

const struct smi_field *smi_field_find(const char *given, size_t length)
{
    const struct smi_field *f = smi_fields;
    while (f->name && !is_named(f->name, given, length) && !is_named(f->alias, given, length))
        f++;
    return f->name ? f : NULL;
}

void smi_field_write(const struct smi_field *field, nvmlDevice_t device, bool has_units, char *out,
                     size_t size)
{
    char text[128];
    if (!field->write || !field->write(device, text, sizeof text))
        snprintf(out, size, "[N/A]");
    else
        snprintf(out, size, "%s%s%s", text, has_units && *field->unit ? " " : "",
                 has_units ? field->unit : "");
}
