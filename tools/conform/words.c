/* Chapters of kernels that apply one form, or a few instructions, to a table of inputs: every word
 * is compared. index.tsv, a line a kernel: kernel, module, group, form, table of inputs, words of
 * 64 bits in and out a thread, threads, offset of the results in out.bin. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/conform/approximate.h"
#include "tools/conform/kernel.h"
#include "tools/conform/kind.h"

enum { CTA = 256 };

struct kernel {
    const char *module, *table, *results;
    unsigned n_in, n_out, rows;
};

static bool read_kernel(const struct conform_set *set, char **field, struct kernel *k)
{
    size_t bytes, table_bytes, result_bytes, offset = strtoul(field[8], NULL, 10);
    *k = (struct kernel){.module = conform_suite_read(set->suite, set->name, field[1], &bytes),
                         .table = conform_suite_read(set->suite, set->name, field[4], &table_bytes),
                         .results =
                             conform_suite_read(set->suite, set->name, "out.bin", &result_bytes),
                         .n_in = (unsigned)strtoul(field[5], NULL, 10),
                         .n_out = (unsigned)strtoul(field[6], NULL, 10),
                         .rows = (unsigned)strtoul(field[7], NULL, 10)};
    if (!k->module || !k->table || !k->results)
        return false;
    k->results += offset;
    return k->rows && k->n_out && (k->rows < CTA || k->rows % CTA == 0) &&
           k->rows * sizeof(uint64_t) <= table_bytes / (k->n_in ? k->n_in : 1) &&
           offset < result_bytes &&
           (result_bytes - offset) / sizeof(uint64_t) / k->n_out >= k->rows;
}

static bool add(const struct conform_set *set, char **field, struct conform_rows *rows)
{
    struct kernel *k = malloc(sizeof *k);
    return k && read_kernel(set, field, k) && conform_kernel_add(set, field, k, rows);
}

/* ---- comparing ------------------------------------------------------------------------------- */

static void put_words(char **at, const char *end, const char *what, const uint64_t *words,
                      unsigned n)
{
    *at += snprintf(*at, (size_t)(end - *at), "%s", what);
    for (unsigned i = 0; i < n && end - *at > 40; i++)
        *at += snprintf(*at, (size_t)(end - *at), " %" PRIx64, words[i]);
}

static void tell(const struct kernel *k, unsigned thread, const uint64_t *in, const uint64_t *got,
                 const uint64_t *want, struct result *result)
{
    char words[RESULT_TEXT - 100], *at = words, *end = words + sizeof words;
    put_words(&at, end, "of", in, k->n_in);
    put_words(&at, end, " it gave", got, k->n_out);
    put_words(&at, end, ", expected", want, k->n_out);
    conform_row_tell(result, result->verdict, "thread %u: %s", thread, words);
}

static bool is_close(const struct conform_row *row, const struct kernel *k, const uint64_t *in,
                     const uint64_t *got, const uint64_t *want)
{
    for (unsigned i = 0; i < k->n_out; i++)
        if (got[i] != want[i] && !conform_approximate_is_close(row->form, in, k->n_in, got[i]))
            return false;
    return true;
}

/* The first thread that wrote something wrong is told; if there is none, the first whose numbers
 * are close. */
static void compare(const struct conform_row *row, const uint64_t *got, struct result *result)
{
    const struct kernel *k = row->data;
    unsigned wrong = 0, close = 0;
    for (unsigned thread = 0; thread < k->rows; thread++) {
        uint64_t want[32], in[64];
        const uint64_t *g = got + (size_t)thread * k->n_out;
        size_t out_bytes = k->n_out * sizeof *want, in_bytes = k->n_in * sizeof *in;
        memcpy(want, k->results + thread * out_bytes, out_bytes);
        if (!memcmp(g, want, out_bytes))
            continue;
        memcpy(in, k->table + thread * in_bytes, in_bytes);
        bool is_right = is_close(row, k, in, g, want);
        is_right ? close++ : wrong++;
        if (is_right ? wrong + close == 1 : wrong == 1) {
            result->verdict = is_right ? VERDICT_CLOSE : VERDICT_DIFFERENT;
            tell(k, thread, in, g, want, result);
        }
    }
    size_t n = strlen(result->text);
    if (wrong + close > 1)
        snprintf(result->text + n, sizeof result->text - n, "; %u of %u threads differ",
                 wrong ? wrong : close, k->rows);
}

static void run(struct worker *worker, const struct conform_row *row, struct result *result)
{
    const struct kernel *k = row->data;
    size_t out_bytes = (size_t)k->rows * k->n_out * sizeof(uint64_t);
    char *ptx = conform_kernel_text(row);
    uint64_t *out = malloc(out_bytes);
    unsigned block = k->rows < CTA ? k->rows : CTA;
    struct launch launch = {
        .ptx = ptx,
        .kernel = row->name,
        .grid = {k->rows / block, 1, 1},
        .block = {block, 1, 1},
        .level = row->set->level,
        .buffer = {{.bytes = (size_t)k->rows * k->n_in * sizeof(uint64_t), .from = k->table},
                   {.bytes = out_bytes, .fill = 0xcd, .to = out}},
        .n_buffers = 2};
    if (!ptx || !out)
        conform_row_tell(result, VERDICT_FAILED, "no memory on the host, or no such kernel");
    else if (conform_launch_run(worker, &launch, result))
        compare(row, out, result);
    free(ptx);
    free(out);
}

const struct conform_kind conform_words = {"words", "index.tsv",         9,    add,
                                           run,     conform_kernel_text, false};
