/* The state of an mbarrier (PTX ISA 9.7.13.15): what arrivals and transactions do to its word.
 *
 * The word is as an H200 keeps it, all counts negative, modulo their width:
 *
 *     63       62 .. 43    42   41 .. 21     20 .. 1      0
 *     phase    -pending    0    -tx-count    -expected    0
 *
 * A phase is complete when no arrival is pending and the tx-count is 0; then the next one begins,
 * with as many arrivals pending as are expected. What an H200 stops at is refused here: more
 * arrivals than are pending, a tx-count that overflows. */
#ifndef PTERA_BACKEND_SEMANTICS_MBARRIER_H
#define PTERA_BACKEND_SEMANTICS_MBARRIER_H

#include "backend/semantics/lane.h"

enum { PT_MBARRIER_TX_MIN = -(1 << 20) + 1, PT_MBARRIER_TX_MAX = 1 << 20,
       PT_MBARRIER_COUNT_MAX = (1 << 20) - 1 };

struct pt_mbarrier {
    uint32_t phase; /* 0 or 1 */
    uint32_t pending, expected;
    int32_t tx;
};

/* The count whose negative lies in 20 bits of the word. */
PT_LANE uint32_t pt_mbarrier_count(uint64_t word, uint32_t low)
{
    return -(uint32_t)(word >> low) & 0xfffff;
}

PT_LANE struct pt_mbarrier pt_mbarrier_read(uint64_t word)
{
    return (struct pt_mbarrier){.phase = (uint32_t)(word >> 63),
                                .pending = pt_mbarrier_count(word, 43),
                                .expected = pt_mbarrier_count(word, 1),
                                .tx = -((int32_t)(word >> 10) >> 11)};
}

PT_LANE uint64_t pt_mbarrier_word(struct pt_mbarrier m)
{
    return (uint64_t)m.phase << 63 | (uint64_t)(-m.pending & 0xfffff) << 43 |
           (uint64_t)(-(uint32_t)m.tx & 0x1fffff) << 21 | (uint64_t)(-m.expected & 0xfffff) << 1;
}

/* Counts beyond 1 to 2^20 - 1 have no meaning; this is what an H200 makes of them. */
PT_LANE uint64_t pt_mbarrier_init(uint32_t count)
{
    uint32_t negative = (1u << 20) - count;
    return (uint64_t)(negative << 11) << 32 | negative << 1;
}

PT_LANE uint64_t pt_mbarrier_settle(struct pt_mbarrier m)
{
    if (!m.pending && !m.tx) {
        m.phase ^= 1;
        m.pending = m.expected;
    }
    return pt_mbarrier_word(m);
}

/* `count` threads arrive; with `drop`, no more of them are expected in later phases. False: more
 * than are pending. */
PT_LANE bool pt_mbarrier_arrive(uint64_t *word, uint32_t count, bool drop)
{
    struct pt_mbarrier m = pt_mbarrier_read(*word);
    if (count > m.pending)
        return false;
    m.pending -= count;
    m.expected -= drop ? count : 0;
    *word = pt_mbarrier_settle(m);
    return true;
}

/* `count` more arrivals pend in this phase alone. False: too many. */
PT_LANE bool pt_mbarrier_expect(uint64_t *word, uint32_t count)
{
    struct pt_mbarrier m = pt_mbarrier_read(*word);
    if (count > PT_MBARRIER_COUNT_MAX - m.pending)
        return false;
    m.pending += count;
    *word = pt_mbarrier_word(m);
    return true;
}

/* The tx-count rises by `bytes` (expect-tx) or falls (complete-tx). False: out of its range. */
PT_LANE bool pt_mbarrier_tx(uint64_t *word, int64_t bytes)
{
    struct pt_mbarrier m = pt_mbarrier_read(*word);
    int64_t tx = m.tx + bytes;
    if (tx > PT_MBARRIER_TX_MAX || tx < PT_MBARRIER_TX_MIN)
        return false;
    m.tx = (int32_t)tx;
    *word = pt_mbarrier_settle(m);
    return true;
}

/* What an arrival returns: the word before it, without the half that an H200 leaves undefined. */
PT_LANE uint64_t pt_mbarrier_state(uint64_t word)
{
    return word & ~(uint64_t)UINT32_MAX;
}

PT_LANE uint32_t pt_mbarrier_pending_count(uint64_t state)
{
    return (1u << 20) - (uint32_t)(state >> 43 & 0xfffff);
}

/* Is the phase over that a state was taken in, or the one of this parity? */
PT_LANE bool pt_mbarrier_is_past(uint64_t word, uint64_t state)
{
    return (word ^ state) >> 63;
}

PT_LANE bool pt_mbarrier_parity_is_past(uint64_t word, uint32_t parity)
{
    return (word >> 63) != (parity & 1);
}

#endif
