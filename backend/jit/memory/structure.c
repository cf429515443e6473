/* Arrays of structures: accesses through addresses a constant apart, of lanes at a constant stride.
 * Loads run where the first of them stands, stores where the last does: the units of memory that
 * they touch become columns (columns.c), of which elements are taken, or which are put together of
 * elements. Where some lanes are off each access runs by itself. */
#include "backend/jit/memory/structure.h"

#include <string.h>

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/bitset.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/memory/access.h"
#include "backend/jit/memory/columns.h"
#include "backend/jit/memory/prefetch.h"
#include "backend/jit/tune.h"
#include "backend/jit/value/registers.h"
#include "backend/jit/value/visit.h"
#include "backend/order.h"
#include "ir/bits.h"
#include "ir/insn.h"

enum { FIELDS = 24, WORD = 4, STRIDE_MOST = JIT_COLUMNS * WORD };

/* What an address is made of, as far as the text tells: base + (index + …) * scale + offset. */
struct form {
    uint32_t base, index; /* registers */
    uint64_t scale;       /* 0: no index */
    bool is_signed;
    int64_t offset;
};

/* An element of a lane's structure. */
struct field {
    uint32_t insn;
    unsigned value; /* of the instruction's */
    int64_t offset; /* bytes from the structure's first unit */
    unsigned bytes;
};

struct jit_structure {
    const struct jit_structure *next;
    uint32_t insns[FIELDS], n, at; /* `at`: where they run */
    struct jit_access first;       /* of insns[0] */
    struct form form;              /* likewise */
    int64_t offsets[FIELDS];       /* of the instructions' addresses */
    struct field fields[FIELDS];
    uint32_t n_fields;
    int64_t stride, origin; /* bytes; the offset of the first unit */
    struct jit_columns columns;
    bool is_word_tested; /* the first unit is to be as aligned as a word */
};

/* ---- addresses ------------------------------------------------------------------------------- */

static const struct pt_insn *def_of(const struct jit *j, const struct pt_operand *o)
{
    uint32_t def = o->kind == PT_OPND_REG ? j->facts->regs[o->index].def : UINT32_MAX;
    return def == UINT32_MAX ? NULL : &j->unit->f->insns.v[def];
}

/* Takes constants off that are added to the operand. */
static const struct pt_operand *strip(const struct jit *j, const struct pt_operand *o,
                                      int64_t *offset)
{
    for (const struct pt_insn *def; (def = def_of(j, o));) {
        const struct pt_form *form = pt_insn_form(j->unit->m, def);
        const struct pt_operand *sources = &j->unit->f->operands.v[def->operands];
        uint64_t by;
        if (form->op != PT_OP_add_int || !jit_def_use_constant(j->facts, &sources[2], &by))
            break;
        *offset += pt_type_bits((enum pt_type)form->type[0]) == 32 ? (int32_t)by : (int64_t)by;
        o = &sources[1];
    }
    return o;
}

/* The operand is an index of 32 bits made wide. */
static bool find_index(const struct jit *j, const struct pt_operand *o, struct form *f)
{
    const struct pt_insn *def = def_of(j, o);
    const struct pt_form *form = def ? pt_insn_form(j->unit->m, def) : NULL;
    bool is_product = form && form->op == PT_OP_mul_wide;
    if (!form || !(is_product || form->op == PT_OP_cvt_int) ||
        pt_type_bits((enum pt_type)form->type[is_product ? 0 : 1]) != 32)
        return false;
    const struct pt_operand *sources = &j->unit->f->operands.v[def->operands];
    uint64_t scale = 1;
    int64_t added = 0;
    if (is_product && !jit_def_use_constant(j->facts, &sources[2], &scale))
        return false;
    const struct pt_operand *index = strip(j, &sources[1], &added);
    if (index->kind != PT_OPND_REG)
        return false;
    f->index = index->index;
    f->scale = scale;
    f->is_signed = pt_type_class((enum pt_type)form->type[is_product ? 0 : 1]) == PT_CLASS_S;
    f->offset += added * (int64_t)scale;
    return true;
}

/* That an address is so is tested where two registers are compared. */
static struct form find_form(const struct jit *j, const struct pt_operand *address)
{
    struct form f = {.offset = address->imm};
    const struct pt_operand *o = strip(j, address, &f.offset);
    const struct pt_insn *def = def_of(j, o);
    f.base = o->index;
    if (!def || pt_insn_form(j->unit->m, def)->op != PT_OP_add_int)
        return f;
    const struct pt_operand *sources = &j->unit->f->operands.v[def->operands];
    for (unsigned k = 1; k < 3; k++)
        if (sources[3 - k].kind == PT_OPND_REG && find_index(j, &sources[k], &f)) {
            f.base = sources[3 - k].index;
            break;
        }
    return f;
}

