#!/usr/bin/env python3
"""Makes golden kernels of mma, mma.sp and wmma.mma: matrix_gen.py FOLDER [--rows N] [--seed N]
[--match REGEX]

One .entry kNNNNN(.param .u64 in, .param .u64 out) for each form of tests/assembler/isa/forms.tsv up
to sm_90a, laid out as those of forms_gen.py: thread i reads its registers, of A, B, C and the
metadata, as words of 64 bits. The inputs of a warp are of one style (elem); metadata is valid.
FOLDER gets modules, input tables, index.tsv (as pack.py reads it) and jobs.tsv (for device_run.c).
"""

import argparse, os, random, re, struct

HERE = os.path.dirname(os.path.abspath(__file__))
MODULE_FORMS = 200
ap = argparse.ArgumentParser()
ap.add_argument('out')
ap.add_argument('--rows', type=int, default=512)
ap.add_argument('--seed', type=int, default=1)
ap.add_argument('--match', default='')
A = ap.parse_args()
os.makedirs(A.out, exist_ok=True)

# ---- elements
# ---------------------------------------------------------------------------------------------

BITS = {
    'f16': 16,
    'bf16': 16,
    'tf32': 32,
    'f32': 32,
    'f64': 64,
    'e4m3': 8,
    'e5m2': 8,
    's8': 8,
    'u8': 8,
    's4': 4,
    'u4': 4,
    'b1': 1,
    's32': 32,
}
INFINITY = {
    'f16': 0x7C00,
    'bf16': 0x7F80,
    'tf32': 0x7F800000,
    'f32': 0x7F800000,
    'f64': 0x7FF << 52,
    'e4m3': 0x7E,
    'e5m2': 0x7C,
}


def f32(x):
    return struct.unpack('<I', struct.pack('<f', x))[0]


def f16(x):
    try:
        return struct.unpack('<H', struct.pack('<e', x))[0]
    except OverflowError:
        return 0x7C00 if x > 0 else 0xFC00


def magnitude(style, r):
    if style == 0:
        return float(r.randrange(-8, 9))
    if style == 1:
        return r.gauss(0, 1)
    if style == 2:
        return r.choice((-1, 1)) * 2.0 ** r.uniform(-14, 14)
    if style == 3:
        return r.choice((-1, 1)) * 2.0 ** r.uniform(-26, -12)
    return r.gauss(0, 4)


def elem(t, style, r):
    """Bits of an element. Styles: 0 small integers, 1 moderate, 2 wide exponents, 3 tiny, 4 some
    infinities, 5 some NaNs, 6 any bits."""
    if t == 's32':
        return r.getrandbits(32) if style == 6 else r.randrange(-100000, 100000) & 0xFFFFFFFF
    if t not in INFINITY or style == 6:
        return r.getrandbits(BITS[t])
    if style == 4 and r.random() < 0.02:
        return INFINITY[t] | r.getrandbits(1) << (BITS[t] - 1)
    if style == 5 and r.random() < 0.01:
        return (1 << (BITS[t] - 1)) - 1
    x = magnitude(style, r)
    if t == 'f16':
        return f16(x)
    if t == 'bf16':
        return f32(x * (2.0 ** r.randrange(-40, 40) if style == 2 else 1)) >> 16
    if t in ('tf32', 'f32'):
        return f32(x * (2.0 ** r.randrange(-30, 30) if style == 2 else 1))
    if t == 'f64':
        return struct.unpack('<Q', struct.pack('<d', x))[0]
    return r.getrandbits(8) & (0xF7 if style else 0xBF)


def register(reg, t, style, r):
    v, at = 0, 0
    while at < (64 if reg.startswith('%fd') else 32):
        v |= elem(t, style, r) << at
        at += BITS[t]
    return v


def metadata(is_tf32, r):
    return sum(
        (r.choice((0x4, 0xE)) if is_tf32 else r.choice((0x4, 0x8, 0xC, 0x9, 0xD, 0xE))) << 4 * q
        for q in range(8)
    )


# ---- kernels
# ----------------------------------------------------------------------------------------------

REG = re.compile(r'%(?:fd|f|r)\d+')


def types_of(form):
    """of D, A, B, C"""
    ts = [t for t in form.split('.') if t in BITS]
    return [ts[0], 'f16', 'f16', ts[1]] if len(ts) == 2 else ts


