"""What a trace must be, and what a test says that it holds: trace.py FILE CONDITION... Conditions
are Python, over: events, slices (of a category, by name), arrows, rows, overlaps."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    trace = json.load(file)
events = trace["traceEvents"]
for e in events:
    assert isinstance(e["pid"], int) and e["ph"] in "XibeM", e
    if e["ph"] != "M":
        assert e["ts"] > 0 and isinstance(e["tid"], int) and e["cat"] and e["name"], e
    if e["ph"] == "X":
        assert e["dur"] >= 0, e


def slices(category, name=""):
    return [e for e in events if e["ph"] == "X" and e["cat"] == category and name in e["name"]]


def named(kind):
    found = [e for e in events if e["ph"] == "M" and e["name"] == kind]
    return {(e["pid"], e["tid"]): e["args"]["name"] for e in found}


rows = named("thread_name")
processes = {pid: name for (pid, _), name in named("process_name").items()}


def overlaps():
    """Slices of one row that neither follow nor hold each other."""
    bad = []
    by_row = {}
    for e in events:
        if e["ph"] == "X":
            begin, duration = round(1000 * e["ts"]), round(1000 * e["dur"])
            row = by_row.setdefault((e["pid"], e["tid"]), [])
            row.append((begin, -duration, e["name"]))
    for row in by_row.values():
        stack = []
        for begin, duration, name in sorted(row):
            end = begin - duration
            while stack and stack[-1] <= begin:
                stack.pop()
            if stack and end > stack[-1]:
                bad.append(name)
            stack.append(end)
    return bad


def arrows():
    """Of each slice that a call started, the call."""
    out = {e["bind_id"]: e for e in events if e.get("flow_out")}
    return [(out[e["bind_id"]], e) for e in events if e.get("flow_in")]


assert trace["otherData"]["producer"] == "Ptera"
assert all((e["pid"], e["tid"]) in rows for e in events if e["ph"] in "Xi")
assert all(e["pid"] in processes for e in events if e["ph"] in "Xi")
assert all(call["ts"] <= work["ts"] for call, work in arrows())
assert not overlaps(), overlaps()
for condition in sys.argv[2:]:
    if not eval(condition):
        sys.exit(f"{sys.argv[1]}: not so: {condition}")
