"""Defects for the conformance suite to find: a copy of the sources in which each chosen defect is
behind a selector.

A defect changes one token of one expression. The expression `E` becomes
`(PT_SEEDED == 7 ? (E') : (E))`, so that all defects are compiled at once; the environment's
PT_SEEDED chooses one as a process starts. COPY/seeded.tsv has a line for each: number, class, file,
line, engine, expression, what it became. seeded.py builds and runs them.
"""

import hashlib
import os
import re

import seed_patterns

# Where semantics and emitters are: the engine that runs them, of 100 defects how many, files.
SOURCES = [
    (
        "interp",
        66,
        [
            "backend/semantics/%s" % n
            for n in (
                "float.h",
                "float.def",
                "half.h",
                "half.def",
                "convert.h",
                "convert.def",
                "integer.h",
                "integer.def",
                "logic.def",
                "logic.h",
                "compare.def",
                "video.h",
                "mma.h",
                "mma_rows.h",
                "mufu.h",
                "move.h",
                "wide.h",
                "fragment.h",
                "mbarrier.h",
            )
        ]
        + [
            "backend/interp/%s" % n
            for n in (
                "atomic.c",
                "warp.c",
                "reduce.h",
                "mma.c",
                "wgmma.c",
                "mma_memory.c",
                "move.c",
                "cp_async.c",
                "mbarrier.c",
                "sync.c",
                "barrier.c",
                "float.c",
                "half.c",
                "integer.c",
                "logic.c",
                "load_store.c",
                "video.c",
            )
        ],
    ),
    (
        "jit",
        34,
        [
            "backend/jit/emit/%s.c" % n
            for n in (
                "float",
                "half",
                "convert",
                "integer",
                "logic",
                "compare",
                "move",
                "mufu",
                "carry",
                "parts",
                "nan_order",
                "helpers",
                "fast_math",
                "lane_call",
            )
        ]
        + [
            "backend/jit/warp/warp.c",
            "backend/jit/warp/ldmatrix.c",
            "backend/jit/warp/mma.c",
            "backend/jit/memory/atomic_op.c",
            "backend/jit/memory/atomic.c",
        ],
    ),
]
# Textures and surfaces: chosen by themselves, so that others' choices stay as they were.
IMAGES = [
    (
        "interp",
        100,
        [
            "backend/semantics/%s.c" % n
            for n in (
                "texture",
                "texture_block",
                "texture_bptc",
                "texture_cube",
                "texture_filter",
                "texture_level",
                "surface",
            )
        ]
        + ["backend/semantics/%s.h" % n for n in ("texture_filter_wide", "texture_wide")]
        + [
            "backend/interp/%s.c" % n
            for n in (
                "texture",
                "texture_point",
                "texture_sample",
                "texture_wide",
                "surface",
                "image_query",
            )
        ],
    )
]
HEAD = """/* Defects: seed.py. */
#ifndef PT_SEEDED
extern char *getenv(const char *); /* a header would fix what later ones declare */
extern int atoi(const char *);
static int pt_seeded;
static __attribute__((constructor, unused)) void pt_seed(void)
{
    const char *text = getenv("PT_SEEDED");
    pt_seeded = text ? atoi(text) : 0;
}
#define PT_SEEDED pt_seeded
#endif
"""


def blank(text):
    """Comments, strings and directives of the preprocessor as spaces."""
    out = re.sub(
        r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'',
        lambda m: (
            re.sub(r"[^\n]", " ", m.group())
            if m.group()[0] == "/"
            else m.group()[0] + "s" * (len(m.group()) - 2) + m.group()[-1]
        ),
        text,
        flags=re.S,
    )
    return re.sub(
        r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*",
        lambda m: re.sub(r"[^\n]", " ", m.group()),
        out,
        flags=re.M,
    )


def closing(code, at):
    """The index behind the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] in "([{") - (code[i] in ")]}")
        if depth == 0:
            return i + 1
    return len(code)


def split_top(code, begin, end, stops):
    """Indices of the characters of `stops` between brackets of no depth."""
    depth, found = 0, []
    for i in range(begin, end):
        depth += (code[i] in "([{") - (code[i] in ")]}")
        if depth == 0 and code[i] in stops:
            found.append(i)
    return found


def bodies(code):
    """Functions' bodies."""
    at = 0
    while (at := code.find("{", at)) >= 0:
        end = closing(code, at)
        head = code[code.rfind("\n\n", 0, at) + 1 : at].strip()
        if head.endswith(")") and "=" not in head.split("(")[0]:
            yield at, end, head
        at = end


