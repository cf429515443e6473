/* ptera run: one launch of one kernel. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ptera.h"
#include "tools/args.h"
#include "tools/both.h"
#include "tools/commands.h"
#include "tools/load.h"
#include "tools/run.h"

static const char run_help[] =
    "usage: ptera run FILE.ptx [OPTIONS] ARG...\n\n"
    "  -k KERNEL           the kernel; needed if the file has several\n"
    "  -g X[,Y[,Z]]        grid: CTAs (1)\n"
    "  -b X[,Y[,Z]]        block: threads of a CTA (1)\n"
    "  --cluster X[,Y[,Z]] CTAs of a cluster\n"
    "  --shared BYTES      dynamic shared memory (0)\n"
    "  --engine auto|interp|jit|both\n"
    "  --threads N         worker threads (one a core)\n"
    "  --cooperative       all CTAs resident at once\n"
    "  --timeout SECONDS   give up after that\n"
    "  --math exact|fast   fast may trade exactness for speed (exact)\n"
    "  --fmad on|off       contract mul and add into fma, as NVIDIA's assembler does (on)\n"
    "  --async issue|late  when asynchronous operations take place: late shows where a kernel does "
    "not wait (issue)\n"
    "  --order lockstep|lanes|reverse|turns\n"
    "                      the threads of a warp together, or one after the other, or the last "
    "first, or warps in turns: a kernel "
    "whose result\n"
    "                      changes depends on the order of threads (lockstep)\n"
    "  --unwritten BYTE    shared and local memory holds it where a CTA begins: a kernel whose "
    "result changes reads what it has not written (0:\n"
    "                      what the last CTA left, zeros at first)\n"
    "  --isolate           test every access against the allocations: what is not the kernel's "
    "memory is a fault\n"
    "  --observe NAMES     observers that watch, separated by commas (ptera_options.observe in "
    "ptera.h)\n"
    "  --time              print the times of loading and running, and how it ran, to standard "
    "error\n\n";

enum { MAX_ARGS = 1024 };

struct options {
    const char *command; /* for messages: run */
    const struct run_setup *setup;
    const char *file, *kernel;
    ptera_options engine;
    ptera_launch launch;
    bool time, both;
    const char *arg[MAX_ARGS];
    unsigned n_args;
    struct text text; /* that the kernel printed; engine both */
};

static int wrong_usage(const struct options *o, const char *what, const char *value)
{
    fprintf(stderr, "ptera %s: %s '%s' (ptera run --help)\n", o->command, what, value);
    return EXIT_USAGE;
}

static bool parse_number(const char *text, unsigned long max, unsigned long *n)
{
    char *end;
    errno = 0;
    *n = strtoul(text, &end, 0);
    return end != text && !*end && !errno && *text != '-' && *n <= max;
}

static bool parse_seconds(const char *text, double *seconds)
{
    char *end;
    *seconds = strtod(text, &end);
    return end != text && !*end && *seconds > 0 && *seconds < 1e9;
}

static bool is_one_of(const char *text, const char *a, const char *b)
{
    return !strcmp(text, a) || !strcmp(text, b);
}

static bool parse_engine(const char *text, struct options *o)
{
    static const char *const names[] = {[PTERA_BACKEND_AUTO] = "auto",
                                        [PTERA_BACKEND_INTERP] = "interp",
                                        [PTERA_BACKEND_JIT] = "jit"};
    o->both = !strcmp(text, "both");
    for (int i = PTERA_BACKEND_AUTO; i <= PTERA_BACKEND_JIT; i++) {
        if (strcmp(text, names[i]) != 0)
            continue;
        o->launch.backend = (ptera_backend)i;
        return true;
    }
    return o->both;
}

static bool parse_order(const char *text, ptera_order *order)
{
    static const char *const names[] = {[PTERA_ORDER_LOCKSTEP] = "lockstep",
                                        [PTERA_ORDER_LANES] = "lanes",
                                        [PTERA_ORDER_REVERSE] = "reverse",
                                        [PTERA_ORDER_TURNS] = "turns"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) != 0)
            continue;
        *order = (ptera_order)i;
        return true;
    }
    return false;
}

/* An option with a value. Returns false if the value is bad; *known says whether the option
 * exists. */
