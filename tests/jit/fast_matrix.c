/* --math fast: products of matrices are sums in f32, each term added to nearest in the order of
 * k. */
#include <math.h>
#include <stdbool.h>

#include "tests/api/support.h"

static ptera_engine *engine;

/* ---- elements -------------------------------------------------------------------------------- */

struct type {
    const char *name;
    unsigned bits, exponent, fraction; /* bits: of a place in a register */
};
static const struct type f16 = {"f16", 16, 5, 10}, bf16 = {"bf16", 16, 8, 7},
                         tf32 = {"tf32", 32, 8, 10};

/* The element in the upper bits of a place: a tf32 has 13 that nobody reads. */
static float decode(const struct type *t, uint32_t bits)
{
    uint32_t v = t->bits == 32 ? bits >> 13 : bits, most = (1u << t->exponent) - 1;
    uint32_t exponent = v >> t->fraction & most, fraction = v & ((1u << t->fraction) - 1);
    int unit = (exponent ? (int)exponent : 1) - (int)most / 2 - (int)t->fraction;
    float magnitude = ldexpf((float)(fraction | (exponent ? 1u << t->fraction : 0)), unit);
    if (exponent == most)
        magnitude = fraction ? NAN : INFINITY;
    return v >> (t->exponent + t->fraction) ? -magnitude : magnitude;
}

static uint32_t random_bits(void)
{
    static uint32_t state = 1;
    state = state * 1664525 + 1013904223;
    return state >> 8 ^ state << 13;
}

/* A place with a number near 1 most of the time, large or subnormal otherwise; or, now and then,
 * with infinity or NaN. Products are exact in f32, or far too small: with and without fused
 * multiply-adds the sums are the same. */
static uint32_t random_element(const struct type *t, bool is_special)
{
    uint32_t most = (1u << t->exponent) - 1, r = random_bits();
    uint32_t exponent = r % 8       ? most / 2 - 3 + r / 8 % 8
                        : r / 8 % 2 ? 0
                                    : most / 2 + r / 64 % (most / 2);
    uint32_t v = random_bits() & ((1u << t->fraction) - 1);
    if (t->exponent == 8 && exponent > most / 2 + 60)
        exponent = most / 2 + 60;
    if (is_special && r / 16 % 64 == 5)
        exponent = most, v &= r & 1 ? 0 : UINT32_MAX;
    v |= exponent << t->fraction | (r >> 20 & 1) << (t->exponent + t->fraction);
    return t->bits == 32 ? v << 13 | (random_bits() & 0x1fff) : v;
}

static void put_element(const struct type *t, void *memory, unsigned byte, uint32_t bits)
{
    memcpy((char *)memory + byte, &bits, t->bits / 8);
}

/* ---- what results are ------------------------------------------------------------------------ */

enum { K_MOST = 16, ROWS = 64, COLUMNS = 16 };

struct matrices {
    uint32_t a[ROWS][K_MOST], b[K_MOST][COLUMNS];
};

static void fill(struct matrices *x, const struct type *t, bool is_special)
{
    for (unsigned i = 0; i < ROWS * K_MOST; i++)
        x->a[i / K_MOST][i % K_MOST] = random_element(t, is_special);
    for (unsigned i = 0; i < K_MOST * COLUMNS; i++)
        x->b[i / COLUMNS][i % COLUMNS] = random_element(t, is_special);
}

static float random_c(bool is_special)
{
    uint32_t r = random_bits();
    float v = ldexpf((float)(int32_t)random_bits(), r % 16 ? -32 : (int)(r / 16 % 250) - 175);
    return is_special && r % 64 == 1 ? NAN : is_special && r % 64 == 2 ? INFINITY : v;
}

/* The bits of c + sum of a[row][k] * b[k][column]. */
static uint32_t expected(const struct matrices *x, const struct type *t, unsigned depth, float sign,
                         unsigned row, unsigned column, float c)
{
    for (unsigned k = 0; k < depth; k++)
        c = fmaf(sign * decode(t, x->a[row][k]), decode(t, x->b[k][column]), c);
    uint32_t bits;
    memcpy(&bits, &c, 4);
    return isnan(c) ? 0x7fffffff : bits;
}

