/* The compiler process: whatever becomes of it, the host goes on, in time, and nothing is left
 * behind. A compile that never ends is one whose process the test has stopped. */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/api/support.h"

#define COMPILER "ptera-compiler" /* the program's name */

enum { CHILDREN = 8, SOON_MS = 1000 /* on a busy machine; 300 on an idle one */ };

#define KERNEL(name)                                                             \
    ".visible .entry " name                                                      \
    "(.param .u64 to)\n{\n    .reg .b64 %rd<2>;\n    ld.param.u64 %rd1, [to];\n" \
    "    red.global.add.u32 [%rd1], 1;\n    ret;\n}\n"
static const char text[] = HEADER KERNEL("a") KERNEL("b") KERNEL("c");

/* A kernel that is hot at once, so that `auto` asks for native code. */
static const char hot[] = HEADER
    ".visible .entry a(.param .u64 to)\n{\n    .reg .b64 %rd<2>; .reg .b32 %r<2>; .reg .pred %p;\n"
    "    ld.param.u64 %rd1, [to];\n"
    "    mov.u32 %r1, 0;\nL:  add.u32 %r1, %r1, 1;\n    setp.lt.u32 %p, %r1, 20000;\n"
    "    @%p bra L;\n"
    "    red.global.add.u32 [%rd1], 1;\n    ret;\n}\n";

struct host {
    ptera_engine *engine;
    ptera_module *module;
    uint32_t *to;
};

static struct host new_host(const char *ptx, const ptera_options *options)
{
    struct host h = {0};
    CHECK_INT(ptera_engine_create(options, &h.engine), PTERA_OK);
    h.module = load(h.engine, ptx);
    h.to = new_buffer(h.engine, sizeof *h.to);
    return h;
}

static ptera_result launch(struct host *h, const char *name, ptera_backend backend, double timeout)
{
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.backend = backend;
    launch.block[0] = 32;
    launch.grid[0] = 64;
    launch.timeout_seconds = timeout;
    launch.parameters = (const void *[]){&h->to};
    launch.n_parameters = 1;
    return ptera_kernel_launch(kernel_of(h->module, name), &launch);
}

