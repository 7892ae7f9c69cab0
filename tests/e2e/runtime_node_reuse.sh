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

all=0
for node in $( (command -v node; printf '%s\n' ${NODES:-}) 2>/dev/null | xargs -rn 1 readlink -f | sort -u); do
	knows_node "$node" || { echo "$node is none of those that precord(1) names"; continue; }
	precord -q -e cpu-clock:u -F 499 -o reuse.trace -- "$node" --expose-gc reuse.js >times 2>err.txt || { cat err.txt; fail 'cannot record'; }
	preport -i reuse.trace export --to perf-script >script.txt 2>/dev/null || fail 'cannot export'
	python3 "$TOP/tests/e2e/lib/names_in_time.py" times script.txt '\b(fn[0-9]{4})' >score || fail 'cannot compare'
	read -r right wrong < <(tail -n 1 score)
	echo "$node: $right right, $wrong wrong"
	[ "$wrong" = 0 ] || { head -n 5 score; fail 'samples have the name of a function that did not run at their time'; }
	all=$((all + right))
done
# Names are left out where they are not certain, which is often here.
[ "$all" -ge 30 ] || skip "only $all samples have a name"
exit 0
