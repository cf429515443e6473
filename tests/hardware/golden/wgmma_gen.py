#!/usr/bin/env python3
"""Makes golden kernels that compute through shared memory: wgmma.mma_async (dense and .sp),
ldmatrix, stmatrix, movmatrix.

    wgmma_gen.py FOLDER [--seed S]

Every kernel is .entry kNNNNN(.param .u64 in, .param .u64 out), 128 threads a CTA. CTA c reads the
`bytes in` bytes at in + c * (bytes in); thread t of CTA c writes `words` 32-bit words at out + 4 *
words * (128 * c + t). FOLDER gets modules, input tables, jobs.tsv (for device_run.c) and index.tsv
(as pack_shared.py reads it): kernel, module, group, form, statement, layout (descriptor fields),
input file, bytes in, words, CTAs, mode (full: the result registers in order; digest: one word, see
below; smem: the shared bytes 4 * words * t .. of the image after the instruction).

What a CTA of wgmma reads: an image (24576 bytes, copied to a 1024-aligned shared array: A's
descriptor starts at A=.., B's at B=.. in it), A registers (thread t: 4 words at 24576 + 16 t),
metadata (word t at 26624), D as f32 or s32 (1152 words at 27136), D as f16x2 (1152 words at 31744);
register i of D in thread t starts as word 8 t + i of these. CTA c has inputs of style c (STYLES).
Descriptor fields are in bytes: lbo (bits 16..29, >> 4), sbo (bits 32..45, >> 4), base (bits
49..51), swz (bits 62..63: 0 none, 1 128B, 2 64B, 3 32B). scale-d is predicate p, set to the value
in the layout column. digest: h = 0; for every result register r in order h = h * 0x9E3779B97F4A7C15
+ r (64 bits); the word is (h ^ h >> 32) low 32 bits.
"""

import argparse, math, os, random, re, struct

HERE = os.path.dirname(os.path.abspath(__file__))
ap = argparse.ArgumentParser()
ap.add_argument('out')
ap.add_argument('--seed', type=int, default=1)
ap.add_argument('--forms', default=os.path.join(HERE, '../../assembler/isa/forms.tsv'))
A = ap.parse_args()
os.makedirs(A.out, exist_ok=True)
IMG, BOFF, AREG, META, DP32, DP16, SLICE = (24576, 8192, 24576, 26624, 27136, 31744, 36352)
STYLES = [
    'ints',
    'normal',
    'wide',
    'cancel',
    'any',
    'tiny',
    'inf',
    'nan',
    'pow2',
    'subz',
    'dwide',
    'over',
]

# ---- elements
# ---------------------------------------------------------------------------------------------

FMT = {
    'f16': (5, 10),
    'bf16': (8, 7),
    'tf32': (8, 23),
    'f32': (8, 23),
    'e4m3': (4, 3),
    'e5m2': (5, 2),
}
SPAN = {'f16': 14, 'bf16': 18, 'tf32': 18, 'f32': 30, 'e4m3': 7, 'e5m2': 14}


def width(t):
    return 1 + sum(FMT[t]) if t in FMT else {'b1': 1, 's8': 8, 'u8': 8, 's32': 32}[t]


def enc(t, x):
    """x to the nearest t (saturating at the largest finite value)"""
    e, m = FMT[t]
    bias = (1 << e - 1) - 1
    s = (1 if x < 0 else 0) << e + m
    x = abs(x)
    if x == 0:
        return s
    q = max(math.frexp(x)[1] - 1, 1 - bias)
    n = round(x / 2.0 ** (q - m))
    if n >> m + 1:
        n >>= 1
        q += 1
    v = n if n < 1 << m else (q + bias << m) + (n - (1 << m))
    top = ((1 << e) - 1 << m) - 1 if t != 'e4m3' else 126
    return s | min(v, top)


