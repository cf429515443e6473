/* Chapters of launches that were recorded: every buffer is compared. index.tsv names them, a line
 * each: folders with kernel.ptx and `case`, lines of words: "# TITLE", "entry NAME", "grid X Y Z",
 * "block X Y Z", "shared BYTES", and the parameters in their order: "buffer BEFORE AFTER" (files; a
 * path that begins with ../ is the set's), "i32 VALUE", "f32 VALUE". Behind these are two buffers
 * of zeros, for what the compiler needs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/conform/kind.h"

enum { SCRATCH_BYTES = 1 << 16, WORD_BYTES = 128, SCRATCHES = 2 };

struct recorded {
    const char *name, *text;
    char kernel[WORD_BYTES];
    struct launch launch;
    const char *after[LAUNCH_PARAMETERS]; /* of the buffers */
};

static const char *read_buffer(const struct conform_row *row, const char *file, size_t *bytes)
{
    const struct recorded *r = row->data;
    char name[2 * WORD_BYTES];
    bool is_sets = !strncmp(file, "../", 3);
    snprintf(name, sizeof name, "%s%s%s", is_sets ? "" : r->name, is_sets ? "" : "/",
             is_sets ? file + 3 : file);
    return conform_suite_read(row->set->suite, row->set->name, name, bytes);
}

static bool add_buffer(const struct conform_row *row, const char *before, const char *after)
{
    struct recorded *r = row->data;
    struct launch *l = &r->launch;
    size_t bytes, after_bytes;
    if (l->n_buffers + l->n_scalars + SCRATCHES >= LAUNCH_PARAMETERS)
        return false;
    const char *from = read_buffer(row, before, &bytes);
    r->after[l->n_buffers] = from ? read_buffer(row, after, &after_bytes) : NULL;
    l->order[l->n_buffers + l->n_scalars] = 'b';
    l->buffer[l->n_buffers] = (struct launch_buffer){.bytes = bytes, .from = from};
    return from && r->after[l->n_buffers++] && bytes == after_bytes;
}

static bool add_scalar(struct launch *l, const void *value)
{
    if (l->n_buffers + l->n_scalars + SCRATCHES >= LAUNCH_PARAMETERS)
        return false;
    l->order[l->n_buffers + l->n_scalars] = 's';
    memcpy(&l->scalar[l->n_scalars++], value, sizeof(uint32_t));
    return true;
}

static bool read_line(const struct conform_row *row, const char *line)
{
    struct recorded *r = row->data;
    struct launch *l = &r->launch;
    char before[WORD_BYTES], after[WORD_BYTES];
    float value;
    int word;
    if (*line == '#' || sscanf(line, "entry %127s", r->kernel) == 1 ||
        sscanf(line, "grid %u %u %u", &l->grid[0], &l->grid[1], &l->grid[2]) == 3 ||
        sscanf(line, "block %u %u %u", &l->block[0], &l->block[1], &l->block[2]) == 3 ||
        sscanf(line, "shared %u", &l->shared) == 1)
        return true;
    if (sscanf(line, "buffer %127s %127s", before, after) == 2)
        return add_buffer(row, before, after);
    if (sscanf(line, "i32 %d", &word) == 1)
        return add_scalar(l, &word);
    return sscanf(line, "f32 %f", &value) == 1 && add_scalar(l, &value);
}

/* `row` has the launch, to be filled. */
static bool read_case(struct conform_row *row)
{
    struct recorded *r = row->data;
    char name[2 * WORD_BYTES];
    size_t bytes;
    snprintf(name, sizeof name, "%s/kernel.ptx", r->name);
    r->text = conform_suite_read(row->set->suite, row->set->name, name, &bytes);
    snprintf(name, sizeof name, "%s/case", r->name);
    char *line = conform_suite_read(row->set->suite, row->set->name, name, &bytes);
    bool ok = r->text && line;
    if (ok && *line == '#')
        row->form = line + 2;
    for (char *next; ok && *line; line = next) {
        size_t n = strcspn(line, "\n");
        next = line + n + (line[n] != 0);
        line[n] = 0;
        ok = read_line(row, line);
    }
    for (int i = 0; ok && i < SCRATCHES; i++) {
        struct launch *l = &r->launch;
        l->order[l->n_buffers + l->n_scalars] = 'b';
        l->buffer[l->n_buffers++].bytes = SCRATCH_BYTES;
    }
    r->launch.ptx = r->text;
    r->launch.kernel = r->kernel;
    r->launch.level = row->set->level;
    return ok;
}

static bool add(const struct conform_set *set, char **field, struct conform_rows *rows)
{
    struct recorded *r = calloc(1, sizeof *r);
    struct conform_row row = {.set = set, .chapter = "", .name = field[0], .form = "", .data = r};
    if (!r)
        return false;
    r->name = field[0];
    return read_case(&row) && conform_row_add(rows, &row);
}

static char *text(const struct conform_row *row)
{
    return strdup(((const struct recorded *)row->data)->text);
}

static void compare(const struct recorded *r, const struct launch *l, struct result *result)
{
    for (unsigned i = 0; i < l->n_buffers && result->verdict == VERDICT_SAME; i++)
        for (size_t at = 0; r->after[i] && at < l->buffer[i].bytes; at++) {
            const unsigned char *got = l->buffer[i].to;
            if (got[at] == (unsigned char)r->after[i][at])
                continue;
            conform_row_tell(result, VERDICT_DIFFERENT,
                             "buffer %u, byte %zu of %zu: it is 0x%02x, expected 0x%02x", i, at,
                             l->buffer[i].bytes, got[at], (unsigned char)r->after[i][at]);
            break;
        }
}

static void run(struct worker *worker, const struct conform_row *row, struct result *result)
{
    const struct recorded *r = row->data;
    struct launch launch = r->launch;
    bool ok = true;
    for (unsigned i = 0; i < launch.n_buffers; i++)
        if (r->after[i])
            ok &= (launch.buffer[i].to = malloc(launch.buffer[i].bytes)) != NULL;
    if (!ok)
        conform_row_tell(result, VERDICT_FAILED, "no memory on the host");
    else if (conform_launch_run(worker, &launch, result))
        compare(r, &launch, result);
    for (unsigned i = 0; i < launch.n_buffers; i++)
        free(launch.buffer[i].to);
}

const struct conform_kind conform_launches = {"launches", "index.tsv", 1, add, run, text, false};
