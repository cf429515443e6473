/* Counts reads of textures as an H100 does (tests/hardware/profile/README.md). Not measured:
 * filters, arrays of one and three dimensions, texels of eight bytes. */
#include "backend/interp/count.h"
#include "backend/interp/sectors.h"

void pt_count_texels_add(const struct pt_event *e, const struct pt_texels *texels)
{
    const struct pt_texture *t = texels->texture;
    uint32_t width = pt_sectors_texel_lanes(t), sectors = 0, present = 0;
    uint64_t units[PT_SECTORS_MOST];
    struct pt_counted_access *to = pt_count_space(e, PT_COUNTED_TEXTURE);
    struct pt_access access = {
        .address = texels->address[0], .bytes = t->texel_bytes, .use = PT_USE_READ};
    for (uint32_t first = 0; first < PT_WARP_SIZE; first += width) {
        uint32_t lanes = e->lanes & ((1u << width) - 1) << first;
        to->requests += lanes != 0;
        sectors += pt_sectors_find_texels(units, texels, lanes);
    }
    to->lanes += (uint64_t)__builtin_popcount(e->lanes);
    to->bytes += (uint64_t)__builtin_popcount(e->lanes) * t->texel_bytes;
    to->parts += sectors;
    for (uint32_t left = e->lanes; left; left &= left - 1)
        present |= access.address[__builtin_ctz(left)] ? left & -left : 0;
    if (!pt_sectors_has_squares(t))
        pt_count_worst_keep(e, PT_COUNTED_TEXTURE, present, &access, sectors);
}
