/* The auditor of `ptera exec`: machine code of both machines, tables of releases, redirection in
 * memory, and ELF files of all kinds. */
#define _GNU_SOURCE
#include <elf.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "runtime/cudart/refuse.h"
#include "tests/unit/check.h"
#include "tools/audit/jump.h"
#include "tools/audit/layout.h"
#include "tools/audit/redirect.h"
#include "tools/audit/runtime.h"

#if defined(__x86_64__)
enum { HOST = EM_X86_64 };
#else
enum { HOST = EM_AARCH64 };
#endif

/* ---- machine code ---------------------------------------------------------------------------- */

static bool is(const unsigned char *code, size_t n, const char *bytes, size_t n_wanted)
{
    return n == n_wanted && !memcmp(code, bytes, n);
}
#define IS(call, bytes) is(code, call, bytes, sizeof bytes - 1)

/* As assemblers print them. */
static void encode(void)
{
    unsigned char code[AUDIT_JUMP_LONGEST];
    uint64_t to = 0x1122334455667788, with = 0x0102030405060708;
    CHECK(IS(audit_jump_return(EM_X86_64, code), "\xc3"));
    CHECK(IS(audit_jump_return(EM_AARCH64, code), "\xc0\x03\x5f\xd6"));
    CHECK(IS(audit_jump_far(EM_X86_64, code, to),
             "\xff\x25\0\0\0\0\x88\x77\x66\x55\x44\x33\x22\x11"));
    CHECK(IS(audit_jump_far(EM_AARCH64, code, to),
             "\x50\0\0\x58\0\x02\x1f\xd6\x88\x77\x66\x55\x44\x33\x22\x11"));
    CHECK(IS(audit_jump_with(EM_X86_64, code, with, to),
             "\x48\xbf\x08\x07\x06\x05\x04\x03\x02\x01\xff\x25\0\0\0\0\x88\x77\x66\x55\x44\x33\x22"
             "\x11"));
    CHECK(
        IS(audit_jump_with(EM_AARCH64, code, with, to),
           "\x80\0\0\x58\xb0\0\0\x58\0\x02\x1f\xd6\x1f\x20\x03\xd5\x08\x07\x06\x05\x04\x03\x02\x01"
           "\x88\x77\x66\x55\x44\x33\x22\x11"));
    CHECK(IS(audit_jump_near(EM_X86_64, code, 0x1000, 0x1105), "\xe9\0\x01\0\0"));
    CHECK(IS(audit_jump_near(EM_X86_64, code, 0x1000, 0x1000), "\xe9\xfb\xff\xff\xff"));
    CHECK(IS(audit_jump_near(EM_AARCH64, code, 0x1000, 0x1100), "\x40\0\0\x14"));
    CHECK(IS(audit_jump_near(EM_AARCH64, code, 0x1000, 0xffc), "\xff\xff\xff\x17"));
    CHECK_INT(audit_jump_near(EM_X86_64, code, 0, 0x80000004), 5);
    CHECK_INT(audit_jump_near(EM_X86_64, code, 0, 0x80000005), 0);
    CHECK_INT(audit_jump_near(EM_AARCH64, code, 0x8000000, 0), 4);
    CHECK_INT(audit_jump_near(EM_AARCH64, code, 0x8000004, 0), 0);
    CHECK_INT(audit_jump_near(EM_AARCH64, code, 0, 0x7fffffc), 4);
    CHECK_INT(audit_jump_near(EM_AARCH64, code, 0, 0x8000000), 0);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void read_tables(void)
{
    for (size_t i = 0; i < audit_layouts_count; i++) {
        const struct audit_layout *l = &audit_layouts[i];
        struct audit_function f = {.rest = l->functions};
        uint64_t end = 0;
        unsigned n = 0;
        bool is_good = true;
        for (; audit_layout_next(&f); n++) {
            is_good = is_good && f.offset >= end && f.extent >= 4 &&
                      f.offset + f.extent <= l->bytes && f.name >= 0 &&
                      f.name < (int)audit_layout_names_count;
            end = f.offset + f.extent;
        }
        CHECK(is_good && n > 350 && l->startup.n == 2);
        CHECK(l->major >= 11 && l->major <= 13 && (unsigned)atoi(l->versions) == l->major);
    }
}

/* Any code is found again at the place where it was put, whole, and only as it was. */
static void find_layout(void)
{
    enum { BYTES = 4096, AT = 640, SECTION = 1024 };
    static unsigned char code[BYTES];
    /* Windows at 4 * 8, and twice 4 * 0x50 further. */
    struct audit_layout layout = {HOST, 13, "13.0.0", SECTION, 64, 0, "iAfAf", 0, "", {0}, {0}};
    size_t begin = 0;
    srand(1);
    for (size_t i = 0; i < BYTES; i++)
        code[i] = (unsigned char)rand();
    uint64_t hashes[2] = {0xcbf29ce484222325, 0xcbf29ce484222325};
    static const size_t windows[] = {32, 32 + 320, 32 + 640};
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < 4; j++) {
            uint64_t word, *h = &hashes[k > 0];
            memcpy(&word, code + AT + (k ? windows[k - 1] : 64) + 8 * j, 8);
            *h = (*h ^ word) * 0x100000001b3;
            *h ^= *h >> 32;
        }
    layout.key = hashes[0];
    layout.hash = hashes[1];
    CHECK(audit_layout_find(&layout, 1, HOST, code, BYTES, &begin) == &layout);
    CHECK_INT(begin, AT);
    CHECK(audit_layout_find(&layout, 1, HOST, code, AT + SECTION, &begin) == &layout);
    CHECK(!audit_layout_find(&layout, 1, HOST, code, AT + SECTION - 1, &begin));
    CHECK(!audit_layout_find(&layout, 1, EM_68K, code, BYTES, &begin));
    CHECK(!audit_layout_find(&layout, 1, HOST, code + AT + 16, BYTES - AT - 16, &begin));
    for (int i = 0; i < 4; i++) {
        size_t at = AT + (i ? windows[i - 1] : 64) + 31;
        code[at] ^= 1;
        CHECK(!audit_layout_find(&layout, 1, HOST, code, BYTES, &begin));
        code[at] ^= 1;
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

/* A file with functions of the library's names, which tests change. */
enum { CODE = 0x1000, FUNCTION_BYTES = 64, MAX_FUNCTIONS = 16, FILE_BYTES = 0x3000 };

struct file {
    unsigned char bytes[FILE_BYTES];
    Elf64_Sym symbols[MAX_FUNCTIONS + 1];
    unsigned n;
};

static const char *const functions[] = {"__cudaRegisterFatBinary",
                                        "__cudaRegisterFunction",
                                        "__cudaPushCallConfiguration",
                                        "__cudaPopCallConfiguration",
                                        "cudaLaunchKernel",
                                        "cudaMalloc",
                                        "cudaFutureFunction",
                                        "cudaCtxResetPersistingL2Cache",
                                        "cudaGetLastError"};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions, FUTURE = 6 };

/* Offsets of the parts of the file. */
enum {
    PROGRAM_HEADERS = 64,
    SECTIONS = 0x200,
    SYMBOLS = 0x400,
    STRINGS = 0x800,
    DYNAMIC_STRINGS = 0xc00
};

static void put(struct file *f, size_t at, const void *data, size_t n)
{
    memcpy(f->bytes + at, data, n);
}

static struct file *make_file(void)
{
    static struct file file;
    struct file *f = &file;
    size_t end = 1;
    memset(f, 0, sizeof *f);
    Elf64_Ehdr h = {.e_machine = HOST,
                    .e_phoff = PROGRAM_HEADERS,
                    .e_phentsize = sizeof(Elf64_Phdr),
                    .e_phnum = 1,
                    .e_shoff = SECTIONS,
                    .e_shentsize = sizeof(Elf64_Shdr),
                    .e_shnum = 5};
    memcpy(h.e_ident, ELFMAG "\2\1\1", 7);
    put(f, 0, &h, sizeof h);
    put(f, PROGRAM_HEADERS,
        &(Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = FILE_BYTES},
        sizeof(Elf64_Phdr));
    for (unsigned i = 0; i < N_FUNCTIONS; i++) {
        f->symbols[i + 1] = (Elf64_Sym){(Elf64_Word)end,
                                        ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
                                        STV_DEFAULT,
                                        1,
                                        CODE + i * FUNCTION_BYTES,
                                        FUNCTION_BYTES - 8};
        put(f, STRINGS + end, functions[i], strlen(functions[i]));
        end += strlen(functions[i]) + 1;
    }
    static const char dynamic[] = "\0dlvsym\0nftw\0sem_timedwait";
    put(f, DYNAMIC_STRINGS, dynamic, sizeof dynamic);
    Elf64_Shdr s[] = {
        {0},
        {.sh_type = SHT_SYMTAB,
         .sh_offset = SYMBOLS,
         .sh_size = (N_FUNCTIONS + 1) * sizeof(Elf64_Sym),
         .sh_link = 2},
        {.sh_type = SHT_STRTAB, .sh_offset = STRINGS, .sh_size = end},
        {.sh_type = SHT_DYNSYM, .sh_offset = SYMBOLS, .sh_link = 4},
        {.sh_type = SHT_STRTAB, .sh_offset = DYNAMIC_STRINGS, .sh_size = sizeof dynamic}};
    put(f, SECTIONS, s, sizeof s);
    memset(f->bytes + CODE, 0xcc, N_FUNCTIONS * FUNCTION_BYTES);
    return f;
}

static bool is_found(struct file *f, struct audit_runtime *runtime)
{
    put(f, SYMBOLS, f->symbols, (N_FUNCTIONS + 1) * sizeof(Elf64_Sym));
    return audit_runtime_find(&(struct elf){f->bytes, FILE_BYTES}, runtime);
}

/* Whether it is found after a change of one symbol. */
#define FOUND_WITH(index, change)                    \
    ({                                               \
        struct file *file_ = make_file();            \
        Elf64_Sym *s = &file_->symbols[(index) + 1]; \
        struct audit_runtime runtime_;               \
        change;                                      \
        bool found_ = is_found(file_, &runtime_);    \
        audit_runtime_free(&runtime_);               \
        found_;                                      \
    })

static void find_by_symbols(void)
{
    struct audit_runtime runtime;
    CHECK(is_found(make_file(), &runtime));
    CHECK_INT(runtime.n, N_FUNCTIONS);
    CHECK_INT(runtime.major, 13);
    CHECK(!runtime.versions);
    for (size_t i = 0; i < runtime.n; i++) {
        CHECK_TEXT(runtime.places[i].name, functions[i]);
        CHECK_INT(runtime.places[i].address, CODE + i * FUNCTION_BYTES);
        CHECK_INT(runtime.places[i].extent, 60);
    }
    audit_runtime_free(&runtime);
    CHECK(!FOUND_WITH(2, s->st_size = 0));                  /* without an extent */
    CHECK(!FOUND_WITH(2, s->st_size = UINT64_MAX));         /* past the end */
    CHECK(!FOUND_WITH(2, s->st_value = FILE_BYTES - 8));    /* past the file's part */
    CHECK(!FOUND_WITH(2, s->st_value = s[1].st_value));     /* two at one place */
    CHECK(!FOUND_WITH(2, s->st_value = s[1].st_value + 8)); /* inside another one */
    CHECK(!FOUND_WITH(2, s->st_size = FUNCTION_BYTES + 4)); /* over another one */
    CHECK(!FOUND_WITH(2, s->st_name = 0xffffff));           /* without a name */
    CHECK(!FOUND_WITH(2, s->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)));  /* somebody's own */
    CHECK(!FOUND_WITH(2, s->st_info = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT))); /* no function */
    CHECK(!FOUND_WITH(2, s->st_shndx = SHN_UNDEF));
    CHECK(FOUND_WITH(2,
                     (s->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), s->st_other = STV_HIDDEN)));
    CHECK(FOUND_WITH(FUTURE, s->st_name++)); /* "udaFutureFunction" is not of the library */
    CHECK(!FOUND_WITH(0, ((void)s, file_->bytes[DYNAMIC_STRINGS + 1] = 'x')));
}

