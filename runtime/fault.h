/* Memory faults of kernels: threads inside a launch, guarded reads. */
#ifndef PTERA_RUNTIME_FAULT_H
#define PTERA_RUNTIME_FAULT_H

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A thread inside a launch. A fault jumps to `recover` for a fault in an engine's access code
 * and to `copying` while pt_fault_copy runs; all other faults are not ours. */
struct pt_fault_scope {
    sigjmp_buf recover;
    sigjmp_buf copying;
    volatile sig_atomic_t is_copying;
    volatile uint64_t address; /* of the fault, or PT_ADDRESS_UNKNOWN */
    volatile uintptr_t pc;     /* of the code that it happened in */
    volatile sig_atomic_t signal;
    /* NULL, or asked first, in the handler: true, the access can be done again now. */
    bool (*tolerate)(void *ud, uintptr_t pc, uint64_t address);
    void *tolerate_ud;
    struct pt_fault_scope *outer; /* a launch from a callback of another one */
    /* the thread's own, while it is inside: */
    uint64_t fp_control;
    sigset_t mask; /* where it blocked faults */
    bool blocked_faults;
    stack_t stack;
    bool is_stack_lent; /* another one is in its place */
};

/* Makes the calling thread one inside a launch: the handler's scope, faults that are not
 * blocked, an alternate stack, default floating-point control. Returns false if there is no
 * memory. The caller then sets scope->recover. */
bool pt_fault_enter(struct pt_fault_scope *scope, uint64_t run);
void pt_fault_leave(struct pt_fault_scope *scope);
/* System calls take longer than a small launch: of those that make up one run (0: of none), the
 * thread's first one asks the system for its signals, and the others rely on that, unless the
 * host's code has run in the thread meanwhile. */
bool pt_fault_is_in(uint64_t run);
void pt_fault_host_ran(void);

/* For the handler: leaves it by a jump if the fault is a kernel's, and returns otherwise: true,
 * the access is to be done again. Takes no memory and little of the stack, and no lock but that
 * of device memory where its accesses may go on. */
bool pt_fault_take(const siginfo_t *info, void *context);

/* Copies from an address that a kernel gave. Returns the number of bytes copied before one could
 * not be read. Inside a launch only. */
size_t pt_fault_copy(void *to, uint64_t from, size_t n);
/* Likewise, up to and with the first zero byte. */
size_t pt_fault_copy_string(char *to, uint64_t from, size_t n);

#endif
