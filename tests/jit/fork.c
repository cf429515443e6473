/* A process is forked while one of its threads shows native code to debuggers and profilers: the
 * child, which has not that thread, loads native code of its own. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/api/support.h"

static const char text[] = HEADER ".visible .entry k(.param .u64 p)\n{\n"
                                  "    .reg .b64 %p;\n"
                                  "    ld.param.u64 %p, [p]; st.global.u32 [%p], 42; ret;\n}\n";

static void *run(void *ud)
{
    ptera_engine *engine = new_engine(1);
    uint32_t *p = new_buffer(engine, sizeof *p);
    ptera_launch launch;
    (void)ud;
    ptera_launch_init(&launch);
    launch.backend = PTERA_BACKEND_JIT;
    launch.parameters = (const void *[]){&p};
    launch.n_parameters = 1;
    CHECK_INT(ptera_kernel_launch(kernel_of(load(engine, text), "k"), &launch), PTERA_OK);
    CHECK_INT(*p, 42);
    ptera_engine_destroy(engine);
    return NULL;
}

/* A map for perf that nobody can write to until it is read: a full pipe. */
static int make_full(const char *path)
{
    static const char page[4096];
    CHECK_INT(mkfifo(path, 0600), 0);
    int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    while (write(fd, page, sizeof page) > 0 || write(fd, page, 1) > 0)
        continue;
    return fd;
}

static atomic_bool is_over;

static void *drain(void *ud)
{
    const int *fd = ud;
    char page[4096];
    usleep(100000);
    while (!atomic_load(&is_over))
        if (read(*fd, page, sizeof page) < 0)
            usleep(1000);
    return NULL;
}

static void wait_until_opened(int watch)
{
    struct inotify_event event;
    CHECK_INT(read(watch, &event, sizeof event), sizeof event);
}

static void run_in_child(void)
{
    alarm(60); /* ends what hangs */
    unsetenv("PTERA_PERF");
    check_failed = 0;
    run(NULL);
    _exit(check_failed > 0);
}

int main(void)
{
    pthread_t maps, drains;
    char path[64];
    int status = 0;
    snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
    int fd = make_full(path), watch = inotify_init1(IN_CLOEXEC);
    CHECK(inotify_add_watch(watch, path, IN_OPEN) >= 0);
    setenv("PTERA_PERF", "1", 1);
    CHECK_INT(pthread_create(&maps, NULL, run, NULL), 0);
    wait_until_opened(watch);
    CHECK_INT(pthread_create(&drains, NULL, drain, &fd), 0);
    pid_t child = fork();
    if (child == 0)
        run_in_child();
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    pthread_join(maps, NULL);
    atomic_store(&is_over, true);
    pthread_join(drains, NULL);
    unlink(path);
    return CHECK_DONE("jit_fork");
}
