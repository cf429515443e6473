/* The tree of a kernel, and its text. */
#include "tools/fuzz/build.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static char *format_va(struct gen *g, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    size_t n = (size_t)vsnprintf(NULL, 0, format, args);
    char *text = pt_arena_alloc(&g->k->arena, n + 1);
    vsnprintf(text, n + 1, format, again);
    va_end(again);
    return text;
}

char *gen_format(struct gen *g, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = format_va(g, format, args);
    va_end(args);
    return text;
}

struct gen_node *gen_node(struct gen *g, unsigned n_children)
{
    struct gen_node *node = pt_arena_alloc(&g->k->arena, sizeof *node);
    node->n_children = n_children;
    node->part = pt_arena_alloc(&g->k->arena, (n_children + 1) * sizeof *node->part);
    node->child = pt_arena_alloc(&g->k->arena, (n_children + 1) * sizeof *node->child);
    for (unsigned i = 0; i <= n_children; i++)
        node->part[i] = gen_format(g, "%s", "");
    *g->at = node;
    g->at = &node->next;
    return node;
}

struct gen_node *gen_line(struct gen *g, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct gen_node *node = gen_node(g, 0);
    node->part[0] = format_va(g, format, args);
    va_end(args);
    return node;
}

struct gen_node **gen_enter(struct gen *g, struct gen_node *node, unsigned child)
{
    struct gen_node **was = g->at;
    g->at = &node->child[child];
    return was;
}

void gen_free(struct gen_kernel *k)
{
    pt_arena_free(&k->arena);
}

/* ---- text ------------------------------------------------------------------------------------ */

/* A line for each statement, labels at the margin. */
static void put_text(FILE *out, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        const char *end = text + n;
        while (text < end && *text == ' ')
            text++;
        bool is_label = end > text && (end[-1] == ':' || strchr("{}.", *text));
        if (end > text)
            fprintf(out, "%s%.*s\n", is_label ? "" : "    ", (int)(end - text), text);
        text = end + (*end == '\n');
    }
}

static void put_nodes(FILE *out, const struct gen_node *node)
{
    for (; node; node = node->next) {
        if (node->stand_in && (node->state == GEN_OPEN || node->state == GEN_REMOVED))
            put_text(out, node->stand_in);
        bool is_whole = node->state == GEN_WHOLE, is_open = is_whole || node->state == GEN_OPEN;
        for (unsigned i = 0; i <= node->n_children && is_open; i++) {
            if (is_whole)
                put_text(out, node->part[i]);
            if (i < node->n_children)
                put_nodes(out, node->child[i]);
        }
    }
}

static void put_func(FILE *out, const struct gen_func *f)
{
    put_text(out, f->head);
    put_nodes(out, f->body);
    put_text(out, f->tail);
}

char *gen_list_text(const struct gen_node *list)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    put_nodes(out, list);
    fclose(out);
    return text;
}

bool gen_mentions(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = text; (at = strstr(at, name)) != NULL; at += n)
        if (!isalnum((unsigned char)at[n]) && at[n] != '_')
            return true;
    return false;
}

static char *func_text(const struct gen_func *f)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    put_func(out, f);
    fclose(out);
    return text;
}

/* Names of functions stand in calls, in moves of their addresses. */
static bool has_call(const char *text, const struct gen_func *f)
{
    char call[32], move[32];
    snprintf(call, sizeof call, " %s,", f->name);
    snprintf(move, sizeof move, ", %s;", f->name);
    return strstr(text, call) || strstr(text, move);
}

/* The functions that the text calls and those that they call, deepest first: function i calls
 * only those before it. */
static void put_called(FILE *out, const struct gen_kernel *k, const char *text, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        bool is_called = has_call(text, &k->func[i]);
        for (unsigned j = i + 1; j < n && !is_called; j++) {
            char *other = func_text(&k->func[j]);
            is_called = has_call(other, &k->func[i]);
            free(other);
        }
        if (is_called)
            put_func(out, &k->func[i]);
    }
}

char *gen_text(const struct gen_kernel *k)
{
    char *text = NULL, *entry = func_text(&k->entry);
    size_t n;
    FILE *out = open_memstream(&text, &n);
    fprintf(out,
            "// RUN: ptera run %%s -g %u,%u,%u -b %u,%u,%u --engine both zero:%zu zero:%zu u32:%u "
            "u64:%llu\n"
            ".version 8.7\n.target sm_90\n.address_size 64\n%s",
            k->grid[0], k->grid[1], k->grid[2], k->block[0], k->block[1], k->block[2], k->out_bytes,
            k->sums_bytes, k->s, (unsigned long long)k->w, k->variables);
    put_called(out, k, entry, k->n_funcs);
    fputs(entry, out);
    fclose(out);
    free(entry);
    return text;
}
