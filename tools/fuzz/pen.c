#include "tools/fuzz/pen.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    REQUESTS = 300,  /* then a fresh process */
    CLOCK_TIMES = 20 /* so many seconds of the clock for one of CPU time */
};

struct pen {
    pen_serve *serve;
    const void *options;
    pid_t child; /* 0: none */
    int to, from;
    unsigned n_requests;
};

bool pen_read(int fd, void *to, size_t n)
{
    for (char *at = to; n;) {
        ssize_t got = read(fd, at, n);
        if (got <= 0)
            return false;
        at += got;
        n -= (size_t)got;
    }
    return true;
}

bool pen_write(int fd, const void *from, size_t n)
{
    for (const char *at = from; n;) {
        ssize_t put = write(fd, at, n);
        if (put <= 0)
            return false;
        at += put;
        n -= (size_t)put;
    }
    return true;
}

void pen_limit(unsigned seconds)
{
    struct itimerval cpu = {.it_value.tv_sec = seconds};
    setitimer(ITIMER_PROF, &cpu, NULL);
    alarm(CLOCK_TIMES * seconds);
}

struct pen *pen_open(pen_serve *serve, const void *options)
{
    struct pen *pen = calloc(1, sizeof *pen);
    if (pen) {
        pen->serve = serve;
        pen->options = options;
    }
    setenv("PTERA_CACHE", "", 1);
    signal(SIGPIPE, SIG_IGN);
    return pen;
}

static bool start(struct pen *pen)
{
    int to[2], from[2];
    if (pipe(to))
        return false;
    if (pipe(from)) {
        close(to[0]), close(to[1]);
        return false;
    }
    fflush(stdout);
    fflush(stderr);
    pen->child = fork();
    if (pen->child == 0) {
        signal(SIGINT, SIG_IGN); /* the terminal tells all of the group; the pen's owner decides */
        signal(SIGTERM, SIG_IGN);
        close(to[1]), close(from[0]);
        pen->serve(pen->options, to[0], from[1]);
        _exit(0);
    }
    close(to[0]), close(from[1]);
    pen->to = to[1];
    pen->from = from[0];
    pen->n_requests = 0;
    return pen->child > 0;
}

static int stop(struct pen *pen)
{
    int status = 0;
    if (pen->child <= 0)
        return 0;
    close(pen->to), close(pen->from);
    while (waitpid(pen->child, &status, 0) < 0)
        continue;
    pen->child = 0;
    return status;
}

void pen_close(struct pen *pen)
{
    stop(pen);
    free(pen);
}

/* False: the process has ended, with *status; or there is none. */
static bool ask_once(struct pen *pen, const void *head, size_t head_bytes, const void *rest,
                     size_t rest_bytes, void *answer, size_t answer_bytes, int *status)
{
    *status = -1;
    if (pen->child && pen->n_requests++ == REQUESTS)
        stop(pen);
    if (!pen->child && !start(pen))
        return false;
    if (pen_write(pen->to, head, head_bytes) && pen_write(pen->to, rest, rest_bytes) &&
        pen_read(pen->from, answer, answer_bytes))
        return true;
    *status = stop(pen);
    return false;
}

bool pen_ask(struct pen *pen, const void *head, size_t head_bytes, const void *rest,
             size_t rest_bytes, void *answer, size_t answer_bytes, char *why, size_t why_bytes)
{
    int status;
    bool was_there = pen->child;
    if (ask_once(pen, head, head_bytes, rest, rest_bytes, answer, answer_bytes, &status))
        return true;
    if (was_there && status == 0 && /* it had ended before */
        ask_once(pen, head, head_bytes, rest, rest_bytes, answer, answer_bytes, &status))
        return true;
    if (status == -1)
        snprintf(why, why_bytes, "no process to try it in");
    else if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGALRM))
        snprintf(why, why_bytes, "hangs");
    else
        snprintf(why, why_bytes, "%s %d", WIFSIGNALED(status) ? "signal" : "exit status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return false;
}
