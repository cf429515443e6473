/* Accesses of checked launches (PT_TEST_mem). */
#ifndef PTERA_BACKEND_JIT_MEMORY_MEM_CHECK_H
#define PTERA_BACKEND_JIT_MEMORY_MEM_CHECK_H

#include "backend/jit/jit.h"

/* Where the function begins: what it keeps of extents; nothing where it is not checked. */
void jit_mem_check_begin(const struct jit *j);

/* Memory may have been freed. */
void jit_mem_check_refresh(const struct jit *j);

/* Before the access at j->insn, a load, a store or an atomic. */
void jit_mem_check_emit(const struct jit *j);

#endif
