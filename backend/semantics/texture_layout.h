/* Where the levels of a texture are, and what each is by itself. */
#ifndef PTERA_BACKEND_SEMANTICS_TEXTURE_LAYOUT_H
#define PTERA_BACKEND_SEMANTICS_TEXTURE_LAYOUT_H

#include "backend/semantics/texture.h"

/* The texels along a side of what is stored as one, as a logarithm: of a block, or a texel. */
static inline unsigned pt_texture_layout_side_log(const struct pt_texture *t)
{
    return t->block ? PT_TEXTURE_BLOCK_SIDE_LOG : 0;
}

/* Sets what follows from size, layers and texel_bytes. */
void pt_texture_layout_set(struct pt_texture *t);
/* The texture that a level of one is by itself. */
struct pt_texture pt_texture_layout_find(const struct pt_texture *t, uint32_t level);

#endif
