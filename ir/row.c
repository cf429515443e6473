/* The compiler of isa.def's syntax lines into lines, elements, variants and slots, and what reads
 * them. */
#include "ir/row.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is compiled ------------------------------------------------------------------------ */

static const struct {
    const char *name, *members;
} sets[] = {
#define SET(name, members) {#name, members},
#include "ir/mod.def"
};

static const struct {
    const char *mnemonic, *words;
} opcode_words[] = {
#define OPCODE(mnemonic, words) {#mnemonic, words},
#include "ir/mod.def"
};

static const struct {
    const char *name, *members;
} target_sets[] = {
#define TARGETS(name, members) {#name, members},
#include "ir/target.def"
};

/* Every syntax line, with its limits as text. */
static const struct {
    const char *syntax, *ptx, *sm;
    uint16_t op;
} sources[] = {
#define ROW(id, syntax, shape, effects, jit, ptx, sm) {syntax, #ptx, #sm, PT_OP_##id},
#define ALSO(id, syntax, ptx, sm) {syntax, #ptx, #sm, PT_OP_##id},
#include "ir/isa.def"
};

/* ---- the compiler of syntax lines ------------------------------------------------------------ */

enum {
    MAX_LINES = 4096,
    MAX_ELEMS = 32768,
    MAX_ALTS = 65536,
    MAX_VARIANTS = 12288,
    MAX_SLOTS = 32768,
    MAX_MNEMONICS = 512,
    HASH_SIZE = 2048,
    MAX_OPERANDS = 16
};

static struct pt_line lines[MAX_LINES];
static struct pt_elem elems[MAX_ELEMS];
static struct pt_alt alts[MAX_ALTS];
static struct {
    uint16_t slot, n;
} variants[MAX_VARIANTS];
static struct pt_slot slots[MAX_SLOTS];
static struct {
    const char *name;
    uint32_t len;
    uint16_t line, n;
} mnemonics[MAX_MNEMONICS];
static unsigned n_lines, n_elems, n_alts, n_variants, n_slots, n_mnemonics;
static uint16_t line_order[MAX_LINES]; /* lines by mnemonic, in table order */
static char table_error[256];

static void fail(const char *syntax, const char *what, const char *at)
{
    if (!*table_error)
        snprintf(table_error, sizeof table_error, "%s: %s at '%.20s'", syntax, what, at);
}

static unsigned take(unsigned *n, unsigned max, const char *what)
{
    if (*n < max)
        return (*n)++;
    fail(what, "the table is full", "");
    return max - 1;
}

/* One name table for modifiers, types, vectors and special registers: open addressing, built
 * once. */
static struct name {
    const char *s;
    uint32_t len;
    uint16_t token;
} token_hash[HASH_SIZE], set_hash[HASH_SIZE], sreg_hash[HASH_SIZE];

static uint32_t hash_of(const char *s, uint32_t len)
{
    uint32_t h = 2166136261u;
    for (uint32_t i = 0; i < len; i++)
        h = (h ^ (uint8_t)s[i]) * 16777619u;
    return h ^ h >> 15;
}

static struct name *name_find(struct name *table, const char *s, uint32_t len)
{
    uint32_t i = hash_of(s, len) % HASH_SIZE;
    while (table[i].s && (table[i].len != len || memcmp(table[i].s, s, len)))
        i = (i + 1) % HASH_SIZE;
    return &table[i];
}

static void name_add(struct name *table, const char *s, unsigned token)
{
    struct name *n = name_find(table, s, (uint32_t)strlen(s));
    if (n->s)
        fail(s, "two tokens of one name", s);
    *n = (struct name){s, (uint32_t)strlen(s), (uint16_t)token};
}