static uint32_t bits_of(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, 4);
    return bits;
}

static void launch(const char *text, unsigned threads, int math_fast, void *at)
{
    ptera_module *module = load(engine, text);
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.block[0] = threads;
    launch.parameters = (const void *[]){&at};
    launch.n_parameters = 1;
    launch.backend = PTERA_BACKEND_JIT;
    launch.math_fast = math_fast;
    CHECK_INT(ptera_kernel_launch(kernel_of(module, "k"), &launch), PTERA_OK);
    ptera_module_unload(module);
}

/* ---- mma ------------------------------------------------------------------------------------- */

/* Registers, as each lane has them. */
struct fragments {
    uint32_t a[32][4], b[32][2];
    float c[32][4], d[32][4];
};

static const struct mma {
    const struct type *type;
    unsigned k;
} mmas[] = {{&f16, 8}, {&f16, 16}, {&bf16, 8}, {&bf16, 16}, {&tf32, 4}, {&tf32, 8}};

/* Where element k of a row of A, or of a column of B, lies in a fragment: the byte, `step`
 * registers further for each block of k. */
static unsigned place_of(const struct type *t, unsigned line, unsigned k, unsigned registers,
                         unsigned step)
{
    unsigned per = 32 / t->bits, lane = line % 8 * 4 + k % (4 * per) / per;
    unsigned reg = line / 8 + k / (4 * per) * step;
    return (lane * registers + reg) * 4 + k % per * t->bits / 8;
}

static void multiply(const struct mma *m, int math_fast, struct fragments *p)
{
    static char text[2048];
    unsigned n = m->k * m->type->bits / 128; /* registers of B */
    snprintf(text, sizeof text,
             HEADER
             ".visible .entry k(.param .u64 at)\n{\n.reg .b32 %%a<4>, %%b<2>, %%x;\n.reg .f32 "
             "%%c<4>;\n.reg "
             ".b64 %%p, %%l;\n"
             "ld.param.u64 %%p, [at];\nmov.u32 %%x, %%tid.x;\n"
             "mul.wide.u32 %%l, %%x, 16;\nadd.u64 %%l, %%p, %%l;\n"
             "ld.global.v4.b32 {%%a0,%%a1,%%a2,%%a3}, [%%l];\n"
             "ld.global.v4.f32 {%%c0,%%c1,%%c2,%%c3}, [%%l+768];\n"
             "mul.wide.u32 %%l, %%x, 8;\nadd.u64 %%l, %%p, %%l;\nld.global.v2.b32 {%%b0,%%b1}, "
             "[%%l+512];\n"
             "mma.sync.aligned.m16n8k%u.row.col.f32.%s.%s.f32 {%%c0,%%c1,%%c2,%%c3}, {%s}, {%s}, "
             "{%%c0,%%c1,%%c2,%%c3};\n"
             "mul.wide.u32 %%l, %%x, 16;\nadd.u64 %%l, %%p, %%l;\n"
             "st.global.v4.f32 [%%l+1280], {%%c0,%%c1,%%c2,%%c3};\nret;\n}\n",
             m->k, m->type->name, m->type->name, n == 2 ? "%a0,%a1,%a2,%a3" : "%a0,%a1",
             n == 2 ? "%b0,%b1" : "%b0");
    launch(text, 32, math_fast, p);
}

static void check_mma(const struct mma *m, bool is_special, struct fragments *p)
{
    struct matrices x;
    unsigned wrong = 0;
    fill(&x, m->type, is_special);
    for (unsigned k = 0; k < m->k; k++) {
        for (unsigned row = 0; row < 16; row++)
            put_element(m->type, p->a, place_of(m->type, row, k, 4, 2), x.a[row][k]);
        for (unsigned column = 0; column < 8; column++)
            put_element(m->type, p->b, place_of(m->type, column, k, 2, 1), x.b[k][column]);
    }
    for (unsigned i = 0; i < 128; i++)
        p->c[i / 4][i % 4] = random_c(is_special);
    multiply(m, 1, p);
    for (unsigned i = 0; i < 128; i++) {
        unsigned row = i / 16 + i % 4 / 2 * 8, column = i / 4 % 4 * 2 + i % 2;
        wrong += bits_of(p->d[i / 4][i % 4]) !=
                 expected(&x, m->type, m->k, 1, row, column, p->c[i / 4][i % 4]);
    }
    if (wrong)
        fprintf(stderr, "mma %s k%u%s\n", m->type->name, m->k, is_special ? " special" : "");
    CHECK_INT(wrong, 0);
}

