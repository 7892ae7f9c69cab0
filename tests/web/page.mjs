// SPDX-License-Identifier: Apache-2.0
// The flame graph page as a user meets it. Usage: node page.mjs DIR, where flamegraph_page.sh has put pages, and the tables that
// preport prints of the same recording.
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
const near = (a, b, what) => assert.ok(Math.abs(a - b) < 6e-5, `${what}: ${a} is not ${b}`);
const tableRows = (page) => page.$$eval("#functions tbody tr", (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
const panel = (page) => page.textContent("#panel");
const parse = (text) => parseFloat(text) / 100;

// What the table says is what preport prints, in all of time and in a window.
async function sameAsTables(hash, leaves, totals) {
	const page = await open("page.html", { hash });
	const rows = new Map((await tableRows(page)).map(([self, total, n, name]) => [name, { self, total, n }]));
	for (const leaf of csv(leaves))
		near(parse(rows.get(leaf.function).self), Number(leaf.share), `self of ${leaf.function} ${hash}`);
	for (const total of csv(totals)) {
		near(parse(rows.get(total.function).total), Number(total.share), `total of ${total.function} ${hash}`);
		assert.equal(Number(rows.get(total.function).n.replace(/,/g, "")), Number(total.samples), total.function);
	}
	assert.equal(rows.size, csv(totals).length);
	for (const total of csv(totals)) {
		await page.fill("#find", `^${total.function}$`);
		near(parse(await page.textContent("#matched")), Number(total.share), `search for ${total.function}`);
	}
	await page.context().close();
}
await sameAsTables("#show=table", "leaf.csv", "total.csv");
await sameAsTables("#show=table&a=500&a=1500", "leaf_window.csv", "total_window.csv");
await sameAsTables("#show=table&set=1", "leaf_other.csv", "total_other.csv");

// Everything by keyboard: walk, zoom, back, search, hits, filter, callers, table, theme, time.
{
	const page = await open("page.html"), key = (name) => page.keyboard.press(name);
	await page.focus("#canvas");
	await key("ArrowUp");
	assert.match(await page.textContent("#live"), /^server/);
	await key("ArrowUp");
	await key("Enter");
	assert.equal(await page.textContent("#crumbs"), "all\u203aserver\u203amain");
	assert.match(await panel(page), /^main.*Total.*n .*Of the zoomed.*100\.00 %/s);
	await key("ArrowUp");
	const child = await page.textContent("#panel .name");
	assert.notEqual(child, "main");
	await page.evaluate(() => navigator.clipboard.writeText = (text) => { globalThis.copied = text; return Promise.resolve(); });
	await key("C");
	assert.equal(await page.evaluate(() => globalThis.copied), `server\nmain\n${child}`);
	await key("Backspace");
	await page.waitForFunction(() => document.getElementById("crumbs").textContent === "all");
	await key("/");
	await page.keyboard.type("^parse$");
	await key("Enter");
	assert.match(await page.textContent("#live"), /^hit 1 of \d+: parse/);
	await page.focus("#canvas");
	await key("f");
	assert.match(await page.textContent("#chips"), /only stacks with \^parse\$/);
	const whole = csv("total.csv").find((row) => row.function === "parse");
	near(parse((await panel(page)).match(/Total([\d.]+) %/)[1]), 1, "the filter's share of itself");
	assert.ok((await page.textContent("#facts")).includes(Number(whole.samples).toLocaleString("en-US") + " samples"));
	await key("i");
	assert.equal(await page.getAttribute("#callers", "aria-pressed"), "true");
	await page.focus("#canvas");
	await key("ArrowUp");
	assert.match(await panel(page), /Total.*\u2013/s);
	await key("t");
	assert.ok(await page.isVisible("#functions"));
	await key("t");
	await key("d");
	assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
	await page.focus("#strip");
	await key("ArrowRight");
	assert.match(await page.textContent("#chips"), /A 0\.000\u2013/);
	const link = await page.evaluate(() => location.hash);
	const again = await open("page.html", { hash: link });
	assert.equal(await again.textContent("#chips"), await page.textContent("#chips"));
	assert.equal(await again.textContent("#facts"), await page.textContent("#facts"));
	await key("?");
	assert.ok(await page.isVisible("#keys"));
}

// By mouse: zoom, hover, a window by dragging, a second one; pictures that can be opened.
{
	const page = await open("page.html"), canvas = await (await page.$("#canvas")).boundingBox();
	await page.mouse.move(canvas.x + canvas.width * 0.7, canvas.y + canvas.height - 30);
	assert.match(await page.textContent("#panel .name"), /^server/);
	await page.mouse.click(canvas.x + canvas.width * 0.7, canvas.y + canvas.height - 30);
	assert.equal(await page.textContent("#crumbs"), "all\u203aserver");
	const strip = await (await page.$("#strip")).boundingBox();
	const drag = async (from, to) => {
		await page.mouse.move(strip.x + strip.width * from, strip.y + 6);
		await page.mouse.down();
		await page.mouse.move(strip.x + strip.width * to, strip.y + 6, { steps: 4 });
		await page.mouse.up();
	};
	await drag(0.2, 0.5);
	await page.click("#compare");
	await drag(0.6, 0.9);
	assert.match(await page.textContent("#chips"), /A .* s.*B .* s/);
	assert.match(await panel(page), /B \u2212 A/);
	for (const kind of ["svg", "png"]) {
		await page.click("#more summary");
		const [file] = await Promise.all([page.waitForEvent("download"), page.click("#save-" + kind)]);
		const bytes = readFileSync(await file.path());
		assert.ok(kind === "svg" ? bytes.toString().trimEnd().endsWith("</svg>") : bytes.subarray(1, 4).toString() === "PNG");
		await page.keyboard.press("Escape");
		if (kind === "svg")
			assert.equal(await page.evaluate((text) => new DOMParser().parseFromString(text, "image/svg+xml").querySelector("parsererror"), bytes.toString()), null);
	}
}

// What stands under "More": the ways of looking, each of which can be taken back.
{
	const page = await open("page.html"), paths = () => page.evaluate(() => {
		const tree = globalThis.app.tree;
		return Array.from({ length: tree.length }, (_, node) => tree.path(node).map((one) => tree.name(one)).join(";"));
	});
	assert.ok((await paths()).includes("server;main;parse;lex;parse;next"));
	await page.click("#more summary");
	await page.selectOption("#recursion", "all");
	assert.ok((await paths()).includes("server;main;parse;next"));
	await page.selectOption("#recursion", "keep");
	await page.selectOption("#by", "thread");
	assert.ok((await paths()).includes("worker (10/11);main;work;hash"));
	await page.selectOption("#by", "none");
	assert.ok((await paths()).includes("main;work;hash"));
	await page.selectOption("#top", "1");
	const canvas = await (await page.$("#canvas")).boundingBox();
	await page.mouse.move(canvas.x + 50, canvas.y + 8);
	assert.equal(await page.textContent("#panel .name"), "all");
	const module = await page.$eval("#module", (list) => list.selectedOptions[0].textContent);
	await page.click("#fold");
	assert.equal(await page.textContent("#chips"), `folded: ${module} \u2715`);
	assert.ok((await paths()).includes(`[${module}]`));
	await page.click("#chips button");
	await page.click("#more summary");
	await page.click("#hide");
	assert.ok(!(await paths()).some((path) => path.includes("hash") && path.includes("main")));
	await page.click("#chips button");
	assert.ok((await paths()).includes("main;work;hash"));
	for (const colour of ["module", "self", "kind"]) {
		await page.selectOption("#colour", colour);
		assert.match(await page.textContent("#legend"), { module: /other modules/, self: /itself/, kind: /JIT/ }[colour]);
	}
	await page.click("#callers");
	const widths = await page.evaluate(() => globalThis.app.layout.rows[1].w);
	assert.deepEqual(widths, [...widths].sort((a, b) => b - a), "callers of leaves, the greatest first");
	await page.click("#show-table");
	for (const [column, want] of [["name", /^hash/], ["total", /^main/]]) {
		await page.click(`#functions th.${column} button`);
		assert.match(await page.textContent("#functions tbody tr:first-child td.name"), want);
	}
	await page.click("#functions td.name button >> text=lex");
	assert.match(await page.textContent("#around"), /lex.*Callers.*parse.*Callees.*parse/s);
}

// Hostile names are text, whatever is done with them.
for (const hash of ["", "#show=table", "#callers=1&colour=module&names=full", "#by=thread&find=."]) {
	const page = await open("hostile.html", { hash });
	assert.equal(await page.$$eval("script", (all) => all.filter((one) => /evil=1/.test(one.textContent)).length), 0);
	assert.equal(await page.$("#panel svg, #panel img, #functions svg, #functions img"), null);
	for (const step of ["ArrowUp", "ArrowUp", "ArrowUp", "Enter"]) {
		if (!hash.includes("table"))
			await page.focus("#canvas");
		await page.keyboard.press(step);
	}
	const text = await page.evaluate(() => document.body.textContent);
	assert.doesNotMatch(text, /[\u0000-\u0008\u000b\u001b\u202a-\u202e\u2066-\u2069\u200e\u200f]/);
	assert.equal(await page.evaluate(() => globalThis.evil), undefined);
	assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "a long name makes the page wider");
}

// Nobody is shut out: axe-core finds nothing serious, in both themes, wide and narrow, graph and table.
for (const scheme of ["light", "dark"]) {
	for (const width of [1280, 400]) {
		for (const hash of ["#find=parse", "#show=table", "#a=500&a=1000&b=1500&b=2500"]) {
			const page = await open("page.html", { hash, width, scheme });
			if (scheme === "light" && width === 1280)
				await page.click("#more summary");
			await page.addScriptTag({ content: axe }).catch(() => page.evaluate(axe));
			const found = await page.evaluate(() => globalThis.axe.run({ resultTypes: ["violations"] }));
			const bad = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
			assert.deepEqual(bad.map((one) => `${one.id}: ${one.nodes[0].html}`), [], `${scheme} ${width} ${hash}`);
			assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${width} ${hash} scrolls sideways`);
			await page.context().close();
		}
	}
}
// The policy refuses what axe was added by first; that is no complaint of the page's own.
const ours = complaints.filter((text) => !/Content Security Policy/.test(text));
assert.deepEqual(ours, []);

// A page that was cut says so.
{
	const page = await openPage(browser, `${dir}/cut.html`, { complaints: [] }).catch((error) => error);
	assert.match(await page.textContent("body"), /cannot be shown/);
}
await browser.close();