static const char *set_find(const char *s, size_t len)
{
    const struct name *name = name_find(set_hash, s, (uint32_t)len);
    return name->s ? sets[name->token].members : NULL;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == ':';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static uint64_t targets_between(long lo, long hi)
{
    uint64_t set = 0;
    for (unsigned i = 0; i < pt_n_targets; i++)
        if (pt_targets[i].sm >= lo && pt_targets[i].sm <= hi)
            set |= UINT64_C(1) << i;
    return set;
}

static uint64_t target_one(long sm, uint8_t feature, const char *at)
{
    if (!pt_target_is_known((uint16_t)sm, feature))
        fail("target", "no such target", at);
    return UINT64_C(1) << pt_target_find((uint16_t)sm, feature);
}

static uint64_t target_set(const char *name, size_t len)
{
    for (unsigned i = 0; i < sizeof target_sets / sizeof *target_sets; i++) {
        const char *s = target_sets[i].members;
        if (strlen(target_sets[i].name) != len || memcmp(target_sets[i].name, name, len))
            continue;
        uint64_t set = 0;
        while (*s) {
            char *end;
            long sm = strtol(s, &end, 10);
            set |= target_one(sm, *end == ' ' || !*end ? 0 : (uint8_t)*end, s);
            s = end + strcspn(end, " ");
            s += *s == ' ';
        }
        return set;
    }
    fail("target", "no such set of targets", name);
    return 0;
}

/* 80, 10-13, 90a or a set's name; returns the end. */
static const char *parse_targets(const char *s, uint64_t *targets)
{
    if (!is_digit(*s)) {
        size_t n = 0;
        while (is_word(s[n]))
            n++;
        *targets = target_set(s, n);
        return s + n;
    }
    char *end;
    long lo = strtol(s, &end, 10);
    if (*end == 'a' || *end == 'f') {
        *targets = target_one(lo, (uint8_t)*end, s);
        return end + 1;
    }
    if (*end == '-') {
        long hi = strtol(end + 1, &end, 10);
        *targets = targets_between(lo, hi);
    } else {
        *targets = targets_between(lo, 9999);
    }
    return end;
}

/* 7.8, or 78 in the columns. */
static const char *parse_version(const char *s, uint16_t *v)
{
    char *end;
    long n = strtol(s, &end, 10);
    if (*end == '.' && is_digit(end[1])) {
        n = n * 10 + (end[1] - '0');
        end += 2;
    }
    *v = (uint16_t)n;
    return end;
}

static const char *parse_versions(const char *s, struct pt_when *when)
{
    s = parse_version(s, &when->ptx_lo);
    if (*s == '-')
        s = parse_version(s + 1, &when->ptx_hi);
    return s;
}

static const struct pt_when always = {UINT64_MAX, 0, UINT16_MAX};

/* @SM/PTX behind an alternative, if there is one. */
static const char *parse_when(const char *s, struct pt_when *when)
{
    *when = always;
    if (*s != '@')
        return s;
    s++;
    if (*s != '/')
        s = parse_targets(s, &when->targets);
    if (*s == '/')
        s = parse_versions(s + 1, when);
    return s;
}

static const char *parse_alts(const char *syntax, const char *s, const struct pt_alt *outer,
                              unsigned depth);

/* x, x.y, a set or x.set, with its limits; `outer` holds what stands before the set that is being
 * expanded. */
static const char *parse_alt(const char *syntax, const char *s, const struct pt_alt *outer,
                             unsigned depth, bool alone)
{
    struct pt_alt alt = *outer;
    const char *members = NULL;
    do {
        s += *s == '.';
        size_t len = 0;
        while (is_word(s[len]))
            len++;
        uint16_t t = pt_token_find(s, (uint32_t)len);
        members = t ? NULL : len == 3 && !memcmp(s, "vec", 3) ? "v2|v4|v8" : set_find(s, len);
        if (!members && !t)
            fail(syntax, "no such modifier, type or set", s);
        if (alt.n == PT_ALT_TOKENS || (members && (depth > 4 || (s[len] == '.' && !alone))))
            fail(syntax, "too much in one alternative", s);
        else if (!members)
            alt.token[alt.n++] = t;
        s += len;
    } while (*s == '.' && !alone && !*table_error);
    s = parse_when(s, &alt.when);
    pt_when_narrow(&alt.when, &outer->when);
    if (members)
        parse_alts(syntax, members, &alt, depth + 1);
    else
        alts[take(&n_alts, MAX_ALTS, "alternatives")] = alt;
    return s;
}

static const char *parse_alts(const char *syntax, const char *s, const struct pt_alt *outer,
                              unsigned depth)
{
    s = parse_alt(syntax, s, outer, depth, false);
    while (*s == '|' && !*table_error)
        s = parse_alt(syntax, s + 1, outer, depth, false);
    return s;
}

/* Elements up to the space before the operands. */
static const char *parse_elems(struct pt_line *line, const char *s)
{
    const struct pt_alt none = {.when = always};
    line->elem = (uint16_t)n_elems;
    while ((*s == '.' || *s == '{') && !*table_error) {
        struct pt_elem *elem = &elems[take(&n_elems, MAX_ELEMS, "elements")];
        elem->is_optional = *s == '{';
        elem->first = (uint16_t)n_alts;
        bool braces = elem->is_optional || s[1] == '{';
        if (braces)
            s = parse_alts(line->syntax, s + (*s == '.') + 1, &none, 0);
        else
            s = parse_alt(line->syntax, s, &none, 0, true);
        elem->n = (uint16_t)(n_alts - elem->first);
        if (braces && *s++ != '}')
            fail(line->syntax, "} missing", s);
    }
    line->n_elems = (uint16_t)(n_elems - line->elem);
    if (*s && *s != ' ')
        fail(line->syntax, "elements", s);
    if (line->n_elems > PT_LINE_ELEMS)
        fail(line->syntax, "too many elements", s);
    return s + (*s == ' ');
}

/* ---- operands of a syntax line */

struct operands {
    struct pt_slot slot[MAX_OPERANDS];
    uint32_t groups[MAX_OPERANDS]; /* optional groups that must be there */
    uint32_t
        pair_group[MAX_OPERANDS];  /* PAIR: the group of its second part, 0 if it must be there */
    uint32_t parent[MAX_OPERANDS]; /* of group i: the groups around it */
    unsigned n, n_groups;
};

static const struct {
    const char *name;
    uint8_t kind;
} kinds[] = {
    {"imm", PT_SLOT_IMM},     {"fimm", PT_SLOT_FIMM},      {"sreg", PT_SLOT_SREG},
    {"addr", PT_SLOT_ADDR},   {"label", PT_SLOT_LABEL},    {"func", PT_SLOT_FUNC},
    {"table", PT_SLOT_TABLE}, {"sink", PT_SLOT_SINK_ONLY},
};

static const char *parse_values(const char *syntax, const char *s, struct pt_slot *slot)
{
    unsigned n = 0;
    do {
        char *end;
        long v = strtol(s + 1, &end, 0);
        if (n == 4 || end == s + 1)
            fail(syntax, "values", s);
        else
            slot->value[n++] = (int32_t)v;
        s = end;
        if (s[0] == '.' && s[1] == '.') {
            slot->value[1] = (int32_t)strtol(s + 2, &end, 0);
            slot->value[2] = 1;
            slot->n_values = 2;
            s = end;
            if (*s == '/')
                slot->value[2] = (int32_t)strtol(s + 1, (char **)&s, 0);
            break;
        }
        slot->n_values = (uint8_t)(PT_SLOT_ONE_OF | n);
    } while (*s == '|');
    if (*s != ')')
        fail(syntax, ") missing", s);
    return s + 1;
}

static const char *parse_slot_type(const char *syntax, const char *s, struct pt_slot *slot)
{
    size_t len = 0;
    while (is_word(s[len]) && s[len] != ':')
        len++;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i].name) == len && !memcmp(kinds[i].name, s, len)) {
            slot->kind = kinds[i].kind;
            s += len;
            return *s == '(' ? parse_values(syntax, s, slot) : s;
        }
    uint16_t token = pt_token_find(s, (uint32_t)len);
    if (token & PT_TOKEN_TYPE)
        slot->type = (uint8_t)(token & 0xff);
    else if (len == 2 && s[0] == 't' && is_digit(s[1]))
        slot->type = (uint8_t)(PT_SLOT_TYPE_NTH + (s[1] - '0'));
    else if (len == 2 && s[0] == 'u' && is_digit(s[1]))
        slot->type = (uint8_t)(PT_SLOT_TYPE_BITS + (s[1] - '0'));
    else if (len == 1 && *s == 'w')
        slot->type = PT_SLOT_TYPE_DOUBLE;
    else if (len == 1 && *s == 'h')
        slot->type = PT_SLOT_TYPE_HALF;
    else if (len == 1 && *s == 'o')
        slot->type = PT_SLOT_TYPE_QUARTER;
    else
        fail(syntax, "no such operand type", s);
    s += len;
    return *s == '(' ? parse_values(syntax, s, slot) : s;
}

