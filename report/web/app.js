// SPDX-License-Identifier: Apache-2.0
// The page: what the user does becomes state, state becomes a tree, a tree becomes boxes.
import { binTime, parseProfile } from "./profile.js";
import { difference, percent, share, amount, count, interval } from "./stats.js";
import { steps } from "./names.js";
import { buildTree } from "./tree.js";
import { CallerTree } from "./callers.js";
import { coveredBy, hitsBelow, matchFrames, pattern } from "./search.js";
import { neighbours, sumFunctions } from "./functions.js";
import { legend, moduleColours, painter, THEMES } from "./colours.js";
import { boxAt, findBox, layOut, ROW } from "./boxes.js";
import { drawBoxes } from "./draw.js";
import { download, toPng, toSvg } from "./picture.js";
import { firstState, readHash, writeHash } from "./state.js";
import { drawStrip, LANE, makeLanes, StripScale } from "./strip.js";
import { $, make, nodeFacts, options, placeOf, showFunctions, showHead, showLegend, showNeighbours, showPanel } from "./view.js";

const KEYS = [["/", "search", () => $("find").focus()], ["n N", "next, previous hit"], ["f", "only stacks with a match", (app) => app.keepFound()],
	["t", "graph or table", (app) => app.set({ show: app.state.show === "graph" ? "table" : "graph" })],
	["i", "callers: leaves first", (app) => app.set({ callers: 1 - app.state.callers, zoom: "" })],
	["r", "recursion: as it is, direct, all collapsed", (app) => app.set({ recursion: { keep: "direct", direct: "all", all: "keep" }[app.state.recursion] })],
	["o", "root on top or at the bottom", (app) => app.set({ top: 1 - app.state.top })], ["s", "brothers by name or size", (app) => app.set({ order: app.state.order === "name" ? "size" : "name" })],
	["m", "colours: kind, module, self", (app) => app.set({ colour: { kind: "module", module: "self", self: "kind" }[app.state.colour] })],
	["d", "dark or light", (app) => app.set({ theme: app.themeName() === "dark" ? "light" : "dark" })],
	["arrows", "to the caller, the callee, the brothers"], ["Enter, click", "zoom"], ["Backspace", "back"], ["0", "all of it", (app) => app.zoomTo(0)],
	["c C", "copy the name, the whole stack"], ["Esc", "end the search, then the zoom", (app) => app.escape()], ["?", "this list", () => $("keys").showModal()]];

const LISTS = {
	by: [["none", "nothing"], ["program", "program"], ["process", "process"], ["thread", "thread"], ["comm", "thread name"], ["cpu", "CPU"]],
	colour: [["kind", "kind of code"], ["module", "module"], ["self", "self share"]],
	recursion: [["keep", "as it is"], ["direct", "collapse direct"], ["all", "collapse all"]], order: [["name", "by name"], ["size", "by size"]],
	names: [["short", "short"], ["full", "full"]], top: [[0, "at the bottom"], [1, "on top"]], theme: [["", "as the system"], ["light", "light"], ["dark", "dark"]],
	lanes: [["cpu", "CPUs"], ["thread", "threads"]], width: [["both", "both"], ["a", "A"], ["b", "B"]],
};

class App {
	constructor(p) {
		this.p = p;
		this.first = firstState(p);
		this.state = readHash(location.hash, this.first);
		this.forms = [];
		this.focus = 0;
		this.hover = -1;
		this.steps = 0;
		this.stripRange = [0, p.meta.bins];
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
		showHead(this.p, s.set, this.tree.totals.map((_, side) => this.tree.total(0, side)));
		$("graph").hidden = $("crumbs").hidden = $("panel").hidden = $("legend").hidden = s.show !== "graph";
		$("table").hidden = s.show === "graph";
		this.renderStrip();
		this.renderChips();
		if (s.show === "table")
			return this.renderTable();
		this.fill = painter(this.shown, s.colour, this.theme, { modules: this.moduleColours, change: (node) => this.change(node) });
		this.legend = legend(this.shown, s.colour, this.theme, this.moduleColours);
		showLegend(this.legend);
		this.renderCrumbs();
		this.renderGraph();
		showPanel(this.shown, this.hover >= 0 ? this.hover : this.focus, this.zoom, unit);
	}

