#!/bin/sh
# Each bug of a broken driver is found, and named by its row, and no other row is blamed:
#     broken.sh PTERA DRIVER SUITE BUGS [hang]
# Without "hang" all but those that hang: with them each run waits for the time limit.
ptera=$1 driver=$2 suite=$3 bugs=$4 hang=${5:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -n "$hang" ] || grep -v 'hung$' "$bugs" >"$work/bugs.tsv"
[ -n "$hang" ] || bugs=$work/bugs.tsv

chapters=golden,float,atomic,chain,divide,exhaust,matrix,legacy,contract,wgmma,random,triton,mufu
chapters=$chapters,tensor/load_3,tensor/load_5,tensor/bulk_min_u32
chapters=$chapters,surface/suld_2d_v2_b16_zero,surface/sust_2d_v2_b32_trap
chapters=$chapters,texture/offset_tex_3d_f32,texture/fetch_3d_s32,litmus,assembler/atomics
chapters=$chapters,sync/differs_all.32.ffff.0,sync/differs_elect.32.ffff.0

PTERA_BROKEN=$bugs "$ptera" conform --driver "$driver" --suite "$suite" --workers 12 --timeout 60 \
    --chapter "$chapters" \
    --format json --output "$work/report.json"
[ $? = 1 ] || { echo "FAILED: bugs are there, but the exit status is not 1"; exit 1; }

sed -n 's/^{"row": "\([^"]*\)", .*"verdict": "\([a-z]*\)".*/\1 \2/p' "$work/report.json" |
    awk -v bugs="$bugs" '
BEGIN {
    while ((getline line < bugs) > 0)
        if (line !~ /^#/) {
            split(line, field, "\t")
            expected[field[1]] = field[4]
        }
}
{
    want = $1 in expected ? expected[$1] : "same"
    seen[$1] = 1
    if ($2 == want || (!($1 in expected) && $2 == "skipped")) { passed++; next }
    failed++
    print "FAILED " $1 ": " $2 ", expected " want
}
END {
    for (row in expected)
        if (!(row in seen)) { failed++; print "FAILED " row ": it is not in the report" }
    printf "conform_broken: %d passed, %d failed, 0 skipped\n", passed, failed
    exit failed > 0 || passed < 50
}'
