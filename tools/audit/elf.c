/* Reads ELF files. Nothing of the file is trusted. */
#include "tools/audit/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool elf_open(struct elf *elf, const char *path)
{
    struct stat st;
    *elf = (struct elf){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size >= (off_t)sizeof(Elf64_Ehdr)) {
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p != MAP_FAILED)
            *elf = (struct elf){p, (size_t)st.st_size};
    }
    close(fd);
    bool is_elf =
        elf->data && !memcmp(elf->data, ELFMAG, SELFMAG) && elf->data[EI_CLASS] == ELFCLASS64;
    if (!is_elf)
        elf_close(elf);
    return is_elf;
}

void elf_close(struct elf *elf)
{
    if (elf->data)
        munmap((void *)elf->data, elf->bytes);
    *elf = (struct elf){0};
}

/* `bytes` bytes at `offset`, or NULL if the file does not have them. */
static const void *at(const struct elf *elf, uint64_t offset, uint64_t bytes)
{
    return offset <= elf->bytes && bytes <= elf->bytes - offset ? elf->data + offset : NULL;
}

static bool get_section(const struct elf *elf, unsigned index, Elf64_Shdr *section)
{
    Elf64_Ehdr h;
    memcpy(&h, elf->data, sizeof h);
    const void *p = index < h.e_shnum && h.e_shentsize == sizeof *section
                        ? at(elf, h.e_shoff + (uint64_t)index * sizeof *section, sizeof *section)
                        : NULL;
    if (p)
        memcpy(section, p, sizeof *section);
    return p != NULL;
}

/* A text of a string table, or "". */
static const char *text_of(const struct elf *elf, const Elf64_Shdr *table, uint64_t offset)
{
    const char *p = offset < table->sh_size ? at(elf, table->sh_offset, table->sh_size) : NULL;
    return p && memchr(p + offset, 0, table->sh_size - offset) ? p + offset : "";
}

const void *elf_section(const struct elf *elf, const char *name, size_t *bytes)
{
    Elf64_Ehdr h;
    Elf64_Shdr names, s;
    memcpy(&h, elf->data, sizeof h);
    *bytes = 0;
    if (!get_section(elf, h.e_shstrndx, &names))
        return NULL;
    for (unsigned i = 1; get_section(elf, i, &s); i++) {
        const void *p = at(elf, s.sh_offset, s.sh_size);
        if (s.sh_type == SHT_NOBITS || !p || strcmp(text_of(elf, &names, s.sh_name), name) != 0)
            continue;
        *bytes = s.sh_size;
        return p;
    }
    return NULL;
}

/* The text of the `index`th entry of a tag in the dynamic section, or NULL. */
static const char *dynamic_text(const struct elf *elf, Elf64_Sxword tag, unsigned index)
{
    Elf64_Shdr s, strings;
    for (unsigned i = 1; get_section(elf, i, &s); i++) {
        const char *p = s.sh_type == SHT_DYNAMIC ? at(elf, s.sh_offset, s.sh_size) : NULL;
        if (!p || !get_section(elf, s.sh_link, &strings))
            continue;
        for (size_t k = 0; k + sizeof(Elf64_Dyn) <= s.sh_size; k += sizeof(Elf64_Dyn)) {
            Elf64_Dyn d;
            memcpy(&d, p + k, sizeof d);
            if (d.d_tag == tag && index-- == 0)
                return text_of(elf, &strings, d.d_un.d_val);
        }
    }
    return NULL;
}

const char *elf_needed(const struct elf *elf, unsigned index)
{
    return dynamic_text(elf, DT_NEEDED, index);
}

const char *elf_soname(const struct elf *elf)
{
    return dynamic_text(elf, DT_SONAME, 0);
}

unsigned elf_machine(const struct elf *elf)
{
    Elf64_Ehdr h;
    memcpy(&h, elf->data, sizeof h);
    return h.e_machine;
}

