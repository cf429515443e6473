/* Looks for random kernels of which an NVIDIA GPU and the interpreter make different bytes, and
 * makes those smaller.
 *
 *     cc -O2 -I. -Iinclude SOURCES -LBUILD -lptera -lm -ldl      (this file, those of ir and of
 * tools/fuzz but trial.c)
 *     ./a.out FIRST COUNT STEP SECONDS
 *
 * Tries the kernels of COUNT seeds, FIRST and every STEP-th behind it, until the time is over, and
 * prints what it found. Not part of the build: needs a GPU. */
#include <time.h>

#include "tools/fuzz/gen.h"
#include "tools/fuzz/reduce.h"
#include "tests/hardware/golden/random_device.h"
#include "tests/hardware/golden/random_engine.h"

/* Trials take place here, on two engines: the GPU and the interpreter. */
struct pen {
    ptera_engine *engine;
    time_t end;
};

static bool interpret(ptera_engine *engine, const struct random_case *c, char *after)
{
    void *buffer[2] = {NULL, NULL};
    bool ok = random_run_on(engine, c, buffer) == PTERA_OK;
    for (int i = 0; i < 2; i++) {
        if (ok)
            memcpy(after + (i ? c->bytes[0] : 0), buffer[i], c->bytes[i]);
        ptera_buffer_free(engine, buffer[i]);
    }
    return ok;
}

void pen_try(struct pen *pen, const struct gen_kernel *k, struct trial *trial)
{
    struct random_case c = {
        .text = gen_text(k), .s = k->s, .w = k->w, .bytes = {k->out_bytes, k->sums_bytes}};
    size_t bytes = k->out_bytes + k->sums_bytes;
    char *ours = calloc(1, bytes), *theirs = calloc(1, bytes);
    bool is_loaded;
    memcpy(c.grid, k->grid, sizeof c.grid);
    memcpy(c.block, k->block, sizeof c.block);
    memset(trial, 0, sizeof *trial);
    if (time(NULL) < pen->end && interpret(pen->engine, &c, ours)) {
        result r = random_on_device(&c, theirs, &is_loaded);
        if (r && is_loaded) {
            printf("// the GPU fails: %d\n%s\n", r, c.text);
            exit(1);
        }
        if (!r && memcmp(ours, theirs, bytes))
            trial->verdict = VERDICT_DIFFERENT;
        for (size_t at = 0; !r && !*trial->text && at + 4 <= bytes; at += 4)
            if (memcmp(ours + at, theirs + at, 4))
                snprintf(trial->text, sizeof trial->text,
                         "byte %zu: the GPU's word is 0x%08x, ours 0x%08x", at,
                         *(unsigned *)(void *)(theirs + at), *(unsigned *)(void *)(ours + at));
    }
    free(ours);
    free(theirs);
    free(c.text);
}

static volatile sig_atomic_t never; /* stops a reduction: time does */

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr,
                "usage: random_hunt FIRST COUNT STEP SECONDS, on a machine with an NVIDIA GPU\n");
        return 2;
    }
    struct pen pen = {.end = time(NULL) + atoi(argv[4])};
    unsigned tried = 0, found = 0;
    random_open();
    if (ptera_engine_create(NULL, &pen.engine) != PTERA_OK)
        return 2;
    for (int i = 0; i < atoi(argv[2]) && time(NULL) < pen.end; i++, tried++) {
        struct gen_kernel kernel;
        struct trial trial;
        gen_make(&kernel, strtoull(argv[1], NULL, 0) + (uint64_t)i * strtoull(argv[3], NULL, 0),
                 true);
        pen_try(&pen, &kernel, &trial);
        if (trial.verdict == VERDICT_DIFFERENT) {
            gen_reduce(&kernel, &pen, &trial, &never);
            char *text = gen_text(&kernel);
            printf("// seed %llu: %s\n%s\n", (unsigned long long)kernel.seed, trial.text, text);
            fflush(stdout);
            free(text);
            found++;
        }
        gen_free(&kernel);
    }
    printf("// tried %u, different %u\n", tried, found);
    return 0;
}