static ptera_kernel_status status_of(struct host *h, const char *name)
{
    ptera_kernel_status status = {.size = sizeof status};
    CHECK_INT(ptera_kernel_info(kernel_of(h->module, name), &status), PTERA_OK);
    return status;
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Living processes that this one has started. */
static unsigned find_children(pid_t *pids)
{
    unsigned n = 0;
    DIR *dir = opendir("/proc");
    for (struct dirent *d; dir && (d = readdir(dir));) {
        char path[300], state;
        int pid, parent;
        snprintf(path, sizeof path, "/proc/%s/stat", d->d_name);
        FILE *file = isdigit((unsigned char)d->d_name[0]) ? fopen(path, "r") : NULL;
        if (file && fscanf(file, "%d (%*[^)]) %c %d", &pid, &state, &parent) == 3 &&
            parent == getpid() && state != 'Z' && n < CHILDREN)
            pids[n++] = pid;
        if (file)
            fclose(file);
    }
    closedir(dir);
    return n;
}

static void signal_children(int signal)
{
    pid_t pids[CHILDREN];
    unsigned n = find_children(pids);
    CHECK(n > 0);
    for (unsigned i = 0; i < n; i++)
        kill(pids[i], signal);
}

/* One is there, and free, and stopped: the next compile waits for it. */
static void stop_compiler(struct host *h)
{
    CHECK_INT(launch(h, "c", PTERA_BACKEND_JIT, 0), PTERA_OK);
    signal_children(SIGSTOP);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static void check_timeout(void)
{
    struct host h = new_host(text, NULL);
    stop_compiler(&h);
    double start = now_ms();
    CHECK_INT(launch(&h, "a", PTERA_BACKEND_JIT, 0.5), PTERA_ERROR_TIMEOUT);
    CHECK(now_ms() - start < 500 + SOON_MS);
    CHECK_HAS(ptera_engine_error(h.engine),
              "timeout in kernel 'a' at k.ptx, while it was compiled");
    CHECK_INT(launch(&h, "a", PTERA_BACKEND_JIT, 0), PTERA_OK);
    CHECK_INT(status_of(&h, "a").native_launches, 1);
    CHECK_INT(*h.to, 2 * 64 * 32);
    ptera_engine_destroy(h.engine);
}

static void check_seconds(void)
{
    ptera_options options;
    ptera_options_init(&options);
    options.compile_seconds = 0.3;
    struct host h = new_host(text, &options);
    options.compile_seconds = 60;
    struct host other = new_host(text, &options);
    stop_compiler(&other);
    CHECK_INT(launch(&h, "a", PTERA_BACKEND_JIT, 0), PTERA_OK);
    CHECK_INT(status_of(&h, "a").native_launches, 0);
    CHECK_HAS(status_of(&h, "a").why, "compiling it takes more than 0.3 s");
    ptera_engine_destroy(h.engine);
    ptera_engine_destroy(other.engine);
}

static void check_options(void)
{
    ptera_options options;
    ptera_engine *engine;
    ptera_options_init(&options);
    options.compile_seconds = -1;
    CHECK_INT(ptera_engine_create(&options, &engine), PTERA_ERROR_INVALID_ARGUMENT);
    setenv("PTERA_COMPILER", "elsewhere", 1);
    CHECK_INT(ptera_engine_create(NULL, &engine), PTERA_ERROR_INVALID_ARGUMENT);
    unsetenv("PTERA_COMPILER");
}

/* Where native code is demanded; under `auto` the kernel stays interpreted. */
static void check_memory(void)
{
#ifndef PT_SANITIZED /* whose memory is not limited */
    ptera_options options;
    ptera_options_init(&options);
    options.compile_bytes = 1 << 20;
    while (wait(NULL) > 0) /* one that has compiled before has memory */
        continue;
    struct host h = new_host(hot, &options);
    CHECK_INT(launch(&h, "a", PTERA_BACKEND_JIT, 0), PTERA_ERROR_OUT_OF_MEMORY);
    CHECK_INT(launch(&h, "a", PTERA_BACKEND_AUTO, 0), PTERA_OK);
    CHECK_INT(status_of(&h, "a").native_launches, 0);
    ptera_engine_destroy(h.engine);
#endif
    struct host next = new_host(text, NULL);
    CHECK_INT(launch(&next, "a", PTERA_BACKEND_JIT, 0), PTERA_OK);
    CHECK_INT(status_of(&next, "a").native_launches, 1);
    ptera_engine_destroy(next.engine);
}

/* ---- other things to do meanwhile ------------------------------------------------------------ */

static void *launch_a(void *ud)
{
    return (void *)(intptr_t)launch(ud, "a", PTERA_BACKEND_JIT, 3);
}

/* While one kernel of a module is compiled, others of it are compiled and run. */
static void check_neighbours(void)
{
    struct host h = new_host(text, NULL);
    pthread_t thread;
    void *result;
    stop_compiler(&h);
    pthread_create(&thread, NULL, launch_a, &h);
    usleep(200000);
    CHECK_INT(launch(&h, "b", PTERA_BACKEND_INTERP, 1), PTERA_OK);
    CHECK_INT(launch(&h, "b", PTERA_BACKEND_JIT, 2), PTERA_OK);
    CHECK_INT(status_of(&h, "b").native_launches, 1);
    pthread_join(thread, &result);
    CHECK_INT((intptr_t)result, PTERA_ERROR_TIMEOUT);
    ptera_engine_destroy(h.engine);
}

/* A compiler that never answers: this program, beside a link to the library. */
static void pretend_compiler(void)
{
    alarm(120);
    for (;;)
        pause();
}

/* For an engine of a process that has none yet. */
static void use_pretended_compiler(const char *folder)
{
    char program[PATH_MAX], library[PATH_MAX + 32], path[PATH_MAX];
    Dl_info info = {0};
    CHECK(dladdr((const void *)(uintptr_t)ptera_engine_create, &info));
    CHECK(realpath(info.dli_fname, path));
    snprintf(library, sizeof library, "%.*s/libptera-jit.so", (int)(strrchr(path, '/') - path),
             path);
    CHECK(realpath("/proc/self/exe", program));
    snprintf(path, sizeof path, "%s/" COMPILER, folder);
    CHECK_INT(symlink(program, path), 0);
    snprintf(path, sizeof path, "%s/libptera-jit.so", folder);
    CHECK_INT(symlink(library, path), 0);
    setenv("PTERA_JIT_PATH", path, 1);
}

/* Compiling in the background holds up neither an unload nor a destroy. */
static void check_background(bool unloads)
{
    pid_t pids[CHILDREN];
    struct host loop = new_host(hot, NULL);
    CHECK_INT(launch(&loop, "a", PTERA_BACKEND_AUTO, 60), PTERA_OK);
    CHECK_INT(status_of(&loop, "a").native_launches, 0);
    for (int i = 0; i < 3000 && !find_children(pids); i++) /* it has begun */
        usleep(10000);
    CHECK(find_children(pids) > 0);
    double start = now_ms();
    if (unloads)
        ptera_module_unload(loop.module);
    else
        ptera_engine_destroy(loop.engine);
    CHECK(now_ms() - start < SOON_MS);
    if (unloads)
        ptera_engine_destroy(loop.engine);
}

/* In a process of its own, which opens the library where that compiler is: one that is stopped may
 * not be the one that the background asks. */
static void check_unanswered(void)
{
    char folder[] = "/tmp/ptera-process-XXXXXX", path[64];
    int status;
    CHECK(mkdtemp(folder));
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        use_pretended_compiler(folder);
        check_background(true);
        check_background(false);
        exit(check_failed > 0);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
    snprintf(path, sizeof path, "%s/" COMPILER, folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/libptera-jit.so", folder);
    unlink(path);
    rmdir(folder);
}

/* ---- its end --------------------------------------------------------------------------------- */

static void *kill_soon(void *ud)
{
    (void)ud;
    usleep(200000);
    signal_children(SIGKILL);
    return NULL;
}

static void check_killed(void)
{
    struct host h = new_host(text, NULL);
    pthread_t thread;
    CHECK_INT(launch(&h, "c", PTERA_BACKEND_JIT, 0), PTERA_OK);
    signal_children(SIGKILL); /* while it is free */
    CHECK_INT(launch(&h, "a", PTERA_BACKEND_JIT, 0), PTERA_OK);
    CHECK_INT(status_of(&h, "a").native_launches, 1);
    signal_children(SIGSTOP);
    pthread_create(&thread, NULL, kill_soon, NULL); /* while it compiles: another is tried */
    CHECK_INT(launch(&h, "b", PTERA_BACKEND_JIT, 20), PTERA_OK);
    CHECK_INT(status_of(&h, "b").native_launches, 1);
    pthread_join(thread, NULL);
    ptera_engine_destroy(h.engine);
}

/* A host that waits for all its children gets to the end of that. */
static void check_wait(void)
{
    struct host h = new_host(text, NULL);
    CHECK_INT(launch(&h, "a", PTERA_BACKEND_JIT, 0), PTERA_OK);
    alarm(20);
    while (wait(NULL) > 0)
        continue;
    CHECK_INT(errno, ECHILD);
    alarm(0);
    CHECK_INT(launch(&h, "b", PTERA_BACKEND_JIT, 0), PTERA_OK);
    CHECK_INT(status_of(&h, "b").native_launches, 1);
    ptera_engine_destroy(h.engine);
}

static int count_files(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

/* In another process, so that its end is seen: no compiler outlives it, whether it exits or is
 * killed. */
static void check_exit(bool is_killed)
{
    int ends[2], status;
    CHECK_INT(pipe(ends), 0);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        struct host h = new_host(text, NULL);
        launch(&h, "a", PTERA_BACKEND_JIT, 0);
        pid_t pids[CHILDREN];
        unsigned n = find_children(pids);
        if (n != 1 || write(ends[1], pids, sizeof *pids) != sizeof *pids)
            _exit(1);
        if (is_killed)
            raise(SIGKILL);
        exit(0);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(is_killed ? WIFSIGNALED(status) : WIFEXITED(status) && !WEXITSTATUS(status));
    close(ends[1]);
    pid_t pid = 0;
    char path[64], state = 'Z';
    CHECK_INT(read(ends[0], &pid, sizeof pid), sizeof pid); /* and the compiler does not keep the
                                                             * pipe open */
    char rest;
    CHECK_INT(read(ends[0], &rest, 1), 0);
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    for (int i = 0; i < 100; i++) { /* killed, its compiler sees so in a moment */
        FILE *file = fopen(path, "r");
        state = 'Z';
        if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
            state = 'Z';
        if (file)
            fclose(file);
        if (!is_killed || state == 'Z')
            break;
        usleep(20000);
    }
    CHECK_INT(state, 'Z');
    close(ends[0]);
}

static void check_leaks(void)
{
    for (int round = 0, files = 0; round < 3; round++) {
        struct host h = new_host(text, NULL);
        stop_compiler(&h);
        CHECK_INT(launch(&h, "a", PTERA_BACKEND_JIT, 0.05), PTERA_ERROR_TIMEOUT);
        CHECK_INT(launch(&h, "b", PTERA_BACKEND_JIT, 0), PTERA_OK);
        ptera_engine_destroy(h.engine);
        CHECK(!files || count_files() <= files);
        files = count_files();
    }
}

/* ---- elsewhere ------------------------------------------------------------------------------- */

static void check_inside(void)
{
    pid_t pids[CHILDREN];
    ptera_options options;
    while (wait(NULL) > 0) /* those of before */
        continue;
    ptera_options_init(&options);
    options.compile_inside = 1;
    struct host h = new_host(text, &options);
    CHECK_INT(launch(&h, "a", PTERA_BACKEND_JIT, 0), PTERA_OK);
    CHECK_INT(status_of(&h, "a").native_launches, 1);
    CHECK_INT(find_children(pids), 0);
    ptera_engine_destroy(h.engine);
}

int main(int argc, char **argv)
{
    const char *name = argc > 0 ? strrchr(argv[0], '/') : NULL;
    if (name && !strcmp(name + 1, COMPILER))
        pretend_compiler();
    check_unanswered(); /* before this process opens the library */
    check_options();
    check_timeout();
    check_seconds();
    check_memory();
    check_neighbours();
    check_killed();
    check_wait();
    check_exit(false);
    check_exit(true);
    check_leaks();
    check_inside();
    return CHECK_DONE("process");
}
