/* ptera ptxas: stands in for NVIDIA's assembler where a program calls one. It checks, and hands
 * the PTX on in a cubin. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/cubin.h"
#include "frontend/link_text.h"
#include "ir/isa.h"
#include "ptera.h"
#include "tools/commands.h"
#include "tools/load.h"
#include "tools/ptxas_options.h"

enum { PTXAS_FAILED = 255 };

struct assembly {
    struct ptxas_options options;
    struct pt_arena arena;
    ptera_engine *engine;
    ptera_module *module;
    const char *text;
    size_t len;
    unsigned n_shown; /* diagnostics */
    bool has_failed;
};

static bool has(const struct assembly *a, enum ptxas_option option)
{
    return a->options.value[option] != NULL;
}

/* ---- input ----------------------------------------------------------------------------------- */

static bool read_stream(struct pt_arena *arena, FILE *in, struct pt_link_unit *unit)
{
    PT_VEC(char) text = {0};
    char buffer[4096];
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, in)) > 0;)
        memcpy(pt_vec_extend(arena, &text, (uint32_t)n), buffer, n);
    unit->text = text.n ? text.v : "";
    unit->len = text.n;
    return !ferror(in);
}

static bool read_input(struct assembly *a, const struct ptxas_input *input,
                       struct pt_link_unit *unit)
{
    *unit = (struct pt_link_unit){input->name, input->text, input->text ? strlen(input->text) : 0};
    if (input->text)
        return true;
    bool is_stdin = !strcmp(input->name, "-");
    FILE *in = is_stdin ? stdin : fopen(input->name, "rb");
    bool ok = in && read_stream(&a->arena, in, unit);
    if (in && !is_stdin)
        fclose(in);
    if (!ok)
        ptxas_fatal("Input file '%s' could not be opened", input->name);
    return ok;
}

/* As ptxas does (measured, 13.0): neither for -O0 nor for -g. */
static bool may_contract(const struct assembly *a)
{
    const char *fmad = a->options.value[PTXAS_fmad], *level = a->options.value[PTXAS_opt_level];
    return !(fmad && !strcmp(fmad, "false")) && !(level && *level && !atoi(level)) &&
           !has(a, PTXAS_device_debug);
}

/* -maxrregcount: 0 where it is none, or archmax, which allows all. */
static unsigned most_registers(const struct assembly *a)
{
    const char *value = a->options.value[PTXAS_maxrregcount];
    enum { FEWEST = 16 }; /* archmin */
    if (value && !strcmp(value, "archmin"))
        return FEWEST;
    return value ? (unsigned)strtoul(value, NULL, 10) : 0;
}

