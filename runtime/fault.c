/* Memory faults of kernels. */
#define _GNU_SOURCE
#include "runtime/fault.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "backend/exec.h"
#include "runtime/native.h"

enum { ALT_STACK_BYTES = 64 << 10, SI_GENERAL_PROTECTION = 128 /* SI_KERNEL */ };

/* Initial-exec: the handler may not allocate, as the first use of a thread's dynamic TLS would. */
static __thread __attribute__((tls_model("initial-exec"))) struct pt_fault_scope *current;

static pthread_mutex_t install_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned install_count;
static bool is_installed[2];
static struct sigaction previous[2];
static const int signals[2] = {SIGSEGV, SIGBUS};

/* ---- floating-point control ---------------------------------------------------------------------------- */

#if defined(__x86_64__)
/* MXCSR: round to nearest, all exceptions masked, no FTZ, no DAZ. Above it the x87 control word, which only what host functions
 * do can change. */
static const uint64_t fp_default = UINT64_C(0x37f) << 32 | 0x1f80;

static uint64_t get_fp(void)
{
    uint16_t x87;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    return (uint64_t)x87 << 32 | __builtin_ia32_stmxcsr();
}

static void set_fp(uint64_t control)
{
    uint16_t x87 = (uint16_t)(control >> 32);
    __asm__ volatile("fldcw %0" : : "m"(x87));
    __builtin_ia32_ldmxcsr((unsigned)control);
}
#elif defined(__aarch64__)
static const uint64_t fp_default = 0;

static uint64_t get_fp(void)
{
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control;
}

static void set_fp(uint64_t control)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
}
#endif

void pt_fault_reset_fp(void)
{
    set_fp(fp_default);
}

/* ---- the handler --------------------------------------------------------------------------------------- */

static uintptr_t fault_pc(const void *context)
{
    const ucontext_t *u = context;
#if defined(__x86_64__)
    return (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)u->uc_mcontext.pc;
#endif
}

/* Leaves a fault that is not ours to the handler that was there before. */
static void chain(int signal, siginfo_t *info, void *context)
{
    const struct sigaction *old = &previous[signal == SIGBUS];
    if (!(old->sa_flags & SA_SIGINFO) &&
        (old->sa_handler == SIG_DFL || old->sa_handler == SIG_IGN)) {
        struct sigaction by_default = {.sa_handler = SIG_DFL};
        sigaction(signal, &by_default, NULL);
        if (info->si_code <= 0) /* sent by a process: it does not happen again by itself */
            raise(signal);
        return;
    }
    sigset_t block = old->sa_mask, before;
    if (!(old->sa_flags & SA_NODEFER))
        sigaddset(&block, signal);
    pthread_sigmask(SIG_BLOCK, &block, &before);
    if (old->sa_flags & SA_SIGINFO)
        old->sa_sigaction(signal, info, context);
    else
        old->sa_handler(signal);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void handle(int signal, siginfo_t *info, void *context)
{
    struct pt_fault_scope *scope = current;
    uintptr_t pc = fault_pc(context);
    if (!scope || info->si_code <= 0 ||
        !(scope->is_copying || pt_is_access_code(pc) || pt_jit_holds(pc))) {
        chain(signal, info, context);
        return;
    }
    scope->signal = signal;
    scope->pc = pc;
    scope->address = info->si_code == SI_GENERAL_PROTECTION ? PT_ADDRESS_UNKNOWN
                                                            : (uint64_t)(uintptr_t)info->si_addr;
    /* The handler is left by a jump: no signal must stay blocked. */
    pthread_sigmask(SIG_SETMASK, &((const ucontext_t *)context)->uc_sigmask, NULL);
    siglongjmp(scope->is_copying ? scope->copying : scope->recover, 1);
}

/* SA_NODEFER: handlers that were there before are called with the signals blocked that they name. */
static bool install(int i)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    action.sa_sigaction = handle;
    sigemptyset(&action.sa_mask);
    if (!is_installed[i])
        is_installed[i] = sigaction(signals[i], &action, &previous[i]) == 0;
    return is_installed[i];
}

/* Somebody who came later may chain to ours: then it stays, and passes everything on. */
static void uninstall(int i)
{
    struct sigaction now;
    if (is_installed[i] && sigaction(signals[i], NULL, &now) == 0 && now.sa_sigaction == handle)
        is_installed[i] = sigaction(signals[i], &previous[i], NULL) != 0;
}

bool pt_fault_install(void)
{
    pthread_mutex_lock(&install_lock);
    bool ok = install(0) && install(1);
    install_count += ok;
    pthread_mutex_unlock(&install_lock);
    return ok;
}

void pt_fault_uninstall(void)
{
    pthread_mutex_lock(&install_lock);
    if (--install_count == 0) {
        uninstall(0);
        uninstall(1);
    }
    pthread_mutex_unlock(&install_lock);
}

/* ---- alternate stacks ---------------------------------------------------------------------------------- */

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key;
static __thread bool has_signal_stack;

static void take_signal_stack(void *p)
{
    stack_t now;
    if (sigaltstack(NULL, &now) == 0 && now.ss_sp == p)
        sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    munmap(p, ALT_STACK_BYTES);
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, take_signal_stack) == 0;
}

/* A program that closes the library keeps the stacks that its threads have. */
__attribute__((destructor)) static void delete_key(void)
{
    if (has_key)
        pthread_key_delete(key);
}

/* A thread that has no alternate stack gets one with its first launch, for good: system calls for each launch would
 * take longer than a small launch. */
static bool give_signal_stack(void)
{
    stack_t now;
    if (sigaltstack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE))
        return true;
    pthread_once(&key_once, make_key);
    void *p =
        mmap(NULL, ALT_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return false;
    if (!has_key || pthread_setspecific(key, p) != 0 ||
        sigaltstack(&(stack_t){.ss_sp = p, .ss_size = ALT_STACK_BYTES}, NULL) != 0) {
        munmap(p, ALT_STACK_BYTES);
        return false;
    }
    return true;
}

/* ---- threads inside a launch --------------------------------------------------------------------------- */

bool pt_fault_enter(struct pt_fault_scope *scope)
{
    has_signal_stack = has_signal_stack || give_signal_stack();
    if (!has_signal_stack)
        return false;
    scope->is_copying = 0;
    scope->outer = current;
    scope->fp_control = get_fp();
    set_fp(fp_default);
    current = scope;
    return true;
}

void pt_fault_leave(struct pt_fault_scope *scope)
{
    current = scope->outer;
    set_fp(scope->fp_control);
}

/* ---- guarded copies ------------------------------------------------------------------------------------ */

/* `done` counts in memory, because the loop may be left by the handler's jump. No sanitizer may look at
 * addresses that a kernel made up. */
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