/* Behind `*`: the count of a vector. */
static const char *parse_count(const char *s, struct pt_slot *slot)
{
    if (is_digit(*s)) {
        char *end;
        long n = strtol(s, &end, 10);
        if (*end != '/' && !(*end >= 'a' && *end <= 'z')) {
            slot->value[0] = slot->value[1] = (int32_t)n;
            if (end[0] == '.' && end[1] == '.')
                slot->value[1] = (int32_t)strtol(end + 2, &end, 10);
            return end;
        }
    } else if (!(*s >= 'a' && *s <= 'z')) {
        slot->value[0] = 1;
        slot->value[1] = 255;
        return s;
    }
    slot->count = s;
    while ((is_word(*s) && *s != ':') || *s == '/' || *s == '-')
        s++;
    return s;
}

/* Turns a slot into the element of a new vector slot. `first`: the type of the first element if it
 * has one of its own, else PT_TYPE_NONE. */
static void wrap_vector(struct pt_slot *slot, uint8_t first)
{
    struct pt_slot elem = *slot;
    elem.flags = (uint16_t)(slot->flags & ~(PT_SLOT_BY_VEC));
    elem.count = NULL;
    memset(elem.value, 0, sizeof elem.value);
    slot->kind = PT_SLOT_VEC;
    slot->sub = (uint16_t)n_slots;
    slot->n_sub = first ? 2 : 1;
    slot->n_values = 0;
    if (first) {
        unsigned sub = take(&n_slots, MAX_SLOTS, "slots");
        slots[sub] = elem;
        slots[sub].type = first;
    }
    slots[take(&n_slots, MAX_SLOTS, "slots")] = elem;
}

