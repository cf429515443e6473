/* Machine code that the auditor writes over functions, for EM_X86_64 and EM_AARCH64. Each returns
 * its bytes. */
#ifndef PTERA_AUDIT_JUMP_H
#define PTERA_AUDIT_JUMP_H

#include <stddef.h>
#include <stdint.h>

enum { AUDIT_JUMP_LONGEST = 32 };

/* Returns at once. */
size_t audit_jump_return(unsigned machine, unsigned char *code);
/* Goes to `target`, wherever it is. */
size_t audit_jump_far(unsigned machine, unsigned char *code, uint64_t target);
/* The same with `argument` as the first argument. */
size_t audit_jump_with(unsigned machine, unsigned char *code, uint64_t argument, uint64_t target);
/* Goes from `from`, where it will be, to `to`. 0: that is too far. */
size_t audit_jump_near(unsigned machine, unsigned char *code, uint64_t from, uint64_t to);

#endif
