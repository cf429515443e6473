/* A litmus test: a program of a few threads, each in its place in the grid, and its text. */
#ifndef PTERA_TOOLS_LITMUS_TEST_H
#define PTERA_TOOLS_LITMUS_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LITMUS_THREADS = 5,
    LITMUS_OPS = 8,
    LITMUS_PLACES = 5,
    LITMUS_REGISTERS = 10,
    LITMUS_TEXT = 1024,
    LITMUS_NO_REGISTER = -1
};

enum litmus_order {
#define ORDER(name, word) LITMUS_##name,
#include "tools/litmus/words.def"
    LITMUS_ORDERS
};
enum litmus_scope {
#define SCOPE(name, word) LITMUS_##name,
#include "tools/litmus/words.def"
    LITMUS_SCOPES
};
enum litmus_proxy {
#define PROXY(name, word) LITMUS_##name,
#include "tools/litmus/words.def"
    LITMUS_PROXIES
};
enum litmus_update {
#define UPDATE(name, word) LITMUS_##name,
#include "tools/litmus/words.def"
    LITMUS_UPDATES
};
enum litmus_kind {
    LITMUS_LOAD,
    LITMUS_STORE,
    LITMUS_ATOM,
    LITMUS_RED, /* an atomic without a result */
    LITMUS_FENCE,
    LITMUS_PROXY_FENCE,
    LITMUS_BAR_SYNC,
    LITMUS_BAR_ARRIVE,
    LITMUS_BAR_CLUSTER /* barrier.cluster.arrive and .wait */
};
enum litmus_dependency { LITMUS_NONE, LITMUS_ADDR, LITMUS_DATA, LITMUS_CTRL };

struct litmus_op {
    enum litmus_kind kind;
    enum litmus_order order;
    enum litmus_scope scope;
    enum litmus_proxy proxy;
    enum litmus_update update;
    unsigned place, address; /* x is place 0; x' is its address 1, an alias */
    unsigned value, barrier;
    int reg;  /* where the result goes */
    int from; /* the register whose value is written; else `value` is */
    enum litmus_dependency dependency;
    int on; /* the register that it depends on */
};

struct litmus_thread {
    unsigned cluster, cta; /* of that cluster */
    unsigned n;
    struct litmus_op op[LITMUS_OPS];
};

struct litmus_test {
    unsigned n_threads, n_registers, n_places;
    struct litmus_thread thread[LITMUS_THREADS];
};

/* Reads "0.0: st.weak [x], 1; fence.acq_rel.gpu; st.relaxed.gpu [y], 1 | 0.1: ld.acquire.gpu r0,
 * [y]; ld.weak r1, [x] addr:r0". In front of a thread: its cluster and its CTA there. False: `why`
 * says what is not understood. */
bool litmus_test_read(const char *text, struct litmus_test *test, char *why, size_t why_bytes);

/* Writes it so. */
void litmus_test_write(const struct litmus_test *test, char text[LITMUS_TEXT]);

static inline bool litmus_op_is_access(const struct litmus_op *op)
{
    return op->kind <= LITMUS_RED;
}
static inline bool litmus_op_reads(const struct litmus_op *op)
{
    return litmus_op_is_access(op) && op->kind != LITMUS_STORE;
}
static inline bool litmus_op_writes(const struct litmus_op *op)
{
    return litmus_op_is_access(op) && op->kind != LITMUS_LOAD;
}
static inline bool litmus_op_is_strong(const struct litmus_op *op)
{
    return op->kind == LITMUS_FENCE || (litmus_op_is_access(op) && op->order != LITMUS_WEAK);
}
static inline bool litmus_op_is_barrier(const struct litmus_op *op)
{
    return op->kind >= LITMUS_BAR_SYNC;
}

/* What an atomic leaves where `old` was. */
unsigned litmus_op_update(const struct litmus_op *op, unsigned old, unsigned value);
/* False: a comparison that fails. */
static inline bool litmus_op_takes_place(const struct litmus_op *op, unsigned old)
{
    return op->update != LITMUS_CAS || old == 0;
}

/* True if the scope of an operation of `by` includes thread `other`. */
bool litmus_test_includes(const struct litmus_test *test, unsigned by, enum litmus_scope scope,
                          unsigned other);

#endif
