// SPDX-License-Identifier: Apache-2.0
// Reading numbers from a block of data.

// Reads what formats/base/writer.h writes. Numbers above 2^53 lose their last bits, as all of JavaScript's do.
export class Reader {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
	}

	u32() {
		this.need(4);
		const b = this.bytes, at = this.at;
		this.at += 4;
		return (b[at] | b[at + 1] << 8 | b[at + 2] << 16 | b[at + 3] << 24) >>> 0;
	}

	uleb() {
		let byte = this.bytes[this.at++];
		if (byte < 128)
			return byte;
		let value = byte & 127, scale = 128;
		do {
			if (this.at >= this.bytes.length)
				throw new Error("the data ends early");
			byte = this.bytes[this.at++];
			value += (byte & 127) * scale;
			scale *= 128;
		} while (byte > 127);
		return value;
	}

	zigzag() {
		const value = this.uleb();
		return value % 2 ? -(value + 1) / 2 : value / 2;
	}

	slice(len) {
		this.need(len);
		this.at += len;
		return this.bytes.subarray(this.at - len, this.at);
	}

	// @count strings, each followed by a NUL.
	strings(count) {
		let end = this.at;
		for (let i = 0; i < count; i++) {
			end = this.bytes.indexOf(0, end) + 1;
			if (!end)
				throw new Error("the data ends early");
		}
		return new TextDecoder().decode(this.slice(end - this.at)).split("\0").slice(0, count);
	}

	need(len) {
		if (this.at + len > this.bytes.length)
			throw new Error("the data ends early");
	}
}
