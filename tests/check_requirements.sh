#!/bin/sh
# The table of CUDA's requirements (section, row, state, where) keeps what it says:
#     check_requirements.sh ROOT
# A row that works names what would fail without it, as file:text, and that text is in that file;
# others say why they do not: untested, missing, or none (nothing here that it could ask for).
root=$1
table=$root/tests/requirements.tsv
passed=0
failed=0
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
tail -n +2 "$table" >"$rows"
tab=$(printf '\t')

fail() {
    failed=$((failed + 1))
    echo "FAILED $section $row: $*"
}

while IFS=$tab read -r section row state where; do
    case "$state" in
    works)
        if grep -qsF -- "${where#*:}" "$root/${where%%:*}"; then
            passed=$((passed + 1))
        else
            fail "no $where"
        fi
        ;;
    untested | missing | none) [ -n "$where" ] && passed=$((passed + 1)) || fail "no reason" ;;
    *) fail "state $state" ;;
    esac
done <"$rows"
twice=$(cut -f 1,2 "$rows" | sort | uniq -d)
section=twice row=
[ -z "$twice" ] || fail "$twice"
for state in works untested missing none; do
    echo "$state: $(cut -f 3 "$rows" | grep -cx $state)"
done
echo "requirements: $passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
