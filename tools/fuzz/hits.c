/* Counts of hits: files, choices, the report. */
#include "tools/fuzz/hits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/fuzz/wish.h"

enum { NAME = 96, TRIES = 4, HEAD_BYTES = 32 };

static const char head[] = "ptera-corners 1\n";

static size_t corners_of(void)
{
    return (size_t)corner_groups() * CORNER_CLASSES;
}

static size_t bytes_of(void)
{
    return corners_of() * (sizeof(uint32_t) + 1) + sizeof(uint32_t[GEN_SHAPES][GEN_SHAPES]);
}

bool hits_open(struct hits *h)
{
    char *all = mmap(NULL, bytes_of(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *h = (struct hits){0};
    if (all == MAP_FAILED)
        return false;
    h->corner = (uint32_t *)(void *)all;
    h->shape = (void *)(all + corners_of() * sizeof(uint32_t));
    h->tried =
        (uint8_t *)all + corners_of() * sizeof(uint32_t) + sizeof(uint32_t[GEN_SHAPES][GEN_SHAPES]);
    return true;
}

void hits_close(struct hits *h)
{
    if (h->corner)
        munmap(h->corner, bytes_of());
    *h = (struct hits){0};
}

static bool is_corner(unsigned group, unsigned class)
{
    return corner_group_at(group)->classes >> class & 1;
}

/* ---- files ----------------------------------------------------------------------------------- */

static const char *shape_text(unsigned shape)
{
    static const char *const texts[] = {
#define SHAPE(ID, text, needs, has) text,
#include "tools/fuzz/shapes.def"
    };
    return texts[shape];
}

/* The inner one can stand in the outer one. */
static bool shape_fits(unsigned outer, unsigned inner)
{
    enum { NOTHING, TOGETHER = 1 << 0, MASK = 1 << 1, ALL = TOGETHER | MASK, LEAF = 1 << 2 };
    static const struct {
        unsigned needs, has;
    } shapes[] = {
#define SHAPE(ID, text, needs, has) {needs, has},
#include "tools/fuzz/shapes.def"
    };
    return inner >= GEN_SHAPE_IF && !(shapes[outer].has & LEAF) &&
           (shapes[inner].needs & shapes[outer].has) == shapes[inner].needs;
}

static void put(const struct hits *h, FILE *file)
{
    char name[NAME];
    fputs(head, file);
    for (unsigned g = 0; g < corner_groups(); g++)
        for (unsigned c = 0; c < CORNER_CLASSES; c++)
            if (h->corner[g * CORNER_CLASSES + c]) {
                corner_print_group(corner_group_at(g), name);
                fprintf(file, "%u\t%s\t%s\n", h->corner[g * CORNER_CLASSES + c], name,
                        corner_class_text(c));
            }
    for (unsigned o = 0; o < GEN_SHAPES; o++)
        for (unsigned i = 0; i < GEN_SHAPES; i++)
            if (h->shape[o][i])
                fprintf(file, "%u\tin %s\t%s\n", h->shape[o][i], shape_text(o), shape_text(i));
}

bool hits_write(const struct hits *h, const char *path)
{
    size_t bytes = strlen(path) + 16;
    char *name = malloc(bytes);
    if (!name)
        return false;
    snprintf(name, bytes, "%s.new", path);
    FILE *file = fopen(name, "w");
    if (file)
        put(h, file);
    bool ok = file && !ferror(file);
    ok = file && fclose(file) == 0 && ok && rename(name, path) == 0;
    if (!ok)
        perror(path);
    free(name);
    return ok;
}

struct named {
    char name[NAME];
    unsigned group;
};

static int compare_named(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* All groups by name. The caller frees. */
static struct named *sort_names(void)
{
    struct named *names = calloc(corner_groups() + 1, sizeof *names);
    for (unsigned g = 0; names && g < corner_groups(); g++) {
        corner_print_group(corner_group_at(g), names[g].name);
        names[g].group = g;
    }
    if (names)
        qsort(names, corner_groups(), sizeof *names, compare_named);
    return names;
}

static void add(uint32_t *count, unsigned long n)
{
    *count = *count + n < UINT32_MAX ? (uint32_t)(*count + n) : UINT32_MAX;
}

static bool take_shapes(struct hits *h, const char *outer, const char *inner, unsigned long n)
{
    for (unsigned o = 0; o < GEN_SHAPES; o++)
        for (unsigned i = 0; i < GEN_SHAPES; i++)
            if (!strcmp(shape_text(o), outer) && !strcmp(shape_text(i), inner)) {
                add(&h->shape[o][i], n);
                return true;
            }
    return false;
}

/* "12<tab>mad_hi u32 a<tab>zero". Corners of another table of instructions are passed over. */
static bool take_line(struct hits *h, const struct named *names, char *line)
{
    char *end, *name, *class;
    struct named key;
    unsigned long n = strtoul(line, &end, 10);
    if (end == line || *end != '\t' || !(class = strchr(name = end + 1, '\t')))
        return false;
    *class ++= 0;
    class[strcspn(class, "\n")] = 0;
    if (!strncmp(name, "in ", 3))
        return take_shapes(h, name + 3, class, n);
    snprintf(key.name, sizeof key.name, "%s", name);
    const struct named *found = bsearch(&key, names, corner_groups(), sizeof *names, compare_named);
    for (unsigned c = 0; found && c < CORNER_CLASSES; c++)
        if (!strcmp(class, corner_class_text(c)) && is_corner(found->group, c))
            add(&h->corner[found->group * CORNER_CLASSES + c], n);
    return true;
}

bool hits_read(struct hits *h, const char *path)
{
    char line[2 * NAME + HEAD_BYTES];
    FILE *file = fopen(path, "r");
    if (!file) {
        if (errno != ENOENT)
            perror(path);
        return errno == ENOENT;
    }
    struct named *names = sort_names();
    bool ok = names && fgets(line, sizeof line, file) && !strcmp(line, head);
    while (ok && fgets(line, sizeof line, file))
        ok = take_line(h, names, line);
    if (!ok)
        fprintf(stderr, "ptera fuzz: %s: no table of corners\n", path);
    free(names);
    fclose(file);
    return ok;
}

/* ---- a campaign ------------------------------------------------------------------------------ */

void hits_add_shapes(struct hits *h, const struct gen_kernel *k)
{
    for (unsigned o = 0; o < GEN_SHAPES; o++)
        for (unsigned i = 0; i < GEN_SHAPES; i++)
            if (k->shape[o][i])
                add(&h->shape[o][i], 1);
}

void hits_choose(struct hits *h, uint64_t random, const struct hits_part *part,
                 struct gen_wishes *wishes)
{
    size_t n = corners_of(), at = n ? random % n : 0;
    wishes->n = 0;
    for (size_t i = 0; i < n && wishes->n < GEN_WISHES; i++, at = (at + 1) % n) {
        unsigned group = (unsigned)(at / CORNER_CLASSES), class = (unsigned)(at % CORNER_CLASSES);
        if (at % part->size != part->rank || h->corner[at] || !is_corner(group, class) ||
            h->tried[at] == TRIES || wish_why_not(corner_group_at(group), class) ||
            (!part->for_ptera && wish_is_own(corner_group_at(group), class)))
            continue;
        h->tried[at]++;
        wishes->v[wishes->n++] = (struct gen_wish){corner_group_at(group), class};
    }
}

/* ---- the report ------------------------------------------------------------------------------ */

struct share {
    const char *chapter;
    unsigned hit, possible, all;
};

enum { CHAPTERS_MOST = 32 };

static struct share *share_of(struct share *shares, const char *chapter)
{
    unsigned i = 0;
    while (i + 1 < CHAPTERS_MOST && shares[i].chapter && strcmp(shares[i].chapter, chapter))
        i++;
    shares[i].chapter = chapter;
    return &shares[i];
}

static double percent(unsigned n, unsigned of)
{
    return of ? 100.0 * n / of : 100;
}

static void print_share(const char *what, const struct share *s)
{
    printf("%-9s %6u hit of %6u (%5.1f %%), of %6u that kernels can have (%5.1f %%)\n", what,
           s->hit, s->all, percent(s->hit, s->all), s->possible, percent(s->hit, s->possible));
}

static void print_shares(const struct hits *h)
{
    struct share shares[CHAPTERS_MOST] = {0}, sum = {0};
    for (unsigned g = 0; g < corner_groups(); g++) {
        struct share *s = share_of(shares, pt_op_chapter(corner_group_at(g)->op));
        for (unsigned c = 0; c < CORNER_CLASSES; c++)
            if (is_corner(g, c)) {
                bool is_hit = h->corner[g * CORNER_CLASSES + c];
                s->all++, s->hit += is_hit;
                s->possible += is_hit || !wish_why_not(corner_group_at(g), c);
            }
    }
    for (unsigned i = 0; i < CHAPTERS_MOST && shares[i].chapter; i++) {
        print_share(shares[i].chapter, &shares[i]);
        sum.hit += shares[i].hit, sum.all += shares[i].all, sum.possible += shares[i].possible;
    }
    print_share("corners", &sum);
}

static void print_shapes(const struct hits *h)
{
    unsigned hit = 0, all = 0;
    for (unsigned o = 0; o < GEN_SHAPES; o++)
        for (unsigned i = 0; i < GEN_SHAPES; i++)
            if (h->shape[o][i] || shape_fits(o, i))
                all++, hit += h->shape[o][i] != 0;
    printf("shapes    %6u hit of %6u, one in another (%5.1f %%)\n", hit, all, percent(hit, all));
    for (unsigned o = 0; o < GEN_SHAPES; o++)
        for (unsigned i = 0; i < GEN_SHAPES; i++)
            if (!h->shape[o][i] && shape_fits(o, i))
                printf("  no %s in a %s\n", shape_text(i), shape_text(o));
}

/* A line for each operand of which something was missed. */
static void print_missed(const struct hits *h)
{
    char name[NAME];
    for (unsigned g = 0; g < corner_groups(); g++) {
        const char *last = NULL;
        corner_print_group(corner_group_at(g), name);
        for (unsigned c = 0; c < CORNER_CLASSES; c++) {
            if (!is_corner(g, c) || h->corner[g * CORNER_CLASSES + c])
                continue;
            const char *why = wish_why_not(corner_group_at(g), c);
            why = why ? why : "not hit yet";
            if (why != last)
                printf("%s  %s: %s: %s", last ? "\n" : "", name, why, corner_class_text(c));
            else
                printf(", %s", corner_class_text(c));
            last = why;
        }
        if (last)
            putchar('\n');
    }
}

bool hits_report(char **paths, unsigned n)
{
    struct hits h;
    bool ok = n && hits_open(&h);
    if (!ok)
        fputs("ptera fuzz: --corners-report takes tables of corners\n", stderr);
    for (unsigned i = 0; ok && i < n; i++)
        if (access(paths[i], R_OK) != 0 || !hits_read(&h, paths[i])) {
            fprintf(stderr, "ptera fuzz: %s: cannot be read\n", paths[i]);
            ok = false;
        }
    if (ok) {
        print_missed(&h);
        print_shapes(&h);
        print_shares(&h);
    }
    if (n)
        hits_close(&h);
    return ok;
}
