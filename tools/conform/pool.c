/* Workers: processes that run rows, and may die or hang on them. Worker w of n has every n-th row
 * from row w on; where one dies, another goes on behind the row that it was at. */
#include "tools/conform/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/conform/kind.h"

/* What a worker says: each message is written whole (PIPE_BUF). */
enum message_type { MESSAGE_READY, MESSAGE_UNUSABLE, MESSAGE_BEGIN, MESSAGE_END };
struct message {
    enum message_type type;
    size_t row;
    union {
        struct result result;
        struct pool_device device;
    };
};

_Static_assert(sizeof(struct message) <= 4096, "a message is written whole");

enum { MAX_WORKERS = 64, STARTS = 3, START_SECONDS = 60 };

struct child {
    pid_t pid; /* 0: none runs */
    int from;  /* what it writes */
    size_t next, part;
    bool is_ready, is_at_row;
    unsigned failed_starts; /* since the last result */
    double begun, deadline; /* of the row at hand */
    char partial[sizeof(struct message)];
    size_t n_partial;
};

struct pool {
    const struct pool_options *options;
    struct conform_rows *rows;
    struct pool_device *device;
    struct child child[MAX_WORKERS];
    char *why;
    size_t why_bytes;
    bool is_unusable, has_failed;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static volatile sig_atomic_t is_interrupted;

static void interrupt(int signal)
{
    (void)signal;
    is_interrupted = true;
}

/* Sets what a signal to end does; or back. */
static void catch_signals(bool is_set)
{
    struct sigaction action = {.sa_handler = is_set ? interrupt : SIG_DFL};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* ---- in a worker ----------------------------------------------------------------------------- */

static void say(int to, const struct message *message)
{
    if (write(to, message, sizeof *message) != (ssize_t)sizeof *message)
        _exit(1); /* nobody listens */
}

/* Whether row i loads what the worker's next one loads, too. */
static bool is_text_shared(const struct pool *pool, const struct conform_kind *kind, size_t i)
{
    size_t next = i + pool->options->workers;
    if (!kind->is_text_of_form || next >= pool->rows->n)
        return false;
    const struct conform_row *row = &pool->rows->v[i], *other = &pool->rows->v[next];
    return row->set == other->set && !strcmp(row->form, other->form);
}

static void work(struct pool *pool, size_t first, int to)
{
    static struct message message;
    static struct worker worker;
    int null = open("/dev/null", O_WRONLY); /* what a driver prints is not the report's */
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    message.type = MESSAGE_READY;
    if (!conform_driver_open(&worker.driver, pool->options->library, message.result.text,
                             sizeof message.result.text)) {
        message.type = MESSAGE_UNUSABLE;
        say(to, &message);
        _exit(1);
    }
    message.device.capability = worker.driver.capability;
    message.device.version = worker.driver.version;
    memcpy(message.device.name, worker.driver.device_name, sizeof message.device.name);
    say(to, &message);
    for (size_t i = first; i < pool->rows->n && !worker.is_spoiled; i += pool->options->workers) {
        const struct conform_row *row = &pool->rows->v[i];
        memset(&message, 0, sizeof message);
        message.row = i;
        message.type = MESSAGE_BEGIN;
        say(to, &message);
        message.type = MESSAGE_END;
        const struct conform_kind *kind = conform_kind_find(row->set->kind);
        worker.is_module_kept = is_text_shared(pool, kind, i);
        kind->run(&worker, row, &message.result);
        say(to, &message);
    }
    _exit(0); /* no exit handlers: the driver's may wait for what is spoiled */
}

/* ---- in the parent --------------------------------------------------------------------------- */

static bool give_up(struct pool *pool, const char *what)
{
    pool->is_unusable = true;
    snprintf(pool->why, pool->why_bytes, "%s", what);
    return false;
}

static bool start(struct pool *pool, struct child *c)
{
    int ends[2];
    if (pipe(ends) != 0)
        return give_up(pool, strerror(errno));
    fflush(NULL);
    c->pid = fork();
    if (c->pid == 0) {
        catch_signals(false);
        close(ends[0]);
        for (unsigned i = 0; i < pool->options->workers; i++)
            if (pool->child[i].pid > 0 && &pool->child[i] != c)
                close(pool->child[i].from);
        work(pool, c->next, ends[1]);
    }
    close(ends[1]);
    c->from = ends[0];
    c->is_ready = c->is_at_row = false;
    c->n_partial = 0;
    c->deadline = now() + START_SECONDS;
    if (c->pid > 0)
        return true;
    c->pid = 0;
    close(ends[0]);
    return give_up(pool, strerror(errno));
}

static bool keep(struct pool *pool, size_t row, const struct result *result, double seconds)
{
    struct conform_row *r = &pool->rows->v[row];
    r->verdict = result->verdict;
    r->text = strdup(result->text);
    r->seconds = seconds;
    pool->has_failed |= r->text && !conform_row_passes(r);
    return r->text || give_up(pool, "no memory");
}

static void hear(struct pool *pool, struct child *c, const struct message *m)
{
    c->deadline = now() + pool->options->timeout;
    switch (m->type) {
    case MESSAGE_READY:
        *pool->device = m->device;
        c->is_ready = true;
        break;
    case MESSAGE_UNUSABLE:
        snprintf(pool->why, pool->why_bytes, "%s", m->result.text);
        break;
    case MESSAGE_BEGIN:
        c->is_at_row = true;
        c->begun = now();
        break;
    case MESSAGE_END:
        c->is_at_row = false;
        c->next = m->row + pool->options->workers;
        c->failed_starts = 0;
        keep(pool, m->row, &m->result, now() - c->begun);
    }
}

/* The process has ended: why, and whether another must go on. */
static void bury(struct pool *pool, struct child *c, bool is_late)
{
    static struct result result;
    int status = 0;
    if (is_late)
        kill(c->pid, SIGKILL);
    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    close(c->from);
    c->pid = 0;
    if (c->is_at_row) {
        if (is_late)
            conform_row_tell(&result, VERDICT_HUNG, "no answer in %g seconds",
                             pool->options->timeout);
        else if (WIFSIGNALED(status))
            conform_row_tell(&result, VERDICT_CRASHED, "signal %d (%s)", WTERMSIG(status),
                             strsignal(WTERMSIG(status)));
        else
            conform_row_tell(&result, VERDICT_CRASHED, "the process ended itself with status %d",
                             WEXITSTATUS(status));
        keep(pool, c->next, &result, now() - c->begun);
        c->next += pool->options->workers;
    } else if (!c->is_ready || is_late || status != 0) {
        if (!*pool->why)
            snprintf(pool->why, pool->why_bytes, "the driver's start: %s",
                     is_late               ? "no answer"
                     : WIFSIGNALED(status) ? strsignal(WTERMSIG(status))
                                           : "the process ended itself");
        if (++c->failed_starts == STARTS)
            pool->is_unusable = true;
    }
    if (!pool->is_unusable && c->next < pool->rows->n)
        start(pool, c);
}

/* False: it has ended. */
static bool listen(struct pool *pool, struct child *c)
{
    ssize_t n = read(c->from, c->partial + c->n_partial, sizeof c->partial - c->n_partial);
    if (n <= 0)
        return n < 0 && errno == EINTR;
    c->n_partial += (size_t)n;
    if (c->n_partial == sizeof c->partial) {
        struct message message;
        memcpy(&message, c->partial, sizeof message);
        c->n_partial = 0;
        hear(pool, c, &message);
    }
    return true;
}

/* One round of waiting. False: no worker is left. */
static bool wait_for_any(struct pool *pool)
{
    struct pollfd fds[MAX_WORKERS];
    unsigned which[MAX_WORKERS], n = 0;
    double first = 0;
    for (unsigned i = 0; i < pool->options->workers; i++)
        if (pool->child[i].pid) {
            fds[n] = (struct pollfd){.fd = pool->child[i].from, .events = POLLIN};
            which[n++] = i;
            if (n == 1 || pool->child[i].deadline < first)
                first = pool->child[i].deadline;
        }
    if (!n)
        return false;
    double left = first - now();
    if (poll(fds, n, left > 0 ? (int)(left * 1000) + 1 : 0) < 0)
        return true; /* a signal */
    for (unsigned k = 0; k < n; k++) {
        struct child *c = &pool->child[which[k]];
        if (fds[k].revents ? !listen(pool, c) : c->deadline < now())
            bury(pool, c, !fds[k].revents);
    }
    return true;
}

/* Before all have run. */
static bool must_end(const struct pool *pool)
{
    return is_interrupted || (pool->options->is_first && pool->has_failed);
}

static void end_all(struct pool *pool)
{
    static const struct result untried = {.verdict = VERDICT_UNTRIED};
    for (unsigned i = 0; i < pool->options->workers; i++)
        if (pool->child[i].pid) {
            kill(pool->child[i].pid, SIGKILL);
            waitpid(pool->child[i].pid, NULL, 0);
            close(pool->child[i].from);
        }
    for (size_t i = 0; must_end(pool) && i < pool->rows->n; i++)
        if (!pool->rows->v[i].text)
            keep(pool, i, &untried, 0);
}

bool conform_pool_run(const struct pool_options *options, struct conform_rows *rows,
                      struct pool_device *device, char *why, size_t why_bytes)
{
    struct pool *pool = calloc(1, sizeof *pool);
    struct pool_options limited = *options;
    if (limited.workers > MAX_WORKERS)
        limited.workers = MAX_WORKERS;
    *why = 0;
    if (!pool) {
        snprintf(why, why_bytes, "no memory");
        return false;
    }
    *pool = (struct pool){
        .options = &limited, .rows = rows, .device = device, .why = why, .why_bytes = why_bytes};
    catch_signals(true);
    for (unsigned i = 0; i < limited.workers && !pool->is_unusable; i++) {
        pool->child[i].next = i;
        if (i < rows->n)
            start(pool, &pool->child[i]);
    }
    while (!pool->is_unusable && !must_end(pool) && wait_for_any(pool))
        continue;
    end_all(pool);
    catch_signals(false);
    bool ok = !pool->is_unusable;
    free(pool);
    return ok;
}
