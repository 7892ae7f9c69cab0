// SPDX-License-Identifier: Apache-2.0
// How fast Chromium shows a page and answers. Usage: node speed.mjs PAGE BYTES VIEWER-BYTES
import { openBrowser, openPage } from "./browser.mjs";

const [file, bytes, viewer] = process.argv.slice(2);
const browser = await openBrowser();
await (await openPage(browser, file)).context().close(); // the browser's own first steps are not the page's
const page = await openPage(browser, file);
const shown = await page.evaluate(() => performance.getEntriesByName("shown")[0].startTime);
const frames = await page.evaluate(() => globalThis.app.tree.length - 1);
const clicks = await page.evaluate(async () => {
	const times = [], app = globalThis.app;
	const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
	for (let i = 0; i < 9; i++) {
		const rows = app.layout.rows, row = rows[Math.min(rows.length - 1, 2 + i * 2)].node, node = row[row.length >> 1];
		const from = performance.now();
		app.zoomTo(node);
		await painted();
		times.push(performance.now() - from);
		app.zoomTo(0);
		await painted();
	}
	return times.sort((a, b) => a - b);
});
const search = await page.evaluate(() => {
	const from = performance.now();
	globalThis.app.set({ find: "Handler1\\d+<" });
	return performance.now() - from;
});
const callers = await page.evaluate(() => {
	const from = performance.now();
	globalThis.app.set({ callers: 1, find: "" });
	return performance.now() - from;
});
console.log(`page in Chromium       ${frames} frames, ${((bytes - viewer) / frames).toFixed(2)} bytes a frame (bar 6); shown after ${shown.toFixed(0)} ms (bar 1000)`);
console.log(`                       click to painted: median ${clicks[4].toFixed(0)} ms, worst ${clicks[8].toFixed(0)} ms (bar 100); search ${search.toFixed(0)} ms; callers ${callers.toFixed(0)} ms`);
await browser.close();
