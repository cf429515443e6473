/* Mutants of PTX files on both engines:
 *
 *   mutants [OPTIONS] FILE_OR_FOLDER...
 *
 *   --seed N        of the first mutant; the next ones count up (1)
 *   --today         of the day: 202611230000 on the 23rd of November, 2026
 *   --count N       mutants (1000)
 *   --replay        the files as they are, each once
 *   --show          print the mutants instead of running them
 *   --out FOLDER    where mutants that fail are written (.), made smaller unless
 *   --whole         is given
 *   --limit S       of a launch in the interpreter (0.1)
 *   --native S      of a launch that may be compiled (3)
 *   --late S        how much CPU time beyond its limit a call may take (3)
 *
 * No mutant may end the process or hang. Where what is done is defined, both engines and auto leave
 * the same result code and the same bytes: run.h says when that is.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/fuzz/pen.h"
#include "tests/mutate/mutate.h"
#include "tests/mutate/run.h"

enum {
    REDUCE_SECONDS = 60,
    MANY = 1000,
    NATIVE_LEAST = 20 /* of many mutants, one in so many kernels is native */
};

struct options {
    unsigned long long seed, count;
    struct run_options run;
    const char *folder;
    bool replay, show, whole;
    struct corpus corpus;
};

struct totals {
    unsigned long verdicts[VERDICTS], kernels[KERNEL_KINDS], mutants;
    bool has_compiler;
};

static const char *verdict_text(enum verdict verdict)
{
    static const char *const texts[] = {"good", "invalid", "different", "late", "dead"};
    return texts[verdict];
}

/* ---- options --------------------------------------------------------------------------------- */

static unsigned long long day(void)
{
    time_t t = time(NULL);
    struct tm tm;
    gmtime_r(&t, &tm);
    return ((tm.tm_year + 1900ull) * 10000 + (tm.tm_mon + 1ull) * 100 + (unsigned)tm.tm_mday) *
           10000;
}

static bool set_number(struct options *o, const char *name, const char *value)
{
    double *seconds = !strcmp(name, "--limit")    ? &o->run.limit
                      : !strcmp(name, "--native") ? &o->run.native_limit
                      : !strcmp(name, "--late")   ? &o->run.late
                                                  : NULL;
    unsigned long long *number = !strcmp(name, "--seed")    ? &o->seed
                                 : !strcmp(name, "--count") ? &o->count
                                                            : NULL;
    char *end = NULL;
    if (number)
        *number = strtoull(value, &end, 10);
    else if (seconds)
        *seconds = strtod(value, &end);
    return end && end != value && !*end;
}

static bool parse_options(int argc, char **argv, struct options *o)
{
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        bool ok = true;
        if (!strcmp(a, "--today"))
            o->seed = day();
        else if (!strcmp(a, "--replay"))
            o->replay = true;
        else if (!strcmp(a, "--show"))
            o->show = true;
        else if (!strcmp(a, "--whole"))
            o->whole = true;
        else if (*a != '-')
            ok = corpus_add(&o->corpus, a);
        else if (i + 1 == argc)
            ok = false;
        else if (!strcmp(a, "--out"))
            o->folder = argv[++i];
        else
            ok = set_number(o, a, argv[i + 1]), i++;
        if (!ok) {
            fprintf(stderr, "mutants: bad option or file: %s\n", a);
            return false;
        }
    }
    corpus_sort(&o->corpus);
    if (!o->corpus.n)
        fprintf(stderr, "mutants: no files\n");
    return o->corpus.n > 0;
}

/* ---- running --------------------------------------------------------------------------------- */

static volatile sig_atomic_t is_told_to_stop;

static void on_stop(int signal)
{
    (void)signal;
    is_told_to_stop = true;
}

static void try_text(struct pen *pen, const char *text, size_t bytes, struct report *report)
{
    struct run_head head = {bytes};
    char why[100];
    memset(report, 0, sizeof *report);
    if (pen_ask(pen, &head, sizeof head, text, bytes, report, sizeof *report, why, sizeof why))
        return;
    memset(report, 0, sizeof *report);
    report->verdict = VERDICT_DEAD;
    snprintf(report->text, sizeof report->text, "%s: %s", run_place(), why);
}

static void try_tokens(struct pen *pen, const struct tokens *tokens, struct report *report)
{
    char *text = tokens_text(tokens);
    try_text(pen, text, strlen(text), report);
    free(text);
}

/* Takes statements out as long as the mutant fails alike. */
static void reduce(struct pen *pen, struct tokens *tokens, struct report *report)
{
    time_t end = time(NULL) + REDUCE_SECONDS;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t at = 0; at < tokens->n && time(NULL) < end && !is_told_to_stop;) {
            struct statement s = statement_of(tokens, at);
            struct tokens less = {0};
            struct report now;
            tokens_insert(&less, 0, tokens->v, tokens->n);
            tokens_remove(&less, s.first, s.n);
            try_tokens(pen, &less, &now);
            bool is_alike = now.verdict == report->verdict;
            if (is_alike) {
                struct tokens was = *tokens;
                *tokens = less;
                less = was;
                *report = now;
                changed = true;
            } else {
                at = s.first + s.n;
            }
            free(less.v);
        }
    }
}

