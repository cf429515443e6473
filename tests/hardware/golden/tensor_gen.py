#!/usr/bin/env python3
"""Makes the tensor group: tensor.ptx, the kernels, and tensor.txt, the cases.

    tensor_gen.py FOLDER

A case is a line of numbers behind the kernel's name (encode: no kernel runs):

    kernel im2col type rank interleave swizzle l2 fill shift dims[5] strides[4] box[5] steps[5]
           lower[3] upper[3] channels pixels coordinates[5] offsets[3] place expect dump pattern

im2col is 0 for tiled maps, 1 for im2col, 2 + mode for cuTensorMapEncodeIm2colWide, whose corners
are lower[0] and upper[0]. shift is added to the tensor's address, place to the tile's in shared
memory; expect is what the mbarrier waits for, or the bytes of a tile that is stored; dump bytes of
the tile (loads) or the tensor (stores) are kept. tensor_run.c runs them on a GPU, tensor.c on
Ptera.
"""

import random
import sys

SIZES = [1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4]
U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16, F32_FTZ, TF32, TF32_FTZ = range(13)
FLOATS = F16, F32, F64, BF16, F32_FTZ, TF32, TF32_FTZ
W, W128 = 2, 3
REDUCTIONS = ["add", "min", "max", "inc", "dec", "and", "or", "xor"]

BULKS = {
    "add.u32": U32,
    "add.s32": S32,
    "add.u64": U64,
    "add.f32": F32,
    "add.f64": F64,
    "add.noftz.f16": F16,
    "add.noftz.bf16": BF16,
    "inc.u32": U32,
    "dec.u32": U32,
}
for word in "and", "or", "xor":
    BULKS.update({word + ".b32": U32, word + ".b64": U64})
for word in "min", "max":
    BULKS.update(
        {
            word + ".u32": U32,
            word + ".s32": S32,
            word + ".u64": U64,
            word + ".s64": S64,
            word + ".f16": F16,
            word + ".bf16": BF16,
        }
    )

HEAD = """.version 8.6
.target sm_90a
.address_size 64
.extern .shared .align 16 .b8 room[];
"""
# r1 thread, r2 tile, r3 to r7 coordinates, h1 to h3 offsets, r8 bytes of the tile, rd1 map, rd2
# args, rd3 data
BEGIN = """
.visible .entry %s(.param .align 64 .b8 map[128], .param .u64 args, .param .u64 data)
{
    .reg .pred %%p;
    .reg .b16 %%h<4>;
    .reg .b32 %%r<16>;
    .reg .b64 %%rd<8>;
    .shared .align 8 .b64 bar;
    mov.u64 %%rd1, map;
    cvta.param.u64 %%rd1, %%rd1;
    ld.param.u64 %%rd2, [args];
    ld.param.u64 %%rd3, [data];
    mov.u32 %%r1, %%tid.x;
    ld.global.u32 %%r3, [%%rd2];
    ld.global.u32 %%r4, [%%rd2+4];
    ld.global.u32 %%r5, [%%rd2+8];
    ld.global.u32 %%r6, [%%rd2+12];
    ld.global.u32 %%r7, [%%rd2+16];
    ld.global.u16 %%h1, [%%rd2+20];
    ld.global.u16 %%h2, [%%rd2+24];
    ld.global.u16 %%h3, [%%rd2+28];
    ld.global.u32 %%r9, [%%rd2+32];
    ld.global.u32 %%r10, [%%rd2+36];
    ld.global.u32 %%r8, [%%rd2+40];
    mov.u32 %%r2, room;
    add.u32 %%r2, %%r2, 1023;
    and.b32 %%r2, %%r2, -1024;
    add.u32 %%r2, %%r2, %%r9;
    shl.b32 %%r11, %%r1, 2;
"""
# The tile is filled with a5 bytes; data gets whether the mbarrier's phase ended, and the tile.
LOAD = BEGIN + """
fill:
    add.u32 %%r12, %%r2, %%r11;
    setp.lt.u32 %%p, %%r11, %%r8;
    @%%p st.shared.u32 [%%r12], 0xa5a5a5a5;
    add.u32 %%r11, %%r11, 512;
    @%%p bra fill;
    setp.ne.u32 %%p, %%r1, 0;
    @%%p bra issued;
    mbarrier.init.shared.b64 [bar], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared.b64 _, [bar], %%r10;
issued:
    fence.proxy.async;
    bar.sync 0;
    @%%p bra wait;
    %s
wait:
    mov.u32 %%r13, 0;
again:
    mbarrier.test_wait.parity.shared.b64 %%p, [bar], 0;
    @%%p bra over;
    add.u32 %%r13, %%r13, 1;
    setp.lt.u32 %%p, %%r13, 100000;
    @%%p bra again;
over:
    bar.sync 0;
    shl.b32 %%r11, %%r1, 2;
    setp.lt.u32 %%p, %%r13, 100000;
    selp.u64 %%rd5, 1, 0, %%p;
    st.global.u64 [%%rd3], %%rd5;
    st.global.u64 [%%rd3+8], 0;
dump:
    setp.lt.u32 %%p, %%r11, %%r8;
    @!%%p exit;
    add.u32 %%r12, %%r2, %%r11;
    ld.shared.u32 %%r14, [%%r12];
    cvt.u64.u32 %%rd6, %%r11;
    add.u64 %%rd6, %%rd3, %%rd6;
    st.global.u32 [%%rd6+16], %%r14;
    add.u32 %%r11, %%r11, 512;
    bra dump;
}
"""
TILE = (
    "cp.async.bulk.tensor.%dd.shared::cluster.global%s.mbarrier::complete_tx::bytes [%%r2], [%%rd1,"
    " {%s}], [bar]%s;"
)
# Copies without a map: from the tensor, whose address is behind the other arguments, plus the first
# coordinate.
PLAIN = {
    "load_bulk": (
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd6], %r10,"
        " [bar];"
    ),
    # as many bytes as the second coordinate says; the mbarrier waits for no bytes
    "load_thread": (
        "cp.async.cg.shared.global [%r2], [%rd6], 16, %r4; cp.async.wait_all;"
        " mbarrier.complete_tx.shared.b64 [bar], %r10;"
    ),
}
# Brings the bytes into shared memory; then one thread goes on.
FILL = """
fill:
    add.u32 %%r12, %%r2, %%r11;
    cvt.u64.u32 %%rd6, %%r11;
    add.u64 %%rd6, %%rd3, %%rd6;
    setp.lt.u32 %%p, %%r11, %%r10;
    @%%p ld.global.u32 %%r14, [%%rd6];
    @%%p st.shared.u32 [%%r12], %%r14;
    add.u32 %%r11, %%r11, 512;
    @%%p bra fill;
    fence.proxy.async;
    bar.sync 0;
    setp.ne.u32 %%p, %%r1, 0;
    @%%p exit;
"""
# The tile comes from data.
STORE = BEGIN + FILL + """\
    cp.%sasync.bulk.tensor.%dd.global.shared::cta%s.bulk_group%s [%%rd1, {%s}], [%%r2];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    exit;
}
"""
# The bytes of the tile are joined with the tensor's memory, whose address is behind the other
# arguments.
BULK = BEGIN + FILL + """\
    ld.global.u64 %%rd6, [%%rd2+48];
    cp.reduce.async.bulk.global.shared::cta.bulk_group.%s [%%rd6], [%%r2], %%r10;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    exit;
}
"""
# args holds a value, data the map.
REPLACE = """
.visible .entry %s(.param .u64 args, .param .u64 data)
{
    .reg .b32 %%r<2>;
    .reg .b64 %%rd<4>;
    ld.param.u64 %%rd1, [args];
    ld.param.u64 %%rd2, [data];
    ld.global.u64 %%rd3, [%%rd1];
    cvt.u32.u64 %%r1, %%rd3;
    tensormap.replace.tile.%s.global.b1024.%s [%%rd2], %s;
    exit;
}
"""


