/* ptera check: a kernel under checkers, and reports of what they find. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/commands.h"
#include "tools/observed.h"
#include "tools/options.h"
#include "tools/pages.h"
#include "tools/report.h"
#include "tools/run.h"
#include "tools/suppress.h"

static const char check_help[] =
    "usage: ptera check TOOL[,TOOL] [OPTIONS] FILE.ptx ARG...\n"
    "       ptera check TOOL[,TOOL] [OPTIONS] -- PROGRAM [ARGS...]\n"
    "       ptera check --read FILE [OPTIONS]     a report of what --save kept\n"
    "       ptera check --explain [KIND]          what a finding means\n\n"
    "Runs a kernel, or a CUDA program and all its kernels, under checkers: interpreted, but for "
    "mem "
    "alone, which native code\n"
    "does as well (--engine jit; kernels that prove hot). Further options and arguments of a "
    "kernel "
    "are those of `ptera run`.\n\n"
    "  init                no branch, address, barrier or atomic depends on registers or memory "
    "that nobody wrote; --init=load: no\n"
    "                      such memory is loaded at all\n"
    "  mem                 every access lies in memory of the kernel, is aligned, does not write "
    "what kernels may only read, and is\n"
    "                      in the space that the instruction names. The kernel goes on where there "
    "is memory at all\n"
    "  race                no two accesses of one place, one of them a write, that causality "
    "leaves in no order, or scopes too\n"
    "                      narrow: of lanes, warps, CTAs, clusters, through barriers, fences, "
    "atomics and mbarriers; and none\n"
    "                      with an asynchronous operation in flight (cp.async, bulk and tensor "
    "copies, st.async, red.async,\n"
    "                      wgmma), or that its proxy may not see. What is found holds on the order "
    "that the run had\n"
    "  sync                aligned barriers in divergent code, member masks that differ or leave "
    "out "
    "their lane, counts of\n"
    "                      barriers and mbarriers that do not fit, and deadlocks\n"
    "  order               what a launch leaves in global memory does not depend on the order of "
    "threads: it runs again under\n"
    "                      other schedules, and the first point where they part is told\n"
    "  all                 init, mem, race and sync\n\n"
    "  --format text|json|sarif|html\n"
    "                      of the report (text)\n"
    "  --log-file FILE     where the report goes (standard error)\n"
    "  --save FILE         keeps what was found, for --read\n"
    "  --error-exitcode N  the exit status if something was found (1)\n"
    "  --error-on-notes    notes count as well: they tell of what does no harm by itself\n"
    "  --print-limit N     the first N findings are told\n"
    "  --kernel-name NAME  findings in kernels of that name, a pattern of the shell, alone\n"
    "  --launch-skip N, --launch-count N\n"
    "                      of the launches of such kernels, those behind the first N, and so many "
    "of "
    "them\n"
    "  --suppressions FILE findings that its lines KIND KERNEL FILE:LINE name, as patterns, are "
    "left out\n"
    "  --gen-suppressions FILE\n"
    "                      writes such lines of what was found\n"
    "  --target-processes all|application-only\n"
    "                      of a program: those that it starts are checked as well (all), or not\n"
    "  --leak-check        of a program, with mem: memory that it never freed is a finding, and so "
    "are streams, events,\n"
    "                      modules, graphs and other handles that it never destroyed\n"
    "  --schedules N, --depth D\n"
    "                      order: schedules that are tried (16), by seeds from 1 on, and how often "
    "in one who runs is\n"
    "                      interrupted, plus one (3)\n"
    "  --schedule SEED     order: that one alone\n"
    "  --order-tolerance T order: by how much, relatively, floating-point elements may differ (0)\n"
    "  --order-text        order: what kernels print is compared as well\n\n"
    "Each finding is told once, with how often it was seen. Exit status: 0 nothing but notes was "
    "found, 1 something was, or the\n"
    "kernel failed; a program's own if nothing was found.\n";

struct options {
    const char *tools; /* between commas */
    const struct report_format *format;
    const char *log_file, *save, *read, *suppressions, *new_suppressions, *processes;
    unsigned print_limit;
    ptera_options engine; /* what is asked of it, or of the program's */
    int error_status;
    bool tells_loads, tells_leaks, fails_by_notes;
};

