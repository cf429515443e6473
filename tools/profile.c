/* ptera profile: what kernels do, counted. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/trace_file.h"
#include "tools/commands.h"
#include "tools/metrics.h"
#include "tools/observed.h"
#include "tools/options.h"
#include "tools/profile_report.h"
#include "tools/run.h"

static const char profile_help[] =
    "usage: ptera profile [OPTIONS] FILE.ptx ARG...\n"
    "       ptera profile [OPTIONS] -- PROGRAM [ARGS...]\n"
    "       ptera profile --read FILE [OPTIONS]     a report of what --save kept\n"
    "       ptera profile --query-metrics           all metrics, and what they mean\n\n"
    "Runs a kernel, or a CUDA program and all its kernels, interpreted, and counts how often each "
    "instruction of the PTX runs, in\n"
    "how many threads, and what it asks of memory. Further options and arguments of a kernel are "
    "those of `ptera run`. The report\n"
    "is a table of kernels, each in each shape of its launches, and what limits it; or:\n\n"
    "  --metrics NAME,...  metrics by Nsight Compute's or nvprof's names; all: all of them\n"
    "  --csv [--page raw]  metrics as ncu --csv --page raw writes them: a line of names, one of "
    "units, one a kernel\n"
    "  --lines             by lines of the source\n"
    "  --ptx-lines         by lines of the PTX\n"
    "  --coverage FILE     writes which lines and branches of device code ran, in lcov's format "
    "(genhtml reads it); where nothing\n"
    "                      else is asked for, kernels run natively, too, as the engine has it\n"
    "  --html FILE         writes a page for browsers: kernels, roofline, when launches ran, "
    "source and PTX with heat,\n"
    "                      who accesses what, branches, occupancy\n"
    "  --trace FILE        writes a timeline in Chrome's trace format, which "
    "Perfetto opens: calls of CUDA, kernels,\n"
    "                      copies, streams, graphs, ranges of NVTX; where nothing else is asked "
    "for, nothing is counted, and kernels\n"
    "                      run as ever\n"
    "  --estimate DEVICE   how long it would take on a GPU (as PTERA_DEVICE names them: h100), by "
    "a "
    "model of its caches and\n"
    "                      units; metrics of time, hit rates and achieved occupancy turn it on, "
    "too\n\n"
    "  --log-file FILE     where the report goes (standard error)\n"
    "  --save FILE         keeps the counts, for --read\n"
    "  --kernel-name NAME  kernels of that name, a pattern of the shell, alone\n"
    "  --launch-skip N, --launch-count N\n"
    "                      of the launches of such kernels, those behind the first N, and so many "
    "of them; others run unobserved\n"
    "  --profile-from-start off\n"
    "                      of a program nothing is counted or recorded before it calls "
    "cuProfilerStart (cudaProfilerStart);\n"
    "                      cuProfilerStop ends it in any case\n\n"
    "Sectors, wavefronts and conflicts are what an H100's counters say of the same accesses "
    "(tests/hardware/profile). Exit status:\n"
    "that of `ptera run`, or the program's own.\n";

struct options {
    const char *page, *estimate, *metrics, *coverage, *html, *trace, *log_file, *save, *read,
        *from_start;
    bool is_csv, has_lines, has_ptx_lines, asks_metrics, is_timed;
    ptera_options engine; /* what is asked of it, or of the program's */
};

static int cannot_write(const char *path)
{
    fprintf(stderr, "ptera profile: cannot write %s: %s\n", path, strerror(errno));
    return EXIT_FAILED;
}

/* ---- what is asked for ---------------------------------------------------------------------- */

/* Whether a report is asked for but coverage. */
static bool asks_report(const struct options *o)
{
    return o->metrics || o->html || o->log_file || o->save || o->is_csv || o->has_lines ||
           o->has_ptx_lines || o->is_timed;
}

/* Whether something is asked for that launches are counted for. */
static bool counts_launches(const struct options *o)
{
    return !o->trace || o->coverage || asks_report(o);
}

static const char *observer_of(const struct options *o)
{
    return o->is_timed ? "time" : o->coverage && !asks_report(o) ? "coverage" : "count";
}

