// SPDX-License-Identifier: Apache-2.0
// The page: what the user does becomes state, state becomes a tree, a tree becomes boxes.
import { parseProfile } from "./profile.js";
import { percent, share } from "./stats.js";
import { changeAt } from "./noise.js";
import { steps } from "./names.js";
import { buildTree } from "./tree.js";
import { CallerTree } from "./callers.js";
import { coveredBy, hitsBelow, matchFrames, pattern } from "./search.js";
import { neighbours, sumFunctions } from "./functions.js";
import { legend, moduleColours, painter, THEMES } from "./colours.js";
import { findBox, layOut, nodeIn, ROW } from "./boxes.js";
import { drawBoxes } from "./draw.js";
import { download, toPng, toSvg } from "./picture.js";
import { firstState, LISTS, readHash, writeHash } from "./state.js";
import { TimeStrip } from "./time.js";
import { KEYS, pressKey } from "./keys.js";
import { $, make, nodeFacts, options, placeOf, showFunctions, showHead, showLegend, showNeighbours, showPanel } from "./view.js";

const PAPER = 700; // pixels across
const CRUMBS = 6; // of a deeper path there is no room for names

class App {
	constructor(p) {
		this.p = p;
		this.first = firstState(p);
		this.state = readHash(location.hash, this.first);
		this.forms = [];
		this.focus = 0;
		this.hover = -1;
		this.steps = 0;
		this.time = new TimeStrip(this);
		this.checkState();
		this.listen();
		this.update();
	}

	// Numbers in the URL that this profile does not have.
	checkState() {
		const s = this.state, p = this.p, bins = p.meta.bins;
		if (!p.sets[s.set])
			s.set = this.first.set;
		if (!p.sets[s.other])
			s.other = -1;
		for (const key of ["hide", "fold"])
			s[key] = s[key].filter((mod) => mod < p.nmodules);
		for (const key of ["a", "b"])
			s[key] = s[key].length && s[key][0] < bins ? [s[key][0], Math.min(s[key][1], bins)] : [];
		if (!(s.fn < p.nfunctions + p.nmodules))
			s.fn = -1;
	}

	// ---- state ----

	set(change, push = false) {
		Object.assign(this.state, change);
		const url = writeHash(this.state, this.first) || location.pathname + location.search;
		history[push ? "pushState" : "replaceState"]({ steps: push ? ++this.steps : this.steps }, "", url);
		this.update();
	}

	themeName() {
		return this.state.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
	}

	selections() {
		const s = this.state, bins = this.p.meta.bins, range = (window) => ({ from: window[0] ?? 0, to: window[1] ?? bins });
		const list = [{ set: s.set, ...range(s.a) }];
		if (s.b.length || s.other >= 0)
			list.push({ set: s.other >= 0 ? s.other : s.set, ...range(s.b) });
		return list;
	}

	update() {
		const s = this.state, keep = s.keep.map(pattern).filter(Boolean);
		const key = JSON.stringify([this.selections(), s.by, s.recursion, s.keep, s.hide, s.fold]);
		if (key !== this.treeKey) {
			this.treeKey = key;
			this.tree = buildTree(this.p, {
				selections: this.selections(), by: s.by, recursion: s.recursion, hidden: new Set(s.hide), folded: new Set(s.fold),
				keep: keep.map((regexp) => Uint8Array.from(this.p.name, (name) => regexp.test(name) ? 1 : 0)), order: s.order, width: s.width,
			});
			this.callerTree = this.rows = this.found = null;
		}
		if (s.callers)
			this.callerTree ??= new CallerTree(this.tree, s.order, s.width);
		this.shown = s.callers ? this.callerTree : this.tree;
		if (this.shown.order !== s.order || this.shown.width !== s.width)
			this.shown.resort(s.order, s.width);
		const focus = this.shown === this.focusTree ? this.focus : 0;
		this.zoom = this.nodeAt(s.zoom);
		this.focusTree = this.shown;
		this.focus = focus || this.zoom;
		this.hover = -1;
		this.search();
		this.showControls();
		this.render();
	}

