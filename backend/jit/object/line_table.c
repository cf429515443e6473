/* The line table of an object (DWARF 4, "Line Number Information"): which instruction each place of
 * the code belongs to, in the terms of debug_info.c: columns and discriminators. */
#include "backend/jit/object/line_table.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "backend/jit/object/object.h"

struct reader {
    const uint8_t *p, *end;
    struct jit_places *out;
    uint32_t cap;
    /* of the header */
    uint8_t min_bytes, line_range, opcode_base;
    uint8_t operands[256]; /* of the standard opcodes */
    /* the machine */
    uint64_t address, column, discriminator;
};

static uint8_t get_byte(struct reader *r)
{
    return r->p < r->end ? *r->p++ : 0;
}

static uint64_t get_fixed(struct reader *r, unsigned bytes)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < bytes; i++)
        v |= (uint64_t)get_byte(r) << 8 * i;
    return v;
}

static uint64_t get_uleb(struct reader *r)
{
    uint64_t v = 0;
    uint8_t byte;
    unsigned shift = 0;
    do {
        byte = get_byte(r);
        v |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        shift += 7;
    } while (byte & 0x80);
    return v;
}

/* ---- the table ------------------------------------------------------------------------------- */

static bool push(struct reader *r, struct jit_place place)
{
    struct jit_places *out = r->out;
    if (out->n == r->cap) {
        r->cap = r->cap ? r->cap * 2 : 256;
        struct jit_place *more = realloc(out->v, r->cap * sizeof *more);
        if (!more)
            return false;
        out->v = more;
    }
    out->v[out->n++] = place;
    return true;
}

static bool emit(struct reader *r, bool is_end)
{
    bool is_known = r->discriminator && !is_end;
    struct jit_place place = {(uint32_t)r->address, is_known ? (uint32_t)r->column : PT_NONE,
                              (uint32_t)(r->discriminator - 1)};
    r->discriminator = 0;
    return push(r, place);
}

static void reset(struct reader *r)
{
    r->address = r->column = r->discriminator = 0;
}

static bool extended(struct reader *r)
{
    uint64_t bytes = get_uleb(r);
    const uint8_t *next = (uint64_t)(r->end - r->p) < bytes ? r->end : r->p + bytes;
    bool ok = true;
    switch (get_byte(r)) {
    case 1: /* DW_LNE_end_sequence */
        ok = emit(r, true);
        reset(r);
        break;
    case 2: /* DW_LNE_set_address */
        r->address = get_fixed(r, 8);
        break;
    case 4: /* DW_LNE_set_discriminator */
        r->discriminator = get_uleb(r);
        break;
    default:
        break;
    }
    r->p = next;
    return ok;
}

static void advance(struct reader *r, uint64_t operations)
{
    r->address += operations * r->min_bytes;
}

static bool step(struct reader *r)
{
    uint8_t op = get_byte(r);
    if (op >= r->opcode_base) {
        advance(r, (op - r->opcode_base) / r->line_range);
        return emit(r, false);
    }
    switch (op) {
    case 0:
        return extended(r);
    case 1: /* DW_LNS_copy */
        return emit(r, false);
    case 2: /* DW_LNS_advance_pc */
        advance(r, get_uleb(r));
        return true;
    case 5: /* DW_LNS_set_column */
        r->column = get_uleb(r);
        return true;
    case 8: /* DW_LNS_const_add_pc */
        advance(r, (255 - r->opcode_base) / r->line_range);
        return true;
    case 9: /* DW_LNS_fixed_advance_pc */
        r->address += get_fixed(r, 2);
        return true;
    default:
        for (unsigned i = 0; i < r->operands[op]; i++)
            get_uleb(r); /* skips a signed number as well */
        return true;
    }
}

static bool read_header(struct reader *r)
{
    get_fixed(r, 4); /* length; the section is one unit */
    if (get_fixed(r, 2) != 4)
        return false;
    uint64_t bytes = get_fixed(r, 4);
    const uint8_t *program = r->p + bytes;
    if (bytes > (uint64_t)(r->end - r->p))
        return false;
    r->min_bytes = get_byte(r);
    get_fixed(r, 3); /* operations an instruction, default of is_stmt, line base */
    r->line_range = get_byte(r);
    r->opcode_base = get_byte(r);
    for (unsigned i = 1; i < r->opcode_base; i++)
        r->operands[i] = get_byte(r);
    r->p = program;
    return r->line_range != 0;
}

/* ---- the object ------------------------------------------------------------------------------ */

static int by_offset(const void *a, const void *b)
{
    const struct jit_place *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Addresses are given relative to the text, by relocations. */
static void relocate(const uint8_t *object, const Elf64_Shdr *s, uint8_t *lines, size_t bytes)
{
    const Elf64_Rela *r = (const void *)(object + s->sh_offset);
    for (size_t i = 0; i < s->sh_size / sizeof *r; i++)
        if (bytes >= sizeof(uint64_t) && r[i].r_offset <= bytes - sizeof(uint64_t))
            memcpy(lines + r[i].r_offset, &r[i].r_addend, sizeof(uint64_t));
}

/* A copy of the section .debug_line, relocated. */
static uint8_t *read_section(const uint8_t *object, size_t *bytes)
{
    const Elf64_Ehdr *header = (const void *)object;
    const Elf64_Shdr *s = (const void *)(object + header->e_shoff);
    const char *names = (const char *)object + s[header->e_shstrndx].sh_offset;
    for (uint32_t i = 0; i < header->e_shnum; i++) {
        if (s[i].sh_type == SHT_NOBITS || strcmp(names + s[i].sh_name, ".debug_line") != 0)
            continue;
        uint8_t *lines = malloc(s[i].sh_size);
        *bytes = s[i].sh_size;
        if (lines)
            memcpy(lines, object + s[i].sh_offset, *bytes);
        for (uint32_t k = 0; lines && k < header->e_shnum; k++)
            if (s[k].sh_type == SHT_RELA && s[k].sh_info == i)
                relocate(object, &s[k], lines, *bytes);
        return lines;
    }
    return NULL;
}

void jit_line_table_read(const struct jit_object *object, struct jit_places *places)
{
    size_t bytes = 0;
    uint8_t *lines = read_section(object->bytes, &bytes);
    struct reader *r = calloc(1, sizeof *r);
    *places = (struct jit_places){0};
    if (lines && r) {
        r->p = lines;
        r->end = lines + bytes;
        r->out = places;
        reset(r);
        bool ok = read_header(r);
        while (ok && r->p < r->end)
            ok = step(r);
        if (places->n)
            qsort(places->v, places->n, sizeof *places->v, by_offset);
    }
    free(r);
    free(lines);
}
