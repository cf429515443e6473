#!/bin/sh
# The timeline of `ptera profile --trace`: trace.sh ROOT FOLDER PTERA... FOLDER has test programs.
root=$1
programs=$2
shift 2
tool=$*
command=profile
. "$root/tests/command.sh"
trace=$work/trace.json
shows() { python3 "$root/tests/profile/trace.py" "$trace" "$@"; }
records() { # STATUS PROGRAM
    (cd "$work" && ends "$1" --trace trace.json -- "$programs/$2")
}

is graph records 0 cuda_graph
is 'graph, its rows' shows "'main thread' in rows.values()" \
    "any(n.startswith('default stream') for n in rows.values())" \
    "any(n.startswith('GPU 0') for n in processes.values())"
is 'its times are microseconds for all readers' shows "'displayTimeUnit' not in trace"
is 'graph, its nodes' shows "any('graph_node' in e['args'] for e in slices('kernel'))" \
    "any(call['name'] == 'cuGraphLaunch' for call, _ in arrows())"
is 'graph, its copies' shows "any(e['args']['bytes'] for e in slices('memory', 'copy'))" \
    "slices('memory', 'memory set')" "slices('host', 'host function')"
is 'graph, its kernels' shows "all(e['args']['grid'][0] > 0 and e['args']['engine'] \
    and 'cluster' not in e['args'] for e in slices('kernel'))"
is 'a call that fails' shows "any(e.get('args', {}).get('result') == 1 for e in slices('api'))"
is runtime records 0 cudart_launch
is 'runtime, its calls' shows "slices('api', 'cudaLaunchKernel')" "not slices('api', 'cuLaunch')" \
    "any(call['name'] == 'cudaLaunchKernel' for call, _ in arrows())"
is 'nothing counted' lacks "$work/stderr" 'time here'
is 'and counts' ends 0 --trace "$trace" --metrics smsp__warps_launched.sum -- \
    "$programs/cudart_launch"
is 'has them' holds "$work/stderr" smsp__warps_launched.sum

# Streams in a page.
is streams ends 0 --html "$work/page.html" -- "$programs/cuda_stream"
is 'its timeline' python3 "$root/tests/profile/page.py" "$work/page.html" 300000 Timeline \
    'default stream'
is 'its streams' holds "$work/page.html" '<text x="6" y="62">stream '

# What the program marks itself.
is marks ends 0 --trace "$trace" --profile-from-start off --metrics smsp__warps_launched.sum -- \
    "$programs/profile_ranges"
is 'from start off' shows "[k['name'] for k in slices('kernel')] == ['between']" \
    "not slices('api', 'Profiler')"
is 'counts obey, too' lacks "$work/stderr" 'early'
is 'and have it' holds "$work/stderr" 'between'
is stop ends 0 --trace "$trace" -- "$programs/profile_ranges"
is 'from the start' shows "[k['name'] for k in slices('kernel')] == ['early', 'between']"
if grep -q 'has NVTX' "$work/stdout"; then
    is ranges shows "slices('nvtx', 'outer') and slices('nvtx', 'left open')" \
        "slices('nvtx', 'outer')[0]['tid'] == slices('api')[0]['tid']"
    is mark shows "any(e['ph'] == 'i' and e['args'] == {'payload': 0.5} for e in events)"
    is 'start and end' shows "[e['ph'] for e in events if e['name'] == 'start \"and\" end'] \
        == ['b', 'e']"
    crossing="[e['args'] for e in events if e['ph'] == 'b' and e['name'] == 'kept text']"
    is domains shows "$crossing == 2 * [{'domain': 'one', 'category': 'seventh', \
        'category_number': 7, 'colour': '#00a1b2', 'payload': -5}]" \
        "slices('nvtx', 'über')[0]['args'] == {'domain': 'zwölf'}"
fi

# Several processes, one file.
export PTERA_TRACE="$work/both.json"
is first "$programs/cudart_launch"
is second "$programs/cudart_stream"
trace=$PTERA_TRACE
is 'both in it' shows "{'cudart_launch', 'cudart_stream'} <= set(processes.values())"
echo '[1, 2]' >"$trace"
is 'no trace' sh -c "$programs/cudart_stream 2>'$work/stderr'"
is 'says so' holds "$work/stderr" "no trace of Ptera's"
is 'left alone' holds "$trace" '[1, 2]'
unset PTERA_TRACE

# No room: what is there stays whole, and what is lost is counted and told.
trace=$work/trace.json
no_room() (
    trap '' XFSZ
    ulimit -f 64
    records 1 cuda_graph
)
is 'no room' no_room
is 'is told' holds "$work/stderr" "trace.json: File too large"
is 'is counted' shows "trace['otherData']['lost_events'] > 0"
is 'no folder' ends 1 --trace /nowhere/x -- "$programs/cudart_stream"

# A kernel.
saxpy="$root/samples/saxpy/saxpy.ptx -k saxpy -g 4 -b 256 u32:1000 f32:2 iota:f32:1000 \
    fill:f32:1000:1"
is 'a kernel' ends 0 --trace "$trace" --engine jit $saxpy
is 'its launch' shows "[k['args'] for k in slices('kernel', 'saxpy')] == [{'grid': [4, 1, 1], \
    'block': [256, 1, 1], 'engine': 'native', **slices('kernel')[0]['args']}]" \
    "slices('load', 'saxpy.ptx') and slices('compile', 'saxpy')"
is 'and counts' ends 0 --trace "$trace" --csv $saxpy
is 'has both' shows "slices('kernel')[0]['args']['engine'] == 'interpreter'"
is 'has the counts' holds "$work/stderr" '"Kernel Name"'
is 'no folder' ends 1 --trace /nowhere/x $saxpy

close profile_trace
