/* What lanes access, in the units in which a GPU moves it, and of which memory it is. */
#ifndef PTERA_BACKEND_INTERP_SECTORS_H
#define PTERA_BACKEND_INTERP_SECTORS_H

#include "backend/counts.h"
#include "backend/interp/state.h"
#include "backend/observer.h"
#include "backend/semantics/texture.h"

static inline const struct pt_form *pt_sectors_form(const struct pt_event *e)
{
    return pt_insn_form(e->frame->state->program->base.image->module,
                        &e->frame->body->func->insns.v[e->insn]);
}

enum { PT_SECTOR_SHIFT = 5 };
enum {
    PT_SECTORS_WIDEST = 32, /* bytes of a lane's access; more are of asynchronous copies */
    PT_SECTORS_MOST = (PT_SECTORS_WIDEST / 4 + 1) * PT_WARP_SIZE /* words, or sectors, of a warp */
};

/* The units of 1 << shift bytes that the lanes access, in order, each once; returns how many. */
#define pt_sectors_find PT_LEVEL_NAME(pt_sectors_find)
uint32_t pt_sectors_find(uint64_t units[PT_SECTORS_MOST], uint32_t lanes, const uint64_t *address,
                         uint64_t bytes, uint32_t shift);
/* Likewise sectors of local memory, from the warp's own on: the words of its threads' windows lie
 * side by side. */
#define pt_sectors_find_local PT_LEVEL_NAME(pt_sectors_find_local)
uint32_t pt_sectors_find_local(uint64_t units[PT_SECTORS_MOST], const struct pt_event *e,
                               uint32_t lanes, const uint64_t *address, uint64_t bytes);

/* PT_COUNTED_GLOBAL and so on, of a generic address. */
#define pt_sectors_space PT_LEVEL_NAME(pt_sectors_space)
unsigned pt_sectors_space(const struct pt_cta *cta, uint64_t address);
/* What an instruction names; PT_COUNTED_SPACES: lanes may access several. */
#define pt_sectors_named_space PT_LEVEL_NAME(pt_sectors_named_space)
unsigned pt_sectors_named_space(const struct pt_form *form);

/* Of a texture's request: four lanes, eight where texels of linear memory have up to four bytes. */
static inline uint32_t pt_sectors_texel_lanes(const struct pt_texture *t)
{
    return t->memory == PT_TEXTURE_LINEAR && t->texel_bytes <= 4 ? 8 : 4;
}

/* Arrays of two dimensions and more: a sector has two rows of 16 bytes. */
static inline bool pt_sectors_has_squares(const struct pt_texture *t)
{
    return t->memory == PT_TEXTURE_ARRAY && t->axes > 1;
}

/* The number of a texel's sector. Four, of squares, are a line: which they are is not measured. */
#define pt_sectors_texel PT_LEVEL_NAME(pt_sectors_texel)
uint64_t pt_sectors_texel(const struct pt_texture *t, uint64_t address);
/* The sectors of the texels of a request's lanes, in order, each once; returns how many. */
#define pt_sectors_find_texels PT_LEVEL_NAME(pt_sectors_find_texels)
uint32_t pt_sectors_find_texels(uint64_t units[PT_SECTORS_MOST], const struct pt_texels *texels,
                                uint32_t lanes);

#endif
