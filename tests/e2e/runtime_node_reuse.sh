#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# JavaScript functions that are made, run for some time and are collected, so that the next one's code takes their place in memory: no sample
# has the name of a function that did not run at its time. The program says when each ran. NODES may name more programs than the one on the PATH.
# slow: four seconds each
set -u
. "$TOP/tests/e2e/lib/recording.bash"
. "$TOP/tests/e2e/lib/node.bash"
need_recording
[ "$(uname -m)" = x86_64 ] || skip "rules for V8's code are x86-64's"
[ "$(id -u)" = 0 ] || skip "only root may read other processes' memory for sure"
command -v python3 >/dev/null || skip 'there is no python3 here'

cat >reuse.js <<'END_J'
let sink = 0;
const times = [];
function run(number, ms, calls, length) {
	const name = 'fn' + String(number).padStart(4, '0');
	const made = new Function('return function ' + name +
		'(n) { let s = 0; for (let k = 0; k < n; k++) s = (s * 31 + (k ^ s)) % 65521; return s; }')();
	const begin = process.hrtime.bigint(), end = begin + BigInt(ms) * 1000000n;
	let now = begin;
	while (now < end) {
		for (let i = 0; i < calls; i++) sink += made(length);
		now = process.hrtime.bigint();
	}
	times.push(`${name} ${begin} ${now}`);
}
for (let i = 0; i < 60; i++) {
	if (i < 40) run(i, 50, 20, 2000);
	else run(i, 100, 1000, 40); // short calls: run() is optimized, and has each function inlined
	gc();
}
console.log(times.join('\n'));
END_J

names_by_time 30 'a function that did not run at their time' --expose-gc reuse.js
exit 0
