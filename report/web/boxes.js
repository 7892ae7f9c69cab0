// SPDX-License-Identifier: Apache-2.0
// Which boxes are seen, and where. Independent of what they are painted on.

export const ROW = 19;
const NARROWEST = 0.4; // pixels; below that there is nothing to see, nor to go down to

/*
 * Boxes of @tree zoomed to @zoom in @width pixels: { rows, depth }, rows[depth] is an array of { node, x, w } from left
 * to right. Nodes between the root and @zoom are as wide as all.
 */
export function layOut(tree, zoom, width) {
	const rows = [];
	const put = (node, x, w) => (rows[tree.depth[node]] ??= []).push({ node, x, w });
	for (const node of [0, ...tree.path(tree.parent[zoom])].slice(0, zoom ? undefined : 0))
		put(node, 0, width);
	const all = tree.weight(zoom);
	if (!(all > 0))
		return { rows, deepest: rows.length };
	const scale = width / all, waiting = [[zoom, 0]];
	while (waiting.length) {
		const [node, x] = waiting.pop();
		put(node, x, tree.weight(node) * scale);
		let at = x;
		const next = [];
		for (const child of tree.children(node)) {
			const w = tree.weight(child) * scale;
			if (w >= NARROWEST)
				next.push([child, at]);
			at += w;
		}
		for (let i = next.length; i-- > 0;)
			waiting.push(next[i]);
	}
	return { rows, deepest: rows.length };
}

export function boxAt(layout, depth, x) {
	const row = layout.rows[depth];
	if (!row)
		return null;
	let low = 0, high = row.length;
	while (low < high) {
		const middle = low + high >> 1;
		if (row[middle].x + row[middle].w <= x)
			low = middle + 1;
		else
			high = middle;
	}
	return low < row.length && row[low].x <= x ? row[low] : null;
}

export function findBox(layout, tree, node) {
	return layout.rows[tree.depth[node]]?.find((box) => box.node === node) ?? null;
}
