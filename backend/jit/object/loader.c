/* Objects to memory: one mapping with code, read-only data and writable data, each on pages of its
 * own; the few kinds of relocation that position-independent code of the small model has. */
#define _GNU_SOURCE
#include "backend/jit/object/loader.h"

#include <elf.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/jit/object/object.h"
#include "backend/jit/object/support.h"
#include "ir/bits.h"

/* ---- symbols --------------------------------------------------------------------------------- */

/* What LLVM calls by itself. */
#define LIBRARY(X) X(memcpy) X(memmove) X(memset) X(fma) X(fmaf) X(fmod) X(fmodf) X(ldexp) X(ldexpf)
#if defined(__x86_64__)
#define COMPILER(X)  \
    X(__extendhfsf2) \
    X(__truncsfhf2) X(__truncdfhf2) X(__divti3) X(__udivti3) X(__modti3) X(__umodti3)
#else
#define COMPILER(X) X(__divti3) X(__udivti3) X(__modti3) X(__umodti3)
#endif
#define X(name) extern void name(void);
COMPILER(X)
#undef X

static const struct {
    const char *name;
    void *address;
} library[] = {
#define X(name) {#name, (void *)(uintptr_t)(name)},
    LIBRARY(X) COMPILER(X) JIT_HELPERS(X) X(jit_device_function)
#undef X
};

static bool resolve(const struct pt_program *program, const char *name, uint64_t *address)
{
    if (!strncmp(name, JIT_SYMBOL, strlen(JIT_SYMBOL))) {
        unsigned long symbol = strtoul(name + strlen(JIT_SYMBOL), NULL, 10);
        if (symbol >= program->image->module->symbols.n)
            return false;
        *address = program->image->symbols[symbol];
        return true;
    }
    if (!strncmp(name, JIT_FUNC, strlen(JIT_FUNC))) {
        *address = program->image->func_base + 16 * strtoul(name + strlen(JIT_FUNC), NULL, 10);
        return true;
    }
    if (!strncmp(name, JIT_LANES, strlen(JIT_LANES))) {
        const struct pt_lanes *lanes = program->engine->lanes_named(name + strlen(JIT_LANES));
        *address = lanes ? (uintptr_t)lanes->fn : 0;
        return lanes != NULL;
    }
    if (!strncmp(name, JIT_PRODUCT, strlen(JIT_PRODUCT))) {
        const struct pt_product *product =
            program->engine->product_named(name + strlen(JIT_PRODUCT));
        *address = product ? (uintptr_t)product->fn : 0;
        return product != NULL;
    }
    for (size_t i = 0; i < sizeof library / sizeof *library; i++) {
        if (!strcmp(library[i].name, name)) {
            *address = (uintptr_t)library[i].address;
            return true;
        }
    }
    return false;
}

/* ---- layout ---------------------------------------------------------------------------------- */

enum part { CODE, READ_ONLY, WRITABLE, N_PARTS };
enum { STUB_BYTES = 16, LINE_ALIGN = 64 };

struct loader {
    const uint8_t *bytes;
    const Elf64_Ehdr *header;
    const Elf64_Shdr *sections;
    const Elf64_Sym *symbols;
    uint32_t n_symbols;
    const char *names;
    const struct pt_program *program;
    struct jit_loaded *code;
    const char *why;
    size_t offset[JIT_SECTIONS_MAX]; /* of loaded sections, in the mapping */
    size_t part[N_PARTS + 1];        /* where each begins */
    size_t stubs, table; /* one stub and one entry of the address table for each symbol */
    uint64_t *address;   /* of symbols */
};

static bool fail(struct loader *l, const char *why)
{
    l->why = why;
    return false;
}

static bool is_loaded(const Elf64_Shdr *s)
{
    return s->sh_flags & SHF_ALLOC && s->sh_size;
}

static enum part part_of(const Elf64_Shdr *s)
{
    return s->sh_flags & SHF_EXECINSTR ? CODE : s->sh_flags & SHF_WRITE ? WRITABLE : READ_ONLY;
}