static const char application_only[] = "application-only";

static int wrong_usage(const char *what, const char *value)
{
    fprintf(stderr, "ptera check: %s '%s' (ptera check --help)\n", what, value);
    return EXIT_USAGE;
}

/* ---- checkers -------------------------------------------------------------------------------- */

static const struct checker {
    const char *name;
    unsigned check;
    bool is_of_all; /* `all` means it, too */
} checkers[] = {{"init", PTERA_CHECK_INIT, true}, {"init-load", PTERA_CHECK_INIT_LOAD, false},
                {"mem", PTERA_CHECK_MEM, true},   {"order", PTERA_CHECK_ORDER, false},
                {"race", PTERA_CHECK_RACE, true}, {"sync", PTERA_CHECK_SYNC, true}};
enum { N_CHECKERS = sizeof checkers / sizeof *checkers };

/* Sets what a checker asks of the launch. False: there is no such checker. */
static bool set_checker(const char *name, size_t n, ptera_launch *launch)
{
    for (size_t i = 0; i < N_CHECKERS; i++) {
        if (n != strlen(checkers[i].name) || strncmp(name, checkers[i].name, n) != 0)
            continue;
        launch->checks |= checkers[i].check;
        return true;
    }
    return false;
}

unsigned check_all(void)
{
    unsigned checks = 0;
    for (size_t i = 0; i < N_CHECKERS; i++)
        checks |= checkers[i].is_of_all ? checkers[i].check : 0;
    return checks;
}

struct names {
    char *text;
    size_t n, size;
};

static void add_name(struct names *names, const char *name, size_t length)
{
    if (names->n < names->size)
        names->n += (size_t)snprintf(names->text + names->n, names->size - names->n, "%s%.*s",
                                     names->n ? "," : "", (int)length, name);
}

/* The names, with --init=load in the place of init, and those that `all` means. */
static int name_tools(const struct options *o, const char *given, char *tools, size_t size)
{
    struct names names = {tools, 0, size};
    for (const char *at = given; *at;) {
        size_t length = strcspn(at, ",");
        bool is_all = length == 3 && !strncmp(at, "all", length);
        bool is_load = o->tells_loads && length == 4 && !strncmp(at, "init", length);
        for (size_t i = 0; is_all && i < N_CHECKERS; i++)
            if (checkers[i].is_of_all)
                add_name(&names, checkers[i].name, strlen(checkers[i].name));
        if (!is_all)
            add_name(&names, is_load ? "init-load" : at, is_load ? 9 : length);
        at += length + (at[length] == ',');
    }
    return names.n && names.n < size ? EXIT_GOOD : wrong_usage("no checker is given, but", given);
}

static int set_checkers(const char *names, ptera_launch *launch)
{
    for (const char *at = names; *at;) {
        size_t n = strcspn(at, ",");
        if (!set_checker(at, n, launch))
            return wrong_usage("no checker is given, but", names);
        at += n + (at[n] == ',');
    }
    return *names ? EXIT_GOOD : wrong_usage("no checker is given, but", names);
}

/* ---- reports --------------------------------------------------------------------------------- */

static FILE *open_report(const char *path)
{
    FILE *out = path ? fopen(path, "we") : stderr;
    if (!out)
        fprintf(stderr, "ptera check: cannot write %s: %s\n", path, strerror(errno));
    return out;
}

static bool close_report(FILE *out)
{
    return out == stderr || fclose(out) == 0;
}

/* Of a program: whether checkers saw anything of it. */
static void put_nothing(FILE *out, const struct report *report)
{
    unsigned long long n = report->launches;
    if (n)
        fprintf(out, "nothing found in %llu launch%s\n", n, n > 1 ? "es" : "");
    else
        fputs("no launch was looked at\n", out);
}

