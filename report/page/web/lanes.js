// SPDX-License-Identifier: Apache-2.0
// Lanes of threads coloured by what they did, zoomed to single switches, with arrows from those who ended waits.
// Below them what the waits were for, and how long they took.
import { chainsOf, showChains } from "./chain.js";
import { drawLatency } from "./latency.js";
import { textOn, THEMES } from "./colours.js";
import { pattern } from "./search.js";
import { lengthText, readLanes, spanAt, STATE_READY, STATE_RUNS, STATE_SEVERAL } from "./spans.js";
import { $, make, options } from "./view.js";

const LANE_HEIGHT = 16, LANE_AXIS = 18, LANE_NAMES = 170, LANE_NEAR = 40; // pixels; closer waits than LANE_NEAR show no arrow
// Light and dark; kinds that are not here share the last.
const HUES = {
	[STATE_RUNS]: ["#3f9b4f", "#4caf63"], [STATE_READY]: ["#e8b500", "#d6a800"], [STATE_SEVERAL]: ["#9fb8a4", "#55705c"], lock: ["#d5392b", "#e5533f"],
	sleep: ["#c9cfd8", "#48505b"], poll: ["#b6c7e0", "#3b4d69"], pipe: ["#7aa7e0", "#3f76bd"], socket: ["#3b7dd8", "#5b9bf0"], disk: ["#8e44ad", "#b06ad0"],
	"page fault": ["#c2185b", "#e0407e"], child: ["#a1887f", "#7d665e"], "kernel lock": ["#8c1d13", "#a83a2f"],
};
const HUE_OTHER = ["#dfe3e8", "#333a44"];

class Lanes {
	constructor(data) {
		this.d = data;
		this.range = [...data.range];
		this.chosen = this.subject = -1; // the span in sight, and the one whose chains are shown
		this.filter("");
		this.ask(-1, "all");
		const names = data.kinds.filter((name, i) => data.kind.includes(i) && ![STATE_RUNS, STATE_SEVERAL].includes(name));
		options($("latency-kind"), [["", "all kinds"], ...names.map((name) => [name, name])], "");
		this.listen();
		new ResizeObserver(() => this.draw()).observe($("lanes-box"));
	}

	filter(text) {
		const regexp = text ? pattern(text) : null;
		this.shown = this.d.lanes.filter((lane) => lane.end > lane.first && (!regexp || regexp.test(lane.name) || regexp.test(lane.process))).sort((a, b) => b.run - a.run || a.number - b.number);
	}

	colour(kind) {
		return (HUES[this.d.kinds[kind]] ?? HUE_OTHER)[this.dark];
	}

	x(time) {
		return LANE_NAMES + (time - this.range[0]) / (this.range[1] - this.range[0]) * (this.width - LANE_NAMES);
	}

	time(x) {
		return this.range[0] + Math.max(0, x - LANE_NAMES) / (this.width - LANE_NAMES) * (this.range[1] - this.range[0]);
	}

	draw() {
		const style = getComputedStyle(document.body), theme = $("theme").value || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
		this.dark = Number(theme === "dark");
		this.paint();
		this.showRange();
		this.chainsSoon();
		drawLatency($("latency"), this.d, this.shown, this.range, $("latency-kind").value, { text: style.color, muted: style.getPropertyValue("--muted"), scale: THEMES[theme].strip });
	}

	// The lanes alone: all else stays as it is when they are scrolled.
	paint() {
		const box = $("lanes-box"), canvas = $("lanes-canvas"), ratio = devicePixelRatio || 1;
		const wanted = this.shown.length * LANE_HEIGHT + LANE_AXIS;
		$("lanes-room").style.height = wanted + "px";
		box.style.height = `min(46vh, ${Math.max(wanted, 60) + 2}px)`;
		this.width = box.clientWidth;
		this.height = box.clientHeight;
		canvas.width = Math.round(this.width * ratio);
		canvas.height = Math.round(this.height * ratio);
		canvas.style.width = this.width + "px";
		canvas.style.height = this.height + "px";
		const c = canvas.getContext("2d"), top = box.scrollTop, text = getComputedStyle(document.body).color;
		c.scale(ratio, ratio);
		c.font = "11px system-ui, sans-serif";
		c.textBaseline = "middle";
		this.drawAxis(c, text);
		c.save();
		c.beginPath();
		c.rect(0, LANE_AXIS, this.width, this.height - LANE_AXIS);
		c.clip();
		const first = Math.floor(top / LANE_HEIGHT), last = Math.min(this.shown.length, Math.ceil((top + this.height) / LANE_HEIGHT));
		for (let i = first; i < last; i++)
			this.drawLane(c, this.shown[i], LANE_AXIS + i * LANE_HEIGHT - top, text);
		this.drawArrows(c, first, last, top, text);
		c.restore();
	}

