// SPDX-License-Identifier: Apache-2.0
// What speedscope makes of a file: {"event": {"function": weight}}, the event being what stands in brackets, or behind
// "-- ", at the end of a profile's name. Its own importer reads, and its own exporter writes what is added up here.
// Usage: speedscope.mjs FILE (with BUILD and CHROMIUM set)
import { readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { openBrowser } from "./browser.mjs";

const [file] = process.argv.slice(2);
const browser = await openBrowser();
const page = await (await browser.newContext({ acceptDownloads: true })).newPage();
const text = readFileSync(file).toString("base64");
writeFileSync(file + ".js", `speedscope.loadFileFromBase64(${JSON.stringify(basename(file))}, ${JSON.stringify(text)})`);
const imported = new Promise((resolve, reject) => {
	page.on("console", (message) => message.text().startsWith("import:") && resolve());
	page.on("pageerror", reject);
	setTimeout(() => reject(new Error("speedscope does not open the file")), 30000).unref();
});
const dist = `${process.env.BUILD}/web/node_modules/speedscope/dist/release/index.html`;
await page.goto(pathToFileURL(dist) + "#localProfilePath=" + file + ".js");
await imported;
await page.getByText("Left Heavy").waitFor();
const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Control+s")]);
const read = JSON.parse(readFileSync(await download.path()));
await browser.close();

const sums = {};
for (const profile of read.profiles) {
	const event = /(?:\(|-- )([^()]*?)\)?$/.exec(profile.name)?.[1] ?? profile.name;
	const sum = (sums[event] ??= {}), stack = [];
	let last = profile.startValue;
	for (const { type, frame, at } of profile.events) {
		if (stack.length && at > last) {
			const name = read.shared.frames[stack.at(-1)].name;
			sum[name] = (sum[name] ?? 0) + at - last;
		}
		last = at;
		if (type === "O") stack.push(frame);
		else stack.pop();
	}
}
console.log(JSON.stringify(sums));
