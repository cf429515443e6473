#define _GNU_SOURCE
#include "tools/audit/redirect.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/cudart/refuse.h"
#include "tools/audit/jump.h"

/* ---- our library ----------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    const struct audit_entry *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static uint64_t find(const struct audit_library *library, const char *name)
{
    struct audit_entry key = {.name = name};
    const struct audit_entry *e = bsearch(&key, library->entries, library->n, sizeof key, by_name);
    return e ? e->address : 0;
}

bool audit_library_open(struct audit_library *library, const char *path, uint64_t base)
{
    struct elf_symbols symbols = {0};
    *library = (struct audit_library){0};
    if (!elf_open(&library->elf, path))
        return false;
    if (elf_get_symbols(&library->elf, true, &symbols))
        library->entries = malloc((symbols.n + 1) * sizeof *library->entries);
    for (size_t i = 0; library->entries && i < symbols.n; i++) {
        struct elf_symbol s = elf_symbol_at(&symbols, i);
        if (s.type == STT_FUNC && s.is_defined)
            library->entries[library->n++] = (struct audit_entry){s.name, base + s.address};
    }
    if (library->entries)
        qsort(library->entries, library->n, sizeof *library->entries, by_name);
    library->refuse = find(library, "ptera_cudart_refuse");
    return library->refuse != 0;
}

/* ---- what to write --------------------------------------------------------------------------- */

/* A function that we do not have goes where its name is told. 0: memory is short. */
static size_t make_refusal(const struct audit_place *place, const struct audit_library *library,
                           unsigned machine, struct audit_plan *plan, unsigned char *code)
{
    struct ptera_refusal *refusal = &plan->refusals[plan->n_refused++];
    refusal->name = strdup(place->name);
    return refusal->name ? audit_jump_with(machine, code, (uintptr_t)refusal, library->refuse) : 0;
}

static size_t make_code(const struct audit_place *place, const struct audit_library *library,
                        unsigned machine, struct audit_plan *plan, unsigned char *code)
{
    uint64_t target = place->name ? find(library, place->name) : 0;
    if (!place->name)
        return audit_jump_return(machine, code);
    return target ? audit_jump_far(machine, code, target)
                  : make_refusal(place, library, machine, plan, code);
}

/* Functions are replaced, so the room behind the jumps of long ones is free for the code of short
 * ones. */
struct room {
    const struct audit_runtime *runtime;
    const struct audit_plan *plan; /* one patch for each place, then those of the short ones */
    size_t next;                   /* place to look at */
};

static uint64_t find_room(struct room *room, size_t bytes)
{
    for (; room->next < room->runtime->n; room->next++) {
        const struct audit_place *place = &room->runtime->places[room->next];
        unsigned used = (room->plan->patches[room->next].bytes + 7) / 8 * 8;
        if (room->plan->patches[room->next].bytes && used + bytes <= place->extent) {
            room->next++;
            return place->address + used;
        }
    }
    return 0;
}

const char *audit_redirect_plan(const struct audit_runtime *runtime,
                                const struct audit_library *library, unsigned machine,
                                struct audit_plan *plan)
{
    struct room room = {runtime, plan, 0};
    size_t n = runtime->n;
    *plan = (struct audit_plan){.patches = calloc(2 * n + 1, sizeof *plan->patches),
                                .n = n,
                                .refusals = calloc(n + 1, sizeof *plan->refusals)};
    unsigned char(*codes)[AUDIT_JUMP_LONGEST] = malloc((n + 1) * sizeof *codes);
    unsigned *bytes = calloc(n + 1, sizeof *bytes);
    const char *wrong =
        plan->patches && plan->refusals && codes && bytes ? NULL : "memory is short";
    for (size_t i = 0; !wrong && i < n; i++) {
        const struct audit_place *place = &runtime->places[i];
        struct audit_patch *patch = &plan->patches[i];
        bytes[i] = (unsigned)make_code(place, library, machine, plan, codes[i]);
        patch->address = place->address;
        if (!bytes[i])
            wrong = "memory is short";
        if (bytes[i] <= place->extent)
            memcpy(patch->code, codes[i], patch->bytes = bytes[i]);
    }
    for (size_t i = 0; !wrong && i < n; i++) {
        struct audit_patch *patch = &plan->patches[i];
        if (patch->bytes)
            continue;
        uint64_t at = find_room(&room, bytes[i]);
        size_t near = at ? audit_jump_near(machine, patch->code, patch->address, at) : 0;
        if (!near || near > runtime->places[i].extent) {
            wrong = "a function is too short for a jump";
            break;
        }
        patch->bytes = (unsigned)near;
        struct audit_patch *more = &plan->patches[plan->n++];
        *more = (struct audit_patch){.address = at, .bytes = bytes[i]};
        memcpy(more->code, codes[i], bytes[i]);
    }
    free(codes);
    free(bytes);
    return wrong;
}

void audit_redirect_free(struct audit_plan *plan)
{
    for (size_t i = 0; !plan->is_written && i < plan->n_refused; i++)
        free((char *)plan->refusals[i].name);
    if (!plan->is_written)
        free(plan->refusals);
    free(plan->patches);
    *plan = (struct audit_plan){0};
}

/* ---- writing --------------------------------------------------------------------------------- */

static const unsigned char *in_file(const struct elf *elf, const struct audit_patch *patch)
{
    struct elf_load load;
    for (unsigned i = 0; elf_get_load(elf, i, &load); i++)
        if (load.is_code && patch->address >= load.address &&
            patch->address - load.address <= load.bytes &&
            patch->bytes <= load.bytes - (patch->address - load.address))
            return load.data + (patch->address - load.address);
    return NULL;
}

static bool is_as_file(const struct audit_plan *plan, const struct elf *elf, uint64_t base)
{
    for (size_t i = 0; i < plan->n; i++) {
        const struct audit_patch *patch = &plan->patches[i];
        const unsigned char *code = in_file(elf, patch);
        if (!code || memcmp(code, (void *)(base + patch->address), patch->bytes) != 0)
            return false;
    }
    return true;
}

const char *audit_redirect_write(struct audit_plan *plan, const struct elf *elf, uint64_t base)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), first = UINT64_MAX, end = 0;
    if (!is_as_file(plan, elf, base))
        return "its memory is not as its file";
    for (size_t i = 0; i < plan->n; i++) {
        uint64_t at = base + plan->patches[i].address, after = at + plan->patches[i].bytes;
        first = at < first ? at : first;
        end = after > end ? after : end;
    }
    first -= first % page;
    void *memory = (void *)first;
    /* Nothing of the object runs yet, so that for a while it need not be executable. */
    if (mprotect(memory, end - first, PROT_READ | PROT_WRITE) != 0)
        return "its code cannot be written";
    for (size_t i = 0; i < plan->n; i++)
        memcpy((void *)(base + plan->patches[i].address), plan->patches[i].code,
               plan->patches[i].bytes);
    if (mprotect(memory, end - first, PROT_READ | PROT_EXEC) != 0)
        return "its code cannot be made executable again";
    plan->is_written = true;
    __builtin___clear_cache(memory, (char *)end);
    return NULL;
}
