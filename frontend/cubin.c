/* Cubins with PTX inside. Header as ptxas 13 writes it; then four sections: the note that says
 * for which architecture, the PTX, words for readers, names. */
#include "frontend/cubin.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MACHINE_CUDA = 190, /* EM_CUDA */
    OSABI_CUDA = 0x41,
    ABI_VERSION = 8,
    FLAGS = 0x06000004, /* with the architecture in the second byte */
    NOTE_ARCH = 1,
    ARCH_SIZE = 8, /* "sm_121a", with the zero */
    N_SECTIONS = 5
};

static const char names[] = "\0.note.ptera\0.ptera.ptx\0.comment\0.shstrtab";
enum { NAME_NOTE = 1, NAME_PTX = 13, NAME_COMMENT = 24, NAME_NAMES = 33 };
static const char comment[] = "PTX in the place of machine code, made by Ptera";

struct note {
    Elf64_Nhdr head;
    char owner[8]; /* "Ptera" */
    char arch[ARCH_SIZE];
};
static const char owner[8] = "Ptera";

/* ---- writing --------------------------------------------------------------------------------- */

struct file {
    Elf64_Ehdr head;
    Elf64_Shdr sections[N_SECTIONS];
    struct note note;
    char comment[sizeof comment], names[sizeof names];
    /* the PTX follows, with a zero behind it */
};

const char *pt_cubin_add_pragmas(const struct pt_cubin *cubin, struct pt_arena *arena, size_t *len)
{
    char pragmas[96] = "";
    PT_VEC(char) text = {0};
    int n_chars = snprintf(pragmas, sizeof pragmas, "%s",
                           cubin->is_fmad_off ? "\n.pragma \"" PT_PRAGMA_FMAD_OFF "\";\n" : "");
    if (cubin->registers)
        n_chars += snprintf(pragmas + n_chars, sizeof pragmas - (size_t)n_chars,
                            "\n.pragma \"" PT_PRAGMA_REGISTERS "%u\";\n", cubin->registers);
    size_t added = (size_t)n_chars;
    *len = cubin->len;
    if (!added)
        return cubin->text;
    for (const char *p = cubin->text, *end = p + cubin->len; p < end;) {
        size_t n = strnlen(p, (size_t)(end - p));
        if (text.n)
            (void)pt_vec_push(arena, &text);
        memcpy(pt_vec_extend(arena, &text, (uint32_t)(n + added)), p, n);
        memcpy(text.v + text.n - added, pragmas, added);
        for (p += n; p < end && !*p; p++)
            ;
    }
    *len = text.n;
    return text.v;
}

static Elf64_Shdr section(unsigned name, unsigned type, size_t offset, size_t bytes)
{
    return (Elf64_Shdr){
        .sh_name = name, .sh_type = type, .sh_offset = offset, .sh_size = bytes, .sh_addralign = 4};
}

void *pt_cubin_write(const struct pt_cubin *cubin, struct pt_arena *arena, size_t *bytes)
{
    size_t len;
    const char *text = pt_cubin_add_pragmas(cubin, arena, &len);
    *bytes = sizeof(struct file) + len + 1;
    struct file *f = pt_arena_alloc(arena, *bytes);
    f->head = (Elf64_Ehdr){.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
                                       EV_CURRENT, OSABI_CUDA, ABI_VERSION},
                           .e_type = cubin->is_relocatable ? ET_REL : ET_EXEC,
                           .e_machine = MACHINE_CUDA,
                           .e_version = EV_CURRENT,
                           .e_shoff = offsetof(struct file, sections),
                           .e_flags = FLAGS | cubin->sm << 8,
                           .e_ehsize = sizeof f->head,
                           .e_shentsize = sizeof *f->sections,
                           .e_shnum = N_SECTIONS,
                           .e_shstrndx = N_SECTIONS - 1};
    f->sections[1] = section(NAME_NOTE, SHT_NOTE, offsetof(struct file, note), sizeof f->note);
    f->sections[2] = section(NAME_PTX, SHT_PROGBITS, sizeof *f, len + 1);
    f->sections[3] =
        section(NAME_COMMENT, SHT_PROGBITS, offsetof(struct file, comment), sizeof comment);
    f->sections[4] = section(NAME_NAMES, SHT_STRTAB, offsetof(struct file, names), sizeof names);
    f->note.head = (Elf64_Nhdr){sizeof owner, ARCH_SIZE, NOTE_ARCH};
    memcpy(f->note.owner, owner, sizeof owner);
    snprintf(f->note.arch, ARCH_SIZE, "sm_%u%c", cubin->sm % 1000, cubin->feature);
    memcpy(f->comment, comment, sizeof comment);
    memcpy(f->names, names, sizeof names);
    memcpy(f + 1, text, len);
    return f;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct elf {
    const char *image;
    size_t bytes;
    Elf64_Ehdr head;
};

