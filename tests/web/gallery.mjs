// SPDX-License-Identifier: Apache-2.0
// Usage: node gallery.mjs PAGES FOLDER, where PAGES has page.html, report.html, code.html and diff.html
import { openBrowser, openPage } from "./browser.mjs";

const [pages, folder] = process.argv.slice(2);
const browser = await openBrowser(), complaints = [];

async function shoot(name, file, options, prepare = () => {}) {
	const page = await openPage(browser, `${pages}/${file}`, { ...options, complaints });
	await page.evaluate(() => globalThis.app?.set({ zoom: "" }));
	await prepare(page);
	await page.waitForTimeout(100);
	await page.screenshot({ path: `${folder}/${name}.png` });
	await page.context().close();
}

// Two windows: the first and the last third.
async function compare(page) {
	await page.evaluate(() => {
		const bins = globalThis.app.p.meta.bins;
		globalThis.app.set({ a: [0, Math.floor(bins / 3)], b: [Math.floor(bins * 2 / 3), bins] });
	});
}

// The panel with the widest box of a program that every machine has in the same place.
async function point(page) {
	await page.evaluate(() => {
		const app = globalThis.app, tree = app.shown;
		const boxes = app.layout.rows.slice(4).flatMap((row) => row.node.map((node, i) => ({ node, w: row.w[i] })));
		const ours = boxes.filter(({ node }) => tree.module(node) >= 0 && /^\/usr\/(lib|bin)/.test(app.p.meta.modules[tree.module(node)][1]));
		if (ours.length)
			app.moveTo(ours.reduce((best, box) => box.w > best.w ? box : best).node);
		document.getElementById("graph").scrollTop = app.height;
	});
}

const search = (page) => page.fill("#find", "alloc|free");
const scrollTo = (selector) => (page) => page.evaluate((what) => document.querySelector(what).scrollIntoView(), selector);

for (const scheme of ["light", "dark"]) {
	for (const width of [1280, 400]) {
		const options = { scheme, width, height: width === 400 ? 860 : 720 }, end = `-${scheme}-${width}`;
		await shoot("graph" + end, "page.html", options, point);
		await shoot("search" + end, "page.html", { ...options, hash: "#colour=module" }, search);
		await shoot("callers" + end, "page.html", { ...options, hash: "#callers=1&order=size" });
		await shoot("table" + end, "page.html", { ...options, hash: "#show=table" });
		await shoot("compare" + end, "page.html", options, compare);
		await shoot("report" + end, "report.html", options);
		await shoot("report-summary" + end, "report.html", options, scrollTo("#summary"));
		await shoot("report-tables" + end, "report.html", options, scrollTo("#tables"));
		await shoot("report-code" + end, "report.html", options, scrollTo("section.code"));
		await shoot("code" + end, "code.html", options);
		await shoot("diff" + end, "diff.html", options);
		await shoot("diff-table" + end, "diff.html", { ...options, hash: "#show=table" });
	}
}
await browser.close();
if (complaints.length)
	throw new Error(complaints.join("\n"));
