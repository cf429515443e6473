/* Chapters of litmus tests of the memory model. index.tsv, a line a test: name, chapter, what is
 * tested, where in modules.ptx its module begins, its bytes, CTAs, threads of a CTA, "cluster" or
 * "cooperative", registers, "forbidden" or "allowed", and an outcome or several. The kernel is
 * .entry litmus(.param .u64 mem, .param .u64 out, .param .u64 pace, .param .u32 n): n rounds, each
 * with places x, y, z, zero before, 64 bytes apart in mem; register r of round i goes to
 * out[r * n + i]; pace is a word, zero before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/conform/kind.h"
#include "tools/conform/outcome.h"

enum {
    ROUNDS = 4096,
    LINE_WORDS = 16,
    ROUND_WORDS = OUTCOME_PLACES * LINE_WORDS,
    WRITTEN = 7 /* the largest value that anybody writes */
};

struct test {
    const char *text, *outcome;
    size_t bytes;
    unsigned ctas, threads, registers;
    bool is_cluster, is_forbidden;
};

static bool add(const struct conform_set *set, char **field, struct conform_rows *rows)
{
    size_t all, at = strtoul(field[3], NULL, 10);
    const char *texts = conform_suite_read(set->suite, set->name, "modules.ptx", &all);
    struct test *t = malloc(sizeof *t);
    if (!texts || !t)
        return false;
    *t = (struct test){.text = texts + at,
                       .outcome = field[10],
                       .bytes = strtoul(field[4], NULL, 10),
                       .ctas = (unsigned)strtoul(field[5], NULL, 10),
                       .threads = (unsigned)strtoul(field[6], NULL, 10),
                       .registers = (unsigned)strtoul(field[8], NULL, 10),
                       .is_cluster = !strcmp(field[7], "cluster"),
                       .is_forbidden = !strcmp(field[9], "forbidden")};
    return at <= all && t->bytes <= all - at && t->registers <= OUTCOME_REGISTERS &&
           conform_row_add(
               rows,
               &(struct conform_row){
                   .set = set, .chapter = field[1], .name = field[0], .form = field[2], .data = t});
}

static char *text(const struct conform_row *row)
{
    const struct test *t = row->data;
    return strndup(t->text, t->bytes);
}

static void judge(const struct test *t, const uint32_t *mem, const uint32_t *out,
                  struct result *result)
{
    unsigned listed = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint32_t values = 0, all = 0;
        for (unsigned r = 0; r < t->registers; r++) {
            all |= out[r * ROUNDS + i];
            values |= (out[r * ROUNDS + i] & WRITTEN) << 3 * r;
        }
        for (unsigned p = 0; p < OUTCOME_PLACES; p++) {
            uint32_t value = mem[i * ROUND_WORDS + p * LINE_WORDS];
            all |= value;
            values |= (value & WRITTEN) << 3 * (OUTCOME_REGISTERS + p);
        }
        listed += conform_outcome_is_listed(t->outcome, values);
        if (all > WRITTEN) {
            conform_row_tell(result, VERDICT_DIFFERENT, "round %u has a value that nobody writes",
                             i);
            return;
        }
    }
    if (listed)
        conform_row_tell(result, t->is_forbidden ? VERDICT_DIFFERENT : VERDICT_SAME,
                         "%s, which is %s, %u times in %d", t->outcome,
                         t->is_forbidden ? "forbidden" : "allowed", listed, ROUNDS);
}

static void run(struct worker *worker, const struct conform_row *row, struct result *result)
{
    const struct test *t = row->data;
    size_t mem_bytes = ROUNDS * ROUND_WORDS * sizeof(uint32_t),
           out_bytes = ROUNDS * OUTCOME_REGISTERS * sizeof(uint32_t);
    char *ptx = text(row);
    uint32_t *mem = malloc(mem_bytes), *out = malloc(out_bytes);
    struct launch launch = {.ptx = ptx,
                            .kernel = "litmus",
                            .grid = {t->ctas, 1, 1},
                            .block = {t->threads, 1, 1},
                            .cluster = t->is_cluster ? t->ctas : 0,
                            .is_cooperative = !t->is_cluster,
                            .level = row->set->level,
                            .buffer = {{.bytes = mem_bytes, .to = mem},
                                       {.bytes = out_bytes, .fill = 0xff, .to = out},
                                       {.bytes = sizeof(uint32_t)}},
                            .n_buffers = 3,
                            .scalar = {ROUNDS},
                            .n_scalars = 1};
    if (!ptx || !mem || !out)
        conform_row_tell(result, VERDICT_FAILED, "no memory on the host");
    else if (conform_launch_run(worker, &launch, result))
        judge(t, mem, out, result);
    free(ptx);
    free(mem);
    free(out);
}

const struct conform_kind conform_litmus = {"litmus", "index.tsv", 11, add, run, text, false};
