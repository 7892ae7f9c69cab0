// SPDX-License-Identifier: Apache-2.0
// The only script of a page that stands in it as it is: unpacks style and script, which the content security policy
// lets in by their hashes, and gives them readBlock().

// The bytes that page_add_data() put into the page as @id.
globalThis.readBlock = async (id) => {
	const text = document.getElementById(id).textContent;
	const characters = atob(text), packed = new Uint8Array(characters.length);
	for (let i = 0; i < packed.length; i++)
		packed[i] = characters.charCodeAt(i);
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
};
(async () => {
	for (const tag of ["style", "script"]) {
		const element = document.createElement(tag);
		if (tag === "script")
			element.type = "module";
		element.textContent = new TextDecoder().decode(await globalThis.readBlock("page-" + tag));
		document.head.append(element);
	}
})().catch((error) => {
	document.body.textContent = "This page cannot be shown: " + error.message + ". It may be incomplete; make it again.";
});
