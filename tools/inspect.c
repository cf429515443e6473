/* ptera verify, compile, info: the commands that run no kernel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptera.h"
#include "tools/args.h"
#include "tools/commands.h"
#include "tools/load.h"

static bool wants_help(int argc, char **argv, const char *help)
{
    if (argc < 2 || (strcmp(argv[1], "--help") && strcmp(argv[1], "-h")))
        return false;
    fputs(help, stdout);
    return true;
}

static int wrong_usage(const char *why, const char *what, const char *help)
{
    fprintf(stderr, "ptera: %s%s\n%s", why, what, help);
    return EXIT_USAGE;
}

/* ---- verify ---------------------------------------------------------------------------------- */

static const char verify_help[] = "usage: ptera verify FILE.ptx...\n\n"
                                  "Accepts what NVIDIA's assembler accepts and says why not. Forms "
                                  "that are valid but not implemented yet\n"
                                  "are warnings.\n";

static int verify_file(ptera_engine *engine, const char *path)
{
    ptera_module *module = NULL;
    int status = load_module(engine, path, &module);
    if (status == EXIT_GOOD && ptera_module_verify(module) != PTERA_OK)
        status = EXIT_INVALID_PTX;
    if (module)
        show_diagnostics(module, PTERA_NOTE);
    if (status == EXIT_GOOD)
        printf("%s: valid\n", path);
    ptera_module_unload(module);
    return status;
}

int command_verify(int argc, char **argv)
{
    if (wants_help(argc, argv, verify_help))
        return EXIT_GOOD;
    if (argc < 2)
        return wrong_usage("no file given", "", verify_help);
    ptera_engine *engine = NULL;
    int worst = create_engine(NULL, &engine);
    if (worst != EXIT_GOOD)
        return worst;
    for (int i = 1; i < argc; i++) {
        int status = verify_file(engine, argv[i]);
        if (status > worst)
            worst = status;
    }
    ptera_engine_destroy(engine);
    return worst;
}

/* ---- compile --------------------------------------------------------------------------------- */

static const char compile_help[] =
    "usage: ptera compile FILE.ptx --emit tokens|ast|ir [-k KERNEL]\n"
    "       ptera compile FILE.ptx --emit llvm|asm|obj [-k KERNEL] [-b X[,Y[,Z]]] [--math "
    "exact|fast]\n\n"
    "  tokens  the words of the text with their positions\n"
    "  ast     the module as read, printed as PTX\n"
    "  ir      after lowering: numbered blocks, one register a web, contraction done; readable as "
    "PTX\n"
    "  llvm    native code for blocks of that shape (without -b: of any): LLVM IR after its "
    "passes\n"
    "  asm     its assembly\n"
    "  obj     its ELF object\n";

static const char *const emit_names[] = {"tokens", "ast", "ir", "llvm", "asm", "obj"};
enum { FIRST_NATIVE = 3, N_EMITS = sizeof emit_names / sizeof *emit_names };

struct compile_options {
    const char *path, *kernel;
    int what; /* index of emit_names, or -1 */
    unsigned block[3];
    bool math_fast;
};

static int emit_text(ptera_module *module, const struct compile_options *o)
{
    const char *text;
    ptera_result r = ptera_module_emit(module, o->kernel, (ptera_emit)o->what, &text);
    if (r == PTERA_OK) {
        fputs(text, stdout);
        return EXIT_GOOD;
    }
    if (r == PTERA_ERROR_INVALID_PTX)
        return EXIT_INVALID_PTX;
    if (r == PTERA_ERROR_NOT_FOUND && o->kernel)
        fprintf(stderr, "ptera compile: %s has no kernel '%s'\n", o->path, o->kernel);
    else
        fprintf(stderr, "ptera: %s\n", ptera_result_text(r));
    return EXIT_USAGE;
}

static int emit_native(ptera_engine *engine, ptera_module *module, const struct compile_options *o)
{
    ptera_kernel *kernel;
    const void *data;
    size_t bytes;
    int status = find_kernel(module, o->path, o->kernel, &kernel);
    if (status != EXIT_GOOD)
        return status;
    ptera_result r = ptera_kernel_emit(kernel, o->block, o->math_fast,
                                       (ptera_native_emit)(o->what - FIRST_NATIVE), &data, &bytes);
    if (r == PTERA_OK)
        fwrite(data, 1, bytes, stdout);
    else if (r != PTERA_ERROR_INVALID_PTX)
        fprintf(stderr, "ptera: %s\n", ptera_engine_error(engine));
    return r == PTERA_OK                  ? EXIT_GOOD
           : r == PTERA_ERROR_INVALID_PTX ? EXIT_INVALID_PTX
                                          : EXIT_FAILED;
}

static int emit(ptera_engine *engine, const struct compile_options *o)
{
    ptera_module *module = NULL;
    int status = load_module(engine, o->path, &module);
    if (module && (status == EXIT_GOOD || o->what == PTERA_EMIT_TOKENS))
        status = o->what < FIRST_NATIVE ? emit_text(module, o) : emit_native(engine, module, o);
    if (module && status != EXIT_GOOD)
        show_diagnostics(module, PTERA_NOTE);
    ptera_module_unload(module);
    return status;
}

static int find_emit(const char *name)
{
    for (int i = 0; i < N_EMITS; i++)
        if (!strcmp(name, emit_names[i]))
            return i;
    return -1;
}

