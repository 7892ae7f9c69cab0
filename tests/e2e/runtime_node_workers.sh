#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Threads that run JavaScript, one after the other: each has a heap of its own, which may lie where that of one lay that has ended. No sample
# has the name of a function of another thread. The program says when each ran. NODES may name more programs than the one on the PATH.
# slow: two seconds each
set -u
. "$TOP/tests/e2e/lib/recording.bash"
. "$TOP/tests/e2e/lib/node.bash"
need_recording
[ "$(uname -m)" = x86_64 ] || skip "rules for V8's code are x86-64's"
[ "$(id -u)" = 0 ] || skip "only root may read other processes' memory for sure"
command -v python3 >/dev/null || skip 'there is no python3 here'

cat >workers.js <<'END_J'
const { Worker, isMainThread, workerData, parentPort } = require('worker_threads');
function run(number) {
	const name = 'fn' + String(number).padStart(4, '0');
	const made = new Function('return function ' + name +
		'(n) { let s = 0; for (let k = 0; k < n; k++) s = (s * 31 + (k ^ s)) % 65521; return s; }')();
	const begin = process.hrtime.bigint(), end = begin + 60000000n;
	let now = begin, sink = 0;
	while (now < end) {
		for (let i = 0; i < 20; i++) sink += made(2000);
		now = process.hrtime.bigint();
	}
	return `${name} ${begin} ${now}`;
}
if (!isMainThread) {
	parentPort.postMessage(run(workerData));
} else {
	const times = [];
	const next = number => {
		if (number === 20) return console.log(times.join('\n'));
		const worker = new Worker(__filename, { workerData: number });
		worker.on('message', text => times.push(text));
		worker.on('exit', () => next(number + 1));
	};
	next(0);
}
END_J

all=0
for node in $( (command -v node; printf '%s\n' ${NODES:-}) 2>/dev/null | xargs -rn 1 readlink -f | sort -u); do
	knows_node "$node" || { echo "$node is none of those that precord(1) names"; continue; }
	precord -q -e cpu-clock:u -F 499 -o workers.trace -- "$node" workers.js >times 2>err.txt || { cat err.txt; fail 'cannot record'; }
	preport -i workers.trace export --to perf-script >script.txt 2>/dev/null || fail 'cannot export'
	python3 "$TOP/tests/e2e/lib/names_in_time.py" times script.txt '\b(fn[0-9]{4})' >score || fail 'cannot compare'
	read -r right wrong < <(tail -n 1 score)
	echo "$node: $right right, $wrong wrong"
	[ "$wrong" = 0 ] || { head -n 5 score; fail 'samples have the name of a function of another thread'; }
	all=$((all + right))
done
# Names are left out where they are not certain, which is often here.
[ "$all" -ge 10 ] || skip "only $all samples have a name"
exit 0
