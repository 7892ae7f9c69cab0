// SPDX-License-Identifier: Apache-2.0
// Boxes on a canvas.
import { offShare, textOn } from "./colours.js";
import { fit, LABEL_MIN } from "./names.js";
import { findBox, ROW } from "./boxes.js";

export const FONT = "12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";

/*
 * @what: layout, tree, theme, fill(node), forms(node) (names, longest first), twoHues (the part off the CPU is painted at a box's right), match (by frame, or null), focus (a node or
 * -1), y(depth) (top of a row), height.
 */
export function drawBoxes(context, what) {
	context.font = FONT;
	context.textBaseline = "middle";
	const letter = context.measureText("mmmmmmmmmm").width / 10;
	what.layout.rows.forEach((row, depth) => {
		const y = what.y(depth);
		if (y + ROW >= 0 && y <= what.height)
			drawRow(context, what, row, y, letter);
	});
	context.globalAlpha = 1;
	drawRing(context, what);
}

// Of boxes that are narrower than a pixel one is drawn a pixel, a hit before others. Names are made only where one fits.
function drawRow(context, { tree, theme, match, fill, forms, twoHues }, row, y, letter) {
	let pixel = -1, pixelHit = false;
	for (let i = 0; i < row.node.length; i++) {
		const node = row.node[i], x = row.x[i], w = row.w[i], hit = match !== null && match[tree.frame[node]] === 1;
		if (w < 1 && Math.floor(x) === pixel && (pixelHit || !hit))
			continue;
		pixel = w < 1 ? Math.floor(x) : -1;
		pixelHit = hit;
		const colour = hit ? theme.match : fill(node), columns = Math.floor((w - 7) / letter);
		context.globalAlpha = match && !hit ? theme.dim + 0.35 : 1;
		context.fillStyle = colour;
		const gap = w > 3 ? 1 : 0.2, off = twoHues && !hit ? w * offShare(tree, node) : 0;
		context.fillRect(x, y, Math.max(w - gap, 0.4), ROW - 1);
		if (off > gap) {
			context.fillStyle = theme.modules[1];
			context.fillRect(x + w - off, y, off - gap, ROW - 1);
		}
		const label = columns < LABEL_MIN ? "" : fit(forms(node), columns);
		if (!label)
			continue;
		context.globalAlpha = 1;
		context.fillStyle = match && !hit ? theme.text : textOn(colour);
		context.fillText(label, x + 3, y + ROW / 2);
	}
}

function drawRing(context, { layout, tree, theme, focus, y }) {
	const box = focus >= 0 && findBox(layout, tree, focus);
	if (!box)
		return;
	context.lineWidth = 2;
	context.strokeStyle = theme.ring;
	context.strokeRect(box.x, y(tree.depth[focus]), Math.max(box.w, 4) - 1, ROW - 1);
}