def coordinates(n):
    return ", ".join("%%r%d" % (3 + i) for i in range(n))


def kernels():
    text = HEAD
    for d in range(1, 6):
        text += LOAD % ("load_%d" % d, TILE % (d, ".tile", coordinates(d), ""))
        text += STORE % ("store_%d" % d, "", d, ".tile", "", coordinates(d))
        for op in REDUCTIONS if d == 2 else ["add"]:
            text += STORE % (
                "%s_%d" % (op, d),
                "reduce.",
                d,
                "." + op + ".tile",
                "",
                coordinates(d),
            )
    for d in range(3, 6):
        offsets = ", {%s}" % ", ".join("%%h%d" % (1 + i) for i in range(d - 2))
        text += LOAD % ("load_im2col_%d" % d, TILE % (d, ".im2col", coordinates(d), offsets))
        text += STORE % ("store_im2col_%d" % d, "", d, ".im2col_no_offs", "", coordinates(d))
    for name, copy in PLAIN.items():
        text += LOAD % (
            name,
            "ld.global.u64 %rd6, [%rd2+48]; cvt.s64.s32 %rd7, %r3; add.s64 %rd6, %rd6, %rd7; "
            + copy,
        )
    for op in BULKS:
        text += BULK % ("bulk_" + op.replace(".", "_"), op)
    for name, field, width, operands in replaces():
        text += REPLACE % (name, field, width, operands)
    return text


def replaces():
    yield "replace_global_address", "global_address", "b64", "%rd3"
    yield "replace_rank", "rank", "b32", "%r1"
    for i in range(5):
        for field in ("box_dim", "global_dim", "element_stride"):
            yield "replace_%s_%d" % (field, i), field, "b32", "%d, %%r1" % i
    for i in range(4):
        yield "replace_global_stride_%d" % i, "global_stride", "b64", "%d, %%rd3" % i
    for field, n in (
        ("elemtype", 13),
        ("interleave_layout", 3),
        ("swizzle_mode", 4),
        ("fill_mode", 2),
    ):
        for i in range(n):
            yield "replace_%s_%d" % (field, i), field, "b32", "%d" % i


def fit(values, n, rest=0):
    return list(values) + [rest] * (n - len(values))


