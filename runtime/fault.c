/* Memory faults of kernels. */
#define _GNU_SOURCE
#include "runtime/fault.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "backend/exec.h"
#include "runtime/fpenv.h"
#include "runtime/handler.h"
#include "runtime/jit.h"

enum { ALT_STACK_BYTES = 64 << 10, SI_GENERAL_PROTECTION = 128 /* SI_KERNEL */ };
enum { AUTODISARM = INT_MIN /* SS_AUTODISARM, which the C library does not have */ };

/* Initial-exec: the handler may not allocate, as the first use of a thread's dynamic TLS would. */
static __thread __attribute__((tls_model("initial-exec"))) struct pt_fault_scope *current;

/* ---- faults ---------------------------------------------------------------------------------- */

static uintptr_t fault_pc(const void *context)
{
    const ucontext_t *u = context;
#if defined(__x86_64__)
    return (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)u->uc_mcontext.pc;
#endif
}

bool pt_fault_take(const siginfo_t *info, void *context)
{
    struct pt_fault_scope *scope = current;
    uintptr_t pc = fault_pc(context);
    if (!scope || info->si_code <= 0 ||
        !(scope->is_copying || pt_is_access_code(pc) || pt_jit_holds(pc)))
        return false;
    bool has_address = info->si_code != SI_GENERAL_PROTECTION;
    uint64_t address = has_address ? (uint64_t)(uintptr_t)info->si_addr : PT_ADDRESS_UNKNOWN;
    if (scope->tolerate && has_address && !scope->is_copying &&
        scope->tolerate(scope->tolerate_ud, pc, address))
        return true;
    scope->signal = info->si_signo;
    scope->pc = pc;
    scope->address = address;
    /* The handler is left by a jump: no signal must stay blocked. */
    pthread_sigmask(SIG_SETMASK, &((const ucontext_t *)context)->uc_sigmask, NULL);
    siglongjmp(scope->is_copying ? scope->copying : scope->recover, 1);
}

/* ---- threads inside a launch ----------------------------------------------------------------- */

static __thread void *signal_stack;

static void take_signal_stack(void *p)
{
    stack_t now;
    if (sigaltstack(NULL, &now) == 0 && now.ss_sp == p)
        sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    munmap(p, ALT_STACK_BYTES);
    signal_stack = NULL;
}

/* Where there was none to be had, there may be one later. No lock: a forked child could find it
 * held by a thread that it does not have. */
static bool get_key(pthread_key_t *key)
{
    static atomic_uint made; /* the key and one more; 0: there is none */
    unsigned have = atomic_load(&made);
    if (!have && pthread_key_create(key, take_signal_stack) == 0) {
        if (atomic_compare_exchange_strong(&made, &have, *key + 1))
            return true;
        pthread_key_delete(*key);
    }
    *key = have - 1;
    return have;
}

