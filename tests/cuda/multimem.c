/* Every form of multimem on the memory of two and three devices: results are those of a computation
 * here. */
#include <stdarg.h>
#include <string.h>

#include "tests/cuda/multicast.h"

enum { THREADS = 40, LANE_BYTES = 16, DATA_BYTES = THREADS * LANE_BYTES };

/* ---- forms ----------------------------------------------------------------------------------- */

enum element { U32, S32, U64, S64, F16, BF16, F32, F64 };
enum op { ADD, MIN, MAX, AND, OR, XOR, SUM_F32 /* add.acc::f32 */, N_OPS };
static const char *const op_names[N_OPS] = {".add", ".min", ".max",         ".and",
                                            ".or",  ".xor", ".add.acc::f32"};

/* A type as it is spelled; its registers; its elements. */
struct type {
    const char *name;
    enum element element;
    int registers, register_bytes, element_bytes;
    unsigned load_ops, red_ops; /* bits */
};
enum {
    ORDERED = 1 << ADD | 1 << MIN | 1 << MAX,
    BITS = 1 << AND | 1 << OR | 1 << XOR,
    HALVES = ORDERED | 1 << SUM_F32
};
static const struct type types[] = {
    {".u32", U32, 1, 4, 4, ORDERED, ORDERED},
    {".s32", S32, 1, 4, 4, ORDERED, ORDERED},
    {".u64", U64, 1, 8, 8, ORDERED, ORDERED},
    {".s64", S64, 1, 8, 8, 1 << MIN | 1 << MAX, 1 << MIN | 1 << MAX},
    {".b32", U32, 1, 4, 4, BITS, BITS},
    {".b64", U64, 1, 8, 8, BITS, BITS},
    {".f32", F32, 1, 4, 4, 1 << ADD, 1 << ADD},
    {".v2.f32", F32, 2, 4, 4, 1 << ADD, 1 << ADD},
    {".v4.f32", F32, 4, 4, 4, 1 << ADD, 1 << ADD},
    {".f64", F64, 1, 8, 8, 1 << ADD, 1 << ADD},
#define HALF(name, element)                                    \
    {".v2." name, element, 2, 2, 2, HALVES, ORDERED},          \
        {".v4." name, element, 4, 2, 2, HALVES, ORDERED},      \
        {".v8." name, element, 8, 2, 2, HALVES, ORDERED},      \
        {"." name "x2", element, 1, 4, 2, HALVES, 1 << ADD},   \
        {".v2." name "x2", element, 2, 4, 2, HALVES, ORDERED}, \
    {                                                          \
        ".v4." name "x2", element, 4, 4, 2, HALVES, ORDERED    \
    }
    HALF("f16", F16),
    HALF("bf16", BF16),
};
enum { N_TYPES = sizeof types / sizeof *types };

/* ---- the same here --------------------------------------------------------------------------- */

static float widen(uint16_t half, enum element element)
{
    uint32_t bits = (uint32_t)half << 16;
    float value;
    _Float16 f16;
    memcpy(&f16, &half, sizeof f16);
    memcpy(&value, &bits, sizeof value);
    return element == F16 ? (float)f16 : value;
}

static uint16_t narrow(float value, enum element element)
{
    uint32_t bits;
    _Float16 f16 = (_Float16)value;
    uint16_t half;
    memcpy(&bits, &value, sizeof bits);
    memcpy(&half, &f16, sizeof half);
    return element == F16 ? half
                          : (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16); /* to even */
}

/* a = a op b, of one element. */
#define COMBINE(T)                                                   \
    do {                                                             \
        T x, y;                                                      \
        memcpy(&x, a, sizeof x), memcpy(&y, b, sizeof y);            \
        x = op == ADD ? (T)(x + y) : (op == MIN) == (y < x) ? y : x; \
        memcpy(a, &x, sizeof x);                                     \
    } while (0)

static void combine_bits(uint8_t *a, const uint8_t *b, int bytes, enum op op)
{
    for (int i = 0; i < bytes; i++)
        a[i] = (uint8_t)(op == AND ? a[i] & b[i] : op == OR ? a[i] | b[i] : a[i] ^ b[i]);
}

static void combine(uint8_t *a, const uint8_t *b, const struct type *t, enum op op)
{
    uint16_t h[2];
    float x, y;
    if (op == AND || op == OR || op == XOR) {
        combine_bits(a, b, t->element_bytes, op);
        return;
    }
    switch (t->element) {
    case U32:
        COMBINE(uint32_t);
        break;
    case S32:
        if (op == ADD)
            COMBINE(uint32_t);
        else
            COMBINE(int32_t);
        break;
    case U64:
        COMBINE(uint64_t);
        break;
    case S64:
        COMBINE(int64_t);
        break;
    case F32:
        COMBINE(float);
        break;
    case F64:
        COMBINE(double);
        break;
    default:
        memcpy(&h[0], a, 2), memcpy(&h[1], b, 2);
        x = widen(h[0], t->element), y = widen(h[1], t->element);
        x = op == ADD ? x + y : (op == MIN) == (y < x) ? y : x;
        h[0] = narrow(x, t->element);
        memcpy(a, h, 2);
    }
}

