/* Statements that have a corner. */
#ifndef PTERA_TOOLS_FUZZ_WISH_H
#define PTERA_TOOLS_FUZZ_WISH_H

#include "tools/fuzz/build.h"
#include "tools/fuzz/corner.h"

/* Why no kernel has the corner; NULL: kernels can have it. */
const char *wish_why_not(const struct corner_group *group, enum corner_class class);
/* Only kernels for Ptera's own engines can have it. */
bool wish_is_own(const struct corner_group *group, enum corner_class class);
/* Some of the wishes are for textures or surfaces; NULL: there are none. */
bool wish_needs_images(const struct gen_wishes *wishes);
/* All lanes of the warp have to come together. */
bool wish_needs_warp(const struct gen_wish *wish);
/* A statement that has it, if one is found in some tries. */
void wish_make(struct gen *g, const struct gen_place *place, const struct gen_wish *wish);

#endif
