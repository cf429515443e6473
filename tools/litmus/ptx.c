#include "tools/litmus/ptx.h"

#include <stdio.h>
#include <stdlib.h>

#include "tools/litmus/words.h"

/* What no value has: a register and this is 0. */
enum { NO_VALUE = 1024 };

static bool can_run(const struct litmus_test *test)
{
    for (unsigned t = 0; t < test->n_threads; t++)
        for (unsigned k = 0; k < test->thread[t].n; k++) {
            const struct litmus_op *op = &test->thread[t].op[k];
            bool is_alias = op->kind == LITMUS_PROXY_FENCE && op->proxy == LITMUS_ALIAS;
            if (op->kind == LITMUS_BAR_ARRIVE || op->address ||
                (op->proxy != LITMUS_GENERIC && op->proxy != LITMUS_ASYNC && !is_alias))
                return false;
        }
    return true;
}

struct litmus_layout litmus_ptx_layout(const struct litmus_test *test)
{
    struct litmus_layout l = {1, 1, 1};
    for (unsigned t = 0; t < test->n_threads; t++) {
        const struct litmus_thread *thread = &test->thread[t];
        unsigned warps = 0;
        for (unsigned i = 0; i < test->n_threads; i++)
            warps += litmus_test_includes(test, t, LITMUS_CTA, i);
        l.clusters = thread->cluster >= l.clusters ? thread->cluster + 1 : l.clusters;
        l.ctas = thread->cta >= l.ctas ? thread->cta + 1 : l.ctas;
        l.warps = warps > l.warps ? warps : l.warps;
    }
    return l;
}

/* ---- instructions ---------------------------------------------------------------------------- */

/* ".acquire.gpu" */
static void put_order(FILE *f, const struct litmus_op *op)
{
    fprintf(f, ".%s", litmus_words_orders[op->order]);
    if (litmus_op_is_strong(op) && op->order != LITMUS_VOLATILE)
        fprintf(f, ".%s", litmus_words_scopes[op->scope]);
}

/* The value that is written is in %x, the address in %w. */
static void put_access(FILE *f, const struct litmus_op *op)
{
    static const char *const names[] = {"ld", "st", "atom", "red"};
    fprintf(f, op->dependency == LITMUS_CTRL ? "    @%%q %s" : "    %s", names[op->kind]);
    put_order(f, op);
    fprintf(f, ".global");
    if (op->kind == LITMUS_ATOM || op->kind == LITMUS_RED)
        fprintf(f, ".%s%s", litmus_words_updates[op->update],
                op->update == LITMUS_ADD ? ".u32" : ".b32");
    else
        fprintf(f, ".u32");
    if (op->reg >= 0)
        fprintf(f, " %%v%d,", op->reg);
    fprintf(f, " [%%w]%s%s;\n", op->update == LITMUS_CAS && op->kind >= LITMUS_ATOM ? ", 0" : "",
            litmus_op_writes(op) ? ", %x" : "");
}

static void put_operands(FILE *f, const struct litmus_op *op)
{
    fprintf(f, "    mov.b64 %%w, %%a%u;\n", op->place);
    if (op->from >= 0)
        fprintf(f, "    mov.b32 %%x, %%v%d;\n", op->from);
    else
        fprintf(f, "    mov.b32 %%x, %u;\n", op->value);
    if (op->dependency == LITMUS_CTRL)
        fprintf(f, "    setp.lt.u32 %%q, %%v%d, %u;\n", op->on, NO_VALUE);
    if (op->dependency == LITMUS_ADDR || op->dependency == LITMUS_DATA)
        fprintf(f, "    and.b32 %%t, %%v%d, %u;\n", op->on, NO_VALUE);
    if (op->dependency == LITMUS_ADDR)
        fprintf(f, "    cvt.u64.u32 %%u, %%t;\n    add.u64 %%w, %%w, %%u;\n");
    if (op->dependency == LITMUS_DATA)
        fprintf(f, "    or.b32 %%x, %%x, %%t;\n");
}

/* ---- bulk copies ----------------------------------------------------------------------------- */

/* What a warp's lanes access of a place in a round lies side by side: the first lane copies it for
 * all. Each warp has so much shared memory for that, and behind it an mbarrier. */
