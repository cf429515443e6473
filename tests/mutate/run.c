#define _GNU_SOURCE
#include "tests/mutate/run.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "backend/barrier.h"
#include "ptera.h"
#include "tools/fuzz/pen.h"
#include "tests/mutate/vary.h"

enum {
    BUFFERS = 8,
    BUFFER_BYTES = 64 << 10,
    GUARD_BYTES = 64 << 10,
    VARIABLE_BYTES = 1 << 20, /* of all variables that are compared */
    PARAMETERS_MAX = 1 << 16, /* bytes */
    KERNELS = 4,              /* of a mutant */
    HANG_SECONDS = 20,        /* beyond the limit */
    PLACE_TEXT = 200,
    LOADS = 4, /* that fail one after the other */
    STANDS = 4,
    PATIENCE = 4, /* times the limit */
    CLOCK_STEP = 0x1e3779b1
};

/* Launches of a kernel in an engine of their own: for the first, memory is as the system gave
 * it. */
struct way {
    const char *name;
    ptera_order order;
    int isolate;
    ptera_backend backend;
    unsigned clusters;   /* of the grid */
    unsigned unwritten;  /* as ptera_launch has it */
    const char *observe; /* as ptera_options has it */
};

static const struct way
    isolated = {"isolated", PTERA_ORDER_LOCKSTEP, 1, PTERA_BACKEND_INTERP, 2, 0, NULL},
    lanes = {"isolated, lanes one by one", PTERA_ORDER_LANES, 1, PTERA_BACKEND_INTERP, 2, 0, NULL},
    reverse = {"isolated, in reverse", PTERA_ORDER_REVERSE, 1, PTERA_BACKEND_INTERP, 2, 0, NULL},
    plain = {"interpreted", PTERA_ORDER_LOCKSTEP, 0, PTERA_BACKEND_INTERP, 2, 0, NULL},
    automatic = {"auto", PTERA_ORDER_LOCKSTEP, 0, PTERA_BACKEND_AUTO, 2, 0, NULL},
    native = {"native", PTERA_ORDER_LOCKSTEP, 0, PTERA_BACKEND_JIT, 2, 0, NULL},
    turns = {"isolated, warps in turns", PTERA_ORDER_TURNS, 1, PTERA_BACKEND_INTERP, 2, 0, NULL},
    filled = {.name = "isolated, unwritten memory filled",
              .isolate = 1,
              .backend = PTERA_BACKEND_INTERP,
              .clusters = 2,
              .unwritten = 0xa5},
    raced = {.name = "watched for races",
             .isolate = 1,
             .backend = PTERA_BACKEND_INTERP,
             .clusters = 2,
             .observe = "race"};

struct outcome {
    ptera_result result;
    bool is_native;
    bool is_load;     /* what failed is a load, or a reduction that changes nothing */
    bool is_dear;     /* PTERA_ERROR_TIMEOUT, while it was compiled */
    bool is_parted;   /* lanes of a warp that do not come together, or that their own mask leaves
                       * out */
    bool is_copy;     /* what failed is an asynchronous copy */
    bool has_finding; /* of the checker that watched */
    unsigned stands[STANDS]; /* lines where lanes wait that do not come together; 0: no more */
    uint64_t address;        /* PTERA_ERROR_ILLEGAL_ADDRESS */
    unsigned line;           /* where it failed; 0: nowhere */
    uint64_t places;         /* made of the variables' addresses */
    size_t n;
    uint8_t *bytes; /* buffers, then variables */
    char error[160];
};

struct trial {
    const struct run_options *options;
    const char *text;
    size_t bytes;
    unsigned kernel;
    uint8_t *buffers;
    bool has_jit;
    struct report *report;
};

static char *place; /* PLACE_TEXT bytes */

