// SPDX-License-Identifier: Apache-2.0
// How sure a share is (the same as report/print/stats.c), and numbers for people.

const Z = 1.959963984540054;

// Wilson's interval at 95 % of @p after @n draws.
function wilson(p, n) {
	const z = Z * Z / n, middle = (p + z / 2) / (1 + z);
	const half = Z / (1 + z) * Math.sqrt((p * (1 - p) + z / 4) / n);
	return { share: p, low: Math.max(Math.min(middle - half, p), 0), high: Math.min(Math.max(middle + half, p), 1) };
}

// Of a whole of which a part was measured: only the rest may be more or less.
function partlyMeasured(p, part, whole) {
	const open = whole.w - whole.e, squares = whole.q - whole.x;
	if (!(open > whole.w * 1e-9 && squares > 0))
		return { share: p, low: p, high: p, exact: true };
	const q = Math.min(Math.max((part.q - part.x) / squares, 0), 1), s = wilson(q, open * open / squares), scale = open / whole.w;
	return { share: p, low: Math.max(p - (q - s.low) * scale, part.e / whole.w), high: Math.min(p + (s.high - q) * scale, (part.e + open) / whole.w) };
}

// The share of @part in @whole, each { w, n, q, e, x }: weight, samples, sum of the squares of the weights; of those, what was measured
// (0 if left out). The interval is Wilson's for Kish's effective number of samples.
export function share(part, whole) {
	if (!(whole.w > 0))
		return { share: 0, low: 0, high: 1 };
	const p = Math.min(part.w / whole.w, 1);
	if (whole.e > 0)
		return partlyMeasured(p, part, whole);
	return wilson(p, whole.q === 0 ? whole.n : whole.w * whole.w / whole.q);
}

// @b - @a with its interval (Newcombe, hybrid score).
export function difference(a, b) {
	const delta = b.share - a.share;
	return { delta, low: delta - Math.hypot(b.share - b.low, a.high - a.share), high: delta + Math.hypot(b.high - b.share, a.share - a.low) };
}

// "12.34 %"; small shares keep two digits that say something.
export function percent(value) {
	const p = value * 100;
	return p.toFixed(p && Math.abs(p) < 0.01 ? 4 : 2) + " %";
}

export function signedPercent(value) {
	return (value > 0 ? "+" : value < 0 ? "\u2212" : "\u00b1") + percent(Math.abs(value));
}

export function interval(s) {
	if (s.exact)
		return "exact";
	return s.low >= 0 ? (s.low * 100).toFixed(2) + "\u2013" + (s.high * 100).toFixed(2) : "?";
}

export function count(value) {
	return Math.round(value).toLocaleString("en-US");
}

// NaN: not known.
export function samples(sums) {
	return sums.q >= 0 ? count(sums.n) : "?";
}

// "1,234" or "1.23 M": as many digits as can be meant.
function large(value) {
	const power = value < 1e5 ? 0 : Math.min(5, Math.floor(Math.log10(value) / 3));
	return power ? Number((value / 1000 ** power).toPrecision(3)) + " " + " kMGTP"[power] : count(value);
}

// A weight in the event's unit.
export function amount(value, unit) {
	if (unit !== "ns")
		return large(value) + (unit ? " " + unit : "");
	if (value >= 1e9)
		return (value / 1e9).toFixed(value >= 1e11 ? 0 : 2) + " s";
	return value >= 1e6 ? (value / 1e6).toFixed(1) + " ms" : (value / 1e3).toFixed(1) + " \u00b5s";
}