static bool set_option(struct options *o, const char *name, const char *value, bool *known)
{
    unsigned long n = 0;
    bool ok = true;
    *known = true;
    if (!strcmp(name, "-k"))
        o->kernel = value;
    else if (!strcmp(name, "-g"))
        ok = parse_dim(value, o->launch.grid);
    else if (!strcmp(name, "-b"))
        ok = parse_dim(value, o->launch.block);
    else if (!strcmp(name, "--cluster"))
        ok = parse_dim(value, o->launch.cluster);
    else if (!strcmp(name, "--shared"))
        ok = parse_number(value, UINT32_MAX, &n), o->launch.shared_bytes = (unsigned)n;
    else if (!strcmp(name, "--threads"))
        ok = parse_number(value, 4096, &n) && n > 0, o->engine.threads = (unsigned)n;
    else if (!strcmp(name, "--timeout"))
        ok = parse_seconds(value, &o->launch.timeout_seconds);
    else if (!strcmp(name, "--math"))
        ok = is_one_of(value, "exact", "fast"), o->launch.math_fast = !strcmp(value, "fast");
    else if (!strcmp(name, "--fmad"))
        ok = is_one_of(value, "on", "off"), o->engine.fmad = !strcmp(value, "on");
    else if (!strcmp(name, "--async"))
        ok = is_one_of(value, "issue", "late"), o->launch.async_late = !strcmp(value, "late");
    else if (!strcmp(name, "--unwritten"))
        ok = parse_number(value, UINT8_MAX, &n), o->launch.unwritten = (unsigned)n;
    else if (!strcmp(name, "--observe"))
        o->engine.observe = value;
    else if (!strcmp(name, "--order"))
        ok = parse_order(value, &o->launch.order);
    else if (!strcmp(name, "--engine"))
        ok = parse_engine(value, o);
    else
        *known = false;
    return ok;
}

static int parse_options(int argc, char **argv, struct options *o)
{
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        bool known;
        if (a[0] != '-') {
            if (!o->file)
                o->file = a;
            else if (o->n_args < MAX_ARGS)
                o->arg[o->n_args++] = a;
            else
                return wrong_usage(o, "too many arguments, from", a);
        } else if (!strcmp(a, "--cooperative")) {
            o->launch.cooperative = 1;
        } else if (!strcmp(a, "--time")) {
            o->time = true;
        } else if (!strcmp(a, "--isolate")) {
            o->launch.isolate = 1;
        } else if (i + 1 == argc) {
            return wrong_usage(o, "unknown option, or one without its value:", a);
        } else if (!set_option(o, a, argv[++i], &known)) {
            fprintf(stderr, "ptera %s: bad value '%s' for %s (ptera run --help)\n", o->command,
                    argv[i], a);
            return EXIT_USAGE;
        } else if (!known) {
            return wrong_usage(o, "unknown option", a);
        }
    }
    if (!o->file)
        fprintf(stderr, "ptera %s: no PTX file given (ptera %s --help)\n", o->command, o->command);
    else if (o->both && (o->launch.checks || o->setup->tracing || o->engine.observe))
        return wrong_usage(o, "watched kernels are interpreted:", "--engine both");
    else if (o->setup->tracing && o->launch.backend == PTERA_BACKEND_JIT)
        return wrong_usage(o, "traced kernels are interpreted:", "--engine jit");
    return o->file ? EXIT_GOOD : EXIT_USAGE;
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Every argument fits its parameter: count, and the bytes of each. */
static bool check_args(ptera_kernel *kernel, const struct arg *args, unsigned n)
{
    ptera_parameter p = {.size = sizeof p};
    unsigned count = 0;
    while (ptera_kernel_parameter(kernel, count, &p) == PTERA_OK) {
        size_t bytes = count < n && args[count].is_buffer ? sizeof(void *) : 0;
        if (count < n && !args[count].is_buffer)
            bytes = args[count].bytes;
        if (count < n && bytes != p.bytes) {
            fprintf(stderr, "ptera run: argument '%s' has %zu bytes, parameter %s (.%s) has %zu\n",
                    args[count].text, bytes, p.name, p.type, p.bytes);
            return false;
        }
        count++;
    }
    if (count != n)
        fprintf(stderr, "ptera run: kernel %s has %u parameters, %u arguments are given\n",
                ptera_kernel_name(kernel), count, n);
    return count == n;
}

/* "run 0.123 ms, native", or "interpreted" and why it is not native; what the interpreter did
 * for native code. */
static void show_time(const ptera_kernel *kernel, double ms)
{
    ptera_kernel_status status = {.size = sizeof status};
    ptera_kernel_info(kernel, &status);
    fprintf(stderr, "run %.3f ms, %s", ms, status.native_launches ? "native" : "interpreted");
    if (status.why)
        fprintf(stderr, " (%s)", status.why);
    if (status.stepped)
        fprintf(stderr, ", %llu instructions of warps by the interpreter",
                (unsigned long long)status.stepped);
    fputc('\n', stderr);
}

static ptera_result run_timed(ptera_kernel *kernel, struct options *o)
{
    double start = now_ms();
    const ptera_tracing *tracing = o->setup->tracing;
    ptera_result r = tracing ? ptera_kernel_trace(kernel, &o->launch, tracing)
                             : ptera_kernel_launch(kernel, &o->launch);
    if (o->time)
        show_time(kernel, now_ms() - start);
    return r;
}

