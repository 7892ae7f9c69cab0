// SPDX-License-Identifier: Apache-2.0
// The tree that a picture shows: stacks under one way of looking, with sums of one or two selections of samples.
//
// A node's frame is a number: a function, nfunctions + a module that is folded, or above that one of .labels
// (processes, why a stack ends). Node 0 is the root; parents have smaller numbers than their children.

export const KIND = { group: 0, user: 1, inlined: 2, kernel: 3, jit: 4, kthread: 5, stop: 6, unknown: 7 };

// Sums: weight, samples, squares of weights, weight off the CPU, weight that was measured and its squares, by node; [0] is the selection
// A, [1] is B where two are compared.
export const SUMS = ["w", "n", "q", "o", "e", "x"];

export const eachSum = (value) => Object.fromEntries(SUMS.map((key) => [key, value(key)]));
export const noSums = () => eachSum(() => 0);

export function addSums(to, sums, node) {
	for (const key of SUMS)
		to[key] += sums[key][node];
}

const sumsAt = (sums, node) => ({ w: sums.w[node], n: sums.n[node], q: sums.q[node], e: sums.e[node], x: sums.x[node] });
const newSums = (length) => eachSum(() => new Float64Array(length));

export class Tree {
	constructor(p, sides) {
		this.p = p;
		this.sides = sides;
		this.labels = [{ text: "all", kind: KIND.group }];
		this.parent = [0];
		this.frame = [p.nfunctions + p.nmodules];
		this.kind = [KIND.group];
		this.depth = [0];
	}

	get length() {
		return this.parent.length;
	}

	addLabel(text, kind) {
		this.labels.push({ text, kind });
		return this.p.nfunctions + this.p.nmodules + this.labels.length - 1;
	}

	add(parent, frame, kind) {
		this.parent.push(parent);
		this.frame.push(frame);
		this.kind.push(kind);
		this.depth.push(this.depth[parent] + 1);
		return this.parent.length - 1;
	}

	text(frame) {
		const p = this.p;
		if (frame < p.nfunctions)
			return p.name[frame];
		if (frame < p.nfunctions + p.nmodules)
			return "[" + p.meta.modules[frame - p.nfunctions][0] + "]";
		return this.labels[frame - p.nfunctions - p.nmodules].text;
	}

	name(node) {
		return this.text(this.frame[node]);
	}

	isFunction(node) {
		return this.frame[node] < this.p.nfunctions;
	}

	// The module of a node, -1 for those that stand for no code.
	module(node) {
		const frame = this.frame[node], p = this.p;
		if (frame < p.nfunctions)
			return p.module[frame];
		return frame < p.nfunctions + p.nmodules ? frame - p.nfunctions : -1;
	}

	total(node, side = 0) {
		return sumsAt(this.totals[side], node);
	}

	self(node, side = 0) {
		return sumsAt(this.selves[side], node);
	}

	// From below the root to @node.
	path(node) {
		const path = [];
		for (; node; node = this.parent[node])
			path.unshift(node);
		return path;
	}

	// Brothers by name, or by weight, greatest first.
	compare(a, b) {
		if (this.order === "size") {
			const difference = this.weight(b) - this.weight(a);
			if (difference)
				return difference;
		}
		const base = this.p.nfunctions;
		if (this.frame[a] < base && this.frame[b] < base)
			return this.frame[a] - this.frame[b] || this.kind[a] - this.kind[b];
		const x = this.name(a), y = this.name(b);
		return x < y ? -1 : x > y ? 1 : a - b;
	}

	// What a node's width stands for. Two selections: each as shares of its own whole, so that lengths do not matter.
	weight(node) {
		const a = this.totals[0].w[node];
		if (this.sides === 1)
			return a;
		const b = this.totals[1].w[node];
		if (this.width === "a" || this.width === "b")
			return this.width === "a" ? a : b;
		return a / (this.totals[0].w[0] || 1) + b / (this.totals[1].w[0] || 1);
	}

	// Samples of each row end at node rowNodes[row] (-1: nowhere); @rows are the sums by row.
	finish(rows, rowNodes) {
		const length = this.length;
		this.selves = rows.map(() => newSums(length));
		this.totals = rows.map(() => newSums(length));
		for (let side = 0; side < this.sides; side++) {
			const self = this.selves[side], total = this.totals[side], row = rows[side];
			for (const key of SUMS) {
				const own = self[key], sum = total[key], from = row[key];
				for (let i = 0; i < rowNodes.length; i++) {
					if (rowNodes[i] >= 0)
						own[rowNodes[i]] += from[i];
				}
				for (let i = length - 1; i > 0; i--) {
					sum[i] += own[i];
					sum[this.parent[i]] += sum[i];
				}
				sum[0] += own[0];
			}
		}
		this.indexChildren();
		return this;
	}