static bool is_same_form(const struct form *a, const struct form *b)
{
    return a->base == b->base && a->scale == b->scale &&
           (!a->scale || (a->index == b->index && a->is_signed == b->is_signed));
}

/* ---- which accesses -------------------------------------------------------------------------- */

/* The instruction's access may be one of a structure. */
static bool may_join(const struct jit *j, uint32_t insn, struct jit_access *a, int64_t *stride)
{
    struct jit at = *j;
    jit_visit_insn(&at, insn);
    uint32_t effects = at.form->effects;
    return (effects & (PT_FX_READ | PT_FX_WRITE)) && !(effects & PT_FX_ATOMIC) && !at.insn->guard &&
           jit_access_is_trusted(&at) && !jit_access_interleaved(&at) &&
           jit_access_try_describe(&at, a) && a->base->kind == PT_OPND_REG &&
           a->order == PT_ORDER_PLAIN && a->bytes <= 8 &&
           jit_def_use_shape(j->facts, a->base, stride) == JIT_AFFINE &&
           *stride > (int64_t)(a->bytes * a->n) && *stride <= STRIDE_MOST;
}

static bool is_alike(const struct jit_access *a, const struct jit_access *b)
{
    return a->is_load == b->is_load && a->space == b->space && a->window == b->window &&
           a->is_constant == b->is_constant;
}

struct reach {
    int64_t low, high;
};

static struct reach reach_of(const struct jit_structure *s)
{
    struct reach r = {s->fields[0].offset, s->fields[0].offset};
    for (uint32_t i = 0; i < s->n_fields; i++) {
        const struct field *f = &s->fields[i];
        r.low = f->offset < r.low ? f->offset : r.low;
        r.high = f->offset + f->bytes > r.high ? f->offset + f->bytes : r.high;
    }
    return r;
}

static void add(struct jit_structure *s, uint32_t insn, const struct jit_access *a, int64_t offset)
{
    s->offsets[s->n] = offset;
    s->insns[s->n++] = insn;
    for (unsigned i = 0; i < a->n; i++)
        s->fields[s->n_fields++] = (struct field){
            .insn = insn, .value = i, .offset = offset + i * a->bytes, .bytes = a->bytes};
}

/* The element is in the structure, and no store is of what another one stores. */
static bool is_beside(const struct jit_structure *s, const struct jit_access *a, int64_t offset)
{
    struct reach r = reach_of(s);
    int64_t end = offset + a->bytes * a->n;
    if (s->n_fields + a->n > FIELDS || s->n == FIELDS ||
        (end > r.high ? end : r.high) - (offset < r.low ? offset : r.low) > s->stride)
        return false;
    for (uint32_t i = 0; !a->is_load && i < s->n_fields; i++)
        if (s->fields[i].offset < end && offset < s->fields[i].offset + s->fields[i].bytes)
            return false;
    return true;
}

/* Registers that instructions so far read or write; those that must stay: values and addresses of
 * stores. */
struct scan {
    uint64_t *seen, *kept;
    bool conflicts;
};

static void see(void *ud, uint32_t reg, bool is_def)
{
    struct scan *s = ud;
    s->conflicts |= is_def && jit_set_has(s->kept, reg);
    jit_set_add(s->seen, reg);
}

/* False: nothing behind the instruction joins. */
static bool pass(const struct jit *j, bool is_load, uint32_t insn, struct scan *s)
{
    const struct pt_insn *at = &j->unit->f->insns.v[insn];
    uint32_t effects = pt_insn_form(j->unit->m, at)->effects & ~(uint32_t)PT_FX_FP;
    pt_insn_regs(j->unit->m, j->unit->f, at, see, s);
    return !s->conflicts && !(is_load ? effects & ~(uint32_t)PT_FX_READ : effects);
}

/* What the load writes nobody has used so far; it is written from now on. */
static bool is_fresh(const struct jit_access *a, struct scan *s)
{
    for (unsigned i = 0; i < a->n; i++)
        if (a->values[i].kind != PT_OPND_REG || jit_set_has(s->seen, a->values[i].index))
            return false;
    return true;
}

static void keep(const struct jit_access *a, struct scan *s)
{
    uint64_t *set = a->is_load ? s->seen : s->kept;
    jit_set_add(s->kept, a->base->index);
    for (unsigned i = 0; i < a->n; i++)
        if (a->values[i].kind == PT_OPND_REG)
            jit_set_add(set, a->values[i].index);
}

