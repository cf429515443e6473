/* What the driver and the runtime library answer: driver_calls [PART [untitled]]. It is built with
 * NVIDIA's headers, runs on a GPU and here; driver_calls.txt is what an H100 made of it. Each part
 * runs in a process of its own; without an argument all do, but for those that want two devices:
 * these by the argument "two", and driver_calls_two.txt is what two H100s made of them. */
#include "tests/hardware/driver/say.h"
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

const char module_text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .global .align 4 .u32 number;\n"
    ".visible .global .align 4 .b8 bytes[40];\n"
    ".visible .const .align 4 .u32 constant = 7;\n"
    ".visible .global .attribute(.managed) .align 4 .u32 managed = 5;\n"
    ".visible .entry empty() { ret; }\n"
    ".visible .entry store(.param .u64 to, .param .u32 what) { .reg .b64 %p; .reg .b32 %r;\n"
    "ld.param.u64 %p, [to]; ld.param.u32 %r, [what]; st.global.u32 [%p], %r; ret; }\n"
    ".visible .entry bounds(.param .align 8 .b8 s[24], .param .u8 b) .maxntid 128, 1, 1\n"
    "{ .shared .align 4 .b8 some[4096]; .reg .b32 %r; mov.u32 %r, some; st.shared.u32 [%r], %r;\n"
    "ret; }\n"
    ".visible .entry cluster() .explicitcluster .reqnctapercluster 2, 1, 1 { ret; }\n"
    ".visible .entry large() .maxntid 1024, 1, 1 .minnctapersm 1 { ret; }\n";

CUdevice device;
CUcontext context;
CUmodule module;
CUfunction empty, store, bounds, cluster, large;

void say_call(const char *call)
{
    printf("%s: ", call);
    fflush(stdout);
}

void say_result(int result)
{
    printf("%d", result);
}

void say_begin(void)
{
    int failed = cuInit(0) || cuDeviceGet(&device, 0) ||
                 cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context) ||
                 cuModuleLoadData(&module, module_text) ||
                 cuModuleGetFunction(&empty, module, "empty") ||
                 cuModuleGetFunction(&store, module, "store") ||
                 cuModuleGetFunction(&bounds, module, "bounds") ||
                 cuModuleGetFunction(&cluster, module, "cluster") ||
                 cuModuleGetFunction(&large, module, "large");
    if (failed) {
        printf("cannot begin\n");
        fflush(stdout);
        _exit(2);
    }
}

void say_alone(void (*begin)(void), int (*probes)(int which))
{
    for (int i = 0, n = probes(-1); i < n; i++) {
        int status;
        alarm(60); /* for each of them */
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            alarm(60);
            begin();
            probes(i);
            fflush(stdout);
            _exit(0);
        }
        waitpid(child, &status, 0);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
    bool wants_two;
} parts[] = {
#define PART(name) {#name, part_##name, false},
#include "tests/hardware/driver/parts.def"
#undef PART
#define PART(name) {#name, part_##name, true},
#include "tests/hardware/driver/parts_two.def"
#undef PART
};

/* A driver that reads through a wild handle ends the process: that is what the line says, then. */
static void ended(int signal)
{
    static const char text[] = "ended\n";
    (void)signal;
    fflush(stdout);
    if (write(1, text, sizeof text - 1) < 0)
        _exit(3);
    _exit(0);
}

static void run(size_t i, bool has_title)
{
    if (has_title)
        printf("== %s\n", parts[i].name);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, ended);
        signal(SIGABRT, ended);
        signal(SIGALRM, ended);
        alarm(60);
        parts[i].run();
        fflush(stdout);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
}

int main(int argc, char **argv)
{
    bool is_two = argc == 2 && strcmp(argv[1], "two") == 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (argc < 2 || is_two ? parts[i].wants_two == is_two : !strcmp(argv[1], parts[i].name))
            run(i, argc < 3);
    return 0;
}
