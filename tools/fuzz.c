/* ptera fuzz: random kernels on both engines. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/fuzz/explain.h"
#include "tools/fuzz/gen.h"
#include "tools/fuzz/hits.h"
#include "tools/fuzz/journal.h"
#include "tools/fuzz/pen.h"
#include "tools/fuzz/rank.h"
#include "tools/fuzz/reduce.h"
#include "tools/fuzz/trial.h"
#include "tools/commands.h"

static const char fuzz_help[] =
    "usage: ptera fuzz [OPTIONS]\n\n"
    "Makes random, well-defined kernels and runs each at every CPU level that the machine has: in "
    "the interpreter, and as native\n"
    "code at one of the levels, which take turns. All must leave the same bytes; kernels that the "
    "compiler does not know are left out.\n"
    "A kernel that fails is made smaller and written to a file. SIGINT and SIGTERM end it after "
    "the run at hand, with its report.\n\n"
    "  --seed N            of the first kernel; the next ones count up (1)\n"
    "  --count N           kernels (100)\n"
    "  --engine interp|jit|both\n"
    "                      the interpreter, native code, or both, compared (both)\n"
    "  --cpu LEVEL         one CPU level; all: native code at every level\n"
    "  --against LIBRARY   a driver library (libcuda.so.1), of a GPU or of anybody: runs each as "
    "well, beside the interpreter\n"
    "  --check             run each under all checkers, too, which must find nothing and change "
    "nothing\n"
    "  --brief             small kernels, but for one of 512, each interpreted at one of the CPU "
    "levels and native at one, by turns:\n"
    "                      ten in the time of one\n"
    "  --timeout SECONDS   of CPU time, for one kernel on all of them (60)\n"
    "  --out FOLDER        where failing kernels are written (.)\n"
    "  --whole             do not make them smaller\n"
    "  --show              print the kernels instead of running them\n"
    "  --for-gpu           leave out what NVIDIA's assembler and GPUs make something of their own "
    "of\n\n"
    "  --journal FILE      write there what has been run, and go on where FILE ends: a run that "
    "was "
    "killed loses the kernel at hand only\n"
    "  --rank R --size N   run the part R (from 0) of N of the kernels; with N > 1 the journal is "
    "FILE.R. Who ends last reports for all\n"
    "  --mpi               take rank and size from the environment: Open MPI's, PMI's, Slurm's "
    "(job "
    "arrays, too)\n"
    "  --report FILE...    one report of the journals of a campaign; runs nothing\n\n"
    "  --corners FILE      count there what rows, types and operands of the instruction table, and "
    "what control flow, kernels have\n"
    "                      had, and prefer what none has; with N > 1 ranks FILE.R\n"
    "  --corners-report FILE...\n"
    "                      what of all that was hit, and what was not, and why; runs nothing\n";

struct options {
    unsigned long long seed, count;
    struct trial_options trial;
    const char *folder;
    bool whole, show, for_gpu;
    bool is_brief; /* most kernels are small, and each runs at one pair of levels */
    unsigned rank, size;
    const char *journal, *corners;
    struct hits hits; /* with --corners */
    char **reports;   /* journals, or tables of corners, to report of */
    int n_reports;
    bool reports_corners;
};

static bool parse_number(const char *text, unsigned long long *n)
{
    char *end;
    errno = 0;
    *n = strtoull(text, &end, 0);
    return end != text && !*end && !errno && *text != '-';
}

static bool parse_engine(const char *text, enum trial_engine *engine)
{
    static const char *const names[] = {
        [TRIAL_INTERP] = "interp", [TRIAL_JIT] = "jit", [TRIAL_BOTH] = "both"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(text, names[i])) {
            *engine = i;
            return true;
        }
    return false;
}

static bool set_part(const char *name, const char *value, struct options *o)
{
    unsigned long long n = 0;
    unsigned *part = !strcmp(name, "--rank") ? &o->rank : !strcmp(name, "--size") ? &o->size : NULL;
    bool ok = part && parse_number(value, &n) && n < 1u << 24;
    if (ok)
        *part = (unsigned)n;
    return ok;
}

static bool set_option(struct options *o, const char *name, const char *value)
{
    unsigned long long n = 0;
    if (!strcmp(name, "--seed"))
        return parse_number(value, &o->seed);
    if (!strcmp(name, "--count"))
        return parse_number(value, &o->count);
    if (!strcmp(name, "--engine"))
        return parse_engine(value, &o->trial.engine);
    if (!strcmp(name, "--timeout")) {
        bool ok = parse_number(value, &n) && n > 0 && n < 1000000;
        o->trial.seconds = (unsigned)n;
        return ok;
    }
    if (!strcmp(name, "--cpu")) {
        o->trial.is_native_once = false;
        o->trial.cpu = strcmp(value, "all") ? value : NULL;
    } else if (!strcmp(name, "--out"))
        o->folder = value;
    else if (!strcmp(name, "--journal"))
        o->journal = value;
    else if (!strcmp(name, "--corners"))
        o->corners = value;
    else if (!strcmp(name, "--against")) {
        o->trial.driver = value;
        o->trial.engine = TRIAL_INTERP;
    } else
        return set_part(name, value, o);
    return true;
}