	// ---- zoom: a path of frames, so that it survives another way of looking where it can ----

	code(node) {
		return (this.shown.frame[node] * 8 + this.shown.kind[node]).toString(36);
	}

	pathText(node) {
		return this.shown.path(node).map((one) => this.code(one)).join(".");
	}

	nodeAt(path) {
		let node = 0;
		for (const step of path ? path.split(".") : []) {
			const child = [...this.shown.children(node)].find((one) => this.code(one) === step);
			if (!child)
				break;
			node = child;
		}
		return node;
	}

	zoomTo(node) {
		this.focus = node;
		const zoom = this.pathText(node);
		if (zoom !== this.state.zoom)
			this.set({ zoom }, true);
		else
			this.render();
		this.say(node);
	}

	back() {
		if (history.state?.steps > 0)
			history.back();
		else
			this.zoomTo(this.shown.parent[this.zoom]);
	}

	escape() {
		if (this.state.find) {
			$("find").value = "";
			this.set({ find: "" });
		} else {
			this.zoomTo(0);
		}
	}

	// Leaves are thousands: by name nothing could be read of them.
	turnRound() {
		const callers = 1 - this.state.callers;
		this.set({ callers, order: callers ? "size" : "name", zoom: "" });
	}

	// ---- search ----

	search() {
		const text = this.state.find, regexp = text ? pattern(text) : null;
		this.match = regexp ? matchFrames(this.shown, regexp) : null;
		this.hits = null;
		this.hitAt = -1;
		$("find").setAttribute("aria-invalid", String(Boolean(text) && !regexp));
		let said = "";
		if (text && !regexp) {
			said = "not a regular expression";
		} else if (regexp) {
			const sums = coveredBy(this.tree, matchFrames(this.tree, regexp));
			said = sums.map((sum, i) => (this.tree.sides === 2 ? "AB"[i] + " " : "") + percent(share(sum, this.tree.total(0, i)).share)).join(", ");
			said += " matched";
		}
		$("matched").textContent = said;
		for (const id of ["previous", "next", "only"])
			$(id).disabled = !regexp;
	}

	nextHit(step) {
		if (!this.match)
			return;
		this.hits ??= hitsBelow(this.shown, this.zoom, this.match);
		if (!this.hits.length)
			return this.live("no hit");
		this.hitAt = (this.hitAt + step + this.hits.length + (this.hitAt < 0 && step < 0 ? 1 : 0)) % this.hits.length;
		const at = this.hitAt, hits = this.hits, node = hits[at];
		this.moveTo(node);
		this.live(`hit ${at + 1} of ${hits.length}: ${this.describe(node)}`);
		this.hits = hits;
		this.hitAt = at;
	}

	keepFound() {
		if (this.match)
			this.set({ keep: [...this.state.keep, this.state.find], find: "", zoom: "" });
	}

	// ---- rendering ----

	render() {
		const s = this.state, unit = this.p.sets[s.set].unit;
		document.documentElement.dataset.theme = s.theme;
		this.theme = THEMES[this.themeName()];
		if (this.coloursOf?.tree !== this.tree || this.coloursOf.theme !== this.theme)
			this.coloursOf = { tree: this.tree, theme: this.theme, modules: moduleColours(this.tree, this.theme) };
		this.moduleColours = this.coloursOf.modules;
		this.renderHead();
		$("graph").hidden = $("crumbs").hidden = $("panel").hidden = $("legend").hidden = s.show !== "graph";
		$("table").hidden = s.show === "graph";
		this.time.render();
		this.renderChips();
		if (s.show === "table")
			return this.renderTable();
		this.fill = painter(this.shown, s.colour, this.theme, { modules: this.moduleColours, change: (node) => changeAt(this.shown, node) });
		this.renderLegend();
		this.renderCrumbs();
		this.renderGraph();
		showPanel(this.shown, this.hover >= 0 ? this.hover : this.focus, this.zoom, unit);
	}

	// What did not change is not made anew: each change costs the browser a layout.
	renderHead() {
		const key = this.tree;
		if (key !== this.headOf)
			showHead(this.p, this.state.set, this.state.other, key);
		this.headOf = key;
	}

