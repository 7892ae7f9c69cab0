// SPDX-License-Identifier: Apache-2.0
// The page of preport diff --flamegraph. Usage: node diff.mjs DIR, where diff_page.sh has put pages and tables.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { axe, openBrowser, openPage } from "./browser.mjs";

const dir = process.argv[2], complaints = [];
const browser = await openBrowser();
const open = (file, options = {}) => openPage(browser, `${dir}/${file}`, { complaints, ...options });

function csv(file) {
	const [head, ...lines] = readFileSync(`${dir}/${file}`, "utf8").trim().split(/\r?\n/).map((line) => line.split(","));
	return lines.map((line) => Object.fromEntries(head.map((key, i) => [key, line[i]])));
}
const parse = (text) => parseFloat(text.replace("\u2212", "-").replace("\u00b1", "")) / 100;
const near = (a, b, what) => assert.ok(Math.abs(a - b) < 6e-5, `${what}: ${a} is not ${b}`);
const functions = (page) => page.$$eval("#functions tbody tr", (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));

// The table of the page says what preport diff prints.
{
	const page = await open("page.html", { hash: "#show=table" });
	const rows = new Map((await functions(page)).map((cells) => [cells.at(-1), cells]));
	for (const row of csv("total.csv")) {
		const [change, , a, na, b, nb] = rows.get(row.function);
		near(parse(change), Number(row.change), `change of ${row.function}`);
		near(parse(a), Number(row.a), `${row.function} in A`);
		near(parse(b), Number(row.b), `${row.function} in B`);
		assert.deepEqual([na, nb], [row.samples_a, row.samples_b], row.function);
	}
	assert.equal(rows.size, csv("total.csv").length);
	for (const row of csv("leaf.csv"))
		near(parse(rows.get(row.function)[1]), Number(row.a), `self of ${row.function} in A`);
	for (const [head, first] of [["total", "main"], ["other", "lex"], ["change", "lex"]]) {
		await page.click(`#functions th.${head} button`);
		assert.equal((await functions(page))[0].at(-1), first, `sorted by ${head}`);
	}
	await page.click("#functions td.name button >> text=fresh");
	assert.match(await page.textContent("#around"), /n 0 in A.*n 134 in B.*Callers in B.*send/s);
}

// The table is as sure as preport diff --by total, and of two recordings of the same that differ by chance nothing is.
async function signed(page) {
	return page.evaluate(() => {
		const app = globalThis.app, nodes = Array.from({ length: app.shown.length }, (_, node) => node);
		return nodes.filter((node) => app.signed(node).at(-1)[0] !== "=").map((node) => app.shown.name(node));
	});
}
for (const name of ["page", "chance", "few"]) {
	const page = await open(`${name}.html`, { hash: "#show=table" }), rows = csv(`${name === "page" ? "total" : name}.csv`);
	const sure = await page.$$eval("#functions tbody tr", (all) => all.filter((row) => row.cells[0].className === "").map((row) => row.cells[row.cells.length - 1].textContent));
	assert.deepEqual(sure.sort(), rows.filter((row) => row.sure === "true").map((row) => row.function).sort(), `${name}: what is sure`);
	assert.equal(sure.length > 0, name !== "chance", name);
	assert.ok(await page.isHidden("#colour"), "a list of colours that has no effect");
	if (name !== "chance")
		continue;
	assert.ok(rows.filter((row) => Number(row.low) > 0 || Number(row.high) < 0).length > 1, "each row by itself would be an alarm");
	await page.click("#show-graph");
	assert.deepEqual(await signed(page), [], "chance");
	assert.match(await page.textContent("#trust"), /colours of \d{3} frames together/);
	assert.ok(await page.isVisible("#width") && await page.isHidden("#set"), "widths can be chosen, events cannot");
	await page.click("#callers");
	await page.evaluate(() => [...globalThis.app.shown.children(0)].forEach((node) => globalThis.app.shown.children(node)));
	assert.deepEqual(await signed(page), [], "chance, callers");
}

// Each frame has its sign; what vanished has a box.
{
	const page = await open("page.html"), signs = await page.evaluate(() => {
		const app = globalThis.app, tree = app.shown;
		return Object.fromEntries(Array.from({ length: tree.length }, (_, node) => [tree.name(node), app.signed(node).at(-1)[0]]));
	});
	const want = { vanished: "\u2212", old_code: "\u2212", sum: "\u2212", lex: "+", parse: "+", fresh: "+", main: "=", send: "=" };
	for (const [name, sign] of Object.entries(want))
		assert.equal(signs[name], sign, name);
	const boxes = await page.evaluate(() => globalThis.app.layout.rows.flatMap((row) => [...row.node].map((node) => globalThis.app.shown.name(node))));
	assert.ok(boxes.includes("vanished"));
	assert.match(await page.textContent("#legend"), /B has more.*B has less.*no more than noise/);
	const same = await open("same.html");
	assert.deepEqual(await signed(same), [], "a recording differs from itself");
}

// By keyboard, and what the keys are at is in view: the panel does not lie upon it.
for (const width of [1280, 400]) {
	const page = await open("page.html", { width, height: 720 });
	for (let i = 0; i < 40 && await page.evaluate(() => document.activeElement.id !== "canvas"); i++)
		await page.keyboard.press("Tab");
	for (const key of ["ArrowUp", "ArrowUp", "ArrowUp"])
		await page.keyboard.press(key);
	assert.match(await page.textContent("#live"), /, A \d.*, B \d.*, B \u2212 A /);
	assert.ok(await page.evaluate(() => document.getElementById("graph").getBoundingClientRect().bottom
		<= document.getElementById("panel").getBoundingClientRect().top + 1), `${width}: the frame is under the panel`);
	await page.keyboard.press("Enter");
	assert.match(await page.textContent("#crumbs"), /all\u203a.+\u203a/);
	await page.keyboard.press("t");
	assert.ok(await page.isVisible("#functions"));
	await page.context().close();
}

// Hostile names are text.
for (const hash of ["", "#show=table", "#names=full"]) {
	const page = await open("hostile.html", { hash });
	if (!hash.includes("table")) {
		await page.focus("#canvas");
		for (const step of ["ArrowUp", "ArrowUp", "Enter"])
			await page.keyboard.press(step);
	}
	assert.equal(await page.evaluate(() => globalThis.evil), undefined);
	assert.equal(await page.$("header svg, header script, #panel svg, #panel img, #functions svg, #functions img, #event svg"), null);
	assert.doesNotMatch(await page.evaluate(() => document.body.textContent + document.title), /[\u0000-\u0008\u001b\u202a-\u202e\u2066-\u2069]/);
	assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${hash}: wider than the window`);
	await page.context().close();
}
const ours = complaints.splice(0);
assert.deepEqual(ours, []);

for (const scheme of ["light", "dark"])
	for (const width of [1280, 400])
		for (const hash of ["", "#show=table"]) {
			const page = await open("page.html", { hash, width, scheme });
			await page.evaluate(axe);
			const { violations } = await page.evaluate(() => globalThis.axe.run({ resultTypes: ["violations"] }));
			const bad = violations.filter((one) => ["serious", "critical"].includes(one.impact));
			assert.deepEqual(bad.map((one) => `${one.id}: ${one.nodes[0].html}`), [], `${scheme} ${width} ${hash}`);
			assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${width} ${hash} scrolls sideways`);
			await page.context().close();
		}
assert.deepEqual(complaints, []);
await browser.close();
