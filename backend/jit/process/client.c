/* The host's side of compiler processes: those that are free, the exchange with one, its limits. */
#define _GNU_SOURCE
#include "backend/jit/process/client.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backend/jit/object/object.h"
#include "backend/jit/process/compile.h"
#include "backend/jit/process/process.h"
#include "backend/jit/tune.h"
#include "backend/native.h"

static bool end_with(struct pt_native_result *result, enum pt_native_end end)
{
    result->end = end;
    result->why[0] = 0;
    return false;
}

__attribute__((format(printf, 2, 3))) static bool refuse(struct pt_native_result *result,
                                                         const char *format, ...)
{
    va_list args;
    va_start(args, format);
    result->end = PT_NATIVE_REFUSED;
    vsnprintf(result->why, sizeof result->why, format, args);
    va_end(args);
    return false;
}

/* ---- those that there are -------------------------------------------------------------------- */

struct compiler {
    struct compiler *next;
    int socket;
    int process; /* a descriptor of it, or -1 where the system has none */
    pid_t pid;
    bool is_nice; /* pt_native_limits */
    enum { FREE, BUSY, DYING } state;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct compiler *compilers;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&lock);
}

static void close_files(struct compiler *c)
{
    close(c->socket);
    if (c->process >= 0)
        close(c->process);
}

/* They are the parent's. */
static void in_child(void)
{
    while (compilers) {
        struct compiler *c = compilers;
        compilers = c->next;
        close_files(c);
        free(c);
    }
    pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, in_parent, in_child);
}

/* By the descriptor: the number may be another's once the host itself has waited for it. */
static void kill_compiler(const struct compiler *c)
{
#ifdef SYS_pidfd_send_signal
    if (c->process >= 0) {
        syscall(SYS_pidfd_send_signal, c->process, SIGKILL, NULL, 0);
        return;
    }
#endif
    shutdown(c->socket, SHUT_RDWR); /* at which it ends, too */
}

/* True if it has ended. */
static bool reap(const struct compiler *c, int options)
{
    siginfo_t info = {0};
    int error = c->process >= 0 ? waitid(P_PIDFD, (id_t)c->process, &info, WEXITED | options)
                                : waitid(P_PID, (id_t)c->pid, &info, WEXITED | options);
    return (error && errno != EINTR) || info.si_pid;
}

/* Under the lock: those that have ended go. */
static void reap_all(void)
{
    struct compiler **p = &compilers;
    while (*p) {
        struct compiler *c = *p;
        if (c->state == BUSY || !reap(c, WNOHANG)) {
            p = &c->next;
            continue;
        }
        *p = c->next;
        close_files(c);
        free(c);
    }
}

static struct compiler *take_free(bool is_nice)
{
    struct compiler *c;
    pthread_mutex_lock(&lock);
    reap_all();
    for (c = compilers; c && (c->state != FREE || c->is_nice != is_nice); c = c->next)
        continue;
    if (c)
        c->state = BUSY;
    pthread_mutex_unlock(&lock);
    return c;
}

static void give_back(struct compiler *c, bool is_usable)
{
    unsigned n_free = 0;
    pthread_mutex_lock(&lock);
    for (const struct compiler *o = compilers; o; o = o->next)
        n_free += o->state == FREE && o->is_nice == c->is_nice;
    c->state = is_usable && n_free < JIT_COMPILERS_FREE ? FREE : DYING;
    if (c->state == DYING)
        kill_compiler(c);
    reap_all();
    pthread_mutex_unlock(&lock);
}

/* At exit nothing stays behind. Threads may still be here; those find that their compilers have
 * ended. */
__attribute__((destructor)) static void end_all(void)
{
    pthread_mutex_lock(&lock);
    for (struct compiler *c = compilers; c; c = c->next)
        kill_compiler(c);
    for (const struct compiler *c = compilers; c; c = c->next)
        while (!reap(c, 0))
            continue;
    pthread_mutex_unlock(&lock);
}

/* ---- a new one ------------------------------------------------------------------------------- */

/* The program beside this library. */
static bool find_program(const char *library, char *path)
{
    const char *slash = strrchr(library, '/');
    int folder = slash ? (int)(slash - library + 1) : 0;
    return snprintf(path, PATH_MAX, "%.*s" JIT_PROGRAM, folder, library) < PATH_MAX;
}

/* The host's, but for what would be loaded into the compiler. malloc'ed. */
static char **copy_environment(void)
{
    size_t n = 0, kept = 0;
    while (environ && environ[n])
        n++;
    char **copy = malloc((n + 1) * sizeof *copy);
    for (size_t i = 0; copy && i < n; i++)
        if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0 && strncmp(environ[i], "LD_AUDIT=", 9) != 0)
            copy[kept++] = environ[i];
    if (copy)
        copy[kept] = NULL;
    return copy;
}

