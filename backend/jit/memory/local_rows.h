/* Local variables in rows of a group's own. */
#ifndef PTERA_BACKEND_JIT_MEMORY_LOCAL_ROWS_H
#define PTERA_BACKEND_JIT_MEMORY_LOCAL_ROWS_H

#include "backend/jit/memory/access.h"

/* A group begins: its rows are zero. */
void jit_local_rows_begin_group(const struct jit *j);

/* A local access of a chunk. `is_one`: all lanes have the same offset. Loads give v, of vectors;
 * stores take it. */
void jit_local_rows_access(const struct jit *j, const struct jit_access *a, unsigned copy,
                           bool is_one, LLVMValueRef *v);

#endif
