"""Writes the texture group: texture.ptx, a kernel for each form of tex and tld4, and
texture.txt, the cases that texture_run.c runs.

    python3 texture_gen.py FOLDER
"""

import os
import sys

KERNEL = """.visible .entry {name}(.param .u64 t, .param .u64 in, .param .u64 out)
{{
.reg .b32 %c<16>, %d<4>, %i<4>;
.reg .b64 %p<6>;
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


def write_kernels(path):
    with open(path, "w") as f:
        f.write(".version 8.0\n.target sm_90\n.address_size 64\n")
        for name, code in kernels():
            f.write(KERNEL.format(name=name, code=code))


ARRAY, MIPMAP, LINEAR, PITCHED = range(4)
U8, U16, U32, S8, S16, S32, HALF, FLOAT = 1, 2, 3, 8, 9, 10, 0x10, 0x20
WRAP, CLAMP, MIRROR, BORDER = range(4)
POINT, FILTER = range(2)
INTEGER, NORMALIZED, SRGB, NO_TRILINEAR, SEAMLESS = 1, 2, 0x10, 0x20, 0x40
LAYERED, SURFACE, CUBE, GATHER = 1, 2, 4, 8
FLOATS, PARITY, SPECIAL_FLOATS, BITS, WIDE, INDEX = range(6)
UNIFORM, HALVES, SPECIALS, RAMP, EXPONENTS, MIXED = range(6)

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
           k.get("lanes", 64)]
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


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    write_kernels(os.path.join(folder, "texture.ptx"))
    for group in (sampled, modes, sizes, fetched, levels, others):
        group()
    with open(os.path.join(folder, "texture.txt"), "w") as f:
        f.write("\n".join(cases) + "\n")


if __name__ == "__main__":
    main()
