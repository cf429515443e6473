/* Chapters of kernels that compute through shared memory: the words that each CTA writes are
 * compared by their hash. index.tsv, a line a kernel: kernel, module, group, form, input, bytes of
 * the input a CTA, words of 32 bits out a thread, CTAs of 128 threads, and a hash for each CTA. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/conform/kernel.h"
#include "tools/conform/kind.h"

enum { THREADS = 128 };

struct kernel {
    const char *module, *input, *hashes;
    size_t input_bytes;
    unsigned words, ctas;
};

static bool add(const struct conform_set *set, char **field, struct conform_rows *rows)
{
    size_t bytes;
    struct kernel *k = malloc(sizeof *k);
    if (!k)
        return false;
    *k = (struct kernel){.module = conform_suite_read(set->suite, set->name, field[1], &bytes),
                         .words = (unsigned)strtoul(field[6], NULL, 10),
                         .ctas = (unsigned)strtoul(field[7], NULL, 10),
                         .hashes = field[8]};
    k->input = conform_suite_read(set->suite, set->name, field[4], &k->input_bytes);
    return k->module && k->input && k->words && k->ctas &&
           strtoul(field[5], NULL, 10) * k->ctas <= k->input_bytes &&
           conform_kernel_add(set, field, k, rows);
}

static void compare(const struct kernel *k, const uint32_t *out, struct result *result)
{
    const char *hashes = k->hashes;
    size_t words = (size_t)THREADS * k->words;
    unsigned differ = 0;
    for (unsigned c = 0; c < k->ctas; c++) {
        char *end;
        uint64_t want = strtoull(hashes, &end, 16),
                 got = conform_kernel_hash_words(out + c * words, words, FNV_BASIS);
        hashes = end;
        if (got != want && !differ++)
            conform_row_tell(result, VERDICT_DIFFERENT,
                             "CTA %u: the words' hash is %016" PRIx64 ", expected %016" PRIx64
                             " (its first words are %x %x %x %x)",
                             c, got, want, out[c * words], out[c * words + 1], out[c * words + 2],
                             out[c * words + 3]);
    }
    size_t n = strlen(result->text);
    if (differ > 1)
        snprintf(result->text + n, sizeof result->text - n, "; %u of %u CTAs differ", differ,
                 k->ctas);
}

static void run(struct worker *worker, const struct conform_row *row, struct result *result)
{
    const struct kernel *k = row->data;
    size_t out_bytes = (size_t)THREADS * k->words * k->ctas * sizeof(uint32_t);
    char *ptx = conform_kernel_text(row);
    uint32_t *out = malloc(out_bytes);
    struct launch launch = {.ptx = ptx,
                            .kernel = row->name,
                            .grid = {k->ctas, 1, 1},
                            .block = {THREADS, 1, 1},
                            .level = row->set->level,
                            .buffer = {{.bytes = k->input_bytes, .from = k->input},
                                       {.bytes = out_bytes, .fill = 0xcd, .to = out}},
                            .n_buffers = 2};
    if (!ptx || !out)
        conform_row_tell(result, VERDICT_FAILED, "no memory on the host, or no such kernel");
    else if (conform_launch_run(worker, &launch, result))
        compare(k, out, result);
    free(ptx);
    free(out);
}

const struct conform_kind conform_hashes = {"hashes", "index.tsv",         9,    add,
                                            run,      conform_kernel_text, false};