/* Without math_fast they are the machine's: some differ. */
static void check_exact(struct fragments *p)
{
    struct fragments fast;
    check_mma(&mmas[1], false, p);
    fast = *p;
    multiply(&mmas[1], 0, p);
    CHECK(memcmp(fast.d, p->d, sizeof fast.d) != 0);
}

/* ---- wgmma: 64 x 16, matrices in shared memory without a swizzle ----------------------------- */

enum { LEADING = 128, STRIDE = 256, B_AT = ROWS / 8 * STRIDE, IMAGE = B_AT + COLUMNS / 8 * STRIDE };

struct group {
    uint32_t image[IMAGE / 4];
    uint32_t a[128][4];
    float c[128][8], d[128][8];
};

static const struct wgmma {
    const struct type *type;
    unsigned k;
    bool has_registers, transposes_a, transposes_b;
    int scale_a, scale_d;
} wgmmas[] = {
    {&f16, 16, false, false, false, 1, 1}, {&f16, 16, false, true, true, 1, 1},
    {&f16, 16, true, false, true, -1, 1},  {&f16, 16, false, false, true, 1, 0},
    {&bf16, 16, false, true, false, 1, 1}, {&bf16, 16, true, false, true, 1, 1},
    {&tf32, 8, false, false, false, 1, 1}, {&tf32, 8, true, false, false, -1, 1},
};

/* Where element k of a row of A, or of a column of B, lies. */
static unsigned shared_at(const struct type *t, bool is_transposed, unsigned line, unsigned k)
{
    unsigned bytes = t->bits / 8, b = is_transposed ? line * bytes : k * bytes;
    unsigned other = is_transposed ? k : line;
    return other / 8 * (is_transposed ? LEADING : STRIDE) +
           b / 16 * (is_transposed ? STRIDE : LEADING) + other % 8 * 16 + b % 16;
}

static void multiply_group(const struct wgmma *w, struct group *g)
{
    static char text[4096];
    static const char registers[] = "%c0,%c1,%c2,%c3,%c4,%c5,%c6,%c7";
    unsigned long long descriptor =
        (unsigned long long)(STRIDE >> 4) << 32 | (unsigned long long)(LEADING >> 4) << 16;
    char transposed[32] = "";
    if (w->type->bits == 16 && w->has_registers)
        snprintf(transposed, sizeof transposed, ", %d", w->transposes_b);
    else if (w->type->bits == 16)
        snprintf(transposed, sizeof transposed, ", %d, %d", w->transposes_a, w->transposes_b);
    snprintf(
        text, sizeof text,
        ".version 8.0\n.target sm_90a\n.address_size 64\n.shared .align 128 .b8 s[%u];\n"
        ".visible .entry k(.param .u64 at)\n{\n.reg .b32 %%a<4>, %%x, %%s, %%w;\n.reg .f32 "
        "%%c<8>;\n"
        ".reg .b64 %%p, %%l, %%da, %%db;\n.reg .pred %%q;\n"
        "ld.param.u64 %%p, [at];\nmov.u32 %%x, %%tid.x;\nmov.u32 %%s, s;\n"
        "shr.u32 %%w, %%s, 4;\ncvt.u64.u32 %%da, %%w;\nadd.u64 %%da, %%da, %llu;\nadd.u64 %%db, "
        "%%da, %u;\nsetp.eq.s32 %%q, %d, 1;\n"
        "mad.lo.u32 %%s, %%x, 4, %%s;\nmul.wide.u32 %%l, %%x, 4;\nadd.u64 %%l, %%p, %%l;\n"
        "ld.global.b32 %%w, [%%l];\nst.shared.b32 [%%s], %%w;\n"
        "ld.global.b32 %%w, [%%l+512];\nst.shared.b32 [%%s+512], %%w;\n"
        "ld.global.b32 %%w, [%%l+1024];\nst.shared.b32 [%%s+1024], %%w;\n"
        "ld.global.b32 %%w, [%%l+1536];\nst.shared.b32 [%%s+1536], %%w;\n"
        "ld.global.b32 %%w, [%%l+2048];\nst.shared.b32 [%%s+2048], %%w;\n"
        "mul.wide.u32 %%l, %%x, 16;\nadd.u64 %%l, %%p, %%l;\n"
        "ld.global.v4.b32 {%%a0,%%a1,%%a2,%%a3}, [%%l+%u];\n"
        "mul.wide.u32 %%l, %%x, 32;\nadd.u64 %%l, %%p, %%l;\n"
        "ld.global.v4.f32 {%%c0,%%c1,%%c2,%%c3}, [%%l+%u];\n"
        "ld.global.v4.f32 {%%c4,%%c5,%%c6,%%c7}, [%%l+%u];\n"
        "bar.sync 0;\nwgmma.fence.sync.aligned;\n"
        "wgmma.mma_async.sync.aligned.m64n16k%u.f32.%s.%s {%s}, %s, %%db, %%q, %d, 1%s;\n"
        "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
        "st.global.v4.f32 [%%l+%u], {%%c0,%%c1,%%c2,%%c3};\n"
        "st.global.v4.f32 [%%l+%u], {%%c4,%%c5,%%c6,%%c7};\nret;\n}\n",
        (unsigned)IMAGE, descriptor, B_AT >> 4, w->scale_d, (unsigned)offsetof(struct group, a),
        (unsigned)offsetof(struct group, c), (unsigned)offsetof(struct group, c) + 16, w->k,
        w->type->name, w->type->name, registers, w->has_registers ? "{%a0,%a1,%a2,%a3}" : "%da",
        w->scale_a, transposed, (unsigned)offsetof(struct group, d),
        (unsigned)offsetof(struct group, d) + 16);
    launch(text, 128, 1, g);
}

