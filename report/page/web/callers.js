// SPDX-License-Identifier: Apache-2.0
// The tree turned round: what used the time first, then who called it. A node's children are made when they are asked
// for, so a large profile costs what is looked at.
import { eachSum, SUMS, Tree } from "./tree.js";

export class CallerTree extends Tree {
	constructor(tree, order, width) {
		super(tree.p, tree.sides);
		this.from = tree;
		this.labels = tree.labels;
		this.order = order;
		this.width = width;
		const sums = (value) => tree.totals.map((side) => eachSum((key) => [value(side[key])]));
		this.totals = sums((all) => all[0]);
		this.selves = sums(() => 0);
		this.lists = [null];
		this.entries = [this.leaves()];
	}

	// Where samples end: { at, sums }, @sums are one after another, side by side.
	leaves() {
		const tree = this.from, entries = [];
		for (let node = 1; node < tree.length; node++) {
			const sums = tree.selves.flatMap((side) => SUMS.map((key) => side[key][node]));
			if (tree.selves.some((side) => side.n[node]))
				entries.push({ at: node, sums });
		}
		return entries;
	}

	children(node) {
		return this.lists[node] ??= this.expand(node);
	}

	eachChild(node, visit) {
		this.children(node).forEach(visit);
	}

	expand(node) {
		const tree = this.from, found = new Map();
		for (const entry of this.entries[node]) {
			const at = node ? tree.parent[entry.at] : entry.at;
			if (!at)
				continue;
			const key = tree.frame[at] * 8 + tree.kind[at];
			let child = found.get(key);
			if (child === undefined) {
				child = this.add(node, tree.frame[at], tree.kind[at]);
				found.set(key, child);
				this.entries.push(new Map());
				this.lists.push(null);
				for (const sums of [...this.totals, ...this.selves])
					SUMS.forEach((sum) => sums[sum].push(0));
			}
			this.addEntry(child, at, entry.sums, !tree.parent[at]);
		}
		this.entries[node] = [];
		const list = [...found.values()];
		for (const child of list)
			this.entries[child] = [...this.entries[child].values()];
		return list.sort((a, b) => this.compare(a, b));
	}

	// Entries that have come to the same node go on as one.
	addEntry(child, at, sums, ends) {
		const entries = this.entries[child], entry = entries.get(at);
		if (entry)
			entry.sums = entry.sums.map((sum, i) => sum + sums[i]);
		else
			entries.set(at, { at, sums });
		this.totals.forEach((side, s) => {
			SUMS.forEach((key, i) => {
				const sum = sums[SUMS.length * s + i];
				side[key][child] += sum;
				if (ends)
					this.selves[s][key][child] += sum;
			});
		});
	}

	resort(order, width) {
		this.order = order;
		this.width = width;
		for (const list of this.lists)
			list?.sort((a, b) => this.compare(a, b));
	}
}
