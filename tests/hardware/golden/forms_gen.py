#!/usr/bin/env python3
"""Makes golden kernels of single forms: forms_gen.py FOLDER [OPTION...]

One .entry k(.param .u64 in, .param .u64 out) for each form of tests/assembler/isa/forms.tsv that
computes with registers, and for atom and red: of the groups, that match, every N-th of each group.
Thread i reads its sources from in[i * nin ...], in order of first mention, and writes its results
to out[i * nout ...]: words of 64 bits, zero-extended; a predicate is 0 or 1, a b128 two words, low
one first. Forms with a carry read CC.CF from one more word and write it to one more. Atomic forms
get 4 words of memory behind their sources, and write what these hold afterwards, then at least 4
words of results. The inputs of a register are every boundary value of the formats that the form
names, in random company, then random ones. FOLDER gets modules, input tables, index.tsv (as pack.py
reads it) and jobs.tsv (for device_run.c).
"""

import argparse, collections, os, random, re, struct
from fractions import Fraction

HERE = os.path.dirname(os.path.abspath(__file__))
GROUPS = 'integer,extended-int,fp32/64,half,mixed,compare,logic,move,cvt,video,warp,atomics'
MODULE_FORMS = 200
CTA = 256
# Forms that later targets do not have: the last version and target that have them, for the driver
# to translate.
EARLIER = (
    (r'(shfl|vote)\.(?!sync)', '6.2', 'sm_62'),
    (r'mad(\.ftz)?(\.sat)?\.f32', '6.2', 'sm_13'),
)

# ---- formats
# ----------------------------------------------------------------------------------------------

Float = collections.namedtuple('Float', 'exponent fraction largest')


def ieee(exponent, fraction):
    return Float(
        exponent,
        fraction,
        (2 - Fraction(1, 1 << fraction)) * Fraction(2) ** (2 ** (exponent - 1) - 1),
    )


FLOATS = {
    'f16': ieee(5, 10),
    'bf16': ieee(8, 7),
    'f32': ieee(8, 23),
    'f64': ieee(11, 52),
    'tf32': ieee(8, 10),
    'e4m3': Float(4, 3, Fraction(448)),
    'e5m2': ieee(5, 2),
}
TYPE = re.compile(r'([usb]|f|bf|tf|e4m|e5m)(\d+)(?:x(\d))?$')
INTEGER = 'integer'


def width(f):
    return 1 + f.exponent + f.fraction


def bias(f):
    return 2 ** (f.exponent - 1) - 1


def infinity(f):
    return (2**f.exponent - 1) << f.fraction


def magnitude(f, x):
    """Bits of a positive number, cut off."""
    e = x.numerator.bit_length() - x.denominator.bit_length()
    e -= Fraction(2) ** e > x
    e = max(e, 1 - bias(f))
    return min(
        ((e + bias(f) - 1) << f.fraction) + int(x / Fraction(2) ** (e - f.fraction)), infinity(f)
    )


def number(f, bits):
    """None for what is no finite number."""
    m = bits & ((1 << f.fraction) - 1)
    e = bits >> f.fraction & (2**f.exponent - 1)
    if e == 2**f.exponent - 1:
        return None
    m, e = (m | 1 << f.fraction, e) if e else (m, 1)
    return (-1 if bits >> (width(f) - 1) else 1) * m * Fraction(2) ** (e - bias(f) - f.fraction)


# ---- boundary values
# --------------------------------------------------------------------------------------


def limits(name):
    """Numbers at which conversion to a format changes what it does: where it overflows, where it
    loses bits, halves."""
    if name in FLOATS:
        f = FLOATS[name]
        normal = Fraction(2) ** (1 - bias(f))
        least = normal / (1 << f.fraction)
        place = Fraction(1 << (f.largest.numerator.bit_length() - 1)) / (1 << f.fraction)
        tie = (1 << (f.fraction + 1)) + 1
        return [
            least / 2,
            least,
            least * 3 / 2,
            normal - least / 2,
            normal,
            f.largest,
            f.largest + place / 2,
            f.largest + place,
            Fraction(tie),
            Fraction(tie + 2),
            Fraction(tie << 5),
        ]
    bits = int(re.sub(r'\D', '', name))
    return [
        Fraction(2) ** k + d
        for k in (bits - 1, bits)
        for d in (-1, Fraction(-1, 2), 0, Fraction(1, 2), 1)
    ]


