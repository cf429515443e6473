#include "backend/semantics/texture_cube.h"

#include <math.h>
#include <stdbool.h>

#include "backend/semantics/mufu.h"

static float flushed(float f)
{
    return fabsf(f) < 0x1p-126f ? 0 : f;
}

/* The assembler divides by the longest axis before a texture unit is asked. Subnormal numbers and
 * an axis that is not told (NaN) are as the unit takes them: 0, and shorter than any other. */
static void scale(const uint32_t *direction, float *d)
{
    float most = 0;
    for (unsigned i = 0; i < 3; i++)
        most = fmaxf(most, fabsf(pt_lane_f32(direction[i])));
    float by = pt_lane_f32(pt_mufu_rcp(pt_lane_u32(most), true));
    for (unsigned i = 0; i < 3; i++)
        d[i] = flushed(pt_lane_f32(direction[i]) * by);
}

/* Of equal axes z goes before y, y before x. */
static unsigned longest(const float *d)
{
    float size[3];
    for (unsigned i = 0; i < 3; i++)
        size[i] = d[i] == d[i] ? fabsf(d[i]) : -1;
    return size[2] >= size[0] && size[2] >= size[1] ? 2 : size[1] >= size[0] ? 1 : 0;
}

/* By face: the axes that are s and t, and whether they run the other way. */
static const struct face {
    uint8_t axis[2];
    int8_t sign[2];
} faces[] = {{{2, 1}, {-1, -1}}, {{2, 1}, {1, -1}}, {{0, 2}, {1, 1}},
             {{0, 2}, {1, -1}},  {{0, 1}, {1, -1}}, {{0, 1}, {-1, -1}}};

struct pt_cube_place pt_texture_cube_place(const uint32_t *direction)
{
    struct pt_cube_place place;
    scale(direction, place.at);
    unsigned axis = longest(place.at);
    place.face = 2 * axis + (place.at[axis] < 0);
    return place;
}

uint32_t pt_texture_cube_face(const uint32_t *direction, double *at)
{
    struct pt_cube_place place = pt_texture_cube_place(direction);
    for (unsigned i = 0; i < 2; i++) {
        double to = place.at[faces[place.face].axis[i]];
        at[i] = to == to && place.at[place.face / 2]
                    ? faces[place.face].sign[i] * fmax(fmin(to, 1), -1)
                    : 0;
    }
    return place.face;
}

void pt_texture_cube_flatten(uint32_t face, double way[3])
{
    const struct face *f = &faces[face];
    double s = f->sign[0] * way[f->axis[0]], t = f->sign[1] * way[f->axis[1]];
    way[0] = s;
    way[1] = t;
    way[2] = 0;
}

void pt_texture_cube_fold(uint32_t size, uint32_t *face, int32_t *at)
{
    const struct face *from = &faces[*face];
    unsigned major = *face / 2, beyond = at[0] < 0 || at[0] >= (int32_t)size ? 0 : 1;
    unsigned along = from->axis[!beyond], over = from->axis[beyond];
    /* in units of half a texel, from the cube's middle */
    int32_t d[3], half = (int32_t)size;
    bool is_low = at[beyond] < 0;
    d[along] = from->sign[!beyond] * (2 * at[!beyond] + 1 - half);
    d[over] = (from->sign[beyond] < 0) == is_low ? half : -half;
    d[major] = *face % 2 ? 1 - half : half - 1;
    *face = 2 * over + (d[over] < 0);
    for (unsigned i = 0; i < 2; i++)
        at[i] = (faces[*face].sign[i] * d[faces[*face].axis[i]] + half - 1) / 2;
}
