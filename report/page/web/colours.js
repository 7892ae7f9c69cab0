// SPDX-License-Identifier: Apache-2.0
// What is painted how. Kinds differ in hue and in lightness, for those who do not see the hue; text stands on every
// colour with a contrast of at least 4.5.
import { KIND } from "./tree.js";

export const KIND_NAMES = ["process", "user", "inlined", "kernel", "JIT", "kernel thread", "incomplete", "unknown"];

export const THEMES = {
	light: {
		ground: "#ffffff", text: "#16191d", muted: "#59616b", line: "#ffffff", ring: "#0b57d0", dim: 0.28,
		kinds: ["#dfe3e8", "#f7b76d", "#fbe3a1", "#9cc3ee", "#86d1b4", "#cdb4e6", "#c3c7cc", "#e9d3c0"],
		match: "#9c1a8b", modules: ["#f7b76d", "#8fc4ee", "#8ad3b0", "#e9a3c6", "#f3e27a", "#bfa5e8", "#c9a78a", "#a9d46f"],
		other: "#d5d9de", heat: ["#fdf3d0", "#fbd98c", "#f7b455", "#ea8a3a", "#c95f2b", "#99391f"],
		less: ["#e4edf9", "#a9c8f0", "#6a9fe0"], more: ["#fdeadb", "#f8bf8c", "#ec8e45"], same: "#e3e5e8",
		strip: ["#f1f3f6", "#d5e4f6", "#aecbee", "#7dabe0", "#4b86ca", "#2a63a6"],
	},
	dark: {
		ground: "#14171b", text: "#e8eaed", muted: "#a3abb6", line: "#14171b", ring: "#8ab4f8", dim: 0.35,
		kinds: ["#39404a", "#8a5519", "#655714", "#2a5b95", "#1d6a4c", "#6b4792", "#4d535b", "#6a4f3c"],
		match: "#f48be0", modules: ["#8a5519", "#285f96", "#1d6a4c", "#88386a", "#685c10", "#5f4a9c", "#6f4f33", "#44661a"],
		other: "#434a54", heat: ["#3a3527", "#5d4a1d", "#7c5519", "#96521c", "#b04a20", "#c23d24"],
		less: ["#27313f", "#2b4d79", "#2a66b0"], more: ["#3d3129", "#71451f", "#9c5518"], same: "#3a3f46",
		strip: ["#1d2228", "#1c3350", "#22466f", "#2a5c92", "#3a79b8", "#5c9fdd"],
	},
};

function luminance(colour) {
	const part = (at) => {
		const value = parseInt(colour.slice(at, at + 2), 16) / 255;
		return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
	};
	return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
}

export function contrast(a, b) {
	const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
	return (high + 0.05) / (low + 0.05);
}

const textColours = new Map();

// Black or white, whichever is easier to read on @fill.
export function textOn(fill) {
	if (!textColours.has(fill))
		textColours.set(fill, contrast(fill, "#101214") >= contrast(fill, "#ffffff") ? "#101214" : "#ffffff");
	return textColours.get(fill);
}

// Colours of the modules that used most by themselves, as { number -> colour }; the others share one.
export function moduleColours(tree, theme) {
	const sums = new Map();
	for (let node = 1; node < tree.length; node++) {
		const mod = tree.module(node);
		if (mod >= 0)
			sums.set(mod, (sums.get(mod) ?? 0) + tree.selves[0].w[node]);
	}
	const order = [...sums].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, theme.modules.length);
	return new Map(order.map(([mod], i) => [mod, theme.modules[i]]));
}

// How much of a node's weight is off the CPU.
export function offShare(tree, node) {
	return tree.totals[0].o[node] / (tree.totals[0].w[node] || 1);
}

function pick(scale, value) {
	return scale[Math.max(0, Math.min(scale.length - 1, Math.floor(value * scale.length)))];
}

/*
 * A function from node to colour. @how is "cpu", "kind", "module" or "self"; two selections are always coloured by @change(node),
 * the difference, in which only what is more than noise has a colour.
 */
export function painter(tree, how, theme, { modules, change }) {
	if (tree.sides === 2) {
		return (node) => {
			const d = change(node);
			if (!d.sure)
				return theme.same;
			const scale = d.delta > 0 ? theme.more : theme.less;
			return pick(scale, Math.log10(1 + Math.abs(d.delta) * 300) / 2.5);
		};
	}
	if (how === "cpu")
		return (node) => theme.modules[Number(offShare(tree, node) === 1)];
	if (how === "module")
		return (node) => tree.module(node) < 0 ? theme.kinds[tree.kind[node]] : modules.get(tree.module(node)) ?? theme.other;
	if (how === "self")
		return (node) => pick(theme.heat, tree.selves[0].w[node] / (tree.totals[0].w[node] || 1));
	return (node) => theme.kinds[tree.kind[node]];
}

// What the colours mean: [colour, text].
export function legend(tree, how, theme, modules) {
	if (tree.sides === 2)
		return [[theme.more[2], "B has more"], [theme.less[2], "B has less"], [theme.same, "no more than noise"]];
	if (how === "cpu")
		return [[theme.modules[0], "on a CPU"], [theme.modules[1], "off CPU"]];
	if (how === "module")
		return [...modules].map(([mod, colour]) => [colour, tree.p.meta.modules[mod][0]]).concat([[theme.other, "other modules"]]);
	if (how === "self")
		return theme.heat.map((colour, i) => [colour, i === 0 ? "passes on" : i === theme.heat.length - 1 ? "itself" : ""]);
	const whole = tree.from ?? tree, used = whole.kindsUsed ??= new Set(whole.kind);
	return [KIND.user, KIND.inlined, KIND.kernel, KIND.kthread, KIND.jit, KIND.unknown, KIND.group, KIND.stop]
		.filter((kind) => used.has(kind)).map((kind) => [theme.kinds[kind], KIND_NAMES[kind]]);
}