static bool parse_options(int argc, char **argv, struct options *o)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--whole")) {
            o->whole = true;
        } else if (!strcmp(argv[i], "--show")) {
            o->show = true;
        } else if (!strcmp(argv[i], "--brief")) {
            o->is_brief = true;
            o->trial.is_interpreted_once = true;
        } else if (!strcmp(argv[i], "--check")) {
            o->trial.checks = check_all();
        } else if (!strcmp(argv[i], "--for-gpu")) {
            o->for_gpu = true;
        } else if (!strcmp(argv[i], "--mpi")) {
            if (!rank_find(&o->rank, &o->size)) {
                fputs("ptera fuzz: --mpi: no launcher has set rank and size\n", stderr);
                return false;
            }
        } else if (!strcmp(argv[i], "--report") || !strcmp(argv[i], "--corners-report")) {
            o->reports_corners = argv[i][2] == 'c';
            o->reports = argv + i + 1;
            o->n_reports = argc - i - 1;
            return true;
        } else if (i + 1 == argc || !set_option(o, argv[i], argv[i + 1])) {
            fprintf(stderr, "ptera fuzz: unknown option or bad value: '%s' (ptera fuzz --help)\n",
                    argv[i]);
            return false;
        } else {
            i++;
        }
    }
    if (o->rank >= o->size)
        fprintf(stderr, "ptera fuzz: there is no rank %u of %u\n", o->rank, o->size);
    return o->rank < o->size;
}

static volatile sig_atomic_t is_told_to_stop;

static bool write_kernel(const struct gen_kernel *k, const struct options *o,
                         const struct trial *trial)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/fuzz-%llu.ptx", o->folder, (unsigned long long)k->seed);
    char *text = gen_text(k);
    FILE *file = fopen(path, "w");
    bool ok = file && fputs(text, file) >= 0;
    if (ok && trial->verdict == VERDICT_DIFFERENT)
        explain_byte(k, text, trial->at, file);
    ok = file && fclose(file) == 0 && ok;
    if (ok)
        printf("seed %llu: %s: %s\n    written to %s\n", (unsigned long long)k->seed,
               verdict_text(trial->verdict), trial->text, path);
    else
        perror(path);
    fflush(stdout);
    free(text);
    return ok;
}

static void show(const struct gen_kernel *k)
{
    char *text = gen_text(k);
    fputs(text, stdout);
    free(text);
}

/* A kernel's trial; what fails is made smaller and written. */
static void try_kernel(struct pen *pen, struct gen_kernel *kernel, const struct options *o,
                       struct trial *trial)
{
    trial_run(pen, kernel, trial);
    if (trial->verdict == VERDICT_INTERPRETED)
        printf("seed %llu: %s: %s\n", (unsigned long long)kernel->seed,
               verdict_text(trial->verdict), trial->text);
    if (trial->verdict > VERDICT_INTERPRETED) {
        if (!o->whole)
            gen_reduce(kernel, pen, trial, &is_told_to_stop);
        if (o->trial.driver && trial->verdict != VERDICT_INVALID)
            trial_run_plain(pen, kernel, trial);
        write_kernel(kernel, o, trial);
    }
}

enum { BRIEF_WHOLE = 512 }; /* with --brief, of so many kernels one is as large as without */

#define SCATTER UINT64_C(0x9e3779b97f4a7c15) /* from one seed's corners to far ones */

/* False: the journal cannot be written. */
static bool try_seed(struct pen *pen, unsigned long long seed, struct options *o,
                     struct journal *journal, unsigned long verdicts[VERDICTS])
{
    struct gen_kernel kernel;
    struct gen_wishes wishes = {0};
    struct hits_part part = {!o->for_gpu && !o->trial.driver, o->rank, o->size};
    struct trial trial;
    if (journal && !journal_begin(journal, seed))
        return false;
    if (o->corners)
        hits_choose(&o->hits, seed * SCATTER, &part, &wishes);
    struct gen_options like = {.for_gpu = o->for_gpu,
                               .is_small = o->is_brief && seed % BRIEF_WHOLE != 0,
                               .wishes = &wishes};
    gen_make(&kernel, seed, &like);
    if (o->show) {
        show(&kernel);
    } else {
        if (o->corners)
            hits_add_shapes(&o->hits, &kernel);
        try_kernel(pen, &kernel, o, &trial);
        verdicts[trial.verdict]++;
    }
    gen_free(&kernel);
    return !journal || journal_end(journal, seed, &trial);
}

static void on_stop(int signal)
{
    (void)signal;
    is_told_to_stop = true;
}