static const void *at(const struct elf *elf, uint64_t offset, uint64_t bytes)
{
    return offset <= elf->bytes && bytes <= elf->bytes - offset ? elf->image + offset : NULL;
}

static bool get_section(const struct elf *elf, unsigned index, Elf64_Shdr *s)
{
    const void *p = index < elf->head.e_shnum && elf->head.e_shentsize == sizeof *s
                        ? at(elf, elf->head.e_shoff + (uint64_t)index * sizeof *s, sizeof *s)
                        : NULL;
    if (p)
        memcpy(s, p, sizeof *s);
    return p != NULL;
}

/* The bytes of a section by name and type, or NULL. */
static const char *find(const struct elf *elf, const char *name, unsigned type, size_t *bytes)
{
    Elf64_Shdr table, s;
    if (!get_section(elf, elf->head.e_shstrndx, &table))
        return NULL;
    for (unsigned i = 1; get_section(elf, i, &s); i++) {
        size_t n = strlen(name) + 1;
        const char *is = s.sh_name < table.sh_size && n <= table.sh_size - s.sh_name
                             ? at(elf, table.sh_offset + s.sh_name, n)
                             : NULL;
        *bytes = s.sh_size;
        if (is && !memcmp(is, name, n) && s.sh_type == type)
            return at(elf, s.sh_offset, s.sh_size);
    }
    return NULL;
}

static bool read_note(const struct elf *elf, struct pt_cubin *cubin)
{
    struct note note;
    size_t bytes;
    const char *p = find(elf, names + NAME_NOTE, SHT_NOTE, &bytes);
    if (!p || bytes != sizeof note)
        return false;
    memcpy(&note, p, sizeof note);
    if (note.head.n_type != NOTE_ARCH || memcmp(note.owner, owner, sizeof owner) != 0 ||
        memcmp(note.arch, "sm_", 3) != 0 || note.arch[ARCH_SIZE - 1])
        return false;
    char *end;
    cubin->sm = (unsigned)strtoul(note.arch + 3, &end, 10);
    cubin->feature = *end;
    return cubin->sm > 0;
}

/* Are the sections there that the header tells of, and their names? */
static bool is_whole(const struct elf *elf)
{
    Elf64_Shdr s;
    for (unsigned i = 0; i < elf->head.e_shnum; i++)
        if (!get_section(elf, i, &s) ||
            (s.sh_type != SHT_NOBITS && s.sh_type != SHT_NULL && !at(elf, s.sh_offset, s.sh_size)))
            return false;
    return true;
}

/* Of machine code: in the second byte of the flags since version 8 of the ABI, before that in
 * the first. */
static unsigned sm_of(const Elf64_Ehdr *h)
{
    return h->e_ident[EI_ABIVERSION] >= ABI_VERSION ? h->e_flags >> 8 & 0xff : h->e_flags & 0xff;
}

enum pt_cubin_kind pt_cubin_read(const void *image, size_t bytes, struct pt_cubin *cubin)
{
    struct elf elf = {.image = image, .bytes = bytes};
    *cubin = (struct pt_cubin){0};
    const void *head = at(&elf, 0, sizeof elf.head);
    if (!head || memcmp(head, ELFMAG, SELFMAG) != 0)
        return PT_CUBIN_DAMAGED;
    memcpy(&elf.head, head, sizeof elf.head);
    if (elf.head.e_machine != MACHINE_CUDA)
        return PT_CUBIN_FOREIGN;
    if (!is_whole(&elf))
        return PT_CUBIN_DAMAGED;
    if (!read_note(&elf, cubin)) {
        cubin->sm = sm_of(&elf.head);
        return PT_CUBIN_MACHINE_CODE;
    }
    cubin->text = find(&elf, names + NAME_PTX, SHT_PROGBITS, &cubin->len);
    cubin->is_relocatable = elf.head.e_type == ET_REL;
    return cubin->text ? PT_CUBIN_PTX : PT_CUBIN_DAMAGED;
}
