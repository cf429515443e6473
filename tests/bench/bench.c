/* Measures the interpreter, start-up, loading and compiling: bench PTERA KERNELS_FOLDER
 *
 * Speed is in thread-instructions a second: PTX instructions of the path taken, times active lanes.
 * The path is counted from the PTX text itself, section by section (a section begins at a label).
 * All on one worker, in one process; medians of several runs after one that is not measured.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ptera.h"
#include "tests/bench/families.h"
#include "tests/bench/growth.h"
#include "tests/bench/random.h"
#include "tests/bench/timing.h"

enum { RUNS = 9, MAX_SECTIONS = 16 };

extern char **environ;

static void die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

/* ---- speed ----------------------------------------------------------------------------------- */

static char *read_text(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        die(path);
    char *text = calloc(1, 1 << 20);
    if (!text || fread(text, 1, (1 << 20) - 1, f) == 0)
        die(path);
    fclose(f);
    return text;
}

/* Instructions in each section of a file with one kernel. */
static void count_sections(const char *path, double count[MAX_SECTIONS])
{
    char *text = read_text(path), *body = strstr(text, "{\n");
    int section = 0;
    memset(count, 0, MAX_SECTIONS * sizeof *count);
    for (char *line = strtok(body, "\n"); line; line = strtok(NULL, "\n")) {
        while (*line == ' ' || *line == '\t')
            line++;
        size_t n = strlen(line);
        if (*line == '$' && section + 1 < MAX_SECTIONS)
            section++;
        else if (n && line[n - 1] == ';' && *line != '.' && *line != '/')
            count[section]++;
    }
    free(text);
}

static void *alloc(ptera_engine *e, size_t bytes)
{
    void *p;
    if (ptera_buffer_alloc(e, bytes, &p) != PTERA_OK)
        die("out of memory");
    return p;
}

static float *alloc_floats(ptera_engine *e, size_t n)
{
    float *p = alloc(e, n * sizeof *p);
    for (size_t i = 0; i < n; i++)
        p[i] = (float)(i % 1000) / 1000;
    return p;
}

struct timed {
    const char *name;
    ptera_launch launch;
    double instructions; /* of all threads */
};

static void measure(ptera_engine *e, const char *folder, struct timed *t)
{
    char path[4096];
    double ms[RUNS];
    ptera_module *m;
    ptera_kernel *k;
    snprintf(path, sizeof path, "%s/%s.ptx", folder, t->name);
    if (ptera_module_load_file(e, path, &m) != PTERA_OK ||
        ptera_module_kernel(m, t->name, 0, &k) != PTERA_OK)
        die(path);
    for (int i = -1; i < RUNS; i++) {
        double start = now_ms();
        if (ptera_kernel_launch(k, &t->launch) != PTERA_OK)
            die(ptera_engine_error(e));
        if (i >= 0)
            ms[i] = now_ms() - start;
    }
    double mid = median(ms, RUNS);
    printf("%-10s %9.3f ms  %8.0f million thread-instructions/s\n", t->name, mid,
           t->instructions / mid * 1e-3);
    ptera_module_unload(m);
}

static void speed(const char *folder)
{
    ptera_options o;
    ptera_engine *e;
    double count[MAX_SECTIONS];
    char path[4096];
    ptera_options_init(&o);
    o.threads = 1;
    if (ptera_engine_create(&o, &e) != PTERA_OK)
        die("no engine");

    unsigned n = 1 << 20;
    float a = 2, *x = alloc_floats(e, n), *y = alloc_floats(e, n);
    struct timed saxpy = {.name = "saxpy"};
    ptera_launch_init(&saxpy.launch);
    saxpy.launch.grid[0] = n / 256;
    saxpy.launch.block[0] = 256;
    saxpy.launch.parameters = (const void *[]){&n, &a, &x, &y};
    saxpy.launch.n_parameters = 4;
    snprintf(path, sizeof path, "%s/saxpy.ptx", folder);
    count_sections(path, count);
    saxpy.instructions = (count[0] + count[1]) * n;
    measure(e, folder, &saxpy);

    unsigned size = 256;
    float *p = alloc_floats(e, size * size), *q = alloc_floats(e, size * size),
          *r = alloc_floats(e, size * size);
    struct timed sgemm = {.name = "sgemm16"};
    ptera_launch_init(&sgemm.launch);
    sgemm.launch.grid[0] = sgemm.launch.grid[1] = size / 16;
    sgemm.launch.block[0] = sgemm.launch.block[1] = 16;
    sgemm.launch.parameters = (const void *[]){&size, &p, &q, &r};
    sgemm.launch.n_parameters = 4;
    snprintf(path, sizeof path, "%s/sgemm16.ptx", folder);
    count_sections(path, count);
    sgemm.instructions = (count[0] + count[1] * (size / 16) + count[2]) * size * size;
    measure(e, folder, &sgemm);
    ptera_engine_destroy(e);
}