static size_t place_part(struct loader *l, enum part part, size_t at)
{
    l->part[part] = at;
    for (uint32_t i = 0; i < l->header->e_shnum; i++) {
        const Elf64_Shdr *s = &l->sections[i];
        if (!is_loaded(s) || part_of(s) != part)
            continue;
        at = pt_round_up(at, s->sh_addralign > LINE_ALIGN ? s->sh_addralign : LINE_ALIGN);
        l->offset[i] = at;
        at += s->sh_size;
    }
    return pt_round_up(at, LINE_ALIGN);
}

static bool place(struct loader *l)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t at = place_part(l, CODE, 0);
    l->code->text_bytes = at;
    l->stubs = at;
    at = place_part(l, READ_ONLY, pt_round_up(at + (size_t)l->n_symbols * STUB_BYTES, page));
    l->table = at;
    at = place_part(l, WRITABLE, pt_round_up(at + l->n_symbols * sizeof(uint64_t), page));
    l->code->bytes = l->part[N_PARTS] = pt_round_up(at, page);
    if (l->code->bytes > INT32_MAX)
        return fail(l, "the generated code is too large");
    void *base =
        mmap(NULL, l->code->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return false;
    l->code->base = l->code->text = base;
    for (uint32_t i = 0; i < l->header->e_shnum; i++) {
        const Elf64_Shdr *s = &l->sections[i];
        if (is_loaded(s) && s->sh_type != SHT_NOBITS)
            memcpy(l->code->base + l->offset[i], l->bytes + s->sh_offset, s->sh_size);
    }
    return true;
}

/* ---- relocation ------------------------------------------------------------------------------ */

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };

/* 8 bytes; all others change 4. */
static bool is_wide(uint32_t type)
{
    return type == R_X86_64_64 || type == R_X86_64_PC64;
}

static void make_stub(uint8_t *stub, uint64_t entry)
{
    int32_t distance = (int32_t)(entry - ((uintptr_t)stub + 6));
    memcpy(stub, "\xff\x25", 2); /* jmp *distance(%rip) */
    memcpy(stub + 2, &distance, sizeof distance);
}

static bool relocate(uint32_t type, uint8_t *place, uint64_t s, uint64_t stub, uint64_t entry,
                     int64_t a)
{
    uint64_t p = (uintptr_t)place, value;
    switch (type) {
    case R_X86_64_64:
        value = s + (uint64_t)a;
        memcpy(place, &value, 8);
        return true;
    case R_X86_64_PC64:
        value = s + (uint64_t)a - p;
        memcpy(place, &value, 8);
        return true;
    case R_X86_64_PC32:
        value = s + (uint64_t)a - p;
        break;
    case R_X86_64_PLT32:
        value = stub + (uint64_t)a - p;
        break;
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
        value = entry + (uint64_t)a - p;
        break;
    default:
        return false;
    }
    int32_t narrow = (int32_t)value;
    memcpy(place, &narrow, sizeof narrow);
    return narrow == (int64_t)value;
}
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };

/* 8 bytes; all others change 4. */
static bool is_wide(uint32_t type)
{
    return type == R_AARCH64_ABS64 || type == R_AARCH64_PREL64;
}

static void put_bits(uint8_t *place, uint32_t mask, uint32_t bits)
{
    uint32_t insn;
    memcpy(&insn, place, sizeof insn);
    insn = (insn & ~mask) | (bits & mask);
    memcpy(place, &insn, sizeof insn);
}

/* The page distance of adrp: two bits at 29, nineteen at 5. */
static bool put_page(uint8_t *place, uint64_t target)
{
    int64_t pages = (int64_t)((target >> 12) - ((uintptr_t)place >> 12));
    put_bits(place, 0x60ffffe0,
             (uint32_t)(pages & 3) << 29 | (uint32_t)(pages >> 2 & 0x7ffff) << 5);
    return pages >= -(1 << 20) && pages < 1 << 20;
}