/* The accesses that can run with the first of the instructions. */
static bool gather(const struct jit *j, const uint32_t *insns, uint32_t n, struct scan *scan,
                   struct jit_structure *s)
{
    size_t bytes = pt_bit_words(j->unit->f->regs.n) * sizeof(uint64_t);
    struct jit_access a;
    int64_t stride;
    memset(s, 0, sizeof *s);
    if (!may_join(j, insns[0], &s->first, &s->stride))
        return false;
    memset(scan->seen, 0, bytes);
    memset(scan->kept, 0, bytes);
    scan->conflicts = false;
    s->form = find_form(j, s->first.base);
    s->at = insns[0];
    add(s, insns[0], &s->first, s->form.offset);
    keep(&s->first, scan);
    for (uint32_t i = 1; i < n && i < JIT_STRUCTURE_INSNS; i++) {
        struct form f;
        if (may_join(j, insns[i], &a, &stride) && stride == s->stride && is_alike(&s->first, &a) &&
            (f = find_form(j, a.base), is_same_form(&s->form, &f)) && is_beside(s, &a, f.offset) &&
            (!a.is_load || is_fresh(&a, scan))) {
            add(s, insns[i], &a, f.offset);
            keep(&a, scan);
            s->at = a.is_load ? s->at : insns[i];
        } else if (!pass(j, s->first.is_load, insns[i], scan)) {
            break;
        }
    }
    return true;
}

/* ---- units ----------------------------------------------------------------------------------- */

static int64_t modulo(int64_t a, int64_t b)
{
    return (a % b + b) % b;
}

/* The offset of the first unit, and whether a word there is known to be aligned. */
static int64_t first_word(const struct jit_structure *s, struct reach r, bool *is_aligned)
{
    int64_t phase = r.high - r.low == s->stride ? modulo(r.low, WORD) : 0;
    *is_aligned = false;
    for (uint32_t i = 0; i < s->n_fields; i++)
        if (s->fields[i].bytes >= WORD) {
            phase = modulo(s->fields[i].offset, WORD);
            *is_aligned = true;
        }
    return r.low - modulo(r.low - phase, WORD);
}

/* All elements are that large, and so is the stride but for a factor. */
static bool is_of(const struct jit_structure *s, unsigned bytes)
{
    for (uint32_t i = 0; i < s->n_fields; i++)
        if (s->fields[i].bytes != bytes)
            return false;
    return s->stride % bytes == 0;
}

/* Bytes of units that elements have, as bits: of units that are stored, all. */
static bool set_wanted(struct jit_structure *s, unsigned unit)
{
    uint64_t touched = 0, all = (UINT64_C(1) << unit) - 1;
    for (uint32_t i = 0; i < s->n_fields; i++) {
        struct field *f = &s->fields[i];
        f->offset -= s->origin;
        if ((f->offset % unit && f->offset % unit + f->bytes > unit) ||
            f->offset + f->bytes > s->stride)
            return false;
        touched |= ((UINT64_C(1) << f->bytes) - 1) << f->offset;
    }
    for (unsigned k = 0; k * unit < STRIDE_MOST; k++) {
        uint64_t here = touched >> k * unit & all;
        if (!s->first.is_load && here && here != all)
            return false;
        s->columns.wanted |= (uint32_t)(here != 0) << k;
    }
    return s->columns.wanted >> s->columns.stride == 0;
}

/* The units that memory is accessed in. */
static bool find_units(struct jit_structure *s)
{
    struct reach r = reach_of(s);
    bool is_aligned = true;
    unsigned unit = WORD;
    s->origin = r.low;
    if (is_of(s, 8) && s->stride <= 32)
        unit = 8;
    else if (is_of(s, 2) && s->stride == 6)
        unit = 2;
    else if (is_of(s, 1) && s->stride == 3 && r.high - r.low == 3)
        unit = 3;
    else if (s->stride % WORD)
        return false;
    else
        s->origin = first_word(s, r, &is_aligned);
    s->columns.unit = unit;
    s->columns.stride = (unsigned)s->stride / unit;
    s->columns.align = 1;
    s->is_word_tested =
        unit == WORD && !is_aligned && (s->origin < r.low || (r.high - s->origin) % WORD);
    return set_wanted(s, unit);
}

/* Less than accesses one by one. */
static bool pays(const struct jit_structure *s)
{
    unsigned rows = jit_columns_rows(&s->columns);
    if (rows)
        return s->n_fields >= 2 * rows;
    if (s->n_fields > 1)
        return true;
    return s->first.bytes < WORD ? s->first.is_load : s->columns.stride == 3 && s->first.is_load;
}

