#!/usr/bin/env python3
"""Makes the golden kernels of divisions by constants: divide_gen.py FOLDER

NVIDIA's assembler makes them multiplications. One .entry k(.param .u64 in, .param .u64 out) for
each constant and form: thread i reads x and z from in[2 i] and writes x / c, x / c + z and the
reciprocal of c to out[3 i], words of 64 bits. FOLDER gets modules, an input table, index.tsv (as
pack.py reads it) and jobs.tsv (for device_run.c).
"""

import os, random, struct, sys

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
rng = random.Random(2026)
ROWS = 256
FORMS = {
    'div.full': 'rcp.approx',
    'div.approx': 'rcp.approx',
    'div.full.ftz': 'rcp.approx.ftz',
    'div.approx.ftz': 'rcp.approx.ftz',
}
CONSTANTS = [
    0x3F800000,
    0xBF800000,
    0x40400000,
    0x44800000,
    0x43FA0000,
    0x40490FDB,
    0xC2F6E979,
    0x3F7FFFFF,
    0x00000001,
    0x80000003,
    0x00400000,
    0x007FFFFF,
    0x00800000,
    0x80800001,
    0x7E7FFFFF,
    0x7E800000,
    0x7E800001,
    0xFE800123,
    0x7F000000,
    0x7F7FFFFF,
    0x7F800000,
    0xFF800000,
    0x00000000,
    0x80000000,
    0x7FC01234,
] + [rng.randint(1, 254) << 23 | rng.getrandbits(23) for _ in range(8)]
INPUTS = [
    0,
    1,
    0x7FFFFF,
    0x800000,
    0x3F800000,
    0x7E800001,
    0x7F7FFFFF,
    0x7F800000,
    0x7FC01234,
    0x7F812345,
]

index, jobs = [], []
module, table = 'm_divide.ptx', 'in_divide.bin'
with open(os.path.join(folder, table), 'wb') as f:
    for i in range(ROWS):
        x = INPUTS[i // 2] | i % 2 << 31 if i < 2 * len(INPUTS) else rng.getrandbits(32)
        z = (
            (x & 0xFF800000) ^ rng.getrandbits(1) << 31 | rng.getrandbits(23)
            if i % 4
            else rng.getrandbits(32)
        )
        f.write(struct.pack('<QQ', x, z))
with open(os.path.join(folder, module), 'w') as f:
    f.write('.version 8.0\n.target sm_90\n.address_size 64\n')
    for form, rcp in FORMS.items():
        for n, c in enumerate(CONSTANTS):
            name = 'divide_%s_%08x' % (form.replace('.', '_'), c)
            add = 'add.ftz.f32' if 'ftz' in form else 'add.f32'
            f.write(
                '\n'.join(
                    (
                        '.visible .entry %s(.param .u64 in, .param .u64 out)' % name,
                        '{',
                        '  .reg .b32 x, z, c, b, q, y<3>, i, n, m; .reg .b64 pi, po, w;',
                        '  ld.param.u64 pi, [in]; ld.param.u64 po, [out];',
                        (
                            '  mov.u32 i, %ctaid.x; mov.u32 n, %ntid.x; mov.u32 m, %tid.x;'
                            ' mad.lo.u32 i, i, n, m;'
                        ),
                        (
                            '  mul.wide.u32 w, i, 16; add.u64 pi, pi, w; mul.wide.u32 w, i, 24;'
                            ' add.u64 po, po, w;'
                        ),
                        '  ld.volatile.global.b32 x, [pi]; ld.global.b32 z, [pi+8];',
                        '  mov.b32 b, 0x%08x; mov.b32 c, b;' % c,
                        '  %s.f32 y0, x, 0f%08x;' % (form, c),
                        '  ld.volatile.global.b32 x, [pi];',
                        '  %s.f32 q, x, c; %s y1, q, z;' % (form, add),
                        '  %s.f32 y2, c;' % rcp,
                        *(
                            '  cvt.u64.u32 w, y%d; st.global.b64 [po+%d], w;' % (i, 8 * i)
                            for i in range(3)
                        ),
                        '  ret;',
                        '}',
                        '',
                    )
                )
            )
            index.append(
                '\t'.join(
                    (
                        name,
                        module,
                        'divide',
                        '%s by %08x' % (form, c),
                        '-',
                        table,
                        '2',
                        '3',
                        '-',
                        '-',
                        str(ROWS),
                    )
                )
            )
            jobs.append('\t'.join((module, name, table, str(ROWS), '2', '3')))
open(os.path.join(folder, 'index.tsv'), 'w').write('\n'.join(index) + '\n')
open(os.path.join(folder, 'jobs.tsv'), 'w').write('\n'.join(jobs) + '\n')
print(len(index), 'kernels')
