#!/usr/bin/env python3
"""Makes the golden kernels of synchronisation at its edges: sync_gen.py FOLDER

Barriers that only part of a warp reaches, counts and numbers that the manual leaves open, member
masks that do not fit the lanes that are there, activemask in divergent code. Each module holds one
    .entry k(.param .u64 out, .param .u32 pa, .param .u32 pb)
for one CTA; thread i writes up to four words of 32 bits to out + 16 * i. FOLDER gets the modules
and jobs.tsv: module, threads, a, b, and a dash or why Ptera does otherwise (all of these are
undefined by the manual). sync_run.c runs a line of it on a GPU.
"""

import os, re, sys

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
ALL, LOW, HIGH = 0xFFFFFFFF, 0xFFFF, 0xFFFF0000
HEAD = '''.version 8.0
.target sm_90
.address_size 64
%s
.visible .entry k(.param .u64 out, .param .u32 pa, .param .u32 pb)
{
  .reg .pred p<9>, low, second, odd, few;
  .reg .b32 t, a, b, lane, bit, n, r<12>;
  .reg .b64 o;
  ld.param.u64 o, [out]; ld.param.u32 a, [pa]; ld.param.u32 b, [pb];
  mov.u32 t, %%tid.x; and.b32 lane, t, 31; shl.b32 r0, 1, lane; mov.b32 bit, r0;
  mad.wide.u32 o, t, 16, o;
  setp.lt.u32 low, lane, 16; setp.ge.u32 second, t, 32; and.b32 r0, t, 1;
  setp.ne.u32 odd, r0, 0; setp.lt.u32 few, lane, 5;
'''
jobs = []
OTHERWISE = (
    (
        r'members_\w+ (32|16) \w+ 0xffffffff',
        lambda threads, a: any(not a >> i & 1 for i in range(threads)),
        (
            'all lanes are there, so their masks do not matter; the assembler cannot tell and tests'
            ' them'
        ),
    ),
    (r'active_switch ', None, 'lanes that fall into the next case meet those there'),
    (r'two_places_', None, 'the assembler makes one instruction of the two'),
    (
        r'(half_extra|halves_red)_bar ',
        None,
        'the assembler makes the branch predicates, but synchronises the warp under them',
    ),
    (
        r'halves_sync_bar 64 0x0 0x20',
        None,
        'the assembler lets one half end before the other begins',
    ),
)


def otherwise(name, threads, a, b):
    for pattern, test, why in OTHERWISE:
        if re.match(pattern, '%s %d %#x %#x' % (name, threads, a, b)) and (
            not test or test(threads, a)
        ):
            return why
    return '-'


def case(name, runs, body, before=''):
    with open(os.path.join(folder, name + '.ptx'), 'w') as f:
        f.write(
            HEAD % before
            + '\n'.join('  ' + l.strip() for l in body.strip().split('\n'))
            + '\n  ret;\n}\n'
        )
    for threads, a, b in runs:
        jobs.append(
            '%s.ptx\t%d\t%#x\t%#x\t%s' % (name, threads, a, b, otherwise(name, threads, a, b))
        )


def keep(word, register):
    return 'st.volatile.global.u32 [o+%d], %s;' % (4 * word, register)


# ---- two parts of a warp at two places of one barrier. The low half's predicates are all true, of
# the high half's the odd ones, of the second warp's the first five: what popc counts tells who took
# part.

