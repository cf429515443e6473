#define _GNU_SOURCE /* memmem */
#include "tools/audit/runtime.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "tools/audit/layout.h"

/* ---- what a file with the library inside must have ------------------------------------------- */

/* The library asks the C library for these, in all releases, and few others do for all of them. */
static bool may_have(const struct elf *elf)
{
    static const char *const wanted[] = {"dlvsym", "nftw", "sem_timedwait"};
    struct elf_symbols symbols;
    if (!elf_get_symbols(elf, true, &symbols) || !symbols.strings)
        return false;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!memmem(symbols.strings, symbols.string_bytes, wanted[i], strlen(wanted[i]) + 1))
            return false;
    return true;
}

static bool add(struct audit_runtime *runtime, struct audit_place place)
{
    if (runtime->n % 64 == 0) {
        struct audit_place *more =
            realloc(runtime->places, (runtime->n + 64) * sizeof *runtime->places);
        if (!more)
            return false;
        runtime->places = more;
    }
    runtime->places[runtime->n++] = place;
    return true;
}

void audit_runtime_free(struct audit_runtime *runtime)
{
    free(runtime->places);
    *runtime = (struct audit_runtime){0};
}

/* ---- by its code ----------------------------------------------------------------------------- */

static bool take_functions_of(const struct audit_layout *layout, uint64_t address,
                              struct audit_runtime *runtime)
{
    struct audit_function f = {.rest = layout->functions};
    runtime->major = layout->major;
    runtime->versions = layout->versions;
    while (audit_layout_next(&f))
        if (!add(runtime,
                 (struct audit_place){address + f.offset, f.extent, audit_layout_names[f.name]}))
            return false;
    return runtime->n > 0;
}

/* Without one of these pieces, a program that has it runs as well. */
static bool take_piece(const struct audit_piece *piece, const struct elf *elf,
                       const struct elf_load *load, size_t begin, struct audit_runtime *runtime)
{
    enum { COUNTS = 4 };
    struct audit_piece_found found;
    if (!audit_layout_find_piece(piece, elf_machine(elf), load->data, load->bytes, begin, &found))
        return true;
    for (unsigned i = 0; i < piece->n; i++) {
        uint64_t at = load->address + found.begin + audit_layout_take(&found.functions);
        if (!add(runtime, (struct audit_place){at, COUNTS, NULL}))
            return false;
    }
    return true;
}

static bool find_by_code(const struct elf *elf, struct audit_runtime *runtime)
{
    struct elf_load load;
    for (unsigned i = 0; elf_get_load(elf, i, &load); i++) {
        size_t skipped = -load.address % 16, begin; /* sections are aligned in memory */
        if (!load.is_code || skipped >= load.bytes)
            continue;
        load.data += skipped;
        load.bytes -= skipped;
        load.address += skipped;
        const struct audit_layout *layout = audit_layout_find(
            audit_layouts, audit_layouts_count, elf_machine(elf), load.data, load.bytes, &begin);
        if (layout)
            return take_functions_of(layout, load.address + begin, runtime) &&
                   take_piece(&layout->startup, elf, &load, begin, runtime) &&
                   take_piece(&layout->exit, elf, &load, begin, runtime);
    }
    return false;
}

/* ---- by its symbols -------------------------------------------------------------------------- */

struct function {
    uint64_t address, bytes;
    uint64_t reached; /* where those before it end */
    const char *name; /* NULL: not one that could be the library's */
};

