/* What native code computes against what the interpreter does, form by form, on the corners of all
 * formats.
 *
 *     emit [--every N] [FIRST-LETTERS-OF-FORMS [list]]
 *
 * The forms are those of tests/assembler/isa/forms.tsv, or each N-th of them; "list" lists those
 * that are not native. Kernels of several forms each read their sources from tables: once with a
 * row for each thread (vectors), once with one thread a CTA (scalars). A form that keeps a kernel
 * from being native is left out and counted as skipped. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>

#include "tests/api/support.h"

enum { ROWS = 2560, CTA = 256, SOURCES = 4, BATCH = 16, MAX_FORMS = 4096, OPERANDS = 8, SHOWN = 3 };

static ptera_engine *engine;

/* ---- sources: every pair of corners, and as many triples ------------------------------------- */

static const uint64_t corners16[] = {
    0,      1,      2,      3,      7,      0x1f,   0x20,   0xff,   0x100,  0x3ff,  0x400,  0x7ff,
    0x800,  0x3bff, 0x3c00, 0x3c01, 0x3f80, 0x4000, 0x5bff, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x7f7f,
    0x7f80, 0x7f81, 0x7fff, 0x8000, 0x8001, 0x83ff, 0x8400, 0xbc00, 0xbf80, 0xc000, 0xfbff, 0xfc00,
    0xfe01, 0xff7f, 0xff80, 0xfff7, 0xfffe, 0xffff, 0x0080, 0x007f, 0x3555, 0x6666, 0x1234, 0xedcb,
};
static const uint64_t corners32[] = {
    0,          1,          2,          3,          7,          31,         32,         33,
    0xff,       0x7fff,     0x8000,     0xffff,     0x10000,    0x7fffff,   0x800000,   0x800001,
    0x3eaaaaab, 0x3f7fffff, 0x3f800000, 0x3f800001, 0x3fc00000, 0x40490fdb, 0x4b7fffff, 0x4b800001,
    0x4effffff, 0x4f000000, 0x4f800000, 0x477fe000, 0x477ff000, 0x33000000, 0x38800000, 0x7f7fffff,
    0x7f800000, 0x7f800001, 0x7fc01234, 0x7fffffff, 0x80000000, 0x80000001, 0x807fffff, 0x80800000,
    0xbf800000, 0xc0200000, 0xcf000000, 0xff7fffff, 0xff800000, 0xffc00000, 0xfffffffe, 0xffffffff,
};
static const uint64_t corners64[] = {
    0,
    1,
    2,
    7,
    63,
    64,
    0x7fffffff,
    0x80000000,
    0xffffffff,
    0x100000000,
    0xfffffffffffff,
    0x10000000000000,
    0x3690000000000000, /* f32's smallest subnormal, halves and neighbours of its smallest normal */
    0x36a0000000000000,
    0x380fffffc0000000,
    0x380fffffe0000000,
    0x3810000000000000,
    0x3fe0000000000000,
    0x3fefffffffffffff,
    0x3ff0000000000000,
    0x3ff0000000000001,
    0x3ff8000000000000,
    0x400921fb54442d18,
    0x40dfffffffe00000,
    0x41dfffffffc00000,
    0x41e0000000000000,
    0x41f0000000000000,
    0x43e0000000000000,
    0x43f0000000000000,
    0x47efffffe0000000,
    0x47effffff0000000,
    0x7fefffffffffffff,
    0x7ff0000000000000,
    0x7ff0000000000001,
    0x7ff8000000001234,
    0x7fffffffffffffff,
    0x8000000000000000,
    0x8000000000000001,
    0x800fffffffffffff,
    0xbff0000000000000,
    0xc0e0000000200000,
    0xc1e0000000000000,
    0xc3e0000000000000,
    0xffefffffffffffff,
    0xfff0000000000000,
    0xfff8000000000000,
    0xfffffffffffffffe,
    0xffffffffffffffff,
};
enum { CORNERS = 48 };
_Static_assert(sizeof corners16 == CORNERS * 8 && sizeof corners32 == CORNERS * 8 &&
                   sizeof corners64 == CORNERS * 8,
               "as many corners of each width");

/* [width][source][row]; 8-bit values are the low bytes of 16-bit ones. */
static const uint64_t *const corners[] = {corners16, corners32, corners64};
static uint64_t (*table)[SOURCES][ROWS];

static void fill_table(void)
{
    uint32_t seed = 1;
    for (unsigned row = 0; row < ROWS; row++) {
        unsigned pick[SOURCES] = {row % CORNERS, row / CORNERS % CORNERS};
        for (unsigned k = 2; k < SOURCES; k++) {
            seed = seed * 1664525 + 1013904223;
            pick[k] = (seed >> 16) % CORNERS;
        }
        for (unsigned w = 0; w < 3; w++)
            for (unsigned k = 0; k < SOURCES; k++)
                table[w][k][row] = corners[w][pick[k]];
    }
}

