/* Registers as NVIDIA's assembler counts them: the estimate of runtime/registers.c beside what it
 * said of kernels that the fit has not seen.
 *
 * registers FOLDER: kernels.tsv there has file, kernel, count. Fails below the accuracy that the
 * README states.
 *
 * registers --show FILE...: for fit.py; file, kernel and features of each kernel */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/lower.h"
#include "runtime/launch.h"
#include "runtime/registers/features.h"
#include "runtime/registers.h"
#include "runtime/shape.h"

/* In per cent. */
enum { LEAST_NEAR = 78, LEAST_SAME = 88, LEAST_BY_SIZES = 90 };

struct tally {
    unsigned kernels, large, near, same, compared, same_by_sizes, wrong;
};

static unsigned absolute(unsigned a, unsigned b)
{
    return a < b ? b - a : a - b;
}

/* On an SM of an H200. */
static int blocks_of(unsigned registers, unsigned threads, size_t shared)
{
    return pt_device_blocks(pt_device_choose("h200", NULL, 0), (int)threads, (int)registers,
                            (int)shared);
}

/* A kernel and the block that it is launched with: what its directives say, else USUAL threads. */
enum { USUAL = 256 };

struct guess {
    unsigned registers, threads;
    size_t shared; /* static */
};

static void compare(struct tally *t, unsigned count, const struct guess *g)
{
    t->kernels++;
    t->large += count > 24;
    t->near += count > 24 && 10 * absolute(count, g->registers) <= count;
    t->same +=
        blocks_of(count, g->threads, g->shared) == blocks_of(g->registers, g->threads, g->shared);
    for (unsigned threads = 128; threads <= 1024; threads *= 2) {
        t->compared++;
        t->same_by_sizes += blocks_of(count, threads, 0) == blocks_of(g->registers, threads, 0);
    }
}

static ptera_module *load(ptera_engine *engine, const char *path)
{
    ptera_module *module;
    if (ptera_module_load_file(engine, path, &module) == PTERA_OK)
        return module;
    fprintf(stderr, "%s: %s\n", path, ptera_engine_error(engine));
    return NULL;
}

static bool estimate(ptera_engine *engine, const char *path, const char *name, struct guess *g)
{
    ptera_kernel_properties p = {.size = sizeof p};
    ptera_kernel *kernel;
    ptera_module *module = load(engine, path);
    bool ok = module && ptera_module_kernel(module, name, 0, &kernel) == PTERA_OK &&
              ptera_kernel_properties_get(kernel, &p) == PTERA_OK;
    if (module && !ok)
        fprintf(stderr, "%s: %s\n", path, ptera_engine_error(engine));
    uint64_t declared = ok ? pt_shape_declared_threads(&module->ir.funcs.v[kernel->func]) : 0;
    if (module)
        ptera_module_unload(module);
    *g = (struct guess){p.registers, declared ? (unsigned)declared : USUAL, p.shared_bytes};
    return ok;
}

static int check(ptera_engine *engine, const char *folder)
{
    char path[4096], file[512], name[2048];
    unsigned count, bound;
    struct guess mine;
    struct tally t = {0};
    snprintf(path, sizeof path, "%s/kernels.tsv", folder);
    FILE *list = fopen(path, "r");
    while (list && fscanf(list, "%511s %2047s %u %u", file, name, &count, &bound) == 4) {
        snprintf(path, sizeof path, "%s/%s", folder, file);
        if (!estimate(engine, path, name, &mine) || mine.registers > bound) {
            fprintf(stderr, "%s: %s: %u, of %u at most\n", file, name, mine.registers, bound);
            t.wrong++;
        } else {
            compare(&t, count, &mine);
        }
    }
    if (list)
        fclose(list);
    double near = 100.0 * t.near / (t.large ? t.large : 1),
           same = 100.0 * t.same / (t.kernels ? t.kernels : 1),
           by_sizes = 100.0 * t.same_by_sizes / (t.compared ? t.compared : 1);
    printf("%u kernels; of %u with more than 24 registers %.1f %% within 10 %%; occupancy the same "
           "in %.1f %%, in the mean of blocks of 128 to 1024 threads %.1f %%\n",
           t.kernels, t.large, near, same, by_sizes);
    t.wrong += (near < LEAST_NEAR) + (same < LEAST_SAME) + (by_sizes < LEAST_BY_SIZES);
    printf("registers: %u passed, %u failed, 0 skipped\n", t.kernels, t.wrong);
    return t.wrong != 0;
}

static void show_kernel(const char *path, ptera_module *module, unsigned k)
{
    int32_t features[PT_FEATURES];
    ptera_kernel *kernel = &module->kernels[k];
    struct pt_arena arena;
    jmp_buf oom;
    pt_arena_init(&arena, &pt_malloc_allocator);
    arena.oom = &oom;
    if (setjmp(oom) || !pt_lower(&module->ir, kernel->func))
        exit(1);
    const struct pt_func *f = &module->ir.funcs.v[kernel->func];
    pt_features_find(&module->ir, f, pt_registers_bound(f), features, &arena);
    printf("%s\t%s", path, f->name);
    for (unsigned i = 0; i < PT_FEATURES; i++)
        printf("\t%d", (int)features[i]);
    printf("\n");
    pt_arena_free(&arena);
}

static int show(ptera_engine *engine, char **files)
{
    printf("file\tkernel");
#define FEATURE(name, what) printf("\t%s", #name);
#include "runtime/registers/features.def"
    printf("\n");
    for (; *files; files++) {
        ptera_module *module = load(engine, *files);
        for (unsigned k = 0; module && k < module->n_kernels; k++)
            show_kernel(*files, module, k);
        if (module)
            ptera_module_unload(module);
    }
    return 0;
}

int main(int argc, char **argv)
{
    ptera_engine *engine;
    if (argc < 2 || ptera_engine_create(NULL, &engine) != PTERA_OK)
        return 2;
    int rc = strcmp(argv[1], "--show") ? check(engine, argv[1]) : show(engine, argv + 2);
    ptera_engine_destroy(engine);
    return rc;
}
