/* libgpuocelot.so: the one function that users of GPU Ocelot's library call, over ptera.h. It has
 * no way to tell errors but standard error. */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptera.h"

enum { MAX_ARGUMENTS = 4096, MAX_CACHED = 1024, N_BUCKETS = 256 };

/* Modules by their text. When there are too many all of them go. */
struct cached {
    uint64_t hash;
    char *source;
    ptera_module *module;
    struct cached *next;
};
static struct cached *buckets[N_BUCKETS];
static unsigned n_cached;
static ptera_engine *engine;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held by the one call that runs */

static void complain(const char *what)
{
    fprintf(stderr, "ptx_run: %s\n", what);
}

static void print(void *ud, const char *text, size_t bytes)
{
    (void)ud;
    fwrite(text, 1, bytes, stdout);
}

static bool create_engine(void)
{
    ptera_options options;
    ptera_options_init(&options);
    options.print = print;
    ptera_result r = engine ? PTERA_OK : ptera_engine_create(&options, &engine);
    if (r != PTERA_OK)
        complain(ptera_result_text(r));
    return r == PTERA_OK;
}

static uint64_t hash_text(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */
    for (; *text; text++)
        h = (h ^ (uint8_t)*text) * 0x100000001b3u;
    return h;
}

static void forget_all(void)
{
    for (int i = 0; i < N_BUCKETS; i++) {
        for (struct cached *c = buckets[i], *next; c; c = next) {
            next = c->next;
            ptera_module_unload(c->module);
            free(c->source);
            free(c);
        }
        buckets[i] = NULL;
    }
    n_cached = 0;
}

static ptera_module *load(const char *source)
{
    ptera_module *module = NULL;
    ptera_diagnostic d = {.size = sizeof d};
    ptera_result r = ptera_module_load(engine, "ptx_run", source, strlen(source), &module);
    if (r == PTERA_OK)
        return module;
    complain(ptera_result_text(r));
    for (unsigned i = 0; module && ptera_module_diagnostic(module, i, &d) == PTERA_OK; i++)
        fputs(d.text, stderr);
    ptera_module_unload(module);
    return NULL;
}

static ptera_module *find(const char *source)
{
    uint64_t hash = hash_text(source);
    struct cached **bucket = &buckets[hash % N_BUCKETS];
    for (struct cached *c = *bucket; c; c = c->next)
        if (c->hash == hash && !strcmp(c->source, source))
            return c->module;
    if (n_cached == MAX_CACHED)
        forget_all();
    struct cached *c = malloc(sizeof *c);
    char *copy = strdup(source);
    ptera_module *module = c && copy ? load(source) : NULL;
    if (!module) {
        free(c);
        free(copy);
        return NULL;
    }
    *c = (struct cached){hash, copy, module, *bucket};
    *bucket = c;
    n_cached++;
    return module;
}

static void launch(ptera_module *module, void **args, const ptera_launch *launch)
{
    ptera_kernel *kernel;
    const void *parameters[MAX_ARGUMENTS];
    ptera_launch l = *launch;
    if (ptera_module_kernel(module, NULL, 0, &kernel) != PTERA_OK) {
        complain("the PTX has no kernel");
        return;
    }
    for (unsigned i = 0; i < l.n_parameters; i++)
        parameters[i] = &args[i];
    l.parameters = parameters;
    ptera_result r = ptera_kernel_launch(kernel, &l);
    if (r != PTERA_OK) {
        const char *why = ptera_engine_error(engine);
        complain(*why ? why : ptera_result_text(r));
    }
}

/* Runs the first kernel of a PTX text and waits for it. Each argument is the value of a parameter
 * itself, in 64 bits. */
PTERA_API void ptx_run(const char *source, int n_args, void **args, int block_x, int block_y,
                       int block_z, int grid_x, int grid_y, int grid_z, int shared_bytes);

void ptx_run(const char *source, int n_args, void **args, int block_x, int block_y, int block_z,
             int grid_x, int grid_y, int grid_z, int shared_bytes)
{
    ptera_launch l;
    ptera_launch_init(&l);
    if (!source || n_args < 0 || n_args > MAX_ARGUMENTS || (n_args && !args) || shared_bytes < 0) {
        complain("an argument is not valid");
        return;
    }
    const int block[3] = {block_x, block_y, block_z}, grid[3] = {grid_x, grid_y, grid_z};
    for (int i = 0; i < 3; i++) {
        l.block[i] = block[i] < 0 ? 0 : (unsigned)block[i]; /* 0 is refused, by name */
        l.grid[i] = grid[i] < 0 ? 0 : (unsigned)grid[i];
    }
    l.shared_bytes = (unsigned)shared_bytes;
    l.n_parameters = (unsigned)n_args;
    pthread_mutex_lock(&lock);
    ptera_module *module = create_engine() ? find(source) : NULL;
    if (module)
        launch(module, args, &l);
    pthread_mutex_unlock(&lock);
}