def raw(t, r, lo, hi, mant=None):
    """a random element with biased exponent lo..hi"""
    e, m = FMT[t]
    mx = (1 << e) - (1 if t == 'e4m3' else 2)
    E = min(max(r.randrange(lo, hi + 1), 0), mx)
    M = r.getrandbits(m) if mant is None else mant
    if t == 'e4m3' and E == 15 and (M == 7):
        M = 6
    return r.getrandbits(1) << e + m | E << m | M


def elem(t, style, r, acc=False):
    if t in ('s8', 'u8', 'b1'):
        return (
            r.getrandbits(width(t))
            if style != 'ints' or t == 'b1'
            else r.choice((0, 1, 2, 3, 127, 128, 255, 254, r.getrandbits(8)))
        )
    if t == 's32':
        if style in ('over', 'inf', 'nan'):
            return r.choice(
                (
                    2147483647,
                    2147483648,
                    2147483632,
                    2147483904,
                    2147418112,
                    2147549184,
                    r.getrandbits(32),
                )
            )
        return r.getrandbits(32) if style == 'any' else r.randrange(-100000, 100000) & 4294967295
    e, m = FMT[t]
    bias = (1 << e - 1) - 1
    W = 1 + e + m
    sg = r.getrandbits(1) << W - 1
    SP = SPAN[t]
    inf = (1 << e) - 1 << m
    if style == 'any':
        return r.getrandbits(W)
    if style == 'ints':
        return enc(t, float(r.randrange(-8, 9)))
    if style == 'inf' and r.random() < 0.02:
        return sg | (inf if t != 'e4m3' else 126)
    if style == 'nan':
        k = r.random()
        if k < 0.01:
            return sg | inf | (r.getrandbits(m) if t != 'e4m3' else 7) | (1 if t != 'e4m3' else 0)
        if k < 0.02 and t != 'e4m3':
            return sg | inf
    if style in ('normal', 'inf', 'nan'):
        return enc(t, r.gauss(0, 1))
    if style == 'dwide':
        return raw(t, r, bias - 40, bias + 40) if acc else enc(t, r.gauss(0, 1))
    if style == 'wide':
        return raw(t, r, bias - SP, bias + SP)
    if style == 'cancel':
        big = 10 if SP > 7 else 6
        if acc and t == 'f32':
            return sg | bias + 2 * big << m if r.random() < 0.5 else raw(t, r, bias - 12, bias + 2)
        return sg | bias + big << m if r.random() < 0.3 else raw(t, r, bias - SP, bias)
    if style == 'tiny':
        if acc and t == 'f32':
            return raw(t, r, bias - 60, bias - 20) if r.random() < 0.5 else raw(t, r, 0, 12)
        return (
            raw(t, r, 0, min(8, bias))
            if r.random() < 0.6 or e < 8
            else raw(t, r, bias - 75, bias - 55)
        )
    if style == 'pow2':
        return raw(t, r, bias - SP, bias + SP, 0)
    if style == 'subz':
        return r.choice(
            (
                0,
                1 << W - 1,
                sg | r.getrandbits(m),
                sg | 1,
                sg | bias << m,
                sg | 1 << m,
                0,
                1 << W - 1,
            )
        )
    if style == 'over':
        return (
            raw(t, r, (1 << e) - (4 if acc else 1 << e - 2), (1 << e) - 1)
            if e < 8 or acc
            else raw(t, r, bias + 55, bias + 66) if r.random() < 0.96 else raw(t, r, 190, 254)
        )
    raise SystemExit(style)


def fill(t, style, r, nbytes, acc=False):
    if t == 'b1' or (t in ('s8', 'u8') and style != 'ints'):
        return r.randbytes(nbytes)
    w = width(t)
    code = {8: 'B', 16: 'H', 32: 'I'}[w]
    n = nbytes * 8 // w
    return struct.pack('<%d%s' % (n, code), *[elem(t, style, r, acc) for _ in range(n)])


NIB = [4, 8, 12, 9, 13, 14]
tables = {}


