#define _GNU_SOURCE
#include "tests/mutate/vary.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLOCK_START (UINT64_C(1) << 32)

char *vary_without(const char *text, unsigned line)
{
    char *copy = strdup(text), *at = copy;
    for (unsigned i = 1; at && i < line; i++)
        at = (at = strchr(at, '\n')) ? at + 1 : NULL;
    char *stop = at ? strpbrk(at, "\n") : NULL, *load = at ? strstr(at, "ld.") : NULL;
    char *from = load && stop && load < stop ? load : at, *end = from ? strchr(from, ';') : NULL;
    if (!end || !stop || end > stop) {
        free(copy);
        return NULL;
    }
    while (from > at && from[-1] != ';')
        from--; /* the guard */
    memset(from, ' ', (size_t)(end + 1 - from));
    return copy;
}

/* The name of a clock that begins here: its length, or 0; and which bits of the clock it reads. */
static size_t clock_at(const char *at, unsigned *shift, unsigned *bits)
{
    static const struct clock {
        const char *name;
        unsigned shift, bits;
    } clocks[] = {{"%clock64", 0, 64},   {"%globaltimer", 0, 64},    {"%clock", 0, 32},
                  {"%clock_hi", 32, 32}, {"%globaltimer_lo", 0, 32}, {"%globaltimer_hi", 32, 32}};
    size_t n = 1;
    while (isalnum((unsigned char)at[n]) || at[n] == '_' || at[n] == '$')
        n++;
    for (const struct clock *c = clocks; c < clocks + sizeof clocks / sizeof *clocks; c++)
        if (n == strlen(c->name) && !strncmp(at, c->name, n)) {
            *shift = c->shift;
            *bits = c->bits;
            return n;
        }
    return 0;
}

char *vary_clocks(const char *text, uint64_t step)
{
    char *copy = NULL;
    size_t bytes = 0;
    uint64_t value = step ? CLOCK_START : 0;
    unsigned shift, width;
    FILE *out = open_memstream(&copy, &bytes);
    for (const char *at = text; *at;) {
        size_t n = *at == '%' ? clock_at(at, &shift, &width) : 0;
        if (n)
            value += step,
                fprintf(out, "%llu",
                        (unsigned long long)(value >> shift & UINT64_MAX >> (64 - width)));
        else
            fputc(*at, out);
        at += n ? n : 1;
    }
    fclose(out);
    if (strlen(text) == bytes && !strcmp(text, copy)) {
        free(copy);
        return NULL;
    }
    return copy;
}

char *vary_places(const char *text)
{
    static const char variable[] = "{ .local .align 16 .b8 place[64]; st.local.u8 [place], 0;";
    char *copy = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&copy, &bytes);
    const char *entry, *body;
    while ((entry = strstr(text, ".entry")) && (body = strchr(entry, '{'))) {
        fwrite(text, 1, (size_t)(body - text), out);
        fputs(variable, out);
        text = body + 1;
    }
    fputs(text, out);
    fclose(out);
    return copy;
}

char *vary_parameters(const char *text)
{
    char *copy = NULL;
    size_t bytes = 0, line;
    FILE *out = open_memstream(&copy, &bytes);
    for (unsigned n = 0; *text; text += line) {
        const char *word = text + strspn(text, " \t");
        line = strcspn(text, "\n");
        line += text[line] == '\n';
        if (!strncmp(word, ".param", 6) && memchr(text, ';', line))
            fprintf(out, ".param .align 16 .b8 apart%u[64];\n", n++);
        fwrite(text, 1, line, out);
    }
    fclose(out);
    return copy;
}

char *vary_results(const char *text)
{
    char *copy = NULL, type[16], name[64];
    size_t bytes = 0;
    FILE *out = open_memstream(&copy, &bytes);
    const char *function, *end;
    while ((function = strstr(text, ".func")) && (end = strpbrk(function, "{;"))) {
        fwrite(text, 1, (size_t)(end + 1 - text), out);
        if (*end == '{' &&
            sscanf(function, ".func (.param .%15[a-z0-9] %63[A-Za-z0-9_$])", type, name) == 2 &&
            *type != 'f')
            fprintf(out, "st.param.%s [%s], 77;", type, name);
        text = end + 1;
    }
    fputs(text, out);
    fclose(out);
    return copy;
}