static bool put_low(uint8_t *place, uint64_t target, unsigned shift)
{
    put_bits(place, 0xfff << 10, (uint32_t)(target & 0xfff) >> shift << 10);
    return (target & ((1u << shift) - 1)) == 0;
}

static void make_stub(uint8_t *stub, uint64_t entry)
{
    const uint32_t code[] = {0x90000010, 0xf9400210,
                             0xd61f0200}; /* adrp x16; ldr x16, [x16]; br x16 */
    memcpy(stub, code, sizeof code);
    put_page(stub, entry);
    put_low(stub + 4, entry, 3);
}

static bool relocate(uint32_t type, uint8_t *place, uint64_t s, uint64_t stub, uint64_t entry,
                     int64_t a)
{
    uint64_t to = s + (uint64_t)a, distance = to - (uintptr_t)place;
    int32_t narrow = (int32_t)distance;
    int64_t jump = (int64_t)(stub + (uint64_t)a - (uintptr_t)place);
    switch (type) {
    case R_AARCH64_ABS64:
        memcpy(place, &to, sizeof to);
        return true;
    case R_AARCH64_PREL64:
        memcpy(place, &distance, sizeof distance);
        return true;
    case R_AARCH64_PREL32:
        memcpy(place, &narrow, sizeof narrow);
        return narrow == (int64_t)distance;
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26:
        put_bits(place, 0x3ffffff, (uint32_t)(jump >> 2));
        return jump >= -(1 << 27) && jump < 1 << 27;
    case R_AARCH64_ADR_PREL_PG_HI21:
        return put_page(place, to);
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
        return put_low(place, to, 0);
    case R_AARCH64_LDST16_ABS_LO12_NC:
        return put_low(place, to, 1);
    case R_AARCH64_LDST32_ABS_LO12_NC:
        return put_low(place, to, 2);
    case R_AARCH64_LDST64_ABS_LO12_NC:
        return put_low(place, to, 3);
    case R_AARCH64_LDST128_ABS_LO12_NC:
        return put_low(place, to, 4);
    case R_AARCH64_ADR_GOT_PAGE:
        return put_page(place, entry);
    case R_AARCH64_LD64_GOT_LO12_NC:
        return put_low(place, entry, 3);
    default:
        return false;
    }
}
#endif

static bool is_within(const Elf64_Rela *r, uint64_t section_bytes)
{
    uint64_t bytes = is_wide((uint32_t)ELF64_R_TYPE(r->r_info)) ? 8 : 4;
    return bytes <= section_bytes && r->r_offset <= section_bytes - bytes;
}

static bool relocate_section(struct loader *l, const Elf64_Shdr *s)
{
    const Elf64_Rela *r = (const void *)(l->bytes + s->sh_offset);
    uint64_t bytes = l->sections[s->sh_info].sh_size;
    uint8_t *base = l->code->base;
    for (size_t i = 0; i < s->sh_size / sizeof *r; i++) {
        uint32_t k = (uint32_t)ELF64_R_SYM(r[i].r_info);
        uint64_t entry = (uintptr_t)(base + l->table) + k * sizeof(uint64_t);
        uint64_t stub = (uintptr_t)(base + l->stubs) + (uint64_t)k * STUB_BYTES;
        if (k >= l->n_symbols || !is_within(&r[i], bytes) ||
            !relocate((uint32_t)ELF64_R_TYPE(r[i].r_info),
                      base + l->offset[s->sh_info] + r[i].r_offset, l->address[k],
                      l->symbols[k].st_shndx == SHN_UNDEF ? stub : l->address[k], entry,
                      r[i].r_addend))
            return fail(l, "the generated code has a relocation that cannot be resolved");
    }
    return true;
}

/* ---- loading --------------------------------------------------------------------------------- */

