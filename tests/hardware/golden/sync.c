/* Runs synchronisation at its edges and compares with what came of it on an H200.
 *
 *     golden_sync FOLDER
 *
 * FOLDER holds an unpacked sync.tar.xz: the modules of sync_gen.py and sync.tsv, its jobs with what
 * sync_run.c printed. "ok": every word is compared; "hangs" must be a deadlock that is reported,
 * "fault 715" (CUDA_ERROR_ILLEGAL_INSTRUCTION) an illegal instruction. Words of kernels that failed
 * are not compared: the assembler moves stores across what fails. Jobs that say why Ptera does
 * otherwise are skipped and counted. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptera.h"
#include "tests/check/found.h"

enum { WORDS = 4, THREADS = 1024, UNWRITTEN = 0xcd, LINE = 1 << 16 };

struct job {
    char module[128], why[256];
    unsigned threads, a, b;
    const char *outcome; /* and the words behind it */
};

static bool read_job(char *line, struct job *job)
{
    int at = 0;
    line[strcspn(line, "\n")] = 0;
    bool ok = sscanf(line, "%127[^\t]\t%u\t%x\t%x\t%255[^\t]\t%n", job->module, &job->threads,
                     &job->a, &job->b, job->why, &at) == 5;
    job->outcome = line + at;
    return ok && job->threads <= THREADS;
}

static ptera_result run(ptera_engine *engine, const char *folder, const struct job *job,
                        uint32_t *out)
{
    char path[4096];
    ptera_module *module = NULL;
    ptera_kernel *kernel;
    ptera_launch launch;
    snprintf(path, sizeof path, "%s/%s", folder, job->module);
    ptera_result r = ptera_module_load_file(engine, path, &module);
    if (r == PTERA_OK)
        r = ptera_module_kernel(module, "k", 0, &kernel);
    ptera_launch_init(&launch);
    launch.block[0] = job->threads;
    launch.parameters = (const void *[]){&out, &job->a, &job->b};
    launch.n_parameters = 3;
    launch.timeout_seconds = 60;
    memset(out, UNWRITTEN, WORDS * THREADS * sizeof *out);
    if (r == PTERA_OK)
        r = ptera_kernel_launch(kernel, &launch);
    ptera_module_unload(module);
    return r;
}

/* "THREAD.WORD=HEX" or "FIRST-LAST.WORD=HEX", separated by tabs. */
static bool read_words(const char *text, uint32_t *words)
{
    memset(words, UNWRITTEN, WORDS * THREADS * sizeof *words);
    while (*text == '\t') {
        unsigned first, last, word, value;
        if (sscanf(++text, "%u-%u.%u=%x", &first, &last, &word, &value) != 4) {
            if (sscanf(text, "%u.%u=%x", &first, &word, &value) != 3)
                return false;
            last = first;
        }
        if (last >= THREADS || word >= WORDS)
            return false;
        for (unsigned t = first; t <= last; t++)
            words[t * WORDS + word] = value;
        text += strcspn(text, "\t");
    }
    return !*text;
}

static bool are_equal(const struct job *job, const uint32_t *out)
{
    static uint32_t words[WORDS * THREADS];
    if (!read_words(job->outcome + 2, words)) {
        printf("FAIL: %s: its words cannot be read\n", job->module);
        return false;
    }
    for (unsigned i = 0; i < WORDS * THREADS; i++)
        if (out[i] != words[i]) {
            printf("FAIL: %s %u 0x%x 0x%x: thread %u word %u: 0x%x, an H200 wrote 0x%x\n",
                   job->module, job->threads, job->a, job->b, i / WORDS, i % WORDS, out[i],
                   words[i]);
            return false;
        }
    return true;
}

static bool check(ptera_engine *engine, const char *folder, const struct job *job, uint32_t *out)
{
    static unsigned n_found;
    ptera_result r = run(engine, folder, job, out), want = PTERA_OK;
    if (!strncmp(job->outcome, "hangs", 5))
        want = PTERA_ERROR_DEADLOCK;
    else if (!strncmp(job->outcome, "fault 715", 9))
        want = PTERA_ERROR_ILLEGAL_INSTRUCTION;
    else if (strncmp(job->outcome, "ok", 2))
        want = PTERA_ERROR_NOT_FOUND;
    if (r != want)
        printf("FAIL: %s %u 0x%x 0x%x: %s, an H200: %.9s\n%s\n", job->module, job->threads, job->a,
               job->b, ptera_result_text(r), job->outcome, r ? ptera_engine_error(engine) : "");
    if (want != PTERA_OK)
        found_skip(engine, &n_found); /* that it fails is what is found */
    return r == want && !found_print(engine, &n_found) && (want != PTERA_OK || are_equal(job, out));
}

int main(int argc, char **argv)
{
    static char path[4096], line[LINE];
    unsigned passed = 0, failed = 0, skipped = 0;
    struct job job;
    ptera_engine *engine;
    void *out;
    snprintf(path, sizeof path, "%s/sync.tsv", argc == 2 ? argv[1] : "");
    FILE *f = argc == 2 ? fopen(path, "r") : NULL;
    if (!f || ptera_engine_create(NULL, &engine) != PTERA_OK ||
        ptera_buffer_alloc(engine, WORDS * THREADS * sizeof(uint32_t), &out) != PTERA_OK) {
        fprintf(stderr, "usage: golden_sync FOLDER\n");
        return 2;
    }
    while (fgets(line, sizeof line, f)) {
        if (!read_job(line, &job)) {
            printf("FAIL: a line of sync.tsv cannot be read: %.40s\n", line);
            failed++;
        } else if (strcmp(job.why, "-")) {
            skipped++;
        } else if (check(engine, argv[1], &job, out)) {
            passed++;
        } else {
            failed++;
        }
    }
    fclose(f);
    ptera_engine_destroy(engine);
    printf("golden_sync: %u passed, %u failed, %u skipped\n", passed, failed, skipped);
    return failed || !passed;
}
