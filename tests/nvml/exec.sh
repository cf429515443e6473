#!/bin/sh
# What `ptera exec` has for programs that look for a GPU before they ask CUDA: nvidia-smi, device
# nodes; and the assembler that they call by a path: exec.sh PTERA [PTXAS] (NVIDIA's).
set -u
. "$(dirname "$0")/../runner/check.sh"
ptera=$1
ptxas=${2:-}

PTERA_DEVICE=h100
PTERA_DEVICES=2
export PTERA_DEVICE PTERA_DEVICES
smi() {
    "$ptera" exec nvidia-smi "$@"
}

check "list" "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-50746572-6100-0000-0000-000000090000)
GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-50746572-6100-0000-0000-000000090001)" "$(smi -L)"
check "query" "index, name, compute_cap, clocks.max.memory [MHz], utilization.gpu [%]
0, NVIDIA H100 80GB HBM3, 9.0, 2619 MHz, [N/A]
1, NVIDIA H100 80GB HBM3, 9.0, 2619 MHz, [N/A]" \
    "$(smi --query-gpu=index,gpu_name,compute_cap,clocks.max.memory,utilization.gpu --format=csv)"
check "query, bare" "1, 2619" \
    "$(smi -i 1 --query-gpu=index,clocks.max.memory --format=csv,noheader,nounits)"
check "by bus id" 1 \
    "$(smi --id=00000000:02:00.0 --query-gpu index --format csv,noheader)"
check "no such field" 'Field "colour" is not a valid field to query.' \
    "$(smi --query-gpu=colour --format=csv)"
smi --query-gpu=colour --format=csv >/dev/null
check "no such field, status" 2 $?
check "no such GPU" "No devices were found" "$(smi -i 7 -L)"
check "help" "usage: nvidia-smi" "$(smi -h | head -n 1 | cut -c 1-17)"
check "fields" '"timestamp"' "$(smi --help-query-gpu | grep '^"' | head -n 1)"
check "versions" 4 "$(smi --version | grep -ci '^.*version  *: [0-9]')"
check "no format" 1 "$(smi --query-gpu=name | grep -c '"--format=" switch is missing')"
smi --walk >/dev/null
check "no such option, status" 2 $?
check "table" 1 "$(smi | grep -c '| NVIDIA-SMI .*Driver Version: .*CUDA Version: 13\.5  *|$')"
check "table, rows" 2 "$(smi | grep -c 'NVIDIA H100 80GB HBM3')"

nodes() {
    "$ptera" exec sh -c 'for f in /dev/nvidiactl /dev/nvidia0 /dev/nvidia1 /dev/nvidia2; do
        [ -c "$f" ] && echo "$f"; done'
}
check "nodes" "/dev/nvidiactl
/dev/nvidia0
/dev/nvidia1" "$(nodes)"
check "a node's number" "c3:1" "$("$ptera" exec stat -c %t:%T /dev/nvidia1)"
check "no such file" "" "$("$ptera" exec sh -c '[ -e /dev/nvidiaX ] && echo there')"

if [ -n "$ptxas" ]; then
    check "their assembler" "$("$ptera" ptxas --version)" "$("$ptera" exec "$ptxas" --version)"
    check "their assembler, of a child" "$("$ptera" ptxas --version)" \
        "$("$ptera" exec sh -c '"$0" --version' "$ptxas")"
else
    skipped=$((skipped + 1))
fi
finish nvml_exec