def case(
    kernel,
    type,
    dims,
    box=(),
    strides=None,
    steps=None,
    interleave=0,
    swizzle=0,
    l2=0,
    fill=0,
    shift=0,
    lower=(),
    upper=(),
    channels=0,
    pixels=0,
    at=(),
    offsets=(),
    place=0,
    expect=None,
    dump=None,
    pattern=0,
    im2col=0,
):
    rank = len(dims)
    size = SIZES[type] if type < 13 else 1
    unit = {1: 16, 2: 32}.get(interleave, size)
    if strides is None:
        strides, pitch = [], size * dims[0]
        if interleave:
            pitch = unit * (dims[0] + 2)
        for d in dims[1:]:
            strides.append((pitch + 15) // 16 * 16)
            pitch = strides[-1] * d + (3 * unit if interleave else 0)
    if expect is None and im2col:
        expect = unit * pixels * (1 if interleave else channels)
    elif expect is None:
        expect = unit * box[0]
        for k in range(1, rank):
            if not interleave or k != rank - 2:
                expect *= -(-box[k] // (steps or [1] * rank)[k])
    steps = fit(steps or [1] * rank, 5, 1)
    if (
        swizzle in (1, 2, 3)
        and not interleave
        and kernel != "encode"
        and not kernel.startswith("load")
    ):
        # what a tile takes whose rows are narrower than the swizzle
        expect = expect // (size * (channels if im2col else box[0])) * (16 << swizzle)
    if dump is None:
        dump = min(expect + 64, 16384)
    numbers = [
        im2col,
        type,
        rank,
        interleave,
        swizzle,
        l2,
        fill,
        shift,
        *fit(dims, 5),
        *fit(strides, 4),
        *fit(box, 5),
        *steps,
        *fit(lower, 3),
        *fit(upper, 3),
        channels,
        pixels,
        *fit(at, 5),
        *fit(offsets, 3),
        place,
        expect,
        dump,
        pattern,
    ]
    return kernel + " " + " ".join(map(str, numbers))


def loads():
    # swizzles, at each place they tell apart, with rows as wide as the swizzle and narrower ones
    for swizzle, width in ((0, 128), (1, 32), (2, 64), (3, 128)):
        for place in (0, 128, 256, 384, 512, 896):
            yield case(
                "load_2", U16, (200, 70), (width // 2, 12), swizzle=swizzle, place=place, at=(8, 3)
            )
        for narrow in range(16, width, 16):
            yield case(
                "load_2", U16, (200, 70), (narrow // 2, 12), swizzle=swizzle, at=(8, 3), dump=1600
            )
        for type in range(13):
            size = SIZES[type]
            yield case(
                "load_2",
                type,
                (256 // size, 40),
                (width // size, 9),
                swizzle=swizzle,
                at=(16 // size, 35),
                pattern=1,
            )
    # beyond the bounds: the first coordinate is a multiple of 16 bytes
    for type in (U8, U16, U32, F16, F32, F64, BF16, F32_FTZ, TF32, TF32_FTZ):
        for fill in (0, 1) if type in FLOATS else (0,):
            u = 16 // SIZES[type]
            for at in ((-u, -3), (3 * u, 18), (5 * u, 2), (-10 * u, 0), (0, 40)):
                yield case(
                    "load_2", type, (4 * u + u // 4, 20), (2 * u, 4), at=at, fill=fill, pattern=1
                )
    # ranks
    yield case("load_1", U8, (1000,), (256,), at=(16,))
    yield case("load_1", U32, (1001,), (64,), at=(988,))
    yield case("load_1", U32, (1000,), (64,), at=(-4,))
    yield case("load_3", U16, (24, 7, 9), (16, 3, 4), at=(8, 2, 3))
    yield case("load_3", U16, (24, 7, 9), (16, 3, 4), at=(16, 5, -2), swizzle=1)
    yield case("load_4", U8, (48, 5, 6, 7), (32, 2, 3, 2), at=(16, 1, 4, 3))
    yield case("load_4", U32, (16, 5, 6, 7), (8, 2, 3, 2), at=(-4, 4, -1, 6), swizzle=1)
    yield case("load_5", U16, (16, 4, 5, 3, 4), (8, 2, 2, 2, 3), at=(8, 1, 2, 1, 0))
    yield case("load_5", U16, (16, 4, 5, 3, 4), (8, 2, 2, 2, 3), at=(8, -1, 4, 2, 3))
    # element strides
    for steps in ((1, 2), (1, 3), (1, 8), (2, 1), (2, 3), (4, 2), (8, 8)):
        for at in ((0, 0), (8, 3), (-8, -3), (24, 15)):
            yield case("load_2", U16, (36, 20), (16, 8), steps=steps, at=at, dump=400)
    yield case("load_2", U32, (40, 20), (24, 7), steps=(3, 3), at=(4, 1), dump=400)
    yield case("load_3", U16, (24, 9, 11), (16, 5, 6), steps=(1, 2, 3), at=(8, 1, 2), swizzle=1)
    yield case("load_3", U16, (24, 9, 11), (16, 5, 6), steps=(1, 3, 2), at=(8, -1, -2))
    yield case("load_4", U8, (48, 5, 6, 7), (32, 3, 3, 4), steps=(1, 2, 2, 3), at=(16, 1, 3, 3))
    # interleaved: the dimension before the last is that of the slices, of which a tile has one
    for interleave in (1, 2):
        for swizzle in ((0, 1) if interleave == 2 else (0,)):
            for at in (
                (0, 0, 0),
                (0, 2, 1),
                (1, 2, 1),
                (7, 1, 0),
                (-2, 4, 6),
                (0, -1, -1),
                (3, 6, 2),
            ):
                yield case(
                    "load_3",
                    U16,
                    (12, 6, 8),
                    (8, 4, 3),
                    interleave=interleave,
                    swizzle=swizzle,
                    at=at,
                )
            for at in ((0, 0, 0, 0), (0, 1, 2, 1), (2, 3, 0, 1), (5, -1, 3, 2)):
                yield case(
                    "load_4",
                    U8,
                    (10, 6, 8, 3),
                    (16, 4, 3, 2),
                    interleave=interleave,
                    swizzle=swizzle,
                    at=at,
                )
                yield case(
                    "load_5",
                    F32,
                    (10, 6, 8, 3, 2),
                    (4, 4, 3, 2, 1),
                    interleave=interleave,
                    swizzle=swizzle,
                    at=at + (0,),
                )
    yield case("load_3", U16, (24, 6, 8), (8, 4, 3), interleave=1, steps=(1, 2, 2), at=(0, 1, 1))
    yield case(
        "load_4",
        U16,
        (24, 6, 8, 3),
        (8, 4, 3, 3),
        interleave=1,
        steps=(2, 3, 2, 2),
        at=(0, 1, 1, 0),
    )


def im2col(kernel="load_im2col"):
    store = kernel.startswith("store")

    def c(rank, **k):
        return case("%s_%d" % (kernel, rank), im2col=1, **k)

    for swizzle, channels in ((0, 16), (1, 16), (2, 32), (3, 64), (3, 24)):
        yield c(
            4,
            type=U16,
            dims=(64, 9, 7, 3),
            lower=(0, 0),
            upper=(0, 0),
            channels=channels,
            pixels=20,
            swizzle=swizzle,
            at=(0, 2, 1, 1),
        )
    corners = (
        (((0, 0), (0, 0)), ((1, 2), (-1, 0)), ((1, 0), (-1, -2)))
        if store
        else (
            ((0, 0), (0, 0)),
            ((-1, -1), (-1, -1)),
            ((-1, -1), (1, 1)),
            ((-2, -1), (-1, -2)),
            ((1, 2), (-1, 0)),
        )
    )
    no = (0, 0)
    for lower, upper in corners:
        for at in (
            (0, lower[0], lower[1], 0),
            (8, lower[0] + 3, lower[1] + 2, 1),
            (16, 5, 4, 2),
            (-8, 4, 4, -1),
        ):
            for offsets in (no,) if store else (no, (2, 1)):
                yield c(
                    4,
                    type=U16,
                    dims=(24, 9, 7, 3),
                    lower=lower,
                    upper=upper,
                    channels=16,
                    pixels=24,
                    at=at,
                    offsets=offsets,
                )
    low = 0 if store else -1
    for steps in ((1, 2, 1, 1), (1, 1, 2, 1), (1, 2, 2, 1), (1, 3, 2, 1)):
        for at in ((0, low, low, 0), (0, 1, 1, 1)):
            yield c(
                4,
                type=U16,
                dims=(16, 9, 7, 3),
                lower=(low, low),
                upper=(-1, -1),
                channels=16,
                pixels=24,
                at=at,
                offsets=no if store else (1, 2),
                steps=steps,
            )
    for at in ((0, 0, 0), (0, 3, 1), (8, low, 0), (0, 6, 2)):
        yield c(
            3,
            type=U16,
            dims=(16, 9, 4),
            lower=(low,),
            upper=(-1,),
            channels=16,
            pixels=24,
            at=at,
            offsets=(0 if store else 1,),
        )
        if not store:
            yield c(
                3,
                type=F32,
                dims=(16, 9, 4),
                lower=(-1,),
                upper=(1,),
                channels=8,
                pixels=24,
                at=at,
                offsets=(2,),
                fill=1,
            )
    for at in ((0, 0, 0, 0, 0), (0, 1, 2, 1, 1), (8, low, low, low, 0)):
        for offsets in ((0, 0, 0),) if store else ((0, 0, 0), (1, 0, 2)):
            yield c(
                5,
                type=U16,
                dims=(16, 5, 4, 3, 2),
                lower=(low, low, low),
                upper=(-1, 0, -1),
                channels=16,
                pixels=50,
                at=at,
                offsets=offsets,
            )
    for interleave in (1, 2):
        for at in ((0, 0, 0, 0), (3, 2, 1, 1), (1, 2, 1, 2), (2, low, 0, 0)):
            for offsets in (no,) if store else (no, (2, 1)):
                yield c(
                    4,
                    type=U16,
                    dims=(10, 9, 7, 3),
                    lower=(low, 0),
                    upper=(0, -1),
                    channels=8,
                    pixels=24,
                    interleave=interleave,
                    at=at,
                    offsets=offsets,
                )
            yield c(
                5,
                type=U16,
                dims=(8, 5, 4, 3, 2),
                lower=(low, 0, 0),
                upper=(0, -1, 0),
                channels=8,
                pixels=24,
                interleave=interleave,
                at=at + (1,),
                offsets=(0, 0, 0) if store else (1, 1, 0),
            )
            yield c(
                3,
                type=U16,
                dims=(12, 9, 4),
                lower=(low,),
                upper=(0,),
                channels=8,
                pixels=24,
                interleave=interleave,
                at=at[:3],
                offsets=(0,) if store else (1,),
            )


def stores():
    G = 12000
    for swizzle, width in ((0, 128), (1, 32), (2, 64), (3, 128)):
        for place in (0, 128, 512):
            yield case(
                "store_2",
                U16,
                (100, 40),
                (width // 2, 12),
                swizzle=swizzle,
                place=place,
                at=(8, 3),
                dump=G,
            )
        yield case("store_2", U16, (100, 40), (8, 12), swizzle=swizzle, at=(8, 3), dump=G)
        for at in ((-8, -3), (88, 33), (200, 2), (0, 60)):
            yield case("store_2", U16, (100, 40), (width // 2, 12), swizzle=swizzle, at=at, dump=G)
    yield case("store_1", U32, (101,), (64,), at=(60,), dump=600)
    yield case("store_3", U16, (24, 7, 9), (16, 3, 4), at=(16, 5, -2), swizzle=1, dump=G)
    yield case("store_4", U32, (16, 5, 6, 7), (8, 2, 3, 2), at=(-4, 4, -1, 6), swizzle=1, dump=G)
    yield case("store_5", U16, (16, 4, 5, 3, 4), (8, 2, 2, 2, 3), at=(8, -1, 4, 2, 3), dump=G)
    for steps in ((1, 2), (1, 3), (2, 1), (2, 3)):
        yield case("store_2", U16, (36, 20), (16, 8), steps=steps, at=(8, 3), dump=2000)
        yield case("store_2", U16, (36, 20), (16, 8), steps=steps, at=(-8, -3), dump=2000)
    for interleave in (1, 2):
        for at in ((0, 2, 1), (1, 4, 6), (-2, 1, 0)):
            yield case("store_3", U16, (12, 6, 8), (8, 4, 3), interleave=interleave, at=at, dump=G)
    for type in (F32, F16, TF32, F32_FTZ, TF32_FTZ, F64):
        yield case(
            "store_2",
            type,
            (64 // SIZES[type], 20),
            (32 // SIZES[type], 8),
            at=(16 // SIZES[type], 1),
            dump=2000,
            pattern=1,
        )
    for line in im2col("store_im2col"):
        words = line.split()
        words[-2] = "20000" if words[4] != "0" else "9000"
        yield " ".join(words)


def reduces():
    for type in range(13):
        for op in REDUCTIONS:
            size = SIZES[type]
            yield case(
                op + "_2",
                type,
                (64 // size, 20),
                (32 // size, 8),
                at=(16 // size, 15),
                dump=1300,
                pattern=1,
            )
    for swizzle in (1, 2, 3):
        yield case("add_2", U32, (40, 20), (8, 12), swizzle=swizzle, at=(36, -3), dump=3300)
    yield case("add_1", U32, (101,), (64,), at=(60,), dump=600)
    yield case("add_3", S32, (24, 7, 9), (8, 3, 4), at=(20, 5, -2), dump=9000)
    yield case("add_4", U64, (6, 5, 6, 7), (2, 2, 3, 2), at=(2, 1, 1, 6), dump=9000)
    yield case("add_5", F32, (16, 4, 5, 3, 2), (8, 2, 2, 2, 1), at=(12, -1, 4, 2, 1), dump=9000)


def plain():
    for at, expect, place in ((0, 64, 0), (16, 0, 0), (48, 4096, 16)):
        yield case(
            "load_bulk", U8, (4096,), (16,), at=(at,), expect=expect, place=place, dump=expect + 32
        )
    for n in range(17):
        yield case("load_thread", U8, (4096,), (16,), at=(16, n), expect=0, dump=32)


def bulks():
    for op, type in BULKS.items():
        yield case(
            "bulk_" + op.replace(".", "_"), type, (64,), (16,), expect=2048, dump=2048, pattern=1
        )


def replacements():
    """kernel, value, the byte the map is made of"""
    values = {
        "global_address": (0, 16, 24, 0x123456789ABCDEF0, 0xFFFFFFFFFFFFFFFF),
        "rank": (0, 1, 2, 3, 4, 5, 7),
        "box_dim": (0, 1, 2, 255, 256, 257, 0xFFFFFFFF),
        "global_dim": (0, 1, 2, 0x80000000, 0xFFFFFFFF),
        "element_stride": (0, 1, 2, 7, 8, 9, 0xFFFFFFFF),
        "global_stride": (0, 8, 16, 24, 0xFFFFFFFFF0, 0x123456789ABCDEF0, 0xFFFFFFFFFFFFFFFF),
    }
    for name, field, _, _ in replaces():
        for value in values.get(field, (0,)):
            for byte in (0, 255):
                yield "%s %d %d" % (name, value, byte)


def wrong():
    """What stops a kernel: tiles in shared memory that are not aligned to 128 bytes, first
    coordinates that are not multiples of 16 bytes, im2col tiles that begin outside their box,
    stores of them from negative corners, bulk copies that are not aligned to 16 bytes; and a copy
    of no bytes, which needs no aligned source."""
    for place in (16, 64):
        yield case("load_2", U16, (64, 32), (16, 8), place=place)
        yield case("store_2", U16, (64, 32), (16, 8), place=place, dump=4096)
    yield case("load_2", U16, (64, 32), (16, 8), at=(4, 0))
    yield case("store_2", U16, (64, 32), (16, 8), at=(-1, 0), dump=4096)
    yield case("add_2", U32, (64, 32), (8, 8), at=(1, 0), dump=4096)
    k = dict(type=U16, dims=(16, 9, 7, 3), channels=16, pixels=24, im2col=1)
    yield case("load_im2col_4", lower=(1, 1), upper=(-1, -1), at=(0, 0, 1, 0), **k)
    yield case("load_im2col_4", lower=(1, 1), upper=(-1, -1), at=(0, 1, 0, 0), **k)
    yield case("load_im2col_4", lower=(0, 0), upper=(-2, -2), at=(0, 7, 0, 0), **k)
    yield case("load_im2col_4", lower=(0, 0), upper=(-2, -2), at=(0, 0, 5, 0), **k)
    yield case("load_im2col_4", lower=(0, 0), upper=(0, 0), at=(4, 0, 0, 0), **k)
    k["dump"] = 4096
    yield case("store_im2col_4", lower=(-1, 0), upper=(0, 0), at=(0, 0, 0, 0), **k)
    yield case("store_im2col_4", lower=(0, 0), upper=(1, 0), at=(0, 0, 0, 0), **k)
    for at, expect, place in ((8, 64, 0), (0, 64, 8)):
        yield case("load_bulk", U8, (4096,), (16,), at=(at,), expect=expect, place=place, dump=256)
    yield case("load_thread", U8, (4096,), (16,), at=(4, 0), expect=0, dump=32)


def random_encodes(n):
    rng = random.Random(7)
    for _ in range(n):
        type, rank = rng.randrange(13), rng.randint(1, 5)
        interleave = rng.choice((0, 0, 0, 1, 2)) if rank >= 3 else 0
        swizzle = (
            1
            if interleave == 2 and rng.random() < 0.6
            else rng.randrange(4) if interleave == 0 else 0
        )
        size = SIZES[type]
        widest = {0: 256, 1: 32, 2: 64, 3: 128}[swizzle]
        dims = [rng.choice((1, 2, 7, rng.randint(1, 1 << rng.randint(1, 32)))) for _ in range(rank)]
        unit = 32 if interleave == 2 else 16
        strides = [
            unit * rng.choice((1, 3, rng.randint(1, 1 << rng.randint(1, 35))))
            for _ in range(rank - 1)
        ]
        box = [rng.randint(1, 256) for _ in range(rank)]
        box[0] = max(1, rng.randint(1, max(1, widest // 16)) * 16 // size)
        if interleave:
            box[0] = rng.choice((unit // size, 16 // size))
        steps = [rng.randint(1, 8) for _ in range(rank)]
        fill = rng.randrange(2) if type in (F16, F32, F64, BF16, F32_FTZ, TF32, TF32_FTZ) else 0
        yield case(
            "encode",
            type,
            dims,
            box,
            strides=strides,
            steps=steps,
            interleave=interleave,
            swizzle=swizzle,
            l2=rng.randrange(4),
            fill=fill,
            shift=unit * rng.randrange(8),
            dump=0,
            expect=0,
        )
        if rank >= 3:
            lo, hi = {3: (-32768, 32767), 4: (-128, 127), 5: (-16, 15)}[rank]
            yield case(
                "encode",
                type,
                dims,
                strides=strides,
                steps=steps,
                interleave=interleave,
                swizzle=swizzle,
                l2=rng.randrange(4),
                fill=fill,
                im2col=1,
                dump=0,
                expect=0,
                lower=[rng.randint(lo, hi) for _ in range(rank - 2)],
                upper=[rng.randint(lo, hi) for _ in range(rank - 2)],
                channels=box[0],
                pixels=rng.randint(1, 1024),
            )


def limits():
    def e(**k):
        k = dict(dict(type=U16, dims=(64, 32), box=(32, 8), dump=0, expect=0), **k)
        return case("encode", **k)

    for type in range(17):
        yield e(type=type)
        yield e(type=type, fill=1)
    for k in range(8):
        yield e(swizzle=k)
        yield e(l2=k)
        yield e(fill=k)
        yield e(interleave=k, dims=(64, 32, 8), box=(16, 8, 2))
        yield e(interleave=k, swizzle=1, dims=(64, 32, 8), box=(16, 8, 2))
        yield e(interleave=k, swizzle=2, dims=(64, 32, 8), box=(16, 8, 2))
    for shift in (1, 2, 4, 8, 16, 32, 48):
        yield e(shift=shift)
        yield e(
            shift=shift,
            interleave=2,
            swizzle=1,
            dims=(64, 32, 8),
            box=(16, 8, 2),
            strides=(64, 2048),
        )
    for d in (0, 1, (1 << 32) - 1, 1 << 32, (1 << 32) + 1):
        yield e(dims=(d, 32), strides=(128,))
        yield e(dims=(64, d), strides=(128,))
    for s in (0, 8, 16, 24, 32, 48, 64, 120, 128, 1 << 39, (1 << 40) - 16, 1 << 40, (1 << 40) + 16):
        yield e(strides=(s,))
        yield e(strides=(128, s), dims=(64, 32, 8), box=(32, 8, 1))
        yield e(strides=(s, 4096), dims=(64, 32, 8), box=(16, 8, 1), interleave=2, swizzle=1)
        yield e(strides=(s, 4096), dims=(64, 32, 8), box=(8, 8, 1), interleave=1)
    for b in (0, 1, 7, 8, 12, 15, 16, 17, 24, 32, 33, 40, 64, 72, 128, 136, 256, 257):
        for swizzle in range(4):
            yield e(box=(b, 8), swizzle=swizzle)
        yield e(box=(8, b))
        yield e(box=(b, 8), type=U8)
        yield e(box=(b, 8), type=U64)
        yield e(box=(b, 8, 1), dims=(64, 32, 8), interleave=1)
        yield e(box=(b, 8, 1), dims=(64, 32, 8), interleave=2)
        yield e(box=(b, 8, 1), dims=(64, 32, 8), interleave=2, swizzle=1)
    for s in (0, 1, 2, 3, 8, 9):
        yield e(steps=(s, 1))
        yield e(steps=(1, s))
        yield e(steps=(s, 1, 1), dims=(64, 32, 8), box=(16, 8, 1), interleave=2, swizzle=1)
        yield e(steps=(s, 2), box=(33, 8), type=U8)
        yield e(steps=(s, 2), box=(24, 8))

    def i(**k):
        k = dict(
            dict(
                type=U16,
                dims=(64, 32, 32, 8),
                im2col=1,
                lower=(0, 0),
                upper=(0, 0),
                channels=32,
                pixels=16,
                dump=0,
                expect=0,
            ),
            **k
        )
        return case("encode", **k)

    for dims in ((64,), (64, 32), (64, 32, 32), (64, 32, 32, 8), (64, 16, 16, 16, 8)):
        yield i(dims=dims)
        yield e(dims=dims, box=(16, 1, 1, 1, 1)[: len(dims)])
    for n in (0, 1, 7, 8, 12, 16, 32, 64, 65, 72, 128, 136, 256, 257):
        for swizzle in range(4):
            yield i(channels=n, swizzle=swizzle)
        yield i(channels=n, interleave=1)
        yield i(channels=n, interleave=2, swizzle=1)
    for n in (0, 1, 256, 1023, 1024, 1025):
        yield i(pixels=n)
    for v in (-32769, -32768, -129, -128, -17, -16, -5, 5, 15, 16, 31, 32, 127, 128, 32767, 32768):
        yield i(lower=(v, 0))
        yield i(upper=(v, 0))
        yield i(lower=(0, v))
        yield i(lower=(v,), dims=(64, 32, 8))
        yield i(upper=(v,), dims=(64, 32, 8))
        yield i(lower=(v, 0, 0), dims=(64, 16, 16, 16, 8))
        yield i(upper=(0, 0, v), dims=(64, 16, 16, 16, 8))


def wides():
    """The arguments of cuTensorMapEncodeIm2colWide: each varied alone, for both modes, then all at
    random."""
    for mode in (W, W128):

        def w(**k):
            k = dict(
                dict(
                    type=U16,
                    dims=(64, 32, 32, 8),
                    im2col=mode,
                    lower=(0,),
                    upper=(0,),
                    channels=32,
                    pixels=16,
                    swizzle=3,
                    dump=0,
                    expect=0,
                ),
                **k
            )
            return case("encode", **k)

        for type in range(17):
            for swizzle in (0, 3, 4):
                yield w(type=type, channels=16, swizzle=swizzle)
                yield w(type=type, channels=16, fill=1, swizzle=swizzle)
            yield w(type=type, dims=(128, 32, 32), channels=128, shift=32)
            yield w(type=type, dims=(128, 32, 32), channels=128, shift=32, swizzle=4)
        for k in range(8):
            yield w(swizzle=k, channels=16)
            yield w(swizzle=k, channels=8)
            yield w(swizzle=k, channels=64, type=U8)
            yield w(swizzle=k, channels=128, type=U8)
            yield w(swizzle=k, channels=256, type=U8)
            yield w(l2=k)
            yield w(fill=k)
            yield w(fill=k, type=F16)
            for swizzle in range(8):
                yield w(interleave=k, swizzle=swizzle, channels=16)
                yield w(interleave=k, swizzle=swizzle, channels=8)
        for shift in (1, 2, 4, 8, 16, 32, 48):
            yield w(shift=shift)
            yield w(shift=shift, interleave=1, channels=8)
            yield w(shift=shift, interleave=2, swizzle=1, channels=16)
        for d in (0, 1, 2, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 32) + 1):
            for k in range(4):
                dims = [64, 32, 32, 8]
                dims[k] = d
                yield w(dims=dims, strides=(128, 4096, 131072))
        for s in (
            0,
            8,
            16,
            24,
            32,
            48,
            64,
            120,
            128,
            1 << 39,
            (1 << 40) - 16,
            1 << 40,
            (1 << 40) + 16,
        ):
            yield w(strides=(s, 4096, 131072))
            yield w(strides=(128, s, 131072))
            yield w(strides=(128, 4096, s))
            yield w(strides=(s, 4096, 131072), interleave=1, channels=8)
            yield w(strides=(s, 4096, 131072), interleave=2, swizzle=1, channels=16)
        for s in (0, 1, 2, 3, 8, 9):
            for k in range(4):
                steps = [1, 1, 1, 1]
                steps[k] = s
                yield w(steps=steps)
                yield w(steps=steps, interleave=1, channels=8)
        for dims in ((64,), (64, 32), (64, 32, 32), (64, 32, 32, 8), (64, 16, 16, 16, 8)):
            yield w(dims=dims)
            yield w(dims=dims, lower=(-3,), upper=(2,))
            yield w(dims=dims, lower=(-3,), upper=(2,), interleave=1, channels=8)
            yield w(dims=dims, steps=(1, 2, 3, 4, 5)[: len(dims)])
        for n in (0, 1, 7, 8, 12, 16, 32, 63, 64, 65, 72, 120, 128, 136, 256, 257, 264):
            for swizzle in range(5):
                yield w(channels=n, swizzle=swizzle)
                yield w(channels=n, swizzle=swizzle, type=U8)
                yield w(channels=n, swizzle=swizzle, type=F64)
            yield w(channels=n, interleave=1)
            yield w(channels=n, interleave=1, type=U8)
            yield w(channels=n, interleave=2, swizzle=1)
        for n in (0, 1, 127, 128, 129, 256, 512, 1023, 1024, 1025, 4096, 1 << 31, (1 << 32) - 1):
            yield w(pixels=n)
            yield w(pixels=n, channels=64)
            yield w(pixels=n, interleave=1, channels=8)
            yield w(pixels=n, interleave=1, channels=256, type=U64)
            yield w(pixels=n, interleave=1, channels=128, type=U64)
        for v in (
            -(1 << 31),
            -32769,
            -32768,
            -129,
            -128,
            -33,
            -32,
            -31,
            -17,
            -16,
            -1,
            1,
            15,
            16,
            30,
            31,
            32,
            33,
            127,
            128,
            32767,
            32768,
            (1 << 31) - 1,
        ):
            for dims in ((64, 32, 8), (64, 32, 32, 8), (64, 16, 16, 16, 8)):
                yield w(lower=(v,), dims=dims)
                yield w(upper=(v,), dims=dims)
                yield w(lower=(v,), upper=(v,), dims=dims)
                yield w(lower=(v,), dims=dims, interleave=1, channels=8)
        # a bounding box's width is that of the dimension behind the channels
        yield w(lower=(40,), dims=(64, 32, 64, 8))
        yield w(lower=(40,), dims=(64, 64, 32, 8))
        yield w(lower=(40,), dims=(64, 64, 32, 8), interleave=1, channels=8)
        yield w(lower=(40,), dims=(64, 32, 64, 8), interleave=1, channels=8)
        yield w(lower=(40,), dims=(32, 64, 64, 64), interleave=1, channels=8)
        yield w(lower=(40,), dims=(64, 32, 32, 8), interleave=1, channels=8)
    rng = random.Random(11)
    for _ in range(300):
        type, rank, interleave, swizzle = (
            rng.randrange(13),
            rng.randint(3, 5),
            rng.choice((0, 0, 1)),
            rng.choice((2, 3, 3, 4)),
        )
        size = SIZES[type]
        yield case(
            "encode",
            type,
            [rng.randint(1, 1 << rng.randint(1, 32)) for _ in range(rank)],
            im2col=rng.choice((W, W128)),
            strides=[16 * rng.randint(1, 1 << rng.randint(1, 35)) for _ in range(rank - 1)],
            steps=[rng.randint(1, 8) for _ in range(rank)],
            interleave=interleave,
            swizzle=swizzle,
            l2=rng.randrange(4),
            fill=rng.randrange(2) if type in FLOATS else 0,
            shift=16 * rng.randrange(8),
            dump=0,
            expect=0,
            lower=[rng.randint(-32768, 32767) >> rng.randrange(16)],
            upper=[rng.randint(-32768, 32767) >> rng.randrange(16)],
            channels=rng.randint(1, 4 if swizzle == 2 else 8) * 16 // size,
            pixels=rng.randint(1, 1024),
        )
    yield case(
        "encode",
        U16,
        (64, 32, 8),
        im2col=W128 + 1,
        channels=32,
        pixels=16,
        swizzle=3,
        dump=0,
        expect=0,
    )


def main(folder):
    with open(folder + "/tensor.ptx", "w") as f:
        f.write(kernels())
    with open(folder + "/tensor.txt", "w") as f:
        for group in (
            loads(),
            im2col(),
            stores(),
            reduces(),
            plain(),
            bulks(),
            limits(),
            random_encodes(250),
            replacements(),
            wrong(),
            wides(),
        ):
            for line in group:
                print(line, file=f)


main(sys.argv[1])
