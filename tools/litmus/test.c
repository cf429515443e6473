/* The text of litmus tests. */
#include "tools/litmus/test.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/litmus/words.h"

/* What an instruction's first word says. Those of other proxies than the generic one read or write
 * by that. */
static const struct mnemonic {
    const char *word;
    enum litmus_kind kind;
    enum litmus_order order; /* where none is said */
    enum litmus_proxy proxy;
} mnemonics[] = {{"ld", LITMUS_LOAD, LITMUS_WEAK, LITMUS_GENERIC},
                 {"st", LITMUS_STORE, LITMUS_WEAK, LITMUS_GENERIC},
                 {"suld", LITMUS_LOAD, LITMUS_WEAK, LITMUS_SURFACE},
                 {"sust", LITMUS_STORE, LITMUS_WEAK, LITMUS_SURFACE},
                 {"tex", LITMUS_LOAD, LITMUS_WEAK, LITMUS_TEXTURE},
                 {"ldc", LITMUS_LOAD, LITMUS_WEAK, LITMUS_CONSTANT},
                 {"bulkld", LITMUS_LOAD, LITMUS_WEAK, LITMUS_ASYNC},
                 {"bulkst", LITMUS_STORE, LITMUS_WEAK, LITMUS_ASYNC},
                 {"atom", LITMUS_ATOM, LITMUS_RELAXED, LITMUS_GENERIC},
                 {"red", LITMUS_RED, LITMUS_RELAXED, LITMUS_GENERIC},
                 {"fence", LITMUS_FENCE, LITMUS_ACQ_REL, LITMUS_GENERIC},
                 {"bar", LITMUS_BAR_SYNC, LITMUS_WEAK, LITMUS_GENERIC},
                 {"barrier", LITMUS_BAR_CLUSTER, LITMUS_WEAK, LITMUS_GENERIC}};
enum { N_MNEMONICS = sizeof mnemonics / sizeof *mnemonics };

static bool find(const char *word, const char *const *list, unsigned n, unsigned *index)
{
    for (unsigned i = 0; i < n; i++)
        if (!strcmp(word, list[i])) {
            *index = i;
            return true;
        }
    return false;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool read_qualifier(const char *word, struct litmus_op *op)
{
    unsigned i;
    if (find(word, litmus_words_orders, LITMUS_ORDERS, &i))
        op->order = i;
    else if (find(word, litmus_words_scopes, LITMUS_SCOPES, &i))
        op->scope = i;
    else if (find(word, litmus_words_updates, LITMUS_UPDATES, &i))
        op->update = i;
    else if (op->kind == LITMUS_FENCE && !strcmp(word, "proxy"))
        op->kind = LITMUS_PROXY_FENCE;
    else if (op->kind == LITMUS_PROXY_FENCE && find(word, litmus_words_proxies, LITMUS_PROXIES, &i))
        op->proxy = i;
    else if (op->kind == LITMUS_BAR_SYNC && !strcmp(word, "arrive"))
        op->kind = LITMUS_BAR_ARRIVE;
    else
        return op->kind == LITMUS_BAR_SYNC && !strcmp(word, "sync");
    return true;
}

/* "ld.acquire.gpu" */
static bool read_name(char *word, struct litmus_op *op)
{
    char *save = NULL, *part = strtok_r(word, ".", &save);
    for (unsigned i = 0; i < N_MNEMONICS; i++)
        if (part && !strcmp(part, mnemonics[i].word)) {
            *op = (struct litmus_op){.kind = mnemonics[i].kind,
                                     .order = mnemonics[i].order,
                                     .scope = LITMUS_GPU,
                                     .proxy = mnemonics[i].proxy,
                                     .reg = LITMUS_NO_REGISTER,
                                     .from = LITMUS_NO_REGISTER,
                                     .on = LITMUS_NO_REGISTER};
            while ((part = strtok_r(NULL, ".", &save)))
                if (!read_qualifier(part, op))
                    return false;
            if (op->order == LITMUS_VOLATILE)
                op->scope = LITMUS_SYS;
            return true;
        }
    return false;
}

static bool read_register(const char *word, int *reg)
{
    char *end;
    unsigned long n = *word == 'r' ? strtoul(word + 1, &end, 10) : LITMUS_REGISTERS;
    *reg = (int)n;
    return n < LITMUS_REGISTERS && end > word + 1 && !*end;
}

static bool read_dependency(const char *word, struct litmus_op *op)
{
    static const char *const names[] = {"", "addr:", "data:", "ctrl:"};
    for (unsigned i = LITMUS_ADDR; i <= LITMUS_CTRL; i++)
        if (!strncmp(word, names[i], strlen(names[i]))) {
            op->dependency = i;
            return read_register(word + strlen(names[i]), &op->on);
        }
    return false;
}

static bool read_operand(const char *word, struct litmus_op *op, unsigned *n_operands)
{
    const char *place = strchr(litmus_words_places, *word);
    int reg;
    if (strchr(word, ':'))
        return read_dependency(word, op);
    if (*word >= '0' && *word <= '9') {
        *(litmus_op_is_barrier(op) ? &op->barrier : &op->value) = (unsigned)atoi(word);
        return atoi(word) < 16;
    }
    if (place && litmus_op_is_access(op)) {
        op->place = (unsigned)(place - litmus_words_places);
        op->address = (unsigned)strspn(word + 1, "'");
        ++*n_operands;
        return !word[1 + op->address];
    }
    if (!read_register(word, &reg))
        return false;
    *(*n_operands ? &op->from : &op->reg) = reg;
    return true;
}

static bool read_op(char *text, struct litmus_op *op)
{
    static const char space[] = " \t\n[],";
    char *save = NULL, *word = strtok_r(text, space, &save);
    unsigned n_places = 0;
    if (!word || !read_name(word, op))
        return false;
    while ((word = strtok_r(NULL, space, &save)))
        if (!read_operand(word, op, &n_places))
            return false;
    bool has_result = op->kind == LITMUS_LOAD || op->kind == LITMUS_ATOM;
    return n_places == litmus_op_is_access(op) && (op->reg >= 0) == has_result;
}

static bool read_thread(char *text, struct litmus_test *test)
{
    struct litmus_thread *t = &test->thread[test->n_threads++];
    char *save = NULL, *end;
    t->cluster = (unsigned)strtoul(text, &end, 10);
    if (*end != '.')
        return false;
    t->cta = (unsigned)strtoul(end + 1, &end, 10);
    if (*end++ != ':' || t->cluster >= LITMUS_THREADS || t->cta >= LITMUS_THREADS)
        return false;
    for (char *part = strtok_r(end, ";", &save); part; part = strtok_r(NULL, ";", &save)) {
        if (t->n == LITMUS_OPS || !read_op(part, &t->op[t->n]))
            return false;
        struct litmus_op *op = &t->op[t->n++];
        if (op->reg >= (int)test->n_registers)
            test->n_registers = (unsigned)op->reg + 1;
        if (litmus_op_is_access(op) && op->place >= test->n_places)
            test->n_places = op->place + 1;
    }
    return true;
}

bool litmus_test_read(const char *text, struct litmus_test *test, char *why, size_t why_bytes)
{
    char copy[LITMUS_TEXT], thread[LITMUS_TEXT], *save = NULL;
    bool ok = (size_t)snprintf(copy, sizeof copy, "%s", text) < sizeof copy;
    memset(test, 0, sizeof *test);
    snprintf(why, why_bytes, "it is too long");
    for (char *part = strtok_r(copy, "|", &save); ok && part; part = strtok_r(NULL, "|", &save)) {
        snprintf(thread, sizeof thread, "%s", part);
        ok = test->n_threads < LITMUS_THREADS && read_thread(part, test);
        if (!ok)
            snprintf(why, why_bytes, "not understood: %.200s", thread);
    }
    return ok && test->n_threads;
}

/* ---- writing --------------------------------------------------------------------------------- */

struct text {
    char *v;
    size_t n, room;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->v + t->n, t->room - t->n, format, args);
    va_end(args);
    t->n += (size_t)n < t->room - t->n ? (size_t)n : t->room - t->n - 1;
}

