/* Chapters of functions of one number over all 2^32 inputs. index.tsv names the functions, a line
 * each; NAME.hash has 65,536 words of 64 bits: word b is the FNV-1a hash, by words of 32 bits, of
 * the results for the 65,536 inputs with upper half b, in order. A row is BLOCKS of these; the
 * first has the inputs from 1 on, where logarithms are small: a sample of rows begins with it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/conform/kernel.h"
#include "tools/conform/kind.h"

/* FNV's without its last decimal digit: the hashes were made so. */
#define BASIS UINT64_C(1469598103934665603)

enum { BLOCK = 65536, HASHES = 65536, BLOCKS = 64, CTA = 256, NAME_BYTES = 8, ONE = 0x3f80 };

struct part {
    char name[NAME_BYTES];
    const char *function, *hashes;
    uint32_t first; /* block */
};

static bool add(const struct conform_set *set, char **field, struct conform_rows *rows)
{
    const char *function = field[0];
    char file[128];
    size_t bytes;
    snprintf(file, sizeof file, "%s.hash", function);
    const char *hashes = conform_suite_read(set->suite, set->name, file, &bytes);
    bool ok = hashes && bytes == HASHES * sizeof(uint64_t);
    for (uint32_t i = 0; ok && i < HASHES; i += BLOCKS) {
        uint32_t first = (i + ONE) % HASHES;
        struct part *part = calloc(1, sizeof *part);
        if (!part)
            return false;
        *part = (struct part){.function = function, .hashes = hashes, .first = first};
        snprintf(part->name, sizeof part->name, "%04x", (unsigned)first);
        ok = conform_row_add(rows, &(struct conform_row){.set = set,
                                                         .chapter = function,
                                                         .name = part->name,
                                                         .form = function,
                                                         .data = part});
    }
    return ok;
}

/* Thread i of CTA row y computes the result of input first + y, i. */
static char *text(const struct conform_row *row)
{
    static const char format[] =
        ".version 7.0\n.target sm_75\n.address_size 64\n"
        ".visible .entry k(.param .u64 out, .param .u64 first)\n{\n"
        "    .reg .b32 %%x, %%block, %%cta, %%size, %%thread;\n    .reg .b64 %%at, %%out;\n"
        "    mov.u32 %%cta, %%ctaid.x;\n    mov.u32 %%size, %%ntid.x;\n"
        "    mov.u32 %%thread, %%tid.x;\n    mad.lo.u32 %%thread, %%cta, %%size, %%thread;\n"
        "    mov.u32 %%block, %%ctaid.y;\n    ld.param.u32 %%x, [first];\n"
        "    add.u32 %%x, %%x, %%block;\n    shl.b32 %%x, %%x, 16;\n"
        "    or.b32 %%x, %%x, %%thread;\n    shl.b32 %%block, %%block, 16;\n"
        "    or.b32 %%thread, %%thread, %%block;\n    mul.wide.u32 %%at, %%thread, 4;\n"
        "    ld.param.u64 %%out, [out];\n    add.u64 %%out, %%out, %%at;\n"
        "    %s %%x, %%x;\n    st.global.u32 [%%out], %%x;\n    ret;\n}\n";
    const struct part *part = row->data;
    size_t n = sizeof format + strlen(part->function);
    char *ptx = malloc(n);
    if (ptx)
        snprintf(ptx, n, format, part->function);
    return ptx;
}

static void compare(const struct part *part, const uint32_t *out, struct result *result)
{
    unsigned differ = 0;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        uint64_t want, got = conform_kernel_hash_words(out + (size_t)i * BLOCK, BLOCK, BASIS);
        memcpy(&want, part->hashes + (part->first + i) * sizeof want, sizeof want);
        if (got != want && !differ++)
            conform_row_tell(result, VERDICT_DIFFERENT,
                             "inputs %04x0000 to %04xffff: the results' hash is %016" PRIx64
                             ", expected %016" PRIx64,
                             (unsigned)(part->first + i), (unsigned)(part->first + i), got, want);
    }
    size_t n = strlen(result->text);
    if (differ > 1)
        snprintf(result->text + n, sizeof result->text - n, "; %u of %d blocks differ", differ,
                 BLOCKS);
}

static void run(struct worker *worker, const struct conform_row *row, struct result *result)
{
    const struct part *part = row->data;
    size_t bytes = (size_t)BLOCKS * BLOCK * sizeof(uint32_t);
    char *ptx = text(row);
    uint32_t *out = malloc(bytes);
    struct launch launch = {.ptx = ptx,
                            .kernel = "k",
                            .grid = {BLOCK / CTA, BLOCKS, 1},
                            .block = {CTA, 1, 1},
                            .level = row->set->level,
                            .buffer = {{.bytes = bytes, .to = out}},
                            .n_buffers = 1,
                            .scalar = {part->first},
                            .n_scalars = 1};
    if (!ptx || !out)
        conform_row_tell(result, VERDICT_FAILED, "no memory on the host");
    else if (conform_launch_run(worker, &launch, result))
        compare(part, out, result);
    free(ptx);
    free(out);
}

const struct conform_kind conform_functions = {"functions", "index.tsv", 1, add, run, text, false};
