/* What becomes of each form when a program uses it.
 *
 *     isa_launch FILE [N [FIRST | --today]]
 *
 * Each form of FILE (forms.tsv) is a kernel, at its first pair of .version and .target. Its module
 * must load. A launch of a kernel with an instruction that is not implemented (ROW_TODO of ir/isa)
 * is refused, in both engines, by the instruction's name and place; any other kernel is decoded.
 * With N, each N-th of those, from the FIRST-th (today: another each day) on, becomes native code,
 * or it is said why not. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frontend/parse.h"
#include "include/ptera.h"
#include "ir/ir.h"
#include "tests/assembler/isa/forms.h"

enum { BATCH = 256, SHOWN = 200, MAX_ROWS = 40000, SECONDS_A_DAY = 86400 };

struct row {
    char *context, *statement;
    unsigned version;
    const struct pt_target *target;
};

static struct row rows[MAX_ROWS];
static unsigned n_rows;

static ptera_engine *engine;
static bool has_jit;
static unsigned every, first;
static unsigned passed, failed, refused, decoded, native, interpreted;

static void wrong(const struct row *row, const char *what, const char *text)
{
    if (failed++ < SHOWN)
        printf("%s: .version %s .target %s %s\n    %s\n    %s\n", what, forms_version(row->version),
               forms_target_name(row->target), row->context, row->statement, text);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* False: only an earlier assembler took it. */
static bool read_row(struct row *row, char *column[FORM_COLUMNS])
{
    static struct form_pairs pairs;
    unsigned to;
    forms_pairs(&pairs, column);
    row->target = pairs.n ? pairs.pair[0].target : NULL;
    if (!pairs.n || !forms_versions(&pairs, row->target, &row->version, &to))
        return false;
    row->context = strndup(column[3], strcspn(column[3], " "));
    row->statement = strdup(column[4]);
    return true;
}

static bool is_alone(const struct row *row)
{
    return strstr(row->context, "mod");
}

static bool is_independent(const struct row *row)
{
    return !strncmp(row->context, "indep", 5);
}

/* Kernels of one module stand together. */
static int compare(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int order = (int)x->version - (int)y->version;
    if (!order)
        order = (int)(x->target - y->target);
    if (!order)
        order = is_alone(x) - is_alone(y);
    if (!order)
        order = is_independent(x) - is_independent(y);
    return order ? order : strcmp(x->statement, y->statement);
}

static bool read_rows(const char *path)
{
    static char line[8192];
    char *column[FORM_COLUMNS];
    FILE *f = fopen(path, "r");
    while (f && n_rows < MAX_ROWS && forms_read(f, line, sizeof line, column))
        n_rows += read_row(&rows[n_rows], column);
    if (!f)
        perror(path);
    else
        fclose(f);
    qsort(rows, n_rows, sizeof *rows, compare);
    return n_rows;
}

/* ---- modules --------------------------------------------------------------------------------- */

/* Those from `row` on that can be of its module. */
static unsigned count_batch(const struct row *row)
{
    unsigned n = 1, left = (unsigned)(rows + n_rows - row);
    while (n < BATCH && n < left && !is_alone(row) && row[n].version == row->version &&
           row[n].target == row->target && !is_alone(&row[n]) &&
           is_independent(&row[n]) == is_independent(row))
        n++;
    return n;
}

/* Kernel "form<i>" for each; of a function, a kernel that calls it. */
static void build(struct form_text *text, const struct row *row, unsigned n)
{
    const char *statements[BATCH];
    char target[16], version[16], name[300];
    for (unsigned i = 0; i < n; i++)
        statements[i] = row[i].statement;
    snprintf(target, sizeof target, "%s", forms_target_name(row->target));
    snprintf(version, sizeof version, "%s", forms_version(row->version));
    forms_begin(text, version, target, row->context, statements, n);
    for (unsigned i = 0; i < n; i++) {
        bool is_func = !strcmp(row[i].context, "func");
        snprintf(name, sizeof name, "%s%u", is_func ? "func" : "form", i);
        forms_add(text, row[i].context, name, row[i].statement);
        snprintf(name, sizeof name,
                 ".entry form%u () {\n.param .align 16 .b8 r[64];\n.param .align 16 .b8 p[64];\n"
                 "call (r), func%u, (p);\nret;\n}\n",
                 i, i);
        forms_put(text, is_func ? name : "");
    }
}

/* What the text says without an engine. */
static bool parse(struct pt_module *m, const struct form_text *text)
{
    static jmp_buf oom;
    pt_arena_init(&m->arena, &pt_malloc_allocator);
    m->arena.oom = &oom;
    if (setjmp(oom))
        exit(1);
    return pt_parse(m, "form.ptx", text->buf, text->n);
}

static const struct pt_func *find_func(const struct pt_module *m, const char *name)
{
    for (uint32_t i = 1; i < m->funcs.n; i++)
        if (!strcmp(m->funcs.v[i].name, name))
            return &m->funcs.v[i];
    return NULL;
}

