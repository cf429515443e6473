/* Structs of ptera.h, which begin with their size. */
#ifndef PTERA_RUNTIME_SIZED_H
#define PTERA_RUNTIME_SIZED_H

#include <stdbool.h>
#include <stddef.h>

#include "ptera.h"

/* A caller's may be of another version than ours. PT_INIT makes `size` bytes of theirs what
 * `from` is; PT_TAKE copies theirs over our defaults, false if it says what we do not know;
 * PT_GIVE copies ours to theirs. */
#define PT_INIT(to, size, from) pt_sized_init((to), (size), &(from), sizeof(from))
void pt_sized_init(void *to, size_t size, const void *from, size_t ours);
#define PT_TAKE(to, from) pt_sized_take(&(to), sizeof(to), (from))
bool pt_sized_take(void *to, size_t ours, const void *from);
#define PT_GIVE(to, from) pt_sized_give((to), &(from), sizeof(from))
ptera_result pt_sized_give(void *to, void *from, size_t ours);

#endif
