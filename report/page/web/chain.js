// SPDX-License-Identifier: Apache-2.0
// What waits were really for: what the thread that ended a wait did meanwhile, and so on, as 'preport waits THREAD' has it
// (report/view/wait_chain.h). Only what lanes show counts: of a thread that had not begun, nothing.
import { lengthText, spanAt } from "./spans.js";
import { count, percent } from "./stats.js";
import { make } from "./view.js";

const CHAIN_DEPTH = 16, CHAIN_STEPS = 1000000, CHAIN_ROWS = 300; // rows below each other, spans that are looked at, rows shown

function addToChain(d, parent, at, ns) {
	const comm = d.lanes[d.laneOf[at]].comm, key = [d.kind[at], d.func[at], comm].join();
	let row = parent.below.get(key);
	if (!row)
		parent.below.set(key, row = { depth: parent.depth + 1, comm, kind: d.kind[at], func: d.func[at], waits: 0, ns: 0, longest: 0, at, below: new Map() });
	row.waits++;
	row.ns += ns;
	if (ns > row.longest)
		[row.longest, row.at] = [ns, at];
	return row;
}

// @row is of span @at of @d, of which the time from @from to @to counts. @path: the lanes above.
function followChain(d, row, at, from, to, path, all) {
	const waker = d.ended.has(d.kind[at]) ? d.waker[at] - 1 : -1, here = [...path, d.laneOf[at]];
	if (waker < 0 || here.length >= CHAIN_DEPTH || here.includes(waker))
		return;
	const lane = d.lanes[waker], first = spanAt(d, lane, from);
	let next = first >= 0 ? first : lane.first;
	for (; next < lane.end && d.from[next] < to && all.steps < CHAIN_STEPS; next++) {
		const begin = Math.max(from, d.from[next]), end = Math.min(to, d.from[next] + d.len[next]);
		if (end <= begin)
			continue;
		all.steps++;
		followChain(d, addToChain(d, row, next, end - begin), next, begin, end, here, all);
	}
}

/*
 * The chains of the waits @spans: { rows, waits, ns, cut }; a row is { depth, comm, kind, func, waits, ns, longest, at }, before those
 * below it, of one depth most time first; at: the longest.
 */
export function chainsOf(d, spans) {
	const root = { depth: -1, below: new Map() }, all = { steps: 0, waits: 0, ns: 0, rows: [] };
	for (const at of spans) {
		if (all.steps >= CHAIN_STEPS)
			break;
		all.steps++;
		all.waits++;
		all.ns += d.len[at];
		followChain(d, addToChain(d, root, at, d.len[at]), at, d.from[at], d.from[at] + d.len[at], [], all);
	}
	const put = (row) => {
		for (const one of [...row.below.values()].sort((a, b) => b.ns - a.ns || (a.comm < b.comm ? -1 : 1))) {
			all.rows.push(one);
			put(one);
		}
	};
	put(root);
	return { ...all, cut: all.steps >= CHAIN_STEPS };
}

function chainHint(d, chains, more) {
	const parts = [`${count(chains.waits)} ${chains.waits === 1 ? "wait" : "waits"}, ${lengthText(chains.ns)} in all; below each what the thread that ended it did meanwhile`];
	if (!d.waker.some((one) => one))
		parts.push("who ended waits was not recorded: precord --wakers");
	if (chains.cut)
		parts.push("too many to follow: only the first ones are here");
	if (d.step)
		parts.push("chains end at joined spans");
	if (more > 0)
		parts.push(`${count(more)} more rows`);
	return parts.join("; ");
}

// @chains of chainsOf() as the rows of @table, what there is to say in @hint; pick(at) is called for clicks.
export function showChains(table, hint, d, chains, pick) {
	const titles = ["Share", "Time", "Longest", "Times"];
	const body = chains.rows.slice(0, CHAIN_ROWS).map((row) => {
		const part = row.ns / Math.max(chains.ns, 1), bar = make("td", { class: "bar" }, percent(part)), kind = d.kinds[row.kind], name = d.functions[row.func];
		const text = `${row.comm}: ${name ? `${name} (${kind})` : kind}`, button = make("button", { title: text, onclick: () => pick(row.at) }, text);
		bar.style.setProperty("--part", (part * 100).toFixed(1) + "%");
		button.style.setProperty("margin-left", row.depth * 14 + "px");
		return make("tr", {}, bar, make("td", {}, lengthText(row.ns)), make("td", { class: "dim wide" }, lengthText(row.longest)),
			make("td", { class: "dim wide" }, count(row.waits)), make("td", { class: "name" }, button));
	});
	table.replaceChildren(make("thead", {}, make("tr", {}, ...titles.map((title, i) => make("th", { scope: "col", class: i > 1 ? "wide" : null }, title)),
		make("th", { scope: "col", class: "name" }, "Where it is (what for)"))), make("tbody", {}, ...body));
	hint.textContent = chainHint(d, chains, chains.rows.length - CHAIN_ROWS);
}
