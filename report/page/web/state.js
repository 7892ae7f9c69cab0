// SPDX-License-Identifier: Apache-2.0
// How the page is looked at, as one object; what differs from the beginning stands in the URL, so that a link or a bookmark
// shows the same.

export function firstState(p) {
	return {
		set: Math.max(0, p.sets.findIndex((set) => set.first)), by: p.meta.by || "program", show: "graph",
		callers: p.meta.callers ? 1 : 0, top: p.meta.rootOnTop ? 1 : 0, recursion: "keep", order: p.meta.callers ? "size" : "name", colour: p.hasOff ? "cpu" : "kind",
		names: "short", theme: "", find: "", keep: [], hide: [], fold: [], zoom: "", a: [], b: [], other: p.sets.findIndex((set) => set.other), width: "both",
		lanes: "cpu", fn: -1, sort: "-self", filter: "",
	};
}

export function writeHash(state, first) {
	const params = new URLSearchParams();
	for (const [key, value] of Object.entries(state)) {
		if (Array.isArray(value))
			value.forEach((one) => params.append(key, one));
		else if (value !== first[key])
			params.set(key, value);
	}
	const text = params.toString();
	return text ? "#" + text : "";
}

// What @hash says that makes sense.
export function readHash(hash, first) {
	const state = { ...first }, params = new URLSearchParams(hash.replace(/^#/, ""));
	for (const [key, value] of Object.entries(first)) {
		if (!params.has(key))
			continue;
		const text = params.get(key), numbers = params.getAll(key).map(Number);
		if (key === "a" || key === "b")
			state[key] = numbers.length === 2 && numbers.every(Number.isInteger) && numbers[0] >= 0 && numbers[0] < numbers[1] ? numbers : [];
		else if (key === "hide" || key === "fold")
			state[key] = numbers.filter((number) => Number.isInteger(number) && number >= 0);
		else if (Array.isArray(value))
			state[key] = params.getAll(key);
		else if (typeof value === "number")
			state[key] = Number.isInteger(Number(text)) ? Number(text) : value;
		else
			state[key] = text;
	}
	return checked(state, first);
}

// What can be chosen: [value, what it is called].
export const LISTS = {
	by: [["none", "nothing"], ["program", "program"], ["process", "process"], ["thread", "thread"], ["comm", "thread name"], ["cpu", "CPU"]],
	colour: [["cpu", "on, off CPU"], ["kind", "kind of code"], ["module", "module"], ["self", "self share"]],
	recursion: [["keep", "as it is"], ["direct", "collapse direct"], ["all", "collapse all"]], order: [["name", "by name"], ["size", "by size"]],
	names: [["short", "short"], ["full", "full"]], top: [[0, "at the bottom"], [1, "on top"]], theme: [["", "as the system"], ["light", "light"], ["dark", "dark"]],
	lanes: [["cpu", "CPUs"], ["thread", "threads"]], width: [["both", "both"], ["a", "A"], ["b", "B"]],
};

function checked(state, first) {
	for (const [key, values] of Object.entries(LISTS)) {
		if (!values.some(([value]) => value === state[key]))
			state[key] = first[key];
	}
	if (!["graph", "table"].includes(state.show))
		state.show = first.show;
	return state;
}