def table(form, groups):
    r = random.Random('%d/m/%s/%s' % (A.seed, form, [len(g) for g in groups]))
    types = types_of(form)[1:]
    out = []
    for i in range(A.rows):
        style = i // 32 % 7
        if style == 5 and 'e5m2' in types:
            style = 1
        for g, regs in enumerate(groups):
            for reg in regs:
                out.append(
                    metadata('tf32' in types, r) if g == 3 else register(reg, types[g], style, r)
                )
    return struct.pack('<%dQ' % len(out), *out)


def load(reg, at):
    kind = {'%r': 'b32', '%f': 'f32', '%fd': 'f64'}[re.match('%[a-z]+', reg).group()]
    return '  ld.global.%s %s, [%%ib+%d];' % (kind, reg, at)


def store(reg, at):
    if reg.startswith('%fd'):
        return '  st.global.f64 [%%ob+%d], %s;' % (at, reg)
    move = 'mov.b32 %%t32, %s; cvt.u64.u32 %%t, %%t32;' % reg
    return '  %s st.global.b64 [%%ob+%d], %%t;' % (move, at)


def kernel(name, stmt, results, sources):
    return '\n'.join(
        [
            '.visible .entry %s(.param .u64 in, .param .u64 out) {' % name,
            (
                '  .reg .b32 %r<300>, %t32, %x, %y, %z; .reg .f32 %f<300>; .reg .f64 %fd<80>; .reg'
                ' .b64 %ib, %ob, %t;'
            ),
            (
                '  mov.u32 %x, %ctaid.x; mov.u32 %y, %ntid.x; mov.u32 %z, %tid.x; mad.lo.u32 %x,'
                ' %x, %y, %z;'
            ),
            '  ld.param.u64 %ib, [in]; ld.param.u64 %ob, [out];',
            '  mul.wide.u32 %%t, %%x, %d; add.u64 %%ib, %%ib, %%t;' % (8 * len(sources)),
            '  mul.wide.u32 %%t, %%x, %d; add.u64 %%ob, %%ob, %%t;' % (8 * len(results)),
        ]
        + [load(reg, 8 * i) for i, reg in enumerate(sources)]
        + ['  ' + stmt]
        + [store(reg, 8 * i) for i, reg in enumerate(results)]
        + ['  ret;', '}']
    )


def forms():
    for line in open(os.path.join(HERE, '../../assembler/isa/forms.tsv')):
        c = line.rstrip('\n').split('\t')
        if c[0] != 'matrix-mma' or '[' in c[4] or 'satfinite' in c[4] and '.s32.' not in c[4]:
            continue
        m = re.fullmatch(r'sm_(\d+)a?', c[2])
        if m and int(m.group(1)) <= 90 and re.match(r'w?mma', c[4]) and re.search(A.match, c[4]):
            yield c[4]


index, jobs, modules = [], [], [[]]
for stmt in forms():
    form = stmt.split(' ')[0]
    groups = [
        REG.findall(g)
        for g in re.findall(r'\{([^}]*)\}|(%r80)', stmt.split(' ', 1)[1])
        for g in g
        if g
    ]
    results, sources = groups[0], groups[1:]
    flat = [reg for g in sources for reg in g]
    name, inputs = 'k%05d' % len(index), 'in_%04d.bin' % len(index)
    open(os.path.join(A.out, inputs), 'wb').write(table(form, sources))
    if len(modules[-1]) == MODULE_FORMS:
        modules.append([])
    modules[-1].append(kernel(name, stmt, results, flat))
    module = 'm_matrix_%02d.ptx' % (len(modules) - 1)
    index.append(
        (
            name,
            module,
            'matrix',
            form,
            stmt,
            inputs,
            len(flat),
            len(results),
            ' '.join(flat),
            ' '.join(results),
            A.rows,
        )
    )
    jobs.append((module, name, inputs, A.rows, len(flat), len(results)))
for i, kernels in enumerate(modules):
    head = '.version 9.0\n.target sm_90a\n.address_size 64\n\n'
    open(os.path.join(A.out, 'm_matrix_%02d.ptx' % i), 'w').write(
        head + '\n\n'.join(kernels) + '\n'
    )
for name, lines in (('index.tsv', index), ('jobs.tsv', jobs)):
    open(os.path.join(A.out, name), 'w').write(
        ''.join('\t'.join(map(str, x)) + '\n' for x in lines)
    )
print(len(index), 'kernels')
