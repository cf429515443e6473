/* Which rows of the instruction table and which special registers the PTX files under some folders
 * use.
 *
 *     covered FOLDER...            every implemented row and every special register is used
 *     covered --golden FOLDER...   the rows that are used are those of ir/golden.def
 *     covered --list FOLDER...     prints ir/golden.def as it should be
 *     covered --words FOLDER...    every modifier, type and .v2 .v4 .v8 that a row of the chapters
 * move, control, sync, atomic and warp may have is used with it
 *
 * A file under a folder named ptx counts if it runs something (a line "// RUN: ptera run"); so does
 * every file elsewhere. Functions are counted as parsed, before any pass; one with a row that is
 * not implemented cannot run and does not count. Prints what is not as it should be. */
#include <dirent.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "frontend/parse.h"
#include "ir/chapter.h"
#include "ir/ir.h"
#include "ir/row.h"

static bool op_used[PT_OP_COUNT], sreg_used[PT_SREG_COUNT];
/* Modifiers, types and .v2 .v4 .v8 in one row of numbers. */
enum { FIRST_TYPE = PT_M_COUNT, FIRST_VEC = FIRST_TYPE + PT_TYPE_COUNT, WORDS = FIRST_VEC + 9 };
static bool word_used[PT_OP_COUNT][WORDS];
static unsigned files, broken;

static bool can_run(const struct pt_module *m, const struct pt_func *func)
{
    for (uint32_t i = 0; i < func->insns.n; i++)
        if (!pt_op_is_supported((enum pt_op)pt_insn_form(m, &func->insns.v[i])->op))
            return false;
    return true;
}

static void note_form(const struct pt_form *form)
{
    op_used[form->op] = true;
    word_used[form->op][FIRST_VEC + form->vec] = true;
    for (unsigned i = 0; i < form->n_mods; i++)
        word_used[form->op][form->mod[i]] = true;
    for (unsigned i = 0; i < form->n_types; i++)
        word_used[form->op][FIRST_TYPE + form->type[i]] = true;
}

static void note_uses(const struct pt_module *m)
{
    for (uint32_t f = 1; f < m->funcs.n; f++) {
        const struct pt_func *func = &m->funcs.v[f];
        if (!can_run(m, func))
            continue;
        for (uint32_t i = 0; i < func->insns.n; i++)
            note_form(pt_insn_form(m, &func->insns.v[i]));
        for (uint32_t i = 0; i < func->operands.n; i++)
            if (func->operands.v[i].kind == PT_OPND_SREG)
                sreg_used[func->operands.v[i].index] = true;
    }
}

static void read_module(const char *path, const char *text, size_t len)
{
    static jmp_buf oom;
    struct pt_module m;
    memset(&m, 0, sizeof m);
    pt_arena_init(&m.arena, &pt_malloc_allocator);
    m.arena.oom = &oom;
    if (setjmp(oom) || !pt_parse(&m, path, text, len)) {
        printf("%s cannot be parsed\n", path);
        broken++;
    } else {
        note_uses(&m);
        files++;
    }
    pt_arena_free(&m.arena);
}

static void read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct stat st;
    char *text = NULL;
    if (f && fstat(fileno(f), &st) == 0 && (text = calloc(1, (size_t)st.st_size + 1)) &&
        fread(text, 1, (size_t)st.st_size, f) == (size_t)st.st_size) {
        if (!strstr(path, "/ptx/") || strstr(text, "// RUN: ptera run"))
            read_module(path, text, (size_t)st.st_size);
    } else {
        perror(path);
        broken++;
    }
    free(text);
    if (f)
        fclose(f);
}

static void read_folder(const char *folder)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[4096];
        const char *name = entries[i]->d_name, *dot = strrchr(name, '.');
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (name[0] != '.' && stat(path, &st) == 0) {
            if (S_ISDIR(st.st_mode))
                read_folder(path);
            else if (dot && !strcmp(dot, ".ptx"))
                read_file(path);
        }
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

