"""Writes the surface group: surface.ptx, a kernel for each form of suld, sust, sured, suq and txq,
and surface.txt, the cases that surface_run.c runs.

    python3 surface_gen.py FOLDER
"""

import os
import sys

# Stores and reductions take place lane by lane, so that the last one stays: `serial`.
KERNEL = """.visible .entry {name}(.param .u64 s, .param .u64 in, .param .u64 out)
{{
.reg .b32 %c<4>, %w<8>, %d<4>, %i<4>;
.reg .b64 %p<3>, %e<2>;
.reg .pred %q;
ld.param.u64 %p0, [s];
ld.param.u64 %p1, [in];
ld.param.u64 %p2, [out];
mov.u32 %i0, %ctaid.x;
mov.u32 %i1, %ntid.x;
mov.u32 %i2, %tid.x;
mad.lo.u32 %i0, %i0, %i1, %i2;
mad.wide.u32 %p1, %i0, 48, %p1;
mad.wide.u32 %p2, %i0, 16, %p2;
ld.v4.u32 {{%c0, %c1, %c2, %c3}}, [%p1];
ld.v4.u32 {{%w0, %w1, %w2, %w3}}, [%p1+16];
ld.v4.u32 {{%w4, %w5, %w6, %w7}}, [%p1+32];
mov.u32 %d0, 0x55555555; mov.u32 %d1, %d0; mov.u32 %d2, %d0; mov.u32 %d3, %d0;
mov.b64 %e0, {{%w0, %w1}}; mov.b64 %e1, {{%w2, %w3}};
{code}
st.v4.u32 [%p2], {{%d0, %d1, %d2, %d3}};
ret;
}}
"""
SERIAL = """mov.u32 %i3, 0;
next:
setp.eq.u32 %q, %i3, %i2;
@%q {code}
add.u32 %i3, %i3, 1;
setp.lt.u32 %q, %i3, 32;
@%q bra next;"""

COORDINATES = {
    "1d": "{%c0}",
    "2d": "{%c0, %c1}",
    "3d": "{%c0, %c1, %c2, %c2}",
    "a1d": "{%c3, %c0}",
    "a2d": "{%c3, %c0, %c1, %c1}",
}
# name: bytes
ACCESSES = {"b8": 1, "b16": 2, "b32": 4, "b64": 8, "v2.b8": 2, "v2.b16": 4, "v2.b32": 8,
            "v2.b64": 16, "v4.b8": 4, "v4.b16": 8, "v4.b32": 16}
FORMATTED = {"b32": 1, "v2.b32": 2, "v4.b32": 4}
MODES = ("trap", "clamp", "zero")
REDUCTIONS = {"add.u32": 4, "add.s32": 4, "min.u32": 4, "min.s32": 4, "max.u32": 4, "max.s32": 4,
              "and.b32": 4, "or.b32": 4, "add.u64": 8, "min.u64": 8, "max.u64": 8, "min.s64": 8,
              "max.s64": 8}
FORMATTED_REDUCTIONS = {"add.b32": 4, "min.b32": 4, "max.b32": 4, "and.b32": 4, "or.b32": 4,
                        "min.b64": 8, "max.b64": 8}
# what the driver of an H100 takes: modules with suq of other attributes are
# CUDA_ERROR_NOT_SUPPORTED, functions with txq of others fail to load
QUERIES = ("width", "height", "depth")


def registers(access, letter):
    n = int(access[1]) if access[0] == "v" else 1
    if access.endswith("b64"):
        letter = "e"
    names = ["%%%s%d" % (letter, i) for i in range(n)]
    return "{" + ", ".join(names) + "}" if n > 1 else names[0]


def load(geometry, access, mode):
    code = (f"suld.b.{geometry}.{access}.{mode} {registers(access, 'd')}, "
            f"[%p0, {COORDINATES[geometry]}];")
    if access.endswith("b64"):
        code += "\nmov.b64 {%d0, %d1}, %e0;"
    return code + ("\nmov.b64 {%d2, %d3}, %e1;" if access == "v2.b64" else "")


def store(form, geometry, access, mode):
    return SERIAL.format(code=f"sust.{form}.{geometry}.{access}.{mode} "
                         f"[%p0, {COORDINATES[geometry]}], {registers(access, 'w')};")


def reduction(form, op, geometry, mode):
    value = "%e0" if op.endswith("64") else "%w0"
    name, type = op.split(".")
    return (f"sured.{form}.{name}.{geometry}.{type}.{mode} [%p0, {COORDINATES[geometry]}], "
            f"{value};")


def name_of(*parts):
    return "_".join(parts).replace(".", "_")