bool run_share_place(void)
{
    place = mmap(NULL, PLACE_TEXT, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return place != MAP_FAILED;
}

const char *run_place(void)
{
    return place;
}

/* CPU time: the clock goes on while others have the machine. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void fail(const struct trial *t, enum verdict verdict, const struct way *way,
                 const char *what)
{
    struct report *r = t->report;
    if (r->verdict > VERDICT_INVALID)
        return;
    r->verdict = verdict;
    snprintf(r->text, sizeof r->text, "kernel %u, %s: %.500s", t->kernel, way->name, what);
}

/* ---- a launch -------------------------------------------------------------------------------- */

/* Buffers between pages that nobody may touch. */
static uint8_t *map_buffers(void)
{
    size_t each = BUFFER_BYTES + GUARD_BYTES;
    uint8_t *base =
        mmap(NULL, BUFFERS * each + GUARD_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    for (size_t i = 0; i < BUFFERS; i++)
        if (mprotect(base + GUARD_BYTES + i * each, BUFFER_BYTES, PROT_READ | PROT_WRITE))
            return NULL;
    return base + GUARD_BYTES;
}

static uint8_t *buffer_of(const struct trial *t, unsigned i)
{
    return t->buffers + i % BUFFERS * (size_t)(BUFFER_BYTES + GUARD_BYTES);
}

/* Small numbers, of a type that changes from buffer to buffer: u32, f32, u8, f16. */
static void fill_buffer(uint8_t *to, unsigned i)
{
    uint32_t x = 12345 + i;
    for (size_t at = 0; at < BUFFER_BYTES; at += 4) {
        x = x * 1664525 + 1013904223;
        uint32_t small = x >> 26, word = small;
        float number = (float)small / 4 - 6;
        if (i % 4 == 1)
            memcpy(&word, &number, 4);
        else if (i % 4 == 2)
            word = x >> 2 & 0x3f3f3f3f;
        else if (i % 4 == 3)
            word = 0x3c003800 + (x >> 20 & 0x3ff);
        memcpy(to + at, &word, 4);
    }
}

/* A parameter of eight bytes is a buffer, a smaller one a number; others are zero. */
static void fill_parameters(const struct trial *t, const ptera_kernel *kernel, uint8_t *block)
{
    ptera_parameter p = {.size = sizeof p};
    for (unsigned i = 0, buffers = 0; ptera_kernel_parameter(kernel, i, &p) == PTERA_OK; i++) {
        uint64_t value = 37;
        if (p.bytes == 8 && !p.is_array)
            value = (uintptr_t)buffer_of(t, buffers++);
        if (p.bytes <= 8 && !p.is_array)
            memcpy(block + p.offset, &value, p.bytes);
    }
}

static void shape_launch(ptera_launch *launch, const ptera_kernel_properties *p, unsigned clusters)
{
    launch->grid[0] = 1;
    launch->block[0] = p->max_threads < 64 ? p->max_threads : 64;
    if (p->required_block[0])
        memcpy(launch->block, p->required_block, sizeof launch->block);
    if (p->required_cluster[0])
        memcpy(launch->grid, p->required_cluster, sizeof launch->grid);
    launch->grid[0] *= clusters;
    launch->shared_bytes = p->shared_bytes < 128 << 10 ? 4096 : 0;
}

/* The line of PTX that a report of several lines has as its second, behind its guard. */
static const char *line_of(const char *text)
{
    const char *line = strchr(text, '\n');
    line = line ? line + 1 + strspn(line + 1, " ") : "";
    if (*line == '@')
        line += strcspn(line, " \n"), line += strspn(line, " ");
    return line;
}

static bool names(const char *text, const char *opcode)
{
    return !strncmp(line_of(text), opcode, strlen(opcode));
}

/* A reduction with nothing: native code has none. */
static bool is_idle(const char *text)
{
    static const char *const operands[] = {", 0;", ", -1;", ", 0xffffffff;"};
    const char *line = line_of(text);
    size_t n = strcspn(line, "\n");
    bool is_one = false;
    for (unsigned i = 0; i < sizeof operands / sizeof *operands; i++) {
        size_t bytes = strlen(operands[i]);
        is_one |= n > bytes && !strncmp(line + n - bytes, operands[i], bytes);
    }
    return is_one && names(text, "red.");
}

static unsigned number_behind(const char *text, const char *before)
{
    return (unsigned)strtoul(text + strlen(before), NULL, 10);
}

/* The lines that a report names: where it failed, then where lanes stand. */
static void read_lines(const char *text, struct outcome *o)
{
    static const char before[] = "mutant.ptx:";
    const char *at = strstr(text, before);
    o->line = at ? number_behind(at, before) : 0;
    for (int i = 0; at && o->is_parted && i < STANDS; i++)
        if ((at = strstr(at + 1, before)) != NULL)
            o->stands[i] = number_behind(at, before);
}

static void read_error(const ptera_engine *engine, struct outcome *o)
{
    const char *text = ptera_engine_error(engine), *address = strstr(text, "illegal address 0x");
    o->is_load = names(text, "ld.") || names(text, "ldmatrix.") || names(text, "wmma.load.") ||
                 is_idle(text);
    o->is_copy = names(text, "cp.async.");
    o->is_dear = o->result == PTERA_ERROR_TIMEOUT && strstr(text, "while it was compiled");
    o->is_parted = strstr(text, PT_STRANGERS) || strstr(text, PT_PARTED_LANES);
    snprintf(o->error, sizeof o->error, "%.*s", (int)strcspn(text, "\n"), text);
    read_lines(text, o);
    o->address =
        address ? strtoull(address + strlen("illegal address "), NULL, 16) : UINT64_MAX / 3;
}

/* What the kernel left behind. */
static void keep_bytes(const struct trial *t, ptera_module *module, struct outcome *o)
{
    void *address;
    size_t bytes;
    const char *name;
    o->bytes = malloc(BUFFERS * BUFFER_BYTES + VARIABLE_BYTES);
    for (unsigned i = 0; i < BUFFERS; i++, o->n += BUFFER_BYTES)
        memcpy(o->bytes + o->n, buffer_of(t, i), BUFFER_BYTES);
    for (unsigned i = 0; ptera_module_variable_at(module, i, &name, &address, &bytes) == PTERA_OK;
         i++) {
        if (o->n + bytes > BUFFERS * BUFFER_BYTES + VARIABLE_BYTES)
            return;
        memcpy(o->bytes + o->n, address, bytes);
        o->n += bytes;
        o->places = o->places * 31 + (uintptr_t)address;
    }
}

static void launch_timed(const struct trial *t, const struct way *way, ptera_kernel *kernel,
                         ptera_launch *launch, struct outcome *o)
{
    char late[80];
    launch->order = way->order;
    launch->isolate = way->isolate;
    launch->unwritten = way->unwritten;
    launch->backend = way->backend;
    launch->timeout_seconds = way->isolate || way->backend == PTERA_BACKEND_INTERP
                                  ? t->options->limit
                                  : t->options->native_limit;
    double start = now();
    o->result = ptera_kernel_launch(kernel, launch);
    double seconds = now() - start;
    if (seconds > launch->timeout_seconds + t->options->late) {
        snprintf(late, sizeof late, "returned after %.2f s, its limit was %g s", seconds,
                 launch->timeout_seconds);
        fail(t, VERDICT_LATE, way, late);
    }
}

/* In a loaded module. */
static void run_kernel(const struct trial *t, const struct way *way, ptera_engine *engine,
                       ptera_module *module, struct outcome *o)
{
    ptera_kernel *kernel;
    ptera_kernel_properties p = {.size = sizeof p};
    ptera_launch launch;
    ptera_launch_init(&launch);
    o->result = ptera_module_kernel(module, NULL, t->kernel, &kernel);
    if (o->result == PTERA_OK)
        o->result = ptera_kernel_properties_get(kernel, &p);
    if (o->result == PTERA_OK && p.parameter_bytes > PARAMETERS_MAX)
        o->result = PTERA_ERROR_UNSUPPORTED_PTX;
    if (o->result != PTERA_OK)
        return;
    uint8_t *block = calloc(1, p.parameter_bytes + 1);
    for (unsigned i = 0; i < BUFFERS; i++)
        fill_buffer(buffer_of(t, i), i);
    fill_parameters(t, kernel, block);
    shape_launch(&launch, &p, way->clusters);
    launch.parameter_block = block;
    launch.parameter_block_bytes = p.parameter_bytes;
    launch_timed(t, way, kernel, &launch, o);
    ptera_kernel_status status = {.size = sizeof status};
    ptera_kernel_info(kernel, &status);
    o->is_native = status.native_launches > 0;
    if (o->result != PTERA_OK)
        read_error(engine, o);
    else
        keep_bytes(t, module, o);
    free(block);
}

static struct outcome run_way(const struct trial *t, const struct way *way)
{
    struct outcome o = {.result = PTERA_ERROR_OUT_OF_MEMORY};
    ptera_options options;
    ptera_engine *engine;
    ptera_module *module = NULL;
    ptera_options_init(&options);
    options.threads = 1;
    options.memory_bytes = 256 << 20;
    options.observe = way->observe;
    snprintf(place, PLACE_TEXT, "kernel %u, %s", t->kernel, way->name);
    pen_limit((unsigned)(t->options->native_limit + t->options->late) + HANG_SECONDS);
    if (ptera_engine_create(&options, &engine) != PTERA_OK)
        return o;
    for (unsigned i = 0; i < BUFFERS; i++)
        ptera_memory_register(engine, buffer_of(t, i), BUFFER_BYTES);
    o.result = ptera_module_load(engine, "mutant.ptx", t->text, t->bytes, &module);
    if (o.result == PTERA_OK)
        run_kernel(t, way, engine, module, &o);
    ptera_finding finding = {.size = sizeof finding};
    o.has_finding = ptera_engine_finding(engine, 0, &finding) == PTERA_OK;
    ptera_engine_destroy(engine);
    pen_limit(0);
    return o;
}

/* ---- a kernel -------------------------------------------------------------------------------- */

/* No memory of the process can be there: both engines fail. */
static bool is_nowhere(uint64_t address)
{
    return address < 1 << 16 || address >> 47;
}

static bool is_same(const struct outcome *a, const struct outcome *b)
{
    return a->result == b->result && a->n == b->n && (!a->n || !memcmp(a->bytes, b->bytes, a->n));
}

/* Both left something, and variables lay elsewhere: their addresses may be in it. */
static bool is_elsewhere(const struct outcome *a, const struct outcome *b)
{
    return !a->result && !b->result && a->places != b->places;
}

static void describe(const struct outcome *first, const struct outcome *o, char *text, size_t bytes)
{
    size_t at = 0;
    if (first->result != o->result) {
        snprintf(text, bytes, "%s (%s), the interpreter: %s (%s)", ptera_result_text(o->result),
                 o->error, ptera_result_text(first->result), first->error);
        return;
    }
    while (at < first->n && first->bytes[at] == o->bytes[at])
        at++;
    if (at < BUFFERS * BUFFER_BYTES)
        snprintf(text, bytes, "byte %zu of buffer %zu is 0x%02x, the interpreter's is 0x%02x",
                 at % BUFFER_BYTES, at / BUFFER_BYTES, o->bytes[at], first->bytes[at]);
    else
        snprintf(text, bytes, "byte %zu of the variables is 0x%02x, the interpreter's is 0x%02x",
                 at - BUFFERS * BUFFER_BYTES, o->bytes[at], first->bytes[at]);
}

static void expect_same(const struct trial *t, const struct way *way, const struct outcome *first,
                        const struct outcome *o)
{
    char text[500];
    if (is_same(first, o))
        return;
    describe(first, o, text, sizeof text);
    fail(t, VERDICT_DIFFERENT, way, text);
}

/* ---- why results differ ---------------------------------------------------------------------- */

/* Run so, the interpreter leaves something else. `text` is freed; NULL: there is nothing to run. */
static bool differs(const struct trial *t, const struct way *way, char *text,
                    const struct outcome *from)
{
    struct trial other = *t;
    other.text = text;
    other.bytes = text ? strlen(text) : 0;
    struct outcome o = text ? run_way(&other, way) : (struct outcome){0};
    bool is_other = text && o.result != PTERA_ERROR_TIMEOUT &&
                    o.result != PTERA_ERROR_INVALID_PTX && !is_same(from, &o);
    free(o.bytes);
    free(text);
    return is_other;
}

static bool is_at_fault(const struct outcome *o)
{
    return o->is_load && (o->result == PTERA_ERROR_ILLEGAL_ADDRESS ||
                          o->result == PTERA_ERROR_MISALIGNED_ADDRESS);
}

/* Without the loads that fail it ends as native code does, which has none of them. */
static bool is_without_loads(const struct trial *t, const struct outcome *first,
                             const struct outcome *o)
{
    struct trial other = *t;
    struct outcome now = *first;
    char *text = strdup(t->text);
    for (int i = 0;
         i < LOADS && text && is_at_fault(&now) && (now.result != o->result || now.line != o->line);
         i++) {
        char *less = vary_without(text, now.line);
        free(text);
        text = less;
        other.text = text;
        if (text)
            now = run_way(&other, &isolated);
        free(now.bytes);
    }
    free(text);
    return now.result == o->result;
}

/* Without the copy that fails it leaves what native code does: nobody reads what was copied. */
static bool is_without_copy(const struct trial *t, const struct outcome *first,
                            const struct outcome *o)
{
    struct trial other = *t;
    struct outcome now = {0};
    char *text = first->is_copy ? vary_without(t->text, first->line) : NULL;
    other.text = text;
    other.bytes = text ? strlen(text) : 0;
    if (text)
        now = run_way(&other, &isolated);
    bool is_alike = text && is_same(&now, o);
    free(now.bytes);
    free(text);
    return is_alike;
}

static bool stands_at(const struct outcome *o, unsigned line)
{
    for (int i = 0; i < STANDS; i++)
        if (line && o->stands[i] == line)
            return true;
    return false;
}

/* Another thread's fault, at what comes before: native code takes several warps through a block
 * before the next one. */
static bool is_of_another(const struct trial *t, const struct outcome *first,
                          const struct outcome *o)
{
    struct trial other = *t;
    struct outcome now = {0};
    char *text = first->result && o->result && o->line && o->line < first->line
                     ? vary_without(t->text, first->line)
                     : NULL;
    other.text = text;
    other.bytes = text ? strlen(text) : 0;
    if (text)
        now = run_way(&other, &isolated);
    free(now.bytes);
    free(text);
    return text && now.result == o->result && now.line == o->line;
}

/* They are clocks' readings. */
static bool reads_clocks(const struct trial *t)
{
    struct trial still = *t;
    char *text = vary_clocks(t->text, 0);
    struct outcome from = {0};
    still.text = text;
    still.bytes = text ? strlen(text) : 0;
    if (text)
        from = run_way(&still, &isolated);
    bool is_other = text && (differs(t, &isolated, vary_clocks(t->text, CLOCK_STEP), &from) ||
                             differs(t, &isolated, vary_clocks(t->text, 1), &from));
    free(from.bytes);
    free(text);
    return is_other;
}

static bool has_races(const struct trial *t)
{
    struct outcome o = run_way(t, &raced);
    free(o.bytes);
    return o.has_finding;
}

/* What the kernel does that has no one result; KERNEL_COMPARED: nothing. */
static enum kernel_kind find_excuse(const struct trial *t, const struct outcome *first,
                                    const struct outcome *o)
{
    bool is_behind = first->result == PTERA_OK || (o->line && o->line < first->line);
    if (is_elsewhere(first, o))
        return KERNEL_ELSEWHERE;
    if (o->is_parted && (is_behind || stands_at(o, first->line)))
        return KERNEL_PARTED;
    /* what is left of the load: another thread's */
    bool is_alignment = o->result == PTERA_ERROR_MISALIGNED_ADDRESS && o->line == first->line;
    if (is_at_fault(first) &&
        (o->result == PTERA_OK || is_alignment || is_without_loads(t, first, o)))
        return KERNEL_UNREAD;
    if (is_without_copy(t, first, o))
        return KERNEL_UNREAD;
    if (is_of_another(t, first, o) || differs(t, &turns, strdup(t->text), first))
        return KERNEL_ORDER;
    if (differs(t, &filled, strdup(t->text), first) ||
        differs(t, &filled, vary_places(t->text), first) ||
        differs(t, &filled, vary_parameters(t->text), first) ||
        differs(t, &isolated, vary_results(t->text), first))
        return KERNEL_UNWRITTEN;
    return reads_clocks(t) ? KERNEL_CLOCK : has_races(t) ? KERNEL_ORDER : KERNEL_COMPARED;
}

/* Again, where its compilation left it no time. */
static struct outcome run_native(const struct trial *t, const struct way *way, bool must_end)
{
    struct run_options patient = *t->options;
    struct trial again = *t;
    struct outcome o = run_way(t, way);
    if (!must_end || o.is_dear || o.result != PTERA_ERROR_TIMEOUT)
        return o;
    patient.native_limit *= PATIENCE;
    again.options = &patient;
    free(o.bytes);
    return run_way(&again, way);
}

/* Runs it as code that may be native: what it leaves is what the interpreter left. */
static void run_alike(const struct trial *t, const struct way *way, const struct outcome *first,
                      bool must_agree)
{
    struct outcome o = run_native(t, way, must_agree);
    enum kernel_kind excuse = KERNEL_COMPARED;
    if (must_agree && !o.is_dear && !is_same(first, &o))
        excuse = find_excuse(t, first, &o);
    if (o.is_dear)
        t->report->kernels[KERNEL_DEAR]++;
    else if (excuse != KERNEL_COMPARED)
        t->report->kernels[excuse]++;
    else if (must_agree)
        expect_same(t, way, first, &o);
    t->report->kernels[KERNEL_NATIVE] += way == &native && o.is_native;
    free(o.bytes);
}

static enum kernel_kind kind_of(const struct outcome v[3])
{
    bool has_timeout = false, is_wild = false, is_alike = true;
    for (int i = 0; i < 3; i++) {
        has_timeout |= v[i].result == PTERA_ERROR_TIMEOUT;
        is_wild |= v[i].result == PTERA_ERROR_ILLEGAL_ADDRESS && !is_nowhere(v[i].address);
        is_alike &= is_same(&v[0], &v[i]);
    }
    return is_wild       ? KERNEL_WILD
           : has_timeout ? KERNEL_TIMEOUT
           : !is_alike   ? KERNEL_ORDER
           : v[0].result ? KERNEL_FAULTED
                         : KERNEL_COMPARED;
}

/* Native code must end in the time that the interpreter had, where that did not end. */
static void run_on_engines(const struct trial *t, enum kernel_kind kind,
                           const struct outcome *first)
{
    struct run_options short_limit = *t->options;
    struct trial mine = *t;
    short_limit.native_limit = short_limit.limit;
    if (kind == KERNEL_TIMEOUT)
        mine.options = &short_limit;
    bool must_agree = kind == KERNEL_COMPARED || kind == KERNEL_FAULTED;
    struct outcome o = run_way(&mine, &plain);
    bool is_slower = o.result == PTERA_ERROR_TIMEOUT; /* the machine has other work */
    bool is_other = must_agree && !is_slower && !is_same(first, &o);
    if (is_other && is_elsewhere(first, &o))
        t->report->kernels[KERNEL_ELSEWHERE]++;
    else if (is_other && reads_clocks(t)) /* another time */
        t->report->kernels[KERNEL_CLOCK]++;
    else if (is_other)
        expect_same(&mine, &plain, first, &o);
    free(o.bytes);
    run_alike(&mine, &automatic, first, must_agree);
    if (t->has_jit)
        run_alike(&mine, &native, first, must_agree);
}

/* Returns false if there is no such kernel, or none can run. */
static bool try_kernel(const struct trial *t)
{
    struct outcome v[3] = {run_way(t, &isolated)};
    bool can_run = v[0].result != PTERA_ERROR_INVALID_PTX && v[0].result != PTERA_ERROR_NOT_FOUND;
    if (can_run && v[0].result != PTERA_ERROR_UNSUPPORTED_PTX &&
        v[0].result != PTERA_ERROR_INVALID_LAUNCH) {
        for (int i = 1; i < 3 && v[0].result != PTERA_ERROR_TIMEOUT; i++)
            v[i] = run_way(t, i == 1 ? &lanes : &reverse);
        enum kernel_kind kind = kind_of(v);
        t->report->kernels[kind]++;
        t->report->verdict =
            t->report->verdict == VERDICT_INVALID ? VERDICT_GOOD : t->report->verdict;
        if (kind != KERNEL_WILD)
            run_on_engines(t, kind, &v[0]);
    }
    for (int i = 0; i < 3; i++)
        free(v[i].bytes);
    return can_run && t->report->verdict <= VERDICT_INVALID;
}

static bool has_compiler(void)
{
    ptera_engine *engine;
    ptera_info info = {.size = sizeof info};
    bool ok = ptera_engine_create(NULL, &engine) == PTERA_OK &&
              ptera_engine_info(engine, &info) == PTERA_OK && info.has_jit;
    ptera_engine_destroy(engine);
    return ok;
}

void run_serve(const void *options, int in, int out)
{
    struct run_head head;
    struct trial t = {.options = options, .buffers = map_buffers(), .has_jit = has_compiler()};
    while (t.buffers && pen_read(in, &head, sizeof head)) {
        struct report report = {.verdict = VERDICT_INVALID, .has_compiler = t.has_jit};
        char *text = malloc(head.bytes + 1);
        if (!text || !pen_read(in, text, head.bytes))
            return;
        text[head.bytes] = 0;
        t.text = text;
        t.bytes = head.bytes;
        t.report = &report;
        t.kernel = 0;
        while (t.kernel < KERNELS && try_kernel(&t))
            t.kernel++;
        free(text);
        if (!pen_write(out, &report, sizeof report))
            return;
    }
}