	drawAxis(c, text) {
		const span = this.range[1] - this.range[0], rough = span * 90 / Math.max(this.width - LANE_NAMES, 90), power = 10 ** Math.floor(Math.log10(rough));
		const step = [1, 2, 5, 10].find((one) => one * power >= rough) * power, digits = Math.max(0, 9 - Math.floor(Math.log10(step) + 1e-9));
		c.fillStyle = text;
		for (let tick = Math.ceil(this.range[0] / step) * step; tick <= this.range[1]; tick += step) {
			c.fillRect(this.x(tick), LANE_AXIS - 4, 1, 4);
			c.fillText((tick / 1e9).toFixed(Math.min(digits, 9)) + " s", this.x(tick) + 3, LANE_AXIS / 2);
		}
	}

	// One colour a pixel where spans are narrower: what took most of it.
	drawLane(c, lane, y, text) {
		const d = this.d, height = LANE_HEIGHT - 3;
		c.fillStyle = text;
		c.fillText(lane.name, 0, y + height / 2, LANE_NAMES - 8);
		let pixel = -1, until = 0, sums = new Map();
		const flush = () => {
			if (pixel >= 0 && sums.size) {
				c.fillStyle = this.colour([...sums].reduce((best, one) => one[1] > best[1] ? one : best)[0]);
				c.fillRect(pixel, y, Math.max(1, until - pixel), height);
			}
			sums.clear();
		};
		let at = spanAt(d, lane, this.range[0]);
		if (at < 0)
			at = d.from[lane.first] >= this.range[0] ? lane.first : lane.end;
		for (; at < lane.end && d.from[at] < this.range[1]; at++) {
			const from = Math.max(LANE_NAMES, this.x(d.from[at])), to = Math.min(this.width, this.x(d.from[at] + d.len[at]));
			if (to - from >= 1.5) {
				flush();
				pixel = -1;
				c.fillStyle = this.colour(d.kind[at]);
				c.fillRect(from, y, to - from, height);
				this.drawName(c, at, from, to, y + height / 2);
			} else {
				if (Math.floor(from) !== pixel)
					flush();
				pixel = Math.floor(from);
				until = to;
				sums.set(d.kind[at], (sums.get(d.kind[at]) ?? 0) + d.len[at]);
			}
			if (at === this.chosen) {
				c.strokeStyle = text;
				c.lineWidth = 2;
				c.strokeRect(from, y, Math.max(to - from, 2), height);
			}
		}
		flush();
	}

	drawName(c, at, from, to, y) {
		const name = this.d.functions[this.d.func[at]];
		if (!name || to - from < 60)
			return;
		c.save();
		c.beginPath();
		c.rect(from, y - LANE_HEIGHT / 2, to - from - 2, LANE_HEIGHT);
		c.clip();
		c.fillStyle = textOn(this.colour(this.d.kind[at]));
		c.fillText(name, from + 4, y);
		c.restore();
	}

	// From who ended a wait to who waited; of all waits in sight that are wide enough, and of the chosen one.
	drawArrows(c, first, last, top, colour) {
		const rows = new Map(this.shown.map((lane, i) => [lane.number, i]));
		c.strokeStyle = c.fillStyle = colour;
		c.lineWidth = 1;
		for (let i = first; i < last; i++) {
			const lane = this.shown[i], begin = spanAt(this.d, lane, this.range[0]);
			for (let at = Math.max(begin, lane.first); at < lane.end && this.d.from[at] < this.range[1]; at++)
				if (this.isArrow(at))
					this.drawArrow(c, this.x(this.d.from[at] + this.d.len[at]), rows.get(this.d.waker[at] - 1), i, top);
		}
	}

	isArrow(at) {
		const width = this.d.len[at] / (this.range[1] - this.range[0]) * (this.width - LANE_NAMES);
		return this.d.waker[at] && this.d.kinds[this.d.kind[at]] !== STATE_READY && (at === this.chosen || width > LANE_NEAR) && this.d.from[at] + this.d.len[at] <= this.range[1];
	}

	drawArrow(c, x, from, to, top) {
		const y = (row) => LANE_AXIS + row * LANE_HEIGHT - top + LANE_HEIGHT / 2 - 2, sign = from < to ? 1 : -1;
		if (from === undefined || from === to || x < LANE_NAMES)
			return;
		c.beginPath();
		c.moveTo(x, y(from));
		c.lineTo(x, y(to) - sign * 4);
		c.stroke();
		c.beginPath();
		c.moveTo(x, y(to));
		c.lineTo(x - 3, y(to) - sign * 6);
		c.lineTo(x + 3, y(to) - sign * 6);
		c.fill();
	}

