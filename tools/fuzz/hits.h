/* What a campaign has hit of the corners and the shapes: counts, in memory that processes share,
 * and in files. */
#ifndef PTERA_TOOLS_FUZZ_HITS_H
#define PTERA_TOOLS_FUZZ_HITS_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/fuzz/corner.h"
#include "tools/fuzz/gen.h"

struct hits {
    uint32_t *corner; /* of group g and class c at g * CORNER_CLASSES + c */
    uint8_t *tried;   /* likewise: how often a kernel was to have it, and it was not hit */
    uint32_t (*shape)[GEN_SHAPES]; /* [outer][inner] */
};

/* Which corners are looked for. */
struct hits_part {
    bool for_ptera;      /* kernels run on Ptera's engines alone */
    unsigned rank, size; /* of a campaign: each rank looks for its own */
};

/* False: there is no memory. */
bool hits_open(struct hits *hits);
void hits_close(struct hits *hits);
/* Adds what the file says, if it is there. False, having said why: it is none of its kind, or
 * cannot be read. */
bool hits_read(struct hits *hits, const char *path);
/* The file is replaced at once. */
bool hits_write(const struct hits *hits, const char *path);
void hits_add_shapes(struct hits *hits, const struct gen_kernel *kernel);
/* Corners for the next kernel of those that were not hit, if there are any: `random` says from
 * where on they are looked for. */
void hits_choose(struct hits *hits, uint64_t random, const struct hits_part *part,
                 struct gen_wishes *wishes);
/* One table of files of one campaign or many: what share was hit, what was not, and why. */
bool hits_report(char **paths, unsigned n);

#endif
