// SPDX-License-Identifier: Apache-2.0
// What keys do: the list that "?" shows, and which of them is meant.
import { $ } from "./view.js";

// [keys, what they do, and for those that mean the same everywhere how]
export const KEYS = [["/", "search", () => $("find").focus()], ["n N", "next, previous hit"], ["f", "only stacks with a match", (app) => app.keepFound()],
	["t", "graph or table", (app) => app.set({ show: app.state.show === "graph" ? "table" : "graph" })],
	["i", "callers: leaves first", (app) => app.turnRound()],
	["r", "recursion: as it is, direct, all collapsed", (app) => app.set({ recursion: { keep: "direct", direct: "all", all: "keep" }[app.state.recursion] })],
	["o", "root on top or at the bottom", (app) => app.set({ top: 1 - app.state.top })], ["s", "brothers by name or size", (app) => app.set({ order: app.state.order === "name" ? "size" : "name" })],
	["m", "colours: kind, module, self", (app) => app.set({ colour: { kind: "module", module: "self", self: "kind" }[app.state.colour] })],
	["d", "dark or light", (app) => app.set({ theme: app.themeName() === "dark" ? "light" : "dark" })],
	["arrows", "to the caller, the callee, the brothers"], ["Enter, click", "zoom"], ["Backspace", "back"], ["0", "all of it", (app) => app.zoomTo(0)],
	["c C", "copy the name, the whole stack"], ["Esc", "end the search, then the zoom", (app) => app.escape()], ["?", "this list", () => $("keys").showModal()]];

// What the key event means to @app is done.
export function pressKey(app, event) {
	const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName), graph = event.target === $("canvas");
	if ($("keys").open || event.altKey || (event.ctrlKey && event.key !== "f") || event.metaKey)
		return;
	if (event.key === "Escape" && $("more").open)
		return void ($("more").open = false);
	if (event.key === "Escape" || (event.ctrlKey && event.key === "f")) {
		if (event.ctrlKey)
			$("find").focus();
		else
			app.escape();
		return event.preventDefault();
	}
	if (typing)
		return;
	const doIt = keyAction(app, event, graph);
	if (doIt) {
		event.preventDefault();
		doIt();
	}
}

function keyAction(app, { key, target }, graph) {
	const button = /^(BUTTON|SUMMARY)$/.test(target.tagName);
	if (key === "n" || key === "N")
		return () => app.nextHit(key === "n" ? 1 : -1);
	if (key === "c" || key === "C")
		return () => app.copy(key === "c" ? "name" : "stack");
	if (key === "Backspace")
		return () => app.back();
	if (graph && key.startsWith("Arrow"))
		return () => app.walk(key);
	if (target === $("strip") && key.startsWith("Arrow"))
		return null;
	if (key === "Enter" && !button && app.state.show === "graph")
		return () => app.zoomTo(app.focus);
	const entry = KEYS.find((one) => one[2] && (one[0] === key || (one[0] === "Esc" && key === "Escape")));
	return entry ? () => entry[2](app) : null;
}