static const struct jit_structure *find(const struct jit *j, uint32_t insn)
{
    for (const struct jit_structure *s = j->structures; s; s = s->next)
        for (uint32_t i = 0; i < s->n; i++)
            if (s->insns[i] == insn)
                return s;
    return NULL;
}

void jit_structure_find(struct jit *j, const uint32_t *insns, uint32_t n)
{
    size_t bytes = pt_bit_words(j->unit->f->regs.n) * sizeof(uint64_t);
    struct scan scan = {pt_arena_alloc(j->unit->arena, bytes),
                        pt_arena_alloc(j->unit->arena, bytes), false};
    struct jit_structure s;
    j->structures = NULL;
    if (jit_is_checked(j->unit)) /* each access stays behind its own check */
        return;
    for (uint32_t i = 0; i < n; i++) {
        if (find(j, insns[i]) || !gather(j, insns + i, n - i, &scan, &s) || !find_units(&s) ||
            !jit_columns_can_access(j, &s.columns, s.first.is_load) || !pays(&s))
            continue;
        s.next = j->structures;
        struct jit_structure *kept = pt_arena_alloc(j->unit->arena, sizeof s);
        *kept = s;
        j->structures = kept;
    }
}

/* ---- tests ----------------------------------------------------------------------------------- */

static LLVMValueRef address_of(const struct jit *j, uint32_t insn, unsigned copy, int64_t more)
{
    struct jit_access a;
    struct jit at = *j;
    jit_visit_insn(&at, insn);
    jit_access_describe(&at, &a);
    LLVMValueRef address = jit_access_address(&at, &a, copy, 1);
    return LLVMBuildAdd(j->code->b, address, jit_const(LLVMTypeOf(address), (uint64_t)more), "");
}

static LLVMValueRef and_if(const struct jit *j, LLVMValueRef all, LLVMValueRef one)
{
    return all ? LLVMBuildAnd(j->code->b, all, one, "") : one;
}

static LLVMValueRef test_copy(const struct jit *j, const struct jit_structure *s, unsigned copy,
                              LLVMValueRef all)
{
    LLVMValueRef begin = address_of(j, s->insns[0], copy, s->origin - s->offsets[0]);
    for (uint32_t i = 1; i < s->n; i++)
        if (jit_access_base_of(j, s->insns[i])->index != s->first.base->index) {
            LLVMValueRef same = address_of(j, s->insns[i], copy, s->origin - s->offsets[i]);
            all = and_if(j, all, LLVMBuildICmp(j->code->b, LLVMIntEQ, begin, same, ""));
        }
    if (!s->is_word_tested)
        return all;
    LLVMTypeRef type = LLVMTypeOf(begin);
    LLVMValueRef low = LLVMBuildAnd(j->code->b, begin, jit_const(type, WORD - 1), "");
    return and_if(j, all, LLVMBuildICmp(j->code->b, LLVMIntEQ, low, LLVMConstNull(type), ""));
}

LLVMValueRef jit_structure_test(const struct jit *j, LLVMValueRef all)
{
    for (const struct jit_structure *s = j->structures; s; s = s->next)
        for (unsigned u = 0; u < j->facts->copies; u++)
            all = test_copy(j, s, u, all);
    return all;
}

/* ---- elements -------------------------------------------------------------------------------- */

static LLVMTypeRef ints(const struct jit *j, unsigned bytes)
{
    return jit_int_type(j, bytes * 8, j->unit->width);
}

/* Two words of each lane as one of twice the size. */
static LLVMValueRef join_words(const struct jit *j, LLVMValueRef low, LLVMValueRef high)
{
    int lanes[128];
    for (unsigned i = 0; i < 2 * j->unit->width; i++)
        lanes[i] = (int)(i / 2 + i % 2 * j->unit->width);
    LLVMValueRef both = jit_shuffle(j, low, high, lanes, 2 * j->unit->width);
    return LLVMBuildBitCast(j->code->b, both, ints(j, 8), "");
}

static LLVMValueRef word_of(const struct jit *j, LLVMValueRef value, unsigned which)
{
    int lanes[64];
    for (unsigned i = 0; i < j->unit->width; i++)
        lanes[i] = (int)(2 * i + which);
    value = LLVMBuildBitCast(j->code->b, value, jit_int_type(j, 32, 2 * j->unit->width), "");
    return jit_shuffle(j, value, NULL, lanes, j->unit->width);
}

static unsigned unit_bytes(const struct jit_structure *s)
{
    return s->columns.unit == 3 ? WORD : s->columns.unit;
}

