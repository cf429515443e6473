/* mbarrier. PTX ISA 9.7.13.15.
 *
 * The word lies in the shared memory of a CTA of the cluster, which runs on one worker: its changes
 * are plain accesses, and lanes make them in ascending order. A wait that tests in a loop lets
 * others run at the loop's back edge. o = destination, address, arrivals or state or parity, bytes
 * of transactions.
 */
#include "backend/interp/mbarrier.h"
#include "backend/interp/address.h"
#include "backend/interp/observe.h"
#include "backend/interp/operands.h"
#include "backend/semantics/mbarrier.h"

enum { DROPS = 0x1000 }; /* in aux, above the kind of address and the bytes */

static const char too_many[] = "more threads arrive at the mbarrier than it has pending";
static const char too_many_expected[] = "the pending count of the mbarrier leaves its range";
static const char not_in_shared[] = "an mbarrier lies in shared memory";
static const char tx_range[] = "the tx-count of the mbarrier leaves its range";

/* The lanes of the mask whose address lies in no shared memory. */
PT_ACCESS_INLINE uint32_t not_shared(const struct pt_frame *f, const uint64_t *a)
{
    uint32_t lanes = 0;
    for (uint32_t left = f->mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        lanes |= (uint32_t)(a[i] - (uint64_t)(uintptr_t)f->shared > UINT32_MAX) << i;
    }
    return lanes;
}

static const struct pt_code *fail_outside(const struct pt_code *c, struct pt_frame *f,
                                          uint32_t lanes, const uint64_t *a)
{
    pt_fail(c, f, PT_FAULT_ILLEGAL_ADDRESS, lanes, not_in_shared);
    f->state->warp->fault.has_address = true;
    f->state->warp->fault.address = a[__builtin_ctz(lanes)];
    return NULL;
}

/* Addresses of all lanes and their tests, as every handler here begins. */
#define MBARRIER_ADDRESSES                                         \
    uint64_t a[PT_WARP_SIZE];                                      \
    uint32_t outside;                                              \
    f->state->code = c;                                            \
    if (pt_address_all(c, f, pt_address_kind(c), a, &outside) & 7) \
        return pt_address_misaligned(c, f);                        \
    if ((outside = not_shared(f, a)))                              \
    return fail_outside(c, f, outside, a)

PT_ACCESS_INLINE uint64_t *word_at(uint64_t address)
{
    return (uint64_t *)(uintptr_t)address;
}

static void observe(const struct pt_code *c, struct pt_frame *f, uint32_t lanes, int what,
                    uint64_t address, uint32_t phase)
{
    pt_observe_sync(
        c, f, lanes,
        (struct pt_sync){
            .what = what, .where = PT_SYNC_OF_MBARRIER, .mbarrier = address, .phase = phase});
}

/* What lanes do with the mbarrier at each one's address. */
static void tell(const struct pt_code *c, struct pt_frame *f, uint32_t lanes, const uint64_t *a,
                 enum pt_mbarrier_use use)
{
    for (uint32_t left = pt_is_observed(f) ? lanes : 0; left; left &= left - 1)
        pt_observe_mbarrier(c, f, (uint32_t)__builtin_ctz(left), a[__builtin_ctz(left)], use);
}

PT_ACCESS_INLINE void change(const struct pt_code *c, struct pt_frame *f, uint64_t address,
                             uint64_t word)
{
    uint64_t *p = word_at(address), old = *p;
    f->cta->phases += pt_mbarrier_is_past(word, old);
    *p = word;
    if (pt_is_observed(f) && pt_mbarrier_is_past(word, old))
        observe(c, f, f->mask, PT_SYNC_PHASE, address, pt_mbarrier_read(old).phase);
}

PT_ACCESS uint32_t pt_mbarrier_phase(uint64_t address)
{
    return pt_mbarrier_read(*word_at(address)).phase;
}

/* ---- what changes the word ------------------------------------------------------------------- */

PT_ACCESS_HANDLER(init)
{
    MBARRIER_ADDRESSES;
    const uint32_t *count = PT_SLOT(2, u32);
    tell(c, f, f->mask, a, PT_MBARRIER_USE_INIT);
    for (uint32_t left = f->mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        *word_at(a[i]) = pt_mbarrier_init(count[i]);
    }
    return c + 1;
}

/* The memory may be used for something else then, with what the word holds in it. */
PT_ACCESS_HANDLER(invalidate)
{
    MBARRIER_ADDRESSES;
    tell(c, f, f->mask, a, PT_MBARRIER_USE_INVALIDATE);
    for (uint32_t left = f->mask; left; left &= left - 1)
        (void)*(volatile uint64_t *)word_at(a[__builtin_ctz(left)]);
    return c + 1;
}

