#include "backend/semantics/texture_layout.h"

void pt_texture_layout_set(struct pt_texture *t)
{
    unsigned side = pt_texture_layout_side_log(t), inside = (1u << side) - 1;
    uint64_t row = (uint64_t)((t->size[0] + inside) >> side) * t->texel_bytes;
    t->pitch = (row + PT_TEXTURE_ROW_ALIGN - 1) / PT_TEXTURE_ROW_ALIGN * PT_TEXTURE_ROW_ALIGN;
    t->slice = t->pitch * ((t->size[1] + inside) >> side);
}

static uint32_t half_of(uint32_t size)
{
    return size > 1 ? size / 2 : 1;
}

struct pt_texture pt_texture_layout_find(const struct pt_texture *t, uint32_t level)
{
    struct pt_texture l = *t;
    l.level += (uint8_t)level;
    for (; level; level--) {
        if (!l.n_word_levels)
            l.texels += l.slice * (l.layers ? l.slices : l.size[2]);
        for (int i = 0; i < l.axes; i++)
            l.size[i] = half_of(l.size[i]);
        pt_texture_layout_set(&l);
    }
    return l;
}
