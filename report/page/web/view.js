// SPDX-License-Identifier: Apache-2.0
// What the page says in words: head, panel, tables, legend. Names come from hostile places and become text nodes only.
import { amount, count, interval, percent, samples, share, signedPercent } from "./stats.js";
import { changeAt, frameNoise, judgeRows } from "./noise.js";
import { KIND_NAMES } from "./colours.js";
import { KIND } from "./tree.js";

export const $ = (id) => document.getElementById(id);

// An element with attributes, listeners (on...), and children (strings become text).
export function make(tag, attributes = {}, ...children) {
	const element = document.createElement(tag);
	for (const [key, value] of Object.entries(attributes)) {
		if (key.startsWith("on"))
			element.addEventListener(key.slice(2), value);
		else if (value !== null && value !== false)
			element.setAttribute(key, value);
	}
	element.append(...children.filter((child) => child !== null));
	return element;
}

export function options(select, values, value) {
	select.replaceChildren(...values.map(([key, text]) => make("option", { value: key }, text)));
	select.value = value;
}

export function showHead(p, set, other, tree) {
	const totals = tree.totals.map((_, side) => tree.total(0, side));
	const meta = p.meta, lost = meta.lostKernel + meta.lostRecorder, event = p.sets[set];
	const rate = event.rate ? event.isFreq ? ` at ${count(event.rate)} Hz` : `, one in ${count(event.rate)}` : "";
	$("title").textContent = document.title = meta.title;
	$("facts").replaceChildren(make("b", {}, other >= 0 ? event.name + " and " + p.sets[other].name : event.name), rate + " \u00b7 ",
		make("b", {}, totals.map((side) => samples(side)).join(" and ") + " samples"), ", " + totals.map((side) => amount(side.w, event.unit)).join(" and ") + " \u00b7 ",
		make("b", { class: lost ? "bad" : "" }, count(lost) + " lost"),
		` \u00b7 ${meta.duration.toFixed(2)} s` + (meta.host ? " on " + meta.host : "") + (meta.kernel ? ", Linux " + meta.kernel : ""));
	$("trust").replaceChildren("Trust: " + meta.trust + " \u00b7 intervals are 95 %" + (tree.sides === 2 ? `, colours of ${count(frameNoise(tree).tested)} frames together: a false alarm in fewer than 5 % of pictures` : "") + (meta.filter ? " \u00b7 only " + meta.filter : ""),
		meta.whole ? "" : make("span", { class: "bad" }, " \u00b7 the recording has no end or is damaged"));
}

// "12.30 % (11.90\u201312.70)"
function shareText(part, whole) {
	const s = share(part, whole);
	return `${percent(s.share)} (${interval(s)})`;
}

function changeText(d) {
	return `${signedPercent(d.delta)} (${signedPercent(d.low)} \u2026 ${signedPercent(d.high)})` + (d.sure ? "" : ", no more than noise");
}

const fact = (name, value) => make("div", {}, make("dt", {}, name), make("dd", {}, value));

// What is known of a node: [name, text] pairs.
export function nodeFacts(tree, node, zoom, unit) {
	const all = tree.total(0), total = tree.total(node), facts = [], self = tree.self(node);
	facts.push(["Total", `${shareText(total, all)}, ${amount(total.w, unit)}, n ${samples(total)}`]);
	if (tree.sides === 2) {
		facts[0][0] = "A";
		facts.push(["B", `${shareText(tree.total(node, 1), tree.total(0, 1))}, n ${samples(tree.total(node, 1))}`]);
		facts.push(["B \u2212 A", changeText(changeAt(tree, node))]);
		return facts;
	}
	facts.push([tree.lists ? "Not called further" : "Self", `${shareText(self, all)}, ${amount(self.w, unit)}, n ${samples(self)}`]);
	if (zoom)
		facts.push(["Of the zoomed", percent(share(total, tree.total(zoom)).share)]);
	return facts;
}

export function placeOf(tree, node) {
	const p = tree.p, mod = tree.module(node);
	if (mod < 0)
		return node ? KIND_NAMES[tree.kind[node]] : "all samples";
	const module = p.meta.modules[mod], frame = tree.frame[node];
	const file = frame < p.nfunctions && p.file[frame] ? ` \u00b7 ${p.file[frame]}${p.line[frame] ? ":" + p.line[frame] : ""}` : "";
	return `${KIND_NAMES[tree.kind[node]]} \u00b7 ${module[1] || module[0]}${file}`;
}

export function showPanel(tree, node, zoom, unit) {
	$("panel").replaceChildren(make("div", { class: "name" }, tree.name(node)),
		make("div", { class: "place" }, placeOf(tree, node)),
		make("dl", {}, ...nodeFacts(tree, node, zoom, unit).map(([name, text]) => fact(name, text))));
	dispatchEvent(new CustomEvent("frame", { detail: { panel: $("panel"), name: tree.name(node), module: tree.p.meta.modules[tree.module(node)]?.[0] } }));
}

export function showLegend(entries) {
	$("legend").replaceChildren(...entries.map(([colour, text]) => {
		const swatch = make("i");
		swatch.style.background = colour;
		return make("span", { role: "listitem" }, swatch, text);
	}));
}

