/* Handlers of SIGSEGV and SIGBUS, over those of the host.
 *
 * A layer is one of our handlers and what it lies on: the action that was in its place. A host that
 * sets an action of its own later, be it one that hands on to ours, is a new thing to lie on, and
 * the next launch puts another layer over it. Each layer has an entry of its own, so that a host
 * that keeps one, to call it or to put it back, has with it just what was below.
 */
#define _GNU_SOURCE
#include "runtime/handler.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <ucontext.h>

struct layer {
    struct sigaction below;
    atomic_bool is_spent; /* below had SA_RESETHAND, and has run */
};

enum { LAYERS = 8, SIGNALS = 2 };

static const int signals[SIGNALS] = {SIGSEGV, SIGBUS};
static struct layer layers[SIGNALS][LAYERS];
static unsigned n_layers[SIGNALS]; /* under the lock, as changes of the layers are */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned n_engines;
static atomic_uint changes;
static bool (*_Atomic taker)(const siginfo_t *info, void *context); /* set before a handler is */
/* NULL: nobody wants to know of the host's faults */
static void (*_Atomic teller)(uint64_t address);

static void handle(unsigned n, int signal, siginfo_t *info, void *context);

#define ENTRIES(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define ENTRY(n)                                                       \
    static void handle_##n(int signal, siginfo_t *info, void *context) \
    {                                                                  \
        handle(n, signal, info, context);                              \
    }
ENTRIES(ENTRY)
#define NAME(n) handle_##n,
static void (*const entries[LAYERS])(int, siginfo_t *, void *) = {ENTRIES(NAME)};

/* LAYERS: an action that is not ours. */
static unsigned layer_of(const struct sigaction *action)
{
    unsigned n = 0;
    while (n < LAYERS && action->sa_sigaction != entries[n])
        n++;
    return n;
}

/* Who puts it back by signal() forgets that it takes three arguments. */
static bool is_whole(const struct sigaction *action)
{
    return layer_of(action) < LAYERS && action->sa_flags & SA_SIGINFO;
}

static struct sigaction current_action(int i)
{
    struct sigaction now;
    memset(&now, 0, sizeof now); /* of the mask, the C library fills in what the kernel has */
    sigaction(signals[i], NULL, &now);
    return now;
}

