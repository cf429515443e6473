/* The variables of a module. */
#ifndef PTERA_RUNTIME_GLOBALS_H
#define PTERA_RUNTIME_GLOBALS_H

#include "runtime/engine.h"

/* An .extern variable that is used must be defined here: there is no other module to find it in.
 * As NVIDIA's assembler does, one with a size is taken as defined, with a warning. */
bool pt_globals_check_externs(ptera_module *module);

/* Addresses for variables and functions. PTERA_OK, or no memory, or PTX that is not valid: more
 * constants than there can be. */
ptera_result pt_globals_place(ptera_module *module);

/* Initialisers, and the addresses in them. */
void pt_globals_initialise(ptera_module *module);

/* The address of a module's reference to a texture or surface, which is its handle; false: there is
 * none of this name and type. */
bool pt_globals_reference(const ptera_module *module, const char *name, enum pt_type type,
                          uint64_t *address);

/* The variable whose storage holds `address` or ends nearest before it, or PT_NONE. Takes no lock:
 * addresses do not change after loading. */
uint32_t pt_globals_near(const ptera_module *module, uint64_t address);

#endif