def expressions(code, begin, end):
    """The expressions of a body: what is assigned, returned, called, and conditions."""
    start, i = begin + 1, begin + 1
    while i < end:
        c = code[i]
        word = (
            re.compile(r"\b(if|while|switch|for)\s*\(").match(code, i)
            if c.isalpha() and not code[i - 1].isalnum()
            else None
        )
        if word:
            open_at = word.end() - 1
            close = closing(code, open_at)
            if word.group(1) in ("if", "while"):
                yield "condition", open_at + 1, close - 1
            start = i = close
        elif c in "([":
            i = closing(code, i)
        elif c in "{}" or (c == ":" and re.search(r"\b(case\b.*|default\s*)$", code[start:i])):
            start = i = i + 1
        elif c == ";":
            yield from statement(code, start, i)
            start = i = i + 1
        else:
            i += 1


def statement(code, begin, end):
    text = code[begin:end]
    first = re.match(r"\s*(?:else\b|do\b)?\s*", text).end()
    begin, text = begin + first, text[first:]
    if (
        re.match(r"(static|enum|struct \w+ \w+ =|typedef|goto|case|_Static_assert|__asm)\b", text)
        or "{" in text
    ):
        return
    back = re.match(r"return\s+", text)
    if back:
        yield "return", begin + back.end(), end
        return
    equals = [
        i
        for i in split_top(code, begin, end, "=")
        if code[i + 1] != "=" and code[i - 1] not in "=!<>"
    ]
    if not equals:
        if re.match(r"\w+\(.*\)$", text, re.S):
            yield "call", begin, end
        return
    for i in equals:
        commas = [c for c in split_top(code, i + 1, end, ",")]
        yield "assign", i + 1, commas[0] if commas else end


FLUSH_FIRST = re.compile(r"\w+\((?:op->j, |op, )?")


def unflushed(m):
    """A flush that is left out: its operand."""
    text = m.group()
    inside = text[FLUSH_FIRST.match(text).end() : -1]
    first = split_top(inside, 0, len(inside), ",")
    return "(%s)" % (inside[: first[0]] if first else inside)


def defects(kind, expression, code, returns):
    """(class, changed expression) of one expression; `code`: the same with strings blank."""
    for name, pattern, change in seed_patterns.PATTERNS:
        for m in re.finditer(pattern, code):
            new = change(m) if change else unflushed(m)
            if new is not None and new != m.group():
                yield name, expression[: m.start()] + new + expression[m.end() :]
    if kind == "return" and re.search(r"\buint(16|32|64)_t\s+\w+\($", returns):
        yield "ulp", "(%s) + 1" % expression


def sites(path, text):
    """(begin, end, class, changed) of all defects of a file."""
    code = blank(text)
    for begin, end, head in bodies(code):
        returns = head.split("\n")[-1] if "(" in head.split("\n")[-1] else head
        returns = (
            head[: head.rfind("(") + 1] if head.count("(") == 1 else re.split(r"(?<=\()", head)[0]
        )
        for kind, b, e in expressions(code, begin, end - 1):
            lead = len(code[b:e]) - len(code[b:e].lstrip())
            b, e = b + lead, e - (len(code[b:e]) - len(code[b:e].rstrip()))
            if e - b < 2 or e - b > 600 or code[b] in '{"':
                continue
            for name, changed in defects(kind, text[b:e], code[b:e], returns):
                yield b, e, name, changed
    yield from listed(text, code)


# Before which comma of its arguments a line's expression stands.
COMMAS = {"LANE1": 2, "LANE2": 3, "LANE3": 4, "LANE4": 5, "LANE5": 6, "ATOM": 2, "JOIN": 0}


def listed(text, code):
    """The same of lists, whose last argument is an expression."""
    for m in re.finditer(r"^(LANE[1-5]|ATOM|JOIN)\(", code, re.M):
        end = closing(code, m.end() - 1) - 1
        commas = split_top(code, m.end(), end, ",")
        if len(commas) <= COMMAS[m.group(1)]:
            continue
        begin = commas[COMMAS[m.group(1)]] + 1
        begin += len(code[begin:end]) - len(code[begin:end].lstrip())
        for name, changed in defects("list", text[begin:end], code[begin:end], ""):
            yield begin, end, name, changed
        if m.group(1).startswith("LANE"):
            yield begin, end, "ulp", "(%s) + 1" % text[begin:end]