	change(node) {
		const tree = this.shown;
		return difference(share(tree.total(node), tree.total(0)), share(tree.total(node, 1), tree.total(0, 1)));
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
		const d = this.change(node), sign = !d.sure ? "= " : d.delta > 0 ? "+ " : "\u2212 ";
		return forms.map((form) => sign + form);
	}

	renderGraph() {
		const box = $("graph"), width = box.clientWidth;
		this.layout = layOut(this.shown, this.zoom, width);
		this.height = Math.max(this.layout.deepest * ROW + 1, box.clientHeight);
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
		const context = canvas.getContext("2d");
		context.scale(ratio, ratio);
		drawBoxes(context, { ...this.picture(), focus: this.focus, height, y: (depth) => this.top(depth) - box.scrollTop });
	}

	top(depth) {
		return this.state.top ? depth * ROW : this.height - (depth + 1) * ROW;
	}

	picture() {
		return {
			layout: this.layout, tree: this.shown, theme: this.theme, fill: this.fill, forms: (node) => this.signed(node), match: this.match,
			width: $("graph").clientWidth, title: this.p.meta.title, facts: $("facts").textContent, legend: this.legend,
			rootOnTop: this.state.top === 1, tip: (node) => this.describe(node),
		};
	}

	renderCrumbs() {
		const path = [0, ...this.shown.path(this.zoom)];
		$("crumbs").replaceChildren(...path.flatMap((node, i) => [i ? "\u203a" : "", make("button", { onclick: () => this.zoomTo(node), "aria-current": i === path.length - 1 ? "true" : null },
			this.nameForms(node).find((form) => form.length < 40) ?? this.nameForms(node).at(-1).slice(0, 60))]));
	}

	renderChips() {
		const s = this.state, chip = (text, change) => make("button", { title: "Take it back", onclick: () => this.set(change) }, text + " \u2715");
		const without = (key, i) => ({ [key]: s[key].filter((_, at) => at !== i) });
		$("chips").replaceChildren(...s.keep.map((text, i) => chip("only stacks with " + text, without("keep", i))),
			...s.hide.map((mod, i) => chip("hidden: " + this.p.meta.modules[mod][0], without("hide", i))),
			...s.fold.map((mod, i) => chip("folded: " + this.p.meta.modules[mod][0], without("fold", i))),
			...(s.a.length ? [chip("A " + this.rangeText(s.a), { a: [], b: [] })] : []), ...(s.b.length ? [chip("B " + this.rangeText(s.b), { b: [] })] : []));
	}

	rangeText(range) {
		return range.map((bin) => binTime(this.p, bin).toFixed(this.digits())).join("\u2013") + " s";
	}

