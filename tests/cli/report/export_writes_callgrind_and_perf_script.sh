#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two events, recursion, and names that would break a line. Weights of an unknown number of samples are no number of calls.
"$BUILD/tests/tools/write_trace" precord.trace <<'EOF'
event cpu-clock ns 1000
event page-faults events 10
process 7 my 2\x0aserver
thread 7 8 w
sample 0 7 7 0 1000000 2 main;f;f;g
sample 1 7 8 1 5 1 main;bad (name)\x0a
EOF
for format in callgrind perf-script; do
	preport export --to $format 2>/dev/null | sed 's/preport [0-9.]*$/preport/'
done
printf 'p;a;b 1000\np;a;c 2500\n' >weights
preport export --to callgrind -i weights -o - 2>/dev/null | grep -E 'desc|calls'
