// SPDX-License-Identifier: Apache-2.0
// The profile as report/page/flame_data.c writes it; Documentation/flame-page.md has every byte.
import { Reader } from "./block.js";

// Fills an array with @count numbers, each made of the one before it and what @next reads.
function column(Type, count, next) {
	const array = new Type(count);
	for (let i = 0; i < count; i++)
		array[i] = next(i ? array[i - 1] : 0, i);
	return array;
}

// Each node's parent: node i climbs @up levels from node i - 1. Node 0 is the root.
function readParents(r, count) {
	const parent = new Int32Array(count);
	for (let i = 1; i < count; i++) {
		let up = r.uleb(), from = i - 1;
		for (; up && from; up--)
			from = parent[from];
		parent[i] = from;
	}
	return parent;
}

function readSet(r, meta, rows) {
	const count = meta.entries;
	const row = column(Int32Array, count, (last) => last + r.uleb());
	const bin = column(Int32Array, count, (last, i) => r.uleb() + (i && row[i] === row[i - 1] ? last : 0));
	const n = column(Float64Array, count, () => r.uleb() + 1);
	const weight = column(Float64Array, count, (last) => last + r.zigzag());
	if (count && row[count - 1] >= rows)
		throw new Error("a sample has no stack");
	return { ...meta, row, bin, count: n, weight };
}

export function parseProfile(bytes) {
	const r = new Reader(bytes);
	const meta = JSON.parse(new TextDecoder().decode(r.slice(r.u32())));
	if (meta.version !== 1)
		throw new Error("the data has version " + meta.version);
	const texts = r.strings(r.u32());
	const plain = () => r.uleb();
	const p = { meta, nfunctions: meta.functions, nmodules: meta.modules.length };
	p.name = Array.from(column(Int32Array, meta.functions, (last) => last + r.zigzag()), (i) => texts[i]);
	p.module = column(Int32Array, meta.functions, plain);
	p.file = Array.from(column(Int32Array, meta.functions, plain), (i) => texts[i]);
	p.line = column(Int32Array, meta.functions, plain);
	p.parent = readParents(r, meta.nodes);
	p.func = new Int32Array(meta.nodes);
	p.inlined = new Uint8Array(meta.nodes);
	for (let i = 1; i < meta.nodes; i++) {
		const frame = r.uleb();
		p.func[i] = frame >> 1;
		p.inlined[i] = frame & 1;
	}
	p.row = {
		node: column(Int32Array, meta.rows, (last) => last + r.uleb()),
		thread: column(Int32Array, meta.rows, plain),
		cpu: column(Int32Array, meta.rows, () => r.uleb() - 1),
		stop: column(Uint8Array, meta.rows, plain),
	};
	p.row.off = p.row.stop.map((stop) => stop >> 7);
	p.row.stop = p.row.stop.map((stop) => stop & 127);
	p.hasOff = p.row.off.includes(1);
	p.sets = meta.sets.map((set) => readSet(r, set, meta.rows));
	if (r.at !== bytes.length)
		throw new Error(bytes.length - r.at + " bytes of the data are left over");
	if (!p.sets.length)
		throw new Error("there are no samples");
	return p;
}

// A time in seconds since the recording began, of the beginning of bin @bin.
export function binTime(p, bin) {
	return p.meta.start + bin * p.meta.bin;
}
