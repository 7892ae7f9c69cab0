// SPDX-License-Identifier: Apache-2.0
// The picture that is shown, as a file: SVG and PNG with title, facts and legend.
import { offShare, textOn } from "./colours.js";
import { fit, LABEL_MIN } from "./names.js";
import { ROW } from "./boxes.js";
import { drawBoxes, FONT } from "./draw.js";

const HEAD = 52, FOOT = 28, MARGIN = 10, LETTER = 7.3;
const CANVAS_MAX = 32000; // pixels that browsers allow; a higher picture is drawn smaller

export function escapeMarkup(text) {
	return text.replace(/[<>&"']/g, (c) => "&#" + c.charCodeAt(0) + ";");
}

// @what as for drawBoxes(), and title, facts, legend, width, rootOnTop.
export function toSvg(what) {
	const { layout, tree, theme } = what, rows = layout.rows.length;
	const height = HEAD + rows * ROW + FOOT, width = what.width + 2 * MARGIN;
	const top = (depth) => HEAD + (what.rootOnTop ? depth : rows - 1 - depth) * ROW;
	const out = [`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="ui-monospace,DejaVu Sans Mono,Menlo,Consolas,monospace" font-size="12">`,
		`<rect width="100%" height="100%" fill="${theme.ground}"/>`,
		`<text x="${MARGIN}" y="21" font-size="15" font-weight="bold" fill="${theme.text}">${escapeMarkup(fit([what.title], Math.floor(what.width / 9.2)))}</text>`,
		`<text x="${MARGIN}" y="41" fill="${theme.muted}">${escapeMarkup(what.facts)}</text>`];
	layout.rows.forEach((row, depth) => row.node.forEach((node, i) => {
		const x = row.x[i] + MARGIN, w = row.w[i], y = top(depth), columns = Math.floor((w - 7) / LETTER);
		const hit = what.match && what.match[tree.frame[node]], fill = hit ? theme.match : what.fill(node);
		const label = columns < LABEL_MIN ? "" : fit(what.forms(node), columns), off = what.twoHues && !hit ? w * offShare(tree, node) : 0;
		out.push(`<g><title>${escapeMarkup(what.tip(node))}</title><rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(w - 0.7, 0.3).toFixed(1)}" height="${ROW - 1}" fill="${fill}"/>` +
			(off > 0.7 ? `<rect x="${(x + w - off).toFixed(1)}" y="${y}" width="${(off - 0.7).toFixed(1)}" height="${ROW - 1}" fill="${theme.modules[1]}"/>` : "") +
			(label ? `<text x="${(x + 3).toFixed(1)}" y="${y + 13}" fill="${textOn(fill)}">${escapeMarkup(label)}</text>` : "") + "</g>");
	}));
	let x = MARGIN;
	for (const [colour, text] of what.legend) {
		out.push(`<rect x="${x}" y="${height - 20}" width="12" height="12" fill="${colour}"/><text x="${x + 16}" y="${height - 10}" fill="${theme.text}">${escapeMarkup(text)}</text>`);
		x += 28 + text.length * LETTER;
	}
	return out.join("\n") + "\n</svg>\n";
}

export function toPng(what) {
	const rows = what.layout.rows.length, width = what.width + 2 * MARGIN;
	const height = HEAD + rows * ROW + FOOT, scale = Math.min(2, CANVAS_MAX / height);
	const canvas = document.createElement("canvas"), context = canvas.getContext("2d");
	canvas.width = width * scale;
	canvas.height = Math.floor(height * scale);
	context.scale(scale, scale);
	context.fillStyle = what.theme.ground;
	context.fillRect(0, 0, width, height);
	context.fillStyle = what.theme.text;
	context.font = "bold 15px system-ui, sans-serif";
	context.fillText(what.title, MARGIN, 21, what.width);
	context.font = FONT;
	context.fillStyle = what.theme.muted;
	context.fillText(what.facts, MARGIN, 41, what.width);
	let x = MARGIN;
	for (const [colour, text] of what.legend) {
		context.fillStyle = colour;
		context.fillRect(x, height - 20, 12, 12);
		context.fillStyle = what.theme.text;
		context.fillText(text, x + 16, height - 10);
		x += 28 + text.length * LETTER;
	}
	context.translate(MARGIN, 0);
	drawBoxes(context, { ...what, height, focus: -1, y: (depth) => HEAD + (what.rootOnTop ? depth : rows - 1 - depth) * ROW });
	return new Promise((done) => canvas.toBlob(done, "image/png"));
}

export function download(blob, name) {
	const link = document.createElement("a");
	link.href = URL.createObjectURL(blob);
	link.download = name;
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
