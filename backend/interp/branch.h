/* Guards and branches: codes that belong to no row. */
#ifndef PTERA_BACKEND_INTERP_BRANCH_H
#define PTERA_BACKEND_INTERP_BRANCH_H

#include "backend/interp/state.h"

#define pt_branch_guard PT_LEVEL_NAME(pt_branch_guard)
const struct pt_code *pt_branch_guard(const struct pt_code *c, struct pt_frame *f);
#define pt_branch_fall PT_LEVEL_NAME(pt_branch_fall)
const struct pt_code *pt_branch_fall(const struct pt_code *c, struct pt_frame *f);
#define pt_branch_bra PT_LEVEL_NAME(pt_branch_bra)
const struct pt_code *pt_branch_bra(const struct pt_code *c, struct pt_frame *f);
#define pt_branch_split PT_LEVEL_NAME(pt_branch_split)
const struct pt_code *pt_branch_split(const struct pt_code *c, struct pt_frame *f);
/* The same along a back edge: of any loop, of one that communicates. */
#define pt_branch_back PT_LEVEL_NAME(pt_branch_back)
const struct pt_code *pt_branch_back(const struct pt_code *c, struct pt_frame *f);
#define pt_branch_turn PT_LEVEL_NAME(pt_branch_turn)
const struct pt_code *pt_branch_turn(const struct pt_code *c, struct pt_frame *f);
/* True if the row's handler looks at the guard itself. */
static inline bool pt_branch_takes_guard(const struct pt_form *form)
{
    return form->op == PT_OP_bra;
}

#endif
