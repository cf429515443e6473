#!/bin/sh
# The model gives the published verdicts, and each axiom that follows from no others is needed for
# one of them: papers.sh PAPERS COMMAND...
papers=$1
shift
said=$("$@" litmus --judge "$papers") || {
    echo "$said" | grep 'the file says\|not understood'
    exit 1
}
for axiom in coherence atomicity causality_reads causality_from_reads; do
    echo "$said" | grep -q "forbidden: .*$axiom (8" ||
        { echo "FAILED no verdict needs $axiom"; exit 1; }
done
echo "$said" | tail -1
