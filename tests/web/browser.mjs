// SPDX-License-Identifier: Apache-2.0
// Chromium for the tests and pictures of pages: BUILD/web has playwright-core and axe-core, CHROMIUM is the program.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(process.env.BUILD + "/web/");
const { chromium } = require("playwright-core");
export const axe = require("axe-core").source;

export async function openBrowser() {
	return chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
}

// A page that shows @file; whatever it complains about, or asks the network for, is put into @complaints.
export async function openPage(browser, file, { hash = "", width = 1280, height = 800, scheme = "light", complaints = [] } = {}) {
	const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, acceptDownloads: true });
	const page = await context.newPage();
	page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
	page.on("pageerror", (error) => complaints.push(String(error)));
	page.on("dialog", (dialog) => { complaints.push("a dialog: " + dialog.message()); dialog.dismiss(); });
	page.on("request", (request) => /^(file|data|blob):/.test(request.url()) || complaints.push("asked for " + request.url()));
	await page.goto(pathToFileURL(file) + hash);
	await page.waitForFunction(() => globalThis.app || document.querySelector(".error") || !document.getElementById("profile"));
	return page;
}