static void write_mutant(const struct options *o, const char *name, const struct tokens *tokens,
                         const struct report *report)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/mutant-%s.ptx", o->folder, name);
    FILE *file = fopen(path, "w");
    char *text = tokens_text(tokens);
    bool ok = file && fprintf(file,
                              "// %s: %s\n"
                              "%s",
                              verdict_text(report->verdict), report->text, text) > 0;
    if (!file || fclose(file) || !ok)
        perror(path);
    else
        printf("    written to %s\n", path);
    free(text);
}

static void count(struct totals *totals, const struct report *report)
{
    totals->mutants++;
    totals->verdicts[report->verdict]++;
    totals->has_compiler |= report->has_compiler;
    for (unsigned i = 0; i < KERNEL_KINDS; i++)
        totals->kernels[i] += report->kernels[i];
}

static void try_one(struct pen *pen, const struct options *o, unsigned long long seed,
                    struct totals *totals)
{
    const struct source *source;
    struct report report;
    char name[32];
    struct tokens tokens = mutate(&o->corpus, seed, &source);
    snprintf(name, sizeof name, "%llu", seed);
    if (o->show) {
        char *text = tokens_text(&tokens);
        printf("// seed %s, of %s\n%s", name, source->path, text);
        free(text);
    } else {
        try_tokens(pen, &tokens, &report);
        count(totals, &report);
        if (report.verdict > VERDICT_INVALID) {
            printf("seed %s, of %s: %s: %s\n", name, source->path, verdict_text(report.verdict),
                   report.text);
            fflush(stdout);
            if (!o->whole)
                reduce(pen, &tokens, &report);
            write_mutant(o, name, &tokens, &report);
            fflush(stdout);
        }
    }
    free(tokens.v);
}

static void replay(struct pen *pen, const struct source *source, struct totals *totals)
{
    struct report report;
    try_text(pen, source->text, source->bytes, &report);
    count(totals, &report);
    if (report.verdict > VERDICT_INVALID)
        printf("%s: %s: %s\n", source->path, verdict_text(report.verdict), report.text);
}

static unsigned long tell(const struct totals *t)
{
    static const char *const kinds[] = {"compared",
                                        "faulted alike",
                                        "depend on the order of threads",
                                        "out of time",
                                        "not compiled in time",
                                        "with unread loads that fail",
                                        "whose lanes part",
                                        "reading what nobody wrote",
                                        "reading clocks",
                                        "whose variables lay elsewhere",
                                        "wild",
                                        "native"};
    unsigned long failed = 0;
    printf("kernels:");
    for (unsigned i = 0; i < KERNEL_KINDS; i++)
        printf(" %lu %s%s", t->kernels[i], kinds[i], i + 1 < KERNEL_KINDS ? "," : "\n");
    for (unsigned i = VERDICT_INVALID + 1; i < VERDICTS; i++) {
        failed += t->verdicts[i];
        if (t->verdicts[i])
            printf("%s: %lu\n", verdict_text(i), t->verdicts[i]);
    }
    if (t->has_compiler && t->mutants >= MANY &&
        t->kernels[KERNEL_NATIVE] < t->mutants / NATIVE_LEAST) {
        printf("too few kernels were native\n");
        failed++;
    }
    printf("mutants: %lu passed, %lu failed, %lu skipped\n", t->verdicts[VERDICT_GOOD], failed,
           t->verdicts[VERDICT_INVALID]);
    return failed;
}

int main(int argc, char **argv)
{
    static struct options o = {.seed = 1, .count = 1000, .run = {0.1, 3, 3}, .folder = "."};
    struct totals totals = {0};
    if (!parse_options(argc, argv, &o))
        return 2;
    struct sigaction action = {.sa_handler = on_stop, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct pen *pen = run_share_place() ? pen_open(run_serve, &o.run) : NULL;
    if (!pen) {
        perror("mutants");
        return 1;
    }
    if (!o.replay && !o.show)
        printf("mutants: from seed %llu, of %zu files\n", o.seed, o.corpus.n);
    for (size_t i = 0; o.replay && i < o.corpus.n; i++)
        replay(pen, &o.corpus.files[i], &totals);
    for (unsigned long long i = 0; !o.replay && i < o.count && !is_told_to_stop; i++)
        try_one(pen, &o, o.seed + i, &totals);
    pen_close(pen);
    corpus_free(&o.corpus);
    return o.show || !tell(&totals) ? 0 : 1;
}
