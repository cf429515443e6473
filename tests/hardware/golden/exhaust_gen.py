#!/usr/bin/env python3
"""Makes golden kernels that take every 16-bit input, or 65,536 doubles: exhaust_gen.py FOLDER

For functions whose results only the hardware defines: half-precision ex2 and tanh, the
double-precision helpers, and which NaN of several an f64 operation returns. Layout as
contract_gen.py: one word in for each operand, one word out.
"""

import os, random, struct, sys

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
rng = random.Random(9)
ROWS = 65536
NANS = [
    0x7FF8000000000001,
    0xFFF8000000000002,
    0x7FF0000000000003,
    0xFFF0000000000004,
    0x7FFFFFFFFFFFFFFF,
]


def double():
    kind = rng.randrange(8)
    if kind == 0:
        return rng.choice([0, 1 << 63, 0x7FF0000000000000, 0xFFF0000000000000] + NANS)
    if kind == 1:
        return rng.getrandbits(1) << 63 | rng.getrandbits(rng.randrange(1, 53))
    return rng.getrandbits(64)


def nan_or_not():
    return rng.choice(
        NANS + [0x7FF0000000000000, 0xFFF0000000000000, 0, 1 << 63, 0x3FF8000000000000]
    )


def table(name, words):
    with open(os.path.join(folder, name), 'wb') as f:
        f.write(struct.pack('<%dQ' % len(words), *words))


table('in_all16.bin', list(range(ROWS)))
table('in_double.bin', [double() for _ in range(ROWS)])
for n in (2, 3):
    table('in_nan%d.bin' % n, [nan_or_not() for _ in range(1024 * n)])

FORMS = [
    (f, 'b16', 'in_all16.bin', 1, ROWS)
    for f in (
        'ex2.approx.f16 ex2.approx.ftz.bf16 tanh.approx.f16 tanh.approx.bf16 abs.f16 neg.f16 '
        'abs.bf16 neg.bf16 cvt.rni.f16.f16 cvt.rpi.bf16.bf16'
    ).split()
]
FORMS += [
    (f, 'b64', 'in_double.bin', 1, ROWS)
    for f in (
        'rcp.approx.ftz.f64 rsqrt.approx.ftz.f64 rsqrt.approx.f64 sqrt.rn.f64 rcp.rn.f64'.split()
    )
]
FORMS += [
    (f, 'b64', 'in_nan2.bin', 2, 1024)
    for f in 'add.rn.f64 sub.rn.f64 mul.rn.f64 div.rn.f64 min.f64 max.f64'.split()
]
FORMS += [
    ('fma.rn.f64', 'b64', 'in_nan3.bin', 3, 1024),
    ('fma.rz.f64', 'b64', 'in_nan3.bin', 3, 1024),
]
index, jobs = [], []
with open(os.path.join(folder, 'm_exhaust.ptx'), 'w') as f:
    f.write('.version 8.0\n.target sm_90\n.address_size 64\n')
    for n, (form, type, source, nin, rows) in enumerate(FORMS):
        name = 'exhaust_%02d' % n
        f.write('''.visible .entry %s(.param .u64 in, .param .u64 out)
{
  .reg .%s x<3>, y;
  .reg .b64 pi, po, w; .reg .b32 i, n, m;
  ld.param.u64 pi, [in]; ld.param.u64 po, [out];
  mov.u32 i, %%ctaid.x; mov.u32 n, %%ntid.x; mov.u32 m, %%tid.x; mad.lo.u32 i, i, n, m;
  mul.wide.u32 w, i, %d; add.u64 pi, pi, w; mul.wide.u32 w, i, 8; add.u64 po, po, w;
''' % (name, type, 8 * nin))
        f.write(''.join('  ld.global.%s x%d, [pi+%d];\n' % (type, i, 8 * i) for i in range(nin)))
        f.write('  %s y, %s;\n' % (form, ', '.join('x%d' % i for i in range(nin))))
        f.write(
            '  cvt.u64.u16 w, y; st.global.b64 [po], w;\n'
            if type == 'b16'
            else '  st.global.b64 [po], y;\n'
        )
        f.write('  ret;\n}\n')
        index.append(
            '\t'.join(
                (
                    name,
                    'm_exhaust.ptx',
                    'exhaust',
                    form,
                    '-',
                    source,
                    str(nin),
                    '1',
                    '-',
                    '-',
                    str(rows),
                )
            )
        )
        jobs.append('\t'.join(('m_exhaust.ptx', name, source, str(rows), str(nin), '1')))
open(os.path.join(folder, 'index.tsv'), 'w').write('\n'.join(index) + '\n')
open(os.path.join(folder, 'jobs.tsv'), 'w').write('\n'.join(jobs) + '\n')
