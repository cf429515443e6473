#include "tools/ptxas_options.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/row.h"
#include "tools/file/read.h"

enum ptxas_kind { FLAG, BOOL, NUMBER, LEVEL, REGISTERS, MACHINE, SANITIZER, ARCH, TEXT, LIST };

static const struct option {
    const char *name, *short_name;
    enum ptxas_kind kind;
    const char *argument, *what;
} table[] = {
#define OPTION(id, name, short_name, kind, argument, what) {name, short_name, kind, argument, what},
#include "tools/ptxas.def"
};

enum { MAX_NESTING = 16 }; /* of files with options */

/* ---- messages -------------------------------------------------------------------------------- */

static void say(const char *severity, const char *format, va_list args)
{
    fprintf(stderr, "ptxas %-8s: ", severity);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

#define SAY(severity)                \
    do {                             \
        va_list args;                \
        va_start(args, format);      \
        say(severity, format, args); \
        va_end(args);                \
    } while (0)

void ptxas_fatal(const char *format, ...)
{
    SAY("fatal");
}

void ptxas_warning(const char *format, ...)
{
    SAY("warning");
}

void ptxas_info(const char *format, ...)
{
    SAY("info");
}

void ptxas_options_help(void)
{
    puts("usage: ptera ptxas [options] FILE.ptx...\n\n"
         "Stands in for NVIDIA's assembler, for programs that call one: takes its options, checks "
         "as `ptera verify` does, and\n"
         "writes a cubin with the PTX itself inside, which Ptera's libcuda.so.1 loads. A link to "
         "ptera by the name of ptxas is\n"
         "this command. Exit status: 0, or 255 after an error.\n");
    for (int is_idle = 0; is_idle < 2; is_idle++) {
        if (is_idle)
            puts("\nThese concern machine code, and change nothing:\n");
        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
            char names[128];
            snprintf(names, sizeof names, "--%s %s (-%s)", table[i].name, table[i].argument,
                     table[i].short_name);
            if ((table[i].what == NULL) == is_idle)
                printf(is_idle ? "  %s\n" : "  %-42s %s\n", names, table[i].what);
        }
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool is_number(const char *s)
{
    return *s && strspn(s, "0123456789") == strlen(s);
}

static bool is_word(const char *s, const char *a, const char *b)
{
    return !strcmp(s, a) || !strcmp(s, b);
}

static bool is_undefined(const struct option *option, const char *value)
{
    ptxas_fatal("Value '%s' is not defined for option '%s'", value, option->name);
    return false;
}

/* sm_90a, compute_90 */
static bool set_arch(struct ptxas_options *o, const struct option *option, const char *value)
{
    for (unsigned i = 0; i < pt_n_targets; i++) {
        const char feature[2] = {(char)pt_targets[i].feature, 0};
        char real[16], compute[16];
        snprintf(real, sizeof real, "sm_%u%s", pt_targets[i].sm, feature);
        snprintf(compute, sizeof compute, "compute_%u%s", pt_targets[i].sm, feature);
        if (!is_word(value, real, compute))
            continue;
        o->sm = pt_targets[i].sm;
        o->feature = feature[0];
        o->is_virtual = *value == 'c';
        return true;
    }
    return is_undefined(option, value);
}

static bool check_value(struct ptxas_options *o, const struct option *option, const char *value)
{
    switch (option->kind) {
    case BOOL:
        if (is_word(value, "true", "false"))
            return true;
        ptxas_fatal("'%s': expected true or false", value);
        return false;
    case NUMBER:
    case LEVEL:
        if (is_number(value) || (option->kind == LEVEL && !*value))
            return true;
        ptxas_fatal("'%s': expected a number", value);
        return false;
    case REGISTERS:
        if (is_number(value) || is_word(value, "archmax", "archmin"))
            return true;
        ptxas_fatal("Invalid value '%s' for option '%s'", value, option->name);
        return false;
    case MACHINE:
        return !strcmp(value, "64") || is_undefined(option, value);
    case SANITIZER:
        return is_word(value, "memcheck", "threadsteer") || is_undefined(option, value);
    case ARCH:
        return set_arch(o, option, value);
    default:
        return true;
    }
}

static bool set(struct ptxas_options *o, const struct option *option, const char *value)
{
    enum ptxas_option id = (enum ptxas_option)(option - table);
    const char *old = o->value[id];
    if (!check_value(o, option, value))
        return false;
    if (id == PTXAS_input_as_string)
        *pt_vec_push(o->arena, &o->inputs) = (struct ptxas_input){"application ptx input", value};
    else if (id == PTXAS_entry)
        *pt_vec_push(o->arena, &o->entries) = value;
    else if (old && strcmp(old, value) != 0)
        ptxas_warning(
            "incompatible redefinition for option '%s', the last value of this option was used",
            option->name);
    o->value[id] = value;
    return true;
}

/* ---- words ----------------------------------------------------------------------------------- */

struct words {
    char **v;
    int n, next;
    int nesting;
};

static bool read_words(struct ptxas_options *o, struct words *words);

/* The words of a file, apart by space; what stands in quotes is one. */
static bool read_options_file(struct ptxas_options *o, const char *path, int nesting)
{
    size_t bytes;
    FILE *in = fopen(path, "rb");
    if (in)
        fclose(in);
    char *data = in ? file_read(path, &bytes) : NULL;
    if (!data || nesting > MAX_NESTING) {
        free(data);
        ptxas_fatal("Could not open options file '%s'", path);
        return false;
    }
    PT_VEC(char *) words = {0};
    char *p = pt_arena_text(o->arena, data, bytes);
    free(data);
    while (*(p += strspn(p, " \t\r\n"))) {
        bool is_quoted = *p == '"' || *p == '\'';
        const char end[2] = {*p, 0};
        p += is_quoted;
        *pt_vec_push(o->arena, &words) = p;
        p += strcspn(p, is_quoted ? end : " \t\r\n");
        if (*p)
            *p++ = 0;
    }
    return read_words(o, &(struct words){words.v, (int)words.n, 0, nesting});
}

/* The option that a word names: --LONG[=VALUE], -SHORT[=VALUE], and -O3, -m64. */
static const struct option *find(const char *word, const char **value)
{
    bool is_long = word[1] == '-';
    const char *name = word + 1 + is_long;
    size_t n = strcspn(name, "=");
    *value = name[n] ? name + n + 1 : NULL;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *mine = is_long ? table[i].name : table[i].short_name;
        if (strlen(mine) == n && !memcmp(mine, name, n))
            return &table[i];
    }
    for (size_t i = 0; !is_long && i < sizeof table / sizeof *table; i++) {
        if ((table[i].kind != LEVEL && table[i].kind != MACHINE) || *name != *table[i].short_name)
            continue;
        *value = name + 1;
        return &table[i];
    }
    return NULL;
}

static bool read_option(struct ptxas_options *o, struct words *words)
{
    const char *word = words->v[words->next++], *value;
    const struct option *option = find(word, &value);
    if (!option) {
        ptxas_fatal("Unknown option '%.*s'", (int)strcspn(word + 1, "="), word + 1);
        return false;
    }
    if (option->kind == FLAG && value) {
        ptxas_fatal("no argument expected after '%.*s'", (int)strcspn(word, "="), word);
        return false;
    }
    if (option->kind == FLAG || (option->kind == LEVEL && !value && word[1] != '-'))
        value = "";
    if (!value && words->next == words->n) {
        ptxas_fatal("argument expected after '%s'", word);
        return false;
    }
    if (!value)
        value = words->v[words->next++];
    if (option == &table[PTXAS_options_file])
        return read_options_file(o, value, words->nesting + 1);
    return set(o, option, value);
}

static bool read_words(struct ptxas_options *o, struct words *words)
{
    while (words->next < words->n) {
        const char *word = words->v[words->next];
        if (word[0] == '-' && word[1]) {
            if (!read_option(o, words))
                return false;
            continue;
        }
        *pt_vec_push(o->arena, &o->inputs) = (struct ptxas_input){word, NULL};
        words->next++;
    }
    return true;
}

bool ptxas_options_read(struct ptxas_options *o, int argc, char **argv)
{
    o->sm = 75; /* ptxas 13.0's default */
    return read_words(o, &(struct words){argv, argc, 1, 0});
}
