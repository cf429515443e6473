#!/bin/sh
# Ptera's own driver library passes, and the reports say what ran: own.sh PTERA SUITE
ptera=$1 suite=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
expect() { # WHAT COMMAND...
    what=$1
    shift
    if "$@" >"$work/out" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $what"
        tail -5 "$work/out"
    fi
}
conform() { "$ptera" conform --suite "$suite" --engine interp --timeout 300 "$@"; }

expect "all chapters pass" conform --format json --output "$work/a.json"
row='^{"row": "golden/integer/k00000", "form": "add.u16", "verdict": "same"'
expect "a row is named" grep -q "$row" "$work/a.json"
expect "JUnit" conform --chapter divide,golden/warp --format junit --output "$work/a.xml"
expect "no failure in it" grep -q 'failures="0" errors="0" skipped="0"' "$work/a.xml"
expect "it is XML" python3 -c 'import sys; from xml.dom import minidom as m; m.parse(sys.argv[1])' \
    "$work/a.xml"
expect "it is JSON" python3 -c 'import sys, json; assert json.load(open(sys.argv[1]))["rows"]' \
    "$work/a.json"
expect "text" conform --chapter divide --row 'div.full by 7fc01234'
expect "a table" "$ptera" conform --compare --output "$work/a.html" "$work/a.json" "$work/a.json"
expect "with columns" grep -q '<th>implementation</th>' "$work/a.html"
expect "a kernel alone" conform --show --row k00001 --chapter golden --output "$work/a.ptx"
expect "it is shown" grep -q 'add.u32 %r1' "$work/a.ptx"
# A suite with wrong expectations.
mkdir "$work/wrong"
cp -r "$suite/divide" "$suite/suite.tsv" "$work/wrong"
head -c "$(wc -c <"$work/wrong/divide/out.bin")" /dev/zero >"$work/wrong/divide/out.bin"
# What is listed as known does not fail; what is not there does.
printf 'divide\t-\tit divides otherwise\n' >"$work/known"
expect "known rows" conform --known "$work/known" --chapter divide
# Of lines for one row that one counts whose words are said.
printf 'divide\texpected\tzeros\ndivide\tnothing says this\tanother\n' >"$work/known"
expect "each line is tried" "$ptera" conform --suite "$work/wrong" --known "$work/known" \
    --engine interp --chapter divide
fails() { # STATUS COMMAND...
    status=$1
    shift
    "$@"
    [ $? = "$status" ]
}
# Where each expectation is wrong, the first row ends it.
expect "the first failure ends it" fails 1 "$ptera" conform --suite "$work/wrong" --engine interp \
    --chapter divide --workers 1 --first --format json --output "$work/first.json"
expect "one row is different" [ "$(grep -c '"different"' "$work/first.json")" = 1 ]
expect "others are untried" [ "$(grep -c '"untried"' "$work/first.json")" -gt 5 ]
expect "no driver" fails 1 "$ptera" conform --suite "$suite" --driver "$work/none.so"
expect "no suite" fails 2 "$ptera" conform --suite "$work"
expect "no such rows" fails 2 "$ptera" conform --suite "$suite" --chapter nothing
echo "conform_own: $passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
