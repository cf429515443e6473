#include "tools/fuzz/image.h"

#include <stdio.h>
#include <string.h>

#include "backend/semantics/surface.h"
#include "ir/bits.h"
#include "ir/chapter.h"
#include "ir/row.h"

static const struct shape {
    const char *name;
    uint16_t modifier; /* enum pt_mod */
    uint8_t axes;
    bool is_layered, is_cube, may_be_surface;
} shapes[] = {
#define IMAGE(modifier, axes, is_layered, is_cube, may_be_surface) \
    {#modifier, PT_M_##modifier, axes, is_layered, is_cube, may_be_surface},
#include "tools/fuzz/images.def"
};

bool image_is_used(enum pt_op op)
{
    return pt_chapter_has("texture", op);
}

unsigned image_shape(const struct pt_form *form)
{
    unsigned i = 0;
    while (i < IMAGE_SHAPES && !pt_form_has(form, shapes[i].modifier))
        i++;
    return i;
}

bool image_may_be(unsigned shape, enum image_use use)
{
    return use == IMAGE_TEXTURE || shapes[shape].may_be_surface;
}

void image_name(unsigned shape, enum image_use use, char name[32])
{
    static const char *const uses[] = {"texture", "surface", "target"};
    snprintf(name, 32, "%s_%s", uses[use], shapes[shape].name);
}

/* ---- what each is like ----------------------------------------------------------------------- */

static uint64_t next(uint64_t *random)
{
    *random = *random * UINT64_C(0xd1342543de82ef95) + 1;
    return (*random ^ *random >> 29) * UINT64_C(0x9e3779b97f4a7c15) >> 24;
}

static unsigned below(uint64_t *random, unsigned n)
{
    return (unsigned)(next(random) % n);
}

static const uint8_t texel_bytes[] = {
    [PT_TEXEL_U8] = 1,     [PT_TEXEL_U16] = 2,     [PT_TEXEL_U32] = 4,    [PT_TEXEL_S8] = 1,
    [PT_TEXEL_S16] = 2,    [PT_TEXEL_S32] = 4,     [PT_TEXEL_F16] = 2,    [PT_TEXEL_F32] = 4,
    [PT_TEXEL_UNORM8] = 1, [PT_TEXEL_UNORM16] = 2, [PT_TEXEL_SNORM8] = 1, [PT_TEXEL_SNORM16] = 2};

/* The level's bytes, and its rows' and slices', as the driver library lays levels out. */
static uint64_t lay_out(struct pt_texture *t, unsigned level)
{
    uint64_t size[PT_TEXTURE_AXES];
    for (unsigned i = 0; i < PT_TEXTURE_AXES; i++)
        size[i] = t->size[i] >> level ? t->size[i] >> level : 1;
    uint64_t pitch = pt_round_up(size[0] * t->texel_bytes, PT_TEXTURE_ROW_ALIGN);
    if (!level) {
        t->pitch = pitch;
        t->slice = pitch * size[1];
    }
    return pitch * size[1] * (t->layers ? t->layers : size[2]);
}

static void draw_size(struct pt_texture *t, const struct shape *s, uint64_t *random)
{
    enum { LAYERS_MOST = 2 };
    t->axes = s->axes;
    for (unsigned i = 0; i < PT_TEXTURE_AXES; i++)
        t->size[i] = i < s->axes ? 1 + below(random, s->axes == 1 ? 60 : 9) : 1;
    if (s->is_cube)
        t->size[1] = t->size[0];
    t->is_cube = s->is_cube;
    t->is_layered = s->is_layered;
    t->layers = s->is_layered ? 1 + below(random, LAYERS_MOST) : s->is_cube;
    t->layers *= s->is_cube ? PT_TEXTURE_FACES : 1;
}

/* As many levels as there is room for. */
static void draw_levels(struct pt_texture *t, uint64_t *random)
{
    unsigned most = t->is_normalized ? 1 + below(random, 4) : 1;
    uint64_t bytes = lay_out(t, 0);
    for (t->n_levels = 1; t->n_levels < most; t->n_levels++) {
        uint64_t level = lay_out(t, t->n_levels);
        if (bytes + level > IMAGE_BYTES)
            return;
        bytes += level;
    }
}

static void draw_texture(struct pt_texture *t, const struct shape *s, uint64_t *random)
{
    enum { EIGHTHS = 8, LEVEL = 256 }; /* slope of what is not anisotropic; of levels */
    *t = (struct pt_texture){.memory = PT_TEXTURE_ARRAY, .slope = EIGHTHS};
    draw_size(t, s, random);
    t->texel = (uint8_t)below(random, sizeof texel_bytes);
    t->n_channels = (uint8_t)(1 << below(random, 3));
    t->texel_bytes = (uint8_t)(texel_bytes[t->texel] * t->n_channels);
    t->is_normalized = below(random, 2) || s->is_cube;
    t->is_linear = below(random, 2);
    t->is_mip_linear = below(random, 2);
    t->is_seamless = s->is_cube && below(random, 2);
    for (unsigned i = 0; i < PT_TEXTURE_AXES; i++)
        t->address[i] = !t->is_normalized ? PT_TEXTURE_CLAMP + 2 * below(random, 2)
                        : t->is_seamless  ? PT_TEXTURE_CLAMP
                                          : (uint8_t)below(random, 4);
    draw_levels(t, random);
    t->bias = (int16_t)(below(random, 2) ? (int)below(random, 4 * LEVEL) - 2 * LEVEL : 0);
    t->min_level = (int16_t)(below(random, 2) ? below(random, LEVEL) : 0);
    t->max_level = (int16_t)(t->min_level + (int)below(random, 4 * LEVEL));
}

static void draw_surface(struct pt_surface *surface, const struct shape *s, uint64_t *random)
{
    enum { ACCESS_MOST = 16 }; /* bytes */
    struct pt_texture t = {.texel = (uint8_t)below(random, PT_TEXEL_F32 + 1),
                           .n_channels = (uint8_t)(1 << below(random, 3))};
    draw_size(&t, s, random);
    t.size[0] += ACCESS_MOST; /* any access fits */
    t.texel_bytes = (uint8_t)(texel_bytes[t.texel] * t.n_channels);
    lay_out(&t, 0);
    *surface = (struct pt_surface){.pitch = t.pitch,
                                   .slice = t.slice,
                                   .texel = t.texel,
                                   .n_channels = t.n_channels,
                                   .texel_bytes = t.texel_bytes,
                                   .is_layered = s->is_layered};
    for (unsigned i = 0; i < PT_TEXTURE_AXES; i++)
        surface->size[i] = i < s->axes ? t.size[i] : 0;
    if (s->is_layered)
        surface->size[2] = t.layers;
}

/* ---- binding --------------------------------------------------------------------------------- */

static void bind(void *variable, const struct shape *s, enum image_use use, uint64_t *random,
                 char *memory)
{
    uint64_t handle = (uintptr_t)variable;
    for (unsigned i = 0; i < IMAGE_BYTES / sizeof(uint32_t); i++) {
        uint32_t word = (uint32_t)next(random);
        memcpy(memory + i * sizeof word, &word, sizeof word);
    }
    if (use == IMAGE_TEXTURE) {
        struct pt_texture *t = variable;
        draw_texture(t, s, random);
        t->texels = (uintptr_t)memory;
        t->key = pt_texture_key(handle);
    } else {
        struct pt_surface *surface = variable;
        draw_surface(surface, s, random);
        surface->texels = (uintptr_t)memory;
        surface->key = pt_surface_key(handle);
    }
}

/* Of all images; IMAGES: the variable is none. */
enum { IMAGES = IMAGE_USES * IMAGE_SHAPES };

static unsigned find(const char *variable)
{
    char name[32];
    unsigned i = 0;
    for (; i < IMAGES; i++) {
        image_name(i % IMAGE_SHAPES, i / IMAGE_SHAPES, name);
        if (!strcmp(name, variable))
            break;
    }
    return i;
}

void image_bind(ptera_module *module, uint64_t seed, char *memory)
{
    const char *name;
    void *variable;
    for (unsigned i = 0; ptera_module_variable_at(module, i, &name, &variable, NULL) == PTERA_OK;
         i++) {
        unsigned image = find(name);
        uint64_t random = seed * IMAGES + image;
        if (image < IMAGES)
            bind(variable, &shapes[image % IMAGE_SHAPES], image / IMAGE_SHAPES, &random,
                 memory + (size_t)image * IMAGE_BYTES);
    }
}