// ---- tables ----

const COLUMNS = [["self", "Self"], ["total", "Total"], ["n", "n"], ["name", "Function"]];
// "wide": left out where there is no room.
const TWO_SIDES = [["change", "B \u2212 A"], ["self", "Self A", "wide"], ["total", "Total A"], ["n", "n A", "wide"],
	["other", "Total B"], ["n-other", "n B", "wide"], ["name", "Function"]];
const ROWS_MAX = 500;

function sortRows(rows, sort) {
	const key = sort.replace(/^-/, ""), sign = sort.startsWith("-") ? -1 : 1;
	const value = { self: (row) => row.self[0].w, total: (row) => row.total[0].w, n: (row) => row.total[0].n,
		other: (row) => row.total[1].w, "n-other": (row) => row.total[1].n, change: (row) => row.change.delta }[key];
	return rows.sort((a, b) => (value ? sign * (value(a) - value(b)) : 0) || (key === "name" ? sign : 1) * (a.text < b.text ? -1 : a.text > b.text ? 1 : 0));
}

function shareCell(sums, whole, room = "") {
	const s = share(sums, whole), cell = make("td", { class: "bar " + room, title: interval(s) + (s.exact ? "" : " %") }, percent(s.share));
	cell.style.setProperty("--part", (s.share * 100).toFixed(1) + "%");
	return cell;
}

/*
 * @rows of sumFunctions(); pick(frame) and resort(sort) are called for clicks. The row that comes first.
 */
export function showFunctions(tree, rows, { sort, filter, selected, pick, resort }) {
	const all = tree.total(0), sides = tree.sides, columns = sides === 2 ? TWO_SIDES : COLUMNS;
	if (sides === 2 && rows.length && !rows[0].change)
		judgeRows(tree, rows);
	const found = sortRows(rows.filter((row) => !filter || filter.test(row.text)), sort);
	const heads = columns.map(([key, title, room = ""]) => {
		const mine = sort.replace(/^-/, "") === key, down = sort.startsWith("-");
		return make("th", { class: key + " " + room, scope: "col", "aria-sort": mine ? down ? "descending" : "ascending" : null },
			make("button", { onclick: () => resort(mine ? (down ? "" : "-") + key : (key === "name" ? "" : "-") + key) }, title + (mine ? down ? " \u25be" : " \u25b4" : "")));
	});
	const number = (sums, room = "") => make("td", { class: "dim " + room }, samples(sums)), wide = sides === 2 ? "wide" : "";
	const body = found.slice(0, ROWS_MAX).map((row) => make("tr", { "data-frame": row.frame, "aria-selected": row.frame === selected ? "true" : null },
		sides === 2 ? make("td", { class: row.change.sure ? "" : "dim" }, signedPercent(row.change.delta)) : null,
		shareCell(row.self[0], all, wide), shareCell(row.total[0], all), number(row.total[0], wide),
		...(sides === 2 ? [shareCell(row.total[1], tree.total(0, 1)), number(row.total[1], wide)] : []),
		make("td", { class: "name" }, make("button", { title: row.text.slice(0, 2000), onclick: () => pick(row.frame) }, row.text))));
	$("functions").replaceChildren(make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...body));
	$("rows").textContent = `${count(found.length)} functions` + (found.length > ROWS_MAX ? `, the first ${ROWS_MAX} shown` : "");
	return found[0];
}

// One list of neighbours() as @side sees it, shares of the function's total there.
function neighbourTable(title, rows, side, whole, pick) {
	const all = rows.filter((row) => row.sums[side].n).sort((a, b) => b.sums[side].w - a.sums[side].w || (a.text < b.text ? -1 : 1));
	const body = all.slice(0, ROWS_MAX).map((row) => make("tr", {},
		shareCell(row.sums[side], whole), make("td", { class: "dim" }, samples(row.sums[side])),
		make("td", { class: "name" }, make("button", { disabled: row.frame < 0 ? "" : null, onclick: () => pick(row.frame) }, row.text))));
	return make("table", {}, make("caption", {}, title + (all.length > ROWS_MAX ? `: the first ${ROWS_MAX} of ${count(all.length)}` : "")), make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Share"),
		make("th", { scope: "col" }, "n"), make("th", { scope: "col", class: "name" }, "Function"))), make("tbody", {}, ...body));
}

export function showNeighbours(tree, row, { callers, callees }, pick) {
	const name = row.text.length > 300 ? row.text.slice(0, 300) + "\u2026" : row.text;
	const parts = row.total.flatMap((total, side) => {
		const all = tree.total(0, side), which = tree.sides === 2 ? " in " + "AB"[side] : "";
		return [make("p", {}, `Self ${shareText(row.self[side], all)}, total ${shareText(total, all)}, n ${samples(total)}${which}`),
			...(total.n ? [neighbourTable("Callers" + which, callers, side, total, pick), neighbourTable("Callees" + which, callees, side, total, pick)] : [])];
	});
	$("around").replaceChildren(make("h2", { class: "name" }, name), ...parts);
}

export function isLabel(tree, node) {
	return tree.kind[node] === KIND.group || tree.kind[node] === KIND.stop;
}
