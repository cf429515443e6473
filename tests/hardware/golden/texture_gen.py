"""Writes the texture group: texture.ptx, a kernel for each form of tex and tld4, and
texture.txt, the cases that texture_run.c runs.

    python3 texture_gen.py FOLDER
"""

import itertools
import os
import sys

KERNEL = """.visible .entry {name}(.param .u64 t, .param .u64 in, .param .u64 out)
{{
.reg .b32 %c<16>, %d<4>, %i<4>;
.reg .b64 %p<6>;
.reg .b32 %o<4>;
.reg .b16 %h<4>;
.reg .pred %q;
ld.param.u64 %p0, [t];
ld.param.u64 %p1, [in];
ld.param.u64 %p2, [out];
mov.u32 %i0, %ctaid.x;
mov.u32 %i1, %ntid.x;
mov.u32 %i2, %tid.x;
mad.lo.u32 %i0, %i0, %i1, %i2;
mad.wide.u32 %p1, %i0, 64, %p1;
mad.wide.u32 %p2, %i0, 16, %p2;
ld.v4.u32 {{%c0, %c1, %c2, %c3}}, [%p1];
ld.v4.u32 {{%c4, %c5, %c6, %c7}}, [%p1+16];
ld.v4.u32 {{%c8, %c9, %c10, %c11}}, [%p1+32];
ld.v4.u32 {{%c12, %c13, %c14, %c15}}, [%p1+48];
bfe.s32 %o0, %c11, 0, 5;
bfe.s32 %o1, %c11, 8, 5;
bfe.s32 %o2, %c11, 16, 5;
mov.u32 %d0, 0; mov.u32 %d1, 0; mov.u32 %d2, 0; mov.u32 %d3, 0;
{code}
st.v4.u32 [%p2], {{%d0, %d1, %d2, %d3}};
ret;
}}
"""

# name: (coordinates that are numbers, that are integers, derivatives)
GEOMETRY = {
    "1d": ("{%c0}", "{%c12}", 1),
    "2d": ("{%c0, %c1}", "{%c12, %c13}", 2),
    "3d": ("{%c0, %c1, %c2, %c2}", "{%c12, %c13, %c14, %c14}", 3),
    "a1d": ("{%c15, %c0}", "{%c15, %c12}", 1),
    "a2d": ("{%c15, %c0, %c1, %c1}", "{%c15, %c12, %c13, %c13}", 2),
    "cube": ("{%c0, %c1, %c2, %c2}", None, 3),
    "acube": ("{%c15, %c0, %c1, %c2}", None, 3),
}
D = "{%d0, %d1, %d2, %d3}"


def vector(first, n):
    names = ["%%c%d" % (first + i) for i in range(n)]
    return "{" + ", ".join(names + names[-1:] * (n == 3)) + "}"


def kernels():
    """(name, code)"""
    for geometry, (number, integer, n) in GEOMETRY.items():
        for t in ("f32", "s32", "u32"):
            yield f"tex_{geometry}_{t}", f"tex.{geometry}.v4.{t}.f32 {D}, [%p0, {number}];"
        yield (f"tex_{geometry}_f16x2",
               f"tex.{geometry}.v2.f16x2.f32 {{%d0, %d1}}, [%p0, {number}];")
        yield (f"level_{geometry}_f32",
               f"tex.level.{geometry}.v4.f32.f32 {D}, [%p0, {number}], %c4;")
        yield (f"grad_{geometry}_f32",
               f"tex.grad.{geometry}.v4.f32.f32 {D}, [%p0, {number}], "
               f"{vector(5, n)}, {vector(8, n)};")
        if integer:
            for t in ("f32", "s32", "u32"):
                yield f"fetch_{geometry}_{t}", f"tex.{geometry}.v4.{t}.s32 {D}, [%p0, {integer}];"
            yield (f"fetch_level_{geometry}_f32",
                   f"tex.level.{geometry}.v4.f32.s32 {D}, [%p0, {integer}], %c15;")
    for geometry in ("2d", "a2d", "cube", "acube"):
        for component in "rgba":
            for t in ("f32", "u32", "s32"):
                yield (f"gather_{component}_{geometry}_{t}",
                       f"tld4.{component}.{geometry}.v4.{t}.f32 {D}, "
                       f"[%p0, {GEOMETRY[geometry][0]}];")


OFFSETS = {"1d": "{%o0}", "2d": "{%o0, %o1}", "3d": "{%o0, %o1, %o2, %o2}", "a1d": "{%o0}",
           "a2d": "{%o0, %o1}", "cube": "", "acube": ""}
RESIDENT = " selp.u32 %d3, 0x100, 0x200, %q;"


