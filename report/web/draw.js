// SPDX-License-Identifier: Apache-2.0
// Boxes on a canvas.
import { textOn } from "./colours.js";
import { fit } from "./names.js";
import { ROW } from "./boxes.js";

export const FONT = "12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";

/*
 * @what: layout, tree, theme, fill(node), forms(node) (names, longest first), match (by frame, or null), focus (a node or
 * -1), y(depth) (top of a row), height.
 */
export function drawBoxes(context, what) {
	const { layout, tree, theme, match } = what;
	context.font = FONT;
	context.textBaseline = "middle";
	const letter = context.measureText("mmmmmmmmmm").width / 10;
	for (let depth = 0; depth < layout.rows.length; depth++) {
		const y = what.y(depth);
		if (y + ROW < 0 || y > what.height)
			continue;
		for (const box of layout.rows[depth]) {
			const hit = match && match[tree.frame[box.node]];
			const fill = hit ? theme.match : what.fill(box.node);
			context.globalAlpha = match && !hit ? theme.dim + 0.35 : 1;
			context.fillStyle = fill;
			context.fillRect(box.x, y, Math.max(box.w - (box.w > 3 ? 1 : 0.2), 0.4), ROW - 1);
			const label = fit(what.forms(box.node), Math.floor((box.w - 7) / letter));
			if (!label)
				continue;
			context.globalAlpha = 1;
			context.fillStyle = match && !hit ? theme.text : textOn(fill);
			context.fillText(label, box.x + 3, y + ROW / 2);
		}
	}
	context.globalAlpha = 1;
	drawRing(context, what);
}

function drawRing(context, { layout, tree, theme, focus, y }) {
	const box = focus >= 0 && layout.rows[tree.depth[focus]]?.find((one) => one.node === focus);
	if (!box)
		return;
	const width = Math.max(box.w, 4), top = y(tree.depth[focus]);
	context.lineWidth = 2;
	context.strokeStyle = theme.ring;
	context.strokeRect(box.x, top, width - 1, ROW - 1);
}