	showRange() {
		const d = this.d, used = new Set(d.kind), shown = [...used].sort((a, b) => a - b), key = shown.join() + this.dark;
		$("lanes-range").textContent = `${this.shown.length} threads, ${(this.range[0] / 1e9).toFixed(6)}\u2013${(this.range[1] / 1e9).toFixed(6)} s` +
			(d.step ? `; spans below ${lengthText(d.step)} are joined, preport --time has single ones` : "");
		if (key === this.keyShown)
			return;
		this.keyShown = key;
		$("lanes-key").replaceChildren(...shown.map((kind) => {
			const swatch = make("i");
			swatch.style.background = this.colour(kind);
			return make("span", { role: "listitem" }, swatch, d.kinds[kind]);
		}));
	}

	describe(at) {
		const d = this.d, lane = d.lanes[d.laneOf[at]], name = d.functions[d.func[at]], what = d.kinds[d.kind[at]];
		let text = `${lane.name}: ${what}${name ? " in " + name : ""}, ${lengthText(d.len[at])} from ${(d.from[at] / 1e9).toFixed(6)} s`;
		if (what === STATE_SEVERAL)
			text += `, ${d.several[at] ? d.several[at] + " spans, " : ""}${lengthText(d.run[at])} of it on a CPU`;
		return d.waker[at] ? `${text}, ended by ${d.lanes[d.waker[at] - 1].name}` : text;
	}

	choose(at, of = "span") {
		this.chosen = at;
		this.ask(at, of);
		$("lanes-said").textContent = at >= 0 ? this.describe(at) : "";
		$("lanes-waker").disabled = !(at >= 0 && this.d.waker[at]);
		this.draw();
	}

	// Chains are those of: "span", that one alone; "lane", its thread's waits; "function", those in its function; "all"; "": as before.
	ask(at, of) {
		if (!of)
			return;
		const d = this.d, lane = d.lanes[d.laneOf[at]], name = d.functions[d.func[at]], choices = [["all", "all waits in sight"]];
		this.subject = at;
		if (at >= 0) {
			choices.unshift(["lane", `waits of ${lane.name} in sight`], ...(name ? [["function", `waits in ${name} in sight`]] : []));
			if (this.isWait(at))
				choices.unshift(["span", "the chosen wait"]);
		}
		options($("chain-of"), choices, (choices.find(([key]) => key === of) ?? choices[0])[0]);
	}

	isWait(at) {
		return ![STATE_RUNS, STATE_SEVERAL].includes(this.d.kinds[this.d.kind[at]]);
	}

	// The waits whose chains are asked for; of all but "span" those that end in sight.
	asked() {
		const d = this.d, at = this.subject, of = $("chain-of").value, found = [];
		if (of === "span")
			return [at];
		for (const lane of of === "lane" ? [d.lanes[d.laneOf[at]]] : this.shown)
			for (let i = lane.first; i < lane.end; i++) {
				const end = d.from[i] + d.len[i];
				if (end >= this.range[0] && end <= this.range[1] && this.isWait(i) && (of !== "function" || d.func[i] === d.func[at]))
					found.push(i);
			}
		return found;
	}

	chainsSoon() {
		clearTimeout(this.timer);
		this.timer = setTimeout(() => showChains($("chain"), $("chain-said"), this.d, chainsOf(this.d, this.asked()), (at) => this.show(at, "")), 100);
	}

	// In sight, whichever lane it is in.
	show(at, of) {
		if (!this.shown.some((lane) => lane.number === this.d.laneOf[at])) {
			$("lanes-filter").value = "";
			this.filter("");
		}

		const row = this.shown.findIndex((lane) => lane.number === this.d.laneOf[at]), box = $("lanes-box"), y = row * LANE_HEIGHT;
		if (y < box.scrollTop || y + LANE_HEIGHT + LANE_AXIS > box.scrollTop + this.height)
			box.scrollTop = y - this.height / 2;
		if (this.d.from[at] + this.d.len[at] < this.range[0] || this.d.from[at] > this.range[1])
			this.move(this.d.from[at] + this.d.len[at] / 2 - (this.range[0] + this.range[1]) / 2);
		this.choose(at, of);
	}

	// What the waker did when it ended the wait; of a waker that no switch tells of, nothing.
	toWaker() {
		const at = this.chosen, lane = at >= 0 && this.d.waker[at] ? this.d.lanes[this.d.waker[at] - 1] : null;
		const there = lane ? spanAt(this.d, lane, this.d.from[at] + this.d.len[at]) : -1;
		if (there >= 0)
			this.show(there);
	}

