/* The line table of an object (DWARF 4, "Line Number Information"). */
#ifndef PTERA_BACKEND_JIT_OBJECT_LINE_TABLE_H
#define PTERA_BACKEND_JIT_OBJECT_LINE_TABLE_H

#include "backend/jit/object/object.h"

/* Places of the code in ascending order; each holds up to the next. */
struct jit_place {
    uint32_t offset;     /* from the start of the text */
    uint32_t func, insn; /* func is PT_NONE where the place is unknown */
};

struct jit_places {
    struct jit_place *v; /* malloc'ed */
    uint32_t n;
};

/* Reads the line table that debug_info.c had LLVM write, of an object that was loaded. Without one,
 * or with no memory, there are no places. */
void jit_line_table_read(const struct jit_object *object, struct jit_places *places);

#endif
