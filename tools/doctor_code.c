/* The code for GPUs in a program: whether there is PTX, and which kernels cannot run. */
#include "tools/doctor_code.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/fatbin.h"
#include "frontend/link_text.h"
#include "ptera.h"
#include "tools/doctor_problem.h"

struct look {
    ptera_engine *engine;
    struct pt_arena arena;
    unsigned sm;
    unsigned n, n_runnable;            /* fatbinaries */
    PT_VEC(struct pt_link_unit) units; /* of relocatable code, which is linked */
};

/* ---- kernels --------------------------------------------------------------------------------- */

/* The first line of a text. */
static int first_line(const char *text)
{
    return (int)strcspn(text, "\n");
}

static void look_at_kernels(struct look *l, ptera_module *module)
{
    ptera_kernel *kernel;
    for (unsigned i = 0; ptera_module_kernel(module, NULL, i, &kernel) == PTERA_OK; i++) {
        ptera_kernel_properties properties = {.size = sizeof properties};
        if (ptera_kernel_properties_get(kernel, &properties) == PTERA_OK)
            continue;
        const char *why = ptera_engine_error(l->engine);
        doctor_problem("kernel '%s' cannot run: %.*s\n", ptera_kernel_name(kernel), first_line(why),
                       why);
    }
}

/* All that is linked together, as a program loads it. */
static void look_at_text(struct look *l, const char *text, size_t len)
{
    ptera_module *module = NULL;
    ptera_diagnostic d = {.size = sizeof d};
    ptera_result r = ptera_module_load(l->engine, "ptx", text, len, &module);
    if (r == PTERA_OK)
        look_at_kernels(l, module);
    for (unsigned i = 0;
         r != PTERA_OK && module && ptera_module_diagnostic(module, i, &d) == PTERA_OK; i++)
        if (d.severity == PTERA_ERROR)
            doctor_problem("the PTX cannot be loaded: %.*s\n", first_line(d.text), d.text);
    ptera_module_unload(module);
}

/* ---- fatbinaries ----------------------------------------------------------------------------- */

static void look_at_fatbin(struct look *l, const uint8_t *fatbin, size_t bytes, bool is_linked)
{
    struct pt_image_text text = {0};
    l->n++;
    if (pt_image_read(fatbin, bytes, l->sm, PT_IMAGE_JIT_ALLOWED, &l->arena, &text) !=
        PT_IMAGE_OK) {
        printf("  fatbinary %u: %s\n", l->n, text.message);
        return;
    }
    l->n_runnable++;
    if (is_linked)
        *pt_vec_push(&l->arena, &l->units) = (struct pt_link_unit){NULL, text.text, text.len};
    else
        look_at_text(l, text.text, text.len);
}

/* They lie one behind the other, the device linker's own ones, without entries, among them. */
static void look_at_section(struct look *l, const struct elf *elf, const char *name, bool is_linked)
{
    size_t bytes;
    const uint8_t *p = elf_section(elf, name, &bytes);
    for (size_t size; p && (size = pt_fatbin_bytes(p, bytes)) > 0; p += size, bytes -= size)
        if (size > PT_FATBIN_HEADER)
            look_at_fatbin(l, p, size, is_linked);
}

static void look_at_all(struct look *l, const struct elf *elf)
{
    jmp_buf oom;
    size_t len;
    l->arena.oom = &oom;
    if (setjmp(oom)) {
        doctor_problem("there is no memory to look at its code\n");
        return;
    }
    look_at_section(l, elf, ".nv_fatbin", false);
    look_at_section(l, elf, "__nv_relfatbin", true);
    if (!l->n)
        return;
    printf("  %u of %u fatbinaries inside have PTX that runs\n", l->n_runnable, l->n);
    if (!l->n_runnable)
        doctor_problem("none of the code inside can run: compile with -arch=compute_90 or a plain "
                       "-arch=sm_90, which adds PTX\n");
    if (l->units.n) {
        const char *text = pt_link_text_join(l->units.v, l->units.n, &l->arena, &len);
        look_at_text(l, text, len);
    }
}

static void not_called(void)
{
}

/* The driver would. */
static void provide(ptera_engine *engine)
{
#define X(name, signature, function) ptera_function_register(engine, #name, signature, not_called);
#include "runtime/cuda/device_runtime.def"
#undef X
}

void doctor_code(const struct elf *elf)
{
    struct look l = {0};
    ptera_info info = {.size = sizeof info};
    if (ptera_engine_create(NULL, &l.engine) != PTERA_OK)
        return;
    if (ptera_engine_info(l.engine, &info) == PTERA_OK)
        l.sm = info.compute_capability_major * 10 + info.compute_capability_minor;
    provide(l.engine);
    pt_arena_init(&l.arena, &pt_malloc_allocator);
    look_at_all(&l, elf);
    pt_arena_free(&l.arena);
    ptera_engine_destroy(l.engine);
}
