/* Launches that tell what their threads do: steps of the interpreter as the API has them. */
#include "ptera_trace.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "backend/observer.h"
#include "backend/steps.h"
#include "backend/traced.h"
#include "ir/print.h"
#include "runtime/compile.h"
#include "runtime/engine.h"
#include "runtime/launch.h"
#include "runtime/module.h"
#include "runtime/sized.h"
#include "runtime/words.h"

enum { NAME_BYTES = 64, TEXT_BYTES = 256 };

/* The values that a step tells, and their names. */
struct told {
    ptera_step_value *values;
    char (*names)[NAME_BYTES];
    unsigned n;
};

static bool alloc_told(ptera_engine *engine, struct told *told, unsigned n)
{
    *told = (struct told){.n = n};
    if (!n)
        return true;
    told->values = pt_engine_alloc(engine, n * (sizeof *told->values + NAME_BYTES));
    told->names = (void *)(told->values ? told->values + n : NULL);
    return told->values;
}

/* Its name in the text: that of a web (ir/web.c) ends in '$' and its own number. */
static void put_name(const struct pt_func *func, uint32_t reg, char name[NAME_BYTES])
{
    pt_print_reg(func, reg, name, NAME_BYTES);
    for (char *last; (last = strrchr(name, '$'));) {
        uint32_t number = (uint32_t)strtoul(last + 1, NULL, 10);
        if (number != reg)
            return;
        while (last > name && last[-1] == '$')
            last--;
        *last = 0;
        /* it may be the web of one that was split before */
        last = strrchr(name, '$');
        reg = last ? (uint32_t)strtoul(last + 1, NULL, 10) : reg;
        if (!last || reg >= func->regs.n || !func->regs.v[reg].name ||
            strcmp(func->regs.v[reg].name, name) != 0)
            return;
    }
}

static void fill_values(const struct pt_func *func, const struct pt_step *step, struct told *told)
{
    unsigned n = 0;
    for (unsigned i = 0; i < step->n; i++) {
        const struct pt_step_value *from = &step->values[i];
        enum pt_type type = (enum pt_type)func->regs.v[from->reg].type;
        if (from->is_def && !step->has_results)
            continue;
        put_name(func, from->reg, told->names[n]);
        told->values[n] = (ptera_step_value){.name = told->names[n],
                                             .type = pt_type_name(type),
                                             .bits = pt_type_bits(type),
                                             .is_result = from->is_def,
                                             .low = from->value[0],
                                             .high = from->value[1]};
        n++;
    }
    told->n = n;
}

static void place_step(const ptera_module *module, const struct pt_step *step, ptera_step *to,
                       char text[TEXT_BYTES])
{
    const struct pt_func *func = &module->ir.funcs.v[step->func];
    const struct pt_insn *insn = &func->insns.v[step->insn];
    size_t n = 0;
    const char *line = pt_words_line(module, insn->line, &n);
    n = n < TEXT_BYTES ? n : TEXT_BYTES - 1;
    memcpy(text, line, n);
    text[n] = 0;
    uint32_t number = 0, source = 0;
    to->function = func->name;
    to->file = pt_diag_place(&module->ir.diags, insn->line, &number);
    to->line = number;
    to->column = insn->col;
    if (pt_words_find_source(&module->ir, insn, &to->source_file, &source))
        to->source_line = source;
    to->text = text;
    to->spelling = pt_insn_form(&module->ir, insn)->spelling;
}

/* A launch that tells. */
struct telling {
    ptera_engine *engine;
    const ptera_module *module;
    ptera_tracing to;
    pthread_mutex_t lock; /* one call at a time */
    struct pt_steps steps;
    struct pt_traced traced;
};

static bool asks(void *ud, const uint32_t cta[3], const uint32_t thread[3])
{
    struct telling *t = ud;
    if (!t->to.wants)
        return true;
    pthread_mutex_lock(&t->lock);
    bool is = t->to.wants(t->to.ud, cta, thread);
    pthread_mutex_unlock(&t->lock);
    return is;
}

