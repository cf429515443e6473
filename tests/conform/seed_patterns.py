"""Patterns of defects (seed.py): of what expressions have, what becomes of it."""

import re

ATOM = r"(?:[A-Za-z_][\w.]*(?:->\w+)*(?:\[\w+\])?)"


def other(table):
    return lambda m: table[m.group()]


ORDERS = {
    "__ATOMIC_SEQ_CST": "__ATOMIC_RELAXED",
    "__ATOMIC_ACQUIRE": "__ATOMIC_RELAXED",
    "__ATOMIC_RELEASE": "__ATOMIC_RELAXED",
    "PT_SCOPE_CTA": "PT_SCOPE_GPU",
    "PT_SCOPE_GPU": "PT_SCOPE_CTA",
    "PT_SCOPE_CLUSTER": "PT_SCOPE_CTA",
    "PT_SCOPE_SYS": "PT_SCOPE_CTA",
    "is_shared": "!is_shared",
    "in_shared": "!in_shared",
    "LLVMAtomicOrderingSequentiallyConsistent": "LLVMAtomicOrderingMonotonic",
    "PT_ORDER_SEQ_CST": "PT_ORDER_RELAXED",
    "PT_ORDER_RELEASE": "PT_ORDER_RELAXED",
    "PT_ORDER_ACQUIRE": "PT_ORDER_RELAXED",
    "is_cluster": "!is_cluster",
    "PT_M_cluster": "PT_M_cta",
    "PT_M_cta": "PT_M_cluster",
    "PT_M_shared": "PT_M_global",
    "PT_M_global": "PT_M_shared",
}
SIGNS = {
    "LLVMIntULT": "LLVMIntSLT",
    "LLVMIntUGT": "LLVMIntSGT",
    "LLVMIntSLT": "LLVMIntULT",
    "LLVMIntSGT": "LLVMIntUGT",
    "LLVMIntULE": "LLVMIntSLE",
    "LLVMIntUGE": "LLVMIntSGE",
    "LLVMIntSLE": "LLVMIntULE",
    "LLVMIntSGE": "LLVMIntUGE",
    "(int32_t)": "(uint32_t)",
    "(int64_t)": "(uint64_t)",
    "(int16_t)": "(uint16_t)",
    "(int8_t)": "(uint8_t)",
    "BUILD(SExt": "BUILD(ZExt",
    "BUILD(ZExt": "BUILD(SExt",
    "BUILD(AShr": "BUILD(LShr",
    "BUILD(LShr": "BUILD(AShr",
    "BUILD(UDiv": "BUILD(SDiv",
    "BUILD(SDiv": "BUILD(UDiv",
    "jit_is_signed": "!jit_is_signed",
}
NANS = {
    "LLVMRealOLT": "LLVMRealULT",
    "LLVMRealOGT": "LLVMRealUGT",
    "LLVMRealOEQ": "LLVMRealUEQ",
    "LLVMRealUNO": "LLVMRealORD",
    "LLVMRealORD": "LLVMRealUNO",
    "LLVMRealOLE": "LLVMRealULE",
    "LLVMRealOGE": "LLVMRealUGE",
    "LLVMRealONE": "LLVMRealUNE",
    "LLVMRealUNE": "LLVMRealONE",
    "LLVMRealULT": "LLVMRealOLT",
}


def any_of(table):
    return "|".join(
        r"(?<!\w)" + re.escape(k) + (r"(?!\w)" if k[-1].isalnum() else "") for k in table
    )


