// SPDX-License-Identifier: Apache-2.0
// Each busy function is reached by one chain of calls only, so that the innermost function of a sample says who its callers are, and the
// text of this file at which lines: recursion, closures, a generator, an exception, accessors, callbacks of native code, promises.
// Usage: node node_chains.js SECONDS
'use strict';
const done = Date.now() + Number(process.argv[2] || 4) * 1000;
let sink = 0;
function busyPlain(n) { let s = 1; for (let i = 0; i < n; i++) s = (s * 31 + i) % 65521; sink += s; return s; }
function busyDeep(n) { let s = 1; for (let i = 0; i < n; i++) s = (s * 31 + i) % 65521; sink += s; return s; }
function busyMap(n) { let s = 1; for (let i = 0; i < n; i++) s = (s * 31 + i) % 65521; sink += s; return s; }
function busySort(n) { let s = 1; for (let i = 0; i < n; i++) s = (s * 31 + i) % 65521; sink += s; return s; }
function busyReplace(n) { let s = 1; for (let i = 0; i < n; i++) s = (s * 31 + i) % 65521; sink += s; return s; }
function busyGen(n) { let s = 1; for (let i = 0; i < n; i++) s = (s * 31 + i) % 65521; sink += s; return s; }
function busyCatch(n) { let s = 1; for (let i = 0; i < n; i++) s = (s * 31 + i) % 65521; sink += s; return s; }
function busyClosure(n) { let s = 1; for (let i = 0; i < n; i++) s = (s * 31 + i) % 65521; sink += s; return s; }
function busyGetter(n) { let s = 1; for (let i = 0; i < n; i++) s = (s * 31 + i) % 65521; sink += s; return s; }
function busyNew(n) { let s = 1; for (let i = 0; i < n; i++) s = (s * 31 + i) % 65521; sink += s; return s; }
function busyApply(n) { let s = 1; for (let i = 0; i < n; i++) s = (s * 31 + i) % 65521; sink += s; return s; }
function busyJson(n) { let s = 1; for (let i = 0; i < n; i++) s = (s * 31 + i) % 65521; sink += s; return s; }
function busyAsync(n) { let s = 1; for (let i = 0; i < n; i++) s = (s * 31 + i) % 65521; sink += s; return s; }
function tiny(n) { return n * 31 % 65521; }
function busyCalls(n) { let s = 1; for (let i = 0; i < n; i++) s += tiny(s + i); sink += s; return s; } // calls, so that what interprets is sampled itself
function deep(d, n) {
	if (d === 0)
		return busyDeep(n); // deep
	return deep(d - 1, n) + 1; // recurse
}
function* generator(n) {
	for (let i = 0; i < 3; i++)
		yield busyGen(n); // yield
}
function thrower(n) { throw new RangeError('x' + n); }
function catcher(n) {
	try {
		thrower(n);
	} catch (e) {
		busyCatch(n); // caught
	}
}
const closures = [1, 2, 3].map((k) => function closure(n) { return busyClosure(n + k); });
class Shape {
	constructor(n) { if (n) busyNew(n); }
	get area() { return busyGetter(400); }
	toJSON() { return busyJson(400); }
}
const shape = new Shape(0);
function garbage(n) { let a = []; for (let i = 0; i < n; i++) a.push({ i, t: 'text' + i }); return a.length; }
function all(n) {
	busyPlain(n);
	busyCalls(n);
	deep(7, n);
	[1, 2].map(function mapped(x) { return busyMap(n + x); });
	[3, 1, 2].sort(function compare(a, b) { busySort(n / 2); return a - b; });
	'abc'.replace(/b/, function replacer() { return busyReplace(n); });
	for (const x of generator(n / 3))
		sink += x;
	catcher(n);
	for (const c of closures)
		c(n / 3);
	sink += shape.area;
	new Shape(n);
	busyApplied(n);
	JSON.stringify({ shape });
	sink += garbage(300);
}
function busyApplied(n) { return busyApply.apply(null, [n]); }
async function later(n) {
	await null;
	busyAsync(n);
}
async function run() {
	while (Date.now() < done) {
		for (let i = 0; i < 20; i++)
			all(400);
		await later(2000);
	}
}
run();