/* No files of the host's but the socket; sanitizers tell what they find on standard error. */
static int set_files(posix_spawn_file_actions_t *files, int socket)
{
    int error = posix_spawn_file_actions_adddup2(files, socket, JIT_SOCKET);
    for (int fd = 0; fd < 3 && !error; fd++) {
#ifdef PT_SANITIZED
        if (fd == 2)
            continue;
#endif
        error = posix_spawn_file_actions_addopen(files, fd, "/dev/null", O_RDWR, 0);
    }
    return error ? error : posix_spawn_file_actions_addclosefrom_np(files, JIT_SOCKET + 1);
}

/* Not stopped from the terminal with the host, nor deaf to signals as the thread may be. */
static int set_signals(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
                                                         POSIX_SPAWN_SETSIGDEF);
    error = error ? error : posix_spawnattr_setsigmask(attributes, &none);
    return error ? error : posix_spawnattr_setsigdefault(attributes, &all);
}

static int spawn_with(const char *path, char *const *argv, int socket, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&files);
    if (error)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        char **environment = copy_environment();
        error = environment ? set_files(&files, socket) : ENOMEM;
        error = error ? error : set_signals(&attributes);
        error = error ? error : posix_spawn(pid, path, &files, &attributes, argv, environment);
        free(environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return error;
}

static int spawn(int socket, char *path, bool is_nice, pid_t *pid)
{
    Dl_info info;
    char host[16];
    if (!dladdr((const void *)&once, &info) || !info.dli_fname ||
        !find_program(info.dli_fname, path))
        return ENAMETOOLONG;
    snprintf(host, sizeof host, "%ld", (long)getpid());
    char nice[] = JIT_NICE;
    char *const argv[] = {path, (char *)(uintptr_t)info.dli_fname, host, is_nice ? nice : NULL,
                          NULL};
    return spawn_with(path, argv, socket, pid);
}

/* The program with `theirs`, at the other end of c->socket. */
static bool start_with(struct compiler *c, int theirs, struct pt_native_result *result)
{
    char path[PATH_MAX] = JIT_PROGRAM;
    int error = theirs < 0 || fcntl(c->socket, F_SETFL, O_NONBLOCK)
                    ? errno
                    : spawn(theirs, path, c->is_nice, &c->pid);
    if (error == ENOMEM || error == EAGAIN)
        return end_with(result, PT_NATIVE_NO_MEMORY);
    if (error)
        return refuse(result, "no compiler process: %s: %s", path, strerror(error));
    c->process = jit_process_open(c->pid);
    return true;
}

/* Their end is above the descriptors that the compiler will have, which may be free in the host. */
static bool start_on_sockets(struct compiler *c, struct pt_native_result *result)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return refuse(result, "no socket for a compiler process: %s", strerror(errno));
    int theirs = fcntl(ends[1], F_DUPFD_CLOEXEC, JIT_SOCKET + 1);
    c->socket = ends[0];
    bool ok = start_with(c, theirs, result);
    close(ends[1]);
    if (theirs >= 0)
        close(theirs);
    if (!ok)
        close(ends[0]);
    return ok;
}

/* NULL with *result set. */
static struct compiler *start(bool is_nice, struct pt_native_result *result)
{
    struct compiler *c = calloc(1, sizeof *c);
    end_with(result, PT_NATIVE_NO_MEMORY);
    if (c)
        c->is_nice = is_nice;
    if (!c || !start_on_sockets(c, result)) {
        free(c);
        return NULL;
    }
    c->state = BUSY;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&lock);
    c->next = compilers;
    compilers = c;
    pthread_mutex_unlock(&lock);
    return c;
}

/* ---- the exchange ---------------------------------------------------------------------------- */

struct exchange {
    int socket;
    pid_t pid;
    double cpu; /* seconds that the compiler had used at the start */
    const struct pt_native_limits *limits;
    struct timespec start;
    struct pt_native_result *result;
    bool has_ended; /* the compiler */
};

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