/* ---- barriers -------------------------------------------------------------------------------- */

static void barriers(const char *folder)
{
    enum { THREADS = 256, BARRIERS = 100000 };
    char path[4096];
    double ms[RUNS];
    unsigned count = BARRIERS;
    ptera_options o;
    ptera_engine *e;
    ptera_module *m;
    ptera_kernel *k;
    ptera_launch launch;
    ptera_options_init(&o);
    o.threads = 1;
    snprintf(path, sizeof path, "%s/barriers.ptx", folder);
    if (ptera_engine_create(&o, &e) != PTERA_OK ||
        ptera_module_load_file(e, path, &m) != PTERA_OK ||
        ptera_module_kernel(m, "barriers", 0, &k) != PTERA_OK)
        die(path);
    ptera_launch_init(&launch);
    launch.block[0] = THREADS;
    launch.parameters = (const void *[]){&count};
    launch.n_parameters = 1;
    launch.backend = PTERA_BACKEND_INTERP;
    for (int i = -1; i < RUNS; i++) {
        double start = now_ms();
        if (ptera_kernel_launch(k, &launch) != PTERA_OK)
            die(ptera_engine_error(e));
        if (i >= 0)
            ms[i] = now_ms() - start;
    }
    double mid = median(ms, RUNS);
    printf("barriers   %d of %d threads: %.2f ms, %.1f ns a warp and barrier "
           "(loop of 3 instructions included)\n",
           BARRIERS, THREADS, mid, mid * 1e6 / BARRIERS / (THREADS / 32));
    ptera_engine_destroy(e);
}

/* ---- start-up -------------------------------------------------------------------------------- */

static double time_command(char *const *argv)
{
    double ms[2 * RUNS];
    for (int i = 0; i < 2 * RUNS; i++) {
        pid_t pid;
        int status;
        double start = now_ms();
        if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) ||
            waitpid(pid, &status, 0) < 0 || status != 0)
            die(argv[0]);
        ms[i] = now_ms() - start;
    }
    return median(ms, 2 * RUNS);
}

static void start_up(char *tool, const char *folder)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/saxpy.ptx", folder);
    char *none[] = {"/bin/true", NULL};
    char *run[] = {tool,
                   "run",
                   path,
                   "-g",
                   "4",
                   "-b",
                   "256",
                   "u32:1024",
                   "f32:2",
                   "iota:f32:1024",
                   "iota:f32:1024",
                   NULL};
    double base = time_command(none), full = time_command(run);
    printf(
        "start-up   ptera run on saxpy of 1,024: %.2f ms, /bin/true %.2f ms, difference %.2f ms\n",
        full, base, full - base);
}

/* ---- loading --------------------------------------------------------------------------------- */

enum { KERNELS = 50, PER_KERNEL = 5000 };

