#!/usr/bin/env python3
"""Makes the golden kernels of chains of f64 operations: chain_gen.py FOLDER

Random programs of arithmetic, choices, conversions, loops, branches, guards, memory and shuffles on
doubles of which many are NaNs with payloads of their own, infinities and zeros: whose NaN comes out
of a chain. One .entry k(.param .u64 in, .param .u64 out) each; thread i reads eight inputs from
in[8 i] and writes six results to out[6 i], words of 64 bits. FOLDER gets a module, an input table,
index.tsv (as pack.py reads it) and jobs.tsv (for device_run.c, which is told not to optimise: the
assembler exchanges operands, and with them whose NaN it is; for the same reason no immediate is a
NaN).
"""

import os, random, struct, sys

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
rng = random.Random(2119)
ROWS, INPUTS, OUTPUTS, KERNELS = 256, 8, 6, 160
NUMBERS = ['0d3FF0000000000000', '0dBFF0000000000000', '0d0000000000000000', '0d8000000000000000',
           '0d4000000000000000', '0d3FE5555555555555', '0d7FF0000000000000']
COMPARISONS = ['lt', 'le', 'gt', 'ge', 'eq', 'ne', 'ltu', 'leu', 'gtu', 'geu', 'equ', 'neu', 'num',
               'nan']


class Program:
    """Variables v0 … are doubles; the newest are read most."""

    def __init__(self):
        self.lines, self.n, self.preds, self.labels, self.depth = [], INPUTS, 0, 0, 0

    def pick(self, constants=True):
        if constants and rng.random() < 0.08:
            return rng.choice(NUMBERS)
        near = self.n - 1 - min(int(rng.expovariate(0.3)), self.n - 1)
        return 'v%d' % (near if rng.random() < 0.7 else rng.randrange(self.n))

    def new(self):
        """A new variable, or, inside loops and branches, an old one."""
        if self.depth:
            return 'v%d' % rng.randrange(self.n)
        self.n += 1
        return 'v%d' % (self.n - 1)

    def emit(self, text, *values):
        self.lines.append('  ' + text % values)

    def predicate(self):
        p = 'p%d' % self.preds
        self.preds += 1
        if rng.random() < 0.6:
            self.emit('setp.%s.f64 %s, %s, %s;', rng.choice(COMPARISONS), p, self.pick(False),
                      self.pick())
        else:
            self.emit('and.b32 m, i, %d; setp.eq.u32 %s, m, 0;', rng.choice([1, 2, 4, 16]), p)
        return p

    def compute(self, guard=''):
        kind = rng.choices(['add', 'sub', 'mul', 'fma', 'div', 'sqrt', 'rcp', 'neg', 'abs', 'min',
                            'max', 'selp', 'copysign', 'half', 'bits', 'mov'],
                           [9, 6, 9, 12, 2, 1, 1, 3, 2, 2, 2, 3, 1, 1, 1, 1])[0]
        a, b, c = self.pick(False), self.pick(), self.pick()
        if kind == 'selp':
            p = self.predicate()
            self.emit('%sselp.f64 %s, %s, %s, %s;', guard, self.new(), a, b, p)
        elif kind == 'half':
            self.emit('%scvt.rn.f32.f64 f, %s;', guard, a)
            self.emit('%scvt.f64.f32 %s, f;', guard, self.new())
        elif kind == 'bits':
            self.emit('%smov.b64 {m, n}, %s;', guard, a)
            self.emit('%smov.b64 %s, {m, n};', guard, self.new())
        elif kind == 'copysign':
            self.emit('%scopysign.f64 %s, %s, %s;', guard, self.new(), a, b)
        elif kind == 'mov':
            self.emit('%smov.f64 %s, %s;', guard, self.new(), b)
        elif kind in ('neg', 'abs'):
            self.emit('%s%s.f64 %s, %s;', guard, kind, self.new(), a)
        elif kind in ('sqrt', 'rcp'):
            self.emit('%s%s.rn.f64 %s, %s;', guard, kind, self.new(), a)
        elif kind in ('min', 'max'):
            self.emit('%s%s.f64 %s, %s, %s;', guard, kind, self.new(), a, b)
        elif kind in ('fma', 'div'):
            last = ', ' + c if kind == 'fma' else ''
            self.emit('%s%s.rn.f64 %s, %s, %s%s;', guard, kind, self.new(), a, b, last)
        else:
            if rng.random() < 0.5:
                a, b = b, a
            self.emit('%s%s.rn.f64 %s, %s, %s;', guard, kind, self.new(), a, b)

    def memory(self):
        self.emit('st.shared.f64 [ps], %s;', self.pick(False))
        for _ in range(rng.randrange(3)):
            self.compute()
        self.emit('ld.shared.f64 %s, [ps];', self.new())

    def shuffle(self):
        self.emit('mov.b64 {m, n}, %s;', self.pick(False))
        lane = rng.choice([1, 2, 5, 16])
        for half in 'mn':
            self.emit('shfl.sync.bfly.b32 %s, %s, %d, 31, -1;', half, half, lane)
        self.emit('mov.b64 %s, {m, n};', self.new())

    def block(self, n):
        for _ in range(n):
            guard = ''
            if rng.random() < 0.12:
                self.depth += 1
                guard = '@%s%s ' % (rng.choice(['', '!']), self.predicate())
            self.compute(guard)
            self.depth -= bool(guard)

    def loop(self):
        self.labels += 1
        label = 'L%d' % self.labels
        self.depth += 1
        if rng.random() < 0.5:
            self.emit('mov.u32 k, %d;', rng.randint(2, 7))
        else:
            self.emit('and.b32 k, i, 3; add.u32 k, k, 1;')
        self.lines.append(label + ':')
        self.block(rng.randint(2, 8))
        self.emit('sub.u32 k, k, 1; setp.ne.u32 q, k, 0;')
        self.emit('@q bra %s;', label)
        self.depth -= 1

    def branch(self):
        self.labels += 1
        label = 'L%d' % self.labels
        p = self.predicate()
        self.depth += 1
        self.emit('@%s bra %s;', p, label)
        self.block(rng.randint(1, 6))
        self.lines.append(label + ':')
        self.depth -= 1

    def make(self):
        for _ in range(rng.randint(3, 7)):
            part = rng.choices(['block', 'loop', 'branch', 'memory', 'shuffle'],
                               [6, 2, 2, 1, 1])[0]
            if part == 'block':
                self.block(rng.randint(2, 12))
            else:
                getattr(self, part)()
        outs = ['v%d' % (self.n - 1)] + ['v%d' % v for v in rng.sample(range(self.n), OUTPUTS - 1)]
        self.lines += ['  st.global.f64 [po+%d], %s;' % (8 * i, v) for i, v in enumerate(outs)]
        return self.lines