static void tell(void *ud, const uint32_t cta[3], const uint32_t thread[3],
                 const struct pt_step *step)
{
    struct telling *t = ud;
    struct told told;
    char text[TEXT_BYTES];
    ptera_step to = {.size = sizeof to,
                     .number = step->number,
                     .has_results = step->has_results,
                     .reads_memory = (step->use & PT_USE_READ) != 0,
                     .writes_memory = (step->use & PT_USE_WRITE) != 0,
                     .address = step->use ? step->address : 0,
                     .bytes = step->use ? step->bytes : 0};
    memcpy(to.cta, cta, sizeof to.cta);
    memcpy(to.thread, thread, sizeof to.thread);
    place_step(t->module, step, &to, text);
    pthread_mutex_lock(&t->lock);
    if (alloc_told(t->engine, &told, step->n)) {
        fill_values(&t->module->ir.funcs.v[step->func], step, &told);
        to.n_values = told.n;
        to.values = told.values;
        t->to.step(t->to.ud, &to);
        pt_engine_free(t->engine, told.values);
    } else {
        t->steps.is_out_of_memory = true;
    }
    pthread_mutex_unlock(&t->lock);
}

static bool begin(struct telling *t, const struct pt_launch *l)
{
    uint64_t ctas = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2], bytes;
    t->steps = (struct pt_steps){.allocator = &t->engine->allocator,
                                 .ud = t,
                                 .wants = asks,
                                 .tell = tell,
                                 .n_threads = ctas * l->threads};
    t->traced.steps = &t->steps;
    return !__builtin_mul_overflow(t->steps.n_threads, sizeof *t->steps.threads, &bytes) &&
           (t->steps.threads = pt_engine_alloc(t->engine, bytes));
}

/* Tells what threads began that a failure ended. */
static void end(struct telling *t, const uint32_t grid[3], const uint32_t block[3])
{
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    for (uint64_t i = 0; i < t->steps.n_threads; i++) {
        struct pt_step *step = &t->steps.threads[i].step;
        uint64_t cta = i / threads, thread = i % threads;
        uint32_t ctas[3], ids[3];
        for (int d = 0; d < 3; d++) {
            ctas[d] = (uint32_t)(cta % grid[d]);
            ids[d] = (uint32_t)(thread % block[d]);
            cta /= grid[d];
            thread /= block[d];
        }
        step->has_results = false;
        if (step->frame)
            tell(t, ctas, ids, step);
        pt_engine_free(t->engine, step->values);
    }
    pt_engine_free(t->engine, t->steps.threads);
}

/* The job's program is compiled once more, as one that is traced. */
static ptera_result run(struct telling *t, struct pt_job *job)
{
    uint32_t grid[3], block[3];
    memcpy(grid, job->launch.grid, sizeof grid);
    memcpy(block, job->launch.block, sizeof block);
    job->tests |= PT_TEST_order_trace;
    ptera_result r = job->tests & PT_TEST_order
                         ? PTERA_ERROR_INVALID_ARGUMENT
                         : pt_compile_kernel(job->kernel, job->tests, &job->launch.program);
    if (r == PTERA_OK && !begin(t, &job->launch))
        r = PTERA_ERROR_OUT_OF_MEMORY;
    if (r != PTERA_OK) {
        pt_launch_drop(job);
        return r;
    }
    job->launch.traced = &t->traced;
    r = pt_launch_run(job, NULL);
    end(t, grid, block);
    return r == PTERA_OK && t->steps.is_out_of_memory ? PTERA_ERROR_OUT_OF_MEMORY : r;
}

ptera_result ptera_kernel_trace(ptera_kernel *kernel, const ptera_launch *launch,
                                const ptera_tracing *tracing)
{
    struct telling t = {.engine = kernel ? kernel->module->engine : NULL,
                        .module = kernel ? kernel->module : NULL,
                        .lock = PTHREAD_MUTEX_INITIALIZER};
    ptera_launch mine;
    struct pt_job *job;
    ptera_launch_init(&mine);
    t.to.size = sizeof t.to;
    if (!kernel || !launch || !tracing || !PT_TAKE(mine, launch) || !PT_TAKE(t.to, tracing) ||
        !t.to.step || mine.backend == PTERA_BACKEND_JIT)
        return PTERA_ERROR_INVALID_ARGUMENT;
    mine.backend = PTERA_BACKEND_INTERP;
    ptera_result r = pt_launch_take(kernel, &mine, &job);
    return r == PTERA_OK ? run(&t, job) : r;
}
