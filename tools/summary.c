/* Runs a program as a child, so that the table comes whatever way it ends: by exit, by _exit, or
 * by a signal. */
#define _GNU_SOURCE /* memfd_create */
#include "tools/summary.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/cuda/summary.h"
#include "tools/commands.h"

/* ---- the table ------------------------------------------------------------------------------- */

static double ms(uint64_t ns)
{
    return (double)ns * 1e-6;
}

static int by_time(const void *a, const void *b)
{
    const struct pt_summary_kernel *const *x = a, *const *y = b;
    uint64_t left = (*x)->ns, right = (*y)->ns;
    return left < right ? 1 : left > right ? -1 : strcmp((*x)->name, (*y)->name);
}

static void put_engine(FILE *out, const struct pt_summary_kernel *k)
{
    uint64_t interpreted = k->ended - k->native - k->mixed;
    const char *comma = "";
    if (k->native)
        fprintf(out, "%" PRIu64 " native", (uint64_t)k->native), comma = ", ";
    if (k->mixed)
        fprintf(out, "%s%" PRIu64 " interpreted, then native", comma, (uint64_t)k->mixed),
            comma = ", ";
    if (interpreted)
        fprintf(out, "%s%" PRIu64 " interpreted", comma, interpreted);
    if (k->failed)
        fprintf(out, "; %" PRIu64 " failed", (uint64_t)k->failed);
    if (k->begun > k->ended)
        fprintf(out, "; %" PRIu64 " did not end", k->begun - k->ended);
}

static void put_kernel(FILE *out, const struct pt_summary_kernel *k)
{
    double average = k->ended ? ms(k->ns) / (double)k->ended : 0;
    fprintf(out, "%9" PRIu64 " %12.3f %12.3f %12.3f %12.3f %12.3f  %s: ", (uint64_t)k->begun,
            ms(k->ns), average, ms(k->ns_least), ms(k->ns_most), ms(k->compile_ns),
            *k->name ? k->name : "(other kernels)");
    put_engine(out, k);
    fputc('\n', out);
}

static void put_kernels(FILE *out, const struct pt_summary *s)
{
    static const struct pt_summary_kernel *rows[PT_SUMMARY_KERNELS];
    size_t n = 0;
    for (size_t i = 0; i < PT_SUMMARY_KERNELS; i++)
        if (s->kernels[i].begun)
            rows[n++] = &s->kernels[i];
    qsort(rows, n, sizeof *rows, by_time);
    fprintf(out, "%9s %12s %12s %12s %12s %12s  %s\n", "launches", "total ms", "average ms",
            "least ms", "most ms", "compiled ms", "kernel");
    for (size_t i = 0; i < n; i++)
        put_kernel(out, rows[i]);
}

static void put_moves(FILE *out, const struct pt_summary *s)
{
    static const char *const names[PT_SUMMARY_MOVES] = {[PT_SUMMARY_TO_DEVICE] = "host to device",
                                                        [PT_SUMMARY_FROM_DEVICE] = "device to host",
                                                        [PT_SUMMARY_ON_DEVICE] = "device to device",
                                                        [PT_SUMMARY_ON_HOST] = "host to host",
                                                        [PT_SUMMARY_SET] = "set"};
    fprintf(out, "%9s %12s %12s  %s\n", "copies", "total ms", "bytes", "from where to where");
    for (size_t i = 0; i < PT_SUMMARY_MOVES; i++)
        if (s->moves[i].count)
            fprintf(out, "%9" PRIu64 " %12.3f %12" PRIu64 "  %s\n", (uint64_t)s->moves[i].count,
                    ms(s->moves[i].ns), (uint64_t)s->moves[i].bytes, names[i]);
}

static void put_summary(FILE *out, const char *program, const struct pt_summary *s)
{
    fprintf(out, "ptera: kernels and copies of %s\n", program);
    put_kernels(out, s);
    put_moves(out, s);
    fflush(out);
}

/* ---- the program ----------------------------------------------------------------------------- */

static volatile sig_atomic_t child;

static void hand_on(int signal)
{
    if (child > 0)
        kill((pid_t)child, signal);
}

/* What a terminal sends goes to both: this process waits for the other. What is sent to this one
 * alone is handed on. */
static void set_signals(void)
{
    static const int ignored[] = {SIGINT, SIGQUIT}, handed[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    struct sigaction action = {.sa_handler = SIG_IGN};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        sigaction(ignored[i], &action, NULL);
    action = (struct sigaction){.sa_handler = hand_on, .sa_flags = SA_RESTART};
    for (size_t i = 0; i < sizeof handed / sizeof *handed; i++)
        sigaction(handed[i], &action, NULL);
}

static struct pt_summary *make_summary(void)
{
    char path[64];
    int fd = memfd_create("ptera-summary", MFD_CLOEXEC);
    struct pt_summary *s = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, sizeof *s) == 0)
        s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (s == MAP_FAILED) {
        fprintf(stderr, "ptera: no memory for the summary: %s\n", strerror(errno));
        return NULL;
    }
    /* The descriptor stays open here, where every process below this one finds the file by it. */
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getpid(), fd);
    setenv("PTERA_SUMMARY", path, 1);
    return s;
}

static int wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

/* As the program ended; if it left a core, this one need not. */
static int end_as(int status)
{
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}

int child_run(const char *path, char **argv, int (*finish)(void *ud), void *ud)
{
    pid_t pid = fork();
    if (pid == 0) {
        execv(path, argv);
        fprintf(stderr, "ptera: cannot run %s: %s\n", path, strerror(errno));
        _exit(EXIT_CANNOT_RUN);
    }
    if (pid < 0) {
        fprintf(stderr, "ptera: cannot run %s: %s\n", path, strerror(errno));
        return EXIT_CANNOT_RUN;
    }
    child = pid;
    set_signals();
    int status = wait_for(pid), end = finish(ud);
    return end >= 0 ? end : end_as(status);
}

struct telling {
    FILE *out;
    const char *program;
    const struct pt_summary *summary;
};

static int tell(void *ud)
{
    const struct telling *t = ud;
    put_summary(t->out, t->program, t->summary);
    if (t->out != stderr)
        fclose(t->out);
    return -1;
}

int summary_run(const char *path, char **argv, const char *file)
{
    struct pt_summary *s = make_summary();
    FILE *out = file ? fopen(file, "we") : stderr;
    if (!out)
        fprintf(stderr, "ptera: cannot write %s: %s\n", file, strerror(errno));
    if (!s || !out)
        return EXIT_FAILED;
    return child_run(path, argv, tell, &(struct telling){out, path, s});
}
