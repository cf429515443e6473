/* The process's handlers of the signals that faults of kernels come as. */
#ifndef PTERA_RUNTIME_HANDLER_H
#define PTERA_RUNTIME_HANDLER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* The first engine puts them in, the last one takes them out. `take` (always pt_fault_take) is
 * asked in the handler whether the fault is a kernel's: true, the access is to be done again; it
 * need not return. */
void pt_handler_install(bool (*take)(const siginfo_t *info, void *context));
void pt_handler_uninstall(void);
/* Puts them in again where the host has set others since. Each launch begins with it. */
void pt_handler_ensure(void);
/* How often that was so. */
unsigned pt_handler_changes(void);
/* `tell` is called in the handler, with the address, for each fault that is no kernel's, before
 * the host gets it. */
void pt_handler_tell(void (*tell)(uint64_t address));

#endif