	indexChildren() {
		const length = this.length, start = new Int32Array(length + 1);
		for (let i = 1; i < length; i++)
			start[this.parent[i] + 1]++;
		for (let i = 0; i < length; i++)
			start[i + 1] += start[i];
		const next = start.slice(), list = new Int32Array(length);
		for (let i = 1; i < length; i++)
			list[next[this.parent[i]]++] = i;
		this.start = start;
		this.list = list;
		this.sorted = new Uint8Array(length);
	}

	// In order. Sorted only when asked for: a picture asks for a small part.
	children(node) {
		const list = this.list.subarray(this.start[node], this.start[node + 1]);
		if (!this.sorted[node] && list.length > 1)
			list.sort((a, b) => this.compare(a, b));
		this.sorted[node] = 1;
		return list;
	}

	// The same without a list: of most nodes there are many, and each has one child.
	eachChild(node, visit) {
		const from = this.start[node], to = this.start[node + 1];
		if (to - from > 1 && !this.sorted[node])
			this.children(node);
		for (let i = from; i < to; i++)
			visit(this.list[i]);
	}

	resort(order, width) {
		this.order = order;
		this.width = width;
		this.sorted.fill(0);
	}
}

// Sums by row of the samples of @set in bins [from, to).
export function sumRows(p, { set, from, to }) {
	const count = p.row.node.length, { row, bin, count: n, weight, vague, measured } = p.sets[set];
	const sums = newSums(count);
	for (let i = 0; i < row.length; i++) {
		if (bin[i] < from || bin[i] >= to)
			continue;
		sums.w[row[i]] += weight[i] * n[i];
		sums.o[row[i]] += weight[i] * n[i] * p.row.off[row[i]];
		sums.n[row[i]] += n[i];
		sums.q[row[i]] += vague ? NaN : weight[i] ** 2 * n[i];
		if (measured && p.row.off[row[i]]) {
			sums.e[row[i]] += weight[i] * n[i];
			sums.x[row[i]] += weight[i] ** 2 * n[i];
		}
	}
	return sums;
}

// " (12/13)" of those numbers that are known.
function ids(...numbers) {
	const known = numbers.filter((id) => id !== null);
	return known.length ? " (" + known.join("/") + ")" : "";
}

const GROUPS = {
	none: () => "",
	program: (t) => t[3],
	process: (t) => t[3] + ids(t[0]),
	thread: (t) => t[2] + ids(t[0], t[1]),
	comm: (t) => t[2],
	cpu: (t, cpu) => cpu < 0 ? "[no CPU]" : "CPU " + cpu,
};

// Rows by what they stand on: [{ label, kthread, stop, rows }].
export function groupRows(p, by, wanted) {
	const groups = new Map(), known = new Map(), name = GROUPS[by], { thread, cpu, stop } = p.row;
	const groupOf = (i) => {
		const of = p.meta.threads[thread[i]], label = name(of, cpu[i]), key = label + "\0" + stop[i];
		if (!groups.has(key))
			groups.set(key, { label, stop: stop[i], kthread: true, rows: [] });
		const group = groups.get(key);
		group.kthread = group.kthread && of[4] === 1;
		return group;
	};
	for (let i = 0; i < thread.length; i++) {
		if (!wanted(i))
			continue;
		const key = (by === "cpu" ? cpu[i] + 1 : thread[i]) * 256 + stop[i];
		let group = known.get(key);
		if (!group)
			known.set(key, group = groupOf(i));
		group.rows.push(i);
	}
	return [...groups.values()];
}

// Finds a node's child by frame and kind, or adds it.
class Children {
	constructor(tree) {
		this.tree = tree;
		this.slots = new Int32Array(1 << 12);
	}

	static hash(parent, frame, kind) {
		const mixed = Math.imul(parent, 0x9e3779b1) ^ Math.imul(frame * 8 + kind, 0x85ebca6b);
		return Math.imul(mixed ^ mixed >>> 15, 0x2c1b3c6d) >>> 0;
	}

	find(parent, frame, kind) {
		const t = this.tree, mask = this.slots.length - 1;
		let at = Children.hash(parent, frame, kind) & mask;
		for (let node; (node = this.slots[at]); at = at + 1 & mask) {
			if (t.parent[node] === parent && t.frame[node] === frame && t.kind[node] === kind)
				return node;
		}
		const node = t.add(parent, frame, kind);
		this.slots[at] = node;
		if (t.length * 2 > this.slots.length)
			this.grow();
		return node;
	}