enum { BULK_BYTES = 128, BULK_STRIDE = 256 };

static bool has_bulk(const struct litmus_thread *t)
{
    for (unsigned k = 0; k < t->n; k++)
        if (litmus_op_is_access(&t->op[k]) && t->op[k].proxy == LITMUS_ASYNC)
            return true;
    return false;
}

/* %bulk is the warp's shared memory, %mine the lane's word in it. */
static void put_bulk_start(FILE *f)
{
    fprintf(f,
            "    mov.u32 %%t, %%tid.x;\n    shr.u32 %%x, %%t, 5;\n    mov.u32 %%bulk, bulk;\n"
            "    mad.lo.u32 %%bulk, %%x, %u, %%bulk;\n    mad.lo.u32 %%mine, %%lane, 4, %%bulk;\n"
            "    setp.eq.u32 %%first, %%lane, 0;\n    mov.u32 %%phase, 0;\n"
            "    @%%first mbarrier.init.shared::cta.b64 [%%bulk+%u], 1;\n",
            BULK_STRIDE, BULK_BYTES);
}

static void put_bulk_load(FILE *f, const struct litmus_op *op, unsigned thread, unsigned at)
{
    fprintf(f,
            "    fence.proxy.async.shared::cta;\n    bar.warp.sync 0xffffffff;\n"
            "    @%%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%bulk+%u], %u;\n"
            "    @%%first cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%%bulk], "
            "[%%w], %u, [%%bulk+%u];\n",
            BULK_BYTES, BULK_BYTES, BULK_BYTES, BULK_BYTES);
    fprintf(f,
            "BULK%u_%u:\n    mbarrier.try_wait.parity.shared::cta.b64 %%p, [%%bulk+%u], %%phase;\n"
            "    @!%%p bra BULK%u_%u;\n    bar.warp.sync 0xffffffff;\n"
            "    xor.b32 %%phase, %%phase, 1;\n    ld.shared.u32 %%v%d, [%%mine];\n",
            thread, at, BULK_BYTES, thread, at, op->reg);
}

static void put_bulk_store(FILE *f)
{
    fprintf(f,
            "    st.shared.u32 [%%mine], %%x;\n    fence.proxy.async.shared::cta;\n"
            "    bar.warp.sync 0xffffffff;\n"
            "    @%%first cp.async.bulk.global.shared::cta.bulk_group [%%w], [%%bulk], %u;\n"
            "    @%%first cp.async.bulk.commit_group;\n"
            "    @%%first cp.async.bulk.wait_group 0;\n    bar.warp.sync 0xffffffff;\n",
            BULK_BYTES);
}

/* ---- threads --------------------------------------------------------------------------------- */

/* Operation `at` of the thread. */
static void put_op(FILE *f, const struct litmus_op *op, unsigned warps, unsigned thread,
                   unsigned at)
{
    switch (op->kind) {
    case LITMUS_PROXY_FENCE:
        fprintf(f, "    fence.proxy.%s;\n", litmus_words_proxies[op->proxy]);
        break;
    case LITMUS_FENCE:
        fprintf(f, "    fence");
        put_order(f, op);
        fprintf(f, ";\n");
        break;
    case LITMUS_BAR_SYNC:
        fprintf(f, "    bar.sync %u, %u;\n", op->barrier, 32 * warps);
        break;
    case LITMUS_BAR_CLUSTER:
        fprintf(f, "    barrier.cluster.arrive;\n    barrier.cluster.wait;\n");
        break;
    default:
        put_operands(f, op);
        if (op->proxy != LITMUS_ASYNC)
            put_access(f, op);
        else if (op->kind == LITMUS_LOAD)
            put_bulk_load(f, op, thread, at);
        else
            put_bulk_store(f);
    }
}

