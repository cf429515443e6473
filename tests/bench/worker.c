/* Workers: both ends of the conversation. */
#include "tests/bench/worker.h"

#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/timing.h"

enum {
    ANSWER_SECONDS = 600, /* no answer for so long is a failure */
    SHORT_MS = 100        /* runs below are preceded by an unmeasured one */
};

enum question { ASK_RUN = 'r', ASK_DIGEST = 'd' };

/* ---- in the worker --------------------------------------------------------------------------- */

struct serving {
    const struct runner *runner;
    struct bench_case c;
    int to;
};

static void answer(const struct serving *s, const char *why, const void *data, size_t bytes)
{
    char text[WORKER_WHY] = "";
    if (why)
        snprintf(text, sizeof text, "%s", why);
    if (write(s->to, text, sizeof text) != (ssize_t)sizeof text ||
        (!why && write(s->to, data, bytes) != (ssize_t)bytes) || why)
        _exit(1);
}

static const char *find_runner(const struct variant *v, const struct runner **runner)
{
    *runner = &ptera_runner;
    if (!v->object)
        return NULL;
    void *object = dlopen(v->object, RTLD_NOW | RTLD_LOCAL);
    *runner = object ? dlsym(object, "runner") : NULL;
    return *runner ? NULL : dlerror();
}

/* Each runtime reads its own variables, when it is loaded. */
static void set_environment(const struct worker_order *o)
{
    char threads[16];
    snprintf(threads, sizeof threads, "%u", o->variant->threads);
    setenv("OMP_NUM_THREADS", threads, 1);
    setenv("POCL_MAX_PTHREAD_COUNT", threads, 1);
    setenv("XDG_CACHE_HOME", o->cache, 1);
    unsetenv("POCL_CACHE_DIR");
    unsetenv("PTERA_CACHE");
}

static const char *give(struct serving *s, bool host)
{
    return s->runner->give_to_host ? s->runner->give_to_host(&s->c, host) : NULL;
}

static const char *run_once(struct serving *s, double *ms)
{
    const char *why = give(s, true);
    if (why)
        return why;
    bench_case_reset(&s->c);
    if ((why = give(s, false)))
        return why;
    double start = now_ms();
    why = s->runner->run(&s->c);
    *ms = now_ms() - start;
    return why;
}

static void set_text(char *to, size_t bytes, const char *text)
{
    snprintf(to, bytes, "%s", text ? text : "");
}

static const char *open_case(struct serving *s, const struct worker_order *o,
                             struct worker_ready *ready)
{
    struct runner_setup setup = {o->kernels, o->variant->engine, o->variant->threads};
    const char *why = bench_case_make(&s->c, o->kind, o->size);
    if (why)
        return why;
    double start = now_ms();
    if ((why = s->runner->find(&setup))) {
        ready->is_left_out = true;
        set_text(ready->remark, sizeof ready->remark, why);
        return NULL;
    }
    if ((why = s->runner->open(&s->c, &setup)))
        return why;
    ready->open_ms = now_ms() - start;
    if ((why = run_once(s, &ready->first_ms)))
        return why;
    ready->work = s->c.work;
    set_text(ready->version, sizeof ready->version, s->runner->version());
    set_text(ready->remark, sizeof ready->remark,
             s->runner->remark ? s->runner->remark(&s->c) : NULL);
    return NULL;
}

static void serve_run(struct serving *s)
{
    double ms = 0;
    const char *why = run_once(s, &ms);
    if (!why && ms < SHORT_MS)
        why = run_once(s, &ms);
    answer(s, why, &ms, sizeof ms);
}

static void serve_digest(struct serving *s)
{
    struct digest d;
    const char *why = give(s, true);
    if (!why) {
        digest_make(&d, &s->c);
        why = give(s, false);
    }
    answer(s, why, &d, sizeof d);
}

static _Noreturn void serve(const struct worker_order *o, int from, int to)
{
    struct serving s = {.to = to};
    struct worker_ready ready = {0};
    char question;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    set_environment(o);
    const char *why = find_runner(o->variant, &s.runner);
    ready.is_left_out = !why && !s.runner->has(o->kind);
    if (!why && !ready.is_left_out)
        why = open_case(&s, o, &ready);
    answer(&s, why, &ready, sizeof ready);
    while (read(from, &question, 1) == 1)
        if (question == ASK_RUN)
            serve_run(&s);
        else
            serve_digest(&s);
    _exit(0);
}

/* ---- in the program that asks ---------------------------------------------------------------- */

static bool read_all(struct worker *w, void *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        struct pollfd p = {.fd = w->from, .events = POLLIN};
        if (poll(&p, 1, ANSWER_SECONDS * 1000) != 1) {
            snprintf(w->why, sizeof w->why, "no answer for %d seconds", ANSWER_SECONDS);
            return false;
        }
        ssize_t n = read(w->from, (char *)data + done, bytes - done);
        if (n <= 0) {
            snprintf(w->why, sizeof w->why, "it died");
            return false;
        }
        done += (size_t)n;
    }
    return true;
}

/* Ends a worker that gave no answer, and says why if it did not. */
static bool fail(struct worker *w)
{
    int status;
    kill(w->pid, SIGKILL);
    if (waitpid(w->pid, &status, 0) == w->pid && WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
        snprintf(w->why, sizeof w->why, "it died of signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    close(w->to);
    close(w->from);
    w->pid = 0;
    return false;
}

static bool hear(struct worker *w, void *data, size_t bytes)
{
    int status;
    if (!read_all(w, w->why, sizeof w->why) || w->why[0] || !read_all(w, data, bytes))
        return fail(w);
    kill(w->pid, SIGSTOP);
    return waitpid(w->pid, &status, WUNTRACED) == w->pid && WIFSTOPPED(status) ? true : fail(w);
}

static bool ask(struct worker *w, enum question question, void *data, size_t bytes)
{
    char q = (char)question;
    if (!w->pid)
        return false;
    kill(w->pid, SIGCONT);
    if (write(w->to, &q, 1) != 1)
        return fail(w);
    return hear(w, data, bytes);
}

bool worker_start(struct worker *w, const struct worker_order *order, struct worker_ready *ready)
{
    int to[2], from[2];
    if (pipe(to) || pipe(from)) {
        perror("pipe");
        exit(1);
    }
    fflush(NULL);
    w->pid = fork();
    if (w->pid < 0) {
        perror("fork");
        exit(1);
    }
    if (w->pid == 0) {
        close(to[1]);
        close(from[0]);
        serve(order, to[0], from[1]);
    }
    close(to[0]);
    close(from[1]);
    w->to = to[1];
    w->from = from[0];
    return hear(w, ready, sizeof *ready);
}

bool worker_run(struct worker *w, double *ms)
{
    return ask(w, ASK_RUN, ms, sizeof *ms);
}

bool worker_digest(struct worker *w, struct digest *digest)
{
    return ask(w, ASK_DIGEST, digest, sizeof *digest);
}

void worker_end(struct worker *w)
{
    if (!w->pid)
        return;
    kill(w->pid, SIGKILL);
    waitpid(w->pid, NULL, 0);
    close(w->to);
    close(w->from);
    w->pid = 0;
}
