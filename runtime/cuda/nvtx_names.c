/* Names of NVTX: lists that only grow, since what was recorded refers to them. */
#include "runtime/cuda/nvtx_names.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct category {
    struct category *next;
    uint32_t number;
    char name[];
};

struct pt_nvtx_string {
    struct pt_nvtx_string *next;
    char text[];
};

struct pt_nvtx_domain {
    struct pt_nvtx_domain *next;
    struct category *categories;
    struct pt_nvtx_string *strings;
    char name[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pt_nvtx_domain *domains;
static struct category *default_categories;
static struct pt_nvtx_string *default_strings;

const char *pt_cu_nvtx_names_narrow(const wchar_t *text, char to[PT_NVTX_NAME_BYTES])
{
    size_t n = 0;
    for (; text && *text && n + 5 < PT_NVTX_NAME_BYTES; text++) {
        uint32_t c = (uint32_t)*text;
        if (c < 0x80)
            to[n++] = (char)c;
        else if (c < 0x800)
            to[n++] = (char)(0xc0 | c >> 6);
        else if (c < 0x10000)
            to[n++] = (char)(0xe0 | c >> 12);
        else
            to[n++] = (char)(0xf0 | c >> 18);
        if (c >= 0x10000)
            to[n++] = (char)(0x80 | (c >> 12 & 63));
        if (c >= 0x800)
            to[n++] = (char)(0x80 | (c >> 6 & 63));
        if (c >= 0x80)
            to[n++] = (char)(0x80 | (c & 63));
    }
    to[n] = 0;
    return to;
}

struct pt_nvtx_domain *pt_cu_nvtx_names_domain(const char *name)
{
    struct pt_nvtx_domain *d;
    if (!name)
        return NULL;
    pthread_mutex_lock(&lock);
    for (d = domains; d && strcmp(d->name, name) != 0; d = d->next)
        continue;
    if (!d && (d = calloc(1, sizeof *d + strlen(name) + 1))) {
        strcpy(d->name, name);
        d->next = domains;
        domains = d;
    }
    pthread_mutex_unlock(&lock);
    return d;
}

/* One that is named again has a new name in front of the old one. */
void pt_cu_nvtx_names_category(struct pt_nvtx_domain *domain, uint32_t number, const char *name)
{
    struct category *c = name ? calloc(1, sizeof *c + strlen(name) + 1) : NULL;
    struct category **list = domain ? &domain->categories : &default_categories;
    if (!c)
        return;
    c->number = number;
    strcpy(c->name, name);
    pthread_mutex_lock(&lock);
    c->next = *list;
    *list = c;
    pthread_mutex_unlock(&lock);
}

const struct pt_nvtx_string *pt_cu_nvtx_names_register(struct pt_nvtx_domain *domain,
                                                       const char *text)
{
    struct pt_nvtx_string *s, **list = domain ? &domain->strings : &default_strings;
    if (!text)
        return NULL;
    pthread_mutex_lock(&lock);
    for (s = *list; s && strcmp(s->text, text) != 0; s = s->next)
        continue;
    if (!s && (s = calloc(1, sizeof *s + strlen(text) + 1))) {
        strcpy(s->text, text);
        s->next = *list;
        *list = s;
    }
    pthread_mutex_unlock(&lock);
    return s;
}

const char *pt_cu_nvtx_names_of_domain(const struct pt_nvtx_domain *domain)
{
    return domain ? domain->name : NULL;
}

const char *pt_cu_nvtx_names_of_category(const struct pt_nvtx_domain *domain, uint32_t number)
{
    pthread_mutex_lock(&lock);
    const struct category *c = domain ? domain->categories : default_categories;
    while (c && c->number != number)
        c = c->next;
    pthread_mutex_unlock(&lock);
    return c ? c->name : NULL;
}

const char *pt_cu_nvtx_names_of_string(const struct pt_nvtx_string *string)
{
    return string ? string->text : NULL;
}
