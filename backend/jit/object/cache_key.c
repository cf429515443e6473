/* What an object depends on, as one hash: the kernel's snapshot, the machine, and this compiler
 * itself by the build id of its file. */
#define _GNU_SOURCE
#include "backend/jit/object/cache_key.h"

#include <elf.h>
#include <link.h>
#include <llvm-c/blake3.h>
#include <string.h>

#include "ir/bits.h"

/* ---- the compiler ---------------------------------------------------------------------------- */

struct build {
    llvm_blake3_hasher *s;
    bool is_found;
};

static void add_notes(struct build *b, const uint8_t *p, size_t n)
{
    while (n >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const void *)p;
        size_t name = pt_round_up(note->n_namesz, 4),
               all = sizeof *note + name + pt_round_up(note->n_descsz, 4);
        if (all > n)
            return;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && !memcmp(note + 1, "GNU", 4)) {
            llvm_blake3_hasher_update(b->s, p + sizeof *note + name, note->n_descsz);
            b->is_found = true;
        }
        p += all;
        n -= all;
    }
}

static int add_build_of(struct dl_phdr_info *info, size_t size, void *ud)
{
    struct build *b = ud;
    bool is_mine = false;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        is_mine |= h->p_type == PT_LOAD &&
                   (uintptr_t)&add_notes - (info->dlpi_addr + h->p_vaddr) < h->p_memsz;
    }
    for (int i = 0; is_mine && i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_NOTE)
            add_notes(b, (const uint8_t *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
                      info->dlpi_phdr[i].p_memsz);
    return is_mine;
}

/* ---- the key --------------------------------------------------------------------------------- */

bool jit_cache_key_make(const uint8_t *snapshot, size_t n, const char *cpu, const char *features,
                        struct jit_key *key)
{
    llvm_blake3_hasher s;
    struct build build = {&s, false};
    llvm_blake3_hasher_init(&s);
    dl_iterate_phdr(add_build_of, &build);
    llvm_blake3_hasher_update(&s, cpu, strlen(cpu) + 1);
    llvm_blake3_hasher_update(&s, features, strlen(features) + 1);
    llvm_blake3_hasher_update(&s, snapshot, n);
    llvm_blake3_hasher_finalize(&s, key->hash, sizeof key->hash);
    return build.is_found;
}