/* The first instruction of a form that is not implemented: its place and name, as a launch must
 * tell them. */
static bool find_refusal(const struct pt_module *m, const struct row *row, unsigned i, char *text,
                         size_t size)
{
    char name[32];
    snprintf(name, sizeof name, "%s%u", strcmp(row->context, "func") ? "form" : "func", i);
    const struct pt_func *f = find_func(m, name);
    for (uint32_t k = 0; f && k < f->insns.n; k++) {
        const struct pt_form *form = pt_insn_form(m, &f->insns.v[k]);
        if (pt_op_is_supported((enum pt_op)form->op))
            continue;
        snprintf(text, size, "form.ptx:%u:%u: error: '%s' is known but not supported yet\n",
                 f->insns.v[k].line, f->insns.v[k].col, form->spelling);
        return true;
    }
    return false;
}

/* ---- kernels --------------------------------------------------------------------------------- */

static bool check_refused(ptera_kernel *kernel, const struct row *row, const char *text)
{
    static const char parameters[4096];
    static const ptera_backend backends[] = {PTERA_BACKEND_INTERP, PTERA_BACKEND_JIT,
                                             PTERA_BACKEND_AUTO};
    ptera_kernel_properties properties = {.size = sizeof properties};
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.parameter_block = parameters;
    for (unsigned i = 0; i < sizeof backends / sizeof *backends; i++) {
        launch.backend = backends[i];
        ptera_result result = ptera_kernel_launch(kernel, &launch);
        const char *error = ptera_engine_error(engine);
        if (result != PTERA_ERROR_UNSUPPORTED_PTX || strncmp(error, text, strlen(text)) != 0) {
            wrong(row, "must be refused", *error ? error : ptera_result_text(result));
            return false;
        }
    }
    refused++;
    return true;
}

static bool check_native(ptera_kernel *kernel, const struct row *row)
{
    const void *data;
    size_t bytes;
    ptera_result result =
        ptera_kernel_emit(kernel, (const unsigned[]){32, 1, 1}, 0, PTERA_EMIT_OBJ, &data, &bytes);
    native += result == PTERA_OK;
    interpreted += result == PTERA_ERROR_UNSUPPORTED_PTX;
    if (result == PTERA_OK || result == PTERA_ERROR_UNSUPPORTED_PTX)
        return true;
    wrong(row, "not compiled", ptera_engine_error(engine));
    return false;
}

static bool check_decoded(ptera_kernel *kernel, const struct row *row)
{
    ptera_kernel_properties properties = {.size = sizeof properties};
    ptera_result result = ptera_kernel_properties_get(kernel, &properties);
    if (result != PTERA_OK) {
        wrong(row, "refused", ptera_engine_error(engine));
        return false;
    }
    bool is_chosen = every && has_jit && decoded % every == first % every;
    decoded++;
    return !is_chosen || check_native(kernel, row);
}

static void check_batch(const struct row *row, unsigned n)
{
    static struct form_text text;
    struct pt_module parsed = {.fmad = true};
    ptera_module *module = NULL;
    ptera_kernel *kernel;
    build(&text, row, n);
    parse(&parsed, &text);
    if (ptera_module_load(engine, "form.ptx", text.buf, text.n, &module) != PTERA_OK)
        wrong(row, "not loaded", ptera_engine_error(engine));
    for (unsigned i = 0; module && i < n; i++) {
        char name[32], refusal[400];
        snprintf(name, sizeof name, "form%u", i);
        bool is_refused = find_refusal(&parsed, &row[i], i, refusal, sizeof refusal);
        if (ptera_module_kernel(module, name, 0, &kernel) != PTERA_OK)
            wrong(&row[i], "no kernel", name);
        else
            passed += is_refused ? check_refused(kernel, &row[i], refusal)
                                 : check_decoded(kernel, &row[i]);
    }
    ptera_module_unload(module);
    pt_arena_free(&parsed.arena);
}

int main(int argc, char **argv)
{
    ptera_info info = {.size = sizeof info};
    every = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
    first = argc < 4                      ? 0
            : !strcmp(argv[3], "--today") ? (unsigned)(time(NULL) / SECONDS_A_DAY)
                                          : (unsigned)atoi(argv[3]);
    if (argc < 2 || !read_rows(argv[1])) {
        fprintf(stderr, "usage: isa_launch FILE [N [FIRST | --today]]\n");
        return 2;
    }
    if (ptera_engine_create(NULL, &engine) != PTERA_OK ||
        ptera_engine_info(engine, &info) != PTERA_OK)
        return 1;
    has_jit = info.has_jit;
    for (unsigned i = 0, n; i < n_rows; i += n) {
        n = count_batch(&rows[i]);
        check_batch(&rows[i], n);
    }
    ptera_engine_destroy(engine);
    printf("%u refused, %u decoded, of these %u native, %u interpreted\n", refused, decoded, native,
           interpreted);
    printf("isa_launch: %u passed, %u failed, 0 skipped\n", passed, failed);
    return failed != 0;
}