for form in ('bar', 'barrier'):
    # The second warp comes a times; b = 1: the halves meet again before they end.
    case(
        'halves_red_' + form,
        [(32, 0, 0), (64, 1, 0), (64, 2, 0), (64, 3, 0), (64, 1, 1), (64, 2, 1)],
        '''
        mov.u32 n, 0;
        mov.u32 r1, 0xeeee;
        @second bra SECOND;
        @low bra LOW;
        st.volatile.global.u32 [o+4], 1;
        %(f)s.red.popc.u32 r1, 0, odd;
        st.volatile.global.u32 [o], r1;
        bra MEET;
        LOW: st.volatile.global.u32 [o+4], 2;
        %(f)s.red.popc.u32 r1, 0, low;
        st.volatile.global.u32 [o], r1;
        MEET: setp.ne.u32 p1, b, 0;
        @p1 bar.warp.sync 0xffffffff;
        st.volatile.global.u32 [o+8], 7;
        ret;
        SECOND: setp.eq.u32 p2, a, n;
        @p2 ret;
        %(f)s.red.popc.u32 r1, 0, few;
        shl.b32 r2, n, 2; cvt.u64.u32 o2, r2; add.u64 o2, o, o2;
        st.volatile.global.u32 [o2], r1;
        add.u32 n, n, 1;
        bra SECOND;'''.replace('mov.u32 n, 0;', '.reg .b64 o2; mov.u32 n, 0;') % {'f': form},
    )
    # Each half arrives for a count of b; the second warp waits for b.
    case(
        'halves_arrive_' + form,
        [(64, 0, 64), (64, 0, 96)],
        '''
        @second bra SECOND;
        @low bra LOW;
        st.volatile.global.u32 [o], 1;
        %(f)s.arrive 1, b;
        st.volatile.global.u32 [o+4], 1;
        ret;
        LOW: st.volatile.global.u32 [o], 2;
        %(f)s.arrive 1, b;
        st.volatile.global.u32 [o+4], 2;
        ret;
        SECOND: %(f)s.sync 1, b;
        st.volatile.global.u32 [o], 3;''' % {'f': form},
    )
    # Each half waits for a count of b, nobody else.
    case(
        'halves_sync_' + form,
        [(64, 0, 32), (64, 0, 64), (64, 0, 96)],
        '''
        @second ret;
        @low bra LOW;
        st.volatile.global.u32 [o], 1;
        %(f)s.sync 1, b;
        st.volatile.global.u32 [o+4], 1;
        ret;
        LOW: st.volatile.global.u32 [o], 2;
        %(f)s.sync 1, b;
        st.volatile.global.u32 [o+4], 2;''' % {'f': form},
    )
    # The low half comes alone; the other goes on to bar.warp.sync and waits for it there, or (a)
    # ends.
    case(
        'half_alone_' + form,
        [(32, 0, 0), (64, 0, 0), (32, 1, 0), (64, 1, 0)],
        '''
        @second bra SECOND;
        setp.ne.u32 p1, a, 0;
        @low bra LOW;
        st.volatile.global.u32 [o], 1;
        @p1 ret;
        bra MEET;
        LOW: st.volatile.global.u32 [o], 2;
        %(f)s.red.popc.u32 r1, 0, low;
        st.volatile.global.u32 [o+4], r1;
        @p1 ret;
        MEET: bar.warp.sync 0xffffffff;
        st.volatile.global.u32 [o+8], 3;
        ret;
        SECOND: %(f)s.red.popc.u32 r1, 0, few;
        st.volatile.global.u32 [o+4], r1;''' % {'f': form},
    )
    # A loop that lanes leave after 1 to 4 rounds, a barrier in each; the second warp does a rounds,
    # b: all wait at the end.
    case(
        'uneven_loop_' + form,
        [(32, 0, 0), (64, 4, 0), (64, 1, 0), (32, 0, 1), (64, 4, 1)],
        '''
        mov.u32 n, 0; mov.u32 r2, 0;
        and.b32 r3, lane, 3; add.u32 r3, r3, 1;
        @second mov.u32 r3, a;
        LOOP: %(f)s.red.popc.u32 r1, 0, odd;
        mad.lo.u32 r2, r2, 100, r1;
        st.volatile.global.u32 [o], r2;
        add.u32 n, n, 1;
        st.volatile.global.u32 [o+4], n;
        setp.lt.u32 p1, n, r3;
        @p1 bra LOOP;
        setp.ne.u32 p2, b, 0;
        @p2 %(f)s.sync 1;
        st.volatile.global.u32 [o+8], 3;''' % {'f': form},
    )

    # The low half comes once more than the other, first.
    case(
        'half_extra_' + form,
        [(32, 0, 0), (64, 1, 0), (64, 2, 0)],
        '''
        mov.u32 n, 0; mov.u32 r2, 0;
        @second bra SECOND;
        @!low bra ALL;
        st.volatile.global.u32 [o], 2;
        %(f)s.red.popc.u32 r1, 0, low;
        st.volatile.global.u32 [o+4], r1;
        ALL: %(f)s.red.popc.u32 r1, 0, odd;
        st.volatile.global.u32 [o+8], r1;
        ret;
        SECOND: setp.eq.u32 p2, a, n;
        @p2 ret;
        %(f)s.red.popc.u32 r1, 0, few;
        mad.lo.u32 r2, r2, 100, r1;
        st.volatile.global.u32 [o], r2;
        add.u32 n, n, 1;
        bra SECOND;''' % {'f': form},
    )
    # The halves come to it in two functions that are as different as can be.
    case(
        'halves_apart_' + form,
        [(32, 3, 0), (64, 3, 0), (64, 3, 1)],
        '''
        mov.u32 n, 0;
        @second bra SECOND;
        @low bra LOW;
        LOOP: st.volatile.global.u32 [o], n;
        add.u32 n, n, 1; setp.lt.u32 p1, n, a;
        @p1 bra LOOP;
        %(f)s.sync 0;
        st.volatile.global.u32 [o+4], 1;
        ret;
        LOW: ld.volatile.global.u32 r1, [o]; mul.lo.u32 r1, r1, r1; div.u32 r1, r1, a;
        %(f)s.sync 0;
        st.volatile.global.u32 [o+8], 2;
        ret;
        SECOND: setp.eq.u32 p2, b, 0;
        @p2 ret;
        %(f)s.sync 0;
        st.volatile.global.u32 [o+4], 3;''' % {'f': form},
    )

