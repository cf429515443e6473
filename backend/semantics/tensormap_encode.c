/* Making tensor maps. */
#include "backend/semantics/tensormap_encode.h"

#include "backend/semantics/tensormap.h"

enum { RANK_MAX = 5, BOX_MAX = 256, STEP_MAX = 8, PIXELS_MAX = 1024, IM2COL_WIDE_MODES = 2 };

/* The map's element type for each CUtensorMapDataType; the last two are tf32. */
static const uint8_t elements[] = {
    PT_ELEMENT_U8,      PT_ELEMENT_U16, PT_ELEMENT_U32,    PT_ELEMENT_S32, PT_ELEMENT_U64,
    PT_ELEMENT_S64,     PT_ELEMENT_F16, PT_ELEMENT_F32,    PT_ELEMENT_F64, PT_ELEMENT_BF16,
    PT_ELEMENT_F32_FTZ, PT_ELEMENT_F32, PT_ELEMENT_F32_FTZ};
enum { FIRST_FLOAT = 6, FIRST_TF32 = 11, TYPES = sizeof elements };

static uint32_t alignment(uint32_t interleave)
{
    return interleave == PT_INTERLEAVE_32B ? 32 : 16;
}

static bool is_tensor(const struct pt_tensormap_arguments *a)
{
    bool is_good = a->type < TYPES && a->rank >= 1 && a->rank <= RANK_MAX &&
                   a->interleave <= PT_INTERLEAVE_32B && a->swizzle <= 3 && a->l2 <= 3 &&
                   a->fill <= 1;
    if (!is_good || (a->interleave && a->rank < 3) || (a->fill && a->type < FIRST_FLOAT))
        return false;
    uint32_t align = alignment(a->interleave);
    is_good = a->address % align == 0;
    for (uint32_t i = 0; i < a->rank; i++)
        is_good &= a->size[i] - 1 <= UINT32_MAX && a->step[i] - 1 < STEP_MAX;
    for (uint32_t i = 0; i + 1 < a->rank; i++)
        is_good &= a->stride[i] % align == 0 && a->stride[i] >> 40 == 0;
    return is_good;
}

/* A tile's row of `n` elements in shared memory. */
static bool is_row(const struct pt_tensormap_arguments *a, uint32_t n)
{
    uint32_t bytes = n * pt_element_bytes(elements[a->type]);
    return n - 1 < BOX_MAX && bytes % 16 == 0 &&
           (!a->swizzle || a->interleave || bytes <= 16u << a->swizzle);
}

/* What both kinds of maps have; `bytes` is a tile's size as the driver tells it. */
static void begin(uint64_t *map, const struct pt_tensormap_arguments *a, uint64_t bytes)
{
    static const uint32_t align_of_swizzle[] = {16, 256, 512, 1024};
    memset(map, 0, PT_TENSORMAP_BYTES);
    map[PT_TENSORMAP_ADDRESS] = a->address;
    pt_tensormap_put(map, PT_TENSORMAP_RANK, 3, a->rank - 1);
    pt_tensormap_put(map, PT_TENSORMAP_TYPE, 4, elements[a->type]);
    pt_tensormap_put(map, PT_TENSORMAP_INTERLEAVE, 2, a->interleave);
    pt_tensormap_put(map, PT_TENSORMAP_SWIZZLE, 2, a->swizzle);
    pt_tensormap_put(map, PT_TENSORMAP_FILL, 1, a->fill);
    pt_tensormap_put(map, PT_TENSORMAP_TF32, 1, a->type >= FIRST_TF32);
    pt_tensormap_put(map, PT_TENSORMAP_L2, 2, a->l2);
    for (uint32_t i = 0; i < a->rank; i++) {
        pt_tensormap_put(map, PT_TENSORMAP_SIZE + 32 * i, 32, (uint32_t)(a->size[i] - 1));
        pt_tensormap_put(map, PT_TENSORMAP_STEP + 3 * i, 3, a->step[i] - 1);
    }
    for (uint32_t i = 0; i + 1 < a->rank; i++)
        pt_tensormap_put_stride(map, i, a->stride[i]);
    pt_tensormap_put(map, PT_TENSORMAP_BOX_BYTES, 32, (uint32_t)bytes);
    pt_tensormap_put(map, PT_TENSORMAP_TILE_ALIGN, 32, align_of_swizzle[a->swizzle]);
}

