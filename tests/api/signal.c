/* Hosts with signal handlers, masks, timers and stacks of their own: a kernel's fault is an error
 * whatever they do, and a fault of theirs is theirs. What may end a process is done in a child. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/api/support.h"

static const char text[] = HEADER ".visible .entry k(.param .u64 p)\n{\n"
                                  "    .reg .b64 %rd<2>; .reg .b32 %r<2>; ld.param.u64 %rd1, [p];\n"
                                  "    ld.global.u32 %r1, [%rd1]; add.u32 %r1, %r1, 1; "
                                  "st.global.u32 [%rd1], %r1;\n    ret;\n}\n";

static ptera_backend backend;
static ptera_engine *engine;
static ptera_module *module;

static void begin(void)
{
    engine = new_engine(4);
    module = load(engine, text);
}

static void end(void)
{
    ptera_engine_destroy(engine);
}

static ptera_result touch(uint64_t address, unsigned grid)
{
    const void *parameters[] = {&address};
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.grid[0] = grid;
    launch.parameters = parameters;
    launch.n_parameters = 1;
    launch.backend = backend;
    return ptera_kernel_launch(kernel_of(module, "k"), &launch);
}

/* Faults of both kinds: where nothing is, and where a file has ended. */
static void check_kernel_faults(void)
{
    uint32_t *good = new_buffer(engine, 4);
    int fd = memfd_create("empty", MFD_CLOEXEC);
    void *past_end = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    *good = 1;
    CHECK_INT(touch(0xdead000, 1), PTERA_ERROR_ILLEGAL_ADDRESS);
    CHECK_INT(touch((uintptr_t)past_end, 1), PTERA_ERROR_ILLEGAL_ADDRESS);
    CHECK_INT(touch(0xdead000, 64), PTERA_ERROR_ILLEGAL_ADDRESS);
    CHECK_INT(touch((uintptr_t)good, 1), PTERA_OK);
    CHECK_INT(*good, 2);
    munmap(past_end, 4096);
    close(fd);
    ptera_buffer_free(engine, good);
}

/* Runs `check` in a child, whose checks count as one. `want` is the signal that ends it; 0:
 * none. */
static void in_child(void (*check)(void), const char *name, int want)
{
    int status = -1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(60);
        check_failed = 0;
        signal(SIGSEGV, SIG_DFL); /* sanitizers have handlers */
        signal(SIGBUS, SIG_DFL);
        check();
        fflush(NULL);
        _exit(check_failed > 0);
    }
    waitpid(pid, &status, 0);
    bool is_good = want ? WIFSIGNALED(status) && WTERMSIG(status) == want
                        : WIFEXITED(status) && WEXITSTATUS(status) == 0;
    CHECK(is_good);
    if (!is_good)
        fprintf(stderr, "%s, backend %d: status 0x%x\n", name, backend, status);
}

#define IN_CHILD(check) in_child(check, #check, 0)
#define DIES(check) in_child(check, #check, SIGSEGV)

/* ---- the host's own faults ------------------------------------------------------------------- */

static volatile int mended, handed_on, *shared_count;
static char *volatile page;
static struct sigaction kept;
static sigset_t mask_inside;
static sigjmp_buf way_out;

/* A fault of the host's, which ends it unless a handler mends the page. */
static void fault(void)
{
    mprotect(page, 4096, PROT_NONE);
    *(volatile char *)page = 1;
}

static void mend(int signal)
{
    (void)signal;
    mended++;
    pthread_sigmask(SIG_BLOCK, NULL, &mask_inside);
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void mend_with_info(int signal, siginfo_t *info, void *context)
{
    CHECK(context != NULL);
    CHECK(info->si_addr == page);
    mend(signal);
}

static void hand_on(int signal, siginfo_t *info, void *context)
{
    handed_on++;
    if (shared_count)
        ++*shared_count;
    kept.sa_sigaction(signal, info, context);
}

static void jump_out(int signal)
{
    (void)signal;
    mended++;
    siglongjmp(way_out, 1);
}

static void set_handler(void (*handler)(int), int flags, struct sigaction *before)
{
    struct sigaction action = {.sa_flags = flags};
    action.sa_handler = handler;
    sigaddset(&action.sa_mask, SIGUSR1);
    sigaction(SIGSEGV, &action, before);
}

static void set_handing_on(struct sigaction *before)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    action.sa_sigaction = hand_on;
    sigaction(SIGSEGV, &action, before);
}

