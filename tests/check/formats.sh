#!/bin/sh
# The reports of `ptera check`: formats.sh ROOT PROGRAM PTERA... Each format is well formed, and has
# what its users rely on; limits, suppressions and filters leave out what they should.
root=$1
program=$2
shift 2
tool=$*
command=check
. "$root/tests/command.sh"
kernel="$root/tests/check/mem/bounds.ptx"

is save ends 1 mem --save "$work/saved" "$kernel" -k store -b 64 zero:128
is read ends 1 --read "$work/saved"
is 'text has the count' holds "$work/stderr" "32 times"
is 'its own status' ends 7 mem --error-exitcode=7 "$kernel" -k store -b 64 zero:128
is 'nothing' ends 0 mem --error-exitcode 7 "$kernel" -k store -b 32 zero:128
is limit ends 1 mem --print-limit 1 "$root/samples/saxpy/saxpy.ptx" -k saxpy -g 4 -b 256 \
    u32:1024 f32:2 iota:f32:1000 fill:f32:1000:1
is 'the limit is kept' lacks "$work/stderr" "writes 4 bytes"
is 'the rest is counted' holds "$work/stderr" "3 findings"
is 'other kernels' ends 0 mem --kernel-name 'load*' "$kernel" -k store -b 64 zero:128
is 'this kernel' ends 1 mem --kernel-name 'st*' "$kernel" -k store -b 64 zero:128
is 'the first is left out' ends 0 mem --launch-skip 1 "$kernel" -k store -b 64 zero:128
is 'the first counts' ends 1 mem --launch-count 1 "$kernel" -k store -b 64 zero:128
is 'makes suppressions' ends 1 mem --gen-suppressions "$work/known" "$kernel" -k store -b 64 \
    zero:128
is 'names the place' holds "$work/known" "mem-out-of-bounds store $kernel:"
is 'keeps to them' ends 0 mem --suppressions "$work/known" "$kernel" -k store -b 64 zero:128
is 'and to no more' ends 1 mem --suppressions "$work/known" "$kernel" -k load -b 33 zero:128
for format in json sarif html; do
    is $format ends 1 --read "$work/saved" --format $format --log-file "$work/report.$format"
done
{ cat "$work/saved" && echo 'untold 7'; } >"$work/more"
for format in json sarif html; do
    is "$format, of many" ends 1 --read "$work/more" --format $format \
        --log-file "$work/more.$format"
done
is 'JSON has how many more' holds "$work/more.json" '"untold": 7'
is 'SARIF has how many more' holds "$work/more.sarif" '"untold": 7'
is 'HTML has how many more' holds "$work/more.html" '7 more findings are not told apart'
is 'JSON has the thread' holds "$work/report.json" '"thread": [32, 0, 0]'
is 'HTML needs nothing else' lacks "$work/report.html" 'src='
is 'HTML has a picture' holds "$work/report.html" '1. writes, line'
is 'HTML has the source' holds "$work/report.html" '<b class="at">'
same="$root/tests/check/race/barrier.ptx"
is 'notes are no error' ends 0 race --save "$work/notes" "$same" -k same_value -b 64 zero:4096 \
    zero:256
is 'a note' holds "$work/stderr" ": note: race: thread"
is 'their number' holds "$work/stderr" "ptera check race: 1 note"
is 'where they are asked for' ends 1 --error-on-notes --read "$work/notes"
is 'SARIF of notes' ends 0 --read "$work/notes" --format sarif --log-file "$work/notes.sarif"
is 'SARIF has their level' holds "$work/notes.sarif" '"level": "note", "message"'
is 'a program' ends 1 mem --leak-check --save "$work/program" -- "$program" leak
is 'what it leaks' holds "$work/stderr" "--explain mem-leak"
is 'what its kernel reads' holds "$work/stderr" "--explain mem-out-of-bounds"
is 'who made it' holds "$work/stderr" "made by cuMemAlloc_v2, called by"
is 'once' test "$(grep -c "^kind mem-out" "$work/program")" = 2 -a \
    "$(grep -c explain "$work/stderr")" = 2
is 'its own status' ends 5 race -- "$program" leak
is 'that it was looked at' holds "$work/stderr" "nothing found in 1 launch"
is 'of a kernel that is not there' ends 5 mem --kernel-name none -- "$program" leak
is 'that nothing was' holds "$work/stderr" "no launch was looked at"
if ! grep -q __asan_init "$program"; then # a shell has no sanitizer's runtime
    is 'what it starts' ends 1 mem --target-processes all -- sh -c "'$program' leak; exit 0"
    is 'not that' ends 0 mem --target-processes application-only -- \
        sh -c "'$program' leak; exit 0"
fi
is 'itself all the same' ends 1 mem --target-processes=application-only -- "$program" leak
is 'no such processes' ends 2 mem --target-processes some -- "$program" leak
is 'a way of others' ends 1 mem --leak-check=full -- "$program" leak
is 'leaks as well' holds "$work/stderr" "--explain mem-leak"
for word in wrong right; do
    is "pages have what is $word" sh -c "! grep -Li $word '$root'/docs/findings/*.md | grep ."
done
is 'no program' ends 127 mem -- /nowhere/at/all
if command -v python3 >/dev/null; then
    is 'JSON and SARIF' python3 - "$work/report.json" "$work/report.sarif" <<'END'
import json, sys
assert len(json.load(open(sys.argv[1]))["findings"]) == 1
log = json.load(open(sys.argv[2]))
assert log["version"] == "2.1.0" and log["$schema"].startswith("https://")
(run,) = log["runs"]
driver = run["tool"]["driver"]
assert driver["name"]
ids = [rule["id"] for rule in driver["rules"]]
assert len(ids) == len(set(ids))
assert all(rule["shortDescription"]["text"] for rule in driver["rules"])
(result,) = run["results"]
assert ids[result["ruleIndex"]] == result["ruleId"] == "mem-out-of-bounds"
assert result["level"] in ("none", "note", "warning", "error")
assert "writes 4 bytes" in result["message"]["text"] and result["occurrenceCount"] == 32
(place,) = result["locations"]
physical = place["physicalLocation"]
assert physical["artifactLocation"]["uri"].endswith("bounds.ptx")
assert physical["region"]["startLine"] > 1 and physical["region"]["startColumn"] > 0
assert place["logicalLocations"][0]["name"] == "store"
END
fi
close formats
