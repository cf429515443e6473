/* ptera trace: what threads do, step by step. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/args.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/report.h"
#include "tools/run.h"
#include "tools/trace_diff.h"
#include "tools/trace_where.h"

static const char trace_help[] =
    "usage: ptera trace FILE.ptx [OPTIONS] ARG...       (options and arguments as of ptera run)\n"
    "       ptera trace --diff A B\n\n"
    "Shows each instruction that threads run, with what its registers hold before and behind it. "
    "A traced kernel is interpreted,\n"
    "by one worker unless --threads says more. Pointers into arguments and module variables are "
    "told as NAME+OFFSET, arguments as\n"
    "arg0, arg1, ..., so that traces of several runs can be compared.\n\n"
    "  --thread X,Y,Z|all  of this thread of each CTA (all)\n"
    "  --cta X,Y,Z|all     of this CTA (all)\n"
    "  --where EXPR        only steps for which that holds\n"
    "  --max N             no more than so many steps; 0: all (10000)\n"
    "  --format text|json  text: CTA, thread, number of the step, place, PTX, operands, results, "
    "access, with tabs between;\n"
    "                      json: an object a line (text)\n"
    "  --out FILE          write there\n"
    "  --diff A B          where the threads of two traces in text part: the same instruction with "
    "other values, or other\n"
    "                      instructions. Names of registers do not count. Exit status 1 if they "
    "do. --max N: of so many threads (10)\n\n";

struct pointers {
    const char *name;
    char text[32];
    uint64_t address, bytes;
};

struct options {
    const char *thread, *cta, *where, *format, *path;
    const char *most_text;
    unsigned long long most;
    bool is_diff, is_json;
    unsigned wanted[2][3]; /* CTA, thread */
    bool is_any[2];
    FILE *out;
    unsigned long long n; /* steps so far that are wanted */
    struct pointers *pointers;
    unsigned n_pointers;
};

/* ---- which ----------------------------------------------------------------------------------- */

static bool parse_place(const char *text, unsigned place[3], bool *is_any)
{
    *is_any = !text || !strcmp(text, "all");
    memset(place, 0, 3 * sizeof *place);
    for (int i = 0; !*is_any && i < 3; i++) {
        char *end;
        if (*text < '0' || *text > '9')
            return false;
        place[i] = (unsigned)strtoul(text, &end, 10);
        text = end + (*end == ',');
        if (!*end)
            return true;
    }
    return *is_any || !*text;
}

static int is_wanted(void *ud, const unsigned cta[3], const unsigned thread[3])
{
    const struct options *o = ud;
    return (o->is_any[0] || !memcmp(cta, o->wanted[0], sizeof o->wanted[0])) &&
           (o->is_any[1] || !memcmp(thread, o->wanted[1], sizeof o->wanted[1]));
}

/* ---- pointers -------------------------------------------------------------------------------- */

static void add_pointer(struct options *o, const char *name, const void *address, size_t bytes)
{
    struct pointers *more = realloc(o->pointers, (o->n_pointers + 1) * sizeof *more);
    if (!more)
        return; /* the number is shown */
    o->pointers = more;
    struct pointers *p = &more[o->n_pointers++];
    *p = (struct pointers){.name = name, .address = (uintptr_t)address, .bytes = bytes};
    if (!name)
        snprintf(p->text, sizeof p->text, "arg%u", o->n_pointers - 1);
}

static void know_pointers(void *ud, ptera_module *module, const struct arg *args, unsigned n)
{
    struct options *o = ud;
    const char *name;
    void *address;
    size_t bytes;
    for (unsigned i = 0; i < n; i++)
        add_pointer(o, NULL, args[i].is_buffer ? args[i].data : NULL,
                    args[i].is_buffer ? args[i].bytes : 0);
    for (unsigned i = 0; ptera_module_variable_at(module, i, &name, &address, &bytes) == PTERA_OK;
         i++)
        add_pointer(o, name, address, bytes);
}