PT_ACCESS_HANDLER(arrive)
{
    MBARRIER_ADDRESSES;
    const uint32_t *count = PT_SLOT(2, u32), *bytes = PT_SLOT(3, u32);
    uint64_t state[PT_WARP_SIZE];
    for (uint32_t left = f->mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        uint64_t word = *word_at(a[i]);
        state[i] = pt_mbarrier_state(word);
        tell(c, f, 1u << i, a, bytes[i] ? PT_MBARRIER_USE_EXPECT : PT_MBARRIER_USE_OTHER);
        if (pt_is_observed(f))
            observe(c, f, 1u << i, PT_SYNC_RELEASE, a[i], pt_mbarrier_read(word).phase);
        if (!pt_mbarrier_tx(&word, bytes[i]))
            return pt_fail(c, f, PT_FAULT_MBARRIER, 1u << i, tx_range);
        if (!pt_mbarrier_arrive(&word, count[i], c->aux & DROPS))
            return pt_fail(c, f, PT_FAULT_MBARRIER, 1u << i, too_many);
        change(c, f, a[i], word);
    }
    uint64_t *d = PT_SLOT(0, u64);
    for (uint32_t left = f->mask; left; left &= left - 1)
        d[__builtin_ctz(left)] = state[__builtin_ctz(left)];
    return c + 1;
}

#define TRANSACTION(name, sign, use)                                        \
    PT_ACCESS_HANDLER(name)                                                 \
    {                                                                       \
        MBARRIER_ADDRESSES;                                                 \
        const uint32_t *bytes = PT_SLOT(3, u32);                            \
        tell(c, f, f->mask, a, use);                                        \
        for (uint32_t left = f->mask; left; left &= left - 1) {             \
            uint32_t i = (uint32_t)__builtin_ctz(left);                     \
            uint64_t word = *word_at(a[i]);                                 \
            if (!pt_mbarrier_tx(&word, sign(int64_t) bytes[i]))             \
                return pt_fail(c, f, PT_FAULT_MBARRIER, 1u << i, tx_range); \
            change(c, f, a[i], word);                                       \
        }                                                                   \
        return c + 1;                                                       \
    }
TRANSACTION(expect_tx, +, PT_MBARRIER_USE_EXPECT)
TRANSACTION(complete_tx, -, PT_MBARRIER_USE_OTHER)

PT_ACCESS bool pt_mbarrier_change(const struct pt_code *c, struct pt_frame *f, uint32_t lane,
                                  uint64_t address, enum pt_mbarrier_how how, uint32_t count)
{
    if (address & 7)
        return pt_fail_at(c, f, PT_FAULT_MISALIGNED, 1u << lane, address, NULL);
    if (address - (uint64_t)(uintptr_t)f->shared > UINT32_MAX)
        return pt_fail_at(c, f, PT_FAULT_ILLEGAL_ADDRESS, 1u << lane, address, not_in_shared);
    uint64_t word = *word_at(address);
    bool is_good = how == PT_MBARRIER_COMPLETE_TX ? pt_mbarrier_tx(&word, -(int64_t)count)
                   : how == PT_MBARRIER_ARRIVE    ? pt_mbarrier_arrive(&word, count, false)
                                                  : pt_mbarrier_expect(&word, count);
    if (!is_good)
        return pt_fail(c, f, PT_FAULT_MBARRIER, 1u << lane,
                       how == PT_MBARRIER_COMPLETE_TX ? tx_range
                       : how == PT_MBARRIER_ARRIVE    ? too_many
                                                      : too_many_expected);
    change(c, f, address, word);
    return true;
}

bool pt_mbarrier_count_bytes(const struct pt_code *c, struct pt_frame *f,
                             const struct pt_async_op *op)
{
    return pt_mbarrier_change(c, f, op->lane, op->mbarrier, PT_MBARRIER_COMPLETE_TX, op->bytes);
}

bool pt_mbarrier_count_arrival(const struct pt_code *c, struct pt_frame *f,
                               const struct pt_async_op *op)
{
    return pt_mbarrier_change(c, f, op->lane, op->mbarrier, PT_MBARRIER_ARRIVE, 1);
}

/* ---- what reads it --------------------------------------------------------------------------- */

/* Operations that were put off take place behind the test, which is the reason to test again. */
static bool tested(const struct pt_code *c, struct pt_frame *f, const uint64_t *a)
{
    for (uint32_t left = f->mask; left; left &= left - 1)
        if (!pt_async_tested(c, f, a[__builtin_ctz(left)]))
            return false;
    return true;
}

/* Which phase a thread asks for: the one of the state, or of the parity. */
#define PHASE_u64(state) (uint32_t)((state) >> 63)
#define PHASE_u32(parity) (parity)

