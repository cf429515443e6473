/* Counts reads of textures as an H100 does (tests/hardware/profile/README.md). Not measured:
 * filters, arrays of one and three dimensions, texels of eight bytes. */
#include "backend/interp/count.h"
#include "backend/semantics/texture.h"

enum { SECTOR = 32, SQUARE = 16 /* bytes of each of two rows, in a sector of an array */ };

static bool has_squares(const struct pt_texture *t)
{
    return t->memory == PT_TEXTURE_ARRAY && t->axes > 1;
}

/* The sector's number: no other of the texture has it. */
static uint64_t sector_of(const struct pt_texture *t, uint64_t address)
{
    uint64_t at = address - t->texels, row;
    if (!has_squares(t))
        return address / SECTOR;
    row = at / t->pitch;
    return row / 2 << 32 | at % t->pitch / SQUARE;
}

/* Of the lanes' texels. */
static uint32_t count_sectors(const struct pt_texels *texels, uint32_t lanes)
{
    uint64_t seen[PT_TEXTURE_FOOTPRINT * 8];
    uint32_t n = 0;
    for (; lanes; lanes &= lanes - 1)
        for (uint32_t i = 0; i < texels->n; i++) {
            uint64_t address = texels->address[i][__builtin_ctz(lanes)], sector;
            uint32_t k = 0;
            if (!address)
                continue;
            sector = sector_of(texels->texture, address);
            while (k < n && seen[k] != sector)
                k++;
            seen[k] = sector;
            n += k == n;
        }
    return n;
}

/* A request has four lanes, eight where texels of linear memory have up to four bytes. */
void pt_count_texels_add(const struct pt_event *e, const struct pt_texels *texels)
{
    const struct pt_texture *t = texels->texture;
    uint32_t width = t->memory == PT_TEXTURE_LINEAR && t->texel_bytes <= 4 ? 8 : 4, sectors = 0,
             present = 0;
    struct pt_counted_access *to = pt_count_space(e, PT_COUNTED_TEXTURE);
    struct pt_access access = {
        .address = texels->address[0], .bytes = t->texel_bytes, .use = PT_USE_READ};
    for (uint32_t first = 0; first < PT_WARP_SIZE; first += width) {
        uint32_t lanes = e->lanes & ((1u << width) - 1) << first;
        to->requests += lanes != 0;
        sectors += count_sectors(texels, lanes);
    }
    to->lanes += (uint64_t)__builtin_popcount(e->lanes);
    to->bytes += (uint64_t)__builtin_popcount(e->lanes) * t->texel_bytes;
    to->parts += sectors;
    for (uint32_t left = e->lanes; left; left &= left - 1)
        present |= access.address[__builtin_ctz(left)] ? left & -left : 0;
    if (!has_squares(t))
        pt_count_worst_keep(e, PT_COUNTED_TEXTURE, present, &access, sectors);
}