# ---- counts and numbers by register

for form in ('bar', 'barrier'):
    case(
        'sync_number_' + form,
        [(64, a, 64) for a in (0, 15, 16, 17, 31, 32, 255, 0x80000001, ALL)],
        '''
        %s.sync a, b;
        st.volatile.global.u32 [o], 1;''' % form,
    )
    case(
        'sync_number_all_' + form,
        [(64, a, 0) for a in (15, 16, 31)],
        '''
        %s.sync a;
        st.volatile.global.u32 [o], 1;''' % form,
    )
    case(
        'numbers_' + form,
        [(64, 16, 0), (64, 17, 1), (64, 2, 3)],
        '''
        selp.b32 r1, b, a, second;
        %s.sync r1, 64;
        st.volatile.global.u32 [o], 1;''' % form,
    )
    case(
        'sync_count_' + form,
        [
            (64, 0, b)
            for b in (
                0,
                1,
                16,
                31,
                32,
                33,
                48,
                63,
                64,
                65,
                95,
                96,
                128,
                1024,
                1056,
                2048,
                4096,
                65600,
                ALL,
            )
        ]
        + [(48, 0, b) for b in (32, 48, 64)],
        '''
        %s.sync 1, b;
        st.volatile.global.u32 [o], 1;''' % form,
    )
    case(
        'red_count_' + form,
        [(64, 0, b) for b in (0, 1, 32, 33, 63, 64)] + [(48, 0, 0), (48, 0, 48), (48, 0, 64)],
        '''
        setp.ne.u32 p1, lane, 40;
        st.volatile.global.u32 [o+4], 1;
        %(f)s.red.popc.u32 r1, 1, b, p1;
        st.volatile.global.u32 [o], r1;
        setp.lt.u32 p1, t, 300;
        %(f)s.red.and.pred p2, 2, b, p1;
        selp.u32 r1, 1, 0, p2;
        st.volatile.global.u32 [o+8], r1;''' % {'f': form},
    )
    case(
        'arrive_count_' + form,
        [
            (64, a, b)
            for a, b in (
                (0, 0),
                (0, 64),
                (64, 0),
                (33, 33),
                (33, 64),
                (48, 64),
                (63, 64),
                (64, 33),
                (64, 63),
                (64, 64),
                (64, 32),
                (32, 64),
                (96, 64),
                (64, 96),
                (96, 96),
            )
        ],
        '''
        @second bra SECOND;
        st.volatile.global.u32 [o], 1;
        %(f)s.arrive 1, a;
        st.volatile.global.u32 [o+4], 1;
        ret;
        SECOND: st.volatile.global.u32 [o], 2;
        %(f)s.sync 1, b;
        st.volatile.global.u32 [o+4], 2;''' % {'f': form},
    )
    # Lanes of one warp disagree on the number, or on the count.
    case(
        'number_differs_' + form,
        [(32, 1, 2), (64, 1, 2)],
        '''
        selp.b32 r1, a, b, low;
        mov.u32 r2, %%ntid.x;
        %s.sync r1, r2;
        st.volatile.global.u32 [o], 1;''' % form,
    )
    case(
        'count_differs_' + form,
        [(64, 64, 32), (64, 32, 64), (64, 64, 96), (64, 96, 64)],
        '''
        selp.b32 r1, a, b, low;
        %s.sync 1, r1;
        st.volatile.global.u32 [o], 1;''' % form,
    )
    # The two upper warps of four end before (a = 0) or after the others wait for a count of b.
    case(
        'exited_count_' + form,
        [(128, a, b) for a in (0, 1) for b in (64, 96, 128)],
        '''
        setp.lt.u32 p1, t, 64;
        @p1 bra WAIT;
        setp.eq.u32 p2, a, 0;
        @p2 ret;
        nanosleep.u32 900000;
        nanosleep.u32 900000;
        ret;
        WAIT: setp.ne.u32 p2, a, 0;
        @p2 bra NOW;
        nanosleep.u32 900000;
        nanosleep.u32 900000;
        NOW: %s.sync 1, b;
        st.volatile.global.u32 [o], 1;''' % form,
    )
