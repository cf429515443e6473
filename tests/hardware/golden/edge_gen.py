#!/usr/bin/env python3
"""Makes golden kernels of what the other sets leave out: edge_gen.py FOLDER

Matrices loaded and stored by wmma in each layout, with and without a stride; mbarriers of several
lanes at once; cp.async that reads less than it writes, or nothing; vectors whose elements are
narrower than their registers, in some lanes of a warp; member masks of which each half of the
lanes has its own; products of matrices next to nothing, and sums that are the least number; moves
of 128 bits in some lanes; ties; NaNs of which one was computed. Layout as exhaust_gen.py: thread i
of one CTA of 256 reads `nin` words of 64 bits and writes `nout`.
"""

import os, random, struct, sys

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
rng = random.Random(27)
CTA = 256
modules, index, jobs = {}, [], []


def table(name, make, threads=CTA):
    """make(thread): its words"""
    words = [w for i in range(threads) for w in make(i)]
    with open(os.path.join(folder, name), 'wb') as f:
        f.write(struct.pack('<%dQ' % len(words), *words))
    return name, len(words) // threads, threads


def kernel(chapter, form, inputs, n_out, declare, body):
    """body leaves the results in the registers o0, o1, ... of 64 bits"""
    name = 'edge%03d' % len(index)
    table_name, n_in, threads = inputs
    text = '.visible .entry %s(.param .u64 in, .param .u64 out)\n{\n' % name
    text += '  .reg .b64 pin, pi, po, w<4>, o<%d>;\n' % (n_out + 1)
    text += '  .reg .b32 t, lane, warp;\n  .reg .pred never;\n'
    text += declare + '\n'
    text += '  ld.param.u64 pin, [in]; ld.param.u64 po, [out];\n'
    text += '  mov.u32 t, %tid.x; and.b32 lane, t, 31; shr.u32 warp, t, 5;\n'
    text += '  mul.wide.u32 w0, t, %d; add.u64 pi, pin, w0;\n' % (8 * n_in)
    text += '  mul.wide.u32 w0, t, %d; add.u64 po, po, w0;\n' % (8 * n_out)
    text += body
    text += ''.join('  st.global.u64 [po+%d], o%d;\n' % (8 * i, i) for i in range(n_out))
    module = 'm_edge_%s.ptx' % chapter
    modules.setdefault(module, '.version 8.4\n.target sm_90\n.address_size 64\n\n')
    modules[module] += text + '  ret;\n}\n'
    index.append((name, module, chapter, form, '-', table_name, n_in, n_out, '-', '-', threads))
    jobs.append((module, name, table_name, threads, n_in, n_out))


def lines(text):
    return ''.join('  %s\n' % line.strip() for line in text.strip().split('\n'))


