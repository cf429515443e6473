#include "tools/litmus/campaign.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/litmus/generate.h"

enum {
    PATIENCE = 120, /* seconds for one test on a driver */
    BUSY = 10,      /* so many times that for Ptera's engines: other programs have the processors */
    ROWS = 2048,
    SHOWN = 40
};

/* In memory that the processes share. */
struct slot {
    enum { SLOT_WAITS, SLOT_RUNS, SLOT_DONE, SLOT_DIED } state;
    int end; /* as waitpid tells it */
    struct litmus_verdict verdict;
};

static volatile sig_atomic_t is_told_to_stop;

static void on_stop(int signal)
{
    (void)signal;
    is_told_to_stop = true;
}

static void listen_to_stop(int flags)
{
    struct sigaction action = {.sa_handler = on_stop, .sa_flags = flags};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* ---- processes ------------------------------------------------------------------------------- */

/* Runs the tests first, first + workers, ... */
static void work(const struct litmus_campaign *c, struct slot *slots, unsigned first)
{
    char why[LITMUS_WHY];
    slots[first].state = SLOT_RUNS;
    struct litmus_runner *runner = litmus_run_open(&c->run, why);
    for (unsigned i = first; i < c->count && !is_told_to_stop && !litmus_run_is_spoiled(runner);
         i += c->workers) {
        struct litmus_generated g;
        slots[i].state = SLOT_RUNS;
        alarm(c->run.driver ? PATIENCE : BUSY * PATIENCE);
        litmus_generate(&g, c->seed + i);
        if (runner) {
            litmus_run_test(runner, &g.test, &slots[i].verdict);
        } else {
            slots[i].verdict.has_failed = true;
            memcpy(slots[i].verdict.why, why, sizeof why);
        }
        slots[i].state = SLOT_DONE;
    }
    if (runner)
        litmus_run_close(runner);
}

static pid_t start(const struct litmus_campaign *c, struct slot *slots, unsigned first)
{
    fflush(stdout);
    fflush(stderr);
    pid_t child = fork();
    if (child == 0) {
        listen_to_stop(SA_RESTART);
        work(c, slots, first);
        _exit(0);
    }
    return child;
}

/* A process that died is blamed on its test; another goes on behind that, if there is more. */
static pid_t go_on(const struct litmus_campaign *c, struct slot *slots, unsigned worker, int status)
{
    unsigned i = worker;
    while (i < c->count && slots[i].state == SLOT_DONE)
        i += c->workers;
    for (; i < c->count && slots[i].state != SLOT_WAITS; i += c->workers)
        if (slots[i].state == SLOT_RUNS) {
            slots[i].state = SLOT_DIED;
            slots[i].end = status;
        }
    return i < c->count && !is_told_to_stop ? start(c, slots, i) : 0;
}

/* SIGINT and SIGTERM end it after the tests at hand. */
static void run_all(const struct litmus_campaign *c, struct slot *slots, pid_t *children)
{
    listen_to_stop(0);
    for (unsigned w = 0; w < c->workers; w++)
        children[w] = start(c, slots, w);
    for (unsigned w = 0; w < c->workers; w++)
        while (children[w] > 0) {
            int status = 0;
            while (waitpid(children[w], &status, 0) < 0)
                for (unsigned k = w; is_told_to_stop && k < c->workers; k++)
                    if (children[k] > 0)
                        kill(children[k], SIGTERM);
            children[w] = go_on(c, slots, w, status);
        }
}

/* ---- the report ------------------------------------------------------------------------------ */

/* Tests of one name. */
struct row {
    char name[LITMUS_NAME];
    unsigned tests, may_be_weak, were_weak;
    uint64_t instances[LITMUS_WAYS], weak[LITMUS_WAYS];
};

/* Where there are too many names, the last has the rest. */
static struct row *row_of(struct row *rows, unsigned *n, const char *name)
{
    for (unsigned i = 0; i < *n; i++)
        if (!strcmp(rows[i].name, name))
            return &rows[i];
    bool is_full = *n == ROWS;
    struct row *row = &rows[is_full ? ROWS - 1 : (*n)++];
    snprintf(row->name, sizeof row->name, "%s", is_full ? "others" : name);
    return row;
}

static int by_tests(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return x->tests != y->tests ? (x->tests < y->tests ? 1 : -1) : strcmp(x->name, y->name);
}

static void tell_row(const struct litmus_campaign *c, const struct row *row)
{
    printf("  %-40.40s %6u %6u %6u", row->name, row->tests, row->may_be_weak, row->were_weak);
    for (unsigned w = 0; litmus_run_way(&c->run, w); w++)
        if (litmus_run_is_taken(&c->run, w))
            printf(" %10llu of %-10llu", (unsigned long long)row->weak[w],
                   (unsigned long long)row->instances[w]);
    printf("\n");
}

static bool was_weak(const struct litmus_verdict *v)
{
    uint64_t weak = 0;
    for (unsigned w = 0; w < LITMUS_WAYS; w++)
        weak += v->way[w].weak;
    return weak;
}

static void tell_kind(const struct litmus_campaign *c, const struct slot *slots, unsigned kind)
{
    static struct row rows[ROWS];
    unsigned n = 0;
    memset(rows, 0, sizeof rows);
    for (unsigned i = 0; i < c->count; i++) {
        struct litmus_generated g;
        const struct litmus_verdict *v = &slots[i].verdict;
        if (slots[i].state == SLOT_WAITS)
            continue;
        litmus_generate(&g, c->seed + i);
        struct row *row = row_of(rows, &n, g.of[kind]);
        row->tests++;
        row->may_be_weak += v->n_weak > 0;
        row->were_weak += was_weak(v);
        for (unsigned w = 0; w < LITMUS_WAYS; w++) {
            row->instances[w] += v->way[w].instances;
            row->weak[w] += v->way[w].weak;
        }
    }
    qsort(rows, n, sizeof *rows, by_tests);
    printf("\n  %-40s %6s %6s %6s", litmus_generate_kinds[kind], "tests", "may be", "were");
    for (unsigned w = 0; litmus_run_way(&c->run, w); w++)
        if (litmus_run_is_taken(&c->run, w))
            printf("  weak, %-17s", litmus_run_way(&c->run, w));
    printf("\n");
    for (unsigned i = 0; i < n && i < SHOWN; i++)
        tell_row(c, &rows[i]);
    if (n > SHOWN)
        printf("  and %u others\n", n - SHOWN);
}

/* What a test did wrong. True: nothing. */
static bool tell_test(const struct litmus_campaign *c, const struct slot *slot, uint64_t seed)
{
    struct litmus_generated g;
    char text[LITMUS_TEXT], outcome[200];
    bool is_good = slot->state == SLOT_DONE && !slot->verdict.has_failed;
    for (unsigned w = 0; w < LITMUS_WAYS; w++)
        is_good &= !slot->verdict.way[w].forbidden;
    if (is_good)
        return true;
    litmus_generate(&g, seed);
    litmus_test_write(&g.test, text);
    printf("seed %llu: %s\n", (unsigned long long)seed, text);
    if (slot->state == SLOT_DIED)
        printf("    the process ended, %s %d\n", WIFSIGNALED(slot->end) ? "signal" : "exit status",
               WIFSIGNALED(slot->end) ? WTERMSIG(slot->end) : WEXITSTATUS(slot->end));
    if (slot->verdict.has_failed)
        printf("    %s\n", slot->verdict.why);
    for (unsigned w = 0; w < LITMUS_WAYS; w++)
        if (slot->verdict.way[w].forbidden) {
            if (litmus_run_is_by_schedules(w) && !c->run.driver)
                snprintf(outcome, sizeof outcome, "under schedule %llu",
                         (unsigned long long)slot->verdict.way[w].first);
            else
                litmus_outcome_write(&g.test, slot->verdict.way[w].first, outcome, sizeof outcome);
            printf("    %s: FORBIDDEN %s, %llu times in %llu\n", litmus_run_way(&c->run, w),
                   outcome, (unsigned long long)slot->verdict.way[w].forbidden,
                   (unsigned long long)slot->verdict.way[w].instances);
        }
    return false;
}

static int by_hash(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* How many are not the same as another. */
static unsigned count_distinct(const struct litmus_campaign *c)
{
    uint64_t *hashes = malloc(c->count * sizeof *hashes);
    unsigned n = 0;
    for (unsigned i = 0; hashes && i < c->count; i++) {
        struct litmus_generated g;
        char text[LITMUS_TEXT];
        litmus_generate(&g, c->seed + i);
        litmus_test_write(&g.test, text);
        hashes[i] = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
        for (const char *p = text; *p; p++)
            hashes[i] = (hashes[i] ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
    }
    if (hashes)
        qsort(hashes, c->count, sizeof *hashes, by_hash);
    for (unsigned i = 0; hashes && i < c->count; i++)
        n += !i || hashes[i] != hashes[i - 1];
    free(hashes);
    return n;
}

static bool report(const struct litmus_campaign *c, const struct slot *slots)
{
    unsigned good = 0, untried = 0, may_be_weak = 0, were_weak = 0;
    unsigned long long weak = 0, seen = 0;
    for (unsigned i = 0; i < c->count; i++) {
        if (slots[i].state == SLOT_WAITS) {
            untried++;
            continue;
        }
        good += tell_test(c, &slots[i], c->seed + i);
        may_be_weak += slots[i].verdict.n_weak > 0;
        were_weak += was_weak(&slots[i].verdict);
        weak += slots[i].verdict.n_weak;
        seen += slots[i].verdict.n_seen;
    }
    for (unsigned kind = 0; kind < LITMUS_KINDS; kind++)
        tell_kind(c, slots, kind);
    printf(
        "\n%u tests, %u of them distinct; %u may be weak, %u were; %llu of %llu weak outcomes that "
        "are allowed came\n",
        c->count, count_distinct(c), may_be_weak, were_weak, seen, weak);
    printf("litmus: %u passed, %u failed, %u skipped\n", good, c->count - good - untried, untried);
    return good && good + untried == c->count;
}

bool litmus_campaign_run(const struct litmus_campaign *c)
{
    size_t bytes = c->count * sizeof(struct slot);
    struct slot *slots =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t *children = calloc(c->workers, sizeof *children);
    bool ok = slots != MAP_FAILED && children;
    if (ok) {
        run_all(c, slots, children);
        ok = report(c, slots);
    } else {
        perror("ptera litmus");
    }
    if (slots != MAP_FAILED)
        munmap(slots, bytes);
    free(children);
    return ok;
}