static const char *parse_mem(const char *syntax, const char *s, struct pt_slot *slot);

/* A value: prefixes, letter, suffixes. */
static const char *parse_value(const char *syntax, const char *s, struct pt_slot *slot)
{
    *slot = (struct pt_slot){.kind = PT_SLOT_VALUE};
    if (*s == '[')
        return parse_mem(syntax, s, slot);
    char close = *s == '{' ? '}' : *s == '(' ? ')' : 0;
    s += close != 0;
    for (;; s++) {
        if (*s == '%')
            slot->kind = PT_SLOT_REG;
        else if (*s == '!')
            slot->flags |= PT_SLOT_NOT;
        else if (*s == '-')
            slot->flags |= PT_SLOT_MINUS;
        else
            break;
    }
    slot->name = *s++;
    bool is_pred = slot->name == 'p' || slot->name == 'q';
    if (is_pred || slot->name == 'd' || slot->name == 'x')
        slot->flags |= PT_SLOT_DEST;
    if (slot->name == 'x')
        slot->flags |= PT_SLOT_INOUT;
    slot->type = is_pred                      ? PT_pred
                 : slot->flags & PT_SLOT_DEST ? PT_SLOT_TYPE_NTH
                                              : PT_SLOT_TYPE_LAST;
    bool is_vec = false, is_typed = false;
    uint8_t first = PT_TYPE_NONE;
    for (;; s++) {
        if (*s == '?')
            slot->flags |= PT_SLOT_SINK;
        else if (*s == '+')
            slot->flags |= PT_SLOT_WIDER;
        else if (*s == '~') {
            slot->flags |= slot->flags & PT_SLOT_SELECT ? PT_SLOT_SELECTED : PT_SLOT_SELECT;
            slot->parts = s[1] == '2' || s[1] == '4' ? (uint8_t)(*++s - '0') : 1;
        } else if (*s == ':') {
            if (is_typed)
                first = slot->type;
            is_typed = true;
            s = parse_slot_type(syntax, s + 1, slot) - 1;
        } else if (*s == '*' && (is_vec = true))
            s = parse_count(s + 1, slot) - 1;
        else
            break;
    }
    if (close && *s++ != close)
        fail(syntax, "closing bracket missing", s);
    if (close == '}') {
        slot->flags |= PT_SLOT_BY_VEC;
        /* a suffix behind the brace, as in {d}:b32 */
        while (*s == ':' || *s == '+' || *s == '?') {
            if (*s == ':')
                s = parse_slot_type(syntax, s + 1, slot);
            else
                slot->flags |= *s++ == '+' ? PT_SLOT_WIDER : PT_SLOT_SINK;
        }
    }
    if (close == ')')
        slot->kind = PT_SLOT_LIST;
    if (is_vec || close == '}')
        wrap_vector(slot, first);
    return s;
}

