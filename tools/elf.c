/* Reads ELF files. Nothing of the file is trusted. */
#include "tools/elf.h"

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

const char *elf_needed(const struct elf *elf, unsigned index)
{
    Elf64_Shdr s, strings;
    for (unsigned i = 1; get_section(elf, i, &s); i++) {
        const char *p = s.sh_type == SHT_DYNAMIC ? at(elf, s.sh_offset, s.sh_size) : NULL;
        if (!p || !get_section(elf, s.sh_link, &strings))
            continue;
        for (size_t k = 0; k + sizeof(Elf64_Dyn) <= s.sh_size; k += sizeof(Elf64_Dyn)) {
            Elf64_Dyn d;
            memcpy(&d, p + k, sizeof d);
            if (d.d_tag == DT_NEEDED && index-- == 0)
                return text_of(elf, &strings, d.d_un.d_val);
        }
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