	renderLegend() {
		const entries = legend(this.shown, this.state.colour, this.theme, this.moduleColours), key = JSON.stringify(entries);
		if (key !== this.legendKey)
			showLegend(entries);
		this.legendKey = key;
		this.legend = entries;
	}

	nameForms(node) {
		const name = this.shown.name(node);
		if (this.state.names === "full")
			return [name];
		const frame = this.shown.frame[node];
		if (frame >= this.p.nfunctions)
			return [name];
		return this.forms[frame] ??= steps(name.slice(0, 4000));
	}

	signed(node) {
		const forms = this.nameForms(node);
		if (this.shown.sides === 1)
			return forms;
		const d = changeAt(this.shown, node), sign = !d.sure ? "= " : d.delta > 0 ? "+ " : "\u2212 ";
		return forms.map((form) => sign + form);
	}

	renderGraph() {
		const box = $("graph"), width = box.clientWidth;
		this.layout = layOut(this.shown, this.zoom, width);
		this.height = Math.max(this.layout.rows.length * ROW + 1, box.clientHeight);
		$("spacer").style.height = this.height + "px";
		const place = this.zoom + " " + this.state.top + " " + this.treeKey;
		if (place !== this.scrolledFor) {
			this.scrolledFor = place;
			box.scrollTop = this.state.top ? 0 : this.height;
		}
		$("canvas").setAttribute("aria-label", `Flame graph, ${this.state.callers ? "callers of leaves" : "callees"}. Arrow keys walk, Enter zooms; the table (t) says the same.`);
		this.paint();
	}

	// The canvas is as large as what is seen of the graph.
	paint() {
		const box = $("graph"), canvas = $("canvas"), ratio = devicePixelRatio || 1, width = box.clientWidth, height = box.clientHeight;
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		canvas.style.width = width + "px";
		canvas.style.height = height + "px";
		this.paintedAt = box.scrollTop;
		const context = canvas.getContext("2d");
		context.scale(ratio, ratio);
		drawBoxes(context, { ...this.picture(), focus: this.focus, height, y: (depth) => this.top(depth) - this.paintedAt });
	}

	top(depth) {
		return this.state.top ? depth * ROW : this.height - (depth + 1) * ROW;
	}

	picture() {
		return {
			layout: this.layout, tree: this.shown, theme: this.theme, fill: this.fill, forms: (node) => this.signed(node), match: this.match, twoHues: this.state.colour === "cpu" && this.shown.sides === 1,
			width: $("graph").clientWidth, title: this.p.meta.title, facts: $("facts").textContent, legend: this.legend,
			rootOnTop: this.state.top === 1, tip: (node) => this.describe(node),
		};
	}

