#!/usr/bin/env python3
"""Makes the golden kernels of contraction: contract_gen.py FOLDER

Short programs of mul, add, sub, neg, mov and approximate divisions without rounding modifiers, in
which NVIDIA's assembler chooses what becomes fma: patterns written by hand, then random ones. One
.entry k(.param .u64 in, .param .u64 out) each; thread i reads six inputs from in[6 i] and writes
three results to out[3 i], words of 64 bits. FOLDER gets modules, input tables, index.tsv (as
pack.py reads it) and jobs.tsv (for device_run.c).
"""

import os, random, struct, sys

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
rng = random.Random(2026)
ROWS = 256
BITS = {'f32': 32, 'f64': 64, 'f16': 16, 'bf16': 16, 'f16x2': 32, 'bf16x2': 32}
BY_HAND = '''mul a x0 x1; add y0 a x2
mul a x0 x1; sub y0 a x2
mul a x0 x1; sub y0 x2 a
mul a x0 x1; add y0 a x2; add y1 a x3
mul a x0 x1; add y0 a x2; mul y1 a x3
mul a x0 x1; add y0 a a
mul a x0 x1; mul b x2 x3; add y0 a b
mul a x0 x1; mul b x2 x3; sub y0 a b
mul a x0 x1; mul b x2 x3; sub y0 b a
mul a x0 x1; mul b x2 x3; add y0 a b; add y1 a x4
mul a x0 x1; mul b x2 x3; add y1 b x4; add y0 a b
mul a x0 x1; mul b x2 x3; add y0 a b; add y1 b x4; add y2 a x5
mul a x0 x1; mul b x2 x3; add y0 b a; add y1 b x4; add y2 a x5
mul a x0 x1; mul b x2 x3; add y0 a x4; add y1 b a; add y2 b x5
mul a x0 x1; mul b x2 x3; mul c x4 x5; add y0 a b; add y1 b c; add y2 c a
mul a x0 x1; mul b x2 x3; mul c x4 x5; add d a b; add y0 d c
mul a x0 x1; mul b a x3; add y0 a b
mul a x0 x1; neg b a; add y0 b x2
mul a x0 x1; neg b a; add y0 b x2; add y1 a x3
mul a x0 x1; neg y1 a; add y0 a x2
mul a x0 x1; abs b a; add y0 b x2
mul a x0 x1; add b a x2; mul c b b; add y0 c x3
mul a x0 x1; mul b x2 x2; mul c x3 x3; add d a b; sub e d c; add y0 e x4
mul.rn a x0 x1; add y0 a x2
mul a x0 x1; add.rn y0 a x2'''.split('\n')
FLOAT_ONLY = '''mul.ftz a x0 x1; add.ftz y0 a x2
mul.ftz a x0 x1; add y0 a x2
mul a x0 x1; add.ftz y0 a x2
mul a x0 x1; add.sat y0 a x2
mul.sat a x0 x1; add y0 a x2
div.full a x0 x1; add y0 a x2
div.full a x0 x1; sub y0 x2 a
div.approx a x0 x1; add y0 a x2
div.full.ftz a x0 x1; add.ftz y0 a x2
div.full a x0 x1; add.ftz y0 a x2
div.approx.ftz a x0 x1; add.ftz y0 a x2
div.full a x0 x1; add y0 a x2; add y1 a x3
div.full a x0 x1; add y0 a x2; mul y1 a x3
div.full a x0 x1; mul b x2 x3; add y0 a b
mul a x0 x1; div.full b x2 x3; add y0 a b
div.full a x0 x1; neg b a; add y0 b x2
rcp.approx a x0; add y0 a x2
sqrt.approx a x0; add y0 a x2
rsqrt.approx a x0; add y0 a x2
ex2.approx a x0; add y0 a x2
lg2.approx a x0; add y0 a x2
sin.approx a x0; add y0 a x2'''.split('\n')


