/* What was counted in a file, from which `ptera profile` makes its tables. */
#include <inttypes.h>
#include <stdio.h>

#include "runtime/counted.h"

/* To the end of a line. */
static void put_text(FILE *out, const char *name, const char *text)
{
    fprintf(out, "%s ", name);
    for (; *text; text++)
        fputc(*text == '\n' ? ' ' : *text, out);
    fputc('\n', out);
}

static void put_shape(FILE *out, const char *name, const uint32_t v[3])
{
    fprintf(out, "%s %u %u %u\n", name, v[0], v[1], v[2]);
}

static void put_insn(FILE *out, const struct pt_counted_insn *x, const struct pt_count *n)
{
    fprintf(out, "insn %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, x->line, x->col,
            n->warps, n->lanes, n->on, n->split);
    for (int i = 0; i < PT_COUNTED_SPACES; i++)
        fprintf(out, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
                n->spaces[i].requests, n->spaces[i].lanes, n->spaces[i].bytes, n->spaces[i].parts,
                n->spaces[i].conflicts);
    fprintf(out, " %d %s %s %s %s %u %s\n", x->has_guard, x->kind, x->row, x->spelling, x->func,
            x->file_line, x->file ? x->file : "-");
}

/* Addresses of global and constant memory from the first 128 bytes on that they lie in: the same in
 * each run. */
static void put_worst(FILE *out, const struct pt_counted_worst *w)
{
    bool is_window = w->space == PT_COUNTED_SHARED || w->space == PT_COUNTED_LOCAL;
    uint64_t least = is_window ? 0 : UINT64_MAX;
    for (uint32_t left = w->lanes; left; left &= left - 1) {
        uint64_t at = w->address[__builtin_ctz(left)];
        least = at < least ? at : least;
    }
    fprintf(out, "worst %u %u %u %u %" PRIu64 " %u", w->space, w->bytes, w->lanes, w->parts, w->cta,
            w->warp);
    for (uint32_t left = w->lanes; left; left &= left - 1)
        fprintf(out, " %" PRIu64, w->address[__builtin_ctz(left)] - least / 128 * 128);
    fputc('\n', out);
}

static void put_time(FILE *out, const struct pt_timed_sums *t)
{
#define SUM(name, what) fprintf(out, "time " #name " %" PRIu64 "\n", t->name);
#include "backend/timed.def"
}

static void put(FILE *out, struct pt_counted *c)
{
    pt_counted_tell(c);
    put_text(out, "kernel", c->kernel);
    put_text(out, "module", c->module);
    put_shape(out, "grid", c->grid);
    put_shape(out, "block", c->block);
    put_shape(out, "cluster", c->cluster);
    fprintf(out, "shared_static %u\nshared_dynamic %u\nregisters %u\n", c->shared_static,
            c->shared_dynamic, c->registers);
    fprintf(out, "ctas %u\nsms %u\nsm_warps %u\n", c->ctas, c->sms, c->sm_warps);
    fprintf(out, "launches %" PRIu64 "\nns %" PRIu64 "\n", c->launches, c->ns);
    fprintf(out, "device %s\n", c->device);
    for (uint64_t i = 0; i < c->launches && i < PT_COUNTED_RUNS; i++)
        fprintf(out, "run %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", c->runs[i].begun, c->runs[i].ns,
                c->runs[i].stream);
    if (c->covered)
        fputs("coverage 1\n", out);
    if (c->is_timed)
        put_time(out, &c->time);
    for (uint32_t i = 0; i < c->n; i++) {
        put_insn(out, &c->insns[i], &c->counts[i]);
        if (c->is_timed && c->waits[i])
            fprintf(out, "waits %" PRIu64 "\n", c->waits[i]);
        if (c->worst && c->worst[i].rank)
            put_worst(out, &c->worst[i]);
    }
}

ptera_result ptera_engine_counts_save(ptera_engine *engine, const char *path)
{
    if (!engine || !path)
        return PTERA_ERROR_INVALID_ARGUMENT;
    FILE *out = fopen(path, "ae");
    if (!out)
        return PTERA_ERROR_FILE;
    pthread_mutex_lock(&engine->counted_lock);
    for (struct pt_counted *c = engine->counted; c; c = c->next)
        put(out, c);
    pthread_mutex_unlock(&engine->counted_lock);
    return fclose(out) == 0 ? PTERA_OK : PTERA_ERROR_FILE;
}