static void make_page(void)
{
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mended = handed_on = 0;
}

static void check_mended(int times)
{
    mended = 0;
    fault();
    CHECK_INT(mended, times);
}

/* ---- handlers -------------------------------------------------------------------------------- */

/* Set while an engine is there: the next launch, and the next engine, is as good, and the host's
 * faults are its own. */
static void replaced(void)
{
    begin();
    set_handler(mend, 0, NULL);
    signal(SIGBUS, SIG_IGN);
    check_mended(1);
    check_kernel_faults();
    check_mended(1);
    end();
    check_mended(1);
    begin();
    check_kernel_faults();
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};
    action.sa_sigaction = mend_with_info;
    sigaction(SIGSEGV, &action, NULL);
    check_kernel_faults();
    check_mended(1);
    end();
    sigaction(SIGSEGV, NULL, &action);
    CHECK(action.sa_sigaction == mend_with_info);
}

static void set_to_default(void)
{
    begin();
    signal(SIGSEGV, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
    check_kernel_faults();
    end();
    begin();
    check_kernel_faults();
}

static void dies_by_default(void)
{
    set_to_default();
    fault();
}

static void dies_by_default_between(void)
{
    begin();
    signal(SIGSEGV, SIG_DFL);
    fault();
}

static void ignored(void)
{
    signal(SIGSEGV, SIG_IGN);
    begin();
    kill(getpid(), SIGSEGV); /* nothing happens, as without us */
    check_kernel_faults();
    kill(getpid(), SIGSEGV);
    check_kernel_faults();
}

static void dies_when_sent(void)
{
    begin();
    check_kernel_faults();
    kill(getpid(), SIGSEGV);
    pause();
}

/* A handler that calls the one that it found. */
static void handed_on_to(void)
{
    set_handler(mend, 0, NULL);
    begin();
    set_handing_on(&kept);
    check_mended(1);
    CHECK_INT(handed_on, 1);
    check_kernel_faults();
    check_mended(1);
    CHECK_INT(handed_on, 2);
    end();
    check_mended(1);
    CHECK_INT(handed_on, 3);
    begin();
    check_kernel_faults();
    check_mended(1);
    CHECK_INT(handed_on, 4);
}

static void set_handing_on_inside(uint32_t x)
{
    (void)x;
    set_handing_on(&kept);
}

/* The handler comes while a kernel runs: the fault reaches ours through it. */
static void handed_on_to_within(void)
{
    engine = new_engine(1);
    CHECK_INT(
        ptera_function_register(engine, "f", "void (u32)", (void (*)(void))set_handing_on_inside),
        PTERA_OK);
    module = load(engine, HEADER ".extern .func f(.param .b32 x);\n"
                                 ".visible .entry k(.param .u64 p)\n{\n"
                                 "    .reg .b64 %rd<2>; .reg .b32 %r<2>; ld.param.u64 %rd1, [p]; "
                                 "mov.u32 %r1, 1;\n"
                                 "    { .param .b32 x; st.param.b32 [x], %r1; call.uni f, (x); }\n"
                                 "    st.global.u32 [%rd1], %r1;\n    ret;\n}\n");
    CHECK_INT(touch(0xdead000, 1), PTERA_ERROR_ILLEGAL_ADDRESS);
    CHECK_INT(handed_on, 1);
}

/* A handler set twice, which takes ours for the one before it, while ours has it below. */
static void goes_round(void)
{
    set_handing_on(&kept);
    begin();
    set_handing_on(&kept);
    check_kernel_faults();
    set_handing_on(&kept);
    fault();
}

static void check_round(void)
{
    shared_count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    DIES(goes_round);
    CHECK(*shared_count > 0);
    CHECK(*shared_count < 10);
    munmap((void *)(uintptr_t)shared_count, 4096);
    shared_count = NULL;
}

/* The host takes its handler away again by putting back what it found: what was below that is in
 * force. */
static void put_back(void)
{
    set_handler(mend, 0, NULL);
    begin();
    set_handing_on(&kept);
    check_kernel_faults();
    sigaction(SIGSEGV, &kept, NULL);
    check_mended(1);
    CHECK_INT(handed_on, 0);
    check_kernel_faults();
    void (*found)(int) = signal(SIGSEGV, SIG_DFL);
    signal(SIGSEGV, found);
    check_mended(1);
    check_kernel_faults();
    check_mended(1);
}

/* More handlers than there are layers. */
static void many(void)
{
    set_handler(mend, 0, NULL);
    begin();
    for (int i = 0; i < 40; i++) {
        struct sigaction action = {.sa_flags = SA_NODEFER};
        action.sa_handler = mend;
        sigaddset(&action.sa_mask, SIGRTMIN + i % 20);
        sigaction(SIGSEGV, &action, NULL);
        CHECK_INT(touch(0xdead000, 1), PTERA_ERROR_ILLEGAL_ADDRESS);
        check_mended(1);
    }
    check_kernel_faults();
}

static void masks_inside(void)
{
    set_handler(mend, 0, NULL);
    begin();
    check_mended(1);
    CHECK(sigismember(&mask_inside, SIGSEGV));
    CHECK(sigismember(&mask_inside, SIGUSR1));
    set_handler(mend, SA_NODEFER, NULL);
    check_kernel_faults();
    check_mended(1);
    CHECK(!sigismember(&mask_inside, SIGSEGV));
    CHECK(sigismember(&mask_inside, SIGUSR1));
    pthread_sigmask(SIG_BLOCK, NULL, &mask_inside);
    CHECK(!sigismember(&mask_inside, SIGUSR1));
}

static void dies_after_one(void)
{
    set_handler(mend, (int)SA_RESETHAND, NULL);
    begin();
    check_kernel_faults();
    check_mended(1);
    check_kernel_faults();
    fault();
}

static void jumped_out(void)
{
    set_handler(jump_out, 0, NULL);
    begin();
    for (volatile int i = 0; i < 4; i++) {
        if (sigsetjmp(way_out, 1) == 0)
            fault();
        CHECK_INT(mended, i + 1);
        check_kernel_faults();
    }
}

/* ---- masks ----------------------------------------------------------------------------------- */

static bool is_all_blocked(void)
{
    sigset_t now;
    bool is_all = true;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    for (int signal = 1; signal <= SIGSYS; signal++)
        is_all = is_all && (signal == SIGKILL || signal == SIGSTOP || sigismember(&now, signal));
    return is_all;
}

/* Before the engine is created, or afterwards. */
static void all_blocked(void)
{
    sigset_t all;
    sigfillset(&all);
    for (int is_late = 0; is_late < 2; is_late++) {
        if (is_late)
            begin();
        pthread_sigmask(SIG_BLOCK, &all, NULL);
        if (!is_late)
            begin();
        check_kernel_faults();
        CHECK(is_all_blocked());
        end();
        pthread_sigmask(SIG_UNBLOCK, &all, NULL);
    }
}

/* ---- alternate stacks ------------------------------------------------------------------------ */

static char own_stack[64 << 10];

static bool has_stack(const stack_t *want)
{
    stack_t now;
    sigaltstack(NULL, &now);
    return now.ss_sp == want->ss_sp && now.ss_size == want->ss_size &&
           now.ss_flags == want->ss_flags;
}

static void signal_stacks(void)
{
    enum { AUTODISARM = INT32_MIN };
    /* that a small system's MINSIGSTKSZ is */
    const stack_t stacks[] = {
        {.ss_sp = own_stack, .ss_size = 2048},
        {.ss_sp = own_stack, .ss_size = sizeof own_stack},
        {.ss_sp = own_stack, .ss_size = sizeof own_stack, .ss_flags = AUTODISARM}};
    begin();
    for (int on_stack = 0; on_stack < 2; on_stack++) {
        for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++) {
            set_handler(mend, on_stack ? SA_ONSTACK : 0, NULL);
            if (sigaltstack(&stacks[i], NULL) != 0)
                continue; /* newer kernels refuse what is too small */
            check_kernel_faults();
            CHECK(has_stack(&stacks[i]));
            if (i > 0)
                check_mended(1);
        }
        sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
        check_kernel_faults();
    }
    end();
}

