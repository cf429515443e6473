/* Every sample against a CPU reference computed here, through the public API. Integer results and
 * those of correctly rounded operations agree to the bit; kernels that use approximate functions
 * (rsqrt, ex2, lg2, the approximate division) agree within the bounds the PTX ISA gives for them.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptera.h"
#include "tests/check/found.h"

static ptera_engine *engine;
static unsigned native; /* kernels that ran as native code: some must, with PTERA_ENGINE=jit */
static int isolate;     /* an argument is given: launches are isolated */
static int passed, failed;

static void check(const char *name, bool ok)
{
    if (ok)
        passed++;
    else
        failed++;
    if (!ok)
        printf("FAILED %s\n%s\n", name, ptera_engine_error(engine));
}

/* ---- launching ------------------------------------------------------------------------------- */

static void *alloc(size_t bytes)
{
    void *p = NULL;
    if (ptera_buffer_alloc(engine, bytes, &p) != PTERA_OK)
        abort();
    return p;
}

static uint32_t hash(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

static float *random_floats(size_t n, uint32_t seed, float low, float high)
{
    float *p = alloc(n * sizeof *p);
    for (size_t i = 0; i < n; i++)
        p[i] = low + (high - low) * (float)(hash((uint32_t)i * 31 + seed) >> 8) / 16777216.0f;
    return p;
}

static uint32_t *random_words(size_t n, uint32_t seed, uint32_t mask)
{
    uint32_t *p = alloc(n * sizeof *p);
    for (size_t i = 0; i < n; i++)
        p[i] = hash((uint32_t)i * 31 + seed) & mask;
    return p;
}

struct size {
    unsigned x, y, z;
};

/* Loads samples/NAME/NAME.ptx and launches `kernel`. The parameters are given by their
 * addresses. */
static bool run(const char *name, const char *kernel, struct size grid, struct size block,
                unsigned shared, const void *const *parameters, unsigned n)
{
    char path[512];
    snprintf(path, sizeof path, "%s/samples/%s/%s.ptx", SOURCE_DIR, name, name);
    ptera_module *module = NULL;
    ptera_kernel *k = NULL;
    ptera_launch launch;
    ptera_launch_init(&launch);
    memcpy(launch.grid, &grid, sizeof grid);
    memcpy(launch.block, &block, sizeof block);
    launch.shared_bytes = shared;
    launch.parameters = parameters;
    launch.n_parameters = n;
    launch.isolate = isolate;
    bool ok = ptera_module_load_file(engine, path, &module) == PTERA_OK &&
              ptera_module_kernel(module, kernel, 0, &k) == PTERA_OK &&
              ptera_kernel_launch(k, &launch) == PTERA_OK;
    ptera_kernel_status status = {.size = sizeof status};
    native += ok && ptera_kernel_info(k, &status) == PTERA_OK && status.native_launches;
    ptera_module_unload(module);
    return ok;
}

#define ARGS(...) \
    (const void *const[]){__VA_ARGS__}, sizeof((const void *[]){__VA_ARGS__}) / sizeof(void *)

static bool near(float got, float want, float relative, float absolute)
{
    return fabsf(got - want) <= relative * fabsf(want) + absolute;
}

/* ---- the samples ----------------------------------------------------------------------------- */

static void saxpy(void)
{
    unsigned n = 1000;
    float a = 2.5f, *x = random_floats(n, 1, -1, 1), *y = random_floats(n, 2, -1, 1), want[1000];
    for (unsigned i = 0; i < n; i++)
        want[i] = fmaf(a, x[i], y[i]);
    bool ok = run("saxpy", "saxpy", (struct size){4, 1, 1}, (struct size){256, 1, 1}, 0,
                  ARGS(&n, &a, &x, &y));
    check("saxpy", ok && !memcmp(y, want, sizeof want));
}

static void sum_matrix(void)
{
    int width = 70, height = 50, n = width * height;
    float *a = random_floats((size_t)n, 5, -1, 1), *b = random_floats((size_t)n, 6, -1, 1);
    float *c = alloc((size_t)n * sizeof *c);
    bool ok = run("sum_matrix", "sum_matrix", (struct size){5, 2, 1}, (struct size){16, 32, 1}, 0,
                  ARGS(&a, &b, &c, &width, &height));
    for (int i = 0; ok && i < n; i++)
        ok = c[i] == a[i] + b[i];
    check("sum_matrix", ok);
}

static void matmul(const char *kernel)
{
    unsigned n = 50;
    float *a = random_floats(n * n, 3, -1, 1), *b = random_floats(n * n, 4, -1, 1);
    float *c = alloc(n * n * sizeof *c);
    bool ok = run("matmul", kernel, (struct size){4, 4, 1}, (struct size){16, 16, 1}, 0,
                  ARGS(&n, &a, &b, &c));
    for (unsigned i = 0; ok && i < n; i++)
        for (unsigned j = 0; ok && j < n; j++) {
            float sum = 0;
            for (unsigned k = 0; k < n; k++)
                sum = fmaf(a[i * n + k], b[k * n + j], sum);
            ok = c[i * n + j] == sum;
        }
    check(kernel, ok);
}

static void transpose(void)
{
    unsigned n = 75;
    uint32_t *in = random_words(n * n, 5, ~0u), *out = alloc(n * n * sizeof *out);
    bool ok = run("transpose", "transpose", (struct size){3, 3, 1}, (struct size){32, 8, 1}, 0,
                  ARGS(&n, &in, &out));
    for (unsigned i = 0; ok && i < n * n; i++)
        ok = out[i % n * n + i / n] == in[i];
    check("transpose", ok);
}

static void reduce(const char *kernel, unsigned unroll, unsigned threads)
{
    unsigned ctas = 5, part = threads * unroll;
    uint32_t *in = random_words(ctas * part, 6, 0xffff), *out = alloc(ctas * sizeof *out);
    uint32_t want[5] = {0};
    for (unsigned i = 0; i < ctas * part; i++)
        want[i / part] += in[i];
    bool ok = run("reduce", kernel, (struct size){ctas, 1, 1}, (struct size){threads, 1, 1}, 0,
                  ARGS(&in, &out));
    check(kernel, ok && !memcmp(out, want, sizeof want));
}

static void histogram(void)
{
    unsigned n = 10000;
    uint32_t *words = random_words((n + 3) / 4, 7, ~0u), *bins = alloc(256 * sizeof *bins);
    uint32_t want[256] = {0};
    for (unsigned i = 0; i < n; i++)
        want[((unsigned char *)words)[i]]++;
    bool ok = run("histogram", "histogram", (struct size){7, 1, 1}, (struct size){192, 1, 1}, 0,
                  ARGS(&n, &words, &bins));
    check("histogram", ok && !memcmp(bins, want, sizeof want));
}

static void scan(void)
{
    unsigned n = 700;
    uint32_t *in = random_words(n, 8, 0xffffff), *out = alloc(n * sizeof *out), want[700];
    for (unsigned i = 0; i < n; i++)
        want[i] = in[i] + (i % 256 ? want[i - 1] : 0);
    bool ok = run("scan", "scan", (struct size){3, 1, 1}, (struct size){256, 1, 1}, 0,
                  ARGS(&n, &in, &out));
    check("scan", ok && !memcmp(out, want, sizeof want));
}

static void nbody(void)
{
    unsigned n = 192;
    float softening = 0.01f, *bodies = random_floats(4 * n, 9, -1, 1);
    float *acceleration = alloc(4 * n * sizeof(float));
    bool ok = run("nbody", "nbody", (struct size){3, 1, 1}, (struct size){64, 1, 1}, 64 * 16,
                  ARGS(&n, &softening, &bodies, &acceleration));
    for (unsigned i = 0; ok && i < n; i++) {
        double sum[3] = {0}, scale[3] = {0};
        for (unsigned j = 0; j < n; j++) {
            double d[3], r = softening;
            for (int k = 0; k < 3; k++) {
                d[k] = (double)bodies[4 * j + k] - bodies[4 * i + k];
                r += d[k] * d[k];
            }
            for (int k = 0; k < 3; k++) {
                sum[k] += bodies[4 * j + 3] * d[k] / (r * sqrt(r));
                scale[k] += fabs(bodies[4 * j + 3] * d[k] / (r * sqrt(r)));
            }
        }
        for (int k = 0; k < 3; k++)
            ok = ok && fabs(acceleration[4 * i + k] - sum[k]) <= 1e-5 * scale[k];
    }
    check("nbody", ok);
}

static double normal_cdf(double d)
{
    return 0.5 * erfc(-d / sqrt(2));
}

static void blackscholes(void)
{
    unsigned n = 500;
    float rate = 0.02f, volatility = 0.3f;
    float *price = random_floats(n, 10, 5, 30), *strike = random_floats(n, 11, 1, 100);
    float *years = random_floats(n, 12, 0.25f, 10);
    float *call = alloc(n * sizeof *call), *put = alloc(n * sizeof *put);
    bool ok = run("blackscholes", "blackscholes", (struct size){4, 1, 1}, (struct size){128, 1, 1},
                  0, ARGS(&n, &rate, &volatility, &price, &strike, &years, &call, &put));
    for (unsigned i = 0; ok && i < n; i++) {
        double s = price[i], x = strike[i], t = years[i], v = volatility;
        double d1 = (log(s / x) + (rate + 0.5 * v * v) * t) / (v * sqrt(t)), d2 = d1 - v * sqrt(t);
        double discounted = x * exp(-rate * t);
        double want_call = s * normal_cdf(d1) - discounted * normal_cdf(d2);
        double want_put = discounted * normal_cdf(-d2) - s * normal_cdf(-d1);
        /* The kernel's polynomial of the normal distribution is good to 7.5e-8 of price and
         * strike. */
        ok = near(call[i], (float)want_call, 1e-5f, 2e-5f) &&
             near(put[i], (float)want_put, 1e-5f, 4e-5f);
    }
    check("blackscholes", ok);
}

/* The steps of one point, rounded as the kernel spells out. */
static unsigned mandelbrot_steps(float cr, float ci, unsigned steps)
{
    float zr = 0, zi = 0;
    unsigned i = 0;
    while (i < steps) {
        float zi2 = zi * zi;
        if (!(fmaf(zr, zr, zi2) <= 4))
            break;
        float t = cr + fmaf(zr, zr, -zi2);
        zi = fmaf(zr + zr, zi, ci);
        zr = t;
        i++;
    }
    return i;
}

static void mandelbrot(void)
{
    unsigned steps = 200, wrong = 0;
    unsigned char *picture = alloc(65551);
    bool ok = run("mandelbrot", "mandelbrot", (struct size){16, 16, 1}, (struct size){16, 16, 1}, 0,
                  ARGS(&steps, &picture));
    ok = ok && !memcmp(picture, "P5\n256 256\n255\n", 15);
    for (unsigned y = 0; y < 256; y++)
        for (unsigned x = 0; x < 256; x++) {
            unsigned i = mandelbrot_steps(fmaf((float)x, 2.5f / 256, -2.0f),
                                          fmaf((float)y, 2.5f / 256, -1.25f), steps);
            wrong += picture[15 + y * 256 + x] != 255 - i;
        }
    check("mandelbrot", ok && wrong == 0);
}

static int compare_words(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void bitonic(void)
{
    uint32_t *in = random_words(2048, 13, ~0u), *out = alloc(2048 * sizeof *out);
    bool ok = run("bitonic", "bitonic", (struct size){2, 1, 1}, (struct size){512, 1, 1}, 0,
                  ARGS(&in, &out));
    for (int part = 0; part < 2; part++) {
        qsort(in + 1024 * part, 1024, sizeof *in, compare_words);
        ok = ok && !memcmp(in + 1024 * part, out + 1024 * part, 4096);
    }
    check("bitonic", ok);
}

static void stencil3d(void)
{
    unsigned nx = 20, ny = 11, nz = 9, plane = nx * ny, n = plane * nz, wrong = 0;
    float centre = 0.4f, side = 0.1f, *in = random_floats(n, 14, 0, 1),
          *out = alloc(n * sizeof *out);
    bool ok = run("stencil3d", "stencil3d", (struct size){2, 3, 9}, (struct size){16, 4, 1}, 0,
                  ARGS(&nx, &ny, &nz, &centre, &side, &in, &out));
    for (unsigned i = 0; i < n; i++) {
        unsigned x = i % nx, y = i / nx % ny, z = i / plane;
        bool face = x == 0 || x == nx - 1 || y == 0 || y == ny - 1 || z == 0 || z == nz - 1;
        float want = in[i];
        if (!face) {
            float sum = in[i - 1] + in[i + 1];
            sum = sum + in[i - nx];
            sum = sum + in[i + nx];
            sum = sum + in[i - plane];
            sum = sum + in[i + plane];
            want = fmaf(centre, in[i], side * sum);
        }
        wrong += out[i] != want;
    }
    check("stencil3d", ok && wrong == 0);
}

static void spinlock(void)
{
    uint32_t *lock = alloc(4), *counter = alloc(4);
    bool ok = run("spinlock", "spinlock", (struct size){3, 1, 1}, (struct size){96, 1, 1}, 0,
                  ARGS(&lock, &counter));
    check("spinlock", ok && *counter == 288 && *lock == 0);
}

int main(int argc, char **argv)
{
    (void)argv;
    isolate = argc > 1;
    if (ptera_engine_create(NULL, &engine) != PTERA_OK)
        return 1;
    saxpy();
    sum_matrix();
    matmul("matmul_plain");
    matmul("matmul_tiled");
    transpose();
    reduce("reduce_neighbored", 1, 256);
    reduce("reduce_neighbored_packed", 1, 256);
    reduce("reduce_interleaved", 1, 256);
    reduce("reduce_unrolled2", 2, 256);
    reduce("reduce_warp_unrolled8", 8, 256);
    reduce("reduce_shuffle", 1, 256);
    histogram();
    scan();
    nbody();
    blackscholes();
    mandelbrot();
    bitonic();
    stencil3d();
    spinlock();
    const char *tier = getenv("PTERA_ENGINE");
    if (tier && !strcmp(tier, "jit"))
        check("native code", native > 0);
    failed += (int)found_print(engine, &(unsigned){0});
    ptera_engine_destroy(engine);
    printf("%u launches were native\n", native);
    printf("samples: %d passed, %d failed, 0 skipped\n", passed, failed);
    return failed > 0;
}