static int report(ptera_module *module, ptera_result r, const char *why)
{
    if (r == PTERA_OK || r == PTERA_ERROR_FINDINGS)
        return EXIT_GOOD; /* findings are `ptera check`'s to report */
    if (r == PTERA_ERROR_INVALID_PTX || r == PTERA_ERROR_UNSUPPORTED_PTX) {
        show_diagnostics(module, PTERA_ERROR);
        return EXIT_INVALID_PTX;
    }
    fprintf(stderr, "ptera: %s\n", *why ? why : ptera_result_text(r));
    return r == PTERA_ERROR_INVALID_LAUNCH ? EXIT_USAGE : EXIT_FAILED;
}

/* Both engines may fail, but alike. The interpreter's report is shown: it knows the thread. */
static int launch_both(ptera_engine *engine, ptera_module *module, ptera_kernel *kernel,
                       struct options *o, const struct arg *args)
{
    struct outcome interpreted;
    struct subject subject = {engine, module, kernel, &o->launch, args, o->n_args, &o->text};
    o->launch.backend = PTERA_BACKEND_JIT;
    int status = EXIT_FAILED;
    if (outcome_interpret(&interpreted, &subject)) {
        ptera_result r = run_timed(kernel, o);
        if (o->text.n)
            fwrite(o->text.bytes, 1, o->text.n, stdout);
        if (outcome_agrees(&interpreted, &subject, r))
            status = report(module, r, interpreted.error.bytes);
        else if (r != PTERA_OK)
            report(module, r, ptera_engine_error(engine));
    }
    outcome_free(&interpreted);
    return status;
}

static int launch(ptera_engine *engine, ptera_module *module, ptera_kernel *kernel,
                  struct options *o, struct arg *args)
{
    const void *values[MAX_ARGS];
    for (unsigned i = 0; i < o->n_args; i++)
        values[i] = args[i].is_buffer ? (const void *)&args[i].data : args[i].data;
    o->launch.parameters = values;
    o->launch.n_parameters = o->n_args;
    if (o->setup->begin)
        o->setup->begin(o->setup->ud, module, args, o->n_args);
    if (o->both)
        return launch_both(engine, module, kernel, o, args);
    ptera_result r = run_timed(kernel, o);
    return report(module, r, ptera_engine_error(engine));
}

static int run_args(ptera_engine *engine, ptera_module *module, ptera_kernel *kernel,
                    struct options *o)
{
    struct arg *args = calloc(o->n_args + 1, sizeof *args);
    int status = args ? EXIT_GOOD : EXIT_FAILED;
    unsigned parsed = 0;
    for (; status == EXIT_GOOD && parsed < o->n_args; parsed++)
        if (!arg_parse(engine, o->arg[parsed], &args[parsed]))
            status = EXIT_USAGE;
    if (status == EXIT_GOOD && !check_args(kernel, args, o->n_args))
        status = EXIT_USAGE;
    if (status == EXIT_GOOD)
        status = launch(engine, module, kernel, o, args);
    for (unsigned i = 0; status == EXIT_GOOD && i < parsed; i++)
        arg_read(engine, &args[i]);
    for (unsigned i = 0; status == EXIT_GOOD && i < parsed; i++)
        if (!arg_finish(&args[i]))
            status = EXIT_FAILED;
    for (unsigned i = 0; i < parsed; i++)
        arg_free(engine, &args[i]);
    free(args);
    return status;
}

static void print_text(void *ud, const char *text, size_t bytes)
{
    (void)ud;
    fwrite(text, 1, bytes, stdout);
}

int run_kernel(int argc, char **argv, const struct run_setup *setup)
{
    static struct options o;
    o.command = setup->command;
    o.setup = setup;
    o.launch = setup->launch;
    o.engine = setup->engine;
    o.engine.print = print_text;
    int status = parse_options(argc, argv, &o);
    if (status != EXIT_GOOD)
        return status;
    if (o.both) {
        o.engine.print = text_add;
        o.engine.print_ud = &o.text;
        o.engine.allow_fork = 1;
        /* the order is fixed then, and the same */
        o.engine.threads = o.engine.threads ? o.engine.threads : 1;
    }
    ptera_engine *engine = NULL;
    status = create_engine(&o.engine, &engine);
    if (status != EXIT_GOOD)
        return status;
    ptera_module *module = NULL;
    ptera_kernel *kernel = NULL;
    double start = now_ms();
    status = load_module(engine, o.file, &module);
    if (o.time)
        fprintf(stderr, "load %.3f ms\n", now_ms() - start);
    if (status == EXIT_GOOD)
        status = find_kernel(module, o.file, o.kernel, &kernel);
    else if (module)
        show_diagnostics(module, PTERA_NOTE);
    if (status == EXIT_GOOD)
        status = run_args(engine, module, kernel, &o);
    if (setup->finish)
        status = setup->finish(setup->ud, engine, status);
    ptera_engine_destroy(engine);
    free(o.text.bytes);
    return status;
}

int command_run(int argc, char **argv)
{
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fputs(run_help, stdout);
        fputs(arg_help, stdout);
        return EXIT_GOOD;
    }
    struct run_setup setup = {.command = "run"};
    ptera_options_init(&setup.engine);
    ptera_launch_init(&setup.launch);
    return run_kernel(argc, argv, &setup);
}
