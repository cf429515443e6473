/* Runs the golden kernels and compares what they write with what an H200 wrote, word by word.
 *
 *     golden [--every N] FOLDER [GROUP [FORM]]
 *
 * --every runs one kernel in N.
 * PTERA_ENGINE=jit runs them as native code, where they can be; some must be, then.
 * FOLDER holds an unpacked archive of this folder (see pack.py). A form that is known but not
 * supported yet is skipped and counted. Prints each form that differs with its first rows, and a
 * line for each group. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptera.h"
#include "tests/check/found.h"
#include "tests/hardware/golden/read_file.h"

enum { CTA = 256, FIELDS = 9, GROUPS = 32, SHOWN = 3 };

struct kernel {
    const char *name, *module, *group, *form, *table;
    unsigned nin, nout, rows;
    size_t offset;
};

struct group {
    const char *name;
    unsigned passed, failed, skipped, native;
};

static struct group groups[GROUPS];
static unsigned n_groups;

/* Cuts the next line of the index into a kernel; returns what follows, or NULL at the end. */
static char *next_kernel(char *line, struct kernel *k)
{
    char *field[FIELDS], *end = strchr(line, '\n');
    if (!end)
        return NULL;
    *end = 0;
    for (int i = 0; i < FIELDS; i++) {
        field[i] = line ? line : "";
        line = line ? strchr(line, '\t') : NULL;
        if (line)
            *line++ = 0;
    }
    *k = (struct kernel){.name = field[0],
                         .module = field[1],
                         .group = field[2],
                         .form = field[3],
                         .table = field[4]};
    k->nin = (unsigned)strtoul(field[5], NULL, 10);
    k->nout = (unsigned)strtoul(field[6], NULL, 10);
    k->rows = (unsigned)strtoul(field[7], NULL, 10);
    k->offset = strtoul(field[8], NULL, 10);
    return end + 1;
}

static struct group *find_group(const char *name)
{
    for (unsigned i = 0; i < n_groups; i++)
        if (strcmp(groups[i].name, name) == 0)
            return &groups[i];
    if (n_groups == GROUPS) {
        fprintf(stderr, "too many groups\n");
        exit(2);
    }
    groups[n_groups].name = name;
    return &groups[n_groups++];
}

static void show_row(const struct kernel *k, unsigned row, const uint64_t *in, const uint64_t *got,
                     const uint64_t *want)
{
    printf("  row %u:", row);
    for (unsigned i = 0; i < k->nin; i++)
        printf(" %llx", (unsigned long long)in[i]);
    printf(" gave");
    for (unsigned i = 0; i < k->nout; i++)
        printf(" %llx", (unsigned long long)got[i]);
    printf(", want");
    for (unsigned i = 0; i < k->nout; i++)
        printf(" %llx", (unsigned long long)want[i]);
    printf("\n");
}

static bool compare(const struct kernel *k, const uint64_t *in, const uint64_t *got,
                    const uint64_t *want)
{
    unsigned bad = 0;
    for (unsigned row = 0; row < k->rows; row++) {
        const uint64_t *g = got + (size_t)row * k->nout, *w = want + (size_t)row * k->nout;
        if (memcmp(g, w, k->nout * sizeof *g) == 0)
            continue;
        if (bad == 0)
            printf("%s (%s in %s) differs\n", k->form, k->name, k->module);
        if (bad++ < SHOWN)
            show_row(k, row, in + (size_t)row * k->nin, g, w);
    }
    if (bad > SHOWN)
        printf("  and %u more rows\n", bad - SHOWN);
    return bad == 0;
}