static const char *parse_mem(const char *syntax, const char *s, struct pt_slot *slot)
{
    struct pt_slot part[8];
    unsigned n = 0;
    do {
        s = parse_value(syntax, s + 1, &part[n++]);
    } while (*s == ',' && n < 8);
    if (*s++ != ']')
        fail(syntax, "] missing", s);
    *slot = (struct pt_slot){.kind = PT_SLOT_MEM, .name = part[0].name, .n_sub = (uint8_t)n};
    slot->sub = (uint16_t)n_slots;
    for (unsigned i = 0; i < n; i++)
        slots[take(&n_slots, MAX_SLOTS, "slots")] = part[i];
    return s;
}

static const char *parse_operand(const char *syntax, const char *s, struct operands *o,
                                 uint32_t groups)
{
    unsigned i = o->n;
    if (i == MAX_OPERANDS) {
        fail(syntax, "too many operands", s);
        return s + strlen(s);
    }
    o->n++;
    o->groups[i] = groups;
    s = parse_value(syntax, s, &o->slot[i]);
    bool optional = s[0] == '{' && s[1] == '|';
    if (*s != '|' && !optional)
        return s;
    struct pt_slot part[2] = {o->slot[i]};
    s = parse_value(syntax, s + 1 + optional, &part[1]);
    if (optional && *s++ != '}')
        fail(syntax, "} missing", s);
    o->slot[i] = (struct pt_slot){.kind = PT_SLOT_PAIR, .flags = PT_SLOT_DEST, .n_sub = 2};
    o->slot[i].name = part[0].name;
    o->slot[i].sub = (uint16_t)n_slots;
    slots[take(&n_slots, MAX_SLOTS, "slots")] = part[0];
    slots[take(&n_slots, MAX_SLOTS, "slots")] = part[1];
    if (optional)
        o->pair_group[i] = UINT32_C(1) << o->n_groups++;
    return s;
}

static void parse_operands(const char *syntax, const char *s, struct operands *o)
{
    uint32_t open[MAX_OPERANDS];
    unsigned depth = 0;
    uint32_t groups = 0;
    bool expect = *s != 0;
    while (*s && !*table_error) {
        if (expect) {
            s = parse_operand(syntax, s, o, groups);
            expect = false;
        } else if (*s == ',') {
            s++;
            expect = true;
        } else if (s[0] == '{' && s[1] == ',' && depth < MAX_OPERANDS) {
            open[depth++] = groups;
            o->parent[o->n_groups] = groups;
            groups |= UINT32_C(1) << o->n_groups++;
            s++;
        } else if (*s == '}' && depth) {
            groups = open[--depth];
            s++;
        } else {
            fail(syntax, "operands", s);
        }
    }
    if (depth || o->n_groups > 6)
        fail(syntax, "optional operands", s);
}

