/* Rematerialisation: values that the assembler computes anew where they are wanted, instead of
 * keeping them. */
#ifndef PTERA_RUNTIME_REGISTERS_REMAT_H
#define PTERA_RUNTIME_REGISTERS_REMAT_H

#include "runtime/registers/register_file.h"

/* The register is one or few integer instructions away from others that are in `live`. */
bool pt_remat_is_cheap(const struct pt_code *code, const struct pt_register_file *file,
                       const uint64_t *live, uint32_t reg);

#endif