static bool is_function(const struct sigaction *action)
{
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* SA_NODEFER: what is below is called with the signals blocked that it names. A handler that ran
 * on the thread's own stack goes on doing so; others, and faults of kernels at the end of their
 * stack, need the alternate one. */
static void put(int i, unsigned n)
{
    const struct sigaction *below = &layers[i][n].below;
    bool is_on_own = is_function(below) && !(below->sa_flags & SA_ONSTACK);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = entries[n];
    action.sa_flags =
        SA_SIGINFO | SA_NODEFER | (is_on_own ? 0 : SA_ONSTACK) | (below->sa_flags & SA_RESTART);
    sigaction(signals[i], &action, NULL);
}

/* ---- what is not ours ------------------------------------------------------------------------ */

/* The layers that a signal is going through: a host's handler may call ours again. The innermost
 * hangs on the context's uc_link, which the kernel sets to null for each signal and does not
 * look at afterwards, and so do those of other copies of this library. */
struct visit {
    const struct layer *layer;
    const struct visit *outer;
};

static bool is_visited(const struct visit *visit, const struct layer *layer)
{
    while (visit && visit->layer != layer)
        visit = visit->outer;
    return visit != NULL;
}

/* What the kernel does where there is no handler. A fault happens again when ours returns, and
 * ends the process. */
static void act_by_default(int signal, const siginfo_t *info, bool is_ignored)
{
    bool is_sent = info->si_code <= 0; /* by a process: it does not happen again */
    struct sigaction by_default = {.sa_handler = SIG_DFL};
    if (is_sent && is_ignored)
        return;
    sigaction(signal, &by_default, NULL);
    if (is_sent)
        raise(signal);
}

static void call(const struct sigaction *action, int signal, siginfo_t *info, void *context)
{
    sigset_t block = action->sa_mask, before;
    if (!(action->sa_flags & SA_NODEFER))
        sigaddset(&block, signal);
    pthread_sigmask(SIG_BLOCK, &block, &before);
    if (action->sa_flags & SA_SIGINFO)
        action->sa_sigaction(signal, info, context);
    else
        action->sa_handler(signal);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Leaves a signal to what the layer lies on. If that is what handed it back it has nothing
 * below: handlers that keep ours after it was put over them go round. Only the last layer may
 * come twice in a line that ends, because it is made anew. */
static void hand_on(int i, unsigned n, siginfo_t *info, ucontext_t *context)
{
    struct visit visit = {.outer = (const struct visit *)context->uc_link};
    unsigned left = n + 1;
    while (left && is_visited(visit.outer, &layers[i][left - 1]))
        left = left == LAYERS ? left - 1 : 0;
    struct layer *layer = left ? &layers[i][left - 1] : NULL;
    bool has_handler = layer && is_function(&layer->below);
    if (has_handler && layer->below.sa_flags & (int)SA_RESETHAND)
        has_handler = !atomic_exchange(&layer->is_spent, true);
    if (!has_handler) {
        act_by_default(signals[i], info, layer && layer->below.sa_handler == SIG_IGN);
        return;
    }
    visit.layer = layer;
    context->uc_link = (ucontext_t *)&visit;
    call(&layer->below, signals[i], info, context);
    context->uc_link = (ucontext_t *)(uintptr_t)visit.outer;
}

static void handle(unsigned n, int signal, siginfo_t *info, void *context)
{
    int i = signal == SIGBUS;
    struct sigaction now = current_action(i);
    if (layer_of(&now) == n && !is_whole(&now)) { /* the fault happens again, with all arguments */
        put(i, n);
        return;
    }
    if (atomic_load(&taker)(info, context))
        return;
    void (*tell)(uint64_t address) = atomic_load(&teller);
    if (tell && info->si_code > 0)
        tell((uintptr_t)info->si_addr);
    hand_on(i, n, info, context);
}

void pt_handler_tell(void (*tell)(uint64_t address))
{
    atomic_store(&teller, tell);
}

/* ---- installing ------------------------------------------------------------------------------ */

static bool is_same(const struct sigaction *a, const struct sigaction *b)
{
    return a->sa_sigaction == b->sa_sigaction && a->sa_flags == b->sa_flags &&
           memcmp(&a->sa_mask, &b->sa_mask, sizeof a->sa_mask) == 0;
}

/* The layer for what is there now. When there are too many, the last one is made anew. */
static unsigned layer_over(int i, const struct sigaction *now)
{
    unsigned n = 0;
    while (n < n_layers[i] && !is_same(&layers[i][n].below, now))
        n++;
    if (n == LAYERS)
        n--;
    if (n == n_layers[i])
        n_layers[i]++;
    layers[i][n].below = *now;
    atomic_store(&layers[i][n].is_spent, false);
    return n;
}

static void ensure(int i)
{
    struct sigaction now = current_action(i);
    if (is_whole(&now))
        return;
    pthread_mutex_lock(&lock);
    now = current_action(i);
    if (layer_of(&now) < LAYERS)
        put(i, layer_of(&now));
    else
        put(i, layer_over(i, &now));
    atomic_fetch_add(&changes, 1);
    pthread_mutex_unlock(&lock);
}

void pt_handler_ensure(void)
{
    for (int i = 0; i < SIGNALS; i++)
        ensure(i);
}

unsigned pt_handler_changes(void)
{
    return atomic_load_explicit(&changes, memory_order_acquire);
}

/* Where somebody who came later hands on to ours it stays, and hands everything on. */
static void take_out(int i)
{
    struct sigaction now = current_action(i);
    unsigned n = layer_of(&now);
    if (n == LAYERS)
        return;
    struct sigaction by_default = {.sa_handler = SIG_DFL};
    sigaction(signals[i], atomic_load(&layers[i][n].is_spent) ? &by_default : &layers[i][n].below,
              NULL);
}

static void take_lock(void)
{
    pthread_mutex_lock(&lock);
}

static void give_lock(void)
{
    pthread_mutex_unlock(&lock);
}

/* A child must not find the lock held by a thread that it does not have. */
static void watch_forks(void)
{
    pthread_atfork(take_lock, give_lock, give_lock);
}

void pt_handler_install(bool (*take)(const siginfo_t *info, void *context))
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    atomic_store(&taker, take);
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&lock);
    n_engines++;
    pthread_mutex_unlock(&lock);
    pt_handler_ensure();
}

void pt_handler_uninstall(void)
{
    pthread_mutex_lock(&lock);
    if (--n_engines == 0)
        for (int i = 0; i < SIGNALS; i++)
            take_out(i);
    pthread_mutex_unlock(&lock);
}