	grow() {
		const t = this.tree, slots = new Int32Array(this.slots.length * 4), mask = slots.length - 1;
		for (let node = 1; node < t.length; node++) {
			let at = Children.hash(t.parent[node], t.frame[node], t.kind[node]) & mask;
			while (slots[at])
				at = at + 1 & mask;
			slots[at] = node;
		}
		this.slots = slots;
	}
}

const MODULE_KINDS = { user: KIND.user, kernel: KIND.kernel, jit: KIND.jit, unknown: KIND.unknown };

// Puts stacks of the profile onto a tree, each once for a group.
class Placer {
	constructor(tree, options) {
		const p = tree.p;
		this.tree = tree;
		this.options = options;
		this.children = new Children(tree);
		this.node = new Int32Array(p.parent.length);
		this.stamp = new Int32Array(p.parent.length);
		this.group = 0;
		this.path = [];
		this.moduleKind = p.meta.modules.map((mod) => MODULE_KINDS[mod[2]] ?? KIND.unknown);
	}

	begin(base, kthread) {
		this.group++;
		this.base = base;
		this.kthread = kthread;
	}

	place(stack) {
		const parent = this.tree.p.parent, { stamp, node, path, group } = this;
		let depth = 0;
		for (; stack && stamp[stack] !== group; stack = parent[stack])
			path[depth++] = stack;
		let at = stack ? node[stack] : this.base;
		while (depth) {
			stack = path[--depth];
			at = this.step(at, stack);
			node[stack] = at;
			stamp[stack] = group;
		}
		return at;
	}

	// One frame further from the root.
	step(at, stack) {
		const p = this.tree.p, func = p.func[stack], mod = p.module[func], o = this.options;
		if (o.hidden.has(mod))
			return at;
		if (o.folded.has(mod)) {
			const frame = p.nfunctions + mod;
			return this.tree.frame[at] === frame ? at : this.children.find(at, frame, this.kindOf(mod, 0));
		}
		if (o.recursion !== "keep") {
			const same = this.above(at, func);
			if (same)
				return same;
		}
		return this.children.find(at, func, this.kindOf(mod, p.inlined[stack]));
	}

	kindOf(mod, inlined) {
		const kind = this.moduleKind[mod];
		if (kind === KIND.kernel)
			return this.kthread ? KIND.kthread : kind;
		return inlined ? KIND.inlined : kind;
	}

	// The node of the same function that recursion goes back to, 0 if there is none.
	above(at, func) {
		const t = this.tree;
		if (this.options.recursion === "direct")
			return t.frame[at] === func ? at : 0;
		for (; at; at = t.parent[at]) {
			if (t.frame[at] === func)
				return at;
		}
		return 0;
	}
}

/*
 * @options: selections [{ set, from, to }] (one or two), by, recursion ("keep", "direct", "all"), hidden and folded
 * (sets of modules), keep (list of arrays by function: stacks must have one of each), order, width.
 */
export function buildTree(p, options) {
	const sums = options.selections.map((selection) => sumRows(p, selection));
	const tree = new Tree(p, sums.length), placer = new Placer(tree, options);
	const kept = options.keep.map((match) => stacksWith(p, match));
	const wanted = (row) => sums.some((side) => side.n[row] > 0) && kept.every((has) => has[p.row.node[row]]);
	const rowNodes = new Int32Array(p.row.node.length).fill(-1), labels = new Map();
	const label = (text, kind) => {
		if (!labels.has(text))
			labels.set(text, tree.addLabel(text, kind));
		return labels.get(text);
	};
	for (const group of groupRows(p, options.by, wanted)) {
		let base = 0;
		if (group.label || options.by !== "none")
			base = placer.children.find(base, label(group.label || "[no name]", KIND.group), KIND.group);
		if (p.meta.stops[group.stop])
			base = placer.children.find(base, label("[" + p.meta.stops[group.stop] + "]", KIND.stop), KIND.stop);
		placer.begin(base, group.kthread);
		for (const row of group.rows)
			rowNodes[row] = placer.place(p.row.node[row]);
	}
	tree.order = options.order;
	tree.width = options.width;
	return tree.finish(sums, rowNodes);
}

// By node of the profile: is one of the functions that @match marks on its way to the root?
export function stacksWith(p, match) {
	const has = new Uint8Array(p.parent.length);
	for (let i = 1; i < has.length; i++)
		has[i] = has[p.parent[i]] | match[p.func[i]];
	return has;
}
