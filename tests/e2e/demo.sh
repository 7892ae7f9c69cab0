#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The demo does what it says: a trace, tables, and files that other tools read.
# slow: it builds and records a workload
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
need_system_wide

DEMO_DIR=$PWD/demo DEMO_SECONDS=2 "$TOP/examples/demo" >out 2>&1 || { cat out; fail "the demo failed"; }
for command in 'precord -a -F 499 -o demo.trace' 'preport -i demo.trace' 'preport -i demo.trace --by leaf' \
	'preport -i demo.trace folded' 'preport -i demo.trace pprof' 'preport -i demo.trace flamegraph'; do
	grep -qF "\$ $command" out || { cat out; fail "it does not show '$command'"; }
done
awk '!/^.+ [0-9]+$/ { exit 1 }' demo/demo.folded || fail 'folded stacks are not "stack weight" lines'
[ "$(wc -l <demo/demo.folded)" -gt 20 ] || fail 'there are hardly any stacks'
gzip -t <demo/demo.pb.gz || fail 'the pprof file is not gzip'
tail -n 1 demo/demo.html | grep -q '</html>' || fail 'the page is not whole'
[ "$(stat -c %a demo/demo.trace)" = 600 ] || fail 'the trace is not private'
