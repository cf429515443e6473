#!/usr/bin/env python3
"""Changes forms of forms.tsv in one place each and lets ptxas judge the result.

  mutate.py SEED COUNT [GROUP]  > mutations.tsv

Each line: ok or no, .version, .target, context, statement. A change is of a type, a modifier
(another, one more, one less, another order), the number of operands, or the class of a register
(predicates among the elements of a vector excepted: most vector operands take them beside .b32
registers, without a meaning). Made with ptxas 13.0; only its parser and semantic checks run (`-arch
compute_NN`).
"""

import collections, os, random, re, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
REGS = {
    '%p': '.reg .pred %p<10>;',
    '%b': '.reg .b8 %b<10>;',
    '%rs': '.reg .b16 %rs<80>;',
    '%r': '.reg .b32 %r<300>;',
    '%f': '.reg .f32 %f<300>;',
    '%rd': '.reg .b64 %rd<80>;',
    '%fd': '.reg .f64 %fd<80>;',
    '%rq': '.reg .b128 %rq<10>;',
}
MODULE = {
    'g_buf': '.global .align 128 .b8 g_buf[4096];',
    'c_buf': '.const .align 128 .b8 c_buf[4096];',
    's_buf': '.shared .align 128 .b8 s_buf[4096];',
    's_bar': '.shared .align 8 .b64 s_bar;',
    'g_tex': '.global .texref g_tex;',
    'g_smp': '.global .samplerref g_smp;',
    'g_srf': '.global .surfref g_srf;',
}
LOCAL = {'l_buf': '.local .align 128 .b8 l_buf[1024];'}
PARAMS = {
    'kp': '.param .b64 kp',
    'kb': '.param .align 16 .b8 kb[64]',
    'ktm': '.param .align 64 .b8 ktm[128]',
}
NAMES = set(MODULE) | set(LOCAL) | set(PARAMS) | {'fr', 'fp'}
TYPES = (
    'pred b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f32x2 f64'
    ' u16x2 s16x2 tf32 e4m3x2 e5m2x2'
).split()
EVERY_TYPE = set(TYPES) | set(
    'u8x4 s8x4 e4m3 e5m2 e2m1 e2m3 e3m2 ue8m0x2 e2m1x2 e2m3x2 e3m2x2 e4m3x4 b1 u4 s4'.split()
)
# Words that ptxas 13.0 ignores wherever they stand (`sub.normal.s32` is a subtraction); Ptera
# refuses them.
IGNORED = set(
    'acc::f16 acc::f32 b4x16_p64 b6x16_p32 b8x16 box_dim element_stride elemtype fill_mode finite'
    ' global_address global_dim global_stride infinite interleave_layout normal notanumber number'
    ' rank subnormal swizzle_atomicity swizzle_mode pred texref samplerref surfref'.split()
)
STATEMENT = re.compile(r'((?:@!?%p\d+ )?)([a-z]\w*)((?:\.[\w:]+)*)((?: .*)?);$')