def kernels():
    """(name, code)"""
    for geometry in COORDINATES:
        for mode in MODES:
            for access in ACCESSES:
                yield name_of("suld", geometry, access, mode), load(geometry, access, mode)
                yield name_of("sust", geometry, access, mode), store("b", geometry, access, mode)
            for access in FORMATTED:
                yield name_of("sustp", geometry, access, mode), store("p", geometry, access, mode)
    for geometry in ("1d", "2d", "3d"):
        for mode in MODES:
            for op in REDUCTIONS:
                yield name_of("sured", geometry, op, mode), reduction("b", op, geometry, mode)
            for op in FORMATTED_REDUCTIONS:
                yield name_of("suredp", geometry, op, mode), reduction("p", op, geometry, mode)
    for query in QUERIES:
        yield "suq_" + query, f"suq.{query}.b32 %d0, [%p0];"
        yield "txq_" + query, f"txq.{query}.b32 %d0, [%p0];"
        yield "txq_level_" + query, f"txq.level.{query}.b32 %d0, [%p0], %c0;"
    for kind in ("texref", "samplerref", "surfref"):
        yield "istypep_" + kind, f"istypep.{kind} %q, %p0;\nselp.u32 %d0, 1, 0, %q;"
    yield "tex_2d", "tex.2d.v4.u32.s32 {%d0, %d1, %d2, %d3}, [%p0, {%c0, %c1}];"


def write_kernels(path):
    with open(path, "w") as f:
        f.write(".version 8.1\n.target sm_90\n.address_size 64\n")
        for name, code in kernels():
            f.write(KERNEL.format(name=name, code=code))


SURFACE, SURFACE_LEVEL, TEXTURE, TEXTURE_LEVELS, TEXTURE_LINEAR, TEXTURE_PITCHED, NULL, WILD, \
    DESTROYED, PLAIN_ARRAY = range(10)
U8, U16, U32, S8, S16, S32, HALF, FLOAT = 1, 2, 3, 8, 9, 10, 0x10, 0x20
FORMATS = (U8, S8, U16, S16, U32, S32, HALF, FLOAT)
LAYERED, LDST, CUBE, GATHER = 1, 2, 4, 8
INSIDE, EDGE, SPECIAL, ODD, ROW, LEAST = range(6)

# name: (geometry of the instruction, size, flags)
ARRAYS = {
    "1d": ("1d", (11, 0, 0), 0), "2d": ("2d", (11, 7, 0), 0), "3d": ("3d", (7, 5, 6), 0),
    "a1d": ("a1d", (11, 0, 3), LAYERED), "a2d": ("a2d", (9, 6, 3), LAYERED),
    "cube": ("a2d", (8, 8, 6), CUBE), "acube": ("a2d", (4, 4, 12), CUBE | LAYERED),
}
# one of each size of a texel
SIZES = ((U8, 1), (S16, 1), (FLOAT, 1), (HALF, 4), (U32, 4))

cases = []


def case(kernel, array, unit=1, object=SURFACE, format=FLOAT, channels=1, coordinates=EDGE,
         level=0, lanes=32, flags=LDST, size=None):
    _, whole, more = ARRAYS[array]
    row = [kernel, object, "%x" % format, channels, *(size or whole), flags | more, level, unit,
           coordinates, len(cases) + 1, lanes]
    cases.append(" ".join(str(v) for v in row))


def row_bytes(array, format, channels):
    return ARRAYS[array][1][0] * channels * {U8: 1, S8: 1, U16: 2, S16: 2, HALF: 2}.get(format, 4)


def accessed():
    """Every access of every size of texels."""
    for op in ("suld", "sust"):
        for array, (geometry, _, _) in ARRAYS.items():
            for access, unit in ACCESSES.items():
                for format, channels in SIZES:
                    k = dict(unit=unit, format=format, channels=channels)
                    if unit <= row_bytes(array, format, channels):
                        case(name_of(op, geometry, access, "trap"), array, coordinates=INSIDE, **k)
                    for mode in ("clamp", "zero"):
                        for coordinates in (EDGE, SPECIAL, ROW):
                            case(name_of(op, geometry, access, mode), array,
                                 coordinates=coordinates, **k)


def formatted():
    for array, (geometry, _, _) in ARRAYS.items():
        for access in FORMATTED:
            for format in FORMATS:
                for channels in (1, 2, 4):
                    k = dict(format=format, channels=channels)
                    case(name_of("sustp", geometry, access, "trap"), array, coordinates=INSIDE,
                         **k)
                    for mode in ("clamp", "zero"):
                        for coordinates in (EDGE, SPECIAL):
                            case(name_of("sustp", geometry, access, mode), array,
                                 coordinates=coordinates, **k)


def reduced():
    for array in ("1d", "2d", "3d"):
        for op, unit in REDUCTIONS.items():
            for format, channels in SIZES + ((S32, 2),):
                k = dict(unit=unit, format=format, channels=channels)
                if unit <= row_bytes(array, format, channels):
                    case(name_of("sured", array, op, "trap"), array, coordinates=INSIDE, **k)
                for mode in ("clamp", "zero"):
                    for coordinates in (EDGE, SPECIAL):
                        case(name_of("sured", array, op, mode), array, coordinates=coordinates,
                             **k)
        for op in FORMATTED_REDUCTIONS:
            for format in FORMATS:
                for channels in (1, 2, 4):
                    k = dict(format=format, channels=channels)
                    for mode in ("clamp", "zero"):
                        case(name_of("suredp", array, op, mode), array, coordinates=EDGE, **k)


