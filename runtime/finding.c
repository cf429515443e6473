/* What the checkers of a launch find, in words: each pair of places once. */
#include "runtime/finding.h"

#include <inttypes.h>
#include <string.h>

#include "ir/print.h"
#include "runtime/engine.h"
#include "runtime/job.h"
#include "runtime/words.h"

enum {
    FINDINGS_MAX =
        256 /* that are told apart; the launch goes on to be checked, but more are not told */
};

struct pair {
    uint32_t func, insn, other_func, other_insn;
};

struct pt_findings {
    pthread_mutex_t lock;
    void (*tell)(void *ud, const char *text);
    void *ud;
    struct pair pairs[FINDINGS_MAX];
    uint32_t n;
};

struct pt_findings *pt_findings_new(ptera_engine *engine, const ptera_launch *given)
{
    struct pt_findings *f = pt_engine_alloc(engine, sizeof *f);
    if (!f)
        return NULL;
    pthread_mutex_init(&f->lock, NULL);
    f->tell = given->finding;
    f->ud = given->finding_ud;
    return f;
}

void pt_findings_free(ptera_engine *engine, struct pt_findings *findings)
{
    if (!findings)
        return;
    pthread_mutex_destroy(&findings->lock);
    pt_engine_free(engine, findings);
}

uint32_t pt_findings_count(const struct pt_findings *findings)
{
    return findings ? findings->n : 0;
}

static bool is_new(struct pt_findings *f, const struct pt_finding *x)
{
    struct pair pair = {x->func, x->insn, x->other_func, x->other_insn};
    for (uint32_t i = 0; i < f->n; i++)
        if (!memcmp(&f->pairs[i], &pair, sizeof pair))
            return false;
    if (f->n == FINDINGS_MAX)
        return false;
    f->pairs[f->n++] = pair;
    return true;
}

/* "thread (0,0,0), CTA (0,0,0)" */
static void put_thread(struct pt_words *w, const struct pt_warp *warp, uint32_t lane)
{
    pt_words_put(w, "thread (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")", warp->tid[0][lane],
                 warp->tid[1][lane], warp->tid[2][lane]);
    pt_words_cta(w, warp->cta);
}

static const char *spelling(const struct pt_job *job, uint32_t func, uint32_t insn)
{
    const ptera_module *module = job->kernel->module;
    return pt_insn_form(&module->ir, pt_words_insn(module, func, insn))->spelling;
}

static void put_what(struct pt_words *w, const struct pt_warp *warp, const struct pt_finding *x)
{
    const struct pt_func *func = &w->job->kernel->module->ir.funcs.v[x->func];
    uint64_t shared = (uintptr_t)warp->cta->shared;
    char name[64];
    if (!x->has_address)
        pt_print_reg(func, x->reg, name, sizeof name);
    if (!x->has_address)
        pt_words_put(w, "%s", name);
    else if (x->address - shared < UINT64_C(1) << 32)
        pt_words_put(w, "shared address 0x%" PRIx64, x->address - shared);
    else
        pt_words_put(w, "global address 0x%" PRIx64, x->address);
}

static void describe(struct pt_words *w, const struct pt_warp *warp, const struct pt_finding *x)
{
    pt_words_put(w, "race: ");
    put_thread(w, warp, x->lane);
    pt_words_put(w, ", %s ", x->writes ? "writes" : "reads");
    put_what(w, warp, x);
    pt_words_source(w, pt_words_insn(w->job->kernel->module, x->func, x->insn));
    pt_words_put(w, ", which %s at ", spelling(w->job, x->other_func, x->other_insn));
    pt_words_place(w, x->other_func, x->other_insn, true);
    pt_words_put(w, ", ");
    put_thread(w, x->other_warp, x->other_lane);
    pt_words_put(w, ", %s; %s", x->other_writes ? "writes" : "reads", x->advice);
}

/* Shows it as a diagnostic of the text; without memory, the message alone. */
static void tell(struct pt_job *job, const struct pt_finding *x, const char *message)
{
    ptera_module *module = job->kernel->module;
    const struct pt_insn *insn = pt_words_insn(module, x->func, x->insn);
    struct pt_diag diag = {.severity = PT_SEV_ERROR,
                           .line = insn->line,
                           .col = insn->col,
                           .len = 1,
                           .message = message};
    const char *volatile text = message;
    struct pt_arena scratch;
    jmp_buf oom;
    pt_arena_init(&scratch, &module->engine->allocator);
    scratch.oom = &oom;
    if (!setjmp(oom))
        text = pt_diag_format(&module->ir.diags, &diag, &scratch);
    job->findings->tell(job->findings->ud, text);
    pt_arena_free(&scratch);
}

void pt_finding_add(const struct pt_warp *warp, const struct pt_finding *finding)
{
    struct pt_job *job = pt_job_of(warp->cta->launch);
    struct pt_findings *f = job->findings;
    char message[PT_ERROR_BYTES];
    struct pt_words words = {job, message, 0};
    pthread_mutex_lock(&f->lock);
    if (is_new(f, finding) && f->tell) {
        describe(&words, warp, finding);
        tell(job, finding, message);
    }
    pthread_mutex_unlock(&f->lock);
}
