// SPDX-License-Identifier: Apache-2.0
// A JIT at work: strings, maps, sorting, for a second and a half.
const words = Array.from({ length: 20000 }, (_, i) => ((i * 7919) % 10007).toString(36));

while (process.cpuUsage().user < 1.5e6) {
	const counts = new Map();

	for (const word of words)
		counts.set(word, (counts.get(word) || 0) + 1);
	[...counts.keys()].sort().join(' ').replace(/a(\w)/g, '$1').split(' ');
	JSON.parse(JSON.stringify([...counts]));
}
