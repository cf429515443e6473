/* nvidia-smi, as far as programs and scripts ask it which GPUs there are. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/smi/field.h"

enum { GOOD = 0, USAGE = 2, FAILED = 9 };
enum { N_FIELDS_MAX = 64 };

static const char help[] =
    "usage: nvidia-smi [-i ID] [-L | --query-gpu=FIELD,... --format=csv[,noheader][,nounits] | "
    "--version]\n\n"
    "Says which GPUs Ptera stands for.\n\n"
    "  -L, --list-gpus    one line for each\n"
    "  -i, --id=ID        of the GPU with this number, UUID or bus id only\n"
    "  --query-gpu=...    these fields (--help-query-gpu), as comma-separated values\n"
    "  --version          of the driver, of NVML and of CUDA\n";

struct request {
    const char *id, *query, *format;
    bool is_list, is_version;
};

/* The value of an option: in its argument, or in the next. */
static const char *value_of(const char *option, char ***argv)
{
    size_t n = strlen(option);
    if (strncmp(**argv, option, n) != 0)
        return NULL;
    if ((**argv)[n] == '=')
        return **argv + n + 1;
    return !(**argv)[n] && (*argv)[1] ? *++*argv : NULL;
}

static void print_fields(void)
{
    for (const struct smi_field *f = smi_fields; f->name; f++)
        printf("\"%s\"%s%s%s\n%s%s%s%s\n\n", f->name, f->alias ? " or \"" : "",
               f->alias ? f->alias : "", f->alias ? "\"" : "", f->what, *f->unit ? ", " : "",
               f->unit, f->write ? "" : " (not known here)");
}

/* -1: go on. */
static int read_arguments(char **argv, struct request *request)
{
    for (argv++; *argv; argv++) {
        const char *value;
        if (!strcmp(*argv, "-h") || !strcmp(*argv, "--help")) {
            fputs(help, stdout);
            return GOOD;
        }
        if (!strcmp(*argv, "--help-query-gpu")) {
            print_fields();
            return GOOD;
        }
        if (!strcmp(*argv, "-L") || !strcmp(*argv, "--list-gpus"))
            request->is_list = true;
        else if (!strcmp(*argv, "--version"))
            request->is_version = true;
        else if ((value = value_of("-i", &argv)) || (value = value_of("--id", &argv)))
            request->id = value;
        else if ((value = value_of("--query-gpu", &argv)))
            request->query = value;
        else if ((value = value_of("--format", &argv)))
            request->format = value;
        else {
            printf("Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n"
                   "('%s' is none of those that Ptera's has.)\n",
                   *argv);
            return USAGE;
        }
    }
    return -1;
}

/* ---- which GPUs ------------------------------------------------------------------------------ */

/* Their number; 0 where an id names none. */
static unsigned choose(const char *id, nvmlDevice_t *one)
{
    char *end;
    unsigned n = 0;
    *one = NULL;
    if (nvmlDeviceGetCount_v2(&n) != NVML_SUCCESS || !id)
        return n;
    unsigned long index = strtoul(id, &end, 10);
    bool is_found = !*end && *id ? nvmlDeviceGetHandleByIndex_v2((unsigned)index, one) == 0
                                 : nvmlDeviceGetHandleByUUID(id, one) == 0 ||
                                       nvmlDeviceGetHandleByPciBusId_v2(id, one) == 0;
    return is_found;
}

static nvmlDevice_t device_at(nvmlDevice_t one, unsigned i)
{
    nvmlDevice_t device = one;
    if (!one && nvmlDeviceGetHandleByIndex_v2(i, &device) != NVML_SUCCESS)
        return NULL;
    return device;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* The text of a field by its name. */
static const char *text_of(const char *name, nvmlDevice_t device, char out[static 128])
{
    smi_field_write(smi_field_find(name, strlen(name)), device, true, out, 128);
    return out;
}

static void list(unsigned n, nvmlDevice_t one)
{
    char index[128], name[128], uuid[128];
    for (unsigned i = 0; i < n; i++) {
        nvmlDevice_t device = device_at(one, i);
        printf("GPU %s: %s (UUID: %s)\n", text_of("index", device, index),
               text_of("name", device, name), text_of("uuid", device, uuid));
    }
}

static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    while (list && *list) {
        size_t n = strcspn(list, ",");
        if (n == length && !memcmp(list, word, n))
            return true;
        list += n + (list[n] == ',');
    }
    return false;
}

