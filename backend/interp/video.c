/* Video instructions: one handler, and selectors that describe the forms to it (PTX ISA 9.7.18). */
#include "backend/interp/operands.h"
#include "backend/interp/pick.h"
#include "backend/semantics/video.h"
#include "ir/row.h"

/* Operand 0 is d, 1 to 3 are a, b and c. */
PT_HANDLER(video)
{
    uint32_t *d_ = PT_SLOT(0, u32);
    const uint32_t *a_ = PT_SLOT(1, u32), *b_ = PT_SLOT(2, u32), *c__ = PT_SLOT(3, u32);
    const struct pt_video *k = c->ptr;
    for (int i = 0; i < PT_WARP_SIZE; i++)
        if (f->mask >> i & 1)
            d_[i] = pt_video(k, a_[i], b_[i], c__[i]);
    return c + 1;
}

static unsigned digit_of(const struct pt_operand *o, unsigned i)
{
    return (unsigned)(o->imm >> 4 * i) & 15;
}

/* Where the parts of a source begin in b:a, and how wide they are; `first` is the first part
 * without a selector. */
static uint8_t place_source(const struct pt_operand *o, unsigned parts, unsigned first,
                            uint8_t at[PT_VIDEO_PARTS])
{
    unsigned bits = o->select == 'b' ? 8 : o->select == 'h' ? 16 : 32 / parts;
    unsigned base = parts == 1 ? first * 32 : 0; /* a scalar selector counts from its own source */
    for (unsigned i = 0; i < parts; i++)
        at[i] = (uint8_t)(o->select ? base + digit_of(o, i) * bits : (first + i) * bits);
    return (uint8_t)bits;
}

/* Scalar: the part of d that is written; .h1 gets the upper half of the result, where the manual
 * says the lower. Else a mask: one digit for each part that is written. */
static void place_dest(const struct pt_operand *o, struct pt_video *k)
{
    unsigned bits = o->select == 'b' ? 8 : o->select == 'h' ? 16 : 32 / k->parts;
    k->d_bits = (uint8_t)bits;
    for (unsigned i = 0; i < k->parts; i++)
        k->d[i] = (uint8_t)(k->parts == 1 && o->select ? digit_of(o, 0) * bits : i * bits);
    k->in_place = k->parts == 1 && k->d[0] == 16 && bits == 16;
    k->mask = (uint8_t)((1u << k->parts) - 1);
    if (k->parts == 1 || !o->select)
        return;
    k->mask = 0;
    for (unsigned i = 0; i < (uint64_t)o->imm >> 32; i++)
        k->mask |= (uint8_t)(1u << digit_of(o, i));
}

static enum pt_video_cmp pick_cmp(const struct pt_select *s)
{
    return PT_HAS(s, eq)   ? PT_VIDEO_EQ
           : PT_HAS(s, ne) ? PT_VIDEO_NE
           : PT_HAS(s, lt) ? PT_VIDEO_LT
           : PT_HAS(s, le) ? PT_VIDEO_LE
           : PT_HAS(s, gt) ? PT_VIDEO_GT
                           : PT_VIDEO_GE;
}

static enum pt_video_then pick_then(const struct pt_select *s)
{
    return PT_HAS(s, add)   ? PT_VIDEO_THEN_ADD
           : PT_HAS(s, min) ? PT_VIDEO_THEN_MIN
           : PT_HAS(s, max) ? PT_VIDEO_THEN_MAX
                            : PT_VIDEO_THEN_MERGE;
}

/* The result of vmad is signed if any source is or may become negative (PTX ISA 9.7.18.1.5). */
static void describe_mad(const struct pt_select *s, struct pt_video *k)
{
    k->minus_product = (s->flat[1]->flags ^ s->flat[2]->flags) & PT_OPND_MINUS;
    k->minus_c = s->flat[3]->flags & PT_OPND_MINUS;
    k->plus_one = PT_HAS(s, po);
    k->shift = PT_HAS(s, shr7) ? 7 : PT_HAS(s, shr15) ? 15 : 0;
    k->d_signed = k->a_signed || k->b_signed || k->minus_product || k->minus_c;
}

static pt_handler pick(struct pt_select *s, enum pt_video_op op)
{
    struct pt_video *k = pt_operands_array(s, sizeof *k);
    unsigned parts = pt_form_slot(s->form, 1)->parts;
    unsigned sources = op == PT_VIDEO_SET
                           ? 0
                           : 1; /* vset has no type for d; what it does with c has the type of a */
    *k = (struct pt_video){
        .op = (uint8_t)op, .parts = (uint8_t)parts, .sat = PT_HAS(s, sat), .wrap = PT_HAS(s, wrap)};
    k->cmp = (uint8_t)pick_cmp(s);
    k->then = (uint8_t)pick_then(s);
    k->d_signed = s->form->type[0] == PT_s32;
    k->a_signed = s->form->type[sources] == PT_s32;
    k->b_signed = s->form->type[sources + 1] == PT_s32;
    k->a_bits = place_source(s->flat[1], parts, 0, k->a);
    k->b_bits = place_source(s->flat[2], parts, parts, k->b);
    place_dest(s->flat[0], k);
    if (op == PT_VIDEO_MAD)
        describe_mad(s, k);
    if (!pt_bind(s, "wwww"))
        return NULL;
    s->code->ptr = k;
    if (s->n < 4)
        s->code->o[3] = s->code->o[2]; /* nothing of c is left where all of d is written */
    return video;
}

#define VIDEO(id, op)                          \
    pt_handler PT_DO(id)(struct pt_select * s) \
    {                                          \
        return pick(s, PT_VIDEO_##op);         \
    }
#include "backend/semantics/video.def"
