/* Which file of ir/isa has a row: what the rows of one have in common. */
#include "ir/chapter.h"

#include <string.h>

bool pt_chapter_has(const char *chapter, enum pt_op op)
{
    return strcmp(pt_op_chapter(op), chapter) == 0;
}