static bool put_pointer(const struct options *o, uint64_t value)
{
    for (unsigned i = 0; i < o->n_pointers; i++) {
        const struct pointers *p = &o->pointers[i];
        if (!p->bytes || value - p->address > p->bytes)
            continue;
        fprintf(o->out, "%s+0x%" PRIx64, p->name ? p->name : p->text, value - p->address);
        return true;
    }
    return false;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* As bits, and as the number that the register's type says. */
static void put_value(const struct options *o, const ptera_step_value *v)
{
    float f;
    double d;
    uint32_t low = (uint32_t)v->low;
    if (v->bits == 64 && put_pointer(o, v->low))
        return;
    if (v->bits > 64)
        fprintf(o->out, "0x%016llx%016llx", v->high, v->low);
    else
        fprintf(o->out, "0x%llx", v->low);
    if (!strcmp(v->type, "f32"))
        memcpy(&f, &low, sizeof f), fprintf(o->out, "(%.9g)", (double)f);
    else if (!strcmp(v->type, "f64"))
        memcpy(&d, &v->low, sizeof d), fprintf(o->out, "(%.17g)", d);
}

static void put_values(const struct options *o, const ptera_step *s, int is_result)
{
    const char *between = "";
    for (unsigned i = 0; i < s->n_values; i++) {
        const ptera_step_value *v = &s->values[i];
        if (!v->is_result != !is_result)
            continue;
        fprintf(o->out, o->is_json ? "%s\"%s\":\"" : "%s%s=", between, v->name);
        put_value(o, v);
        fputs(o->is_json ? "\"" : "", o->out);
        between = o->is_json ? "," : " ";
    }
}

static void put_access(const struct options *o, const ptera_step *s)
{
    if (!s->reads_memory && !s->writes_memory)
        return;
    fprintf(o->out, "%s%s %llu at ", s->reads_memory ? "r" : "", s->writes_memory ? "w" : "",
            s->bytes);
    if (!put_pointer(o, s->address))
        fprintf(o->out, "0x%llx", s->address);
}

static void put_text(const struct options *o, const ptera_step *s)
{
    fprintf(o->out, "%u,%u,%u\t%u,%u,%u\t%llu\t%s:%u\t", s->cta[0], s->cta[1], s->cta[2],
            s->thread[0], s->thread[1], s->thread[2], s->number, s->file, s->line);
    for (const char *c = s->text; *c; c++)
        putc(*c == '\t' ? ' ' : *c, o->out);
    putc('\t', o->out);
    put_values(o, s, false);
    putc('\t', o->out);
    put_values(o, s, true);
    putc('\t', o->out);
    put_access(o, s);
    putc('\n', o->out);
}

static void put_json(const struct options *o, const ptera_step *s)
{
    fprintf(o->out,
            "{\"cta\":[%u,%u,%u],\"thread\":[%u,%u,%u],\"step\":%llu,\"function\":", s->cta[0],
            s->cta[1], s->cta[2], s->thread[0], s->thread[1], s->thread[2], s->number);
    report_json_string(o->out, s->function);
    fputs(",\"file\":", o->out);
    report_json_string(o->out, s->file);
    fprintf(o->out, ",\"line\":%u,\"column\":%u", s->line, s->column);
    if (s->source_file) {
        fputs(",\"source\":", o->out);
        report_json_string(o->out, s->source_file);
        fprintf(o->out, ",\"source_line\":%u", s->source_line);
    }
    fputs(",\"ptx\":", o->out);
    report_json_string(o->out, s->text);
    fputs(",\"instruction\":", o->out);
    report_json_string(o->out, s->spelling);
    fputs(",\"operands\":{", o->out);
    put_values(o, s, false);
    fputs("},\"results\":{", o->out);
    put_values(o, s, true);
    fputs("},\"access\":\"", o->out);
    put_access(o, s);
    fputs("\"}\n", o->out);
}

static void on_step(void *ud, const ptera_step *step)
{
    struct options *o = ud;
    const char *error;
    if (o->where && !trace_where(o->where, step, &error))
        return;
    if (o->n++ >= o->most && o->most)
        return;
    if (o->is_json)
        put_json(o, step);
    else
        put_text(o, step);
}

static int finish(void *ud, ptera_engine *engine, int status)
{
    struct options *o = ud;
    (void)engine;
    if (o->most && o->n > o->most)
        fprintf(stderr, "ptera trace: %llu of %llu steps are shown (--max)\n", o->most, o->n);
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

static bool check_options(struct options *o)
{
    static const ptera_step none = {.text = ""};
    const char *error = NULL;
    char *end = NULL;
    o->most = o->is_diff ? 10 : 10000;
    if (o->most_text)
        o->most = strtoull(o->most_text, &end, 10);
    if (o->where)
        trace_where(o->where, &none, &error);
    o->is_json = o->format && !strcmp(o->format, "json");
    if (error)
        fprintf(stderr, "ptera trace: --where '%s': %s\n", o->where, error);
    else if (end && (*end || end == o->most_text))
        fprintf(stderr, "ptera trace: --max '%s' is no number\n", o->most_text);
    else if (!parse_place(o->cta, o->wanted[0], &o->is_any[0]) ||
             !parse_place(o->thread, o->wanted[1], &o->is_any[1]))
        fputs("ptera trace: --cta and --thread take X[,Y[,Z]] or all\n", stderr);
    else if (o->format && !o->is_json && strcmp(o->format, "text") != 0)
        fprintf(stderr, "ptera trace: --format '%s' is neither text nor json\n", o->format);
    else
        return true;
    return false;
}

static int trace(struct options *o, int argc, char **argv)
{
    const ptera_tracing tracing = {
        .size = sizeof tracing, .step = on_step, .wants = is_wanted, .ud = o};
    struct run_setup setup = {
        .tracing = &tracing, .command = "trace", .begin = know_pointers, .finish = finish, .ud = o};
    ptera_options_init(&setup.engine);
    ptera_launch_init(&setup.launch);
    setup.engine.threads = 1;
    o->out = o->path ? fopen(o->path, "w") : stdout;
    if (!o->out) {
        perror(o->path);
        return EXIT_FAILED;
    }
    int status = run_kernel(argc, argv, &setup);
    if (o->path && fclose(o->out) != 0) {
        perror(o->path);
        status = EXIT_FAILED;
    }
    free(o->pointers);
    return status;
}

int command_trace(int argc, char **argv)
{
    static struct options o;
    const struct option options[] = {
        {"--thread", .text = &o.thread}, {"--cta", .text = &o.cta},
        {"--where", .text = &o.where},   {"--format", .text = &o.format},
        {"--out", .text = &o.path},      {"--max", .text = &o.most_text},
        {"--diff", .flag = &o.is_diff},  {0}};
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fputs(trace_help, stdout);
        fputs(trace_where_help, stdout);
        return EXIT_GOOD;
    }
    int left = options_take("trace", options, argc, argv);
    if (left < 0 || !check_options(&o))
        return EXIT_USAGE;
    if (!o.is_diff)
        return trace(&o, left, argv);
    if (left != 3) {
        fputs("ptera trace: --diff takes two traces (ptera trace --help)\n", stderr);
        return EXIT_USAGE;
    }
    return trace_diff(argv[1], argv[2], (unsigned long)o.most);
}
