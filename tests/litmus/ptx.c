/* A litmus shape as PTX: every thread is a loop over the rounds. */
#include <stdarg.h>
#include <stdio.h>

#include "tests/litmus/litmus.h"

static char text[1 << 14];
static size_t n_text;

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    n_text += (size_t)vsnprintf(text + n_text, sizeof text - n_text, format, args);
    va_end(args);
}

/* ".acquire.gpu": the words of an order at a scope. */
static const char *words(enum order order, const char *scope)
{
    static const char *const names[] = {[ORDER_WEAK] = ".weak",
                                        [ORDER_VOLATILE] = ".volatile",
                                        [ORDER_RELAXED] = ".relaxed",
                                        [ORDER_ACQUIRE] = ".acquire",
                                        [ORDER_RELEASE] = ".release",
                                        [ORDER_ACQ_REL] = ".acq_rel",
                                        [ORDER_SC] = ".sc"};
    static char buf[64];
    bool is_scoped = order >= ORDER_RELAXED;
    snprintf(buf, sizeof buf, "%s%s", names[order], is_scoped ? scope : "");
    return buf;
}

static void put_fence(enum order order, const struct variant *v, const char *scope)
{
    if (v == &variants[VARIANT_membar])
        put("    membar.%s;\n", scope[1] == 's' ? "sys" : scope[2] == 't' ? "cta" : "gl");
    else if (order != ORDER_NONE)
        put("    fence%s;\n", words(order, scope));
}

static void put_step(const struct step *s, const struct variant *v, const struct placement *p)
{
    enum order order = order_of(v, s);
    unsigned at = s->place * LINE;
    switch (s->kind) {
    case STEP_FENCE:
        put_fence(order, v, p->scope);
        break;
    case STEP_READ:
        if (v->is_atomic)
            put("    atom%s%s.or.b32 %%v%u, [%%mem+%u], 0;\n", words(order, p->scope), p->space,
                s->reg, at);
        else
            put("    ld%s%s.u32 %%v%u, [%%mem+%u];\n", words(order, p->scope), p->space, s->reg,
                at);
        break;
    case STEP_WRITE:
        if (v->is_atomic)
            put("    atom%s%s.exch.b32 _, [%%mem+%u], %u;\n", words(order, p->scope), p->space, at,
                s->value);
        else
            put("    st%s%s.u32 [%%mem+%u], %u;\n", words(order, p->scope), p->space, at, s->value);
        break;
    case STEP_ADD:
        put("    atom%s%s.add.u32 %%v%u, [%%mem+%u], %u;\n", words(order, p->scope), p->space,
            s->reg, at, s->value);
    }
}

static bool has_result(const struct step *s)
{
    return s->kind == STEP_READ || s->kind == STEP_ADD;
}

static void put_meeting(unsigned thread, unsigned n_threads)
{
    put("    and.b32 %%t, %%i, %u;\n    setp.ne.u32 %%p, %%t, 0;\n    @%%p bra GO%u;\n", PACE - 1,
        thread);
    put("    red.relaxed.sys.global.add.u32 [%%pace], 1;\n    add.u32 %%goal, %%goal, %u;\n    "
        "mov.u32 %%t, 0;\n",
        n_threads);
    put("LOOK%u:\n    ld.relaxed.sys.global.u32 %%seen, [%%pace];\n"
        "    setp.ge.u32 %%p, %%seen, %%goal;\n    @%%p bra GO%u;\n"
        "    add.u32 %%t, %%t, 1;\n    setp.lt.u32 %%p, %%t, %%patience;\n    @%%p bra LOOK%u;\n",
        thread, thread, thread);
    put("GO%u:\n    mov.u32 %%patience, %u;\n", thread, PATIENCE);
}

static void put_thread(const struct shape *shape, unsigned thread, const struct variant *v,
                       const struct placement *p)
{
    const struct program *program = &shape->thread[thread];
    put("THREAD%u:\n", thread);
    for (unsigned k = 0; k < program->n; k++)
        if (has_result(&program->step[k]))
            put("    mul.lo.u32 %%t, %%n, %u;\n    mad.wide.u32 %%o%u, %%t, 4, %%out;\n",
                program->step[k].reg, program->step[k].reg);
    put("ROUND%u:\n", thread);
    put_meeting(thread, shape->n_threads);
    for (unsigned k = 0; k < program->n; k++)
        put_step(&program->step[k], v, p);
    for (unsigned k = 0; k < program->n; k++)
        if (has_result(&program->step[k]))
            put("    st.global.u32 [%%o%u], %%v%u;\n    add.u64 %%o%u, %%o%u, 4;\n",
                program->step[k].reg, program->step[k].reg, program->step[k].reg,
                program->step[k].reg);
    put("    add.u64 %%mem, %%mem, %u;\n    add.u32 %%i, %%i, 1;\n    setp.lt.u32 %%p, %%i, %%n;\n",
        ROUND_BYTES);
    put("    @%%p bra ROUND%u;\n    ret;\n", thread);
}

static void put_role(const struct placement *p)
{
    switch (p->layout) {
    case LAYOUT_LANES:
        put("    mov.u32 %%role, %%tid.x;\n");
        break;
    case LAYOUT_WARPS: /* one lane of each */
        put("    mov.u32 %%role, %%tid.x;\n    and.b32 %%t, %%role, 31;\n    setp.ne.u32 %%p, %%t, "
            "0;\n    @%%p exit;\n"
            "    shr.u32 %%role, %%role, 5;\n");
        break;
    case LAYOUT_CTAS:
        put("    mov.u32 %%role, %%ctaid.x;\n");
    }
}

const char *litmus_ptx(const struct shape *shape, const struct variant *v,
                       const struct placement *p)
{
    unsigned n = shape->n_threads - p->has_host;
    n_text = 0;
    put(".version 9.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry litmus(.param .u64 mem, .param .u64 out, .param .u64 pace, .param .u32 "
        "n)\n{\n"
        "    .reg .b64 %%mem, %%out, %%pace, %%o<%u>;\n    .reg .b32 %%role, %%i, %%n, %%t, "
        "%%goal, %%seen, %%patience, %%v<%u>;\n"
        "    .reg .pred %%p;\n    ld.param.u64 %%mem, [mem];\n    ld.param.u64 %%out, [out];\n"
        "    ld.param.u64 %%pace, [pace];\n    ld.param.u32 %%n, [n];\n    mov.u32 %%i, 0;\n    "
        "mov.u32 %%goal, 0;\n",
        MAX_REGS, MAX_REGS);
    put_role(p);
    for (unsigned k = 0; k < n; k++)
        put("    setp.eq.u32 %%p, %%role, %u;\n    @%%p bra THREAD%u;\n", k, k);
    put("    ret;\n");
    for (unsigned k = 0; k < n; k++)
        put_thread(shape, k, v, p);
    put("}\n");
    return text;
}
