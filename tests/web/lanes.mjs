// SPDX-License-Identifier: Apache-2.0
// Lanes of threads in a page. Usage: node lanes.mjs DIR: page.html there was made of a recording whose threads are as long, in ns,
// as threads.csv says; model/ has a copy of report/page/web.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

const dir = process.argv[2];
const { readLanes, spanAt } = await import(`${dir}/model/report/page/web/spans.js`);
const { chainsOf } = await import(`${dir}/model/report/page/web/chain.js`);
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

// A waits for B, which waits for C: each below the other with the time that it took of the one above. Two waits that another
// thread ends in turn do not go round in circles, and a wait that an interrupt ended ends the chain.
{
	const spans = [[0, 1, 900, 2], [1, 1, 700, 3], [1, 0, 200, 0], [2, 2, 800, 1]], made = { kinds: ["on a CPU", "lock", "sleep"], functions: ["", "f"], ended: new Set([1]), step: 0 };
	made.lanes = ["a", "b", "c"].map((comm, number) => ({ comm, number, first: spans.findIndex((one) => one[0] === number), end: spans.findLastIndex((one) => one[0] === number) + 1 }));
	Object.assign(made, { laneOf: spans.map((one) => one[0]), kind: spans.map((one) => one[1]), len: spans.map((one) => one[2]), waker: spans.map((one) => one[3]), func: [1, 1, 0, 1], from: [0, 0, 700, 0] });
	const told = (chains) => chains.rows.map((row) => `${row.depth} ${row.comm} ${made.kinds[row.kind]} ${row.ns}`).join("; ");
	assert.equal(told(chainsOf(made, [0])), "0 a lock 900; 1 b lock 700; 2 c sleep 700; 1 b on a CPU 200");
	made.waker[1] = 1;
	assert.equal(told(chainsOf(made, [0])), "0 a lock 900; 1 b lock 700; 1 b on a CPU 200");
}

// The page's chains are those of 'preport waits waits', where no spans were joined; of the functions that a thread has under one name.
if (existsSync(`${dir}/chains.csv`) && !d.step) {
	const rows = (list) => list.filter((one) => ["wait_for_lock", "pause_ms"].includes(one[2])).map((one) => one.join("\t")).sort();
	const text = readFileSync(`${dir}/chains.csv`, "utf8").trim().split("\n").map((line) => line.split("\t"));
	const starts = d.lanes.filter((lane) => lane.comm === "waits").flatMap((lane) => Array.from({ length: lane.end - lane.first }, (_, i) => lane.first + i)).filter((at) => d.kinds[d.kind[at]] !== "on a CPU");
	const found = chainsOf(d, starts).rows.map((row) => [row.depth, row.comm, d.functions[row.func], row.ns]);
	assert.ok(rows(found).length > 0);
	assert.deepEqual(rows(found), rows(text));
}

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
		const lane = await page.evaluate((at) => { lanes.show(at); return lanes.d.laneOf[at]; }, wakened);
		await key("w");
		assert.notEqual(await page.evaluate(() => lanes.d.laneOf[lanes.chosen]), lane);
	}
	// Chains: of all in sight, of a wait that is chosen, of its thread; a click on a row shows the longest of its waits.
	const chains = (wanted) => page.waitForFunction((text) => new RegExp(text).test(document.getElementById("chain-said").textContent), wanted);
	await key("0");
	await page.evaluate(() => lanes.choose(-1, "all"));
	await chains("^[\\d,]+ waits, ");
	assert.ok(await page.locator("#chain tbody tr").count() > 0);
	// They are not computed anew when lanes are scrolled.
	assert.ok(await page.evaluate(() => {
		const before = lanes.timer;
		document.getElementById("lanes-box").dispatchEvent(new Event("scroll"));
		return lanes.timer === before;
	}));
	await page.locator("#chain tbody button").first().click();
	assert.match(await said(), / from \d+\.\d{6} s/);
	assert.equal(await page.inputValue("#chain-of"), "all");
	await page.evaluate(() => lanes.choose(lanes.chosen));
	assert.equal(await page.inputValue("#chain-of"), "span");
	await chains("^1 wait, ");
	await page.selectOption("#chain-of", "lane");
	await chains("^[\\d,]+ waits, ");
	assert.equal(await page.locator("#chain-of option:checked").textContent(), await page.evaluate(() => `waits of ${lanes.d.lanes[lanes.d.laneOf[lanes.chosen]].name} in sight`));
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
