#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Stacks of a JavaScript program whose chains of calls are known by construction, one by one: functions and lines, interpreted, baseline and
# optimized with inlining. tests/oracles/node_versions.sh does the same for other versions of Node.js.
# slow: each way to compile has to warm up
set -u
. "$TOP/tests/e2e/lib/recording.bash"
. "$TOP/tests/e2e/lib/node.bash"
need_recording
[ "$(uname -m)" = x86_64 ] || skip "rules for V8's code are x86-64's"
command -v node >/dev/null || skip 'there is no Node.js here'
command -v python3 >/dev/null || skip 'there is no python3'
knows_node node || skip "Node.js here has V8 $(node -p process.versions.v8)"
trap 'kill $victim 2>/dev/null' EXIT

compared=
node_chains node
node_chains node --no-opt # interpreter and baseline
node_chains node --max-lazy
[ "$compared" ] || skip 'the program got too little of a CPU'
exit 0
