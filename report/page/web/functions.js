// SPDX-License-Identifier: Apache-2.0
// Sums by function of a tree: the same as "preport --by leaf" and "--by total", and who calls whom.

import { addSums, noSums } from "./tree.js";

// Calls enter(node) and leave(node) for every node below the root.
function walk(tree, enter, leave) {
	const waiting = [0];
	while (waiting.length) {
		const node = waiting.pop();
		if (node < 0) {
			leave(~node);
			continue;
		}
		if (node) {
			enter(node);
			waiting.push(~node);
		}
		for (let i = tree.start[node]; i < tree.start[node + 1]; i++)
			waiting.push(tree.list[i]);
	}
}

// Frames that stand for code: functions and folded modules.
function isCode(tree, frame) {
	return frame < tree.p.nfunctions + tree.p.nmodules;
}

// [{ frame, self, total }]: by side; total counts a function once however often it recurses.
export function sumFunctions(tree) {
	const found = new Map(), depth = new Map();
	const empty = tree.selves.map(noSums);
	const entry = (frame, text) => {
		if (!found.has(frame))
			found.set(frame, { frame, text, self: tree.selves.map(noSums), total: tree.selves.map(noSums) });
		return found.get(frame);
	};
	walk(tree, (node) => {
		const frame = tree.frame[node];
		if (!isCode(tree, frame)) {
			tree.selves.forEach((side, i) => addSums(empty[i], side, node));
			return;
		}
		const row = entry(frame, tree.text(frame)), level = depth.get(frame) ?? 0;
		depth.set(frame, level + 1);
		tree.selves.forEach((side, i) => addSums(row.self[i], side, node));
		if (!level)
			tree.totals.forEach((side, i) => addSums(row.total[i], side, node));
	}, (node) => {
		const frame = tree.frame[node];
		if (isCode(tree, frame))
			depth.set(frame, depth.get(frame) - 1);
	});
	tree.selves.forEach((side, i) => addSums(empty[i], side, 0));
	if (empty.some((side) => side.n))
		found.set(-1, { frame: -1, text: "[no stack]", self: empty, total: empty });
	return [...found.values()];
}

/*
 * Who calls @frame (of the outermost call) and what it calls (of the innermost), each [{ frame, text, sums }] that adds up
 * to the function's total. Frame -1 is no caller, or the function itself.
 */
export function neighbours(tree, frame) {
	const callers = new Map(), callees = new Map(), stack = [];
	const entry = (map, key, text) => {
		if (!map.has(key))
			map.set(key, { frame: key, text, sums: tree.selves.map(noSums) });
		return map.get(key);
	};
	const here = () => stack[stack.length - 1];
	walk(tree, (node) => {
		const outer = here(), own = tree.frame[node], up = tree.frame[tree.parent[node]];
		let state = outer ?? null;
		if (own === frame) {
			const caller = outer?.caller ?? (isCode(tree, up) ? entry(callers, up, tree.text(up)) : entry(callers, -1, "[no caller]"));
			state = { caller, callee: entry(callees, -1, "[self]"), at: node };
		} else if (outer && outer.at === tree.parent[node]) {
			state = { caller: outer.caller, callee: entry(callees, own, tree.text(own)), at: -1 };
		}
		stack.push(state);
		if (!state)
			return;
		tree.selves.forEach((side, i) => {
			addSums(state.caller.sums[i], side, node);
			addSums(state.callee.sums[i], side, node);
		});
	}, () => stack.pop());
	const used = (map) => [...map.values()].filter((row) => row.sums.some((side) => side.n));
	return { callers: used(callers), callees: used(callees) };
}
