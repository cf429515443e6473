/* ptera litmus: litmus tests of the memory consistency model. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/litmus/campaign.h"
#include "tools/litmus/generate.h"
#include "tools/litmus/judge.h"
#include "tools/litmus/model.h"
#include "tools/litmus/ptx.h"

static const char litmus_help[] =
    "usage: ptera litmus [OPTIONS]\n"
    "       ptera litmus --judge FILE [--show]\n\n"
    "Litmus tests of PTX's memory consistency model. Makes some at random from cycles, as diy "
    "does, "
    "and runs them: no outcome may come that\n"
    "the model (tools/litmus/model.def) forbids. Tells which weak ones came.\n\n"
    "  --seed N            of the first test; the next ones count up (1)\n"
    "  --count N           tests (100)\n"
    "  --engine interp|jit|both\n"
    "                      Ptera's interpreter, native code, or both (both)\n"
    "  --against LIBRARY   a driver library (libcuda.so.1) instead, of a GPU or of anybody\n"
    "  --rounds N          of each launch, of so many instances of a test in a group as a warp has "
    "lanes (8; with a driver 16)\n"
    "  --schedules N       of the interpreter under which reads may see old values (2)\n"
    "  --workers N         processes (1)\n"
    "  --list              the tests as lines for --judge, instead\n"
    "  --ptx               their kernels, instead\n\n"
    "  --judge FILE        tests, a line each: name, program, outcome, and `allowed` or "
    "`forbidden` or nothing, with tabs between.\n"
    "                      Says whether the model allows the outcome; if not, which axioms "
    "forbid it. A verdict that is there must be the same\n"
    "  --show              all outcomes that are allowed, those of no interleaving with a star\n\n"
    "A program has threads, with | between: 0.1: st.weak [x], 1; fence.acq_rel.gpu; "
    "st.relaxed.gpu [y], 1\n"
    "is in cluster 0, CTA 1. Places are x, y, z, w (x' is x by another virtual address), registers "
    "r0 to r9, each of one thread.\n"
    "An outcome: r0=1 x!=2 | r0=0. docs/litmus.md says more.\n";

enum { FIELDS = 4, LINE = 4096 };

static bool is_any(const struct litmus_outcomes *outcomes, const char *condition)
{
    for (unsigned i = 0; i < outcomes->n; i++)
        if (litmus_outcome_is(outcomes->v[i], condition))
            return true;
    return false;
}

/* Axioms without each of which it would be allowed. */
static void tell_axioms(const struct litmus_test *test, const char *condition)
{
    const char *separator = ": ";
    for (unsigned i = 0; i < LITMUS_AXIOMS; i++) {
        struct litmus_outcomes allowed = {0};
        litmus_judge_allowed(test, 1u << i, &allowed);
        if (is_any(&allowed, condition)) {
            printf("%s%s", separator, litmus_model_axiom(i));
            separator = ", ";
        }
        litmus_outcomes_free(&allowed);
    }
}

static void show(const struct litmus_test *test, const struct litmus_outcomes *allowed)
{
    struct litmus_outcomes strong = {0};
    char text[200];
    litmus_interleave(test, &strong);
    for (unsigned i = 0; i < allowed->n; i++) {
        litmus_outcome_write(test, allowed->v[i], text, sizeof text);
        printf("    %s%s\n", text, litmus_outcomes_have(&strong, allowed->v[i]) ? "" : " *");
    }
    litmus_outcomes_free(&strong);
}

/* One line. False: it cannot be read, or the verdict is another. */
static bool judge(char *field[FIELDS], bool shows)
{
    struct litmus_test test;
    struct litmus_outcomes allowed = {0};
    char why[300];
    if (!litmus_test_read(field[1], &test, why, sizeof why)) {
        printf("%s: %s\n", field[0], why);
        return false;
    }
    bool ok = litmus_judge_allowed(&test, 0, &allowed), is_allowed = is_any(&allowed, field[2]);
    const char *verdict = is_allowed ? "allowed" : "forbidden";
    printf("%s: %s", field[0], ok ? verdict : "it is too large");
    if (ok && !is_allowed)
        tell_axioms(&test, field[2]);
    if (ok && *field[3] && strcmp(field[3], verdict) != 0) {
        printf("; the file says %s", field[3]);
        ok = false;
    }
    printf("\n");
    if (shows)
        show(&test, &allowed);
    litmus_outcomes_free(&allowed);
    return ok;
}

