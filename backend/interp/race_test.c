/* Codes before instructions of checked programs. */
#include "backend/interp/race.h"
#include "backend/interp/address.h"
#include "backend/order.h"

/* Operands of a test, in places that no address uses. */
enum { USE = 0, IS_STRONG = 4 };

/* Others see what came before a strong access, and it sees what came before theirs. */
PT_HANDLER(test_access)
{
    if (!pt_race_is_on(f) || !f->cta->async->race.n)
        return c + 1;
    struct pt_code at = pt_address_code(c);
    uint64_t a[PT_WARP_SIZE], bytes = UINT64_C(1) << (c->aux >> 8 & 15);
    uint32_t outside;
    if (pt_address_all(&at, f, pt_address_kind(c), a, &outside) & (bytes - 1))
        return c + 1;
    for (uint32_t left = f->mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        if (c->o[IS_STRONG])
            pt_race_acquire(f, 1u << i, a[i]);
        pt_race_access(c, f, 1u << i, a[i], bytes, c->o[USE]);
        if (c->o[IS_STRONG])
            pt_race_release(f, 1u << i, a[i]);
    }
    return c + 1;
}

/* An mbarrier orders by its phases instead. */
static bool is_mbarrier(const struct pt_form *form)
{
    return form->op >= PT_OP_mbarrier_init && form->op <= PT_OP_mbarrier_pending_count;
}

bool pt_race_test(struct pt_code *test, const struct pt_form *form, bool is_write)
{
    enum pt_address kind = pt_address_kind(test);
    bool is_param = kind >= PT_ADDRESS_PARAM && kind <= PT_ADDRESS_PARAM32;
    if (is_param || kind >= PT_ADDRESS_LOCAL_VAR)
        return false;
    bool is_atomic = form->effects & PT_FX_ATOMIC;
    test->fn = test_access;
    test->o[USE] = (is_write ? PT_USE_WRITE : PT_USE_READ) | (is_atomic ? PT_USE_ATOMIC : 0);
    test->o[IS_STRONG] = !is_mbarrier(form) && pt_order_of(form) != PT_ORDER_PLAIN;
    return true;
}

PT_HANDLER(test_registers)
{
    if (pt_race_is_on(f))
        pt_race_registers(c, f, c->ptr, c->o[0]);
    return c + 1;
}

struct pt_code pt_race_test_registers(uint32_t insn, const struct pt_race_reg *regs, uint32_t n)
{
    return (struct pt_code){.fn = test_registers, .o = {n}, .ptr = regs, .insn = insn};
}
