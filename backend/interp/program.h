/* Programs: a kernel with all that it may call. */
#ifndef PTERA_BACKEND_INTERP_PROGRAM_H
#define PTERA_BACKEND_INTERP_PROGRAM_H

#include "backend/interp/state.h"

#define pt_program_compile PT_LEVEL_NAME(pt_program_compile)
#define pt_program_release PT_LEVEL_NAME(pt_program_release)
struct pt_program *pt_program_compile(const struct pt_image *image, uint32_t kernel, uint32_t tests,
                                      const struct pt_allocator *allocator);
void pt_program_release(struct pt_program *program);

#endif
