/* How the registers of a warp hold a matrix (PTX ISA 9.7.14): fragments to tiles and back.
 *
 * A register of 32 lanes holds 8 rows of 128 bits, four lanes a row: with as many columns as
 * elements of the type fit in 128 bits it is a block of A, row by row, or of B, column by column. A
 * register of C and D is 8 rows of 8 columns of 16 bits, or every other column of 32 bits.
 */
#ifndef PTERA_BACKEND_SEMANTICS_FRAGMENT_H
#define PTERA_BACKEND_SEMANTICS_FRAGMENT_H

#include "backend/semantics/mma.h"

typedef uint16_t __attribute__((may_alias)) pt_fragment_half;

/* Element c of row r of a block goes to to[r * row + c * col]; sign-extended if is_signed. */
PT_LANE void pt_fragment_block(const uint32_t *slot, uint32_t bits, bool is_signed, uint32_t *to,
                               uint32_t row, uint32_t col)
{
    uint32_t columns = 128 / bits, spare = 32 - bits;
    for (uint32_t r = 0; r < 8; r++)
        for (uint32_t c = 0; c < columns; c++) {
            uint32_t at = r * columns + c;
            uint32_t v = bits == 16 ? ((const pt_fragment_half *)slot)[at]
                                    : slot[at * bits / 32] >> at * bits % 32;
            to[r * row + c * col] =
                is_signed ? (uint32_t)((int32_t)(v << spare) >> spare) : v << spare >> spare;
        }
}

static inline void pt_fragment_any(const uint32_t *slot, uint32_t bits, bool is_signed,
                                   uint32_t *to, uint32_t row, uint32_t col)
{
    switch (bits) {
    case 4:
        pt_fragment_block(slot, 4, is_signed, to, row, col);
        break;
    case 8:
        pt_fragment_block(slot, 8, is_signed, to, row, col);
        break;
    case 16:
        pt_fragment_block(slot, 16, false, to, row, col);
        break;
    default:
        pt_fragment_block(slot, 32, false, to, row, col);
    }
}

/* A of 8 or 16 rows: blocks of one register, or one above the other. */
static inline void pt_fragment_a(const uint32_t *const *slots, uint32_t n, uint32_t rows,
                                 uint32_t bits, bool is_signed, uint32_t to[][PT_MMA_A])
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t high = rows == 16 ? i % 2 : 0, q = rows == 16 ? i / 2 : i;
        pt_fragment_any(slots[i], bits, is_signed, &to[8 * high][q * 128 / bits], PT_MMA_A, 1);
    }
}

static inline void pt_fragment_b(const uint32_t *const *slots, uint32_t n, uint32_t bits,
                                 bool is_signed, uint32_t to[][PT_MMA_N])
{
    for (uint32_t i = 0; i < n; i++)
        pt_fragment_any(slots[i], bits, is_signed, to[i * 128 / bits], 1, PT_MMA_N);
}

/* C of `rows` rows; bits is 16 or 32. */
static inline void pt_fragment_c(const uint32_t *const *slots, uint32_t rows, uint32_t bits,
                                 struct pt_mma_tile *to)
{
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t c = 0; c < PT_MMA_N; c++) {
            uint32_t lane = r % 8 * 4 + c / 2;
            to->v[r][c] = bits == 16 ? slots[r / 8][lane] >> 16 * (c % 2) & 0xffff
                                     : slots[r / 8 * 2 + c % 2][lane];
        }
}

/* Register i of D. */
static inline void pt_fragment_d(const struct pt_mma_tile *from, uint32_t i, uint32_t bits,
                                 uint32_t v[32])
{
    for (uint32_t lane = 0; lane < 32; lane++) {
        const uint32_t *row = from->v[lane / 4 + (bits == 16 ? i : i / 2) * 8], c = lane % 4 * 2;
        v[lane] = bits == 16 ? row[c] | row[c + 1] << 16 : row[c + i % 2];
    }
}

/* The metadata of a sparse A: 4 bits for each group of four elements of a row of B's depth, two of
 * which A has. tf32: two, of which it has one, that of bit 1. 4-bit integers: eight, of which it
 * has two pairs. stored_bits: of a row of A. */
static inline void pt_fragment_sparsity(enum pt_type type, uint32_t stored_bits, uint32_t selector,
                                        const uint32_t *metadata, struct pt_mma_sparsity *to)
{
    uint32_t bits = pt_type_bits(type), n = stored_bits / bits;
    for (uint32_t m = 0; m < PT_MMA_M; m++) {
        const uint32_t *quad = &metadata[m % 8 * 4];
        uint32_t high = m / 8;
        uint64_t x;
        if (bits >= 16 && stored_bits == 128)
            x = quad[selector] >> 16 * high & 0xffff;
        else if (bits >= 16)
            x = (quad[2 * selector] >> 16 * high & 0xffff) |
                (quad[2 * selector + 1] >> 16 * high & 0xffff) << 16;
        else if (stored_bits == 128)
            x = quad[2 * selector + high];
        else
            x = quad[high] | (uint64_t)quad[2 + high] << 32;
        for (uint32_t i = 0; i < n; i++) {
            if (bits == 32)
                to->at[m][i] = (uint8_t)(2 * i + (x >> (4 * i + 1) & 1));
            else if (bits == 4)
                to->at[m][i] = (uint8_t)(i / 4 * 8 + 2 * (x >> (i / 2 * 2) & 3) + i % 2);
            else
                to->at[m][i] = (uint8_t)(i / 2 * 4 + (x >> (2 * i) & 3));
        }
    }
}

#endif
