/* Blocks of a decoded function. */
#ifndef PTERA_BACKEND_INTERP_BLOCKS_H
#define PTERA_BACKEND_INTERP_BLOCKS_H

#include "backend/interp/state.h"

/* Number and start of the decoded block that follows the instruction, or of an IR block. */
#define pt_blocks_after PT_LEVEL_NAME(pt_blocks_after)
uint32_t pt_blocks_after(const struct pt_select *s);
#define pt_blocks_block PT_LEVEL_NAME(pt_blocks_block)
uint32_t pt_blocks_block(const struct pt_select *s, uint32_t ir_block);
#define pt_blocks_here PT_LEVEL_NAME(pt_blocks_here)
uint32_t pt_blocks_here(const struct pt_select *s);
/* The IR block being decoded. */
#define pt_blocks_ir_block PT_LEVEL_NAME(pt_blocks_ir_block)
uint32_t pt_blocks_ir_block(const struct pt_select *s);
/* True if back edges of it let other work run first. */
#define pt_blocks_communicates PT_LEVEL_NAME(pt_blocks_communicates)
bool pt_blocks_communicates(const struct pt_select *s);

/* ---- for the decoder ---- */

/* Numbers the blocks of the function that is being decoded. */
#define pt_blocks_number PT_LEVEL_NAME(pt_blocks_number)
void pt_blocks_number(struct pt_decoder *d);
/* IR block b leads back to itself or before, other than by a branch. Then a block of its own, the
 * last it is decoded to, takes the back edge, so that no loop goes round without looking at the
 * clock and at other lanes. */
#define pt_blocks_falls_back PT_LEVEL_NAME(pt_blocks_falls_back)
bool pt_blocks_falls_back(const struct pt_func *f, uint32_t b);
/* The number of the block that follows IR block b. */
#define pt_blocks_next PT_LEVEL_NAME(pt_blocks_next)
uint32_t pt_blocks_next(const struct pt_decoder *d, uint32_t b);
/* The number of the block behind the instruction that is being decoded. */
#define pt_blocks_behind PT_LEVEL_NAME(pt_blocks_behind)
uint32_t pt_blocks_behind(const struct pt_decoder *d);
/* Threads wait for each other at the instruction. */
#define pt_blocks_is_sync PT_LEVEL_NAME(pt_blocks_is_sync)
bool pt_blocks_is_sync(const struct pt_form *form);
/* Other warps go on behind the instruction. */
#define pt_blocks_gives_way PT_LEVEL_NAME(pt_blocks_gives_way)
bool pt_blocks_gives_way(const struct pt_decoder *d, const struct pt_form *form);
/* True if lanes may wait between this instruction and the next. */
#define pt_blocks_splits PT_LEVEL_NAME(pt_blocks_splits)
bool pt_blocks_splits(const struct pt_decoder *d, const struct pt_insn *insn);

#endif
