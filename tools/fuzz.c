/* ptera fuzz: random kernels on both engines. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/fuzz/gen.h"
#include "tools/fuzz/pen.h"
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
    "  --check             run each under all checkers, too, which must find nothing and change "
    "nothing\n"
    "  --timeout SECONDS   of CPU time, for one kernel on all of them (60)\n"
    "  --out FOLDER        where failing kernels are written (.)\n"
    "  --whole             do not make them smaller\n"
    "  --show              print the kernels instead of running them\n"
    "  --for-gpu           leave out what NVIDIA's assembler and GPUs make something of their own "
    "of\n";

struct options {
    unsigned long long seed, count;
    struct trial_options trial;
    const char *folder;
    bool whole, show, for_gpu;
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
    else
        return false;
    return true;
}

static bool parse_options(int argc, char **argv, struct options *o)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--whole")) {
            o->whole = true;
        } else if (!strcmp(argv[i], "--show")) {
            o->show = true;
        } else if (!strcmp(argv[i], "--check")) {
            o->trial.checks = check_all();
        } else if (!strcmp(argv[i], "--for-gpu")) {
            o->for_gpu = true;
        } else if (i + 1 == argc || !set_option(o, argv[i], argv[i + 1])) {
            fprintf(stderr, "ptera fuzz: unknown option or bad value: '%s' (ptera fuzz --help)\n",
                    argv[i]);
            return false;
        } else {
            i++;
        }
    }
    return true;
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

static void try_seed(struct pen *pen, unsigned long long seed, const struct options *o,
                     unsigned long verdicts[VERDICTS])
{
    struct gen_kernel kernel;
    struct trial trial;
    gen_make(&kernel, seed, o->for_gpu);
    if (o->show) {
        show(&kernel);
    } else {
        trial_run(pen, &kernel, &trial);
        verdicts[trial.verdict]++;
        if (trial.verdict == VERDICT_INTERPRETED)
            printf("seed %llu: %s: %s\n", seed, verdict_text(trial.verdict), trial.text);
        if (trial.verdict > VERDICT_INTERPRETED) {
            if (!o->whole)
                gen_reduce(&kernel, pen, &trial, &is_told_to_stop);
            write_kernel(&kernel, o, &trial);
        }
    }
    gen_free(&kernel);
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

int command_fuzz(int argc, char **argv)
{
    unsigned long verdicts[VERDICTS] = {0};
    struct options o = {.seed = 1,
                        .count = 100,
                        .trial = {TRIAL_BOTH, .is_native_once = true, .seconds = 60},
                        .folder = "."};
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fputs(fuzz_help, stdout);
        return EXIT_GOOD;
    }
    if (!parse_options(argc, argv, &o))
        return EXIT_USAGE;
    struct pen *pen = trial_open(&o.trial);
    if (!pen) {
        perror("ptera fuzz");
        return EXIT_FAILED;
    }
    listen_to_stop();
    for (unsigned long long i = 0; i < o.count && !is_told_to_stop; i++)
        try_seed(pen, o.seed + i, &o, verdicts);
    pen_close(pen);
    return o.show || !report(verdicts, &o) ? EXIT_GOOD : EXIT_FAILED;
}
