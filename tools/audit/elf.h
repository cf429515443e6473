/* What an ELF program or library says of itself. */
#ifndef PTERA_TOOLS_ELF_H
#define PTERA_TOOLS_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf {
    const unsigned char *data; /* the file, mapped */
    size_t bytes;
};

/* Maps a file. False if it cannot be read or is not a 64-bit ELF file. */
bool elf_open(struct elf *elf, const char *path);
void elf_close(struct elf *elf);
/* The library that its dynamic section needs at `index`, or NULL past the last. */
const char *elf_needed(const struct elf *elf, unsigned index);
/* The name that it has as a library, or NULL. */
const char *elf_soname(const struct elf *elf);
/* A section by name; *bytes is 0 if there is none. */
const void *elf_section(const struct elf *elf, const char *name, size_t *bytes);
/* The name of the `index`th dynamic symbol that the file takes from others, or NULL past the
 * last. */
const char *elf_import(const struct elf *elf, unsigned index);
/* Its EM_… */
unsigned elf_machine(const struct elf *elf);

/* What the file has of its memory. */
struct elf_load {
    const unsigned char *data;
    uint64_t address; /* less the address where it is loaded */
    size_t bytes;
    bool is_code;
};
/* The `index`th part that is loaded, as far as the file has it. False past the last. */
bool elf_get_load(const struct elf *elf, unsigned index, struct elf_load *load);
/* The address of its dynamic section, less the address where it is loaded; 0 if there is none. */
uint64_t elf_dynamic(const struct elf *elf);

/* Its symbol table, or that for the dynamic loader. */
struct elf_symbols {
    const unsigned char *rows;
    size_t n;
    const char *strings;
    size_t string_bytes;
};
struct elf_symbol {
    const char *name;
    uint64_t address, bytes;
    unsigned type, binding, visibility; /* STT_…, STB_…, STV_… */
    bool is_defined;
};
bool elf_get_symbols(const struct elf *elf, bool is_dynamic, struct elf_symbols *symbols);
struct elf_symbol elf_symbol_at(const struct elf_symbols *symbols, size_t index);

/* The path of a program as a shell finds it; false if there is none. */
bool find_program(const char *name, char *path, size_t size);

#endif