def levels():
    for array in ("1d", "2d", "3d", "a1d", "a2d", "cube"):
        geometry = ARRAYS[array][0]
        for level in range(3):
            for mode in ("clamp", "zero"):
                k = dict(object=SURFACE_LEVEL, level=level, format=S16, channels=4)
                case(name_of("suld", geometry, "b64", mode), array, unit=8, **k)
                case(name_of("sust", geometry, "b64", mode), array, unit=8, **k)
                case(name_of("sustp", geometry, "v4.b32", mode), array, **k)
            for query in QUERIES:
                case("suq_" + query, array, object=SURFACE_LEVEL, level=level)


def asked():
    for array in ARRAYS:
        for format, channels in ((U8, 1), (FLOAT, 4)):
            k = dict(format=format, channels=channels)
            for query in QUERIES:
                case("suq_" + query, array, **k)
                for flags in range(4):
                    case("txq_" + query, array, object=TEXTURE, flags=0, level=flags, **k)
        for object in (TEXTURE, TEXTURE_LEVELS, TEXTURE_LINEAR, TEXTURE_PITCHED):
            if object <= TEXTURE_LEVELS or array == ("1d", "2d")[object == TEXTURE_PITCHED]:
                for query in QUERIES:
                    for flags in (0, 3):
                        case("txq_" + query, array, object=object, flags=0, level=flags)
                    case("txq_level_" + query, array, object=object, flags=0)
        for kind in ("texref", "samplerref", "surfref"):
            for object in (SURFACE, TEXTURE):
                case("istypep_" + kind, array, object=object)
    for kind in ("texref", "samplerref", "surfref"):
        for object in (NULL, WILD, DESTROYED):
            case("istypep_" + kind, "2d", object=object)
    for query in QUERIES:
        case("suq_" + query, "2d", object=NULL)
        case("txq_" + query, "2d", object=NULL)


def mismatched():
    """Arrays of another geometry than the instruction's; no surface."""
    for geometry in COORDINATES:
        for array in ("1d", "2d", "3d", "a1d", "a2d"):
            if array != geometry:
                for op in ("suld", "sust"):
                    case(name_of(op, geometry, "b32", "zero"), array, unit=4, coordinates=INSIDE)
    for object in (NULL, PLAIN_ARRAY):
        for op in ("suld", "sust", "sured"):
            access = "add.u32" if op == "sured" else "b32"
            case(name_of(op, "2d", access, "zero"), "2d", unit=4, object=object)
        case(name_of("sustp", "2d", "b32", "zero"), "2d", object=object)
        case(name_of("suredp", "2d", "add.b32", "zero"), "2d", object=object)


def faulting():
    for object in (WILD, DESTROYED, TEXTURE):
        case("suld_2d_b32_zero", "2d", unit=4, object=object)
        case("sust_2d_b32_zero", "2d", unit=4, object=object)
    case("tex_2d", "2d", object=SURFACE, coordinates=INSIDE)
    for geometry in COORDINATES:
        case(name_of("suld", geometry, "b32", "trap"), geometry, unit=4)
        case(name_of("sust", geometry, "b32", "trap"), geometry, unit=4)
        case(name_of("sustp", geometry, "b32", "trap"), geometry)
    for geometry in ("1d", "2d", "3d"):
        case(name_of("sured", geometry, "add.u32", "trap"), geometry, unit=4)
        case(name_of("suredp", geometry, "add.b32", "trap"), geometry, format=U32)
    for mode in MODES:
        for access in ("b16", "b32", "b64", "v4.b32"):
            case(name_of("suld", "2d", access, mode), "2d", unit=ACCESSES[access], coordinates=ODD)
        case(name_of("sust", "2d", "b32", mode), "2d", unit=4, coordinates=ODD)
        case(name_of("sured", "2d", "add.u32", mode), "2d", unit=4, coordinates=ODD)


def leasts():
    """What is stored is the least numbers, or NaNs next to infinity."""
    for access in FORMATTED:
        for format in FORMATS:
            for array, geometry in (("2d", "2d"), ("a1d", "a1d")):
                case(name_of("sustp", geometry, access, "clamp"), array, coordinates=LEAST,
                     format=format, channels=FORMATTED[access])


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    write_kernels(os.path.join(folder, "surface.ptx"))
    for group in (accessed, formatted, reduced, levels, asked, mismatched, faulting, leasts):
        group()
    with open(os.path.join(folder, "surface.txt"), "w") as f:
        f.write("\n".join(cases) + "\n")


if __name__ == "__main__":
    main()