static const char *mnemonic_of(const struct litmus_op *op)
{
    enum litmus_kind kind = op->kind == LITMUS_PROXY_FENCE  ? LITMUS_FENCE
                            : op->kind == LITMUS_BAR_ARRIVE ? LITMUS_BAR_SYNC
                                                            : op->kind;
    for (unsigned i = 0; i < N_MNEMONICS; i++)
        if (mnemonics[i].kind == kind &&
            (!litmus_op_is_access(op) || mnemonics[i].proxy == op->proxy))
            return mnemonics[i].word;
    return "?";
}

static void put_name(struct text *t, const struct litmus_op *op)
{
    put(t, "%s", mnemonic_of(op));
    if (op->kind == LITMUS_PROXY_FENCE)
        put(t, ".proxy.%s", litmus_words_proxies[op->proxy]);
    else if (op->kind == LITMUS_BAR_CLUSTER)
        put(t, ".cluster");
    else if (litmus_op_is_barrier(op))
        put(t, op->kind == LITMUS_BAR_SYNC ? ".sync %u" : ".arrive %u", op->barrier);
    else
        put(t, ".%s", litmus_words_orders[op->order]);
    if (litmus_op_is_strong(op) && op->order != LITMUS_VOLATILE)
        put(t, ".%s", litmus_words_scopes[op->scope]);
    if (op->kind == LITMUS_ATOM || op->kind == LITMUS_RED)
        put(t, ".%s", litmus_words_updates[op->update]);
}

static void put_op(struct text *t, const struct litmus_op *op)
{
    static const char *const names[] = {"", "addr", "data", "ctrl"};
    put_name(t, op);
    if (op->reg >= 0)
        put(t, " r%d,", op->reg);
    if (litmus_op_is_access(op))
        put(t, " [%c%.*s]", litmus_words_places[op->place], (int)op->address, "''''");
    if (op->from >= 0)
        put(t, ", r%d", op->from);
    else if (litmus_op_writes(op))
        put(t, ", %u", op->value);
    if (op->dependency)
        put(t, " %s:r%d", names[op->dependency], op->on);
}

void litmus_test_write(const struct litmus_test *test, char text[LITMUS_TEXT])
{
    struct text t = {.v = text, .room = LITMUS_TEXT};
    for (unsigned i = 0; i < test->n_threads; i++) {
        const struct litmus_thread *thread = &test->thread[i];
        put(&t, "%s%u.%u: ", i ? " | " : "", thread->cluster, thread->cta);
        for (unsigned k = 0; k < thread->n; k++) {
            put(&t, k ? "; " : "");
            put_op(&t, &thread->op[k]);
        }
    }
}

/* ---- operations ------------------------------------------------------------------------------ */

unsigned litmus_op_update(const struct litmus_op *op, unsigned old, unsigned value)
{
    switch (op->update) {
    case LITMUS_ADD:
        return old + value;
    case LITMUS_OR:
        return old | value;
    default:
        return value;
    }
}

bool litmus_test_includes(const struct litmus_test *test, unsigned by, enum litmus_scope scope,
                          unsigned other)
{
    const struct litmus_thread *a = &test->thread[by], *b = &test->thread[other];
    return scope >= LITMUS_GPU ||
           (a->cluster == b->cluster && (scope == LITMUS_CLUSTER || a->cta == b->cta));
}
