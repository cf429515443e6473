# For tests in the shell to read: what they check is counted, and told at their end.
passed=0
failed=0
skipped=0

check() { # NAME WANTED HAVE
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
    else
        echo "FAILED $1: '$3', not '$2'"
        failed=$((failed + 1))
    fi
}

finish() { # NAME
    echo "$1: $passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
}