/* The warps meet, and start some instructions apart, by turns. */
static void put_meeting(FILE *f, unsigned thread, unsigned n_threads)
{
    fprintf(f,
            "    setp.eq.u32 %%p, %%lane, 0;\n"
            "    @%%p red.relaxed.gpu.global.add.u32 [%%pace], 1;\n"
            "    add.u32 %%goal, %%goal, %u;\n    mov.u32 %%t, 0;\n"
            "LOOK%u:\n    ld.relaxed.gpu.global.u32 %%x, [%%pace];\n"
            "    setp.ge.u32 %%p, %%x, %%goal;\n    @%%p bra GO%u;\n"
            "    add.u32 %%t, %%t, 1;\n    setp.lt.u32 %%p, %%t, %%patience;\n"
            "    @%%p bra LOOK%u;\n",
            n_threads, thread, thread, thread);
    fprintf(f,
            "GO%u:\n    bar.warp.sync 0xffffffff;\n"
            "    mul.lo.u32 %%t, %%i, %u;\n    and.b32 %%t, %%t, 15;\n"
            "WAIT%u:\n    setp.eq.u32 %%p, %%t, 0;\n    @%%p bra START%u;\n"
            "    sub.u32 %%t, %%t, 1;\n    bra WAIT%u;\nSTART%u:\n",
            thread, 3 + 4 * thread, thread, thread, thread, thread);
}

static void put_part(FILE *f, unsigned index)
{
    fprintf(f,
            "    ld.global.u32 %%x, [%%w];\n    cvt.u64.u32 %%w, %%x;\n"
            "    shl.b64 %%w, %%w, %u;\n    or.b64 %%u, %%u, %%w;\n",
            4 * index);
}

/* Whose count makes it complete puts the outcome together, as outcome.h has it. */
static void put_judging(FILE *f, const struct litmus_test *test, unsigned thread)
{
    fprintf(f,
            "    atom.acq_rel.gpu.global.add.u32 %%x, [%%a%u], 1;\n"
            "    setp.ne.u32 %%p, %%x, %u;\n    @%%p bra NEXT%u;\n    mov.b64 %%u, 0;\n",
            LITMUS_PLACES, test->n_threads - 1, thread);
    for (unsigned r = 0; r < test->n_registers; r++) {
        fprintf(f, "    mad.wide.u32 %%w, %%plane, %u, %%out;\n", r);
        put_part(f, r);
    }
    for (unsigned p = 0; p < test->n_places; p++) {
        fprintf(f, "    mov.b64 %%w, %%a%u;\n", p);
        put_part(f, LITMUS_REGISTERS + p);
    }
    fprintf(f,
            "    mov.u32 %%t, 0;\nSEEK%u:\n    setp.eq.u32 %%p, %%t, %%n;\n    @%%p trap;\n"
            "    mad.wide.u32 %%w, %%t, 8, %%allowed;\n    ld.global.u64 %%w, [%%w];\n"
            "    add.u32 %%t, %%t, 1;\n    setp.ne.u64 %%p, %%w, %%u;\n    @%%p bra SEEK%u;\n"
            "NEXT%u:\n",
            thread, thread, thread);
}

static void put_thread(FILE *f, const struct litmus_test *test, unsigned thread, bool judges)
{
    const struct litmus_thread *t = &test->thread[thread];
    unsigned warps = 0;
    for (unsigned i = 0; i < test->n_threads; i++)
        warps += litmus_test_includes(test, thread, LITMUS_CTA, i);
    fprintf(f, "THREAD%u:\n", thread);
    if (has_bulk(t))
        put_bulk_start(f);
    fprintf(f, "ROUND%u:\n", thread);
    put_meeting(f, thread, test->n_threads);
    for (unsigned k = 0; k < t->n; k++)
        put_op(f, &t->op[k], warps, thread, k);
    for (unsigned k = 0; k < t->n; k++)
        if (t->op[k].reg >= 0)
            fprintf(f,
                    "    mad.wide.u32 %%w, %%plane, %d, %%out;\n    st.global.u32 [%%w], %%v%d;\n",
                    t->op[k].reg, t->op[k].reg);
    if (judges)
        put_judging(f, test, thread);
    for (unsigned p = 0; p <= LITMUS_PLACES; p++)
        if (p < test->n_places || (judges && p == LITMUS_PLACES))
            fprintf(f, "    add.u64 %%a%u, %%a%u, 128;\n", p, p);
    fprintf(f,
            "    add.u64 %%out, %%out, 128;\n    add.u32 %%i, %%i, 1;\n"
            "    setp.lt.u32 %%p, %%i, %%rounds;\n    @%%p bra ROUND%u;\n    ret;\n",
            thread);
}

