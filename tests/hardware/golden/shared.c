/* Runs kernels that compute through shared memory (wgmma, ldmatrix, stmatrix) and compares what
 * their CTAs write with what those of an H200 wrote, by hashes.
 *
 *     golden_shared [--every N] FOLDER [GROUP [FORM]]
 *
 * FOLDER holds an unpacked archive of pack_shared.py. CTA c, of 128 threads, reads the input's
 * bytes from c * `bytes` on and writes `words` 32-bit words a thread; its hash is FNV-1a over them.
 * Prints each form that differs, and a line for each group. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptera.h"
#include "tests/check/found.h"
#include "tests/hardware/golden/read_file.h"

enum { THREADS = 128, MAX_CTAS = 16, GROUPS = 8 };

struct kernel {
    char name[32], module[64], group[32], form[128], input[64];
    unsigned bytes, words, ctas;
    uint64_t hash[MAX_CTAS];
};

static struct group {
    char name[32];
    unsigned passed, failed;
} groups[GROUPS];

static bool read_kernel(const char *line, struct kernel *k)
{
    int at = 0;
    if (sscanf(line, "%31[^\t]\t%63[^\t]\t%31[^\t]\t%127[^\t]\t%63[^\t]\t%u\t%u\t%u%n", k->name,
               k->module, k->group, k->form, k->input, &k->bytes, &k->words, &k->ctas, &at) != 8 ||
        k->ctas > MAX_CTAS)
        return false;
    for (unsigned c = 0; c < k->ctas; c++) {
        char *end;
        k->hash[c] = strtoull(line + at, &end, 16);
        at = (int)(end - line);
    }
    return true;
}

static uint64_t hash_of(const uint32_t *words, size_t n)
{
    uint64_t h = 0xcbf29ce484222325;
    for (size_t i = 0; i < n; i++)
        h = (h ^ words[i]) * 0x100000001b3;
    return h;
}

static ptera_result run(ptera_module *module, const struct kernel *k, const void *input,
                        uint32_t *out)
{
    ptera_kernel *kernel;
    ptera_launch launch;
    ptera_result r = ptera_module_kernel(module, k->name, 0, &kernel);
    ptera_launch_init(&launch);
    launch.grid[0] = k->ctas;
    launch.block[0] = THREADS;
    launch.parameters = (const void *[]){&input, &out};
    launch.n_parameters = 2;
    return r == PTERA_OK ? ptera_kernel_launch(kernel, &launch) : r;
}

/* How many CTAs wrote something else. */
static unsigned compare(const struct kernel *k, const uint32_t *out)
{
    size_t words = (size_t)THREADS * k->words;
    unsigned differ = 0;
    for (unsigned c = 0; c < k->ctas; c++)
        differ += hash_of(out + c * words, words) != k->hash[c];
    return differ;
}

static struct group *find_group(const char *name)
{
    struct group *g = groups;
    while (g->name[0] && strcmp(g->name, name) != 0)
        g++;
    snprintf(g->name, sizeof g->name, "%s", name);
    return g;
}

static void run_all(ptera_engine *engine, const char *folder, char *index, unsigned every,
                    const char *group, const char *form)
{
    char loaded[64] = "", held[64] = "";
    ptera_module *module = NULL;
    void *input = NULL;
    size_t bytes;
    unsigned n = 0;
    for (char *line = strtok(index, "\n"); line; line = strtok(NULL, "\n")) {
        struct kernel k;
        if (!read_kernel(line, &k))
            exit(2);
        if ((group && strcmp(group, k.group) != 0) || (form && strcmp(form, k.form) != 0) ||
            n++ % every)
            continue;
        if (strcmp(loaded, k.module) != 0) {
            char path[4096];
            ptera_module_unload(module);
            snprintf(path, sizeof path, "%s/%s", folder, k.module);
            if (ptera_module_load_file(engine, path, &module) != PTERA_OK)
                exit(2);
            strcpy(loaded, k.module);
        }
        if (strcmp(held, k.input) != 0) {
            ptera_memory_unregister(engine, input);
            free(input);
            input = read_file(folder, k.input, &bytes);
            if (ptera_memory_register(engine, input, bytes) != PTERA_OK)
                exit(2);
            strcpy(held, k.input);
        }
        void *out;
        if (ptera_buffer_alloc(engine, (size_t)THREADS * k.words * 4 * k.ctas, &out) != PTERA_OK)
            exit(2);
        ptera_result r = run(module, &k, input, out);
        unsigned differ = r == PTERA_OK ? compare(&k, out) : k.ctas;
        if (differ)
            printf("%s (%s in %s): %u of %u CTAs differ %s\n", k.form, k.name, k.module, differ,
                   k.ctas, r == PTERA_OK ? "" : ptera_engine_error(engine));
        differ ? find_group(k.group)->failed++ : find_group(k.group)->passed++;
        ptera_buffer_free(engine, out);
    }
    ptera_memory_unregister(engine, input);
    free(input);
}

int main(int argc, char **argv)
{
    unsigned every = 1, passed = 0, failed = 0;
    if (argc > 2 && !strcmp(argv[1], "--every")) {
        every = (unsigned)strtoul(argv[2], NULL, 10);
        argc -= 2;
        argv += 2;
    }
    ptera_engine *engine;
    if (argc < 2 || !every || ptera_engine_create(NULL, &engine) != PTERA_OK)
        return 2;
    size_t bytes;
    char *index = read_file(argv[1], "index.tsv", &bytes);
    run_all(engine, argv[1], index, every, argc > 2 ? argv[2] : NULL, argc > 3 ? argv[3] : NULL);
    failed = found_print(engine, &(unsigned){0});
    ptera_engine_destroy(engine);
    free(index);
    for (struct group *g = groups; g->name[0]; g++) {
        printf("%-16s %u kernels agree, %u differ\n", g->name, g->passed, g->failed);
        passed += g->passed;
        failed += g->failed;
    }
    printf("golden_shared: %u passed, %u failed, 0 skipped\n", passed, failed);
    return failed > 0 || passed == 0;
}
