/* Counts reads of textures as an H100 does (tests/hardware/profile/README.md). Not measured:
 * filters, arrays of one and three dimensions, texels of eight bytes. */
#include "backend/interp/count.h"
#include "backend/interp/sectors.h"

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
            sector = pt_sectors_texel(texels->texture, address);
            while (k < n && seen[k] != sector)
                k++;
            seen[k] = sector;
            n += k == n;
        }
    return n;
}

void pt_count_texels_add(const struct pt_event *e, const struct pt_texels *texels)
{
    const struct pt_texture *t = texels->texture;
    uint32_t width = pt_sectors_texel_lanes(t), sectors = 0, present = 0;
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
    if (!pt_sectors_has_squares(t))
        pt_count_worst_keep(e, PT_COUNTED_TEXTURE, present, &access, sectors);
}
