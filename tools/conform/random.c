/* Chapters of random kernels: kernels.ptx has them one behind the other, each with a line in front
 * that says how it is launched, with two zeroed buffers and two numbers; digests.tsv has the hashes
 * of what the buffers hold afterwards. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/conform/kernel.h"
#include "tools/conform/kind.h"

enum { NAME_BYTES = 16 };

struct kernel {
    char name[NAME_BYTES];
    const char *text;
    char *next; /* what is behind it in the file */
    uint64_t digest[2], w;
    unsigned grid[3], block[3], s;
    size_t bytes[2];
};

static const char head[] =
    "// RUN: ptera run %%s -g %u,%u,%u -b %u,%u,%u --engine both zero:%zu zero:%zu u32:%u "
    "u64:%" SCNu64;

/* Cuts the first one off. */
static bool read_kernel(char *at, struct kernel *k)
{
    char *next = strstr(at, "\n// RUN: ");
    k->text = at;
    k->next = next ? next + 1 : at + strlen(at);
    if (next)
        *next = 0;
    return sscanf(at, head, &k->grid[0], &k->grid[1], &k->grid[2], &k->block[0], &k->block[1],
                  &k->block[2], &k->bytes[0], &k->bytes[1], &k->s, &k->w) == 10;
}

static bool add(const struct conform_set *set, char **field, struct conform_rows *rows)
{
    size_t bytes;
    const struct kernel *last = rows->n ? rows->v[rows->n - 1].data : NULL;
    char *at = last ? last->next : conform_suite_read(set->suite, set->name, "kernels.ptx", &bytes);
    struct kernel *k = calloc(1, sizeof *k);
    if (!at || !k || !read_kernel(at, k))
        return false;
    snprintf(k->name, sizeof k->name, "%s", field[0]);
    k->digest[0] = strtoull(field[1], NULL, 16);
    k->digest[1] = strtoull(field[2], NULL, 16);
    return conform_row_add(
        rows,
        &(struct conform_row){
            .set = set, .chapter = "", .name = k->name, .form = "a random kernel", .data = k});
}

static char *text(const struct conform_row *row)
{
    return strdup(((const struct kernel *)row->data)->text);
}

/* The name behind ".entry". */
static bool read_entry(const char *ptx, char *name, size_t n)
{
    const char *entry = strstr(ptx, ".entry ");
    size_t length = entry ? strcspn(entry + 7, "( \n") : n;
    if (length >= n)
        return false;
    memcpy(name, entry + 7, length);
    name[length] = 0;
    return true;
}

static void run(struct worker *worker, const struct conform_row *row, struct result *result)
{
    const struct kernel *k = row->data;
    char entry[64];
    void *out[2] = {malloc(k->bytes[0]), malloc(k->bytes[1])};
    struct launch launch = {
        .ptx = k->text,
        .kernel = entry,
        .grid = {k->grid[0], k->grid[1], k->grid[2]},
        .block = {k->block[0], k->block[1], k->block[2]},
        .level = row->set->level,
        .buffer = {{.bytes = k->bytes[0], .to = out[0]}, {.bytes = k->bytes[1], .to = out[1]}},
        .n_buffers = 2,
        .scalar = {k->s, k->w},
        .n_scalars = 2};
    if (!out[0] || !out[1] || !read_entry(k->text, entry, sizeof entry)) {
        conform_row_tell(result, VERDICT_FAILED, "no memory on the host, or no kernel");
    } else if (conform_launch_run(worker, &launch, result)) {
        for (int i = 1; i >= 0; i--) {
            uint64_t got = conform_kernel_hash(out[i], k->bytes[i]);
            if (got != k->digest[i])
                conform_row_tell(result, VERDICT_DIFFERENT,
                                 "buffer %d: the bytes' hash is %016" PRIx64
                                 ", expected %016" PRIx64,
                                 i, got, k->digest[i]);
        }
    }
    free(out[0]);
    free(out[1]);
}

const struct conform_kind conform_random = {"random", "digests.tsv", 3, add, run, text, false};
