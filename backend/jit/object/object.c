/* Whether all that loading and reading an object looks at lies inside it: whoever made it, nothing
 * beyond it is read then. */
#include "backend/jit/object/object.h"

#include <elf.h>
#include <string.h>

enum { ALIGN_MOST = 4096, SECTION_MOST = 1 << 30 };

struct view {
    const uint8_t *bytes;
    size_t size;
    const Elf64_Shdr *sections;
    uint32_t n;
};

static bool is_inside(const struct view *v, uint64_t offset, uint64_t bytes)
{
    return offset <= v->size && bytes <= v->size - offset;
}

/* Texts that end. */
static bool is_strings(const struct view *v, const Elf64_Shdr *s)
{
    return s->sh_type == SHT_STRTAB && s->sh_size && !v->bytes[s->sh_offset + s->sh_size - 1];
}

static bool has_header(struct view *v)
{
    const Elf64_Ehdr *h = (const void *)v->bytes;
    if (v->size < sizeof *h || memcmp(h->e_ident, ELFMAG, SELFMAG) ||
        h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_shentsize != sizeof *v->sections ||
        h->e_shoff % _Alignof(Elf64_Shdr) || h->e_shnum > JIT_SECTIONS_MAX ||
        h->e_shstrndx >= h->e_shnum || !is_inside(v, h->e_shoff, h->e_shnum * sizeof *v->sections))
        return false;
    v->sections = (const void *)(v->bytes + h->e_shoff);
    v->n = h->e_shnum;
    return true;
}

static bool is_section(const struct view *v, const Elf64_Shdr *s)
{
    bool has_entries = s->sh_type == SHT_SYMTAB || s->sh_type == SHT_RELA;
    return s->sh_size <= SECTION_MOST &&
           (s->sh_type == SHT_NOBITS || is_inside(v, s->sh_offset, s->sh_size)) &&
           s->sh_addralign <= ALIGN_MOST && !(s->sh_addralign & (s->sh_addralign - 1)) &&
           (!has_entries || s->sh_offset % _Alignof(Elf64_Sym) == 0);
}

static bool has_symbols(const struct view *v, const Elf64_Shdr *table)
{
    const Elf64_Sym *symbols = (const void *)(v->bytes + table->sh_offset);
    if (table->sh_link >= v->n || !is_strings(v, &v->sections[table->sh_link]))
        return false;
    for (size_t i = 0; i < table->sh_size / sizeof *symbols; i++) {
        const Elf64_Sym *s = &symbols[i];
        bool is_here = s->st_shndx != SHN_UNDEF && s->st_shndx < v->n;
        if (s->st_name >= v->sections[table->sh_link].sh_size ||
            (is_here && s->st_value > v->sections[s->st_shndx].sh_size))
            return false;
    }
    return true;
}

bool jit_object_is_sound(const struct jit_object *object)
{
    struct view v = {.bytes = object->bytes, .size = object->size};
    if (!has_header(&v))
        return false;
    for (uint32_t i = 0; i < v.n; i++)
        if (!is_section(&v, &v.sections[i]))
            return false;
    const Elf64_Shdr *names = &v.sections[((const Elf64_Ehdr *)(const void *)v.bytes)->e_shstrndx];
    if (!is_strings(&v, names))
        return false;
    for (uint32_t i = 0; i < v.n; i++) {
        const Elf64_Shdr *s = &v.sections[i];
        if (s->sh_name >= names->sh_size || (s->sh_type == SHT_RELA && s->sh_info >= v.n) ||
            (s->sh_type == SHT_SYMTAB && !has_symbols(&v, s)))
            return false;
    }
    return true;
}