/* Seconds of processors that a process has used; below 0: unknown. */
static double cpu_seconds(pid_t pid)
{
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
        return -1;
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_starved(const struct exchange *x)
{
    const struct pt_native_limits *l = x->limits;
    return l->is_nice && l->is_urgent && l->is_urgent(l->ud) &&
           (cpu_seconds(x->pid) - x->cpu) * 100 < seconds_since(&x->start) * JIT_COMPILER_STARVED;
}

/* Until the socket is ready. False with the result set. */
static bool wait_for(struct exchange *x, short events)
{
    const struct pt_native_limits *l = x->limits;
    struct pollfd on = {.fd = x->socket, .events = events};
    while (poll(&on, 1, JIT_COMPILER_TICK) <= 0) {
        if (l->is_stopped && l->is_stopped(l->ud))
            return end_with(x->result, PT_NATIVE_STOPPED);
        if (is_starved(x))
            return end_with(x->result, PT_NATIVE_STARVED);
        if (l->seconds > 0 && seconds_since(&x->start) > l->seconds)
            return refuse(x->result, "compiling it takes more than %g s", l->seconds);
    }
    return true;
}

/* All n bytes, one way or the other. */
static bool transfer(struct exchange *x, void *bytes, size_t n, bool is_sent)
{
    for (uint8_t *p = bytes; n;) {
        ssize_t done = is_sent ? send(x->socket, p, n, MSG_NOSIGNAL) : recv(x->socket, p, n, 0);
        if (done > 0) {
            p += done;
            n -= (size_t)done;
        } else if (done < 0 && errno == EAGAIN) {
            if (!wait_for(x, is_sent ? POLLOUT : POLLIN))
                return false;
        } else if (done == 0 || errno != EINTR) {
            x->has_ended = true;
            return refuse(x->result, PT_NATIVE_ENDED);
        }
    }
    return true;
}

static bool receive(struct exchange *x, struct jit_object *object)
{
    struct jit_answer a;
    if (!transfer(x, &a, sizeof a, false))
        return false;
    *x->result = a.result;
    if (a.result.end != PT_NATIVE_MADE)
        return true;
    *object = a.object;
    object->size = a.bytes;
    object->bytes = malloc(a.bytes + 1);
    if (!object->bytes)
        return end_with(x->result, PT_NATIVE_NO_MEMORY);
    object->bytes[a.bytes] = 0;
    if (transfer(x, object->bytes, a.bytes, false))
        return true;
    free(object->bytes);
    *object = (struct jit_object){0};
    return false;
}

/* True: the compiler goes on. */
static bool ask(struct exchange *x, const uint8_t *snapshot, size_t n, enum pt_native_print what,
                struct jit_object *object)
{
    struct jit_question q = {.bytes = n, .memory_bytes = x->limits->memory_bytes, .what = what};
    return transfer(x, &q, sizeof q, true) &&
           transfer(x, (uint8_t *)(uintptr_t)snapshot, n, true) && receive(x, object);
}

static bool compile_outside(const uint8_t *snapshot, size_t n, enum pt_native_print what,
                            const struct pt_native_limits *limits, struct jit_object *object,
                            struct pt_native_result *result)
{
    struct exchange x = {.limits = limits, .result = result};
    bool was_free;
    clock_gettime(CLOCK_MONOTONIC, &x.start);
    do { /* one that was kept may have ended since */
        struct compiler *c = take_free(limits->is_nice);
        was_free = c != NULL;
        if (!c)
            c = start(limits->is_nice, result);
        if (!c)
            return false;
        x.socket = c->socket;
        x.pid = c->pid;
        x.cpu = cpu_seconds(c->pid);
        x.has_ended = false;
        give_back(c, ask(&x, snapshot, n, what, object));
    } while (was_free && x.has_ended);
    return result->end == PT_NATIVE_MADE;
}

/* ---- in this process ------------------------------------------------------------------------- */

struct inside {
    const uint8_t *snapshot;
    size_t n;
    enum pt_native_print what;
    struct jit_object *object;
    struct pt_native_result *result;
    bool ok;
};

static void *compile_main(void *ud)
{
    struct inside *i = ud;
    i->ok = jit_compile_snapshot(i->snapshot, i->n, i->what, i->object, i->result);
    return NULL;
}

/* On a stack that is large enough. */
static bool compile_inside(struct inside *i)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, JIT_COMPILER_STACK);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, &attributes, compile_main, i);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (error)
        return end_with(i->result, PT_NATIVE_NO_MEMORY);
    pthread_join(thread, NULL);
    return i->ok;
}

bool jit_client_compile(const uint8_t *snapshot, size_t n, enum pt_native_print what,
                        const struct pt_native_limits *limits, struct jit_object *object,
                        struct pt_native_result *result)
{
    *object = (struct jit_object){0};
    *result = (struct pt_native_result){PT_NATIVE_REFUSED, ""};
    if (limits->is_inside)
        return compile_inside(&(struct inside){snapshot, n, what, object, result, false});
    return compile_outside(snapshot, n, what, limits, object, result);
}
