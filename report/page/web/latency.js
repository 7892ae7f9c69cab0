// SPDX-License-Identifier: Apache-2.0
// Waits by when they ended and how long they took, as a heat map, and beside it how many there were of each length.

const LATENCY_NAMES = 80, LATENCY_HISTOGRAM = 260, LATENCY_CELL = 6, LATENCY_LEAST = 2 ** 10; // pixels; shorter waits than LATENCY_LEAST ns are in the first row

// Waits of @lanes that end in @range, of @kind unless it is "": [end, length]; those that may be joined are left out.
export function waitsOf(d, lanes, range, kind) {
	const waits = [];
	for (const lane of lanes) {
		for (let at = lane.first; at < lane.end; at++) {
			const end = d.from[at] + d.len[at], name = d.kinds[d.kind[at]];
			if (d.len[at] >= d.step && end >= range[0] && end <= range[1] && d.kind[at] < d.kinds.length - 1 && name !== "on a CPU" && (!kind || name === kind))
				waits.push([end, d.len[at]]);
		}
	}
	return waits;
}

export function latencyRow(ns) {
	return Math.max(0, Math.floor(Math.log2(Math.max(ns, 1) / LATENCY_LEAST)));
}

function latencyTitle(row) {
	const ns = LATENCY_LEAST * 2 ** row;
	return ns < 1e6 ? Math.round(ns / 1e3) + " us" : ns < 1e9 ? Math.round(ns / 1e6) + " ms" : Math.round(ns / 1e9) + " s";
}

export function drawLatency(canvas, d, lanes, range, kind, { text, muted, scale }) {
	const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight, c = canvas.getContext("2d");
	const waits = waitsOf(d, lanes, range, kind), rows = Math.max(1, ...waits.map((wait) => latencyRow(wait[1]) + 1)), row = (height - 16) / rows;
	const right = Math.max(width - LATENCY_HISTOGRAM, width / 2), columns = Math.max(1, Math.floor((right - LATENCY_NAMES) / LATENCY_CELL)), cells = new Float64Array(columns * rows), counts = new Float64Array(rows);
	for (const [end, len] of waits) {
		cells[latencyRow(len) * columns + Math.min(columns - 1, Math.floor((end - range[0]) / (range[1] - range[0]) * columns))]++;
		counts[latencyRow(len)]++;
	}
	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(height * ratio);
	c.scale(ratio, ratio);
	c.font = "11px system-ui, sans-serif";
	c.textBaseline = "middle";
	const most = Math.log(1 + Math.max(...cells, 1)), mostCounts = Math.max(...counts, 1);
	for (let i = 0; i < rows; i++) {
		const y = 16 + (rows - 1 - i) * row;
		c.fillStyle = muted;
		if (row > 9 || i % 2 === 0)
			c.fillText(latencyTitle(i), 0, y + row / 2);
		for (let x = 0; x < columns; x++) {
			const value = cells[i * columns + x];
			c.fillStyle = scale[value ? Math.max(1, Math.min(5, Math.ceil(Math.log(1 + value) / most * 5))) : 0];
			c.fillRect(LATENCY_NAMES + x * LATENCY_CELL, y, LATENCY_CELL - 1, row - 1);
		}
		c.fillStyle = scale[4];
		c.fillRect(right + 8, y, counts[i] / mostCounts * (width - right - 90), row - 1);
		c.fillStyle = text;
		if (counts[i] && row > 9)
			c.fillText(counts[i].toLocaleString("en"), right + 12 + counts[i] / mostCounts * (width - right - 90), y + row / 2);
	}
	c.fillStyle = muted;
	const captions = d.step ? ["longest above; over the same time as the lanes; shorter ones were joined and are not here, 'preport waits' has all", "'preport waits' has the shorter ones"]
		: ["longest above; over the same time as the lanes", "longest above"];
	c.fillText(captions.find((caption) => c.measureText(caption).width < right - LATENCY_NAMES) ?? "", LATENCY_NAMES, 7);
	c.fillText("waits", right + 8, 7);
	canvas.setAttribute("aria-label", `${waits.length} waits by length: ` + [...counts].map((n, i) => n ? `${n} from ${latencyTitle(i)}` : "").filter(Boolean).join(", "));
}