/* One variant for every consistent choice of the optional groups. */
static void add_variants(struct pt_line *line, const struct operands *o)
{
    line->variant = (uint16_t)n_variants;
    for (uint32_t choice = 0; choice < UINT32_C(1) << o->n_groups; choice++) {
        bool consistent = true;
        for (unsigned g = 0; g < o->n_groups; g++)
            if ((choice >> g & 1) && (o->parent[g] & ~choice))
                consistent = false;
        if (!consistent)
            continue;
        unsigned v = take(&n_variants, MAX_VARIANTS, "variants");
        variants[v].slot = (uint16_t)n_slots;
        for (unsigned i = 0; i < o->n; i++) {
            if (o->groups[i] & ~choice)
                continue;
            struct pt_slot slot = o->slot[i];
            if (o->pair_group[i] & ~choice)
                slot = slots[slot.sub];
            slots[take(&n_slots, MAX_SLOTS, "slots")] = slot;
            variants[v].n++;
        }
    }
    line->n_variants = (uint16_t)(n_variants - line->variant);
}

static unsigned mnemonic_add(const char *s, uint32_t len)
{
    for (unsigned i = 0; i < n_mnemonics; i++)
        if (mnemonics[i].len == len && !memcmp(mnemonics[i].name, s, len))
            return i;
    unsigned i = take(&n_mnemonics, MAX_MNEMONICS, "mnemonics");
    mnemonics[i].name = s;
    mnemonics[i].len = len;
    return i;
}

static void compile_line(unsigned i)
{
    struct pt_line *line = &lines[take(&n_lines, MAX_LINES, "lines")];
    line->syntax = sources[i].syntax;
    line->op = sources[i].op;
    line->when = always;
    parse_versions(sources[i].ptx, &line->when);
    parse_targets(sources[i].sm, &line->when.targets);
    size_t len = strcspn(line->syntax, ".{ ");
    line->mnemonic = (uint16_t)mnemonic_add(line->syntax, (uint32_t)len);
    const char *s = parse_elems(line, line->syntax + len);
    for (unsigned e = 0; e < line->n_elems; e++)
        for (unsigned a = 0; a < elems[line->elem + e].n; a++) {
            const struct pt_alt *alt = &alts[elems[line->elem + e].first + a];
            for (unsigned t = 0; t < alt->n; t++)
                line->words |= pt_token_bit(alt->token[t]);
        }
    struct operands operands = {.n = 0};
    parse_operands(line->syntax, s, &operands);
    add_variants(line, &operands);
}

static struct name mnemonic_hash[HASH_SIZE];

static void index_lines(void)
{
    unsigned at = 0;
    for (unsigned m = 0; m < n_mnemonics; m++) {
        mnemonics[m].line = (uint16_t)at;
        for (unsigned i = 0; i < n_lines; i++)
            if (lines[i].mnemonic == m)
                line_order[at++] = (uint16_t)i;
        mnemonics[m].n = (uint16_t)(at - mnemonics[m].line);
        struct name *n = name_find(mnemonic_hash, mnemonics[m].name, mnemonics[m].len);
        *n = (struct name){mnemonics[m].name, mnemonics[m].len, (uint16_t)m};
    }
}

static void compile_table(void)
{
    for (unsigned i = 1; i < PT_M_COUNT; i++)
        name_add(token_hash, pt_mod_spelling(i), i);
    for (unsigned i = 1; i < PT_TYPE_COUNT; i++)
        name_add(token_hash, pt_type_name(i), PT_TOKEN_TYPE | i);
    name_add(token_hash, "v2", PT_TOKEN_VEC | 2);
    name_add(token_hash, "v4", PT_TOKEN_VEC | 4);
    name_add(token_hash, "v8", PT_TOKEN_VEC | 8);
    for (unsigned i = 1; i < PT_SREG_COUNT; i++)
        name_add(sreg_hash, pt_sreg_spelling(i), i);
    for (unsigned i = 0; i < sizeof sets / sizeof *sets; i++) {
        if (name_find(token_hash, sets[i].name, (uint32_t)strlen(sets[i].name))->s)
            fail(sets[i].name, "a set has a token's name", "");
        name_add(set_hash, sets[i].name, i);
    }
    for (unsigned i = 0; i < sizeof sources / sizeof *sources; i++)
        compile_line(i);
    index_lines();
}