def variants():
    """Offsets, depth references, the residency predicate, halves."""
    for geometry, (number, integer, n) in GEOMETRY.items():
        at, offsets = f"[%p0, {number}]", OFFSETS[geometry]
        for form, more in (("tex", ""), ("level", ", %c4"),
                           ("grad", f", {vector(5, n)}, {vector(8, n)}")):
            op = f"tex.{geometry}" if form == "tex" else f"tex.{form}.{geometry}"
            if offsets:
                yield (f"offset_{form}_{geometry}_f32",
                       f"{op}.v4.f32.f32 {D}, {at}{more}, {offsets};")
            if geometry != "3d":
                yield f"depth_{form}_{geometry}_f32", f"{op}.v4.f32.f32 {D}, {at}{more}, %c4;"
            if offsets and geometry != "3d":
                yield (f"offset_depth_{form}_{geometry}_f32",
                       f"{op}.v4.f32.f32 {D}, {at}{more}, {offsets}, %c4;")
            yield (f"resident_{form}_{geometry}_f32",
                   f"{op}.v4.f32.f32 {D}|%q, {at}{more};" + RESIDENT)
        yield f"base_{geometry}_f32", f"tex.base.{geometry}.v4.f32.f32 {D}, {at};"
        yield (f"tex_{geometry}_f16", f"tex.{geometry}.v4.f16.f32 {{%h0, %h1, %h2, %h3}}, {at};"
               + "".join(f" cvt.u32.u16 %d{i}, %h{i};" for i in range(4)))
        if integer:
            whole = f"[%p0, {integer}]"
            yield (f"fetch_{geometry}_f16x2",
                   f"tex.{geometry}.v2.f16x2.s32 {{%d0, %d1}}, {whole};")
            yield (f"fetch_grad_{geometry}_f32", f"tex.grad.{geometry}.v4.f32.s32 {D}, {whole}, "
                   f"{vector(5, n)}, {vector(8, n)};")
            yield (f"offset_fetch_{geometry}_f32",
                   f"tex.{geometry}.v4.f32.s32 {D}, {whole}, {offsets};")
            yield (f"offset_fetch_level_{geometry}_f32",
                   f"tex.level.{geometry}.v4.f32.s32 {D}, {whole}, %c15, {offsets};")
            yield (f"resident_fetch_{geometry}_f32",
                   f"tex.{geometry}.v4.f32.s32 {D}|%q, {whole};" + RESIDENT)
    for geometry, coordinates in (("2dms", "{%c15, %c12, %c13, %c13}"),
                                  ("a2dms", "{%c15, %c14, %c12, %c13}")):
        yield f"fetch_{geometry}_f32", f"tex.{geometry}.v4.f32.s32 {D}, [%p0, {coordinates}];"
    for geometry in ("2d", "a2d", "cube", "acube"):
        at, offsets = f"[%p0, {GEOMETRY[geometry][0]}]", OFFSETS[geometry]
        for component in "ra":
            op = f"tld4.{component}.{geometry}.v4.f32.f32"
            name = f"gather_{component}_{geometry}_f32"
            if offsets:
                yield "offset_" + name, f"{op} {D}, {at}, {offsets};"
                yield "offset_depth_" + name, f"{op} {D}, {at}, {offsets}, %c4;"
            yield "depth_" + name, f"{op} {D}, {at}, %c4;"
            yield "resident_" + name, f"{op} {D}|%q, {at};" + RESIDENT


def write_kernels(path):
    with open(path, "w") as f:
        f.write(".version 8.0\n.target sm_90\n.address_size 64\n")
        for name, code in itertools.chain(kernels(), variants()):
            f.write(KERNEL.format(name=name, code=code))


ARRAY, MIPMAP, LINEAR, PITCHED = range(4)
U8, U16, U32, S8, S16, S32, HALF, FLOAT = 1, 2, 3, 8, 9, 10, 0x10, 0x20
WRAP, CLAMP, MIRROR, BORDER = range(4)
POINT, FILTER = range(2)
INTEGER, NORMALIZED, SRGB, NO_TRILINEAR, SEAMLESS = 1, 2, 0x10, 0x20, 0x40
LAYERED, SURFACE, CUBE, GATHER, DEPTH = 1, 2, 4, 8, 16
FLOATS, PARITY, SPECIAL_FLOATS, BITS, WIDE, INDEX, PLACE, MODES, LEAST_FLOATS = range(9)
(UNIFORM, HALVES, SPECIALS, RAMP, EXPONENTS, MIXED, GRID, DIRECTIONS, SCAN,
 DERIVATIVES, AXES, LEASTS) = range(12)

cases = []
seed = 0


def case(kernel, size, **k):
    global seed
    seed += 1
    size = (list(size) + [0, 0])[:3]
    a = k.get("address", CLAMP)
    a = [a] * 3 if isinstance(a, int) else a
    border = k.get("border", (0, 0, 0, 0))
    row = [kernel, k.get("resource", ARRAY), "%x" % k.get("format", FLOAT), k.get("channels", 4),
           *size, k.get("levels", 1), k.get("array_flags", 0), k.get("flags", 0),
           k.get("filter", FILTER), k.get("mip_filter", POINT), *a, k.get("anisotropy", 0),
           k.get("bias", 0), k.get("min_level", 0), k.get("max_level", 0), *border,
           k.get("texels", FLOATS), k.get("texel_seed", seed), k.get("coordinates", MIXED), seed,
           k.get("lanes", 64), *k.get("view", ())]
    cases.append(" ".join(str(v) for v in row))


FORMATS = (U8, S8, U16, S16, U32, S32, HALF, FLOAT)
ADDRESSES = (WRAP, CLAMP, MIRROR, BORDER)
PLAIN = {"1d": ([11], 0), "2d": ([11, 7], 0), "3d": ([7, 5, 6], 0),
         "a1d": ([11, 0, 3], LAYERED), "a2d": ([9, 6, 3], LAYERED)}
CUBES = {"cube": ([8, 8, 6], CUBE), "acube": ([4, 4, 12], CUBE | LAYERED)}
BORDERS = ((1.5, -2.25, 0.1, 7), (0.25, 0.75, -0.3, 300.7))


def texels_of(format, n):
    return (FLOATS, WIDE, SPECIAL_FLOATS, BITS)[n % 4] if format in (HALF, FLOAT) else BITS