# Class, pattern, replacement: each match of a pattern is a defect.
PATTERNS = [
    (
        "NaN",
        r"\bPT_FLOAT_NAN\b|\bPT_HALF_NAN\b|\b0x7fffffffu?\b|\b0x7fffu?\b"
        r"|\b0x7ff8000000000000(?:ull)?\b|\b0x7fc00000u?\b"
        r"|\b0x7fffffffffffffff(?:ull)?\b",
        lambda m: "(%s - 1)" % m.group(),
    ),
    ("NaN", any_of(NANS), other(NANS)),
    ("NaN", r"\b(\w*(?:is_nan|isnan)\w*)\(", lambda m: "!%s(" % m.group(1)),
    ("NaN", r"\bnan_a\b", lambda m: "nan_b"),
    ("flush", r"\b(?:pt_\w+_ftz|jit_flush|flush\w*)\(([^()]|\([^()]*\))*\)", None),
    ("flush", r"(?<=[ (])ftz(?=[,) ])", lambda m: "false"),
    ("flush", r"\bhas_ftz\(op\)", lambda m: "false"),
    ("flush", r"\bis_tiny\b|\btiny\b", lambda m: "false"),
    ("ulp", r"\b(rnd|RND) == (PT_R\w+)", lambda m: "%s != %s" % m.groups()),
    (
        "ulp",
        r"\bPT_R[NZMP]\b",
        lambda m: {"PT_RN": "PT_RZ", "PT_RZ": "PT_RN", "PT_RM": "PT_RP", "PT_RP": "PT_RM"}[
            m.group()
        ],
    ),
    (
        "ulp",
        r"\bJIT_(DOWN|UP|TO_ZERO)\b",
        lambda m: {"DOWN": "JIT_UP", "UP": "JIT_DOWN", "TO_ZERO": "JIT_UP"}[m.group(1)],
    ),
    (
        "ulp",
        r"\brest > half\b|\brest >= half\b",
        lambda m: "rest >= half" if ">=" not in m.group() else "rest > half",
    ),
    (
        "ulp",
        r"\b(inexact|inward|one|up|sticky|round|rest|half)\b(?=[ )&|;,])(?! =)",
        lambda m: "(%s ^ 1)" % m.group(),
    ),
    (
        "ulp",
        r"\b0x1(?:\.[0-9a-f]+)?p[+-]?\d+f?\b",
        lambda m: (
            "(%s * (1 + 0x1p-20))" % m.group().rstrip("f")
            if not m.group().endswith("f")
            else "(%s * (1 + 0x1p-20f))" % m.group()
        ),
    ),
    ("lane", r"\[(lane|i|k|row|column|from|source)\]", lambda m: "[%s ^ 1]" % m.group(1)),
    (
        "lane",
        r"\(uint32_t\)__builtin_ctz\((\w+)\)",
        lambda m: "(31 - (uint32_t)__builtin_clz(%s))" % m.group(1),
    ),
    ("lane", r"\b(?:lane|column|row)\b(?= [+<>&/%])", lambda m: "(%s ^ 1)" % m.group()),
    ("lane", r"(?<=& )(?:31|15|7|3)\b", lambda m: str(int(m.group()) >> 1)),
    ("lane", r"(?<=& )0x1f\b", lambda m: "0xf"),
    ("scope", any_of(ORDERS), other(ORDERS)),
    ("sign", any_of(SIGNS), other(SIGNS)),
    (
        "swap",
        r"\b(\w+)\((op, |)(%s), (%s)(?=[,)])" % (ATOM, ATOM),
        lambda m: (
            None
            if m.group(3) == m.group(4) or m.group(3) == "op" or m.group(1) == "BUILD"
            else "%s(%s%s, %s" % (m.group(1), m.group(2), m.group(4), m.group(3))
        ),
    ),
    (
        "swap",
        r"\bBUILD\((Sub|FSub|FDiv|Shl|LShr|AShr|UDiv|SDiv|URem|SRem), (%s), (%s)\)" % (ATOM, ATOM),
        lambda m: "BUILD(%s, %s, %s)" % (m.group(1), m.group(3), m.group(2)),
    ),
    (
        "swap",
        r"\bBUILD\(Select, (%s), (%s), (%s)\)" % (ATOM, ATOM, ATOM),
        lambda m: "BUILD(Select, %s, %s, %s)" % (m.group(1), m.group(3), m.group(2)),
    ),
    (
        "swap",
        r"\b(%s) (-|>>|<<|<|>|/) (%s)\b(?!\()" % (ATOM, ATOM),
        lambda m: "%s %s %s" % (m.group(3), m.group(2), m.group(1)),
    ),
    ("swap", r"\bop->a\[([01])\]", lambda m: "op->a[%d]" % (1 - int(m.group(1)))),
    ("swap", r"\bsource\(op, ([01])\)", lambda m: "source(op, %d)" % (1 - int(m.group(1)))),
    (
        "swap",
        r"\? ([\w&()\[\]>-]+) : ([\w&()\[\]>-]+)$",
        lambda m: "? %s : %s" % (m.group(2), m.group(1)),
    ),
]
