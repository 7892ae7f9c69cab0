// SPDX-License-Identifier: Apache-2.0
// What each thread did when, one span after another, as report/page/lanes_data.c writes it; Documentation/flame-page.md has every
// byte. A lane is a thread, with its spans from .first to .end; times are ns since the start of the recording.
import { Reader } from "./block.js";

export const STATE_SEVERAL = "many short ones", STATE_RUNS = "on a CPU", STATE_READY = "run queue";

export function readLanes(bytes) {
	const r = new Reader(bytes), meta = JSON.parse(new TextDecoder().decode(r.slice(r.u32())));
	if (meta.version !== 1)
		throw new Error("the lanes have version " + meta.version);
	const count = meta.lanes.reduce((sum, lane) => sum + lane[3], 0);
	const column = () => Float64Array.from({ length: count }, () => r.uleb());
	const [gap, len, kind, func, waker, several, run] = Array.from({ length: 7 }, column);
	const from = new Float64Array(count), laneOf = new Int32Array(count), lanes = [];
	let at = 0;
	for (const [tid, comm, process, spans] of meta.lanes) {
		const lane = { number: lanes.length, name: `${comm} ${tid}`, comm, process, first: at, end: at + spans, run: 0 };
		for (let now = 0; at < lane.end; at++) {
			from[at] = now + gap[at];
			now = from[at] + len[at];
			laneOf[at] = lane.number;
			lane.run += meta.kinds[kind[at]] === STATE_RUNS ? len[at] : run[at];
		}
		lanes.push(lane);
	}
	const last = lanes.reduce((most, lane) => lane.end > lane.first ? Math.max(most, from[lane.end - 1] + len[lane.end - 1]) : most, 1);
	const first = lanes.reduce((least, lane) => lane.end > lane.first ? Math.min(least, from[lane.first]) : least, last);
	return { kinds: [...meta.kinds, STATE_SEVERAL], ended: new Set(meta.ended), functions: meta.functions, step: meta.step,
		lanes, laneOf, from, len, kind, func, waker, several, run, range: [first, last] };
}

// The span of @lane at @time; -1: none.
export function spanAt(d, lane, time) {
	let low = lane.first, high = lane.end;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (d.from[middle] + d.len[middle] <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low < lane.end && d.from[low] <= time ? low : -1;
}

export function lengthText(ns) {
	const [unit, name] = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]].find(([one]) => ns >= one) ?? [1, "ns"];
	return (ns / unit).toPrecision(3).replace(/e\+.*/, "") + " " + name;
}
