/*     PROGRAM [--all] [--day N]               a sample of all operations, other ones each day, or
 * all of them PROGRAM SCENARIO HOW N                  one
 *
 * Each failure has a process of its own. There the scenario is run
 *   - once as it is, so that what stays for good is there (HOW `cold` does without, and so looks at
 * what is set up once),
 *   - with the n-th operation failing: each step is good, or refused, and then good when it is done
 * again without failures,
 *   - as it is, with what there was before in blocks, mappings, descriptors and threads.
 */
#define _GNU_SOURCE
#include "tests/inject/scenario.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/inject/fail.h"

enum { SAMPLES = 5, SETTLE = 4, ROUNDS = 4, SECONDS_MAX = 100 /* on a loaded machine, too */ };
enum { COLD = FAIL_HOWS, HOWS };
static const char *const how_names[HOWS] = {"once", "on", "interrupted", "short", "cold"};

/* What a child tells. */
static struct told {
    long operations; /* where none fails */
    unsigned refused;
    unsigned step; /* the last */
    char why[400];
} *told;

static int report; /* what failed, and what is left over */

enum outcome wrong(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(told->why, sizeof told->why, format, args);
    va_end(args);
    return WRONG;
}

/* ---- in the child ---------------------------------------------------------------------------- */

static bool run_steps(const struct scenario *s, bool *is_refused)
{
    for (unsigned i = 0; s->steps[i]; i++) {
        told->step = i;
        enum outcome outcome = s->steps[i]();
        if (outcome == REFUSED && !*is_refused) {
            fail_disarm();
            *is_refused = true;
            if (s->starts_again)
                return true;
            outcome = s->steps[i]();
        }
        if (outcome == REFUSED)
            wrong("refused");
        if (outcome != GOOD)
            return false;
    }
    return true;
}

/* As it is. */
static bool run_well(const struct scenario *s)
{
    bool may_not_be_refused = true;
    bool ok = run_steps(s, &may_not_be_refused);
    s->end();
    return ok;
}

/* True if there is no more than there was. What ends by itself may take a while. */
static bool has_settled(const struct scenario *s, const struct fail_stock *before)
{
    for (unsigned i = 0; i < SETTLE; i++) {
        if (!run_well(s)) {
            strncat(told->why, ", in a later run", sizeof told->why - strlen(told->why) - 1);
            return false;
        }
        struct fail_stock now = fail_stock();
        if (now.blocks <= before->blocks && now.mapped_bytes <= before->mapped_bytes &&
            now.files <= before->files && now.threads <= before->threads)
            return true;
        wrong("left over: %ld blocks, %ld bytes of mappings, %ld descriptors, %ld threads",
              (long)(now.blocks - before->blocks), (long)(now.mapped_bytes - before->mapped_bytes),
              (long)(now.files - before->files), (long)(now.threads - before->threads));
        usleep(20000 << i);
    }
    return false;
}

/* One run that fails; true: as it should. */
static bool fail_steps(const struct scenario *s, unsigned h, long n)
{
    bool is_refused = false;
    fail_tell_blocks(-1);
    fail_arm(h == COLD ? FAIL_ONCE : (enum fail_how)h, n);
    bool ok = run_steps(s, &is_refused);
    s->end();
    told->operations = fail_disarm();
    fail_tell(report);
    told->refused = is_refused;
    if (ok && is_refused && (h == FAIL_INTR || h == FAIL_SHORT)) {
        wrong("refused");
        return false;
    }
    return ok;
}

/* What is kept for later, as threads are, is more a few times; what is lost is lost each time. */
static bool fail_one(const struct scenario *s, unsigned h, long n)
{
    if (h == COLD)
        return fail_steps(s, h, n) && run_well(s);
    if (!run_well(s))
        return false;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct fail_stock before = fail_stock();
        if (!fail_steps(s, h, n))
            return false;
        if (has_settled(s, &before))
            return true;
    }
    fail_tell_blocks(report);
    return false;
}