static void compile_once(void)
{
    static pthread_once_t once =
        PTHREAD_ONCE_INIT; /* the thread sanitizer does not see what call_once orders */
    pthread_once(&once, compile_table);
}

/* ---- reading the compiled table -------------------------------------------------------------- */

const char *pt_isa_check(void)
{
    compile_once();
    return *table_error ? table_error : NULL;
}

enum pt_sreg pt_sreg_find(const char *name, uint32_t len)
{
    compile_once();
    return name_find(sreg_hash, name, len)->token;
}

uint16_t pt_token_find(const char *s, uint32_t len)
{
    return name_find(token_hash, s, len)->token;
}

bool pt_token_is_opcode(uint16_t token, const char *mnemonic, uint32_t len)
{
    if (token >= PT_M_COUNT)
        return false;
    size_t n = strlen(pt_mod_spelling(token));
    for (unsigned i = 0; i < sizeof opcode_words / sizeof *opcode_words; i++) {
        if (strlen(opcode_words[i].mnemonic) != len ||
            memcmp(opcode_words[i].mnemonic, mnemonic, len))
            continue;
        for (const char *w = opcode_words[i].words; *w; w += *w == ' ') {
            size_t word = strcspn(w, " ");
            if (word == n && !memcmp(w, pt_mod_spelling(token), n))
                return true;
            w += word;
        }
    }
    return false;
}

bool pt_token_is_repeatable(uint16_t token)
{
    if (token >= PT_M_COUNT)
        return false;
    size_t n = strlen(pt_mod_spelling(token));
    for (const char *w = set_find("repeatable", strlen("repeatable")); *w; w += *w == '|') {
        size_t word = strcspn(w, "|");
        if (word == n && !memcmp(w, pt_mod_spelling(token), n))
            return true;
        w += word;
    }
    return false;
}

void pt_token_name(uint16_t token, char buf[64])
{
    if (token & PT_TOKEN_VEC)
        snprintf(buf, 64, ".v%d", token & 0xff);
    else if (token & PT_TOKEN_TYPE)
        snprintf(buf, 64, ".%s", pt_type_name(token & 0xff));
    else
        snprintf(buf, 64, ".%s", pt_mod_spelling(token));
}

unsigned pt_lines_find(const char *mnemonic, uint32_t len, unsigned *n)
{
    compile_once();
    const struct name *name = name_find(mnemonic_hash, mnemonic, len);
    *n = name->s ? mnemonics[name->token].n : 0;
    return name->s ? mnemonics[name->token].line : 0;
}

const struct pt_line *pt_line_at(unsigned index)
{
    return &lines[line_order[index]];
}

unsigned pt_line_total(void)
{
    compile_once();
    return n_lines;
}

const struct pt_elem *pt_line_elem(const struct pt_line *line, unsigned i)
{
    return &elems[line->elem + i];
}

const struct pt_alt *pt_elem_alt(const struct pt_elem *elem, unsigned i)
{
    return &alts[elem->first + i];
}

unsigned pt_variant_operands(unsigned variant)
{
    return variants[variant].n;
}

unsigned pt_form_operands(const struct pt_form *form)
{
    return variants[form->variant].n;
}

const struct pt_slot *pt_form_slot(const struct pt_form *form, unsigned operand)
{
    return &slots[variants[form->variant].slot + operand];
}

const struct pt_slot *pt_slot_sub(const struct pt_slot *slot, unsigned i)
{
    return &slots[slot->sub + (slot->kind == PT_SLOT_VEC ? i && slot->n_sub == 2 : i)];
}