def table(at, bt, d):
    """the input file of an operand type pair: one slice a style"""
    if at in ('s8', 'u8'):
        at = bt = 's8'
    key = (at, bt)
    if key not in tables:
        r = random.Random('%d/%s/%s' % (A.seed, at, bt))
        out = b''
        d32 = 's32' if at in ('s8', 'b1') else 'f32'
        for s in STYLES:
            sl = fill(at, s, r, BOFF) + fill(bt, s, r, IMG - BOFF) + fill(at, s, r, 2048)
            for _ in range(128):
                v = 0
                for q in range(8):
                    v |= (r.choice((4, 14)) if at == 'tf32' else r.choice(NIB)) << 4 * q
                sl += struct.pack('<I', v)
            sl += fill(d32, s, r, 4608, True) + (
                fill('f16', s, r, 4608, True) if at in ('f16', 'e4m3', 'e5m2') else bytes(4608)
            )
            assert len(sl) == SLICE
            out += sl
        name = 'in_%s_%s.bin' % (at, bt)
        open(os.path.join(A.out, name), 'wb').write(out)
        tables[key] = name
    return tables[key]


# ---- descriptors
# ------------------------------------------------------------------------------------------

SWZ = {0: 0, 128: 1, 64: 2, 32: 3}


def tight(mn, kb, sw, trans):
    """lbo, sbo of a gap-free layout of mn rows (columns) of kb bytes; trans: MN-major, 16-bit
    elements"""
    if not trans:
        return (128, kb // 16 * 128) if sw == 0 else (16, 8 * sw)
    k = kb // 2
    return (128 * (mn // 8), 128) if sw == 0 else (8 * sw * (k // 8), 8 * sw)


def desc(start, lbo, sbo, base, sw):
    return (lbo >> 4 & 16383) << 16 | (sbo >> 4 & 16383) << 32 | base << 49 | SWZ[sw] << 62


# ---- kernels
# ----------------------------------------------------------------------------------------------

DECL = (
    '.reg .pred %p<4>, %q; .reg .b32 %r<300>, %base, %o, %z, %x, %y, %w<4>; .reg .f32 %f<200>; .reg'
    ' .b64 %rd<4>, %ib, %ob, %t, %h;'
)
jobs, index, mods = ([], [], {})


def add(group, form, stmt, layout, inp, bytes_in, words, ctas, mode, body, extra=''):
    k = 'k%05d' % len(index)
    L = [
        '.visible .entry %s(.param .u64 in, .param .u64 out) {' % k,
        '  ' + DECL,
        extra,
        (
            '  mov.u32 %z, %tid.x; mov.u32 %x, %ctaid.x; ld.param.u64 %ib, [in]; ld.param.u64 %ob,'
            ' [out];'
        ),
        '  mul.wide.u32 %%t, %%x, %d; add.u64 %%ib, %%ib, %%t; mad.lo.u32 %%x, %%x, 128, %%z;'
        ' mul.wide.u32 %%t, %%x, %d; add.u64 %%ob, %%ob, %%t;' % (bytes_in, 4 * words),
    ]
    text = '\n'.join(x for x in L + body if x) + '\n  ret;\n}'
    bucket = mods.setdefault(group, [[]])
    if len(bucket[-1]) >= 60:
        bucket.append([])
    bucket[-1].append(text)
    mod = 'w_%s_%02d.ptx' % (group.replace('.', ''), len(bucket) - 1)
    index.append((k, mod, group, form, stmt, layout, inp, bytes_in, words, ctas, mode))
    jobs.append((mod, k, inp, ctas, 128 * ctas * words * 4))


def copy_in(size):
    """the slice's first `size` bytes to shared array sm"""
    return [
        '  mov.u32 %base, sm; shl.b32 %o, %z, 4;',
        (
            'CP: cvt.u64.u32 %t, %o; add.u64 %t, %ib, %t; ld.global.v4.b32 {%w0,%w1,%w2,%w3}, [%t];'
            ' add.u32 %y, %base, %o;'
        ),
        '  st.shared.v4.b32 [%%y], {%%w0,%%w1,%%w2,%%w3}; add.u32 %%o, %%o, 2048; setp.lt.u32 %%q,'
        ' %%o, %d; @%%q bra CP;' % size,
    ]


def regs_out(D, mode):
    if mode == 'full':
        return ['  st.global.b32 [%%ob+%d], %s;' % (4 * i, x) for i, x in enumerate(D)]
    L = ['  mov.u64 %h, 0;']
    for x in D:
        L.append(
            '  %s cvt.u64.u32 %%t, %%y; mad.lo.u64 %%h, %%h, 0x9E3779B97F4A7C15, %%t;'
            % ('mov.b32 %%y, %s;' % x)
        )
    return L + [
        '  shr.u64 %t, %h, 32; xor.b64 %h, %h, %t; cvt.u32.u64 %y, %h; st.global.b32 [%ob], %y;'
    ]


def wgmma(group, form, stmt, at, bt, dt, la, lb, ctas, mode, p=1, stmts=None):
    """la, lb: (offset, lbo, sbo, base, swizzle) of the descriptors, la None for A in registers"""
    D = re.findall('%[rf]\\d+', stmt[: stmt.index('}')])
    isf = D[0][1] == 'f'
    b = copy_in(IMG) + ['  fence.proxy.async; bar.sync 0;']
    b.append('  mul.wide.u32 %t, %z, 32; add.u64 %h, %ib, %t;')
    pool = DP16 if dt == 'f16' else DP32
    for i, x in enumerate(D):
        b.append('  ld.global.%s %s, [%%h+%d];' % ('f32' if isf else 'b32', x, pool + 4 * i))
    if la is None:
        b.append(
            '  mul.wide.u32 %%t, %%z, 16; add.u64 %%h, %%ib, %%t; ld.global.v4.b32'
            ' {%%r201,%%r202,%%r203,%%r204}, [%%h+%d];' % AREG
        )
    if '%r200' in stmt:
        b.append(
            '  mul.wide.u32 %%t, %%z, 4; add.u64 %%h, %%ib, %%t; ld.global.b32 %%r200, [%%h+%d];'
            % META
        )
    lay = []
    for n, reg, l in (('A', '%rd1', la), ('B', '%rd2', lb)):
        if l is None:
            continue
        off, lbo, sbo, base, sw = l
        b.append(
            '  add.u32 %%y, %%base, %d; shr.u32 %%y, %%y, 4; and.b32 %%y, %%y, 0x3fff; cvt.u64.u32'
            ' %%t, %%y; or.b64 %s, %%t, 0x%x;' % (off, reg, desc(*l))
        )
        lay.append('%s=%d lbo=%d sbo=%d base=%d swz=%d' % (n, off, lbo, sbo, base, SWZ[sw]))
    b.append(
        '  setp.ne.u32 %%p1, %%z, %s;' % '0xffffffff' if p else '  setp.eq.u32 %p1, %z, 0xffffffff;'
    )
    b += (
        ['  wgmma.fence.sync.aligned;']
        + ['  ' + s for s in stmts or [stmt]]
        + ['  wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;']
    )
    b += regs_out(D, mode)
    add(
        group,
        form,
        ' '.join(stmts or [stmt]),
        '; '.join(lay) + '; p=%d' % p,
        table(at, bt, dt),
        SLICE,
        len(D) if mode == 'full' else 1,
        ctas,
        mode,
        b,
        '  .shared .align 1024 .b8 sm[%d];' % IMG,
    )


def parse(form):
    m = re.search('m64n(\\d+)k(\\d+)\\.(?:satfinite\\.)?(\\w+)\\.(\\w+)\\.(\\w+)', form)
    return (int(m.group(1)), int(m.group(2)), m.group(3), m.group(4), m.group(5))


def kb_of(k, t):
    return k * width(t) // 8


# ---- every form
# -------------------------------------------------------------------------------------------

seen = {}
for line in open(A.forms):
    c = line.rstrip('\n').split('\t')
    if c[0] != 'wgmma' or not c[4].startswith('wgmma.mma_async'):
        continue
    stmt = c[4]
    tr = stmt.endswith('-1, -1, 1, 1;')
    form = stmt.split(' ')[0] + (' (negated scale, transposed)' if tr else '')
    N, K, dt, at, bt = parse(form)
    sp = '.sp.' in form
    kb = kb_of(K, bt)
    ka = kb // 2 if sp else kb
    rs = '{%r201' in stmt
    ta, tb = (1, 1) if tr else (0, 0)
    la = None if rs else (0,) + tight(64, ka, 0, ta) + (0, 0)
    lb = (BOFF,) + tight(N, kb, 0, tb) + (0, 0)
    ctas, mode = {8: (12, 'full'), 64: (2, 'full')}.get(N, (4, 'digest'))
    wgmma('wgmma.sp' if sp else 'wgmma', form, stmt, at, bt, dt, la, lb, ctas, mode)
    if not tr:
        seen[N, dt, at, bt, sp, rs, 'satf' in form] = (form, stmt)


# ---- layouts, offsets, scales, selectors, chains
# ------------------------------------------------------------


def tail(stmt, *imm):
    """the statement with these constants"""
    return re.sub('%p1.*;', '%p1' + ''.join(', %d' % i for i in imm) + ';', stmt)


TYPES = [
    ('f32', 'f16', 'f16'),
    ('f32', 'bf16', 'bf16'),
    ('f16', 'f16', 'f16'),
    ('f32', 'tf32', 'tf32'),
    ('f32', 'e4m3', 'e5m2'),
    ('f16', 'e5m2', 'e4m3'),
    ('s32', 's8', 'u8'),
    ('s32', 'b1', 'b1'),
]


def get(N, dt, at, bt, sp=False, rs=False):
    return seen.get((N, dt, at, bt, sp, rs, False))


V = 'wgmma.layout'
for dt, at, bt in TYPES:
    h16 = at in ('f16', 'bf16')
    flt = dt != 's32'
    for sp in (False, True):
        if not get(16, dt, at, bt, sp):
            continue
        K = parse(get(16, dt, at, bt, sp)[0])[1]
        kb = kb_of(K, bt)
        ka = kb // 2 if sp else kb
        # every swizzle and pair of orders, without gaps
        for N, ctas, mode in ((16, 2, 'full'), (128, 2, 'digest')):
            form, stmt = get(N, dt, at, bt, sp)
            for sw in (0, 32, 64, 128):
                for ta in (0, 1) if h16 else (0,):
                    for tb in (0, 1) if h16 else (0,):
                        if sw == 0 and (not ta) and (not tb):
                            continue
                        la, lb = (tight(64, ka, sw, ta), tight(N, kb, sw, tb))
                        if not tb and sw and (N * sw > IMG - BOFF):
                            continue
                        wgmma(
                            V,
                            form,
                            tail(stmt, 1, 1, ta, tb) if h16 else stmt,
                            at,
                            bt,
                            dt,
                            (0,) + la + (0, sw),
                            (BOFF,) + lb + (0, sw),
                            ctas,
                            mode,
                        )
        if sp:
            continue
        form, stmt = get(16, dt, at, bt)

        def one(la, lb, st=stmt, ctas=2, p=1, stmts=None):
            wgmma(V, form, st, at, bt, dt, la, lb, ctas, 'full', p, stmts)

        # a step of K inside a swizzled row; LBO where it does not matter; two swizzles; strides
        # that overlap or leave gaps
        for sw, off in ((64, 32), (128, 32), (128, 64), (128, 96)):
            one((off, 16, 8 * sw, 0, sw), (BOFF + off, 16, 8 * sw, 0, sw))
        for sw in (32, 64, 128):
            one((0, 512, 8 * sw, 0, sw), (BOFF, 0, 8 * sw, 0, sw))
        one((0, 16, 1024, 0, 128), (BOFF, 128, 256, 0, 0))
        one((0, 16, 256, 0, 32), (BOFF, 16, 512, 0, 64))
        one((0, 1024, 128, 0, 0), (BOFF, 256, 128, 0, 0))
        one((0, 2048, 256, 0, 0), (BOFF, 1040, 144, 0, 0))
        one((0, 0, 0, 0, 0), (BOFF, 16, 16, 0, 0))
        one((16, 48, 208, 0, 0), (BOFF + 48, 4096, 80, 0, 0))
        one((0, 16, 128, 0, 128), (BOFF, 16, 256, 0, 128))
        one((0, 16, 1040, 0, 128), (BOFF, 16, 1072, 0, 128))
        one((0, 16, 528, 0, 64), (BOFF, 16, 288, 0, 32))
        # start addresses off the swizzle's pattern, with and without the base offset
        if dt == 'f32' and at in ('f16', 'e4m3'):
            for sw, n in ((128, 8), (64, 4), (32, 2)):
                for j in range(n):
                    for base in range(8) if j in (0, 1, 3) else (0, j):
                        one(
                            (128 * j, 16, 8 * sw, base, sw),
                            (BOFF + 128 * j, 16, 8 * sw, base, sw),
                            ctas=1,
                        )
            for sw in (128, 64, 32):
                for off in (16, 48, 112, 272):
                    one((off, 16, 8 * sw, 0, sw), (BOFF + off, 16, 8 * sw, 0, sw), ctas=1)
        if h16:
            for sw in (128, 64, 32, 0):
                for off in (16, 64, 128, 384):
                    one(
                        (off,) + tight(64, 32, sw, 1) + (0, sw),
                        (BOFF + off,) + tight(16, 32, sw, 1) + (0, sw),
                        tail(stmt, 1, 1, 1, 1),
                        ctas=1,
                    )
                one(
                    (0, 2048, 1024, 0, sw),
                    (BOFF, 1024, 4096, 0, sw),
                    tail(stmt, 1, 1, 1, 1),
                    ctas=1,
                )
                one((0, 512, 2048, 0, sw), (BOFF, 4096, 512, 0, sw), tail(stmt, 1, 1, 1, 1), ctas=1)
        # scales, scale-d false, a chain of four steps of K
        fm, st = get(8, dt, at, bt)
        z = (0, 0) if h16 else ()
        L8 = ((0,) + tight(64, kb, 0, 0) + (0, 0), (BOFF,) + tight(8, kb, 0, 0) + (0, 0))
        wgmma('wgmma.scale', fm, st, at, bt, dt, L8[0], L8[1], 12, 'full', 0)
        if flt:
            for sa, sb in ((-1, 1), (1, -1), (-1, -1)):
                for p in (1, 0):
                    wgmma(
                        'wgmma.scale',
                        fm,
                        tail(st, sa, sb, *z),
                        at,
                        bt,
                        dt,
                        L8[0],
                        L8[1],
                        12,
                        'full',
                        p,
                    )
        L128 = ((0, 16, 1024, 0, 128), (BOFF, 16, 1024, 0, 128))
        ch = []
        for j in range(1, 4):
            ch += ['add.u64 %rd1, %rd1, 2; add.u64 %rd2, %rd2, 2;', st]
        wgmma(
            'wgmma.scale',
            fm + ' (four K steps)',
            st,
            at,
            bt,
            dt,
            L128[0],
            L128[1],
            12,
            'full',
            1,
            [st] + ch,
        )
    for rs in (False, True):
        g = get(8, dt, at, bt, True, rs)
        if g and at in ('f16', 'bf16', 'tf32'):
            form, stmt = g
            K = parse(form)[1]
            kb = kb_of(K, bt)
            wgmma(
                'wgmma.sp',
                form + ' (selector 1)',
                stmt.replace('%r200, 0,', '%r200, 1,'),
                at,
                bt,
                dt,
                None if rs else (0,) + tight(64, kb // 2, 0, 0) + (0, 0),
                (BOFF,) + tight(8, kb, 0, 0) + (0, 0),
                12,
                'full',
            )
for N in (256,):
    for dt, at, bt in (('f32', 'bf16', 'bf16'), ('s32', 's8', 's8')):
        form, stmt = get(N, dt, at, bt)
        wgmma(
            'wgmma.layout',
            form,
            stmt,
            at,
            bt,
            dt,
            (0,) + tight(64, 32, 0, 0) + (0, 0),
            (BOFF,) + tight(N, 32, 0, 0) + (0, 0),
            1,
            'full',
        )

# ---- ldmatrix, stmatrix, movmatrix
# -------------------------------------------------------------------------- A CTA reads a 4096-byte
# image; word t at 4096: the row address (offset in the image) that thread t gives; 4 words at 4608
# + 16 t: source registers.

r = random.Random('%d/ldst' % A.seed)
lt = b''
for c in range(4):
    lt += r.randbytes(4096)
    rows = list(range(256))
    r.shuffle(rows)
    rows = rows[:128] if c else list(range(128))
    lt += struct.pack('<128I', *[16 * x for x in rows]) + r.randbytes(2048)
open(os.path.join(A.out, 'in_ldst.bin'), 'wb').write(lt)
for line in open(A.forms):
    c = line.rstrip('\n').split('\t')
    if (
        c[0] != 'matrix-mma'
        or not re.match('(ld|st|mov)matrix', c[4])
        or c[2] not in ('sm_75', 'sm_90')
    ):
        continue
    stmt = c[4]
    form = stmt.split(' ')[0]
    st = stmt.startswith('stmatrix')
    mov = stmt.startswith('movmatrix')
    R = re.findall('%r\\d+', stmt)
    b = copy_in(4096) + [
        '  mul.wide.u32 %t, %z, 4; add.u64 %t, %ib, %t; ld.global.b32 %y, [%t+4096]; add.u32 %y,'
        ' %y, %base; cvt.u64.u32 %rd1, %y;'
    ]
    if '.shared' not in form:
        b.append('  cvta.shared.u64 %rd1, %rd1;')
    b.append('  mul.wide.u32 %t, %z, 16; add.u64 %h, %ib, %t; bar.sync 0;')
    src = R if st else R[1:] if mov else []
    for i, x in enumerate(src):
        b.append('  ld.global.b32 %s, [%%h+%d];' % (x, 4608 + 4 * i))
    b += ['  ' + stmt, '  bar.sync 0;']
    if st:
        b.append('  shl.b32 %y, %z, 5; add.u32 %y, %y, %base;')
        for i in range(8):
            b.append(
                '  ld.shared.b32 %%w0, [%%y+%d]; st.global.b32 [%%ob+%d], %%w0;' % (4 * i, 4 * i)
            )
        add(
            'ldst',
            form,
            stmt,
            'row address: word t at 4096',
            'in_ldst.bin',
            6656,
            8,
            4,
            'smem',
            b,
            '  .shared .align 128 .b8 sm[4096];',
        )
    else:
        dst = R[:1] if mov else R
        b += regs_out(dst, 'full')
        add(
            'ldst',
            form,
            stmt,
            'row address: word t at 4096',
            'in_ldst.bin',
            6656,
            len(dst),
            4,
            'full',
            b,
            '  .shared .align 128 .b8 sm[4096];',
        )

for g, parts in mods.items():
    for i, p in enumerate(parts):
        head = '.version 9.0\n.target sm_90a\n.address_size 64\n\n'
        open(os.path.join(A.out, 'w_%s_%02d.ptx' % (g.replace('.', ''), i)), 'w').write(
            head + '\n\n'.join(p) + '\n'
        )
jobs.sort(key=lambda j: (j[2], j[0]))
open(os.path.join(A.out, 'jobs.tsv'), 'w').write(''.join('%s\t%s\t%s\t%d\t%d\n' % j for j in jobs))
open(os.path.join(A.out, 'index.tsv'), 'w').write(
    'kernel\tmodule\tgroup\tform\tstatement\tlayout\tinput\tbytes_in\twords\tctas\tmode\n'
    + ''.join('\t'.join(map(str, x)) + '\n' for x in index)
)
print(
    'kernels %d, output %d bytes, modules %d'
    % (len(jobs), sum(j[4] for j in jobs), sum(len(p) for p in mods.values()))
)
