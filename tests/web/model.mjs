// SPDX-License-Identifier: Apache-2.0
// The parts of the page that need no browser: names, statistics, colours, trees. Run by node; silent if all is well.
import assert from "node:assert/strict";
import { contrast, legend, offShare, painter, textOn, THEMES } from "../../report/page/web/colours.js";
import { fit, steps, withoutArguments, withoutTemplates } from "../../report/page/web/names.js";
import { difference, interval, percent, share } from "../../report/page/web/stats.js";
import { buildTree } from "../../report/page/web/tree.js";
import { CallerTree } from "../../report/page/web/callers.js";
import { coveredBy, hitsBelow, matchFrames, pattern } from "../../report/page/web/search.js";
import { neighbours, sumFunctions } from "../../report/page/web/functions.js";
import { firstState, readHash, writeHash } from "../../report/page/web/state.js";

// ---- names ----

for (const [full, short] of [
	["f(int)", "f"],
	["(anonymous namespace)::f(int)", "(anonymous namespace)::f"],
	["std::vector<int, std::allocator<int> >::push_back(int&&)", "std::vector<int, std::allocator<int> >::push_back"],
	["a::operator()(int) const", "a::operator()"],
	["a::operator<<(std::ostream&, b const&)", "a::operator<<"],
	["operator-><int>(x<y>)", "operator-><int>"],
	["f(int)::{lambda(char)#1}::operator()(char) const", "f::{lambda(char)#1}::operator()"],
	["void g<int>(int)", "g<int>"],
	["std::enable_if<(1 > 0), int>::type h<int>(int)", "h<int>"],
	["f(int) [clone .part.0]", "f [clone .part.0]"],
	["<T as core::fmt::Debug>::fmt", "<T as core::fmt::Debug>::fmt"],
	["core::ptr::drop_in_place<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place<alloc::vec::Vec<u8>>"],
	["main", "main"], ["[cc1+0x80c900]", "[cc1+0x80c900]"], ["f(", "f"], ["", ""],
])
	assert.equal(withoutArguments(full), short, full);
assert.equal(withoutTemplates("std::vector<int, std::allocator<int> >::push_back(int&&)"), "std::vector<\u2026>::push_back");
assert.equal(withoutTemplates("<T as core::fmt::Debug>::fmt"), "<T as core::fmt::Debug>::fmt");
assert.deepEqual(steps("a::b<int>::c(char)"), ["a::b<int>::c(char)", "a::b<int>::c", "a::b<\u2026>::c", "b<\u2026>::c", "c"]);
assert.equal(fit(steps("a::b<int>::c(char)"), 9), "b<\u2026>::c");
assert.equal(fit(["abcdef"], 4), "abc\u2026");
assert.equal(fit(["abcdef"], 2), "");
for (const hostile of ["(((((", "<<<<", ">>>>", "operator", "operator<", "::", "a::", "{(<[", "f(".repeat(5000), "a::".repeat(1300)])
	steps(hostile);

// ---- statistics ----

const s = share({ w: 30, n: 30, q: 30 }, { w: 100, n: 100, q: 100 });
assert.ok(Math.abs(s.low - 0.2189) < 1e-3 && Math.abs(s.high - 0.3958) < 1e-3);
assert.deepEqual(share({ w: 0, n: 0, q: 0 }, { w: 0, n: 0, q: 0 }), { share: 0, low: 0, high: 1 });
assert.equal(difference(s, s).delta, 0);
// What was measured has no interval; beside it only the rest varies, within itself.
assert.equal(interval(share({ w: 30, n: 3, q: 300, e: 30, x: 300 }, { w: 100, n: 9, q: 3000, e: 100, x: 3000 })), "exact");
const part = share({ w: 60, n: 9, q: 2510, e: 50, x: 2500 }, { w: 100, n: 29, q: 5020, e: 80, x: 5000 });
assert.ok(part.share === 0.6 && part.low > 0.5 && part.low < 0.58 && part.high > 0.62 && part.high < 0.7);
// Of how many samples is not known: there is no interval.
assert.equal(interval(share({ w: 30, n: 1, q: NaN }, { w: 100, n: 2, q: NaN })), "?");
assert.equal(percent(0.12345), "12.35 %");

// ---- colours ----

for (const theme of Object.values(THEMES)) {
	for (const fill of [...theme.kinds, ...theme.modules, ...theme.heat, ...theme.less, ...theme.more, theme.other, theme.same, theme.match])
		assert.ok(contrast(fill, textOn(fill)) >= 4.5, fill);
	for (const text of [theme.text, theme.muted, theme.ring])
		assert.ok(contrast(text, theme.ground) >= 4.5, text);
}

// ---- trees: main(10) -> a(20) -> b(30) -> a(5), and kernel code k below b (7); names a b k main ----

