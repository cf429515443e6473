/* ptera litmus: litmus tests of the memory consistency model. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/litmus/judge.h"
#include "tools/litmus/model.h"

static const char litmus_help[] =
    "usage: ptera litmus --judge FILE [--show]\n\n"
    "Litmus tests of PTX's memory consistency model, and what the model says of them "
    "(tools/litmus/model.def).\n\n"
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

int command_litmus(int argc, char **argv)
{
    const char *file = NULL;
    bool shows = false;
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fputs(litmus_help, stdout);
        return EXIT_GOOD;
    }
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--show")) {
            shows = true;
        } else if (!strcmp(argv[i], "--judge") && i + 1 < argc) {
            file = argv[++i];
        } else {
            fprintf(stderr, "ptera litmus: unknown option '%s' (ptera litmus --help)\n", argv[i]);
            return EXIT_USAGE;
        }
    }
    if (!file) {
        fputs(litmus_help, stderr);
        return EXIT_USAGE;
    }
    return judge_file(file, shows);
}
