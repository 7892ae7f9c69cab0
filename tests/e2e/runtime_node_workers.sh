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

names_by_time 10 'a function of another thread' workers.js
exit 0
