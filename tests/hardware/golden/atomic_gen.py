#!/usr/bin/env python3
"""Makes golden kernels of floating-point additions in memory: atomic_gen.py FOLDER

Each form of atom.add and red.add of f32, f64 and packed halves, in global and in shared memory, on
all pairs of values that are special: which NaN comes of two, of a NaN and an infinity, of two
infinities; subnormals; zeros. Layout as exhaust_gen.py: the words in are what memory holds and what
is added; those out what the instruction returns (zero for red) and what memory holds then.
"""

import os, struct, sys

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
CTA = 256


def specials(bits, fraction):
    """Of a format: bits in all, and of its fraction."""
    top, quiet = ((1 << (bits - 1 - fraction)) - 1) << fraction, 1 << (fraction - 1)
    one = (top >> 1) & (top << 1 & top)
    positive = [
        0,
        1,
        (1 << fraction) - 1,
        1 << fraction,
        one,
        one + 1,
        top - 1,
        top,
        top + 1,
        top + quiet - 1,
        top + quiet,
        top + quiet + 1,
        2 * quiet - 1 + top,
    ]
    return [sign << (bits - 1) | x for sign in (0, 1) for x in positive]


# type: its bits, the format's bits and fraction, the register
TYPES = {
    'f64': (64, 64, 52, 'b64'),
    'f32': (32, 32, 23, 'b32'),
    'f16x2': (32, 16, 10, 'b32'),
    'bf16x2': (32, 16, 7, 'b32'),
    'f16': (16, 16, 10, 'b16'),
    'bf16': (16, 16, 7, 'b16'),
}


def rows(type):
    bits, one, fraction, _ = TYPES[type]
    values = specials(one, fraction)
    pairs = [(a, b) for a in values for b in values]
    if bits > one:  # the upper half has another pair
        pairs = [
            (a | c << one, b | d << one) for (a, b), (c, d) in zip(pairs, pairs[7:] + pairs[:7])
        ]
    return pairs + [pairs[0]] * (-len(pairs) % CTA)


index, jobs = [], []
for type in TYPES:
    with open(os.path.join(folder, 'in_%s.bin' % type), 'wb') as f:
        for pair in rows(type):
            f.write(struct.pack('<2Q', *pair))


def kernel(name, form, type, is_shared):
    bits, _, _, register = TYPES[type]
    cell = 'cell' if is_shared else 'po+8'
    space = 'shared' if is_shared else 'global'
    returns = form.startswith('atom')
    widen = 'mov.b64 w, y;' if bits == 64 else 'cvt.u64.u%d w, y;' % bits
    return '''.visible .entry %s(.param .u64 in, .param .u64 out)
{
  .reg .%s x, y, z;
  .reg .b64 pi, po, w; .reg .b32 i, n, m, cell; .shared .align 8 .b8 cells[%d];
  ld.param.u64 pi, [in]; ld.param.u64 po, [out];
  mov.u32 i, %%ctaid.x; mov.u32 n, %%ntid.x; mov.u32 m, %%tid.x; mad.lo.u32 i, i, n, m;
  mul.wide.u32 w, i, 16; add.u64 pi, pi, w; add.u64 po, po, w;
  mov.u32 cell, cells; mad.lo.u32 cell, m, 8, cell;
  ld.global.%s x, [pi]; ld.global.%s z, [pi+8];
  mov.b64 w, 0; st.global.b64 [po], w; st.%s.b64 [%s], w;
  st.%s.%s [%s], x;
  %s %s[%s], z;
  %s
  ld.%s.%s y, [%s]; %s st.global.b64 [po+8], w;
  ret;
}
''' % (
        name,
        register,
        8 * CTA,
        register,
        register,
        space,
        cell,
        space,
        register,
        cell,
        form,
        'y, ' if returns else '',
        cell,
        widen + ' st.global.b64 [po], w;' if returns else '',
        space,
        register,
        cell,
        widen,
    )


with open(os.path.join(folder, 'm_atomic.ptx'), 'w') as f:
    f.write('.version 8.0\n.target sm_90\n.address_size 64\n')
    for type in TYPES:
        for op in ('atom', 'red'):
            for space in ('global', 'shared'):
                name = 'atomic_%02d' % len(index)
                form = '%s.%s.add.%s%s' % (
                    op,
                    space,
                    '' if type in ('f64', 'f32') else 'noftz.',
                    type,
                )
                n = len(rows(type))
                f.write(kernel(name, form, type, space == 'shared'))
                index.append(
                    '\t'.join(
                        (
                            name,
                            'm_atomic.ptx',
                            'atomic',
                            form,
                            '-',
                            'in_%s.bin' % type,
                            '2',
                            '2',
                            '-',
                            '-',
                            str(n),
                        )
                    )
                )
                jobs.append('\t'.join(('m_atomic.ptx', name, 'in_%s.bin' % type, str(n), '2', '2')))
open(os.path.join(folder, 'index.tsv'), 'w').write('\n'.join(index) + '\n')
open(os.path.join(folder, 'jobs.tsv'), 'w').write('\n'.join(jobs) + '\n')
print(len(index), 'kernels')
