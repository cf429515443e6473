#!/usr/bin/env python3
"""Makes layouts.def: where the functions of NVIDIA's static runtime library lie in programs that
have it inside.

    layouts.py FOLDER > layouts.def

libcudart_static.a is one object whose code is one section, which a linker copies whole; so a
stripped program tells by a few hashes which release is inside, and where. FOLDER keeps PyPI's
wheels, which are downloaded into it once (the nvidia-cuda-runtime ones from 12.9 on have the
archive), and archives that were put there as MACHINE-VERSION.a (x86_64-11.8.89.a): Debian's and
Ubuntu's packages nvidia-cuda-dev have some of the older releases. Of NVIDIA's code only hashes,
sizes and names come out.

NAME(name) is a function of any release, in the order of their indexes. What runs by itself, at
start and exit, is in sections of its own: QUIET(name) is a function of these. A row is
LAYOUT(MACHINE, MAJOR, VERSIONS, BYTES, KEY_AT, KEY, WINDOWS, HASH, FUNCTIONS, STARTUP, EXIT):
  BYTES      of the section
  KEY_AT     a window of it, at a multiple of 16, that no other section has: KEY is its hash
  WINDOWS    offsets of the windows that HASH goes over, each as the distance from the one before
  FUNCTIONS  for each: the distance of its offset from the one before, the index of its name less
             that of the one before, the bytes up to the next function, at most 60
  STARTUP    and EXIT: (number of functions, number of relocations, PIECE, HASH) of the sections
             .text.startup and .text.exit, which a linker may put anywhere, or (0, 0, "", 0). They
             call the section: PIECE has its bytes, the offset of that call, the offset in the
             section that it calls, the functions' offsets, those of relocations; HASH is of its
             bytes with four zeroes at each relocation
Numbers in strings are in base 16, lowest digits first: 'A' to 'P', but the last digit of a number
'a' to 'p'; differences of indexes are zigzag coded. In WINDOWS and FUNCTIONS offsets and bytes are
counted in units of 4.
"""

import collections
import glob
import os
import re
import struct
import subprocess
import sys
import zipfile

WHEELS = [
    ("nvidia-cuda-runtime-cu12", "12.9.37 12.9.79"),
    (
        "nvidia-cuda-runtime",
        "13.0.48 13.0.88 13.0.96 13.1.80 13.2.51 13.2.75 13.2.86 13.3.29 13.4.49 13.4.92 13.5.37",
    ),
]
MACHINES = {"x86_64": 62, "aarch64": 183}
WINDOW = 32  # bytes, as in layout.h
N_WINDOWS = 24
LONGEST = 60  # bytes of a function that count

Section = collections.namedtuple("Section", "name type flags offset size link info")
Symbol = collections.namedtuple("Symbol", "name kind section value size")


class Object:
    def __init__(self, data):
        self.data = data
        (at,) = struct.unpack_from("<Q", data, 40)
        size, n, strings = struct.unpack_from("<HHH", data, 58)
        rows = [struct.unpack_from("<IIQQQQII", data, at + i * size) for i in range(n)]
        text = rows[strings][4]
        self.sections = [
            Section(self.text(text + r[0]), r[1], r[2], r[4], r[5], r[6], r[7]) for r in rows
        ]
        table = next(s for s in self.sections if s.type == 2)
        text = self.sections[table.link].offset
        self.symbols = []
        for at in range(table.offset, table.offset + table.size, 24):
            name, info, _, section, value, size = struct.unpack_from("<IBBHQQ", data, at)
            self.symbols.append(Symbol(self.text(text + name), info & 15, section, value, size))

    def text(self, at):
        return self.data[at : self.data.index(b"\0", at)].decode()

    def index(self, name):
        return next(i for i, s in enumerate(self.sections) if s.name == name)

    def relocations(self, name):
        """Of a section: (offset, type, symbol, addend)."""
        for s in self.sections:
            if s.type == 4 and self.sections[s.info].name == name:
                for at in range(s.offset, s.offset + s.size, 24):
                    offset, info, addend = struct.unpack_from("<QQq", self.data, at)
                    yield offset, info & 0xFFFFFFFF, self.symbols[info >> 32], addend


