/* What every lane function builds on: bit casts, select, rounding modes.
 *
 * backend/semantics states once what an instruction computes for one lane. The lists (*.def) name
 * lane functions
 *
 *   LANE1(name, D, A, expr)   LANE2(name, D, A, B, expr)   LANE3(...C...)   LANE4(...E...)
 *
 * where D, A, B, C, E are u8 ... s64 (floating-point values are their bits) and expr computes the
 * result from a, b, c_, e. A list is included with these macros defined as the reader needs it: as
 * a 32-lane handler of the interpreter, or as a function over n lanes. Everything here is compiled
 * with -ffp-contract=off, in round to nearest.
 */
#ifndef PTERA_BACKEND_SEMANTICS_LANE_H
#define PTERA_BACKEND_SEMANTICS_LANE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define PT_LANE static inline __attribute__((always_inline, unused))

/* Rounding modes. The i forms of cvt (rni ...) round to an integer the same way. */
enum pt_round {
    PT_RN,  /* to nearest, ties to even */
    PT_RZ,  /* toward zero */
    PT_RM,  /* toward minus infinity */
    PT_RP,  /* toward plus infinity */
    PT_RNA, /* to nearest, ties away from zero */
    PT_RO /* to odd: inexact results get their last bit set, so that a second rounding is the only
             one */
};

PT_LANE float pt_lane_f32(uint32_t u)
{
    float f;
    memcpy(&f, &u, 4);
    return f;
}

PT_LANE uint32_t pt_lane_u32(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

PT_LANE double pt_lane_f64(uint64_t u)
{
    double d;
    memcpy(&d, &u, 8);
    return d;
}

PT_LANE uint64_t pt_lane_u64(double d)
{
    uint64_t u;
    memcpy(&u, &d, 8);
    return u;
}

/* cond ? x : y without a branch. */
PT_LANE uint32_t pt_lane_select(bool cond, uint32_t x, uint32_t y)
{
    uint32_t m = -(uint32_t)cond;
    return (x & m) | (y & ~m);
}

PT_LANE uint64_t pt_lane_select64(bool cond, uint64_t x, uint64_t y)
{
    uint64_t m = -(uint64_t)cond;
    return (x & m) | (y & ~m);
}

/* Shifts whose count is clamped as PTX clamps it. */
PT_LANE uint32_t pt_lane_shl(uint32_t a, uint32_t n)
{
    return n > 31 ? 0 : a << (n & 31);
}

PT_LANE uint32_t pt_lane_shr(uint32_t a, uint32_t n)
{
    return n > 31 ? 0 : a >> (n & 31);
}

PT_LANE uint64_t pt_lane_shl64(uint64_t a, uint32_t n)
{
    return n > 63 ? 0 : a << (n & 63);
}

PT_LANE uint64_t pt_lane_shr64(uint64_t a, uint32_t n)
{
    return n > 63 ? 0 : a >> (n & 63);
}

#endif