#define TEST(name, T, is_past)                                                       \
    PT_ACCESS_HANDLER(name)                                                          \
    {                                                                                \
        MBARRIER_ADDRESSES;                                                          \
        const PT_ELT_##T *phase = PT_SLOT(2, T);                                     \
        uint32_t past = 0;                                                           \
        for (uint32_t left = f->mask; left; left &= left - 1) {                      \
            uint32_t i = (uint32_t)__builtin_ctz(left);                              \
            past |= (uint32_t)is_past(*word_at(a[i]), phase[i]) << i;                \
        }                                                                            \
        for (uint32_t left = pt_is_observed(f) ? past : 0; left; left &= left - 1) { \
            uint32_t i = (uint32_t)__builtin_ctz(left);                              \
            observe(c, f, 1u << i, PT_SYNC_ACQUIRE, a[i], PHASE_##T(phase[i]));      \
        }                                                                            \
        tell(c, f, f->mask & ~past, a, PT_MBARRIER_USE_TEST);                        \
        if (f->cta->async && !tested(c, f, a))                                       \
            return NULL;                                                             \
        PT_SET_PRED(0, past);                                                        \
        return c + 1;                                                                \
    }
TEST(test_state, u64, pt_mbarrier_is_past)
TEST(test_parity, u32, pt_mbarrier_parity_is_past)

PT_FN1(pending_count, u32, u64, pt_mbarrier_pending_count(a))

/* ---- selecting ------------------------------------------------------------------------------- */

/* A slot of a count; without an operand, of the constant. */
static uint32_t count_slot(struct pt_select *s, const struct pt_operand *o, uint32_t constant)
{
    const struct pt_operand imm = {.kind = PT_OPND_IMM, .type = PT_u32, .imm = constant};
    return pt_operands_source(s, o ? o : &imm, 4);
}

static pt_handler select_arrive(struct pt_select *s, bool expects, bool drops)
{
    const struct pt_operand *o = s->operands, *b = s->insn->n_operands > 2 ? &o[2] : NULL;
    s->code->o[0] = pt_operands_dest(s, &o[0]);
    s->code->o[2] = count_slot(s, expects ? NULL : b, 1);
    s->code->o[3] = count_slot(s, expects ? b : NULL, 0);
    if (!pt_address_bind(s, &o[1], 8) || s->code->o[2] == UINT32_MAX || s->code->o[3] == UINT32_MAX)
        return NULL;
    s->code->aux |= drops ? DROPS : 0;
    return arrive;
}

/* [a] and, for init, expect_tx and complete_tx, a count in operand `slot` of the code. */
static pt_handler select_plain(struct pt_select *s, uint32_t slot, pt_handler handler)
{
    const struct pt_operand *o = s->operands;
    if (s->insn->n_operands > 1 && (s->code->o[slot] = count_slot(s, &o[1], 0)) == UINT32_MAX)
        return NULL;
    return pt_address_bind(s, &o[0], 8) ? handler : NULL;
}

/* A time limit is no operand of ours: try_wait answers at once. */
static pt_handler select_test(struct pt_select *s, bool is_parity)
{
    const struct pt_operand *o = s->operands;
    s->code->o[0] = pt_operands_dest(s, &o[0]);
    s->code->o[2] = pt_operands_source(s, &o[2], is_parity ? 4 : 8);
    if (s->code->o[2] == UINT32_MAX || !pt_address_bind(s, &o[1], 8))
        return NULL;
    return is_parity ? test_parity : test_state;
}

pt_handler PT_DO(mbarrier_init)(struct pt_select *s)
{
    return select_plain(s, 2, init);
}

pt_handler PT_DO(mbarrier_inval)(struct pt_select *s)
{
    return select_plain(s, 2, invalidate);
}

pt_handler PT_DO(mbarrier_arrive)(struct pt_select *s)
{
    return select_arrive(s, false, false);
}

pt_handler PT_DO(mbarrier_arrive_expect_tx)(struct pt_select *s)
{
    return select_arrive(s, true, false);
}

/* That it completes no phase is the program's promise. */
pt_handler PT_DO(mbarrier_arrive_no_complete)(struct pt_select *s)
{
    return select_arrive(s, false, false);
}

pt_handler PT_DO(mbarrier_drop)(struct pt_select *s)
{
    return select_arrive(s, false, true);
}

pt_handler PT_DO(mbarrier_drop_expect_tx)(struct pt_select *s)
{
    return select_arrive(s, true, true);
}

pt_handler PT_DO(mbarrier_drop_no_complete)(struct pt_select *s)
{
    return select_arrive(s, false, true);
}

pt_handler PT_DO(mbarrier_expect_tx)(struct pt_select *s)
{
    return select_plain(s, 3, expect_tx);
}

pt_handler PT_DO(mbarrier_complete_tx)(struct pt_select *s)
{
    return select_plain(s, 3, complete_tx);
}

pt_handler PT_DO(mbarrier_test_wait)(struct pt_select *s)
{
    return select_test(s, false);
}

pt_handler PT_DO(mbarrier_test_wait_parity)(struct pt_select *s)
{
    return select_test(s, true);
}

pt_handler PT_DO(mbarrier_try_wait)(struct pt_select *s)
{
    return select_test(s, false);
}

pt_handler PT_DO(mbarrier_try_wait_parity)(struct pt_select *s)
{
    return select_test(s, true);
}

pt_handler PT_DO(mbarrier_pending_count)(struct pt_select *s)
{
    return pt_bind(s, "wl") ? pending_count : NULL;
}
