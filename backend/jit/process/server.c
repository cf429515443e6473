/* The compiler process: answers requests until its host is gone. Whatever goes wrong in it harms it
 * alone. */
#define _GNU_SOURCE
#include "backend/jit/process/server.h"

#include <fcntl.h>
#include <llvm-c/ErrorHandling.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/jit/object/io.h"
#include "backend/jit/process/compile.h"
#include "backend/jit/process/process.h"
#include "backend/jit/tune.h"
#include "backend/native.h"

static struct server {
    int socket, host; /* a descriptor of the host's process, or -1 */
} server;

/* ---- the end --------------------------------------------------------------------------------- */

/* A compile may take long, and nobody may be there any more to want it. */
static void *watch(void *ud)
{
    struct pollfd on[] = {{.fd = server.socket, .events = POLLRDHUP},
                          {.fd = server.host, .events = POLLIN}};
    (void)ud;
    while (poll(on, 2, -1) <= 0)
        continue;
    _exit(0);
}

static void answer_at_once(enum pt_native_end end, const char *before, const char *why)
{
    static struct jit_answer answer;
    answer.result.end = end;
    strncpy(answer.result.why, before, sizeof answer.result.why - 1);
    strncat(answer.result.why, why, sizeof answer.result.why - 1 - strlen(answer.result.why));
    send(server.socket, &answer, sizeof answer, MSG_NOSIGNAL);
    _exit(1);
}

/* LLVM and the C++ library end the process so where there is no memory, and hardly ever else. */
static void on_abort(int signal)
{
    (void)signal;
    answer_at_once(PT_NATIVE_NO_MEMORY, "", "");
}

static void on_fatal_error(const char *reason)
{
    answer_at_once(strstr(reason, "memory") ? PT_NATIVE_NO_MEMORY : PT_NATIVE_REFUSED,
                   "LLVM fails: ", reason);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static uint64_t used_memory(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    if (fscanf(file, "%lu", &pages) != 1)
        pages = 0;
    fclose(file);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Of the address space, as there is no limit of memory itself. Sanitizers take terabytes of
 * that. */
static void limit_memory(uint64_t bytes)
{
#ifndef PT_SANITIZED
    struct rlimit limit;
    uint64_t used = used_memory();
    if (getrlimit(RLIMIT_AS, &limit) || !used)
        return;
    limit.rlim_cur = bytes && bytes < limit.rlim_max - used ? used + bytes : limit.rlim_max;
    setrlimit(RLIMIT_AS, &limit);
#else
    (void)bytes;
    (void)used_memory;
#endif
}

/* Where the machine runs out of memory the compiler goes first, not its host. */
static void offer_to_die(void)
{
    static const char most[] = "1000";
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)!write(fd, most, sizeof most - 1);
    close(fd);
}

/* ---- requests -------------------------------------------------------------------------------- */

static bool answer(const struct jit_question *q, const uint8_t *snapshot)
{
    struct jit_answer a = {0};
    bool ok = jit_compile_snapshot(snapshot, q->bytes, (enum pt_native_print)q->what, &a.object,
                                   &a.result);
    uint8_t *bytes = a.object.bytes;
    a.bytes = ok ? a.object.size : 0;
    a.object.bytes = NULL;
    ok = jit_io_write(server.socket, &a, sizeof a) && jit_io_write(server.socket, bytes, a.bytes);
    free(bytes);
    return ok;
}

/* False: it was long enough. */
static bool wait_for_question(void)
{
    struct pollfd on = {.fd = server.socket, .events = POLLIN};
    return poll(&on, 1, JIT_COMPILER_IDLE) > 0;
}

static void *serve(void *ud)
{
    struct jit_question q;
    bool goes_on = true;
    (void)ud;
    while (goes_on && wait_for_question() && jit_io_read(server.socket, &q, sizeof q)) {
        limit_memory(q.memory_bytes);
        uint8_t *snapshot = malloc(q.bytes + 1);
        if (!snapshot)
            answer_at_once(PT_NATIVE_NO_MEMORY, "", "");
        goes_on = jit_io_read(server.socket, snapshot, q.bytes) && answer(&q, snapshot);
        free(snapshot);
    }
    return NULL;
}

/* What one pass frees the next one wants: given back and taken again, its pages are a twentieth of
 * the time of a compile; so much at most that the limit of the next compile hardly moves. Other
 * arenas are address space that is reserved, which the limit would not count. */
static void keep_memory(void)
{
    enum { STEP_BYTES = 16 << 20, KEPT_BYTES = 256 << 20 };
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    mallopt(M_MMAP_THRESHOLD, STEP_BYTES);
    mallopt(M_TOP_PAD, STEP_BYTES);
}

void jit_server_run(int socket, int host)
{
    pthread_t watcher, worker;
    pthread_attr_t attributes;
    server = (struct server){socket, jit_process_open(host)};
    signal(SIGABRT, on_abort);
    signal(SIGPIPE, SIG_IGN); /* a write that nobody reads any more fails */
    LLVMInstallFatalErrorHandler(on_fatal_error);
    offer_to_die();
    keep_memory();
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, JIT_COMPILER_STACK);
    if (pthread_create(&watcher, NULL, watch, NULL) ||
        pthread_create(&worker, &attributes, serve, NULL))
        return;
    pthread_join(worker, NULL);
}
