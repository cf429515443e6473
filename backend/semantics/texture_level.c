/* The level of a sample: named, or by derivatives. */
#include <float.h>
#include <math.h>

#include "backend/semantics/lane.h"
#include "backend/semantics/texture.h"
#include "backend/semantics/texture_cube.h"
#include "backend/semantics/texture_length.h"
#include "backend/semantics/texture_probe.h"

enum { FRACTION = 256, EIGHTH = 8, LEVEL_MOST = 128 };

void pt_texture_set_levels(struct pt_texture *t, float bias, bool is_optimized)
{
    const uint8_t steepest = 2 * EIGHTH;
    const float bias_most = 16;
    t->slope = !is_optimized || t->anisotropy < 2 ? EIGHTH
               : t->anisotropy < 4                ? 12
               : t->anisotropy < 8                ? 14
                                                  : steepest;
    float middle = (1 - (float)EIGHTH / t->slope) / 2;
    t->bias = (int16_t)(FRACTION * (fmaxf(fminf(bias, bias_most), -bias_most) - middle));
}

/* The fraction grows by `slope` eighths from level to level, and stays at the next one. The limits
 * come after that. */
static int32_t limited(const struct pt_texture *t, int32_t level)
{
    int32_t last = (t->n_levels - 1) * FRACTION;
    level += t->bias;
    int32_t fraction = level & (FRACTION - 1), steep = fraction * t->slope / EIGHTH;
    level += (steep < FRACTION ? steep : FRACTION) - fraction;
    level = level < t->max_level ? level : t->max_level;
    level = level > t->min_level ? level : t->min_level;
    return level < 0 ? 0 : level < last ? level : last;
}

int32_t pt_texture_level(const struct pt_texture *t, uint32_t lod)
{
    return limited(
        t, (int32_t)(fmax(fmin(pt_texture_flushed(lod), LEVEL_MOST), -LEVEL_MOST) * FRACTION));
}

/* ---- derivatives ----------------------------------------------------------------------------- */

/* In three dimensions, for cubes and with a depth reference the driver asks for a sample of four,
 * of which the derivatives are differences. */
static uint32_t neighbour(uint32_t coordinate, uint32_t derivative)
{
    return pt_lane_u32(pt_lane_f32(coordinate) + pt_lane_f32(derivative));
}

static struct pt_cube_place place_of(const uint32_t *direction)
{
    struct pt_cube_place place = pt_texture_cube_place(direction);
    for (unsigned i = 0; i < PT_TEXTURE_AXES; i++)
        place.at[i] = place.at[i] == place.at[i] ? place.at[i] : 0;
    return place;
}

/* A difference on a face, which is 2 wide. */
static double on_face(double d, uint32_t size)
{
    return pt_texture_length_scale(d, size) / 2;
}

/* From a place on a face to the edge with another one: a place has 24 bits behind the point. */
static double left_of(const struct pt_cube_place *place, uint32_t to)
{
    double at = place->at[to / 2] * (to % 2 ? -1 : 1);
    return 1 - floor(at * 0x1p24) / 0x1p24;
}

/* The way from one face to the one beside it is that to the edge and that on from it. */
static void cross(const struct pt_cube_place *from, const struct pt_cube_place *to, uint32_t size,
                  double *d)
{
    unsigned other = 3 - from->face / 2 - to->face / 2;
    d[0] = pt_texture_length_add(on_face(left_of(from, to->face), size),
                                 on_face(left_of(to, from->face), size));
    d[1] = on_face(to->at[other] - from->at[other], size);
}

static bool find_cube_derivatives(const struct pt_texture *t, const uint32_t *coordinate,
                                  uint32_t derivative[2][PT_TEXTURE_AXES],
                                  double d[2][PT_TEXTURE_AXES])
{
    bool is_one_face = true;
    struct pt_cube_place from = place_of(coordinate);
    for (unsigned n = 0; n < 2; n++) {
        uint32_t at[PT_TEXTURE_AXES];
        for (unsigned i = 0; i < PT_TEXTURE_AXES; i++)
            at[i] = neighbour(coordinate[i], derivative[n][i]);
        struct pt_cube_place to = place_of(at);
        is_one_face &= to.face == from.face;
        if (to.face / 2 != from.face / 2)
            cross(&from, &to, t->size[0], d[n]);
        else
            for (unsigned i = 0; i < PT_TEXTURE_AXES; i++)
                d[n][i] = on_face(i != to.face / 2       ? to.at[i] - from.at[i]
                                  : to.face != from.face ? 2
                                                         : 0,
                                  t->size[0]);
    }
    for (unsigned n = 0; is_one_face && n < 2; n++)
        pt_texture_cube_flatten(from.face, d[n]);
    return is_one_face;
}

/* In texels they must be numbers still. */
static double difference(uint32_t from, uint32_t to, uint32_t size)
{
    float a = (float)pt_texture_flushed(from), b = (float)pt_texture_flushed(to),
          most = fmaxf(fabsf(a), fabsf(b)) * (float)size;
    return most >= FLT_MAX ? PT_TEXTURE_LENGTH_MOST : b - a;
}

static void find_derivatives(const struct pt_texture *t, const uint32_t *coordinate,
                             uint32_t derivative[2][PT_TEXTURE_AXES], bool is_difference,
                             double d[2][PT_TEXTURE_AXES])
{
    for (unsigned n = 0; n < 2; n++)
        for (unsigned i = 0; i < t->axes; i++) {
            double by = pt_texture_flushed(derivative[n][i]);
            if (is_difference)
                by = difference(coordinate[i], neighbour(coordinate[i], derivative[n][i]),
                                t->size[i]);
            d[n][i] = pt_texture_length_scale(by, t->is_normalized ? t->size[i] : 1);
        }
}

void pt_texture_set_gradient(const struct pt_texture *t, uint32_t derivative[2][PT_TEXTURE_AXES],
                             bool has_depth, struct pt_sample *s)
{
    double d[2][PT_TEXTURE_AXES] = {0};
    bool has_both = true;
    if (t->is_cube)
        has_both = find_cube_derivatives(t, s->coordinate, derivative, d);
    else
        find_derivatives(t, s->coordinate, derivative, t->axes > 2 || has_depth, d);
    struct pt_texture_axis axis = pt_texture_length_find_longest(d, has_both);
    int32_t level = pt_texture_length_find_log(axis.length);
    if (t->anisotropy > 1 && has_both && (t->axes == 2 || (t->axes == 1 && !t->layers)))
        level = pt_texture_probe_set(t->anisotropy, &axis, pt_texture_length_find_area(d), s);
    s->level = limited(t, level);
}
