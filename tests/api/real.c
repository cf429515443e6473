/* Triton's kernels: every buffer must come out as it did on a GPU, to the bit. real [HOW [FOLDER]],
 * real --every N FOLDER: those in tests/hardware/real, or in another folder, or one in N. */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptera.h"
#include "tests/check/found.h"

enum { MAX_ARGS = 32, SCRATCH_BYTES = 1 << 16 };

struct real_case {
    char folder[512], entry[128];
    ptera_launch launch;
    unsigned n;
    void *buffer[MAX_ARGS]; /* NULL for a scalar */
    size_t bytes[MAX_ARGS];
    char after[MAX_ARGS][64]; /* file name */
    uint32_t scalar[MAX_ARGS];
};

static ptera_engine *engine;
static unsigned native;      /* kernels that ran as native code: some must, with PTERA_ENGINE=jit */
static const char *how = ""; /* isolate, late (asynchronous operations), race (the checker finds
                              * nothing), else plain */
static const char *cases = SOURCE_DIR "/tests/hardware/real";

static void *read_file(const char *folder, const char *name, size_t *bytes)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    *bytes = (size_t)ftell(f);
    rewind(f);
    void *data = malloc(*bytes);
    if (fread(data, 1, *bytes, f) != *bytes)
        *bytes = 0;
    fclose(f);
    return data;
}

static bool add_buffer(struct real_case *c, const char *before, size_t zeroed)
{
    size_t bytes = zeroed;
    void *data = before ? read_file(c->folder, before, &bytes) : calloc(1, zeroed);
    bool ok = data && ptera_buffer_alloc(engine, bytes, &c->buffer[c->n]) == PTERA_OK;
    if (ok)
        memcpy(c->buffer[c->n], data, bytes);
    c->bytes[c->n++] = bytes;
    free(data);
    return ok;
}

static bool read_case(struct real_case *c)
{
    char path[1024], line[256], before[64];
    snprintf(path, sizeof path, "%s/case", c->folder);
    FILE *f = fopen(path, "r");
    bool ok = f != NULL;
    ptera_launch_init(&c->launch);
    while (ok && fgets(line, sizeof line, f)) {
        unsigned *g = c->launch.grid, *b = c->launch.block;
        float value;
        int word;
        if (line[0] == '#' || sscanf(line, "entry %127s", c->entry) == 1 ||
            sscanf(line, "grid %u %u %u", &g[0], &g[1], &g[2]) == 3 ||
            sscanf(line, "block %u %u %u", &b[0], &b[1], &b[2]) == 3 ||
            sscanf(line, "shared %u", &c->launch.shared_bytes) == 1)
            continue;
        if (sscanf(line, "buffer %63s %63s", before, c->after[c->n]) == 2)
            ok = add_buffer(c, before, 0);
        else if (sscanf(line, "i32 %d", &word) == 1)
            c->scalar[c->n++] = (uint32_t)word;
        else if (sscanf(line, "f32 %f", &value) == 1)
            memcpy(&c->scalar[c->n++], &value, sizeof value);
        else
            ok = false;
    }
    if (f)
        fclose(f);
    return ok && add_buffer(c, NULL, SCRATCH_BYTES) && add_buffer(c, NULL, SCRATCH_BYTES);
}

static void show(void *ud, const char *text)
{
    (void)ud;
    fputs(text, stdout);
}

static bool launch(struct real_case *c)
{
    char path[1024];
    const void *parameters[MAX_ARGS];
    ptera_module *module = NULL;
    ptera_kernel *kernel = NULL;
    for (unsigned i = 0; i < c->n; i++)
        parameters[i] = c->buffer[i] ? (const void *)&c->buffer[i] : &c->scalar[i];
    c->launch.parameters = parameters;
    c->launch.n_parameters = c->n;
    c->launch.isolate = !strcmp(how, "isolate");
    c->launch.async_late = !strcmp(how, "late");
    c->launch.checks = !strcmp(how, "race") ? PTERA_CHECK_RACE : 0;
    c->launch.finding = show;
    snprintf(path, sizeof path, "%s/kernel.ptx", c->folder);
    bool ok = ptera_module_load_file(engine, path, &module) == PTERA_OK &&
              ptera_module_kernel(module, c->entry, 0, &kernel) == PTERA_OK &&
              ptera_kernel_launch(kernel, &c->launch) == PTERA_OK;
    ptera_kernel_status status = {.size = sizeof status};
    native += ok && ptera_kernel_info(kernel, &status) == PTERA_OK && status.native_launches;
    ptera_diagnostic d = {.size = sizeof d};
    for (unsigned i = 0; !ok && module && ptera_module_diagnostic(module, i, &d) == PTERA_OK; i++)
        fputs(d.text, stdout);
    if (!ok)
        printf("%s\n", ptera_engine_error(engine));
    ptera_module_unload(module);
    return ok;
}

/* Words (of 32 bits) of all buffers that differ from what the GPU left. */
static size_t count_differences(const struct real_case *c)
{
    size_t wrong = 0;
    for (unsigned i = 0; i < c->n; i++) {
        size_t bytes = 0;
        if (!c->after[i][0])
            continue;
        uint32_t *want = read_file(c->folder, c->after[i], &bytes), *got = c->buffer[i];
        wrong += bytes != c->bytes[i];
        for (size_t w = 0; w < bytes / 4 && bytes == c->bytes[i]; w++)
            if (want[w] != got[w] && wrong++ < 3)
                printf("  argument %u, word %zu: 0x%08x, the GPU's is 0x%08x\n", i, w, got[w],
                       want[w]);
        free(want);
    }
    return wrong;
}

static bool run_case(const char *name)
{
    static struct real_case c;
    memset(&c, 0, sizeof c);
    snprintf(c.folder, sizeof c.folder, "%s/%s", cases, name);
    bool ok = read_case(&c) && launch(&c);
    size_t wrong = ok ? count_differences(&c) : 0;
    if (!ok || wrong)
        printf("FAILED %s: %zu words differ\n", name, wrong);
    for (unsigned i = 0; i < c.n; i++)
        ptera_buffer_free(engine, c.buffer[i]);
    return ok && wrong == 0;
}

int main(int argc, char **argv)
{
    int passed = 0, failed = 0;
    unsigned every = argc > 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 1;
    how = argc > 1 ? argv[1] : how;
    cases = argc > 2 ? argv[argc - 1] : cases;
    if (!every || ptera_engine_create(NULL, &engine) != PTERA_OK)
        return 1;
    struct dirent **entries;
    int n = scandir(cases, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        if (!strchr(entries[i]->d_name, '.') && strcmp(entries[i]->d_name, "data") &&
            (unsigned)i % every == 0) {
            bool ok = run_case(entries[i]->d_name);
            passed += ok;
            failed += !ok;
        }
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    failed += (int)found_print(engine, &(unsigned){0});
    ptera_engine_destroy(engine);
    const char *tier = getenv("PTERA_ENGINE");
    failed += tier && !strcmp(tier, "jit") && !native;
    printf("%u launches were native\n", native);
    printf("real: %d passed, %d failed, 0 skipped\n", passed, failed);
    return failed > 0 || passed == 0;
}
