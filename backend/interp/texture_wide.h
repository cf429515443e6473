/* Samples by vectors. */
#ifndef PTERA_BACKEND_INTERP_TEXTURE_WIDE_H
#define PTERA_BACKEND_INTERP_TEXTURE_WIDE_H

#include "backend/interp/interp.h"
#include "backend/semantics/texture.h"

/* What a warp samples: 32 words each, aligned to 64. `layer` may be NULL where no layers are. */
struct pt_samples {
    const uint32_t *coordinate[PT_TEXTURE_AXES], *layer;
    bool is_whole;                    /* the coordinates are integers */
    uint32_t (*result)[PT_WARP_SIZE]; /* of PT_TEXTURE_CHANNELS */
};

/* Samples for lanes that have one texture, and perhaps others. Returns those it could not do. */
#define pt_texture_wide_sample PT_LEVEL_NAME(pt_texture_wide_sample)
uint32_t pt_texture_wide_sample(const struct pt_texture *t, struct pt_samples *s, uint32_t lanes);

/* Lanes whose handle is `of`. */
#define pt_texture_wide_same PT_LEVEL_NAME(pt_texture_wide_same)
uint32_t pt_texture_wide_same(const uint64_t *handle, uint64_t of);

#endif
