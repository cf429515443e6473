/* Compares the approximate functions with what an H200 returns, input by input, through the engine.
 *
 *     mufu FOLDER STRIDE [NAME...]
 *
 * FOLDER holds an unpacked mufu.tar.xz: for each function NAME.hash with 65,536 little-endian
 * 64-bit words. Word b covers the 65,536 inputs with upper half b, in order: FNV-1a over the 32-bit
 * results. STRIDE 1 tests every block, all 2^32 inputs of a function; a larger one every STRIDE-th
 * block and those in which a format's special values lie. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ptera.h"

enum { BLOCK = 65536, BLOCKS = 65536, BATCH = 64, CTA = 256, STEPS = 32, SHOWN = 4 };

static const char *const functions[] = {
    "rcp.approx.f32",  "rcp.approx.ftz.f32",  "rsqrt.approx.f32", "rsqrt.approx.ftz.f32",
    "sqrt.approx.f32", "sqrt.approx.ftz.f32", "ex2.approx.f32",   "ex2.approx.ftz.f32",
    "lg2.approx.f32",  "lg2.approx.ftz.f32",  "sin.approx.f32",   "sin.approx.ftz.f32",
    "cos.approx.f32",  "cos.approx.ftz.f32",  "tanh.approx.f32",
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static void die(const char *what)
{
    fprintf(stderr, "mufu: %s\n", what);
    exit(2);
}

/* CTA (x, y) computes STEPS * CTA results of the block whose number is at blocks[y]. */
static ptera_kernel *make_kernel(ptera_engine *engine, const char *function, ptera_module **module)
{
    static char text[16384];
    char *p = text;
    p += sprintf(p,
                 ".version 8.0\n.target sm_90\n.address_size 64\n"
                 ".visible .entry k(.param .u64 blocks, .param .u64 out)\n{\n"
                 "    .reg .b32 %%x<%d>;\n    .reg .b32 %%r<8>;\n    .reg .b64 %%rd<8>;\n"
                 "    ld.param.u64 %%rd0, [blocks];\n    mov.u32 %%r0, %%ctaid.y;\n"
                 "    mul.wide.u32 %%rd1, %%r0, 4;\n    add.u64 %%rd0, %%rd0, %%rd1;\n"
                 "    ld.global.u32 %%r1, [%%rd0];\n    shl.b32 %%r1, %%r1, 16;\n"
                 "    mov.u32 %%r2, %%ctaid.x;\n    mov.u32 %%r3, %%tid.x;\n"
                 "    mad.lo.u32 %%r2, %%r2, %d, %%r3;\n    add.u32 %%r1, %%r1, %%r2;\n"
                 "    mad.lo.u32 %%r2, %%r0, %d, %%r2;\n    ld.param.u64 %%rd2, [out];\n"
                 "    mul.wide.u32 %%rd3, %%r2, 4;\n    add.u64 %%rd2, %%rd2, %%rd3;\n",
                 STEPS, STEPS * CTA, BLOCK);
    for (int i = 0; i < STEPS; i++)
        p += sprintf(p,
                     "    add.u32 %%x%d, %%r1, %d;\n    %s %%x%d, %%x%d;\n"
                     "    st.global.u32 [%%rd2+%d], %%x%d;\n", i,
                     i * CTA, function, i, i, 4 * i * CTA, i);
    p += sprintf(p, "    ret;\n}\n");
    ptera_kernel *kernel = NULL;
    if (ptera_module_load(engine, "mufu.ptx", text, (size_t)(p - text), module) != PTERA_OK ||
        ptera_module_kernel(*module, "k", 0, &kernel) != PTERA_OK)
        die(function);
    return kernel;
}

/* The hash of one block's results. */
static uint64_t hash_block(const uint32_t *v)
{
    uint64_t h = 1469598103934665603u;
    for (unsigned i = 0; i < BLOCK; i++)
        h = (h ^ v[i]) * 1099511628211u;
    return h;
}

/* The hashes of four blocks at once: a hash is one chain of multiplications, four of them fill the
 * pipeline. */
static void hash_four(const uint32_t *v, uint64_t hash[4])
{
    uint64_t a = 1469598103934665603u, b = a, c = a, d = a;
    for (unsigned i = 0; i < BLOCK; i++) {
        a = (a ^ v[i]) * 1099511628211u;
        b = (b ^ v[i + BLOCK]) * 1099511628211u;
        c = (c ^ v[i + 2 * BLOCK]) * 1099511628211u;
        d = (d ^ v[i + 3 * BLOCK]) * 1099511628211u;
    }
    hash[0] = a;
    hash[1] = b;
    hash[2] = c;
    hash[3] = d;
}