def kernel(name):
    program = Program()
    lines = program.make()
    head = [
        '.visible .entry %s(.param .u64 in, .param .u64 out)' % name,
        '{',
        '  .reg .f64 v<%d>; .reg .f32 f; .reg .pred p<%d>, q;' % (program.n, program.preds + 1),
        '  .reg .b64 pi, po, ps, w; .reg .b32 i, m, n, k;',
        '  .shared .align 8 .b8 s[2048];',
        '  ld.param.u64 pi, [in]; ld.param.u64 po, [out];',
        '  mov.u32 i, %ctaid.x; mov.u32 n, %ntid.x; mov.u32 m, %tid.x; mad.lo.u32 i, i, n, m;',
        '  mul.wide.u32 w, m, 8; mov.u64 ps, s; add.u64 ps, ps, w;',
        '  mul.wide.u32 w, i, %d; add.u64 pi, pi, w;' % (8 * INPUTS),
        '  mul.wide.u32 w, i, %d; add.u64 po, po, w;' % (8 * OUTPUTS),
    ]
    head += ['  ld.global.f64 v%d, [pi+%d];' % (i, 8 * i) for i in range(INPUTS)]
    return '\n'.join(head + lines + ['  ret;', '}', ''])


def word(dense):
    """A double; every second one of a dense row is a NaN."""
    sign = rng.getrandbits(1) << 63
    kind = rng.random()
    if kind < (0.5 if dense else 0.03):
        quiet = rng.getrandbits(1) << 51
        return sign | 0x7FF << 52 | quiet | rng.getrandbits(51) | 1
    if kind < (0.6 if dense else 0.06):
        return sign | 0x7FF << 52
    if kind < (0.7 if dense else 0.1):
        return sign
    if kind < 0.75 and dense:
        return sign | rng.getrandbits(52)
    return sign | rng.randint(1018, 1028) << 52 | rng.getrandbits(52)


index, jobs = [], []
table, module = 'in_chain.bin', 'm_chain.ptx'
with open(os.path.join(folder, table), 'wb') as f:
    for row in range(ROWS):
        for _ in range(INPUTS):
            f.write(struct.pack('<Q', word(row % 4 != 0)))
with open(os.path.join(folder, module), 'w') as f:
    f.write('.version 8.0\n.target sm_90\n.address_size 64\n')
    for n in range(KERNELS):
        name = 'chain_%03d' % n
        f.write(kernel(name))
        index.append('\t'.join((name, module, 'chain', 'f64 %d' % n, '-', table, str(INPUTS),
                                str(OUTPUTS), '-', '-', str(ROWS))))
        jobs.append('\t'.join((module, name, table, str(ROWS), str(INPUTS), str(OUTPUTS))))
open(os.path.join(folder, 'index.tsv'), 'w').write('\n'.join(index) + '\n')
open(os.path.join(folder, 'jobs.tsv'), 'w').write('\n'.join(jobs) + '\n')
print(len(index), 'kernels')
