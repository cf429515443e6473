/* ptera check: a kernel under checkers, and reports of what they find. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/commands.h"
#include "tools/pages.h"
#include "tools/report.h"
#include "tools/run.h"

static const char check_help[] =
    "usage: ptera check TOOL[,TOOL] [OPTIONS] FILE.ptx ARG...\n"
    "       ptera check --read FILE [OPTIONS]     a report of what --save kept\n"
    "       ptera check --explain [KIND]          what a finding means\n\n"
    "Runs a kernel, interpreted, under checkers. Further options and arguments are those of "
    "`ptera run`.\n\n"
    "  mem                 every access lies in memory of the kernel, is aligned, does not write "
    "what kernels may only read, and is\n"
    "                      in the space that the instruction names. The kernel goes on where there "
    "is memory at all\n"
    "  race                no access races with an asynchronous operation in flight: cp.async, "
    "cp.async.bulk, tensor copies and\n"
    "                      reductions, st.async, red.async, wgmma. An access of what an operation "
    "writes, or a write to what it\n"
    "                      reads, needs its completion: by a wait of the thread, a test of the "
    "mbarrier, or a barrier behind\n"
    "                      a thread that has waited. Races between ordinary accesses are not "
    "looked for\n\n"
    "  --format text|json  of the report (text)\n"
    "  --log-file FILE     where the report goes (standard error)\n"
    "  --save FILE         keeps what was found, for --read\n"
    "  --error-exitcode N  the exit status if something was found (1)\n\n"
    "Each finding is told once, with how often it was seen. Exit status: 0 nothing was found, 1 "
    "something was, or the kernel failed.\n";

struct options {
    const char *tools; /* between commas */
    const struct report_format *format;
    const char *log_file, *save, *read;
    int error_status;
};

static int wrong_usage(const char *what, const char *value)
{
    fprintf(stderr, "ptera check: %s '%s' (ptera check --help)\n", what, value);
    return EXIT_USAGE;
}

/* ---- checkers -------------------------------------------------------------------------------- */

/* Sets what a checker asks of the launch. False: there is no such checker. */
static bool set_checker(const char *name, size_t n, ptera_launch *launch)
{
    static const struct {
        const char *name;
        unsigned check;
    } checkers[] = {{"mem", PTERA_CHECK_MEM}, {"race", PTERA_CHECK_RACE}};
    for (size_t i = 0; i < sizeof checkers / sizeof *checkers; i++) {
        if (n != strlen(checkers[i].name) || strncmp(name, checkers[i].name, n) != 0)
            continue;
        launch->checks |= checkers[i].check;
        return true;
    }
    return false;
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

static int put_report(const struct options *o, const struct report *report, int status)
{
    FILE *out = o->log_file ? fopen(o->log_file, "we") : stderr;
    if (!out) {
        fprintf(stderr, "ptera check: cannot write %s: %s\n", o->log_file, strerror(errno));
        return EXIT_FAILED;
    }
    o->format->put(out, report);
    bool is_text = o->format->put == report_text_put;
    const char *tools = o->tools ? o->tools : "--read";
    if (is_text && report->n)
        fprintf(out, "ptera check %s: %u finding%s\n", tools, report->n, report->n > 1 ? "s" : "");
    else if (is_text && status == EXIT_GOOD)
        fprintf(out, "ptera check %s: nothing found\n", tools);
    if (out != stderr && fclose(out) != 0)
        return EXIT_FAILED;
    return report->n && (status == EXIT_GOOD || status == EXIT_FAILED) ? o->error_status : status;
}

static int report_file(const struct options *o, const char *path, int status)
{
    struct report report;
    int end = EXIT_FAILED;
    if (report_read(&report, path))
        end = put_report(o, &report, status);
    report_free(&report);
    return end;
}

/* The report is made from a file, wherever the findings come from. */
static int finish(void *ud, ptera_engine *engine, int status)
{
    const struct options *o = ud;
    char scratch[] = "/tmp/ptera-check-XXXXXX";
    int fd = o->save ? -1 : mkstemp(scratch);
    const char *path = o->save ? o->save : scratch;
    int end = EXIT_FAILED;
    if ((!o->save && fd < 0) || ptera_engine_findings_save(engine, path) != PTERA_OK)
        fprintf(stderr, "ptera check: cannot write %s: %s\n", path, strerror(errno));
    else
        end = report_file(o, path, status);
    if (fd >= 0) {
        close(fd);
        unlink(scratch);
    }
    return end;
}

/* ---- options --------------------------------------------------------------------------------- */

/* An option of this command's own. Returns false if it is none; *is_good: its value will do. */
static bool take_option(struct options *o, const char *name, const char *value, bool *is_good)
{
    char *end = NULL;
    *is_good = true;
    if (!strcmp(name, "--format"))
        *is_good = (o->format = report_format(value));
    else if (!strcmp(name, "--log-file"))
        o->log_file = value;
    else if (!strcmp(name, "--save"))
        o->save = value;
    else if (!strcmp(name, "--read"))
        o->read = value;
    else if (!strcmp(name, "--error-exitcode"))
        o->error_status = (int)strtoul(value, &end, 10), *is_good = *value && !*end;
    else
        return false;
    return true;
}

/* Takes its own options out of argv, as `--name value` and `--name=value`. Returns what is left,
 * -1 after saying what is wrong. */
static int take_options(int argc, char **argv, struct options *o)
{
    int left = 0;
    for (int i = 0; i < argc; i++) {
        char name[32];
        size_t n = strcspn(argv[i], "=");
        const char *value = argv[i][n] ? argv[i] + n + 1 : i + 1 < argc ? argv[i + 1] : NULL;
        bool is_good, is_mine = false;
        snprintf(name, sizeof name, "%.*s", (int)n, argv[i]);
        if (value && !strncmp(name, "--", 2) && n < sizeof name)
            is_mine = take_option(o, name, value, &is_good);
        if (!is_mine) {
            argv[left++] = argv[i];
            continue;
        }
        if (!is_good) {
            wrong_usage("a bad value for an option:", argv[i]);
            return -1;
        }
        i += !argv[i][n];
    }
    return left;
}

static int explain(const char *kind)
{
    if (kind && page_put(stdout, kind))
        return EXIT_GOOD;
    if (kind)
        return wrong_usage("there is no kind of finding", kind);
    ptera_finding_kind k = {.size = sizeof k};
    for (unsigned i = 0; ptera_finding_kind_get(i, &k) == PTERA_OK; i++)
        printf("%-28s %s\n", k.name, k.summary);
    return EXIT_GOOD;
}

int command_check(int argc, char **argv)
{
    struct options o = {.format = report_format("text"), .error_status = EXIT_FAILED};
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
    struct run_setup setup = {.command = "check", .observe = argv[1], .finish = finish, .ud = &o};
    ptera_launch_init(&setup.launch);
    o.tools = argv[1];
    int status = set_checkers(argv[1], &setup.launch);
    return status == EXIT_GOOD ? run_kernel(argc - 1, argv + 1, &setup) : status;
}
