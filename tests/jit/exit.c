/* A program may end while kernels are being compiled: its exit status is its own then, and it does
 * end. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/api/support.h"

enum { LINES = 1500, PROGRAMS = 12, STATUS = 7 };

/* A kernel that takes a moment to compile. */
static char *long_kernel(void)
{
    enum { LINE = 64 };
    char *text = malloc((LINES + 8) * LINE), *at = text;
    at += sprintf(at, HEADER ".visible .entry k(.param .u64 to)\n{\n"
                             ".reg .b64 %%a; .reg .b32 %%t; .reg .f32 %%f<9>;\n"
                             "ld.param.u64 %%a, [to];\nmov.u32 %%t, %%tid.x;\n"
                             "cvt.rn.f32.u32 %%f0, %%t;\n");
    for (int i = 0; i < LINES; i++)
        at += sprintf(at, "ex2.approx.f32 %%f%d, %%f%d;\n", (i + 1) % 8, i % 8);
    sprintf(at, "st.global.f32 [%%a], %%f1;\nret;\n}\n");
    return text;
}

static void *compile(void *ud)
{
    ptera_kernel *kernel = ud;
    ptera_launch launch;
    float *to = malloc(sizeof *to);
    ptera_launch_init(&launch);
    launch.backend = PTERA_BACKEND_JIT;
    launch.block[0] = 64;
    launch.parameters = (const void *[]){&to};
    launch.n_parameters = 1;
    ptera_kernel_launch(kernel, &launch);
    return NULL;
}

static void start_and_exit(const char *text, unsigned ms)
{
    pthread_t thread;
    alarm(60); /* ends what hangs */
    ptera_kernel *kernel = kernel_of(load(new_engine(1), text), "k");
    pthread_create(&thread, NULL, compile, kernel);
    usleep(ms * 1000);
    exit(STATUS);
}

int main(void)
{
    char *text = long_kernel();
    fflush(stdout);
    for (unsigned i = 0; i < PROGRAMS; i++) {
        pid_t child = fork();
        if (!child)
            start_and_exit(text, 10 * i * i);
        int status = 0;
        CHECK_INT(waitpid(child, &status, 0), child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == STATUS);
    }
    free(text);
    return CHECK_DONE("jit_exit");
}
