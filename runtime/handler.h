/* The process's handlers of the signals that faults of kernels come as. */
#ifndef PTERA_RUNTIME_HANDLER_H
#define PTERA_RUNTIME_HANDLER_H

#include <stdint.h>

/* The first engine puts them in, the last one takes them out. */
void pt_handler_install(void);
void pt_handler_uninstall(void);
/* Puts them in again where the host has set others since. Each launch begins with it. */
void pt_handler_ensure(void);
/* How often that was so. */
unsigned pt_handler_changes(void);
/* `tell` is called in the handler, with the address, for each fault that is no kernel's, before the host gets it. */
void pt_handler_tell(void (*tell)(uint64_t address));

#endif
