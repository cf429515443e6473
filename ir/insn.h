/* What an instruction reads and writes. */
#ifndef PTERA_IR_INSN_H
#define PTERA_IR_INSN_H

#include "ir/ir.h"

enum pt_role { PT_ROLE_USE = 1, PT_ROLE_DEF = 2 }; /* both: read and written */

/* Calls visit(ud, operand, role, type) for every register operand of the instruction, parts of
 * vectors, pairs, addresses and lists included; those only read come first. `type` is what the form
 * has in that place (PT_TYPE_NONE if it has none). The guard is not an operand. */
void pt_insn_operands(const struct pt_module *m, const struct pt_func *f,
                      const struct pt_insn *insn,
                      void (*visit)(void *ud, struct pt_operand *operand, unsigned role,
                                    enum pt_type type),
                      void *ud);

/* Calls visit(ud, reg, is_def) for every register the instruction reads or writes, uses first: the
 * guard included, and the .reg results of a function at its ends. A guarded instruction keeps the
 * old value in lanes its guard leaves out. */
void pt_insn_regs(const struct pt_module *m, const struct pt_func *f, const struct pt_insn *insn,
                  void (*visit)(void *ud, uint32_t reg, bool is_def), void *ud);

/* Whether what it accesses is an mbarrier, which orders by its phases. */
static inline bool pt_insn_is_mbarrier(const struct pt_form *form)
{
    _Static_assert(PT_OP_mbarrier_pending_count - PT_OP_mbarrier_init == 16,
                   "the rows of mbarrier follow each other");
    return form->op >= PT_OP_mbarrier_init && form->op <= PT_OP_mbarrier_pending_count;
}

#endif