	digits() {
		return Math.max(0, Math.ceil(-Math.log10(this.p.meta.bin || 1) - 1e-9));
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

	renderStrip() {
		const s = this.state, p = this.p, hasTime = p.meta.bin > 0 && p.meta.bins > 1;
		$("time").hidden = !hasTime;
		if (!hasTime)
			return;
		const key = s.set + s.strip;
		if (key !== this.laneKey)
			this.lanes = makeLanes(p, s.set, s.strip);
		this.laneKey = key;
		const canvas = $("strip"), ratio = devicePixelRatio || 1, width = $("time").clientWidth - 28, height = this.lanes.length * LANE + 16;
		const drawn = JSON.stringify([key, width, ratio, this.stripRange, this.windowOf("a"), this.windowOf("b"), this.themeName()]);
		if (drawn === this.drawn)
			return;
		this.drawn = drawn;
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		canvas.style.height = height + "px";
		const context = canvas.getContext("2d");
		context.scale(ratio * (canvas.width / ratio / width), ratio);
		this.scale = new StripScale(width, ...this.stripRange);
		const windows = [["a", "A"], ["b", "B"]].filter(([one]) => this.windowOf(one).length)
			.map(([one, name]) => ({ range: this.windowOf(one), name, colour: this.theme.ring && (one === "a" ? this.theme.ring : this.theme.more[2]) }));
		drawStrip(context, this.lanes, this.scale, this.theme, windows, (bin) => binTime(p, bin));
		canvas.setAttribute("aria-label", `Samples over time, ${this.lanes.length} lanes` + (s.a.length ? `, window A ${this.rangeText(s.a)}` : "") + ". Drag, or arrow keys, choose a window.");
	}

	windowOf(one) {
		return this.dragging?.which === one ? this.dragging.range : this.state[one];
	}

	showControls() {
		const s = this.state;
		for (const id of ["by", "colour", "recursion", "order", "names", "top", "theme", "width"])
			$(id).value = s[id];
		$("set").value = s.set;
		$("lanes").value = s.strip;
		if (document.activeElement !== $("find"))
			$("find").value = s.find;
		for (const [id, on] of [["show-graph", s.show === "graph"], ["show-table", s.show === "table"], ["callers", s.callers === 1], ["compare", Boolean(this.comparing)]])
			$(id).setAttribute("aria-pressed", String(on));
		$("b-range").hidden = !s.b.length && !this.comparing;
		$("width-label").hidden = !s.b.length && s.other < 0;
		$("compare").disabled = !s.a.length;
		$("closer").disabled = !s.a.length;
		$("whole").disabled = !s.a.length && this.stripRange[1] - this.stripRange[0] === this.p.meta.bins;
		for (const one of ["a", "b"])
			["from", "to"].forEach((end, i) => { $(one + "-" + end).value = s[one].length ? binTime(this.p, s[one][i]).toFixed(this.digits()) : ""; });
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

	key(event) {
		const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName), graph = event.target === $("canvas");
		if ($("keys").open || event.altKey || (event.ctrlKey && event.key !== "f") || event.metaKey)
			return;
		if (event.key === "Escape" && $("more").open)
			return void ($("more").open = false);
		if (event.key === "Escape" || (event.ctrlKey && event.key === "f")) {
			if (event.ctrlKey)
				$("find").focus();
			else
				this.escape();
			return event.preventDefault();
		}
		if (typing)
			return;
		const doIt = this.keyAction(event, graph);
		if (doIt) {
			event.preventDefault();
			doIt();
		}
	}

	keyAction({ key, target }, graph) {
		const button = /^(BUTTON|SUMMARY)$/.test(target.tagName);
		if (key === "n" || key === "N")
			return () => this.nextHit(key === "n" ? 1 : -1);
		if (key === "c" || key === "C")
			return () => this.copy(key === "c" ? "name" : "stack");
		if (key === "Backspace")
			return () => this.back();
		if (graph && key.startsWith("Arrow"))
			return () => this.walk(key);
		if (target === $("strip") && key.startsWith("Arrow"))
			return null;
		if (key === "Enter" && !button && this.state.show === "graph")
			return () => this.zoomTo(this.focus);
		const entry = KEYS.find((one) => one[2] && (one[0] === key || (one[0] === "Esc" && key === "Escape")));
		return entry ? () => entry[2](this) : null;
	}

	// ---- listening ----

	listen() {
		const on = (id, event, what) => $(id).addEventListener(event, what), p = this.p, s = this.state;
		for (const [id, values] of Object.entries(LISTS)) {
			options($(id), values, s[id]);
			on(id, "change", () => this.set({ [id === "lanes" ? "strip" : id]: id === "top" ? Number($(id).value) : $(id).value, ...(id === "by" ? { zoom: "" } : {}) }));
		}
		options($("set"), p.sets.map((set, i) => [i, set.name]), s.set);
		$("event-label").hidden = p.sets.length < 2;
		on("set", "change", () => this.set({ set: Number($("set").value) }));
		options($("module"), p.meta.modules.map((mod, i) => [i, mod[0]]).sort((a, b) => a[1] < b[1] ? -1 : 1), 0);
		on("more", "toggle", () => { $("module").value = Math.max(0, this.shown.module(this.focus)); });
		for (const key of ["hide", "fold"])
			on(key, "click", () => this.set({ [key]: [...new Set([...this.state[key], Number($("module").value)])], zoom: "" }));
		on("show-graph", "click", () => this.set({ show: "graph" }));
		on("show-table", "click", () => this.set({ show: "table" }));
		on("callers", "click", () => this.set({ callers: 1 - this.state.callers, zoom: "" }));
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
		document.addEventListener("keydown", (event) => this.key(event));
		document.addEventListener("click", (event) => $("more").contains(event.target) || ($("more").open = false));
		addEventListener("popstate", () => this.restore());
		addEventListener("resize", () => this.render());
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.render());
		this.listenGraph(on);
		this.listenStrip(on);
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
		return boxAt(this.layout, depth, event.offsetX)?.node ?? -1;
	}

