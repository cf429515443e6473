/* Textures and surfaces of random kernels: references of the module, one of each shape, which are
 * bound to memory in `out`. Textures and surfaces are read; others, the targets, are written. What
 * format, size and sampler each has follows from the kernel's seed. */
#ifndef PTERA_TOOLS_FUZZ_IMAGE_H
#define PTERA_TOOLS_FUZZ_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/isa.h"
#include "ptera.h"

enum image_use { IMAGE_TEXTURE, IMAGE_SURFACE, IMAGE_TARGET, IMAGE_USES };

enum {
#define IMAGE(modifier, ...) IMAGE_OF_##modifier,
#include "tools/fuzz/images.def"
    IMAGE_SHAPES
};
enum {
    IMAGES_ALIGN = 512,
    IMAGE_BYTES = 16 << 10,
    IMAGES_BYTES = IMAGE_BYTES * IMAGE_SHAPES * IMAGE_USES
};

struct pt_form;

/* By the row's instructions. */
bool image_is_used(enum pt_op op);
/* Which shape the instruction is for; IMAGE_SHAPES: any. */
unsigned image_shape(const struct pt_form *form);
bool image_may_be(unsigned shape, enum image_use use);
/* "texture_2d" */
void image_name(unsigned shape, enum image_use use, char name[32]);

/* Binds the references that the module has: fills IMAGES_BYTES at `memory`. */
void image_bind(ptera_module *module, uint64_t seed, char *memory);

#endif
