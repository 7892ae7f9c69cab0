#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fields of tracepoints are levels and conditions, and typed in JSON; as many samples pass as the fields say.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
precord -q -e syscalls:sys_enter_getppid,sched:sched_process_exec -o a.trace -- sh -c '/bin/true; /bin/true; exec /bin/echo a' >out.txt 2>err.txt || {
	grep -qE 'tracefs|tracepoint' err.txt && skip "no tracepoints here: $(head -1 err.txt)"
	cat err.txt
	fail "recording two tracepoints"
}
preport -i a.trace -e '*exec' --by filename --format=csv >table.csv 2>err.txt || { cat err.txt; fail "--by filename"; }
awk -F, 'NR > 1 && /\/true$/ { n = $5 } END { exit n != 2 }' table.csv || { cat table.csv; fail "two executions of true"; }
preport -i a.trace -e '*exec' --by filename --threads=2 --format=csv | cmp -s - table.csv || fail "two threads give another table"
preport -i a.trace -e '*exec' --where 'filename ~ */echo' --by filename --format=csv >one.csv || fail "--where"
[ "$(grep -c , one.csv)" = 2 ] && grep -q '/echo$' one.csv || { cat one.csv; fail "--where keeps one row"; }
preport merge --where 'filename ~ */echo' -o sum.pb.gz a.trace a.trace 2>err.txt || { cat err.txt; fail "merge --where"; }
preport diff --where 'filename ~ */echo' a.trace a.trace >/dev/null 2>err.txt || { cat err.txt; fail "diff --where"; }
preport script -i a.trace --no-chain --format=json >events.json || fail "script"
if command -v python3 >/dev/null; then
	python3 - <<'EOF' || fail "the fields in JSON are not typed"
import json
samples = [json.loads(line) for line in open("events.json")]
runs = [s["fields"] for s in samples if s["event"] == "sched:sched_process_exec"]
assert len(runs) >= 4, runs
assert all(isinstance(f["pid"], int) and f["filename"].startswith("/") for f in runs), runs
EOF
fi
preport -i a.trace --by event --format=csv >events.csv || fail "--by event"
grep -q ',sched:sched_process_exec$' events.csv || { cat events.csv; fail "--by event has no sched_process_exec"; }
preport -i a.trace --by filenam >out.txt 2>err.txt && fail "a field that is not there"
grep -q "did you mean 'filename'" err.txt || { cat err.txt; fail "no near field"; }