case('count_128_of_64', [(64, 0, 0)], 'bar.sync 1, 128;\n' + keep(0, '1'))
case(
    'exited_count_128',
    [(128, 0, 0)],
    '''
    setp.lt.u32 p1, t, 64;
    @!p1 ret;
    bar.sync 1, 128;
    st.volatile.global.u32 [o], 1;''',
)

# One warp names no count, the other one of b.
for form in ('bar', 'barrier'):
    case(
        'count_or_none_' + form,
        [(64, 0, b) for b in (0, 32, 64, 96)],
        '''
        @second bra SECOND;
        st.volatile.global.u32 [o], 1;
        %(f)s.sync 1;
        st.volatile.global.u32 [o+4], 1;
        ret;
        SECOND: st.volatile.global.u32 [o], 2;
        %(f)s.sync 1, b;
        st.volatile.global.u32 [o+4], 2;''' % {'f': form},
    )

# ---- member masks

OPS = {
    'shfl': (
        'xor.b32 r2, lane, 1; shfl.sync.idx.b32 r1|p3, bit, r2, 31, MASK; selp.u32 r2, 1, 0, p3;'
    ),
    'ballot': 'vote.sync.ballot.b32 r1, odd, MASK; mov.u32 r2, 0;',
    'all': (
        'setp.lt.u32 p3, lane, 99; vote.sync.all.pred p3, p3, MASK; selp.u32 r1, 1, 0, p3; mov.u32'
        ' r2, 0;'
    ),
    'any': (
        'setp.gt.u32 p3, lane, 99; vote.sync.any.pred p3, p3, MASK; selp.u32 r1, 1, 0, p3; mov.u32'
        ' r2, 0;'
    ),
    'uni': (
        'setp.lt.u32 p3, lane, 99; vote.sync.uni.pred p3, p3, MASK; selp.u32 r1, 1, 0, p3; mov.u32'
        ' r2, 0;'
    ),
    'match_any': 'and.b32 r2, lane, 3; match.any.sync.b32 r1, r2, MASK;',
    'match_all': 'shr.u32 r2, lane, 5; match.all.sync.b32 r1|p3, r2, MASK; selp.u32 r2, 1, 0, p3;',
    'redux': 'redux.sync.add.u32 r1, bit, MASK; redux.sync.min.s32 r2, lane, MASK;',
    'elect': 'elect.sync r1|p3, MASK; selp.u32 r2, 1, 0, p3;',
    'warp': 'bar.warp.sync MASK; mov.u32 r1, 1; mov.u32 r2, 0;',
}
DONE = 'st.volatile.global.u32 [o], r1; st.volatile.global.u32 [o+4], r2;'
for name, op in OPS.items():
    by_a = op.replace('MASK', 'a')
    # Lanes of b do it with members a, the others go on and end.
    case(
        'members_' + name,
        [
            (32, a, b)
            for a, b in (
                (ALL, ALL),
                (0, ALL),
                (0xFFFFFFFE, ALL),
                (LOW, ALL),
                (LOW, LOW),
                (0, LOW),
                (HIGH, LOW),
                (ALL, LOW),
                (0xFF, LOW),
                (0xFFFFFF, LOW),
            )
        ]
        + [(16, ALL, ALL), (16, HIGH, ALL), (16, 0xFF, ALL)],
        '''
        and.b32 r3, bit, b; setp.eq.u32 p1, r3, 0;
        @p1 bra SKIP;
        st.volatile.global.u32 [o+8], 5;
        %s
        %s
        SKIP: st.volatile.global.u32 [o+12], 6;''' % (by_a, DONE),
    )
    # The others have ended.
    case(
        'exited_' + name,
        [(32, a, LOW) for a in (ALL, HIGH, LOW, 0, 0x1FFFF, 0xFF)],
        '''
        and.b32 r3, bit, b; setp.eq.u32 p1, r3, 0;
        @p1 ret;
        st.volatile.global.u32 [o+8], 5;
        %s
        %s''' % (by_a, DONE),
    )
    # The low half names a, the other b.
    case(
        'differs_' + name,
        [
            (32, LOW, HIGH),
            (32, LOW, ALL),
            (32, ALL, HIGH),
            (32, HIGH, LOW),
            (32, 0, ALL),
            (32, LOW, 0),
        ],
        '''
        selp.b32 r4, a, b, low;
        st.volatile.global.u32 [o+8], 5;
        %s
        %s''' % (op.replace('MASK', 'r4'), DONE),
    )
    # The low half names all, the other half waits at a barrier of the CTA.
    case(
        'barrier_' + name,
        [(32, ALL, 0)],
        '''
        @low bra LOW;
        st.volatile.global.u32 [o+8], 4;
        barrier.sync 0;
        bra END;
        LOW: st.volatile.global.u32 [o+8], 5;
        %s
        %s
        END: st.volatile.global.u32 [o+12], 6;''' % (by_a, DONE),
    )
    case(
        'full_' + name,
        [(32, 0, LOW), (16, 0, LOW)],
        '''
        and.b32 r3, bit, b; setp.eq.u32 p1, r3, 0;
        @p1 ret;
        %s
        %s''' % (op.replace('MASK', '0xffffffff'), DONE),
    )
