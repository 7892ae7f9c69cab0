/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_heapprofile.c - V8's sampled heap profile, as Node.js (--heap-prof) and DevTools write it.
 *
 * Each node of one tree says how many bytes that were allocated there were still in use. Samples of one allocation each stand
 * beside it (size, number of the node, in order, without times); their count is the rows' count where they are there.
 */
#include "formats/profile/import/import_json.h"
#include "formats/profile/import/import_rows.h"
#include "formats/profile/import/v8_frames.h"

#include <inttypes.h>

static unsigned recognise(const uint8_t *start, size_t len)
{
	if (!import_json_begins(start, len, '{') || !import_json_has(start, len, "head"))
		return 0;
	return import_has_text(start, len, "\"selfSize\"") ? 95 : 0;
}

/* One allocation that was sampled: one more for its node. */
static void read_sample(struct v8_tree *tree, struct json_reader *r)
{
	struct json_text key;
	uint32_t node = PROFILE_NONE;

	if (!json_read_object(r))
		return;
	while (json_read_key(r, &key)) {
		if (json_is(key, "nodeId"))
			node = v8_tree_find(tree, json_read_int(r));
		else
			json_read_skip(r);
	}
	if (node != PROFILE_NONE)
		tree->nodes.items[node].hits++;
}

static struct err *read_file(struct v8_tree *tree, struct json_reader *r)
{
	struct json_text key;

	json_read_object(r);
	while (json_read_key(r, &key)) {
		if (json_is(key, "head")) {
			v8_tree_read_head(tree, r);
		} else if (json_is(key, "samples") && json_read_array(r)) {
			while (json_read_more(r))
				read_sample(tree, r);
		} else if (!json_is(key, "samples")) {
			json_read_skip(r);
		}
	}
	return json_read_check(r);
}

static void add_samples(struct v8_tree *tree)
{
	struct import_sample sample = {
		.type = import_type(tree->p, "inuse_space", "bytes"),
		.thread = import_thread(tree->p, PROFILE_NONE, PROFILE_NONE, 0, 0),
	};

	for (uint32_t i = 0; i < tree->nodes.len; i++) {
		const struct v8_node *node = &tree->nodes.items[i];

		if (!node->size)
			continue;
		sample.count = MAX(node->hits, 1);
		sample.weight = (int64_t)node->size;
		sample.stack = v8_tree_stack(tree, i);
		import_sample(tree->p, &sample);
	}
}

static struct err *read_heapprofile(const struct import_input *input, struct profile *p,
				    struct profile_facts *facts, struct diag *diag)
{
	struct v8_tree tree;
	struct json_reader r;
	struct err *err;

	(void)facts;
	(void)diag;
	v8_tree_init(&tree, p);
	json_reader_init(&r, input->data, input->len);
	err = read_file(&tree, &r);
	if (!err)
		err = v8_tree_connect(&tree);
	if (!err)
		add_samples(&tree);
	json_reader_deinit(&r);
	v8_tree_deinit(&tree);
	return err;
}

const struct importer import_heapprofile = {
	.name = "heapprofile",
	.what = "sampled heap profile of V8: Node.js, Chrome",
	.extensions = ".heapprofile",
	.carries = 0,
	.recognise = recognise,
	.read = read_heapprofile,
};