/* The thread's alternate stack, made by its first launch that has use for it. */
static bool has_signal_stack(void)
{
    pthread_key_t key;
    if (signal_stack)
        return true;
    if (!get_key(&key))
        return false;
    void *p =
        mmap(NULL, ALT_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return false;
    if (pthread_setspecific(key, p) != 0) {
        munmap(p, ALT_STACK_BYTES);
        return false;
    }
    signal_stack = p;
    return true;
}

/* The kernel puts the registers there, of which machines have more and more, and the handler
 * wants its share; and it takes one with SS_AUTODISARM away until the handler returns, which
 * ours does not. */
static bool is_fit(const stack_t *stack)
{
    enum { FRAME_BYTES = 4096, HANDLER_BYTES = 2048 };
    size_t frame = getauxval(AT_MINSIGSTKSZ); /* 0: an old kernel does not tell */
    if (!frame)
        frame = FRAME_BYTES;
    return !(stack->ss_flags & AUTODISARM) && stack->ss_size >= frame + HANDLER_BYTES;
}

/* A thread that has no alternate stack keeps ours; one that has one that will not do has ours
 * for the launch. Once there is a good one it is looked at again only when the host has changed
 * its handlers: system calls take longer than a small launch. */
static bool give_signal_stack(struct pt_fault_scope *scope)
{
    static __thread unsigned good_since;
    stack_t *now = &scope->stack;
    unsigned changes = pt_handler_changes();
    scope->is_stack_lent = false;
    if (good_since == changes || sigaltstack(NULL, now) != 0 || now->ss_flags & SS_ONSTACK)
        return true;
    bool is_off = now->ss_flags & SS_DISABLE;
    if (is_off || !is_fit(now)) {
        if (!has_signal_stack() ||
            sigaltstack(&(stack_t){.ss_sp = signal_stack, .ss_size = ALT_STACK_BYTES}, NULL) != 0)
            return false;
        scope->is_stack_lent = !is_off;
    }
    if (!scope->is_stack_lent)
        good_since = changes;
    return true;
}

static __thread uint64_t run_entered; /* in which faults were not blocked to begin with */

bool pt_fault_is_in(uint64_t run)
{
    return run && run == run_entered;
}

void pt_fault_host_ran(void)
{
    run_entered = 0;
}

static bool blocks_faults(const sigset_t *mask)
{
    return sigismember(mask, SIGSEGV) || sigismember(mask, SIGBUS);
}

static void unblock_faults(struct pt_fault_scope *scope, uint64_t run)
{
    sigset_t faults;
    sigemptyset(&faults);
    sigaddset(&faults, SIGSEGV);
    sigaddset(&faults, SIGBUS);
    pthread_sigmask(SIG_UNBLOCK, &faults, &scope->mask);
    run_entered = blocks_faults(&scope->mask) ? 0 : run;
}

bool pt_fault_enter(struct pt_fault_scope *scope, uint64_t run)
{
    if (!give_signal_stack(scope))
        return false;
    scope->blocked_faults = false;
    if (!pt_fault_is_in(run)) {
        unblock_faults(scope, run);
        scope->blocked_faults = blocks_faults(&scope->mask);
    }
    scope->is_copying = 0;
    scope->tolerate = NULL;
    scope->outer = current;
    scope->fp_control = pt_fpenv_save();
    pt_fpenv_reset();
    current = scope;
    return true;
}

void pt_fault_leave(struct pt_fault_scope *scope)
{
    current = scope->outer;
    pt_fpenv_restore(scope->fp_control);
    if (scope->blocked_faults)
        pthread_sigmask(SIG_SETMASK, &scope->mask, NULL);
    if (scope->is_stack_lent)
        sigaltstack(&scope->stack, NULL);
}

/* ---- guarded copies -------------------------------------------------------------------------- */

/* `done` counts in memory, because the loop may be left by the handler's jump. No sanitizer may
 * look at addresses that a kernel made up. */
__attribute__((noinline, no_sanitize("address", "thread", "undefined"))) static void
copy_bytes(char *to, uint64_t from, size_t n, bool is_string, volatile size_t *done)
{
    const volatile char *p = (const volatile char *)(uintptr_t)from;
    for (size_t i = 0; i < n; i++) {
        char c = p[i];
        to[i] = c;
        *done = i + 1;
        if (is_string && c == 0)
            return;
    }
}

static size_t guarded(char *to, uint64_t from, size_t n, bool is_string)
{
    struct pt_fault_scope *scope = current;
    volatile size_t done = 0;
    if (sigsetjmp(scope->copying, 0) == 0) {
        scope->is_copying = 1;
        copy_bytes(to, from, n, is_string, &done);
    }
    scope->is_copying = 0;
    return done;
}

size_t pt_fault_copy(void *to, uint64_t from, size_t n)
{
    return guarded(to, from, n, false);
}

size_t pt_fault_copy_string(char *to, uint64_t from, size_t n)
{
    return guarded(to, from, n, true);
}
