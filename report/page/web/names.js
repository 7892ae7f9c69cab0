// SPDX-License-Identifier: Apache-2.0
// Long C++ and Rust names made short in steps: without arguments, without template arguments, without
// namespaces from the left, and only then cut. Never at the first parenthesis: "(anonymous namespace)::f(int)",
// "operator()" and "f(int)::{lambda(char)#1}::operator()(char) const" keep what tells them apart.

const OPEN = "(<[{", CLOSE = ")>]}";

// How many characters of @name at @at are an operator's name ("operator()", "operator<<="), 0 if none is there.
function operatorLength(name, at) {
	if (name[at] !== "o" || !name.startsWith("operator", at) || (at && /[\w$]/.test(name[at - 1])))
		return 0;
	const sign = /^operator\s*(\(\)|\[\]|<=>|->\*?|<<=?|>>=?|[-+*/%^&|!=<>~,]{1,2}=?)/.exec(name.slice(at, at + 14));
	return sign ? sign[0].length : 0;
}

// The end of the bracket that opens at @at, or the end of the name if it never closes.
function closing(name, at) {
	let depth = 0;
	for (let i = at; i < name.length; i++) {
		if (name[i] === ">" && name[i - 1] === "-")
			continue;
		const skip = operatorLength(name, i);
		if (skip)
			i += skip - 1;
		else if (OPEN.includes(name[i]))
			depth++;
		else if (CLOSE.includes(name[i]) && --depth === 0)
			return i + 1;
	}
	return name.length;
}

// The parts of a name at its outermost level: { text, kind }, where kind is "word" or the opening bracket.
export function parts(name) {
	const found = [];
	let from = 0;
	const word = (end) => { if (end > from) found.push({ text: name.slice(from, end), kind: "word" }); };
	for (let i = 0; i < name.length;) {
		const skip = operatorLength(name, i);
		if (skip) {
			i += skip;
		} else if (OPEN.includes(name[i])) {
			const end = closing(name, i);
			word(i);
			found.push({ text: name.slice(i, end), kind: name[i] });
			from = i = end;
		} else {
			i++;
		}
	}
	word(name.length);
	return found;
}

// Is part @i an argument list? "(anonymous namespace)" and Rust's "<T as Trait>" at the beginning are names.
const isArguments = (list, i) => list[i].kind === "(" && list[i].text !== "(anonymous namespace)" && i > 0;
const isTemplate = (list, i) => list[i].kind === "<" && i > 0 && !/(^|::|\s)$/.test(list[i - 1].text);

function join(list) {
	return list.map((part) => part.text).join("");
}

// Without what was called with, its qualifiers, and a return type in front of a template's name.
export function withoutArguments(name) {
	const list = parts(name);
	const kept = list.filter((part, i) => !isArguments(list, i))
		.map((part, i) => i && part.kind === "word" ? { ...part, text: part.text.replace(/^ (const|volatile|&&?|noexcept)(?=$| )/g, "") } : part);
	if (kept.length < list.length)
		dropReturnType(kept);
	return join(kept);
}

// "std::enable_if<...>::type f": a blank at the outermost level ends the return type.
function dropReturnType(list) {
	for (let i = list.length; i-- > 0;) {
		if (list[i].kind !== "word")
			continue;
		const name = /^(.*\s)(?!\[)([^\s].*)$/.exec(list[i].text.replace(/(operator) /g, "$1\u0001"));
		if (name && !/operator\s*$/.test(name[1])) {
			list[i] = { ...list[i], text: name[2].replaceAll("\u0001", " ") };
			list.splice(0, i);
			return;
		}
	}
}

export function withoutTemplates(name) {
	const list = parts(withoutArguments(name));
	return join(list.map((part, i) => isTemplate(list, i) ? { ...part, text: "<\u2026>" } : part));
}

// Every shorter form of @name, longest first; the last has no namespace.
export function steps(name) {
	const found = [name];
	const add = (text) => { if (text && text.length < found[found.length - 1].length) found.push(text); };
	add(withoutArguments(name));
	add(withoutTemplates(name));
	for (let rest = found[found.length - 1];;) {
		const list = parts(rest);
		const first = list.findIndex((part) => part.kind === "word" && part.text.includes("::"));
		if (first < 0)
			return found;
		rest = list[first].text.slice(list[first].text.indexOf("::") + 2) + join(list.slice(first + 1));
		if (!rest)
			return found;
		add(rest);
	}
}

// Fewer characters than these say nothing.
export const LABEL_MIN = 2;

// The longest form of at most @columns characters, or the shortest one cut; "" if there is no room.
export function fit(forms, columns) {
	for (const form of forms) {
		if (form.length <= columns)
			return form;
	}
	return columns < 3 ? "" : forms[forms.length - 1].slice(0, columns - 1) + "\u2026";
}
