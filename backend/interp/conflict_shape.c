/* How the addresses of lanes that access memory lie: whichever lanes are active. */
#include "backend/interp/conflict.h"
#include "backend/interp/lines.h"
#include "backend/interp/shape.h"

/* True if those of `lanes` access what lies `step` apart, lane by lane. */
static bool is_linear(const struct pt_conflict *a, uint32_t lanes, uint32_t lane, uint64_t step)
{
    uint64_t first = a->address[lane] - lane * step, differ = 0;
    uint32_t last = 31 - (uint32_t)__builtin_clz(lanes);
    if (a->address[last] - first != last * step)
        return false;
    if (lanes == UINT32_MAX)
        return pt_shape_is_run64(a->address, PT_WARP_SIZE, step);
    for (uint64_t i = 0; i < PT_WARP_SIZE; i++)
        differ |= (a->address[i] - first - i * step) & -(uint64_t)(lanes >> i & 1);
    return !differ;
}

uint32_t pt_conflict_shape(const struct pt_conflict *a, uint32_t lanes)
{
    enum { MOST = 1 << (PT_LINE_SHIFT - 1) };
    uint32_t lane = (uint32_t)__builtin_ctz(lanes), rest = lanes & (lanes - 1);
    uint32_t from_lane = lanes >> lane, n = (uint32_t)__builtin_popcount(lanes);
    bool are_parts = a->bytes < 4; /* of words, which have to be whole */
    if (a->address[lane] & 3 ||
        (are_parts && (from_lane & (from_lane + 1) || n * a->bytes & 3 || n == 1)))
        return PT_CONFLICT_NO_SHAPE;
    if (!rest)
        return PT_LINE_ALL;
    uint32_t next = (uint32_t)__builtin_ctz(rest);
    uint64_t step = a->address[next] - a->address[lane];
    if (next - lane > 1)
        step /= next - lane;
    bool is_read = !(a->use & PT_USE_WRITE), is_power = !(step & (step - 1));
    bool is_apart = step && step <= MOST && (are_parts ? step == a->bytes : step >= a->bytes);
    bool is_one = !step && is_read && !are_parts;
    if (!is_power || !(is_apart || is_one) || !is_linear(a, lanes, lane, step))
        return PT_CONFLICT_NO_SHAPE;
    return step ? (uint32_t)__builtin_ctzll(step) : PT_LINE_ALL;
}