def pairs(registers, first):
    """words of two registers of 32 bits each, the last one perhaps of one"""
    text = ''
    for i in range(0, len(registers), 2):
        both = (registers[i : i + 2] + ['0'])[:2]
        if both[1] == '0':
            text += '  cvt.u64.u32 o%d, %s;\n' % (first + i // 2, both[0])
        else:
            text += '  mov.b64 o%d, {%s, %s};\n' % (first + i // 2, *both)
    return text


# ---- wmma: a warp has 1,024 bytes of the table to load from, and 2,048 to store to --------------

IMAGE = table('in_image.bin', lambda i: [rng.getrandbits(64) for _ in range(12)], 64)
FRAGMENTS = {  # shapes: types of A and B, of C and D
    'm16n16k16': ('f16 bf16 s8 u8', 'f16 f32 s32'),
    'm32n8k16': ('f16 bf16 s8 u8', 'f16 f32 s32'),
    'm8n32k16': ('f16 bf16 s8 u8', 'f16 f32 s32'),
    'm16n16k8': ('tf32', 'f32'),
    'm8n8k4': ('f64', 'f64'),
    'm8n8k32': ('s4 u4', 's32'),
    'm8n8k128': ('b1', 's32'),
}
BITS = {'f16': 16, 'bf16': 16, 's8': 8, 'u8': 8, 'tf32': 32, 'f32': 32, 's32': 32, 'f64': 64}
BITS.update({'s4': 4, 'u4': 4, 'b1': 1})


def dims(shape):
    m, rest = shape[1:].split('n')
    n, k = rest.split('k')
    return int(m), int(n), int(k)


def n_registers(what, shape, type):
    m, n, k = dims(shape)
    size = {'a': m * k, 'b': k * n}.get(what, m * n)
    each = 64 if type == 'f64' else 32
    if what in 'ab' and type == 'f16':
        return 8  # elements that two lanes have, or four, or eight
    return size * BITS[type] // 32 // each


def stride_of(what, shape, layout, type, is_wide):
    m, n, k = dims(shape)
    rows, columns = {'a': (m, k), 'b': (k, n)}.get(what, (m, n))
    least = columns if layout == 'row' else rows
    return least + (max(16 * 8 // BITS[type], 32 if BITS[type] == 4 else 0) if is_wide else 0)


def load(what, layout, shape, type, is_wide):
    n = n_registers(what, shape, type)
    kind = 'b64' if type == 'f64' else 'b32'
    stride = ', %d' % stride_of(what, shape, layout, type, True) if is_wide else ''
    body = lines('''mul.wide.u32 w1, warp, 1024; add.u64 w1, pin, w1;
        mov.u32 s, cells; shl.b32 r, t, 3; add.u32 r, r, s;''')
    for i in range(12):
        body += '  ld.global.b64 w2, [pi+%d]; ' % (8 * i)
        body += 'mad.lo.u32 r, t, 96, s; st.shared.b64 [r+%d], w2;\n' % (8 * i)
    body += lines('bar.sync 0;\nmad.lo.u32 s, warp, 1024, s;')
    for i, (space, at) in enumerate((('.global', 'w1'), ('.shared', 's'), ('', 'w1'))):
        registers = ['f%d_%d' % (i, j) for j in range(n)]
        body += '  wmma.load.%s.sync.aligned.%s.%s%s.%s {%s}, [%s]%s;\n' % (
            what, layout, shape, space, type, ', '.join(registers), at, stride)
        if kind == 'b64':
            body += ''.join(
                '  mov.b64 o%d, %s;\n' % (i * n + j, r) for j, r in enumerate(registers)
            )
        else:
            body += pairs(registers, i * ((n + 1) // 2))
    names = ', '.join('f%d_%d' % (i, j) for i in range(3) for j in range(n))
    declare = '  .reg .b32 s, r; .reg .%s %s;\n  .shared .align 32 .b8 cells[6144];' % (kind, names)
    form = 'wmma.load.%s.sync.aligned.%s.%s.%s' % (what, layout, shape, type)
    per = n if kind == 'b64' else (n + 1) // 2
    kernel('wmma', form + (' stride' if is_wide else ''), IMAGE, 3 * per, declare, body)


def store(layout, shape, type, is_wide):
    n = n_registers('d', shape, type)
    kind = 'b64' if type == 'f64' else 'b32'
    registers = ', '.join('f%d' % i for i in range(n))
    size = 8 if kind == 'b64' else 4
    stride = ', %d' % stride_of('d', shape, layout, type, True) if is_wide else ''
    body = ''.join('  ld.global.%s f%d, [pi+%d];\n' % (kind, i, size * i) for i in range(n))
    body += lines('''mov.u32 s, cells; mad.lo.u32 s, t, 64, s; mov.b64 w1, 0x1122334455667788;''')
    body += ''.join('  st.shared.b64 [s+%d], w1;\n' % (8 * i) for i in range(8))
    body += lines('''bar.sync 0;
        mov.u32 r, cells; mad.lo.u32 r, warp, 2048, r;
        cvt.u64.u32 w2, r; cvta.shared.u64 w2, w2;''')
    space, at = ('', 'w2') if is_wide else ('.shared', 'r')
    body += '  wmma.store.d.sync.aligned.%s.%s%s.%s [%s], {%s}%s;\n' % (
        layout, shape, space, type, at, registers, stride)
    body += '  bar.sync 0;\n'
    body += ''.join('  ld.shared.b64 o%d, [s+%d];\n' % (i, 8 * i) for i in range(8))
    declare = '  .reg .b32 s, r; .reg .%s %s;\n  .shared .align 32 .b8 cells[4096];' % (
        kind, registers)
    form = 'wmma.store.d.sync.aligned.%s.%s.%s' % (layout, shape, type)
    kernel('wmma', form + (' stride' if is_wide else ''), IMAGE, 8, declare, body)


def make_wmma():
    for shape, (inputs, outputs) in FRAGMENTS.items():
        for is_wide in (False, True):
            for layout in ('row', 'col'):
                for type in inputs.split():
                    for what in 'ab':
                        if BITS[type] < 8 and (what == 'a') != (layout == 'row'):
                            continue
                        load(what, layout, shape, type, is_wide)
                for type in outputs.split():
                    load('c', layout, shape, type, is_wide)
                    store(layout, shape, type, is_wide)


# ---- mbarriers: each lane has one of its own, not in the order of the lanes ---------------------

# pending count, how many arrive (at most all but one), bytes, which bytes come first
def make_counts(i):
    count = rng.choice([2, 3, 4, 1000, (1 << 20) - 1])
    few = rng.randrange(1, count)
    tx = rng.choice([1, 16, 4096, (1 << 20) - 1])
    return [count, few, tx, rng.randrange(tx + 1) | rng.getrandbits(1) << 32]


COUNTS = table('in_counts.bin', make_counts)
BARRIER = '''  .reg .b32 a, n, few, tx, part, left, some, r<16>;
  .reg .b64 s, s2, g; .reg .pred p, q;
  .shared .align 8 .b64 bars[256]; .shared .align 16 .b8 cells[4096];'''
BEGIN = '''mov.u32 a, bars; xor.b32 r0, t, 5; mad.lo.u32 a, r0, 8, a;
ld.global.u32 n, [pi]; ld.global.u32 few, [pi+8]; ld.global.u32 tx, [pi+16];
ld.global.u32 part, [pi+24]; ld.global.u32 some, [pi+28]; setp.ne.u32 q, some, 0;
sub.u32 left, n, few; cvt.u64.u32 g, a; cvta.shared.u64 g, g;'''


def answers(state, first):
    """of the barrier: is the state's phase over, and those of either parity"""
    text = ''
    for i, what in enumerate((state, '0', '1')):
        parity = '.parity' if i else ''
        text += 'mbarrier.test_wait%s.shared.b64 p, [a], %s; selp.b32 r%d, 1, 0, p;\n' % (
            parity, what, first + i)
    return text


def barrier(form, n_out, body, results, count='n'):
    start = 'mbarrier.init.shared.b64 [a], %s;\nbar.sync 0;' % count
    kernel('mbarrier', form, COUNTS, n_out, BARRIER, lines(BEGIN + '\n' + start + '\n' + body)
           + pairs(results, 0))


def make_barriers():
    for at in ('.shared.b64 S, [a]', '.b64 S, [g]'):
        op, operands = at.split(' ', 1)
        arrive = lambda what, state, count='': 'mbarrier.%s%s %s%s;\n' % (
            what, op, operands.replace('S', state), count)
        results, more = ['r%d' % i for i in range(1, 9)], ['r%d' % i for i in range(1, 10)]
        for guard in ('', '@q '):
            once = guard + arrive('arrive', 's', ', few')
            twice = guard + arrive('arrive', 's2', ', left')
            body = ('mov.b64 s, 0; mov.b64 s2, 0;\n' + once
                    + 'mbarrier.pending_count.b64 r1, s;\n'
                    + 'mbarrier.test_wait.parity.shared.b64 p, [a], 0; selp.b32 r2, 1, 0, p;\n'
                    + twice + 'mbarrier.pending_count.b64 r3, s2;\n'
                    + 'mbarrier.test_wait.parity.shared.b64 p, [a], 0; selp.b32 r4, 1, 0, p;\n'
                    + 'mbarrier.test_wait.parity.shared.b64 p, [a], 1; selp.b32 r5, 1, 0, p;\n')
            form = 'mbarrier.arrive%s count%s' % (op, ' guarded' if guard else '')
            barrier(form, 3, body, ['r%d' % i for i in range(1, 6)])
        body = arrive('arrive', 's') + 'mbarrier.pending_count.b64 r1, s;\n' + answers('s', 2)
        body += arrive('arrive', '_') + arrive('arrive', 's2')
        body += 'mbarrier.pending_count.b64 r5, s2;\n' + answers('s2', 6)
        barrier('mbarrier.arrive' + op, 4, body, results, '2')
        body = arrive('arrive.noComplete', 's', ', few') + 'mbarrier.pending_count.b64 r1, s;\n'
        body += answers('s', 2) + arrive('arrive', 's', ', left')
        body += 'mbarrier.pending_count.b64 r5, s;\n' + answers('s', 6)
        barrier('mbarrier.arrive.noComplete' + op, 4, body, results)
        body = arrive('arrive_drop', 's', ', few') + 'mbarrier.pending_count.b64 r1, s;\n'
        body += answers('s', 2) + arrive('arrive', '_', ', left') + arrive('arrive', 's2')
        body += 'mbarrier.pending_count.b64 r5, s2;\n' + answers('s2', 6)
        barrier('mbarrier.arrive_drop' + op, 4, body, results)
        body = arrive('arrive.expect_tx', 's', ', tx') + answers('s', 1)
        body += arrive('arrive', '_') + answers('s', 4)
        body += 'mbarrier.complete_tx.relaxed.cta.shared.b64 [a], tx;\n' + answers('s', 7)
        barrier('mbarrier.arrive.expect_tx' + op, 5, body, more, '2')
    body = '''mbarrier.expect_tx.relaxed.cta.shared.b64 [a], tx;
        mbarrier.arrive.shared.b64 s, [a], n;
        sub.u32 tx, tx, part; mbarrier.complete_tx.relaxed.cta.shared.b64 [a], part;
        ''' + answers('s', 1) + '''@q mbarrier.complete_tx.relaxed.cta.shared.b64 [a], tx;
        ''' + answers('s', 4)
    barrier('mbarrier.complete_tx', 3, body, ['r%d' % i for i in range(1, 7)])
    body = '''mapa.shared::cluster.u32 r0, a, 0;
        mbarrier.arrive.release.cluster.shared::cluster.b64 _, [r0], few;
        mbarrier.arrive.shared.b64 s, [a]; mbarrier.pending_count.b64 r1, s;
        ''' + answers('s', 2)
    barrier('mbarrier.arrive.release.cluster.shared::cluster.b64', 2, body,
            ['r%d' % i for i in range(1, 5)], '1048575')
    for count, lanes in (('2', 1), ('32', 5)):
        body = '''mbarrier.inval.shared.b64 [a]; bar.sync 0;
            mov.u32 a, bars; shr.u32 r0, t, %d; mad.lo.u32 a, r0, 8, a;
            and.b32 tx, tx, 1023; add.u32 tx, tx, 1;
            and.b32 r1, t, %s - 1; setp.eq.u32 p, r1, 0; @p mbarrier.init.shared.b64 [a], %s;
            bar.sync 0; mbarrier.arrive.expect_tx.shared.b64 _, [a], tx;
            mbarrier.test_wait.parity.shared.b64 p, [a], 0; selp.b32 r1, 1, 0, p; bar.sync 0;
            mbarrier.complete_tx.relaxed.cta.shared.b64 [a], tx; bar.sync 0;
            mbarrier.test_wait.parity.shared.b64 p, [a], 0; selp.b32 r2, 1, 0, p;
            mbarrier.test_wait.parity.shared.b64 p, [a], 1; selp.b32 r3, 1, 0, p; bar.sync 0;
            @q mbarrier.arrive.shared.b64 _, [a]; bar.sync 0;
            mbarrier.test_wait.parity.shared.b64 p, [a], 1; selp.b32 r4, 1, 0, p;''' % (
            lanes, count, count)
        barrier('mbarrier of %s lanes' % count, 2, body, ['r%d' % i for i in range(1, 5)])
    for noinc in ('', '.noinc'):
        body = '''mov.u32 r0, cells; mad.lo.u32 r0, t, 16, r0;
            cp.async.ca.shared.global [r0], [pi], 16;
            cp.async.mbarrier.arrive%s.shared.b64 [a];
            mov.b64 s, 0; %s
            L: mbarrier.test_wait.parity.shared.b64 p, [a], 0; @!p bra L;
            ld.shared.v4.u32 {r1, r2, r3, r4}, [r0];
            mbarrier.arrive.shared.b64 s, [a]; mbarrier.pending_count.b64 r5, s;''' % (
            noinc, '' if noinc else 'mbarrier.arrive.shared.b64 s, [a];')
        results = ['r%d' % i for i in range(1, 6)]
        barrier('cp.async.mbarrier.arrive%s' % noinc, 3, body, results, '1')


# ---- cp.async -----------------------------------------------------------------------------------

# two words of data, bytes that are read, a predicate and a guard
COPIES = table('in_copies.bin', lambda i: [rng.getrandbits(64), rng.getrandbits(64),
                                           rng.randrange(17), rng.getrandbits(2)])


def make_copies():
    for cache, bytes in (('ca', 4), ('ca', 8), ('ca', 16), ('cg', 16)):
        for what, option in (('', ''), ('some bytes', ', n'), ('ignored', ', p'),
                             ('not ignored', ', !p'), ('guarded', ''), ('guarded, ignored', ', p')):
            guard = '@q ' if 'guarded' in what else ''
            body = lines('''mov.u32 a, cells; xor.b32 b, t, 3; mad.lo.u32 b, b, 16, a;
                mad.lo.u32 a, t, 16, a; mov.b64 w1, 0x1122334455667788;
                st.shared.v2.b64 [a], {w1, w1}; bar.sync 0;
                xor.b32 c, t, 9; mul.wide.u32 w2, c, 32; add.u64 w2, w2, pin;
                ld.global.u32 n, [pi+16]; min.u32 n, n, %d; ld.global.u32 c, [pi+24];
                and.b32 b2, c, 1; setp.ne.u32 p, b2, 0; setp.gt.u32 q, c, 1;
                %scp.async.%s.shared.global [b], [w2], %d%s;
                cp.async.wait_all; bar.sync 0;
                ld.shared.v2.b64 {o0, o1}, [a];''' % (bytes, guard, cache, bytes, option))
            kernel('cp_async', 'cp.async.%s %d %s' % (cache, bytes, what), COPIES, 2,
                   '  .reg .b32 a, b, b2, c, n; .reg .pred p, q;\n'
                   '  .shared .align 16 .b8 cells[4096];', body)


# ---- vectors: of bytes in registers of more bits, in some lanes ---------------------------------

VECTORS = table('in_vectors.bin', lambda i: [rng.getrandbits(64) for _ in range(4)])
LANES = {
    'all': 'setp.lt.u32 p, lane, 32;',
    'a run': 'sub.u32 c, lane, 3; setp.lt.u32 p, c, 17;',
    'odd': 'and.b32 c, lane, 1; setp.ne.u32 p, c, 0;',
}


def wide(register, bits, at):
    if bits == 128:
        return '  mov.b128 {o%d, o%d}, %s;\n' % (at, at + 1, register)
    if bits == 64:
        return '  mov.b64 o%d, %s;\n' % (at, register)
    return '  cvt.u64.u%d o%d, %s;\n' % (bits, at, register)


def load_vector(type, n, bits, lanes, space, blank):
    registers = ['v%d' % i for i in range(n)]
    names = ['_' if i == blank else r for i, r in enumerate(registers)]
    body = ''
    for r in registers:
        start = 'mov.b128 %s, {w1, w1};' if bits == 128 else 'cvt.u%d.u64 %%s, w1;' % bits
        if bits == 64:
            start = 'mov.b64 %s, w1;'
        body += '  mov.b64 w1, 0x8877665544332211; ' + start % r + '\n'
    body += lines('''mov.u32 a, cells; mad.lo.u32 b, t, 32, a;
        ld.global.v2.b64 {w1, w2}, [pi]; st.shared.v2.b64 [b], {w1, w2};
        ld.global.v2.b64 {w1, w2}, [pi+16]; st.shared.v2.b64 [b+16], {w1, w2}; bar.sync 0;''')
    bytes = int(type[1:]) // 8 * n
    body += lines('''%s
        mad.lo.u32 a, t, %d, a; mul.wide.u32 w2, t, %d; add.u64 w2, w2, pin;''' % (
        LANES[lanes], bytes, bytes))
    vector = '' if n == 1 else '.v%d' % n
    text = names[0] if n == 1 else '{%s}' % ', '.join(names)
    body += '  @p ld.%s%s.%s %s, [%s];\n' % (
        space, vector, type, text, 'a' if space == 'shared' else 'w2')
    words = 2 if bits == 128 else 1
    body += ''.join(wide(r, bits, words * i) for i, r in enumerate(registers))
    form = 'ld.%s%s.%s to b%d, lanes %s%s' % (
        space, vector, type, bits, lanes, '' if blank is None else ', one ignored')
    kernel('vector', form, VECTORS, words * n,
           '  .reg .b32 a, b, c; .reg .pred p; .reg .b%d %s;\n'
           '  .shared .align 16 .b8 cells[8192];' % (bits, ', '.join(registers)), body)


def store_vector(type, n, bits, lanes):
    registers = ['v%d' % i for i in range(n)]
    size = {16: 'b16', 32: 'b32', 64: 'b64'}[bits]
    body = ''.join('  ld.global.%s %s, [pi+%d];\n' % (size, r, 8 * i)
                   for i, r in enumerate(registers))
    bytes = int(type[1:]) // 8 * n
    body += lines('''mov.u32 a, cells; mad.lo.u32 b, t, 32, a; mov.b64 w1, 0x1122334455667788;
        st.shared.v2.b64 [b], {w1, w1}; st.shared.v2.b64 [b+16], {w1, w1}; bar.sync 0;
        %s
        mad.lo.u32 a, t, %d, a;''' % (LANES[lanes], bytes))
    vector = '' if n == 1 else '.v%d' % n
    text = registers[0] if n == 1 else '{%s}' % ', '.join(registers)
    body += '  @p st.shared%s.%s [a], %s;\n' % (vector, type, text)
    body += lines('''bar.sync 0;
        ld.shared.v2.b64 {o0, o1}, [b]; ld.shared.v2.b64 {o2, o3}, [b+16];''')
    kernel('vector', 'st.shared%s.%s of b%d, lanes %s' % (vector, type, bits, lanes), VECTORS, 4,
           '  .reg .b32 a, b, c; .reg .pred p; .reg .b%d %s;\n'
           '  .shared .align 16 .b8 cells[8192];' % (bits, ', '.join(registers)), body)


def make_vectors():
    for size in (8, 16, 32, 64):
        for n in (1, 2, 4):
            if n * size > 128:
                continue
            for sign in 'su':
                for bits in (16, 32, 64, 128):
                    if bits < size or (bits == 128 and n > 1):
                        continue
                    for lanes in LANES:
                        space = 'shared' if (bits // 16 + n) % 2 else 'global'
                        load_vector('%s%d' % (sign, size), n, bits, lanes, space, None)
                    if n > 1 and bits > 16:
                        load_vector('%s%d' % (sign, size), n, bits, 'odd', 'global', 0)
            for bits in (16, 32, 64):
                if bits >= size:
                    for lanes in LANES:
                        store_vector('b%d' % size, n, bits, lanes)


# ---- member masks: lanes that part have masks of their own --------------------------------------

VALUES = table('in_values.bin', lambda i: [rng.getrandbits(64), rng.choice([0, 1, 7, 1 << 31])])
MEMBERS = {
    'vote.ballot': 'vote.sync.ballot.b32 r1, q, m;',
    'vote.all': 'vote.sync.all.pred q2, q, m; selp.b32 r1, 1, 0, q2;',
    'vote.any': 'vote.sync.any.pred q2, q, m; selp.b32 r1, 1, 0, q2;',
    'vote.uni': 'vote.sync.uni.pred q2, q, m; selp.b32 r1, 1, 0, q2;',
    'match.any': 'match.any.sync.b32 r1, v, m;',
    'match.all': 'match.all.sync.b32 r1|q2, v, m; @q2 add.u32 r1, r1, 1;',
    'redux.add': 'redux.sync.add.s32 r1, v, m;',
    'redux.min': 'redux.sync.min.s32 r1, v, m;',
    'redux.xor': 'redux.sync.xor.b32 r1, v, m;',
    'shfl.down': 'shfl.sync.down.b32 r1|q2, v, 4, 31, m; @!q2 add.u32 r1, r1, 1;',
    'shfl.bfly': 'shfl.sync.bfly.b32 r1|q2, v, 8, 31, m; @!q2 add.u32 r1, r1, 1;',
}


def make_members():
    for name, what in MEMBERS.items():
        for others in ('0x11111111', '0x55555555', '0xaaaaaaaa'):
            body = lines('''ld.global.u32 v, [pi+8]; and.b32 c, lane, 1; setp.ne.u32 p, c, 0;
                setp.ne.u32 q, v, 0; mov.u32 r1, 0x99;
                and.b32 c, lane, 2; setp.ne.u32 q2, c, 0; selp.b32 m, 0x44444444, 0x11111111, q2;
                @p mov.u32 m, %s;
                @p bra skip;
                %s
                skip: cvt.u64.u32 o0, r1;''' % (others, what))
            kernel('members', '%s, others %s' % (name, others), VALUES, 1,
                   '  .reg .b32 v, c, m, r1; .reg .pred p, q, q2;', body)


# ---- products next to nothing -------------------------------------------------------------------

TINY = [0, 1, 2, 0x007FFFFF, 0x00800000, 0x00800001, 0x33800000, 0x3F800000, 0x7F7FFFFF]


def make_tiny(i):
    c = [rng.choice(TINY) | rng.getrandbits(1) << 31 for _ in range(4)]
    kind = i // 32 % 4
    ab = [rng.choice([0, 0, 0x00010001, 0x00800080, 0x00000100][: 2 if kind < 2 else 5])
          | rng.choice([0, 0x80008000]) for _ in range(8)]
    if kind == 0:
        ab = [0] * 8
    words = ab + c
    return [words[j] | words[j + 1] << 32 for j in range(0, 12, 2)]


NOTHING = table('in_nothing.bin', make_tiny)
PRODUCTS = {
    'm16n8k4.row.col.f32.tf32.tf32.f32': (2, 1),
    'm16n8k8.row.col.f32.tf32.tf32.f32': (4, 2),
    'm16n8k8.row.col.f32.bf16.bf16.f32': (2, 1),
    'm16n8k16.row.col.f32.bf16.bf16.f32': (4, 2),
    'm16n8k8.row.col.f32.f16.f16.f32': (2, 1),
    'm16n8k16.row.col.f32.f16.f16.f32': (4, 2),
    'm16n8k32.row.col.f32.e4m3.e4m3.f32': (4, 2),
    'm16n8k32.row.col.f32.e5m2.e4m3.f32': (4, 2),
}


def make_products(inputs):
    for form, (na, nb) in PRODUCTS.items():
        body = ''.join('  ld.global.b32 ab%d, [pi+%d];\n' % (i, 4 * i) for i in range(8))
        body += ''.join('  ld.global.b32 c%d, [pi+%d];\n' % (i, 32 + 4 * i) for i in range(4))
        a = ', '.join('ab%d' % i for i in range(na))
        b = ', '.join('ab%d' % (4 + i) for i in range(nb))
        body += '  mma.sync.aligned.%s {d0, d1, d2, d3}, {%s}, {%s}, {c0, c1, c2, c3};\n' % (
            form, a, b)
        kernel('product', 'mma.sync.aligned.' + form, inputs, 2,
               '  .reg .b32 ab<8>, c<4>, d<4>;', body + pairs(['d%d' % i for i in range(4)], 0))


# ---- subnormal numbers, and what is next to them, where .ftz is asked for or a format ends -------


def number(exponent, fraction):
    """Of a format: a subnormal one, one about its least normal one, or another"""
    bits, least = 1 + exponent + fraction, 1 << fraction
    choice = [
        lambda: rng.randrange(1, least),
        lambda: rng.choice([0, 1, least - 1, least, least + 1, 2 * least - 1]),
        lambda: rng.randrange(least, 4 * least),
        lambda: rng.getrandbits(bits - 1),
        lambda: ((1 << exponent) - 1) * least + rng.choice([0, 1, least >> 1]),
    ]
    return choice[rng.choice([0, 0, 0, 1, 1, 2, 3, 4])]() | rng.getrandbits(1) << (bits - 1)


def double():
    """Of those that f32, or f16, may hold as subnormal ones, most"""
    top = rng.choice([1023 - 127, 1023 - 150, 1023 - 15, 1023 - 25])
    exponent = top + rng.randrange(-2, 26)
    fraction = rng.choice([0, (1 << 52) - 1, rng.getrandbits(52), rng.getrandbits(52) >> 30 << 30])
    special = rng.choice([0, 0x7FF << 52, 0x7FF << 52 | 1, 1])
    value = special if rng.randrange(8) == 0 else exponent << 52 | fraction
    return value | rng.getrandbits(1) << 63


FORMATS = {'f32': (8, 23), 'f16': (5, 10), 'bf16': (8, 7)}
SUBNORMALS = {
    type: table('in_%s.bin' % type, lambda i, of=of: [number(*of) for _ in range(3)])
    for type, of in FORMATS.items()
}
SUBNORMALS['f64'] = table('in_f64.bin', lambda i: [double() for _ in range(3)])
SIZES = {'f64': 64, 'f32': 32, 'f16': 16, 'bf16': 16}


def compute(chapter, form, to, types, extra='', inputs=None):
    """form: the instruction; types: of its sources; extra: operands behind them"""
    letters = 'abc'[: len(types)]
    body = ''
    for i, type in enumerate(types):
        body += '  ld.global.b%d %s, [pi+%d];\n' % (SIZES[type], letters[i], 8 * i)
    body += '  %s d, %s%s;\n' % (form, ', '.join(letters), extra)
    body += '  mov.b64 o0, d;\n' if to == 64 else '  cvt.u64.u%d o0, d;\n' % to
    declare = '  .reg .b%d d;' % to
    declare += ''.join(' .reg .b%d %s;' % (SIZES[t], r) for t, r in zip(types, letters))
    kernel(chapter, form + extra, inputs or SUBNORMALS[types[0]], 1, declare, body)


def make_subnormals():
    for round in ('rni', 'rzi', 'rmi', 'rpi'):
        for type in ('f32', 'f16'):
            for sign in 'su':
                for bits in (16, 32, 64):
                    for ftz in ('.ftz', '') if type == 'f32' else ('',):
                        form = 'cvt.%s%s.%s%d.%s' % (round, ftz, sign, bits, type)
                        compute('subnormal', form, bits, [type])
    for round in ('rn', 'rz', 'rm', 'rp'):
        for ftz in ('.ftz', ''):
            for sat in ('', '.sat'):
                compute('subnormal', 'cvt.%s%s%s.f16.f32' % (round, ftz, sat), 16, ['f32'])
                compute('subnormal', 'cvt.%s%s%s.f32.f64' % (round, ftz, sat), 32, ['f64'])
    for form, to, type in (
        ('cvt.rn.bf16.f32', 16, 'f32'), ('cvt.rz.bf16.f32', 16, 'f32'),
        ('cvt.rn.relu.bf16.f32', 16, 'f32'), ('cvt.rn.f16.f64', 16, 'f64'),
        ('cvt.ftz.f64.f32', 64, 'f32'), ('cvt.ftz.sat.f64.f32', 64, 'f32'),
        ('cvt.sat.f64.f32', 64, 'f32'), ('cvt.ftz.f32.f16', 32, 'f16'),
        ('cvt.ftz.sat.f32.f16', 32, 'f16'), ('cvt.sat.f32.f16', 32, 'f16'),
        ('ex2.approx.ftz.bf16', 16, 'bf16'), ('ex2.approx.f16', 16, 'f16'),
        ('abs.f64', 64, 'f64'), ('neg.f64', 64, 'f64'),
    ):
        compute('subnormal', form, to, [type])
    for operation in ('add', 'sub', 'mul', 'fma', 'min', 'max'):
        for ending in ('.ftz.f32', '.ftz.f16', '.f16', '.bf16'):
            type = ending.split('.')[-1]
            rounds = {'fma': '.rn', 'add': '.rn', 'sub': '.rn', 'mul': '.rn'}.get(operation, '')
            n = 3 if operation == 'fma' else 2
            compute('subnormal', operation + rounds + ending, SIZES[type], [type] * n)
    for test in ('eq', 'ne', 'lt', 'ge', 'ltu', 'num'):
        for ftz in ('', '.ftz'):
            for type in ('f32', 'f16'):
                for to, bits in (('u32', 32), ('f32', 32)) if type == 'f32' else (('f16', 16),):
                    compute('subnormal', 'set.%s%s.%s.%s' % (test, ftz, to, type), bits, [type] * 2)


# ---- constants ----------------------------------------------------------------------------------


def make_constants():
    for operation in ('min', 'max'):
        for ending in ('.f32', '.ftz.f32', '.NaN.f32'):
            for constant in ('0f3F800000', '0fBF800000', '0f00000000', '0f80000000', '0f7F800000',
                             '0f00000001'):
                compute('constant', operation + ending, 32, ['f32'], ', ' + constant)
        for constant in ('0d3FF0000000000000', '0d0000000000000000', '0dFFF0000000000000'):
            compute('constant', operation + '.f64', 64, ['f64'], ', ' + constant)
    for how in ('up', 'down', 'bfly', 'idx'):
        for lane in (0, 1, 8, 15, 16, 17, 31, 48):
            limit = rng.choice(['0', '31', '0x0f0f', '0x181f', '7'])
            form = 'shfl.sync.%s.b32' % how
            body = lines('''ld.global.u32 v, [pi]; mov.u32 r, 0x99;
                %s r|p, v, %d, %s, -1; selp.b32 c, 1, 0, p;
                mov.b64 o0, {r, c};''' % (form, lane, limit))
            kernel('constant', '%s %d %s' % (form, lane, limit), VALUES, 1,
                   '  .reg .b32 v, r, c; .reg .pred p;', body)


# ---- atomics in shared memory -------------------------------------------------------------------

def make_pair(i):
    """Numbers that are alike in their upper half, or of other signs, or subnormal"""
    a = rng.choice([rng.getrandbits(64), rng.getrandbits(32), 0x80000000, 1, number(8, 23)])
    b = rng.choice(
        [rng.getrandbits(64), rng.getrandbits(32), a ^ 1 << 31, a ^ 1 << 63, number(8, 23)]
    )
    return [a, b, rng.choice([a, b, 0])]


PAIRS = table('in_pairs.bin', make_pair)


def make_atomics():
    for bits, types in ((32, 'u32 s32 b32 f32'), (64, 'u64 s64 b64 f64')):
        for type in types.split():
            for operation in {'u': 'add min max inc dec', 's': 'min max add', 'f': 'add',
                              'b': 'and or xor exch cas'}[type[0]].split():
                if operation in ('inc', 'dec') and bits == 64:
                    continue
                if operation == 'add' and type == 's64':
                    continue
                for space, at in (('.shared', 'a'), ('', 'g')):
                    third = ', w3' if operation == 'cas' else ''
                    body = lines('''mov.u32 a, cells; xor.b32 c, t, 5; mad.lo.u32 a, c, 8, a;
                        cvt.u64.u32 g, a; cvta.shared.u64 g, g;
                        ld.global.b64 w1, [pi]; ld.global.b64 w2, [pi+8]; ld.global.b64 w3, [pi+16];
                        st.shared.b64 [a], w1; mov.b64 o0, 0;''')
                    if bits == 32:
                        body += lines('cvt.u32.u64 x, w2; cvt.u32.u64 y, w3;')
                        third = third.replace('w3', 'y')
                        body += '  atom%s.%s.%s x, [%s], x%s;\n  cvt.u64.u32 o0, x;\n' % (
                            space, operation, type, at, third)
                    else:
                        body += '  atom%s.%s.%s o0, [%s], w2%s;\n' % (
                            space, operation, type, at, third)
                    body += '  ld.shared.b64 o1, [a];\n'
                    kernel('atomic', 'atom%s.%s.%s' % (space, operation, type), PAIRS, 2,
                           '  .reg .b32 a, c, x, y; .reg .b64 g;\n'
                           '  .shared .align 8 .b64 cells[256];', body)


# ---- sums that are the least number of a format, and nothing else in the matrix ------------------


def make_least(i):
    warp, lane = i // 32, i % 32
    c = [rng.choice([0, 1, 0x80000001]) if warp % 2 or lane == warp else 0 for _ in range(4)]
    words = [0] * 8 + c
    return [words[j] | words[j + 1] << 32 for j in range(0, 12, 2)]


# ---- moves of 128 bits, and bytes by a constant selector ----------------------------------------


def make_moves():
    for lanes in LANES:
        body = lines('''ld.global.v2.b64 {w0, w1}, [pi]; ld.global.v2.b64 {w2, w3}, [pi+16];
            mov.b128 a, {w0, w1}; mov.b128 b, {w2, w3};
            %s
            @p mov.b128 a, b; mov.b128 {o0, o1}, a;''' % LANES[lanes])
        kernel('move', 'mov.b128, lanes ' + lanes, VECTORS, 2,
               '  .reg .b128 a, b; .reg .b32 c; .reg .pred p;', body)
    for selector in ('0xba98', '0x89ab', '0xfedc', '0xc4f0', '0x8888', '0x7e5d', '0x0810'):
        body = lines('''ld.global.v2.b32 {a, b}, [pi];
            prmt.b32 d, a, b, %s; cvt.u64.u32 o0, d;''' % selector)
        kernel('move', 'prmt.b32 by ' + selector, VECTORS, 1, '  .reg .b32 a, b, d;', body)


# ---- numbers halfway between two of a format with fewer bits -------------------------------------


def tie(exponent, fraction, cut):
    """Of a format, whose last bits are half of what the shorter one tells apart, or next to it"""
    half, sign = 1 << (cut - 1), rng.getrandbits(1) << (exponent + fraction)
    top = rng.choice([rng.getrandbits(exponent + fraction - cut), (1 << exponent) - 2])
    return top << cut | rng.choice([half, half, half, half - 1, half + 1, 0]) | sign


def make_ties():
    for to, bits, cut, forms in (
        ('tf32.f32', 32, 13, 'cvt.rn cvt.rz cvt.rna cvt.rn.relu cvt.rz.relu'),
        ('bf16.f32', 16, 16, 'cvt.rn cvt.rz cvt.rn.relu cvt.rz.relu'),
        ('f16.f32', 16, 13, 'cvt.rn cvt.rz cvt.rn.relu cvt.rz.relu'),
    ):
        ties = table('in_ties%d%s.bin' % (cut, to[:2]), lambda i: [tie(8, 23, cut)])
        for form in forms.split():
            compute('tie', '%s.%s' % (form, to), bits, ['f32'], inputs=ties)


# ---- the least and largest of a number that was computed and one that was loaded -----------------

NANS = [0x7F800001, 0x7FA00000, 0xFFC12345, 0x7FFFFFFF, 0x7F800000, 0, 1 << 31, 0x3F800000, 1]


def make_nans():
    nans = table('in_nans.bin', lambda i: [rng.choice(NANS) for _ in range(3)])
    for form in ('min.f32', 'min.ftz.f32', 'min.NaN.f32', 'max.f32', 'max.ftz.f32', 'max.NaN.f32'):
        for order in ('e, c', 'c, e'):
            body = lines('''ld.global.b32 a, [pi]; ld.global.b32 b, [pi+8];
                ld.global.b32 c, [pi+16];
                mul.rn.f32 e, a, b; %s d, %s; cvt.u64.u32 o0, d;''' % (form, order))
            kernel('nan', '%s of %s' % (form, order.replace('e', 'a product')), nans, 1,
                   '  .reg .b32 a, b, c, d, e;', body)


make_wmma()
make_barriers()
make_copies()
make_vectors()
make_members()
make_products(NOTHING)
make_subnormals()
make_constants()
make_atomics()
make_products(table('in_least.bin', make_least))
make_moves()
make_ties()
make_nans()
for name, text in modules.items():
    open(os.path.join(folder, name), 'w').write(text)
for name, rows in (('index.tsv', index), ('jobs.tsv', jobs)):
    with open(os.path.join(folder, name), 'w') as f:
        f.writelines('\t'.join(map(str, row)) + '\n' for row in rows)
print('%d kernels' % len(index))