/* False, having said why: the reports want more than was counted. */
static bool has_all(const struct options *o, const struct counts *counts, const char *path)
{
    bool is_coverage = false;
    for (size_t i = 0; i < counts->n; i++)
        is_coverage |= counts->v[i].is_coverage;
    if (!is_coverage || (o->coverage && !asks_report(o)))
        return true;
    fprintf(stderr, "ptera profile: %s has coverage alone (--coverage FILE)\n", path);
    return false;
}

/* ---- reports --------------------------------------------------------------------------------- */

static bool put(FILE *out, const struct options *o, const struct counts *counts)
{
    bool is_all = o->metrics && !strcmp(o->metrics, "all");
    if (o->has_lines || o->has_ptx_lines)
        return profile_report_put_lines(out, counts, o->has_ptx_lines);
    if (o->metrics || o->is_csv)
        profile_report_put_metrics(out, counts, is_all ? NULL : o->metrics, o->is_csv);
    else
        profile_report_put_table(out, counts);
    return true;
}

/* Into a file of its own, if that is asked for. */
static bool put_file(const char *path, bool (*put)(FILE *out, const struct counts *counts),
                     const struct counts *counts)
{
    FILE *out = path ? fopen(path, "we") : NULL;
    bool is_put = out && put(out, counts);
    return !path || (out && fclose(out) == 0 && is_put) || cannot_write(path) == EXIT_GOOD;
}

/* `status`: of the run so far. Returns the command's. */
static int report_file(const struct options *o, const char *path, int status)
{
    struct counts counts;
    bool is_good = counts_read(&counts, path) && has_all(o, &counts, path);
    bool is_put = !o->coverage || asks_report(o);
    FILE *out = !is_good ? NULL : o->log_file ? fopen(o->log_file, "we") : stderr;
    if (is_good && (!out || (is_put && !put(out, o, &counts))))
        is_good = cannot_write(o->log_file ? o->log_file : "the report") == EXIT_GOOD;
    if (out && out != stderr && fclose(out) != 0)
        is_good = cannot_write(o->log_file) == EXIT_GOOD;
    is_good = is_good && put_file(o->coverage, profile_report_put_coverage, &counts);
    is_good = is_good && put_file(o->html, profile_report_put_html, &counts);
    counts_free(&counts);
    return is_good ? status : EXIT_FAILED;
}

/* What was there goes. */
static bool empty_trace(const char *path)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
    return fd >= 0 && close(fd) == 0;
}

/* What its library could not write, it has said. */
static bool is_trace_whole(const struct options *o)
{
    return !o->trace || (access(o->trace, R_OK) == 0 && !pt_trace_file_lost(o->trace));
}

static int finish_file(const void *options, const char *path, int status)
{
    const struct options *o = options;
    int end = counts_launches(o) ? report_file(o, path, status) : status;
    observed_close(path, o->save);
    return is_trace_whole(o) ? end : EXIT_FAILED;
}

static int finish(void *ud, ptera_engine *engine, int status)
{
    const struct options *o = ud;
    const char *path = observed_open("profile", o->save);
    if (!path)
        return EXIT_FAILED;
    if (ptera_engine_counts_save(engine, path) != PTERA_OK)
        return cannot_write(path);
    return finish_file(o, path, status);
}

static int profile_kernel(int argc, char **argv, struct options *o)
{
    bool is_counted = counts_launches(o);
    struct run_setup setup = {.command = "profile", .finish = is_counted ? finish : NULL, .ud = o};
    if (o->trace && !empty_trace(o->trace))
        return cannot_write(o->trace);
    o->engine.observe = is_counted ? observer_of(o) : NULL;
    o->engine.device = o->estimate;
    o->engine.trace = o->trace;
    ptera_launch_init(&setup.launch);
    setup.engine = o->engine;
    int status = run_kernel(argc, argv, &setup);
    return is_trace_whole(o) ? status : EXIT_FAILED;
}

static int put_metrics(void)
{
    for (unsigned i = 0; i < n_metrics; i++)
        printf("%-76s %-14s %s\n", metrics[i].name, metrics[i].unit, metrics[i].summary);
    return EXIT_GOOD;
}

/* ---- programs -------------------------------------------------------------------------------- */