static int by_address(const void *a, const void *b)
{
    const struct function *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names of the library are those that a release has. What later ones add is between them, and has
 * names like theirs. */
static bool is_known(const char *const *sorted, const char *name)
{
    return name && bsearch(&name, sorted, audit_layout_names_count, sizeof *sorted, by_name);
}

static bool is_like_theirs(const char *name)
{
    const char *rest = strncmp(name, "__cuda", 6) == 0 ? name + 6
                       : strncmp(name, "cuda", 4) == 0 ? name + 4
                                                       : "";
    return *rest && !(strncmp(rest, "rt", 2) == 0 && rest[2] >= '0' && rest[2] <= '9');
}

static bool is_in_code(const struct elf *elf, uint64_t address, uint64_t bytes)
{
    struct elf_load load;
    for (unsigned i = 0; elf_get_load(elf, i, &load); i++)
        if (load.is_code && address >= load.address && address - load.address <= load.bytes &&
            bytes <= load.bytes - (address - load.address))
            return true;
    return false;
}

/* All functions of the symbol table by address. The library's are hidden, which a linker makes
 * local. */
static struct function *list_functions(const struct elf *elf, const struct elf_symbols *symbols,
                                       size_t *n)
{
    struct function *all = malloc((symbols->n + 1) * sizeof *all);
    *n = 0;
    for (size_t i = 0; all && i < symbols->n; i++) {
        struct elf_symbol s = elf_symbol_at(symbols, i);
        if (s.type != STT_FUNC || !s.is_defined || !s.bytes || !is_in_code(elf, s.address, s.bytes))
            continue;
        bool is_hidden = s.binding == STB_LOCAL || s.visibility == STV_HIDDEN;
        all[(*n)++] = (struct function){
            s.address, s.bytes, 0,
            is_hidden && (is_like_theirs(s.name) || audit_layout_is_quiet(s.name)) ? s.name : NULL};
    }
    if (all)
        qsort(all, *n, sizeof *all, by_address);
    for (size_t i = 1; i < *n; i++) {
        uint64_t end = all[i - 1].address + all[i - 1].bytes;
        all[i].reached = end > all[i - 1].reached ? end : all[i - 1].reached;
    }
    return all;
}

/* What a function has for itself: up to the next one, what fills its last 16 bytes up included. 0
 * if it is in another one. */
static unsigned extent_of(const struct function *all, size_t n, size_t i)
{
    enum { COUNTS = 60 };
    uint64_t bytes = (all[i].bytes + 15) / 16 * 16;
    if (all[i].reached > all[i].address)
        return 0;
    if (i + 1 < n && all[i + 1].address - all[i].address < bytes)
        bytes = all[i + 1].address - all[i].address;
    return bytes < all[i].bytes ? 0 : bytes < COUNTS ? (unsigned)bytes : COUNTS;
}

static bool has(const struct audit_runtime *runtime, const char *name)
{
    for (size_t i = 0; i < runtime->n; i++)
        if (runtime->places[i].name && !strcmp(runtime->places[i].name, name))
            return true;
    return false;
}

/* Whether it is the library, all of which is linked, and none of before 11.0; the release by what
 * only some have. */
static bool tell_release(struct audit_runtime *runtime)
{
    static const char *const in_all[] = {"__cudaRegisterFatBinary",
                                         "__cudaRegisterFunction",
                                         "__cudaPushCallConfiguration",
                                         "__cudaPopCallConfiguration",
                                         "cudaLaunchKernel",
                                         "cudaMalloc",
                                         "cudaGetLastError",
                                         "cudaCtxResetPersistingL2Cache"};
    for (size_t i = 0; i < sizeof in_all / sizeof *in_all; i++)
        if (!has(runtime, in_all[i]))
            return false;
    runtime->major = has(runtime, "cudaBindTexture")              ? 11
                     : has(runtime, "cudaGetDeviceProperties_v2") ? 12
                                                                  : 13;
    return true;
}

static bool take_functions(const struct function *all, size_t n, const char *const *known,
                           struct audit_runtime *runtime)
{
    size_t first = 0, last = n;
    while (first < n && !is_known(known, all[first].name))
        first++;
    while (last > first && !is_known(known, all[last - 1].name))
        last--;
    for (size_t i = 0; i < n; i++) {
        const char *name = all[i].name;
        bool is_quiet = name && audit_layout_is_quiet(name);
        if (!name || (!is_quiet && (i < first || i >= last)))
            continue;
        struct audit_place place = {all[i].address, extent_of(all, n, i), is_quiet ? NULL : name};
        if (!place.extent || !add(runtime, place))
            return false;
    }
    return tell_release(runtime);
}

static bool find_by_symbols(const struct elf *elf, struct audit_runtime *runtime)
{
    struct elf_symbols symbols;
    size_t n = 0;
    if (!elf_get_symbols(elf, false, &symbols))
        return false;
    struct function *all = list_functions(elf, &symbols, &n);
    const char **known = malloc(audit_layout_names_count * sizeof *known);
    bool is_found = false;
    if (all && known) {
        memcpy(known, audit_layout_names, audit_layout_names_count * sizeof *known);
        qsort(known, audit_layout_names_count, sizeof *known, by_name);
        is_found = take_functions(all, n, known, runtime);
    }
    free(known);
    free(all);
    return is_found;
}

bool audit_runtime_find(const struct elf *elf, struct audit_runtime *runtime)
{
    *runtime = (struct audit_runtime){0};
    if (!may_have(elf))
        return false;
    if (find_by_code(elf, runtime))
        return true;
    audit_runtime_free(runtime);
    if (find_by_symbols(elf, runtime))
        return true;
    audit_runtime_free(runtime);
    return false;
}
