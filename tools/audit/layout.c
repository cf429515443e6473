#include "tools/audit/layout.h"

#include <elf.h>
#include <string.h>

enum { WINDOW = 32 };

const struct audit_layout audit_layouts[] = {
#define NAME(name)
#define QUIET(name)
#define LAYOUT(machine, major, versions, bytes, key_at, key, windows, hash, functions, n, nr, p, \
               ph, n2, nr2, p2, ph2)                                                             \
    {machine,   major,          versions,          bytes, key_at, key, windows, hash,            \
     functions, {n, nr, p, ph}, {n2, nr2, p2, ph2}},
#include "tools/audit/layouts.def"
#undef NAME
#undef QUIET
#undef LAYOUT
};
const size_t audit_layouts_count = sizeof audit_layouts / sizeof *audit_layouts;

const char *const audit_layout_names[] = {
#define NAME(name) #name,
#define QUIET(name)
#define LAYOUT(...)
#include "tools/audit/layouts.def"
#undef NAME
#undef QUIET
#undef LAYOUT
};
const size_t audit_layout_names_count = sizeof audit_layout_names / sizeof *audit_layout_names;

bool audit_layout_is_quiet(const char *name)
{
    static const char *const names[] = {
#define NAME(name)
#define QUIET(name) #name,
#define LAYOUT(...)
#include "tools/audit/layouts.def"
#undef NAME
#undef QUIET
#undef LAYOUT
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

/* ---- strings of numbers ---------------------------------------------------------------------- */

uint64_t audit_layout_take(const char **text)
{
    uint64_t n = 0;
    unsigned shift = 0;
    for (; **text >= 'A' && **text <= 'P'; shift += 4)
        n |= (uint64_t)(*(*text)++ - 'A') << shift;
    if (**text)
        n |= (uint64_t)(*(*text)++ - 'a') << shift;
    return n;
}

bool audit_layout_next(struct audit_function *function)
{
    if (!*function->rest)
        return false;
    function->offset += 4 * audit_layout_take(&function->rest);
    uint64_t step = audit_layout_take(&function->rest);
    function->name += (int)(step >> 1) ^ -(int)(step & 1);
    function->extent = 4 * (unsigned)audit_layout_take(&function->rest);
    return true;
}

/* ---- search ---------------------------------------------------------------------------------- */

/* FNV-1a, by words. */
static const uint64_t hash_begin = 0xcbf29ce484222325;

static uint64_t hash_on(uint64_t h, const unsigned char *window)
{
    for (int i = 0; i < WINDOW; i += 8) {
        uint64_t word;
        memcpy(&word, window + i, sizeof word);
        h = (h ^ word) * 0x100000001b3;
        h ^= h >> 32;
    }
    return h;
}

static bool matches(const struct audit_layout *layout, const unsigned char *section)
{
    uint64_t h = hash_begin, at = 0;
    for (const char *rest = layout->windows; *rest;) {
        at += 4 * audit_layout_take(&rest);
        h = hash_on(h, section + at);
    }
    return h == layout->hash;
}

const struct audit_layout *audit_layout_find(const struct audit_layout *layouts, size_t n,
                                             unsigned machine, const unsigned char *code,
                                             size_t bytes, size_t *begin)
{
    size_t step = machine == EM_X86_64 ? 16 : 4;
    for (size_t at = 0; at + WINDOW <= bytes; at += step) {
        uint64_t h = hash_on(hash_begin, code + at);
        for (size_t i = 0; i < n; i++) {
            const struct audit_layout *l = &layouts[i];
            if (l->key != h || l->machine != machine || at < l->key_at ||
                l->bytes > bytes - (at - l->key_at) || !matches(l, code + at - l->key_at))
                continue;
            *begin = at - l->key_at;
            return l;
        }
    }
    return NULL;
}

/* Where the call at `code` goes, if it is one, less its own place. */
static bool reads_call(unsigned machine, const unsigned char *code, int64_t *distance)
{
    int32_t relative;
    if (machine == EM_X86_64) {
        memcpy(&relative, code + 1, sizeof relative);
        *distance = (int64_t)relative + 5;
        return code[0] == 0xe8; /* call */
    }
    memcpy(&relative, code, sizeof relative);
    *distance = (int64_t)(int32_t)((uint32_t)relative << 6) / 64 * 4;
    return (uint32_t)relative >> 26 == 0x25; /* bl */
}

static bool is_piece(const struct audit_piece *piece, const char *rest,
                     const unsigned char *section, size_t bytes)
{
    unsigned char copy[1024];
    uint64_t h = hash_begin;
    if (bytes > sizeof copy)
        return false;
    memcpy(copy, section, bytes);
    for (unsigned i = 0; i < piece->n_relocations; i++) {
        uint64_t at = audit_layout_take(&rest);
        if (at + 4 <= bytes)
            memset(copy + at, 0, 4);
    }
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ copy[i]) * 0x100000001b3;
    return h == piece->hash;
}

bool audit_layout_find_piece(const struct audit_piece *piece, unsigned machine,
                             const unsigned char *code, size_t bytes, size_t begin,
                             struct audit_piece_found *found)
{
    const char *rest = piece->numbers;
    uint64_t size = audit_layout_take(&rest), call = audit_layout_take(&rest),
             called = audit_layout_take(&rest);
    const char *relocations = rest;
    int64_t distance;
    for (unsigned i = 0; i < piece->n; i++)
        audit_layout_take(&relocations);
    for (size_t at = 0; piece->n && size <= bytes && at <= bytes - size; at += 4) {
        if (!reads_call(machine, code + at + call, &distance) ||
            at + call + (uint64_t)distance != begin + called ||
            !is_piece(piece, relocations, code + at, size))
            continue;
        *found = (struct audit_piece_found){at, size, rest};
        return true;
    }
    return false;
}
