// SPDX-License-Identifier: Apache-2.0
// From a frame of the flame graph to its function's instructions, where the page has them. The flame graph says which frame its
// panel shows by the event "frame".

const sections = new Map();
for (const section of document.querySelectorAll("section.code")) {
	const key = section.dataset.module + "\n" + section.dataset.name;
	if (!sections.has(key))
		sections.set(key, section.id);
}

addEventListener("frame", (event) => {
	const { module, name, panel } = event.detail, id = sections.get(module + "\n" + name);
	if (!id)
		return;
	const link = document.createElement("a");
	link.className = "to-code";
	link.href = "#" + id;
	link.textContent = "Instructions";
	panel.firstElementChild.append(link);
});