static void check_wgmma(const struct wgmma *w, bool is_special, struct group *g)
{
    struct matrices x;
    unsigned wrong = 0;
    fill(&x, w->type, is_special);
    for (unsigned k = 0; k < w->k; k++) {
        for (unsigned row = 0; row < ROWS; row++) {
            put_element(w->type, g->image, shared_at(w->type, w->transposes_a, row, k),
                        x.a[row][k]);
            put_element(w->type, g->a[row / 16 * 32], place_of(w->type, row % 16, k, 4, 2),
                        x.a[row][k]);
        }
        for (unsigned column = 0; column < COLUMNS; column++)
            put_element(w->type, g->image, B_AT + shared_at(w->type, w->transposes_b, column, k),
                        x.b[k][column]);
    }
    for (unsigned i = 0; i < 128 * 8; i++)
        g->c[i / 8][i % 8] = random_c(is_special);
    multiply_group(w, g);
    for (unsigned i = 0; i < 128 * 8; i++) {
        unsigned thread = i / 8, row = thread / 32 * 16 + thread % 32 / 4 + i % 4 / 2 * 8;
        unsigned column = i % 8 / 4 * 8 + thread % 4 * 2 + i % 2;
        float c = w->scale_d ? g->c[thread][i % 8] : 0;
        wrong += bits_of(g->d[thread][i % 8]) !=
                 expected(&x, w->type, w->k, (float)w->scale_a, row, column, c);
    }
    if (wrong)
        fprintf(stderr, "wgmma %u of this list%s: %u\n", (unsigned)(w - wgmmas),
                is_special ? ", special" : "", wrong);
    CHECK_INT(wrong, 0);
}

int main(void)
{
    engine = new_engine(1);
    struct fragments *fragments = new_buffer(engine, sizeof *fragments);
    struct group *group = new_buffer(engine, sizeof *group);
    for (unsigned i = 0; i < 2 * sizeof mmas / sizeof *mmas; i++)
        check_mma(&mmas[i / 2], i % 2, fragments);
    check_exact(fragments);
    for (unsigned i = 0; i < 2 * sizeof wgmmas / sizeof *wgmmas; i++)
        check_wgmma(&wgmmas[i / 2], i % 2, group);
    ptera_engine_destroy(engine);
    return CHECK_DONE("fast_matrix");
}