static int query(const struct request *request, unsigned n, nvmlDevice_t one)
{
    const struct smi_field *fields[N_FIELDS_MAX];
    unsigned n_fields = 0;
    bool has_units = !has_word(request->format, "nounits");
    if (!has_word(request->format, "csv")) {
        printf("\"--format=\" switch is missing or wrong: --format=csv[,noheader][,nounits]\n");
        return USAGE;
    }
    for (const char *at = request->query; *at; n_fields++) {
        size_t length = strcspn(at, ",");
        fields[n_fields] = n_fields < N_FIELDS_MAX - 1 ? smi_field_find(at, length) : NULL;
        if (!fields[n_fields]) {
            printf("Field \"%.*s\" is not a valid field to query.\n\n", (int)length, at);
            return USAGE;
        }
        at += length;
        at += strspn(at, ", ");
    }
    for (unsigned f = 0; f < n_fields && !has_word(request->format, "noheader"); f++)
        printf("%s%s%s%s%s%s", f ? ", " : "", fields[f]->name,
               *fields[f]->unit && has_units ? " [" : "", has_units ? fields[f]->unit : "",
               *fields[f]->unit && has_units ? "]" : "", f + 1 == n_fields ? "\n" : "");
    for (unsigned i = 0; i < n; i++)
        for (unsigned f = 0; f < n_fields; f++) {
            char text[160];
            smi_field_write(fields[f], device_at(one, i), has_units, text, sizeof text);
            printf("%s%s%s", f ? ", " : "", text, f + 1 == n_fields ? "\n" : "");
        }
    return GOOD;
}

static void print_versions(void)
{
    char nvml[80] = "", driver[80] = "";
    int cuda = 0;
    nvmlSystemGetNVMLVersion(nvml, sizeof nvml);
    nvmlSystemGetDriverVersion(driver, sizeof driver);
    nvmlSystemGetCudaDriverVersion_v2(&cuda);
    printf("NVIDIA-SMI version  : %s\nNVML version        : %s\nDRIVER version      : %s\n"
           "CUDA Version        : %d.%d\n",
           driver, nvml, driver, cuda / 1000, cuda % 1000 / 10);
}

/* The table that people look at, and that scripts take versions from. */
static void print_table(unsigned n, nvmlDevice_t one)
{
    static const char line[] = "+-----------------------------------------+------------------------"
                               "+----------------------+";
    char driver[80] = "", now[32] = "", cuda_text[16], text[3][128];
    int cuda = 0;
    time_t seconds = time(NULL);
    struct tm local;
    if (localtime_r(&seconds, &local))
        strftime(now, sizeof now, "%a %b %e %H:%M:%S %Y", &local);
    nvmlSystemGetDriverVersion(driver, sizeof driver);
    nvmlSystemGetCudaDriverVersion_v2(&cuda);
    snprintf(cuda_text, sizeof cuda_text, "%d.%d", cuda / 1000, cuda % 1000 / 10);
    printf("%s\n+%.89s+\n", now,
           "---------------------------------------------------------------------------------------"
           "--");
    printf("| NVIDIA-SMI %-24.24sDriver Version: %-15.15sCUDA Version: %-7.7s |\n", driver, driver,
           cuda_text);
    printf("|%.89s|\n", line + 1);
    printf("| %-38s  | %-22s | %-20s |\n", "GPU  Name", "Bus-Id", "Compute capability");
    printf("| %-38s  | %22s | %20s |\n", "", "Memory-Usage", "Compute M.");
    printf(
        "|=========================================+========================+====================="
        "=|\n");
    for (unsigned i = 0; i < n; i++) {
        nvmlDevice_t device = device_at(one, i);
        printf("| %3s  %-33.33s  | %-22s | %20s |\n", text_of("index", device, text[0]),
               text_of("name", device, text[1]), text_of("pci.bus_id", device, text[2]),
               text_of("compute_cap", device, (char[128]){0}));
        char both[128], used[128], total[128];
        snprintf(both, sizeof both, "%.40s / %.40s", text_of("memory.used", device, used),
                 text_of("memory.total", device, total));
        printf("| %-38s  | %22s | %20s |\n%s\n", "", both, text_of("compute_mode", device, text[0]),
               line);
    }
}

int main(int argc, char **argv)
{
    struct request request = {0};
    nvmlDevice_t one;
    (void)argc;
    int r = read_arguments(argv, &request);
    if (r >= 0)
        return r;
    if (nvmlInit_v2() != NVML_SUCCESS) {
        printf("NVIDIA-SMI has failed: there is no GPU (see PTERA_DEVICE, PTERA_DEVICES).\n");
        return FAILED;
    }
    unsigned n = choose(request.id, &one);
    if (!n) {
        printf("No devices were found\n");
        return request.id ? 6 : GOOD;
    }
    if (request.is_version)
        print_versions();
    else if (request.is_list)
        list(n, one);
    else if (request.query)
        return query(&request, n, one);
    else
        print_table(n, one);
    return ferror(stdout) || fflush(stdout) != 0 ? FAILED : GOOD;
}
