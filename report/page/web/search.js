// SPDX-License-Identifier: Apache-2.0
// Which frames have a name that matches, and how much of all they cover.
import { addSums, noSums } from "./tree.js";

// A regular expression of what the user typed: case matters only if there is a capital. null if it is none.
export function pattern(text) {
	try {
		return new RegExp(text, /\p{Lu}/u.test(text.replace(/\\./g, "")) ? "u" : "iu");
	} catch {
		return null;
	}
}

// By frame of @tree: does its name match? Functions, folded modules, processes.
export function matchFrames(tree, regexp) {
	const count = tree.p.nfunctions + tree.p.nmodules + tree.labels.length;
	const match = new Uint8Array(count);
	for (let frame = 0; frame < count; frame++)
		match[frame] = regexp.test(tree.text(frame)) ? 1 : 0;
	return match;
}

// The sums of all samples with a match on their stack, each once however often it matches; by side.
export function coveredBy(tree, match) {
	const inside = new Uint8Array(tree.length);
	const sums = tree.totals.map(noSums);
	for (let node = 1; node < tree.length; node++) {
		const parent = tree.parent[node];
		inside[node] = inside[parent] | match[tree.frame[node]];
		if (!inside[node] || inside[parent])
			continue;
		tree.totals.forEach((side, i) => addSums(sums[i], side, node));
	}
	return sums;
}

// The nodes below @from that match, as one meets them from left to right. Of a tree of callers, what is there so far.
export function hitsBelow(tree, from, match) {
	const length = tree.length, has = new Uint8Array(length), hits = [];
	for (let node = length - 1; node > 0; node--) {
		has[node] |= match[tree.frame[node]];
		has[tree.parent[node]] |= has[node];
	}
	const waiting = [from];
	while (waiting.length) {
		const node = waiting.pop();
		if (!has[node])
			continue;
		if (node !== from && match[tree.frame[node]])
			hits.push(node);
		const children = tree.lists && !tree.lists[node] ? [] : tree.children(node);
		for (let i = children.length; i-- > 0;) {
			if (children[i] < length)
				waiting.push(children[i]);
		}
	}
	return hits;
}