static void read_hashes(const char *folder, const char *function, uint64_t want[BLOCKS])
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.hash", folder, function);
    FILE *f = fopen(path, "rb");
    if (!f || fread(want, sizeof *want, BLOCKS, f) != BLOCKS)
        die(path);
    fclose(f);
}

/* Zeros, subnormals, the smallest and the largest normals, 1, infinities and NaNs, of both
 * signs. */
static bool is_special(unsigned block)
{
    static const uint16_t upper[] = {0,      1,      0x7f,   0x80,   0x3f7f,
                                     0x3f80, 0x7f7f, 0x7f80, 0x7fc0, 0x7fff};
    for (unsigned i = 0; i < sizeof upper / sizeof *upper; i++)
        if ((block & 0x7fff) == upper[i])
            return true;
    return false;
}

/* Blocks that differ among `n` whose numbers are at `blocks`. */
static unsigned compare(const char *function, const uint32_t *blocks, unsigned n,
                        const uint32_t *out, const uint64_t *want, unsigned before)
{
    unsigned bad = 0;
    for (unsigned i = 0; i < n; i++) {
        uint64_t hash[4];
        if (i % 4 == 0 && i + 4 <= n)
            hash_four(out + (size_t)i * BLOCK, hash);
        uint64_t have = i / 4 * 4 + 4 <= n ? hash[i % 4] : hash_block(out + (size_t)i * BLOCK);
        if (have != want[blocks[i]] && before + bad++ < SHOWN)
            printf("%s: block %04x differs\n", function, (unsigned)blocks[i]);
    }
    return bad;
}

struct machine {
    ptera_engine *engine;
    uint32_t *blocks, *out;
};

static void run_batch(struct machine *m, ptera_kernel *kernel, unsigned n)
{
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.grid[0] = BLOCK / (STEPS * CTA);
    launch.grid[1] = n;
    launch.block[0] = CTA;
    launch.parameters = (const void *[]){&m->blocks, &m->out};
    launch.n_parameters = 2;
    if (ptera_kernel_launch(kernel, &launch) != PTERA_OK)
        die(ptera_engine_error(m->engine));
}

/* Returns how many blocks of one function differ; adds to *tested. */
static unsigned test_function(struct machine *m, const char *folder, const char *function,
                              unsigned stride, unsigned *tested)
{
    static uint64_t want[BLOCKS];
    unsigned n = 0, bad = 0;
    ptera_module *module;
    ptera_kernel *kernel = make_kernel(m->engine, function, &module);
    read_hashes(folder, function, want);
    for (unsigned b = 0; b < BLOCKS; b++) {
        if (b % stride == 0 || is_special(b)) {
            m->blocks[n++] = b;
            ++*tested;
        }
        if (n == BATCH || (b == BLOCKS - 1 && n)) {
            run_batch(m, kernel, n);
            bad += compare(function, m->blocks, n, m->out, want, bad);
            n = 0;
        }
    }
    ptera_module_unload(module);
    return bad;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool is_wanted(const char *function, char **names, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], function) == 0)
            return true;
    return n == 0;
}

int main(int argc, char **argv)
{
    unsigned stride = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0, passed = 0, failed = 0;
    if (stride == 0) {
        fprintf(stderr, "usage: mufu FOLDER STRIDE [NAME...]\n");
        return 2;
    }
    struct machine m;
    void *blocks = NULL, *out = NULL;
    if (ptera_engine_create(NULL, &m.engine) != PTERA_OK ||
        ptera_buffer_alloc(m.engine, BATCH * sizeof *m.blocks, &blocks) != PTERA_OK ||
        ptera_buffer_alloc(m.engine, (size_t)BATCH * BLOCK * sizeof *m.out, &out) != PTERA_OK)
        die("no engine");
    m.blocks = blocks;
    m.out = out;
    for (int i = 0; i < FUNCTIONS; i++) {
        if (!is_wanted(functions[i], argv + 3, argc - 3))
            continue;
        unsigned tested = 0;
        double start = now();
        unsigned bad = test_function(&m, argv[1], functions[i], stride, &tested);
        printf("%-22s %u of %u blocks differ, %.1f s\n", functions[i], bad, tested, now() - start);
        fflush(stdout);
        failed += bad;
        passed += tested - bad;
    }
    ptera_engine_destroy(m.engine);
    printf("mufu: %u passed, %u failed, 0 skipped\n", passed, failed);
    return failed != 0 || passed == 0;
}
