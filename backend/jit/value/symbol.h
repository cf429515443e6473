/* Addresses of variables and functions, and of the windows of parameters and constants. */
#ifndef PTERA_BACKEND_JIT_VALUE_SYMBOL_H
#define PTERA_BACKEND_JIT_VALUE_SYMBOL_H

#include "backend/jit/jit.h"

/* What a named variable or function is as a value: for variables, the address in their space. */
LLVMValueRef jit_symbol_address(const struct jit *j, const struct pt_operand *o);

/* Where a variable of constant memory lies (a generic address); NULL: the operand is none. */
LLVMValueRef jit_symbol_constant_place(const struct jit *j, const struct pt_operand *o);

/* The generic address at which the window of the kernel's parameters (PARAM) or of constants
 * (CONST) begins. */
LLVMValueRef jit_symbol_window(const struct jit *j, enum pt_space space);

#endif