/* Returns what the launch returned; *same is whether the results agree. */
static ptera_result run_kernel(const char *folder, ptera_engine *engine, ptera_module *module,
                               const struct kernel *k, const char *results, struct group *g,
                               bool *same)
{
    ptera_kernel_status status = {.size = sizeof status};
    size_t in_bytes, out_bytes = (size_t)k->rows * k->nout * sizeof(uint64_t);
    ptera_kernel *kernel;
    ptera_result r = ptera_module_kernel(module, k->name, 0, &kernel);
    if (r != PTERA_OK)
        return r;
    void *in, *out;
    char *table = read_file(folder, k->table, &in_bytes);
    if (ptera_buffer_alloc(engine, in_bytes, &in) != PTERA_OK ||
        ptera_buffer_alloc(engine, out_bytes, &out) != PTERA_OK)
        exit(2);
    memcpy(in, table, in_bytes);
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.block[0] = k->rows < CTA ? k->rows : CTA;
    launch.grid[0] = k->rows / launch.block[0];
    const void *parameters[] = {&in, &out};
    launch.parameters = parameters;
    launch.n_parameters = 2;
    r = ptera_kernel_launch(kernel, &launch);
    if (ptera_kernel_info(kernel, &status) == PTERA_OK)
        g->native += status.native_launches > 0;
    *same = r == PTERA_OK && compare(k, (const uint64_t *)(void *)table, out,
                                     (const uint64_t *)(const void *)(results + k->offset));
    ptera_buffer_free(engine, in);
    ptera_buffer_free(engine, out);
    free(table);
    return r;
}

static ptera_module *load(ptera_engine *engine, const char *folder, const char *name)
{
    char path[4096];
    ptera_module *module = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    ptera_result r = ptera_module_load_file(engine, path, &module);
    if (r == PTERA_OK)
        return module;
    ptera_diagnostic d = {.size = sizeof d};
    for (unsigned i = 0; module && ptera_module_diagnostic(module, i, &d) == PTERA_OK; i++)
        printf("%s\n", d.text);
    printf("%s: cannot be loaded\n", name);
    exit(1);
}

static int report(unsigned found)
{
    const char *tier = getenv("PTERA_ENGINE");
    bool is_jit = tier && !strcmp(tier, "jit");
    unsigned passed = 0, failed = found, skipped = 0, native = 0;
    for (unsigned i = 0; i < n_groups; i++) {
        const struct group *g = &groups[i];
        printf("%-14s %5u forms agree, %u differ, %u native\n", g->name, g->passed, g->failed,
               g->native);
        if (g->skipped)
            printf("skipped golden %s: %u forms are not supported yet\n", g->name, g->skipped);
        passed += g->passed;
        failed += g->failed;
        skipped += g->skipped;
        native += g->native;
    }
    if (is_jit && !native)
        failed++;
    printf("golden: %u passed, %u failed, %u skipped\n", passed, failed, skipped);
    return failed != 0 || passed == 0;
}

int main(int argc, char **argv)
{
    unsigned every = 1, n = 0;
    if (argc > 2 && !strcmp(argv[1], "--every")) {
        every = (unsigned)strtoul(argv[2], NULL, 10);
        argc -= 2;
        argv += 2;
    }
    if (argc < 2 || !every) {
        fprintf(stderr, "usage: golden [--every N] FOLDER [GROUP [FORM]]\n");
        return 2;
    }
    const char *folder = argv[1], *loaded = "";
    size_t bytes;
    char *index = read_file(folder, "index.tsv", &bytes),
         *results = read_file(folder, "out.bin", &bytes);
    char *line = index;
    ptera_engine *engine;
    ptera_module *module = NULL;
    if (ptera_engine_create(NULL, &engine) != PTERA_OK)
        return 2;
    struct kernel k;
    while ((line = next_kernel(line, &k))) {
        if ((argc > 2 && strcmp(argv[2], k.group) != 0) ||
            (argc > 3 && strcmp(argv[3], k.form) != 0) || n++ % every)
            continue;
        if (strcmp(loaded, k.module) != 0) {
            ptera_module_unload(module);
            module = load(engine, folder, k.module);
            loaded = k.module;
        }
        bool same = false;
        struct group *g = find_group(k.group);
        ptera_result r = run_kernel(folder, engine, module, &k, results, g, &same);
        if (r == PTERA_ERROR_UNSUPPORTED_PTX) {
            g->skipped++;
            continue;
        }
        if (r != PTERA_OK)
            printf("%s (%s in %s): %s\n", k.form, k.name, k.module, ptera_engine_error(engine));
        same ? g->passed++ : g->failed++;
    }
    int status = report(found_print(engine, &(unsigned){0}));
    ptera_engine_destroy(engine);
    free(index);
    free(results);
    return status;
}