static void sum_f32(uint8_t *a, uint8_t *const *replicas, int at, enum element element)
{
    float sum = 0;
    for (int d = 0; d < n_devices; d++) {
        uint16_t half;
        memcpy(&half, replicas[d] + at, 2);
        sum += widen(half, element);
    }
    uint16_t half = narrow(sum, element);
    memcpy(a, &half, 2);
}

/* Numbers without infinities and NaNs, whose sums depend on the order. */
static void fill(uint8_t *data, const struct type *t)
{
    static uint32_t seed = 1;
    for (int at = 0; at < DATA_BYTES; at += t->element_bytes) {
        uint32_t word = seed = seed * 1664525 + 1013904223;
        int shift = (int)(word >> 8 & 7) - 3;
        double value = ((int)(word >> 12) - (1 << 19)) / 524288.0 *
                       (shift < 0 ? 1.0 / (1 << -shift) : 1 << shift);
        float single = (float)value;
        uint16_t half = narrow(single, t->element == F16 ? F16 : BF16);
        uint64_t wide = (uint64_t)word << 32 | (word * 2654435761u);
        const void *from = t->element <= S64   ? (const void *)&wide
                           : t->element == F64 ? (const void *)&value
                           : t->element == F32 ? (const void *)&single
                                               : (const void *)&half;
        memcpy(data + at, from, (size_t)t->element_bytes);
    }
}

/* ---- kernels --------------------------------------------------------------------------------- */

enum kernel { LOAD, RED, STORE, N_KERNELS };
static const char *const kernel_names[N_KERNELS] = {"multimem.ld_reduce", "multimem.red",
                                                    "multimem.st"};
/* In turn, so that every spelling of the order is used. */
static const char *const orders[N_KERNELS][4] = {
    {"", ".weak.global", ".relaxed.cta.global", ".acquire.sys"},
    {"", ".global", ".relaxed.gpu", ".release.cluster.global"},
    {"", ".weak.global", ".relaxed.gpu", ".release.sys.global"}};

struct text {
    char *p;
    size_t n, room;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    t->n += (size_t)vsnprintf(t->p + t->n, t->room - t->n, format, args);
    va_end(args);
}

static void put_registers(struct text *t, const struct type *type)
{
    put(t, type->registers > 1 ? "{" : "");
    for (int i = 0; i < type->registers; i++)
        put(t, "%s%%e%d", i ? "," : "", i);
    put(t, type->registers > 1 ? "}" : "");
}

/* Between the registers and the thread's part of the plain buffer. */
static void put_moves(struct text *t, const struct type *type, int is_load)
{
    for (int i = 0; i < type->registers; i++)
        if (is_load)
            put(t, "    ld.global.b%d %%e%d, [%%rd2+%d];\n", type->register_bytes * 8, i,
                i * type->register_bytes);
        else
            put(t, "    st.global.b%d [%%rd2+%d], %%e%d;\n", type->register_bytes * 8,
                i * type->register_bytes, i);
}

/* Kernel k_T_O(multimem, plain): each thread has 16 bytes of both. */
static void put_kernel(struct text *t, enum kernel k, int type_index, enum op op)
{
    const struct type *type = &types[type_index];
    put(t, ".visible .entry k%d_%d_%d(.param .u64 m, .param .u64 p)\n{\n", (int)k, type_index,
        (int)op);
    put(t, "    .reg .b32 %%r; .reg .b64 %%rd<4>; .reg .b%d %%e<8>;\n", type->register_bytes * 8);
    put(t, "    ld.param.u64 %%rd1, [m]; ld.param.u64 %%rd2, [p]; mov.u32 %%r, %%tid.x; "
           "mul.wide.u32 %%rd3, %%r, 16;\n"
           "    add.u64 %%rd1, %%rd1, %%rd3; add.u64 %%rd2, %%rd2, %%rd3;\n");
    if (k != LOAD)
        put_moves(t, type, 1);
    put(t, "    %s%s%s%s ", kernel_names[k], orders[k][(type_index + (int)op) % 4],
        k == STORE ? "" : op_names[op], type->name);
    if (k == LOAD)
        put_registers(t, type);
    put(t, k == LOAD ? ", [%%rd1];\n" : "[%%rd1], ");
    if (k == LOAD)
        put_moves(t, type, 0);
    else
        put_registers(t, type);
    put(t, "%s    ret;\n}\n", k == LOAD ? "" : ";\n");
}

static int has_form(enum kernel k, const struct type *type, int op)
{
    unsigned ops = k == LOAD ? type->load_ops : k == RED ? type->red_ops : 1;
    return (int)(ops >> op & 1);
}