static LLVMValueRef take(const struct jit *j, const struct jit_structure *s, const struct field *f,
                         LLVMValueRef *column)
{
    unsigned unit = s->columns.unit, k = (unsigned)f->offset / unit;
    if (f->bytes > unit)
        return join_words(j, column[k], column[k + 1]);
    return jit_columns_part(j, column[k], (unsigned)f->offset % unit, f->bytes);
}

static void put_part(const struct jit *j, LLVMValueRef *column, LLVMValueRef v)
{
    *column = *column ? LLVMBuildOr(j->code->b, *column, v, "") : v;
}

static void put(const struct jit *j, const struct jit_structure *s, const struct field *f,
                LLVMValueRef v, LLVMValueRef *column)
{
    unsigned unit = s->columns.unit, k = (unsigned)f->offset / unit;
    unsigned shift = (unsigned)f->offset % unit * 8;
    if (f->bytes > unit) {
        column[k] = word_of(j, v, 0);
        column[k + 1] = word_of(j, v, 1);
        return;
    }
    if (f->bytes < unit_bytes(s))
        v = LLVMBuildZExt(j->code->b, v, ints(j, unit_bytes(s)), "");
    if (shift)
        v = LLVMBuildShl(j->code->b, v, jit_const(LLVMTypeOf(v), shift), "");
    put_part(j, &column[k], v);
}

/* ---- the accesses ---------------------------------------------------------------------------- */

static void load(const struct jit *j, const struct jit_structure *s, unsigned copy,
                 LLVMValueRef pointer)
{
    LLVMValueRef column[JIT_COLUMNS] = {0};
    jit_columns_load(j, &s->first, &s->columns, pointer, column);
    for (uint32_t i = 0; i < s->n_fields; i++) {
        struct jit_access a;
        struct jit at = *j;
        jit_visit_insn(&at, s->fields[i].insn);
        at.block = jit_def_use_block(j->facts, s->fields[i].insn);
        jit_access_describe(&at, &a);
        jit_registers_write(&at, &a.values[s->fields[i].value], copy,
                            take(j, s, &s->fields[i], column), j->unit->width, a.extends_sign);
    }
}

static void store(const struct jit *j, const struct jit_structure *s, unsigned copy,
                  LLVMValueRef pointer)
{
    LLVMValueRef column[JIT_COLUMNS] = {0};
    struct jit_access all = s->first, a;
    for (uint32_t i = 0; i < s->n_fields; i++) {
        struct jit at = *j;
        jit_visit_insn(&at, s->fields[i].insn);
        jit_access_describe(&at, &a);
        all.gives_back |= a.gives_back;
        LLVMValueRef v = jit_registers_read(&at, &a.values[s->fields[i].value], copy, a.type,
                                            j->unit->width, false);
        v = LLVMBuildBitCast(j->code->b, v, ints(j, a.bytes), "");
        put(j, s, &s->fields[i], v, column);
    }
    jit_columns_store(j, &all, &s->columns, pointer, column);
}

static void access_copy(const struct jit *j, const struct jit_structure *s, unsigned copy)
{
    LLVMValueRef address = address_of(j, s->insns[0], copy, s->origin - s->offsets[0]);
    LLVMValueRef pointer = jit_access_pointer(j, &s->first, address);
    if (s->first.space == PT_SPACE_GLOBAL || s->first.space == PT_SPACE_GENERIC)
        jit_prefetch_emit(j, s->first.base->index, copy, pointer,
                          (unsigned)s->stride * j->unit->width);
    if (s->first.is_load)
        load(j, s, copy, pointer);
    else
        store(j, s, copy, pointer);
}

/* NULL: the instruction runs by itself. */
static const struct jit_structure *find_whole(const struct jit *j, uint32_t insn)
{
    for (unsigned u = j->first_copy; u < j->end_copy; u++)
        if (j->mask[u])
            return NULL;
    return find(j, insn);
}

bool jit_structure_access(const struct jit *j)
{
    uint32_t insn = (uint32_t)(j->insn - j->unit->f->insns.v);
    const struct jit_structure *s = find_whole(j, insn);
    for (unsigned u = j->first_copy; s && insn == s->at && u < j->end_copy; u++)
        access_copy(j, s, u);
    return s != NULL;
}

const uint32_t *jit_structure_brought(const struct jit *j, const uint32_t *insn, uint32_t *n)
{
    const struct jit_structure *s = find_whole(j, *insn);
    *n = s ? (s->at == *insn ? s->n : 0) : 1;
    return s ? s->insns : insn;
}