/* ---- forms ----------------------------------------------------------------------------------- */

struct form {
    char text[160];             /* add.u32 %r1, %r2, %r3; */
    char name[96];              /* add.u32 */
    char operand[OPERANDS][24]; /* registers, d|p as two; constants */
    unsigned n;
    unsigned n_dests;
    bool is_left_out;
};

static struct form forms[MAX_FORMS];
static unsigned n_forms;

/* Where the values of a register lie, and how they are loaded and stored. */
static const struct register_class {
    const char *prefix, *name, *type, *access;
    unsigned width;
} classes[] = {
    {"%rs", "s", "b16", "u16", 0}, {"%rd", "d", "b64", "b64", 2}, {"%fd", "g", "f64", "f64", 2},
    {"%r", "r", "b32", "b32", 1},  {"%f", "f", "f32", "f32", 1},  {"%b", "c", "b8", "u8", 0},
    {"%p", "p", "pred", NULL, 0},
};

static const struct register_class *class_of(const char *operand)
{
    operand += *operand == '!';
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (!strncmp(operand, classes[i].prefix, strlen(classes[i].prefix)))
            return &classes[i];
    return NULL;
}

static bool add_form(const char *text)
{
    struct form *f = &forms[n_forms];
    size_t name = strcspn(text, " "), len = strcspn(text, ";");
    bool is_of_sm_1x = !strncmp(text, "mad.", 4) && text[4] != 'r' && strstr(text, ".f32 ");
    if (n_forms == MAX_FORMS || is_of_sm_1x || strpbrk(text, "[{@_") ||
        strlen(text) >= sizeof f->text)
        return false;
    memset(f, 0, sizeof *f);
    snprintf(f->text, sizeof f->text, "%.*s", (int)len, text);
    snprintf(f->name, sizeof f->name, "%.*s", (int)name, text);
    f->n_dests = 1;
    for (const char *at = text + name; at < text + len;) {
        at += strspn(at, " ,|");
        size_t n = strcspn(at, " ,|;");
        if (f->n == OPERANDS || n >= sizeof f->operand[0])
            return false;
        snprintf(f->operand[f->n++], sizeof f->operand[0], "%.*s", (int)n, at);
        f->n_dests += at[n] == '|';
        at += n;
    }
    n_forms++;
    return true;
}

/* Forms up to sm_90 of the groups that only compute. */
static void read_forms(const char *path, const char *only)
{
    static const char *const groups[] = {"integer", "fp32/64", "half", "compare", "logic", "cvt"};
    char line[1024];
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    while (file && fgets(line, sizeof line, file)) {
        char group[64], ptx[16], sm[16], text[512];
        if (sscanf(line, "%63[^\t]\t%15[^\t]\t%15[^\t]\t%*[^\t]\t%511[^\n]", group, ptx, sm,
                   text) != 4)
            continue;
        bool is_in_group = false;
        for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
            is_in_group |= !strcmp(group, groups[i]);
        if (is_in_group && atoi(sm + 3) <= 90 && !strncmp(text, only, strlen(only)))
            add_form(text);
    }
    if (file)
        fclose(file);
}

/* Constants decide what is emitted. */
static void add_constants(const char *only)
{
    static const char *const divisors[] = {"0",  "1",   "-1",  "3",          "-7",
                                           "16", "-16", "641", "-2147483648"};
    static const char *const ops[] = {"div.s32", "div.u32", "rem.s32", "rem.u32",
                                      "shl.b32", "shr.s32", "shr.u32", "mul.lo.s32",
                                      "min.s32", "div.s16", "rem.u64"};
    static const char *const selectors[] = {"0x3210", "0x7654", "0x0123", "0x5410", "0x7632",
                                            "0xba98", "0x888f", "0x4440", "0xf0c7"};
    char text[160];
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        for (size_t k = 0; k < sizeof divisors / sizeof *divisors; k++) {
            const char *reg = strstr(ops[i], "16") ? "%rs" : strstr(ops[i], "64") ? "%rd" : "%r";
            snprintf(text, sizeof text, "%s %s1, %s2, %s;", ops[i], reg, reg, divisors[k]);
            if (!strncmp(text, only, strlen(only)) && !(strlen(divisors[k]) > 6 && reg[2] == 's'))
                CHECK(add_form(text));
        }
    for (size_t k = 0; k < sizeof selectors / sizeof *selectors; k++) {
        snprintf(text, sizeof text, "prmt.b32 %%r1, %%r2, %%r3, %s;", selectors[k]);
        if (!strncmp(text, only, strlen(only)))
            CHECK(add_form(text));
    }
    for (unsigned mode = 0; mode < 4 * 6; mode++) {
        static const char *const modes[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
        snprintf(text, sizeof text, "prmt.b32.%s %%r1, %%r2, %%r3, %u;", modes[mode / 4], mode % 4);
        if (!strncmp(text, only, strlen(only)))
            CHECK(add_form(text));
    }
    for (unsigned lut = 0; lut < 256; lut++) {
        snprintf(text, sizeof text, "lop3.b32 %%r1, %%r2, %%r3, %%r4, %u;", lut);
        if (!strncmp(text, only, strlen(only)))
            CHECK(add_form(text));
    }
}

/* ---- kernels --------------------------------------------------------------------------------- */

static char *ptx;
static size_t ptx_bytes;

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ptx_bytes += (size_t)vsnprintf(ptx + ptx_bytes, 4096, format, args);
    va_end(args);
}