static void put_end(FILE *out, const struct options *o, const struct report *report,
                    unsigned n_notes, int status)
{
    unsigned n = report->n, n_errors = n - n_notes;
    bool is_program = status == -1;
    if (n || is_program || status == EXIT_GOOD)
        fprintf(out, "ptera check %s: ", o->tools ? o->tools : "--read");
    if (!n && is_program)
        put_nothing(out, report);
    else if (!n && status == EXIT_GOOD)
        fputs("nothing found\n", out);
    if (n_errors)
        fprintf(out, "%u finding%s%s", n_errors, n_errors > 1 ? "s" : "", n_notes ? ", " : "\n");
    if (n_notes)
        fprintf(out, "%u note%s\n", n_notes, n_notes > 1 ? "s" : "");
}

static unsigned count_notes(const struct report *report)
{
    unsigned n = 0;
    for (unsigned i = 0; i < report->n; i++)
        n += report->v[i].data.is_note ? 1 : 0;
    return n;
}

/* `status`: of the run so far; -1: that of a program, which is not known. Returns the exit
 * status. */
static int put_report(const struct options *o, struct report *report, int status)
{
    FILE *out = open_report(o->log_file);
    if (!out)
        return EXIT_FAILED;
    unsigned n = report->n, n_notes = count_notes(report);
    report->n = o->print_limit && o->print_limit < n ? o->print_limit : n;
    o->format->put(out, report);
    report->n = n;
    if (o->format->put == report_text_put)
        put_end(out, o, report, n_notes, status);
    if (!close_report(out))
        return EXIT_FAILED;
    bool is_found = n > (o->fails_by_notes ? 0 : n_notes);
    return is_found && status <= EXIT_FAILED ? o->error_status : status;
}

static int report_file(const struct options *o, const char *path, int status)
{
    struct report report;
    int end = EXIT_FAILED;
    bool is_good = report_read(&report, path) &&
                   (!o->suppressions || suppress_findings(&report, o->suppressions));
    FILE *out = is_good && o->new_suppressions ? open_report(o->new_suppressions) : NULL;
    if (out) {
        suppress_put(out, &report);
        close_report(out);
    }
    if (is_good && !(o->new_suppressions && !out))
        end = put_report(o, &report, status);
    report_free(&report);
    return end;
}

static int finish_file(const void *options, const char *path, int status)
{
    const struct options *o = options;
    int end = report_file(o, path, status);
    observed_close(path, o->save);
    return end;
}

static int finish(void *ud, ptera_engine *engine, int status)
{
    const struct options *o = ud;
    const char *path = observed_open("check", o->save);
    if (!path)
        return EXIT_FAILED;
    if (ptera_engine_findings_save(engine, path) != PTERA_OK)
        fprintf(stderr, "ptera check: cannot write %s: %s\n", path, strerror(errno));
    return finish_file(o, path, status);
}

/* ---- programs -------------------------------------------------------------------------------- */

static void set_order(const ptera_options *engine)
{
    observed_set_number("PTERA_CHECK_SCHEDULES", engine->order_schedules);
    observed_set_number("PTERA_CHECK_DEPTH", engine->order_depth);
    observed_set_number("PTERA_CHECK_SCHEDULE", engine->order_seed);
    observed_set_number("PTERA_CHECK_TOLERANCE", engine->order_tolerance);
    observed_set_number("PTERA_CHECK_TEXT", engine->order_text);
}

static int check_program(const struct options *o, char **argv)
{
    const char *file = observed_open("check", o->save);
    if (!file)
        return EXIT_FAILED;
    setenv("PTERA_CHECK", o->tools, 1);
    setenv("PTERA_CHECK_FILE", file, 1);
    if (o->engine.check_kernels)
        setenv("PTERA_CHECK_KERNELS", o->engine.check_kernels, 1);
    observed_set_number("PTERA_CHECK_SKIP", o->engine.check_skip);
    observed_set_number("PTERA_CHECK_COUNT", o->engine.check_count);
    set_order(&o->engine);
    if (!strcmp(o->processes, application_only))
        observed_set_number("PTERA_CHECK_PARENT", getpid());
    if (o->tells_leaks)
        setenv("PTERA_CHECK_LEAKS", "1", 1);
    return observed_run("check", argv, finish_file, o, file);
}

