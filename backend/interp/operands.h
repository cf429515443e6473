/* For selectors: operands as slots of the frame, and what else an instruction needs in its
 * program. */
#ifndef PTERA_BACKEND_INTERP_OPERANDS_H
#define PTERA_BACKEND_INTERP_OPERANDS_H

#include "backend/interp/state.h"

/* A slot of `bytes` a lane (0: predicate) for temporary values. */
#define pt_operands_slot PT_LEVEL_NAME(pt_operands_slot)
uint32_t pt_operands_slot(struct pt_select *s, uint32_t bytes);
/* The slot of a source, made `bytes` wide (0: predicate); UINT32_MAX after reporting. */
#define pt_operands_source PT_LEVEL_NAME(pt_operands_source)
uint32_t pt_operands_source(struct pt_select *s, const struct pt_operand *o, uint32_t bytes);
/* The slot of a destination register as it is, or for _ one that nobody reads. */
#define pt_operands_dest PT_LEVEL_NAME(pt_operands_dest)
uint32_t pt_operands_dest(struct pt_select *s, const struct pt_operand *o);
/* A zeroed array that lives as long as the program. */
#define pt_operands_array PT_LEVEL_NAME(pt_operands_array)
void *pt_operands_array(struct pt_select *s, size_t bytes);
/* The address or offset of a variable, and where it counts from: .param of functions is LOCAL. */
#define pt_operands_symbol PT_LEVEL_NAME(pt_operands_symbol)
uint64_t pt_operands_symbol(const struct pt_select *s, uint32_t symbol, enum pt_space *space);
/* Where the window of constants begins; 0: there are none. */
#define pt_operands_constants PT_LEVEL_NAME(pt_operands_constants)
uint64_t pt_operands_constants(const struct pt_select *s);
/* The instruction's .param is the kernel's parameters, not those of an activation, which are local
 * memory. */
#define pt_operands_is_of_kernel PT_LEVEL_NAME(pt_operands_is_of_kernel)
bool pt_operands_is_of_kernel(const struct pt_select *s);
/* code->ptr becomes the start of decoded block `block`. */
#define pt_operands_link PT_LEVEL_NAME(pt_operands_link)
void pt_operands_link(struct pt_select *s, uint32_t block);
/* Code that runs before the instruction; c->fn and operands are the caller's to fill. */
#define pt_operands_before PT_LEVEL_NAME(pt_operands_before)
struct pt_code *pt_operands_before(struct pt_select *s, pt_handler fn);
/* The same, behind it. */
#define pt_operands_behind PT_LEVEL_NAME(pt_operands_behind)
struct pt_code *pt_operands_behind(struct pt_select *s, pt_handler fn);
/* The same for a code that pt_address_bind has filled, which writes memory: a second access of the
 * instruction. */
#define pt_operands_access_behind PT_LEVEL_NAME(pt_operands_access_behind)
void pt_operands_access_behind(struct pt_select *s, const struct pt_code *access);
/* By function: 1 for those that the indirect call may find at its address. */
#define pt_operands_callees PT_LEVEL_NAME(pt_operands_callees)
const uint8_t *pt_operands_callees(const struct pt_select *s);
/* The program being made; its other functions may not be decoded yet. */
#define pt_operands_program PT_LEVEL_NAME(pt_operands_program)
struct pt_interp_program *pt_operands_program(const struct pt_select *s);

#endif