static void split(char *line, char *field[FIELDS])
{
    static char none[1];
    line[strcspn(line, "\n")] = 0;
    for (unsigned i = 0; i < FIELDS; i++) {
        field[i] = line ? line : none;
        line = line ? strchr(line, '\t') : NULL;
        if (line)
            *line++ = 0;
    }
}

static int judge_file(const char *path, bool shows)
{
    static char line[LINE];
    char *field[FIELDS];
    unsigned passed = 0, failed = 0;
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        return EXIT_USAGE;
    }
    while (fgets(line, sizeof line, file)) {
        if (*line == '#' || *line == '\n')
            continue;
        split(line, field);
        *(judge(field, shows) ? &passed : &failed) += 1;
    }
    fclose(file);
    printf("litmus: %u passed, %u failed, 0 skipped\n", passed, failed);
    return passed && !failed ? EXIT_GOOD : EXIT_FAILED;
}

/* ---- random tests ---------------------------------------------------------------------------- */

enum show { SHOW_NOTHING, SHOW_TESTS, SHOW_KERNELS };

struct options {
    struct litmus_campaign campaign;
    enum show show;
    const char *judged; /* a file */
    bool shows_outcomes;
};

static void list(const struct litmus_campaign *c, enum show what)
{
    for (unsigned i = 0; i < c->count; i++) {
        struct litmus_generated g;
        char text[LITMUS_TEXT];
        litmus_generate(&g, c->seed + i);
        litmus_test_write(&g.test, text);
        if (what == SHOW_TESTS) {
            printf("%llu %s\t%s\n", (unsigned long long)c->seed + i, g.of[LITMUS_BY_FAMILY], text);
            continue;
        }
        char *ptx = litmus_ptx(&g.test, false);
        printf("// %s\n%s", text, ptx ? ptx : "");
        free(ptx);
    }
}

static bool read_number(const char *text, uint64_t most, uint64_t *n)
{
    char *end;
    *n = strtoull(text, &end, 0);
    return *text >= '0' && *text <= '9' && !*end && *n <= most;
}

static bool read_engine(const char *text, enum litmus_engine *engine)
{
    static const char *const names[] = {
        [LITMUS_INTERP] = "interp", [LITMUS_JIT] = "jit", [LITMUS_BOTH] = "both"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(text, names[i])) {
            *engine = i;
            return true;
        }
    return false;
}

static bool read_value(struct options *o, const char *name, const char *value)
{
    struct litmus_campaign *c = &o->campaign;
    const struct {
        const char *name;
        unsigned *to, most;
    } numbers[] = {{"--count", &c->count, 10000000},
                   {"--workers", &c->workers, 256},
                   {"--rounds", &c->run.rounds, 1024},
                   {"--schedules", &c->run.schedules, LITMUS_SCHEDULES}};
    uint64_t n;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!strcmp(name, numbers[i].name) && read_number(value, numbers[i].most, &n) && n) {
            *numbers[i].to = (unsigned)n;
            return true;
        }
    if (!strcmp(name, "--seed"))
        return read_number(value, UINT64_MAX, &c->seed);
    if (!strcmp(name, "--engine"))
        return read_engine(value, &c->run.engine);
    const char **text = !strcmp(name, "--against") ? &c->run.driver
                        : !strcmp(name, "--judge") ? &o->judged
                                                   : NULL;
    if (text)
        *text = value;
    return text;
}

static bool read_options(int argc, char **argv, struct options *o)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--show")) {
            o->shows_outcomes = true;
        } else if (!strcmp(argv[i], "--list")) {
            o->show = SHOW_TESTS;
        } else if (!strcmp(argv[i], "--ptx")) {
            o->show = SHOW_KERNELS;
        } else if (i + 1 == argc || !read_value(o, argv[i], argv[i + 1])) {
            fprintf(stderr,
                    "ptera litmus: unknown option or bad value: '%s' (ptera litmus --help)\n",
                    argv[i]);
            return false;
        } else {
            i++;
        }
    }
    return true;
}

int command_litmus(int argc, char **argv)
{
    struct options o = {
        .campaign = {
            .run = {.engine = LITMUS_BOTH, .schedules = 2}, .seed = 1, .count = 100, .workers = 1}};
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fputs(litmus_help, stdout);
        return EXIT_GOOD;
    }
    if (!read_options(argc, argv, &o))
        return EXIT_USAGE;
    if (o.judged)
        return judge_file(o.judged, o.shows_outcomes);
    if (o.show) {
        list(&o.campaign, o.show);
        return EXIT_GOOD;
    }
    return litmus_campaign_run(&o.campaign) ? EXIT_GOOD : EXIT_FAILED;
}