static volatile bool was_on_own_stack;

static void leave_overflow(int signal)
{
    const char *here = __builtin_frame_address(0); /* sanitizers keep variables elsewhere */
    (void)signal;
    was_on_own_stack = here >= own_stack && here < own_stack + sizeof own_stack;
    siglongjmp(way_out, 1);
}

__attribute__((noinline)) static int overflow(volatile int *deep)
{
    volatile int more[256] = {*deep + 1};
    return *deep < 0 ? 0 : overflow(more) + more[1];
}

/* The host catches the end of its own stack, as runtimes of languages do. */
static void own_overflow(void)
{
    sigaltstack(&(stack_t){.ss_sp = own_stack, .ss_size = sizeof own_stack}, NULL);
    set_handler(leave_overflow, SA_ONSTACK, NULL);
    begin();
    for (volatile int i = 0; i < 2; i++) {
        volatile int deep = 0;
        was_on_own_stack = false;
        if (sigsetjmp(way_out, 1) == 0)
            overflow(&deep);
        CHECK(was_on_own_stack);
        check_kernel_faults();
    }
}

/* ---- timers ---------------------------------------------------------------------------------- */

static volatile sig_atomic_t ticks;

static void tick(int signal)
{
    (void)signal;
    ticks++;
}

static void finished(void *ud, ptera_result result, const char *error)
{
    (void)error;
    *(ptera_result *)ud = result;
}