/* No file breaks it: all of its beginnings, and random changes of what says where things are. */
static void find_in_odd_files(void)
{
    struct audit_runtime runtime;
    struct file *f = make_file();
    is_found(f, &runtime);
    audit_runtime_free(&runtime);
    unsigned n = 0;
    for (size_t bytes = sizeof(Elf64_Ehdr); bytes < FILE_BYTES; bytes += bytes < CODE ? 3 : 61) {
        unsigned char *exact = malloc(bytes); /* so that a sanitizer sees its end */
        memcpy(exact, f->bytes, bytes);
        n += audit_runtime_find(&(struct elf){exact, bytes}, &runtime);
        audit_runtime_free(&runtime);
        free(exact);
    }
    CHECK_INT(n, 0); /* the part of the file that is loaded is never whole */
    srand(7);
    for (int round = 0; round < 3000; round++) {
        make_file();
        put(f, SYMBOLS, f->symbols, sizeof f->symbols);
        for (int k = rand() % 4; k >= 0; k--) {
            static const unsigned char extremes[] = {0, 1, 0x7f, 0x80, 0xff};
            size_t at = (size_t)rand() % STRINGS;
            f->bytes[at] = rand() % 2 ? extremes[rand() % 5] : (unsigned char)rand();
        }
        if (audit_runtime_find(&(struct elf){f->bytes, FILE_BYTES}, &runtime))
            for (size_t i = 0; i < runtime.n; i++)
                n += runtime.places[i].address > FILE_BYTES - runtime.places[i].extent;
        audit_runtime_free(&runtime);
    }
    CHECK_INT(n, 0);
}