#define FOR_EACH_FORM(k, type, op)             \
    for (int type = 0; type < N_TYPES; type++) \
        for (int op = 0; op < N_OPS; op++)     \
            if (has_form(k, &types[type], op))

/* Every thread adds 1 to the same word. */
static const char count_kernel[] =
    ".version 8.2\n.target sm_90\n.address_size 64\n"
    ".visible .entry count(.param .u64 m)\n{\n"
    "    .reg .b64 %rd1; ld.param.u64 %rd1, [m]; multimem.red.add.u32 [%rd1], 1; ret;\n}\n";

static CUmodule load_forms(void)
{
    struct text t = {.p = malloc(1 << 20), .room = 1 << 20};
    CUmodule module = NULL;
    put(&t, "%s", count_kernel);
    for (int k = 0; k < N_KERNELS; k++)
        FOR_EACH_FORM((enum kernel)k, type, op)
    put_kernel(&t, (enum kernel)k, type, (enum op)op);
    OK(cuModuleLoadData(&module, t.p));
    free(t.p);
    return module;
}

/* ---- every form ------------------------------------------------------------------------------ */

static CUfunction form_kernel(CUmodule module, enum kernel k, int type, int op)
{
    char name[32];
    snprintf(name, sizeof name, "k%d_%d_%d", (int)k, type, op);
    return function_of(module, name);
}

/* What the replicas or, of a load, the plain buffer then hold. */
static void compute(uint8_t *const *replicas, uint8_t *plain, enum kernel k, const struct type *t,
                    enum op op)
{
    for (int at = 0; at < DATA_BYTES; at += t->element_bytes) {
        if (at % LANE_BYTES >= t->registers * t->register_bytes)
            continue;
        if (k == LOAD && op == SUM_F32)
            sum_f32(plain + at, replicas, at, t->element);
        else if (k == LOAD)
            memcpy(plain + at, replicas[0] + at, (size_t)t->element_bytes);
        for (int d = 0; d < n_devices; d++)
            if (k == STORE)
                memcpy(replicas[d] + at, plain + at, (size_t)t->element_bytes);
            else if (k == RED)
                combine(replicas[d] + at, plain + at, t, op);
            else if (d && op != SUM_F32)
                combine(plain + at, replicas[d] + at, t, op);
    }
}

static void check_form(CUmodule module, const struct team *team, enum kernel k, int type, int op)
{
    static uint8_t plain[DATA_BYTES], replica[DEVICES_MAX][DATA_BYTES], have[DATA_BYTES];
    uint8_t *const replicas[] = {replica[0], replica[1], replica[2]};
    CUdeviceptr buffer = new_memory(DATA_BYTES), all = team->all;
    int differ = 0;
    fill(plain, &types[type]);
    OK(cuMemcpyHtoD_v2(buffer, plain, DATA_BYTES));
    for (int d = 0; d < n_devices; d++) {
        fill(replica[d], &types[type]);
        OK(cuMemcpyHtoD_v2(team->replica[d], replica[d], DATA_BYTES));
    }
    OK(LAUNCH(form_kernel(module, k, type, op), THREADS, NULL, &all, &buffer));
    compute(replicas, plain, k, &types[type], (enum op)op);
    OK(cuMemcpyDtoH_v2(have, buffer, DATA_BYTES));
    differ |= memcmp(have, plain, DATA_BYTES) != 0;
    for (int d = 0; d < n_devices; d++) {
        OK(cuMemcpyDtoH_v2(have, team->replica[d], DATA_BYTES));
        differ |= memcmp(have, replica[d], DATA_BYTES) != 0;
    }
    if (differ)
        fprintf(stderr, "%s%s%s, %d devices:\n", kernel_names[k], k == STORE ? "" : op_names[op],
                types[type].name, n_devices);
    CHECK(!differ);
    OK(cuMemFree_v2(buffer));
}

/* Threads of many blocks add to one word. */
static void check_count(CUmodule module, const struct team *team)
{
    CUdeviceptr all = team->all;
    unsigned count = 0;
    for (int d = 0; d < n_devices; d++)
        OK(cuMemsetD32_v2(team->replica[d], (unsigned)d, 1));
    OK(cuLaunchKernel(function_of(module, "count"), 20, 1, 1, 100, 1, 1, 0, NULL, (void *[]){&all},
                      NULL));
    for (int d = 0; d < n_devices; d++) {
        OK(cuMemcpyDtoH_v2(&count, team->replica[d], sizeof count));
        CHECK_INT(count, (unsigned)d + 2000);
    }
}

static void check_all(void)
{
    struct team team;
    begin();
    CUmodule module = load_forms();
    make_team(&team);
    for (int k = 0; k < N_KERNELS; k++)
        FOR_EACH_FORM((enum kernel)k, type, op)
    check_form(module, &team, (enum kernel)k, type, op);
    check_count(module, &team);
    end_team(&team);
}

int main(void)
{
    run_with_devices(check_all);
    return CHECK_DONE("cuda_multimem");
}
