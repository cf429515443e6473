/* What `ptera exec` has the dynamic loader load as its auditor (LD_AUDIT, rtld-audit(7)). The
 * loader asks it for the place of every library, whoever wants it and by whatever path, and tells
 * it of every object, at start and by dlopen, when that is mapped and nothing of it has run yet:
 * then NVIDIA's runtime library inside it is redirected to ours. A preloaded library can do
 * neither: its constructor comes after those of the program's libraries (but for -z initfirst,
 * which one object of a process can have), and what it puts in the place of dlopen sees no object
 * between being mapped and being started. An auditor lives in a namespace of its own, with its own
 * C library, and is called with the loader's lock held. */
#define _GNU_SOURCE
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/audit/ours.h"
#include "tools/audit/program.h"
#include "tools/audit/redirect.h"
#include "tools/audit/runtime.h"

#define ENTRY __attribute__((visibility("default")))

ENTRY unsigned la_version(unsigned version)
{
    audit_program_replace();
    return version;
}

/* Called with what the program asked for, then with each path that the loader tries. */
ENTRY char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
    const char *behind = flag == LA_SER_ORIG ? audit_ours_behind(name) : NULL;
    const char *ours = flag == LA_SER_ORIG ? audit_ours_find(name) : audit_ours_instead(name);
    (void)cookie;
    return (char *)(behind ? behind : ours ? ours : name);
}

/* ---- objects --------------------------------------------------------------------------------- */

enum { N_RELEASES = 3, FIRST_RELEASE = 11 };

/* Our runtime libraries, once they are mapped; what is opened of them when it is first needed. */
static struct {
    struct link_map *map;
    bool is_open;
    struct audit_library library;
} releases[N_RELEASES];

/* Those that are mapped, and not looked at. */
static struct link_map **fresh;
static size_t n_fresh;

static bool is_logged(void)
{
    const char *topics = getenv("PTERA_LOG");
    return topics && strstr(topics, "load");
}

static void say(const char *path, const char *text)
{
    fprintf(stderr, "ptera: %s: %s\n", path, text);
}

static const struct audit_library *library_of(unsigned major)
{
    unsigned i = major - FIRST_RELEASE;
    if (i >= N_RELEASES || !releases[i].map)
        return NULL;
    if (!releases[i].is_open)
        releases[i].is_open = audit_library_open(&releases[i].library, releases[i].map->l_name,
                                                 releases[i].map->l_addr);
    return releases[i].is_open ? &releases[i].library : NULL;
}

/* NULL, or what is wrong. */
static const char *redirect(const struct link_map *map, const char *path, const struct elf *elf,
                            const struct audit_runtime *runtime)
{
    struct audit_plan plan;
    const struct audit_library *library = library_of(runtime->major);
    if (!library)
        return "none of Ptera's runtime libraries of its release is loaded";
    if (map->l_addr + elf_dynamic(elf) != (uintptr_t)map->l_ld)
        return "it is not what its file is now";
    const char *wrong = audit_redirect_plan(runtime, library, elf_machine(elf), &plan);
    if (!wrong)
        wrong = audit_redirect_write(&plan, elf, map->l_addr);
    if (!wrong && is_logged())
        fprintf(stderr,
                "ptera: %s: NVIDIA's runtime library inside (%s): %zu functions redirected, %zu of "
                "them not supported\n",
                path, runtime->versions ? runtime->versions : "told by its symbols", runtime->n,
                plan.n_refused);
    audit_redirect_free(&plan);
    return wrong;
}

static void look_at(const struct link_map *map)
{
    char program[PATH_MAX];
    struct elf elf;
    struct audit_runtime runtime;
    const char *path = map->l_name;
    if (!*path) /* the program, which has no name here */
        path = realpath("/proc/self/exe", program);
    if (!path || !elf_open(&elf, path))
        return;
    if (audit_runtime_find(&elf, &runtime)) {
        const char *wrong = redirect(map, path, &elf, &runtime);
        if (wrong) {
            say(path, "NVIDIA's runtime library inside is not redirected to Ptera's:");
            say(path, wrong);
            say(path, "rebuild it with `nvcc -cudart shared`");
        }
    }
    audit_runtime_free(&runtime);
    elf_close(&elf);
}

ENTRY unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
    unsigned release = audit_ours_release(map->l_name);
    *cookie = (uintptr_t)map;
    if (release && namespace == LM_ID_BASE)
        releases[release - FIRST_RELEASE].map = map;
    struct link_map **more = realloc(fresh, (n_fresh + 1) * sizeof(struct link_map *));
    if (more) {
        fresh = more;
        fresh[n_fresh++] = map;
    }
    return 0;
}

/* It may go before it was looked at: something that it needs is not there. */
ENTRY unsigned la_objclose(uintptr_t *cookie)
{
    for (size_t i = 0; i < n_fresh; i++)
        if ((uintptr_t)fresh[i] == *cookie)
            fresh[i] = fresh[--n_fresh];
    return 0;
}

/* All objects of a start, or of a dlopen, are mapped: before their relocation and their
 * constructors. */
ENTRY void la_activity(uintptr_t *cookie, unsigned flag)
{
    (void)cookie;
    if (flag != LA_ACT_CONSISTENT)
        return;
    for (size_t i = 0; i < n_fresh; i++)
        look_at(fresh[i]);
    n_fresh = 0;
}
