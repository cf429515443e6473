/* Operands of instructions. */
#ifndef PTERA_FRONTEND_OPERAND_H
#define PTERA_FRONTEND_OPERAND_H

#include "frontend/token.h"

/* Reads the operands of an instruction onto p->operands; the operand of a branch is a label. */
bool pt_operand_list(struct pt_parser *p, bool is_branch);
/* Reads [(results),] function [, (arguments)] [, prototype] of a call. */
bool pt_operand_call(struct pt_parser *p);

#endif