def float_corners(f, others):
    one = bias(f) << f.fraction
    found = {
        0,
        1,
        2,
        (1 << f.fraction) - 1,
        1 << f.fraction,
        (1 << f.fraction) + 1,
        one - 1,
        one,
        one + 1,
        infinity(f) - 1,
        infinity(f),
        infinity(f) + 1,
        infinity(f) + (1 << (f.fraction - 1)),
        (1 << (width(f) - 1)) - 1,
    }
    found |= {magnitude(f, Fraction(k, 4)) for k in (1, 2, 3, 6, 8, 10, 12, 14, 28)}
    found |= {magnitude(f, Fraction(2**f.fraction * k, 2)) for k in (1, 2, 4)}
    for name in others:
        for x in limits(name):
            at = magnitude(f, x)
            found |= {at, at + 1, max(at, 1) - 1}
    return [m | sign << (width(f) - 1) for m in sorted(found) for sign in (0, 1)]


def integer_corners(bits, others):
    found = set(range(9)) | {1 << (bits - 1), (1 << bits) - 1}
    for k in (4, 5, 6, 7, 8, 15, 16, 23, 24, 31, 32, 62, 63):
        found |= {(1 << k) - 1, 1 << k, (1 << k) + 1}
    for name in others:
        found |= {int(x) + d for x in limits(name) for d in (0, 1) if x < 1 << bits}
    for byte in (0x55, 0xAA, 0x0F, 0x80, 0x7F):
        found.add(int.from_bytes(bytes([byte]) * 8, 'little'))
    found.add(0x0706050403020100)
    mask = (1 << bits) - 1
    return sorted({v & mask for v in found} | {-v & mask for v in found})


# ---- random values
# ----------------------------------------------------------------------------------------


def random_float(f, rng):
    if rng.random() < 0.25:
        return rng.getrandbits(width(f))
    e = min(max(bias(f) + rng.randint(-24, 36), 0), 2 * bias(f))
    cleared = rng.randrange(f.fraction + 1) if rng.random() < 0.5 else 0
    return (
        rng.getrandbits(1) << (width(f) - 1)
        | e << f.fraction
        | rng.getrandbits(f.fraction) >> cleared << cleared
    )


def random_integer(bits, rng):
    kind = rng.randrange(5)
    if kind == 0:
        return rng.randrange(min(140, 1 << bits))
    if kind == 1:
        return rng.getrandbits(bits) >> rng.randrange(bits)
    if kind == 2:
        return -rng.getrandbits(bits) >> rng.randrange(bits) & ((1 << bits) - 1)
    if kind == 3:
        return int.from_bytes(
            bytes(
                rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.getrandbits(8))) for _ in range(bits // 8)
            ),
            'little',
        )
    return rng.getrandbits(bits)


