/* A conformance suite: its files, out of a folder or a package. */
#include "tools/conform/suite.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/conform/unpack.h"
#include "tools/file/read.h"

bool conform_suite_open(struct suite *suite, const char *path)
{
    struct stat s;
    *suite = (struct suite){.path = path};
    if (stat(path, &s) != 0) {
        fprintf(stderr, "ptera conform: %s: %s\n", path, strerror(errno));
        return false;
    }
    if (S_ISDIR(s.st_mode))
        return true;
    size_t bytes;
    char *packed = file_read(path, &bytes);
    if (packed)
        suite->package = conform_unpack(path, packed, bytes, &suite->package_bytes);
    free(packed);
    return suite->package != NULL;
}

void conform_suite_close(struct suite *suite)
{
    while (suite->files) {
        struct suite_file *file = suite->files;
        suite->files = file->next;
        free(file->name);
        free(file->data);
        free(file);
    }
    free(suite->package);
}

static char *read_packed(const struct suite *suite, const char *name, size_t *bytes)
{
    const char *at = conform_unpack_find(suite->package, suite->package_bytes, name, bytes);
    char *data = at ? malloc(*bytes + 1) : NULL;
    if (!data) {
        fprintf(stderr, "ptera conform: %s: it has no %s\n", suite->path, name);
        return NULL;
    }
    memcpy(data, at, *bytes);
    data[*bytes] = 0;
    return data;
}

/* Keeps a file's data, which may be NULL. */
static char *keep(struct suite *suite, const char *name, char *data, size_t bytes)
{
    struct suite_file *file = data ? calloc(1, sizeof *file) : NULL;
    char *copy = file ? strdup(name) : NULL;
    if (!copy) {
        free(data);
        free(file);
        return NULL;
    }
    *file = (struct suite_file){suite->files, copy, data, bytes};
    suite->files = file;
    return data;
}

char *conform_suite_read(struct suite *suite, const char *set, const char *name, size_t *bytes)
{
    char whole[512], path[4096];
    snprintf(whole, sizeof whole, "%s%s%s", set, *set ? "/" : "", name);
    for (struct suite_file *f = suite->files; f; f = f->next)
        if (!strcmp(f->name, whole)) {
            *bytes = f->bytes;
            return f->data;
        }
    snprintf(path, sizeof path, "%s/%s", suite->path, whole);
    char *data = suite->package ? read_packed(suite, whole, bytes) : file_read(path, bytes);
    return keep(suite, whole, data, *bytes);
}

char *conform_suite_read_other(struct suite *suite, const char *path, size_t *bytes)
{
    char *data = file_read(path, bytes);
    return keep(suite, path, data, *bytes);
}

char *conform_suite_fields(char *text, char **field, unsigned n)
{
    char *end;
    while (*text == '#' && (end = strchr(text, '\n')))
        text = end + 1;
    if (!*text || *text == '#')
        return NULL;
    char *next = strchr(text, '\n');
    end = next ? next : text + strlen(text);
    next = next ? next + 1 : end;
    *end = 0;
    for (unsigned i = 0; i < n; i++) {
        field[i] = text;
        text += strcspn(text, i + 1 < n ? "\t" : "");
        if (*text)
            *text++ = 0;
    }
    return next;
}
