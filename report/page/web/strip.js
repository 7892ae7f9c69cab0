// SPDX-License-Identifier: Apache-2.0
// The time strip: samples per CPU or thread over time as a heat map, on which one or two windows are chosen.

export const LANE = 12;
const LANES_MAX = 16, LABEL = 92, CELL = 5; // a cell's width in pixels

// What the strip shows of @set: { lanes: [{ name, bins: Float64Array, sum }], most }.
export function makeLanes(p, set, by) {
	const { row, bin, count, weight } = p.sets[set], bins = p.meta.bins, lanes = new Map();
	const key = by === "cpu" ? (i) => p.row.cpu[i] : (i) => p.row.thread[i];
	for (let i = 0; i < row.length; i++) {
		const id = key(row[i]);
		let lane = lanes.get(id);
		if (!lane)
			lanes.set(id, lane = { id, bins: new Float64Array(bins), sum: 0 });
		if (bin[i] < bins)
			lane.bins[bin[i]] += weight[i] * count[i];
		lane.sum += weight[i] * count[i];
	}
	let list = [...lanes.values()];
	if (list.length > LANES_MAX) {
		list.sort((x, y) => y.sum - x.sum || x.id - y.id);
		const rest = { id: Infinity, bins: new Float64Array(bins), sum: 0, others: list.length - LANES_MAX + 1 };
		for (const lane of list.splice(LANES_MAX - 1))
			lane.bins.forEach((value, i) => { rest.bins[i] += value; });
		list.push(rest);
	}
	if (by === "cpu")
		list.sort((x, y) => x.id - y.id);
	for (const lane of list)
		lane.name = laneName(p, by, lane);
	return list;
}

function laneName(p, by, lane) {
	if (lane.others)
		return "other " + lane.others;
	if (by === "cpu")
		return lane.id < 0 ? "no CPU" : "CPU " + lane.id;
	const thread = p.meta.threads[lane.id];
	return thread[1] === null ? thread[2] : thread[2] + " " + thread[1];
}

/*
 * Where things are on a strip @width pixels wide that shows bins [from, to).
 */
export class StripScale {
	constructor(width, from, to) {
		this.from = from;
		this.to = to;
		this.left = Math.min(LABEL, width / 4);
		this.width = Math.max(width - this.left, 1);
	}

	x(bin) {
		return this.left + (bin - this.from) / (this.to - this.from) * this.width;
	}

	bin(x) {
		const bin = this.from + (x - this.left) / this.width * (this.to - this.from);
		return Math.max(this.from, Math.min(this.to, Math.round(bin)));
	}
}

// @windows: [{ range: [from, to), colour, name }].
export function drawStrip(context, lanes, scale, theme, windows, seconds) {
	const height = lanes.length * LANE;
	context.font = "11px system-ui, sans-serif";
	context.textBaseline = "middle";
	const columns = Math.ceil(scale.width / CELL), cells = lanes.map((lane) => columnsOf(lane, scale, columns));
	const most = Math.max(...cells.map((cell) => Math.max(...cell)), 1e-9);
	lanes.forEach((lane, i) => {
		context.fillStyle = theme.text;
		context.fillText(lane.name, 0, i * LANE + LANE / 2, scale.left - 6);
		cells[i].forEach((value, x) => {
			const level = value ? Math.min(5, 1 + Math.floor(value / most * 4.999)) : 0;
			context.fillStyle = theme.strip[level];
			context.fillRect(scale.left + x * CELL, i * LANE, CELL - 1, LANE - 1);
		});
	});
	drawAxis(context, scale, height, theme, seconds);
	for (const { range, colour, name } of windows)
		drawWindow(context, scale.x(range[0]), scale.x(range[1]), height, colour, name);
}

// Weight a bin in each column of cells: bins wider than a cell fill several, narrower ones share one.
function columnsOf(lane, scale, columns) {
	const values = new Float64Array(columns), per = (scale.to - scale.from) / scale.width * CELL;
	for (let x = 0; x < columns; x++) {
		const from = Math.floor(scale.from + x * per), to = Math.min(scale.to, Math.max(from + 1, Math.floor(scale.from + (x + 1) * per)));
		for (let bin = from; bin < to; bin++)
			values[x] += lane.bins[bin];
		values[x] /= Math.max(to - from, 1);
	}
	return values;
}

function drawAxis(context, scale, height, theme, seconds) {
	const span = seconds(scale.to) - seconds(scale.from), rough = span / Math.max(scale.width / 90, 1);
	const power = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].find((one) => one * power >= rough) * power;
	const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
	context.fillStyle = theme.muted;
	for (let tick = Math.ceil(seconds(scale.from) / step) * step; tick <= seconds(scale.to) + 1e-9; tick += step) {
		const x = scale.left + (tick - seconds(scale.from)) / span * scale.width;
		context.fillRect(x, height, 1, 4);
		context.textAlign = x > scale.left + scale.width - 24 ? "right" : "left";
		context.fillText(tick.toFixed(digits) + " s", x + (context.textAlign === "left" ? 3 : -3), height + 8);
	}
	context.textAlign = "left";
}

function drawWindow(context, from, to, height, colour, name) {
	context.strokeStyle = colour;
	context.fillStyle = colour;
	context.lineWidth = 2;
	context.globalAlpha = 0.18;
	context.fillRect(from, 0, Math.max(to - from, 2), height);
	context.globalAlpha = 1;
	context.strokeRect(from, 1, Math.max(to - from, 2), height - 2);
	context.font = "bold 11px system-ui, sans-serif";
	if (name)
		context.fillText(name, from + 4, 8);
}