def one_line(text):
    return re.sub(r"\s+", " ", text)


def all_defects(source, sources):
    """(path, begin, end, class, changed, engine, expression) of all files, each once."""
    for engine, _, files in sources:
        for path in files:
            text = open(os.path.join(source, path)).read()
            seen = set()
            for b, e, name, changed in sites(path, text):
                if (b, changed) not in seen:
                    seen.add((b, changed))
                    yield path, b, e, name, changed, engine, text[b:e]


def take(groups, want):
    """Round by round: of each class the file with the fewest so far gives one."""
    taken, used, before = [], {}, -1
    while before < len(taken) < want:
        before = len(taken)
        for name in sorted(groups):
            left = [f for f, v in groups[name].items() if v]
            if left and len(taken) < want:
                f = min(left, key=lambda f: (used.get((name, f), 0), groups[name][f][0][0]))
                used[name, f] = used.get((name, f), 0) + 1
                taken.append(groups[name][f].pop(0)[1])
    return taken


def choose(source, count, seed, sources):
    """Defects spread over classes and files alike, in a random order of each."""
    groups = {engine: {} for engine, *_ in sources}
    for d in all_defects(source, sources):
        path, _, _, name, changed, engine, expression = d
        key = "%d %s %s %s" % (seed, path, expression, changed)
        order = hashlib.sha256(key.encode()).hexdigest()
        groups[engine].setdefault(name, {}).setdefault(path, []).append((order, d))
    for engine in groups.values():
        for files in engine.values():
            for v in files.values():
                v.sort()
    return [d for engine, share, _ in sources for d in take(groups[engine], count * share // 100)]


def nearest(candidates, line, line_of):
    """Of what is alike in all but its line, the one that is nearest to a line."""
    return min(candidates, key=lambda c: abs(line_of(c) - line))


def recorded(source, rows):
    """Those of a table (seeded.tsv, and what found them) that the sources still have."""
    places, chosen = {}, []
    for d in all_defects(source, SOURCES + IMAGES):
        places.setdefault((d[0], one_line(d[6]), one_line(d[4])), []).append(d)
    for row in rows:
        alike = places.get((row[2], row[5], row[6]), [])
        if alike:
            d = nearest(alike, int(row[3]), lambda d: line_of(source, d))
            alike.remove(d)
            chosen.append(d)
    return chosen


def line_of(source, defect):
    return open(os.path.join(source, defect[0])).read().count("\n", 0, defect[1]) + 1


def replace(path, text):
    """Writes a file, but one that has the text already: what need not be compiled again is not."""
    if not os.path.exists(path) or open(path).read() != text:
        with open(path, "w") as f:
            f.write(text)


def write(source, copy, chosen, dropped):
    """Writes the copy's files. Each alternative has a line of its own, so messages tell which."""
    table, by_file = [], {}
    for number, d in enumerate(chosen, 1):
        path, b, e, name, changed, engine, expression = d
        if number not in dropped:
            by_file.setdefault(path, {}).setdefault((b, e), []).append((number, changed))
            row = (
                number,
                name,
                path,
                line_of(source, d),
                engine,
                one_line(expression),
                one_line(changed),
            )
            table.append("\t".join(map(str, row)) + "\n")
    for path in {d[0] for d in chosen}:
        text = open(os.path.join(source, path)).read()
        places = by_file.get(path, {})
        for b, e in sorted(places, reverse=True):
            parts = [
                "(PT_SEEDED == %d /*<%d>*/ ? (%s) :" % (n, n, re.sub(r"\s*\n\s*", " ", changed))
                for n, changed in places[b, e]
            ]
            ends = ")" * len(parts)
            text = text[:b] + "\n" + "\n".join(parts) + "\n(" + text[b:e] + ")" + ends + text[e:]
        replace(os.path.join(copy, path), text)
    replace(os.path.join(copy, "seeded.tsv"), "".join(table))
    replace(os.path.join(copy, "seeded.h"), HEAD)