def download(folder):
    for package, versions in WHEELS:
        for version in versions.split():
            for machine in MACHINES:
                if not glob.glob(
                    f"{folder}/**/{package.replace('-', '_')}-{version}-*{machine}.whl",
                    recursive=True,
                ):
                    subprocess.run(
                        [
                            sys.executable,
                            "-m",
                            "pip",
                            "download",
                            "-q",
                            "--no-deps",
                            "--only-binary=:all:",
                            "--platform",
                            f"manylinux2014_{machine}",
                            "-d",
                            folder,
                            f"{package}=={version}",
                        ],
                        check=True,
                        stdout=sys.stderr,
                    )


def member(archive):
    """The one object of an archive."""
    at, found = 8, []
    while at < len(archive):
        size = int(archive[at + 48 : at + 58])
        if archive[at + 60 : at + 64] == b"\x7fELF":
            found.append(archive[at + 60 : at + 60 + size])
        at += 60 + size + size % 2
    assert len(found) == 1
    return Object(found[0])


def objects(folder):
    """(machine, version, object) of everything in the folder."""
    for path in glob.glob(f"{folder}/**/*.whl", recursive=True):
        wheel = zipfile.ZipFile(path)
        for name in wheel.namelist():
            if name.endswith("/libcudart_static.a"):
                version = re.search(r"-(\d+\.\d+\.\d+)-", path).group(1)
                yield (
                    re.search(r"(x86_64|aarch64)\.whl$", path).group(1),
                    version,
                    member(wheel.read(name)),
                )
    for path in glob.glob(f"{folder}/*.a"):
        machine, version = os.path.basename(path)[:-2].split("-")
        yield machine, version, member(open(path, "rb").read())


def alone(o, name):
    """Offsets and names of the functions of a section."""
    names = [s.name for s in o.sections]
    return sorted(
        {
            (s.value, s.name)
            for s in o.symbols
            if name in names and s.kind == 2 and s.section == names.index(name)
        }
    )


def piece(o, name):
    """STARTUP or EXIT."""
    own = [at for at, _ in alone(o, name)]
    if not own:
        return '0, 0, "", 0'
    section = o.sections[o.index(name)]
    code = bytearray(o.data[section.offset : section.offset + section.size])
    relocations = list(o.relocations(name))
    calls = [
        (at, 1, s.value)
        for at, kind, s, _ in relocations
        if s.section == o.index(".text") and s.kind == 2 and code[at - 1] == 0xE8 and kind in (2, 4)
    ] + [
        (at, 0, s.value)
        for at, kind, s, _ in relocations
        if kind == 283 and s.section == o.index(".text")
    ]
    at, before, called = calls[0]
    for where, _, _, _ in relocations:
        code[where : where + 4] = bytes(4)
    h = 0xCBF29CE484222325
    for byte in code:
        h = (h ^ byte) * 0x100000001B3 & (1 << 64) - 1
    numbers = [len(code), at - before, called] + own + sorted({r[0] for r in relocations})
    return f'{len(own)}, {len(numbers) - 3 - len(own)}, "{"".join(map(number, numbers))}", {h:#x}'


def functions(o):
    """(offset, name, bytes up to the next function) of what is to be redirected."""
    text = o.index(".text")
    starts = sorted({s.value for s in o.symbols if s.kind == 2 and s.section == text}) + [
        o.sections[text].size
    ]
    named = {
        s.value: s.name
        for s in o.symbols
        if s.kind == 2 and s.section == text and re.match(r"(cuda|__cuda)(?!rt\d)", s.name)
    }
    after = dict(zip(starts, starts[1:]))
    return [(at, named[at], min(after[at] - at, LONGEST)) for at in sorted(named)]


def fixed(o):
    """For each byte of the code, whether a linker leaves it alone."""
    text = o.sections[o.index(".text")]
    keep = bytearray(b"\1" * text.size)
    for offset, kind, _, _ in o.relocations(".text"):
        keep[max(offset - 24, 0) : offset + 16] = bytes(
            len(keep[max(offset - 24, 0) : offset + 16])
        )  # it may change instructions, too
    return keep