class Pool:
    """The values of a register of some bits: of floating-point formats (the name is packed as often
    as it fits) or integers."""

    def __init__(self, bits, formats, others):
        self.bits, self.formats, self.others = bits, formats, others

    def key(self):
        return self.bits, self.formats, self.others

    def corners(self, rng):
        if self.bits == 1:
            return [0, 1]
        found = []
        for name in self.formats:
            if name == INTEGER:
                found += integer_corners(self.bits, self.others)
                continue
            values = (
                float_corners(FLOATS[name], self.others)
                if width(FLOATS[name]) > 8
                else list(range(256))
            )
            lanes = [
                rng.sample(values, len(values)) for _ in range(self.bits // width(FLOATS[name]))
            ]
            found += [
                sum(v << i * width(FLOATS[name]) for i, v in enumerate(row)) for row in zip(*lanes)
            ]
        return rng.sample(found, len(found))

    def random(self, rng):
        name = rng.choice(self.formats)
        if name == INTEGER:
            return random_integer(self.bits, rng) if self.bits > 1 else rng.getrandbits(1)
        f = FLOATS[name]
        return sum(random_float(f, rng) << i for i in range(0, self.bits, width(f)))


KINDS = {
    'p': ('pred', 1),
    'b': ('b8', 8),
    'rs': ('b16', 16),
    'r': ('b32', 32),
    'f': ('f32', 32),
    'rd': ('b64', 64),
    'fd': ('f64', 64),
    'rq': ('b128', 128),
}


def kind(register):
    return re.match('%([a-z]+)', register)[1]


def pool_of(register, spelling):
    """Floating-point formats that fit the register and, as others, all that the form names."""
    bits, fits, others = KINDS[kind(register)][1], set(), set()
    for part in spelling.split('.')[1:]:
        m = TYPE.match(part)
        name = m and (part[:-2] if m[3] else part)
        if name and not re.match(r'b\d', name):
            others.add(name)
        if name in FLOATS and name != 'tf32' and bits == width(FLOATS[name]) * int(m[3] or 1):
            fits.add(name)
    if kind(register) in ('f', 'fd'):
        fits = {KINDS[kind(register)][0]}
    return Pool(bits, tuple(sorted(fits)) or (INTEGER,), tuple(sorted(others)) if bits > 1 else ())


# ---- tables
# -----------------------------------------------------------------------------------------------


def aim(name, row, rng):
    """Sets the last operand so that the sum, product or quotient of two, or the fma of three, is
    about a limit of the format."""
    goal = rng.choice(limits(name)) * rng.choice((-1, 1))
    f = FLOATS[name]
    a = number(f, row[0])
    if not a:
        return
    if len(row) == 2:
        exact = rng.choice((goal - a, goal / a, a / goal))
    else:
        row[1] = encode(f, goal * rng.choice((1, 2, -1, Fraction(1, 2))) / a, rng)
        b = number(f, row[1])
        exact = goal - a * b if b is not None else goal
    row[-1] = encode(f, exact, rng)


def encode(f, x, rng):
    """Bits of a number cut off, or of one next to it."""
    bits = max(magnitude(f, abs(x)) + rng.choice((-1, 0, 0, 1)), 0) if x else 0
    return bits | (1 << (width(f) - 1) if x < 0 else 0)


def relate(pools, row, rng):
    """Operands that have to do with each other: they make a limit, or are equal, next to each
    other, opposite."""
    if len(pools) < 2 or pools[0].bits == 1 or len({pool.key() for pool in pools}) > 1:
        return
    name, top = pools[0].formats[0], 1 << (pools[0].bits - 1)
    if name in FLOATS and len(pools) <= 3 and rng.random() < 0.5:
        lanes = []
        for i in range(0, pools[0].bits, width(FLOATS[name])):
            lane = [v >> i & ((1 << width(FLOATS[name])) - 1) for v in row]
            aim(name, lane, rng)
            lanes.append([v << i for v in lane])
        row[:] = map(sum, zip(*lanes))
    elif rng.random() < 0.3:
        row[1] = (row[0] + rng.choice((0, 1, -1, top))) % (2 * top)


def memory(pools, row, rng):
    """Four words of memory that an atomic form meets; half of the time what it compares with is
    there."""
    if not pools:
        return [rng.getrandbits(64) for _ in range(4)]
    words = [
        sum(pools[0].random(rng) << i for i in range(0, 64, min(pools[0].bits, 64))) & (2**64 - 1)
        for _ in range(4)
    ]
    if rng.random() < 0.5:
        low = min(pools[0].bits, 64)
        words[0] = words[0] >> low << low | row[0] & (2**low - 1)
        if pools[0].bits == 128:
            words[1] = row[0] >> 64
    return words


def table(pools, rows, is_atomic, rng):
    columns = [pool.corners(rng) for pool in pools]
    if columns and max(map(len, columns)) > rows:
        raise SystemExit(
            '%d rows are too few for %d boundary values' % (rows, max(map(len, columns)))
        )
    corner_rows = max([rows // 2] + [len(c) for c in columns])
    words = []
    for i in range(rows):
        if i < corner_rows:
            row = [c[i] if i < len(c) else rng.choice(c) for c in columns]
        else:
            row = [pool.random(rng) for pool in pools]
            if pools:
                relate(pools, row, rng)
        for pool, v in zip(pools, row):
            words += [v] if pool.bits <= 64 else [v & (2**64 - 1), v >> 64]
        words += memory(pools, row, rng) if is_atomic else []
    return struct.pack('<%dQ' % len(words), *words) or bytes(8 * rows)


# ---- kernels
# ----------------------------------------------------------------------------------------------

REGISTER = re.compile(r'%(?:rs|rd|rq|fd|r|f|p|b)\d+')
Form = collections.namedtuple('Form', 'group version target statement results sources')


def split(operands):
    """At commas outside braces."""
    return [p.strip() for p in re.split(r',(?![^{]*})', operands)]


def parse(group, version, target, statement):
    """The form, or None: not registers to registers, nor an atomic operation."""
    spelling, _, rest = statement.rstrip('; ').partition(' ')
    operands = split(rest)
    is_atomic = group == 'atomics' and '[%rd1]' in operands and 'cache_hint' not in spelling
    plain = re.sub(r'%\w+(\.\w+)?|\b0[xfd][0-9a-fA-F]+\b|\b[0-9.]+\b|\b_(?=[|,}])', '', rest)
    if is_atomic:
        plain = plain.replace('[]', '')
    if (
        re.search(r'[\w\[;@]', plain)
        or not REGISTER.search(rest)
        or re.search('%(?!' + REGISTER.pattern[1:] + ')', rest)
    ):
        return None
    if re.match(r'bar\.|red\.async|cvta\S*\.(shared|local|param|u32)', spelling):
        return None
    if '.sync' in spelling and len(operands) > 1:
        operands[-1] = '0xffffffff'
    results = [] if spelling.startswith('red.') else REGISTER.findall(operands[0])
    sources = operands[operands.index('[%rd1]') + 1 :] if is_atomic else operands[1:]
    if is_atomic:
        operands[operands.index('[%rd1]')] = '[%at]'
    return Form(
        group,
        version,
        target,
        '%s %s;' % (spelling, ', '.join(operands)),
        results,
        list(dict.fromkeys(REGISTER.findall(' '.join(sources)))),
    )


def load(register, at):
    where = '[%%in+%d]' % at
    if kind(register) == 'p':
        return 'ld.global.u32 %%w32, %s; setp.ne.u32 %s, %%w32, 0;' % (where, register)
    if kind(register) == 'rq':
        return 'ld.global.b64 %%w, %s; ld.global.b64 %%v, [%%in+%d]; mov.b128 %s, {%%w, %%v};' % (
            where,
            at + 8,
            register,
        )
    return 'ld.global.%s %s, %s;' % (KINDS[kind(register)][0], register, where)


def store(register, at):
    k = kind(register)
    if k in ('rd', 'fd'):
        return 'st.global.%s [%%out+%d], %s;' % (KINDS[k][0], at, register)
    to_word = {
        'p': 'selp.b64 %%w, 1, 0, %s;',
        'f': 'mov.b32 %%w32, %s; cvt.u64.u32 %%w, %%w32;',
        'rq': 'mov.b128 {%%w, %%v}, %s;',
    }.get(k, 'cvt.u64.u%d %%%%w, %%s;' % KINDS[k][1]) % register
    return '%s st.global.b64 [%%out+%d], %%w;' % (to_word, at) + (
        ' st.global.b64 [%%out+%d], %%v;' % (at + 8) if k == 'rq' else ''
    )


def words_of(registers):
    return sum(2 if kind(r) == 'rq' else 1 for r in registers)


def move_all(move, registers, at):
    lines = []
    for r in registers:
        lines.append('  ' + move(r, at))
        at += 8 * words_of([r])
    return lines


def kernel(name, form):
    """Its text, and words in and out a row."""
    sources, results, before, after = list(form.sources), list(form.results), [], []
    is_atomic = form.group == 'atomics'
    if form.group == 'extended-int':
        sources, results = sources + ['%r98'], results + ['%r99']
        before, after = ['  add.cc.u32 %r98, %r98, 0xffffffff;'], ['  addc.u32 %r99, 0, 0;']
    nin = words_of(sources) + (4 if is_atomic else 0)
    nout = 4 + max(4, words_of(results)) if is_atomic else words_of(results)
    if is_atomic:
        at = 8 * words_of(sources)
        space = '.shared' if '.shared' in form.statement else '.global'
        if space == '.shared':
            before = [
                '  .shared .align 16 .b64 memory[%d];' % (4 * CTA),
                '  mov.u64 %at, memory; mad.wide.u32 %at, %j, 32, %at;',
            ]
            after = [
                '  ld.shared.b64 %%w, [%%at+%d]; st.global.b64 [%%out+%d], %%w;' % (8 * i, 8 * i)
                for i in range(4)
            ]
        else:
            before = ['  mov.b64 %at, %out;']
        before += [
            '  ld.global.b64 %%w, [%%in+%d]; st%s.b64 [%%at+%d], %%w;' % (at + 8 * i, space, 8 * i)
            for i in range(4)
        ]
        after += [
            '  st.global.b64 [%%out+%d], 0;' % (32 + 8 * i) for i in range(words_of(results), 4)
        ]
    used = list(dict.fromkeys(REGISTER.findall(form.statement) + sources + results))
    lines = (
        ['.visible .entry %s(.param .u64 in, .param .u64 out)' % name, '{']
        + ['  .reg .%s %s;' % (KINDS[kind(r)][0], r) for r in used]
        + [
            '  .reg .b64 %in, %out, %at, %w, %v; .reg .b32 %i, %n, %j, %w32;',
            (
                '  mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %j, %tid.x; mad.lo.u32 %i,'
                ' %i, %n, %j;'
            ),
            '  ld.param.u64 %in, [in]; ld.param.u64 %out, [out];',
            '  mad.wide.u32 %%in, %%i, %d, %%in; mad.wide.u32 %%out, %%i, %d, %%out;'
            % (8 * nin, 8 * nout),
        ]
    )
    lines += move_all(load, sources, 0) + before + ['  ' + form.statement] + after
    lines += move_all(store, results, 32 if is_atomic else 0)
    return '\n'.join(lines + ['  ret;', '}', '']), nin, nout


# ---- which forms
# ------------------------------------------------------------------------------------------


def release(text):
    """A version or target as numbers to compare: 8.6 is (8, 6), sm_90a is (90,)."""
    return tuple(map(int, re.findall(r'\d+', text)))


def exists(lowest, target):
    return lowest == target if lowest[-1] in 'af' else release(lowest) <= release(target)


def read_forms(options):
    by_group, left_out = collections.OrderedDict(), collections.Counter()
    for line in open(os.path.join(HERE, '../../assembler/isa/forms.tsv')):
        if line.startswith('#'):
            continue
        group, version, target, context, statement = line.rstrip('\n').split('\t')
        if group not in options.group.split(',') or not re.search(options.match, statement):
            continue
        if not exists(target, options.target) or release(version) > release(options.version):
            left_out['of later targets or versions'] += 1
            continue
        earlier = [(v, t) for form, v, t in EARLIER if re.match(form, statement)]
        version, target = earlier[0] if earlier else (options.version, options.target)
        form = parse(group, version, target, statement) if context == 'entry' else None
        if form:
            by_group.setdefault(group, []).append(form)
        else:
            left_out['not from registers to registers'] += 1
    return [form for forms in by_group.values() for form in forms[:: options.every]], left_out


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('folder')
    parser.add_argument('--group', default=GROUPS, help='one or more of ' + GROUPS)
    parser.add_argument('--match', default='', help='a regular expression for statements')
    parser.add_argument('--every', type=int, default=1)
    parser.add_argument('--rows', type=int, default=2 * CTA, help='threads of a kernel')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--version', default='9.0', help='.version of the modules')
    parser.add_argument('--target', default='sm_90a', help='.target of the modules')
    options = parser.parse_args()
    if options.rows % CTA:
        parser.error('--rows takes a multiple of %d' % CTA)
    os.makedirs(options.folder, exist_ok=True)
    forms, left_out = read_forms(options)
    tables, modules, index, jobs = {}, collections.OrderedDict(), [], []
    for form in forms:
        pools = [pool_of(r, form.statement.split()[0]) for r in form.sources]
        if form.group == 'extended-int':
            pools.append(Pool(1, (INTEGER,), ()))
        key = form.group == 'atomics', tuple(pool.key() for pool in pools)
        if key not in tables:
            tables[key] = 'in_%04d.bin' % len(tables)
            data = table(pools, options.rows, key[0], random.Random('%d %s' % (options.seed, key)))
            open(os.path.join(options.folder, tables[key]), 'wb').write(data)
        name = 'form_%05d' % len(index)
        text, nin, nout = kernel(name, form)
        parts = modules.setdefault((form.group, form.version, form.target), [[]])
        if len(parts[-1]) == MODULE_FORMS:
            parts.append([])
        parts[-1].append(text)
        module = 'm_%s_%s_%02d.ptx' % (re.sub(r'\W', '', form.group), form.target, len(parts) - 1)
        job = (tables[key], str(nin or 1), str(nout))
        index.append(
            '\t'.join(
                (name, module, form.group, form.statement.rstrip(';'), '-')
                + job
                + ('-', '-', str(options.rows))
            )
        )
        jobs.append('\t'.join((module, name, job[0], str(options.rows)) + job[1:]))
    for (group, version, target), parts in modules.items():
        for i, part in enumerate(parts):
            path = os.path.join(
                options.folder, 'm_%s_%s_%02d.ptx' % (re.sub(r'\W', '', group), target, i)
            )
            open(path, 'w').write(
                '.version %s\n.target %s\n' % (version, target)
                + '.address_size 64\n'
                + ''.join(part)
            )
    open(os.path.join(options.folder, 'index.tsv'), 'w').write('\n'.join(index) + '\n')
    open(os.path.join(options.folder, 'jobs.tsv'), 'w').write('\n'.join(jobs) + '\n')
    print(
        '%d kernels, %d tables' % (len(index), len(tables)),
        *('%d forms %s' % (n, why) for why, n in left_out.items()),
        sep=', '
    )


main()