/* Every system call that can be interrupted is. */
static void interrupted(void)
{
    struct sigaction action = {.sa_handler = tick};
    const struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 20 || ticks < 200; i++) {
        begin();
        uint32_t *good = new_buffer(engine, 4);
        *good = 0;
        CHECK_INT(touch((uintptr_t)good, 1), PTERA_OK);
        CHECK_INT(*good, 1);
        CHECK_INT(touch(0xdead000, 8), PTERA_ERROR_ILLEGAL_ADDRESS);
        const void *parameters[] = {&good};
        ptera_launch launch;
        ptera_result result = PTERA_ERROR_TIMEOUT;
        ptera_launch_init(&launch);
        launch.parameters = parameters;
        launch.n_parameters = 1;
        launch.backend = backend;
        launch.timeout_seconds = 30;
        CHECK_INT(ptera_kernel_launch_async(kernel_of(module, "k"), &launch, finished, &result),
                  PTERA_OK);
        CHECK_INT(ptera_engine_wait(engine), PTERA_OK);
        CHECK_INT(result, PTERA_OK);
        ptera_module *file = NULL;
        CHECK_INT(ptera_module_load_file(engine, SOURCE_DIR "/samples/saxpy/saxpy.ptx", &file),
                  PTERA_OK);
        end();
    }
    setitimer(ITIMER_REAL, &never, NULL);
    CHECK(ticks > 0);
}

int main(void)
{
    engine = new_engine(1);
    ptera_backend backends[] = {PTERA_BACKEND_INTERP, best_backend(engine)};
    ptera_engine_destroy(engine);
    make_page();
    for (int i = 0; i < 2; i++) {
        backend = backends[i];
        IN_CHILD(replaced);
        IN_CHILD(set_to_default);
        DIES(dies_by_default);
        DIES(dies_by_default_between);
        IN_CHILD(ignored);
        DIES(dies_when_sent);
        IN_CHILD(handed_on_to);
        IN_CHILD(handed_on_to_within);
        check_round();
        IN_CHILD(put_back);
        IN_CHILD(many);
        IN_CHILD(masks_inside);
        DIES(dies_after_one);
        IN_CHILD(jumped_out);
        IN_CHILD(all_blocked);
        IN_CHILD(signal_stacks);
        IN_CHILD(own_overflow);
        IN_CHILD(interrupted);
    }
    return CHECK_DONE("signal");
}