	zoom(factor, around = (this.range[0] + this.range[1]) / 2) {
		const [first, last] = this.d.range, span = Math.max(1000, Math.min(last - first, (this.range[1] - this.range[0]) * factor));
		const part = (around - this.range[0]) / (this.range[1] - this.range[0]), from = Math.max(first, Math.min(last - span, around - part * span));
		this.range = [from, from + span];
		this.draw();
	}

	move(by) {
		const [first, last] = this.d.range, span = this.range[1] - this.range[0], from = Math.max(first, Math.min(last - span, this.range[0] + by));
		this.range = [from, from + span];
		this.draw();
	}

	lane(event) {
		return event.offsetY >= LANE_AXIS ? this.shown[Math.floor((event.offsetY - LANE_AXIS + $("lanes-box").scrollTop) / LANE_HEIGHT)] : undefined;
	}

	at(event) {
		const lane = this.lane(event);
		return lane && event.offsetX >= LANE_NAMES ? spanAt(this.d, lane, this.time(event.offsetX)) : -1;
	}

	// A span, or at a thread's name what it does where the time in sight begins.
	pick(event) {
		const lane = this.lane(event);
		if (lane && event.offsetX < LANE_NAMES)
			this.choose(Math.max(spanAt(this.d, lane, this.range[0]), lane.first), "lane");
		else
			this.choose(this.at(event), this.at(event) < 0 ? "all" : "span");
	}

	key(event) {
		const span = this.range[1] - this.range[0], lane = this.chosen >= 0 ? this.d.lanes[this.d.laneOf[this.chosen]] : this.shown[0];
		const row = (step) => {
			const next = this.shown[this.shown.indexOf(lane) + step], time = this.chosen >= 0 ? this.d.from[this.chosen] : this.range[0];
			return next ? Math.max(spanAt(this.d, next, time), next.first) : this.chosen;
		};
		const keys = {
			"+": () => this.zoom(1 / 2, this.chosen >= 0 ? this.d.from[this.chosen] : undefined), "-": () => this.zoom(2), 0: () => this.all(), w: () => this.toWaker(),
			ArrowRight: () => event.shiftKey ? this.move(span / 5) : this.show(this.chosen < 0 ? lane.first : Math.min(this.chosen + 1, lane.end - 1)),
			ArrowLeft: () => event.shiftKey ? this.move(-span / 5) : this.show(this.chosen < 0 ? lane.first : Math.max(this.chosen - 1, lane.first)),
			ArrowDown: () => this.show(row(1)), ArrowUp: () => this.show(row(-1)),
		};
		if (!keys[event.key] || !lane)
			return;
		event.preventDefault();
		event.stopPropagation();
		keys[event.key]();
	}

	all() {
		this.range = [...this.d.range];
		this.draw();
	}

	listen() {
		const on = (id, event, what, how) => $(id).addEventListener(event, what, how);
		on("lanes-filter", "input", () => { this.filter($("lanes-filter").value); this.draw(); });
		on("lanes-in", "click", () => this.zoom(1 / 2));
		on("lanes-out", "click", () => this.zoom(2));
		on("lanes-all", "click", () => this.all());
		on("lanes-waker", "click", () => this.toWaker());
		on("latency-kind", "change", () => this.draw());
		on("chain-of", "change", () => this.chainsSoon());
		on("theme", "change", () => setTimeout(() => this.draw()));
		on("lanes-box", "scroll", () => this.paint());
		on("lanes-canvas", "keydown", (event) => this.key(event));
		on("lanes-canvas", "wheel", (event) => {
			if (!event.ctrlKey && !event.metaKey)
				return;
			event.preventDefault();
			this.zoom(2 ** (event.deltaY / 200), this.time(event.offsetX));
		}, { passive: false });
		on("lanes-canvas", "pointerdown", (event) => {
			this.drag = { from: this.time(event.offsetX), x: event.offsetX };
			$("lanes-canvas").setPointerCapture(event.pointerId);
		});
		on("lanes-canvas", "pointermove", (event) => {
			if (!this.drag)
				$("lanes-said").textContent = this.at(event) >= 0 ? this.describe(this.at(event)) : this.chosen >= 0 ? this.describe(this.chosen) : "";
		});
		on("lanes-canvas", "pointerup", (event) => {
			const drag = this.drag, to = this.time(event.offsetX);
			this.drag = null;
			if (drag && Math.abs(drag.x - event.offsetX) > 3) {
				this.range = [Math.min(drag.from, to), Math.max(drag.from, to, Math.min(drag.from, to) + 1000)];
				this.draw();
			} else {
				this.pick(event);
			}
		});
	}
}

globalThis.readBlock?.("lanes-data").then((bytes) => { globalThis.lanes = new Lanes(readLanes(bytes)); });
