#!/bin/sh
# The README's counts of the instruction table are the table's: check_readme.sh ROOT PTERA
rows=$("$2" info --isa | wc -l)
implemented=$("$2" info --isa | awk '$2 == "yes"' | wc -l)
if grep -q "$rows rows" "$1/README.md" && grep -q "$implemented implemented" "$1/README.md"; then
    echo "readme: 1 passed, 0 failed, 0 skipped"
else
    echo "FAILED README.md should say '$rows rows' and '$implemented implemented'"
    echo "readme: 0 passed, 1 failed, 0 skipped"
    exit 1
fi