static bool read_inputs(struct assembly *a)
{
    uint32_t n = a->options.inputs.n;
    struct pt_link_unit *units = pt_arena_alloc(&a->arena, n * sizeof *units);
    for (uint32_t i = 0; i < n; i++)
        if (!read_input(a, &a->options.inputs.v[i], &units[i]))
            return false;
    a->text = units[0].text;
    a->len = units[0].len;
    if (n > 1)
        a->text = pt_link_text_join(units, n, &a->arena, &a->len);
    const struct pt_cubin told = {.text = a->text,
                                  .len = a->len,
                                  .is_fmad_off = !may_contract(a),
                                  .registers = most_registers(a)};
    a->text = pt_cubin_add_pragmas(&told, &a->arena, &a->len);
    return true;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static void show(struct assembly *a, const ptera_diagnostic *d)
{
    bool is_error = d->severity == PTERA_ERROR || has(a, PTXAS_warning_as_error);
    if (d->severity == PTERA_NOTE ||
        (d->severity == PTERA_WARNING && has(a, PTXAS_disable_warnings)))
        return;
    a->has_failed |= is_error;
    if (d->file_line)
        fprintf(stderr, "ptxas %s, line %u; %-8s: %s\n", d->file, d->file_line,
                is_error ? "error" : "warning", d->message);
    else
        fprintf(stderr, "ptxas %-8s: %s\n", is_error ? "error" : "warning", d->message);
}

/* Those that are new. */
static void show_all(struct assembly *a)
{
    ptera_diagnostic d = {.size = sizeof d};
    for (; a->module && ptera_module_diagnostic(a->module, a->n_shown, &d) == PTERA_OK;
         a->n_shown++)
        show(a, &d);
}

static bool abort_if_failed(const struct assembly *a)
{
    if (a->has_failed)
        ptxas_fatal("Ptx assembly aborted due to errors");
    return !a->has_failed;
}

/* May PTX for this target be assembled for the GPU of the command line? PTX ISA 10.2, .target. */
static bool check_target(const struct assembly *a)
{
    const struct ptxas_options *o = &a->options;
    ptera_module_properties m = {.size = sizeof m};
    if (ptera_module_properties_get(a->module, &m) != PTERA_OK)
        return false;
    const char from[2] = {m.target_feature, 0}, to[2] = {o->feature, 0};
    if (m.target > o->sm)
        ptxas_fatal("SM version specified by .target is higher than default SM version assumed");
    else if (m.target_feature == 'f' && m.target / 10 != o->sm / 10)
        ptxas_fatal(
            "Program with .target 'sm_%u%s' cannot be compiled to different SM-family architecture",
            m.target, from);
    else if (m.target_feature == 'a' && m.target < o->sm)
        ptxas_fatal("Program with .target 'sm_%u%s' cannot be compiled to future architecture",
                    m.target, from);
    else if (m.target_feature == 'a' && o->feature != 'a')
        ptxas_fatal("PTX with .target 'sm_%u%s' cannot be compiled for architecture 'sm_%u%s'",
                    m.target, from, o->sm, to);
    else
        return true;
    return false;
}

static bool check(struct assembly *a)
{
    const char *name = a->options.inputs.v[0].name;
    ptera_result r = ptera_module_load(a->engine, name, a->text, a->len, &a->module);
    if (r == PTERA_OK && !check_target(a))
        return false;
    if (r == PTERA_OK)
        r = ptera_module_verify(a->module);
    show_all(a);
    if (r == PTERA_OK || r == PTERA_ERROR_INVALID_PTX)
        return abort_if_failed(a);
    ptxas_fatal("%s", ptera_result_text(r));
    return false;
}

/* ---- what kernels use ------------------------------------------------------------------------ */

static bool is_wanted(const struct assembly *a, const char *name)
{
    for (uint32_t i = 0; i < a->options.entries.n; i++)
        if (!strcmp(a->options.entries.v[i], name))
            return true;
    return !a->options.entries.n;
}

static void report_kernel(const struct assembly *a, const char *name,
                          const ptera_kernel_properties *p)
{
    const char feature[2] = {a->options.feature, 0};
    ptxas_info("Compiling entry function '%s' for 'sm_%u%s'", name, a->options.sm, feature);
    ptxas_info("Function properties for %s", name);
    fprintf(stderr, "    %zu bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n",
            p->local_bytes);
    if (p->shared_bytes)
        ptxas_info("Used %u registers, %zu bytes smem", p->registers, p->shared_bytes);
    else
        ptxas_info("Used %u registers", p->registers);
}

static void report_variables(const struct assembly *a)
{
    ptera_module_properties m = {.size = sizeof m};
    if (ptera_module_properties_get(a->module, &m) != PTERA_OK)
        return;
    if (m.constant_bytes)
        ptxas_info("%zu bytes gmem, %zu bytes cmem[3]", m.global_bytes, m.constant_bytes);
    else
        ptxas_info("%zu bytes gmem", m.global_bytes);
}

static void warn_of_local_memory(struct assembly *a, const char *name, size_t bytes)
{
    char message[1024];
    snprintf(message, sizeof message, "Local memory used for '%s', size %zu bytes", name, bytes);
    if (bytes && has(a, PTXAS_warn_lmem_usage))
        show(a, &(ptera_diagnostic){.severity = PTERA_WARNING, .message = message});
}

static bool is_relocatable(const struct assembly *a)
{
    return has(a, PTXAS_compile_only) || has(a, PTXAS_extensible_whole_program);
}

static bool check_entries(const struct assembly *a)
{
    ptera_kernel *kernel;
    for (uint32_t i = 0; i < a->options.entries.n; i++)
        if (ptera_module_kernel(a->module, a->options.entries.v[i], 0, &kernel) != PTERA_OK) {
            ptxas_fatal("Unknown function %s", a->options.entries.v[i]);
            return false;
        }
    return true;
}

/* Nothing is told of kernels that cannot be launched: of those that wait for other objects, and
 * where a warning has said why. A whole program has all its functions. */
static bool report(struct assembly *a)
{
    ptera_kernel *kernel;
    if (!check_entries(a))
        return false;
    if (has(a, PTXAS_verbose))
        report_variables(a);
    for (unsigned i = 0; ptera_module_kernel(a->module, NULL, i, &kernel) == PTERA_OK; i++) {
        const char *name = ptera_kernel_name(kernel);
        ptera_kernel_properties p = {.size = sizeof p};
        ptera_result r =
            is_wanted(a, name) ? ptera_kernel_properties_get(kernel, &p) : PTERA_ERROR_NOT_FOUND;
        if (r == PTERA_ERROR_INVALID_PTX && !is_relocatable(a))
            show_all(a);
        if (r != PTERA_OK)
            continue;
        warn_of_local_memory(a, name, p.local_bytes);
        if (has(a, PTXAS_verbose))
            report_kernel(a, name, &p);
    }
    return abort_if_failed(a);
}

/* ---- output ---------------------------------------------------------------------------------- */

static bool write_cubin(struct assembly *a)
{
    const struct ptxas_options *o = &a->options;
    const char *path = has(a, PTXAS_output_file) ? o->value[PTXAS_output_file] : "elf.o";
    size_t bytes;
    const struct pt_cubin cubin = {.text = a->text,
                                   .len = a->len,
                                   .sm = o->sm,
                                   .feature = o->feature,
                                   .is_relocatable = is_relocatable(a)};
    const void *data = pt_cubin_write(&cubin, &a->arena, &bytes);
    FILE *out = fopen(path, "wb");
    if (!out) {
        ptxas_fatal("Output file '%s' could not be opened", path);
        return false;
    }
    bool is_whole = fwrite(data, 1, bytes, out) == bytes;
    if (fclose(out) == 0 && is_whole)
        return true;
    ptxas_fatal("Output file '%s' could not be written: %s", path, strerror(errno));
    return false;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Programs look for "release N.N" and "VN.N.N": those of the toolkit that brought the newest PTX
 * known here. CUDA 12.0 came with PTX 8.0, and 13.0 with 9.0. */
static void show_version(void)
{
    unsigned major = pt_ptx_newest() / 10 + 4, minor = pt_ptx_newest() % 10;
    printf(
        "ptxas: Ptera's stand-in for NVIDIA's PTX assembler, which writes cubins with PTX inside\n"
        "ptera %s\n"
        "Cuda compilation tools, release %u.%u, V%u.%u.0\n",
        ptera_version(), major, minor, major, minor);
}

static void list_versions(void)
{
    for (unsigned v = 10; v <= pt_ptx_newest(); v++)
        if (pt_ptx_is_known(v / 10, v % 10))
            printf("%u.%u\n", v / 10, v % 10);
}

static bool assemble(struct assembly *a)
{
    if (!a->options.inputs.n) {
        ptxas_fatal("No input file given");
        return false;
    }
    if (!read_inputs(a) || create_engine(NULL, &a->engine) != EXIT_GOOD)
        return false;
    return check(a) && report(a) && (a->options.is_virtual || write_cubin(a));
}

static bool run(struct assembly *a, int argc, char **argv)
{
    a->options.arena = &a->arena;
    if (!ptxas_options_read(&a->options, argc, argv))
        return false;
    if (has(a, PTXAS_help) || argc < 2)
        ptxas_options_help();
    else if (has(a, PTXAS_version))
        show_version();
    else if (has(a, PTXAS_list_version))
        list_versions();
    else
        return assemble(a);
    return true;
}

int command_ptxas(int argc, char **argv)
{
    static struct assembly a;
    jmp_buf oom;
    volatile bool ok = false; /* kept over a jump */
    pt_arena_init(&a.arena, &pt_malloc_allocator);
    a.arena.oom = &oom;
    if (setjmp(oom) == 0)
        ok = run(&a, argc, argv);
    else
        ptxas_fatal("out of memory");
    ptera_module_unload(a.module);
    if (a.engine)
        ptera_engine_destroy(a.engine);
    pt_arena_free(&a.arena);
    return ok ? EXIT_GOOD : PTXAS_FAILED;
}
