// SPDX-License-Identifier: Apache-2.0
// What Chromium's trace viewer makes of a file: {"event": {"function": weight}}, by its own importer, without its page.
// Usage: trace_viewer.mjs VIEWER.html FILE, the viewer being the one that Go ships.
import { readFileSync } from "node:fs";
import vm from "node:vm";

const [viewer, file] = process.argv.slice(2);
const html = readFileSync(viewer, "utf8");
const begin = html.indexOf("const global=this.window");
if (begin < 0) throw new Error("another viewer than the one known here");
const world = vm.createContext({ console, performance, setTimeout, clearTimeout, isVinn: true, print: console.log });
world.window = world;
world.addEventListener = () => {};
try {
	vm.runInContext(html.slice(begin, html.lastIndexOf("</script>")), world);
} catch (error) {
	if (!vm.runInContext("tr.importer && tr.Model && true", world)) throw error; // the page's elements need a page; the model is there
}
world.text = readFileSync(file, "utf8");
console.log(vm.runInContext(`{
	const model = new tr.Model(), sums = {};
	new tr.importer.Import(model).importTraces([text]);
	if (model.importWarnings.length) throw new Error(JSON.stringify(model.importWarnings));
	for (const thread of model.getAllThreads())
		for (const sample of thread.samples) {
			const sum = sums[sample.title] ??= {}, name = sample.leafNode.title;
			sum[name] = (sum[name] ?? 0) + sample.weight;
		}
	JSON.stringify(sums);
}`, world));
