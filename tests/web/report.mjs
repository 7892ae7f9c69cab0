// SPDX-License-Identifier: Apache-2.0
// The pages of preport html and preport annotate --html. Usage: node report.mjs DIR, where html.sh has put them.
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { axe, openBrowser, openPage } from "./browser.mjs";

const dir = process.argv[2], complaints = [];
const browser = await openBrowser();

async function check(page, what) {
	await page.evaluate(axe);
	const { violations } = await page.evaluate(() => globalThis.axe.run());
	const bad = violations.filter((one) => ["serious", "critical"].includes(one.impact));
	assert.deepEqual(bad.map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 200)}`), [], what);
	assert.equal(await page.evaluate(() => globalThis.evil), undefined, what);
}

// A frame leads to its instructions, a jump to its target, and back; the flame graph stays as it was.
for (const scheme of ["light", "dark"]) {
	const page = await openPage(browser, `${dir}/report.html`, { complaints, scheme });
	await page.fill("#find", "^hot$");
	await page.click("#next");
	await page.focus("#canvas");
	await page.waitForSelector("#panel a.to-code");
	assert.match(await page.textContent("#panel .name"), /^hot/);
	await page.click("#panel a.to-code");
	const id = await page.evaluate(() => location.hash.slice(1));
	assert.match(await page.textContent(`#${id} h2`), /^hot$/);
	assert.ok(await page.evaluate((at) => Math.abs(document.getElementById(at).getBoundingClientRect().top) < innerHeight, id));
	await page.click(`#${id} .insn td.text a`);
	const target = await page.evaluate(() => location.hash.slice(1));
	assert.equal(await page.evaluate((at) => document.getElementById(at).matches("tr:target"), target), true);
	assert.equal(await page.inputValue("#find"), "^hot$");
	assert.match(await page.textContent("#summary pre"), /trust: /);
	assert.match(await page.textContent("#tables"), /hot/);
	await check(page, `report.html ${scheme}`);
	await page.context().close();
}

// On paper: all of the graph, no wider than the page, and no controls.
{
	const page = await openPage(browser, `${dir}/report.html`, { complaints, width: 718 });
	await page.emulateMedia({ media: "print" });
	await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
	const rows = await page.evaluate(() => new Set([...document.querySelectorAll("#printed svg g rect")].map((one) => one.getAttribute("y"))).size);
	assert.equal(rows, await page.evaluate(() => globalThis.app.layout.rows.length));
	assert.ok(await page.isVisible("#printed svg") && !await page.isVisible("#tools") && !await page.isVisible("#canvas"));
	assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "wider than the paper");
	await page.evaluate(() => dispatchEvent(new Event("afterprint")));
	assert.equal(await page.evaluate(() => document.getElementById("printed").childElementCount), 0);
	await page.context().close();
}

// No script at all on the page of annotate; names from hostile places do nothing.
for (const file of ["code.html", "hostile.html"])
	for (const width of [1280, 400]) {
		const context = await browser.newContext({ viewport: { width, height: 800 } }), page = await context.newPage();
		page.on("console", (message) => complaints.push(`${file}: ${message.text()}`));
		page.on("pageerror", (error) => complaints.push(`${file}: ${error}`));
		page.on("request", (request) => /^(file|data|blob):/.test(request.url()) || complaints.push("asked for " + request.url()));
		await page.goto(pathToFileURL(`${dir}/${file}`).href);
		await page.waitForFunction((flame) => !flame || globalThis.app, file === "hostile.html");
		assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${file} is wider than ${width}`);
		await check(page, file);
		await context.close();
	}
assert.deepEqual(complaints, []);
await browser.close();