static int print_list(void)
{
    puts("/* The rows that are part of a golden kernel: what it writes is compared, word by word,\n"
         " * with what an H200 wrote. Made in a build folder, where the archives are unpacked:\n"
         " *\n"
         " *     tests/covered --list tests/golden.data > ../../ir/golden.def\n"
         " *\n"
         " * and checked by the test golden_rows. */\n"
         "#ifndef GOLDEN\n"
         "#error \"define GOLDEN(row_id) before including golden.def\"\n"
         "#endif");
    for (unsigned op = 1; op < PT_OP_COUNT; op++)
        if (op_used[op])
            printf("GOLDEN(%s)\n", pt_op_id((enum pt_op)op));
    puts("#undef GOLDEN");
    return broken > 0 || files == 0;
}

static int check_golden(void)
{
    unsigned passed = 0, failed = broken + (files == 0);
    for (unsigned op = 1; op < PT_OP_COUNT; op++) {
        bool listed = pt_op_is_golden((enum pt_op)op);
        passed += listed && op_used[op];
        failed += listed != op_used[op];
        if (listed != op_used[op])
            printf("%s ir/golden.def: %s\n", listed ? "too many in" : "missing in",
                   pt_op_id((enum pt_op)op));
    }
    printf("golden_rows: %u passed, %u failed, 0 skipped\n", passed, failed);
    return failed > 0;
}

static int check_covered(void)
{
    unsigned passed = 0, failed = broken + (files == 0);
    for (unsigned op = 1; op < PT_OP_COUNT; op++) {
        if (!pt_op_is_supported((enum pt_op)op))
            continue;
        passed += op_used[op];
        failed += !op_used[op];
        if (!op_used[op])
            printf("no case: %-20s %s\n", pt_op_id((enum pt_op)op), pt_op_syntax((enum pt_op)op));
    }
    for (unsigned sreg = 1; sreg < PT_SREG_COUNT; sreg++) {
        passed += sreg_used[sreg];
        failed += !sreg_used[sreg];
        if (!sreg_used[sreg])
            printf("no case: %s\n", pt_sreg_spelling((enum pt_sreg)sreg));
    }
    printf("covered: %u passed, %u failed, 0 skipped\n", passed, failed);
    return failed > 0;
}

static unsigned word_of(uint16_t token)
{
    return token & PT_TOKEN_VEC    ? FIRST_VEC + (token & 15u)
           : token & PT_TOKEN_TYPE ? FIRST_TYPE + (token & 0xffu)
                                   : token;
}

/* One word of one row; each is told once. */
static void check_word(uint16_t op, uint16_t token, unsigned *passed, unsigned *failed)
{
    static bool told[PT_OP_COUNT][WORDS];
    bool *is_told = &told[op][word_of(token)], used = word_used[op][word_of(token)];
    char word[64];
    if (*is_told)
        return;
    *is_told = true;
    *passed += used;
    *failed += !used;
    pt_token_name(token, word);
    if (!used)
        printf("no case: %s of %s\n", word, pt_op_id((enum pt_op)op));
}

static bool is_in_word_chapter(enum pt_op op)
{
    static const char *const chapters[] = {"move", "control", "sync", "atomic", "warp"};
    for (size_t i = 0; i < sizeof chapters / sizeof *chapters; i++)
        if (pt_chapter_has(chapters[i], op))
            return true;
    return false;
}

static int check_words(void)
{
    unsigned passed = 0, failed = broken + (files == 0);
    for (unsigned l = 0; l < pt_line_total(); l++) {
        const struct pt_line *line = pt_line_at(l);
        if (!is_in_word_chapter((enum pt_op)line->op) || !pt_op_is_supported((enum pt_op)line->op))
            continue;
        for (unsigned e = 0; e < line->n_elems; e++)
            for (unsigned a = 0; a < pt_line_elem(line, e)->n; a++) {
                const struct pt_alt *alt = pt_elem_alt(pt_line_elem(line, e), a);
                for (unsigned t = 0; t < alt->n; t++)
                    check_word(line->op, alt->token[t], &passed, &failed);
            }
    }
    printf("covered_words: %u passed, %u failed, 0 skipped\n", passed, failed);
    return failed > 0;
}

int main(int argc, char **argv)
{
    bool list = argc > 1 && !strcmp(argv[1], "--list");
    bool golden = argc > 1 && !strcmp(argv[1], "--golden");
    bool words = argc > 1 && !strcmp(argv[1], "--words");
    for (int i = 1 + (list || golden || words); i < argc; i++)
        read_folder(argv[i]);
    return list ? print_list() : golden ? check_golden() : words ? check_words() : check_covered();
}
