/* The process's handlers of the signals that faults of kernels come as. */
#ifndef PTERA_RUNTIME_HANDLER_H
#define PTERA_RUNTIME_HANDLER_H

/* The first engine puts them in, the last one takes them out. */
void pt_handler_install(void);
void pt_handler_uninstall(void);
/* Puts them in again where the host has set others since. Each launch begins with it. */
void pt_handler_ensure(void);
/* How often that was so. */
unsigned pt_handler_changes(void);

#endif