static void put_loads(void)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        for (unsigned k = 0; k < SOURCES; k++) {
            const struct register_class *c = &classes[i];
            unsigned at = (c->width * SOURCES + k) * ROWS * 8;
            if (c->access)
                put("ld.global.%s %%%s%u, [%%from+%u];\n", c->access, c->name, k, at);
            else
                put("ld.global.u16 %%low, [%%from+%u]; and.b16 %%low, %%low, 1; "
                    "setp.ne.u16 %%%s%u, %%low, 0;\n",
                    at, c->name, k);
        }
}

static void put_form(const struct form *f, unsigned slot)
{
    put("%s ", f->name);
    for (unsigned i = 0, source = 0; i < f->n; i++) {
        const struct register_class *c = class_of(f->operand[i]);
        put("%s", i == 0 ? "" : i < f->n_dests ? "|" : ", ");
        if (i < f->n_dests)
            put("%%%s%u", c->name, SOURCES + i);
        else if (c)
            put("%s%%%s%u", f->operand[i][0] == '!' ? "!" : "", c->name, source++);
        else
            put("%s", f->operand[i]);
    }
    put(";\n");
    for (unsigned i = 0; i < f->n_dests; i++) {
        const struct register_class *c = class_of(f->operand[i]);
        unsigned at = (slot * 2 + i) * ROWS * 8;
        if (c->access)
            put("st.global.%s [%%to+%u], %%%s%u;\n", c->access, at, c->name, SOURCES + i);
        else
            put("selp.u32 %%flag, 1, 2, %%%s%u; st.global.u32 [%%to+%u], %%flag;\n", c->name,
                SOURCES + i, at);
    }
}

/* Row number: of the thread, or (one thread a CTA) of the CTA. */
static void put_kernel(struct form **batch, unsigned n)
{
    ptx_bytes = 0;
    put(".version 9.5\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in, .param "
        ".u64 "
        "out)\n{\n.reg .b64 %%from, %%to, %%at; .reg .b32 %%row, %%n, %%t, %%flag; .reg .b16 "
        "%%low;\n");
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        put(".reg .%s %%%s<%u>;\n", classes[i].type, classes[i].name, SOURCES + 2);
    put("mov.u32 %%row, %%ctaid.x; mov.u32 %%n, %%ntid.x; mov.u32 %%t, %%tid.x;\n"
        "mad.lo.u32 %%row, %%row, %%n, %%t; mul.wide.u32 %%at, %%row, 8;\n"
        "ld.param.u64 %%from, [in]; add.u64 %%from, %%from, %%at;\n"
        "ld.param.u64 %%to, [out]; add.u64 %%to, %%to, %%at;\n");
    put_loads();
    for (unsigned i = 0; i < n; i++)
        put_form(batch[i], i);
    put("ret;\n}\n");
}

/* ---- comparing ------------------------------------------------------------------------------- */

static uint64_t *wanted, *given;
enum { OUT_BYTES = BATCH * 2 * ROWS * 8 };

/* Runs the kernel; NULL, or what kept it from being native. */
static const char *run(ptera_kernel *kernel, ptera_backend backend, unsigned threads, uint64_t *out)
{
    const void *parameters[] = {&table, &out};
    ptera_kernel_status status = {.size = sizeof status};
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.grid[0] = ROWS / threads;
    launch.block[0] = threads;
    launch.parameters = parameters;
    launch.n_parameters = 2;
    launch.backend = backend;
    memset(out, 0xa5, OUT_BYTES);
    CHECK_INT(ptera_kernel_launch(kernel, &launch), PTERA_OK);
    CHECK_INT(ptera_kernel_info(kernel, &status), PTERA_OK);
    return backend == PTERA_BACKEND_JIT ? status.why : NULL;
}