static bool find_symbol(struct loader *l, uint32_t k)
{
    const Elf64_Sym *s = &l->symbols[k];
    const char *name = l->names + s->st_name;
    uint8_t *base = l->code->base;
    if (s->st_shndx == SHN_UNDEF) {
        if (k && !resolve(l->program, name, &l->address[k]))
            return fail(l, "the generated code refers to an unknown name");
    } else if (s->st_shndx < l->header->e_shnum) {
        const Elf64_Shdr *in = &l->sections[s->st_shndx];
        l->address[k] = (uintptr_t)base + l->offset[s->st_shndx] + s->st_value;
        if (!strcmp(name, JIT_ENTRY) && is_loaded(in) && part_of(in) == CODE &&
            s->st_value < in->sh_size)
            l->code->entry = (void *)(uintptr_t)l->address[k];
    } else {
        l->address[k] = s->st_value;
    }
    memcpy(base + l->table + k * sizeof(uint64_t), &l->address[k], sizeof(uint64_t));
    if (s->st_shndx == SHN_UNDEF)
        make_stub(base + l->stubs + (size_t)k * STUB_BYTES,
                  (uintptr_t)(base + l->table) + k * sizeof(uint64_t));
    return true;
}

static bool find_symbols(struct loader *l)
{
    l->address = calloc(l->n_symbols, sizeof *l->address);
    if (!l->address)
        return false;
    for (uint32_t k = 0; k < l->n_symbols; k++)
        if (!find_symbol(l, k))
            return false;
    return l->code->entry || fail(l, "the generated code has no entry");
}

static bool relocate_all(struct loader *l)
{
    for (uint32_t i = 0; i < l->header->e_shnum; i++) {
        const Elf64_Shdr *s = &l->sections[i];
        if (s->sh_type == SHT_RELA && is_loaded(&l->sections[s->sh_info]) &&
            !relocate_section(l, s))
            return false;
    }
    return true;
}

static bool protect(struct loader *l)
{
    static const int rights[N_PARTS] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};
    for (int p = 0; p < N_PARTS; p++) {
        size_t bytes = l->part[p + 1] - l->part[p];
        if (bytes && mprotect(l->code->base + l->part[p], bytes, rights[p]))
            return fail(l, errno == ENOMEM ? NULL : "this system does not let memory become code");
    }
    __builtin___clear_cache((char *)l->code->base, (char *)l->code->base + l->part[READ_ONLY]);
    return true;
}

static bool read_header(struct loader *l, const struct jit_object *object)
{
    l->bytes = object->bytes;
    l->header = (const void *)object->bytes;
    if (!jit_object_is_sound(object) || l->header->e_machine != MACHINE)
        return fail(l, "the generated code is no object of this machine");
    l->sections = (const void *)(l->bytes + l->header->e_shoff);
    for (uint32_t i = 0; i < l->header->e_shnum; i++) {
        if (l->sections[i].sh_type != SHT_SYMTAB)
            continue;
        l->symbols = (const void *)(l->bytes + l->sections[i].sh_offset);
        l->n_symbols = (uint32_t)(l->sections[i].sh_size / sizeof *l->symbols);
        l->names = (const void *)(l->bytes + l->sections[l->sections[i].sh_link].sh_offset);
    }
    return l->n_symbols || fail(l, "the generated code has no entry");
}

/* Debuggers read them from the object's headers. */
static void tell_addresses(const struct loader *l)
{
    Elf64_Shdr *sections = (Elf64_Shdr *)(uintptr_t)l->sections;
    for (uint32_t i = 0; i < l->header->e_shnum; i++)
        if (is_loaded(&sections[i]))
            sections[i].sh_addr = (uintptr_t)l->code->base + l->offset[i];
}

bool jit_loader_load(struct jit_object *object, const struct pt_program *program,
                     struct jit_loaded *code, const char **why)
{
    struct loader l = {.program = program, .code = code};
    *code = (struct jit_loaded){0};
    bool ok =
        read_header(&l, object) && place(&l) && find_symbols(&l) && relocate_all(&l) && protect(&l);
    free(l.address);
    if (ok)
        tell_addresses(&l);
    else
        jit_loader_unload(code);
    *why = l.why;
    return ok;
}

void jit_loader_unload(struct jit_loaded *code)
{
    if (code->base)
        munmap(code->base, code->bytes);
    code->base = NULL;
}