bool pt_tensormap_encode_tiled(void *to, const struct pt_tensormap_arguments *a,
                               const uint32_t *box)
{
    uint64_t map[PT_TENSORMAP_BYTES / 8];
    if (!is_tensor(a) || !is_row(a, box[0]))
        return false;
    uint64_t bytes = pt_element_bytes(elements[a->type]);
    for (uint32_t i = 0; i < a->rank; i++) {
        if (box[i] - 1 >= BOX_MAX)
            return false;
        bytes *= box[i] / a->step[i];
    }
    if (bytes > PT_TILE_BYTES_MAX)
        return false;
    begin(map, a, bytes);
    for (uint32_t i = 0; i < a->rank; i++)
        pt_tensormap_put(map, PT_TENSORMAP_BOX + 8 * i, 8, box[i] - 1);
    memcpy(to, map, sizeof map);
    return true;
}

/* The bounding box has room for its coordinates in the map, and is not empty. The driver computes
 * in 32 bits. */
static bool is_bounding_box(const struct pt_tensormap_arguments *a, const int *lower,
                            const int *upper)
{
    int limit = 1 << (pt_tensormap_corner_bits(a->rank) - 1);
    for (uint32_t i = 0; i < a->rank - 2; i++) {
        uint32_t end = (uint32_t)a->size[i + !a->interleave] + (uint32_t)upper[i];
        if (lower[i] < -limit || lower[i] >= limit || upper[i] < -limit || upper[i] >= limit ||
            lower[i] >= (int32_t)end)
            return false;
    }
    return true;
}

bool pt_tensormap_encode_im2col(void *to, const struct pt_tensormap_arguments *a, const int *lower,
                                const int *upper, uint32_t channels, uint32_t pixels)
{
    uint64_t map[PT_TENSORMAP_BYTES / 8];
    if (!is_tensor(a) || a->rank < 3 || !is_row(a, channels) || pixels - 1 >= PIXELS_MAX ||
        !is_bounding_box(a, lower, upper))
        return false;
    uint64_t bytes = (uint64_t)pt_element_bytes(elements[a->type]) * channels * pixels;
    if (bytes > PT_TILE_BYTES_MAX)
        return false;
    begin(map, a, bytes);
    pt_tensormap_put(map, PT_TENSORMAP_IM2COL, 1, 1);
    pt_tensormap_put(map, PT_TENSORMAP_BOX, 8, channels - 1);
    pt_tensormap_put(map, PT_TENSORMAP_PIXELS, 10, pixels - 1);
    uint32_t bits = pt_tensormap_corner_bits(a->rank);
    for (uint32_t i = 0; i < a->rank - 2; i++) {
        pt_tensormap_put(map, pt_tensormap_corner(a->rank, i, false), bits, (uint32_t)lower[i]);
        pt_tensormap_put(map, pt_tensormap_corner(a->rank, i, true), bits, (uint32_t)upper[i]);
    }
    memcpy(to, map, sizeof map);
    return true;
}

/* Whose kernels only later targets have: the map that sm_90's driver makes is that of im2col with a
 * box of width alone, in both modes, its tile's size counted in `pixels` in both. */
bool pt_tensormap_encode_im2col_wide(void *to, const struct pt_tensormap_arguments *a, int lower,
                                     int upper, uint32_t channels, uint32_t pixels, uint32_t mode)
{
    const int from[RANK_MAX - 2] = {lower}, until[RANK_MAX - 2] = {upper};
    return mode < IM2COL_WIDE_MODES &&
           pt_tensormap_encode_im2col(to, a, from, until, channels, pixels);
}

bool pt_tensormap_replace_address(void *map, uint64_t address)
{
    uint64_t words[PT_TENSORMAP_BYTES / 8];
    memcpy(words, map, sizeof words);
    if (address % alignment(pt_tensormap_get(words, PT_TENSORMAP_INTERLEAVE, 2)))
        return false;
    memcpy(map, &address, sizeof address);
    return true;
}