	// All rows, as wide as a page: the canvas is what is seen of them, as wide as the window.
	putOnPaper() {
		if (!$("table").hidden)
			return;
		const svg = toSvg({ ...this.picture(), width: PAPER, layout: layOut(this.shown, this.zoom, PAPER) });
		$("printed").replaceChildren(document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true));
	}

	renderCrumbs() {
		const all = [0, ...this.shown.path(this.zoom)], path = all.length > CRUMBS ? [0, ...all.slice(1 - CRUMBS)] : all;
		$("crumbs").replaceChildren(...path.flatMap((node, i) => [i === 1 && path !== all ? `\u203a ${all.length - CRUMBS} more \u203a` : i ? "\u203a" : "", make("button", { onclick: () => this.zoomTo(node), "aria-current": i === path.length - 1 ? "true" : null },
			this.nameForms(node).find((form) => form.length < 40) ?? this.nameForms(node).at(-1).slice(0, 60))]));
	}

	renderChips() {
		const s = this.state, chip = (text, change) => make("button", { title: "Take it back", onclick: () => this.set(change) }, text + " \u2715");
		const without = (key, i) => ({ [key]: s[key].filter((_, at) => at !== i) });
		$("chips").replaceChildren(...s.keep.map((text, i) => chip("only stacks with " + text, without("keep", i))),
			...s.hide.map((mod, i) => chip("hidden: " + this.p.meta.modules[mod][0], without("hide", i))),
			...s.fold.map((mod, i) => chip("folded: " + this.p.meta.modules[mod][0], without("fold", i))),
			...(s.a.length ? [chip("A " + this.time.rangeText(s.a), { a: [], b: [] })] : []), ...(s.b.length ? [chip("B " + this.time.rangeText(s.b), { b: [] })] : []));
	}

	renderTable() {
		const s = this.state, pick = (frame) => this.set({ fn: frame });
		this.rows ??= sumFunctions(this.tree);
		const filter = s.filter || s.find ? pattern(s.filter || s.find) : null;
		const top = showFunctions(this.tree, this.rows, { sort: s.sort, filter, selected: s.fn, pick, resort: (sort) => this.set({ sort }) });
		const row = this.rows.find((one) => one.frame === s.fn) ?? top;
		if (row)
			showNeighbours(this.tree, row, neighbours(this.tree, row.frame), pick);
	}

	showControls() {
		const s = this.state;
		for (const id of ["by", "colour", "recursion", "order", "names", "top", "theme", "width"])
			$(id).value = s[id];
		$("set").value = s.set;
		if (document.activeElement !== $("find"))
			$("find").value = s.find;
		for (const [id, on] of [["show-graph", s.show === "graph"], ["show-table", s.show === "table"], ["callers", s.callers === 1]])
			$(id).setAttribute("aria-pressed", String(on));
		$("width-label").hidden = this.tree.sides === 1;
		$("colour-label").hidden = !$("width-label").hidden;
		$("event-label").hidden = this.p.sets.length < 2 || s.other >= 0;
		this.time.showControls();
	}

	// ---- saying it ----

	describe(node) {
		const unit = this.p.sets[this.state.set].unit;
		return `${this.shown.name(node).slice(0, 400)}, ${placeOf(this.shown, node)}, ` + nodeFacts(this.shown, node, this.zoom, unit).map((one) => one.join(" ")).join(", ");
	}

	say(node) {
		this.live(this.describe(node));
	}

	live(text) {
		$("live").textContent = text;
	}

	point(node) {
		this.hover = node;
		showPanel(this.shown, node >= 0 ? node : this.focus, this.zoom, this.p.sets[this.state.set].unit);
	}

	// ---- moving about ----

	moveTo(node) {
		this.focus = node;
		let box = findBox(this.layout, this.shown, node);
		if (!box || box.w < 3) {
			const at = this.hitAt, hits = this.hits;
			this.set({ zoom: this.pathText(node) }, true);
			this.hitAt = at;
			this.hits = hits;
			this.focus = node;
			box = findBox(this.layout, this.shown, node);
		}
		const view = $("graph"), top = this.top(this.shown.depth[node]);
		if (top < view.scrollTop || top + ROW > view.scrollTop + view.clientHeight)
			view.scrollTop = top - view.clientHeight / 2;
		this.paint();
		this.point(-1);
	}

	// Arrows follow the picture: towards the root is down when the root is at the bottom.
	walk(key) {
		const tree = this.shown, node = this.focus, rootwards = this.state.top ? "ArrowUp" : "ArrowDown";
		let to = node;
		if (key === rootwards) {
			to = tree.parent[node];
		} else if (key === "ArrowUp" || key === "ArrowDown") {
			to = [...tree.children(node)].reduce((best, one) => best === null || tree.weight(one) > tree.weight(best) ? one : best, null) ?? node;
		} else if (node) {
			const row = [...tree.children(tree.parent[node])], at = row.indexOf(node) + (key === "ArrowRight" ? 1 : -1);
			to = row[at] ?? node;
		}
		this.moveTo(to);
		this.say(to);
	}

	copy(what) {
		const tree = this.shown, node = this.focus;
		const text = what === "name" ? tree.name(node) : tree.path(node).map((one) => tree.name(one)).join("\n");
		navigator.clipboard.writeText(text).then(() => this.live("copied the " + what), () => this.live("the browser does not let this page copy"));
	}

	save(kind) {
		if (this.state.show === "table")
			this.set({ show: "graph" });
		const name = "flame." + kind;
		if (kind === "svg")
			download(new Blob([toSvg(this.picture())], { type: "image/svg+xml" }), name);
		else
			toPng(this.picture()).then((blob) => download(blob, name));
	}

	// ---- listening ----

	listen() {
		const on = (id, event, what) => $(id).addEventListener(event, what), p = this.p, s = this.state;
		for (const [id, values] of Object.entries(LISTS)) {
			options($(id), id === "colour" && !p.hasOff ? values.slice(1) : values, s[id]);
			on(id, "change", () => this.set({ [id]: id === "top" ? Number($(id).value) : $(id).value, ...(id === "by" ? { zoom: "" } : {}) }));
		}
		options($("set"), p.sets.map((set, i) => [i, set.name]), s.set);
		on("set", "change", () => this.set({ set: Number($("set").value) }));
		options($("module"), p.meta.modules.map((mod, i) => [i, mod[0]]).sort((a, b) => a[1] < b[1] ? -1 : 1), 0);
		on("more", "toggle", () => { $("module").value = Math.max(0, this.shown.module(this.focus)); });
		for (const key of ["hide", "fold"])
			on(key, "click", () => this.set({ [key]: [...new Set([...this.state[key], Number($("module").value)])], zoom: "" }));
		on("show-graph", "click", () => this.set({ show: "graph" }));
		on("show-table", "click", () => this.set({ show: "table" }));
		on("callers", "click", () => this.turnRound());
		on("find", "input", () => this.set({ find: $("find").value }));
		on("find", "keydown", (event) => event.key === "Enter" && this.nextHit(event.shiftKey ? -1 : 1));
		on("next", "click", () => this.nextHit(1));
		on("previous", "click", () => this.nextHit(-1));
		on("only", "click", () => this.keepFound());
		on("filter", "input", () => this.set({ filter: $("filter").value }));
		$("filter").value = s.filter;
		for (const [id, what] of [["save-svg", () => this.save("svg")], ["save-png", () => this.save("png")], ["copy-name", () => this.copy("name")],
			["copy-stack", () => this.copy("stack")], ["help", () => $("keys").showModal()]])
			on(id, "click", what);
		$("keys").querySelector("dl").replaceChildren(...KEYS.flatMap(([keys, text]) => [make("dt", {}, keys), make("dd", {}, text)]));
		document.addEventListener("keydown", (event) => pressKey(this, event));
		document.addEventListener("click", (event) => $("more").contains(event.target) || ($("more").open = false));
		addEventListener("popstate", () => this.restore());
		addEventListener("resize", () => this.render());
		addEventListener("beforeprint", () => this.putOnPaper());
		addEventListener("afterprint", () => $("printed").replaceChildren());
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.render());
		this.listenGraph(on);
		this.time.listen(on);
	}

	restore() {
		if (document.getElementById(location.hash.slice(1)))
			return;
		this.state = readHash(location.hash, this.first);
		this.steps = history.state?.steps ?? 0;
		this.checkState();
		this.update();
	}

	nodeUnder(event) {
		const y = event.offsetY + $("graph").scrollTop;
		const depth = this.state.top ? Math.floor(y / ROW) : Math.floor((this.height - y) / ROW);
		return nodeIn(this.layout, depth, event.offsetX);
	}

	listenGraph(on) {
		on("canvas", "mousemove", (event) => this.point(this.nodeUnder(event)));
		on("canvas", "mouseleave", () => this.point(-1));
		on("canvas", "click", (event) => {
			const node = this.nodeUnder(event);
			if (node >= 0)
				this.zoomTo(node);
		});
		on("graph", "scroll", () => $("graph").scrollTop === this.paintedAt || this.paint());
		on("canvas", "focus", () => this.say(this.focus));
	}
}

function fail(error) {
	document.body.replaceChildren(make("p", { class: "error", role: "alert" }, "This page cannot be shown: " + error.message + ". It may be incomplete; make it again with preport flamegraph."));
}

globalThis.readBlock("profile").then((bytes) => { 
	globalThis.app = new App(parseProfile(bytes));
	performance.mark("shown");
}).catch(fail);