/* ---- what is loaded -------------------------------------------------------------------------- */

static bool get_segment(const struct elf *elf, unsigned index, Elf64_Phdr *segment)
{
    Elf64_Ehdr h;
    memcpy(&h, elf->data, sizeof h);
    const void *p = index < h.e_phnum && h.e_phentsize == sizeof *segment && h.e_phoff < elf->bytes
                        ? at(elf, h.e_phoff + (uint64_t)index * sizeof *segment, sizeof *segment)
                        : NULL;
    if (p)
        memcpy(segment, p, sizeof *segment);
    return p != NULL;
}

bool elf_get_load(const struct elf *elf, unsigned index, struct elf_load *load)
{
    Elf64_Phdr s;
    for (unsigned i = 0; get_segment(elf, i, &s); i++) {
        const void *p = at(elf, s.p_offset, s.p_filesz);
        if (s.p_type != PT_LOAD || !p || s.p_filesz > UINT64_MAX - s.p_vaddr || index-- != 0)
            continue;
        *load = (struct elf_load){p, s.p_vaddr, s.p_filesz, (s.p_flags & PF_X) != 0};
        return true;
    }
    return false;
}

uint64_t elf_dynamic(const struct elf *elf)
{
    Elf64_Phdr s;
    for (unsigned i = 0; get_segment(elf, i, &s); i++)
        if (s.p_type == PT_DYNAMIC)
            return s.p_vaddr;
    return 0;
}

/* ---- symbols --------------------------------------------------------------------------------- */

bool elf_get_symbols(const struct elf *elf, bool is_dynamic, struct elf_symbols *symbols)
{
    Elf64_Shdr s, strings;
    for (unsigned i = 1; get_section(elf, i, &s); i++) {
        const void *rows = s.sh_type == (is_dynamic ? SHT_DYNSYM : SHT_SYMTAB)
                               ? at(elf, s.sh_offset, s.sh_size)
                               : NULL;
        if (!rows || !get_section(elf, s.sh_link, &strings))
            continue;
        const char *texts = at(elf, strings.sh_offset, strings.sh_size);
        *symbols = (struct elf_symbols){rows, s.sh_size / sizeof(Elf64_Sym), texts,
                                        texts ? strings.sh_size : 0};
        return true;
    }
    return false;
}

struct elf_symbol elf_symbol_at(const struct elf_symbols *symbols, size_t index)
{
    Elf64_Sym s;
    memcpy(&s, symbols->rows + index * sizeof s, sizeof s);
    const char *name = s.st_name < symbols->string_bytes ? symbols->strings + s.st_name : "";
    if (*name && !memchr(name, 0, symbols->string_bytes - s.st_name))
        name = "";
    return (struct elf_symbol){.name = name,
                               .address = s.st_value,
                               .bytes = s.st_size,
                               .type = ELF64_ST_TYPE(s.st_info),
                               .binding = ELF64_ST_BIND(s.st_info),
                               .visibility = ELF64_ST_VISIBILITY(s.st_other),
                               .is_defined = s.st_shndx != SHN_UNDEF};
}

const char *elf_import(const struct elf *elf, unsigned index)
{
    struct elf_symbols symbols;
    if (!elf_get_symbols(elf, true, &symbols))
        return NULL;
    for (size_t i = 1; i < symbols.n; i++) {
        struct elf_symbol s = elf_symbol_at(&symbols, i);
        if (!s.is_defined && index-- == 0)
            return s.name;
    }
    return NULL;
}

bool find_program(const char *name, char *path, size_t size)
{
    const char *from = getenv("PATH");
    if (strchr(name, '/')) {
        snprintf(path, size, "%s", name);
        return access(path, X_OK) == 0;
    }
    while (from && *from) {
        int n = (int)strcspn(from, ":");
        snprintf(path, size, "%.*s/%s", n, from, name);
        if (access(path, X_OK) == 0)
            return true;
        from += n + (from[n] == ':');
    }
    return false;
}