for name, op in OPS.items():
    # Nothing in the kernel diverges; `fixed`: the members are a constant.
    case(
        'straight_' + name,
        [(32, a, 0) for a in (0, LOW, HIGH, 0xFFFFFFFE, ALL)],
        op.replace('MASK', 'a') + '\n' + DONE,
    )
    case('fixed_' + name, [(32, 0, 0), (16, 0, 0)], op.replace('MASK', '0xff') + '\n' + DONE)
    # A branch that all take alike, as the assembler can see.
    case(
        'alike_' + name,
        [(32, a, 1) for a in (0, LOW, ALL)],
        '''
        setp.eq.u32 p1, b, 0;
        @p1 bra SKIP;
        %s
        %s
        SKIP: st.volatile.global.u32 [o+12], 6;''' % (op.replace('MASK', 'a'), DONE),
    )
case(
    'source_idle_shfl',
    [(32, 0, 0)],
    '''
    ld.volatile.global.u32 r3, [o]; add.u32 r3, r3, lane;
    st.volatile.global.u32 [o+8], r3;
    @low bra LOW;
    add.u32 r4, r3, 1; st.volatile.global.u32 [o+8], r4;
    bra END;
    LOW: mov.u32 r5, 20; add.u32 r5, r5, a;
    shfl.sync.idx.b32 r1|p3, r3, r5, 31, 0xffff; selp.u32 r2, 1, 0, p3;
    st.volatile.global.u32 [o], r1; st.volatile.global.u32 [o+4], r2;
    END: st.volatile.global.u32 [o+12], r3;''',
)
case(
    'source_absent_shfl',
    [(32, 0, 0), (32, 1, 0)],
    '''
    setp.ne.u32 p1, a, 0;
    @low bra LOW;
    @p1 ret;
    st.volatile.global.u32 [o+8], 5;
    bra END;
    LOW: shfl.sync.idx.b32 r1|p3, bit, 20, 31, 0xffff; selp.u32 r2, 1, 0, p3;
    st.volatile.global.u32 [o], r1; st.volatile.global.u32 [o+4], r2;
    END: st.volatile.global.u32 [o+12], 6;''',
)
case(
    'two_places_shfl',
    [(32, ALL, 0)],
    '''
    @low bra LOW;
    st.volatile.global.u32 [o+8], 5;
    xor.b32 r2, lane, 16; shfl.sync.idx.b32 r1|p3, bit, r2, 31, a;
    st.volatile.global.u32 [o], r1;
    bra END;
    LOW: st.volatile.global.u32 [o+8], 4;
    xor.b32 r2, lane, 16; shfl.sync.idx.b32 r1|p3, lane, r2, 31, a;
    st.volatile.global.u32 [o+4], r1;
    END: st.volatile.global.u32 [o+12], 6;''',
)
case(
    'two_places_ballot',
    [(32, ALL, 0)],
    '''
    @low bra LOW;
    st.volatile.global.u32 [o+8], 5;
    vote.sync.ballot.b32 r1, odd, a;
    st.volatile.global.u32 [o], r1;
    bra END;
    LOW: st.volatile.global.u32 [o+8], 4;
    vote.sync.ballot.b32 r1, low, a;
    st.volatile.global.u32 [o+4], r1;
    END: st.volatile.global.u32 [o+12], 6;''',
)
case(
    'two_places_warp',
    [(32, ALL, 0)],
    '''
    @low bra LOW;
    st.volatile.global.u32 [o+8], 5;
    bar.warp.sync a;
    st.volatile.global.u32 [o], 1;
    bra END;
    LOW: st.volatile.global.u32 [o+8], 4;
    bar.warp.sync a;
    st.volatile.global.u32 [o+4], 1;
    END: st.volatile.global.u32 [o+12], 6;''',
)

