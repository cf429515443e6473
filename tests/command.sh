# For scripts that test a command of the tool: they set root, command and tool, and read this file.
# Gives them a folder $work.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
is() { # NAME COMMAND...
    name=$1
    shift
    if "$@" >"$work/out" 2>&1; then
        passed=$((passed + 1))
    else
        echo "FAILED $name"
        head -5 "$work/out"
        failed=$((failed + 1))
    fi
}
ends() { # STATUS ARGUMENTS...
    want=$1
    shift
    $tool $command "$@" >"$work/stdout" 2>"$work/stderr"
    have=$?
    [ $have = "$want" ] || { echo "ends with $have, not $want"; cat "$work/stderr"; false; }
}
holds() { grep -qF -- "$2" "$1" || { echo "$1 lacks $2"; cat "$1"; false; }; }
lacks() { ! grep -qF -- "$2" "$1"; }
close() { # NAME
    echo "$1: $passed passed, $failed failed, 0 skipped"
    [ "$failed" = 0 ]
}
