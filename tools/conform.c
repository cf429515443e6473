/* ptera conform: runs the conformance suite through anybody's driver library. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/commands.h"
#include "tools/conform/kind.h"
#include "tools/conform/list.h"
#include "tools/conform/pool.h"
#include "tools/conform_report.h"
#include "tools/exec.h"
#include "tools/options.h"

static const char conform_help[] =
    "usage: ptera conform --suite FILE|FOLDER [OPTION...]\n"
    "       ptera conform --compare [--output FILE] RESULT.json...\n\n"
    "Runs the kernels of the conformance suite through a CUDA driver library, in processes that "
    "may die or hang, and compares\n"
    "what they leave with what is expected. docs/conformance.md describes the suite.\n\n"
    "  --driver FILE          the library, a libcuda.so.1 (Ptera's own)\n"
    "  --engine interp|jit    of Ptera's own library\n"
    "  --chapter NAME,...     those chapters alone\n"
    "  --row TEXT             those rows alone that have it in their name or form, at any level\n"
    "  --level quick|full     how many of the rows (quick)\n"
    "  --format text|json|junit|html\n"
    "  --output FILE          where the report goes (standard output)\n"
    "  --known FILE           rows that do not pass, and why (docs/conformance.md)\n"
    "  --timeout SECONDS      that a row may take (30)\n"
    "  --workers N            processes (one a CPU)\n"
    "  --first                ends at the first row that does not pass\n"
    "  --list                 the rows, not run\n"
    "  --show                 what the rows load, not run\n"
    "  --compare              a table, in HTML, of reports in JSON side by side\n\n"
    "Exit status: 0 all rows pass or are known, 1 some do not, 2 wrong usage.\n";

struct options {
    const char *suite, *driver, *engine, *level, *format, *output;
    struct list_options list;
    double timeout;
    unsigned workers;
    bool is_first, is_list, is_show, is_compare, is_help;
};

/* How many arguments are left; -1: wrong usage. */
static int take_options(int argc, char **argv, struct options *o)
{
    const struct option known[] = {{.name = "--suite", .text = &o->suite},
                                   {.name = "--driver", .text = &o->driver},
                                   {.name = "--engine", .text = &o->engine},
                                   {.name = "--chapter", .text = &o->list.chapters},
                                   {.name = "--row", .text = &o->list.row},
                                   {.name = "--level", .text = &o->level},
                                   {.name = "--format", .text = &o->format},
                                   {.name = "--output", .text = &o->output},
                                   {.name = "--known", .text = &o->list.known},
                                   {.name = "--timeout", .real = &o->timeout},
                                   {.name = "--workers", .number = &o->workers},
                                   {.name = "--first", .flag = &o->is_first},
                                   {.name = "--list", .flag = &o->is_list},
                                   {.name = "--show", .flag = &o->is_show},
                                   {.name = "--compare", .flag = &o->is_compare},
                                   {.name = "--help", .flag = &o->is_help},
                                   {.name = NULL}};
    int left = options_take("conform", known, argc, argv);
    o->list.is_own = !o->driver;
    o->list.is_full = o->level && !strcmp(o->level, "full");
    bool is_right = (!o->level || o->list.is_full || !strcmp(o->level, "quick")) &&
                    (!o->engine || !strcmp(o->engine, "interp") || !strcmp(o->engine, "jit")) &&
                    !(o->engine && o->driver) && o->timeout > 0 && o->workers > 0 &&
                    conform_report_knows(o->format) &&
                    (o->is_compare ? left > 0 : left == 0 && o->suite);
    if (left >= 0 && !is_right && !o->is_help)
        fprintf(stderr, "ptera conform: the arguments do not fit (ptera conform --help)\n");
    return is_right || o->is_help ? left : -1;
}

/* ---- what is not run ------------------------------------------------------------------------- */

static int show(const struct conform_list *list, bool is_text, FILE *out)
{
    for (size_t i = 0; i < list->rows.n; i++) {
        const struct conform_row *row = &list->rows.v[i];
        char id[ROW_ID];
        if (!is_text) {
            fprintf(out, "%s\t%s\n", conform_row_id(row, id), row->form);
            continue;
        }
        char *text = conform_kind_find(row->set->kind)->text(row);
        fprintf(out, "// %s: %s\n// expected: %s, driver %s\n%s\n", conform_row_id(row, id),
                row->form, row->set->device, row->set->driver, text ? text : "");
        free(text);
    }
    return EXIT_GOOD;
}

/* ---- running --------------------------------------------------------------------------------- */

static int run(struct conform_list *list, const struct options *o, FILE *out)
{
    char own[PATH_MAX + 32], why[RESULT_TEXT];
    struct pool_device device = {0};
    struct pool_options pool = {o->driver, o->workers, o->timeout, o->is_first};
    if (!o->driver) {
        snprintf(own, sizeof own, "%s/libcuda.so.1", library_folder());
        pool.library = own;
    }
    if (o->engine)
        setenv("PTERA_ENGINE", o->engine, 1);
    if (!conform_pool_run(&pool, &list->rows, &device, why, sizeof why)) {
        fprintf(stderr, "ptera conform: %s: %s\n", pool.library, why);
        return EXIT_FAILED;
    }
    struct conform_report report = {.library = pool.library,
                                    .engine = o->engine,
                                    .level = o->list.is_full ? "full" : "quick",
                                    .device = &device,
                                    .list = list};
    return conform_report_put(out, o->format, &report) ? EXIT_GOOD : EXIT_FAILED;
}

static int conform(const struct options *o, FILE *out)
{
    static struct conform_list list;
    struct suite suite;
    int status = EXIT_USAGE;
    if (!conform_suite_open(&suite, o->suite))
        return EXIT_USAGE;
    if (conform_list_read(&list, &suite, &o->list)) {
        if (list.rows.n == 0)
            fprintf(stderr, "ptera conform: the suite has no such rows\n");
        else
            status = o->is_list || o->is_show ? show(&list, o->is_show, out) : run(&list, o, out);
    }
    conform_list_free(&list);
    conform_suite_close(&suite);
    return status;
}

int command_conform(int argc, char **argv)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    struct options o = {.timeout = 30, .workers = cpus > 0 ? (unsigned)cpus : 1, .format = "text"};
    int left = take_options(argc - 1, argv + 1, &o);
    if (left < 0)
        return EXIT_USAGE;
    if (o.is_help) {
        fputs(conform_help, stdout);
        return EXIT_GOOD;
    }
    FILE *out = o.output ? fopen(o.output, "w") : stdout;
    if (!out) {
        fprintf(stderr, "ptera conform: %s: %s\n", o.output, strerror(errno));
        return EXIT_USAGE;
    }
    int status = o.is_compare ? conform_compare_put(out, argv + 1, left) : conform(&o, out);
    if (o.output && fclose(out) != 0) {
        fprintf(stderr, "ptera conform: %s: %s\n", o.output, strerror(errno));
        status = EXIT_FAILED;
    }
    return status;
}
