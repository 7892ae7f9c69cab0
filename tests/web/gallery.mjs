// SPDX-License-Identifier: Apache-2.0
// Usage: node gallery.mjs PAGE FOLDER
import { openBrowser, openPage } from "./browser.mjs";

const [file, folder] = process.argv.slice(2);
const browser = await openBrowser();

async function shoot(name, options, prepare = () => {}) {
	const page = await openPage(browser, file, options);
	await page.evaluate(() => globalThis.app.set({ zoom: "" }));
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
		const app = globalThis.app, tree = app.shown, boxes = app.layout.rows.slice(4).flat();
		const ours = boxes.filter(({ node }) => tree.module(node) >= 0 && /^\/usr\/(lib|bin)/.test(app.p.meta.modules[tree.module(node)][1]));
		if (ours.length)
			app.moveTo(ours.reduce((best, box) => box.w > best.w ? box : best).node);
		document.getElementById("graph").scrollTop = app.height;
	});
}

for (const scheme of ["light", "dark"]) {
	for (const width of [1280, 400]) {
		const options = { scheme, width, height: width === 400 ? 860 : 720 };
		await shoot(`graph-${scheme}-${width}`, options, point);
		await shoot(`table-${scheme}-${width}`, { ...options, hash: "#show=table" });
		await shoot(`compare-${scheme}-${width}`, options, compare);
	}
}
await browser.close();
