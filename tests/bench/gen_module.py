#!/usr/bin/env python3
"""Writes a large PTX module as nvcc would: the load-time benchmark's input.

    gen_module.py [--kernels 50] [--insns 5000] [--seed 1] > big.ptx

The same arguments give the same bytes. Every kernel is valid and terminates: loops count down from
a constant, loads and stores stay in the buffers of its parameters as long as these hold 1 MiB. The
mix of instructions is that of nvcc's output for ordinary kernels: address arithmetic, integer and
f32 arithmetic, loads and stores, compares, branches, conversions, shared memory, barriers.
"""
import argparse
import random
import sys


class Kernel:
    """One kernel. Each result has a new register, as nvcc has it, until the declared range ends."""
    LIMITS = {'p': 128, 'rs': 128, 'r': 1500, 'f': 1500, 'rd': 1200, 'fd': 64}
    TYPES = {'p': '.pred', 'rs': '.b16', 'r': '.b32', 'f': '.f32', 'rd': '.b64', 'fd': '.f64'}

    def __init__(self, number, insns, rng):
        self.number, self.insns, self.rng = number, insns, rng
        self.lines, self.count, self.labels, self.line = [], 0, 0, 10
        self.next = dict.fromkeys(self.LIMITS, 1)
        self.live = {kind: [] for kind in self.LIMITS}

    def new(self, kind):
        n = self.next[kind]
        self.next[kind] = n + 1 if n + 1 < self.LIMITS[kind] else 1
        name = '%%%s%d' % (kind, n)
        self.live[kind] = ([name] + self.live[kind])[:12]
        return name

    def old(self, kind):
        return self.rng.choice(self.live[kind])

    def put(self, text):
        self.lines.append('\t' + text)
        self.count += 1

    def label(self):
        self.labels += 1
        return '$L__BB%d_%d' % (self.number, self.labels)

    def prologue(self):
        for i in range(3):
            rd = self.new('rd')
            self.put('ld.param.u64 \t%s, [kernel_%d_param_%d];' % (rd, self.number, i))
        self.base = []
        for rd in self.live['rd'][:3]:
            g = self.new('rd')
            self.put('cvta.to.global.u64 \t%s, %s;' % (g, rd))
            self.base.append(g)
        self.next['rd'] = 10
        n, tid, ntid, ctaid = (self.new('r') for _ in range(4))
        self.put('ld.param.u32 \t%s, [kernel_%d_param_3];' % (n, self.number))
        self.put('mov.u32 \t%s, %%tid.x;' % tid)
        self.put('mov.u32 \t%s, %%ntid.x;' % ntid)
        self.put('mov.u32 \t%s, %%ctaid.x;' % ctaid)
        self.put('mad.lo.s32 \t%s, %s, %s, %s;' % (self.new('r'), ctaid, ntid, tid))
        for value in ('3F800000', '40490FDB', 'BF000000'):
            self.put('mov.f32 \t%s, 0f%s;' % (self.new('f'), value))
        self.put('setp.ge.s32 \t%s, %s, %s;' % (self.new('p'), self.old('r'), n))
        self.put('mov.u16 \t%s, 7;' % self.new('rs'))
        self.put('cvt.f64.f32 \t%s, %s;' % (self.new('fd'), self.old('f')))

    def address(self, size):
        r, wide, rd = self.new('r'), self.new('rd'), self.new('rd')
        self.put('and.b32  \t%s, %s, 16383;' % (r, self.live['r'][1]))
        self.put('mul.wide.u32 \t%s, %s, %d;' % (wide, r, size))
        self.put('add.s64 \t%s, %s, %s;' % (rd, self.rng.choice(self.base), wide))
        return rd

    def memory(self):
        rd = self.address(4)
        if self.rng.random() < 0.6:
            for i in range(self.rng.randint(1, 4)):
                offset = '+%d' % (4 * i) if i else ''
                self.put('ld.global.f32 \t%s, [%s%s];' % (self.new('f'), rd, offset))
        elif self.rng.random() < 0.5:
            self.put('ld.global.nc.u32 \t%s, [%s];' % (self.new('r'), rd))
        else:
            self.put('st.global.f32 \t[%s], %s;' % (rd, self.old('f')))

    def shared(self):
        r, at = self.new('r'), self.new('r')
        self.put('and.b32  \t%s, %s, 1020;' % (r, self.live['r'][2]))
        self.put('mov.u32 \t%s, tile_%d;' % (at, self.number))
        self.put('add.s32 \t%s, %s, %s;' % (self.new('r'), at, r))
        self.put('st.shared.f32 \t[%s], %s;' % (self.live['r'][0], self.old('f')))
        self.put('bar.sync \t0;')
        self.put('ld.shared.f32 \t%s, [%s];' % (self.new('f'), self.live['r'][0]))

    def floats(self):
        for _ in range(self.rng.randint(2, 6)):
            k = self.rng.random()
            a, b, c = (self.old('f') for _ in range(3))
            d = self.new('f')
            if k < 0.45:
                self.put('fma.rn.f32 \t%s, %s, %s, %s;' % (d, a, b, c))
            elif k < 0.65:
                self.put('mul.f32 \t%s, %s, %s;' % (d, a, b))
            elif k < 0.85:
                self.put('%s.f32 \t%s, %s, %s;' % (self.rng.choice(('add', 'sub')), d, a, b))
            elif k < 0.93:
                self.put('%s.f32 \t%s, %s, %s;' % (self.rng.choice(('max', 'min')), d, a, b))
            else:
                name = self.rng.choice(('ex2', 'lg2', 'rcp'))
                self.put('%s.approx.ftz.f32 \t%s, %s;' % (name, d, a))

    def integers(self):
        forms = (('add.s32', 's'), ('sub.s32', 's'), ('mul.lo.s32', 'r'), ('shl.b32', 'n'),
                 ('shr.u32', 'n'), ('and.b32 ', 'r'), ('or.b32  ', 'r'), ('xor.b32 ', 'r'),
                 ('min.s32', 'r'))
        for _ in range(self.rng.randint(2, 5)):
            name, kind = self.rng.choice(forms)
            a = self.old('r')
            b = {'s': str(self.rng.randint(-64, 64)), 'n': str(self.rng.randint(1, 31)),
                 'r': self.old('r')}[kind]
            self.put('%s \t%s, %s, %s;' % (name, self.new('r'), a, b))

    def select(self):
        p = self.new('p')
        cmp = self.rng.choice(('lt', 'gt', 'eq', 'ne'))
        self.put('setp.%s.s32 \t%s, %s, %d;' % (cmp, p, self.old('r'), self.rng.randint(0, 99)))
        self.put('selp.f32 \t%s, %s, %s, %s;' % (self.new('f'), self.old('f'), self.old('f'), p))
        self.put('cvt.rn.f32.s32 \t%s, %s;' % (self.new('f'), self.old('r')))

    def branch(self):
        p, over = self.new('p'), self.label()
        self.put('setp.lt.s32 \t%s, %s, %d;' % (p, self.old('r'), self.rng.randint(0, 999)))
        self.put('@%s bra \t%s;' % (p, over))
        self.floats()
        self.lines += ['', '%s:' % over]

    def loop(self):
        counter, p, top = self.new('r'), self.new('p'), self.label()
        self.next['r'] += 1
        self.put('mov.u32 \t%s, %d;' % (counter, self.rng.randint(2, 16)))
        self.lines += ['', '%s:' % top]
        for _ in range(self.rng.randint(1, 4)):
            self.rng.choice((self.memory, self.floats))()
        self.put('add.s32 \t%s, %s, -1;' % (counter, counter))
        self.put('setp.ne.s32 \t%s, %s, 0;' % (p, counter))
        self.put('@%s bra \t%s;' % (p, top))

    def body(self):
        parts = ((self.memory, 26), (self.floats, 28), (self.integers, 22), (self.select, 8),
                 (self.branch, 8), (self.loop, 5), (self.shared, 3))
        self.prologue()
        while self.count < self.insns - 1:
            if self.rng.random() < 0.6:
                self.line += self.rng.randint(-1, 3)
                place = self.line, self.rng.randint(1, 60)
                comment = ' ' * 26 + '// generated.cu:%d:%d' % place
                self.lines.append('\t.loc\t1 %d %d' % place + comment)
            self.rng.choices([p for p, _ in parts], [w for _, w in parts])[0]()
        self.put('ret;')

    def text(self):
        self.body()
        name = 'kernel_%d' % self.number
        params = ',\n'.join('\t.param .%s %s_param_%d' % (t, name, i)
                            for i, t in enumerate(('u64', 'u64', 'u64', 'u32')))
        regs = '\n'.join('\t.reg %s \t%%%s<%d>;' % (self.TYPES[k], k, n)
                         for k, n in self.LIMITS.items())
        return ('\t// .globl\t%s\n.visible .entry %s(\n%s\n)\n.maxntid 256, 1, 1\n{\n%s\n'
                '\t// demoted variable\n\t.shared .align 4 .b8 tile_%d[1024];\n%s\n\n}\n' %
                (name, name, params, regs, self.number, '\n'.join(self.lines)))


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument('--kernels', type=int, default=50)
    args.add_argument('--insns', type=int, default=5000)
    args.add_argument('--seed', type=int, default=1)
    args = args.parse_args()
    rng = random.Random(args.seed)
    out = sys.stdout
    out.write('//\n// Generated by gen_module.py\n//\n\n'
              '.version 8.5\n.target sm_80\n.address_size 64\n\n')
    out.write('.file\t1 "/src/generated.cu"\n')
    for i in range(args.kernels):
        out.write('\n' + Kernel(i, args.insns, rng).text())


if __name__ == '__main__':
    main()