/* ---- options --------------------------------------------------------------------------------- */

/* Takes its own options out of argv, up to `--`. Returns what is left, -1 after saying what is
 * wrong. */
static int take_options(int argc, char **argv, struct options *o)
{
    const char *format = "text";
    unsigned status = (unsigned)o->error_status, seed = (unsigned)o->engine.order_seed;
    bool has_text = o->engine.order_text;
    const struct option options[] = {{"--format", .text = &format},
                                     {"--log-file", .text = &o->log_file},
                                     {"--save", .text = &o->save},
                                     {"--read", .text = &o->read},
                                     {"--suppressions", .text = &o->suppressions},
                                     {"--gen-suppressions", .text = &o->new_suppressions},
                                     {"--kernel-name", .text = &o->engine.check_kernels},
                                     {"--print-limit", .number = &o->print_limit},
                                     {"--launch-skip", .number = &o->engine.check_skip},
                                     {"--launch-count", .number = &o->engine.check_count},
                                     {"--error-exitcode", .number = &status},
                                     {"--error-on-notes", .flag = &o->fails_by_notes},
                                     {"--init=load", .flag = &o->tells_loads},
                                     {"--target-processes", .text = &o->processes},
                                     {"--leak-check", .flag = &o->tells_leaks},
                                     {"--leak-check=full", .flag = &o->tells_leaks},
                                     {"--schedules", .number = &o->engine.order_schedules},
                                     {"--depth", .number = &o->engine.order_depth},
                                     {"--schedule", .number = &seed},
                                     {"--order-tolerance", .real = &o->engine.order_tolerance},
                                     {"--order-text", .flag = &has_text},
                                     {0}};
    int left = options_take("check", options, argc, argv);
    o->error_status = (int)status;
    o->engine.order_seed = seed;
    o->engine.order_text = has_text;
    o->format = report_format(format);
    bool is_known = !strcmp(o->processes, "all") || !strcmp(o->processes, application_only);
    if (left >= 0 && !o->format) {
        wrong_usage("there is no format", format);
        return -1;
    }
    if (left >= 0 && !is_known) {
        wrong_usage("--target-processes knows no", o->processes);
        return -1;
    }
    return left;
}

static int explain(const char *kind)
{
    const char *page = kind ? page_find("docs/findings", kind) : NULL;
    if (page)
        fputs(page, stdout);
    if (kind)
        return page ? EXIT_GOOD : wrong_usage("there is no kind of finding", kind);
    ptera_finding_kind k = {.size = sizeof k};
    for (unsigned i = 0; ptera_finding_kind_get(i, &k) == PTERA_OK; i++)
        printf("%-28s %s\n", k.name, k.summary);
    return EXIT_GOOD;
}

int command_check(int argc, char **argv)
{
    struct options o = {.error_status = EXIT_FAILED, .processes = "all"};
    ptera_options_init(&o.engine);
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fputs(check_help, stdout);
        return EXIT_GOOD;
    }
    if (argc > 1 && !strcmp(argv[1], "--explain"))
        return explain(argv[2]);
    argc = take_options(argc, argv, &o);
    if (argc < 0)
        return EXIT_USAGE;
    if (o.read)
        return report_file(&o, o.read, EXIT_GOOD);
    if (argc < 2) {
        fputs(check_help, stderr);
        return EXIT_USAGE;
    }
    struct run_setup setup = {.command = "check", .finish = finish, .ud = &o};
    char tools[256];
    ptera_launch_init(&setup.launch);
    int status = name_tools(&o, argv[1], tools, sizeof tools);
    if (status == EXIT_GOOD)
        status = set_checkers(tools, &setup.launch);
    o.engine.observe = o.tools = tools;
    setup.engine = o.engine;
    if (status != EXIT_GOOD)
        return status;
    if (argc > 2 && !strcmp(argv[2], "--"))
        return check_program(&o, argv + 3);
    return run_kernel(argc - 1, argv + 1, &setup);
}