def random_program(divisions):
    """Straight-line code over six inputs; the last values are the results."""
    names, code = ['x%d' % i for i in range(6)], []
    for i in range(rng.randint(3, 9)):
        kind = rng.choice(
            ['mul'] * 5 + ['add'] * 4 + ['sub'] * 3 + ['neg'] + (['div.full'] if divisions else [])
        )
        recent = names[-4:] if rng.random() < 0.8 else names
        a, b = rng.choice(recent), rng.choice(names)
        if rng.random() < 0.5:
            a, b = b, a
        code.append('%s t%d %s' % (kind, i, a) + ('' if kind == 'neg' else ' ' + b))
        names.append('t%d' % i)
    outs = list(dict.fromkeys([names[-1]] + rng.sample(names[6:], 2)))
    return '; '.join(code + ['mov y%d %s' % (i, o) for i, o in enumerate(outs)])


def words(type):
    """Values whose products and sums round: full mantissas, exponents near zero."""

    def one(mantissa, bias):
        return (
            rng.getrandbits(1) << (mantissa + (8 if bias == 127 else 11 if bias == 1023 else 5))
            | rng.randint(bias - 3, bias + 2) << mantissa
            | rng.getrandbits(mantissa)
        )

    if type == 'f64':
        return one(52, 1023)
    if type == 'f32':
        return one(23, 127)
    m, b = (10, 15) if type.startswith('f16') else (7, 127)
    return one(m, b) if type[-2:] != 'x2' else one(m, b) | one(m, b) << 16


def kernel(name, type, program):
    bits = BITS[type]
    lines = [
        '.visible .entry %s(.param .u64 in, .param .u64 out)' % name,
        '{',
        '  .reg .b%d x<6>, y<3>, a, b, c, d, e, t<9>;' % bits,
        '  .reg .b64 pi, po, w; .reg .b32 i, n, m;',
        '  ld.param.u64 pi, [in]; ld.param.u64 po, [out];',
        '  mov.u32 i, %ctaid.x; mov.u32 n, %ntid.x; mov.u32 m, %tid.x; mad.lo.u32 i, i, n, m;',
        '  mul.wide.u32 w, i, 48; add.u64 pi, pi, w; mul.wide.u32 w, i, 24; add.u64 po, po, w;',
    ]
    lines += ['  ld.global.b%d x%d, [pi+%d];' % (bits, i, 8 * i) for i in range(6)]
    lines += ['  mov.b%d y%d, 0;' % (bits, i) for i in range(3)]
    for step in program.split('; '):
        op, d, *s = step.split()
        lines.append(
            '  %s.%s %s, %s;' % (op, 'b%d' % bits if op == 'mov' else type, d, ', '.join(s))
        )
    lines += [
        (
            '  cvt.u64.u%d w, y%d; st.global.b64 [po+%d], w;' % (bits, i, 8 * i)
            if bits < 64
            else '  st.global.b64 [po+%d], y%d;' % (8 * i, i)
        )
        for i in range(3)
    ]
    return '\n'.join(lines + ['  ret;', '}', ''])


index, jobs = [], []
for type in BITS:
    programs = list(BY_HAND)
    if type == 'f32':
        programs += FLOAT_ONLY
    programs += [
        random_program(type == 'f32' and i % 4 == 0) for i in range(400 if type == 'f32' else 80)
    ]
    table, module = 'in_contract_%s.bin' % type, 'm_contract_%s.ptx' % type
    with open(os.path.join(folder, table), 'wb') as f:
        for _ in range(ROWS * 6):
            f.write(struct.pack('<Q', words(type)))
    with open(os.path.join(folder, module), 'w') as f:
        f.write('.version 8.0\n.target sm_90\n.address_size 64\n')
        for n, program in enumerate(programs):
            name = 'contract_%s_%03d' % (type, n)
            f.write(kernel(name, type, program))
            index.append(
                '\t'.join(
                    (
                        name,
                        module,
                        'contract',
                        '%s: %s' % (type, program),
                        '-',
                        table,
                        '6',
                        '3',
                        '-',
                        '-',
                        str(ROWS),
                    )
                )
            )
            jobs.append('\t'.join((module, name, table, str(ROWS), '6', '3')))
open(os.path.join(folder, 'index.tsv'), 'w').write('\n'.join(index) + '\n')
open(os.path.join(folder, 'jobs.tsv'), 'w').write('\n'.join(jobs) + '\n')
print(len(index), 'kernels')