def split_operands(text):
    """Operands at the top level of brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += c in '[{(' and 1 or c in ']})' and -1 or 0
        if c == ',' and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
    if text.strip():
        parts.append(text[start:].strip())
    return parts


class Mutator:
    def __init__(self, rows, rng):
        self.rng = rng
        self.words = collections.defaultdict(set)  # modifiers seen with a mnemonic
        for _, _, _, _, example in rows:
            m = STATEMENT.match(example)
            if m:
                self.words[m[2]] |= set(m[3].split('.')[1:])
        self.all_words = sorted(set().union(*self.words.values()) - IGNORED)

    def change_type(self, words, ops, mnemonic):
        at = [i for i, w in enumerate(words) if w in EVERY_TYPE]
        if not at:
            return False
        words[self.rng.choice(at)] = self.rng.choice(TYPES)
        return True

    def change_modifier(self, words, ops, mnemonic):
        rng = self.rng
        known = sorted(self.words[mnemonic] - IGNORED)
        pool = known if known and rng.random() < 0.8 else self.all_words
        kind = rng.randrange(4)
        if kind == 0 and words:
            words.pop(rng.randrange(len(words)))
        elif kind == 1:
            words.insert(rng.randrange(len(words) + 1), rng.choice(pool))
        elif kind == 2 and words:
            words[rng.randrange(len(words))] = rng.choice(pool)
        elif len(words) > 1:
            i, j = rng.sample(range(len(words)), 2)
            words[i], words[j] = words[j], words[i]
        return True

    def change_count(self, words, ops, mnemonic):
        if not ops:
            return False
        if self.rng.random() < 0.5:
            ops.pop(self.rng.randrange(len(ops)))
        else:
            ops.insert(self.rng.randrange(len(ops) + 1), self.rng.choice(ops + ['%r7', '7', '%p4']))
        return True

    def change_register(self, words, ops, mnemonic):
        rng = self.rng
        where = [
            (i, m) for i, o in enumerate(ops) for m in re.finditer(r'%(?:rs|rd|rq|fd|[prfb])\d+', o)
        ]
        if not where:
            return False
        i, m = rng.choice(where)
        inside = ops[i][: m.start()].count('{') > ops[i][: m.start()].count('}')
        new = rng.choice(sorted(set(REGS) - ({'%p'} if inside else set()))) + str(
            rng.randrange(1, 9)
        )
        ops[i] = ops[i][: m.start()] + new + ops[i][m.end() :]
        return True

    def mutate(self, row):
        m = STATEMENT.match(row[4])
        words, ops = m[3].split('.')[1:], split_operands(m[4])
        change = self.rng.choice(
            [self.change_type, self.change_modifier, self.change_count, self.change_register]
        )
        if not change(words, ops, m[2]):
            return None
        name = '.'.join([m[2]] + words)
        text = m[1] + name + (' ' + ', '.join(ops) if ops else '') + ';'
        return None if text == row[4] else text


def pick_target(row, rng):
    """A target the unchanged form is good for."""
    if not row[2][-1].isdigit():
        return row[2]
    low = int(row[2][3:])
    return rng.choice(
        [
            t
            for t in ('sm_75', 'sm_80', 'sm_90', 'sm_90a', 'sm_100a')
            if int(re.sub(r'\D', '', t[3:])) >= low
        ]
        or [row[2]]
    )


def module(lines, target, context):
    """Text, and the statement of each line."""
    head = [
        '.version 9.0',
        '.target %s%s' % (target, ', texmode_independent' if context == 'indep' else ''),
        '.address_size 64',
    ]
    text = '\n'.join(lines)
    head += [d for n, d in MODULE.items() if n in text]
    if context == 'func':
        head.append('.func (.param .align 16 .b8 fr[64]) k (.param .align 16 .b8 fp[64]) {')
    else:
        head.append(
            '.visible .entry k ('
            + ', '.join(d for n, d in PARAMS.items() if re.search(r'\b%s\b' % n, text))
            + ') {'
        )
    head += REGS.values()
    head += [d for n, d in LOCAL.items() if n in text]
    return '\n'.join(head + lines + ['L_1: L_2: ret;', '}', '']), len(head)


TMP = tempfile.mkdtemp()
MESSAGE = re.compile(r'line (\d+); (error|fatal)\s*: (.*)')


def judge(lines, target, context):
    """The set of indices ptxas accepts. A syntax error hides what comes after it, so runs repeat
    until one is clean."""
    alive = list(range(len(lines)))
    number = re.sub(r'sm_', '', target)
    number = number.replace('101', '110')
    arch = 'compute_' + (number if int(re.sub(r'\D', '', number)) > 75 else '75')
    path = os.path.join(TMP, 'm.ptx')
    while alive:
        text, first = module([lines[i] for i in alive], target, context)
        with open(path, 'w') as f:
            f.write(text)
        r = subprocess.run(
            ['ptxas', '-arch', arch, path, '-o', os.path.join(TMP, 'm.cubin')],
            capture_output=True,
            text=True,
        )
        if r.returncode == 0:
            break
        bad = {
            alive[int(m[1]) - first - 1]
            for m in MESSAGE.finditer(r.stdout + r.stderr)
            if 0 <= int(m[1]) - first - 1 < len(alive)
        }
        if not bad:  # an error of no line: halve
            if len(alive) == 1:
                return set()
            half = len(alive) // 2
            return {alive[i] for i in judge([lines[i] for i in alive[:half]], target, context)} | {
                alive[half + i] for i in judge([lines[i] for i in alive[half:]], target, context)
            }
        alive = [i for i in alive if i not in bad]
    return set(alive)


def judge_each(lines, target, context):
    """As judge, one run a statement: ptxas may report an error on the line behind."""
    return {i for i, line in enumerate(lines) if judge([line], target, context)}


def main():
    rng = random.Random(int(sys.argv[1]))
    count = int(sys.argv[2])
    only = sys.argv[3] if len(sys.argv) > 3 else None
    quick = count > 5000  # many statements a run, and a few of them misjudged
    rows = [
        line.rstrip('\n').split('\t')
        for line in open(os.path.join(HERE, 'forms.tsv'))
        if line[0] != '#'
    ]
    rows = [
        r
        for r in rows
        if STATEMENT.match(r[4])
        and r[3] in ('entry', 'indep', 'func')
        and '@' not in r[4][1:]
        and r[0] not in ('directive', 'stack')
        and 'fn_' not in r[4]
        and 'g_tab' not in r[4]
        and 'k_2' not in r[4]
        and (not only or re.fullmatch(only, r[0]))
    ]
    mutator = Mutator(rows, rng)
    groups = sorted({r[0] for r in rows})
    by_group = {g: [r for r in rows if r[0] == g] for g in groups}
    made, seen = collections.defaultdict(list), set()
    n = 0
    while n < count:
        row = rng.choice(by_group[groups[n % len(groups)]])
        text = mutator.mutate(row)
        if not text:
            continue
        key = (pick_target(row, rng), row[3])
        if (key, text) in seen:
            n += only is not None and rng.random() < 0.05
            continue
        seen.add((key, text))
        made[key].append(text)
        n += 1
    print(
        '# Changed forms as ptxas 13.0 judges them; made by: mutate.py %s' % ' '.join(sys.argv[1:])
    )
    for (target, context), lines in sorted(made.items()):
        for i in range(0, len(lines), 300):
            part = lines[i : i + 300]
            good = (judge if quick else judge_each)(part, target, context)
            for k, text in enumerate(part):
                print('\t'.join(('ok' if k in good else 'no', '9.0', target, context, text)))
        sys.stdout.flush()


if __name__ == '__main__':
    main()
