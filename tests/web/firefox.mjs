// SPDX-License-Identifier: Apache-2.0
// What Firefox Profiler's own importer makes of a file: {"event": {"type of weight": {"function": weight}}}, by
// way of @firefox-devtools/profiler-cli, which is built from the sources of the page. The event is what stands in brackets at the end of a thread's name; threads
// without any are of the first of EVENTS.
// Usage: firefox.mjs FILE EVENT... (with BUILD set)
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { setTimeout } from "node:timers/promises";

const [file, ...events] = process.argv.slice(2);
const program = `${process.env.BUILD}/web/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js`;
const folder = mkdtempSync(`${tmpdir()}/firefox-`);
const env = { ...process.env, PROFILER_CLI_SESSION_DIR: folder, PROFILER_CLI_NO_SYMBOLICATE: "1" };
const run = (...words) => execFileSync(process.execPath, [program, ...words],
	{ env, encoding: "utf8", timeout: 60000, maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] });
const ask = (...words) => JSON.parse(run(...words, "--session", "file", "--json"));

// Its server is started here, since "load" gives it half a second to start, which a busy machine does not.
const server = spawn(process.execPath, [program, "--daemon", resolve(file), "--session", "file"], { env, stdio: "ignore" });

// It has two minutes to read the file. Whoever asks earlier may find a socket at which nobody listens, and takes its session away.
async function isRead() {
	const log = `${folder}/file.log`;
	for (const end = Date.now() + 120000; Date.now() < end; await setTimeout(200)) {
		const said = existsSync(log) ? readFileSync(log, "utf8") : "";
		if (said.includes("Profile loaded"))
			return;
		if (server.exitCode !== null || /fail|error/i.test(said))
			throw new Error(`the file is not read: ${said}`);
	}
	throw new Error("the file is not read within two minutes");
}

const sums = {};
try {
	await isRead();
	for (const { threadHandle, name } of ask("thread", "list", "--limit", "0").threads) {
		const found = /\(([^()]*)\)$/.exec(name)?.[1];
		const { functions, filteredFunctionCount, weightType } =
			ask("thread", "functions", "--thread", threadHandle, "--include-idle", "--limit", "0");
		if (functions.length !== filteredFunctionCount)
			throw new Error(`${functions.length} of ${filteredFunctionCount} functions of ${name} were listed`);
		const sum = ((sums[events.includes(found) ? found : events[0]] ??= {})[weightType] ??= {});
		for (const one of functions)
			if (one.selfSamples)
				sum[one.name] = (sum[one.name] ?? 0) + one.selfSamples;
	}
} finally {
	if (server.exitCode === null) {
		server.kill();
		await once(server, "exit");
	}
	rmSync(folder, { recursive: true, force: true });
}
console.log(JSON.stringify(sums));