# ---- activemask

TAKE = 'activemask.b32 r1; st.volatile.global.u32 [o+%d], r1;'
case(
    'active_if',
    [(32, 0, 0)],
    '''
    @low bra LOW;
    %s
    bra END;
    LOW: %s
    END: %s''' % (TAKE % 0, TAKE % 4, TAKE % 8),
)
case(
    'active_if_warp',
    [(32, 0, 0)],
    '''
    @low bra LOW;
    %s
    bra END;
    LOW: %s
    END: bar.warp.sync 0xffffffff;
    %s''' % (TAKE % 0, TAKE % 4, TAKE % 8),
)
case(
    'active_nested',
    [(32, 0, 0)],
    '''
    @low bra LOW;
    @odd bra ODD;
    %s
    bra JOIN;
    ODD: %s
    JOIN: %s
    bra END;
    LOW: st.volatile.global.u32 [o], 1;
    END: %s''' % (TAKE % 0, TAKE % 4, TAKE % 8, TAKE % 12),
)
case(
    'active_loop',
    [(32, 0, 0)],
    '''
    mov.u32 n, 0; and.b32 r3, lane, 3; mov.u32 r4, 0;
    LOOP: activemask.b32 r1; mad.lo.u32 r4, r4, 31, r1;
    st.volatile.global.u32 [o], r4;
    add.u32 n, n, 1; setp.le.u32 p1, n, r3;
    @p1 bra LOOP;
    %s''' % (TAKE % 4),
)
case(
    'active_early_end',
    [(32, 0, 0)],
    '''
    @odd ret;
    %s
    @low ret;
    %s''' % (TAKE % 0, TAKE % 4),
)
case(
    'active_switch',
    [(32, 0, 0)],
    '''
    and.b32 r3, lane, 3;
    ts: .branchtargets C0, C1, C2, C3;
    brx.idx r3, ts;
    C0: %s
    bra END;
    C1: %s
    C2: %s
    bra END;
    C3: st.volatile.global.u32 [o], 9;
    END: %s''' % (TAKE % 0, TAKE % 0, TAKE % 4, TAKE % 12),
)
case(
    'active_call',
    [(32, 0, 0)],
    '''
    .reg .b64 q;
    add.u64 q, o, 4;
    @low bra LOW;
    { .param .b64 x; st.param.b64 [x], o; call.uni f, (x); }
    bra END;
    LOW: { .param .b64 x; st.param.b64 [x], q; call.uni f, (x); }
    END: %s''' % (TAKE % 12),
    '''.func f(.param .b64 x) .noinline
{ .reg .b32 r1; .reg .b64 q; ld.param.b64 q, [x]; activemask.b32 r1;
  st.volatile.global.u32 [q], r1; ret; }'''.replace(
        ' .noinline', ''
    ),
)
case(
    'active_return',
    [(32, 0, 0)],
    '''
    { .param .b64 x; .param .b32 y; st.param.b64 [x], o; st.param.b32 [y], lane;
      call.uni f, (x, y); }
    %s''' % (TAKE % 12),
    '''.func f(.param .b64 x, .param .b32 z)
{ .reg .b32 r1, y; .reg .b64 q; .reg .pred p; ld.param.b64 q, [x]; ld.param.b32 y, [z];
  setp.lt.u32 p, y, 16; @p bra A;
  st.volatile.global.u32 [q], 7; ret;
  A: activemask.b32 r1; st.volatile.global.u32 [q], r1; ret; }''',
)

# Lanes that met in parts: behind collectives over groups of eight, of four and of two lanes, and of
# halves, those of a condition.
PARTS = {
    'shfl': 'shfl.sync.down.b32 r2, lane, 1, 0x1807, r3;',
    'vote': 'vote.sync.ballot.b32 r2, odd, r3;',
    'match': 'match.any.sync.b32 r2, lane, r3;',
    'redux': 'redux.sync.add.u32 r2, lane, r3;',
    'sync': 'bar.warp.sync r3;',
}
for part, collective in PARTS.items():
    for lanes in (2, 8, 16):
        case(
            'active_after_%s_%d' % (part, lanes),
            [(32, 0, 0)],
            '''
            and.b32 r4, lane, %d; shl.b32 r3, %#x, r4; rem.u32 r5, lane, 3; setp.ne.u32 p1, r5, 0;
            %s
            @p1 bra END;
            %s
            END: %s''' % (32 - lanes, (1 << lanes) - 1, collective, TAKE % 0, TAKE % 4),
        )

open(os.path.join(folder, 'jobs.tsv'), 'w').write('\n'.join(jobs) + '\n')
print(len(jobs), 'jobs')
