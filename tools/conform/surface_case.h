/* The surface group's cases, as surface_gen.py writes them, and what a lane is given. */
#ifndef PTERA_TOOLS_CONFORM_SURFACE_CASE_H
#define PTERA_TOOLS_CONFORM_SURFACE_CASE_H

#include "tools/conform/texture_case.h"

enum { SURFACE_LANE_WORDS = 12, SURFACE_LANES = 64, SURFACE_BYTES = 1 << 16 };
enum surface_object {
    SURFACE,
    SURFACE_LEVEL,
    TEXTURE,
    TEXTURE_LEVELS,
    TEXTURE_LINEAR,
    TEXTURE_PITCHED,
    NO_OBJECT,
    WILD_OBJECT,
    DESTROYED_OBJECT,
    PLAIN_ARRAY /* an array that was not made for surfaces */
};
enum surface_coordinates { INSIDE, EDGE, SPECIAL, ODD, ROW, LEAST /* INSIDE, least numbers */ };

struct surface_case {
    char kernel[64];
    unsigned object, format, channels, size[3], array_flags;
    unsigned level;             /* of a mipmapped array; flags of a texture */
    unsigned unit, coordinates; /* x is a multiple of `unit`, but for ODD */
    unsigned seed, lanes;
};

struct surface_result {
    uint32_t created, object, launched, bytes; /* CUresult of three steps; what is in the array */
};

static inline int surface_case_parse(const char *line, struct surface_case *c)
{
    return sscanf(line, "%63s %u %x %u %u %u %u %u %u %u %u %u %u", c->kernel, &c->object,
                  &c->format, &c->channels, &c->size[0], &c->size[1], &c->size[2], &c->array_flags,
                  &c->level, &c->unit, &c->coordinates, &c->seed, &c->lanes) == 13;
}

static inline int surface_case_read(FILE *f, struct surface_case *c)
{
    char line[512];
    return fgets(line, sizeof line, f) && surface_case_parse(line, c);
}

/* What an H100 does there means nothing: it reads what is left of a destroyed surface and takes
 * textures for surfaces; which lane's fault comes first. */
static inline int surface_case_is_undefined(const struct surface_case *c)
{
    int is_surface = strncmp(c->kernel, "su", 2) == 0 && strncmp(c->kernel, "suq", 3) != 0;
    return (is_surface && (c->object == DESTROYED_OBJECT || c->object == TEXTURE)) ||
           (c->object == SURFACE && strncmp(c->kernel, "tex", 3) == 0) ||
           (c->coordinates == ODD && strstr(c->kernel, "_trap"));
}

static inline unsigned surface_channel_bytes(const struct surface_case *c)
{
    switch (c->format) {
    case 1: /* unsigned and signed integers, half, float */
    case 8:
        return 1;
    case 2:
    case 9:
    case 0x10:
        return 2;
    default:
        return 4;
    }
}

static inline uint32_t surface_coordinate(unsigned class, uint64_t r, unsigned lane, unsigned n,
                                          unsigned unit)
{
    static const uint32_t special[] = {0x7fffffff, 0x80000000, 0xffffffff, 0x10000,
                                       0x20000,    0xffff0000, 0x40000000, 0x08000000};
    uint32_t at = (uint32_t)(r >> 32);
    switch (class) {
    case INSIDE:
    case LEAST:
        return at % n * unit;
    case ROW:
        return (lane % (n + 4)) * unit;
    case ODD:
        return at % (n * unit + 8) - 4;
    case SPECIAL:
        if (r % 4 == 0)
            return special[r / 4 % 8] & ~(unit - 1);
        /* fall through */
    default:
        return (at % (n + 6) - 3) * unit;
    }
}

/* What a lane stores: numbers of all kinds. */
static inline uint32_t surface_value(uint64_t r)
{
    switch (r >> 60 & 3) {
    case 0:
        return (uint32_t)r;
    case 1:
        return (uint32_t)(r % 700) - 350;
    case 2:
        return (uint32_t)(r & 0x807fffff) | (uint32_t)(96 + (r >> 40) % 50) << 23;
    default:
        return special_bits(r);
    }
}

/* A lane's words: x, y, z, layer; eight to store. `width` and so on are those of the level. */
static inline void surface_fill_lane(const struct surface_case *c, unsigned lane, unsigned width,
                                     unsigned height, unsigned depth, uint32_t *words)
{
    uint64_t state = c->seed * 1000003u + lane;
    unsigned bytes = surface_channel_bytes(c) * c->channels, outer = c->coordinates;
    unsigned n = c->unit > 1 || strstr(c->kernel, "_b8_") ? width * bytes / c->unit : width;
    outer = outer == ODD || outer == LEAST ? INSIDE : outer == ROW ? EDGE : outer;
    words[0] = surface_coordinate(c->coordinates, texture_random(&state), lane, n ? n : 1, c->unit);
    words[1] = surface_coordinate(outer, texture_random(&state), lane, height ? height : 1, 1);
    words[2] = surface_coordinate(outer, texture_random(&state), lane, depth ? depth : 1, 1);
    words[3] = surface_coordinate(outer, texture_random(&state), lane, depth ? depth : 1, 1);
    for (unsigned i = 4; i < SURFACE_LANE_WORDS; i++)
        words[i] = c->coordinates == LEAST ? least_bits(texture_random(&state))
                                           : surface_value(texture_random(&state));
}

#endif
