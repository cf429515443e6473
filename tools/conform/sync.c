/* Chapters of synchronisation at its edges: whether a kernel ends, hangs or faults, and what it has
 * written where it ends. sync.tsv, a line a row: module, threads of its one CTA, two numbers, why
 * Ptera does otherwise (or "-"), what came of it: "ok", "hangs" or "fault N" (a CUresult), and
 * behind "ok" words of 32 bits as THREAD.WORD=HEX, or FIRST-LAST.WORD=HEX for a run of equal ones;
 * all others keep their bytes 0xcd. The kernel is .entry k(.param .u64 out, .param .u32 a, .param
 * .u32 b); a thread has four words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/conform/kind.h"

enum { WORDS = 4, THREADS = 1024, UNWRITTEN = 0xcd, NAME_BYTES = 160, PATIENCE = 2 };

struct job {
    char name[NAME_BYTES];
    const char *module, *outcome;
    unsigned threads;
    uint64_t a, b;
};

static bool add(const struct conform_set *set, char **field, struct conform_rows *rows)
{
    size_t bytes;
    struct job *job = malloc(sizeof *job);
    if (!job)
        return false;
    *job = (struct job){.module = conform_suite_read(set->suite, set->name, field[0], &bytes),
                        .threads = (unsigned)strtoul(field[1], NULL, 10),
                        .a = strtoul(field[2], NULL, 16),
                        .b = strtoul(field[3], NULL, 16),
                        .outcome = field[5]};
    snprintf(job->name, sizeof job->name, "%.*s.%u.%s.%s", (int)strcspn(field[0], "."), field[0],
             job->threads, field[2] + 2, field[3] + 2);
    return job->module && job->threads && job->threads <= THREADS &&
           conform_row_add(rows,
                           &(struct conform_row){.set = set,
                                                 .chapter = "",
                                                 .name = job->name,
                                                 .form = field[0],
                                                 .otherwise = *field[4] == '-' ? NULL : field[4],
                                                 .data = job});
}

static char *text(const struct conform_row *row)
{
    return strdup(((const struct job *)row->data)->module);
}

static bool read_words(const char *at, uint32_t *words)
{
    memset(words, UNWRITTEN, WORDS * THREADS * sizeof *words);
    for (; *at == '\t'; at += strcspn(at, "\t")) {
        unsigned first, last, word, value;
        if (sscanf(++at, "%u-%u.%u=%x", &first, &last, &word, &value) != 4) {
            if (sscanf(at, "%u.%u=%x", &first, &word, &value) != 3)
                return false;
            last = first;
        }
        if (last >= THREADS || word >= WORDS)
            return false;
        for (unsigned t = first; t <= last; t++)
            words[t * WORDS + word] = value;
    }
    return !*at;
}

static void compare(const struct job *job, const uint32_t *out, struct result *result)
{
    static uint32_t want[WORDS * THREADS];
    if (!read_words(job->outcome + 2, want)) {
        conform_row_tell(result, VERDICT_FAILED, "the suite's words cannot be read");
        return;
    }
    for (unsigned i = 0; i < WORDS * THREADS; i++)
        if (out[i] != want[i]) {
            conform_row_tell(result, VERDICT_DIFFERENT,
                             "thread %u, word %u: it wrote 0x%x, expected 0x%x", i / WORDS,
                             i % WORDS, out[i], want[i]);
            return;
        }
}

static bool is_hanging(const struct job *job)
{
    return !strncmp(job->outcome, "hangs", 5);
}

/* A kernel that hangs may be ended by the driver with any error. */
static void judge(const struct job *job, const struct launch *launch, const uint32_t *out,
                  struct result *result)
{
    bool is_ok = !strncmp(job->outcome, "ok", 2), hangs = is_hanging(job);
    int fault = 0;
    sscanf(job->outcome, "fault %d", &fault);
    if (!launch->has_started)
        return; /* the result says why */
    if (is_ok && launch->ended == CUDA_SUCCESS)
        compare(job, out, result);
    else if (hangs ? launch->ended != CUDA_SUCCESS : fault && (int)launch->ended == fault)
        conform_row_tell(result, VERDICT_SAME, "%s", "");
    else if (launch->ended == CUDA_SUCCESS)
        conform_row_tell(result, VERDICT_DIFFERENT, "it ends, expected: %.*s",
                         (int)strcspn(job->outcome, "\t"), job->outcome);
    else
        result->verdict = VERDICT_DIFFERENT;
}

static void run(struct worker *worker, const struct conform_row *row, struct result *result)
{
    static uint32_t out[WORDS * THREADS];
    const struct job *job = row->data;
    struct launch launch = {.ptx = job->module,
                            .kernel = "k",
                            .grid = {1, 1, 1},
                            .block = {job->threads, 1, 1},
                            .patience = is_hanging(job) ? PATIENCE : 0,
                            .level = row->set->level,
                            .buffer = {{.bytes = sizeof out, .fill = UNWRITTEN, .to = out}},
                            .n_buffers = 1,
                            .scalar = {job->a, job->b},
                            .n_scalars = 2};
    conform_launch_run(worker, &launch, result);
    judge(job, &launch, out, result);
}

const struct conform_kind conform_sync = {"sync", "sync.tsv", 6, add, run, text, false};