const p = {
	nfunctions: 4, nmodules: 2, name: ["a", "b", "k", "main"], module: [0, 0, 1, 0], file: ["", "", "", ""], line: [0, 0, 0, 0],
	parent: Int32Array.of(0, 0, 1, 2, 3, 3), func: Int32Array.of(0, 3, 0, 1, 0, 2), inlined: Uint8Array.of(0, 0, 0, 1, 0, 0),
	row: { node: Int32Array.of(1, 2, 3, 4, 5), thread: Int32Array.of(0, 0, 0, 1, 1), cpu: Int32Array.of(0, 1, 0, 1, -1), stop: Uint8Array.of(0, 0, 0, 0, 1), off: Uint8Array.of(0, 0, 1, 0, 0) },
	sets: [{ row: Int32Array.of(0, 1, 2, 2, 3, 4), bin: Int32Array.of(0, 1, 2, 3, 4, 5), count: Float64Array.of(10, 20, 10, 20, 5, 7), weight: Float64Array.of(1, 1, 1, 1, 1, 1) }],
	meta: { modules: [["prog", "/prog", "user"], ["[kernel]", "[kernel]", "kernel"]], threads: [[1, 1, "t1", "p", 0], [1, 2, "t2", "p", 0]], stops: ["", "no table"], bins: 6, bin: 1, start: 0, sets: [] },
};
const look = (change = {}) => buildTree(p, { selections: [{ set: 0, from: 0, to: 6 }], by: "none", recursion: "keep", hidden: new Set(), folded: new Set(), keep: [], order: "name", width: "both", ...change });
const dump = (tree, node = 0) => tree.name(node) + ":" + tree.total(node).w + ([...tree.children(node)].length ? "(" + [...tree.children(node)].map((one) => dump(tree, one)).join(" ") + ")" : "");

assert.equal(dump(look()), "all:72([no table]:7(main:7(a:7(b:7(k:7)))) main:65(a:55(b:35(a:5))))");
assert.equal(dump(look({ by: "thread" })), "all:72(t1 (1/1):60(main:60(a:50(b:30))) t2 (1/2):12([no table]:7(main:7(a:7(b:7(k:7)))) main:5(a:5(b:5(a:5)))))");
assert.equal(dump(look({ recursion: "all" })), "all:72([no table]:7(main:7(a:7(b:7(k:7)))) main:65(a:55(b:30)))");
assert.equal(dump(look({ hidden: new Set([0]) })), "all:72([no table]:7(k:7))");
assert.equal(dump(look({ folded: new Set([0]) })), "all:72([no table]:7([prog]:7(k:7)) [prog]:65)");
assert.equal(dump(look({ selections: [{ set: 0, from: 2, to: 5 }] })), "all:35(main:35(a:35(b:35(a:5))))");
assert.equal(dump(look({ keep: [Uint8Array.of(0, 0, 1, 0)] })), "all:7([no table]:7(main:7(a:7(b:7(k:7)))))");
assert.equal(dump(new CallerTree(look(), "name", "both")), "all:72(a:25(b:5(a:5(main:5)) main:20) b:30(a:30(main:30)) k:7(b:7(a:7(main:7([no table]:7)))) main:10)");

const tree = look(), two = look({ selections: [{ set: 0, from: 0, to: 2 }, { set: 0, from: 2, to: 6 }] });
const covered = (text) => coveredBy(tree, matchFrames(tree, pattern(text)))[0].w;
assert.equal(covered("^a$"), 62); // nested hits count once
assert.equal(covered("a"), 72); // "main" too, and what stands on it
assert.equal(pattern("("), null);
assert.equal(hitsBelow(tree, 0, matchFrames(tree, /^a$/)).map((node) => tree.total(node).w).join(), "7,55,5");
assert.deepEqual([two.total(0).w, two.total(0, 1).w], [30, 42]);

const row = (name) => sumFunctions(tree).find((one) => one.text === name);
assert.deepEqual([row("a").self[0].w, row("a").total[0].w, row("main").total[0].w, row("b").self[0].w], [25, 62, 72, 30]);
const around = neighbours(tree, 0), text = (list) => list.map((one) => one.text + ":" + one.sums[0].w).sort().join();
assert.equal(text(around.callers), "main:62");
assert.equal(text(around.callees), "[self]:25,b:37");

// ---- two hues: of a, b in main the 30 of row 2 were off the CPU ----

const turned = new CallerTree(tree, "name", "both"), on = THEMES.light.modules[0], off = THEMES.light.modules[1];
const node = (of, name, weight) => [...of.frame.keys()].find((at) => of.name(at) === name && of.total(at).w === weight);
turned.children(0);
assert.equal(offShare(tree, 0), 30 / 72);
assert.equal(offShare(tree, node(tree, "b", 35)), 30 / 35);
assert.equal(offShare(turned, node(turned, "b", 30)), 1);
assert.equal(painter(tree, "cpu", THEMES.light, {})(node(tree, "b", 35)), on); // its part off the CPU is painted over it
assert.equal(painter(turned, "cpu", THEMES.light, {})(node(turned, "b", 30)), off);
assert.deepEqual(legend(tree, "cpu", THEMES.light), [[on, "on a CPU"], [off, "off CPU"]]);
assert.equal(firstState({ sets: [{ first: true }], meta: {}, hasOff: true }).colour, "cpu");

// ---- the URL ----

const first = firstState({ sets: [{ first: true }], meta: { by: "program" } });
const state = { ...first, by: "cpu", find: "a b&c=#", keep: ["x", "y z"], a: [3, 9], hide: [1], top: 1 };
assert.deepEqual(readHash(writeHash(state, first), first), state);
assert.equal(writeHash(first, first), "");
assert.deepEqual(readHash("#by=../../x&a=9&a=3&hide=-1&hide=x&set=1e99x&callers=NaN&theme=%22%3E", first), first);