/* One instruction in the mix nvcc prints. Returns the text's length. */
static int put_instruction(char *out, uint32_t *seed)
{
    unsigned a = next_random(seed, 90), b = next_random(seed, 90), d = next_random(seed, 90);
    switch (next_random(seed, 10)) {
    case 0:
        return sprintf(out, "\tmad.lo.s32 \t%%r%u, %%r%u, %%r%u, 17;\n", d, a, b);
    case 1:
        return sprintf(out, "\tmul.wide.u32 \t%%rd%u, %%r%u, 4;\n", d, a);
    case 2:
        return sprintf(out, "\tadd.s64 \t%%rd%u, %%rd%u, %%rd%u;\n", d, a, b);
    case 3:
        return sprintf(out, "\tsetp.lt.s32 \t%%p%u, %%r%u, %u;\n", d, a, b);
    case 4:
        return sprintf(out, "\tselp.b32 \t%%r%u, %%r%u, %%r%u, %%p%u;\n", d, a, b, d);
    case 5:
        return sprintf(out, "\tld.shared.f32 \t%%f%u, [%%r%u+%u];\n", d, a, 4 * b);
    case 6:
        return sprintf(out, "\tfma.rn.ftz.f32 \t%%f%u, %%f%u, %%f%u, 0f3F800000;\n", d, a, b);
    case 7:
        return sprintf(out, "\tadd.ftz.f32 \t%%f%u, %%f%u, %%f%u;\n", d, a, b);
    case 8:
        return sprintf(out, "\tshl.b32 \t%%r%u, %%r%u, 3;\n", d, a);
    default:
        return sprintf(out, "\tcvt.rn.f32.s32 \t%%f%u, %%r%u;\n", d, a);
    }
}

/* A module of KERNELS kernels with PER_KERNEL instructions each, padded with comments to about 10
 * MB. */
static char *generate(size_t *bytes)
{
    char *text = malloc(32u << 20), *p = text;
    uint32_t seed = 1;
    p += sprintf(p, ".version 8.0\n.target sm_80\n.address_size 64\n");
    for (int k = 0; k < KERNELS; k++) {
        p += sprintf(p,
                     ".visible .entry kernel_%d(\n\t.param .u64 kernel_%d_param_0\n)\n{\n\t.reg "
                     ".pred \t%%p<90>;\n"
                     "\t.reg .f32 \t%%f<90>;\n\t.reg .b32 \t%%r<90>;\n\t.reg .b64 \t%%rd<90>;\n",
                     k, k);
        for (int i = 0; i < PER_KERNEL - 1; i++) {
            if (i % 50 == 49)
                p += sprintf(p, "\n$L__BB%d_%d:\n", k, i);
            p += put_instruction(p, &seed);
            p += sprintf(p, "%s", i % 4 ? "" : "\t// begin inline asm, as nvcc marks it\n");
        }
        p += sprintf(p, "\tret;\n}\n");
    }
    *bytes = (size_t)(p - text);
    return text;
}

static void loading(void)
{
    size_t bytes;
    char *text = generate(&bytes);
    double load[RUNS], run[RUNS];
    ptera_options o;
    ptera_options_init(&o);
    o.threads = 1;
    for (int i = 0; i < RUNS; i++) {
        ptera_engine *e;
        ptera_module *m;
        ptera_kernel *k;
        ptera_launch launch;
        if (ptera_engine_create(&o, &e) != PTERA_OK)
            die("no engine");
        double start = now_ms();
        if (ptera_module_load(e, "generated.ptx", text, bytes, &m) != PTERA_OK)
            die("the generated module does not load");
        load[i] = now_ms() - start;
        ptera_launch_init(&launch);
        launch.timeout_seconds = 10;
        void *zero = alloc(e, 4096);
        launch.parameters = (const void *[]){&zero};
        launch.n_parameters = 1;
        start = now_ms();
        if (ptera_module_kernel(m, "kernel_7", 0, &k) != PTERA_OK)
            die("no kernel");
        ptera_kernel_launch(k,
                            &launch); /* its loads may fault: only the time to get there counts */
        run[i] = now_ms() - start;
        ptera_engine_destroy(e);
    }
    printf("loading    %.1f MB, %d instructions in %d kernels: %.0f ms; first launch of one kernel "
           "%.1f ms\n",
           (double)bytes * 1e-6, KERNELS * PER_KERNEL, KERNELS, median(load, RUNS),
           median(run, RUNS));
    free(text);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: bench PTERA KERNELS_FOLDER\n");
        return 2;
    }
    speed(argv[2]);
    bench_families();
    barriers(argv[2]);
    start_up(argv[1], argv[2]);
    loading();
    bench_growth();
    return 0;
}
