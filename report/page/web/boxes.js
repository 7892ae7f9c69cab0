// SPDX-License-Identifier: Apache-2.0
// Which boxes are seen, and where. Independent of what they are painted on.

export const ROW = 19;
const NARROWEST = 0.4; // pixels; below that there is nothing to see, nor to go down to

const newRow = () => ({ node: [], x: [], w: [] });

function put(row, node, x, w) {
	row.node.push(node);
	row.x.push(x);
	row.w.push(w);
}

/*
 * Boxes of @tree zoomed to @zoom in @width pixels: { rows }, where rows[depth] has the arrays node, x and w, from left to
 * right: there may be 100,000 boxes. Nodes between the root and @zoom are as wide as all.
 */
export function layOut(tree, zoom, width) {
	const rows = [], all = tree.weight(zoom), scale = width / all;
	for (const node of zoom ? [0, ...tree.path(tree.parent[zoom])] : [])
		put(rows[rows.push(newRow()) - 1], node, 0, width);
	if (!(all > 0))
		return { rows };
	let row = newRow();
	for (put(row, zoom, 0, width); row.node.length; row = below(tree, row, scale))
		rows.push(row);
	return { rows };
}

function below(tree, row, scale) {
	const next = newRow();
	let x = 0;
	const add = (child) => {
		const w = tree.weight(child) * scale;
		if (w >= NARROWEST)
			put(next, child, x, w);
		x += w;
	};
	for (let i = 0; i < row.node.length; i++) {
		x = row.x[i];
		tree.eachChild(row.node[i], add);
	}
	return next;
}

// The node whose box in the row at @depth holds @x, -1 if none does.
export function nodeIn(layout, depth, x) {
	const row = layout.rows[depth];
	if (!row)
		return -1;
	let low = 0, high = row.node.length;
	while (low < high) {
		const middle = low + high >> 1;
		if (row.x[middle] + row.w[middle] <= x)
			low = middle + 1;
		else
			high = middle;
	}
	return low < row.node.length && row.x[low] <= x ? row.node[low] : -1;
}

// The box of @node as { x, w }, null if it is not seen.
export function findBox(layout, tree, node) {
	const row = layout.rows[tree.depth[node]], at = row ? row.node.indexOf(node) : -1;
	return at < 0 ? null : { x: row.x[at], w: row.w[at] };
}