static void compare(const struct form *f, unsigned slot, unsigned threads)
{
    const uint64_t *want = wanted + slot * 2 * ROWS, *have = given + slot * 2 * ROWS;
    unsigned shown = 0;
    bool is_same = !memcmp(want, have, 2 * ROWS * 8);
    CHECK(is_same);
    for (unsigned i = 0; !is_same && i < 2 * ROWS && shown < SHOWN; i++) {
        if (want[i] == have[i])
            continue;
        fprintf(stderr, "%s (%s): gave %" PRIx64 ", not %" PRIx64 " for", f->text,
                threads > 1 ? "vectors" : "scalars", have[i], want[i]);
        for (unsigned k = 0, o = f->n_dests; o < f->n; o++) {
            const struct register_class *c = class_of(f->operand[o]);
            if (c)
                fprintf(stderr, " %" PRIx64, table[c->width][k++][i % ROWS]);
        }
        fprintf(stderr, "\n");
        shown++;
    }
}

static void leave_out(struct form **batch, unsigned n, const char *why)
{
    bool is_known = false;
    for (unsigned i = 0; i < n; i++) {
        bool is_it = !strcmp(batch[i]->name, why);
        batch[i]->is_left_out |= is_it;
        is_known |= is_it;
    }
    if (!is_known)
        fprintf(stderr, "not native: %s, as in %s\n", why, batch[0]->text);
    CHECK(is_known);
    for (unsigned i = 0; !is_known && i < n; i++)
        batch[i]->is_left_out = true;
}

/* True if the forms were native; else one of them at least is marked. */
static bool test_batch(struct form **batch, unsigned n, unsigned threads)
{
    ptera_module *module;
    ptera_kernel *kernel;
    put_kernel(batch, n);
    ptera_result r = ptera_module_load(engine, "forms", ptx, ptx_bytes, &module);
    if (r == PTERA_OK)
        r = ptera_module_kernel(module, "k", 0, &kernel);
    CHECK_INT(r, PTERA_OK);
    ptera_diagnostic wrong = {.size = sizeof wrong};
    if (r != PTERA_OK && ptera_module_diagnostic(module, 0, &wrong) == PTERA_OK)
        fprintf(stderr, "%s\n", wrong.text);
    const char *why = NULL;
    if (r == PTERA_OK) {
        run(kernel, PTERA_BACKEND_INTERP, threads, wanted);
        why = run(kernel, PTERA_BACKEND_JIT, threads, given);
        for (unsigned i = 0; !why && i < n; i++)
            compare(batch[i], i, threads);
        if (why)
            leave_out(batch, n, why);
        ptera_module_unload(module);
    }
    return !why;
}

static unsigned test_forms(unsigned threads)
{
    unsigned tested = 0;
    for (unsigned first = 0; first < n_forms;) {
        struct form *batch[BATCH];
        unsigned n = 0, next = first;
        for (; next < n_forms && n < BATCH; next++)
            if (!forms[next].is_left_out)
                batch[n++] = &forms[next];
        if (n && !test_batch(batch, n, threads))
            continue; /* once more, without */
        tested += n;
        first = next;
    }
    return tested;
}

static void keep_every(unsigned step)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < n_forms; i += step)
        forms[kept++] = forms[i];
    n_forms = kept;
}

int main(int argc, char **argv)
{
    unsigned step = argc > 2 && !strcmp(argv[1], "--every") ? (unsigned)atoi(argv[2]) : 0;
    argc -= step ? 2 : 0;
    argv += step ? 2 : 0;
    const char *only = argc > 1 ? argv[1] : "";
    CHECK_INT(ptera_engine_create(NULL, &engine), PTERA_OK);
    table = malloc(3 * sizeof *table);
    ptx = malloc(1 << 20);
    wanted = malloc(OUT_BYTES);
    given = malloc(OUT_BYTES);
    fill_table();
    read_forms(SOURCE_DIR "/tests/assembler/isa/forms.tsv", only);
    add_constants(only);
    keep_every(step ? step : 1);
    unsigned vectors = test_forms(CTA), scalars = test_forms(1), left_out = 0;
    for (unsigned i = 0; i < n_forms; i++) {
        left_out += forms[i].is_left_out;
        if (forms[i].is_left_out && argc > 2)
            printf("not native: %s\n", forms[i].text);
    }
    CHECK(!only[0] && !step ? vectors > 2000 && scalars > 2000 : vectors > 0);
    ptera_engine_destroy(engine);
    printf("jit_emit: %d passed, %d failed, %u skipped\n", check_passed, check_failed, left_out);
    return check_failed > 0;
}