def sampled():
    """Every form by dimension, format, channels, reading, filter, coordinates, address mode."""
    n = 0
    for name, (size, f) in PLAIN.items():
        for format in FORMATS:
            for channels in (1, 2, 4):
                for flags in (0, INTEGER, NORMALIZED, INTEGER | NORMALIZED):
                    for filter in (POINT, FILTER):
                        for address in ADDRESSES:
                            for coordinates in (MIXED, SPECIALS, HALVES, EXPONENTS):
                                n += 1
                                t = ("f32", "f32", "u32", "s32")[n // 7 % 4]
                                case(f"tex_{name}_{t}", size, array_flags=f, format=format,
                                     channels=channels, flags=flags, filter=filter,
                                     address=address, coordinates=coordinates,
                                     texels=texels_of(format, n // 3), border=BORDERS[n // 5 % 2])
    for name, (size, f) in CUBES.items():
        for format in FORMATS:
            for channels in (1, 2, 4):
                for flags in (0, SEAMLESS, INTEGER):
                    for filter in (POINT, FILTER):
                        for coordinates in (UNIFORM, EXPONENTS):
                            case(f"tex_{name}_f32", size, array_flags=f, format=format,
                                 channels=channels, flags=flags, filter=filter,
                                 coordinates=coordinates, texels=texels_of(format, n))


def modes():
    """Address modes that differ between the axes."""
    for a in ADDRESSES:
        for b in ADDRESSES:
            for flags in (0, NORMALIZED):
                for filter in (POINT, FILTER):
                    k = dict(flags=flags, filter=filter, border=BORDERS[0])
                    case("tex_1d_f32", [13], address=(a, b, CLAMP), **k)
                    case("tex_2d_f32", [13, 6], address=(a, b, CLAMP), **k)
                    for c in ADDRESSES:
                        case("tex_3d_f32", [5, 7, 6], address=(a, b, c), **k)


def sizes():
    """How many bits of a normalised coordinate count."""
    for n in (1, 2, 3, 5, 100, 255, 1000, 4095, 8191, 8192, 8193, 10000, 20000, 30000, 65535, 65536,
              65537, 90000, 131071, 131072):
        for flags in (0, NORMALIZED):
            for filter in (POINT, FILTER):
                for address in ADDRESSES:
                    for coordinates in (UNIFORM, HALVES):
                        case("tex_1d_f32", [n], flags=flags, filter=filter, address=address,
                             coordinates=coordinates, channels=1)
                        if n <= 65536:
                            case("tex_2d_f32", [n, 3], flags=flags, filter=filter,
                                 address=address, coordinates=coordinates, channels=1)
                            case("tex_2d_f32", [2, n], flags=flags, filter=filter,
                                 address=address, coordinates=coordinates, channels=1)


def fetched():
    """Whole coordinates; linear and pitched memory."""
    for format in FORMATS:
        for channels in (1, 2, 4):
            k = dict(format=format, channels=channels, texels=BITS)
            for flags in (0, INTEGER):
                for coordinates in (UNIFORM, SPECIALS):
                    for t in ("f32", "u32", "s32"):
                        for name, (size, f) in PLAIN.items():
                            case(f"fetch_{name}_{t}", size, array_flags=f, flags=flags,
                                 filter=POINT, coordinates=coordinates, **k)
                        case(f"fetch_1d_{t}", [77], resource=LINEAR, flags=flags, filter=POINT,
                             coordinates=coordinates, **k)
                        case(f"fetch_2d_{t}", [23, 9], resource=PITCHED, flags=flags,
                             filter=POINT, coordinates=coordinates, **k)
                    case("tex_1d_f32", [77], resource=LINEAR, flags=flags,
                         coordinates=coordinates, **k)
                    for filter in (POINT, FILTER):
                        for address in ADDRESSES:
                            for more in (0, NORMALIZED):
                                case("tex_2d_f32", [23, 9], resource=PITCHED, flags=flags | more,
                                     filter=filter, address=address, coordinates=coordinates,
                                     border=BORDERS[1], **k)


def levels():
    """Mip levels, explicit or by derivatives."""
    for name, (size, f) in {"1d": ([64], 0), "2d": ([32, 48], 0), "3d": ([16, 16, 8], 0),
                            "a2d": ([32, 16, 3], LAYERED), "cube": ([16, 16, 6], CUBE)}.items():
        for format in (U8, S16, HALF, FLOAT):
            for mip_filter in (POINT, FILTER):
                for filter in (POINT, FILTER):
                    for form in ("level", "grad", "tex"):
                        for bias, low, high in ((0, 0, 9), (0.3, 0, 9), (-0.6, 0.5, 2.7)):
                            case(f"{form}_{name}_f32", size, resource=MIPMAP, array_flags=f,
                                 levels=4, mip_filter=mip_filter, filter=filter, flags=NORMALIZED,
                                 bias=bias, min_level=low, max_level=high, format=format,
                                 texels=texels_of(format, 0), coordinates=UNIFORM)


def others():
    for component in "rgba":
        for format in FORMATS:
            for address in ADDRESSES:
                for flags in (0, NORMALIZED):
                    case(f"gather_{component}_2d_f32", [11, 7], array_flags=GATHER, format=format,
                         flags=flags, filter=POINT, address=address, border=BORDERS[1],
                         texels=texels_of(format, 0))
    for name in ("1d", "2d", "3d"):
        for format in FORMATS:
            for filter in (POINT, FILTER):
                for channels in (1, 2, 4):
                    case(f"tex_{name}_f16x2", PLAIN[name][0], format=format, filter=filter,
                         channels=channels, texels=texels_of(format, channels),
                         coordinates=UNIFORM)
    for flags in (SRGB, SRGB | NORMALIZED):
        for filter in (POINT, FILTER):
            for channels in (1, 2, 4):
                case("tex_2d_f32", [11, 7], format=U8, channels=channels, filter=filter,
                     flags=flags, texels=BITS, lanes=1024)


MIPS = {"1d": ([64], 0), "2d": ([32, 48], 0), "3d": ([16, 24, 8], 0),
        "a1d": ([64, 0, 3], LAYERED), "a2d": ([32, 16, 3], LAYERED),
        "cube": ([16, 16, 6], CUBE), "acube": ([8, 8, 12], CUBE | LAYERED)}


def level_sums():
    """Which levels a sample is of, how they are mixed; whole coordinates."""
    n = 0
    for name, (size, f) in MIPS.items():
        k = dict(array_flags=f, resource=MIPMAP, levels=4, flags=NORMALIZED, max_level=9)
        for texels in (PLACE, FLOATS, WIDE):
            for filter in (POINT, FILTER):
                for coordinates in (UNIFORM, HALVES, SPECIALS, EXPONENTS, DERIVATIVES):
                    for form in ("tex", "level", "grad", "base"):
                        for mip_filter in (POINT, FILTER):
                            case(f"{form}_{name}_f32", size, texels=texels, filter=filter,
                                 coordinates=coordinates, mip_filter=mip_filter,
                                 lanes=256 if texels == PLACE else 64, **k)
        for i in range(24):
            n += 1
            case(f"{('tex', 'level', 'grad')[i % 3]}_{name}_f32", size, texels=PLACE,
                 coordinates=(HALVES, UNIFORM, DERIVATIVES)[i // 3 % 3],
                 **{**k, "bias": ((n * 7919) % 1024 - 512) / 173, "min_level": n % 13 / 3.7,
                    "max_level": n % 17 / 3.3}, mip_filter=FILTER, lanes=256)
        if "cube" not in name:
            for form in ("fetch", "fetch_level", "fetch_grad"):
                kernel = f"{form}_{name}_f32"
                for flags in (0, NORMALIZED):
                    for coordinates in (UNIFORM, SPECIALS):
                        case(kernel, size, texels=PLACE, coordinates=coordinates,
                             **{**k, "flags": flags})


def gradients():
    """The level that derivatives give, by itself."""
    for name, sizes in {"1d": ([256], [100]), "2d": ([256, 256], [100, 37], [13, 200]),
                        "3d": ([64, 64, 64], [20, 40, 13]), "a2d": ([64, 128, 2],),
                        "a1d": ([100, 0, 2],), "cube": ([128, 128, 6], [37, 37, 6]),
                        "acube": ([64, 64, 12],)}.items():
        for size in sizes:
            for coordinates in (UNIFORM, DERIVATIVES, DIRECTIONS, SCAN):
                case(f"grad_{name}_f32", size, texels=PLACE, coordinates=coordinates,
                     array_flags=MIPS[name][1], resource=MIPMAP, levels=6, flags=NORMALIZED,
                     max_level=20, mip_filter=FILTER, lanes=2048)


def anisotropy():
    n = 0
    for most in (1, 2, 3, 4, 8, 16, 17):
        for mip_filter in (POINT, FILTER):
            for coordinates in (UNIFORM, DERIVATIVES, SCAN, SCAN, SCAN):
                for form in ("grad", "level", "tex"):
                    n += 1
                    if form == "grad" or coordinates == UNIFORM:
                        case(f"{form}_2d_f32", [64, 64], texels=(PLACE, PARITY)[n & 1],
                             coordinates=coordinates, resource=MIPMAP, levels=7, flags=NORMALIZED,
                             max_level=20, mip_filter=mip_filter, anisotropy=most, lanes=1024)
        case("grad_2d_f32", [64, 64], coordinates=UNIFORM, flags=NORMALIZED, anisotropy=most)


def cubes():
    """Which face and where, edges and corners."""
    for name, sizes in {"cube": (1, 2, 5, 8, 64), "acube": (3, 8)}.items():
        for n in sizes:
            size = [n, n, 6 if name == "cube" else 12]
            f = MIPS[name][1]
            for flags in (0, SEAMLESS, NORMALIZED, SEAMLESS | NORMALIZED):
                for filter in (POINT, FILTER):
                    for texels in (PLACE, PARITY, FLOATS):
                        case(f"tex_{name}_f32", size, array_flags=f, coordinates=DIRECTIONS,
                             texels=texels, flags=flags, filter=filter, lanes=1024)
                    case(f"tex_{name}_f32", size, array_flags=f, coordinates=SPECIALS,
                         texels=PLACE, flags=flags, filter=filter, lanes=256)
                    for address in (WRAP, BORDER):
                        case(f"tex_{name}_f32", size, array_flags=f, coordinates=DIRECTIONS,
                             flags=flags, filter=filter, address=address, border=BORDERS[0])
                    for format in (U8, S16, HALF):
                        case(f"tex_{name}_f32", size, array_flags=f, coordinates=DIRECTIONS,
                             texels=texels_of(format, 0), format=format, flags=flags,
                             filter=filter)
    for name, (size, f) in CUBES.items():
        for mip_filter in (POINT, FILTER):
            for flags in (NORMALIZED, NORMALIZED | SEAMLESS):
                for form in ("level", "grad"):
                    case(f"{form}_{name}_f32", size, array_flags=f, resource=MIPMAP, levels=3,
                         coordinates=DIRECTIONS, flags=flags, max_level=5, mip_filter=mip_filter)


def gathers():
    for name, (size, f) in {"2d": ([11, 7], 0), "a2d": ([9, 6, 3], LAYERED), **CUBES}.items():
        for component in "rgba":
            for coordinates in (UNIFORM, HALVES, SPECIALS, EXPONENTS, DIRECTIONS):
                for flags in (0, NORMALIZED, SEAMLESS):
                    for filter in (POINT, FILTER):
                        for texels in (PLACE, FLOATS):
                            case(f"gather_{component}_{name}_f32", size, array_flags=f | GATHER,
                                 coordinates=coordinates, flags=flags, filter=filter,
                                 texels=texels, address=ADDRESSES[ord(component) % 4])
            for channels in (1, 2):
                case(f"gather_{component}_{name}_f32", size, array_flags=f | GATHER,
                     channels=channels)
            case(f"gather_{component}_{name}_f32", size, array_flags=f)
            for t in ("u32", "s32"):
                case(f"gather_{component}_{name}_{t}", size, array_flags=f | GATHER, format=U8,
                     flags=INTEGER, texels=BITS)
    for resource, size in ((PITCHED, [23, 9]), (MIPMAP, [16, 16])):
        case("gather_g_2d_f32", size, resource=resource, flags=NORMALIZED, levels=3, max_level=3,
             min_level=1.5, array_flags=GATHER if resource == MIPMAP else 0)


def options():
    """Offsets, depth references, residency, halves."""
    for name, (size, f) in {**PLAIN, **CUBES}.items():
        for form in ("tex", "level", "grad", "fetch", "fetch_level"):
            for what in ("offset_", "depth_", "offset_depth_", "resident_"):
                kernel = f"{what}{form}_{name}_f32"
                if not has_kernel(kernel):
                    continue
                for texels in (PLACE, FLOATS):
                    for flags in (0, NORMALIZED):
                        for filter in (POINT, FILTER):
                            for resource in (ARRAY, MIPMAP):
                                for address in ADDRESSES:
                                    case(kernel, size, array_flags=f, texels=texels, flags=flags,
                                         filter=filter, resource=resource, levels=2, max_level=2,
                                         address=address, border=BORDERS[0],
                                         coordinates=(UNIFORM, MIXED)[address & 1])
        for form in ("tex_%s_f16", "fetch_%s_f16x2", "tex_%s_f16x2"):
            if has_kernel(form % name):
                for format in FORMATS:
                    for flags in (0, INTEGER):
                        case(form % name, size, array_flags=f, format=format, flags=flags,
                             texels=BITS, filter=flags ^ 1)
        if f"gather_r_{name}_f32" in kernel_names:
            for what in ("offset_", "offset_depth_", "depth_", "resident_"):
                for component in "ra":
                    kernel = f"{what}gather_{component}_{name}_f32"
                    for address in ADDRESSES if has_kernel(kernel) else ():
                        for texels in (PLACE, FLOATS):
                            case(kernel, size, array_flags=f | GATHER, address=address,
                                 texels=texels, border=BORDERS[0],
                                 coordinates=(UNIFORM, MIXED)[address & 1])


def depths():
    """Depth textures, and references against every format."""
    for format in FORMATS:
        for channels in (1, 2, 4):
            for f in (0, DEPTH):
                for filter in (POINT, FILTER):
                    for kernel in ("tex_2d_f32", "depth_tex_2d_f32"):
                        case(kernel, [11, 7], array_flags=f, format=format, channels=channels,
                             texels=texels_of(format, 0), filter=filter, coordinates=UNIFORM)


NORMALS = range(0xc0, 0xcc)
BLOCKS = range(0x91, 0x9f)


def formats():
    """What the API makes of every number of a format, and blocks of every kind."""
    for format in range(0x100):
        if format in FORMATS or format in BLOCKS:
            continue
        for channels in (1, 2, 3, 4):
            for filter in (POINT, FILTER):
                case("tex_2d_f32", [16, 16], format=format, channels=channels, filter=filter,
                     coordinates=GRID, texels=BITS, lanes=256)
    for format in (*NORMALS, 0x50):
        for channels in (1, 2, 4):
            for flags in (INTEGER, NORMALIZED, SRGB):
                for t in ("f32", "u32"):
                    case(f"tex_2d_{t}", [16, 16], format=format, channels=channels, flags=flags,
                         filter=POINT, coordinates=GRID, texels=BITS, border=BORDERS[0], lanes=64)
            case("tex_2d_f32", [16, 16], format=format, channels=channels, address=BORDER,
                 border=BORDERS[0], coordinates=MIXED, texels=BITS)
    for format in BLOCKS:
        for channels in (1, 2, 3, 4):
            for filter in (POINT, FILTER):
                case("tex_2d_f32", [64, 64], format=format, channels=channels, filter=filter,
                     coordinates=GRID if filter == POINT else MIXED, texels=BITS, lanes=2048)
        case("tex_2d_f32", [13, 9], format=format, channels=4, filter=POINT, texels=BITS)
        for name, (size, f) in {"3d": ([8, 8, 4], 0), "a2d": ([12, 8, 3], LAYERED),
                                "cube": ([8, 8, 6], CUBE), "1d": ([16], 0)}.items():
            case(f"tex_{name}_f32", size, format=format, array_flags=f, texels=BITS)


def views():
    """Resource views: other formats, blocks, levels, layers."""
    global seed
    words = {1: (U8, 1), 2: (U8, 2), 3: (U8, 4), 4: (S8, 1), 5: (S8, 2), 6: (S8, 4),
             7: (U16, 1), 8: (U16, 2), 9: (U16, 4), 10: (S16, 1), 11: (S16, 2), 12: (S16, 4),
             13: (U32, 1), 14: (U32, 2), 15: (U32, 4), 16: (S32, 1), 17: (S32, 2), 18: (S32, 4),
             19: (HALF, 1), 20: (HALF, 2), 21: (HALF, 4), 22: (FLOAT, 1), 23: (FLOAT, 2),
             24: (FLOAT, 4)}
    for array in (3, 14, 16, 21, 22, 23, 24):
        format, channels = words[array]
        for view in range(36):
            scale = 4 if view > 24 else 1
            for wide in (1, scale) if scale > 1 else (1,):
                case("tex_2d_f32", [16, 16], format=format, channels=channels, texels=BITS,
                     coordinates=GRID, lanes=256, filter=POINT,
                     view=(view, 16 * wide, 16 * wide, 0, 0, 0, 0, 0))
    for view in range(25, 35):
        two = view in (25, 28, 29)
        for i in range(6):
            case("tex_2d_f32", [16, 16], format=U32, channels=2 if two else 4, texels=BITS,
                 coordinates=GRID, lanes=4096, filter=POINT, view=(view, 64, 64, 0, 0, 0, 0, 0))
        for flags in (0, SRGB, NORMALIZED, INTEGER):
            for filter in (POINT, FILTER):
                case("tex_2d_f32", [16, 16], format=U32, channels=2 if two else 4, texels=BITS,
                     coordinates=MIXED, lanes=256, filter=filter, flags=flags, address=BORDER,
                     border=BORDERS[0], view=(view, 64, 64, 0, 0, 0, 0, 0))
    for view in ((0, 16, 16, 0, 0, 0, 0, 0), (24, 8, 16, 0, 0, 0, 0, 0), (24, 0, 0, 0, 0, 0, 0, 0),
                 (24, 16, 16, 1, 0, 0, 0, 0), (24, 16, 16, 0, 1, 1, 0, 0),
                 (24, 16, 16, 0, 0, 0, 0, 1), (24, 32, 32, 0, 0, 0, 0, 0)):
        case("tex_2d_f32", [16, 16], view=view)
    for first in range(4):
        for last in range(5):
            case("level_2d_f32", [32, 32], resource=MIPMAP, levels=4, flags=NORMALIZED,
                 max_level=9, mip_filter=FILTER, texels=PLACE, min_level=first / 2,
                 view=(24, 32 >> first, 32 >> first, 0, first, last, 0, 0))
            case("level_2d_f32", [32, 32], resource=MIPMAP, levels=4, flags=NORMALIZED,
                 max_level=9, mip_filter=FILTER, texels=PLACE,
                 view=(24, 32, 32, 0, first, last, 0, 0))
            case("tex_a2d_f32", [8, 8, 4], array_flags=LAYERED, texels=PLACE,
                 view=(24, 8, 8, 4, 0, 0, first, last))
            case("tex_a2d_f32", [8, 8, 4], array_flags=LAYERED, texels=PLACE,
                 view=(24, 8, 8, 0, 0, 0, first, last))
            case("tex_2d_f32", [8, 8, 4], array_flags=LAYERED, texels=PLACE,
                 view=(24, 8, 8, 0, 0, 0, first, last))
    for f, size in ((CUBE, [8, 8, 6]), (LAYERED, [8, 8, 6]), (0, [8, 8, 6])):
        for name in ("cube", "a2d", "3d"):
            if f == LAYERED and name != "a2d":  # the kernel is for other dimensions
                seed += 1
                continue
            case(f"tex_{name}_f32", size, array_flags=f, texels=PLACE,
                 view=(24, 8, 8, 6, 0, 0, 0, 5))


def planes():
    """Three dimensions: sums of two planes; deep ones."""
    for texels in (FLOATS, WIDE):
        for size in ([1, 1, 32], [1, 1, 32], [8, 1, 16], [7, 5, 6], [6, 8, 4]):
            for format in (FLOAT, HALF):
                for i in range(2):
                    case("tex_3d_f32", size, texels=texels, format=format, coordinates=UNIFORM,
                         lanes=4096)
    for depth in (2048, 2049, 4096, 8193, 16384, 16385):
        for axis in range(3):
            size = [2, 2, 2]
            size[axis] = depth
            for coordinates in (UNIFORM, HALVES):
                for filter in (POINT, FILTER):
                    case("tex_3d_f32", size, channels=1, flags=NORMALIZED, filter=filter,
                         coordinates=coordinates, lanes=256)
    for n in (20000, 32768):
        case("tex_3d_f32", [1, 1, n], channels=1, flags=NORMALIZED, coordinates=HALVES, lanes=256)


def samplers():
    """All of the formats with sRGB; integers filtered."""
    for format in FORMATS:
        for channels in (1, 2, 4):
            for filter in (POINT, FILTER):
                case("tex_2d_f32", [16, 16], format=format, channels=channels, filter=filter,
                     flags=SRGB, texels=texels_of(format, 0), coordinates=GRID, lanes=256)
                case("tex_2d_f32", [16, 16], format=format, channels=channels, filter=filter,
                     flags=SRGB, texels=texels_of(format, 0), address=BORDER, border=BORDERS[1])
    for i in range(4):
        case("tex_2d_f32", [16, 16], format=U8, flags=SRGB, texels=BITS, coordinates=UNIFORM,
             lanes=2048)


def multisampled():
    for name in ("2dms", "a2dms"):
        for size, f in (([11, 7], 0), ([9, 6, 3], LAYERED)):
            case(f"fetch_{name}_f32", size, array_flags=f, texels=PLACE, coordinates=UNIFORM)


# format: channels, its number as a view of two or four words
BLOCK_FORMATS = {0x91: (4, 25), 0x92: (4, 0), 0x93: (4, 26), 0x94: (4, 0), 0x95: (4, 27),
                 0x96: (4, 0), 0x97: (1, 28), 0x98: (1, 29), 0x99: (2, 30), 0x9a: (2, 31),
                 0x9b: (3, 32), 0x9c: (3, 33), 0x9d: (4, 34), 0x9e: (4, 0)}
SRGB_BLOCKS = (0x92, 0x94, 0x96, 0x9e)


def blocks():
    """Arrays and views of blocks: every mode, dimension, filter, address mode."""
    for format, (channels, view) in BLOCK_FORMATS.items():
        own = SRGB if format in SRGB_BLOCKS else 0
        k = dict(format=format, channels=channels, texels=MODES)
        for i in range(8 if format >= 0x9b else 2):
            case("tex_2d_f32", [64, 64], flags=own, filter=POINT, coordinates=GRID, lanes=4096, **k)
        for flags in (0, SRGB, INTEGER, NORMALIZED | own):
            for filter in (POINT, FILTER):
                for t in ("f32", "u32", "s32"):
                    case(f"tex_2d_{t}", [32, 32], flags=flags, filter=filter, lanes=256, **k)
        for address in ADDRESSES:
            for filter in (POINT, FILTER):
                for border in BORDERS:
                    case("tex_2d_f32", [13, 9], flags=own | NORMALIZED, filter=filter,
                         address=address, border=border, **k)
        for kernel in ("fetch_2d_f32", "fetch_2d_f16x2", "tex_2d_f16x2", "tex_2d_f16",
                       "offset_tex_2d_f32", "gather_r_2d_f32", "gather_a_2d_f32"):
            for array_flags in (0, GATHER):
                case(kernel, [13, 9], flags=own, array_flags=array_flags, **k)
        for name, (size, f) in {"3d": ([10, 9, 5], 0), "a2d": ([12, 7, 3], LAYERED),
                                "cube": ([8, 8, 6], CUBE), "acube": ([6, 6, 12], CUBE | LAYERED),
                                "1d": ([16], 0), "a1d": ([16, 0, 3], LAYERED)}.items():
            for filter in (POINT, FILTER):
                for flags in (own, own | SEAMLESS):
                    if flags & SEAMLESS and "cube" not in name:
                        continue
                    case(f"tex_{name}_f32", size, array_flags=f, flags=flags, filter=filter,
                         coordinates=DIRECTIONS if "cube" in name else MIXED, lanes=256, **k)
        for size in ([32, 32], [20, 12], [9, 5], [7, 33]):
            for filter in (POINT, FILTER):
                for kernel in ("level_2d_f32", "fetch_level_2d_f32", "grad_2d_f32"):
                    case(kernel, size, resource=MIPMAP, levels=4, flags=own | NORMALIZED,
                         max_level=9, mip_filter=filter, lanes=256, **k)
        case("tex_2d_f32", [32, 32], array_flags=SURFACE, flags=own, **k)
        block_views(view, 2 if format in (0x91, 0x97, 0x98) else 4)


def block_views(view, words):
    """Words as blocks."""
    k = dict(format=U32, channels=words, texels=MODES)
    if not view:
        return
    for w, h, x, y in ((5, 3, 20, 12), (5, 3, 19, 12), (5, 3, 17, 9), (5, 3, 5, 3), (5, 3, 21, 12)):
        case("tex_2d_f32", [w, h], view=(view, x, y, 0, 0, 0, 0, 0), **k)
    for first, last in ((0, 0), (0, 2), (1, 2), (1, 1)):
        for size in ([8, 8], [5, 3], [9, 6]):
            case("level_2d_f32", size, resource=MIPMAP, levels=3, flags=NORMALIZED, max_level=9,
                 mip_filter=FILTER, lanes=256,
                 view=(view, *(4 * n >> first for n in size), 0, first, last, 0, 0), **k)
            case("level_2d_f32", size, resource=MIPMAP, levels=3, flags=NORMALIZED, max_level=9,
                 mip_filter=FILTER, lanes=256,
                 view=(view, *(4 * max(n >> first, 1) for n in size), 0, first, last, 0, 0), **k)
            case("level_2d_f32", size, resource=MIPMAP, levels=3, flags=NORMALIZED, max_level=9,
                 mip_filter=FILTER, lanes=256,
                 view=(view, *(4 * n for n in size), 0, first, last, 0, 0), **k)
    for name, size, f, depth in (("a2d", [3, 2, 4], LAYERED, 4), ("3d", [3, 2, 4], 0, 4),
                                 ("cube", [2, 2, 6], CUBE, 6),
                                 ("acube", [2, 2, 12], CUBE | LAYERED, 12)):
        for last in (0, depth - 1, depth):
            case(f"tex_{name}_f32", size, array_flags=f, lanes=256,
                 view=(view, 4 * size[0], 4 * size[1], depth, 0, 0, 0, last), **k)
    case("tex_a2d_f32", [3, 2, 4], array_flags=LAYERED, lanes=256,
         view=(view, 12, 8, 4, 0, 0, 1, 2), **k)


def packed():
    """10-10-10-2, and views of other arrays than words and blocks."""
    k = dict(format=0x50, channels=4, texels=BITS)
    for name, (size, f) in {**PLAIN, **CUBES}.items():
        for filter in (POINT, FILTER):
            for address in ADDRESSES:
                case(f"tex_{name}_f32", size, array_flags=f, filter=filter, address=address,
                     border=BORDERS[address & 1], flags=NORMALIZED, lanes=256, **k)
    for kernel in ("fetch_2d_f32", "fetch_2d_u32", "tex_2d_f16x2", "gather_r_2d_f32",
                   "gather_g_2d_f32", "gather_a_2d_f32"):
        for flags in (0, INTEGER, SRGB):
            case(kernel, [16, 16], array_flags=GATHER, flags=flags, filter=POINT, lanes=256, **k)
    for filter in (POINT, FILTER):
        case("level_2d_f32", [16, 16], resource=MIPMAP, levels=4, flags=NORMALIZED, max_level=9,
             mip_filter=filter, lanes=256, **k)
    for i in range(4):
        case("tex_2d_f32", [16, 16], coordinates=UNIFORM, lanes=4096, **k)
    case("tex_2d_f32", [16, 16], array_flags=SURFACE, **k)
    for resource in (LINEAR, PITCHED):
        case("fetch_1d_f32" if resource == LINEAR else "fetch_2d_f32", [16, 16], resource=resource,
             filter=POINT, **k)
    for format, channels in ((0x50, 4), (0x91, 4), (0x9d, 4), (0xc2, 4), (0xc7, 2)):
        for view in (0, 1, 3, 13, 14, 22, 24, 25, 34):
            case("tex_2d_f32", [16, 16], format=format, channels=channels, texels=MODES,
                 filter=POINT, view=(view, 16, 16, 0, 0, 0, 0, 0))


def probes():
    """Anisotropic gradients: what becomes of their probes, by format, limit, sampler, dimension."""
    global seed
    n = 0
    k = dict(resource=MIPMAP, levels=5, flags=NORMALIZED, max_level=9, mip_filter=FILTER,
             coordinates=AXES, anisotropy=16, lanes=512)
    for format in FORMATS:
        for most in (2, 6, 16):
            for high in (0, 9):
                n += 1
                texels = (FLOATS, WIDE)[n // 2 % 2] if format in (HALF, FLOAT) else BITS
                case("grad_2d_f32", [64, 64],
                     **{**k, "format": format, "anisotropy": most, "texels": texels,
                        "max_level": high})
        case("grad_2d_f32", [64, 64],
             **{**k, "format": format, "texels": BITS, "flags": NORMALIZED | INTEGER})
        case("grad_2d_f32", [33, 57], **{**k, "format": format, "texels": texels_of(format, 2)})
    for most in (3, 4, 5, 8, 9, 10, 11, 12, 13, 15, 17, 100):
        for bias, low, high in ((0, 0, 9), (0.4, 0.3, 2.6), (-1.3, 0, 9)):
            for mip_filter in (POINT, FILTER):
                n += 1
                case("grad_2d_f32", [64, 32],
                     **{**k, "anisotropy": most, "bias": bias, "min_level": low,
                        "max_level": high, "mip_filter": mip_filter,
                        "texels": (PLACE, FLOATS)[n % 3 == 0],
                        "flags": NORMALIZED | (0, NO_TRILINEAR)[n // 2 % 2]})
    for address in ADDRESSES:
        for filter in (POINT, FILTER):
            case("grad_2d_f32", [16, 24], **{**k, "address": address, "filter": filter,
                                             "border": BORDERS[0]})
    for mip_filter in (POINT, FILTER):
        seed += 1  # of sRGB's sums the rule is not known
        case("grad_2d_f32", [64, 64], **{**k, "format": 0x50, "texels": BITS,
                                         "mip_filter": mip_filter})
        for format, (channels, _) in BLOCK_FORMATS.items():
            if format in SRGB_BLOCKS:
                seed += 1
                continue
            case("grad_2d_f32", [64, 64],
                 **{**k, "format": format, "channels": channels, "texels": MODES,
                    "mip_filter": mip_filter, "lanes": 256})
    for name, (size, f) in MIPS.items():
        for texels in (PLACE, FLOATS):
            for form in ("grad", "offset_grad", "depth_grad", "fetch_grad", "resident_grad"):
                for most in (2, 16):
                    for coordinates in (AXES if "cube" not in name else DIRECTIONS, UNIFORM):
                        if has_kernel(f"{form}_{name}_f32"):
                            case(f"{form}_{name}_f32", size,
                                 **{**k, "array_flags": f, "levels": 4, "texels": texels,
                                    "coordinates": coordinates, "anisotropy": most,
                                    "lanes": 256})


def leasts():
    """Texels and coordinates that are the least numbers, or NaNs next to infinity."""
    for name, (size, f) in PLAIN.items():
        for filter in (POINT, FILTER):
            for channels in (1, 4):
                k = dict(array_flags=f, filter=filter, channels=channels)
                for coordinates in (GRID, HALVES):
                    case(f"tex_{name}_f32", size, texels=LEAST_FLOATS, coordinates=coordinates, **k)
                for flags, address in ((0, CLAMP), (0, BORDER), (NORMALIZED, WRAP)):
                    case(f"tex_{name}_f32", size, coordinates=LEASTS, flags=flags, address=address,
                         border=BORDERS[0], **k)


kernel_names = set()


def has_kernel(name):
    return name in kernel_names


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    write_kernels(os.path.join(folder, "texture.ptx"))
    kernel_names.update(name for name, _ in itertools.chain(kernels(), variants()))
    for group in (sampled, modes, sizes, fetched, levels, others, level_sums, gradients, cubes,
                  gathers, options, depths, formats, views, planes, samplers, anisotropy,
                  multisampled, blocks, packed, probes, leasts):
        group()
    with open(os.path.join(folder, "texture.txt"), "w") as f:
        f.write("\n".join(cases) + "\n")


if __name__ == "__main__":
    main()