/* Goes to the thread that this warp is. */
static void put_roles(FILE *f, const struct litmus_test *test, const struct litmus_layout *l)
{
    for (unsigned t = 0; t < test->n_threads; t++) {
        const struct litmus_thread *thread = &test->thread[t];
        unsigned warp = 0;
        for (unsigned i = 0; i < t; i++)
            warp += litmus_test_includes(test, t, LITMUS_CTA, i);
        fprintf(f, "    setp.eq.u32 %%p, %%role, %u;\n    @%%p bra THREAD%u;\n",
                (thread->cluster * l->ctas + thread->cta) * l->warps + warp, t);
    }
    fprintf(f, "    ret;\n");
}

static void put_head(FILE *f, const struct litmus_test *test, const struct litmus_layout *l,
                     bool judges)
{
    fprintf(
        f,
        ".version 8.6\n.target sm_90\n.address_size 64\n"
        ".visible .entry litmus(.param .u64 mem, .param .u64 out, .param .u64 pace, "
        ".param .u32 rounds, .param .u32 plane, .param .u32 patience%s)\n{\n"
        "    .reg .b64 %%mem, %%out, %%pace, %%w, %%u, %%a<%u>;\n"
        "    .reg .b32 %%role, %%group, %%lane, %%i, %%rounds, %%plane, %%goal, %%patience, %%t, "
        "%%x, %%v<%u>;\n    .reg .pred %%p, %%q;\n"
        "    .reg .b64 %%allowed;\n    .reg .b32 %%n;\n"
        "    ld.param.u64 %%mem, [mem];\n    ld.param.u64 %%out, [out];\n"
        "    ld.param.u64 %%pace, [pace];\n    ld.param.u32 %%rounds, [rounds];\n"
        "    ld.param.u32 %%plane, [plane];\n    ld.param.u32 %%patience, [patience];\n",
        judges ? ", .param .u64 allowed, .param .u32 n" : "", LITMUS_PLACES + 1, LITMUS_REGISTERS);
    for (unsigned t = 0; t < test->n_threads; t++)
        if (has_bulk(&test->thread[t])) {
            fprintf(f,
                    "    .reg .b32 %%bulk, %%mine, %%phase;\n    .reg .pred %%first;\n"
                    "    .shared .align 128 .b8 bulk[%u];\n",
                    l->warps * BULK_STRIDE);
            break;
        }
    if (judges)
        fprintf(f, "    ld.param.u64 %%allowed, [allowed];\n    ld.param.u32 %%n, [n];\n");
    fprintf(f,
            "    mov.u32 %%t, %%ctaid.x;\n    div.u32 %%group, %%t, %u;\n"
            "    rem.u32 %%role, %%t, %u;\n    mov.u32 %%t, %%tid.x;\n    shr.u32 %%x, %%t, 5;\n"
            "    mad.lo.u32 %%role, %%role, %u, %%x;\n    and.b32 %%lane, %%t, 31;\n"
            "    mul.lo.u32 %%t, %%group, %%rounds;\n    mad.lo.u32 %%t, %%t, 32, %%lane;\n"
            "    mad.wide.u32 %%mem, %%t, 4, %%mem;\n    mad.wide.u32 %%out, %%t, 4, %%out;\n"
            "    mad.wide.u32 %%pace, %%group, 128, %%pace;\n"
            "    mov.u32 %%i, 0;\n    mov.u32 %%goal, 0;\n",
            l->clusters * l->ctas, l->clusters * l->ctas, l->warps);
    for (unsigned p = 0; p <= LITMUS_PLACES; p++)
        if (p < test->n_places || (judges && p == LITMUS_PLACES))
            fprintf(f, "    mad.wide.u32 %%a%u, %%plane, %u, %%mem;\n", p, p);
}

char *litmus_ptx(const struct litmus_test *test, bool judges)
{
    struct litmus_layout l = litmus_ptx_layout(test);
    char *text = NULL;
    size_t bytes;
    FILE *f = can_run(test) ? open_memstream(&text, &bytes) : NULL;
    if (!f)
        return NULL;
    put_head(f, test, &l, judges);
    put_roles(f, test, &l);
    for (unsigned t = 0; t < test->n_threads; t++)
        put_thread(f, test, t, judges);
    fprintf(f, "}\n");
    if (fclose(f)) {
        free(text);
        return NULL;
    }
    return text;
}
