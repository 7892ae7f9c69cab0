// SPDX-License-Identifier: Apache-2.0
// Lanes of threads in a page. Usage: node lanes.mjs DIR: page.html there was made of a recording whose threads are as long, in ns,
// as threads.csv says; model/ has a copy of report/page/web.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

const dir = process.argv[2];
const { readLanes, spanAt } = await import(`${dir}/model/report/page/web/lanes.js`);
const { waitsOf } = await import(`${dir}/model/report/page/web/latency.js`);
const block = /id="lanes-data">([^<]*)</.exec(readFileSync(`${dir}/page.html`, "utf8"))[1];
const d = readLanes(gunzipSync(Buffer.from(block, "base64")));

// Each lane is as long as its thread, without gaps, and a moment in it is found.
const wanted = new Map(readFileSync(`${dir}/threads.csv`, "utf8").trim().split("\n").map((line) => line.split("\t").map(Number)));
let waits = 0, wakened = -1;
for (const lane of d.lanes) {
	let sum = 0;
	for (let at = lane.first; at < lane.end; at++) {
		sum += d.len[at];
		waits += d.kinds[d.kind[at]] !== "on a CPU" && d.kinds[d.kind[at]] !== d.kinds.at(-1);
		if (d.waker[at] && d.waker[at] - 1 !== lane.number && spanAt(d, d.lanes[d.waker[at] - 1], d.from[at] + d.len[at]) >= 0)
			wakened = at;
		if (at > lane.first)
			assert.equal(d.from[at], d.from[at - 1] + d.len[at - 1], lane.name);
		assert.equal(spanAt(d, lane, d.from[at] + Math.floor(d.len[at] / 2)), at);
	}
	if (lane.end > lane.first)
		assert.equal(sum, wanted.get(Number(lane.name.split(" ").at(-1))), lane.name);
}
assert.ok(waits > 10, `${waits} waits`);
assert.equal(waitsOf(d, d.lanes, d.range, "").length, waits);
assert.ok(d.functions.includes("wait_for_lock"), d.functions.join());

if (process.env.CHROMIUM) {
	const { axe, openBrowser, openPage } = await import("./browser.mjs");
	const complaints = [], browser = await openBrowser(), page = await openPage(browser, `${dir}/page.html`, { complaints });
	await page.waitForFunction(() => globalThis.lanes);
	const said = () => page.textContent("#lanes-said"), key = (name) => page.keyboard.press(name);
	const range = () => page.evaluate(() => lanes.range);
	const events = await page.$$eval("#set option", (options) => options.map((option) => option.textContent));
	assert.deepEqual([...events].sort().filter((name) => /^(off-cpu|wall)$/.test(name)), ["off-cpu", "wall"]);
	await page.selectOption("#set", String(events.indexOf("wall")));
	assert.equal(await page.textContent("#legend"), "on a CPUoff CPU");
	await page.focus("#lanes-canvas");
	await key("ArrowRight");
	const first = await said();
	assert.match(first, /^waits \d+: .* from \d+\.\d{6} s/);
	await key("ArrowRight");
	assert.notEqual(await said(), first);
	const [from, to] = await range();
	await key("+");
	assert.ok((await range())[1] - (await range())[0] < (to - from) * 0.51);
	await key("0");
	assert.deepEqual(await range(), [from, to]);
	if (wakened >= 0) {
		const lane = await page.evaluate((at) => { lanes.show(at); return lanes.laneOf[at]; }, wakened);
		await key("w");
		assert.notEqual(await page.evaluate(() => lanes.laneOf[lanes.chosen]), lane);
	}
	await page.fill("#lanes-filter", "no such thread");
	assert.match(await page.textContent("#lanes-range"), /^0 threads/);
	await page.fill("#lanes-filter", "waits");
	assert.match(await page.getAttribute("#latency", "aria-label"), /^\d+ waits by length: \d+ from /);
	await page.evaluate(axe);
	const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
	assert.deepEqual(found.violations.filter((one) => ["serious", "critical"].includes(one.impact)).map((one) => one.id + ": " + one.nodes[0].html), []);
	assert.deepEqual(complaints, []);
	await browser.close();
}