/* ---- in the parent --------------------------------------------------------------------------- */

static void show_report(void)
{
    char text[4096];
    ssize_t n;
    lseek(report, 0, SEEK_SET);
    while ((n = read(report, text, sizeof text)) > 0)
        fwrite(text, 1, (size_t)n, stderr);
}

static bool check(const struct scenario *s, unsigned h, long n)
{
    int status = 0;
    memset(told, 0, sizeof *told);
    if (ftruncate(report, 0) || lseek(report, 0, SEEK_SET))
        abort();
    if (s->prepare)
        s->prepare();
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS_MAX);
        dup2(report, 2);
        _exit(fail_one(s, h, n) ? 0 : 1);
    }
    if (waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    fprintf(stderr, "%s %s %ld: step %u: %s\n", s->name, how_names[h], n, told->step, told->why);
    if (WIFSIGNALED(status))
        fprintf(stderr, "    %s\n",
                WTERMSIG(status) == SIGALRM ? "never ends" : strsignal(WTERMSIG(status)));
    show_report();
    return false;
}

struct counts {
    long operations, refused, passed, failed;
};

static void check_how(const struct scenario *s, unsigned h, bool is_all, unsigned long day,
                      struct counts *counts)
{
    bool ok = check(s, h, 0);
    long n = told->operations, every = is_all || n <= SAMPLES ? 1 : n / SAMPLES;
    counts->failed += !ok;
    counts->operations += n;
    for (long i = 1 + (long)(day % (unsigned long)every); ok && i <= n; i += every) {
        bool is_right = check(s, h, i);
        counts->refused += is_right && told->refused;
        counts->passed += is_right;
        counts->failed += !is_right;
    }
}

static void check_all(const char *program, const struct scenario *scenarios, unsigned n,
                      bool is_all, unsigned long day)
{
    struct counts sum = {0};
    for (unsigned i = 0; i < n; i++) {
        for (unsigned h = 0; h < HOWS; h++) {
            struct counts c = {0};
            check_how(&scenarios[i], h, is_all, day, &c);
            printf("%-12s %-12s %5ld operations: %ld tried, %ld refused, "
                   "%ld done all the same, %ld failed\n",
                   scenarios[i].name, how_names[h], c.operations, c.passed + c.failed, c.refused,
                   c.passed - c.refused, c.failed);
            sum.passed += c.passed;
            sum.failed += c.failed;
        }
    }
    printf("day %lu\n"
           "%s: %ld passed, %ld failed, 0 skipped\n",
           day, program, sum.passed, sum.failed);
    exit(sum.failed || !sum.passed);
}

static int check_named(const struct scenario *scenarios, unsigned n, char **argv)
{
    for (unsigned i = 0; i < n; i++)
        for (unsigned h = 0; h < HOWS; h++)
            if (!strcmp(argv[0], scenarios[i].name) && !strcmp(argv[1], how_names[h])) {
                bool ok = check(&scenarios[i], h, atol(argv[2]));
                printf("%s: %ld operations\n", ok ? "good" : "failed", told->operations);
                show_report();
                return !ok;
            }
    return 2;
}

int scenarios_main(const char *program, const struct scenario *scenarios, unsigned n, int argc,
                   char **argv)
{
    bool is_all = false;
    unsigned long day = (unsigned long)time(NULL) / 86400;
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    report = memfd_create("report", MFD_CLOEXEC);
    if (told == MAP_FAILED || report < 0)
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 4 && argv[1][0] != '-')
        return check_named(scenarios, n, argv + 1);
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--all"))
            is_all = true;
        else if (!strcmp(argv[i], "--day") && i + 1 < argc)
            day = strtoul(argv[++i], NULL, 10);
        else
            return 2;
    }
    check_all(program, scenarios, n, is_all, day);
    return 0;
}
