/* What variables of the environment do to a program: the parts `environment_...` run this program
 * again with each value, for the parts `env_...`. */
#define _GNU_SOURCE
#include "tests/hardware/driver/say.h"
#include <sys/wait.h>
#include <unistd.h>

/* Which devices there are, as one line. */
void part_env_devices(void)
{
    int n = 77, r = (int)cuInit(0), counted = (int)cuDeviceGetCount(&n);
    printf("init %d, count %d %d, get %d\n", r, counted, n, (int)cuDeviceGet(&device, 0));
}

/* What cuModuleGetLoadingMode says. */
void part_env_loading(void)
{
    CUmoduleLoadingMode mode = (CUmoduleLoadingMode)77;
    if (cuInit(0) == CUDA_SUCCESS) {
        int r = (int)cuModuleGetLoadingMode(&mode);
        printf("mode %d %d\n", r, (int)mode);
    }
}

static void run_again(const char *part, char *setting)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (putenv(setting) == 0)
            execl("/proc/self/exe", "driver_calls", part, "untitled", NULL);
        _exit(3);
    }
    int status;
    waitpid(child, &status, 0);
}

static void again(const char *part, char *setting)
{
    printf("%s\n", setting);
    run_again(part, setting);
}

/* A list with the device's UUID in it: %s; `least` digits of it. */
static void again_with_uuid(const char *format, const char *digits, int least)
{
    char uuid[64], line[200], shown[240];
    snprintf(uuid, sizeof uuid, "%.*s", least, digits);
    snprintf(line, sizeof line, format, uuid);
    snprintf(shown, sizeof shown, "CUDA_VISIBLE_DEVICES=%s", line);
    /* which digits a device has is its own */
    printf("%s with %d characters of the UUID: ", format, least);
    run_again("env_devices", shown);
}

void part_environment_devices(void)
{
    static const char *const lists[] = {"0",    "0,0",  "0,1", "1,0",  "-1",   "0,-1",      "",
                                        " 0",   "0 ",   "0x0", "00",   "+0",   "0.5",       "0abc",
                                        ",0",   "0,,0", "a",   "GPU-", "MIG-", "none",      "0;0",
                                        "0, 1", "1",    "99",  "-0",   "all",  "NoDevFiles"};
    static const char *const orders[] = {"FASTEST_FIRST", "PCI_BUS_ID", "wrong", ""};
    char text[128], digits[64];
    CUuuid u;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        snprintf(text, sizeof text, "CUDA_VISIBLE_DEVICES=%s", lists[i]);
        again("env_devices", text);
    }
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        snprintf(text, sizeof text, "CUDA_DEVICE_ORDER=%s", orders[i]);
        again("env_devices", text);
    }
    if (cuInit(0) || cuDeviceGetUuid(&u, 0))
        return;
    const unsigned char *b = (const unsigned char *)u.bytes;
    snprintf(digits, sizeof digits,
             "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
             b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
             b[15]);
    static const int least[] = {1, 2, 4, 8, 9, 12, 35, 36};
    for (size_t i = 0; i < sizeof least / sizeof least[0]; i++)
        again_with_uuid("GPU-%s", digits, least[i]);
    static const char *const forms[] = {"gpu-%s", "GPU-%sx",  "GPU-%s ",       " GPU-%s",
                                        "MIG-%s", "GPU-%s,0", "0,GPU-%s",      "GPU-%s,1",
                                        "GPU%s",  "GPU-%s,",  "MIG-GPU-%s/0/0"};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        again_with_uuid(forms[i], digits, 36);
    for (char *c = digits; *c; c++)
        *c = *c >= 'a' && *c <= 'f' ? (char)(*c - 'a' + 'A') : *c;
    again_with_uuid("GPU-%s", digits, 36);
    digits[0] = digits[0] == '0' ? '1' : '0';
    again_with_uuid("GPU-%s", digits, 36);
}

void part_environment_loading(void)
{
    static const char *const modes[] = {"EAGER", "LAZY", "DEFAULT", "eager", "wrong", ""};
    char text[64];
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        snprintf(text, sizeof text, "CUDA_MODULE_LOADING=%s", modes[i]);
        again("env_loading", text);
    }
}
