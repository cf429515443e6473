/* Which file of ir/isa has a row: what the rows of one have in common. */
#ifndef PTERA_IR_CHAPTER_H
#define PTERA_IR_CHAPTER_H

#include "ir/isa.h"

/* pt_op_chapter(op) is that. */
bool pt_chapter_has(const char *chapter, enum pt_op op);

#endif