/* ---- redirection ----------------------------------------------------------------------------- */

static int answer(void)
{
    return 42;
}

static const char *refused;

static int refuse(struct ptera_refusal *refusal)
{
    refused = refusal->name;
    return 801;
}

static void fill_library(struct audit_library *library, struct audit_entry *entries)
{
    *library = (struct audit_library){.entries = entries, .refuse = (uintptr_t)refuse};
    for (unsigned i = 0; i < N_FUNCTIONS; i++)
        if (i != FUTURE)
            entries[library->n++] = (struct audit_entry){functions[i], (uintptr_t)answer};
    for (size_t i = 0; i < library->n; i++) /* by name */
        for (size_t k = i + 1; k < library->n; k++)
            if (strcmp(entries[i].name, entries[k].name) > 0) {
                struct audit_entry e = entries[i];
                entries[i] = entries[k];
                entries[k] = e;
            }
}

static int call(const unsigned char *memory, unsigned function)
{
    uintptr_t at = (uintptr_t)memory + CODE + function * FUNCTION_BYTES;
    return ((int (*)(void))at)();
}

/* Functions that are long and short, one that we do not have, one that shall do nothing, run after
 * they were written. */
static void redirect(void)
{
    struct audit_runtime runtime;
    struct audit_library library;
    struct audit_entry entries[N_FUNCTIONS];
    struct audit_plan plan;
    struct file *f = make_file();
    struct elf elf = {f->bytes, FILE_BYTES};
    CHECK(is_found(f, &runtime));
    fill_library(&library, entries);
    runtime.places[2].extent = 8;      /* room for a near jump alone */
    runtime.places[FUTURE].extent = 8; /* the same, for more to be told */
    runtime.places[8].name = NULL;
    unsigned char *memory =
        mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(memory, f->bytes, FILE_BYTES);
    mprotect(memory, FILE_BYTES, PROT_READ | PROT_EXEC);
    CHECK(!audit_redirect_plan(&runtime, &library, HOST, &plan));
    CHECK_INT(plan.n, N_FUNCTIONS + 2);
    CHECK_INT(plan.n_refused, 1);
    f->bytes[CODE] ^= 1;
    CHECK_HAS(audit_redirect_write(&plan, &elf, (uintptr_t)memory), "not as its file");
    f->bytes[CODE] ^= 1;
    CHECK(!memcmp(memory, f->bytes, FILE_BYTES)); /* all or nothing */
    CHECK(!audit_redirect_write(&plan, &elf, (uintptr_t)memory));
    for (unsigned i = 0; i < 8; i++)
        CHECK_INT(call(memory, i), i == FUTURE ? 801 : 42);
    CHECK_TEXT(refused, "cudaFutureFunction");
    call(memory, 8);
    plan.is_written = false; /* nothing calls it any more */
    audit_redirect_free(&plan);
    for (size_t i = 0; i < runtime.n; i++)
        runtime.places[i].extent = 8; /* no room anywhere */
    CHECK_HAS(audit_redirect_plan(&runtime, &library, HOST, &plan), "too short");
    audit_redirect_free(&plan);
    audit_runtime_free(&runtime);
    munmap(memory, FILE_BYTES);
}

int main(void)
{
    encode();
    read_tables();
    find_layout();
    find_by_symbols();
    find_in_odd_files();
    redirect();
    return CHECK_DONE("audit");
}
