#!/bin/sh
# Prints the manual page of `ptera` from what the program itself says: man.sh VERSION COMMAND...
set -eu
version=$1
shift

# Text as it is, for roff.
verbatim() { sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^\([.']\)/\\\\\&\1/"; }

cat <<END
.TH PTERA 1 "" "ptera $version" "Ptera"
.SH NAME
ptera \- run NVIDIA PTX on the CPU
.SH SYNOPSIS
.B ptera
.I COMMAND
.RI [ ARGUMENT ...]
.SH DESCRIPTION
Runs, checks, compiles and compares kernels in NVIDIA's PTX on x86-64 and 64-bit ARM, without a GPU.
.SH COMMANDS
.nf
END
"$@" help | verbatim
echo .fi
for command in $("$@" help | awk '/^$/ { part++ } part == 1 && NF { print $1 }'); do
    echo ".SS ptera $command"
    echo .nf
    "$@" "$command" --help | verbatim
    echo .fi
done
# The table of docs/environment.md, each row `| \`NAME\` | what it does |`.
echo .SH ENVIRONMENT
sed -n 's/^| `\([A-Z_]*\)` | \(.*\) |$/\1 \2/p' "$(dirname "$0")/../docs/environment.md" |
    while read -r name text; do
    printf '.TP\n.B %s\n' "$name"
    echo "$text" | tr -d '`' | verbatim
done
cat <<'END'
.SH SEE ALSO
.BR pkg-config (1)
for
.B ptera
says how to build with the library; its header
.I ptera.h
documents it.
END
