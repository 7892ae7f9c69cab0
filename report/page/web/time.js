// SPDX-License-Identifier: Apache-2.0
// The time strip of the page: what it shows, and how windows are chosen on it, by dragging, by keys or in seconds.
import { binTime } from "./profile.js";
import { samples } from "./stats.js";
import { drawStrip, LANE, makeLanes, StripScale } from "./strip.js";
import { $ } from "./view.js";

export class TimeStrip {
	constructor(app) {
		this.app = app;
		this.p = app.p;
		this.range = [0, app.p.meta.bins];
		this.comparing = false;
		this.dragging = null; // { which, at, range }
	}

	render() {
		const s = this.app.state, p = this.p, theme = this.app.theme, hasTime = p.meta.bin > 0 && p.meta.bins > 1;
		$("time").hidden = !hasTime;
		if (!hasTime)
			return;
		const key = s.set + s.lanes;
		if (key !== this.laneKey)
			this.lanes = makeLanes(p, s.set, s.lanes);
		this.laneKey = key;
		const ratio = devicePixelRatio || 1, width = $("time").clientWidth - 28;
		const drawn = JSON.stringify([key, width, ratio, this.range, this.windowOf("a"), this.windowOf("b"), theme.ground]);
		if (drawn === this.drawn)
			return;
		this.drawn = drawn;
		this.draw(width, this.lanes.length * LANE + 16, ratio, theme);
		$("strip").setAttribute("aria-label", `Samples over time, ${this.lanes.length} lanes` + (s.a.length ? `, window A ${this.rangeText(s.a)}` : "") + ". Drag, or arrow keys, choose a window.");
	}

	draw(width, height, ratio, theme) {
		const canvas = $("strip"), context = canvas.getContext("2d");
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		canvas.style.height = height + "px";
		context.scale(ratio * (canvas.width / ratio / width), ratio);
		this.scale = new StripScale(width, ...this.range);
		const windows = [["a", theme.ring], ["b", theme.more[2]]].filter(([one]) => this.windowOf(one).length)
			.map(([one, colour]) => ({ range: this.windowOf(one), name: one.toUpperCase(), colour }));
		drawStrip(context, this.lanes, this.scale, theme, windows, (bin) => binTime(this.p, bin));
	}

	windowOf(one) {
		return this.dragging?.which === one ? this.dragging.range : this.app.state[one];
	}

	seconds(bin) {
		return binTime(this.p, bin).toFixed(Math.max(0, Math.ceil(-Math.log10(this.p.meta.bin || 1) - 1e-9)));
	}

	rangeText(range) {
		return range.map((bin) => this.seconds(bin)).join("\u2013") + " s";
	}

	showControls() {
		const s = this.app.state;
		$("lanes").value = s.lanes;
		$("compare").setAttribute("aria-pressed", String(this.comparing));
		$("compare").disabled = $("closer").disabled = !s.a.length;
		$("b-range").hidden = !s.b.length && !this.comparing;
		$("whole").disabled = !s.a.length && this.range[1] - this.range[0] === this.p.meta.bins;
		for (const one of ["a", "b"])
			["from", "to"].forEach((end, i) => { $(one + "-" + end).value = s[one].length ? this.seconds(s[one][i]) : ""; });
	}

	listen(on) {
		on("strip", "pointerdown", (event) => {
			const at = this.scale.bin(event.offsetX), which = this.comparing || event.shiftKey && this.app.state.a.length ? "b" : "a";
			this.dragging = { which, at, range: [at, at + 1] };
			$("strip").setPointerCapture(event.pointerId);
		});
		on("strip", "pointermove", (event) => {
			const drag = this.dragging;
			if (!drag)
				return;
			const bin = this.scale.bin(event.offsetX);
			drag.range = drag.at < bin ? [drag.at, bin] : [bin, Math.max(drag.at, bin + 1)];
			this.render();
		});
		on("strip", "pointerup", (event) => {
			const drag = this.dragging;
			this.dragging = null;
			if (drag)
				this.choose(drag.which, Math.abs(this.scale.x(drag.at) - event.offsetX) < 3 ? [] : drag.range);
		});
		on("strip", "keydown", (event) => this.key(event));
		for (const one of ["a", "b"]) {
			for (const end of ["from", "to"])
				on(one + "-" + end, "change", () => this.typed(one));
		}
		on("compare", "click", () => {
			this.comparing = !this.comparing;
			this.showControls();
			this.app.live(this.comparing ? "choose the second window" : "");
		});
		on("closer", "click", () => {
			this.range = [...this.app.state.a];
			this.app.update();
		});
		on("whole", "click", () => {
			this.range = [0, this.p.meta.bins];
			this.app.set({ a: [], b: [] });
		});
	}

	choose(which, range) {
		this.comparing = false;
		this.app.set(range.length || which === "b" ? { [which]: range } : { a: [], b: [] });
		const total = this.app.tree.total(0, which === "b" && range.length ? 1 : 0);
		this.app.live(range.length ? `window ${which.toUpperCase()} ${this.rangeText(range)}, ${samples(total)} samples` : "all the time");
	}

	// Seconds that were typed, to bins.
	typed(one) {
		const { bins, start, bin: length } = this.p.meta;
		const bin = (id, otherwise) => {
			const seconds = parseFloat($(id).value);
			return Number.isFinite(seconds) ? Math.max(0, Math.min(bins, Math.round((seconds - start) / length))) : otherwise;
		};
		const from = bin(one + "-from", 0), to = bin(one + "-to", bins);
		if (from < to)
			this.choose(one, [from, to]);
		else
			this.showControls();
	}

	// Left and right move the window (a tenth of what is shown at first), with Shift its end.
	key(event) {
		const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key], which = this.comparing || this.app.state.b.length ? "b" : "a";
		if (!step)
			return;
		event.preventDefault();
		const [first, last] = this.range, length = Math.max(1, Math.round((last - first) / 10)), old = this.app.state[which], clamp = (bin) => Math.max(first, Math.min(last, bin));
		let range = [first, first + length];
		if (old.length && event.shiftKey)
			range = [old[0], Math.max(old[0] + 1, clamp(old[1] + step * Math.max(1, Math.round(length / 10))))];
		else if (old.length) {
			const by = Math.max(first - old[0], Math.min(last - old[1], step * Math.max(1, Math.round(length / 5))));
			range = [old[0] + by, old[1] + by];
		}
		const comparing = this.comparing;
		this.choose(which, range);
		this.comparing = comparing && !this.app.state.b.length;
	}
}