/* timeout(1) sends a signal to the process and to its group: a second one changes nothing. */
static void listen_to_stop(void)
{
    struct sigaction action = {.sa_handler = on_stop, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static unsigned long report(const unsigned long verdicts[VERDICTS], const struct options *o)
{
    unsigned long failed = 0;
    for (unsigned v = VERDICT_INTERPRETED + 1; v < VERDICTS; v++) {
        failed += verdicts[v];
        if (verdicts[v])
            printf("%s: %lu\n", verdict_text(v), verdicts[v]);
    }
    /* nothing was compared with anything */
    failed += !failed && o->count && !verdicts[VERDICT_GOOD];
    unsigned long skipped = verdicts[VERDICT_UNSUPPORTED] + verdicts[VERDICT_INTERPRETED];
    printf("fuzz: %lu passed, %lu failed, %lu skipped\n", verdicts[VERDICT_GOOD], failed, skipped);
    return failed;
}

/* ---- campaigns ------------------------------------------------------------------------------- */

static struct campaign campaign_of(const struct options *o)
{
    static const char *const engines[] = {"interp", "jit", "both"};
    struct campaign c = {.seed = o->seed, .count = o->count, .rank = o->rank, .size = o->size};
    const char *cpu = o->trial.cpu ? o->trial.cpu : o->trial.is_native_once ? "turns" : "all";
    snprintf(c.what, sizeof c.what, "engine %s cpu %s%s%s%s%s%s%s", engines[o->trial.engine], cpu,
             o->is_brief ? " brief" : "", o->trial.checks ? " check" : "",
             o->for_gpu ? " for-gpu" : "", o->corners ? " corners" : "",
             o->trial.driver ? " against " : "", o->trial.driver ? o->trial.driver : "");
    return c;
}

enum { SAVE_EVERY = 250 };

/* The rank's kernels from `seed` on. False: the journal, or the table, cannot be written. */
static bool run_part(struct pen *pen, struct options *o, unsigned long long seed,
                     struct journal *journal, unsigned long verdicts[VERDICTS])
{
    struct campaign campaign = campaign_of(o);
    char *table = o->corners ? journal_path(o->corners, &campaign) : NULL;
    unsigned unsaved = 0;
    bool ok = !o->corners || (table && hits_read(&o->hits, table));
    for (; ok && seed - o->seed < o->count && !is_told_to_stop; seed += o->size) {
        ok = try_seed(pen, seed, o, journal, verdicts);
        if (table && ++unsaved % SAVE_EVERY == 0)
            ok = hits_write(&o->hits, table) && ok;
    }
    if (table && unsaved)
        ok = hits_write(&o->hits, table) && ok;
    free(table);
    return ok;
}

/* False, having said why. */
static bool open_corners(struct options *o)
{
    if (!o->corners)
        return true;
    if (!hits_open(&o->hits))
        perror("ptera fuzz");
    o->trial.corners = o->hits.corner;
    return o->hits.corner;
}

static int run_all(struct options *o)
{
    unsigned long verdicts[VERDICTS] = {0};
    struct campaign campaign = campaign_of(o);
    char *path = o->journal ? journal_path(o->journal, &campaign) : NULL;
    struct journal *journal = path ? journal_open(path, &campaign, verdicts) : NULL;
    struct pen *pen = !o->journal || journal ? trial_open(&o->trial) : NULL;
    bool ok = pen;
    if (pen) {
        unsigned long long first = journal ? journal_next(journal) : o->seed + o->rank;
        ok = run_part(pen, o, first, journal, verdicts);
        pen_close(pen);
    } else if (!o->journal || journal) {
        perror("ptera fuzz");
    }
    journal_close(journal);
    free(path);
    if (ok && !o->show)
        ok = !report(verdicts, o);
    if (o->journal && o->size > 1 && !journal_report_last(o->journal, &campaign))
        ok = false;
    return ok ? EXIT_GOOD : EXIT_FAILED;
}

int command_fuzz(int argc, char **argv)
{
    struct options o = {.seed = 1,
                        .count = 100,
                        .trial = {TRIAL_BOTH, .is_native_once = true, .seconds = 60},
                        .folder = ".",
                        .size = 1};
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fputs(fuzz_help, stdout);
        return EXIT_GOOD;
    }
    if (!parse_options(argc, argv, &o))
        return EXIT_USAGE;
    if (o.reports) {
        unsigned n = (unsigned)o.n_reports;
        bool ok = o.reports_corners ? hits_report(o.reports, n) : journal_report(o.reports, n);
        return ok ? EXIT_GOOD : EXIT_FAILED;
    }
    if (o.show && o.journal) {
        fputs("ptera fuzz: --show runs nothing that a journal could keep\n", stderr);
        return EXIT_USAGE;
    }
    if (!open_corners(&o))
        return EXIT_FAILED;
    listen_to_stop();
    int result = run_all(&o);
    hits_close(&o.hits);
    return result;
}
