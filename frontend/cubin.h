/* Cubins: the ELF files that assemblers for GPUs make. Where a program wants one, Ptera hands
 * out PTX in such a file (PTX to be compiled where it is loaded, as in any fatbinary), which
 * loaders, fatbinary and readers of ELF files take for one. */
#ifndef PTERA_FRONTEND_CUBIN_H
#define PTERA_FRONTEND_CUBIN_H

#include <stdbool.h>

#include "ir/arena.h"

enum pt_cubin_kind {
    PT_CUBIN_PTX,
    PT_CUBIN_MACHINE_CODE, /* a real one: only `sm` is set */
    PT_CUBIN_FOREIGN,      /* an ELF file of another machine */
    PT_CUBIN_DAMAGED
};

struct pt_cubin {
    const char *text; /* several modules as pt_link_text_join joins them */
    size_t len;
    unsigned sm;         /* the architecture it was made for: 90 */
    char feature;        /* 0, 'a', 'f' */
    bool is_relocatable; /* to be linked with others (ptxas -c) */
    /* Written only, in each module: PT_PRAGMA_FMAD_OFF; PT_PRAGMA_REGISTERS, where it is not 0. */
    bool is_fmad_off;
    unsigned registers;
};

/* Reads an ELF image. PT_IMAGE_UNSIZED as its size: its own fields tell where it ends. `text`
 * lies in the image. */
enum pt_cubin_kind pt_cubin_read(const void *image, size_t bytes, struct pt_cubin *cubin);

/* The text with the pragmas that are asked for at the end of each module; in `arena`. */
const char *pt_cubin_add_pragmas(const struct pt_cubin *cubin, struct pt_arena *arena, size_t *len);

/* Makes one, aligned to 16, in `arena`; *bytes is its size. */
void *pt_cubin_write(const struct pt_cubin *cubin, struct pt_arena *arena, size_t *bytes);

/* Anywhere among the statements of a module: no mul and add of it become an fma, as if assembled
 * with -fmad=false. */
#define PT_PRAGMA_FMAD_OFF "ptera_fmad_off"
/* Likewise, with a number behind it: as if assembled with -maxrregcount. */
#define PT_PRAGMA_REGISTERS "ptera_registers "

#endif