/* By its whole path, since programs go to other folders. */
static bool set_trace(const char *path)
{
    char whole[PATH_MAX];
    if (!empty_trace(path) || !realpath(path, whole))
        return false;
    setenv("PTERA_TRACE", whole, 1);
    return true;
}

static int profile_program(const struct options *o, char **argv)
{
    const char *file = observed_open("profile", o->save);
    if (!file)
        return EXIT_FAILED;
    if (counts_launches(o))
        setenv("PTERA_PROFILE", file, 1);
    if (o->is_timed)
        setenv("PTERA_PROFILE_TIME", "1", 1);
    if (o->coverage && !asks_report(o))
        setenv("PTERA_PROFILE_COVERAGE", "1", 1);
    if (o->estimate)
        setenv("PTERA_DEVICE", o->estimate, 1);
    if (o->from_start)
        setenv("PTERA_PROFILE_FROM_START", strcmp(o->from_start, "off") != 0 ? "1" : "0", 1);
    if (o->trace && !set_trace(o->trace))
        return cannot_write(o->trace);
    if (o->engine.check_kernels)
        setenv("PTERA_PROFILE_KERNELS", o->engine.check_kernels, 1);
    observed_set_number("PTERA_PROFILE_SKIP", o->engine.check_skip);
    observed_set_number("PTERA_PROFILE_COUNT", o->engine.check_count);
    return observed_run("profile", argv, finish_file, o, file);
}

/* ---- options --------------------------------------------------------------------------------- */

static int take_options(int argc, char **argv, struct options *o)
{
    const struct option options[] = {{"--estimate", .text = &o->estimate},
                                     {"--metrics", .text = &o->metrics},
                                     {"--csv", .flag = &o->is_csv},
                                     {"--page", .text = &o->page},
                                     {"--lines", .flag = &o->has_lines},
                                     {"--ptx-lines", .flag = &o->has_ptx_lines},
                                     {"--coverage", .text = &o->coverage},
                                     {"--html", .text = &o->html},
                                     {"--trace", .text = &o->trace},
                                     {"--log-file", .text = &o->log_file},
                                     {"--save", .text = &o->save},
                                     {"--read", .text = &o->read},
                                     {"--query-metrics", .flag = &o->asks_metrics},
                                     {"--kernel-name", .text = &o->engine.check_kernels},
                                     {"--launch-skip", .number = &o->engine.check_skip},
                                     {"--launch-count", .number = &o->engine.check_count},
                                     {"--profile-from-start", .text = &o->from_start},
                                     {0}};
    int left = options_take("profile", options, argc, argv);
    if (left >= 0 && o->from_start && strcmp(o->from_start, "off") != 0 &&
        strcmp(o->from_start, "on") != 0) {
        fputs("ptera profile: --profile-from-start is on or off\n", stderr);
        return -1;
    }
    if (left >= 0 && o->page && strcmp(o->page, "raw") != 0) {
        fprintf(stderr, "ptera profile: there is no page '%s', but raw\n", o->page);
        return -1;
    }
    bool is_all = o->metrics && !strcmp(o->metrics, "all");
    o->is_timed = o->estimate || (!is_all && profile_report_asks_time(o->metrics));
    const char *unknown = is_all ? NULL : profile_report_find_unknown(o->metrics);
    const char *why = o->is_timed && !o->read ? estimate_refuse(o->estimate) : NULL;
    if (left >= 0 && why) {
        fprintf(stderr, "ptera profile: %s\n", why);
        return -1;
    }
    if (left < 0 || !unknown)
        return left;
    fprintf(stderr, "ptera profile: there is no metric '%.*s' (ptera profile --query-metrics)\n",
            (int)strcspn(unknown, ","), unknown);
    return -1;
}

int command_profile(int argc, char **argv)
{
    struct options o = {0};
    ptera_options_init(&o.engine);
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fputs(profile_help, stdout);
        return EXIT_GOOD;
    }
    argc = take_options(argc, argv, &o);
    if (argc < 0)
        return EXIT_USAGE;
    if (o.asks_metrics)
        return put_metrics();
    if (o.read)
        return report_file(&o, o.read, EXIT_GOOD);
    if (argc < 2) {
        fputs(profile_help, stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--"))
        return profile_program(&o, argv + 2);
    return profile_kernel(argc, argv, &o);
}