	listenGraph(on) {
		on("canvas", "mousemove", (event) => this.point(this.nodeUnder(event)));
		on("canvas", "mouseleave", () => this.point(-1));
		on("canvas", "click", (event) => {
			const node = this.nodeUnder(event);
			if (node >= 0)
				this.zoomTo(node);
		});
		on("graph", "scroll", () => this.paint());
		on("canvas", "focus", () => this.say(this.focus));
	}

	listenStrip(on) {
		const range = (x, y) => x < y ? [x, y] : [y, Math.max(x, y + 1)];
		on("strip", "pointerdown", (event) => {
			const at = this.scale.bin(event.offsetX), which = this.comparing || event.shiftKey && this.state.a.length ? "b" : "a";
			this.dragging = { which, at, range: range(at, at) };
			$("strip").setPointerCapture(event.pointerId);
		});
		on("strip", "pointermove", (event) => {
			if (!this.dragging)
				return;
			this.dragging.range = range(this.dragging.at, this.scale.bin(event.offsetX));
			this.renderStrip();
		});
		on("strip", "pointerup", (event) => {
			const drag = this.dragging;
			this.dragging = null;
			if (drag)
				this.choose(drag.which, Math.abs(this.scale.x(drag.at) - event.offsetX) < 3 ? [] : drag.range);
		});
		on("strip", "keydown", (event) => this.stripKey(event));
		for (const one of ["a", "b"]) {
			for (const end of ["from", "to"])
				on(one + "-" + end, "change", () => this.typed(one));
		}
		on("compare", "click", () => {
			this.comparing = !this.comparing;
			this.showControls();
			this.live(this.comparing ? "choose the second window" : "");
		});
		on("closer", "click", () => {
			this.stripRange = [...this.state.a];
			this.update();
		});
		on("whole", "click", () => {
			this.stripRange = [0, this.p.meta.bins];
			this.set({ a: [], b: [] });
		});
	}

	choose(which, range) {
		this.comparing = false;
		this.set(range.length || which === "b" ? { [which]: range } : { a: [], b: [] });
		const total = this.tree.total(0, which === "b" && range.length ? 1 : 0);
		this.live(range.length ? `window ${which.toUpperCase()} ${this.rangeText(range)}, ${count(total.n)} samples` : "all the time");
	}

	// Seconds that were typed, to bins.
	typed(one) {
		const bin = (id, otherwise) => {
			const seconds = parseFloat($(id).value);
			return Number.isFinite(seconds) ? Math.max(0, Math.min(this.p.meta.bins, Math.round((seconds - this.p.meta.start) / this.p.meta.bin))) : otherwise;
		};
		const from = bin(one + "-from", 0), to = bin(one + "-to", this.p.meta.bins);
		if (from < to)
			this.choose(one, [from, to]);
		else
			this.showControls();
	}

	// Left and right move the window (a tenth of what is shown at first), with Shift its end.
	stripKey(event) {
		const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key], which = this.comparing || this.state.b.length ? "b" : "a";
		if (!step)
			return;
		event.preventDefault();
		const [first, last] = this.stripRange, length = Math.max(1, Math.round((last - first) / 10)), old = this.state[which], clamp = (bin) => Math.max(first, Math.min(last, bin));
		let range = [first, first + length];
		if (old.length && event.shiftKey)
			range = [old[0], Math.max(old[0] + 1, clamp(old[1] + step * Math.max(1, Math.round(length / 10))))];
		else if (old.length) {
			const by = Math.max(first - old[0], Math.min(last - old[1], step * Math.max(1, Math.round(length / 5))));
			range = [old[0] + by, old[1] + by];
		}
		const comparing = this.comparing;
		this.choose(which, range);
		this.comparing = comparing && !this.state.b.length;
	}
}

function fail(error) {
	document.body.replaceChildren(make("p", { class: "error", role: "alert" }, "This page cannot be shown: " + error.message + ". It may be incomplete; make it again with preport flamegraph."));
}

globalThis.readBlock("profile").then((bytes) => { 
	globalThis.app = new App(parseProfile(bytes));
	performance.mark("shown");
}).catch(fail);