static int parse_compile(int argc, char **argv, struct compile_options *o)
{
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (a[0] != '-' && !o->path) {
            o->path = a;
            continue;
        }
        bool ok = value != NULL;
        i++;
        if (ok && !strcmp(a, "--emit"))
            ok = (o->what = find_emit(value)) >= 0;
        else if (ok && !strcmp(a, "-k"))
            o->kernel = value;
        else if (ok && !strcmp(a, "-b"))
            ok = parse_dim(value, o->block);
        else if (ok && !strcmp(a, "--math"))
            ok = !strcmp(value, "exact") || (o->math_fast = !strcmp(value, "fast"));
        else
            return wrong_usage("unexpected ", a, compile_help);
        if (!ok)
            return wrong_usage("bad value for ", a, compile_help);
    }
    return o->path && o->what >= 0 ? EXIT_GOOD
                                   : wrong_usage("needs FILE.ptx and --emit", "", compile_help);
}

int command_compile(int argc, char **argv)
{
    struct compile_options o = {.what = -1};
    if (wants_help(argc, argv, compile_help))
        return EXIT_GOOD;
    int status = parse_compile(argc, argv, &o);
    if (status != EXIT_GOOD)
        return status;
    ptera_engine *engine = NULL;
    status = create_engine(NULL, &engine);
    if (status == EXIT_GOOD)
        status = emit(engine, &o);
    ptera_engine_destroy(engine);
    return status;
}

/* ---- info ------------------------------------------------------------------------------------ */

static const char info_help[] =
    "usage: ptera info [--isa [--summary]]\n\n"
    "  --isa       the instruction table: each row's name and chapter, whether it is parsed,\n"
    "              interpreted, compiled (call: native code calls the interpreter for it) and "
    "golden\n"
    "              (compared with an H200), and its syntax\n"
    "  --summary   only how many rows of each chapter are that, as a table in Markdown\n";

static const char *yes_no(int is)
{
    return is ? "yes" : "no";
}

static void show_isa(void)
{
    ptera_isa_row row = {.size = sizeof row};
    printf("%-20s %-9s %-6s %-10s %-8s %-7s %s\n", "id", "chapter", "parse", "interpret", "compile",
           "golden", "syntax");
    for (unsigned i = 0; ptera_isa_row_get(i, &row) == PTERA_OK; i++)
        printf("%-20s %-9s %-6s %-10s %-8s %-7s %s\n", row.id, row.chapter, yes_no(1),
               yes_no(row.interprets), row.compiles > 1 ? "call" : yes_no(row.compiles),
               yes_no(row.is_golden), row.syntax);
}

struct isa_count {
    const char *chapter;
    unsigned rows, interpreted, compiled, golden;
};

static void count_row(struct isa_count *count, const ptera_isa_row *row)
{
    count->rows++;
    count->interpreted += row->interprets != 0;
    count->compiled += row->compiles != 0;
    count->golden += row->is_golden != 0;
}

static void show_count(const struct isa_count *count)
{
    printf("| %s | %u | %u | %u | %u |\n", count->chapter, count->rows, count->interpreted,
           count->compiled, count->golden);
}

/* The rows of a chapter lie together. */
static void show_isa_summary(void)
{
    ptera_isa_row row = {.size = sizeof row};
    struct isa_count chapter = {0}, all = {.chapter = "total"};
    puts("| chapter | rows | interpreted | compiled | golden-verified |\n|---|---|---|---|---|");
    for (unsigned i = 0; ptera_isa_row_get(i, &row) == PTERA_OK; i++) {
        if (chapter.rows && strcmp(chapter.chapter, row.chapter)) {
            show_count(&chapter);
            chapter = (struct isa_count){0};
        }
        chapter.chapter = row.chapter;
        count_row(&chapter, &row);
        count_row(&all, &row);
    }
    show_count(&chapter);
    show_count(&all);
}

int command_info(int argc, char **argv)
{
    if (wants_help(argc, argv, info_help))
        return EXIT_GOOD;
    if (argc > 1 && strcmp(argv[1], "--isa"))
        return wrong_usage("unexpected ", argv[1], info_help);
    if (argc > 3 || (argc == 3 && strcmp(argv[2], "--summary")))
        return wrong_usage("unexpected ", argv[argc - 1], info_help);
    if (argc > 1) {
        argc == 3 ? show_isa_summary() : show_isa();
        return EXIT_GOOD;
    }
    ptera_engine *engine = NULL;
    ptera_info info = {.size = sizeof info};
    int status = create_engine(NULL, &engine);
    if (status != EXIT_GOOD)
        return status;
    ptera_result r = ptera_engine_info(engine, &info);
    if (r != PTERA_OK) {
        fprintf(stderr, "ptera: %s\n", ptera_result_text(r));
        return EXIT_FAILED;
    }
    printf("version             %s\n"
           "engines             interp%s\n"
           "CPU level           %s\n"
           "worker threads      %u\n"
           "device              %s\n"
           "compute capability  %u.%u\n"
           "instruction rows    %u, %u implemented\n",
           info.version, info.has_jit ? ", jit" : "", info.cpu_level, info.threads, info.device,
           info.compute_capability_major, info.compute_capability_minor, info.isa_rows,
           info.isa_rows_supported);
    if (info.has_jit)
        printf("compiler            LLVM %s, vectors of %u lanes\n"
               "cache               %s%s%s\n",
               info.llvm_version, info.vector_lanes, info.cache ? info.cache : "none",
               info.cache_error ? ", not " : "", info.cache_error ? info.cache_error : "");
    else
        printf("compiler            none: %s\n", info.jit_error);
    ptera_engine_destroy(engine);
    return EXIT_GOOD;
}
