/* What lanes access, in the units in which a GPU moves it. */
#include "backend/interp/sectors.h"

/* Puts them in order, each once. Most come so. */
static uint32_t sort(uint64_t *v, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t x = v[i];
        uint32_t k = kept;
        while (k && v[k - 1] > x)
            k--;
        if (k && v[k - 1] == x)
            continue;
        memmove(&v[k + 1], &v[k], (kept - k) * sizeof *v);
        v[k] = x;
        kept++;
    }
    return kept;
}

uint32_t pt_sectors_find(uint64_t units[PT_SECTORS_MOST], uint32_t lanes, const uint64_t *address,
                         uint64_t bytes, uint32_t shift)
{
    uint32_t n = 0;
    for (; lanes; lanes &= lanes - 1) {
        uint64_t at = address[__builtin_ctz(lanes)];
        uint64_t first = at >> shift, last = (at + bytes - 1) >> shift;
        for (uint64_t u = first; u <= last; u++)
            if (!n || units[n - 1] != u)
                units[n++] = u;
    }
    return sort(units, n);
}

uint32_t pt_sectors_find_local(uint64_t units[PT_SECTORS_MOST], const struct pt_event *e,
                               uint32_t lanes, const uint64_t *address, uint64_t bytes)
{
    const struct pt_cta *cta = e->warp->cta;
    uint32_t n = 0;
    for (; lanes; lanes &= lanes - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        uint64_t thread = e->warp->index * PT_WARP_SIZE + lane;
        uint64_t at = address[lane] - (uintptr_t)cta->local - thread * cta->launch->local_stride;
        for (uint64_t word = at / 4; word <= (at + bytes - 1) / 4; word++)
            units[n++] = word * (PT_WARP_SIZE * 4 >> PT_SECTOR_SHIFT) + lane / 8;
    }
    return sort(units, n);
}

unsigned pt_sectors_space(const struct pt_cta *cta, uint64_t address)
{
    if (address - (uintptr_t)cta->shared < UINT64_C(1) << 32)
        return PT_COUNTED_SHARED;
    return address - (uintptr_t)cta->local < cta->launch->local_stride * cta->launch->threads
               ? PT_COUNTED_LOCAL
               : PT_COUNTED_GLOBAL;
}

unsigned pt_sectors_named_space(const struct pt_form *form)
{
    enum pt_space space = pt_form_space(form);
    return space == PT_SPACE_CONST                                        ? PT_COUNTED_CONST
           : space == PT_SPACE_GLOBAL                                     ? PT_COUNTED_GLOBAL
           : space == PT_SPACE_SHARED || space == PT_SPACE_SHARED_CLUSTER ? PT_COUNTED_SHARED
           : space == PT_SPACE_LOCAL                                      ? PT_COUNTED_LOCAL
                                                                          : PT_COUNTED_SPACES;
}

enum { SQUARE = 16 /* bytes of a row */ };

uint64_t pt_sectors_texel(const struct pt_texture *t, uint64_t address)
{
    if (!pt_sectors_has_squares(t))
        return address >> PT_SECTOR_SHIFT;
    uint64_t at = address - t->texels, row = at / t->pitch / 2, column = at % t->pitch / SQUARE;
    uint64_t lines = (t->pitch + 2 * SQUARE - 1) / (2 * SQUARE), first = t->texels >> 7;
    return (first + row / 2 * lines + column / 2) * 4 + row % 2 * 2 + column % 2;
}

_Static_assert(8 * PT_TEXTURE_TOLD <= PT_SECTORS_MOST, "what a request can ask for fits");

uint32_t pt_sectors_find_texels(uint64_t units[PT_SECTORS_MOST], const struct pt_texels *texels,
                                uint32_t lanes)
{
    uint32_t n = 0;
    for (; lanes; lanes &= lanes - 1)
        for (uint32_t i = 0; i < texels->n; i++) {
            uint64_t address = texels->address[i][__builtin_ctz(lanes)];
            if (address)
                units[n++] = pt_sectors_texel(texels->texture, address);
        }
    return sort(units, n);
}