/* The type of another width, of the same kind if it is an integer. */
static enum pt_type resized(enum pt_type type, unsigned bits)
{
    enum pt_type_class class = pt_type_class(type);
    for (unsigned t = PT_b8; t <= PT_s64 && (class == PT_CLASS_U || class == PT_CLASS_S); t++)
        if (pt_type_class(t) == class && pt_type_bits(t) == bits)
            return t;
    switch (bits) {
    case 8:
        return PT_b8;
    case 16:
        return PT_b16;
    case 32:
        return PT_b32;
    case 64:
        return PT_b64;
    case 128:
        return PT_b128;
    default:
        return PT_TYPE_NONE;
    }
}

enum pt_type pt_slot_type(const struct pt_slot *slot, const struct pt_form *form)
{
    switch (slot->kind) {
    case PT_SLOT_LABEL:
    case PT_SLOT_FUNC:
    case PT_SLOT_TABLE:
    case PT_SLOT_MEM:
    case PT_SLOT_PAIR:
    case PT_SLOT_LIST:
    case PT_SLOT_SINK_ONLY:
        return PT_TYPE_NONE;
    default:
        break;
    }
    if (slot->type < PT_SLOT_TYPE_NTH)
        return slot->type;
    if (slot->type < PT_SLOT_TYPE_LAST) {
        unsigned n = slot->type - PT_SLOT_TYPE_NTH;
        return n < form->n_types ? form->type[n] : PT_TYPE_NONE;
    }
    if (slot->type >= PT_SLOT_TYPE_BITS) {
        unsigned n = slot->type - PT_SLOT_TYPE_BITS;
        return n < form->n_types ? resized(PT_b8, pt_type_bits(form->type[n])) : PT_TYPE_NONE;
    }
    if (!form->n_types)
        return PT_TYPE_NONE;
    enum pt_type last = form->type[form->n_types - 1];
    switch (slot->type) {
    case PT_SLOT_TYPE_DOUBLE:
        return resized(last, 2 * pt_type_bits(last));
    case PT_SLOT_TYPE_HALF:
        return resized(last, pt_type_bits(last) / 2);
    case PT_SLOT_TYPE_QUARTER:
        return resized(last, pt_type_bits(last) / 4);
    default:
        return last;
    }
}

unsigned pt_form_number(const struct pt_form *form, char letter)
{
    for (unsigned i = 0; i < form->n_mods; i++) {
        const char *s = pt_mod_spelling(form->mod[i]);
        if (letter == 'd' && is_digit(s[0]) && s[1] == 'd' && !s[2])
            return (unsigned)(s[0] - '0');
        bool is_shape = *s == 'm' && is_digit(s[1]) && strchr(s, 'n');
        if (letter == 'x' ? !(*s == 'x' && is_digit(s[1])) : !is_shape)
            continue;
        s = strchr(s, letter);
        return s ? (unsigned)strtoul(s + 1, NULL, 10) : 0;
    }
    return 0;
}

void pt_slot_count(const struct pt_slot *slot, const struct pt_form *form, unsigned *lo,
                   unsigned *hi)
{
    *lo = (unsigned)slot->value[0];
    *hi = (unsigned)slot->value[1];
    if (slot->flags & PT_SLOT_BY_VEC)
        *lo = *hi = form->vec;
    if (!slot->count)
        return;
    unsigned n = 1;
    for (const char *s = slot->count; (is_word(*s) && *s != ':') || *s == '/' || *s == '-';) {
        char op = *s;
        s += op == '/' || op == '-';
        char *end = (char *)s + 1;
        unsigned v = is_digit(*s) ? (unsigned)strtoul(s, &end, 10) : pt_form_number(form, *s);
        if (op == '-')
            n -= v < n ? v : n;
        else
            n = op != '/' ? n * v : v ? (n + v - 1) / v : 0;
        s = end;
    }
    *lo = *hi = n;
}

const char *pt_mnemonic_near(const char *s, uint32_t len, uint32_t *near_len)
{
    compile_once();
    unsigned best = len / 3 + 2;
    const char *name = NULL;
    for (unsigned i = 0; i < n_mnemonics; i++) {
        unsigned d = pt_word_distance(s, len, mnemonics[i].name, mnemonics[i].len);
        if (d < best) {
            best = d;
            name = mnemonics[i].name;
            *near_len = mnemonics[i].len;
        }
    }
    return name;
}
