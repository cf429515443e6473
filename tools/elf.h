/* What an ELF program or library says of itself. */
#ifndef PTERA_TOOLS_ELF_H
#define PTERA_TOOLS_ELF_H

#include <stdbool.h>
#include <stddef.h>

struct elf {
    const unsigned char *data; /* the file, mapped */
    size_t bytes;
};

/* Maps a file. False if it cannot be read or is not a 64-bit ELF file. */
bool elf_open(struct elf *elf, const char *path);
void elf_close(struct elf *elf);
/* The library that its dynamic section needs at `index`, or NULL past the last. */
const char *elf_needed(const struct elf *elf, unsigned index);
/* A section by name; *bytes is 0 if there is none. */
const void *elf_section(const struct elf *elf, const char *name, size_t *bytes);
/* The path of a program as a shell finds it; false if there is none. */
bool find_program(const char *name, char *path, size_t size);

#endif