def hash_of(parts):
    h = 0xCBF29CE484222325  # FNV-1a, by words
    for part in parts:
        for (word,) in struct.iter_unpack("<Q", part):
            h = (h ^ word) * 0x100000001B3 & (1 << 64) - 1
            h ^= h >> 32
    return h


def windows(group):
    """Offsets of windows that are the same in all objects of the group, spread over the section,
    the first for a key."""
    texts = []
    for o in group:
        s = o.sections[o.index(".text")]
        texts.append(o.data[s.offset : s.offset + s.size])
    keeps = [fixed(o) for o in group]
    good = []
    for at in range(0, len(texts[0]) - WINDOW, 16):
        part = texts[0][at : at + WINDOW]
        if (
            all(all(k[at : at + WINDOW]) for k in keeps)
            and all(t[at : at + WINDOW] == part for t in texts)
            and len(set(part)) > 12
        ):
            good.append(at)
    chosen = sorted({good[i * (len(good) - 1) // (N_WINDOWS - 1)] for i in range(N_WINDOWS)})
    key = next(at for at in good if texts[0].count(texts[0][at : at + WINDOW]) == 1)
    return texts[0], key, chosen


def number(n):
    digits = f"{n:x}"[::-1]
    assert n >= 0
    return "".join(chr(ord("A") + int(d, 16)) for d in digits[:-1]) + chr(
        ord("a") + int(digits[-1], 16)
    )


def unit(n):
    assert n % 4 == 0
    return number(n // 4)


def zigzag(n):
    return number(2 * n if n >= 0 else -2 * n - 1)


def row(machine, versions, group, index):
    text, key, chosen = windows(group)
    parts, at, last = "", 0, 0
    for offset, name, extent in functions(group[0]):
        i = index[name]
        parts += unit(offset - at) + zigzag(i - last) + unit(extent & ~3)
        at, last = offset, i
    steps = "".join(unit(b - a) for a, b in zip([0] + chosen, chosen))
    key_hash, all_hash = hash_of([text[key : key + WINDOW]]), hash_of(
        text[c : c + WINDOW] for c in chosen
    )
    print(
        f'LAYOUT({MACHINES[machine]}, {versions[0].split(".")[0]}, "{" ".join(versions)}",'
        f' {len(text):#x}, {key:#x}, {key_hash:#x}, "{steps}", {all_hash:#x},'
    )
    pieces = re.findall(".{1,150}", parts)
    print("\n".join(f'    "{p}"' for p in pieces) + ",")
    print(f'    {", ".join(piece(group[0], p) for p in (".text.startup", ".text.exit"))})')


def main():
    folder = sys.argv[1]
    download(folder)
    groups = collections.defaultdict(list)
    for machine, version, o in objects(folder):
        groups[
            machine,
            tuple(functions(o)),
            o.sections[o.index(".text")].size,
            piece(o, ".text.startup"),
            piece(o, ".text.exit"),
        ].append((version, o))
    names, seen = [], set()
    rows = sorted(
        groups.items(),
        key=lambda g: (g[0][0], [int(n) for n in g[1][0][0].split(".")]),
        reverse=True,
    )
    for (
        _,
        places,
        *_,
    ), _ in (
        rows
    ):  # the newest first: in the order of their code, so that most indexes follow each other
        new = [n for _, n, _ in places if n not in seen]
        names += new
        seen.update(new)
    index = {n: i for i, n in enumerate(names)}
    print("/* Made by layouts.py, which says what is in a row. */")
    for n in names:
        print(f"NAME({n})")
    quiet = {
        n
        for found in groups.values()
        for _, o in found
        for p in (".text.startup", ".text.exit")
        for _, n in alone(o, p)
    }
    for n in sorted(
        n for n in quiet if n.startswith("libcudart_static_")
    ):  # earlier names are numbers of a release
        print(f"QUIET({n})")
    for (machine, *_), found in rows:
        found.sort(key=lambda f: [int(n) for n in f[0].split(".")])
        row(machine, [v for v, _ in found], [o for _, o in found], index)


main()
